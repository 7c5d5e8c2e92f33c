//! Chrome's Prompt API (<https://webmachinelearning.github.io/prompt-api/>): converts a conversation to its prompts,
//! and its answers to chunks of a chat completion, so that one decoder reads them all.
//!
//! Tool support differs between browsers. If the model supports tools natively, calls and results are separate parts; otherwise
//! the tools are described in the system text and the reply is constrained by a JSON Schema: one call, or the answer.

use serde_json::{Value, json};

use turnwise_engine::{Message, ToolSpec};

use super::dialect::{attached, without_images};

/// The options of a session, and its prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// `initialPrompts`.
    pub initial: Value,
    /// The argument of `prompt`.
    pub ask: Value,
    /// `tools` of the session; empty if there are none, or if they are not native.
    pub tools: Value,
    /// `responseConstraint`.
    pub constraint: Option<Value>,
}

/// How tools are presented to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// As parts of prompts.
    Native,
    /// As text, with a constrained reply.
    Described,
}

/// The prompts of a conversation.
#[must_use]
pub fn prompt(messages: &[Message], tools: &[ToolSpec], how: Tools) -> Prompt {
    let described = how == Tools::Described && !tools.is_empty();
    let mut prompts: Vec<(&str, Vec<Value>)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let (role, parts) = match message {
            // One system prompt, at the start; a later one is sent as a user message.
            Message::System { content } if index == 0 => {
                let tools = if described { description(tools) } else { String::new() };
                ("system", vec![text(&format!("{content}{tools}"))])
            }
            Message::System { content } => ("user", vec![text(content)]),
            Message::User { content, images } => ("user", vec![text(&attached(content, images, (true, false)).0)]),
            Message::Assistant(message) => {
                let said = (!message.content.is_empty()).then(|| text(&message.content));
                let calls = message.tool_calls.iter().map(|call| {
                    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                    match how {
                        Tools::Native => json!({ "type": "tool-call", "value":
                            { "callID": call.id.0, "name": call.name, "arguments": arguments } }),
                        Tools::Described => text(&json!({ "tool": call.name, "arguments": arguments }).to_string()),
                    }
                });
                ("assistant", said.into_iter().chain(calls).collect())
            }
            Message::Tool(tool) => (
                "user",
                vec![match how {
                    Tools::Native if tool.is_error => json!({ "type": "tool-response", "value":
                    { "callID": tool.call_id.0, "name": tool.name, "errorMessage": without_images(tool) } }),
                    Tools::Native => json!({ "type": "tool-response", "value":
                    { "callID": tool.call_id.0, "name": tool.name, "result": [{ "type": "text", "value": without_images(tool) }] } }),
                    Tools::Described => text(&format!("Result of {}:\n{}", tool.name, without_images(tool))),
                }],
            ),
        };
        match prompts.last_mut() {
            // Consecutive messages of one role are joined, but tool results are not joined with other messages.
            Some((last, so_far)) if *last == role && same_sort(so_far, &parts) => so_far.extend(parts),
            _ => prompts.push((role, parts)),
        }
    }
    let ask = match prompts.pop_if(|(role, _)| *role == "user") {
        Some((_, parts)) => json!([{ "role": "user", "content": parts }]),
        None => json!([{ "role": "user", "content": [text("Go on.")] }]),
    };
    let initial = prompts.into_iter().map(|(role, content)| match role {
        "system" => json!({ "role": role, "content": content.first().and_then(|part| part.get("value")) }),
        _ => json!({ "role": role, "content": content }),
    });
    let declared =
        |tool: &ToolSpec| json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.parameters });
    Prompt {
        initial: initial.collect(),
        ask,
        tools: if described { json!([]) } else { tools.iter().map(declared).collect() },
        constraint: described.then(|| constraint(tools)),
    }
}

/// The model's answer as one complete chat completion: a text, an array of parts, or the constrained object.
#[must_use]
pub fn completion(answer: &Value, described: bool) -> Value {
    let constrained = || serde_json::from_str::<Value>(answer.as_str()?).ok();
    if let Some(object) = described.then(constrained).flatten() {
        return match (object.get("tool").and_then(Value::as_str), object.get("answer").and_then(Value::as_str)) {
            (Some(tool), _) => {
                let arguments = object.get("arguments").cloned().unwrap_or_else(|| json!({}));
                whole("", &[call("", tool, &arguments)])
            }
            (None, Some(answer)) => whole(answer, &[]),
            (None, None) => whole(&object.to_string(), &[]),
        };
    }
    let Some(parts) = answer.as_array() else { return whole(answer.as_str().unwrap_or_default(), &[]) };
    let (mut said, mut calls) = (String::new(), Vec::new());
    for part in parts {
        let value = part.get("value");
        match part.get("type").and_then(Value::as_str) {
            Some("tool-call") => {
                let of = |key: &str| value.and_then(|value| value.get(key));
                let word = |key: &str| of(key).and_then(Value::as_str).unwrap_or_default();
                calls.push(call(word("callID"), word("name"), of("arguments").unwrap_or(&Value::Null)));
            }
            _ => said.push_str(value.and_then(Value::as_str).unwrap_or_default()),
        }
    }
    whole(&said, &calls)
}

fn text(value: &str) -> Value {
    json!({ "type": "text", "value": value })
}

fn same_sort(a: &[Value], b: &[Value]) -> bool {
    let is_answer =
        |parts: &[Value]| parts.first().is_some_and(|part| part.get("type") == Some(&json!("tool-response")));
    is_answer(a) == is_answer(b)
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    let arguments = if arguments.is_null() { "{}".to_owned() } else { arguments.to_string() };
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn whole(content: &str, calls: &[Value]) -> Value {
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({ "choices": [{ "index": 0, "message": { "content": content, "tool_calls": calls }, "finish_reason": finish }] })
}

/// The description of the tools, for the system text.
fn description(tools: &[ToolSpec]) -> String {
    let mut text = "\n\nYou can call one tool at a time. Reply with one JSON object: {\"tool\": name, \"arguments\": {…}} to call \
                    a tool, or {\"answer\": text} to give your answer. The tools:"
        .to_owned();
    for tool in tools {
        text.push_str(&format!("\n- {}: {} Arguments: {}", tool.name, tool.description, tool.parameters));
    }
    text
}

/// The schema of a reply: one call of one of the tools, or the answer.
fn constraint(tools: &[ToolSpec]) -> Value {
    let shape = |name: &str, schema: Value, other: Option<(&str, Value)>| {
        let mut properties = serde_json::Map::from_iter([(name.to_owned(), schema)]);
        let mut required = vec![name];
        if let Some((name, schema)) = other {
            properties.insert(name.to_owned(), schema);
            required.push(name);
        }
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    };
    let calls = tools
        .iter()
        .map(|tool| shape("tool", json!({ "const": tool.name }), Some(("arguments", tool.parameters.clone()))));
    let answer = std::iter::once(shape("answer", json!({ "type": "string" }), None));
    json!({ "anyOf": answer.chain(calls).collect::<Vec<_>>() })
}
