//! Reads objects a page passes in. Every complaint is a `TypeError` that names the option, what it got and what it takes.

use js_sys::{Array, Function, JSON, Object, Reflect};
use wasm_bindgen::prelude::*;

use super::error::{describe, describe_secret, type_error};

/// One object, and where it stands: `options.counter`.
pub(super) struct Reader {
    pub(super) path: String,
    object: JsValue,
}

/// A word a page writes, and what it means.
pub(super) type Words<T> = [(&'static str, T)];

/// Largest integer JavaScript keeps exact.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

impl Reader {
    /// `later` names options of versions to come.
    pub(super) fn open(path: &str, value: &JsValue, known: &[&str], later: &[&str]) -> Result<Self, JsValue> {
        if !value.is_object() || Array::is_array(value) || value.is_function() {
            return Err(type_error(&format!("{path}: got {}; it takes an object", describe(value))));
        }
        for key in Object::keys(value.unchecked_ref::<Object>()).iter().filter_map(|key| key.as_string()) {
            if later.contains(&key.as_str()) {
                return Err(type_error(&format!("{path}.{key}: not available yet")));
            }
            if !known.contains(&key.as_str()) {
                return Err(type_error(&format!("{path}.{key}: unknown option; {path} takes {}", known.join(", "))));
            }
        }
        Ok(Reader { path: path.to_owned(), object: value.clone() })
    }

    /// As [`Reader::open`]; nothing at all is an empty object.
    pub(super) fn open_optional(path: &str, value: &JsValue, known: &[&str], later: &[&str]) -> Result<Self, JsValue> {
        if value.is_undefined() {
            return Ok(Reader { path: path.to_owned(), object: Object::new().into() });
        }
        Reader::open(path, value, known, later)
    }

    /// The value, if the option is there at all.
    pub(super) fn get(&self, name: &str) -> Option<JsValue> {
        Reflect::get(&self.object, &name.into()).ok().filter(|value| !value.is_undefined())
    }

    pub(super) fn wrong(&self, name: &str, got: &JsValue, takes: &str) -> JsValue {
        type_error(&format!("{}.{name}: got {}; it takes {takes}", self.path, describe(got)))
    }

    pub(super) fn missing(&self, name: &str, takes: &str) -> JsValue {
        type_error(&format!("{}.{name}: missing; it takes {takes}", self.path))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, JsValue> {
        self.read(name, "a string", |value| value.as_string())
    }

    /// As [`Reader::text`], but a wrong value is not shown.
    pub(super) fn secret(&self, name: &str) -> Result<Option<String>, JsValue> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_string().map(Some).ok_or_else(|| {
                type_error(&format!("{}.{name}: got {}; it takes a string", self.path, describe_secret(&value)))
            }),
        }
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, JsValue> {
        self.read(name, "true or false", |value| value.as_bool())
    }

    pub(super) fn function(&self, name: &str) -> Result<Option<Function>, JsValue> {
        self.read(name, "a function", |value| value.clone().dyn_into().ok())
    }

    /// A number from 0 up.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, JsValue> {
        self.read(name, "a number, 0 or more", |value| value.as_f64().filter(|n| n.is_finite() && *n >= 0.0))
    }

    /// A whole number of `min` or more that `T` can hold.
    pub(super) fn whole<T: TryFrom<u64>>(&self, name: &str, min: u64) -> Result<Option<T>, JsValue> {
        let takes = format!("a whole number, {min} or more");
        self.read(name, &takes, |value| whole(value).filter(|n| *n >= min).and_then(|n| T::try_from(n).ok()))
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &Words<T>, later: &[&str]) -> Result<Option<T>, JsValue> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_string();
        if let Some((_, meaning)) = words.iter().find(|(word, _)| Some(*word) == text.as_deref()) {
            return Ok(Some(*meaning));
        }
        let names: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let mut takes = names.join(" or ");
        if later.iter().any(|word| Some(*word) == text.as_deref()) {
            takes += ", that one is not available yet";
        }
        Err(self.wrong(name, &value, &takes))
    }

    /// Any JSON value.
    pub(super) fn json(&self, name: &str, takes: &str) -> Result<serde_json::Value, JsValue> {
        let value = self.get(name).unwrap_or_default();
        let text = JSON::stringify(&value).ok().and_then(|text| text.as_string());
        text.and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(|| self.wrong(name, &value, takes))
    }

    /// The object itself.
    pub(super) fn value(&self) -> JsValue {
        self.object.clone()
    }

    /// A nested object.
    pub(super) fn child(&self, name: &str, known: &[&str], later: &[&str]) -> Result<Option<Reader>, JsValue> {
        let Some(value) = self.get(name) else { return Ok(None) };
        Reader::open(&format!("{}.{name}", self.path), &value, known, later).map(Some)
    }

    /// A nested object, or `false`: the outer `None` is "not given", the inner one is "switched off".
    pub(super) fn child_or_false(&self, name: &str, known: &[&str]) -> Result<Option<Option<Reader>>, JsValue> {
        match self.get(name) {
            Some(value) if value == JsValue::FALSE => Ok(Some(None)),
            Some(value) if !value.is_object() => Err(self.wrong(name, &value, "an object or false")),
            _ => Ok(self.child(name, known, &[])?.map(Some)),
        }
    }

    fn read<T>(&self, name: &str, takes: &str, f: impl Fn(&JsValue) -> Option<T>) -> Result<Option<T>, JsValue> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => f(&value).map(Some).ok_or_else(|| self.wrong(name, &value, takes)),
        }
    }
}

/// A whole number from 0 up that JavaScript keeps exact.
pub(super) fn whole(value: &JsValue) -> Option<u64> {
    value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=MAX_SAFE).contains(n)).map(|n| n as u64)
}

/// Overwrites a default with what was given.
pub(super) fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}
