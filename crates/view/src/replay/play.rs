//! The layout of steps on a timeline, and the time that playback stays on each.

use crate::{Tick, TickKind};
use turnwise_engine::CounterLevel;

use super::step::ReplayStep;

/// Longer pauses are shortened to this, in recorded time.
pub const LONGEST_MS: u64 = 2_000;
/// Shorter pauses are extended to this, so that every step is visible.
const SHORTEST_MS: u64 = 40;
/// If there are more turns than this, they are drawn by level, not one by one.
const SINGLE: usize = 120;

/// Turns of a run on the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The range of steps; `to` is not included.
    pub from: usize,
    pub to: usize,
    /// The kind of tick that the meter draws.
    pub kind: TickKind,
}

/// The playback speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    #[default]
    X1,
    X4,
    X16,
}

impl Speed {
    pub const ALL: &'static [Speed] = &[Speed::X1, Speed::X4, Speed::X16];

    #[must_use]
    pub fn factor(self) -> u64 {
        match self {
            Speed::X1 => 1,
            Speed::X4 => 4,
            Speed::X16 => 16,
        }
    }

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Speed::X1 => "1×",
            Speed::X4 => "4×",
            Speed::X16 => "16×",
        }
    }
}

/// Returns the milliseconds to stay on a step before the next one; `None` on the last step.
#[must_use]
pub fn rest(steps: &[ReplayStep], at: usize, speed: Speed) -> Option<u64> {
    let (now, next) = (steps.get(at)?, steps.get(at + 1)?);
    let recorded = next.at_ms.saturating_sub(now.at_ms).min(LONGEST_MS);
    Some((recorded / speed.factor()).max(SHORTEST_MS))
}

/// Returns the turns as bands, each over its steps; if there are many turns, those of one level are joined. `ticks`: the
/// meter's ticks.
#[must_use]
pub fn bands(steps: &[ReplayStep], ticks: &[Tick]) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    let mut open = 0;
    for (at, step) in steps.iter().enumerate() {
        let index = step.turns.saturating_sub(1);
        let kind = ticks.get(index).map_or(TickKind::Turn(CounterLevel::Off), |tick| tick.kind);
        match bands.last_mut() {
            Some(last) if open == index || (ticks.len() > SINGLE && last.kind == kind) => last.to = at + 1,
            _ => bands.push(Band { from: at, to: at + 1, kind }),
        }
        open = index;
    }
    bands
}
