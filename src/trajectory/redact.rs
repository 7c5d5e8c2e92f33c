//! Redaction: no secret reaches an event, a record, a log or the model. One function, [`Secrets::scrub`], for all of them.
//!
//! Two nets: the secrets the shell knows (keys, values of key-like headers), wherever they turn up; and what looks like
//! a secret: provider keys by their prefixes, `Bearer` tokens, key-like header lines and URL parameters.

use std::borrow::Cow;

use serde_json::Value;

use crate::engine::{Event, Message, RawResponse, RunConfig, Task, ToolOutcome};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// The secrets known to the shell. Debug output does not show them.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Vec<String>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.known.len())
    }
}

/// Shorter ones would blank out common words.
const MIN_KNOWN: usize = 6;

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

impl Secrets {
    #[must_use]
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known.into_iter().filter(|s| s.len() >= MIN_KNOWN).collect();
        // A secret that contains another one goes first, or its rest would stay.
        known.sort_by_key(|s| std::cmp::Reverse(s.len()));
        Secrets { known }
    }

    /// The text without secrets.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in &self.known {
            if clean.contains(secret.as_str()) {
                clean = Cow::Owned(clean.replace(secret.as_str(), REDACTED));
            }
        }
        let spans = lookalikes(&clean);
        if spans.is_empty() {
            return clean;
        }
        let mut out = String::with_capacity(clean.len());
        let mut from = 0;
        for (start, end) in spans {
            if start < from {
                continue;
            }
            out.push_str(clean.get(from..start).unwrap_or_default());
            out.push_str(REDACTED);
            from = end;
        }
        out.push_str(clean.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }

    pub fn scrub_in_place(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.scrub(text) {
            *text = clean;
        }
    }

    /// Every text an event carries.
    pub fn scrub_event(&self, event: &mut Event) {
        match event {
            Event::ModelReplied { reply, raw, .. } => {
                self.scrub_in_place(&mut reply.content);
                self.scrub_in_place(&mut reply.reasoning);
                for call in &mut reply.tool_calls {
                    self.scrub_in_place(&mut call.name);
                    self.scrub_in_place(&mut call.arguments);
                }
                if let Some(opaque) = &mut reply.opaque {
                    self.scrub_value(opaque);
                }
                self.scrub_raw(raw);
            }
            Event::ModelFailed { error, raw, .. } => {
                self.scrub_in_place(&mut error.message);
                self.scrub_raw(raw);
            }
            Event::ToolFinished { outcome, .. } => match outcome {
                ToolOutcome::Executed { content, repaired_args } => {
                    self.scrub_in_place(content);
                    if let Some(args) = repaired_args {
                        self.scrub_value(args);
                    }
                }
                ToolOutcome::Rejected { message, .. } | ToolOutcome::Failed { message } => self.scrub_in_place(message),
                ToolOutcome::TimedOut { .. } | ToolOutcome::Cancelled | ToolOutcome::Stopped => {}
            },
            Event::TimerFired { .. } | Event::StopRequested | Event::Cancelled | Event::TurnsGranted { .. } => {}
        }
    }

    /// What a run starts from: the task's texts, the system text, the endpoints.
    pub fn scrub_origin(&self, config: &mut RunConfig, task: &mut Task) {
        self.scrub_in_place(&mut task.input);
        self.scrub_in_place(&mut config.system);
        for provider in &mut config.providers {
            self.scrub_in_place(&mut provider.base_url);
        }
        for message in &mut task.history {
            match message {
                Message::System { content } | Message::User { content, .. } => self.scrub_in_place(content),
                Message::Assistant(a) => self.scrub_in_place(&mut a.content),
                Message::Tool(t) => self.scrub_in_place(&mut t.content),
            }
        }
    }

    fn scrub_raw(&self, raw: &mut Option<RawResponse>) {
        if let Some(raw) = raw {
            self.scrub_in_place(&mut raw.text);
        }
    }

    fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.scrub_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.scrub_value(v)),
            Value::Object(fields) => fields.values_mut().for_each(|v| self.scrub_value(v)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Byte ranges of what looks like a secret, in order.
fn lookalikes(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        let Some(Patterns { prefixes, introducers }) = patterns(*byte) else { continue };
        let rest = bytes.get(at..).unwrap_or_default();
        for (prefix, min) in prefixes {
            let fresh = || at == 0 || !bytes.get(at - 1).is_some_and(|b| is_key_byte(*b));
            if rest.starts_with(prefix.as_bytes()) && fresh() {
                let body = key_run(bytes, at + prefix.len());
                if secret(body, *min) {
                    spans.push((at, at + prefix.len() + body.len()));
                }
            }
        }
        for introducer in introducers {
            if rest.get(..introducer.len()).is_some_and(|word| word.eq_ignore_ascii_case(introducer.as_bytes())) {
                let from = at + introducer.len();
                let body = key_run(bytes, from);
                if secret(body, 8) {
                    spans.push((from, from + body.len()));
                }
            }
        }
    }
    spans.sort_unstable();
    spans
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
