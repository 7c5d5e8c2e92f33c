//! What looks like a secret: provider keys by their prefixes, and what stands behind words that introduce one.

use super::REDACTED;

/// What introduces a secret, by the byte it starts with: a text is scanned once, and most bytes start nothing.
struct Patterns {
    /// Prefixes of provider keys, and how many key characters (one a digit) follow at least.
    prefixes: &'static [(&'static str, usize)],
    /// Words before a secret value, matched without regard to case; the value is at least 8 characters.
    introducers: &'static [&'static str],
}

const HEADERS_A: &[&str] = &["authorization: ", "api-key: "];
const HEADERS_X: &[&str] = &["x-api-key: ", "x-goog-api-key: "];
const PARAMETERS: &[&str] = &[
    "?key=",
    "&key=",
    "?api_key=",
    "&api_key=",
    "?api-key=",
    "&api-key=",
    "?apikey=",
    "&apikey=",
    "?access_token=",
    "&access_token=",
    "?token=",
    "&token=",
];

fn patterns(first: u8) -> Option<Patterns> {
    let (prefixes, introducers): (&[(&str, usize)], &[&str]) = match first {
        b's' => (&[("sk-", 16), ("sk_", 16)], &[]),
        b'p' => (&[("pk-lf-", 16)], &[]),
        b'g' => (&[("gsk_", 16), ("ghp_", 16), ("github_pat_", 16)], &[]),
        b'h' => (&[("hf_", 16)], &[]),
        b'x' => (&[("xai-", 16)], HEADERS_X),
        b'X' => (&[], HEADERS_X),
        b'A' => (&[("AIza", 30), ("AKIA", 16)], HEADERS_A),
        b'a' => (&[], HEADERS_A),
        b'B' | b'b' => (&[], &["bearer "]),
        b'?' | b'&' => (&[], PARAMETERS),
        _ => return None,
    };
    Some(Patterns { prefixes, introducers })
}

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

/// What a text holds that looks like a secret.
pub(super) struct Scan {
    /// Byte ranges, in order.
    pub spans: Vec<(usize, usize)>,
    /// From here on the text could still become one, if more follows; its length where it could not.
    pub open: usize,
    /// The secrets with what introduces them, in order of their starts.
    guarded: Vec<(usize, usize)>,
}

/// `before` is the byte that stands before the text, if any.
pub(super) fn scan(before: Option<u8>, text: &str) -> Scan {
    let bytes = text.as_bytes();
    let mut found = Scan { spans: Vec::new(), open: bytes.len(), guarded: Vec::new() };
    for (at, byte) in bytes.iter().enumerate() {
        let Some(Patterns { prefixes, introducers }) = patterns(*byte) else { continue };
        let rest = bytes.get(at..).unwrap_or_default();
        let previous = if at == 0 { before } else { bytes.get(at - 1).copied() };
        let fresh = !previous.is_some_and(is_key_byte);
        for (prefix, min) in prefixes.iter().filter(|_| fresh) {
            match begins(rest, prefix) {
                Begins::No => {}
                Begins::Perhaps => found.open = found.open.min(at),
                Begins::Yes => found.run(bytes, at, at + prefix.len(), *min, at),
            }
        }
        for introducer in introducers {
            match begins(rest, introducer) {
                Begins::No => {}
                Begins::Perhaps => found.open = found.open.min(at),
                Begins::Yes => found.run(bytes, at, at + introducer.len(), 8, at + introducer.len()),
            }
        }
    }
    found.spans.sort_unstable();
    // A cut inside a secret, or between it and what introduces it, would hide that it is one.
    for (from, to) in found.guarded.iter().rev() {
        if (from + 1..*to).contains(&found.open) {
            found.open = *from;
        }
    }
    found
}

/// Where the longest start of `pattern` that the text ends with begins; its length where it ends with none.
pub(super) fn partial(text: &str, pattern: &str) -> usize {
    let longest = pattern.len().saturating_sub(1).min(text.len());
    let ends = |n: &usize| pattern.as_bytes().get(..*n).is_some_and(|start| text.as_bytes().ends_with(start));
    text.len() - (1..=longest).rev().find(ends).unwrap_or(0)
}

impl Scan {
    pub fn of(spans: Vec<(usize, usize)>, open: usize) -> Self {
        Scan { spans, open, guarded: Vec::new() }
    }

    /// The key characters from `body` on: a secret if they are enough, open if they reach the end of the text.
    fn run(&mut self, bytes: &[u8], at: usize, body: usize, min: usize, from: usize) {
        let run = key_run(bytes, body);
        if secret(run, min) {
            self.spans.push((from, body + run.len()));
            self.guarded.push((at, body + run.len()));
        }
        if body + run.len() == bytes.len() {
            self.open = self.open.min(at);
        }
    }
}

enum Begins {
    No,
    Yes,
    /// It ends before that can be told.
    Perhaps,
}

/// Words before a key (they end in a space or `=`) are compared without regard to case, keys' own prefixes are not.
fn begins(text: &[u8], pattern: &str) -> Begins {
    let pattern = pattern.as_bytes();
    let any_case = pattern.last().is_some_and(|last| matches!(last, b' ' | b'='));
    let same = |a: &[u8], b: &[u8]| if any_case { a.eq_ignore_ascii_case(b) } else { a == b };
    match text.get(..pattern.len()) {
        Some(start) if same(start, pattern) => Begins::Yes,
        None if pattern.get(..text.len()).is_some_and(|start| same(text, start)) => Begins::Perhaps,
        _ => Begins::No,
    }
}

/// Long enough, and with a digit: words of a language have none.
fn secret(body: &[u8], min: usize) -> bool {
    body.len() >= min && body.iter().any(u8::is_ascii_digit)
}

fn key_run(bytes: &[u8], from: usize) -> &[u8] {
    let rest = bytes.get(from..).unwrap_or_default();
    let len = rest.iter().position(|b| !is_key_byte(*b)).unwrap_or(rest.len());
    rest.get(..len).unwrap_or_default()
}

fn is_key_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}
