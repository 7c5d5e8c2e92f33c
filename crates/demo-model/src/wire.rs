//! The demo model's requests and responses as data: it runs in a worker, and the page plays its response. A reply becomes
//! the stream that an OpenAI-compatible server would send, in small pieces with small pauses.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use turnwise_engine::retry::Rng;
use turnwise_engine::{DemoMode, Message, RequestId, ToolChoice, ToolSpec};

/// The demo model's display name.
pub const NAME: &str = "Demo: scripted, not an AI";

/// Maximum total duration of the pieces of one text, in milliseconds. On a slow machine, the first example has to be answered within
/// six seconds of opening the page.
const MAX_TEXT_MS: u64 = 900;
/// Maximum duration of one piece of text, in milliseconds.
const MAX_PIECE_MS: u64 = 16;
/// The time to the first piece of a reply, in milliseconds.
const FIRST_MS: u64 = 180;

/// One request, with the whole chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoRequest {
    pub mode: DemoMode,
    pub seed: u64,
    pub request: RequestId,
    /// The number of this attempt in its turn, starting at 1, and the maximum number of attempts.
    pub attempt: u32,
    pub attempts: u32,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    pub choice: ToolChoice,
}

/// The result of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scripted {
    /// A server responded: its status, its headers (names in lower case), the chunks of its body, and how the body ends.
    Answer { status: u16, headers: Vec<(String, String)>, chunks: Vec<DemoChunk>, end: BodyEnd },
    /// The request reached no server; `message` is the error of `fetch`.
    NoAnswer { after_ms: u32, message: String },
    /// The server accepted the request and never responds.
    Silence,
}

/// The end of a body after its last chunk: the connection closes, or it stays open and nothing follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    Closed,
    Silent,
}

/// Some wire bytes, and their delay after the previous ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoChunk {
    pub after_ms: u32,
    pub text: String,
}

impl Scripted {
    /// A normal stream.
    #[must_use]
    pub fn stream(chunks: Vec<DemoChunk>) -> Self {
        Scripted::answer(200, "text/event-stream", chunks)
    }

    pub(super) fn answer(status: u16, content_type: &str, chunks: Vec<DemoChunk>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Scripted::Answer { status, headers, chunks, end: BodyEnd::Closed }
    }
}

/// One reply of the demo model.
#[derive(Debug, Default)]
pub(super) struct DemoReply {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<ReplyCall>,
    /// Whether the length limit cuts it off.
    pub is_cut: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ReplyCall {
    pub name: String,
    /// JSON, unless a fault spoils it.
    pub arguments: String,
    /// The last part of its id; a fault gives several calls the same one.
    pub number: usize,
}

impl DemoReply {
    pub fn answer(text: String) -> Self {
        DemoReply { reasoning: "I have what I need; I put it together.".to_owned(), text, ..DemoReply::default() }
    }

    /// A reply that calls tools; `None` without any.
    pub fn calls(text: String, calls: Vec<(String, Value)>) -> Option<Self> {
        let call = |(number, (name, args)): (_, (_, Value))| ReplyCall { name, arguments: args.to_string(), number };
        let calls: Vec<ReplyCall> = calls.into_iter().enumerate().map(call).collect();
        let reasoning = format!("{} can find out more than I know.", calls.first()?.name);
        Some(DemoReply { reasoning, text, calls, is_cut: false })
    }
}

/// All chunks of one reply: reasoning, text, calls, end marker, usage, trailer.
pub(super) fn chunks(reply: &DemoReply, messages: &[Message], rng: &mut Rng) -> Vec<DemoChunk> {
    let id = format!("demo-{:012x}", rng.up_to(0xffff_ffff_ffff));
    let mut chunks = Vec::new();
    let mut send = |pause_ms: u64, choices: &Value, usage: &Value| {
        let chunk = json!({ "id": id, "object": "chat.completion.chunk", "created": 0, "model": NAME, "choices": choices, "usage": usage });
        let after_ms = u32::try_from(pause_ms / 2 + rng.up_to(pause_ms / 2)).unwrap_or(0);
        chunks.push(DemoChunk { after_ms, text: format!("data: {chunk}\n\n") });
    };
    let delta = |delta: Value| json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    let pieces = |text: &str| -> Vec<String> { text.split_inclusive([' ', '\n', ',']).map(str::to_owned).collect() };
    send(FIRST_MS, &delta(json!({ "role": "assistant", "content": "" })), &Value::Null);
    for (name, text) in [("reasoning_content", &reply.reasoning), ("content", &reply.text)] {
        let pieces = pieces(text);
        let pause_ms = (MAX_TEXT_MS / pieces.len().max(1) as u64).min(MAX_PIECE_MS);
        pieces.iter().for_each(|piece| send(pause_ms, &delta(json!({ name: piece })), &Value::Null));
    }
    for (index, ReplyCall { name, arguments, number }) in reply.calls.iter().enumerate() {
        let head = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": index, "id": format!("{id}_{number}"), "type": "function", "function": head });
        send(30, &delta(json!({ "tool_calls": [call] })), &Value::Null);
        for piece in pieces(arguments) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            send(8, &delta(json!({ "tool_calls": [call] })), &Value::Null);
        }
    }
    let reason = match reply.calls.is_empty() {
        _ if reply.is_cut => "length",
        true => "stop",
        false => "tool_calls",
    };
    send(8, &json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), &Value::Null);
    send(2, &json!([]), &usage(reply, messages));
    chunks.push(DemoChunk { after_ms: 1, text: "data: [DONE]\n\n".to_owned() });
    chunks
}

/// Counts four characters per token: a script has no tokens, but the code that watches usage needs numbers.
fn usage(reply: &DemoReply, messages: &[Message]) -> Value {
    let length = |message: &Message| match message {
        Message::System { content } | Message::User { content, .. } => content.len(),
        Message::Assistant(reply) => reply.content.len(),
        Message::Tool(tool) => tool.content.len(),
    };
    let input = messages.iter().map(length).sum::<usize>().div_ceil(4);
    let calls: usize = reply.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    let reasoning = reply.reasoning.len().div_ceil(4);
    let output = reasoning + (reply.text.len() + calls).div_ceil(4);
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "completion_tokens_details": { "reasoning_tokens": reasoning },
    })
}
