//! JSON Schema, draft 2020-12: the official suite, and the decisions that are left to us.

use crate::support::pattern;

use std::collections::BTreeSet;
use std::path::Path;

use pattern::pattern;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use turnwise_tools::schema::{Patterns, Schema, SchemaFault, Unchecked};

/// The cases of the suite that fail: file, group, case (`*`: each case of the group), named as in the suite.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // Nothing is fetched, not even the metaschema.
    ("defs.json", "validate definition against metaschema", "*"),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first", "*"),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first", "*"),
    ("dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", "*"),
    ("dynamicRef.json", "strict-tree schema, guards against misspelled properties", "*"),
    ("dynamicRef.json", "tests for implementation dynamic anchor and reference link", "*"),
    ("ref.json", "remote ref, containing refs itself", "*"),
    ("refRemote.json", "$ref to $ref finds detached $anchor", "*"),
    ("refRemote.json", "Location-independent identifier in remote ref", "*"),
    ("refRemote.json", "anchor within remote ref", "*"),
    ("refRemote.json", "base URI change", "*"),
    ("refRemote.json", "base URI change - change folder", "*"),
    ("refRemote.json", "base URI change - change folder in subschema", "*"),
    ("refRemote.json", "fragment within remote ref", "*"),
    ("refRemote.json", "ref within remote ref", "*"),
    ("refRemote.json", "remote HTTP ref with different $id", "*"),
    ("refRemote.json", "remote HTTP ref with different URN $id", "*"),
    ("refRemote.json", "remote HTTP ref with nested absolute ref", "*"),
    ("refRemote.json", "remote ref", "*"),
    ("refRemote.json", "remote ref with ref to defs", "*"),
    ("refRemote.json", "retrieved nested refs resolve relative to their URI not $id", "*"),
    ("refRemote.json", "root ref in remote ref", "*"),
    // `$schema` is not read, so no metaschema turns a keyword off.
    (
        "vocabulary.json",
        "schema that uses custom metaschema with with no validation vocabulary",
        "no validation: invalid number, but it still validates",
    ),
];

/// The failed cases, as in `EXCEPTIONS`; a schema that does not compile fails each of its cases.
fn failing(file: &str) -> BTreeSet<(String, String)> {
    let path = Path::new("tests/fixtures/json-schema").join(file);
    let groups: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let mut failed = BTreeSet::new();
    for group in groups.as_array().unwrap() {
        let name = group["description"].as_str().unwrap();
        let schema = Schema::compile(&group["schema"], pattern);
        let mut all = BTreeSet::new();
        let cases = group["tests"].as_array().unwrap();
        for case in cases {
            let fits = schema
                .as_ref()
                .ok()
                .and_then(|schema| schema.faults(&case["data"], 1).ok())
                .map(|faults| faults.is_empty());
            if fits != case["valid"].as_bool() {
                all.insert((name.to_owned(), case["description"].as_str().unwrap().to_owned()));
            }
        }
        if all.len() == cases.len() {
            all = BTreeSet::from([(name.to_owned(), "*".to_owned())]);
        }
        failed.extend(all);
    }
    failed
}

#[test]
fn the_official_suite_passes_but_for_the_exceptions() {
    let root = Path::new("tests/fixtures/json-schema");
    let mut files: Vec<String> = Vec::new();
    for folder in ["", "optional"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            // `wasm_worker` runs this file against the browser's own regular expressions.
            if name.ends_with(".json") && name != "ecmascript-regex.json" {
                files.push(Path::new(folder).join(name).to_str().unwrap().to_owned());
            }
        }
    }
    assert!(files.len() > 50, "{files:?}");
    let failed: BTreeSet<_> = files
        .iter()
        .flat_map(|file| failing(file).into_iter().map(move |(group, case)| (file.clone(), group, case)))
        .collect();
    let expected: BTreeSet<_> = EXCEPTIONS
        .iter()
        .map(|(file, group, case)| ((*file).to_owned(), (*group).to_owned(), (*case).to_owned()))
        .collect();
    let told = |title: &str, cases: Vec<&(String, String, String)>| {
        cases.iter().map(|case| format!("{title}: {case:?}\n")).collect::<String>()
    };
    let wrong = told("fails", failed.difference(&expected).collect())
        + &told("passes now", expected.difference(&failed).collect());
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema, pattern).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn faults(schema: &Value, value: &Value) -> Vec<(String, String)> {
    let faults = compile(schema).faults(value, 10).unwrap();
    faults.into_iter().map(|SchemaFault { path, message }| (path, message)).collect()
}

#[test]
fn a_fault_says_where_it_is_and_what_would_fit() {
    let cases = [
        (json!({"type": "string"}), json!(5), "", r#"5 is not of type "string""#),
        (json!({"type": ["string", "null"]}), json!(5), "", r#"5 is not of types "string", "null""#),
        (json!({"enum": ["a", "b", 3]}), json!("c"), "", r#""c" is not one of "a", "b" or 3"#),
        (json!({"enum": [1]}), json!(2), "", "2 is not one of 1"),
        (json!({"const": {"a": 1}}), json!(2), "", r#"{"a":1} was expected"#),
        (json!({"minimum": 1}), json!(0), "", "0 is less than the minimum of 1"),
        (json!({"exclusiveMaximum": 1}), json!(1), "", "1 is greater than or equal to the exclusive maximum of 1"),
        (json!({"multipleOf": 0.01}), json!(0.075), "", "0.075 is not a multiple of 0.01"),
        (json!({"minLength": 2}), json!("x"), "", r#""x" is shorter than 2 characters"#),
        (json!({"maxItems": 1}), json!([1, 2]), "", "[1,2] has more than 1 item"),
        (json!({"minProperties": 1}), json!({}), "", "{} has less than 1 property"),
        (json!({"pattern": "^a"}), json!("b"), "", r#""b" does not match "^a""#),
        (json!({"uniqueItems": true}), json!([1, 1.0]), "", "[1,1.0] has non-unique elements"),
        (json!({"required": ["a/b"]}), json!({}), "/a~1b", r#""a/b" is a required property"#),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1}),
            "/b",
            r#""b" is a required property where "a" is given"#,
        ),
        (
            json!({"properties": {"a": true}, "additionalProperties": false}),
            json!({"a": 1, "x": 2, "y": 3}),
            "/x",
            "Additional properties are not allowed ('x', 'y' were unexpected)",
        ),
        (
            json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": false}),
            json!({"a": 1, "x": 2}),
            "/x",
            "Unevaluated properties are not allowed ('x' was unexpected)",
        ),
        (
            json!({"prefixItems": [true], "items": false}),
            json!([1, 2]),
            "/1",
            "Additional items are not allowed ('2' was unexpected)",
        ),
        (
            json!({"propertyNames": {"pattern": "^[a-z]+$"}}),
            json!({"A~": 1}),
            "/A~0",
            r#"the property's name: "A~" does not match "^[a-z]+$""#,
        ),
        (
            json!({"contains": {"type": "string"}, "minContains": 2}),
            json!(["a", 1]),
            "",
            r#"1 of the items of ["a",1] fit the schema of 'contains', not at least 2"#,
        ),
        (
            json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"required": ["b"]}]}}}),
            json!({"a": {}}),
            "/a",
            "{} is not valid under any of the schemas listed in the 'anyOf' keyword: at `/a`: {} is not of type \"string\", \
             or at `/a/b`: \"b\" is a required property",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"maximum": 9}]}),
            json!(5),
            "",
            "5 is valid under more than one of the schemas listed in the 'oneOf' keyword",
        ),
        (json!({"not": {"type": "null"}}), json!(null), "", r#"{"type":"null"} is not allowed for null"#),
        (json!({"items": {"properties": {"a": false}}}), json!([{"a": 1}]), "/0/a", "False schema does not allow 1"),
    ];
    for (schema, value, path, message) in cases {
        assert_eq!(faults(&schema, &value), [(path.to_owned(), message.to_owned())], "{schema}");
    }
}

#[test]
fn what_is_shown_of_a_large_value_is_cut() {
    let long = "ä".repeat(10_000);
    let [(_, message)] = faults(&json!({"type": "integer"}), &json!(long)).try_into().unwrap();
    assert!(message.ends_with(r#"… is not of type "integer""#) && message.chars().count() < 300, "{message}");
    let names: Map<String, Value> = (0..1_000).map(|n| (format!("p{n}"), json!(n))).collect();
    let [(_, message)] = faults(&json!({"additionalProperties": false}), &Value::Object(names)).try_into().unwrap();
    assert!(message.contains("and 980 more") && message.len() < 500, "{message}");
}

#[test]
fn no_more_faults_are_told_than_asked_for() {
    let schema = compile(&json!({"items": {"type": "string"}, "minItems": 99}));
    for (most, told) in [(1, 1), (3, 3), (99, 6)] {
        assert_eq!(schema.faults(&json!([1, 2, 3, 4, 5]), most).unwrap().len(), told);
    }
}

#[test]
fn a_bad_schema_says_where_and_what() {
    let cases = [
        (json!({"properties": {"a": {"type": "strin"}}}), "`/properties/a`", "\"strin\""),
        (json!({"properties": {"a/b": {"minimum": "1"}}}), "`/properties/a~1b`", "`minimum` must be a number"),
        (json!({"minLength": -1}), "``", "0 or more"),
        (json!({"maxItems": 1.5}), "``", "whole number"),
        (json!({"multipleOf": 0}), "``", "more than 0"),
        (json!({"required": "a"}), "``", "array of strings"),
        (json!({"allOf": []}), "``", "`allOf`"),
        (json!({"anyOf": [true, 5]}), "`/anyOf/1`", "an object or a boolean, not 5"),
        (json!({"items": [{}]}), "``", "`prefixItems`"),
        (json!({"pattern": "("}), "``", "\"(\" is no regular expression"),
        (json!({"patternProperties": {"[": {}}}), "``", "\"[\" is no regular expression"),
        (json!({"not": {"$ref": "other.json#/a"}}), "`/not`", "nothing is fetched"),
        (json!({"$ref": "#/$defs/none"}), "``", "\"#/$defs/none\""),
        (json!({"$ref": "#%ff"}), "``", "\"#%ff\""),
        (json!({"uniqueItems": 1}), "``", "a boolean"),
        (json!("schema"), "``", "an object or a boolean"),
    ];
    for (schema, path, words) in cases {
        let error = Schema::compile(&schema, pattern).unwrap_err();
        assert!(error.contains(path) && error.contains(words), "{schema}: {error}");
    }
}

#[test]
fn numbers_are_compared_exactly() {
    let cases = [
        (json!({"maximum": 9_007_199_254_740_992_u64}), "9007199254740993", false),
        (json!({"const": 9_007_199_254_740_992.0}), "9007199254740993", false),
        (json!({"const": 1}), "1.0", true),
        (json!({"const": 0}), "-0.0", true),
        (json!({"type": "integer"}), "1e300", true),
        (json!({"type": "integer"}), "1e-300", false),
        (json!({"multipleOf": 10}), "1e23", true),
        (json!({"multipleOf": 0.01}), "19.99", true),
        (json!({"multipleOf": 1e-300}), "1", true),
        (json!({"multipleOf": 1e300}), "1", false),
        (json!({"multipleOf": 18_446_744_073_709_551_615_u64}), "18446744073709551615", true),
        (json!({"multipleOf": 3}), "-9223372036854775808", false),
        (json!({"minimum": -1e300}), "-18446744073709551616", true),
    ];
    for (schema, value, fits) in cases {
        let value: Value = serde_json::from_str(value).unwrap();
        assert_eq!(faults(&schema, &value).is_empty(), fits, "{schema}: {value}");
    }
}

#[test]
fn a_schema_that_leads_back_to_itself_ends_in_an_error() {
    let around = json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"});
    let anchor = json!({"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}, {"$dynamicRef": "#a"}]});
    let unevaluated = json!({"unevaluatedProperties": {"$ref": "#"}, "$ref": "#"});
    for schema in [json!({"$ref": "#"}), around, anchor, unevaluated] {
        assert_eq!(compile(&schema).faults(&json!({"a": 1}), 3), Err(Unchecked::Depth), "{schema}");
    }
}

#[test]
fn a_schema_of_few_words_and_endless_work_ends_in_an_error() {
    let mut defs = Map::new();
    for n in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"allOf": [next, next]}));
    }
    defs.insert("d60".into(), json!({"type": "object"}));
    let schema = compile(&json!({"$defs": defs, "$ref": "#/$defs/d0"}));
    assert_eq!(schema.faults(&json!({}), 3), Err(Unchecked::Work));
}

/// A tree in which each level leads through six schemas.
#[test]
fn deep_values_are_followed_and_deeper_ones_refused() {
    let schema = json!({
        "$defs": {"node": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/whole"}]}, "whole": {"allOf": [{
            "type": "object", "properties": {"next": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "unevaluatedProperties": false,
        }]}},
        "$ref": "#/$defs/node",
    });
    let schema = compile(&schema);
    let nested = |depth: usize, inner: Value| (0..depth).fold(inner, |inner, _| json!({"next": [inner]}));
    assert_eq!(schema.faults(&nested(40, json!(null)), 3), Ok(vec![]));
    assert_eq!(schema.faults(&nested(63, json!(null)), 3), Err(Unchecked::Depth));
    assert_eq!(schema.faults(&nested(30, json!(5)), 3).unwrap().len(), 1);
    assert_eq!(schema.faults(&nested(100, json!(null)), 3), Err(Unchecked::Nesting));
    let plain = compile(&json!({"items": {"$ref": "#"}, "type": "array"}));
    let list = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
    assert_eq!(plain.faults(&list(127), 3), Ok(vec![]));
    let deep = (0..1_000).fold(json!({}), |inner, _| json!({"not": inner}));
    assert!(Schema::compile(&deep, pattern).unwrap_err().contains("deep"));
}

#[test]
fn large_values_take_time_in_proportion() {
    let items: Vec<Value> = (0..200_000).map(|n| json!({"n": n, "s": format!("item {n}")})).collect();
    let names: Vec<String> = (0..20_000).map(|n| format!("name {n}")).collect();
    let schema = compile(&json!({
        "properties": {"items": {"uniqueItems": true, "items": {"required": ["n"]}}, "name": {"enum": names}},
    }));
    assert_eq!(schema.faults(&json!({"items": items, "name": "name 19999"}), 3), Ok(vec![]));
    let many: Map<String, Value> = (0..100_000).map(|n| (format!("p{n}"), json!(n))).collect();
    let open = compile(&json!({"anyOf": [{"required": ["p1"]}, true], "unevaluatedProperties": {"type": "integer"}}));
    assert_eq!(open.faults(&Value::Object(many), 3), Ok(vec![]));
}

#[test]
fn an_engine_that_gives_up_is_heard() {
    let gives_up: Patterns = |_| Ok(Box::new(|_| Err("too large".into())));
    let cases = [
        (json!({"pattern": "a"}), json!("a")),
        (json!({"not": {"patternProperties": {"a": true}}}), json!({"a": 1})),
        (json!({"patternProperties": {"a": true}, "unevaluatedProperties": false}), json!({"a": 1})),
    ];
    for (schema, value) in cases {
        let outcome = Schema::compile(&schema, gives_up).unwrap().faults(&value, 3);
        assert_eq!(outcome, Err(Unchecked::Pattern("too large".into())), "{schema}");
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        (-3..6_i64).prop_map(|n| json!(n)),
        (-6..12_i32).prop_map(|n| json!(f64::from(n) / 2.0)),
        "[abc]{0,3}".prop_map(|s| json!(s)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map("[abc]", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// The keywords that need no other schema.
fn simple() -> BoxedStrategy<(&'static str, Value)> {
    let names = || prop::collection::btree_set("[abc]", 0..3);
    prop_oneof![
        prop::sample::select(TYPES).prop_map(|name| ("type", json!(name))),
        prop::sample::subsequence(TYPES, 1..4).prop_map(|names| ("type", json!(names))),
        value().prop_map(|value| ("const", value)),
        prop::collection::vec(value(), 1..4).prop_map(|values| ("enum", json!(values))),
        (prop::sample::select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), -2..4_i32)
            .prop_map(|(name, n)| (name, json!(n))),
        (1..6_i32).prop_map(|n| ("multipleOf", json!(f64::from(n) / 2.0))),
        (
            prop::sample::select(vec![
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties"
            ]),
            0..3_i32
        )
            .prop_map(|(name, n)| (name, json!(n))),
        prop::sample::select(vec!["^a", "b", "c$", "^[ab]*$"]).prop_map(|source| ("pattern", json!(source))),
        any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        names().prop_map(|names| ("required", json!(names))),
        ("[abc]", names()).prop_map(|(name, names)| ("dependentRequired", json!({ name: names }))),
        prop::sample::select(vec!["#/$defs/x", "#y"]).prop_map(|reference| ("$ref", json!(reference))),
    ]
    .boxed()
}

fn object(keywords: Vec<(&'static str, Value)>) -> Value {
    Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::collection::vec(simple(), 0..3).prop_map(object),
        1 => any::<bool>().prop_map(|all| json!(all)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let one = prop::sample::select(vec![
            "additionalProperties",
            "contains",
            "else",
            "if",
            "items",
            "not",
            "propertyNames",
            "then",
            "unevaluatedItems",
            "unevaluatedProperties",
        ]);
        let list = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let named = prop::sample::select(vec!["properties", "dependentSchemas", "patternProperties"]);
        let keyword = prop_oneof![
            simple(),
            (one, inner.clone()).prop_map(|(name, schema)| (name, schema)),
            (list, prop::collection::vec(inner.clone(), 1..3)).prop_map(|(name, schemas)| (name, json!(schemas))),
            (named, prop::collection::btree_map("[abc]", inner, 0..3))
                .prop_map(|(name, schemas)| (name, json!(schemas))),
            (0..3_i32).prop_map(|n| ("maxContains", json!(n))),
            (0..3_i32).prop_map(|n| ("minContains", json!(n))),
        ];
        prop::collection::vec(keyword, 1..5).prop_map(object)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// The crate that tests use for documents agrees on random schemas and values.
    #[test]
    fn another_validator_agrees(
        inner in schema(), x in prop::collection::vec(simple(), 1..2), values in prop::collection::vec(value(), 4)
    ) {
        // The referenced schema has no references, so that nothing is endless.
        let x = object(x.into_iter().filter(|(name, _)| *name != "$ref").collect());
        let schema = json!({"$defs": {"x": x, "y": {"$anchor": "y", "minItems": 1}}, "allOf": [inner], "unevaluatedItems": {"type": "integer"}});
        let (ours, theirs) = (compile(&schema), jsonschema::draft202012::new(&schema).unwrap());
        for value in values {
            let faults = ours.faults(&value, 3).unwrap();
            prop_assert_eq!(faults.is_empty(), theirs.is_valid(&value), "{} of {}: {:?}", schema, value, faults);
            let quiet = ours.faults(&value, 1).unwrap();
            prop_assert_eq!(quiet.first(), faults.first());
        }
    }
}
