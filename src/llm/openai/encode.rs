//! The request body, as a byte prefix that only grows at its end.
//!
//! `prefix`, then each message, then `suffix`: the tools come after the messages, so that what was sent before is a
//! byte prefix of what is sent next and the shell keeps it encoded. Bytes already handed out never change.

use serde::Serialize;

use crate::engine::{AssistantMessage, Message, ProviderConfig, ToolCall, ToolChoice, ToolSpec, report};

use super::super::endpoint;

/// Encodes for one provider of a run.
#[derive(Clone, Debug)]
pub struct Encoder {
    head: Vec<u8>,
    /// Whether the server is known to take a forced tool.
    can_force: bool,
}

/// Where in the array of messages a message stands: all but the first get a comma before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    First,
    Next,
}

impl Encoder {
    #[must_use]
    pub fn new(p: &ProviderConfig, temperature: Option<f64>) -> Self {
        let mut head = b"{\"model\":".to_vec();
        json(&mut head, &p.model);
        head.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        if let Some(temperature) = temperature.filter(|t| t.is_finite()) {
            head.extend_from_slice(b",\"temperature\":");
            json(&mut head, &temperature);
        }
        if let Some(max) = p.max_output_tokens {
            // The reasoning models of OpenAI refuse the old name; most other servers know only that one.
            let name: &[u8] = if endpoint::is_openai(p) { b",\"max_completion_tokens\":" } else { b",\"max_tokens\":" };
            head.extend_from_slice(name);
            json(&mut head, &max);
        }
        head.extend_from_slice(b",\"messages\":[");
        Encoder { head, can_force: endpoint::is_openai(p) }
    }

    /// Everything before the first message.
    #[must_use]
    pub fn prefix(&self) -> Vec<u8> {
        self.head.clone()
    }

    /// Appends one message to `out`.
    pub fn message(&self, message: &Message, position: Position, out: &mut Vec<u8>) {
        if position == Position::Next {
            out.push(b',');
        }
        match message {
            Message::System { content } => plain(out, b"system", content),
            Message::User { content } => plain(out, b"user", content),
            Message::Assistant(assistant) => assistant_message(out, assistant),
            Message::Tool(tool) => {
                out.extend_from_slice(b"{\"role\":\"tool\",\"tool_call_id\":");
                json(out, &tool.call_id.0);
                out.extend_from_slice(b",\"content\":");
                json(out, &tool.content);
                out.push(b'}');
            }
        }
    }

    /// Everything after the last message. Without tools the request has no `tools` at all.
    #[must_use]
    pub fn suffix(&self, tools: &[ToolSpec], choice: ToolChoice) -> Vec<u8> {
        let mut out = b"]".to_vec();
        let offered: Vec<&ToolSpec> = match choice {
            ToolChoice::Auto => tools.iter().collect(),
            ToolChoice::Report => tools.iter().filter(|t| t.name == report::TOOL).collect(),
            ToolChoice::None => Vec::new(),
        };
        if !offered.is_empty() {
            out.extend_from_slice(b",\"tools\":[");
            for (index, tool) in offered.iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"," });
                out.extend_from_slice(b"{\"type\":\"function\",\"function\":{\"name\":");
                json(&mut out, &tool.name);
                out.extend_from_slice(b",\"description\":");
                json(&mut out, &tool.description);
                out.extend_from_slice(b",\"parameters\":");
                json(&mut out, &tool.parameters);
                out.extend_from_slice(b"}}");
            }
            out.push(b']');
        }
        if choice == ToolChoice::Report && self.can_force {
            out.extend_from_slice(b",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"final_report\"}}");
        }
        out.push(b'}');
        out
    }
}

fn plain(out: &mut Vec<u8>, role: &[u8], content: &str) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(role);
    out.extend_from_slice(b"\",\"content\":");
    json(out, content);
    out.push(b'}');
}

fn assistant_message(out: &mut Vec<u8>, message: &AssistantMessage) {
    out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
    if message.content.is_empty() && !message.tool_calls.is_empty() {
        out.extend_from_slice(b"null");
    } else {
        json(out, &message.content);
    }
    for (index, call) in message.tool_calls.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b",\"tool_calls\":[" } else { b"," });
        tool_call(out, call);
    }
    out.extend_from_slice(if message.tool_calls.is_empty() { b"}" } else { b"]}" });
}

fn tool_call(out: &mut Vec<u8>, call: &ToolCall) {
    out.extend_from_slice(b"{\"id\":");
    json(out, &call.id.0);
    out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
    json(out, &call.name);
    out.extend_from_slice(b",\"arguments\":");
    // Servers that put the history through a template parse this text and refuse the whole request where they cannot.
    let arguments = call.arguments.trim();
    if is_object(arguments) {
        json(out, &call.arguments);
    } else if arguments.is_empty() {
        json(out, "{}");
    } else {
        json(out, &serde_json::json!({ "malformed_arguments": call.arguments }).to_string());
    }
    out.extend_from_slice(b"}}");
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Appends a value as JSON; writing to memory does not fail.
fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let _ = serde_json::to_writer(out, value);
}
