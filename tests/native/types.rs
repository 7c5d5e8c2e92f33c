//! The published descriptions of the project's data are generated from the Rust types: the TypeScript of records,
//! events and messages (`ts-rs`), and the JSON Schema of the documents (`schemars`). The files are checked in.
//!
//! After a change to one of those types: `UPDATE=1 cargo test --test native types::`.

mod lists;

use std::collections::BTreeMap;
use std::fs;

use crate::support::typescript::File;
use schemars::generate::{Contract, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use turnwise_content::figure::Chart;
use turnwise_content::markdown::Node;
use turnwise_docs_index::{Info, PageContent, SearchContent, SearchResult};
use turnwise_protocol::{Command, OpenedSite, PlanOwnEvent, Progress, RunEvent, WorkerMessage};
use turnwise_record::plan::{Plan, PlanDocument};
use turnwise_record::trajectory::{ExportFormat, Mismatch, RunSummary, Trajectory, document};
use turnwise_view::insight::{Filter, Insight};

const RECORDS: &str = "www/client/types/records.d.ts";
const MESSAGES: &str = "www/client/messages.ts";
const MADE: &str = "UPDATE=1 cargo test --test native types::";

fn check(path: &str, made: &str) {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, made).unwrap();
    }
    let there = fs::read_to_string(path).unwrap_or_default();
    let line = made.lines().zip(there.lines()).position(|(made, there)| made != there);
    let line = line.unwrap_or_else(|| made.lines().count().min(there.lines().count())) + 1;
    assert!(there == made, "{path} is stale from line {line} on, the Rust types say something else: {MADE} writes it");
}

fn records() -> File {
    File::default()
        .with::<Trajectory>()
        .with::<RunEvent<'static>>()
        .with::<PlanDocument>()
        .with::<PlanOwnEvent<'static>>()
        .with::<RunSummary>()
        .with::<Filter>()
        .with::<Insight>()
        .with::<Mismatch>()
        .with::<ExportFormat>()
        .with::<Info>()
        .with::<SearchResult>()
        .with::<SearchContent>()
        .with::<PageContent>()
        .with::<Progress<'static>>()
        .with::<Node>()
}

#[test]
fn the_typescript_of_records_and_events_is_that_of_the_types() {
    let text = records().text() + &lists::built_in_tools();
    check(
        RECORDS,
        &format!(
            "// Records and events, as turnwise.d.ts exports them. Made of the Rust types: {MADE}\n\
             import type {{ Plan }} from './turnwise.js';\n{text}"
        ),
    );
    let own = format!("  format: \"{}\";\n  version: {};\n", document::FORMAT, document::VERSION);
    assert!(text.contains(&own), "what is written out in an attribute: {own}");
    let own = format!(
        "  format: \"{}\";\n  version: {};\n",
        turnwise_record::plan::document::FORMAT,
        turnwise_record::plan::document::VERSION
    );
    assert!(text.contains(&own), "what is written out in an attribute: {own}");
}

#[test]
fn the_typescript_of_messages_is_that_of_the_types() {
    let file = File::beside(records().names())
        .with::<Command>()
        .with::<WorkerMessage<'static>>()
        .with::<OpenedSite<'static>>();
    check(
        MESSAGES,
        &format!(
            "// What a page and the agent's worker say to each other. Made of the Rust types: {MADE}\n\
             import type {{ {} }} from './types/records';\n{}",
            file.imports().into_iter().collect::<Vec<_>>().join(", "),
            file.text()
        ),
    );
}

/// A document's file, the name of its type, and its schema.
struct Document {
    file: &'static str,
    name: String,
    schema: Schema,
}

impl Document {
    /// `contract` says who writes it: the engine, or a page.
    fn of<T: JsonSchema>(file: &'static str, title: &str, contract: Contract) -> Self {
        let mut settings = SchemaSettings::draft2020_12();
        settings.contract = contract;
        let mut schema =
            settings.with_transform(RecursiveTransform(settle)).into_generator().into_root_schema_for::<T>();
        schema.insert("$id".to_owned(), file.into());
        schema.insert("title".to_owned(), title.into());
        Document { file, name: T::schema_name().into_owned(), schema }
    }

    /// Refers to the definitions of earlier documents instead of repeating them.
    fn after(mut self, earlier: &[&Document]) -> Self {
        let mut places = BTreeMap::new();
        for document in earlier {
            places.insert(document.name.clone(), document.file.to_owned());
            for name in definitions(&document.schema).keys() {
                places.entry(name.clone()).or_insert_with(|| format!("{}#/$defs/{name}", document.file));
            }
        }
        let mut own = definitions(&self.schema);
        own.retain(|name, _| !places.contains_key(name));
        self.schema.insert("$defs".to_owned(), own.into());
        let mut elsewhere = RecursiveTransform(move |schema: &mut Schema| {
            let name = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/$defs/"));
            if let Some(place) = name.and_then(|name| places.get(name)) {
                schema.insert("$ref".to_owned(), place.clone().into());
            }
        });
        schemars::transform::Transform::transform(&mut elsewhere, &mut self.schema);
        self
    }

    fn check(&self) {
        check(&format!("docs/schema/{}", self.file), &(serde_json::to_string_pretty(&self.schema).unwrap() + "\n"));
    }
}

fn definitions(schema: &Schema) -> Map<String, Value> {
    schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Applies what holds for every part of our documents, and removes what only Rust uses.
fn settle(schema: &mut Schema) {
    // The sizes of numbers, and the defaults: records state every value.
    schema.remove("format");
    schema.remove("default");
    one_list_of_words(schema);
    if let Some(description) = schema.get_mut("description") {
        *description = crate::support::typescript::plain(description.as_str().unwrap()).into();
    }
    let Some(mut properties) = schema.get("properties").and_then(Value::as_object).cloned() else { return };
    let mut required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, property) in &mut properties {
        // Records from versions before this property existed are valid.
        let later = property.as_object_mut().and_then(|property| property.remove("x-later"));
        required.retain(|other| later.is_none() || other != name);
        if !required.iter().any(|other| other == name) {
            never_null(property);
        }
    }
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), required.into());
    // An unknown key is a mistake.
    schema.insert("additionalProperties".to_owned(), false.into());
}

/// An optional property is omitted if it has no value: it is never written as `null`.
fn never_null(property: &mut Value) {
    let Some(object) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            object["type"] = only.clone();
        }
    }
    if let Some(Value::Array(mut parts)) = object.remove("anyOf") {
        parts.retain(|part| part != &json!({ "type": "null" }));
        assert_eq!(parts.len(), 1, "{parts:?}");
        let Value::Object(part) = parts.remove(0) else { panic!("{parts:?}") };
        for (key, value) in part {
            object.entry(key).or_insert(value);
        }
    }
}

/// To schemars, values that have their own comments are alternatives; here they become one list.
fn one_list_of_words(schema: &mut Schema) {
    let Some(parts) = schema.get("oneOf").and_then(Value::as_array).cloned() else { return };
    let words_of = |part: &Value| match (part.get("enum"), part.get("const")) {
        (Some(Value::Array(words)), _) => Some(words.clone()),
        (None, Some(word @ Value::String(_))) => Some(vec![word.clone()]),
        _ => None,
    };
    let Some(words) = parts.iter().map(words_of).collect::<Option<Vec<_>>>() else { return };
    let mut description = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    for part in parts.iter().filter(|part| part.get("description").is_some()) {
        description.push_str(&format!(
            "\n- {}: {}",
            part["const"].as_str().unwrap(),
            part["description"].as_str().unwrap()
        ));
    }
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), words.concat().into());
    schema.insert("description".to_owned(), description.trim().to_owned().into());
}

#[test]
fn the_schemas_of_the_documents_are_those_of_the_types() {
    let plan = Document::of::<Plan>("turnwise-plan.v1.json", "Turnwise plan, version 1", Contract::Deserialize);
    let trajectory = Document::of::<Trajectory>(
        "turnwise-trajectory.v1.json",
        "Turnwise trajectory, version 1",
        Contract::Serialize,
    );
    let session =
        Document::of::<PlanDocument>("turnwise-session.v1.json", "Turnwise session, version 1", Contract::Serialize);
    let session = session.after(&[&plan, &trajectory]);
    let chart = Document::of::<Chart>("turnwise-chart.v1.json", "Turnwise chart, version 1", Contract::Deserialize);
    for document in [plan, trajectory, session, chart] {
        document.check();
    }
}
