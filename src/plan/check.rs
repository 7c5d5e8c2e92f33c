//! Checks the rules for a plan beyond the types of its fields: agents and orders exist, and dependencies have smaller
//! orders only, so that there is no cycle (plans.md#faults-of-a-plan).

use std::collections::BTreeMap;

use super::fault::{Fault, FaultKind};
use super::model::AgentSpec;
use super::read::Draft;

pub(super) fn check(agents: &BTreeMap<String, AgentSpec>, steps: &[Draft], tools: &[&str]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, agent) in agents {
        for (at, tool) in agent.tools.iter().flatten().enumerate() {
            if !tools.contains(&tool.as_str()) {
                faults.push(unknown_tool(format!("plan.agents.{name}.tools[{at}]"), None, tool, tools));
            }
        }
    }
    for (index, step) in steps.iter().enumerate() {
        check_step(agents, steps, index, step, tools, &mut faults);
    }
    faults
}

fn check_step(
    agents: &BTreeMap<String, AgentSpec>,
    steps: &[Draft],
    index: usize,
    step: &Draft,
    tools: &[&str],
    faults: &mut Vec<Fault>,
) {
    let mut fault = |kind, place: &str, message: String| {
        faults.push(Fault::new(kind, format!("{}.{place}", step.path), step.order, message));
    };
    if let Some(order) = step.order
        && let Some(first) = steps.iter().take(index).find(|other| other.order == Some(order))
    {
        fault(FaultKind::DuplicateOrder, "order", format!("{order} is also the order of {}", first.path));
    }
    if let Some(agent) = &step.agent
        && !agents.contains_key(agent)
    {
        let known = names(agents.keys().map(String::as_str));
        fault(FaultKind::UnknownAgent, "agent", format!("there is no agent {agent:?}; there {known}"));
    }
    for (at, dependency) in step.dependencies.iter().enumerate() {
        let Some(dependency) = dependency else { continue };
        let place = format!("dependencies[{at}]");
        if let Some(order) = step.order
            && *dependency >= order
        {
            let message = format!("{dependency} is not smaller than {order}, the order of the step itself");
            fault(FaultKind::DependencyNotSmaller, &place, message);
        }
        if !steps.iter().any(|other| other.order == Some(*dependency)) {
            fault(FaultKind::UnknownOrder, &place, format!("no step has order {dependency}"));
        }
    }
    for (at, tool) in step.tools.iter().enumerate() {
        if let Some(tool) = tool
            && !tools.contains(&tool.as_str())
        {
            faults.push(unknown_tool(format!("{}.tools[{at}]", step.path), step.order, tool, tools));
        }
    }
}

fn unknown_tool(path: String, order: Option<u32>, tool: &str, tools: &[&str]) -> Fault {
    let known = names(tools.iter().copied());
    Fault::new(FaultKind::UnknownTool, path, order, format!("there is no tool {tool:?}; there {known}"))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => "are none".to_owned(),
        [one] => format!("is {one}"),
        _ => format!("are {}", names.join(", ")),
    }
}
