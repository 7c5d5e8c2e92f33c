//! The failure of a run in one sentence: what failed, how often, the last reason, and the consequence.

use crate::engine::{Ending, TerminationReason, Trigger, TurnRecord};

use super::attempt::ended_by_user;
use super::ending::trigger_words;
use super::source::Source;
use super::turn::forces_report;

/// Returns the sentence for an ending whose outcome is `failed`; `turns` are the turns of its segment.
pub(super) fn sentence(source: &Source<'_>, turns: &[TurnRecord], ending: &Ending) -> String {
    let strict = forces_report(source.config);
    let last = turns.last().map(Course::of).unwrap_or_default();
    let turn = turns.last().map_or(0, |turn| turn.turn);
    match ending.termination_reason {
        TerminationReason::RetriesExhausted => {
            format!("Turn {turn} {}, so the run ended without an accepted report.", last.words())
        }
        TerminationReason::MaxTurnsExhausted if strict => {
            format!("Turn {turn}, the last one, {}, so the run ended without an accepted report.", last.words())
        }
        TerminationReason::MaxTurnsExhausted => {
            "The turn limit was reached, and with synthesis switched off nothing concluded the run.".to_owned()
        }
        TerminationReason::SynthesisFailed(trigger) => synthesis(trigger, turns, &last),
        TerminationReason::LlmError if turn == 0 => "The run ended at once: the model could not be used.".to_owned(),
        TerminationReason::LlmError => {
            format!("Turn {turn} {}, so the run ended: the model could not be used.", last.words())
        }
        TerminationReason::LlmComplete
        | TerminationReason::FinalResult
        | TerminationReason::FinalReport
        | TerminationReason::Synthesized(_)
        | TerminationReason::Cancelled => "The run failed.".to_owned(),
    }
}

fn synthesis(trigger: Trigger, turns: &[TurnRecord], last: &Course) -> String {
    let asked = sentence_case(trigger_words(trigger));
    if turns.last().is_some_and(|turn| turn.synthesis) {
        format!("{asked}, and the synthesis {}, so the run ended without a conclusion.", last.words())
    } else {
        format!("{asked}, and with synthesis switched off nothing concluded the run.")
    }
}

/// A summary of a turn's failed attempts.
#[derive(Debug, Default)]
struct Course {
    failed: usize,
    because: Option<&'static str>,
    /// Whether every attempt failed for the same reason.
    same: bool,
}

impl Course {
    fn of(turn: &TurnRecord) -> Self {
        let faults = turn.attempts.iter().filter(|attempt| !ended_by_user(attempt));
        let reasons: Vec<_> = faults.filter_map(|attempt| attempt.slugs.first().copied()).collect();
        let last = reasons.last().copied();
        Course {
            failed: reasons.len(),
            because: last.map(|slug| slug.because()),
            same: reasons.iter().all(|slug| Some(*slug) == last),
        }
    }

    /// `failed three times, the last time because …`
    fn words(&self) -> String {
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

pub(super) fn sentence_case(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
