//! Sub-agents: child runs of the same machine, requested by `spawn_subagents` (subagents.md).
//!
//! A child is a [`Run`] of its own inside its parent: it has its own turns, counter, synthesis and bound. The ids of its
//! requests, timers and tool calls identify it, so events are routed to it and the shell needs no second driver. Its
//! clock begins at its own start. Invariant: each child that was requested gives exactly one report, in order.

use serde_json::{Value, json};

use super::config::{Permissions, Scope};
use super::failure::Slug;
use super::ids::{CallId, EpochMillis, Millis};
use super::interface::{Effect, Event, ToolOutcome};
use super::own_tools::SubagentTask;
use super::record::{Outcome, RecordKind, TerminationReason, Trigger};
use super::run::{ChildRun, ChildState, Run, Task};
use super::tool_round::{CallAnswer, cut};
use super::{setup, time};

/// The life of the children of one call.
impl Run {
    /// Requests a child for each task, as far as the limit allows, and starts as many as may run at once.
    pub(super) fn spawn(&mut self, call: &CallId, tasks: Vec<SubagentTask>) {
        for (task_id, task) in (1..).zip(tasks) {
            let most = self.config.limits.children;
            let has_room = self.children_used() < most;
            let agent = task.agent.clone();
            let state = match has_room {
                true => ChildState::Queued(task),
                false => ChildState::Refused(format!("not run: at most {most} sub-agents work for one run")),
            };
            if has_room {
                self.with_round(|round, _| round.mark_executed(call));
            }
            let id = u32::try_from(self.family.children.len()).unwrap_or(u32::MAX).saturating_add(1);
            self.family.children.push(ChildRun {
                id,
                call: call.clone(),
                task_id,
                agent,
                started: self.clock.now,
                state,
            });
        }
        self.start_children();
    }

    /// Starts queued children, as many as may run at once.
    pub(super) fn start_children(&mut self) {
        let most = self.config.limits.parallel_tools.max(1) as usize;
        let started_at = self.world_time();
        for at in 0..self.family.children.len() {
            let is_working = |child: &&ChildRun| child.run().is_some() && !child.has_settled();
            let working = self.family.children.iter().filter(is_working).count();
            let Some(child) = self.family.children.get_mut(at) else { return };
            let ChildState::Queued(task) = &child.state else { continue };
            if working >= most {
                return;
            }
            let config = setup::child_config(&self.config, task, child.id);
            let task = Task {
                run_id: time::run_id(started_at, config.seed),
                session_id: self.task.session_id.clone(),
                input: task.task.clone(),
                images: Vec::new(),
                history: Vec::new(),
                refused_tokens: self.context.refused_at,
                started_at,
                child: child.id,
            };
            let (run_id, call) = (task.run_id.clone(), child.call.clone());
            let (mut run, effects) = Run::start_knowing(config, task, self.learnt.clone());
            run.consent = self.consent.clone();
            (child.state, child.started) = (ChildState::Started(Box::new(run)), self.clock.now);
            let calls = self.book.turns.last_mut().map(|turn| turn.tool_calls.iter_mut());
            if let Some(record) = calls.and_then(|mut calls| calls.find(|record| record.id == call)) {
                record.children.push(run_id);
            }
            self.absorb(at, effects);
        }
    }

    /// An event of a child.
    pub(super) fn child_event(&mut self, at: usize, event: Event) {
        let now = self.clock.now;
        let budget = self.family.children.get(at).and_then(ChildRun::run).map(|run| self.budget_for(run));
        self.with_child(at, |run, started| {
            run.family.budget = budget;
            run.handle(since(started, now), event)
        });
        // The usage of one child counts for all: an exhausted budget also ends the work of the others.
        if let Some(trigger) = self.spent().filter(|_| !self.is_concluding()) {
            self.wrap_up(trigger);
        }
        self.start_children();
        self.advance_round();
    }

    /// Answers each call whose children have all ended: an array of their reports, in order.
    pub(super) fn close_spawns(&mut self) {
        let spawned = self.round().map(|round| round.spawned()).unwrap_or_default();
        for call in spawned {
            if !self.family.children.iter().filter(|child| child.call == call).all(ChildRun::has_settled) {
                continue;
            }
            let content = self.child_reports(&call).to_string();
            let (slug, error) = match self.round().is_some_and(|round| round.was_executed(&call)) {
                true => (None, None),
                false => (Some(Slug::ToolLimit), Some("no sub-agent could be started".to_owned())),
            };
            self.with_round(|round, parts| {
                round.answer_spawn(parts, &call, CallAnswer { slug, error, ..CallAnswer::text(content) });
            });
        }
    }

    /// Asks every child to wrap up: each concludes, and queued ones never start.
    pub(super) fn stop_children(&mut self, trigger: Trigger) {
        self.drop_queued("stopped before it began");
        for at in 0..self.family.children.len() {
            self.with_child(at, |run, _| {
                run.wrap_up(trigger);
                run.take_effects()
            });
        }
    }

    pub(super) fn cancel_children(&mut self, keeps_text: bool) {
        self.drop_queued("cancelled before it began");
        let now = self.clock.now;
        for at in 0..self.family.children.len() {
            self.with_child(at, |run, started| run.handle(since(started, now), Event::Cancelled { keeps_text }));
        }
        for call in self.round().map(|round| round.spawned()).unwrap_or_default() {
            let answer = CallAnswer::from_outcome(ToolOutcome::Cancelled);
            self.with_round(|round, parts| round.answer_spawn(parts, &call, answer));
        }
    }

    /// Passes an answer on: it may reach beyond the run that asked.
    pub(super) fn permit_children(&mut self, call: &CallId, tool: &str, allow: bool, scope: Scope) {
        let now = self.clock.now;
        for child in 0..self.family.children.len() {
            self.with_child(child, |run, started| {
                run.clock.now = run.clock.now.max(since(started, now));
                run.permit(call, tool, allow, scope);
                run.take_effects()
            });
        }
    }

    /// Tells the children that other rules decide which calls run.
    pub(super) fn set_child_permissions(&mut self, permissions: &Permissions) {
        for child in 0..self.family.children.len() {
            self.with_child(child, |run, _| {
                run.set_permissions(permissions);
                run.take_effects()
            });
        }
    }

    /// Tells the children that they have a new driver.
    pub(super) fn resume_children(&mut self, at: EpochMillis) {
        let now = self.clock.now;
        for child in 0..self.family.children.len() {
            self.with_child(child, |run, started| {
                run.handle(since(started, now), Event::Resumed { at, authority: None })
            });
        }
    }

    /// Moves the children to another session.
    pub(super) fn rename_children(&mut self, session_id: &str) {
        for child in &mut self.family.children {
            if let ChildState::Started(run) = &mut child.state {
                session_id.clone_into(&mut run.task.session_id);
            }
        }
    }

    fn drop_queued(&mut self, why: &str) {
        for child in self.family.children.iter_mut().filter(|c| matches!(c.state, ChildState::Queued(_))) {
            child.state = ChildState::Dropped(why.to_owned());
        }
    }
}

/// Events in, effects and reports out.
impl Run {
    /// The child that an event is for; `None`: it is for this run.
    pub(super) fn child_index_of(&self, event: &Event) -> Option<usize> {
        let own = self.task.child;
        let numbered = |child: u32| self.family.children.iter().position(|c| child != own && c.id == child);
        match event {
            Event::ModelReplied { request, .. }
            | Event::ModelFailed { request, .. }
            | Event::ModelStreamed { request, .. } => numbered(request.child()),
            Event::TimerFired { timer } => numbered(timer.child()),
            Event::ToolFinished { call, .. } | Event::ToolAsked { call, .. } => {
                self.family.children.iter().position(|c| c.run().is_some_and(|run| run.is_running_call(call)))
            }
            // An answer can concern the whole tree.
            Event::Permitted { .. }
            | Event::PermissionsSet { .. }
            | Event::StopRequested
            | Event::Cancelled { .. }
            | Event::TurnsGranted { .. }
            | Event::Resumed { .. }
            | Event::Branched(_) => None,
        }
    }

    /// One step of a child that has started and not ended.
    fn with_child(&mut self, at: usize, step: impl FnOnce(&mut Run, Millis) -> Vec<Effect>) {
        let Some(child) = self.family.children.get_mut(at).filter(|c| !c.has_settled()) else { return };
        let started = child.started;
        let ChildState::Started(run) = &mut child.state else { return };
        let effects = step(run, started);
        self.absorb(at, effects);
    }

    /// The shell performs a child's effects unchanged; its notifications are marked as the child's.
    fn absorb(&mut self, at: usize, effects: Vec<Effect>) {
        let Some(child) = self.family.children.get(at).map(|c| c.id) else { return };
        for effect in effects {
            match effect {
                Effect::Record(record) => self.record(RecordKind::Child { child, event: Box::new(record) }),
                Effect::Finish => {}
                other => self.emit(other),
            }
        }
    }

    fn child_reports(&mut self, call: &CallId) -> Value {
        let max = self.config.limits.max_result_chars;
        let mut kept = Vec::new();
        let mut reports = Vec::new();
        for child in self.family.children.iter().filter(|c| c.call == *call) {
            let ending = child.run().and_then(Run::ending);
            let good = ending.is_some_and(|e| matches!(e.outcome, Outcome::Success | Outcome::Partial));
            let synthesized = ending.is_some_and(|e| matches!(e.termination_reason, TerminationReason::Synthesized(_)));
            let mut report = match (&child.state, ending) {
                (ChildState::Dropped(why) | ChildState::Refused(why), _) => why.clone(),
                (_, ending) => ending.map(|e| e.output.clone()).unwrap_or_default(),
            };
            let handle = CallId(format!("{call}_report_{}", child.task_id));
            if let Some(short) = cut(&report, max, &handle) {
                kept.push((handle, std::mem::replace(&mut report, short)));
            }
            reports.push(json!({
                "task_id": child.task_id,
                "report": report,
                "status": if good { "success" } else { "failed" },
                "synthesized": synthesized,
                "turns": ending.map_or(0, |e| e.total_turns),
            }));
        }
        for (handle, content) in kept {
            self.keep_result(handle, content);
        }
        Value::Array(reports)
    }
}

fn since(started: Millis, now: Millis) -> Millis {
    Millis(now.0.saturating_sub(started.0))
}
