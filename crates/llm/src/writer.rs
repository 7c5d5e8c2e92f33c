//! The writer for a provider, and what a refusal changes alike in all formats: a writer in front of the one of its format.

use std::borrow::Cow;

use serde_json::{Map, Value};

use turnwise_engine::{Correction, Image, Message, ProviderConfig, RunConfig, ToolChoice, ToolMessage, ToolSpec};

use super::dialect::{Encode, unread};
use super::providers::{WireFormat, wire};
use super::{anthropic, gemini, openai, responses};

/// The writer for a provider, with the run's settings for all models, and what the run learnt about this one.
#[must_use]
pub fn encoder(p: &ProviderConfig, config: &RunConfig, learnt: &[Correction]) -> Box<dyn Encode> {
    let config = &without(config, learnt);
    let writer: Box<dyn Encode> = match wire(p.kind).format {
        WireFormat::Chat if openai::takes_breakpoints(p) => Box::new(openai::Encoder::marked(p, config, learnt)),
        WireFormat::Chat => Box::new(openai::Encoder::new(p, config, learnt)),
        WireFormat::Responses => Box::new(responses::Encoder::new(p, config, learnt)),
        WireFormat::Messages => Box::new(anthropic::Encoder::marked(p, config, learnt)),
        WireFormat::Gemini => Box::new(gemini::Encoder::new(p, config, learnt)),
    };
    Corrected::of(writer, learnt)
}

/// The settings without those that the server refused.
fn without(config: &RunConfig, learnt: &[Correction]) -> RunConfig {
    let mut config = config.clone();
    for correction in learnt {
        match correction {
            Correction::NoSampling => (config.temperature, config.top_p) = (None, None),
            Correction::NoEffort => config.reasoning = None,
            Correction::Effort(effort) => config.reasoning = Some(*effort),
            Correction::NoToolChoice => config.tool_choice = None,
            _ => {}
        }
    }
    config
}

/// Writes what another writer then writes, without what the server refused.
#[derive(Debug)]
pub(super) struct Corrected {
    inner: Box<dyn Encode>,
    change: WriterChange,
    /// Whether nothing was written yet.
    first: bool,
}

#[derive(Clone, Copy, Debug)]
struct WriterChange {
    system: System,
    no_images: bool,
    plain_schemas: bool,
}

/// Where system messages may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Anywhere,
    First,
    Nowhere,
}

impl Corrected {
    /// The writer, changed if any of the corrections asks for it.
    pub fn of(inner: Box<dyn Encode>, learnt: &[Correction]) -> Box<dyn Encode> {
        let has = |correction| learnt.contains(&correction);
        let system = match (has(Correction::NoSystemMessage), has(Correction::OneSystemMessage)) {
            (true, _) => System::Nowhere,
            (_, true) => System::First,
            _ => System::Anywhere,
        };
        let change =
            WriterChange { system, no_images: has(Correction::NoImages), plain_schemas: has(Correction::PlainSchemas) };
        match change {
            WriterChange { system: System::Anywhere, no_images: false, plain_schemas: false } => inner,
            change => Box::new(Corrected { inner, change, first: true }),
        }
    }
}

impl Encode for Corrected {
    fn start(&mut self, out: &mut Vec<u8>) {
        self.first = true;
        self.inner.start(out);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        let first = std::mem::take(&mut self.first);
        let message = match message {
            Message::System { content }
                if self.change.system == System::Nowhere || (self.change.system == System::First && !first) =>
            {
                Cow::Owned(Message::user(content))
            }
            Message::User { content, images } if self.change.no_images && !images.is_empty() => {
                Cow::Owned(Message::user(with_notes(content, images)))
            }
            Message::Tool(tool) if self.change.no_images && !tool.images.is_empty() => {
                let content = with_notes(&tool.content, &tool.images);
                Cow::Owned(Message::Tool(ToolMessage { content, images: Vec::new(), ..tool.clone() }))
            }
            message => Cow::Borrowed(message),
        };
        self.inner.message(&message, out);
    }

    fn mark(&mut self, out: &mut Vec<u8>) {
        self.inner.mark(out);
    }

    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        if !self.change.plain_schemas {
            return self.inner.end(tools, choice, out);
        }
        let plain = |tool: &ToolSpec| ToolSpec { parameters: plain(&tool.parameters), ..tool.clone() };
        self.inner.end(&tools.iter().map(plain).collect::<Vec<_>>(), choice, out);
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(Corrected { inner: self.inner.fork(), change: self.change, first: self.first })
    }
}

/// A text with a note for each picture before it: the turn counter is the last line of a result.
fn with_notes(content: &str, images: &[Image]) -> String {
    let texts: Vec<&str> = images
        .iter()
        .map(|image| -> &str { unread(image) })
        .chain(Some(content).filter(|text| !text.is_empty()))
        .collect();
    texts.join("\n\n")
}

/// How deep a schema is described.
const DEPTH: usize = 12;

/// A tool's schema without what servers refuse: references are written out, and of the rest there are types, descriptions, properties,
/// items, lists of values and alternatives. The tool itself still checks its arguments against the whole one.
fn plain(schema: &Value) -> Value {
    let mut parts = Map::new();
    collect(schema, schema, DEPTH, &mut parts);
    // At the root there are no alternatives: what any of them has.
    if let Some(Value::Array(alternatives)) = parts.remove("anyOf") {
        let mut properties = parts.remove("properties").and_then(into_map).unwrap_or_default();
        for alternative in alternatives {
            let of = alternative.get("properties").and_then(Value::as_object);
            for (name, property) in of.into_iter().flatten() {
                properties.entry(name.clone()).or_insert_with(|| property.clone());
            }
        }
        parts.insert("properties".to_owned(), Value::Object(properties));
    }
    parts.insert("type".to_owned(), "object".into());
    parts.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    Value::Object(parts)
}

fn into_map(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(map) = value { Some(map) } else { None }
}

fn inner(schema: &Value, root: &Value, depth: usize) -> Value {
    let mut parts = Map::new();
    if depth > 0 {
        collect(schema, root, depth - 1, &mut parts);
    }
    Value::Object(parts)
}

/// Adds what a schema says to `into`; what is there stays.
fn collect(schema: &Value, root: &Value, depth: usize, into: &mut Map<String, Value>) {
    let Some(schema) = schema.as_object() else { return };
    let mut add = |key: &str, value: Value| {
        into.entry(key).or_insert(value);
    };
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("type", Value::String(_)) | ("description", Value::String(_)) | ("enum", Value::Array(_)) => {
                add(key, value.clone());
            }
            // "string or null" is a string that may be left out.
            ("type", Value::Array(types)) => {
                if let Some(first) = types.iter().find(|kind| kind.as_str() != Some("null")) {
                    add(key, first.clone());
                }
            }
            ("const", value) => add("enum", Value::Array(vec![value.clone()])),
            ("properties", Value::Object(properties)) => {
                let plain = properties.iter().map(|(name, property)| (name.clone(), inner(property, root, depth)));
                add(key, Value::Object(plain.collect()));
            }
            ("required", Value::Array(names)) => add(key, Value::Array(names.clone())),
            ("items", Value::Object(_)) => add(key, inner(value, root, depth)),
            ("prefixItems" | "items", Value::Array(items)) => {
                add("items", items.first().map_or_else(|| Value::Object(Map::new()), |item| inner(item, root, depth)));
            }
            ("anyOf" | "oneOf", Value::Array(alternatives)) => {
                let is_some = |it: &&Value| it.get("type").and_then(Value::as_str) != Some("null");
                let plain: Vec<Value> = alternatives.iter().filter(is_some).map(|it| inner(it, root, depth)).collect();
                add("anyOf", Value::Array(plain));
            }
            _ => {}
        }
    }
    // An array without a type for its items is refused by some.
    if into.get("type").and_then(Value::as_str) == Some("array") {
        into.entry("items").or_insert_with(|| Value::Object(Map::new()));
    }
    // One alternative is none.
    if let Some([only]) = into.get("anyOf").and_then(Value::as_array).map(Vec::as_slice) {
        let only = only.clone();
        into.remove("anyOf");
        collect(&only, root, depth, into);
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?));
    let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    for more in target.into_iter().chain(all).filter(|_| depth > 0) {
        let Value::Object(more) = inner(more, root, depth) else { continue };
        for (key, value) in more {
            merge(into, key, value);
        }
    }
}

/// Adds a part to a schema: properties and required names to those that are there.
fn merge(into: &mut Map<String, Value>, key: String, value: Value) {
    match (into.get_mut(&key), value) {
        (Some(Value::Object(there)), Value::Object(more)) if key == "properties" => {
            for (name, property) in more {
                there.entry(name).or_insert(property);
            }
        }
        (Some(Value::Array(there)), Value::Array(more)) if key == "required" => there.extend(more),
        (Some(_), _) => {}
        (None, value) => {
            into.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_written_out_without_what_servers_refuse() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["at", "kind"],
            "properties": {
                "at": { "$ref": "#/$defs/point", "description": "where" },
                "kind": { "const": "a" },
                "tags": { "type": "array", "minItems": 1, "uniqueItems": true },
                "pair": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "string" }] },
                "name": { "type": ["string", "null"], "pattern": "^a", "format": "email" },
                "size": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] },
                "either": { "oneOf": [{ "type": "string" }, { "type": "number" }] },
                "tree": { "$ref": "#/$defs/tree" },
                "both": { "allOf": [{ "properties": { "a": {} }, "required": ["a"] }, { "properties": { "b": true }, "required": ["b"] }] },
                "any": true,
            },
            "$defs": {
                "point": { "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] },
                "tree": { "type": "object", "properties": { "next": { "$ref": "#/$defs/tree" } } },
            },
        });
        let plain = plain(&schema);
        let of = |name: &str| plain["properties"][name].clone();
        assert_eq!(
            of("at"),
            json!({ "description": "where", "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] })
        );
        assert_eq!(of("kind"), json!({ "enum": ["a"] }));
        assert_eq!(of("tags"), json!({ "type": "array", "items": {} }));
        assert_eq!(of("pair"), json!({ "type": "array", "items": { "type": "number" } }));
        assert_eq!(of("name"), json!({ "type": "string" }));
        assert_eq!(of("size"), json!({ "type": "integer" }));
        assert_eq!(of("either"), json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }));
        assert_eq!(of("both"), json!({ "properties": { "a": {}, "b": {} }, "required": ["a", "b"] }));
        assert_eq!(of("any"), json!({}));
        // One that contains itself ends.
        assert_eq!(of("tree")["properties"]["next"]["type"], "object");
        assert_eq!(plain["required"], json!(["at", "kind"]));
        let text = plain.to_string();
        for refused in ["$ref", "$defs", "$schema", "additionalProperties", "minItems", "pattern", "format"] {
            assert!(!text.contains(refused), "{refused} in {text}");
        }
    }

    #[test]
    fn alternatives_at_the_root_are_one_object() {
        let schema = json!({ "oneOf": [
            { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
            { "type": "object", "properties": { "b": { "type": "number" } } },
        ] });
        let expected =
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "number" } } });
        assert_eq!(plain(&schema), expected);
        assert_eq!(plain(&json!(true)), json!({ "type": "object", "properties": {} }));
    }
}
