//! A document's text while it is written: its lines, their places, and its limit.

use super::limits::MAX_TEXT;
use turnwise_files::document::{Document, DocumentPlace, Rows};

/// The first paragraph of a slide in the copy starts with this text. Its private-use characters do not occur in documents.
pub const MARK: &str = "\u{f7a51}slide\u{f7a51}";

/// The text so far.
#[derive(Debug, Default)]
pub struct TextBuilder {
    out: String,
    /// The number of lines.
    lines: usize,
    places: Vec<DocumentPlace>,
    /// Whether there is more than the marks of places.
    said: bool,
    full: bool,
}

impl TextBuilder {
    /// Appends one line, or several if the text has line breaks.
    pub fn line(&mut self, line: &str) {
        for line in line.split('\n') {
            if self.out.len() + line.len() >= MAX_TEXT {
                self.full = true;
                return;
            }
            self.said |= !line.trim().is_empty();
            self.out.push_str(line.trim_end());
            self.out.push('\n');
            self.lines += 1;
        }
    }

    /// Appends an empty line, unless there is one.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.line("");
        }
    }

    /// The next line begins a place.
    pub fn place(&mut self, name: &str, rows: Option<Rows>) {
        self.places.push(DocumentPlace { line: self.lines + 1, name: name.to_owned(), rows });
    }

    /// Begins a place with a line of its own, such as `[slide 3]`.
    pub fn marked(&mut self, name: &str) {
        self.gap();
        self.place(name, None);
        let said = self.said;
        self.line(&format!("[{name}]"));
        self.said = said;
    }

    /// What was written so far.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.out
    }

    /// Whether the limit is reached: what follows is not written.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Whether there is no text, except for the marks of places.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        !self.said
    }

    #[must_use]
    pub fn finish(self, kind: String, mut notes: Vec<String>) -> Document {
        if self.full {
            notes.push(format!("the text is cut after {} MB", MAX_TEXT / 1_000_000));
        }
        Document { kind, text: self.out.trim_end().to_owned(), places: self.places, notes, files: Vec::new() }
    }
}
