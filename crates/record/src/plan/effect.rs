//! The inputs, effects and notifications of a plan run. The shell has one exhaustive match on [`PlanEffect`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::Context;
use super::model::{AgentKind, Plan, StepStatus};
use crate::trajectory::Trajectory;
use turnwise_engine::{Outcome, RunConfig, Task, Trigger};

/// One input. Events about a step that is not running do nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PlanEvent {
    /// The maximum number of LLM requests that can still follow in the step's run; only a smaller number counts.
    StepProgress { order: u32, calls_left: u32 },
    /// The step's run ended, in any way.
    StepEnded { order: u32, run: Box<Trajectory> },
    /// The step's run could not be started at all.
    StepRefused { order: u32, message: String },
    /// A restored plan resumes. None of its earlier effects is still in progress.
    Resumed,
    /// Running steps conclude; no other step starts.
    StopRequested,
    /// Everything ends at once.
    Cancelled,
}

/// One thing the shell must do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlanEffect {
    /// Run this task as an ordinary run; ends in `StepEnded` or `StepRefused` with the same `order`.
    StartStep { order: u32, config: Box<RunConfig>, task: Task },
    /// Resume the restored run of the step; it ends like any other.
    ResumeStep { order: u32 },
    /// Ask the step's run to wrap up; it still ends in `StepEnded`.
    StopStep { order: u32 },
    /// End the step's run at once; it still ends in `StepEnded`.
    CancelStep { order: u32 },
    /// Notify observers, and store.
    Record(PlanRecord),
    /// Every step has ended.
    Finish,
}

/// A notification: what happened, in which step, and how many LLM requests of the whole plan can still follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// `None` for the plan as a whole.
    pub step: Option<u32>,
    /// Never increases.
    pub calls_left: u32,
    pub what: PlanRecordKind,
}

/// The plan's own events in the JavaScript API. The events of its steps' runs are interleaved with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PlanRecordKind {
    PlanStarted {
        plan_id: String,
        session_id: String,
        #[cfg_attr(feature = "types", ts(type = "Plan"))]
        plan: Plan,
        /// Steps that had ended in an earlier run of the plan and are not run again.
        kept: Vec<u32>,
    },
    StepStarted {
        agent: String,
        kind: AgentKind,
        run_id: String,
        context: Context,
    },
    PlanTrace {
        trace: PlanTraceRecord,
    },
    StepFinished {
        status: StepStatus,
        blocked_by: Vec<u32>,
        output: Option<String>,
        error: Option<String>,
    },
    /// The last event.
    PlanFinished {
        ending: PlanEnding,
    },
}

/// The names of the scheduler's traces.
#[cfg(feature = "types")]
const TRACES: [&str; 4] = ["synthesis_check", "previous_steps_found", "context_step_added", "context_total"];

/// A trace of the scheduler (plans.md#events-of-a-plan): whether a step is a synthesis step, how many previous steps were found, each
/// one that was added, and the total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "PlanTrace"),
    ts(rename = "PlanTrace")
)]
pub struct PlanTraceRecord {
    #[cfg_attr(feature = "types", schemars(extend("enum" = TRACES)))]
    pub name: String,
    /// Empty in records of older versions, which did not write it.
    #[serde(default)]
    #[cfg_attr(feature = "types", schemars(extend("x-later" = true)))]
    pub plan_id: String,
    /// Milliseconds since the plan started.
    pub at_ms: u64,
    /// The order of the step it refers to.
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub step: u32,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "types", schemars(!default, !skip_serializing_if, extend("type" = "object")), ts(type = "any"))]
    pub data: Value,
}

/// How a plan ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PlanEnding {
    /// `success`: every step completed; `partial`: some did; `failed`: none did; `cancelled`: the user cancelled it.
    pub outcome: Outcome,
    /// The result of the last completed step.
    pub output: String,
    /// The order of that step.
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub output_step: Option<u32>,
    pub completed: u32,
    pub failed: u32,
    pub blocked: u32,
    pub cancelled: u32,
    /// `stop`, if the user stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(extend("const" = "stop")), ts(type = "\"stop\""))]
    pub wrap_up: Option<Trigger>,
    /// RFC 3339, UTC, milliseconds.
    #[cfg_attr(feature = "types", schemars(regex(pattern = turnwise_engine::time::RFC3339)))]
    pub finished_at: String,
}
