//! Checks the page about plans: its tables match the types, the schemas and the code.

use std::collections::BTreeSet;

use crate::support::pages::{Page, code_spans};
use crate::support::sources::text;
use serde_json::Value;

fn page() -> Page {
    Page::read(&text("docs/plans.md"))
}

fn first_cells(heading: &str) -> BTreeSet<String> {
    page().rows(heading).iter().flat_map(|row| code_spans(&row[0])).collect()
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&text(&format!("docs/schema/turnwise-{name}.v1.json"))).unwrap()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn words(value: &Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// The field names of an interface.
fn interface(name: &str) -> BTreeSet<String> {
    let types = text("www/client/types/turnwise.d.ts") + &text("www/client/types/records.d.ts");
    let body = types.split_once(&format!("export interface {name} {{\n")).unwrap().1.split_once("\n}").unwrap().0;
    let own =
        body.lines().filter(|line| line.starts_with("  ") && line[2..].starts_with(|c: char| c.is_ascii_alphabetic()));
    own.map(|line| line[2..].split(['?', ':', '(']).next().unwrap().to_owned()).collect()
}

#[test]
fn options_are_those_of_the_types() {
    for name in ["PlanAgent", "PlanStep", "PlanRunOptions"] {
        assert_eq!(first_cells(name), interface(name), "{name}");
    }
}

#[test]
fn types_have_the_fields_of_the_schemas() {
    let (session, plan) = (schema("session"), schema("plan"));
    let camel = BTreeSet::from(["maxTurns".to_owned()]);
    assert_eq!(keys(&plan["properties"]), interface("Plan"));
    assert_eq!(keys(&plan["$defs"]["PlanAgent"]["properties"]), &interface("PlanAgent") - &camel);
    assert_eq!(keys(&plan["$defs"]["PlanStep"]["properties"]), interface("PlanStep"));
    assert_eq!(keys(&session["properties"]), interface("PlanSession"));
    for name in ["PlanSessionStep", "PlanEnding", "PlanTrace", "PlanContext", "PlanArtifact"] {
        assert_eq!(keys(&session["$defs"][name]["properties"]), interface(name), "{name}");
    }
}

#[test]
fn events_are_those_of_the_types() {
    let types = text("www/client/types/records.d.ts");
    let union = types.split_once("export type PlanOwnEvent").unwrap().1.split_once("\n\n").unwrap().0;
    let typed: BTreeSet<String> =
        union.split("type: \"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(first_cells("Events of a plan"), typed);
}

#[test]
fn words_are_those_of_the_code() {
    let session = schema("session");
    assert_eq!(first_cells("How a step ends"), words(&session["$defs"]["StepStatus"]["enum"]));
    assert_eq!(first_cells("What a step is told"), words(&session["$defs"]["PlanTrace"]["properties"]["name"]["enum"]));
    let source = text("crates/record/src/plan/fault.rs");
    let faults = source.split("rename = \"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    assert_eq!(first_cells("Faults of a plan"), faults.collect());
}

#[test]
fn the_keys_of_the_record_are_those_of_its_schema() {
    let mut listed = first_cells("The record");
    listed.extend(["format".to_owned(), "version".to_owned()]);
    assert_eq!(listed, keys(&schema("session")["properties"]));
}
