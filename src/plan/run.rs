//! The plan run: `start`, `handle`, and its queries. `schedule` decides which step starts when.
//!
//! Invariants (plans.md#how-a-step-ends), property-tested in `tests/native/plan_sim`: a step starts only when all steps it needs have
//! ended; it receives exactly the context of the rule, in whatever order the others ended; each step ends in one
//! status; the bound only shrinks; a serialized and reloaded plan run behaves like the original.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::{PlanDocument, StepRecord};
use super::effect::*;
use super::model::{Plan, PlanOptions, StepStatus, by_order};
use super::state::StepState;
use super::step_run::StepRun;
use super::{rerun, step_config};
use crate::engine::{EpochMillis, Millis, Outcome, time};
use crate::trajectory::Trajectory;

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
    pub(super) asked: Asked,
    pub(super) ending: Option<PlanEnding>,
    /// Time since `origin`.
    pub(super) now: Millis,
    /// Effects of the current event; empty between events.
    #[serde(skip)]
    pub(super) out: Vec<PlanEffect>,
}

/// The user's request about the plan as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Asked {
    Nothing,
    Stop,
    Cancel,
}

impl PlanRun {
    /// Starts a plan run; returns it and its first effects. The plan must come from [`super::read`].
    #[must_use]
    pub fn start(mut plan: Plan, mut options: PlanOptions) -> (PlanRun, Vec<PlanEffect>) {
        let after = options.after.take();
        let from = options.from.take();
        plan.steps = by_order(plan.steps, |step| step.order);
        if plan.plan_id.is_empty() {
            let earlier = after.as_ref().map(|after| after.plan_id.clone());
            plan.plan_id = earlier.unwrap_or_else(|| plan_id(options.started_at, options.base.seed));
        }
        let origin = after.as_ref().map_or(options.started_at, |after| after.started_ms.min(options.started_at));
        let mut kept = after.as_deref().map(|after| rerun::kept(&plan, after, from)).unwrap_or_default();
        let orders: Vec<u32> = kept.iter().map(|record| record.order).collect();
        let traces = after.map(|after| after.traces).unwrap_or_default();
        let mut bound = step_config::bounds(&plan, &options.base);
        let mut states = Vec::new();
        for step in &plan.steps {
            let kind = plan.kind(step);
            states.push(match kept.iter().position(|record| record.order == step.order) {
                Some(at) => StepState::kept(step.clone(), kind, kept.swap_remove(at)),
                None => StepState::new(step.clone(), kind, bound(step)),
            });
        }
        drop(bound);
        let mut run = PlanRun {
            steps: states,
            traces: traces.into_iter().filter(|trace| orders.contains(&trace.step)).collect(),
            now: Millis(options.started_at.0.saturating_sub(origin.0)),
            plan,
            options,
            origin,
            asked: Asked::Nothing,
            ending: None,
            out: Vec::new(),
        };
        let started = PlanRecordKind::PlanStarted {
            plan_id: run.plan.plan_id.clone(),
            session_id: run.options.session_id.clone(),
            plan: run.plan.clone(),
            kept: orders,
        };
        run.record(None, started);
        run.advance();
        let effects = std::mem::take(&mut run.out);
        (run, effects)
    }

    /// Handles one event. Total: it never panics. `at` counts from `PlanOptions::started_at`.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: PlanEvent) -> Vec<PlanEffect> {
        let earlier = self.options.started_at.0.saturating_sub(self.origin.0);
        self.now = self.now.max(Millis(earlier.saturating_add(at.0)));
        match event {
            PlanEvent::StepProgress { order, calls_left } => {
                if let Some(state) = self.running(order) {
                    state.calls_left = state.calls_left.min(calls_left);
                }
            }
            PlanEvent::StepEnded { order, run } => self.step_ended(order, &run),
            PlanEvent::StepRefused { order, message } => {
                if let Some(state) = self.running(order) {
                    state.error = Some(message);
                    self.finish_step(order, StepStatus::Failed);
                    self.advance();
                }
            }
            PlanEvent::StopRequested => self.ask(Asked::Stop),
            PlanEvent::Cancelled => self.ask(Asked::Cancel),
        }
        std::mem::take(&mut self.out)
    }

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
    pub fn document(&self, live: impl FnMut(u32) -> Option<Trajectory>) -> PlanDocument {
        PlanDocument::of(self, live)
    }
}

/// Shared by the sibling files.
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

    /// Ends a step and reports it.
    pub(super) fn finish_step(&mut self, order: u32, status: StepStatus) {
        let Some(state) = self.state_mut(order) else { return };
        state.end(status);
        let finished = PlanRecordKind::StepFinished {
            status,
            blocked_by: state.blocked_by.clone(),
            output: state.output().map(str::to_owned),
            error: state.error.clone(),
        };
        self.record(Some(order), finished);
    }

    fn running(&mut self, order: u32) -> Option<&mut StepState> {
        self.state_mut(order).filter(|state| state.status == StepStatus::Running)
    }

    fn step_ended(&mut self, order: u32, run: &Trajectory) {
        let Some(state) = self.running(order) else { return };
        let status = match run.outcome {
            Some(Outcome::Success | Outcome::Partial) => StepStatus::Completed,
            Some(Outcome::Cancelled) => StepStatus::Cancelled,
            Some(Outcome::Failed) | None => StepStatus::Failed,
        };
        if status == StepStatus::Failed {
            state.error = run.error.clone().or_else(|| run.output.clone());
        }
        state.run = Some(StepRun::of(run));
        self.finish_step(order, status);
        self.advance();
    }
}

/// `plan_YYYYMMDD_HHMMSS_` and 6 hex digits, like a run's id.
fn plan_id(at: EpochMillis, seed: u64) -> String {
    time::run_id(at, seed).replacen("run_", "plan_", 1)
}
