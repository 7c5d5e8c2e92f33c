//! Finds text that looks like a secret: provider keys by their prefixes, and values after text that introduces a secret.
//!
//! A secret lies inside one run of key characters: either the run begins with the prefix of a provider's key, or text that
//! introduces a secret directly precedes it, or it is the value of a key-like URL parameter. So a run is judged by its
//! content and the few bytes before it, and every byte is examined once, even in a stream.

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// Prefixes of provider keys, and the minimum number of key characters (at least one digit) that follow.
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

/// Text that precedes a secret value, in any letter case.
const INTRODUCERS: &[&str] = &["authorization: ", "api-key: ", "x-api-key: ", "x-goog-api-key: ", "bearer "];

/// Names of URL parameters, in any letter case, after a `?` or `&`.
const PARAMETERS: &[&str] = &["key=", "api_key=", "api-key=", "apikey=", "access_token=", "token="];

/// The minimum length of a value after an introducer or a parameter name; it must contain a digit.
const MIN_VALUE: usize = 8;

/// The number of bytes before a run that matter: the length of the longest introducer.
pub(super) const CONTEXT: usize = 16;

/// Returns the text with each span replaced by [`REDACTED`].
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

/// Returns the start of the longest proper prefix of `pattern` that ends the text, or the text's length if there is none.
pub(super) fn partial(text: &str, pattern: &str) -> usize {
    let longest = pattern.len().saturating_sub(1).min(text.len());
    let ends = |n: &usize| pattern.as_bytes().get(..*n).is_some_and(|start| text.as_bytes().ends_with(start));
    text.len() - (1..=longest).rev().find(ends).unwrap_or(0)
}

/// The known secrets in a text.
pub(super) struct Scan {
    /// Byte ranges, in order.
    pub spans: Vec<(usize, usize)>,
    /// From here on, the text could still become a secret if more follows; the text's length if it cannot.
    pub open: usize,
}

/// The verdict on the beginning of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Not a secret.
    Clear,
    /// The run is too short to tell.
    Perhaps,
    Suspect(Suspect),
}

/// A run that is a secret if it is long enough and contains a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    /// The position in the run where the secret begins.
    pub start: usize,
    /// The start of the part that is measured, and its minimum length: first as a value, then as a provider's key.
    rules: [Option<(usize, usize)>; 2],
}

impl Suspect {
    /// `len` is the run's length so far, `last_digit` the position of its last digit. Once true, the result stays true.
    pub fn is_secret(&self, len: usize, last_digit: Option<usize>) -> bool {
        let fits = |(body, min): &(usize, usize)| len >= body + min && last_digit.is_some_and(|at| at >= *body);
        self.rules.iter().flatten().any(fits)
    }
}

/// Judges a run by its first bytes and by up to [`CONTEXT`] bytes before it. `whole`: the run is complete.
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

/// Returns the positions of text that looks like a secret.
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
    /// The run is too short to tell.
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
