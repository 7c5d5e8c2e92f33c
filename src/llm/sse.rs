//! Server-sent events out of bytes in any chunking.
//!
//! Owns the framing of <https://html.spec.whatwg.org/multipage/server-sent-events.html>: CR, LF and CRLF, comments,
//! a byte order mark, data over several lines. Works on bytes, so a chunk may end inside a character. Each byte is
//! looked at once, and an event that lies whole in one chunk is handed on without a copy. A line or an event past
//! [`MAX_EVENT`] ends the reading: nothing more is kept or handed on.
//! Deliberately absent: event names, ids and retry times (no provider needs them here), and the meaning of the data.

use crate::engine::caps::{MAX_EVENT, TooLarge};

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The framing of one stream.
#[derive(Clone, Debug, Default)]
pub struct SseParser {
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// Data of the open event, where it could not stay in its chunk.
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    /// How many bytes of a byte order mark were seen; past the mark once anything else came.
    bom: usize,
    too_large: Option<TooLarge>,
}

enum Line<'a> {
    Blank,
    Data(&'a [u8]),
    Other,
}

impl SseParser {
    /// Takes the next bytes; `on_data` gets the data of each event that they complete.
    pub fn push(&mut self, bytes: &[u8], mut on_data: impl FnMut(&[u8])) {
        if self.too_large.is_some() {
            return;
        }
        let mut rest = self.skip_bom(bytes);
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        let mut held: Option<&[u8]> = None;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            if !self.fits(line.len()) {
                return;
            }
            rest = match tail {
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [b'\r', b'\n', tail @ ..] | [_, tail @ ..] => tail,
                [] => &[],
            };
            if self.line.is_empty() {
                match parse(line) {
                    Line::Data(data) if self.has_data || held.is_some() => {
                        self.hold(held.take());
                        self.add_line(data);
                    }
                    Line::Data(data) => held = Some(data),
                    Line::Blank => match held.take() {
                        Some(data) => on_data(data),
                        None => self.dispatch(&mut on_data),
                    },
                    Line::Other => {}
                }
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                // The first bytes of this line are from an earlier chunk, so nothing is held from this one.
                if let Line::Data(data) = parse(&line) {
                    self.add_line(data);
                }
                self.line = line;
                self.line.clear();
            }
        }
        self.hold(held);
        if self.fits(rest.len()) {
            self.line.extend_from_slice(rest);
        }
    }

    /// The limit that was passed, after which nothing is read any more.
    #[must_use]
    pub fn too_large(&self) -> Option<TooLarge> {
        self.too_large
    }

    /// Bytes held of lines and events that are not complete.
    #[must_use]
    pub fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// The stream ended: what came of an event whose blank line is missing. Whether it is whole is for the caller to
    /// judge; the standard would drop it, but servers exist that end this way.
    pub fn finish(mut self, mut on_data: impl FnMut(&[u8])) {
        if self.too_large.is_some() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        if let Line::Data(data) = parse(&line) {
            self.add_line(data);
        }
        self.dispatch(&mut on_data);
    }

    fn skip_bom<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let (Some(expected), [first, tail @ ..]) = (BOM.get(self.bom), bytes) {
            if first == expected {
                self.bom += 1;
                bytes = tail;
            } else {
                self.line.extend(BOM.iter().take(self.bom));
                self.bom = BOM.len();
            }
        }
        bytes
    }

    /// Whether this much more of the current line is accepted.
    fn fits(&mut self, more: usize) -> bool {
        if self.line.len() + more > MAX_EVENT {
            self.fail(TooLarge::Line);
        }
        self.too_large.is_none()
    }

    /// Releases the held data.
    fn fail(&mut self, limit: TooLarge) {
        self.too_large = Some(limit);
        (self.line, self.data, self.has_data) = (Vec::new(), Vec::new(), false);
    }

    fn hold(&mut self, data: Option<&[u8]>) {
        if let Some(data) = data {
            self.add_line(data);
        }
    }

    fn add_line(&mut self, data: &[u8]) {
        if self.data.len() + data.len() > MAX_EVENT {
            return self.fail(TooLarge::Event);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(data);
    }

    fn dispatch(&mut self, on_data: &mut impl FnMut(&[u8])) {
        if std::mem::take(&mut self.has_data) {
            on_data(&self.data);
            self.data.clear();
        }
    }
}

fn parse(line: &[u8]) -> Line<'_> {
    match line {
        [] => Line::Blank,
        b"data" => Line::Data(&[]),
        _ => match line.strip_prefix(b"data:") {
            Some(data) => Line::Data(data.strip_prefix(b" ").unwrap_or(data)),
            None => Line::Other,
        },
    }
}
