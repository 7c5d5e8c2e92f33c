//! The rules of a plan run: `start` and `handle`, and which step starts when, with what context (plans.md#what-a-step-is-told). Independent
//! steps run in parallel; a gather step starts when its dependencies have ended, a synthesis step when all steps of smaller
//! order have ended. A step that cannot start is blocked, and lists the steps that block it.
//!
//! Invariants, property-tested in `tests/plan_sim`: a step starts only when all steps it needs have ended; it receives
//! exactly the context of the rule, in whatever order the others ended; each step ends in one status; the bound only
//! shrinks; a serialized and reloaded plan run behaves like the original.

use serde_json::json;

use super::context::{Artifact, Context};
use super::effect::{PlanEffect, PlanEnding, PlanEvent, PlanRecordKind};
use super::model::{AgentKind, Plan, StepStatus, by_order};
use super::run::{PlanOptions, PlanRun, StepState, UserRequest};
use super::step_run::StepRun;
use super::{rerun, step_config};
use turnwise_engine::{EpochMillis, Millis, Outcome, Task, Trigger, time};

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
            asked: UserRequest::Nothing,
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
            PlanEvent::StepEnded { order, run } => self.step_ended(order, StepRun::from_document(&run)),
            PlanEvent::StepRefused { order, message } => {
                if let Some(state) = self.running(order) {
                    state.error = Some(message);
                    self.finish_step(order, StepStatus::Failed);
                    self.advance();
                }
            }
            PlanEvent::Resumed => {
                self.resume_steps();
                self.advance();
            }
            PlanEvent::StopRequested => self.ask(UserRequest::Stop),
            PlanEvent::Cancelled => self.ask(UserRequest::Cancel),
        }
        std::mem::take(&mut self.out)
    }

    fn running(&mut self, order: u32) -> Option<&mut StepState> {
        self.state_mut(order).filter(|state| state.status == StepStatus::Running)
    }

    pub(super) fn step_ended(&mut self, order: u32, run: StepRun) {
        let Some(state) = self.running(order) else { return };
        let status = match run.outcome {
            Some(Outcome::Success | Outcome::Partial) => StepStatus::Completed,
            Some(Outcome::Cancelled) => StepStatus::Cancelled,
            Some(Outcome::Failed) | None => StepStatus::Failed,
        };
        if status == StepStatus::Failed {
            state.error = run.error.clone().or_else(|| run.output.clone());
        }
        state.run = Some(run);
        self.finish_step(order, status);
        self.advance();
    }

    /// Starts and blocks all steps that are ready, in ascending order; one pass is enough, since steps need smaller
    /// orders only.
    fn advance(&mut self) {
        if self.ending.is_some() {
            return;
        }
        let orders: Vec<u32> = self.statuses().filter(|(_, s)| *s == StepStatus::Pending).map(|(o, _)| o).collect();
        for order in orders {
            if self.asked == UserRequest::Nothing && self.is_ready(order) {
                self.start_or_block(order);
            }
        }
        let at_work = |status| matches!(status, StepStatus::Pending | StepStatus::Running);
        if !self.statuses().any(|(_, status)| at_work(status)) {
            self.finish();
        }
    }

    /// Stop: running steps conclude. Cancel: they end at once. Steps that were not started are cancelled either way.
    fn ask(&mut self, asked: UserRequest) {
        if self.ending.is_some() || asked <= self.asked {
            return;
        }
        self.asked = asked;
        let steps: Vec<(u32, StepStatus)> = self.statuses().collect();
        for (order, status) in steps {
            match (status, asked) {
                (StepStatus::Pending, _) => self.finish_step(order, StepStatus::Cancelled),
                (StepStatus::Running, UserRequest::Stop) => self.out.push(PlanEffect::StopStep { order }),
                (StepStatus::Running, UserRequest::Cancel) => self.out.push(PlanEffect::CancelStep { order }),
                _ => {}
            }
        }
        self.advance();
    }

    /// Whether everything the step needs has ended, completed or not.
    fn is_ready(&self, order: u32) -> bool {
        let Some(state) = self.state(order) else { return false };
        match state.kind {
            AgentKind::Synthesis => self.steps.iter().all(|s| s.step.order >= order || s.status.ended()),
            AgentKind::Gather => {
                let needed = state.step.dependencies.iter().filter_map(|needed| self.state(*needed));
                needed.into_iter().all(|needed| needed.status.ended() || needed.step.order >= order)
            }
        }
    }

    fn start_or_block(&mut self, order: u32) {
        let Some(state) = self.state(order) else { return };
        let (kind, agent) = (state.kind, state.step.agent.clone());
        let blocked_by = match kind {
            AgentKind::Gather => self.incomplete(&state.step.dependencies),
            AgentKind::Synthesis => Vec::new(),
        };
        if blocked_by.is_empty() && self.running_steps() >= self.options.parallel.max(1) {
            return;
        }
        self.trace(order, "synthesis_check", json!({ "agent": agent, "is_synthesis": kind == AgentKind::Synthesis }));
        if !blocked_by.is_empty() {
            return self.block(order, blocked_by);
        }
        match self.context_of(order) {
            Some(context) => self.start_step(order, context),
            None => {
                let before: Vec<u32> = self.statuses().map(|(o, _)| o).filter(|o| *o < order).collect();
                self.block(order, self.incomplete(&before));
            }
        }
    }

    /// The given steps that did not complete, in ascending order.
    fn incomplete(&self, orders: &[u32]) -> Vec<u32> {
        let completed = |order: u32| self.state(order).is_some_and(|s| s.status == StepStatus::Completed);
        by_order(orders.iter().copied().filter(|order| !completed(*order)), |order| *order)
    }

    fn running_steps(&self) -> usize {
        self.statuses().filter(|(_, status)| *status == StepStatus::Running).count()
    }

    fn block(&mut self, order: u32, blocked_by: Vec<u32>) {
        if let Some(state) = self.state_mut(order) {
            state.blocked_by = blocked_by;
        }
        self.finish_step(order, StepStatus::Blocked);
    }

    /// The step's context, with the traces of how it was put together. `None`: a synthesis step without any results.
    fn context_of(&mut self, order: u32) -> Option<Context> {
        let state = self.state(order)?;
        let artifact = |needed: &u32| self.state(*needed).and_then(|state| state.artifact());
        let dependencies: Vec<Artifact> = state.step.dependencies.iter().filter_map(artifact).collect();
        let before = self.steps.iter().filter(|s| s.step.order < order);
        let session: Vec<Artifact> = match state.kind {
            AgentKind::Gather if dependencies.is_empty() => return Some(Context::default()),
            AgentKind::Gather => Vec::new(),
            AgentKind::Synthesis => before.filter_map(|state| state.artifact()).collect(),
        };
        let context = Context::for_kind(state.kind, session, dependencies);
        let collected = context.clone().unwrap_or_default();
        let found = collected.artifacts().len();
        self.trace(order, "previous_steps_found", json!({ "current_order": order, "count": found }));
        for Artifact { step_order, agent, tools, .. } in collected.artifacts() {
            let data = json!({ "key": collected.key(), "step_order": step_order, "agent": agent, "tools": tools });
            self.trace(order, "context_step_added", data);
        }
        self.trace(order, "context_total", json!({ "key": collected.key(), "count": found }));
        context
    }

    fn start_step(&mut self, order: u32, context: Context) {
        if let Some(state) = self.state_mut(order) {
            state.status = StepStatus::Running;
            state.context = context;
        }
        self.send_step(order);
    }

    /// Has the shell run a step with the context that it was given.
    pub(super) fn send_step(&mut self, order: u32) {
        let Some(state) = self.state(order) else { return };
        let config = step_config::config(&self.options.base, self.plan.agents.get(&state.step.agent), &state.step);
        let context = state.context.clone();
        let started_at = self.clock();
        let task = Task {
            run_id: time::run_id(started_at, config.seed),
            session_id: self.options.session_id.clone(),
            input: context.input(&state.step.action),
            images: Vec::new(),
            history: Vec::new(),
            refused_tokens: None,
            started_at,
            child: 0,
        };
        let (agent, kind) = (state.step.agent.clone(), state.kind);
        let run_id = task.run_id.clone();
        self.record(Some(order), PlanRecordKind::StepStarted { agent, kind, run_id, context });
        self.out.push(PlanEffect::StartStep { order, config: Box::new(config), task });
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

    fn finish(&mut self) {
        let count = |status| {
            let n = self.statuses().filter(|(_, s)| *s == status).count();
            u32::try_from(n).unwrap_or(u32::MAX)
        };
        let completed = count(StepStatus::Completed);
        let outcome = match (self.asked, completed) {
            (UserRequest::Cancel, _) => Outcome::Cancelled,
            (_, 0) => Outcome::Failed,
            (_, n) if n as usize == self.steps.len() => Outcome::Success,
            _ => Outcome::Partial,
        };
        let last = self.steps.iter().rev().find_map(|state| Some((state.step.order, state.output()?.to_owned())));
        let ending = PlanEnding {
            outcome,
            output: last.as_ref().map_or_else(|| "No step of the plan completed.".to_owned(), |(_, text)| text.clone()),
            output_step: last.map(|(order, _)| order),
            completed,
            failed: count(StepStatus::Failed),
            blocked: count(StepStatus::Blocked),
            cancelled: count(StepStatus::Cancelled),
            wrap_up: (self.asked == UserRequest::Stop).then_some(Trigger::Stop),
            finished_at: time::rfc3339(self.clock()),
        };
        self.ending = Some(ending.clone());
        self.record(None, PlanRecordKind::PlanFinished { ending });
        self.out.push(PlanEffect::Finish);
    }
}

/// `plan_YYYYMMDD_HHMMSS_` and 6 hex digits, like a run's id.
fn plan_id(at: EpochMillis, seed: u64) -> String {
    time::run_id(at, seed).replacen("run_", "plan_", 1)
}
