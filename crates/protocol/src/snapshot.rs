//! A run as seen from outside its worker: a [`Snapshot`] that [`SnapshotChange`]s keep up to date, and the [`Reporter`] that reports
//! the changes. Code that displays a run needs no engine. A record from a file is converted to the same shape.
//!
//! Invariant, property-tested in `tests/native/sim_run`: a snapshot with every change applied shows the same as the run itself.

use serde::{Deserialize, Serialize};

use turnwise_engine::{
    BranchChanges, CallId, CallRecord, ChildRun, Ending, EpochMillis, Image, LogRecord, Parent, Run, RunConfig, Status,
    TraceRecord, Trigger, TurnRecord, Usage,
};
use turnwise_record::trajectory::summary::{RunTree, Whole};
use turnwise_record::trajectory::{Imported, Note, RunSummary, Trajectory};

/// The visible state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub start: SnapshotStart,
    pub turns: Vec<TurnRecord>,
    pub segments: Vec<Ending>,
    pub logs: Vec<LogRecord>,
    pub traces: Vec<TraceRecord>,
    pub now: Now,
    /// Sub-agents, in the order in which they were requested.
    pub children: Vec<Subagent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// The start of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SnapshotStart {
    pub run_id: String,
    pub session_id: String,
    pub config: RunConfig,
    pub input: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    pub started_at: EpochMillis,
    /// The run that this one branched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// What each branch on the way to this run changed, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchChanges>,
    /// Set if the run is from another agent, imported from a file of another format.
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
    /// In US dollars, if the price of every provider used is known.
    pub cost: Option<f64>,
    pub context_percent: Option<u64>,
}

/// One sub-agent, from the moment it was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subagent {
    pub asked: SubagentRequest,
    /// Set once it has begun.
    pub run: Option<Snapshot>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentRequest {
    /// The call that requested it, and its number among that call's tasks, from 1.
    pub call: CallId,
    pub task_id: u32,
    /// It exceeded the limit on sub-agents.
    pub refused: bool,
}

/// A change since the last report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotChange {
    /// The whole run, from a record. There are no other changes.
    Whole(Box<Snapshot>),
    /// The start of the run; a branch has a new one.
    Start(Box<SnapshotStart>),
    /// Truncates to this number of turns.
    Turns(usize),
    /// A turn without its tool calls, and their number.
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
        asked: SubagentRequest,
        changes: Vec<SnapshotChange>,
    },
    /// All notes of the run. They are not part of the run, so what keeps them reports them.
    Notes(Vec<Note>),
}

/// Reports the changes in a run since the last report. It compares only the part that can still change: the last turn.
#[derive(Clone, Debug, Default)]
pub struct Reporter {
    /// The ids at the last report: the run's and the session's.
    ids: Option<(String, String)>,
    turns: usize,
    last: Option<TurnRecord>,
    segments: usize,
    logs: usize,
    traces: usize,
    now: Option<Now>,
    children: Vec<(SubagentRequest, Reporter)>,
}

impl SnapshotStart {
    #[must_use]
    pub fn from_run(run: &Run) -> Self {
        let task = run.task();
        SnapshotStart {
            run_id: task.run_id.clone(),
            session_id: task.session_id.clone(),
            config: run.config().clone(),
            input: task.input.clone(),
            images: task.images.clone(),
            started_at: task.started_at,
            parent: run.parent().cloned(),
            branches: run.branches().to_vec(),
            imported: None,
        }
    }
}

impl Now {
    #[must_use]
    pub fn from_run(run: &Run) -> Self {
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
    /// A run that is just beginning, before its first report: its first request is on its way.
    #[must_use]
    pub fn begin(start: SnapshotStart) -> Self {
        let first = TurnRecord { turn: 1, ..TurnRecord::default() };
        let calls_left = start.config.most_requests();
        let empty = Snapshot::empty(start);
        Snapshot { turns: vec![first], now: Now { calls_left, ..empty.now }, ..empty }
    }

    /// A run of which only the start is known.
    #[must_use]
    pub fn empty(start: SnapshotStart) -> Self {
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
            notes: Vec::new(),
        }
    }

    /// Applies changes. `None`: the run has not begun yet, and the changes do not begin it.
    #[must_use]
    pub fn after(snapshot: Option<Snapshot>, changes: Vec<SnapshotChange>) -> Option<Self> {
        let mut changes = changes.into_iter();
        let mut snapshot = match snapshot {
            Some(snapshot) => snapshot,
            None => match changes.next() {
                Some(SnapshotChange::Start(start)) => Snapshot::empty(*start),
                Some(SnapshotChange::Whole(whole)) => *whole,
                _ => return None,
            },
        };
        changes.for_each(|change| snapshot.take(change));
        Some(snapshot)
    }

    fn take(&mut self, change: SnapshotChange) {
        match change {
            SnapshotChange::Whole(whole) => *self = *whole,
            SnapshotChange::Start(start) => self.start = *start,
            SnapshotChange::Turns(count) => self.turns.truncate(count),
            SnapshotChange::Turn { at, turn, calls } => {
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
            SnapshotChange::Call { turn, at, call } => {
                let Some(turn) = self.turns.get_mut(turn) else { return };
                match turn.tool_calls.get_mut(at) {
                    Some(known) => *known = *call,
                    None => turn.tool_calls.push(*call),
                }
            }
            SnapshotChange::Ended(ending) => self.segments.push(*ending),
            SnapshotChange::Log(log) => self.logs.push(*log),
            SnapshotChange::Trace(trace) => self.traces.push(trace),
            SnapshotChange::Now(now) => self.now = now,
            SnapshotChange::Notes(notes) => self.notes = notes,
            SnapshotChange::Subagent { at, asked, changes } => match self.children.get_mut(at) {
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
        let start = SnapshotStart {
            run_id: document.run_id.clone(),
            session_id: document.session_id.clone(),
            config: document.config.clone(),
            input: document.input.clone(),
            images: document.images.clone(),
            started_at: document.started_ms,
            parent: document.parent.clone(),
            branches: document.branches(),
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
        let (segments, notes) = (document.segments.clone(), document.notes.clone());
        Snapshot { now, segments, notes, ..Snapshot::empty(start) }
    }

    /// A whole record. Sub-agents keep the record's order.
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
        Subagent { asked: SubagentRequest { call, task_id, refused: false }, run: Some(Snapshot::recorded(child)) }
    }
}

impl Snapshot {
    /// Returns the figures of the run in its current state.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
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
        RunSummary::of_tree(&self.tree(), &whole)
    }

    fn tree(&self) -> RunTree<'_> {
        let children = self.children.iter().filter_map(|child| child.run.as_ref());
        let Snapshot { start, turns, logs, .. } = self;
        RunTree { config: &start.config, turns, logs, children: children.map(Snapshot::tree).collect() }
    }
}

impl Reporter {
    /// Returns the changes since the last report; the first report contains everything.
    pub fn changes(&mut self, run: &Run) -> Vec<SnapshotChange> {
        let mut changes = Vec::new();
        let (task, traces) = (run.task(), run.traces().iter().skip(self.traces));
        // Only a branch and an adopter change the start; a branch of the parent gives its sub-agents another session.
        let branched = traces.clone().any(|trace| matches!(trace.name.as_str(), "branched" | "adopted"));
        let ids = (&task.run_id, &task.session_id);
        if branched || self.ids.as_ref().map(|(run, session)| (run, session)) != Some(ids) {
            self.ids = Some((task.run_id.clone(), task.session_id.clone()));
            changes.push(SnapshotChange::Start(Box::new(SnapshotStart::from_run(run))));
            // A branch removes turns: those it keeps are reported again.
            if std::mem::take(&mut self.turns) > 0 {
                changes.push(SnapshotChange::Turns(0));
                self.last = None;
            }
        }
        self.report_turns(run.turns(), &mut changes);
        let rest = |known: &mut usize, all: usize| std::mem::replace(known, all);
        let segments = run.segments().iter().skip(rest(&mut self.segments, run.segments().len()));
        changes.extend(segments.map(|ending| SnapshotChange::Ended(Box::new(ending.clone()))));
        let logs = run.logs().iter().skip(rest(&mut self.logs, run.logs().len()));
        changes.extend(logs.map(|log| SnapshotChange::Log(Box::new(log.clone()))));
        self.traces = run.traces().len();
        changes.extend(traces.cloned().map(SnapshotChange::Trace));
        self.report_children(run.children(), &mut changes);
        let now = Now::from_run(run);
        if self.now != Some(now) {
            self.now = Some(now);
            changes.push(SnapshotChange::Now(now));
        }
        changes
    }

    /// Reports turns from the last known one on: only the last turn is ever modified.
    fn report_turns(&mut self, turns: &[TurnRecord], changes: &mut Vec<SnapshotChange>) {
        let first = self.turns.saturating_sub(1);
        self.turns = turns.len();
        for (at, turn) in turns.iter().enumerate().skip(first) {
            let known = self.last.take().filter(|_| at == first);
            self.report_turn(at, turn, known.as_ref(), changes);
        }
        self.last = turns.last().cloned();
    }

    fn report_turn(&self, at: usize, turn: &TurnRecord, known: Option<&TurnRecord>, changes: &mut Vec<SnapshotChange>) {
        if known == Some(turn) {
            return;
        }
        let head = TurnRecord { tool_calls: Vec::new(), ..turn.clone() };
        changes.push(SnapshotChange::Turn { at, turn: Box::new(head), calls: turn.tool_calls.len() });
        for (place, call) in turn.tool_calls.iter().enumerate() {
            if known.and_then(|known| known.tool_calls.get(place)) != Some(call) {
                changes.push(SnapshotChange::Call { turn: at, at: place, call: Box::new(call.clone()) });
            }
        }
    }

    fn report_children(&mut self, children: &[ChildRun], changes: &mut Vec<SnapshotChange>) {
        for (at, child) in children.iter().enumerate() {
            let asked =
                SubagentRequest { call: child.call.clone(), task_id: child.task_id, refused: child.is_refused() };
            let new = at >= self.children.len();
            if new {
                self.children.push((asked.clone(), Reporter::default()));
            }
            let Some((known, reporter)) = self.children.get_mut(at) else { return };
            let inside = child.run().map(|run| reporter.changes(run)).unwrap_or_default();
            if new || *known != asked || !inside.is_empty() {
                known.clone_from(&asked);
                changes.push(SnapshotChange::Subagent { at, asked, changes: inside });
            }
        }
    }
}
