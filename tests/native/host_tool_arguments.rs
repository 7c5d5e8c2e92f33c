//! The page's fast verdict on a host tool's arguments against the real validator: it may doubt valid arguments, but it
//! never passes invalid ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::pattern;
#[path = "../../src/shell/plain.rs"]
mod plain;

use pattern::pattern;
use plain::Plain;
use turnwise_tools::schema::Schema;

fn is_valid(schema: &Value, arguments: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(arguments) else { return false };
    Schema::compile(schema, pattern).unwrap().faults(&value, 1).unwrap().is_empty()
}

#[test]
fn plain_arguments_need_no_worker() {
    let schema = json!({
        "type": "object",
        "description": "what it is for",
        "properties": {
            "text": { "type": "string", "description": "what to say", "default": "x" },
            "count": { "type": "integer" }, "share": { "type": "number" }, "sure": { "type": "boolean" },
            "list": { "type": "array" }, "more": { "type": "object" }, "gone": { "type": "null" }, "any": {},
        },
        "required": ["text"],
        "additionalProperties": false,
    });
    let plain = Plain::from_schema(&schema).unwrap();
    for arguments in [
        r#"{"text":"a"}"#,
        r#"{"text":"","count":-3,"share":1.5,"sure":true,"list":[1],"more":{"a":1},"gone":null,"any":[]}"#,
        r#" { "text" : "\u00e9\n" } "#,
    ] {
        assert!(plain.accepts(arguments) && is_valid(&schema, arguments), "{arguments}");
    }
    for arguments in
        ["", "{", "[]", "null", "{}", r#"{"text":1}"#, r#"{"text":"a","count":1.5}"#, r#"{"text":"a","x":1}"#]
    {
        assert!(!plain.accepts(arguments), "{arguments}");
    }
}

/// A schema as Zod and similar libraries write it for an output: nested, with limits, choices and optional members.
#[test]
fn an_output_of_a_schema_library_needs_no_worker() {
    let schema = json!({
        "type": "object",
        "properties": {
            "format": { "const": "json" },
            "content": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "total": { "type": "number", "minimum": 0 },
                    "count": { "type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64 },
                    "unit": { "type": "string", "enum": ["EUR", "USD"] },
                    "note": { "anyOf": [{ "type": "string", "minLength": 2 }, { "type": "null" }] },
                    "lines": { "type": "array", "minItems": 1, "items": {
                        "type": "object", "properties": { "article": { "type": "string" } }, "required": ["article"],
                    } },
                },
                "required": ["total"],
                "additionalProperties": false,
            },
        },
        "required": ["format", "content"],
        "additionalProperties": false,
    });
    let plain = Plain::from_schema(&schema).unwrap();
    let report = |content: Value| json!({ "format": "json", "content": content }).to_string();
    for content in [
        json!({ "total": 12 }),
        json!({ "total": 0, "count": 9_007_199_254_740_991_i64, "unit": "USD", "note": null }),
        json!({ "total": 1.5, "note": "éa", "lines": [{ "article": "lamp", "more": 1 }] }),
    ] {
        let text = report(content);
        assert!(plain.accepts(&text) && is_valid(&schema, &text), "{text}");
    }
    for content in [
        json!({ "total": -1 }),
        json!({ "total": 1, "count": 9_007_199_254_740_992_i64 }),
        json!({ "total": 1, "count": 9_007_199_254_740_993_i64 }),
        json!({ "total": 1, "unit": "GBP" }),
        json!({ "total": 1, "note": "é" }),
        json!({ "total": 1, "lines": [] }),
        json!({ "total": 1, "lines": [{}] }),
        json!({ "total": 1, "other": 2 }),
        json!("12"),
    ] {
        let text = report(content);
        assert!(!plain.accepts(&text) && !is_valid(&schema, &text), "{text}");
    }
}

#[test]
fn anything_beyond_the_subset_goes_to_the_worker() {
    for schema in [
        json!(true),
        json!({ "type": ["object", "null"] }),
        json!({ "type": "object", "minProperties": 1 }),
        json!({ "type": "object", "$ref": "#/x" }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "object" }),
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "x" } } }),
        json!({ "type": "object", "properties": { "a": { "type": "string", "maxLength": 2 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "array", "items": [{}] } } }),
        json!({ "type": "object", "properties": { "a": { "enum": [1], "const": 1 } } }),
        json!({ "type": "object", "properties": { "a": true } }),
        json!({ "type": "object", "properties": { "a": { "type": "text" } } }),
    ] {
        assert!(Plain::from_schema(&schema).is_none(), "{schema}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(|n: f64| json!(n)),
        (-50..50).prop_map(|n| json!(f64::from(n))),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    const KINDS: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];
    let leaf = prop_oneof![
        Just(json!({})),
        prop::sample::select(KINDS).prop_map(|kind| json!({ "type": kind })),
        prop::collection::vec(any_json(), 1..3).prop_map(|values| json!({ "enum": values })),
        (-20..20, any::<bool>()).prop_map(|(limit, low)| json!({ (if low { "minimum" } else { "maximum" }): limit })),
        (0..3).prop_map(|least| json!({ "minLength": least, "minItems": least })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let properties = prop::collection::btree_map("[a-d]", inner.clone(), 0..4);
        let required = prop::collection::btree_set("[a-d]", 0..2);
        let object = (properties, required, any::<bool>()).prop_map(|(properties, required, open)| {
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": open })
        });
        prop_oneof![
            4 => object,
            1 => inner.clone().prop_map(|items| json!({ "items": items })),
            1 => prop::collection::vec(inner, 1..3).prop_map(|any| json!({ "anyOf": any })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn what_it_accepts_is_valid(schema in any_schema(), arguments in any_json()) {
        let plain = Plain::from_schema(&schema).unwrap();
        let text = arguments.to_string();
        if plain.accepts(&text) {
            prop_assert!(is_valid(&schema, &text), "{schema} {text}");
        } else if is_valid(&schema, &text) {
            // Only 1.0 as an integer is doubted.
            prop_assert!(text.contains('.'), "{schema} {text}");
        }
    }
}
