//! How each service says what its model says: where thoughts, ids and the usage of tokens are.

use serde_json::{Value, json};
use turnwise_engine::ProviderKind;

/// What a model says.
#[derive(Clone, Debug, Default)]
pub struct Says {
    pub text: String,
    /// Names and arguments.
    pub calls: Vec<(&'static str, String)>,
}

/// Where a service of Chat Completions has thoughts.
#[derive(Clone, Copy)]
pub enum Thoughts {
    None,
    Field(&'static str),
    /// `reasoning`, and `reasoning_details` with the same text.
    Details,
    /// Among the parts of the content.
    Parts,
    Tags,
}

#[derive(Clone, Copy)]
pub enum Usage {
    /// If it is asked for, in a chunk of its own.
    Asked,
    /// Always, with a number of its own for cached tokens.
    Unasked(&'static str),
    InChoice,
    XGroq,
}

/// The style of a service of Chat Completions.
#[derive(Clone, Copy)]
pub struct Style {
    pub thoughts: Thoughts,
    pub usage: Usage,
    /// The id of the n-th call.
    pub id: fn(usize) -> String,
    pub index: i64,
    /// Of the first call; empty: calls are not signed.
    pub signature: &'static str,
    /// Before the first chunk.
    pub first: &'static str,
}

pub const PLAIN: Style = Style {
    thoughts: Thoughts::None,
    usage: Usage::Asked,
    id: |n| format!("call_{n:024}"),
    index: 0,
    signature: "",
    first: "",
};

const THOUGHT: &str = "Let me think.";

fn stream(chunks: &[Value], end: &str) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>() + end
}

pub fn chat(style: Style, request: &Value, says: &Says, said: usize) -> String {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let mut chunks = Vec::new();
    match style.thoughts {
        Thoughts::None => {}
        Thoughts::Field(name) => chunks.push(delta(json!({ name: THOUGHT }))),
        Thoughts::Details => chunks.push(delta(json!({
            "reasoning": THOUGHT,
            "reasoning_details": [{ "type": "reasoning.text", "text": THOUGHT, "signature": "s", "index": 0 }],
        }))),
        Thoughts::Parts => chunks.push(delta(json!({
            "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": THOUGHT }] }],
        }))),
        Thoughts::Tags => chunks.push(delta(json!({ "content": format!("<think>{THOUGHT}</think>\n\n") }))),
    }
    if !says.text.is_empty() {
        chunks.push(delta(json!({ "content": says.text })));
    }
    for (n, (name, arguments)) in says.calls.iter().enumerate() {
        let index = if style.index < 0 { style.index } else { n as i64 };
        let id = (style.id)(said * 10 + n);
        let function = json!({ "name": name, "arguments": arguments });
        let mut call = json!({ "index": index, "id": id, "type": "function", "function": function });
        if n == 0 && !style.signature.is_empty() {
            call["extra_content"] = json!({ "google": { "thought_signature": style.signature } });
        }
        chunks.push(delta(json!({ "tool_calls": [call] })));
    }
    let finish = if says.calls.is_empty() { "stop" } else { "tool_calls" };
    let mut last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    let mut usage = json!({ "prompt_tokens": 9, "completion_tokens": 2 });
    let asked = request.pointer("/stream_options/include_usage").is_some();
    match style.usage {
        Usage::Asked if asked => chunks.extend([last, json!({ "choices": [], "usage": usage })]),
        Usage::Asked => chunks.push(last),
        Usage::Unasked(cached) => {
            usage[cached] = json!(4);
            last["usage"] = usage;
            chunks.push(last);
        }
        Usage::InChoice => {
            last["choices"][0]["usage"] = usage;
            chunks.push(last);
        }
        Usage::XGroq => {
            last["x_groq"] = json!({ "usage": usage });
            chunks.push(last);
        }
    }
    style.first.to_owned() + &stream(&chunks, "data: [DONE]\n\n")
}

pub fn responses(says: &Says, said: usize) -> String {
    let done =
        |index: usize, item: Value| json!({ "type": "response.output_item.done", "output_index": index, "item": item });
    let summary = json!([{ "type": "summary_text", "text": THOUGHT }]);
    let secret = json!({ "id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "gAAAAAB" });
    let mut chunks =
        vec![json!({ "type": "response.created", "response": { "id": "r", "model": "m" } }), done(0, secret)];
    if !says.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": says.text }]);
        chunks.push(done(1, json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": content })));
    }
    for (n, (name, arguments)) in says.calls.iter().enumerate() {
        let call_id = format!("call_{:024}", said * 10 + n);
        let item = json!({ "id": format!("fc_{n}"), "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments });
        chunks.push(done(n + 2, item));
    }
    let usage = json!({ "input_tokens": 9, "output_tokens": 2 });
    chunks.push(
        json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "usage": usage } }),
    );
    stream(&chunks, "")
}

pub fn anthropic(request: &Value, says: &Says, said: usize) -> String {
    let usage = json!({ "input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 1 });
    let mut chunks = vec![
        json!({ "type": "message_start", "message": { "id": "msg", "model": "m", "content": [], "usage": usage } }),
    ];
    let mut blocks: Vec<(Value, Vec<Value>)> = Vec::new();
    if matches!(request["thinking"]["type"].as_str(), Some("enabled" | "adaptive")) {
        let deltas = vec![
            json!({ "type": "thinking_delta", "thinking": THOUGHT }),
            json!({ "type": "signature_delta", "signature": "EqQB" }),
        ];
        blocks.push((json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas));
    }
    if !says.text.is_empty() {
        blocks.push((json!({ "type": "text", "text": "" }), vec![json!({ "type": "text_delta", "text": says.text })]));
    }
    for (n, (name, arguments)) in says.calls.iter().enumerate() {
        let id = format!("toolu_{}", said * 10 + n);
        let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
        blocks.push((json!({ "type": "tool_use", "id": id, "name": name, "input": {} }), vec![delta]));
    }
    for (index, (block, deltas)) in blocks.into_iter().enumerate() {
        chunks.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        for delta in deltas {
            chunks.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        chunks.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if says.calls.is_empty() { "end_turn" } else { "tool_use" };
    chunks
        .push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 2 } }));
    chunks.push(json!({ "type": "message_stop" }));
    chunks
        .iter()
        .map(|chunk| format!("event: {}\ndata: {chunk}\n\n", chunk["type"].as_str().unwrap_or_default()))
        .collect()
}

pub fn gemini(says: &Says, said: usize) -> String {
    let mut parts = vec![json!({ "text": THOUGHT, "thought": true })];
    if !says.text.is_empty() {
        parts.push(json!({ "text": says.text, "thoughtSignature": "Etext" }));
    }
    for (n, (name, arguments)) in says.calls.iter().enumerate() {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        let mut part =
            json!({ "functionCall": { "id": format!("g{}", said * 10 + n), "name": name, "args": arguments } });
        if n == 0 {
            part["thoughtSignature"] = json!("Ecall");
        }
        parts.push(part);
    }
    let usage = json!({ "promptTokenCount": 9, "candidatesTokenCount": 2, "cachedContentTokenCount": 4 });
    let candidate = json!({ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 });
    stream(&[json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r" })], "")
}

/// The reply of a service, as the bytes of its body.
pub fn reply(kind: ProviderKind, style: Style, request: &Value, says: &Says, said: usize) -> String {
    match kind {
        ProviderKind::OpenaiResponses => responses(says, said),
        ProviderKind::Anthropic => anthropic(request, says, said),
        ProviderKind::Gemini => gemini(says, said),
        _ => chat(style, request, says, said),
    }
}
