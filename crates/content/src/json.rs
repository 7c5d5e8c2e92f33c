//! A JSON value as a collapsible tree: the content of one line, and the lines below it.
//!
//! Nothing traverses a whole value: a place is a path into a shared root, and only opened levels are read.

use std::sync::Arc;

use serde_json::Value;

use super::format::{counted, one_line};

/// The number of entries of one level that are shown at first, and added with each "show more".
pub const PORTION: usize = 200;
/// Longer strings are collapsed to their beginning.
const LONG: usize = 160;
/// Levels with at most this many entries are open from the start.
const SMALL: usize = 12;

/// One value inside a shared root.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonNode {
    root: Arc<Value>,
    path: Vec<usize>,
}

/// The content of a value's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLine {
    pub kind: JsonKind,
    /// The value, its beginning, or the number of its entries.
    pub text: String,
    /// The full text of a string whose beginning is shown.
    pub whole: Option<String>,
}

/// The type of a value; the notation or the text of its line also shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

/// One value inside another, with its key or index.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonChild {
    pub key: String,
    pub place: JsonNode,
}

impl JsonKind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            JsonKind::Object => "object",
            JsonKind::Array => "array",
            JsonKind::String => "string",
            JsonKind::Number => "number",
            JsonKind::Bool => "boolean",
            JsonKind::Null => "null",
        }
    }
}

impl JsonNode {
    #[must_use]
    pub fn root(root: Arc<Value>) -> Self {
        JsonNode { root, path: Vec::new() }
    }

    fn value(&self) -> &Value {
        self.path.iter().fold(&*self.root, |value, at| match value {
            Value::Array(items) => items.get(*at).unwrap_or(&Value::Null),
            Value::Object(fields) => fields.values().nth(*at).unwrap_or(&Value::Null),
            _ => &Value::Null,
        })
    }

    #[must_use]
    pub fn line(&self) -> JsonLine {
        let value = self.value();
        let plain_line = |kind: JsonKind, text: String| JsonLine { kind, text, whole: None };
        match value {
            Value::Null => plain_line(JsonKind::Null, "null".to_owned()),
            Value::Bool(value) => plain_line(JsonKind::Bool, value.to_string()),
            Value::Number(number) => plain_line(JsonKind::Number, number.to_string()),
            Value::String(text) if text.chars().nth(LONG).is_some() || text.contains('\n') => JsonLine {
                kind: JsonKind::String,
                text: format!("\"{}\"", one_line(text, LONG)),
                whole: Some(text.clone()),
            },
            Value::String(text) => plain_line(JsonKind::String, format!("\"{text}\"")),
            Value::Array(items) => plain_line(JsonKind::Array, format!("[ {} ]", counted(items.len() as u64, "item"))),
            Value::Object(fields) => {
                plain_line(JsonKind::Object, format!("{{ {} }}", counted(fields.len() as u64, "field")))
            }
        }
    }

    /// Returns the number of values inside it.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.value() {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it is open from the start: the root, and small levels near it.
    #[must_use]
    pub fn starts_open(&self) -> bool {
        match self.path.len() {
            0 => true,
            1 | 2 => self.len() <= SMALL,
            _ => false,
        }
    }

    /// Returns up to `most` of the values inside it, starting at index `from`.
    #[must_use]
    pub fn children(&self, from: usize, most: usize) -> Vec<JsonChild> {
        let child = |at: usize, key: String| {
            let mut path = self.path.clone();
            path.push(at);
            JsonChild { key, place: JsonNode { root: Arc::clone(&self.root), path } }
        };
        match self.value() {
            Value::Array(items) => {
                (from..items.len().min(from.saturating_add(most))).map(|at| child(at, at.to_string())).collect()
            }
            Value::Object(fields) => {
                let keys = fields.keys().enumerate().skip(from).take(most);
                keys.map(|(at, key)| child(at, key.clone())).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// `show 200 more of 1,312`; `None` if everything is shown.
#[must_use]
pub fn more(shown: usize, all: usize) -> Option<String> {
    let left = all.checked_sub(shown).filter(|left| *left > 0)?;
    let next = super::format::thousands(left.min(PORTION) as u64);
    Some(format!("Show {next} more of {}", super::format::thousands(left as u64)))
}
