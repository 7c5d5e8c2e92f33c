//! How a segment ended, as text and as code: the fields of semantics.md#how-a-run-ends, never merged into one.

use serde::{Deserialize, Serialize};

use turnwise_engine::{AnswerSource, Ending, Outcome, TerminationReason, Trigger, TurnRecord};

use super::attempt::{ended_by_user, is_refusal};
use super::source::{RunSource, forces_report};
use turnwise_content::format::{counted, sentence_case};

/// The ending fields as readable text, together with the exact values.
#[derive(Clone, Debug, PartialEq)]
pub struct EndingView {
    /// A few words for a line of facts: `Done`, `Concluded at the limit`.
    pub label: &'static str,
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
    /// What there is instead of an answer, if the user stopped the run.
    pub remark: Option<&'static str>,
    /// The last error, if there was one.
    pub error: Option<String>,
    /// The error that a failed run ended with, if its report repeats it.
    pub cause: Option<String>,
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
    pub fn for_segment(source: &RunSource<'_>, segment: usize) -> Option<Self> {
        let ending = source.segments.get(segment)?;
        let headline = match ending.outcome {
            Outcome::Failed => failure(source, source.turns_of(segment), ending),
            Outcome::Success | Outcome::Partial | Outcome::Cancelled => headline(ending),
        };
        Some(EndingView {
            label: label(ending),
            headline,
            reason: ending.termination_reason.to_string(),
            outcome: outcome(ending.outcome),
            outcome_words: outcome_words(ending),
            source: answer_from(ending.answer_source),
            source_words: source_words(ending, source.turns_of(segment)),
            remark: remark(ending, source.turns_of(segment)),
            turns: turns(source.turns_of(segment), ending),
            tone: tone(ending),
            error: ending.error.clone().filter(|error| !ending.output.contains(error.as_str())),
            cause: cause(ending).map(ToOwned::to_owned),
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
    let turns = || counted(u64::from(total_turns), "turn");
    let how = how_of(reason);
    match reason {
        // The total may include the synthesis, which is not one of the turns that the panel counts.
        TerminationReason::Synthesized(_) | TerminationReason::LlmError | TerminationReason::RetriesExhausted => {
            how.to_owned()
        }
        TerminationReason::Cancelled => format!("{how} after {}", turns()),
        _ => format!("{}, {how}", turns()),
    }
}

/// Returns the same without a count.
#[must_use]
pub fn how_of(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::LlmComplete => "complete",
        TerminationReason::FinalResult => "final result",
        TerminationReason::FinalReport => "final report",
        TerminationReason::Synthesized(Trigger::Stop) => "wrapped up",
        TerminationReason::Synthesized(Trigger::MaxTurns) => "concluded at the turn limit",
        TerminationReason::Synthesized(_) => "concluded at a limit",
        TerminationReason::SynthesisFailed(_) => "synthesis failed",
        TerminationReason::LlmError => "failed: no answer",
        TerminationReason::RetriesExhausted => "failed: no attempt left",
        TerminationReason::MaxTurnsExhausted => "limit reached",
        TerminationReason::Cancelled => "stopped",
    }
}

/// Returns the error that ended a run, if its report, which the system wrote, repeats it.
pub(super) fn cause(ending: &Ending) -> Option<&str> {
    let reason =
        matches!(ending.termination_reason, TerminationReason::LlmError | TerminationReason::SynthesisFailed(_));
    let by_system = reason && ending.outcome == Outcome::Failed && ending.answer_source == AnswerSource::System;
    ending.error.as_deref().filter(|error| by_system && ending.output.contains(error))
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

fn label(ending: &Ending) -> &'static str {
    match (ending.outcome, ending.wrap_up) {
        (Outcome::Success, _) => "Done",
        (Outcome::Partial, Some(Trigger::Stop)) => "Wrapped up as you asked",
        (Outcome::Partial, _) => "Concluded at the limit",
        (Outcome::Failed, _) => "Failed",
        (Outcome::Cancelled, _) => "Stopped by you",
    }
}

/// Returns the headline of an ending that did not fail; a failed outcome has its own sentence.
fn headline(ending: &Ending) -> String {
    let early = |trigger: Trigger| sentence_case(trigger_words(trigger));
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
        (TerminationReason::Cancelled, _) => "You stopped the run.".to_owned(),
        (
            TerminationReason::SynthesisFailed(_)
            | TerminationReason::LlmError
            | TerminationReason::RetriesExhausted
            | TerminationReason::MaxTurnsExhausted,
            _,
        ) => "The run failed.".to_owned(),
    }
}

/// Returns the sentence for an ending whose outcome is `failed`: what failed, how often, the last reason, and the consequence.
/// `turns` are the turns of its segment.
fn failure(source: &RunSource<'_>, turns: &[TurnRecord], ending: &Ending) -> String {
    let strict = forces_report(source.config);
    let last = turns.last().map(|turn| Failures::from_turn(source, turn)).unwrap_or_default();
    let turn = turns.last().map_or(0, |turn| turn.turn);
    match ending.termination_reason {
        TerminationReason::RetriesExhausted => {
            format!("Turn {turn} {}, so the run ended without an accepted report.", last.description())
        }
        TerminationReason::MaxTurnsExhausted if strict => {
            format!("Turn {turn}, the last one, {}, so the run ended without an accepted report.", last.description())
        }
        TerminationReason::MaxTurnsExhausted => {
            "The turn limit was reached, and with synthesis switched off nothing concluded the run.".to_owned()
        }
        TerminationReason::SynthesisFailed(trigger) => failed_synthesis(trigger, turns, &last),
        TerminationReason::LlmError if turn == 0 => "The model could not be used.".to_owned(),
        TerminationReason::LlmError => format!("Turn {turn} {}.", last.description()),
        TerminationReason::LlmComplete
        | TerminationReason::FinalResult
        | TerminationReason::FinalReport
        | TerminationReason::Synthesized(_)
        | TerminationReason::Cancelled => "The run failed.".to_owned(),
    }
}

fn failed_synthesis(trigger: Trigger, turns: &[TurnRecord], last: &Failures) -> String {
    let asked = sentence_case(trigger_words(trigger));
    if turns.last().is_some_and(|turn| turn.synthesis) {
        format!("{asked}, and the synthesis {}, so the run ended without a conclusion.", last.description())
    } else {
        format!("{asked}, and with synthesis switched off nothing concluded the run.")
    }
}

/// A summary of a turn's failed attempts.
#[derive(Debug, Default)]
struct Failures {
    failed: usize,
    because: Option<&'static str>,
    /// Whether every attempt failed for the same reason.
    same: bool,
}

impl Failures {
    fn from_turn(source: &RunSource<'_>, turn: &TurnRecord) -> Self {
        let faults = turn.attempts.iter().filter(|attempt| !ended_by_user(attempt));
        let reasons: Vec<_> = faults.filter_map(|attempt| attempt.slugs.first().copied()).collect();
        let last = reasons.last().copied();
        let refused = is_refusal(source, turn).then_some("the provider refused the request");
        Failures {
            failed: reasons.len(),
            because: refused.or(last.map(|slug| slug.because())),
            same: reasons.iter().all(|slug| Some(*slug) == last),
        }
    }

    /// `failed three times, the last time because …`
    fn description(&self) -> String {
        match (self.failed, self.because, self.same) {
            (_, None, _) => "failed".to_owned(),
            (0 | 1, Some(because), _) => format!("failed because {because}"),
            (count, Some(because), true) => format!("failed {}, each time because {because}", times(count)),
            (count, Some(because), false) => format!("failed {}, the last time because {because}", times(count)),
        }
    }
}

fn times(count: usize) -> String {
    match count {
        2 => "twice".to_owned(),
        3 => "three times".to_owned(),
        4 => "four times".to_owned(),
        5 => "five times".to_owned(),
        more => format!("{more} times"),
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
        Outcome::Partial if ending.wrap_up == Some(Trigger::Stop) => "wrapped up as you asked",
        Outcome::Partial => "concluded at the limit",
        Outcome::Failed => "no answer from the model",
        Outcome::Cancelled => "stopped by you",
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

fn source_words(ending: &Ending, turns: &[TurnRecord]) -> &'static str {
    match ending.answer_source {
        _ if ending.outcome == Outcome::Cancelled && arrived(turns).is_some() => "begun, not finished",
        _ if ending.outcome == Outcome::Cancelled => "none",
        AnswerSource::Model => "text from the model",
        AnswerSource::Tool => "a tool's result",
        AnswerSource::Synthesis => "its conclusion",
        AnswerSource::System => "written by the system",
    }
}

fn remark(ending: &Ending, turns: &[TurnRecord]) -> Option<&'static str> {
    match ending.outcome {
        Outcome::Cancelled if arrived(turns).is_some() => Some(
            "The part of the answer that had arrived is kept. The model does not see it in a follow-up unless you quote it.",
        ),
        Outcome::Cancelled if turns.iter().any(|turn| !turn.content.trim().is_empty()) => {
            Some("There is no answer yet. What the model wrote before is shown above and kept in the record.")
        }
        Outcome::Cancelled => Some("There is no answer yet."),
        Outcome::Success | Outcome::Partial | Outcome::Failed => None,
    }
}

/// Returns what had arrived of the last reply when it was cut off; `None`: no text.
#[must_use]
pub fn arrived(turns: &[TurnRecord]) -> Option<&str> {
    let partial = turns.last()?.attempts.last()?.partial.as_ref()?;
    Some(partial.content.trim()).filter(|text| !text.is_empty())
}

/// Counts as the panel does: the synthesis is outside of the limit. `turns` are those of the segment.
fn turns(turns: &[TurnRecord], ending: &Ending) -> String {
    let max = ending.effective_max_turns;
    let synthesis = turns.last().filter(|turn| turn.synthesis);
    let used = match (turns.iter().rev().find(|turn| !turn.synthesis), synthesis) {
        (Some(turn), Some(_)) => turn.turn,
        _ => ending.total_turns,
    };
    let more = if synthesis.is_some() { ", and the synthesis" } else { "" };
    if max == ending.max_turns {
        return format!("{used} of {}{more}", counted(u64::from(max), "turn"));
    }
    let changed = if max > ending.max_turns { "raised" } else { "lowered" };
    format!("{} (limit {changed} from {}){more}", counted(u64::from(used), "turn"), ending.max_turns)
}
