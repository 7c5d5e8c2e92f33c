//! Parses server-sent events from bytes in any chunking.
//!
//! Owns the framing of <https://html.spec.whatwg.org/multipage/server-sent-events.html>: CR, LF and CRLF, comments, a
//! byte order mark, data over several lines. Works on bytes, so a chunk may end inside a character. Each byte is
//! examined once, and an event contained in one chunk is passed on without a copy. A line or an event larger than
//! [`MAX_EVENT`] stops the parser: nothing more is kept or passed on.
//! Deliberately absent: event names, ids and retry times (no provider needs them here), and the meaning of the data. Exception:
//! two kinds of lines that the standard ignores report a failure, and are passed on as events so that its text is not lost:
//! `error: …` (llama.cpp until 2025), which becomes `{"error": …}`, and a bare JSON object with an `error`.

use std::borrow::Cow;

use super::error_body::is_said;
use turnwise_engine::caps::{MAX_EVENT, TooLarge};

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The framing of one stream.
#[derive(Clone, Debug, Default)]
pub struct SseParser {
    /// The start of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// Data of the open event, if it could not stay in its chunk.
    data: Vec<u8>,
    has_data: bool,
    /// Whether the last byte was a CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    /// The number of bytes seen of a byte order mark; its full length once anything else has arrived.
    bom: usize,
    too_large: Option<TooLarge>,
}

enum SseLine<'a> {
    Blank,
    Data(&'a [u8]),
    /// An event of its own.
    Alone(Cow<'a, [u8]>),
    Other,
}

impl SseParser {
    /// Takes the next bytes; `on_data` receives the data of each event that they complete.
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
                    SseLine::Data(data) if self.has_data || held.is_some() => {
                        self.hold(held.take());
                        self.add_line(data);
                    }
                    SseLine::Data(data) => held = Some(data),
                    SseLine::Blank => match held.take() {
                        Some(data) => on_data(data),
                        None => self.dispatch(&mut on_data),
                    },
                    SseLine::Alone(data) => {
                        match held.take() {
                            Some(data) => on_data(data),
                            None => self.dispatch(&mut on_data),
                        }
                        on_data(&data);
                    }
                    SseLine::Other => {}
                }
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                // The first bytes of this line are from an earlier chunk, so nothing is held from this one.
                match parse(&line) {
                    SseLine::Data(data) => self.add_line(data),
                    SseLine::Alone(data) => {
                        self.dispatch(&mut on_data);
                        on_data(&data);
                    }
                    SseLine::Blank | SseLine::Other => {}
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

    /// The limit that was exceeded, after which nothing more is read.
    #[must_use]
    pub fn too_large(&self) -> Option<TooLarge> {
        self.too_large
    }

    /// Bytes held of incomplete lines and events.
    #[must_use]
    pub fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// Ends the stream: passes on an event whose blank line is missing. The caller decides whether it is complete; the
    /// standard would drop it, but some servers end this way.
    pub fn finish(mut self, mut on_data: impl FnMut(&[u8])) {
        if self.too_large.is_some() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let parsed = parse(&line);
        if let SseLine::Data(data) = parsed {
            self.add_line(data);
        }
        self.dispatch(&mut on_data);
        if let SseLine::Alone(data) = parsed {
            on_data(&data);
        }
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

    /// Whether this many more bytes of the current line are accepted.
    fn fits(&mut self, more: usize) -> bool {
        if self.line.len() + more > MAX_EVENT {
            self.fail(TooLarge::Line);
        }
        self.too_large.is_none()
    }

    /// Stops at a limit, and releases the held data.
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

fn parse(line: &[u8]) -> SseLine<'_> {
    match line {
        [] => SseLine::Blank,
        b"data" => SseLine::Data(&[]),
        _ => match line.strip_prefix(b"data:") {
            Some(data) => SseLine::Data(data.strip_prefix(b" ").unwrap_or(data)),
            None if line.first() == Some(&b'{') && reports_error(line) => SseLine::Alone(line.into()),
            None => match line.strip_prefix(b"error:") {
                Some(said) => SseLine::Alone(error_of(said).into()),
                None => SseLine::Other,
            },
        },
    }
}

fn reports_error(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value.get("error").is_some_and(is_said))
}

/// `{"error": …}` with what the line says: JSON, or a text.
fn error_of(said: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(said.trim_ascii());
    let said = serde_json::from_str(&text).unwrap_or_else(|_| serde_json::Value::from(text));
    serde_json::json!({ "error": said }).to_string().into_bytes()
}
