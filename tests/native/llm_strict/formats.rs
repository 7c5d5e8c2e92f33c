//! The rules of the other formats: Responses, Anthropic's Messages, Gemini.

use serde_json::{Value, json};

use super::chat::{Verdict, rule};
use super::said;
use crate::support::anthropic_rules;

pub fn responses(request: &Value) -> Verdict {
    let refuse = |words: &str| (400, said(words));
    let empty = Vec::new();
    let items = request["input"].as_array().unwrap_or(&empty);
    let mut waiting: Vec<&str> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let role = item["role"].as_str().unwrap_or_default();
                rule(matches!(role, "system" | "developer" | "user" | "assistant"), || refuse("Invalid value: role"))?;
                rule(waiting.is_empty(), || refuse("No tool output found for function call."))?;
            }
            "function_call" => {
                rule((1..=64).contains(&id.len()), || {
                    refuse("Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64.")
                })?;
                rule(item["id"].as_str().is_none_or(|id| id.starts_with("fc_") && id.len() <= 64), || {
                    refuse("Invalid id")
                })?;
                waiting.push(id);
            }
            "function_call_output" => {
                let place = waiting.iter().position(|waits| *waits == id);
                rule(place.is_some(), || refuse("No tool call found for function call output."))?;
                waiting.remove(place.unwrap_or_default());
            }
            "reasoning" => {
                let follows = items.get(at + 1).and_then(|next| next["type"].as_str());
                rule(matches!(follows, Some("reasoning" | "message" | "function_call")), || {
                    refuse("Item 'rs_1' of type 'reasoning' was provided without its required following item.")
                })?;
                let own = item["encrypted_content"].as_str().is_some_and(|secret| secret.starts_with("gAAAA"));
                rule(own, || {
                    let message = "The encrypted content could not be verified.";
                    (400, json!({ "error": { "message": message, "code": "invalid_encrypted_content" } }).to_string())
                })?;
            }
            _ => return Err(refuse("Invalid value: type")),
        }
    }
    rule(waiting.is_empty(), || refuse("No tool output found for function call."))?;
    let tools = request["tools"].as_array();
    // Strict is the default, and its schemas name every property as required.
    let strict = tools.is_some_and(|tools| tools.iter().any(|tool| tool["strict"] != false));
    rule(!strict, || {
        refuse("Invalid schema for function: 'additionalProperties' is required to be supplied and to be false.")
    })?;
    rule(request.get("tool_choice").is_none() || tools.is_some(), || refuse("tool_choice without tools"))?;
    rule(request["store"] == false, || refuse("store"))?;
    let effort = request.pointer("/reasoning/effort").and_then(Value::as_str);
    rule(matches!(effort, None | Some("none" | "low" | "medium" | "high" | "xhigh")), || {
        let words = "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.";
        (
            400,
            json!({ "error": { "message": words, "param": "reasoning.effort", "code": "unsupported_value" } })
                .to_string(),
        )
    })?;
    let samples = request.get("temperature").is_some() || request.get("top_p").is_some();
    rule(!samples || matches!(effort, None | Some("none")), || {
        refuse("Unsupported parameter: 'temperature' is not supported with this model.")
    })
}

/// What one version of Claude refuses.
#[derive(Clone, Copy)]
pub struct Claude {
    pub samples: bool,
    pub forced: bool,
    pub can_stop_thinking: bool,
    /// Whether it takes a budget, not a word.
    pub budget: bool,
}

pub fn anthropic(request: &Value, claude: Claude) -> Verdict {
    let refuse = |words: &str| {
        (400, json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } }).to_string())
    };
    anthropic_rules::rules(request).map_err(|words| refuse(&words))?;
    let marks = request.to_string().matches("\"cache_control\"").count();
    rule(marks <= 4, || refuse("A maximum of 4 blocks with cache_control may be provided."))?;
    let (thinking, most) = (&request["thinking"], request["max_tokens"].as_u64());
    rule(most.is_some(), || refuse("max_tokens: Field required"))?;
    let samples = request.get("temperature").is_some() || request.get("top_p").is_some();
    let thinks = matches!(thinking["type"].as_str(), Some("enabled" | "adaptive"));
    rule(!samples || (claude.samples && !thinks), || refuse("`temperature` is deprecated for this model."))?;
    let forced = matches!(request["tool_choice"]["type"].as_str(), Some("any" | "tool"));
    rule(!forced || (claude.forced && !(thinks && claude.budget)), || {
        refuse("Thinking may not be enabled when tool_choice forces tool use.")
    })?;
    rule(thinking["type"] != "disabled" || claude.can_stop_thinking, || {
        refuse("thinking.type: disabled is not supported")
    })?;
    match thinking["type"].as_str() {
        Some("enabled") => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            let fits = claude.budget && budget >= 1024 && most.is_some_and(|most| budget < most);
            rule(fits, || refuse("thinking.budget_tokens"))
        }
        Some("adaptive") => {
            let effort = request.pointer("/output_config/effort").and_then(Value::as_str);
            let known = matches!(effort, None | Some("low" | "medium" | "high" | "xhigh" | "max"));
            rule(!claude.budget && known, || refuse("output_config.effort"))
        }
        _ => Ok(()),
    }
}

/// What one version of Gemini refuses.
#[derive(Clone, Copy)]
pub struct Thinks {
    /// The words that it knows; empty: it takes a budget, of at least so much.
    pub levels: &'static [&'static str],
    pub least: u64,
}

pub fn gemini(request: &Value, thinks: Thinks) -> Verdict {
    let refuse = |words: &str| {
        (400, json!({ "error": { "code": 400, "message": words, "status": "INVALID_ARGUMENT" } }).to_string())
    };
    let empty = Vec::new();
    let mut waiting = 0;
    for content in request["contents"].as_array().unwrap_or(&empty) {
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty());
        rule(parts.is_some(), || refuse("contents.parts must not be empty."))?;
        let parts = parts.unwrap_or(&empty);
        let count = |name: &str| parts.iter().filter(|part| part.get(name).is_some()).count();
        let is_model = content["role"] == "model";
        rule(is_model || content["role"] == "user", || refuse("Please use a valid role: user, model."))?;
        rule(is_model || count("functionResponse") == waiting, || {
            refuse(
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
            )
        })?;
        waiting = count("functionCall");
        if let Some(first) = parts.iter().find(|part| part.get("functionCall").is_some()) {
            let is_signed = first["thoughtSignature"].as_str().is_some_and(|signature| !signature.is_empty());
            rule(is_model && (is_signed || thinks.levels.is_empty()), || {
                refuse("Function call is missing a thought_signature in functionCall parts.")
            })?;
        }
        for part in parts {
            let name = ["functionCall", "functionResponse"].iter().find_map(|kind| part[*kind]["name"].as_str());
            rule(name.is_none_or(is_name), || refuse("Invalid function name."))?;
        }
    }
    rule(waiting == 0, || refuse("Please ensure that every function call has a response."))?;
    let config = &request["generationConfig"]["thinkingConfig"];
    if let Some(level) = config["thinkingLevel"].as_str() {
        let words = format!("Thinking level {} is not supported for this model.", level.to_uppercase());
        rule(thinks.levels.contains(&level), || refuse(&words))?;
    }
    let budget = config["thinkingBudget"].as_u64();
    rule(budget.is_none_or(|budget| thinks.levels.is_empty() && budget >= thinks.least), || {
        refuse("The thinking budget is invalid.")
    })?;
    let declared = request.pointer("/tools/0/functionDeclarations").and_then(Value::as_array).unwrap_or(&empty);
    rule(declared.iter().all(|tool| tool["name"].as_str().is_some_and(is_name)), || refuse("Invalid function name."))
}

fn is_name(name: &str) -> bool {
    let rest = |b: u8| b.is_ascii_alphanumeric() || b"_.:-".contains(&b);
    name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(rest)
}
