//! The meter: one tick per turn, with its counter level, and a separate tick for the synthesis.

use serde::{Deserialize, Serialize};

use turnwise_engine::{AttemptRecord, CounterConfig, CounterLevel, RunConfig, Status, prompts};

use super::attempt::ended_by_user;
use super::source::{RunSource, forces_report};

/// The ticks and a label for all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    pub ticks: Vec<Tick>,
    /// For users who cannot see the ticks: `Turn 7 of 15, 8 remaining, calm`.
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    pub kind: TickKind,
    pub state: TickState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TickKind {
    Turn(CounterLevel),
    /// The last turn of a strict run: only a report is accepted.
    Report(CounterLevel),
    Synthesis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TickState {
    Used,
    /// The turn in flight.
    Live,
    /// It got no reply.
    Failed,
    Ahead,
}

/// Returns the level of a turn under a limit (semantics.md#turn-counter); `Off` without a counter.
#[must_use]
pub fn level(counter: Option<&CounterConfig>, turn: u32, max_turns: u32) -> CounterLevel {
    counter.map_or(CounterLevel::Off, |config| prompts::counter_level(config, turn, max_turns))
}

/// Returns the text for a level: colour alone never carries information.
#[must_use]
pub fn level_words(level: CounterLevel) -> &'static str {
    match level {
        CounterLevel::Normal => "calm",
        CounterLevel::Moderate => "getting short",
        CounterLevel::Urgent => "nearly out of turns",
        CounterLevel::Off => "counter off",
    }
}

/// The maximum number of ticks drawn for turns ahead. No view shows more, and a record may contain any limit.
const MOST_AHEAD: u32 = 200;

/// Returns the ticks of the turns after `used`: one per turn, or one for several turns if there are too many.
pub(super) fn ahead(config: &RunConfig, used: u32, max: u32) -> impl Iterator<Item = Tick> {
    let left = max.saturating_sub(used);
    let (count, left) = (left.min(MOST_AHEAD), u64::from(left));
    (1..=count).map(move |at| {
        // The last turn that the tick represents, so that the meter ends with the last turn of the run.
        let turn = u32::try_from(left * u64::from(at) / u64::from(count)).unwrap_or(u32::MAX);
        Tick { kind: planned(config, used.saturating_add(turn), max), state: TickState::Ahead }
    })
}

impl From<&RunSource<'_>> for Meter {
    fn from(source: &RunSource<'_>) -> Self {
        let counter = source.config.counter.as_ref();
        let spans = source.spans();
        let last = source.turns.len().checked_sub(1);
        let mut ticks = Vec::new();
        for (index, turn) in source.turns.iter().enumerate() {
            let max =
                spans.iter().find(|span| (span.start..span.end).contains(&index)).map_or(0, |span| span.max_turns);
            let kind = if turn.synthesis {
                TickKind::Synthesis
            } else {
                let level = match turn.counter_level {
                    CounterLevel::Off => level(counter, turn.turn, max),
                    stated => stated,
                };
                if source.asks_for_report(turn, max) { TickKind::Report(level) } else { TickKind::Turn(level) }
            };
            let live = source.status != Status::Ended && last == Some(index);
            let failed = !turn.attempts.is_empty() && turn.attempts.iter().all(is_fault);
            let state = match (live, failed) {
                (true, _) => TickState::Live,
                (false, true) => TickState::Failed,
                (false, false) => TickState::Used,
            };
            ticks.push(Tick { kind, state });
        }
        let max = source.effective_max_turns;
        let used = source.turns.last().map_or(0, |turn| turn.turn);
        ticks.extend(ahead(source.config, used, max));
        let synthesized = source.turns.last().is_some_and(|turn| turn.synthesis);
        let open = source.status != Status::Ended;
        if source.config.synthesis.is_some() && open && !synthesized {
            ticks.push(Tick { kind: TickKind::Synthesis, state: TickState::Ahead });
        }
        Meter { ticks, label: label(source) }
    }
}

/// Reduces the ticks to at most `most`: one tick then represents several turns and shows the most significant of them.
#[must_use]
pub fn thinned(ticks: &[Tick], most: usize) -> Vec<Tick> {
    if ticks.len() <= most || most == 0 {
        return ticks.to_vec();
    }
    let weight = |tick: &&Tick| {
        (tick.state == TickState::Live, tick.kind == TickKind::Synthesis, tick.state == TickState::Failed)
    };
    let part = |at: usize| ticks.get(at * ticks.len() / most..(at + 1) * ticks.len() / most).unwrap_or_default();
    (0..most).filter_map(|at| part(at).iter().max_by_key(weight).copied()).collect()
}

/// Returns the tick of a turn that is still to come.
fn planned(config: &RunConfig, turn: u32, max: u32) -> TickKind {
    let level = level(config.counter.as_ref(), turn, max);
    if turn == max && forces_report(config) { TickKind::Report(level) } else { TickKind::Turn(level) }
}

fn label(source: &RunSource<'_>) -> String {
    let (used, max) = (source.turns_used(), source.effective_max_turns);
    if source.turns.last().is_some_and(|turn| turn.synthesis) {
        return format!("Synthesis after {used} of {max} turns");
    }
    let text = level_words(level(source.config.counter.as_ref(), used, max));
    format!("Turn {used} of {max}, {} remaining, {text}", max.saturating_sub(used))
}

fn is_fault(attempt: &AttemptRecord) -> bool {
    !attempt.slugs.is_empty() && !ended_by_user(attempt)
}
