//! One turn of the transcript: its text, its tool calls, its failures.

use turnwise_engine::{BranchChanges, BranchPart, CounterLevel, Status, Trigger, TurnRecord, own_tools};

use super::action;
use super::attempt::{self, FailedAttempt, PartialView};
use super::call::CallView;
use super::ending::{self, trigger_words};
use super::lane::Tally;
use super::lines::AddedLines;
use super::meter;
use super::skills;
use super::source::{RunSource, SegmentSpan};
use turnwise_content::format::sentence_case;

/// Said at a turn whose reply a branch changed.
pub const CHANGED: &str = "This reply was changed by hand";

#[derive(Clone, Debug, PartialEq)]
pub struct TurnView {
    /// Index among the run's turns: the key of the list.
    pub index: usize,
    pub number: u32,
    /// The limit it ran under; `None` for a synthesis, which is outside it.
    pub of: Option<u32>,
    pub kind: TurnKind,
    pub level: CounterLevel,
    /// The same for users who cannot see the margin.
    pub label: String,
    /// A remark, if the turn is special: `Last turn: only a report is accepted.`
    pub remark: Option<String>,
    pub failed: Vec<FailedAttempt>,
    /// What had arrived of the reply when the page was closed.
    pub left: Option<PartialView>,
    pub reasoning: String,
    /// The reply's text, Markdown; empty while it streams.
    pub content: String,
    /// Set if a branch changed the reply: the run that has the original.
    pub changed_from: Option<String>,
    /// Without the calls of failed attempts, which are in `failed`.
    pub calls: Vec<CallView>,
    pub counter: Option<CounterLine>,
    pub live: Option<Activity>,
    /// Whether the reply became the report.
    pub is_final: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnKind {
    Turn,
    /// Set apart, with the reason it was requested: `Synthesis: the turn limit was reached`.
    Synthesis {
        title: String,
    },
}

/// The counter line exactly as the model read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterLine {
    pub text: String,
    pub level: CounterLevel,
}

/// The activity of the last turn of an open run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// A request is open; streamed text bypasses this view.
    Calling {
        words: String,
    },
    Waiting(WaitView),
    Tools {
        words: String,
    },
}

/// A wait with its end, for a countdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitView {
    /// Milliseconds since 1970.
    pub until: u64,
    pub attempt: u32,
    pub of: u32,
}

impl TurnView {
    /// Returns the turn at an index of the source's list.
    #[must_use]
    pub fn at(source: &RunSource<'_>, index: usize) -> Option<Self> {
        TurnView::among(source, &source.spans(), &source.branches.list(), index)
    }

    /// Like [`TurnView::at`], with the source's spans and branches already computed.
    pub(super) fn among(
        source: &RunSource<'_>,
        spans: &[SegmentSpan],
        branches: &[BranchChanges],
        index: usize,
    ) -> Option<Self> {
        let record = source.turns.get(index)?;
        let (segment, span) =
            spans.iter().copied().enumerate().find(|(_, span)| (span.start..span.end).contains(&index))?;
        let open = source.status != Status::Ended && index + 1 == source.turns.len();
        let level = level(source, record, span);
        let kind = kind(source, record, segment);
        let of = (!record.synthesis).then_some(span.max_turns);
        let attempts = attempt::attempts_of(source, record);
        let has_reply =
            |branch: &&BranchChanges| branch.parent.turn == record.turn && branch.parts.contains(&BranchPart::Reply);
        let lines = AddedLines::of_turn(source, record);
        let mut calls = calls(source, record, lines);
        calls.iter_mut().for_each(|call| call.mark(branches));
        let mut failed = attempt::failed(record, lines, source.turns.get(index + 1), attempts, open);
        let ending = source.segments.get(segment).filter(|_| index + 1 == span.end);
        let cause = ending.and_then(ending::cause);
        if let (Some(last), Some(cause)) = (failed.last_mut(), cause) {
            let error = record.attempts.last().and_then(|attempt| attempt.error.as_deref());
            last.is_in_ending = error.is_some_and(|error| cause.starts_with(error));
        }
        let is_left = source.status == Status::Ended && ending.is_none() && index + 1 == source.turns.len();
        Some(TurnView {
            index,
            left: attempt::left(record).filter(|_| is_left),
            number: record.turn,
            of,
            label: label(record, of, level),
            remark: remark(source, record, segment, span),
            failed,
            reasoning: record.reasoning.clone(),
            content: record.content.clone(),
            changed_from: branches.iter().find(has_reply).map(|branch| branch.parent.run_id.clone()),
            calls,
            counter: counter(record, lines),
            live: if open { live(source, attempts) } else { None },
            is_final: record.is_final,
            kind,
            level,
        })
    }

    /// Names the sub-agent in the label of its turn, for users who cannot see where the turn is.
    #[must_use]
    pub fn of_subagent(self, task_id: u32) -> Self {
        TurnView { label: format!("Sub-agent {task_id}: {}", self.label), ..self }
    }
}

/// Returns the calls; a call that starts sub-agents shows their progress.
fn calls(source: &RunSource<'_>, record: &TurnRecord, lines: AddedLines) -> Vec<CallView> {
    let mut calls = attempt::calls(record, lines);
    for call in &mut calls {
        call.code = call.code.take().or_else(|| skills::code_of(source.config, &call.name).map(ToOwned::to_owned));
    }
    for call in calls.iter_mut().filter(|call| call.name == own_tools::SPAWN) {
        let found = record.tool_calls.iter().find(|found| found.id.0 == call.id);
        if let Some(text) = found.and_then(|found| Tally::of_call(source, found)) {
            (call.summary, call.note) = (text, None);
        }
    }
    calls
}

fn level(source: &RunSource<'_>, record: &TurnRecord, span: SegmentSpan) -> CounterLevel {
    match record.counter_level {
        _ if record.synthesis => CounterLevel::Off,
        CounterLevel::Off => meter::level(source.config.counter.as_ref(), record.turn, span.max_turns),
        stated => stated,
    }
}

fn kind(source: &RunSource<'_>, record: &TurnRecord, segment: usize) -> TurnKind {
    if !record.synthesis {
        return TurnKind::Turn;
    }
    let ended = source.segments.get(segment).map(|ending| ending.wrap_up);
    // A document that was written during its synthesis does not say what triggered it.
    let trigger = ended.unwrap_or(source.wrap_up).unwrap_or(Trigger::MaxTurns);
    TurnKind::Synthesis { title: format!("Synthesis: {}", trigger_words(trigger)) }
}

fn remark(source: &RunSource<'_>, record: &TurnRecord, segment: usize, span: SegmentSpan) -> Option<String> {
    if !source.asks_for_report(record, span.max_turns) {
        return None;
    }
    let asked = source.segments.get(segment).map_or(source.wrap_up, |ending| ending.wrap_up);
    Some(match asked.filter(|trigger| *trigger != Trigger::MaxTurns) {
        Some(trigger) => format!("Last turn: {}, and only a report is accepted.", trigger_words(trigger)),
        None => "Last turn: only a report is accepted.".to_owned(),
    })
}

fn label(record: &TurnRecord, max_turns: Option<u32>, level: CounterLevel) -> String {
    match max_turns {
        None => "Synthesis".to_owned(),
        Some(max) => format!("Turn {} of {max}, {}", record.turn, meter::level_words(level)),
    }
}

/// Returns the counter line of the last tool result.
fn counter(record: &TurnRecord, lines: AddedLines) -> Option<CounterLine> {
    let level = Some(record.counter_level).filter(|level| *level != CounterLevel::Off)?;
    let result = record.tool_calls.last()?.result.as_deref()?;
    let text = result.get(result.len() - lines.counter..)?.strip_prefix('\n')?;
    Some(CounterLine { text: text.to_owned(), level })
}

/// The line of a turn whose model was asked `waited_ms` ago and has not answered yet. `offline`: its request waits for the network.
#[must_use]
pub fn calling(words: &str, waited_ms: u64, offline: bool) -> String {
    let seconds = waited_ms / 1_000;
    match seconds {
        _ if offline => "Offline: goes on when the connection is back".to_owned(),
        0..3 => words.to_owned(),
        3..10 => format!("{words}, {seconds} s"),
        _ => format!("{words}, {seconds} s. It may be loading"),
    }
}

fn live(source: &RunSource<'_>, attempts: u32) -> Option<Activity> {
    match source.status {
        Status::Calling { attempt, synthesis, .. } => {
            let doing = if synthesis { "Writing the synthesis" } else { "Waiting for the model" };
            let text = if attempt > 1 { format!("{doing}, attempt {attempt} of {attempts}") } else { doing.to_owned() };
            Some(Activity::Calling { words: text })
        }
        Status::Waiting { attempt, until, .. } => {
            let until = source.started_at.0.saturating_add(until.0);
            Some(Activity::Waiting(WaitView { until, attempt, of: attempts }))
        }
        Status::Tools { .. } => Some(Activity::Tools { words: sentence_case(&action::running(source.last_calls())) }),
        Status::Ended => None,
    }
}
