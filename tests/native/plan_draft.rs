//! A plan drafted by a model, in a strict run whose report is a plan (plans.md#a-plan-drafted-by-a-model).

use crate::support::plan as plans;

use crate::support::{Step, calls, play, text};
use plans::base;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::plan::{FaultKind, draft};

fn report(steps: &Value) -> Step {
    calls("", &[("a", "final_report", &json!({ "format": "json", "content": { "steps": steps } }).to_string())])
}

fn played(steps: Vec<Step>) -> Ending {
    let agents = draft::default_agents();
    let config = draft::config(&base(), &agents);
    play(config, steps).ending().clone()
}

fn accepted() -> Step {
    crate::support::executed("final_report", "")
}

fn steps() -> Value {
    json!([
        { "order": 1, "agent": "Researcher", "action": "Find the news", "dependencies": [], "tools": ["get_yahoo_finance_news"] },
        { "order": 2, "agent": "Writer", "action": "Sum it up", "dependencies": [1], "tools": [] },
    ])
}

#[test]
fn a_run_drafts_a_plan_in_its_report() {
    let ending = played(vec![report(&steps()), accepted()]);
    assert_eq!(ending.termination_reason, TerminationReason::FinalReport);
    let plan = draft::plan(&ending, &base(), &draft::default_agents()).unwrap();
    assert_eq!(plan.steps.len(), 2);
    assert_eq!(plan.steps[1].dependencies, [1]);
    assert_eq!(plan.agents, draft::default_agents());
}

#[test]
fn the_run_is_strict_and_offers_nothing_but_its_report() {
    let config = draft::config(&base(), &draft::default_agents()).normalized();
    assert_eq!((config.preset, config.report.format), (Preset::Strict, ReportFormat::Json));
    assert_eq!(config.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["final_report"]);
    assert_eq!((config.seed, &config.providers), (base().seed, &base().providers));
}

#[test]
fn the_task_names_agents_and_tools() {
    let input = draft::input("  What happened?\n", &base(), &draft::default_agents());
    for part in
        ["\n\nWhat happened?\n\n", "- Researcher (gathers", "- Writer (synthesizes", "- analyze: analyze does it\n"]
    {
        assert!(input.contains(part), "{part}\n{input}");
    }
}

#[test]
fn what_no_schema_can_say_is_found_when_it_is_read() {
    let mut steps = steps();
    steps[0]["dependencies"] = json!([2]);
    let ending = played(vec![report(&steps), accepted()]);
    let faults = draft::plan(&ending, &base(), &draft::default_agents()).unwrap_err();
    assert_eq!(faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::DependencyNotSmaller]);
}

#[test]
fn a_run_without_a_report_gives_no_plan() {
    let ending = played((0..3).map(|_| text("I would rather talk")).collect());
    assert_eq!(ending.outcome, Outcome::Failed);
    let faults = draft::plan(&ending, &base(), &draft::default_agents()).unwrap_err();
    assert!(faults[0].message.contains("without a report"), "{faults:?}");
}

#[test]
fn the_schema_tells_plans_from_others() {
    let schema = draft::schema(&draft::default_agents(), &["search"]);
    let schema = jsonschema::validator_for(&schema).unwrap();
    let with = |key: &str, value: Value| {
        let mut step = json!({ "order": 1, "agent": "Writer", "action": "x", "dependencies": [], "tools": ["search"] });
        step[key] = value;
        json!({ "steps": [step] })
    };
    assert!(schema.is_valid(&with("order", json!(3))));
    for bad in [
        json!({ "steps": [] }),
        json!({}),
        with("order", json!(0)),
        with("agent", json!("Nobody")),
        with("action", json!("")),
        with("tools", json!(["drill"])),
        with("more", json!(1)),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
    }
    let none = jsonschema::validator_for(&draft::schema(&draft::default_agents(), &[])).unwrap();
    assert!(!none.is_valid(&with("order", json!(1))), "there are no tools at all");
    assert!(none.is_valid(&with("tools", json!([]))));
}
