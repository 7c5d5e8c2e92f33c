//! The state of a plan run: its options, its steps, and what can be asked about it. The rules over it are in `schedule`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::{Artifact, Context};
use super::document::{FORMAT, PlanDocument, StepRecord, VERSION};
use super::effect::{PlanEffect, PlanEnding, PlanRecord, PlanRecordKind, PlanTraceRecord};
use super::model::{AgentKind, Plan, PlanStep, StepStatus};
use super::step_run::StepRun;
use crate::trajectory::Trajectory;
use crate::trajectory::document::ENGINE_VERSION;
use turnwise_engine::{EpochMillis, Millis, RunConfig, Usage, time};

/// Everything that determines a plan run, except the plan itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanOptions {
    /// The base of each step's configuration: providers, limits, retries, all available tools, the seed.
    pub base: RunConfig,
    pub session_id: String,
    pub started_at: EpochMillis,
    /// Maximum number of steps running at once.
    pub parallel: usize,
    /// The record of an earlier run of the plan: steps that ended in it are not run again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Box<PlanDocument>>,
    /// With `after`: run this step again, and every step that builds on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Default number of parallel steps: a page has at most four open requests to one origin (plans.md#how-a-step-ends).
pub const PARALLEL: usize = 4;

/// One run of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRun {
    pub(super) plan: Plan,
    pub(super) options: PlanOptions,
    /// The start of this plan's first run, if it is continued.
    pub(super) origin: EpochMillis,
    /// In ascending order.
    pub(super) steps: Vec<StepState>,
    pub(super) traces: Vec<PlanTraceRecord>,
    pub(super) asked: UserRequest,
    pub(super) ending: Option<PlanEnding>,
    /// Time since `origin`.
    pub(super) now: Millis,
    /// Effects of the current event; empty between events.
    #[serde(skip)]
    pub(super) out: Vec<PlanEffect>,
}

/// One step: its status, context and output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StepState {
    pub(super) step: PlanStep,
    pub(super) kind: AgentKind,
    pub(super) status: StepStatus,
    pub(super) blocked_by: Vec<u32>,
    pub(super) context: Context,
    pub(super) error: Option<String>,
    /// LLM requests its run can still send: all of them before it starts, none once it has ended.
    pub(super) calls_left: u32,
    pub(super) run: Option<StepRun>,
}

/// The user's request about the plan as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum UserRequest {
    Nothing,
    Stop,
    Cancel,
}

impl PlanRun {
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The traces of how the contexts of all steps were put together, in order.
    #[must_use]
    pub fn traces(&self) -> &[PlanTraceRecord] {
        &self.traces
    }

    #[must_use]
    pub fn options(&self) -> &PlanOptions {
        &self.options
    }

    /// Set once every step has ended.
    #[must_use]
    pub fn ending(&self) -> Option<&PlanEnding> {
        self.ending.as_ref()
    }

    /// Every step's order and status, in ascending order.
    pub fn statuses(&self) -> impl Iterator<Item = (u32, StepStatus)> + '_ {
        self.steps.iter().map(|state| (state.step.order, state.status))
    }

    /// One step as the record would contain it now; without its run while that is in progress.
    #[must_use]
    pub fn step_record(&self, order: u32) -> Option<StepRecord> {
        self.state(order).map(StepState::record)
    }

    /// The maximum number of LLM requests of the whole plan that can still follow: the sum over its steps. It only shrinks.
    #[must_use]
    pub fn calls_left(&self) -> u32 {
        self.steps.iter().fold(0, |sum: u32, state| sum.saturating_add(state.calls_left))
    }

    /// The record so far. `live` returns the trajectories of steps that are still running.
    #[must_use]
    pub fn document(&self, mut live: impl FnMut(u32) -> Option<Trajectory>) -> PlanDocument {
        let mut steps: Vec<StepRecord> = self.steps.iter().map(|state| state.record()).collect();
        for step in steps.iter_mut().filter(|step| step.status == StepStatus::Running) {
            step.run = live(step.order).map(|run| StepRun::from_document(&run)).or(step.run.take());
        }
        let runs = || steps.iter().filter_map(|step| step.run.as_ref());
        PlanDocument {
            format: FORMAT.to_owned(),
            version: VERSION,
            engine_version: ENGINE_VERSION.to_owned(),
            plan_id: self.plan.plan_id.clone(),
            session_id: self.options.session_id.clone(),
            plan: self.plan.clone(),
            started_at: time::rfc3339(self.origin),
            started_ms: self.origin,
            finished_at: self.ending.as_ref().map(|ending| ending.finished_at.clone()),
            ending: self.ending.clone(),
            requests: runs().fold(0, |sum: u32, run| sum.saturating_add(run.requests)),
            tokens: runs().fold(Usage::default(), |sum, run| sum.plus(run.tokens)),
            traces: self.traces.clone(),
            steps,
        }
    }
}

/// Shared with `schedule`.
impl PlanRun {
    pub(super) fn state(&self, order: u32) -> Option<&StepState> {
        self.steps.get(self.place(order)?)
    }

    fn place(&self, order: u32) -> Option<usize> {
        self.steps.binary_search_by_key(&order, |state| state.step.order).ok()
    }

    pub(super) fn state_mut(&mut self, order: u32) -> Option<&mut StepState> {
        let place = self.place(order)?;
        self.steps.get_mut(place)
    }

    pub(super) fn record(&mut self, step: Option<u32>, what: PlanRecordKind) {
        let record = PlanRecord { step, calls_left: self.calls_left(), what };
        self.out.push(PlanEffect::Record(record));
    }

    pub(super) fn trace(&mut self, step: u32, name: &str, data: Value) {
        let (name, plan_id) = (name.to_owned(), self.plan.plan_id.clone());
        let trace = PlanTraceRecord { name, plan_id, at_ms: self.now.0, step, data };
        self.traces.push(trace.clone());
        self.record(Some(step), PlanRecordKind::PlanTrace { trace });
    }

    /// The time of the current event.
    pub(super) fn clock(&self) -> EpochMillis {
        EpochMillis(self.origin.0.saturating_add(self.now.0))
    }
}

impl StepState {
    pub(super) fn new(step: PlanStep, kind: AgentKind, calls_left: u32) -> Self {
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
    pub(super) fn kept(step: PlanStep, kind: AgentKind, record: StepRecord) -> Self {
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
