//! One step of a plan run: its status, context and output.

use serde::{Deserialize, Serialize};

use super::context::{Artifact, Context};
use super::document::StepRecord;
use super::model::{AgentKind, Step, StepStatus};
use super::step_run::StepRun;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StepState {
    pub(super) step: Step,
    pub(super) kind: AgentKind,
    pub(super) status: StepStatus,
    pub(super) blocked_by: Vec<u32>,
    pub(super) context: Context,
    pub(super) error: Option<String>,
    /// LLM requests its run can still send: all of them before it starts, none once it has ended.
    pub(super) calls_left: u32,
    pub(super) run: Option<StepRun>,
}

impl StepState {
    pub(super) fn new(step: Step, kind: AgentKind, calls_left: u32) -> Self {
        StepState {
            step,
            kind,
            status: StepStatus::Pending,
            blocked_by: Vec::new(),
            context: Context::default(),
            error: None,
            calls_left,
            run: None,
        }
    }

    /// A step that ended in an earlier run of the plan.
    pub(super) fn kept(step: Step, kind: AgentKind, record: StepRecord) -> Self {
        let StepRecord { status, blocked_by, context, error, run, .. } = record;
        StepState { step, kind, status, blocked_by, context, error, calls_left: 0, run }
    }

    /// Its result for later steps; only completed steps have one.
    pub(super) fn artifact(&self) -> Option<Artifact> {
        Some(Artifact::new(&self.step, self.output()?.to_owned()))
    }

    pub(super) fn output(&self) -> Option<&str> {
        if self.status != StepStatus::Completed {
            return None;
        }
        Some(self.run.as_ref().and_then(|run| run.output.as_deref()).unwrap_or_default())
    }

    /// Ends the step.
    pub(super) fn end(&mut self, status: StepStatus) {
        self.status = status;
        self.calls_left = 0;
    }

    pub(super) fn record(&self) -> StepRecord {
        StepRecord {
            order: self.step.order,
            agent: self.step.agent.clone(),
            kind: self.kind,
            status: self.status,
            blocked_by: self.blocked_by.clone(),
            context: self.context.clone(),
            error: self.error.clone(),
            run: self.run.clone(),
        }
    }
}
