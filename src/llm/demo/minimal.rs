//! The smallest arguments that a JSON Schema allows, with the task's words and numbers where they fit.

use serde_json::{Map, Number, Value};

/// Schemas deeper than this are cut off with `null`.
const MAX_DEPTH: u32 = 8;

/// Arguments for a tool with this schema.
pub(super) fn arguments(schema: &Value, text: &str) -> Value {
    match value(schema, schema, text, 0) {
        object @ Value::Object(_) => object,
        _ => Value::Object(Map::new()),
    }
}

/// A value of this schema.
pub(super) fn any(schema: &Value, text: &str) -> Value {
    value(schema, schema, text, 0)
}

fn value(root: &Value, schema: &Value, text: &str, depth: u32) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| root.pointer(r.strip_prefix('#')?)) {
        return value(root, target, text, depth + 1);
    }
    let given = ["const", "default"].iter().find_map(|key| schema.get(key).cloned());
    let listed = ["enum", "examples"].iter().find_map(|key| schema.get(key)?.as_array()?.first().cloned());
    if let Some(value) = given.or(listed) {
        return value;
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array()?.first())
        && schema.get("type").is_none()
    {
        return value(root, first, text, depth + 1);
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    };
    match kind {
        "object" => object(root, schema, text, depth),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
            let items = schema.get("items").unwrap_or(&Value::Null);
            Value::Array((0..least).map(|_| value(root, items, text, depth + 1)).collect())
        }
        "integer" | "number" => number(schema, kind, text),
        "boolean" => Value::Bool(false),
        "null" => Value::Null,
        _ => Value::String(string(schema, text)),
    }
}

fn object(root: &Value, schema: &Value, text: &str, depth: u32) -> Value {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let properties = schema.get("properties");
    required
        .map(|name| {
            let property = properties.and_then(|all| all.get(name)).unwrap_or(&Value::Null);
            (name.to_owned(), value(root, property, text, depth + 1))
        })
        .collect()
}

fn number(schema: &Value, kind: &str, text: &str) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let own = text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| word.parse::<f64>().ok());
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|n| n + 1.0));
    let high = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|n| n - 1.0));
    let mut number = own.unwrap_or(1.0).max(low.unwrap_or(f64::MIN)).min(high.unwrap_or(f64::MAX));
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        number = (number / step).ceil() * step;
    }
    if kind == "integer" {
        #[allow(clippy::cast_possible_truncation)] // `as` saturates
        return Value::from(number.round() as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn string(schema: &Value, text: &str) -> String {
    let format = match schema.get("format").and_then(Value::as_str) {
        Some("date") => Some("2026-01-01"),
        Some("date-time") => Some("2026-01-01T00:00:00Z"),
        Some("time") => Some("12:00:00Z"),
        Some("email") => Some("someone@example.org"),
        Some("uri" | "url") => Some("https://example.org/"),
        Some("uuid") => Some("00000000-0000-4000-8000-000000000000"),
        Some("ipv4") => Some("127.0.0.1"),
        _ => None,
    };
    if let Some(format) = format {
        return format.to_owned();
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let mut own: String = text.chars().take(bound("maxLength").unwrap_or(200)).collect();
    let short = bound("minLength").unwrap_or(0).saturating_sub(own.chars().count()).min(10_000);
    own.extend(std::iter::repeat_n('x', short));
    own
}
