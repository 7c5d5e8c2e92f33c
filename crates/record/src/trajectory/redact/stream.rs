//! Redacts text as it streams in: text that could still become a secret is held back until that is decided.
//!
//! Two stages, as in [`Secrets::scrub`]: known secrets first, then anything in the rest that looks like a secret.
//! Invariants: the output equals [`Secrets::scrub`] of the whole input, however the input is split. The work grows with the
//! length of the input, not with the number of pieces, because what is held back and looked at again has a limited length.

use super::Secrets;
use super::looks::{CONTEXT, Rest, scan, without};

/// One stream of text.
#[derive(Debug, Default)]
pub struct StreamScrub {
    /// May be the start of a known secret; it is no longer than the longest form of one.
    known: String,
    /// What was passed on last, and what may begin something that looks like a secret.
    looks: String,
    /// Where the second part of `looks` begins.
    at: usize,
    /// A secret that was replaced and goes on.
    rest: Option<Rest>,
}

impl StreamScrub {
    /// Takes the next piece and returns the text that can be shown now, which may be empty.
    pub fn push(&mut self, secrets: &Secrets, piece: &str) -> String {
        self.take(secrets, piece, false)
    }

    /// The number of bytes held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.known.len() + self.looks.len() - self.at
    }

    /// Ends the stream and returns the rest.
    #[must_use]
    pub fn finish(mut self, secrets: &Secrets) -> String {
        self.take(secrets, "", true)
    }

    fn take(&mut self, secrets: &Secrets, piece: &str, whole: bool) -> String {
        self.known.push_str(piece);
        let (spans, open) = secrets.find(&self.known, whole);
        let rest = self.known.split_off(open);
        self.looks.push_str(&without(&self.known, &spans, false));
        self.known = rest;

        let goes_on = self.rest.is_some();
        let found = scan(&self.looks, self.at, self.rest, whole);
        let open = self.looks.floor_char_boundary(found.open);
        let ready = self.looks.get(..open).unwrap_or_default();
        let out = without(ready, &found.spans, goes_on).get(self.at..).unwrap_or_default().to_owned();
        let cut = self.looks.floor_char_boundary(open.saturating_sub(CONTEXT));
        self.looks.drain(..cut);
        (self.at, self.rest) = (open - cut, found.rest);
        out
    }
}
