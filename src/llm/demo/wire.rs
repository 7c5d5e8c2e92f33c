//! A move as wire bytes: the stream an OpenAI-compatible server would send, in small pieces with small pauses.

use serde_json::{Value, json};

use crate::engine::Message;

use super::moves::Move;
use super::random::Random;
use super::scripted::DemoChunk;

/// The demo model's display name.
pub const NAME: &str = "Demo: scripted, not an AI";

/// Maximum total duration of the pieces of one text, in milliseconds.
const MAX_TEXT_MS: u32 = 1_800;

/// All chunks of one reply: reasoning, text, calls, end marker, usage, trailer.
pub(super) fn stream(next: &Move, messages: &[Message], random: &mut Random) -> Vec<DemoChunk> {
    let mut out = Stream { id: format!("demo-{:012x}", random.next() >> 16), chunks: Vec::new() };
    out.delta(random.between(120, 260), &json!({ "role": "assistant", "content": "" }));
    for (name, text) in [("reasoning_content", &next.reasoning), ("content", &next.text)] {
        let pieces = pieces(text, random);
        let most = MAX_TEXT_MS / u32::try_from(pieces.len().max(1)).unwrap_or(u32::MAX);
        for piece in pieces {
            out.delta(random.between(6, 24).min(most), &json!({ name: piece }));
        }
    }
    for (index, (tool, arguments)) in next.calls.iter().enumerate() {
        let id = format!("{}_{}", out.id, if next.same_ids { 0 } else { index });
        let mut arguments = arguments.to_string();
        if next.broken_arguments && index == 0 {
            arguments.truncate(arguments.floor_char_boundary(arguments.len() / 2));
        }
        let call =
            json!({ "index": index, "id": id, "type": "function", "function": { "name": tool, "arguments": "" } });
        out.delta(random.between(10, 30), &json!({ "tool_calls": [call] }));
        for piece in pieces(&arguments, random) {
            let call = json!({ "index": index, "function": { "arguments": piece } });
            out.delta(random.between(2, 8), &json!({ "tool_calls": [call] }));
        }
    }
    let reason = match (next.cut, next.calls.is_empty()) {
        (true, _) => "length",
        (false, true) => "stop",
        (false, false) => "tool_calls",
    };
    out.event(random.between(2, 8), &json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), &Value::Null);
    out.event(1, &json!([]), &usage(next, messages));
    out.chunks.push(DemoChunk { after_ms: 1, text: "data: [DONE]\n\n".to_owned() });
    out.chunks
}

struct Stream {
    id: String,
    chunks: Vec<DemoChunk>,
}

impl Stream {
    fn delta(&mut self, after_ms: u32, delta: &Value) {
        self.event(after_ms, &json!([{ "index": 0, "delta": delta, "finish_reason": null }]), &Value::Null);
    }

    fn event(&mut self, after_ms: u32, choices: &Value, usage: &Value) {
        let chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": NAME, "choices": choices, "usage": usage,
        });
        self.chunks.push(DemoChunk { after_ms, text: format!("data: {chunk}\n\n") });
    }
}

/// Splits a text into small groups of whole words, as models send them.
fn pieces(text: &str, random: &mut Random) -> Vec<String> {
    let (mut pieces, mut piece, mut least) = (Vec::new(), String::new(), random.between(1, 9) as usize);
    for part in text.split_inclusive([' ', '\n', ',']) {
        piece.push_str(part);
        if piece.len() >= least {
            pieces.push(std::mem::take(&mut piece));
            least = random.between(1, 9) as usize;
        }
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    pieces
}

/// Counts four characters per token: a script has no tokens, but the code that watches usage needs numbers.
fn usage(next: &Move, messages: &[Message]) -> Value {
    let tokens = |chars: usize| chars.div_ceil(4);
    let input: usize = messages
        .iter()
        .map(|message| match message {
            Message::System { content } | Message::User { content, .. } => content.len(),
            Message::Assistant(reply) => {
                reply.content.len()
                    + reply.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
            }
            Message::Tool(tool) => tool.content.len(),
        })
        .sum();
    let calls: usize = next.calls.iter().map(|(name, arguments)| name.len() + arguments.to_string().len()).sum();
    let (input, reasoning) = (tokens(input), tokens(next.reasoning.len()));
    let output = reasoning + tokens(next.text.len() + calls);
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "completion_tokens_details": { "reasoning_tokens": reasoning },
    })
}
