//! What a document has and its text has not, counted while it is read. It becomes one sentence of the text's first line.

use std::collections::BTreeMap;

/// The counts, by what they count: `picture(s) without a description`.
#[derive(Debug, Default)]
pub struct Lost {
    counts: BTreeMap<String, usize>,
}

impl Lost {
    /// One more. `what`: with `(s)` where its plural has an s: `picture(s) without a description`.
    pub fn one(&mut self, what: &str) {
        self.some(what, 1);
    }

    pub fn some(&mut self, what: &str, count: usize) {
        if count > 0 {
            *self.counts.entry(what.to_owned()).or_default() += count;
        }
    }

    /// Such as `not in the text: 3 pictures without a description, 1 deletion of tracked changes`.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let part = |(what, count): (&String, &usize)| {
            format!("{count} {}", what.replace("(s)", if *count == 1 { "" } else { "s" }))
        };
        let parts: Vec<String> = self.counts.iter().map(part).collect();
        (!parts.is_empty()).then(|| format!("not in the text: {}", parts.join(", ")))
    }
}
