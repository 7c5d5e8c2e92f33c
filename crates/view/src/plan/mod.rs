//! A plan as the user sees it: its graph, each step, the context of a step, the panel.
//!
//! Everything comes from the plan and the records of its steps, live or from disk. Deliberately absent: the turns of a
//! step, which are shown like the turns of any run.

pub mod cell;
pub mod context;
pub mod edit;
pub mod example;
pub mod graph;
pub mod panel;
mod rail;
pub mod step;

pub use context::{ArtifactView, ContextView, TraceView};
pub use graph::{Edge, Graph, GraphNode, Port, Trunk};
pub use panel::{PlanPanelView, PlanProgress};
pub use step::{GivenLine, StepView};

use turnwise_record::plan::{Plan, PlanTraceRecord, StepRecord};

use super::source::{RunSource, SourceOrigin};
use turnwise_content::format::{counted, one_line};

/// One step, borrowed: its record, and its run, live or recorded.
#[derive(Clone, Copy, Debug)]
pub struct StepSource<'a> {
    pub plan: &'a Plan,
    pub record: &'a StepRecord,
    /// `None`: it was not started.
    pub run: Option<RunSource<'a>>,
    /// The traces of the whole plan.
    pub traces: &'a [PlanTraceRecord],
    /// Of the plan.
    pub origin: SourceOrigin,
}

/// The top of a plan's page.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanHead {
    /// The goal of the plan: the action of its last step.
    pub title: String,
    pub facts: Vec<String>,
}

impl PlanHead {
    #[must_use]
    pub fn from_plan(plan: &Plan) -> Self {
        let last = plan.steps.last().map(|step| one_line(&step.action, 160)).unwrap_or_default();
        let steps = counted(plan.steps.len() as u64, "step");
        let agents = counted(plan.agents.len() as u64, "agent");
        PlanHead { title: last, facts: vec!["plan".to_owned(), steps, agents] }
    }
}

/// `1`, `1 and 2`, `1, 2 and 5`.
pub(super) fn listed(orders: &[u32]) -> String {
    let text: Vec<String> = orders.iter().map(u32::to_string).collect();
    match text.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, head)) => format!("{} and {last}", head.join(", ")),
    }
}

/// `step 1`, `steps 1 and 2`.
pub(super) fn named(orders: &[u32]) -> String {
    format!("{} {}", if orders.len() == 1 { "step" } else { "steps" }, listed(orders))
}
