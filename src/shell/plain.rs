//! A fast check of a tool's arguments, so that most calls of page tools, and most reports, need no worker.
//!
//! It can only confirm that arguments are valid; anything it is not certain of goes to the worker, which has the real
//! validator. The subset is what schema libraries emit for plain objects, arrays, enums and optional members. A test
//! compares its results with that validator's. Pure, and independent of the rest of the crate so that native tests can reach it.

use serde_json::Value;

/// A schema within the subset.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    kind: Option<ValueType>,
    properties: Vec<(String, Plain)>,
    required: Vec<String>,
    closed: bool,
    items: Option<Box<Plain>>,
    /// The values of `enum` or `const`.
    one_of: Option<Vec<Value>>,
    any_of: Vec<Plain>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_length: usize,
    min_items: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueType {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
}

impl Plain {
    /// Parses a schema. `None` if it uses anything outside the subset.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Option<Plain> {
        let mut plain = Plain::default();
        for (key, value) in schema.as_object()? {
            match (key.as_str(), value) {
                ("type", Value::String(name)) => plain.kind = Some(ValueType::parse(name)?),
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        plain.properties.push((name.clone(), Plain::from_schema(property)?));
                    }
                }
                ("required", Value::Array(names)) => {
                    for name in names {
                        plain.required.push(name.as_str()?.to_owned());
                    }
                }
                ("additionalProperties", Value::Bool(open)) => plain.closed = !open,
                ("items", items) => plain.items = Some(Box::new(Plain::from_schema(items)?)),
                ("enum", Value::Array(values)) if plain.one_of.is_none() => plain.one_of = Some(values.clone()),
                ("const", value) if plain.one_of.is_none() => plain.one_of = Some(vec![value.clone()]),
                ("anyOf", Value::Array(schemas)) if !schemas.is_empty() => {
                    plain.any_of = schemas.iter().map(Plain::from_schema).collect::<Option<_>>()?;
                }
                ("minimum", value) => plain.minimum = Some(value.as_f64()?),
                ("maximum", value) => plain.maximum = Some(value.as_f64()?),
                ("minLength", value) => plain.min_length = usize::try_from(value.as_u64()?).ok()?,
                ("minItems", value) => plain.min_items = usize::try_from(value.as_u64()?).ok()?,
                (key, value) if is_note(key, value) => {}
                _ => return None,
            }
        }
        Some(plain)
    }

    /// Returns true only if the text is JSON and valid. False means undecided.
    #[must_use]
    pub fn accepts(&self, arguments: &str) -> bool {
        serde_json::from_str(arguments).is_ok_and(|value| self.fits(&value))
    }

    fn fits(&self, value: &Value) -> bool {
        self.kind.is_none_or(|kind| kind.fits(value))
            && self.one_of.as_ref().is_none_or(|values| values.contains(value))
            && (self.any_of.is_empty() || self.any_of.iter().any(|plain| plain.fits(value)))
            && match value {
                Value::Object(members) => {
                    self.required.iter().all(|name| members.contains_key(name))
                        && members.iter().all(|(name, value)| {
                            match self.properties.iter().find(|(known, _)| known == name) {
                                Some((_, plain)) => plain.fits(value),
                                None => !self.closed,
                            }
                        })
                }
                Value::Array(items) => {
                    items.len() >= self.min_items
                        && self.items.as_ref().is_none_or(|plain| items.iter().all(|item| plain.fits(item)))
                }
                Value::String(text) => self.min_length == 0 || text.chars().count() >= self.min_length,
                Value::Number(number) => self.holds(number.as_f64()),
                Value::Null | Value::Bool(_) => true,
            }
    }

    /// Whether the number is strictly inside the limits, since a large integer may have been rounded, or equal to an exact limit.
    fn holds(&self, number: Option<f64>) -> bool {
        const EXACT: f64 = 9_007_199_254_740_991.0;
        let Some(number) = number else { return false };
        let near = |limit: f64| number == limit && limit.abs() <= EXACT;
        self.minimum.is_none_or(|limit| number > limit || near(limit))
            && self.maximum.is_none_or(|limit| number < limit || near(limit))
    }
}

/// Whether this keyword has no effect on validity.
fn is_note(key: &str, value: &Value) -> bool {
    match key {
        "title" | "description" | "$comment" => value.is_string(),
        "$schema" => value.as_str().is_some_and(|draft| draft.contains("2020-12") || draft.contains("draft-07")),
        "default" | "examples" => true,
        _ => false,
    }
}

impl ValueType {
    fn parse(name: &str) -> Option<ValueType> {
        Some(match name {
            "null" => ValueType::Null,
            "boolean" => ValueType::Boolean,
            "integer" => ValueType::Integer,
            "number" => ValueType::Number,
            "string" => ValueType::Text,
            "array" => ValueType::Array,
            "object" => ValueType::Object,
            _ => return None,
        })
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            ValueType::Null => value.is_null(),
            ValueType::Boolean => value.is_boolean(),
            // 1.0 is an integer too; the worker handles it.
            ValueType::Integer => value.is_i64() || value.is_u64(),
            ValueType::Number => value.is_number(),
            ValueType::Text => value.is_string(),
            ValueType::Array => value.is_array(),
            ValueType::Object => value.is_object(),
        }
    }
}
