//! How a segment ended, in words and as code: the fields of SEMANTICS 5, never folded into one.

use crate::engine::{AnswerSource, Ending, Outcome, TerminationReason, Trigger};

use super::format::counted;

/// The ending fields as people read them, beside the exact values.
#[derive(Clone, Debug, PartialEq)]
pub struct EndingView {
    /// One sentence: what ended it.
    pub headline: String,
    /// `max_turns_synthesized`
    pub reason: String,
    /// `partial`
    pub outcome: &'static str,
    /// What that outcome means.
    pub outcome_words: &'static str,
    /// `synthesis`
    pub source: &'static str,
    pub source_words: &'static str,
    /// `8 turns of at most 7, synthesis included`
    pub turns: String,
    pub tone: Tone,
    /// The last error, where there was one.
    pub error: Option<String>,
    /// The report, only where no turn shows it: the system wrote it.
    pub report: Option<String>,
    /// The final result a tool delivered, as JSON.
    pub data: Option<String>,
}

/// How an ending is coloured; the words say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Complete,
    Synthesized,
    Failed,
    Cancelled,
}

impl From<&Ending> for EndingView {
    fn from(ending: &Ending) -> Self {
        EndingView {
            headline: headline(ending.termination_reason).to_owned(),
            reason: ending.termination_reason.to_string(),
            outcome: outcome(ending.outcome),
            outcome_words: outcome_words(ending.outcome),
            source: source(ending.answer_source),
            source_words: source_words(ending.answer_source),
            turns: turns(ending),
            tone: tone(ending),
            error: ending.error.clone().filter(|error| !ending.output.contains(error.as_str())),
            report: written_by_system(ending),
            data: ending.final_result_data.as_ref().and_then(|data| serde_json::to_string_pretty(data).ok()),
        }
    }
}

/// Why the run was asked to conclude: the heading of a synthesis turn.
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

/// A few words for lists.
#[must_use]
pub fn short(ending: &Ending) -> String {
    let turns = counted(u64::from(ending.total_turns), "turn");
    match ending.termination_reason {
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
    match (ending.outcome, ending.termination_reason) {
        (Outcome::Success, _) => Tone::Complete,
        (Outcome::Partial, _) => Tone::Synthesized,
        (Outcome::Failed, _) => Tone::Failed,
        (Outcome::Cancelled, _) => Tone::Cancelled,
    }
}

fn headline(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::LlmComplete => "The model finished by itself.",
        TerminationReason::FinalResult => "A tool delivered the final result.",
        TerminationReason::FinalReport => "The model delivered its report.",
        TerminationReason::Synthesized(trigger) => match trigger {
            Trigger::MaxTurns => "The turn limit was reached, so it concluded from what it had gathered.",
            Trigger::Stop => "You asked it to wrap up, so it concluded from what it had gathered.",
            Trigger::Context => "The context window was full, so it concluded from what it had gathered.",
            Trigger::WallTime => "The time was up, so it concluded from what it had gathered.",
            Trigger::Tokens => "The token budget was used up, so it concluded from what it had gathered.",
            Trigger::Cost => "The cost budget was used up, so it concluded from what it had gathered.",
        },
        TerminationReason::SynthesisFailed(_) => "A limit was reached, and the synthesis failed too.",
        TerminationReason::LlmError => "The model gave no usable answer.",
        TerminationReason::RetriesExhausted => "No attempt was left for this turn.",
        TerminationReason::MaxTurnsExhausted => "The turn limit was reached; synthesis is switched off.",
        TerminationReason::Cancelled => "You cancelled the run.",
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

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "finished by itself",
        Outcome::Partial => "concluded early",
        Outcome::Failed => "no answer of its own",
        Outcome::Cancelled => "ended by you",
    }
}

fn source(source: AnswerSource) -> &'static str {
    match source {
        AnswerSource::Model => "model",
        AnswerSource::Tool => "tool",
        AnswerSource::Synthesis => "synthesis",
        AnswerSource::System => "system",
    }
}

fn source_words(source: AnswerSource) -> &'static str {
    match source {
        AnswerSource::Model => "the model's own text",
        AnswerSource::Tool => "a tool's result",
        AnswerSource::Synthesis => "the synthesis turn",
        AnswerSource::System => "written by the engine",
    }
}

fn turns(ending: &Ending) -> String {
    let used = counted(u64::from(ending.total_turns), "turn");
    let max = ending.effective_max_turns;
    if ending.total_turns > max {
        format!("{used}: {max} and the synthesis")
    } else if max == ending.max_turns {
        format!("{used} of at most {max}")
    } else {
        format!("{used} of at most {max} (configured: {})", ending.max_turns)
    }
}

fn written_by_system(ending: &Ending) -> Option<String> {
    let by_system = ending.answer_source == AnswerSource::System && !ending.output.is_empty();
    by_system.then(|| ending.output.clone())
}
