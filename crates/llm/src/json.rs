//! Writes JSON to bytes, piece by piece.

use serde::Serialize;
use serde_json::Value;

use turnwise_engine::TokenCount;

/// Appends a value as JSON; writing to memory does not fail.
pub(super) fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    let _ = serde_json::to_writer(out, value);
}

/// Appends one more field of an object, with its comma.
pub(super) fn field<T: Serialize + ?Sized>(out: &mut Vec<u8>, key: &str, value: &T) {
    out.push(b',');
    write(out, key);
    out.push(b':');
    write(out, value);
}

/// Appends text that is already JSON.
pub(super) fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// A tool call's arguments as an object: the model's own text if it is one. Servers that read the history reject the
/// whole request if they cannot parse the arguments.
pub(super) fn arguments(text: &str) -> String {
    let trimmed = text.trim();
    // No arguments, in other words.
    if matches!(trimmed, "" | "null" | "\"\"" | "''" | "[]") {
        return "{}".to_owned();
    }
    let is_object = trimmed.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok();
    match is_object {
        true => text.to_owned(),
        false => serde_json::json!({ "malformed_arguments": text }).to_string(),
    }
}

/// The approximate size of a value in bytes: its texts, plus a little for each value in it.
pub(super) fn bytes(value: &Value) -> usize {
    8 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + bytes(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// A count of tokens; 0 if missing.
pub(super) fn count(number: Option<f64>) -> TokenCount {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates, as intended
    TokenCount(number.unwrap_or(0.0) as u64)
}
