//! The smallest value that a JSON Schema allows, with the words and numbers of a text where they fit.

use serde_json::{Value, json};

/// Schemas deeper than this are cut off with `null`.
const MAX_DEPTH: u32 = 8;

/// Maximum number of characters of a text in a tool's arguments, unless its schema demands more.
const MAX_CHARS: usize = 200;

/// Values of the formats of strings.
const FORMATS: &str = "date=2026-01-01 date-time=2026-01-01T00:00:00Z time=12:00:00Z email=someone@example.org \
    uri=https://example.org/ url=https://example.org/ uuid=00000000-0000-4000-8000-000000000000 ipv4=127.0.0.1";

/// Arguments for a tool with this schema.
pub(super) fn arguments(schema: &Value, text: &str) -> Value {
    let text: String = text.chars().take(MAX_CHARS).collect();
    Some(sample(schema, &text)).filter(Value::is_object).unwrap_or_else(|| json!({}))
}

/// A value of this schema.
pub(super) fn sample(schema: &Value, text: &str) -> Value {
    value(schema, schema, text, 0)
}

fn value(root: &Value, schema: &Value, text: &str, depth: u32) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let first_of = |key: &str| schema.get(key)?.as_array()?.first();
    let fixed = ["const", "default"].iter().find_map(|key| schema.get(key));
    if let Some(value) = fixed.or_else(|| first_of("enum")).or_else(|| first_of("examples")) {
        return value.clone();
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?));
    let choice = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| first_of(key));
    if let Some(other) = target.or(choice.filter(|_| schema.get("type").is_none())) {
        return value(root, other, text, depth + 1);
    }
    let part = |part: Option<&Value>| value(root, part.unwrap_or(&Value::Null), text, depth + 1);
    let kind = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    match kind.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" }) {
        "object" if *schema == json!({ "type": "object" }) && depth > 0 => json!({ "text": text }),
        "object" => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let property = |name: &str| part(schema.get("properties").and_then(|all| all.get(name)));
            required.filter_map(Value::as_str).map(|name| (name.to_owned(), property(name))).collect()
        }
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
            (0..least).map(|_| part(schema.get("items"))).collect()
        }
        "integer" => json!(number(schema, text).round() as i64),
        "number" => json!(number(schema, text)),
        "boolean" => Value::Bool(false),
        "null" => Value::Null,
        _ => Value::String(string(schema, text)),
    }
}

/// The first number of the text, within the schema's bounds.
fn number(schema: &Value, text: &str) -> f64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let own = text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| word.parse::<f64>().ok());
    let low = bound("minimum").or(bound("exclusiveMinimum").map(|n| n + 1.0)).unwrap_or(f64::MIN);
    let high = bound("maximum").or(bound("exclusiveMaximum").map(|n| n - 1.0)).unwrap_or(f64::MAX);
    let number = own.unwrap_or(1.0).max(low).min(high);
    bound("multipleOf").filter(|step| *step > 0.0).map_or(number, |step| (number / step).ceil() * step)
}

/// The text, within the schema's bounds, unless the schema has a format.
fn string(schema: &Value, text: &str) -> String {
    let mut formats = FORMATS.split(' ').filter_map(|pair| pair.split_once('='));
    let format = schema.get("format").and_then(Value::as_str);
    if let Some((_, sample)) = formats.find(|(name, _)| Some(*name) == format) {
        return sample.to_owned();
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let length = text.chars().count().min(bound("maxLength").unwrap_or(usize::MAX));
    let length = length.max(bound("minLength").unwrap_or(0).min(10_000));
    text.chars().chain(std::iter::repeat('x')).take(length).collect()
}
