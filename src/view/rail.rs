//! A run in the list of runs: its task, its ticks, its ending as text.

use serde::{Deserialize, Serialize};

use crate::engine::Status;
use crate::protocol::desk::Header;
use crate::trajectory::Summary;

use super::ending::{self, Tone};
use super::meter::{Meter, Tick, TickKind, TickState};
use super::source::{Origin, Source, task_title};
use crate::content::format::{counted, one_line};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RailView {
    pub title: String,
    /// `turn 3 of 15`, `4 turns, complete`
    pub words: String,
    /// `None`: it is running.
    pub tone: Option<Tone>,
    /// The turns so far, drawn small.
    pub ticks: Vec<Tick>,
}

impl RailView {
    /// Returns whether a synthesis is being written.
    #[must_use]
    pub fn is_concluding(&self) -> bool {
        self.tone.is_none() && self.ticks.last().is_some_and(|tick| tick.kind == TickKind::Synthesis)
    }
}

impl From<&Source<'_>> for RailView {
    fn from(source: &Source<'_>) -> Self {
        let ending = source.segments.last().filter(|_| source.status == Status::Ended);
        let turn = source.turns.last().map_or(0, |turn| turn.turn);
        let text = match (ending, source.status) {
            _ if source.origin == Origin::Interrupted => format!("interrupted in turn {turn}"),
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
        // A run whose document was written before it ended is not running either.
        let over = (source.status == Status::Ended).then_some(Tone::Cancelled);
        let ticks = Meter::from(source).ticks.into_iter().filter(|tick| tick.state != TickState::Ahead).collect();
        RailView {
            title: one_line(task_title(source.input), 120),
            words: text,
            tone: ending.map(ending::tone).or(over),
            ticks,
        }
    }
}

impl RailView {
    /// Returns the entry of a run that had not ended when it was last stored.
    #[must_use]
    pub fn left_open(run: &Summary) -> Self {
        RailView { words: format!("not ended, turn {}", run.turns_used.max(1)), ..RailView::from(run) }
    }
}

impl From<&Header> for RailView {
    /// Returns its entry in the list of stored runs.
    fn from(header: &Header) -> Self {
        let mut view = serde_json::from_value(header.rail.clone()).unwrap_or_else(|_| RailView::from(&header.summary));
        if let Some(name) = &header.name {
            view.title.clone_from(name);
        }
        view
    }
}

impl From<&Summary> for RailView {
    /// Builds the entry from the figures alone, without ticks.
    fn from(run: &Summary) -> Self {
        let text = match run.termination_reason {
            Some(reason) => ending::words_of(reason, run.total_turns),
            None => format!("{} of {} turns, unfinished", run.turns_used, run.effective_max_turns),
        };
        let tone = run.outcome.map_or(Tone::Cancelled, ending::tone_of);
        RailView { title: one_line(task_title(&run.title), 120), words: text, tone: Some(tone), ticks: Vec::new() }
    }
}
