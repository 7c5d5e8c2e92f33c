//! Writes HTML, or SVG, which can be part of it: all text is escaped, and only our own code writes tags.

use std::fmt::Write as _;

/// A page that is being written.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Adds our own markup, never text from a run.
    pub fn raw(&mut self, markup: &str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds any text, escaped. Attribute values are in double quotes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                // HTML does not allow other control characters, not even as references.
                '\t' | '\n' => self.0.push(c),
                '\r' => self.0.push('\n'),
                c if c.is_control() || is_noncharacter(c) => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
        self
    }

    /// Adds `<name class="class">text</name>`, without the attribute if there is no class.
    pub fn element(&mut self, name: &str, class: &str, text: &str) -> &mut Self {
        self.open(name, class).text(text).close(name)
    }

    /// Adds `<name class="class">`.
    pub fn open(&mut self, name: &str, class: &str) -> &mut Self {
        match class {
            "" => _ = write!(self.0, "<{name}>"),
            class => _ = write!(self.0, "<{name} class=\"{class}\">"),
        }
        self
    }

    /// Adds ` name="value"` to a tag that is not closed yet.
    pub fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    pub fn close(&mut self, name: &str) -> &mut Self {
        _ = write!(self.0, "</{name}>");
        self
    }

    /// The number of bytes so far.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    pub fn finish(self) -> String {
        self.0
    }
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}
