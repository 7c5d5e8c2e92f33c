//! The context of a step: the results of earlier steps that it receives (plans.md#what-a-step-is-told).
//!
//! A gather step gets `dependency_artifacts`, the results of its dependencies, and no key if it has none. A synthesis
//! step gets `session_context`, the results of every completed step of smaller order; only if there are none, it falls
//! back to its `dependency_artifacts`.

use serde::{Deserialize, Serialize};

use super::model::{AgentKind, PlanStep, by_order};

/// The information that a later step receives about a completed one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "PlanArtifact"),
    ts(rename = "PlanArtifact")
)]
pub struct Artifact {
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub step_order: u32,
    pub agent: String,
    pub action: String,
    pub tools: Vec<String>,
    /// The report of the step's run.
    pub result: String,
}

/// The context of a step from earlier ones: at most one of the two keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "PlanContext", extend("maxProperties" = 1)),
    ts(rename = "PlanContext")
)]
pub struct Context {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub dependency_artifacts: Option<Vec<Artifact>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub session_context: Option<Vec<Artifact>>,
}

impl Artifact {
    #[must_use]
    pub fn new(step: &PlanStep, result: String) -> Self {
        let PlanStep { order, agent, action, tools, .. } = step.clone();
        Artifact { step_order: order, agent, action, tools, result }
    }
}

impl Context {
    /// Applies the rule. `session` holds the results of all completed steps of smaller order, `dependencies` the results of
    /// the step's own dependencies, where they completed. `None`: a synthesis step with neither, which is blocked.
    #[must_use]
    pub fn for_kind(kind: AgentKind, session: Vec<Artifact>, dependencies: Vec<Artifact>) -> Option<Self> {
        match kind {
            AgentKind::Gather => Some(Context::dependencies(dependencies)),
            AgentKind::Synthesis if !session.is_empty() => {
                Some(Context { session_context: Some(sorted(session)), dependency_artifacts: None })
            }
            AgentKind::Synthesis if !dependencies.is_empty() => Some(Context::dependencies(dependencies)),
            AgentKind::Synthesis => None,
        }
    }

    fn dependencies(artifacts: Vec<Artifact>) -> Self {
        let artifacts = (!artifacts.is_empty()).then(|| sorted(artifacts));
        Context { dependency_artifacts: artifacts, session_context: None }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.key().is_none()
    }

    /// The key that is set, if any.
    #[must_use]
    pub fn key(&self) -> Option<&'static str> {
        match (&self.session_context, &self.dependency_artifacts) {
            (Some(_), _) => Some("session_context"),
            (None, Some(_)) => Some("dependency_artifacts"),
            (None, None) => None,
        }
    }

    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        self.session_context.as_deref().or(self.dependency_artifacts.as_deref()).unwrap_or_default()
    }

    /// The first user message of a step: its action, then the context as one JSON object, if there is any.
    #[must_use]
    pub fn input(&self, action: &str) -> String {
        if self.is_empty() {
            return action.to_owned();
        }
        // Only texts and numbers: serializing them does not fail.
        format!("{action}\n\n{}", serde_json::to_string(self).unwrap_or_default())
    }
}

fn sorted(artifacts: Vec<Artifact>) -> Vec<Artifact> {
    by_order(artifacts, |artifact| artifact.step_order)
}
