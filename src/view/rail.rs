//! A run in the list of runs: its task, its ticks, its ending in words.

use crate::engine::Status;

use super::ending::{self, Tone};
use super::format::{counted, one_line};
use super::meter::{Meter, Tick, TickKind, TickState};
use super::source::Source;

#[derive(Clone, Debug, PartialEq)]
pub struct RailView {
    pub title: String,
    /// `turn 3 of 15`, `4 turns, complete`
    pub words: String,
    /// `None`: it is running.
    pub tone: Option<Tone>,
    /// The turns so far, tiny.
    pub ticks: Vec<Tick>,
}

impl RailView {
    /// A synthesis is being written.
    #[must_use]
    pub fn is_concluding(&self) -> bool {
        self.tone.is_none() && self.ticks.last().is_some_and(|tick| tick.kind == TickKind::Synthesis)
    }
}

impl From<&Source<'_>> for RailView {
    fn from(source: &Source<'_>) -> Self {
        let ending = source.segments.last().filter(|_| source.status == Status::Ended);
        let turn = source.turns.last().map_or(0, |turn| turn.turn);
        let words = match (ending, source.status) {
            (Some(ending), _) => ending::short(ending),
            (None, Status::Calling { synthesis: true, .. } | Status::Waiting { synthesis: true, .. }) => {
                "writing the synthesis".to_owned()
            }
            (None, Status::Waiting { .. }) => format!("turn {turn} of {}, waiting", source.effective_max_turns),
            (None, Status::Ended) if source.imported.is_some() => {
                format!("{}, imported", counted(source.turns.len() as u64, "turn"))
            }
            (None, Status::Ended) => format!("{turn} of {} turns, unfinished", source.effective_max_turns),
            (None, _) => format!("turn {turn} of {}", source.effective_max_turns),
        };
        // A document written while its run was open is not running either.
        let over = (source.status == Status::Ended).then_some(Tone::Cancelled);
        let ticks = Meter::from(source).ticks.into_iter().filter(|tick| tick.state != TickState::Ahead).collect();
        RailView { title: one_line(source.input, 120), words, tone: ending.map(ending::tone).or(over), ticks }
    }
}
