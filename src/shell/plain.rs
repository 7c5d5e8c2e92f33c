//! A fast verdict on the simplest tool arguments, so that most host tools run without a trip to the worker.
//!
//! It only ever says "these are valid"; anything it is not certain of goes to the worker, which has the real validator.
//! The subset: `type: object`, `properties` with at most a plain `type` each, `required`, `additionalProperties`. A test
//! holds its verdicts against that validator. Pure, and free of the rest of the crate so that native tests can reach it.

use serde_json::{Map, Value};

/// A schema of the subset.
#[derive(Clone, Debug)]
pub struct Plain {
    properties: Vec<(String, Option<Kind>)>,
    required: Vec<String>,
    closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

impl Plain {
    /// `None` where the schema says anything beyond the subset.
    #[must_use]
    pub fn of(schema: &Value) -> Option<Plain> {
        let mut plain = Plain { properties: Vec::new(), required: Vec::new(), closed: false };
        let mut object = false;
        for (key, value) in schema.as_object()? {
            match (key.as_str(), value) {
                ("type", Value::String(kind)) => object = kind == "object",
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        plain.properties.push((name.clone(), kind_of(property.as_object()?)?));
                    }
                }
                ("required", Value::Array(names)) => {
                    for name in names {
                        plain.required.push(name.as_str()?.to_owned());
                    }
                }
                ("additionalProperties", Value::Bool(open)) => plain.closed = !open,
                (key, value) if is_note(key, value) => {}
                _ => return None,
            }
        }
        object.then_some(plain)
    }

    /// True only where the text is JSON and valid. False is no verdict.
    #[must_use]
    pub fn accepts(&self, arguments: &str) -> bool {
        let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else { return false };
        let known = |(name, value): (&String, &Value)| match self.properties.iter().find(|(known, _)| known == name) {
            Some((_, kind)) => kind.is_none_or(|kind| kind.fits(value)),
            None => !self.closed,
        };
        self.required.iter().all(|name| arguments.contains_key(name)) && arguments.iter().all(known)
    }
}

/// The outer `None`: beyond the subset. The inner one: any value.
fn kind_of(property: &Map<String, Value>) -> Option<Option<Kind>> {
    let mut kind = None;
    for (key, value) in property {
        match (key.as_str(), value) {
            ("type", Value::String(name)) => kind = Some(Kind::parse(name)?),
            (key, value) if is_note(key, value) => {}
            _ => return None,
        }
    }
    Some(kind)
}

/// Keywords that say nothing about validity.
fn is_note(key: &str, value: &Value) -> bool {
    match key {
        "title" | "description" | "$comment" => value.is_string(),
        "default" | "examples" => true,
        _ => false,
    }
}

impl Kind {
    fn parse(name: &str) -> Option<Kind> {
        Some(match name {
            "null" => Kind::Null,
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "string" => Kind::Text,
            "array" => Kind::Array,
            "object" => Kind::Object,
            _ => return None,
        })
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Null => value.is_null(),
            Kind::Boolean => value.is_boolean(),
            // 1.0 is an integer too: the worker knows.
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::Text => value.is_string(),
            Kind::Array => value.is_array(),
            Kind::Object => value.is_object(),
        }
    }
}
