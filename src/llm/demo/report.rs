//! Turns the demo model's answer into a final report if the run asks for one.

use serde_json::{Value, json};

use crate::engine::{ToolSpec, own_tools};

use super::minimal;
use super::moves::Move;

/// Returns the same move with its text as a `final_report`, if that tool is offered.
pub(super) fn instead_of_text(next: Move, tools: &[ToolSpec]) -> Move {
    let Some(spec) = tools.iter().find(|tool| tool.name == own_tools::REPORT) else { return next };
    let format = spec.parameters.pointer("/properties/format/const").and_then(Value::as_str).unwrap_or("text");
    let args = match format {
        "json" => {
            let any = Value::Bool(true);
            let schema = spec.parameters.pointer("/properties/content").unwrap_or(&any);
            let content =
                if schema.is_object() { minimal::any(schema, &next.text) } else { json!({ "answer": next.text }) };
            json!({ "format": format, "content": content })
        }
        "slack" => {
            let section = json!({ "type": "section", "text": { "type": "mrkdwn", "text": next.text } });
            json!({ "format": format, "messages": [{ "blocks": [section] }] })
        }
        _ => json!({ "format": format, "content": next.text }),
    };
    Move { reasoning: next.reasoning, calls: vec![(spec.name.clone(), args)], ..Move::default() }
}
