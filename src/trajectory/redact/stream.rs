//! Redaction of text as it streams in: what could still become a secret waits until it is known to be one or not.
//!
//! Two stages, as in [`Secrets::scrub`]: known secrets first, then what looks like one in what is left.
//! Invariant: what goes out adds up to [`Secrets::scrub`] of what came in, however it was cut.

use std::borrow::Cow;

use super::Secrets;
use super::looks::{Scan, scan, without};

/// One stream of text.
#[derive(Debug, Default)]
pub struct StreamScrub {
    /// May be the start of a known secret.
    known: Held,
    /// May be the start of what looks like one.
    looks: Held,
}

/// What waits in a stage, and the last byte it let through.
#[derive(Debug, Default)]
struct Held {
    text: String,
    before: Option<u8>,
}

impl StreamScrub {
    /// Takes the next piece; what can be shown now, perhaps nothing.
    pub fn push<'a>(&mut self, secrets: &Secrets, piece: &'a str) -> Cow<'a, str> {
        match self.known.push(piece, |_, text| secrets.known(text)) {
            Cow::Borrowed(text) => self.looks.push(text, scan),
            Cow::Owned(text) => Cow::Owned(self.looks.push(&text, scan).into_owned()),
        }
    }

    /// The stream ended: the rest.
    #[must_use]
    pub fn finish(mut self, secrets: &Secrets) -> String {
        let known = without(&self.known.text, &secrets.known(&self.known.text).spans);
        let mut rest = self.looks.push(&known, scan).into_owned();
        rest.push_str(&without(&self.looks.text, &scan(self.looks.before, &self.looks.text).spans));
        rest
    }
}

impl Held {
    fn push<'a>(&mut self, piece: &'a str, find: impl Fn(Option<u8>, &str) -> Scan) -> Cow<'a, str> {
        let held = !self.text.is_empty();
        if held {
            self.text.push_str(piece);
        }
        let found = find(self.before, if held { &self.text } else { piece });
        if !held && found.spans.is_empty() && found.open == piece.len() {
            self.before = piece.bytes().last().or(self.before);
            return Cow::Borrowed(piece);
        }
        if !held {
            self.text.push_str(piece);
        }
        let rest = self.text.split_off(self.text.floor_char_boundary(found.open));
        let ready = std::mem::replace(&mut self.text, rest);
        self.before = ready.bytes().last().or(self.before);
        let spans: Vec<_> = found.spans.into_iter().filter(|(_, end)| *end <= ready.len()).collect();
        Cow::Owned(without(&ready, &spans))
    }
}
