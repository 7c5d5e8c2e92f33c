//! Errors as JavaScript sees them.

use js_sys::{Error, JSON, TypeError};
use wasm_bindgen::prelude::*;

/// A `TypeError`: what was passed in is wrong.
pub(super) fn type_error(message: &str) -> JsValue {
    TypeError::new(message).into()
}

/// An `Error`: what was passed in is right, but not now.
pub(super) fn error(message: &str) -> JsValue {
    Error::new(message).into()
}

/// What a value is, for a message: its kind, and what it says where that is short.
pub(super) fn describe(value: &JsValue) -> String {
    if let Some(kind) = kind_only(value) {
        return kind.to_owned();
    }
    let text = JSON::stringify(value).ok().and_then(|text| text.as_string()).unwrap_or_default();
    match text.char_indices().nth(60) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None if text.is_empty() => "something else".to_owned(),
        None => text,
    }
}

/// What a value is, and nothing of what it says: for keys.
pub(super) fn describe_secret(value: &JsValue) -> String {
    let kind = kind_only(value).or_else(|| value.is_string().then_some("a string"));
    kind.or_else(|| value.as_f64().map(|_| "a number")).unwrap_or("something else").to_owned()
}

fn kind_only(value: &JsValue) -> Option<&'static str> {
    if value.is_null() {
        Some("null")
    } else if value.is_undefined() {
        Some("nothing")
    } else if value.is_function() {
        Some("a function")
    } else if js_sys::Array::is_array(value) {
        Some("an array")
    } else if value.is_object() {
        Some("an object")
    } else if value.as_f64().is_some_and(|number| !number.is_finite()) {
        Some("a number that is not finite")
    } else {
        None
    }
}
