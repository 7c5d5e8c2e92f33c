//! Redacts text as it streams in: text that could still become a secret is held back until that is decided.
//!
//! Two stages, as in [`Secrets::scrub`]: known secrets first, then anything in the rest that looks like a secret.
//! Invariants: the output equals [`Secrets::scrub`] of the whole input, however the input is split. The work grows with the
//! length of the input, not with the number of pieces.

use std::borrow::Cow;

use super::Secrets;
use super::looks::{Beginning, CONTEXT, REDACTED, Suspect, beginning, is_key_byte, last_digit, without};

/// One stream of text.
#[derive(Debug, Default)]
pub struct StreamScrub {
    known: Known,
    looks: Looks,
}

/// Holds back text that may be the start of a known secret; it is shorter than the longest known secret.
#[derive(Debug, Default)]
struct Known {
    text: String,
}

/// Holds back text that may begin something that looks like a secret: at most one run of key characters.
#[derive(Debug, Default)]
struct Looks {
    /// The last bytes received.
    tail: [u8; CONTEXT],
    /// The value of `tail` when the current run began.
    before: [u8; CONTEXT],
    run: Run,
    /// The part of the run that is held back.
    held: String,
}

/// The run of key characters at the end of the text so far.
#[derive(Clone, Copy, Debug, Default)]
enum Run {
    #[default]
    None,
    /// Not a secret.
    Clear,
    /// Held back; too short to judge.
    Perhaps,
    /// Held back from its first byte, with the position of its last digit.
    Suspect(Suspect, Option<usize>),
    /// Already replaced; the rest of the run is dropped.
    Secret,
}

impl StreamScrub {
    /// Takes the next piece and returns the text that can be shown now, which may be empty.
    pub fn push<'a>(&mut self, secrets: &Secrets, piece: &'a str) -> Cow<'a, str> {
        match self.known.push(secrets, piece) {
            Cow::Borrowed(text) => self.looks.push(text),
            Cow::Owned(text) => Cow::Owned(self.looks.push(&text).into_owned()),
        }
    }

    /// The number of bytes held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.known.text.len() + self.looks.held.len()
    }

    /// Ends the stream and returns the rest.
    #[must_use]
    pub fn finish(mut self, secrets: &Secrets) -> String {
        let known = without(&self.known.text, &secrets.known(&self.known.text).spans);
        let mut rest = self.looks.push(&known).into_owned();
        rest.push_str(&self.looks.held);
        rest
    }
}

impl Known {
    fn push<'a>(&mut self, secrets: &Secrets, piece: &'a str) -> Cow<'a, str> {
        let held = !self.text.is_empty();
        if held {
            self.text.push_str(piece);
        }
        let found = secrets.known(if held { &self.text } else { piece });
        if !held && found.spans.is_empty() && found.open == piece.len() {
            return Cow::Borrowed(piece);
        }
        if !held {
            self.text.push_str(piece);
        }
        let rest = self.text.split_off(self.text.floor_char_boundary(found.open));
        let ready = std::mem::replace(&mut self.text, rest);
        let spans: Vec<_> = found.spans.into_iter().filter(|(_, end)| *end <= ready.len()).collect();
        Cow::Owned(without(&ready, &spans))
    }
}

impl Looks {
    fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        let bytes = piece.as_bytes();
        // `clear..at` of the piece is passed on unchanged; it is copied only if something else has to be output too.
        let (mut out, mut clear, mut at) = (String::new(), 0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let of_run = rest.first().copied().is_some_and(is_key_byte);
            let len = rest.iter().position(|byte| is_key_byte(*byte) != of_run).unwrap_or(rest.len());
            let end = at + len;
            let part = piece.get(at..end).unwrap_or_default();
            if !of_run {
                out.push_str(&self.held);
                self.held.clear();
                self.run = Run::None;
            } else if self.holds(part, end < bytes.len()) {
                out.push_str(piece.get(clear..at).unwrap_or_default());
                clear = end;
                self.settle(part, end < bytes.len(), &mut out);
            }
            self.follow(part.as_bytes());
            at = end;
        }
        if clear == 0 && out.is_empty() {
            return Cow::Borrowed(piece);
        }
        out.push_str(piece.get(clear..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Returns whether this part of a run is held back. `whole`: the run ends with this part.
    fn holds(&mut self, part: &str, whole: bool) -> bool {
        match self.run {
            Run::Clear => false,
            Run::Perhaps | Run::Suspect(..) | Run::Secret => true,
            Run::None => {
                self.before = self.tail;
                self.run = Run::Perhaps;
                if beginning(&self.before, part.as_bytes(), whole) == Beginning::Clear {
                    self.run = Run::Clear;
                }
                !matches!(self.run, Run::Clear)
            }
        }
    }

    /// Takes a part of a run that is held back, and outputs the text that can be judged.
    fn settle(&mut self, part: &str, whole: bool, out: &mut String) {
        let before = self.held.len();
        if !matches!(self.run, Run::Secret) {
            self.held.push_str(part);
        }
        if let Run::Perhaps = self.run {
            match beginning(&self.before, self.held.as_bytes(), whole) {
                Beginning::Perhaps => {}
                Beginning::Suspect(suspect) => self.run = Run::Suspect(suspect, last_digit(self.held.as_bytes())),
                Beginning::Clear => {
                    out.push_str(&self.held);
                    self.held.clear();
                    self.run = Run::Clear;
                }
            }
        } else if let Run::Suspect(_, digit) = &mut self.run {
            *digit = last_digit(part.as_bytes()).map(|at| before + at).or(*digit);
        }
        if let Run::Suspect(suspect, digit) = self.run
            && suspect.is_secret(self.held.len(), digit)
        {
            out.push_str(self.held.get(..suspect.start).unwrap_or_default());
            out.push_str(REDACTED);
            self.held.clear();
            self.run = Run::Secret;
        }
    }

    fn follow(&mut self, part: &[u8]) {
        for byte in part.iter().skip(part.len().saturating_sub(CONTEXT)) {
            self.tail.rotate_left(1);
            if let Some(last) = self.tail.last_mut() {
                *last = *byte;
            }
        }
    }
}
