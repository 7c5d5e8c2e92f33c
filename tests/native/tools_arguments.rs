//! Arguments of tool calls: parsed, repaired where that is unambiguous, checked against the schema.

use crate::support::pattern;

use pattern::pattern;
use proptest::prelude::*;
use serde_json::{Value, json};
use turnwise_engine::{Slug, ToolOutcome};
use turnwise_tools::arguments::Validators;
use turnwise_tools::{Arguments, Repaired, builtin, names, safe_set};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "deep": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}},
            "any": {},
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

fn check(schema: &Value, arguments: &str) -> Result<Arguments, ToolOutcome> {
    let mut validators = Validators::new(pattern);
    validators.define(0, schema);
    validators.check("tool", 0, arguments)
}

#[test]
fn valid_arguments_pass_as_they_are() {
    let passed = check(&schema(), r#" {"path": "a.md", "limit": 3} "#).unwrap();
    assert_eq!(passed, Arguments { value: json!({"path": "a.md", "limit": 3}), repaired: Repaired::No });
    assert_eq!(passed.if_repaired(), None);
}

#[test]
fn an_empty_string_means_no_arguments() {
    // simonw/llm#1164, kimi-cli#1764, litellm#5064: the tool must get an object.
    for (empty, repaired) in
        [("", Repaired::Yes), (" \n", Repaired::Yes), ("null", Repaired::Yes), ("{}", Repaired::No)]
    {
        let passed = check(&json!({"type": "object"}), empty).unwrap();
        assert_eq!(passed, Arguments { value: json!({}), repaired }, "{empty:?}");
    }
}

#[test]
fn what_can_have_only_one_value_is_filled_in() {
    let schema = json!({
        "type": "object",
        "properties": {
            "format": { "const": "json" },
            "content": { "type": "object", "properties": { "kind": { "enum": ["answer"] }, "of": { "$ref": "#/$defs/of" }, "n": { "type": "integer" } }, "required": ["kind", "of", "n"] },
            "list": { "type": "array", "items": { "allOf": [{ "properties": { "v": { "const": 1 } }, "required": ["v"] }] } },
            "maybe": { "const": "optional" },
        },
        "required": ["format", "content"],
        "additionalProperties": false,
        "$defs": { "of": { "const": { "a": null } } },
    });
    let whole =
        json!({ "format": "json", "content": { "n": 3, "kind": "answer", "of": { "a": null } }, "list": [{ "v": 1 }] });
    for text in [
        r#"{"content": {"n": 3}, "list": [{}]}"#,
        r#"{"format": "json", "content": {"n": 3, "kind": "answer"}, "list": [{"v": 1}]}"#,
        r#"{content: {'n': 3}, "list": [{}],}"#,
        r#"{"arguments": {"content": {"n": 3}, "list": [{}]}}"#,
    ] {
        assert_eq!(
            check(&schema, text).unwrap(),
            Arguments { value: whole.clone(), repaired: Repaired::Yes },
            "{text}"
        );
    }
    // Another value is not replaced, and what is left is named: not what could be filled in.
    let Err(ToolOutcome::Rejected { path, message, .. }) = check(&schema, r#"{"content": {"kind": "reply"}}"#) else {
        panic!()
    };
    assert_eq!(path.as_deref(), Some("/content/n"), "{message}");
    assert!(message.contains("/content/kind") && !message.contains("/format"), "{message}");
    // Choices are the model's.
    let choice = json!({ "oneOf": [
        { "properties": { "a": { "const": 1 } }, "required": ["a"], "type": "object" },
        { "properties": { "b": { "const": 1 } }, "required": ["b"], "type": "object" },
    ] });
    assert!(check(&choice, "{}").is_err());
    // A schema that refers to itself ends.
    let endless = json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a"], "$ref": "#/$defs/b", "$defs": { "b": { "$ref": "#/$defs/b" } } });
    assert!(check(&endless, "{}").is_err());
}

/// Each of the engine's own tools can be called without what has only one value.
#[test]
fn own_tools_take_calls_without_their_constants() {
    use turnwise_engine::{ReportConfig, ReportFormat, own_tools};
    for (format, name, value) in [
        (ReportFormat::Text, "content", json!("done")),
        (ReportFormat::Markdown, "content", json!("# Done")),
        (ReportFormat::Json, "content", json!({ "a": 1 })),
        (ReportFormat::Slack, "messages", json!([{ "blocks": [] }])),
    ] {
        let report = ReportConfig { format, schema: None };
        let given = json!({ name: value });
        let passed = check(&own_tools::report_spec(&report).parameters, &given.to_string()).unwrap();
        assert!(own_tools::judge_report(&report, &passed.value).is_ok(), "{format:?}");
        assert!(own_tools::judge_report(&report, &given).is_ok(), "{format:?}, unchecked");
        let mut wrong = given;
        wrong["format"] = json!("xml");
        let (_, why) = own_tools::judge_report(&report, &wrong).unwrap_err();
        assert!(why.starts_with("/format: ") && why.contains("not \"xml\""), "{why}");
    }
}

#[test]
fn an_object_begun_twice_or_inside_another_is_that_object() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    for text in [r#"{}{"a":1}"#, r#"{"a":1}{"a":1}"#, r#"{"arguments":{"a":1}}"#, r#"{"input": {"a":1}}"#] {
        let passed = check(&schema, text).unwrap();
        assert_eq!(passed, Arguments { value: json!({"a": 1}), repaired: Repaired::Yes }, "{text}");
    }
    for text in [r#"{"a":1}{"a":2}"#, r#"{"arguments":{"a":"x"}}"#, r#"{"other":{"a":1}}"#, r#"{"a":1}x"#] {
        assert!(check(&schema, text).is_err(), "{text}");
    }
    let takes_arguments = json!({"type": "object", "properties": {"arguments": {"type": "object"}}});
    let passed = check(&takes_arguments, r#"{"arguments":{"a":1}}"#).unwrap();
    assert_eq!(passed.value, json!({"arguments": {"a": 1}}), "a tool's own parameter stays");
}

#[test]
fn what_can_be_read_in_one_way_only_is_repaired() {
    let cases = [
        (r#"{"path": "a.md",}"#, json!({"path": "a.md"})),
        (r#"{'path': 'a.md'}"#, json!({"path": "a.md"})),
        (r#"{path: "a.md", limit: 2}"#, json!({"path": "a.md", "limit": 2})),
        (r#"{path: a.md}"#, json!({"path": "a.md"})),
        (r#"{"path": "a", "any": True}"#, json!({"path": "a", "any": true})),
        (r#"{"path": "a", "any": [None, False]}"#, json!({"path": "a", "any": [null, false]})),
        ("{\"path\": \"two\nlines\tand a tab\"}", json!({"path": "two\nlines\tand a tab"})),
        ("```json\n{\"path\": \"a.md\",}\n```", json!({"path": "a.md"})),
        ("```\n{\"path\": \"a.md\"}\n```", json!({"path": "a.md"})),
        (r#""{\"path\": \"a.md\"}""#, json!({"path": "a.md"})),
        (r#"{"path": "grüße 😀",}"#, json!({"path": "grüße 😀"})),
        (r#"{"path": "say \"hi\"",}"#, json!({"path": "say \"hi\""})),
        (r#"{'path': 'say "hi"'}"#, json!({"path": "say \"hi\""})),
        (r#"{"path": "a", "deep": {"tags": ["x", "y",],},}"#, json!({"path": "a", "deep": {"tags": ["x", "y"]}})),
    ];
    for (text, expected) in cases {
        let passed = check(&schema(), text).unwrap_or_else(|outcome| panic!("{text}: {outcome:?}"));
        assert_eq!(passed, Arguments { value: expected, repaired: Repaired::Yes }, "{text}");
        assert!(passed.if_repaired().is_some());
    }
}

#[test]
fn what_would_need_something_made_up_or_dropped_is_not_repaired() {
    let cases = [
        r#"{"path": "a.m"#,
        r#"{"path": "a.md""#,
        r#"{"path": "a.md"}}"#,
        r#"{"path": "a.md", "limit"}"#,
        r#"{"path": "a.md", "limit": }"#,
        r#"{"path": "a.md" "limit": 2}"#,
        r#"{"path" "a.md"}"#,
        r#"{"path": "he said "hi" there"}"#,
        r#"{"path": "a", "any": ["he said "hi" there"]}"#,
        r#"{"path": "a", "any": [1 2]}"#,
        r#"{"path": "a", "any": [1, 2}"#,
        r#"{'path': 'it's'}"#,
        r#"{"path": "a.md" /* why */ }"#,
        r#"Here it is: {"path": "a.md"}"#,
        r#"{"path": "a.md"} Done."#,
        r#"{"path": "a.md"}{"path": "b.md"}"#,
        r#"{path}"#,
        "path=a.md",
        "<path>a.md</path>",
        "{",
        "}",
        "\"",
    ];
    for text in cases {
        let outcome = check(&schema(), text).expect_err(text);
        let ToolOutcome::Rejected { slug, path, message } = outcome else { panic!("{text}: {outcome:?}") };
        assert_eq!((slug, path), (Slug::MalformedToolCall, None), "{text}");
        assert!(message.starts_with("the arguments are not valid JSON: "), "{message}");
        assert!(message.contains("column"), "the parse error is named: {message}");
        assert!(message.contains(r#""required":["path"]"#), "the schema is shown: {message}");
    }
}

#[test]
fn a_repair_that_fails_the_schema_is_no_repair() {
    let outcome = check(&schema(), "{path: 5,}").unwrap_err();
    assert!(matches!(outcome, ToolOutcome::Rejected { slug: Slug::MalformedToolCall, .. }), "{outcome:?}");
}

#[test]
fn deep_brackets_are_refused_not_followed() {
    let text = format!("{{\"any\": {}", "[".repeat(200_000));
    let outcome = check(&schema(), &text).unwrap_err();
    assert!(matches!(outcome, ToolOutcome::Rejected { slug: Slug::MalformedToolCall, .. }));
}

#[test]
fn the_path_that_failed_is_named() {
    let cases = [
        (r#"{}"#, "/path", "required"),
        (r#"{"path": 5}"#, "/path", "string"),
        (r#"{"path": "a", "limit": 0}"#, "/limit", "minimum"),
        (r#"{"path": "a", "limit": "3"}"#, "/limit", "integer"),
        (r#"{"path": "a", "deep": {"tags": ["x", 2]}}"#, "/deep/tags/1", "string"),
        (r#"{"path": "a", "o/d~d": 1}"#, "/o~1d~0d", "o/d~d"),
    ];
    for (text, expected, word) in cases {
        let ToolOutcome::Rejected { slug, path, message } = check(&schema(), text).unwrap_err() else { panic!() };
        assert_eq!(slug, Slug::InvalidArguments, "{text}");
        assert_eq!(path.as_deref(), Some(expected), "{text}: {message}");
        assert!(message.contains(&format!("`{expected}`")) && message.contains(word), "{message}");
    }
}

#[test]
fn arguments_that_are_no_object_are_invalid() {
    for text in ["[1]", "5", "true", "\"a.md\""] {
        let ToolOutcome::Rejected { slug, path, .. } = check(&schema(), text).unwrap_err() else { panic!() };
        assert_eq!((slug, path.as_deref()), (Slug::InvalidArguments, Some("")), "{text}");
    }
}

#[test]
fn a_schema_of_2020_12_is_understood() {
    let schema = json!({
        "$defs": {"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}},
        "type": "object", "properties": {"pair": {"$ref": "#/$defs/pair"}}, "dependentRequired": {"a": ["b"]},
    });
    assert!(check(&schema, r#"{"pair": ["x", 1]}"#).is_ok());
    assert!(check(&schema, r#"{"pair": ["x", 1, 2]}"#).is_err());
    assert!(check(&schema, r#"{"a": 1}"#).is_err());
}

#[test]
fn a_bad_schema_fails_its_calls_and_says_so() {
    for bad in [json!({"type": "nonsense"}), json!({"$ref": "https://example.com/schema.json"}), json!(5)] {
        let outcome = check(&bad, "{}").unwrap_err();
        let ToolOutcome::Failed { message } = &outcome else { panic!("{bad}: {outcome:?}") };
        assert!(message.contains("`tool`"), "{message}");
    }
}

#[test]
fn the_table_is_whole_and_its_schemas_are_valid() {
    assert_eq!(safe_set().len(), names().len());
    for name in names() {
        let spec = builtin(name).unwrap();
        assert!(spec.parameters.is_object(), "{name}");
        assert!(!spec.may_finish);
        assert!(jsonschema::draft202012::meta::is_valid(&spec.parameters), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        for (key, property) in spec.parameters["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}.{key} teaches the model nothing");
        }
    }
    assert!(builtin("loop_for_ever").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_text_is_answered_without_panic(text in "(\\{|\\}|\\[|\\]|:|,|\"|'|\\\\|/|\\*|```|json| |\n|path|True|None|-|[0-9.eE+]|\\PC){0,40}") {
        let _ = check(&schema(), &text);
    }

    /// Cutting a valid text anywhere never yields arguments other than the whole.
    #[test]
    fn a_truncated_object_is_never_repaired(words in prop::collection::vec("[a-z \"'{}\\[\\],:]{0,12}", 1..4), cut in 0.0..1.0_f64) {
        let whole = json!({"path": words[0], "any": words}).to_string();
        let at = (whole.len() as f64 * cut) as usize;
        if 0 < at && at < whole.len() && whole.is_char_boundary(at) {
            prop_assert!(check(&schema(), &whole[..at]).is_err(), "{}", &whole[..at]);
        }
    }

    /// Every fault that is repaired leaves all values unchanged, whatever the strings contain.
    #[test]
    fn a_repair_never_changes_a_value(word in "[a-z \"'{},:\\[\\]\\\\äß😀]{0,16}", number in 0..1000_u32) {
        let expected = json!({"path": word, "any": [number, word, true, null]});
        let string = json!(word).to_string();
        let broken = [
            format!("{{path: {string}, \"any\": [{number}, {string}, true, null]}}"),
            format!("{{\"path\": {string}, \"any\": [{number}, {string}, True, None]}}"),
            format!("{{\"path\": {string}, \"any\": [{number}, {string}, true, null,],}}"),
            format!("```json\n{{'path': {string}, \"any\": [{number}, {string}, True, null,]}}\n```"),
            json!(expected.to_string()).to_string(),
        ];
        for text in broken {
            let passed = check(&schema(), &text).map_err(|outcome| TestCaseError::fail(format!("{text}: {outcome:?}")))?;
            prop_assert_eq!(passed.value, expected.clone(), "{}", text);
        }
    }

    /// For any text: the result of a repair contains no word that was not in the text.
    #[test]
    fn a_repair_makes_nothing_up(text in "\\{(\"|'|,|:|[a-z]{1,3}|[0-9]|\\[|\\]| |True|\n){0,24}\\}") {
        if let Ok(passed) = check(&json!({"type": "object"}), &text) {
            let letters = |s: &str| s.chars().filter(|c| c.is_ascii_alphanumeric()).count();
            let written = serde_json::to_string(&passed.value).unwrap_or_default().replace("\\n", "");
            prop_assert!(letters(&written) <= letters(&text), "{} from {}", written, text);
        }
    }
}
