//! The exact context that a step received: which results of which steps.

use std::sync::Arc;

use serde_json::Value;

use turnwise_record::plan::{AgentKind, Artifact, PlanTraceRecord, StepStatus};

use super::graph::inputs_of;
use super::{StepSource, named};
use turnwise_content::format::{counted, one_line};
use turnwise_content::json::JsonNode;

#[derive(Clone, Debug, PartialEq)]
pub struct ContextView {
    /// One sentence.
    pub words: String,
    /// The steps whose results it did not receive, and why.
    pub missing: Option<String>,
    pub artifacts: Vec<ArtifactView>,
    /// The same, as the model read it below the action.
    pub json: Option<JsonNode>,
    /// How the context was built, one line per trace: `previous_steps_found: 2`.
    pub traces: Vec<TraceView>,
}

/// A trace of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceView {
    pub name: String,
    pub words: String,
}

/// The result of one step, as a later one received it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactView {
    pub order: u32,
    /// `Step 2, Company`
    pub title: String,
    pub action: String,
    /// `tools: read_file`, if the step was offered only some.
    pub tools: Option<String>,
    /// `12 lines`
    pub size: String,
    /// Markdown.
    pub result: String,
}

impl From<&StepSource<'_>> for ContextView {
    fn from(source: &StepSource<'_>) -> Self {
        let record = source.record;
        let artifacts = record.context.artifacts();
        let orders: Vec<u32> = artifacts.iter().map(|artifact| artifact.step_order).collect();
        let inputs_of = source.plan.step(record.order).map(|step| inputs_of(source.plan, step)).unwrap_or_default();
        let not_given: Vec<u32> = inputs_of.iter().copied().filter(|order| !orders.contains(order)).collect();
        let started = source.run.is_some();
        let json = (!record.context.is_empty()).then(|| serde_json::to_string(&record.context).ok()).flatten();
        ContextView {
            words: describe(source, &orders, &inputs_of),
            missing: (started && !not_given.is_empty())
                .then(|| format!("No result from {}: the run did not complete.", named(&not_given))),
            artifacts: artifacts.iter().map(ArtifactView::from).collect(),
            traces: source.traces.iter().filter(|trace| trace.step == record.order).map(TraceView::from).collect(),
            json: json.and_then(|text| serde_json::from_str(&text).ok()).map(|value| JsonNode::root(Arc::new(value))),
        }
    }
}

impl From<&PlanTraceRecord> for TraceView {
    fn from(trace: &PlanTraceRecord) -> Self {
        let text = |key: &str| trace.data.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| trace.data.get(key).and_then(Value::as_u64).unwrap_or_default();
        let label = match trace.name.as_str() {
            "synthesis_check" => {
                let synthesis = trace.data.get("is_synthesis").and_then(Value::as_bool).unwrap_or_default();
                format!("{} {}", text("agent"), if synthesis { "synthesizes" } else { "gathers" })
            }
            "previous_steps_found" => format!("{} found", counted(number("count"), "previous step")),
            "context_step_added" => {
                format!("step {}, {}, added to {}", number("step_order"), text("agent"), text("key"))
            }
            "context_total" => match text("key") {
                "" => format!("{} in all", counted(number("count"), "step")),
                key => format!("{} in {key}", counted(number("count"), "step")),
            },
            _ => trace.data.to_string(),
        };
        TraceView { name: trace.name.clone(), words: label }
    }
}

impl From<&Artifact> for ArtifactView {
    fn from(artifact: &Artifact) -> Self {
        let lines = artifact.result.lines().count();
        ArtifactView {
            order: artifact.step_order,
            title: format!("Step {}, {}", artifact.step_order, artifact.agent),
            action: one_line(&artifact.action, 160),
            tools: (!artifact.tools.is_empty()).then(|| format!("tools: {}", artifact.tools.join(", "))),
            size: counted(lines as u64, "line"),
            result: artifact.result.clone(),
        }
    }
}

fn describe(source: &StepSource<'_>, given: &[u32], inputs_of: &[u32]) -> String {
    let record = source.record;
    let synthesis = record.kind == AgentKind::Synthesis;
    match record.status {
        StepStatus::Blocked => "This step was not run, so it received no input.".to_owned(),
        StepStatus::Cancelled if source.run.is_none() => {
            "This step was not started, so it received no input.".to_owned()
        }
        StepStatus::Pending if synthesis => {
            "A synthesis step: it will receive the results of every earlier step that completes.".to_owned()
        }
        StepStatus::Pending if inputs_of.is_empty() => "Only its action: it does not depend on other steps.".to_owned(),
        StepStatus::Pending => format!("It will receive the results of {} when they are ready.", named(inputs_of)),
        _ if given.is_empty() => "Only its action: it does not depend on other steps.".to_owned(),
        _ => match record.context.key() {
            Some("session_context") => {
                format!("The results of every earlier step that completed: {}.", named(given))
            }
            _ => format!("The results of the steps it depends on: {}.", named(given)),
        },
    }
}
