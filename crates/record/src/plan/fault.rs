//! The faults of a plan, each with its location. A plan is rejected with all of its faults (plans.md#faults-of-a-plan).

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFault {
    pub kind: FaultKind,
    /// The location: `plan.steps[2].dependencies[0]`.
    pub path: String,
    /// The step it is in, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// For people.
    pub message: String,
}

/// Explicit strings, like slugs: never derived from the names of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    #[serde(rename = "wrong_type")]
    WrongType,
    #[serde(rename = "missing_field")]
    MissingField,
    #[serde(rename = "unknown_field")]
    UnknownField,
    #[serde(rename = "empty_plan")]
    EmptyPlan,
    #[serde(rename = "duplicate_order")]
    DuplicateOrder,
    #[serde(rename = "unknown_agent")]
    UnknownAgent,
    #[serde(rename = "unknown_order")]
    UnknownOrder,
    #[serde(rename = "dependency_not_smaller")]
    DependencyNotSmaller,
    #[serde(rename = "unknown_tool")]
    UnknownTool,
}

impl PlanFault {
    #[must_use]
    pub fn new(kind: FaultKind, path: impl Into<String>, order: Option<u32>, message: impl Into<String>) -> Self {
        PlanFault { kind, path: path.into(), order, message: message.into() }
    }
}

impl std::fmt::Display for PlanFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Lists all faults, one per line.
#[must_use]
pub fn listed(faults: &[PlanFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
