//! Finds text that looks like a secret: keys by the prefixes of their providers, tokens and private keys by their shape, and
//! values after a name that says what they are.
//!
//! Every verdict depends on at most [`CONTEXT`] bytes before and [`AHEAD`] bytes from the position that is judged, so the work
//! grows with the length of the text only, also in a stream.

use super::known::{MatchStep, count, literal};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// The number of bytes before a secret that matter.
pub(super) const CONTEXT: usize = 64;
/// The number of bytes from the start of a secret that matter.
const AHEAD: usize = 256;
/// The length of the shortest key with a prefix.
const SHORTEST: usize = 18;
/// The number of bytes of a key that are examined.
const KEY: usize = 128;

/// The prefixes of keys by the characters that follow, and how many of these there are at least.
const PREFIXES: &[(Set, usize, &[&str])] = &[
    (
        Set::Any,
        16,
        &[
            "pk-lf-",
            "pplx-",
            "nvapi-",
            "tgp_v1_",
            "tvly-",
            "pcsk_",
            "github_pat_",
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glft-",
            "glimt-",
            "glffct-",
            "dckr_pat_",
            "rubygems_",
            "ATATT3",
            "lin_api_",
            "lin_oauth_",
            "figd_",
            "PMAK-",
            "sntrys_",
            "sntryu_",
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
            "cfut_",
            "cfat_",
            "sb_secret_",
            "dp.pt.",
            "glsa_",
            "NRAK-",
            "GOCSPX-",
            "xoxb-",
            "xoxp-",
            "xoxa-",
            "xoxr-",
            "xoxs-",
            "xoxe-",
            "xoxe.",
            "xapp-",
            "xkeysib-",
            "whsec_",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "sq0atp-",
            "sq0csp-",
        ],
    ),
    (
        Set::Random,
        16,
        &[
            "sk-", "sk_", "rk_", "gsk_", "xai-", "hf_", "fw_", "csk-", "jina_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_",
            "ntn_", "cfk_", "vcp_", "sbp_", "pul-", "hvs.", "hvb.", "glc_", "LTAI", "ATBB",
        ],
    ),
    (Set::Random, 30, &["AIza", "AQ.", "ya29.", "r8_", "npm_", "pypi-", "SG.", "EAAA", "secret_", "ops_", "key-"]),
    (Set::Hex, 32, &["SK", "dapi"]),
    (Set::Upper, 16, &["AKIA", "ASIA", "ABIA", "ACCA", "AGE-SECRET-KEY-1"]),
];

#[derive(Clone, Copy)]
enum Set {
    /// One is a digit.
    Any,
    /// They are not words.
    Random,
    Hex,
    Upper,
}

/// How the numbers of Discord's bots begin in base64.
const DISCORD: &[&str] = &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];

/// Ends of names, without `_`, `-` and `.`, in lower case.
const PASSWORDS: &str = "password passwd passphrase pwd";
const NAMES: &str = "authorization apikey accesskey secretkey privatekey accountkey authkey signingkey encryptionkey masterkey \
                     subscriptionkey sharedkey secret token credential credentials";
/// The beginnings of names that are no secrets in spite of their ends.
const OTHERS: [&str; 3] = ["public", "page", "next"];
/// What a value contains that is to be filled in.
const BLANKS: [&str; 8] = ["your", "YOUR", "xxxx", "XXXX", "example", "change", "replace", "placeholder"];
/// Passwords in the addresses of manuals.
const DEFAULTS: &str = "pass password passwd pw pwd secret mypassword changeme";

/// The secrets in a text.
pub(super) struct SecretScan {
    /// Byte ranges, in order.
    pub spans: Vec<(usize, usize)>,
    /// From here on, the text could still be part of a secret if more follows; the text's length if it cannot.
    pub open: usize,
    /// The last span goes on until its end is found.
    pub rest: Option<Rest>,
}

/// How the end of a secret is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Key,
    /// Before a quote, or the next parameter of an address (`&`); a space stands for no more than what ends any value.
    Value(u8),
    /// The end of the line, or of the quoted text.
    Line,
    PrivateKey,
}

enum SecretVerdict {
    Clear,
    /// The text ends too early to tell.
    Open,
    /// A secret from here on.
    Begins(usize, Rest),
    Is(usize, usize),
}

/// The kind of a value, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretKind {
    /// A header, the parameter of an address, or an environment variable: eight characters with a digit.
    Named,
    Password,
    /// A password without quotes, where the name of a variable is as likely.
    Bare,
    /// After a name in a program or in data, where other words are as likely.
    Random,
    Basic,
    Cookie,
}

/// Returns the text with each span replaced by [`REDACTED`]. `goes_on`: the first span is the rest of one that was replaced.
pub(super) fn without(text: &str, spans: &[(usize, usize)], goes_on: bool) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (n, (start, end)) in spans.iter().enumerate() {
        out.push_str(text.get(from..*start).unwrap_or_default());
        if n > 0 || !goes_on {
            out.push_str(REDACTED);
        }
        from = *end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Finds text that looks like a secret, from a position on. `rest`: a secret that goes on there. `whole`: nothing follows.
pub(super) fn scan(text: &str, from: usize, mut rest: Option<Rest>, whole: bool) -> SecretScan {
    let bytes = text.as_bytes();
    let (mut spans, mut at) = (Vec::new(), from);
    if rest.is_some() {
        spans.push((at, at));
    }
    while at < bytes.len() {
        if let Some(kind) = rest {
            let (end, ended) = kind.end(bytes, at, whole);
            if let Some(span) = spans.last_mut() {
                span.1 = end;
            }
            at = end;
            if !ended {
                break;
            }
            rest = None;
            continue;
        }
        match judge(bytes, at, whole) {
            SecretVerdict::Clear => at += 1,
            SecretVerdict::Open => break,
            SecretVerdict::Begins(start, kind) => {
                spans.push((start, start));
                (at, rest) = (start, Some(kind));
            }
            SecretVerdict::Is(start, end) => {
                spans.push((start, end));
                at = end;
            }
        }
    }
    SecretScan { spans, open: at, rest }
}

fn judge(text: &[u8], at: usize, whole: bool) -> SecretVerdict {
    let before = text.get(at.saturating_sub(CONTEXT)..at).unwrap_or_default();
    let ahead = text.get(at..text.len().min(at + AHEAD)).unwrap_or_default();
    let more = !whole && ahead.len() < AHEAD;
    let (last, first) = (before.last().copied().unwrap_or(b' '), ahead.first().copied().unwrap_or(b' '));
    if first == b'-' && last != b'-' {
        return private_key(ahead, at, more);
    }
    if !begins_word(before) {
        return SecretVerdict::Clear;
    }
    if before.ends_with(b"://") {
        return user_info(ahead, at, more);
    }
    let mut open = false;
    if first.is_ascii_alphanumeric() && last != b'+' {
        match key(before, ahead, more) {
            MatchStep::To(_) => return SecretVerdict::Begins(at, Rest::Key),
            MatchStep::More => open = true,
            MatchStep::No => {}
        }
    }
    if b" \t=:\"'`>".contains(&last)
        && !b" \t\r\n=:\"'`>\\".contains(&first)
        && let Some((kind, close)) = introduced(before)
    {
        let rest = if kind == SecretKind::Cookie { Rest::Line } else { Rest::Value(close) };
        let (end, ended) = rest.end(ahead, 0, !more);
        let value = ahead.get(..end).unwrap_or_default();
        let quoted = is_quote(close);
        // In quotes, there is nothing but the value.
        let alone = !quoted || ahead.get(end).is_none_or(|byte| *byte == close || *byte == b'\\');
        if !ended {
            open = true;
        } else if alone && kind.is_secret(value, quoted) {
            return SecretVerdict::Begins(at, rest);
        }
    }
    if open { SecretVerdict::Open } else { SecretVerdict::Clear }
}

/// The line that begins a private key, if a key follows. `more`: the text may go on.
fn private_key(ahead: &[u8], at: usize, more: bool) -> SecretVerdict {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let long = |text: &[u8]| {
        let text = text.get(5..).unwrap_or_default();
        let body = text.get(..private_key_end(text, 0, true).0).unwrap_or_default();
        body.split(|byte| !is_key_byte(*byte) || *byte == b'-').any(|run| run.len() >= 16)
    };
    let title = match literal(ahead, 0, BEGIN) {
        MatchStep::No => return SecretVerdict::Clear,
        MatchStep::More => None,
        MatchStep::To(from) => ahead.get(from..),
    };
    let end = title.and_then(|title| title.windows(5).take(64).position(|five| five == b"-----"));
    let body = end.and_then(|end| Some((title?.get(..end)?, title?.get(end..)?)));
    match body {
        Some((title, _)) if !title.windows(11).any(|words| words == b"PRIVATE KEY") => SecretVerdict::Clear,
        Some((_, body)) if long(body) => SecretVerdict::Begins(at, Rest::PrivateKey),
        None if title.is_some_and(|title| title.len() > 64) => SecretVerdict::Clear,
        _ if more => SecretVerdict::Open,
        _ => SecretVerdict::Clear,
    }
}

/// The password in an address, or a name that is a token.
fn user_info(ahead: &[u8], at: usize, more: bool) -> SecretVerdict {
    let len = count(ahead, 0, AHEAD, |byte| !byte.is_ascii_whitespace() && !b"/?#\"'`<>\\".contains(&byte));
    if len == ahead.len() {
        return if more { SecretVerdict::Open } else { split_user_info(ahead, at) };
    }
    split_user_info(ahead.get(..len).unwrap_or_default(), at)
}

fn split_user_info(authority: &[u8], at: usize) -> SecretVerdict {
    let Some(end) = authority.iter().rposition(|byte| *byte == b'@') else { return SecretVerdict::Clear };
    let user = count(authority, 0, end, |byte| byte != b':');
    let (name, password) = (authority.get(..user), authority.get(user + 1..end).unwrap_or_default());
    let text = String::from_utf8_lossy(password).to_lowercase();
    let open =
        password.first().is_none_or(|byte| b"${<[*(".contains(byte)) || DEFAULTS.split(' ').any(|one| one == text);
    if !open && name.is_none_or(|name| !name.eq_ignore_ascii_case(password)) {
        SecretVerdict::Is(at + user + 1, at + end)
    } else if user == end && end >= 16 && changes(authority) > 2 {
        SecretVerdict::Is(at, at + end)
    } else {
        SecretVerdict::Clear
    }
}

/// Judges a run of key characters by its beginning.
fn key(before: &[u8], ahead: &[u8], more: bool) -> MatchStep {
    let run = ahead.get(..count(ahead, 0, AHEAD, is_key_byte)).unwrap_or_default();
    let more = more && run.len() == ahead.len();
    let undecided = |yes: bool| if yes { MatchStep::More } else { MatchStep::No };
    if !more && run.len() < SHORTEST {
        return MatchStep::No;
    }
    if run.starts_with(b"eyJ") {
        // A JSON Web Token: parts that begin with a JSON object.
        let (head, signed) = (count(run, 0, AHEAD, |byte| byte != b'.'), run.len());
        return if head > 11 && signed > head + 10 { MatchStep::To(signed) } else { undecided(more) };
    }
    // The token of a Telegram bot follows its number.
    let telegram = before
        .strip_suffix(b":")
        .is_some_and(|number| number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count() > 5);
    if telegram && run.starts_with(b"AA") && run.len() > 32 && is_random(run) {
        return MatchStep::To(run.len());
    }
    // The token of a Discord bot begins with its number in base64 and has three parts.
    let mut parts = run.split(|byte| *byte == b'.').map(<[u8]>::len);
    let parts = (parts.next(), parts.next(), parts.next());
    let number = DISCORD.iter().any(|start| run.starts_with(start.as_bytes()));
    if number && matches!(parts, (Some(23..=28), Some(6), Some(27..))) {
        return MatchStep::To(run.len());
    }
    let begins = |starts: &[&str]| more && starts.iter().any(|start| start.as_bytes().starts_with(run));
    let mut perhaps = telegram || number || begins(&["eyJ"]) || begins(DISCORD);
    // In base64, a prefix of letters may follow a slash by chance.
    let within = before.ends_with(b"/");
    for (set, min, prefixes) in PREFIXES {
        for prefix in *prefixes {
            let Some(body) = run.strip_prefix(prefix.as_bytes()) else { continue };
            let body = body.get(..KEY).unwrap_or(body);
            let blank = body.windows(4).take(8).any(|four| four.eq_ignore_ascii_case(b"xxxx"));
            let distinct = !blank && (!within || !prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            let random = is_random(body) || matches!(set, Set::Any) && body.iter().any(u8::is_ascii_digit);
            if distinct && random && count(body, 0, *min, |byte| set.has(byte)) == *min {
                return MatchStep::To(run.len());
            }
            perhaps |= body.len() < KEY;
        }
        perhaps |= begins(prefixes);
    }
    undecided(perhaps && more)
}

/// What the text before a value says about it, and the end of the value as in [`Rest::Value`].
fn introduced(before: &[u8]) -> Option<(SecretKind, u8)> {
    let (mut text, mut quote) = unquoted(before);
    let scheme = ["bearer ", "basic ", "token ", "apikey "].iter().find(|words| ends_with(text, words));
    if let Some(words) = scheme {
        text = text.get(..text.len() - words.len())?;
        if *words == "bearer " && text.last().is_none_or(|byte| !is_word(*byte)) {
            return Some((SecretKind::Named, quote.unwrap_or(b' ')));
        }
        (text, quote) = unquoted(text);
    }
    let (separator, rest) = without_spaces(text).split_last().map(|(last, rest)| (*last, rest))?;
    let double = rest.strip_suffix(b"=").or(rest.strip_suffix(b":"));
    let rest = without_spaces(double.filter(|_| separator != b':').unwrap_or(rest));
    let (name, closed) = unquoted(rest.strip_suffix(b"]").unwrap_or(rest));
    let start = name.iter().rposition(|byte| !is_word(*byte) && *byte != b'.').map_or(0, |at| at + 1);
    let (outside, name) = name.split_at_checked(start)?;
    let separates = match separator {
        b'=' | b':' => true,
        // `name => value` and `<name>value`
        b'>' => double.is_some() || outside.ends_with(b"<"),
        // `["name", "value"]`
        b',' => closed.is_some() && unquoted(outside).1 == closed,
        _ => false,
    };
    // A name in quotes and a value without any are part of a program.
    let program = closed.is_some() && quote.is_none();
    let name = std::str::from_utf8(name).ok().filter(|_| separates && !program)?;
    let parameter = separator == b'=' && outside.last().is_some_and(|byte| b"?&".contains(byte));
    let variable = !name.bytes().any(|byte| byte.is_ascii_lowercase() || byte == b'.');
    let assigned = variable && separator == b'=' && (quote.is_some() || text.ends_with(b"="));
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let one_of = |words: &str| words.split(' ').any(|word| plain.ends_with(word));
    if OTHERS.iter().any(|other| plain.contains(other)) {
        return None;
    }
    let kind = if plain == "cookie" || plain == "setcookie" {
        SecretKind::Cookie
    } else if scheme.is_some_and(|words| *words == "basic ") && plain.ends_with("authorization") {
        SecretKind::Basic
    } else if one_of(PASSWORDS) || ends_with(name.as_bytes(), "_pass") {
        if quote.is_none() && !text.ends_with(b"=") { SecretKind::Bare } else { SecretKind::Password }
    } else if parameter && plain == "key" {
        SecretKind::Named
    } else if one_of(NAMES) {
        if parameter || assigned || name.contains('-') || plain.ends_with("authorization") {
            SecretKind::Named
        } else {
            SecretKind::Random
        }
    } else if variable && name.ends_with("_KEY") {
        SecretKind::Random
    } else {
        return None;
    };
    Some((kind, quote.unwrap_or(if parameter { b'&' } else { b' ' })))
}

impl SecretKind {
    fn is_secret(self, value: &[u8], quoted: bool) -> bool {
        let digit = value.iter().any(u8::is_ascii_digit);
        let letter = value.iter().any(u8::is_ascii_alphabetic);
        let code = matches!(value.first(), Some(b'$' | b'{' | b'[' | b'(' | b'*'))
            || (!quoted && value.iter().any(|byte| b"([{".contains(byte)));
        if value.len() < 6 || (self != SecretKind::Basic && !digit) || (code && self != SecretKind::Cookie) {
            return false;
        }
        let text = String::from_utf8_lossy(value);
        if text.contains("://") || BLANKS.iter().any(|word| text.contains(word)) {
            return false;
        }
        let path = value.starts_with(b"/") || value.starts_with(b".") || value.starts_with(b"~");
        match self {
            SecretKind::Named => value.len() >= 8 && !path,
            SecretKind::Password => letter && !path,
            SecretKind::Bare => letter && !path && !value.contains(&b'.'),
            SecretKind::Random => value.len() >= 8 && changes(value) > 2 || value.len() >= 32 && letter,
            SecretKind::Basic => {
                value.len() >= 8
                    && (digit || value.windows(2).any(|two| matches!(two, [b'a'..=b'z', b'A'..=b'Z'] | [_, b'='])))
            }
            SecretKind::Cookie => text.split(';').filter_map(|pair| pair.split_once('=')).any(|(_, value)| {
                value.len() >= 8 && !value.contains(' ') && SecretKind::Password.is_secret(value.as_bytes(), quoted)
            }),
        }
    }
}

impl Rest {
    /// Where it ends, and whether it does; if not, everything before that position belongs to it.
    fn end(self, text: &[u8], from: usize, whole: bool) -> (usize, bool) {
        let until = |belongs: &dyn Fn(u8) -> bool| {
            let end = from + count(text, from, usize::MAX, belongs);
            (end, whole || end < text.len())
        };
        match self {
            Rest::Key => until(&is_key_byte),
            Rest::Value(close) => {
                let others: &[u8] = if is_quote(close) { b"\\" } else { b"\"'`\\<>,;|)]}" };
                until(&|byte| byte != close && !byte.is_ascii_whitespace() && !others.contains(&byte))
            }
            Rest::Line => until(&|byte| !b"\r\n\"'\\".contains(&byte)),
            Rest::PrivateKey => private_key_end(text, from, whole),
        }
    }
}

/// A private key ends after the line that says so, or where something else begins.
fn private_key_end(text: &[u8], from: usize, whole: bool) -> (usize, bool) {
    let previous = |at: usize| at.checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let mut at = from;
    while let Some(byte) = text.get(at) {
        let before = previous(at);
        if *byte == b'-' && before != b'-' {
            // At first, the line that begins it is still ahead.
            for (words, ends) in [("-----BEGIN ", false), ("-----END ", true)] {
                let title = match literal(text, at, words.as_bytes()) {
                    MatchStep::No => continue,
                    MatchStep::More => None,
                    MatchStep::To(title) => Some(title),
                };
                let close = title.and_then(|title| {
                    let five = text.get(title..)?.windows(5).take(64).position(|five| five == b"-----")?;
                    Some(title + five + 5)
                });
                match close {
                    Some(close) if ends => return (close, true),
                    Some(close) => at = close - 1,
                    None if !whole && text.len() - at < 96 => return (at, false),
                    None => {}
                }
            }
        } else {
            let spaced = matches!(before, b'\n' | b'\r' | b' ' | b'\t' | b':' | b',' | b'+' | b'"' | b'\'');
            let belongs =
                byte.is_ascii_alphanumeric() || b"+/=\r\n\\-:,\"'".contains(byte) || (*byte == b' ' && spaced);
            if !belongs {
                return (at, true);
            }
        }
        at += 1;
    }
    (at, whole)
}

impl Set {
    fn has(self, byte: u8) -> bool {
        match self {
            Set::Any | Set::Random => is_key_byte(byte),
            Set::Hex => byte.is_ascii_hexdigit(),
            Set::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// Whether a key looks random: a part of it of twelve or more letters and digits, or frequent changes between these.
fn is_random(key: &[u8]) -> bool {
    let mixed = |part: &[u8]| part.len() >= 12 && changes(part) > 0;
    changes(key) > 3 || key.split(|byte| !byte.is_ascii_alphanumeric()).any(mixed)
}

/// The number of changes between letters and digits.
fn changes(text: &[u8]) -> usize {
    let change = |pair: &&[u8]| match pair {
        [a, b] => a.is_ascii_digit() && b.is_ascii_alphabetic() || a.is_ascii_alphabetic() && b.is_ascii_digit(),
        _ => false,
    };
    text.windows(2).filter(change).count()
}

/// Whether a word can begin here: after anything that belongs to no word, or after an escape.
fn begins_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', b'0', b'0', _, _] => true,
        [.., last] => !is_word(*last),
        [] => true,
    }
}

/// The text before an opening quote, and the quote.
fn unquoted(text: &[u8]) -> (&[u8], Option<u8>) {
    match text.split_last() {
        Some((quote, rest)) if is_quote(*quote) => {
            let escapes = rest.iter().rev().take_while(|byte| **byte == b'\\').count();
            (rest.get(..rest.len() - escapes).unwrap_or_default(), Some(*quote))
        }
        _ => (text, None),
    }
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(..text.len() - spaces).unwrap_or_default()
}

fn ends_with(text: &[u8], words: &str) -> bool {
    let from = text.len().checked_sub(words.len());
    from.and_then(|from| text.get(from..)).is_some_and(|end| end.eq_ignore_ascii_case(words.as_bytes()))
}

fn is_quote(byte: u8) -> bool {
    b"\"'`".contains(&byte)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_key_byte(byte: u8) -> bool {
    is_word(byte) || b".~+/=".contains(&byte)
}
