//! Decodes a response's bytes to a reply: the same reply however the bytes were chunked.
//!
//! Owns the framing (an event stream, or one JSON response from a server that does not stream), the raw capture for the
//! log, and the error for a stream that ended early. The format (`dialect`) interprets the events. A stream without its
//! end marker is never a reply: it is `stream_cut`. A stream that exceeds a limit of [`caps`] is `reply_too_large` and
//! is not read any further.

use turnwise_engine::caps::{self, TooLarge};
use turnwise_engine::{ModelError, ProviderConfig, RAW_CAP, RawResponse, Reply, Retry, Slug};

use super::dialect::{Assemble, PartSizes, Unfinished, assembly};
use super::error_body::{excerpt, page_title};
use super::learn::is_added;
use super::sse::SseParser;

/// The text that a chunk added to the reply. Borrowed from it; the deltas of a whole stream add up to the reply's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta<'a> {
    pub text: &'a str,
    pub reasoning: &'a str,
}

/// Decodes one response.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    assembly: Box<dyn Assemble>,
    raw: Vec<u8>,
    raw_truncated: bool,
    /// Bytes of the body so far.
    received: usize,
    too_large: Option<TooLarge>,
    provider: ProviderConfig,
}

#[derive(Debug)]
enum Framing {
    /// Only white space so far; the parser receives it anyway.
    Unknown(SseParser),
    Events(SseParser),
    /// The bytes start like JSON.
    Values(JsonValues),
}

impl Decoder {
    /// The reader of a response of this provider.
    #[must_use]
    pub fn new(provider: &ProviderConfig) -> Self {
        Decoder {
            framing: Framing::Unknown(SseParser::default()),
            assembly: assembly(provider.kind),
            provider: provider.clone(),
            raw: Vec::new(),
            raw_truncated: false,
            received: 0,
            too_large: None,
        }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Delta<'_>> {
        if self.too_large.is_some() {
            return None;
        }
        self.capture(bytes);
        self.received = self.received.saturating_add(bytes.len());
        if self.received > caps::MAX_STREAM {
            self.too_large = Some(TooLarge::Stream);
            return None;
        }
        let (text, reasoning) = (self.assembly.content().len(), self.assembly.reasoning().len());
        if let Framing::Unknown(_) = self.framing {
            self.recognise(bytes);
        }
        let (assembly, too_large) = (&mut self.assembly, &mut self.too_large);
        let mut on_data = |data: &[u8]| {
            if too_large.is_none() {
                assembly.event(data);
                *too_large = passed(&**assembly);
            }
        };
        let of_framing = match &mut self.framing {
            Framing::Unknown(parser) | Framing::Events(parser) => {
                parser.push(bytes, &mut on_data);
                parser.too_large()
            }
            Framing::Values(values) => {
                values.push(bytes, &mut on_data);
                values.too_large
            }
        };
        self.too_large = self.too_large.or(of_framing);
        let delta = Delta {
            text: self.assembly.content().get(text..).unwrap_or_default(),
            reasoning: self.assembly.reasoning().get(reasoning..).unwrap_or_default(),
        };
        (!delta.text.is_empty() || !delta.reasoning.is_empty()).then_some(delta)
    }

    /// Whether any text, reasoning or tool call has arrived. Comments and empty chunks do not count.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.assembly.has_begun()
    }

    /// Whether the rest of the stream no longer matters: the trailer or an error was seen, or a limit was exceeded. The
    /// shell may stop reading.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.assembly.is_done() || self.too_large.is_some()
    }

    /// Bytes in memory: incomplete lines and events, the reply so far, the raw response.
    #[must_use]
    pub fn held(&self) -> usize {
        let framing = match &self.framing {
            Framing::Unknown(parser) | Framing::Events(parser) => parser.held(),
            Framing::Values(values) => values.value.len(),
        };
        let PartSizes { arguments, opaque, .. } = self.assembly.load();
        let texts = self.assembly.content().len() + self.assembly.reasoning().len();
        framing + texts + arguments + opaque + self.raw.len()
    }

    /// Finishes the reply: the body ended, or the shell stopped reading.
    pub fn finish(self) -> (Result<Reply, ModelError>, RawResponse) {
        let Decoder { framing, mut assembly, raw, raw_truncated, mut too_large, provider, .. } = self;
        let raw = raw_response(raw, raw_truncated);
        match framing {
            Framing::Unknown(parser) | Framing::Events(parser) if too_large.is_none() => {
                parser.finish(|data| assembly.last_event(data));
                too_large = passed(&*assembly);
            }
            Framing::Unknown(_) | Framing::Events(_) | Framing::Values(_) => {}
        }
        if let Some(limit) = too_large {
            return (Err(limit.error()), raw);
        }
        let has_begun = assembly.has_begun();
        let mut result = assembly.finish().unwrap_or_else(|unfinished| Err(ended_early(&unfinished, &raw)));
        if let Err(error) = &mut result
            && let Retry::With(correction) = error.retry
            && (has_begun || is_added(&provider, correction))
        {
            error.retry = Retry::Fatal;
        }
        if let Ok(reply) = &mut result {
            // No request has zero tokens: zeros come from a server that does not count.
            reply.usage = reply.usage.filter(|usage| usage.input.0 > 0 || usage.output.0 > 0);
        }
        (result, raw)
    }

    fn recognise(&mut self, bytes: &[u8]) {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF);
        match bytes.iter().find(|byte| !blank(byte)) {
            None => {}
            Some(b'{' | b'[') => self.framing = Framing::Values(JsonValues::default()),
            Some(_) => {
                if let Framing::Unknown(parser) = &mut self.framing {
                    self.framing = Framing::Events(std::mem::take(parser));
                }
            }
        }
    }

    fn capture(&mut self, bytes: &[u8]) {
        let room = RAW_CAP.saturating_sub(self.raw.len());
        self.raw.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.raw_truncated |= bytes.len() > room;
    }
}

/// The first limit that the reply so far exceeds. An error that the stream itself reported takes precedence.
fn passed(assembly: &dyn Assemble) -> Option<TooLarge> {
    let PartSizes { calls, arguments, parts, opaque } = assembly.load();
    let limits = [
        (calls, caps::MAX_CALLS, TooLarge::Calls),
        (arguments, caps::MAX_ARGUMENTS, TooLarge::Arguments),
        (assembly.content().len(), caps::MAX_TEXT, TooLarge::Text),
        (assembly.reasoning().len(), caps::MAX_REASONING, TooLarge::Reasoning),
        (parts, caps::MAX_PARTS, TooLarge::Parts),
        (opaque, caps::MAX_OPAQUE, TooLarge::Opaque),
    ];
    limits.into_iter().find(|(size, limit, _)| size > limit).map(|(_, _, limit)| limit)
}

/// Extracts top-level JSON values from bytes in any chunking.
#[derive(Debug, Default)]
struct JsonValues {
    value: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
    too_large: Option<TooLarge>,
}

impl JsonValues {
    fn push(&mut self, bytes: &[u8], mut on_value: impl FnMut(&[u8])) {
        for &byte in bytes {
            let open = matches!(byte, b'{' | b'[');
            if self.too_large.is_some() {
                return;
            }
            if self.depth == 0 && !open {
                continue;
            }
            if self.value.len() >= caps::MAX_EVENT {
                self.too_large = Some(TooLarge::Event);
                self.value = Vec::new();
                return;
            }
            self.value.push(byte);
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        on_value(&self.value);
                        self.value.clear();
                    }
                }
                _ => {}
            }
        }
    }
}

/// The captured bytes as text, at most [`RAW_CAP`] bytes of it, truncated between characters.
fn raw_response(mut raw: Vec<u8>, truncated: bool) -> RawResponse {
    if let (true, Err(error)) = (truncated, std::str::from_utf8(&raw))
        && error.error_len().is_none()
    {
        raw.truncate(error.valid_up_to());
    }
    let mut text =
        String::from_utf8(raw).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let cut = text.floor_char_boundary(RAW_CAP);
    let truncated = truncated || cut < text.len();
    text.truncate(cut);
    RawResponse { text, truncated }
}

/// The error for a body without an end marker: a cut stream, or a body that never was a stream.
fn ended_early(unfinished: &Unfinished, raw: &RawResponse) -> ModelError {
    let body = raw.text.trim_start_matches(['\u{feff}', '\u{fffd}']).trim_start();
    let error = |slug, message, retry| ModelError { slug, message, status: None, retry_after_ms: None, retry };
    if body.starts_with('<') {
        let title = page_title(body).map(|title| format!(" (\"{title}\")")).unwrap_or_default();
        let message = format!(
            "The address answered with a web page{title}, not with a model's reply. Check the base URL: for most servers it ends in /v1."
        );
        return error(Slug::ProviderError, message, Retry::Fatal);
    }
    if !body.is_empty() && !looks_like_stream(body) {
        let shown: String = excerpt(body).chars().filter(|c| !c.is_control() && *c != '\u{fffd}').take(80).collect();
        let message = format!("The answer is neither an event stream nor JSON (\"{shown}\"). Check the base URL.");
        return error(Slug::ProviderError, message, Retry::Yes);
    }
    let message = match (body.is_empty(), unfinished.chars) {
        (true, _) => "The connection ended before any data arrived.".to_owned(),
        (false, 0) => "The stream ended before the reply began.".to_owned(),
        (false, n) => format!("The stream ended before the reply was complete; {n} characters had arrived."),
    };
    error(Slug::StreamCut, message, Retry::Yes)
}

/// Whether the first line belongs to an event stream, or is the start of such a line; also true for incomplete JSON.
fn looks_like_stream(body: &str) -> bool {
    const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];
    if body.starts_with(['{', '[', ':']) {
        return true;
    }
    let name = body.split([':', '\n', '\r']).next().unwrap_or_default();
    let whole = name.len() < body.len();
    FIELDS.iter().any(|field| if whole { *field == name } else { field.starts_with(name) })
}
