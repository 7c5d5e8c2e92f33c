//! A plan as data: its agents and steps (plans.md).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Agents, and the steps assigned to them. Beyond its JSON Schema: orders are unique, agents and tools are known,
/// dependencies refer to steps of smaller order.
// `super::read` reads one from JSON and reports every fault in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Default: generated from the time and the seed when it runs.
    #[serde(default)]
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub plan_id: String,
    pub agents: BTreeMap<String, AgentSpec>,
    /// In any order; in a record in ascending order.
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub steps: Vec<PlanStep>,
}

/// An agent of a plan. Omitted settings come from the configuration the plan is run with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema), schemars(rename = "PlanAgent"))]
pub struct AgentSpec {
    pub kind: AgentKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub max_turns: Option<u32>,
    /// Whether its runs have a turn counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<bool>,
}

/// The kind of context that an agent's steps receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The results of the step's own dependencies.
    #[default]
    Gather,
    /// The results of all completed steps before it.
    Synthesis,
}

/// One step: one run of its agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema), schemars(rename = "PlanStep"))]
pub struct PlanStep {
    /// At least 1, unique in the plan.
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub order: u32,
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub agent: String,
    /// The task of the step's run.
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub action: String,
    /// Orders of other steps, all smaller than its own.
    #[serde(default)]
    #[cfg_attr(feature = "types", schemars(inner(range(min = 1))))]
    pub dependencies: Vec<u32>,
    /// If not empty, the only tools that the step is offered.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// The status of a step. Each step ends in exactly one of the last four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    #[default]
    Pending,
    Running,
    /// Its run ended with outcome `success` or `partial`.
    Completed,
    Failed,
    /// It was not run, because a step it needs did not complete.
    Blocked,
    Cancelled,
}

/// Sorts by order, and keeps the first item of each order. Uses insertion: there are few items, mostly in order
/// already, and a sort or a map for each type would add a lot of code to the page.
pub(super) fn by_order<T>(items: impl IntoIterator<Item = T>, order: impl Fn(&T) -> u32) -> Vec<T> {
    let mut sorted: Vec<T> = Vec::new();
    for item in items {
        if let Err(place) = sorted.binary_search_by(|other| order(other).cmp(&order(&item))) {
            sorted.insert(place, item);
        }
    }
    sorted
}

impl Plan {
    #[must_use]
    pub fn step(&self, order: u32) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.order == order)
    }

    /// The kind of a step's agent; an unknown agent gathers.
    #[must_use]
    pub fn kind(&self, step: &PlanStep) -> AgentKind {
        self.agents.get(&step.agent).map_or(AgentKind::Gather, |agent| agent.kind)
    }
}

impl AgentKind {
    pub const ALL: &'static [AgentKind] = &[AgentKind::Gather, AgentKind::Synthesis];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            AgentKind::Gather => "gather",
            AgentKind::Synthesis => "synthesis",
        }
    }
}

impl StepStatus {
    #[must_use]
    pub fn ended(self) -> bool {
        !matches!(self, StepStatus::Pending | StepStatus::Running)
    }

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            StepStatus::Pending => "pending",
            StepStatus::Running => "running",
            StepStatus::Completed => "completed",
            StepStatus::Failed => "failed",
            StepStatus::Blocked => "blocked",
            StepStatus::Cancelled => "cancelled",
        }
    }
}
