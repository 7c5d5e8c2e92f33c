//! How a segment ended, as text and as code: the fields of semantics.md#how-a-run-ends, never merged into one.

use serde::{Deserialize, Serialize};

use crate::engine::{AnswerSource, Ending, Outcome, TerminationReason, Trigger};

use super::failure;
use super::format::counted;
use super::source::Source;

/// The ending fields as readable text, together with the exact values.
#[derive(Clone, Debug, PartialEq)]
pub struct EndingView {
    /// One sentence that says what ended it.
    pub headline: String,
    /// `max_turns_synthesized`
    pub reason: String,
    /// `partial`
    pub outcome: &'static str,
    /// The meaning of the outcome.
    pub outcome_words: &'static str,
    /// `synthesis`
    pub source: &'static str,
    pub source_words: &'static str,
    /// `8 turns: 7 and the synthesis`
    pub turns: String,
    pub tone: Tone,
    /// The last error, if there was one.
    pub error: Option<String>,
}

/// The colour of an ending; the text says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tone {
    Complete,
    Synthesized,
    Failed,
    Cancelled,
}

impl EndingView {
    /// Returns the ending of the segment with this index.
    #[must_use]
    pub fn of(source: &Source<'_>, segment: usize) -> Option<Self> {
        let ending = source.segments.get(segment)?;
        let headline = match ending.outcome {
            Outcome::Failed => failure::sentence(source, source.turns_of(segment), ending),
            Outcome::Success | Outcome::Partial | Outcome::Cancelled => headline(ending),
        };
        Some(EndingView {
            headline,
            reason: ending.termination_reason.to_string(),
            outcome: outcome(ending.outcome),
            outcome_words: outcome_words(ending),
            source: answer_from(ending.answer_source),
            source_words: source_words(ending.answer_source),
            turns: turns(ending),
            tone: tone(ending),
            error: ending.error.clone().filter(|error| !ending.output.contains(error.as_str())),
        })
    }
}

/// Returns the reason the run was asked to conclude: the heading of a synthesis turn.
#[must_use]
pub fn trigger_words(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::MaxTurns => "the turn limit was reached",
        Trigger::Stop => "you asked it to wrap up",
        Trigger::Context => "the context window is full",
        Trigger::WallTime => "the time is up",
        Trigger::Tokens => "the token budget is used up",
        Trigger::Cost => "the cost budget is used up",
    }
}

/// Returns a short description for lists.
#[must_use]
pub fn short(ending: &Ending) -> String {
    words_of(ending.termination_reason, ending.total_turns)
}

/// Returns the same from the data that a list has.
#[must_use]
pub fn words_of(reason: TerminationReason, total_turns: u32) -> String {
    let turns = counted(u64::from(total_turns), "turn");
    match reason {
        TerminationReason::LlmComplete => format!("{turns}, complete"),
        TerminationReason::FinalResult => format!("{turns}, final result"),
        TerminationReason::FinalReport => format!("{turns}, final report"),
        TerminationReason::Synthesized(Trigger::Stop) => format!("{turns}, stopped and synthesized"),
        TerminationReason::Synthesized(_) => format!("{turns}, synthesized"),
        TerminationReason::SynthesisFailed(_) => format!("{turns}, synthesis failed"),
        TerminationReason::LlmError => "failed: the model did not answer".to_owned(),
        TerminationReason::RetriesExhausted => "failed: no attempt left".to_owned(),
        TerminationReason::MaxTurnsExhausted => format!("{turns}, limit reached"),
        TerminationReason::Cancelled => format!("cancelled after {turns}"),
    }
}

#[must_use]
pub fn tone(ending: &Ending) -> Tone {
    tone_of(ending.outcome)
}

#[must_use]
pub fn tone_of(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Success => Tone::Complete,
        Outcome::Partial => Tone::Synthesized,
        Outcome::Failed => Tone::Failed,
        Outcome::Cancelled => Tone::Cancelled,
    }
}

/// Returns the headline of an ending that did not fail; a failed outcome has its own sentence.
fn headline(ending: &Ending) -> String {
    let early = |trigger: Trigger| failure::sentence_case(trigger_words(trigger));
    match (ending.termination_reason, ending.wrap_up) {
        (TerminationReason::LlmComplete, _) => "The model finished on its own.".to_owned(),
        (TerminationReason::FinalResult, _) => "A tool delivered the final result.".to_owned(),
        (TerminationReason::FinalReport, None) => "The model's report was accepted.".to_owned(),
        (TerminationReason::FinalReport, Some(trigger)) => {
            format!("{}; the model's report was accepted.", early(trigger))
        }
        (TerminationReason::Synthesized(trigger), _) => {
            format!("{}, so it concluded from what it had gathered.", early(trigger))
        }
        (TerminationReason::Cancelled, _) => "You cancelled the run.".to_owned(),
        (
            TerminationReason::SynthesisFailed(_)
            | TerminationReason::LlmError
            | TerminationReason::RetriesExhausted
            | TerminationReason::MaxTurnsExhausted,
            _,
        ) => "The run failed.".to_owned(),
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Partial => "partial",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "cancelled",
    }
}

fn outcome_words(ending: &Ending) -> &'static str {
    match ending.outcome {
        Outcome::Success if ending.termination_reason == TerminationReason::FinalReport => "report accepted",
        Outcome::Success => "finished on its own",
        Outcome::Partial => "concluded early",
        Outcome::Failed => "no answer from the model",
        Outcome::Cancelled => "ended by you",
    }
}

fn answer_from(source: AnswerSource) -> &'static str {
    match source {
        AnswerSource::Model => "model",
        AnswerSource::Tool => "tool",
        AnswerSource::Synthesis => "synthesis",
        AnswerSource::System => "system",
    }
}

fn source_words(source: AnswerSource) -> &'static str {
    match source {
        AnswerSource::Model => "text from the model",
        AnswerSource::Tool => "a tool's result",
        AnswerSource::Synthesis => "the synthesis turn",
        AnswerSource::System => "written by the system",
    }
}

fn turns(ending: &Ending) -> String {
    let used = counted(u64::from(ending.total_turns), "turn");
    let max = ending.effective_max_turns;
    if ending.total_turns > max {
        format!("{used}: {max} and the synthesis")
    } else if max == ending.max_turns {
        format!("{} of {}", ending.total_turns, counted(u64::from(max), "turn"))
    } else {
        format!("{} of {} (configured: {})", ending.total_turns, counted(u64::from(max), "turn"), ending.max_turns)
    }
}
