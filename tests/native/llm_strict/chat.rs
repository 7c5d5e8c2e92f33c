//! The rules of Chat Completions, each in the words of the service that is known to enforce it.

use serde_json::{Value, json};

use super::{Refusal, said};

pub type Verdict = Result<(), Refusal>;

pub fn messages(request: &Value) -> &[Value] {
    request["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn calls(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map_or(&[], Vec::as_slice)
}

fn parts(request: &Value) -> impl Iterator<Item = &Value> {
    messages(request).iter().filter_map(|message| message["content"].as_array()).flatten()
}

/// Refuses unless the rule is kept.
pub fn rule(kept: bool, refusal: impl FnOnce() -> Refusal) -> Verdict {
    if kept { Ok(()) } else { Err(refusal()) }
}

fn format(kept: bool, words: &str) -> Verdict {
    rule(kept, || (400, said(words)))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What every server of the format demands.
pub fn well_formed(request: &Value) -> Verdict {
    let all = request["messages"].as_array().filter(|all| !all.is_empty());
    format(all.is_some(), "messages is empty")?;
    format(request["stream"] == true, "stream is missing")?;
    let mut waiting: Vec<&str> = Vec::new();
    for message in messages(request) {
        let (role, content) = (message["role"].as_str().unwrap_or_default(), &message["content"]);
        format(
            role == "tool" || waiting.is_empty(),
            "an assistant message with 'tool_calls' must be followed by tool messages",
        )?;
        match role {
            "system" | "user" => format(content.is_string() || content.is_array(), "content is missing")?,
            "assistant" => {
                let beside = content.is_null() && !calls(message).is_empty();
                format(content.is_string() || beside, "content of an assistant message")?;
                format(message.get("tool_calls").is_none() || !calls(message).is_empty(), "tool_calls is empty")?;
                for call in calls(message) {
                    let (id, function) = (call["id"].as_str().unwrap_or_default(), &call["function"]);
                    let name = function["name"].as_str().unwrap_or_default();
                    format(call["type"] == "function" && is_name(name), "the name of a function")?;
                    // Templates parse them.
                    let arguments: Option<Value> =
                        function["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
                    format(arguments.is_some_and(|arguments| arguments.is_object()), "arguments that are no object")?;
                    format(!id.is_empty() && !waiting.contains(&id), "ids of calls are missing or repeated")?;
                    waiting.push(id);
                }
            }
            "tool" => {
                format(content.is_string(), "the content of a tool message is a text")?;
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let at = waiting.iter().position(|waits| *waits == id);
                format(at.is_some(), "a tool message must follow a message with its tool call")?;
                waiting.remove(at.unwrap_or_default());
            }
            _ => format(false, "unknown role")?,
        }
    }
    format(waiting.is_empty(), "an assistant message with 'tool_calls' must be followed by tool messages")?;
    let tools = request["tools"].as_array();
    format(request.get("tools").is_none() || tools.is_some_and(|tools| !tools.is_empty()), "tools is empty")?;
    let named = request["tool_choice"].pointer("/function/name");
    let has = |name: &Value| tools.is_some_and(|tools| tools.iter().any(|tool| tool["function"]["name"] == *name));
    format(request.get("tool_choice").is_none() || tools.is_some(), "tool_choice without tools")?;
    format(named.is_none_or(has), "tool_choice names no tool")?;
    let both = request.get("max_tokens").is_some() && request.get("max_completion_tokens").is_some();
    format(!both, "max_tokens and max_completion_tokens")
}

/// A field that is refused in a message or at the top.
pub fn no_message_field(request: &Value, name: &str, refusal: impl FnOnce(usize) -> Refusal) -> Verdict {
    match messages(request).iter().position(|message| message.get(name).is_some()) {
        Some(at) => Err(refusal(at)),
        None => Ok(()),
    }
}

pub fn no_field(request: &Value, name: &str, refusal: impl FnOnce() -> Refusal) -> Verdict {
    rule(request.get(name).is_none(), refusal)
}

/// FastAPI's form, as Mistral and vLLM have it.
pub fn extra(path: &[&str]) -> Refusal {
    let detail = json!([{ "type": "extra_forbidden", "loc": path, "msg": "Extra inputs are not permitted" }]);
    (422, json!({ "detail": detail }).to_string())
}

/// OpenAI, w17.
pub fn ids_of_at_most_40(request: &Value) -> Verdict {
    let long =
        messages(request).iter().flat_map(calls).find(|call| call["id"].as_str().is_some_and(|id| id.len() > 40));
    rule(long.is_none(), || {
        let words =
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.";
        (400, json!({ "error": { "message": words, "type": "invalid_request_error", "code": "string_above_max_length" } }).to_string())
    })
}

/// Mistral, code 3280; also its chat template.
pub fn ids_of_nine(request: &Value) -> Verdict {
    let fits = |id: &&str| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    let odd = messages(request).iter().flat_map(calls).filter_map(|call| call["id"].as_str()).find(|id| !fits(id));
    rule(odd.is_none(), || {
        let words =
            format!("Tool call id was {} but must be a-z, A-Z, 0-9, with a length of 9.", odd.unwrap_or_default());
        (
            400,
            json!({ "object": "error", "message": words, "type": "invalid_request_error", "code": "3280" }).to_string(),
        )
    })
}

/// Mistral, code 3230: no user after a tool; the last is of a user or a tool.
pub fn mistral_order(request: &Value) -> Verdict {
    let roles: Vec<&str> = messages(request).iter().filter_map(|message| message["role"].as_str()).collect();
    let odd = roles.windows(2).any(|pair| pair == ["tool", "user"]);
    let refusal = |words: &str| {
        (
            400,
            json!({ "object": "error", "message": words, "type": "invalid_request_message_order", "code": "3230" })
                .to_string(),
        )
    };
    rule(!odd, || refusal("Unexpected role 'user' after role 'tool'"))?;
    let last = roles.last().copied().unwrap_or_default();
    rule(matches!(last, "user" | "tool"), || {
        refusal("Expected last role User or Tool (or Assistant with prefix True) for serving")
    })
}

/// Templates of Qwen and others, at llama.cpp, vLLM, DashScope.
pub fn one_system_first(request: &Value) -> Verdict {
    let later = messages(request).iter().skip(1).any(|message| message["role"] == "system");
    rule(!later, || (400, said("System message must be at the beginning.")))
}

/// Templates of llama.cpp (500), Perplexity (400).
pub fn alternating(request: &Value, status: u16, words: &str) -> Verdict {
    let asked =
        messages(request).iter().filter_map(|message| message["role"].as_str()).filter(|role| *role != "system");
    let roles: Vec<&str> = asked.collect();
    let twice = roles.windows(2).any(|pair| pair == ["user", "user"]);
    rule(!twice, || (status, said(words)))
}

/// DeepSeek, Moonshot: thoughts on messages with calls; of DeepSeek, on each message of a conversation with calls.
pub fn thoughts_on_calls(request: &Value, on_all: bool, refusal: impl FnOnce(usize) -> Refusal) -> Verdict {
    let has_calls = messages(request).iter().any(|message| !calls(message).is_empty());
    let needs =
        |message: &Value| message["role"] == "assistant" && (!calls(message).is_empty() || (on_all && has_calls));
    let lacks = |message: &Value| needs(message) && message["reasoning_content"].as_str().is_none_or(str::is_empty);
    match messages(request).iter().position(lacks) {
        Some(at) => Err(refusal(at)),
        None => Ok(()),
    }
}

/// SambaNova, Cloudflare, Perplexity: arrays of parts for a plain text.
pub fn plain_texts_are_strings(request: &Value) -> Verdict {
    let is_plain =
        |content: &Value| content.as_array().is_some_and(|parts| parts.iter().all(|part| part["type"] == "text"));
    let odd = messages(request).iter().any(|message| is_plain(&message["content"]));
    rule(!odd, || (400, said("Invalid 'content' type. Expected one of: ['str']")))
}

/// Azure, vLLM, Moonshot, Qwen: no files.
pub fn no_files(request: &Value) -> Verdict {
    let file = parts(request).any(|part| part["type"] == "file" || part["type"] == "document_url");
    rule(!file, || (400, said("Invalid content type: 'file' is not supported.")))
}

pub fn is_forced(request: &Value) -> bool {
    request["tool_choice"].is_object() || matches!(request["tool_choice"].as_str(), Some("required" | "any"))
}

/// A choice while the model thinks.
pub fn no_forced_choice(request: &Value, words: &str) -> Verdict {
    rule(!is_forced(request), || (400, said(words)))
}

/// OpenAI's words for an effort that a model does not have.
pub fn efforts(request: &Value, known: &[&str]) -> Verdict {
    let effort = request.get("reasoning_effort");
    rule(effort.is_none_or(|effort| known.iter().any(|word| effort == word)), || {
        let list = known.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(", ");
        let words = format!(
            "Unsupported value: 'reasoning_effort' does not support {} with this model. Supported values are: {list}.",
            effort.map(Value::to_string).unwrap_or_default().replace('"', "'")
        );
        (400, json!({ "error": { "message": words, "type": "invalid_request_error", "param": "reasoning_effort", "code": "unsupported_value" } }).to_string())
    })
}

pub fn unsupported(name: &str) -> Refusal {
    (400, said(&format!("Unsupported parameter: '{name}' is not supported with this model.")))
}
