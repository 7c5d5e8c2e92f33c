//! Finds known secrets in a text, in every form in which programs usually write them.
//!
//! A form is matched where it stands, character by character: nothing is decoded in advance, so it does not matter what
//! precedes a secret, and forms may be mixed. The work for each byte of the text is limited by the length of the secrets.

/// Shorter secrets would blank out common words.
const MIN_KNOWN: usize = 6;

/// What an escape begins with: in JSON and other languages, in addresses, in HTML and XML.
const LEADS: &[u8] = b"\\%&";

/// How often an escape may be escaped again, as in JSON inside a JSON string. Backslashes may be doubled more often.
const DEPTH: u8 = 2;

/// How many readings are tried if the secret has a character in it that begins escapes: `%25` is `%25` and `%`.
const READINGS: usize = 3;

/// The longest run of backslashes, or of leading zeros of a number.
const MAX_RUN: usize = 16;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The names that HTML has for characters of ASCII.
const NAMES: &[(u8, &str)] = &[
    (b'&', "amp;"),
    (b'"', "quot;"),
    (b'\'', "apos;"),
    (b'<', "lt;"),
    (b'>', "gt;"),
    (b'+', "plus;"),
    (b'/', "sol;"),
    (b'=', "equals;"),
    (b'_', "lowbar;"),
    (b'_', "UnderBar;"),
    (b'.', "period;"),
    (b':', "colon;"),
    (b';', "semi;"),
    (b',', "comma;"),
    (b'!', "excl;"),
    (b'#', "num;"),
    (b'$', "dollar;"),
    (b'%', "percnt;"),
    (b'(', "lpar;"),
    (b')', "rpar;"),
    (b'*', "ast;"),
    (b'*', "midast;"),
    (b'?', "quest;"),
    (b'@', "commat;"),
    (b'[', "lsqb;"),
    (b'[', "lbrack;"),
    (b'\\', "bsol;"),
    (b']', "rsqb;"),
    (b']', "rbrack;"),
    (b'^', "Hat;"),
    (b'`', "grave;"),
    (b'{', "lcub;"),
    (b'{', "lbrace;"),
    (b'|', "verbar;"),
    (b'|', "vert;"),
    (b'}', "rcub;"),
    (b'}', "rbrace;"),
    (b'\n', "NewLine;"),
];

/// The secrets known to the shell. Debug output does not show them.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Vec<String>,
    patterns: Vec<SecretPattern>,
    /// The bytes that a form of a secret can begin with, as bits.
    begins: [u64; 4],
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.known.len())
    }
}

/// The characters of a secret as it is or encoded, each of which may be escaped in the text.
#[derive(Clone)]
struct SecretPattern {
    encoding: Encoding,
    bytes: Vec<u8>,
    /// What it can begin with if that is not escaped.
    first: [u8; 2],
    /// It has a character in it that an escape begins with, so a text can be read in two ways.
    ambiguous: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Plain,
    /// Also in the alphabet for addresses, and broken into lines.
    Base64,
    /// In either case, also with separators between bytes.
    Hex,
}

/// How far a text matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchStep {
    No,
    /// The text ends before this is decided.
    More,
    To(usize),
}

impl Secrets {
    /// Takes keys and header values. Each is matched as it is sent, that is, without surrounding whitespace, and the value of an
    /// `Authorization` header also without its scheme, and with `Basic` also decoded.
    #[must_use]
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut secrets = Secrets::default();
        for secret in known {
            let secret = secret.trim();
            secrets.add(secret);
            if let Some(bare) = without_scheme(secret) {
                secrets.add(bare);
                let pair = from_base64(bare).unwrap_or_default();
                secrets.add(&pair);
                secrets.add(pair.split_once(':').map_or("", |(_, password)| password));
            }
        }
        secrets
    }

    /// Returns these secrets and more.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        Secrets::new(self.known.iter().cloned().chain(more))
    }

    fn add(&mut self, secret: &str) {
        if secret.len() < MIN_KNOWN || self.known.iter().any(|known| known == secret) {
            return;
        }
        self.known.push(secret.to_owned());
        let bytes = secret.as_bytes();
        self.pattern(Encoding::Plain, bytes.to_vec());
        self.pattern(Encoding::Hex, bytes.iter().flat_map(|byte| hex(*byte)).collect());
        (0..3).for_each(|shift| self.pattern(Encoding::Base64, base64(bytes, shift)));
    }

    fn pattern(&mut self, encoding: Encoding, bytes: Vec<u8>) {
        let first = bytes.first().copied().unwrap_or_default();
        let first = [first, encoding.other(first)];
        let ambiguous = bytes.iter().any(|byte| LEADS.contains(byte));
        let pattern = SecretPattern { encoding, bytes, first, ambiguous };
        for byte in LEADS.iter().copied().chain(first) {
            if let Some(bits) = self.begins.get_mut(usize::from(byte >> 6)) {
                *bits |= 1 << (byte & 63);
            }
        }
        self.patterns.push(pattern);
    }

    fn begins(&self, byte: u8) -> bool {
        self.begins.get(usize::from(byte >> 6)).is_some_and(|bits| bits >> (byte & 63) & 1 == 1)
    }

    /// Whether a form of a secret can begin with the escape at this position: most escapes of a text cannot.
    fn begins_escaped(&self, text: &[u8], at: usize) -> bool {
        let after = |n: usize| text.get(at + n).copied();
        match (after(0), after(1), after(2)) {
            (Some(b'%'), Some(high), Some(low)) => value(high, low).is_some_and(|byte| self.begins(byte)),
            (Some(b'&'), Some(first), _) => first == b'#' || first.is_ascii_alphabetic(),
            (Some(b'\\'), ..) => {
                let next = at + count(text, at, MAX_RUN + 1, |byte| byte == b'\\');
                match (text.get(next), text.get(next + 1)) {
                    (Some(b'u'), Some(digit)) => *digit == b'0',
                    (Some(b'u' | b'x'), _) | (None, _) => true,
                    (Some(byte), _) => !byte.is_ascii_alphanumeric() && *byte != b'\\' && self.begins(*byte),
                }
            }
            _ => true,
        }
    }

    /// Returns the positions of known secrets, of which those that overlap are one, and the position from which on the text
    /// could still become a secret if more follows. `whole`: nothing follows.
    pub(super) fn find(&self, text: &str, whole: bool) -> (Vec<(usize, usize)>, usize) {
        // After a byte that is in no form of a secret, nothing is left undecided.
        let ended = if whole && !self.patterns.is_empty() { [text.as_bytes(), b"\0"].concat() } else { Vec::new() };
        let bytes = if ended.is_empty() { text.as_bytes() } else { &ended };
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| self.begins(*byte))) {
            at += next;
            let first = bytes.get(at).copied().unwrap_or_default();
            let escaped = LEADS.contains(&first) && self.begins_escaped(bytes, at);
            // What a run of backslashes means, the byte after it says.
            let rest = bytes.get(at..).unwrap_or_default();
            let undecided = rest.len() <= MAX_RUN + 1 && rest.iter().all(|byte| *byte == b'\\');
            let mut more = undecided;
            let mut longest = None;
            let may_begin = |pattern: &&SecretPattern| escaped || pattern.first.contains(&first);
            for pattern in self.patterns.iter().filter(|_| !undecided).filter(may_begin) {
                let readings = if pattern.ambiguous { 0..READINGS } else { 0..1 };
                let mut steps = readings.map(|reading| pattern.at(bytes, at, reading));
                let step = steps.find(|step| *step != MatchStep::No).unwrap_or(MatchStep::No);
                if pattern.encoding == Encoding::Plain && rest.starts_with(&pattern.bytes) {
                    longest = longest.max(Some(at + pattern.bytes.len()));
                }
                match step {
                    MatchStep::No => {}
                    MatchStep::More => more = true,
                    MatchStep::To(end) => longest = longest.max(Some(end)),
                }
            }
            let within = spans.last().copied().filter(|(_, end)| at < *end);
            if more {
                if within.is_some() {
                    spans.pop();
                }
                return (spans, within.map_or(at, |(from, _)| from));
            }
            match (longest, within.and(spans.last_mut())) {
                (Some(end), Some(last)) => last.1 = last.1.max(end),
                (Some(end), None) => spans.push((at, end)),
                (None, _) => {}
            }
            at += 1;
        }
        (spans, text.len())
    }
}

impl SecretPattern {
    /// `reading`: of several readings of an escape, from the shortest on.
    fn at(&self, text: &[u8], from: usize, reading: usize) -> MatchStep {
        let (mut at, mut before) = (from, 0);
        for (n, want) in self.bytes.iter().copied().enumerate() {
            if n > 0 {
                match self.gap(text, at, n) {
                    MatchStep::To(next) => at = next,
                    MatchStep::More => return MatchStep::More,
                    MatchStep::No => {}
                }
            }
            let mut step = character(text, at, want, DEPTH, reading);
            let other = self.encoding.other(want);
            if step == MatchStep::No && other != want {
                step = character(text, at, other, DEPTH, reading);
            }
            // The last one of a run of backslashes may belong to the next character.
            if step == MatchStep::No && before == b'\\' && text.get(..at).is_some_and(|text| text.ends_with(b"\\")) {
                step = escaped(text, at, before, want);
            }
            match step {
                MatchStep::To(next) => at = next,
                // A run of backslashes is matched as one.
                MatchStep::No if want == b'\\' && before == want => {}
                _ => return step,
            }
            before = want;
        }
        MatchStep::To(at)
    }

    /// What may be between the character at this position and the one before it.
    fn gap(&self, text: &[u8], at: usize, n: usize) -> MatchStep {
        match self.encoding {
            Encoding::Hex if n.is_multiple_of(2) => {
                let next = at + count(text, at, 3, |byte| b" ,:-".contains(&byte));
                match literal(text, next, b"0x") {
                    MatchStep::No => MatchStep::To(next),
                    step => step,
                }
            }
            Encoding::Base64 => [b'\r', b'\n'].into_iter().fold(MatchStep::To(at), |step, end| match step {
                MatchStep::To(at) => match character(text, at, end, DEPTH, 0) {
                    MatchStep::No => MatchStep::To(at),
                    step => step,
                },
                step => step,
            }),
            _ => MatchStep::No,
        }
    }
}

impl Encoding {
    /// Another character that means the same.
    fn other(self, byte: u8) -> u8 {
        match (self, byte) {
            (Encoding::Base64, b'+') => b'-',
            (Encoding::Base64, b'/') => b'_',
            (Encoding::Hex, _) => byte.to_ascii_uppercase(),
            _ => byte,
        }
    }
}

/// Matches one character, as it is or escaped.
fn character(text: &[u8], at: usize, want: u8, depth: u8, reading: usize) -> MatchStep {
    let Some(first) = text.get(at) else { return MatchStep::More };
    let mut ends = Vec::new();
    if *first == want {
        ends.push(at + 1);
    }
    if LEADS.contains(first) {
        for (lead, nested) in LEADS.iter().flat_map(|lead| (0..depth).map(move |nested| (*lead, nested))) {
            let step = match character(text, at, lead, nested, usize::MAX) {
                MatchStep::To(next) => escaped(text, next, lead, want),
                step => step,
            };
            match step {
                MatchStep::To(end) => ends.push(end),
                MatchStep::More => return MatchStep::More,
                MatchStep::No => {}
            }
        }
        ends.sort_unstable();
        ends.dedup();
    }
    // Backslashes in a row are one.
    let reading = if want == b'\\' { usize::MAX } else { reading };
    ends.get(reading).or(ends.last()).map_or(MatchStep::No, |end| MatchStep::To(*end))
}

/// Matches what follows the first character of an escape.
fn escaped(text: &[u8], at: usize, lead: u8, want: u8) -> MatchStep {
    let [high, low] = hex(want);
    match lead {
        b'%' => literal(text, at, &[high, low]),
        b'\\' => {
            let at = at + count(text, at, MAX_RUN, |byte| byte == b'\\');
            let step = match (text.get(at), want) {
                (None, _) => MatchStep::More,
                (Some(b'u'), _) => literal(text, at + 1, &[b'0', b'0', high, low]),
                (Some(b'x'), _) => literal(text, at + 1, &[high, low]),
                (Some(b'n'), b'\n') | (Some(b'r'), b'\r') | (Some(b't'), b'\t') => MatchStep::To(at + 1),
                (Some(byte), _) if *byte == want && !want.is_ascii_alphanumeric() => MatchStep::To(at + 1),
                _ => MatchStep::No,
            };
            if step == MatchStep::No && want == b'\\' { MatchStep::To(at) } else { step }
        }
        _ => match (text.get(at), text.get(at + 1)) {
            (None, _) | (Some(b'#'), None) => MatchStep::More,
            (Some(b'#'), Some(b'x' | b'X')) => number(text, at + 2, 16, want),
            (Some(b'#'), _) => number(text, at + 1, 10, want),
            _ => {
                let steps =
                    NAMES.iter().filter(|(byte, _)| *byte == want).map(|(_, name)| literal(text, at, name.as_bytes()));
                steps.reduce(|a, b| if a == MatchStep::No { b } else { a }).unwrap_or(MatchStep::No)
            }
        },
    }
}

/// Matches the number of a character and a semicolon.
fn number(text: &[u8], at: usize, base: u32, want: u8) -> MatchStep {
    let mut number = 0;
    for (n, byte) in text.iter().enumerate().skip(at).take(MAX_RUN) {
        match char::from(*byte).to_digit(base) {
            Some(digit) => number = number * base % 0x1000 + digit,
            None if *byte == b';' && number == u32::from(want) => return MatchStep::To(n + 1),
            None => return MatchStep::No,
        }
    }
    if text.len() < at + MAX_RUN { MatchStep::More } else { MatchStep::No }
}

/// Matches a text in any letter case.
pub(super) fn literal(text: &[u8], at: usize, expected: &[u8]) -> MatchStep {
    let rest = text.get(at..).unwrap_or_default();
    match expected.iter().zip(rest).all(|(a, b)| a.eq_ignore_ascii_case(b)) {
        false => MatchStep::No,
        true if rest.len() < expected.len() => MatchStep::More,
        true => MatchStep::To(at + expected.len()),
    }
}

/// The number of bytes of a kind from here on, up to a limit.
pub(super) fn count(text: &[u8], at: usize, most: usize, of_kind: impl Fn(u8) -> bool) -> usize {
    text.iter().skip(at).take(most).take_while(|byte| of_kind(**byte)).count()
}

/// The byte that two hexadecimal digits stand for.
fn value(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn hex(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| if digit < 10 { b'0' + digit } else { b'a' + digit - 10 })
}

/// The characters of base64 that the bytes determine alone if so many other bytes (modulo 3) precede them.
fn base64(bytes: &[u8], shift: usize) -> Vec<u8> {
    let bytes: Vec<u8> = [0, 0].into_iter().take(shift).chain(bytes.iter().copied()).collect();
    let byte = |at: usize| bytes.get(at).copied().map_or(0, usize::from);
    let character = |n: usize| {
        let bits = (byte(n * 6 / 8) << 8 | byte(n * 6 / 8 + 1)) >> (10 - n * 6 % 8);
        BASE64.get(bits & 63).copied()
    };
    ((shift * 8).div_ceil(6)..bytes.len() * 8 / 6).filter_map(character).collect()
}

fn from_base64(text: &str) -> Option<String> {
    let (mut out, mut bits, mut held) = (Vec::new(), 0, 0);
    for byte in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | BASE64.iter().position(|one| *one == byte)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from(bits >> held & 255).ok()?);
        }
        bits &= 255;
    }
    String::from_utf8(out).ok()
}

/// Returns the part after `Bearer `, `Basic ` or `Token `, in any letter case.
fn without_scheme(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once(char::is_whitespace)?;
    ["bearer", "basic", "token"].iter().any(|known| scheme.eq_ignore_ascii_case(known)).then(|| rest.trim_start())
}
