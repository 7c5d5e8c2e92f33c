//! What `registerTool` takes.

use js_sys::JSON;
use wasm_bindgen::prelude::*;

use super::reader::Reader;
use crate::engine::{SideEffect, ToolSpec};
use crate::shell::HostTool;

/// Reads a tool of the page's, or throws.
pub(super) fn read(tool: &JsValue) -> Result<HostTool, JsValue> {
    let known = &["name", "description", "parameters", "mayFinish", "sideEffect", "execute"];
    let given = Reader::open("tool", tool, known, &[])?;
    let takes_name = "1 to 64 of A-Z, a-z, 0-9, _ and -";
    let name = given.text("name")?.ok_or_else(|| given.missing("name", takes_name))?;
    if !is_name(&name) {
        return Err(given.wrong("name", &name.as_str().into(), takes_name));
    }
    let side_effects = [
        ("none", SideEffect::None),
        ("workspace", SideEffect::Workspace),
        ("network", SideEffect::Network),
        ("page", SideEffect::Page),
    ];
    let spec = ToolSpec {
        name,
        description: given.text("description")?.unwrap_or_default(),
        parameters: parameters(&given)?,
        may_finish: given.flag("mayFinish")?.unwrap_or_default(),
        side_effect: given.word("sideEffect", &side_effects, &[])?.unwrap_or_default(),
    };
    let execute = given.function("execute")?.ok_or_else(|| given.missing("execute", "a function"))?;
    Ok(HostTool::new(spec, execute))
}

/// A JSON Schema of an object; no parameters is the empty object.
fn parameters(given: &Reader) -> Result<serde_json::Value, JsValue> {
    let Some(value) = given.get("parameters") else {
        return Ok(serde_json::json!({ "type": "object", "properties": {} }));
    };
    let wrong = || given.wrong("parameters", &value, "a JSON Schema with type: 'object'");
    let text = JSON::stringify(&value).map_err(|_| wrong())?.as_string().unwrap_or_default();
    let schema: serde_json::Value = serde_json::from_str(&text).map_err(|_| wrong())?;
    if schema.get("type").and_then(serde_json::Value::as_str) == Some("object") { Ok(schema) } else { Err(wrong()) }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
