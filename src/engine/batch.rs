//! `progress_report` and `batch`: tools that the engine handles itself and that never make a turn succeed (SEMANTICS 7).

use serde_json::{Value, json};

use super::config::{SideEffect, ToolSpec};

pub const BATCH: &str = "batch";
pub const PROGRESS: &str = "progress_report";

/// One call inside a batch, as the model asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCall {
    pub name: String,
    /// JSON text, as any other call's.
    pub arguments: String,
}

#[must_use]
pub fn batch_spec() -> ToolSpec {
    spec(
        BATCH,
        "Runs several tool calls in parallel and answers an array of their results in the same order. \
         It cannot contain batch, final_report or spawn_subagents.",
        json!({
            "type": "object",
            "properties": { "calls": { "type": "array", "minItems": 1, "items": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "arguments": { "type": "object" } },
                "required": ["name"],
                "additionalProperties": false,
            } } },
            "required": ["calls"],
            "additionalProperties": false,
        }),
    )
}

#[must_use]
pub fn progress_spec() -> ToolSpec {
    spec(
        PROGRESS,
        "Tells the user what you are doing. It does not count as work: call another tool in the same reply.",
        json!({
            "type": "object",
            "properties": { "status": { "type": "string" }, "detail": { "type": "string" } },
            "required": ["status"],
            "additionalProperties": false,
        }),
    )
}

fn spec(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        may_finish: false,
        side_effect: SideEffect::None,
    }
}

/// The calls of a batch whose arguments fit its schema.
#[must_use]
pub fn inner_calls(args: &Value) -> Vec<InnerCall> {
    let calls = args.get("calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |call: &Value| InnerCall {
        name: call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments: call.get("arguments").map(Value::to_string).unwrap_or_default(),
    };
    calls.iter().map(read).collect()
}

/// Whether a batch may contain the tool.
#[must_use]
pub fn allowed_inside(name: &str) -> bool {
    ![BATCH, super::report::TOOL, super::spawn::TOOL].contains(&name)
}
