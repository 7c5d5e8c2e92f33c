//! Sub-agents as lanes below the call that started them: one line each. The turns of a sub-agent are built from
//! [`RunSource::child`], only when a user opens it.

use serde_json::Value;

use turnwise_engine::own_tools::{self, SubagentTask};
use turnwise_engine::{CallRecord, Slug, Status};
use turnwise_protocol::snapshot::Subagent;

use super::action;
use super::ending::{self, Tone};
use super::meter::{Meter, Tick, TickState};
use super::source::{Children, RunSource, SourceOrigin};
use turnwise_content::format::{counted, duration, one_line};

/// The maximum number of ticks drawn in a line.
const TICKS: usize = 16;

/// One sub-agent, in one line.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    /// The call that started it, and its number among that call's tasks, from 1: together they are its key.
    pub call: String,
    pub task_id: u32,
    pub task: String,
    /// The kind of agent, if one was named.
    pub agent: Option<String>,
    pub state: LaneState,
    /// `turn 3 of 7, running search_files`, `8 turns, synthesized`
    pub words: String,
    pub ticks: Vec<Tick>,
    pub time: LaneTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    Waiting,
    Running,
    /// It is writing its synthesis.
    Concluding,
    Ended(Tone),
    /// It never began.
    NotRun,
}

/// The time it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneTime {
    None,
    /// It has been running since this time, in milliseconds since 1970.
    Since(u64),
    Took(String),
}

/// One task of a call, with the run started for it.
struct Lane<'a> {
    task_id: u32,
    asked: SubagentTask,
    run: Option<RunSource<'a>>,
    state: LaneState,
    /// The reason it did not begin, if the call is not answered yet.
    why_not: &'static str,
}

impl LaneView {
    /// Returns the lanes of the turn at an index of the source's list, in the order in which they were requested.
    #[must_use]
    pub fn of_turn(source: &RunSource<'_>, index: usize) -> Vec<Self> {
        let calls = source.turns.get(index).map(|turn| turn.tool_calls.as_slice()).unwrap_or_default();
        calls.iter().flat_map(|call| lanes(source, call).into_iter().map(|lane| LaneView::new(call, lane))).collect()
    }

    fn new(call: &CallRecord, lane: Lane<'_>) -> Self {
        let text = match (lane.state, &lane.run) {
            (LaneState::Waiting, _) => "waiting to start".to_owned(),
            (LaneState::NotRun, _) | (_, None) => {
                why_not(call, lane.task_id).unwrap_or_else(|| lane.why_not.to_owned())
            }
            (_, Some(run)) => state_text(run),
        };
        LaneView {
            call: call.id.0.clone(),
            task_id: lane.task_id,
            task: one_line(&lane.asked.task, 200),
            agent: lane.asked.agent,
            state: lane.state,
            words: text,
            ticks: lane.run.as_ref().map(ticks).unwrap_or_default(),
            time: lane.run.as_ref().map_or(LaneTime::None, time),
        }
    }

    /// Returns the whole task, if the line does not show all of it.
    #[must_use]
    pub fn whole(&self, task: &str) -> Option<String> {
        (task.trim() != self.task).then(|| task.to_owned())
    }

    /// Returns the text shown in place of a transcript.
    #[must_use]
    pub fn nothing_yet(&self) -> &'static str {
        match self.state {
            LaneState::Waiting => "It starts when another sub-agent ends.",
            LaneState::Running | LaneState::Concluding | LaneState::Ended(_) | LaneState::NotRun => {
                "It did not run, so it has no transcript."
            }
        }
    }
}

/// The number of sub-agents, in total and by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub asked: u64,
    pub done: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub not_run: u64,
}

impl Tally {
    /// Counts the sub-agents of the whole run.
    #[must_use]
    pub fn from_source(source: &RunSource<'_>) -> Self {
        Tally::over(source, source.turns.iter().flat_map(|turn| &turn.tool_calls))
    }

    /// `5 sub-agents, 3 done`: shown in place of a call's arguments; `None` if the call has no sub-agents.
    pub(super) fn of_call(source: &RunSource<'_>, call: &CallRecord) -> Option<String> {
        let tally = Tally::over(source, std::iter::once(call));
        if tally.asked == 0 {
            return None;
        }
        let done = match (tally.done, call.result.is_some()) {
            (done, _) if done == tally.asked => "all done".to_owned(),
            (0, false) => "none done yet".to_owned(),
            (done, _) => format!("{done} done"),
        };
        Some(format!("{}, {done}{}", counted(tally.asked, "sub-agent"), tally.rest()))
    }

    /// `3 of 5 done, 1 failed`; `None` if there are no sub-agents.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        (self.asked > 0).then(|| format!("{} of {} done{}", self.done, self.asked, self.rest()))
    }

    /// Returns the announcement for when one ends; `None` while all are running.
    #[must_use]
    pub fn announcement(&self) -> Option<String> {
        let ended = self.done + self.failed + self.cancelled;
        let text = self.summary().filter(|_| ended > 0)?;
        Some(format!("Sub-agents: {text}."))
    }

    fn rest(&self) -> String {
        let each = [(self.failed, "failed"), (self.cancelled, "stopped"), (self.not_run, "not run")];
        each.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!(", {count} {word}")).collect()
    }

    fn over<'r>(source: &RunSource<'_>, calls: impl Iterator<Item = &'r CallRecord>) -> Self {
        let mut tally = Tally::default();
        for lane in calls.flat_map(|call| lanes(source, call)) {
            tally.asked += 1;
            match lane.state {
                LaneState::Ended(Tone::Complete | Tone::Synthesized) => tally.done += 1,
                LaneState::Ended(Tone::Failed) => tally.failed += 1,
                LaneState::Ended(Tone::Cancelled) => tally.cancelled += 1,
                LaneState::NotRun => tally.not_run += 1,
                LaneState::Waiting | LaneState::Running | LaneState::Concluding => {}
            }
        }
        tally
    }
}

impl<'a> RunSource<'a> {
    /// Returns the sub-agent for a task of a call (numbered from 1), once it has begun.
    #[must_use]
    pub fn child(&self, call: &str, task_id: u32) -> Option<RunSource<'a>> {
        let mut calls = self.turns.iter().flat_map(|turn| &turn.tool_calls);
        self.child_of(calls.find(|record| record.id.0 == call)?, task_id)
    }

    fn child_of(&self, call: &CallRecord, task_id: u32) -> Option<RunSource<'a>> {
        match self.children {
            Children::Live(children) => {
                let is_this_task = |child: &&Subagent| child.asked.call == call.id && child.asked.task_id == task_id;
                let run = children.iter().find(is_this_task)?.run.as_ref().map(RunSource::from)?;
                Some(if self.origin == SourceOrigin::Document { run.recorded() } else { run })
            }
            Children::Run(children) => {
                let child = children.iter().find(|child| child.call == call.id && child.task_id == task_id)?;
                child.run().map(RunSource::from)
            }
            // They begin in the order of the tasks, so those that never began are last.
            Children::Document(children) => {
                let run_id = call.children.get(usize::try_from(task_id).ok()?.checked_sub(1)?)?;
                children.iter().find(|child| child.run_id == *run_id).map(RunSource::from)
            }
        }
    }

    /// Returns whether a call requested sub-agents and was not rejected.
    fn has_children(&self, call: &CallRecord) -> bool {
        match self.origin {
            // Other agents start sub-agents with tools of other names.
            SourceOrigin::Document => {
                !call.children.is_empty() || (call.name == own_tools::SPAWN && reports(call).is_some())
            }
            SourceOrigin::Session | SourceOrigin::Interrupted | SourceOrigin::Elsewhere => {
                call.name == own_tools::SPAWN && self.refused(&call.id.0, 1).is_some()
            }
        }
    }
}

fn lanes<'a>(source: &RunSource<'a>, call: &CallRecord) -> Vec<Lane<'a>> {
    if !source.has_children(call) {
        return Vec::new();
    }
    let mut asked = own_tools::subagent_tasks(&call.args);
    if asked.is_empty() {
        let task = |place| source.child_of(call, place).map(|run| run.input.to_owned()).unwrap_or_default();
        let all = u32::try_from(call.children.len()).unwrap_or(u32::MAX);
        asked.extend((1..=all).map(|place| SubagentTask { task: task(place), max_turns: None, agent: None }));
    }
    let tasks = (1..).zip(asked);
    let lane = |(task_id, asked)| {
        let run = source.child_of(call, task_id);
        let (state, why_not) = match &run {
            Some(run) => (state(run), ""),
            None => unbegun(source, call, task_id),
        };
        Lane { task_id, asked, run, state, why_not }
    };
    tasks.map(lane).collect()
}

fn unbegun(source: &RunSource<'_>, call: &CallRecord, task_id: u32) -> (LaneState, &'static str) {
    let refused = source.refused(&call.id.0, task_id) == Some(true);
    let over = call.result.is_some() || source.wrap_up.is_some() || source.status == Status::Ended;
    match (source.origin, refused) {
        (_, true) => (LaneState::NotRun, "not run: over the limit"),
        (SourceOrigin::Document | SourceOrigin::Interrupted, false) => (LaneState::NotRun, "not started"),
        (SourceOrigin::Session | SourceOrigin::Elsewhere, false) if over => {
            (LaneState::NotRun, "stopped before it began")
        }
        (SourceOrigin::Session | SourceOrigin::Elsewhere, false) => (LaneState::Waiting, ""),
    }
}

fn state(run: &RunSource<'_>) -> LaneState {
    match (run.status, run.segments.last()) {
        (Status::Ended, Some(ending)) => LaneState::Ended(ending::tone(ending)),
        // Files of other agents do not say how a sub-agent ended, only that it did.
        (Status::Ended, None) if run.imported.is_some() => LaneState::Ended(Tone::Complete),
        // A document that was written while the sub-agent was running.
        (Status::Ended, None) => LaneState::Ended(Tone::Cancelled),
        (Status::Calling { synthesis: true, .. } | Status::Waiting { synthesis: true, .. }, _) => LaneState::Concluding,
        (Status::Calling { .. } | Status::Waiting { .. } | Status::Tools { .. }, _) => LaneState::Running,
    }
}

fn state_text(run: &RunSource<'_>) -> String {
    let (turn, max) = (run.turns_used(), run.effective_max_turns);
    match (run.status, run.segments.last()) {
        (Status::Ended, Some(ending)) => ending::short(ending),
        (Status::Ended, None) if run.imported.is_some() => counted(u64::from(turn), "turn"),
        (Status::Ended, None) => format!("{turn} of {max} turns, unfinished"),
        (Status::Calling { synthesis: true, .. } | Status::Waiting { synthesis: true, .. }, _) => {
            "writing the synthesis".to_owned()
        }
        (Status::Calling { .. }, _) => format!("turn {turn} of {max}, asking the model"),
        (Status::Waiting { .. }, _) => format!("turn {turn} of {max}, waiting to try again"),
        (Status::Tools { .. }, _) => format!("turn {turn} of {max}, {}", action::running(run.last_calls())),
    }
}

/// Returns the answer to the call for a task that no sub-agent worked on.
fn why_not(call: &CallRecord, task_id: u32) -> Option<String> {
    if call.slug == Some(Slug::Cancelled) {
        return Some("stopped before it began".to_owned());
    }
    let is_this_task = |report: &Value| report.get("task_id").and_then(Value::as_u64) == Some(u64::from(task_id));
    let report = reports(call)?.into_iter().find(is_this_task)?;
    report.get("report").and_then(Value::as_str).map(|text| one_line(text, 80))
}

fn reports(call: &CallRecord) -> Option<Vec<Value>> {
    serde_json::from_str(call.result.as_deref()?.lines().next()?).ok()
}

/// Returns the ticks. Turns ahead are included only while the run can still reach them and there is room.
fn ticks(run: &RunSource<'_>) -> Vec<Tick> {
    let mut ticks = Meter::from(run).ticks;
    if run.status == Status::Ended || ticks.len() > TICKS {
        ticks.retain(|tick| tick.state != TickState::Ahead);
    }
    ticks.split_off(ticks.len().saturating_sub(TICKS))
}

fn time(run: &RunSource<'_>) -> LaneTime {
    match (run.status, run.elapsed_ms()) {
        (Status::Ended, 0) => LaneTime::None,
        (Status::Ended, ms) => LaneTime::Took(duration(ms)),
        (Status::Calling { .. } | Status::Waiting { .. } | Status::Tools { .. }, _) => {
            LaneTime::Since(run.started_at.0)
        }
    }
}
