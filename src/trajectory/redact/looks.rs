//! What looks like a secret: provider keys by their prefixes, and what follows words that introduce one.
//!
//! A secret lies inside one run of key characters: either the run begins with the prefix of a provider's key, or words
//! that introduce a secret are directly before it, or it is the value of a key-like URL parameter. So a run is judged by
//! itself and by the few bytes before it, and every byte is looked at once, also in a stream.

use super::REDACTED;

/// Prefixes of provider keys, and how many key characters (one a digit) follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_", 16),
    ("pk-lf-", 16),
    ("gsk_", 16),
    ("ghp_", 16),
    ("github_pat_", 16),
    ("hf_", 16),
    ("xai-", 16),
    ("AIza", 30),
    ("AKIA", 16),
];

/// Words before a secret value, in any case.
const INTRODUCERS: &[&str] = &["authorization: ", "api-key: ", "x-api-key: ", "x-goog-api-key: ", "bearer "];

/// Names of URL parameters, in any case, after a `?` or `&`.
const PARAMETERS: &[&str] = &["key=", "api_key=", "api-key=", "apikey=", "access_token=", "token="];

/// Characters of a value behind one of those at least, one a digit.
const MIN_VALUE: usize = 8;

/// How many bytes before a run matter: the longest introducer.
pub(super) const CONTEXT: usize = 16;

/// The text with [`REDACTED`] in the place of each span.
pub(super) fn without(text: &str, spans: &[(usize, usize)]) -> String {
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (start, end) in spans {
        if *start < from {
            continue;
        }
        out.push_str(text.get(from..*start).unwrap_or_default());
        out.push_str(REDACTED);
        from = *end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// Where the longest start of `pattern` that the text ends with begins; its length where it ends with none.
pub(super) fn partial(text: &str, pattern: &str) -> usize {
    let longest = pattern.len().saturating_sub(1).min(text.len());
    let ends = |n: &usize| pattern.as_bytes().get(..*n).is_some_and(|start| text.as_bytes().ends_with(start));
    text.len() - (1..=longest).rev().find(ends).unwrap_or(0)
}

/// What a text holds of known secrets.
pub(super) struct Scan {
    /// Byte ranges, in order.
    pub spans: Vec<(usize, usize)>,
    /// From here on the text could still become one, if more follows; its length where it could not.
    pub open: usize,
}

/// What the beginning of a run says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Nothing of a secret.
    Clear,
    /// It ends before that can be told.
    Perhaps,
    Suspect(Suspect),
}

/// A run that is a secret if it is long enough and holds a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    /// Where in the run the secret begins.
    pub start: usize,
    /// Where the part begins that is measured, and how long it is at least: as the value, and as a provider's key.
    rules: [Option<(usize, usize)>; 2],
}

impl Suspect {
    /// `len` is the run's length so far, `last_digit` the position of its last digit. Once true it stays true.
    pub fn is_secret(&self, len: usize, last_digit: Option<usize>) -> bool {
        let fits = |(body, min): &(usize, usize)| len >= body + min && last_digit.is_some_and(|at| at >= *body);
        self.rules.iter().flatten().any(fits)
    }
}

/// Judges a run by its first bytes and by up to [`CONTEXT`] bytes before it. `whole`: nothing more of it follows.
pub(super) fn beginning(before: &[u8], run: &[u8], whole: bool) -> Beginning {
    let (mut start, mut value, mut perhaps) = (0, None, false);
    match before.last() {
        Some(b' ') if INTRODUCERS.iter().any(|words| ends_with(before, words)) => value = Some((0, MIN_VALUE)),
        Some(b'?' | b'&') => {
            for name in PARAMETERS {
                match begins(run, name, <[u8]>::eq_ignore_ascii_case) {
                    Begins::Yes => (start, value) = (name.len(), Some((name.len(), MIN_VALUE))),
                    Begins::Perhaps => perhaps = true,
                    Begins::No => {}
                }
            }
        }
        _ => {}
    }
    let mut key = None;
    for (prefix, min) in PREFIXES {
        match begins(run, prefix, |a, b| a == b) {
            Begins::Yes => key = Some((prefix.len(), *min)),
            Begins::Perhaps => perhaps = true,
            Begins::No => {}
        }
    }
    match (value.is_some() || key.is_some(), perhaps && !whole) {
        (_, true) => Beginning::Perhaps,
        (true, false) => Beginning::Suspect(Suspect { start, rules: [value, key] }),
        (false, false) => Beginning::Clear,
    }
}

/// The positions of secrets in a text.
pub(super) fn scan(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut spans, mut at) = (Vec::new(), 0);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let gap = rest.iter().position(|byte| is_key_byte(*byte)).unwrap_or(rest.len());
        let run = key_run(rest.get(gap..).unwrap_or_default());
        let from = at + gap;
        at = from + run.len();
        let before = bytes.get(from.saturating_sub(CONTEXT)..from).unwrap_or_default();
        if let Beginning::Suspect(suspect) = beginning(before, run, true)
            && suspect.is_secret(run.len(), last_digit(run))
        {
            spans.push((from + suspect.start, at));
        }
    }
    spans
}

pub(super) fn last_digit(run: &[u8]) -> Option<usize> {
    run.iter().rposition(u8::is_ascii_digit)
}

/// The key characters that the text begins with.
pub(super) fn key_run(text: &[u8]) -> &[u8] {
    let len = text.iter().position(|byte| !is_key_byte(*byte)).unwrap_or(text.len());
    text.get(..len).unwrap_or_default()
}

pub(super) fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

enum Begins {
    No,
    Yes,
    /// It ends before that can be told.
    Perhaps,
}

fn begins(run: &[u8], pattern: &str, same: impl Fn(&[u8], &[u8]) -> bool) -> Begins {
    let pattern = pattern.as_bytes();
    match run.get(..pattern.len()) {
        Some(start) if same(start, pattern) => Begins::Yes,
        None if pattern.get(..run.len()).is_some_and(|start| same(run, start)) => Begins::Perhaps,
        _ => Begins::No,
    }
}

fn ends_with(text: &[u8], words: &str) -> bool {
    let from = text.len().checked_sub(words.len());
    from.and_then(|from| text.get(from..)).is_some_and(|end| end.eq_ignore_ascii_case(words.as_bytes()))
}
