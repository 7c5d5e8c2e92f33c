//! The data that a view is built from, borrowed: the same shape for a live run and for a document from disk.

use std::borrow::Cow;

use turnwise_engine::judge::{AtLimit, Policy};
use turnwise_engine::{
    BranchChanges, BranchPart, CallRecord, ChildRun, Ending, EpochMillis, Image, LogRecord, Parent, Run, RunConfig,
    Status, TraceRecord, Trigger, TurnRecord, Usage,
};
use turnwise_protocol::Snapshot;
use turnwise_protocol::snapshot::Subagent;
use turnwise_record::trajectory::{Imported, Note, Trajectory};

/// The readable state of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunSource<'a> {
    pub config: &'a RunConfig,
    pub input: &'a str,
    /// The pictures of the task.
    pub images: &'a [Image],
    pub started_at: EpochMillis,
    pub turns: &'a [TurnRecord],
    pub segments: &'a [Ending],
    pub logs: &'a [LogRecord],
    pub traces: &'a [TraceRecord],
    pub usage: Usage,
    /// US dollars, if the price of every provider used is known.
    pub cost: Option<f64>,
    /// How full the model's context window is, if its size is known.
    pub context_percent: Option<u64>,
    /// The trigger that asked the open segment to conclude.
    pub wrap_up: Option<Trigger>,
    pub requests: u32,
    pub calls_left: u32,
    pub effective_max_turns: u32,
    pub status: Status,
    pub can_continue: bool,
    pub origin: SourceOrigin,
    /// Set if the record was read from a file of another format.
    pub imported: Option<&'a Imported>,
    /// Set for a branch: the run it comes from.
    pub parent: Option<&'a Parent>,
    pub branches: Branches<'a>,
    pub notes: &'a [Note],
    pub children: Children<'a>,
}

/// The sub-agents of a run, in the form in which they are stored.
#[derive(Clone, Copy, Debug)]
pub enum Children<'a> {
    /// Includes sub-agents that are waiting or never began.
    Live(&'a [Subagent]),
    /// The same in the run's own worker.
    Run(&'a [ChildRun]),
    /// Only sub-agents that began.
    Document(&'a [Trajectory]),
}

/// What the branches on the way to a run changed, in the form in which it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Branches<'a> {
    Known(&'a [BranchChanges]),
    Document(&'a Trajectory),
}

/// The origin of the data, which decides what can be done with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOrigin {
    /// It can continue.
    Session,
    /// No page drives it: its page was closed during the run. It can be resumed.
    Interrupted,
    /// Another page drives it, and this one follows.
    Elsewhere,
    /// A document, for reading only.
    Document,
}

/// The turns that belong to a segment, and the limit it ran under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSpan {
    /// Indices into the turns, `start..end`.
    pub start: usize,
    pub end: usize,
    pub max_turns: u32,
}

impl<'a> From<&'a Run> for RunSource<'a> {
    fn from(run: &'a Run) -> Self {
        RunSource {
            config: run.config(),
            input: &run.task().input,
            images: &run.task().images,
            started_at: run.task().started_at,
            turns: run.turns(),
            segments: run.segments(),
            logs: run.logs(),
            traces: run.traces(),
            usage: run.usage(),
            cost: run.cost(),
            context_percent: run.context_percent(),
            wrap_up: run.wrap_up_trigger(),
            requests: run.requests(),
            calls_left: run.calls_left(),
            effective_max_turns: run.effective_max_turns(),
            status: run.status(),
            can_continue: run.can_continue(),
            origin: SourceOrigin::Session,
            imported: None,
            parent: run.parent(),
            branches: Branches::Known(run.branches()),
            notes: &[],
            children: Children::Run(run.children()),
        }
    }
}

impl<'a> From<&'a Snapshot> for RunSource<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        let Snapshot { start, turns, segments, logs, traces, now, children, notes } = snapshot;
        RunSource {
            config: &start.config,
            input: &start.input,
            images: &start.images,
            started_at: start.started_at,
            turns,
            segments,
            logs,
            traces,
            usage: now.usage,
            cost: now.cost,
            context_percent: now.context_percent,
            wrap_up: now.wrap_up,
            requests: now.requests,
            calls_left: now.calls_left,
            effective_max_turns: now.effective_max_turns,
            status: now.status,
            can_continue: now.can_continue,
            origin: SourceOrigin::Session,
            imported: start.imported.as_ref(),
            parent: start.parent.as_ref(),
            branches: Branches::Known(&start.branches),
            notes,
            children: Children::Live(children),
        }
    }
}

impl<'a> From<&'a Trajectory> for RunSource<'a> {
    /// A document counts as ended, even if it was written before the run ended.
    fn from(document: &'a Trajectory) -> Self {
        RunSource {
            config: &document.config,
            input: &document.input,
            images: &document.images,
            started_at: document.started_ms,
            turns: &document.turns,
            segments: &document.segments,
            logs: &document.logs,
            traces: &document.traces,
            usage: document.tokens,
            cost: None,
            context_percent: None,
            wrap_up: None,
            requests: document.requests,
            calls_left: 0,
            effective_max_turns: document.effective_max_turns,
            status: Status::Ended,
            can_continue: false,
            origin: SourceOrigin::Document,
            imported: document.imported.as_ref(),
            parent: document.parent.as_ref(),
            branches: Branches::Document(document),
            notes: &document.notes,
            children: Children::Document(&document.children),
        }
    }
}

impl<'a> Branches<'a> {
    #[must_use]
    pub fn list(self) -> Cow<'a, [BranchChanges]> {
        match self {
            Branches::Known(branches) => Cow::Borrowed(branches),
            Branches::Document(document) => Cow::Owned(document.branches()),
        }
    }
}

impl RunSource<'_> {
    /// Returns whether a call's task (numbered from 1) was one sub-agent too many; `None` if no sub-agent was requested for it,
    /// or if that is not known.
    pub(super) fn refused(&self, call: &str, task_id: u32) -> Option<bool> {
        match self.children {
            // A record contains only the sub-agents that began.
            _ if self.origin == SourceOrigin::Document => None,
            Children::Live(children) => {
                let of = |child: &&Subagent| child.asked.call.0 == call && child.asked.task_id == task_id;
                children.iter().find(of).map(|child| child.asked.refused)
            }
            Children::Run(children) => {
                let of = |child: &&ChildRun| child.call.0 == call && child.task_id == task_id;
                children.iter().find(of).map(ChildRun::is_refused)
            }
            Children::Document(_) => None,
        }
    }

    /// Returns the source as a record: it counts as ended, even if it was written before the run ended.
    #[must_use]
    pub fn recorded(self) -> Self {
        RunSource { origin: SourceOrigin::Document, status: Status::Ended, can_continue: false, ..self }
    }

    /// Returns the source as a run that was left open, and that can be read and resumed.
    #[must_use]
    pub fn interrupted(self) -> Self {
        RunSource { origin: SourceOrigin::Interrupted, status: Status::Ended, can_continue: false, ..self }
    }

    /// Returns the source as a run that another page drives.
    #[must_use]
    pub fn elsewhere(self) -> Self {
        RunSource { origin: SourceOrigin::Elsewhere, can_continue: false, ..self }
    }

    /// Returns the turns of a segment.
    pub(super) fn turns_of(&self, segment: usize) -> &[TurnRecord] {
        let spans = self.spans();
        spans.get(segment).and_then(|span| self.turns.get(span.start..span.end)).unwrap_or_default()
    }

    /// Returns the segments, including the open one. A turn belongs to the first segment whose `total_turns` reaches it.
    #[must_use]
    pub fn spans(&self) -> Vec<SegmentSpan> {
        let mut spans = Vec::with_capacity(self.segments.len() + 1);
        let mut start = 0;
        for ending in self.segments {
            let rest = self.turns.get(start..).unwrap_or_default();
            let length = rest.iter().take_while(|turn| turn.turn <= ending.total_turns).count();
            spans.push(SegmentSpan { start, end: start + length, max_turns: ending.effective_max_turns });
            start += length;
        }
        if self.status != Status::Ended || self.segments.is_empty() || start < self.turns.len() {
            spans.push(SegmentSpan { start, end: self.turns.len(), max_turns: self.effective_max_turns });
        }
        spans
    }

    /// Returns the tool calls of the last turn.
    pub(super) fn last_calls(&self) -> &[CallRecord] {
        self.turns.last().map(|turn| turn.tool_calls.as_slice()).unwrap_or_default()
    }

    /// Returns the requests of its turns. A branch repeats a turn, or takes a changed reply instead of asking for one: the engine has counted
    /// a request there that nobody sent for this run.
    pub(super) fn requests_answered(&self) -> u32 {
        let unsent = |branch: &BranchChanges| 1 + u32::from(branch.parts.contains(&BranchPart::Reply));
        let unsent = self.branches.list().iter().map(unsent).fold(0, u32::saturating_add);
        self.requests.saturating_sub(unsent)
    }

    /// Returns the last turn within the limit; a synthesis is outside of it.
    pub(super) fn turns_used(&self) -> u32 {
        self.turns.iter().rev().find(|turn| !turn.synthesis).map_or(0, |turn| turn.turn)
    }

    /// Returns the time from the start of the run to the end of its last activity, without the pauses between its segments.
    pub(super) fn elapsed_ms(&self) -> u64 {
        last_moment(self.turns).saturating_sub(self.paused_ms())
    }

    /// Returns for how long the run had ended before somebody granted it more turns, in total.
    pub(super) fn paused_ms(&self) -> u64 {
        if self.segments.is_empty() {
            return 0;
        }
        let spans = self.spans();
        let turns = |span: &SegmentSpan| self.turns.get(span.start..span.end).unwrap_or_default();
        let pauses = spans.iter().zip(spans.iter().skip(1)).filter_map(|(ended, next)| {
            let attempt = turns(next).first()?.attempts.first()?;
            Some(attempt.started_ms.saturating_sub(last_moment(turns(ended))))
        });
        pauses.sum()
    }

    /// Returns whether only a report is accepted, as in the last turn of a strict run (strict.md#the-contract).
    pub(super) fn asks_for_report(&self, record: &TurnRecord, max_turns: u32) -> bool {
        !record.synthesis && record.turn >= max_turns && forces_report(self.config)
    }
}

/// Returns when the last activity in these turns ended, in milliseconds of the run.
fn last_moment(turns: &[TurnRecord]) -> u64 {
    let ends = turns.iter().rev().take(2).flat_map(|turn| {
        let attempts = turn.attempts.iter().map(|attempt| attempt.started_ms + attempt.duration_ms.unwrap_or(0));
        let calls = turn.tool_calls.iter().map(|call| call.started_ms + call.duration_ms.unwrap_or(0));
        attempts.chain(calls)
    });
    ends.max().unwrap_or(0)
}

/// Returns whether the last turn of a run accepts only a report.
pub(super) fn forces_report(config: &RunConfig) -> bool {
    Policy::for_preset(config.preset).at_limit == AtLimit::ForcedFinal
}

/// Returns the title of a run: its task. A record from another tool may have none.
pub(super) fn task_title(input: &str) -> &str {
    if input.trim().is_empty() { "A run without a task" } else { input }
}
