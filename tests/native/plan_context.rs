//! The context of a step (plans.md#what-a-step-is-told): the worked example of four steps, and the rule on its own.

use crate::support::plan as plans;

use crate::support::golden;
use plans::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::plan::*;

/// Runs the example to its end, with an agent of this kind for the fourth step.
fn run(kind: &str) -> Driven {
    let mut driven = Driven::start(plan(&forecast(kind)), options());
    assert_eq!(driven.started, [1, 2, 3], "independent steps run at the same time");
    // Results do not arrive in the order of the steps.
    for (order, result) in [(3, "Analysts say: buy"), (1, "A maker of chips"), (2, "A record quarter")] {
        driven.end(order, Outcome::Success, result);
    }
    assert_eq!(driven.started, [1, 2, 3, 4]);
    driven.end(4, Outcome::Success, "The outlook is good");
    assert!(driven.finished);
    validate_session(&driven.document());
    driven
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn orders(context: &Value, key: &str) -> Vec<u64> {
    context[key].as_array().unwrap().iter().map(|artifact| artifact["step_order"].as_u64().unwrap()).collect()
}

#[test]
fn a_synthesis_step_is_given_all_completed_steps_before_it() {
    let driven = run("synthesis");
    let context = driven.context(4);
    assert_eq!(orders(&context, "session_context"), [1, 2, 3], "its dependencies are 2 and 3");
    assert_eq!(context.as_object().unwrap().len(), 1, "no other key");
    golden("plan_session_context.json", &pretty(&context));
}

#[test]
fn a_gather_step_is_given_its_dependencies_only() {
    let driven = run("gather");
    let context = driven.context(4);
    assert_eq!(orders(&context, "dependency_artifacts"), [2, 3]);
    assert_eq!(context.as_object().unwrap().len(), 1, "no other key");
    golden("plan_dependency_artifacts.json", &pretty(&context));
    assert_eq!(driven.context(1), json!({}), "no key without dependencies");
}

#[test]
fn the_context_is_one_json_object_in_the_first_user_message() {
    for kind in ["synthesis", "gather"] {
        let document = run(kind).document();
        let run = document.steps[3].run.as_ref().unwrap().trajectory().unwrap();
        let (action, context) = run.input.split_once("\n\n").unwrap();
        assert_eq!(action, "Analyze the positive developments");
        let context: Value = serde_json::from_str(context).unwrap();
        assert_eq!(context, serde_json::to_value(&document.steps[3].context).unwrap());
        let first = document.steps[0].run.as_ref().unwrap().trajectory().unwrap();
        assert_eq!(first.input, "Look up the company", "nothing but the action where there is no context");
    }
}

#[test]
fn traces_say_what_kind_of_step_it_is_what_was_found_added_and_the_total() {
    let lines = |kind: &str| -> String {
        let document = run(kind).document();
        assert!(!document.plan_id.is_empty() && document.traces.iter().all(|t| t.plan_id == document.plan_id));
        let traces = document.traces;
        traces.iter().map(|t| format!("step {}: {} {}\n", t.step, t.name, t.data)).collect()
    };
    golden("plan_traces.txt", &format!("# synthesis\n{}\n# gather\n{}", lines("synthesis"), lines("gather")));
}

fn artifact(order: u32) -> Artifact {
    let step = PlanStep { order, agent: "A".into(), action: "do".into(), ..PlanStep::default() };
    Artifact::new(&step, format!("result {order}"))
}

#[test]
fn a_synthesis_step_without_session_context_falls_back_to_its_dependencies() {
    let context = Context::for_kind(AgentKind::Synthesis, vec![], vec![artifact(3), artifact(2)]).unwrap();
    assert_eq!(context.key(), Some("dependency_artifacts"));
    assert_eq!(context.artifacts().iter().map(|a| a.step_order).collect::<Vec<_>>(), [2, 3], "by step_order");
}

#[test]
fn a_synthesis_step_with_neither_has_no_context_at_all() {
    assert_eq!(Context::for_kind(AgentKind::Synthesis, vec![], vec![]), None);
    assert_eq!(Context::for_kind(AgentKind::Gather, vec![], vec![]), Some(Context::default()));
}

#[test]
fn a_gather_step_never_sees_the_session() {
    let context = Context::for_kind(AgentKind::Gather, vec![artifact(1)], vec![artifact(2)]).unwrap();
    assert_eq!(context.artifacts(), [artifact(2)]);
    assert_eq!(context.session_context, None);
}
