//! Continues a plan: decides which steps of an earlier run are kept, and which are run (again) (plans.md#resuming-a-plan).

use super::document::{PlanDocument, StepRecord};
use super::model::{AgentKind, Plan, PlanStep, StepStatus, by_order};
use turnwise_engine::Outcome;

/// The steps that are kept: they ended, they are the same in both plans, and nothing they build on is run again.
pub(super) fn kept(plan: &Plan, after: &PlanDocument, from: Option<u32>) -> Vec<StepRecord> {
    let mut records = by_order(&after.steps, |record| record.order);
    records.retain(|record| {
        let same = plan.step(record.order).is_some_and(|step| is_same(plan, after, step));
        Some(record.order) != from && same && has_ended(record)
    });
    // Removed steps count as changed: a later synthesis step may have received their results.
    let orders = plan.steps.iter().chain(&after.plan.steps).map(|step| step.order);
    let fresh = orders.filter(|order| !records.iter().any(|record| record.order == *order));
    let fresh = with_dependents(plan, fresh.collect());
    records.into_iter().filter(|record| !fresh.contains(&record.order)).cloned().collect()
}

/// The given steps and all steps that build on them: gather steps build on their dependencies, synthesis steps on every
/// earlier step.
fn with_dependents(plan: &Plan, mut steps: Vec<u32>) -> Vec<u32> {
    let first = steps.iter().min().copied();
    for step in &plan.steps {
        let builds_on = match plan.kind(step) {
            AgentKind::Gather => step.dependencies.iter().any(|needed| steps.contains(needed)),
            AgentKind::Synthesis => first.is_some_and(|first| first < step.order),
        };
        if builds_on {
            steps.push(step.order);
        }
    }
    steps
}

/// Whether a step is the same task for the same agent in both plans.
fn is_same(plan: &Plan, after: &PlanDocument, step: &PlanStep) -> bool {
    after.plan.step(step.order) == Some(step) && plan.agents.get(&step.agent) == after.plan.agents.get(&step.agent)
}

/// Whether a step has ended. Cancelled steps and those running when the page was closed are run again; failed ones only
/// on request.
fn has_ended(record: &StepRecord) -> bool {
    let outcome = record.run.as_ref().and_then(|run| run.outcome);
    match record.status {
        StepStatus::Completed => matches!(outcome, Some(Outcome::Success | Outcome::Partial)),
        StepStatus::Failed | StepStatus::Blocked => true,
        StepStatus::Pending | StepStatus::Running | StepStatus::Cancelled => false,
    }
}
