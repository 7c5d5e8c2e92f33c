//! Bad plans: each is rejected with every fault named (plans.md#faults-of-a-plan).

use crate::support::plan as plans;

use crate::support::golden;
use plans::*;
use serde_json::{Value, json};
use turnwise_record::plan::fault::listed;
use turnwise_record::plan::*;

fn faults(plan: &Value) -> Vec<PlanFault> {
    read(plan, &["search", "read"]).err().unwrap_or_default()
}

fn with_steps(steps: Value) -> Value {
    json!({ "agents": { "A": { "kind": "gather" }, "S": { "kind": "synthesis" } }, "steps": steps })
}

fn step(order: u32, more: Value) -> Value {
    let mut step = json!({ "order": order, "agent": "A", "action": "do it", "dependencies": [], "tools": [] });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

/// Titles and plans; the messages for them are in the golden file.
fn bad() -> Vec<(&'static str, Value)> {
    let two = |second: Value| with_steps(json!([step(1, json!({})), second]));
    vec![
        ("no object", json!("plan")),
        ("nothing in it", json!({})),
        ("empty plan", with_steps(json!([]))),
        ("unknown agent", two(step(2, json!({ "agent": "Nobody" })))),
        ("unknown order", two(step(3, json!({ "dependencies": [2] })))),
        ("a dependency on itself", two(step(2, json!({ "dependencies": [2] })))),
        (
            "a cycle",
            with_steps(json!([step(1, json!({ "dependencies": [2] })), step(2, json!({ "dependencies": [1] }))])),
        ),
        ("duplicate orders", with_steps(json!([step(1, json!({})), step(1, json!({})), step(1, json!({}))]))),
        ("unknown tools", two(step(2, json!({ "tools": ["search", "drill", "hammer"] })))),
        ("missing fields", with_steps(json!([{}, { "order": 2 }, { "agent": "A", "action": "x" }]))),
        (
            "wrong types",
            with_steps(
                json!([step(1, json!({ "action": "  ", "tools": "search" })), { "order": 0, "agent": 5, "action": "x", "dependencies": ["1"] }, 7]),
            ),
        ),
        ("unknown fields", two(step(2, json!({ "depends_on": [1] })))),
        (
            "bad agents",
            json!({ "plan_id": "", "agents": { "A": { "kind": "worker", "max_turns": 0 }, "B": 3, "C": { "tools": ["drill"], "name": "c" } }, "steps": [step(1, json!({}))] }),
        ),
        ("agents that are none", json!({ "agents": [], "steps": [step(1, json!({}))] })),
        (
            "everything at once",
            with_steps(json!([
                step(2, json!({ "agent": "Nobody", "dependencies": [1, 2, 3], "tools": ["drill"] })),
                step(2, json!({ "action": "" })),
                { "agent": "S", "action": "sum up", "dependencies": [9] },
            ])),
        ),
    ]
}

#[test]
fn every_fault_of_a_bad_plan_is_named() {
    let table: Vec<String> = bad()
        .into_iter()
        .map(|(title, plan)| {
            let faults = faults(&plan);
            assert!(!faults.is_empty(), "{title} is no bad plan");
            format!("# {title}\n{}\n", listed(&faults))
        })
        .collect();
    golden("plan_faults.txt", &table.join("\n"));
}

#[test]
fn kinds_of_faults_are_fixed_words() {
    let kinds = |plan: &Value| -> String {
        let kinds =
            faults(plan).into_iter().map(|f| serde_json::to_value(f.kind).unwrap().as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>().join(" ")
    };
    let table: Vec<String> = bad().into_iter().map(|(title, plan)| format!("{title}: {}", kinds(&plan))).collect();
    let all = table.join("\n");
    for kind in [
        "wrong_type",
        "missing_field",
        "unknown_field",
        "empty_plan",
        "duplicate_order",
        "unknown_agent",
        "unknown_order",
        "dependency_not_smaller",
        "unknown_tool",
    ] {
        assert!(all.contains(kind), "{kind}\n{all}");
    }
    assert!(table[5].ends_with(": dependency_not_smaller"), "{}", table[5]);
}

#[test]
fn a_fault_says_which_step_it_is_in() {
    let faults = faults(&with_steps(json!([step(1, json!({})), step(5, json!({ "dependencies": [4] }))])));
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].order, faults[0].path.as_str()), (Some(5), "plan.steps[1].dependencies[0]"));
}

#[test]
fn a_good_plan_is_read_whatever_the_order_of_its_steps() {
    let plan =
        with_steps(json!([step(9, json!({ "dependencies": [4, 4] })), { "order": 4, "agent": "S", "action": "x" }]));
    let plan = read(&plan, &[]).unwrap();
    assert_eq!(plan.steps.iter().map(|step| step.order).collect::<Vec<_>>(), [4, 9]);
    assert_eq!((plan.steps[0].dependencies.len(), plan.steps[0].tools.len()), (0, 0), "both may be left out");
}

#[test]
fn pages_write_max_turns_in_their_own_way() {
    for key in ["maxTurns", "max_turns"] {
        let plan = json!({ "agents": { "A": { "kind": "gather", key: 3 } }, "steps": [step(1, json!({}))] });
        assert_eq!(read(&plan, &[]).unwrap().agents["A"].max_turns, Some(3));
    }
}

/// The schema accepts exactly the valid plans, except for rules that no schema can express.
#[test]
fn the_shipped_schema_agrees() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/schema/turnwise-plan.v1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let beyond = [
        FaultKind::DuplicateOrder,
        FaultKind::UnknownAgent,
        FaultKind::UnknownOrder,
        FaultKind::DependencyNotSmaller,
        FaultKind::UnknownTool,
    ];
    for (title, plan) in bad() {
        let only_beyond = faults(&plan).iter().all(|fault| beyond.contains(&fault.kind));
        // To a schema, a blank string is a string.
        assert_eq!(schema.is_valid(&plan), only_beyond, "{title}");
    }
    let mut plan = forecast("synthesis");
    assert!(schema.is_valid(&plan));
    plan["steps"][0]["agent"] = json!("");
    assert!(!schema.is_valid(&plan));
}
