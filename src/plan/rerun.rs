//! Going on with a plan: which steps of an earlier run are kept, and which are run (again) (SEMANTICS 9).

use std::collections::{BTreeMap, BTreeSet};

use super::document::{PlanDocument, StepRecord};
use super::model::{AgentKind, Plan, Step, StepStatus};
use crate::engine::Outcome;

/// The steps that are kept: they ended, they are the same in both plans, and nothing they build on is run again.
pub(super) fn kept(plan: &Plan, after: &PlanDocument, from: Option<u32>) -> BTreeMap<u32, StepRecord> {
    let mut records: BTreeMap<u32, &StepRecord> = after.steps.iter().map(|record| (record.order, record)).collect();
    records.retain(|order, record| {
        let same = plan.step(*order).is_some_and(|step| is_same(plan, after, step));
        Some(*order) != from && same && has_ended(record)
    });
    // Steps that went away count as changed: a later synthesis step may have been given their results.
    let orders = plan.steps.iter().chain(&after.plan.steps).map(|step| step.order);
    let fresh: BTreeSet<u32> = orders.filter(|order| !records.contains_key(order)).collect();
    let fresh = with_dependents(plan, fresh);
    records.into_iter().filter(|(order, _)| !fresh.contains(order)).map(|(o, record)| (o, record.clone())).collect()
}

/// The steps given and all that build on them: gather steps by their dependencies, synthesis steps by every step before.
pub(super) fn with_dependents(plan: &Plan, mut steps: BTreeSet<u32>) -> BTreeSet<u32> {
    for step in &plan.steps {
        let builds_on = match plan.kind(step) {
            AgentKind::Gather => step.dependencies.iter().any(|needed| steps.contains(needed)),
            AgentKind::Synthesis => steps.first().is_some_and(|first| *first < step.order),
        };
        if builds_on {
            steps.insert(step.order);
        }
    }
    steps
}

/// The same task for the same agent.
fn is_same(plan: &Plan, after: &PlanDocument, step: &Step) -> bool {
    after.plan.step(step.order) == Some(step) && plan.agents.get(&step.agent) == after.plan.agents.get(&step.agent)
}

/// Cancelled steps and those under way when the page was closed are run again; failed ones only when asked for.
fn has_ended(record: &StepRecord) -> bool {
    let outcome = record.run.as_ref().and_then(|run| run.outcome);
    match record.status {
        StepStatus::Completed => matches!(outcome, Some(Outcome::Success | Outcome::Partial)),
        StepStatus::Failed | StepStatus::Blocked => true,
        StepStatus::Pending | StepStatus::Running | StepStatus::Cancelled => false,
    }
}
