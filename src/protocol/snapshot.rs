//! A run as it is seen from outside its worker: a [`Snapshot`] that [`Change`]s bring up to date, and the [`Reporter`] that
//! says what changed. Whoever draws a run needs no engine. A record from a file is read to the same shape.
//!
//! Invariant, property-tested in `tests/sim_run`: a snapshot that took every change shows what the run itself shows.

use serde::{Deserialize, Serialize};

use crate::engine::{
    CallId, CallRecord, Child, Ending, EpochMillis, Image, LogRecord, Parent, Run, RunConfig, Status, TraceRecord,
    Trigger, TurnRecord, Usage,
};
use crate::trajectory::summary::{Tree, Whole};
use crate::trajectory::{Imported, Summary, Trajectory};

/// The visible state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub start: Start,
    pub turns: Vec<TurnRecord>,
    pub segments: Vec<Ending>,
    pub logs: Vec<LogRecord>,
    pub traces: Vec<TraceRecord>,
    pub now: Now,
    /// Sub-agents, in the order they were asked for.
    pub children: Vec<Subagent>,
}

/// The start of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub run_id: String,
    pub session_id: String,
    pub config: RunConfig,
    pub input: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub started_at: EpochMillis,
    /// The run that this one is a branch of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// It is another agent's, read from a file of another format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Now {
    pub status: Status,
    pub can_continue: bool,
    pub requests: u32,
    pub calls_left: u32,
    pub effective_max_turns: u32,
    /// The trigger that asked the open segment to conclude.
    pub wrap_up: Option<Trigger>,
    pub usage: Usage,
    /// US dollars, where the price of every provider used is known.
    pub cost: Option<f64>,
    pub context_percent: Option<u64>,
}

/// One sub-agent, from the moment it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subagent {
    pub asked: Asked,
    /// Once it has begun.
    pub run: Option<Snapshot>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The call that asked for it, and its place among that call's tasks, from 1.
    pub call: CallId,
    pub task_id: u32,
    /// It exceeded the limit.
    pub refused: bool,
}

/// The changes since the last time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// All of it, as a record has it. Nothing comes before or after.
    Whole(Box<Snapshot>),
    /// The run as it began; a branch begins anew.
    Start(Box<Start>),
    /// The number of turns.
    Turns(usize),
    /// A turn without its calls, and how many of these there are.
    Turn {
        at: usize,
        turn: Box<TurnRecord>,
        calls: usize,
    },
    Call {
        turn: usize,
        at: usize,
        call: Box<CallRecord>,
    },
    /// A segment ended.
    Ended(Box<Ending>),
    Log(Box<LogRecord>),
    Trace(TraceRecord),
    Now(Now),
    Subagent {
        at: usize,
        asked: Asked,
        changes: Vec<Change>,
    },
}

/// Reports the changes in a run since the last report. It compares only what can still change: the last turn.
#[derive(Clone, Debug, Default)]
pub struct Reporter {
    /// The ids it had, its own and its session's.
    ids: Option<(String, String)>,
    turns: usize,
    last: Option<TurnRecord>,
    segments: usize,
    logs: usize,
    traces: usize,
    now: Option<Now>,
    children: Vec<(Asked, Reporter)>,
}

impl Start {
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let task = run.task();
        Start {
            run_id: task.run_id.clone(),
            session_id: task.session_id.clone(),
            config: run.config().clone(),
            input: task.input.clone(),
            images: task.images.clone(),
            started_at: task.started_at,
            parent: run.parent().cloned(),
            imported: None,
        }
    }
}

impl Now {
    #[must_use]
    pub fn of(run: &Run) -> Self {
        Now {
            status: run.status(),
            can_continue: run.can_continue(),
            requests: run.requests(),
            calls_left: run.calls_left(),
            effective_max_turns: run.effective_max_turns(),
            wrap_up: run.wrap_up_trigger(),
            usage: run.usage(),
            cost: run.cost(),
            context_percent: run.context_percent(),
        }
    }
}

impl Snapshot {
    /// A run that begins just now, before anything was told of it: its first request is on its way.
    #[must_use]
    pub fn begin(start: Start) -> Self {
        let first = TurnRecord { turn: 1, ..TurnRecord::default() };
        let calls_left = start.config.most_requests();
        let empty = Snapshot::empty(start);
        Snapshot { turns: vec![first], now: Now { calls_left, ..empty.now }, ..empty }
    }

    /// Only the start of a run.
    #[must_use]
    pub fn empty(start: Start) -> Self {
        let now = Now {
            status: Status::Calling { turn: 1, attempt: 1, synthesis: false },
            can_continue: false,
            requests: 0,
            calls_left: 0,
            effective_max_turns: start.config.max_turns,
            wrap_up: None,
            usage: Usage::default(),
            cost: None,
            context_percent: None,
        };
        Snapshot {
            start,
            turns: Vec::new(),
            segments: Vec::new(),
            logs: Vec::new(),
            traces: Vec::new(),
            now,
            children: Vec::new(),
        }
    }

    /// Takes changes in; `None`: it has not begun yet, and they do not begin it.
    #[must_use]
    pub fn after(snapshot: Option<Snapshot>, changes: Vec<Change>) -> Option<Self> {
        let mut changes = changes.into_iter();
        let mut snapshot = match snapshot {
            Some(snapshot) => snapshot,
            None => match changes.next() {
                Some(Change::Start(start)) => Snapshot::empty(*start),
                Some(Change::Whole(whole)) => *whole,
                _ => return None,
            },
        };
        changes.for_each(|change| snapshot.take(change));
        Some(snapshot)
    }

    fn take(&mut self, change: Change) {
        match change {
            Change::Whole(whole) => *self = *whole,
            Change::Start(start) => self.start = *start,
            Change::Turns(count) => self.turns.truncate(count),
            Change::Turn { at, turn, calls } => {
                let mut turn = *turn;
                match self.turns.get_mut(at) {
                    Some(known) => {
                        turn.tool_calls = std::mem::take(&mut known.tool_calls);
                        turn.tool_calls.truncate(calls);
                        *known = turn;
                    }
                    None => self.turns.push(turn),
                }
            }
            Change::Call { turn, at, call } => {
                let Some(turn) = self.turns.get_mut(turn) else { return };
                match turn.tool_calls.get_mut(at) {
                    Some(known) => *known = *call,
                    None => turn.tool_calls.push(*call),
                }
            }
            Change::Ended(ending) => self.segments.push(*ending),
            Change::Log(log) => self.logs.push(*log),
            Change::Trace(trace) => self.traces.push(trace),
            Change::Now(now) => self.now = now,
            Change::Subagent { at, asked, changes } => match self.children.get_mut(at) {
                Some(known) => {
                    known.asked = asked;
                    known.run = Snapshot::after(known.run.take(), changes);
                }
                None => self.children.push(Subagent { asked, run: Snapshot::after(None, changes) }),
            },
        }
    }
}

impl Snapshot {
    /// A record without its turns, logs, traces and sub-agents.
    #[must_use]
    pub fn head(document: &Trajectory) -> Self {
        let start = Start {
            run_id: document.run_id.clone(),
            session_id: document.session_id.clone(),
            config: document.config.clone(),
            input: document.input.clone(),
            images: document.images.clone(),
            started_at: document.started_ms,
            parent: document.parent.clone(),
            imported: document.imported.clone(),
        };
        let now = Now {
            status: Status::Ended,
            can_continue: false,
            requests: document.requests,
            calls_left: 0,
            effective_max_turns: document.effective_max_turns,
            wrap_up: None,
            usage: document.tokens,
            cost: None,
            context_percent: None,
        };
        Snapshot { now, segments: document.segments.clone(), ..Snapshot::empty(start) }
    }

    /// A whole record; sub-agents keep the record's order.
    #[must_use]
    pub fn recorded(document: &Trajectory) -> Self {
        Snapshot {
            turns: document.turns.clone(),
            logs: document.logs.clone(),
            traces: document.traces.clone(),
            children: document.children.iter().map(|child| Subagent::recorded(document, child)).collect(),
            ..Snapshot::head(document)
        }
    }
}

impl Subagent {
    /// One of a record's sub-agents, with the call that started it.
    #[must_use]
    pub fn recorded(document: &Trajectory, child: &Trajectory) -> Self {
        let calls = document.turns.iter().flat_map(|turn| &turn.tool_calls);
        let started = |call: &CallRecord| call.children.iter().position(|run_id| *run_id == child.run_id);
        let (call, place) = calls
            .filter_map(|call| Some((call.id.clone(), started(call)?)))
            .next()
            .unwrap_or((CallId(String::new()), 0));
        let task_id = u32::try_from(place + 1).unwrap_or(u32::MAX);
        Subagent { asked: Asked { call, task_id, refused: false }, run: Some(Snapshot::recorded(child)) }
    }
}

impl Snapshot {
    /// The figures of the run in its current state.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let Snapshot { start, now, .. } = self;
        let whole = Whole {
            run_id: &start.run_id,
            session_id: &start.session_id,
            input: &start.input,
            started_at: start.started_at,
            ending: self.segments.last().filter(|_| now.status == Status::Ended),
            effective_max_turns: now.effective_max_turns,
            requests: now.requests,
            tokens: now.usage,
        };
        Summary::of_tree(&self.tree(), &whole)
    }

    fn tree(&self) -> Tree<'_> {
        let children = self.children.iter().filter_map(|child| child.run.as_ref());
        let Snapshot { start, turns, logs, .. } = self;
        Tree { config: &start.config, turns, logs, children: children.map(Snapshot::tree).collect() }
    }
}

impl Reporter {
    /// What changed since the last time; all of it the first time.
    pub fn changes(&mut self, run: &Run) -> Vec<Change> {
        let mut changes = Vec::new();
        let (task, traces) = (run.task(), run.traces().iter().skip(self.traces));
        // What it started with changes by a branch only; that of a sub-agent's parent gives it another session.
        let branched = traces.clone().any(|trace| trace.name == "branched");
        let ids = (&task.run_id, &task.session_id);
        if branched || self.ids.as_ref().map(|(run, session)| (run, session)) != Some(ids) {
            self.ids = Some((task.run_id.clone(), task.session_id.clone()));
            changes.push(Change::Start(Box::new(Start::of(run))));
            // A branch takes back its last turn: what it keeps is reported again.
            if std::mem::take(&mut self.turns) > 0 {
                changes.push(Change::Turns(0));
                self.last = None;
            }
        }
        self.report_turns(run.turns(), &mut changes);
        let rest = |known: &mut usize, all: usize| std::mem::replace(known, all);
        let segments = run.segments().iter().skip(rest(&mut self.segments, run.segments().len()));
        changes.extend(segments.map(|ending| Change::Ended(Box::new(ending.clone()))));
        let logs = run.logs().iter().skip(rest(&mut self.logs, run.logs().len()));
        changes.extend(logs.map(|log| Change::Log(Box::new(log.clone()))));
        self.traces = run.traces().len();
        changes.extend(traces.cloned().map(Change::Trace));
        self.report_children(run.children(), &mut changes);
        let now = Now::of(run);
        if self.now != Some(now) {
            self.now = Some(now);
            changes.push(Change::Now(now));
        }
        changes
    }

    /// Only the last turn is ever written to.
    fn report_turns(&mut self, turns: &[TurnRecord], changes: &mut Vec<Change>) {
        let first = self.turns.saturating_sub(1);
        self.turns = turns.len();
        for (at, turn) in turns.iter().enumerate().skip(first) {
            let known = self.last.take().filter(|_| at == first);
            self.report_turn(at, turn, known.as_ref(), changes);
        }
        self.last = turns.last().cloned();
    }

    fn report_turn(&self, at: usize, turn: &TurnRecord, known: Option<&TurnRecord>, changes: &mut Vec<Change>) {
        if known == Some(turn) {
            return;
        }
        let head = TurnRecord { tool_calls: Vec::new(), ..turn.clone() };
        changes.push(Change::Turn { at, turn: Box::new(head), calls: turn.tool_calls.len() });
        for (place, call) in turn.tool_calls.iter().enumerate() {
            if known.and_then(|known| known.tool_calls.get(place)) != Some(call) {
                changes.push(Change::Call { turn: at, at: place, call: Box::new(call.clone()) });
            }
        }
    }

    fn report_children(&mut self, children: &[Child], changes: &mut Vec<Change>) {
        for (at, child) in children.iter().enumerate() {
            let asked = Asked { call: child.call.clone(), task_id: child.task_id, refused: child.is_refused() };
            let new = at >= self.children.len();
            if new {
                self.children.push((asked.clone(), Reporter::default()));
            }
            let Some((known, reporter)) = self.children.get_mut(at) else { return };
            let inside = child.run().map(|run| reporter.changes(run)).unwrap_or_default();
            if new || *known != asked || !inside.is_empty() {
                known.clone_from(&asked);
                changes.push(Change::Subagent { at, asked, changes: inside });
            }
        }
    }
}
