//! One turn of the transcript: what was said, what was called, what went wrong on the way.

use crate::engine::{AttemptRecord, CounterLevel, Slug, Status, Trigger, TurnRecord};

use super::call::CallView;
use super::ending::trigger_words;
use super::format::{duration, one_line};
use super::meter;
use super::source::{SegmentSpan, Source};

#[derive(Clone, Debug, PartialEq)]
pub struct TurnView {
    /// Place among the run's turns: the key of the list.
    pub index: usize,
    pub number: u32,
    /// The limit it ran under; none for a synthesis, which is outside it.
    pub of: Option<u32>,
    pub kind: TurnKind,
    pub level: CounterLevel,
    /// The same for those who do not see the margin.
    pub label: String,
    pub failed: Vec<FailedAttempt>,
    pub reasoning: String,
    /// The reply's text, Markdown; empty while it streams.
    pub content: String,
    pub calls: Vec<CallView>,
    pub counter: Option<CounterLine>,
    pub live: Option<Live>,
    /// The reply became the report.
    pub is_final: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnKind {
    Turn,
    /// Set apart, with why it was asked for: `Synthesis: the turn limit was reached`.
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

/// An attempt that gave no usable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAttempt {
    /// The most telling first; never empty.
    pub slugs: Vec<&'static str>,
    pub message: String,
    /// `attempt 1 of 3`
    pub attempt: String,
    /// `tried again after 0.8 s`, `no attempt left`
    pub then: String,
    /// Ended by the user, not by a fault.
    pub by_user: bool,
}

/// What the last turn of an open run is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// A request is open; streamed text comes past this view.
    Calling {
        words: String,
    },
    Waiting(Wait),
    Tools {
        words: String,
    },
}

/// A wait with its end, for a countdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Milliseconds since 1970.
    pub until: u64,
    pub attempt: u32,
    pub of: u32,
}

impl TurnView {
    /// The turn at a place of the source's list.
    #[must_use]
    pub fn at(source: &Source<'_>, index: usize) -> Option<Self> {
        TurnView::among(source, &source.spans(), index)
    }

    /// As [`TurnView::at`], with the source's spans at hand.
    pub(super) fn among(source: &Source<'_>, spans: &[SegmentSpan], index: usize) -> Option<Self> {
        let record = source.turns.get(index)?;
        let (segment, span) =
            spans.iter().copied().enumerate().find(|(_, span)| (span.start..span.end).contains(&index))?;
        let open = source.status != Status::Ended && index + 1 == source.turns.len();
        let level = level(source, record, span);
        let kind = kind(source, record, segment);
        let of = (!record.synthesis).then_some(span.max_turns);
        let attempts = attempts_of(source, record);
        Some(TurnView {
            index,
            number: record.turn,
            of,
            label: label(record, of, level),
            failed: failed(record, attempts, open),
            reasoning: record.reasoning.clone(),
            content: record.content.clone(),
            calls: record.tool_calls.iter().map(|call| CallView::new(call, record.counter_level)).collect(),
            counter: counter(record),
            live: if open { live(source, attempts) } else { None },
            is_final: record.is_final,
            kind,
            level,
        })
    }
}

fn attempts_of(source: &Source<'_>, record: &TurnRecord) -> u32 {
    match (record.synthesis, &source.config.synthesis) {
        (true, Some(synthesis)) => synthesis.attempts,
        _ => source.config.max_attempts,
    }
}

fn level(source: &Source<'_>, record: &TurnRecord, span: SegmentSpan) -> CounterLevel {
    match record.counter_level {
        _ if record.synthesis => CounterLevel::Off,
        CounterLevel::Off => meter::level(source.config.counter.as_ref(), record.turn, span.max_turns),
        stated => stated,
    }
}

fn kind(source: &Source<'_>, record: &TurnRecord, segment: usize) -> TurnKind {
    if !record.synthesis {
        return TurnKind::Turn;
    }
    let ended = source.segments.get(segment).map(|ending| ending.wrap_up);
    // A document written while its synthesis was open does not say what asked for it.
    let trigger = ended.unwrap_or(source.wrap_up).unwrap_or(Trigger::MaxTurns);
    TurnKind::Synthesis { title: format!("Synthesis: {}", trigger_words(trigger)) }
}

fn label(record: &TurnRecord, of: Option<u32>, level: CounterLevel) -> String {
    match of {
        None => "Synthesis".to_owned(),
        Some(max) => format!("Turn {} of {max}, {}", record.turn, meter::level_words(level)),
    }
}

fn failed(record: &TurnRecord, of: u32, open: bool) -> Vec<FailedAttempt> {
    let faults = record.attempts.iter().enumerate().filter(|(_, attempt)| !attempt.slugs.is_empty());
    let mut before: Option<&str> = None;
    faults
        .map(|(place, attempt)| {
            let mut failed = failed_attempt(attempt, of, record.attempts.get(place + 1), open);
            let message = attempt.error.as_deref();
            if message.is_some() && message == before {
                failed.message = "The same again.".to_owned();
            }
            before = message;
            failed
        })
        .collect()
}

fn failed_attempt(attempt: &AttemptRecord, of: u32, next: Option<&AttemptRecord>, open: bool) -> FailedAttempt {
    let by_user = ended_by_user(attempt);
    let then = match next {
        Some(next) => match next.waited_ms {
            Some(ms) if ms > 0 => format!("tried again after {}", duration(ms)),
            _ => "tried again at once".to_owned(),
        },
        None if by_user => String::new(),
        None if open => "trying again".to_owned(),
        None if attempt.attempt >= of => "no attempt left".to_owned(),
        None => "not tried again".to_owned(),
    };
    FailedAttempt {
        slugs: attempt.slugs.iter().map(|slug| slug.as_str()).collect(),
        message: match attempt.error.as_deref() {
            None if by_user => "You ended this request.".to_owned(),
            error => one_line(error.unwrap_or_default(), 600),
        },
        attempt: format!("attempt {} of {of}", attempt.attempt),
        then,
        by_user,
    }
}

/// Stop and cancel are no faults.
pub(super) fn ended_by_user(attempt: &AttemptRecord) -> bool {
    attempt.slugs.iter().any(|slug| matches!(slug, Slug::Stopped | Slug::Cancelled))
}

/// The last line of the last answer; templates of one line only.
fn counter(record: &TurnRecord) -> Option<CounterLine> {
    let level = Some(record.counter_level).filter(|level| *level != CounterLevel::Off)?;
    let result = record.tool_calls.last()?.result.as_deref()?;
    let (_, text) = result.rsplit_once('\n')?;
    Some(CounterLine { text: text.to_owned(), level })
}

fn live(source: &Source<'_>, attempts: u32) -> Option<Live> {
    match source.status {
        Status::Calling { attempt, synthesis, .. } => {
            let doing = if synthesis { "Writing the synthesis" } else { "Waiting for the model" };
            let words =
                if attempt > 1 { format!("{doing}, attempt {attempt} of {attempts}") } else { doing.to_owned() };
            Some(Live::Calling { words })
        }
        Status::Waiting { attempt, until, .. } => {
            let until = source.started_at.0.saturating_add(until.0);
            Some(Live::Waiting(Wait { until, attempt, of: attempts }))
        }
        Status::Tools { .. } => {
            let calls = source.turns.last().map(|turn| turn.tool_calls.as_slice()).unwrap_or_default();
            let open: Vec<&str> =
                calls.iter().filter(|call| call.result.is_none()).map(|call| call.name.as_str()).collect();
            let words = match open.as_slice() {
                [only] => format!("Running {only}"),
                several => format!("Running {} tools", several.len()),
            };
            Some(Live::Tools { words })
        }
        Status::Ended => None,
    }
}
