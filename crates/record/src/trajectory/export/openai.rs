//! OpenAI's chat format as JSON Lines: one line per run, with `messages` and `tools` as they were at its end.

use serde_json::{Value, json};

use super::conversation::conversations;
use super::{Trajectory, object};
use turnwise_engine::{Image, Message, ToolSpec};

/// Writes one line for the run and one for each of its sub-agents, in the order they began.
#[must_use]
pub fn write(document: &Trajectory) -> String {
    let lines = conversations(document).into_iter().map(|(run, messages)| {
        let messages: Vec<Value> = messages.iter().map(message).collect();
        format!("{}\n", object([("messages", messages.into()), ("tools", tools(&run.tools))]))
    });
    lines.collect()
}

/// One message in the chat format, which has no field for reasoning.
pub(super) fn message(source: &Message) -> Value {
    match source {
        Message::System { content } => json!({ "role": "system", "content": content }),
        Message::User { content, images } if images.is_empty() => json!({ "role": "user", "content": content }),
        Message::User { content, images } => json!({ "role": "user", "content": parts(content, images) }),
        Message::Assistant(reply) => {
            let calls: Vec<Value> = reply
                .tool_calls
                .iter()
                .map(|call| {
                    let function = json!({ "name": call.name, "arguments": call.arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                })
                .collect();
            // The content may be missing only if there are calls.
            let content = (!reply.content.is_empty() || calls.is_empty()).then(|| reply.content.clone());
            object([("role", "assistant".into()), ("content", content.into()), ("tool_calls", calls.into())])
        }
        Message::Tool(answer) if answer.images.is_empty() => {
            json!({ "role": "tool", "tool_call_id": answer.call_id, "content": answer.content })
        }
        Message::Tool(answer) => {
            let content = parts(&answer.content, &answer.images);
            json!({ "role": "tool", "tool_call_id": answer.call_id, "content": content })
        }
    }
}

fn parts(text: &str, images: &[Image]) -> Vec<Value> {
    let text = json!({ "type": "text", "text": text });
    std::iter::once(text).chain(images.iter().map(attached)).collect()
}

fn attached(image: &Image) -> Value {
    if image.is_pdf() {
        return json!({ "type": "file", "file": { "filename": "document.pdf", "file_data": image.data_url() } });
    }
    json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
}

/// The tools as they are offered to the model; ATIF's `tool_definitions` are the same list.
pub(super) fn tools(specs: &[ToolSpec]) -> Value {
    let tool = |spec: &ToolSpec| {
        let function = json!({
            "name": spec.name, "description": spec.description, "parameters": spec.parameters,
        });
        json!({ "type": "function", "function": function })
    };
    specs.iter().map(tool).collect()
}
