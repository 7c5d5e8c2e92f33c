//! A second implementation of the rules, as direct as their wording, and independent of the scheduler (plans.md).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The known facts about a step that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub status: &'static str,
    pub output: String,
}

pub type Ended = BTreeMap<u64, Done>;

pub fn order(step: &Value) -> u64 {
    step["order"].as_u64().unwrap()
}

pub fn dependencies(step: &Value) -> BTreeSet<u64> {
    step["dependencies"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap()).collect()
}

pub fn is_synthesis(plan: &Value, step: &Value) -> bool {
    plan["agents"][step["agent"].as_str().unwrap()]["kind"] == "synthesis"
}

pub fn find(plan: &Value, wanted: u64) -> &Value {
    plan["steps"].as_array().unwrap().iter().find(|step| order(step) == wanted).unwrap()
}

/// Orders that must have ended before the step may start.
pub fn needs(plan: &Value, step: &Value) -> BTreeSet<u64> {
    if !is_synthesis(plan, step) {
        return dependencies(step);
    }
    plan["steps"].as_array().unwrap().iter().map(order).filter(|other| *other < order(step)).collect()
}

fn artifacts(plan: &Value, orders: impl Iterator<Item = u64>, ended: &Ended) -> Vec<Value> {
    let completed: BTreeSet<u64> = orders.filter(|o| ended.get(o).is_some_and(|d| d.status == "completed")).collect();
    let artifact = |order: u64| {
        let step = find(plan, order);
        json!({ "step_order": order, "agent": step["agent"], "action": step["action"], "tools": step["tools"], "result": ended[&order].output })
    };
    completed.into_iter().map(artifact).collect()
}

/// The context of a step, or the orders that block it.
pub fn context(plan: &Value, step: &Value, ended: &Ended) -> Result<Value, Vec<u64>> {
    let missing =
        |orders: BTreeSet<u64>| -> Vec<u64> { orders.into_iter().filter(|o| ended[o].status != "completed").collect() };
    let mut context = Map::new();
    let of_dependencies = artifacts(plan, dependencies(step).into_iter(), ended);
    if is_synthesis(plan, step) {
        let session = artifacts(plan, needs(plan, step).into_iter(), ended);
        match (session.is_empty(), of_dependencies.is_empty()) {
            (false, _) => context.insert("session_context".into(), Value::Array(session)),
            (true, false) => context.insert("dependency_artifacts".into(), Value::Array(of_dependencies)),
            (true, true) => return Err(missing(needs(plan, step))),
        };
    } else {
        let missing = missing(dependencies(step));
        if !missing.is_empty() {
            return Err(missing);
        }
        if !of_dependencies.is_empty() {
            context.insert("dependency_artifacts".into(), Value::Array(of_dependencies));
        }
    }
    Ok(Value::Object(context))
}

/// Everything that is rerun when these steps are: found by checking each step until nothing is added.
pub fn run_again(plan: &Value, first: BTreeSet<u64>) -> BTreeSet<u64> {
    let mut again = first;
    loop {
        let before = again.len();
        for step in plan["steps"].as_array().unwrap() {
            if needs(plan, step).intersection(&again).next().is_some() {
                again.insert(order(step));
            }
        }
        if again.len() == before {
            return again;
        }
    }
}
