//! How steps lie on a timeline, and how long playing rests on each.

use crate::engine::CounterLevel;
use crate::view::{Tick, TickKind};

use super::step::Step;

/// Longer pauses are cut to this, in recorded time.
pub const LONGEST_MS: u64 = 2_000;
/// Shorter ones are drawn out, so that every step is seen.
const SHORTEST_MS: u64 = 40;
/// More turns than this are drawn by level, not one by one.
const SINGLE: usize = 120;

/// The turns of a run on the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Steps, the end not included.
    pub from: usize,
    pub to: usize,
    /// As the meter draws it.
    pub kind: TickKind,
}

/// How fast a run is played.
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
    pub fn words(self) -> &'static str {
        match self {
            Speed::X1 => "1×",
            Speed::X4 => "4×",
            Speed::X16 => "16×",
        }
    }
}

/// Milliseconds to rest on a step before the next; `None` on the last.
#[must_use]
pub fn rest(steps: &[Step], at: usize, speed: Speed) -> Option<u64> {
    let (now, next) = (steps.get(at)?, steps.get(at + 1)?);
    let recorded = next.at_ms.saturating_sub(now.at_ms).min(LONGEST_MS);
    Some((recorded / speed.factor()).max(SHORTEST_MS))
}

/// The turns as bands, each where its steps are; turns of one level together where there are many. `ticks`: the meter's.
#[must_use]
pub fn bands(steps: &[Step], ticks: &[Tick]) -> Vec<Band> {
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
