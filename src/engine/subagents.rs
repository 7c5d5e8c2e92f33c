//! Sub-agents: child runs of the same machine, asked for by `spawn_subagents` (SEMANTICS 9).
//!
//! A child is a [`Run`] of its own inside its parent: it has its own turns, counter, synthesis and bound. The ids of its
//! requests, timers and tool calls say whose they are, so that events find it and the shell needs no second driver. Its
//! clock begins at its own start. Invariant: each child that was asked for gives exactly one report, in order.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::{Place, State};
use super::caps::MAX_CALLS;
use super::failure::Slug;
use super::own_tools::too_many;
use super::result::{Answer, cut};
use super::run::{Phase, Run};
use super::spawn::{self, Asked};
use super::success::{CallKind, Offer};
use super::*;

/// One sub-agent, from the moment it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Child {
    /// From 1 over the whole run: what the ids of its requests and timers carry.
    pub id: u32,
    /// The call that asked for it, and its place among that call's tasks, from 1.
    pub call: CallId,
    pub task_id: u32,
    /// The kind of agent, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Since the parent started; what the child's own times count from.
    pub started: Millis,
    pub(super) state: ChildState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildState {
    /// It waits until fewer others run.
    Queued(Asked),
    Started(Box<Run>),
    /// It was to run, and then the run was stopped or cancelled.
    Dropped(String),
    /// One too many.
    Refused(String),
}

impl Child {
    /// The child's run, once it has started.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        match &self.state {
            ChildState::Started(run) => Some(run),
            _ => None,
        }
    }

    /// It exceeded the limit; every other one counts.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.state, ChildState::Refused(_))
    }

    fn settled(&self) -> bool {
        match &self.state {
            ChildState::Queued(_) => false,
            ChildState::Started(run) => run.phase == Phase::Ended,
            ChildState::Dropped(_) | ChildState::Refused(_) => true,
        }
    }
}

impl Run {
    /// Every sub-agent so far, in the order they were asked for.
    #[must_use]
    pub fn children(&self) -> &[Child] {
        &self.children
    }

    /// The arguments of a `spawn_subagents` call are in order: its children begin, as many as may run at once.
    pub(super) fn spawn(&mut self, index: usize, place: Place) {
        if self.wrap_up.is_some() {
            return self.answer(index, Answer::of(ToolOutcome::Stopped));
        }
        let args = self.with_record(place, |r| r.args.clone()).unwrap_or_default();
        let Some(call) = self.open_call(index).map(|open| open.call.id.clone()) else { return };
        let tasks = spawn::asked(&args);
        if tasks.len() > MAX_CALLS {
            return self.answer(index, too_many(tasks.len(), "tasks"));
        }
        let mut some = false;
        for (task_id, asked) in (1..).zip(tasks) {
            let most = self.config.limits.children;
            let room = self.children_used() < most;
            let agent = asked.agent.clone();
            let state = match room {
                true => ChildState::Queued(asked),
                false => ChildState::Refused(format!("not run: at most {most} sub-agents work for one run")),
            };
            some |= room;
            let id = u32::try_from(self.children.len()).unwrap_or(u32::MAX).saturating_add(1);
            self.children.push(Child { id, call: call.clone(), task_id, agent, started: self.now, state });
        }
        if let Some(open) = self.open_call(index) {
            (open.state, open.executed) = (State::Expanded, some);
        }
        self.start_children();
    }

    /// The child that an event is for; `None`: it is for this run.
    pub(super) fn addressee(&self, event: &Event) -> Option<usize> {
        let own = self.task.child;
        let of_id = |child: u32| self.children.iter().position(|c| child != own && c.id == child);
        match event {
            Event::ModelReplied { request, .. }
            | Event::ModelFailed { request, .. }
            | Event::ModelStreamed { request, .. } => of_id(request.child()),
            Event::TimerFired { timer } => of_id(timer.child()),
            Event::ToolFinished { call, .. } => {
                self.children.iter().position(|c| c.run().is_some_and(|run| run.has_running(call)))
            }
            Event::StopRequested
            | Event::Cancelled
            | Event::TurnsGranted { .. }
            | Event::Resumed { .. }
            | Event::Branched(_) => None,
        }
    }

    pub(super) fn child_event(&mut self, at: usize, event: Event) {
        let now = self.now;
        let budget = self.children.get(at).and_then(Child::run).map(|run| self.left_for(run));
        self.with_child(at, |run, started| {
            run.budget = budget;
            run.handle(Millis(now.0.saturating_sub(started.0)), event)
        });
        // The usage of one child counts for all: an exhausted budget ends the others' work, too.
        if let Some(trigger) = self.spent().filter(|_| !self.concluding()) {
            self.wrap_up(trigger);
        }
        self.start_children();
        self.pump();
    }

    /// Wrapping up reaches every child: each concludes, and those that wait never begin.
    pub(super) fn stop_children(&mut self, trigger: Trigger) {
        self.drop_queued("stopped before it began");
        for at in 0..self.children.len() {
            self.with_child(at, |run, _| {
                run.wrap_up(trigger);
                run.take_effects()
            });
        }
    }

    pub(super) fn cancel_children(&mut self) {
        self.drop_queued("cancelled before it began");
        let now = self.now;
        for at in 0..self.children.len() {
            self.with_child(at, |run, started| run.handle(Millis(now.0.saturating_sub(started.0)), Event::Cancelled));
        }
        let Phase::Tools(calls) = &self.phase else { return };
        let open =
            calls.open.iter().enumerate().filter(|(_, c)| c.kind == CallKind::Spawn && c.state == State::Expanded);
        let open: Vec<usize> = open.map(|(index, _)| index).collect();
        for index in open {
            self.answer(index, Answer::of(ToolOutcome::Cancelled));
        }
    }

    /// A call is answered when all its children have ended: an array of their reports, in order.
    pub(super) fn close_spawns(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let ready = calls.open.iter().enumerate().filter(|(_, c)| {
            c.kind == CallKind::Spawn
                && c.state == State::Expanded
                && self.children.iter().filter(|child| child.call == c.call.id).all(Child::settled)
        });
        let ready: Vec<(usize, CallId)> = ready.map(|(index, c)| (index, c.call.id.clone())).collect();
        for (index, call) in ready {
            let reports = self.reports(&call);
            let started = self.open_call(index).is_some_and(|open| open.executed);
            let (slug, error) = match started {
                true => (None, None),
                false => (Some(Slug::ToolLimit), Some("no sub-agent could be started".to_owned())),
            };
            self.answer(index, Answer { content: reports.to_string(), slug, error });
        }
    }

    /// LLM requests that sub-agents can still make, those included that may yet be asked for.
    pub(super) fn children_calls_left(&self) -> u32 {
        if self.phase == Phase::Ended || !self.config.spawns() {
            return 0;
        }
        let asked = self.children.iter().map(|child| match &child.state {
            ChildState::Queued(asked) => spawn::bound(&self.config, asked),
            ChildState::Started(run) => run.calls_left(),
            ChildState::Dropped(_) | ChildState::Refused(_) => 0,
        });
        let asked = asked.fold(0, u32::saturating_add);
        let more = self.synthesis.is_none() && self.wrap_up.is_none() && self.offer() != Offer::ReportOnly;
        if !more {
            return asked;
        }
        let free = self.config.limits.children.saturating_sub(self.children_used());
        asked.saturating_add(free.saturating_mul(spawn::most(&self.config)))
    }

    /// How much of the limit is used up. Those that were dropped count: the bound only shrinks.
    fn children_used(&self) -> u32 {
        let used = self.children.iter().filter(|c| !c.is_refused()).count();
        u32::try_from(used).unwrap_or(u32::MAX)
    }

    pub(super) fn start_children(&mut self) {
        let most = self.config.limits.parallel_tools.max(1) as usize;
        let started_at = self.clock();
        for at in 0..self.children.len() {
            let working = self.children.iter().filter(|c| c.run().is_some() && !c.settled()).count();
            let Some(child) = self.children.get_mut(at) else { return };
            let ChildState::Queued(asked) = &child.state else { continue };
            if working >= most {
                return;
            }
            let id = child.id;
            let config = spawn::config(&self.config, asked, id);
            let task = Task {
                run_id: time::run_id(started_at, config.seed),
                session_id: self.task.session_id.clone(),
                input: asked.task.clone(),
                images: Vec::new(),
                history: Vec::new(),
                started_at,
                child: id,
            };
            let (run_id, call) = (task.run_id.clone(), child.call.clone());
            let (run, effects) = Run::start(config, task);
            (child.state, child.started) = (ChildState::Started(Box::new(run)), self.now);
            if let Some(record) = self.turns.last_mut().and_then(|t| t.tool_calls.iter_mut().find(|r| r.id == call)) {
                record.children.push(run_id);
            }
            self.absorb(at, effects);
        }
    }

    /// One step of a child that has started and not ended.
    pub(super) fn with_child(&mut self, at: usize, step: impl FnOnce(&mut Run, Millis) -> Vec<Effect>) {
        let Some(child) = self.children.get_mut(at).filter(|c| !c.settled()) else { return };
        let started = child.started;
        let ChildState::Started(run) = &mut child.state else { return };
        let effects = step(run, started);
        self.absorb(at, effects);
    }

    /// The shell performs a child's effects unchanged; its notifications are marked as the child's.
    fn absorb(&mut self, at: usize, effects: Vec<Effect>) {
        let Some(child) = self.children.get(at).map(|c| c.id) else { return };
        for effect in effects {
            match effect {
                Effect::Record(record) => self.record(RecordKind::Child { child, event: Box::new(record) }),
                Effect::Finish => {}
                other => self.emit(other),
            }
        }
    }

    /// They belong to another session from now on.
    pub(super) fn rename_children(&mut self, session_id: &str) {
        for child in &mut self.children {
            if let ChildState::Started(run) = &mut child.state {
                session_id.clone_into(&mut run.task.session_id);
            }
        }
    }

    fn drop_queued(&mut self, why: &str) {
        for child in self.children.iter_mut().filter(|c| matches!(c.state, ChildState::Queued(_))) {
            child.state = ChildState::Dropped(why.to_owned());
        }
    }

    fn reports(&mut self, call: &CallId) -> Value {
        let max = self.config.limits.max_result_chars;
        let mut kept = Vec::new();
        let mut reports = Vec::new();
        for child in self.children.iter().filter(|c| c.call == *call) {
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
            self.kept.insert(handle.clone());
            self.emit(Effect::KeepResult { handle, content });
        }
        Value::Array(reports)
    }
}
