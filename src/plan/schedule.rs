//! Decides which step starts when, and with what context (plans.md#what-a-step-is-told): independent steps in parallel, a gather step
//! when its dependencies have ended, a synthesis step when all steps of smaller order have ended. A step that cannot
//! start is blocked, and lists the steps that block it.

use serde_json::json;

use super::context::{Artifact, Context};
use super::effect::*;
use super::model::{AgentKind, StepStatus, by_order};
use super::run::{Asked, PlanRun};
use super::step_config;
use crate::engine::{Outcome, Task, Trigger, time};

impl PlanRun {
    /// Starts and blocks all steps that are ready, in ascending order; one pass is enough, since steps need smaller
    /// orders only.
    pub(super) fn advance(&mut self) {
        if self.ending.is_some() {
            return;
        }
        let orders: Vec<u32> = self.statuses().filter(|(_, s)| *s == StepStatus::Pending).map(|(o, _)| o).collect();
        for order in orders {
            if self.asked == Asked::Nothing && self.is_ready(order) {
                self.start_or_block(order);
            }
        }
        let at_work = |status| matches!(status, StepStatus::Pending | StepStatus::Running);
        if !self.statuses().any(|(_, status)| at_work(status)) {
            self.finish();
        }
    }

    /// Stop: running steps conclude. Cancel: they end at once. Steps that were not started are cancelled either way.
    pub(super) fn ask(&mut self, asked: Asked) {
        if self.ending.is_some() || asked <= self.asked {
            return;
        }
        self.asked = asked;
        let steps: Vec<(u32, StepStatus)> = self.statuses().collect();
        for (order, status) in steps {
            match (status, asked) {
                (StepStatus::Pending, _) => self.finish_step(order, StepStatus::Cancelled),
                (StepStatus::Running, Asked::Stop) => self.out.push(PlanEffect::StopStep { order }),
                (StepStatus::Running, Asked::Cancel) => self.out.push(PlanEffect::CancelStep { order }),
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
        let context = Context::of(state.kind, session, dependencies);
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
        let Some(state) = self.state(order) else { return };
        let config = step_config::config(&self.options.base, self.plan.agents.get(&state.step.agent), &state.step);
        let started_at = self.clock();
        let task = Task {
            run_id: time::run_id(started_at, config.seed),
            session_id: self.options.session_id.clone(),
            input: context.input(&state.step.action),
            images: Vec::new(),
            history: Vec::new(),
            started_at,
            child: 0,
        };
        let (agent, kind) = (state.step.agent.clone(), state.kind);
        if let Some(state) = self.state_mut(order) {
            state.status = StepStatus::Running;
            state.context = context.clone();
        }
        let run_id = task.run_id.clone();
        self.record(Some(order), PlanRecordKind::StepStarted { agent, kind, run_id, context });
        self.out.push(PlanEffect::StartStep { order, config: Box::new(config), task });
    }

    fn finish(&mut self) {
        let count = |status| {
            let n = self.statuses().filter(|(_, s)| *s == status).count();
            u32::try_from(n).unwrap_or(u32::MAX)
        };
        let completed = count(StepStatus::Completed);
        let outcome = match (self.asked, completed) {
            (Asked::Cancel, _) => Outcome::Cancelled,
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
            wrap_up: (self.asked == Asked::Stop).then_some(Trigger::Stop),
            finished_at: time::rfc3339(self.clock()),
        };
        self.ending = Some(ending.clone());
        self.record(None, PlanRecordKind::PlanFinished { ending });
        self.out.push(PlanEffect::Finish);
    }
}
