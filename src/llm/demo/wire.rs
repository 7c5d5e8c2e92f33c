//! A move as wire bytes: the stream an OpenAI-compatible server would send, in small pieces with small pauses.

use serde_json::{Value, json};

use crate::engine::Message;

use super::moves::Move;
use super::{DemoChunk, NAME};

/// Maximum total duration of the pieces of one text, in milliseconds.
const MAX_TEXT_MS: u32 = 1_800;

/// SplitMix64: small, and the same on every platform.
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64, messages: usize, task: &str) -> Self {
        let start = seed ^ 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(messages as u64 + 1);
        Random(task.bytes().fold(start, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random number in `from..to`, which must not be empty.
    pub fn between(&mut self, from: u32, to: u32) -> u32 {
        let span = u64::from(to.saturating_sub(from).max(1));
        from + u32::try_from(self.next() % span).unwrap_or(0)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let most = u32::try_from(list.len()).unwrap_or(u32::MAX);
        list.get(self.between(0, most) as usize)
    }
}

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
