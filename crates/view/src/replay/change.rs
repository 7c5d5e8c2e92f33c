//! The state of every line of work after each step: the number of its turns, and a copy of a turn still in progress.

use serde::{Deserialize, Serialize};

use turnwise_engine::{Run, Status, Trigger, TurnRecord, Usage};

/// The state of one line of work after a step. All turns except the last are as in the document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Turns so far, including the open one.
    pub turns: usize,
    /// The last turn, if it was not yet in its final state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<TurnRecord>>,
    /// Segments that have ended.
    pub segments: usize,
    pub status: Status,
    pub wrap_up: Option<Trigger>,
    pub effective_max_turns: u32,
    pub requests: u32,
    pub tokens: Usage,
}

/// The state of the run and its sub-agents after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateAt {
    pub step: usize,
    pub run: Standing,
    /// The sub-agents that have begun, in that order: the order of the document's `children`.
    pub children: Vec<Standing>,
}

/// The states of one line, each with the step from which it applies.
#[derive(Debug, Default)]
pub(super) struct LineStates(Vec<(usize, Standing)>);

impl LineStates {
    /// Stores the state of the line after a step. The turn before the last is complete now: its copy is dropped.
    pub fn note(&mut self, step: usize, run: &Run) {
        let standing = Standing {
            turns: run.turns().len(),
            partial: run.turns().last().cloned().map(Box::new),
            segments: run.segments().len(),
            status: run.status(),
            wrap_up: run.wrap_up_trigger(),
            effective_max_turns: run.effective_max_turns(),
            requests: run.requests(),
            tokens: run.usage(),
        };
        match self.0.last_mut() {
            Some((at, last)) if *at == step => *last = standing,
            Some((_, last)) => {
                if last.turns < standing.turns {
                    last.forget_whole(run);
                }
                self.0.push((step, standing));
            }
            None => self.0.push((step, standing)),
        }
    }

    /// Drops the copies of turns that did not change any more, once the run is over.
    pub fn settle(&mut self, run: &Run) {
        self.0.iter_mut().for_each(|(_, standing)| standing.forget_whole(run));
    }

    /// Returns the state of the line after a step; `None`: it had not begun.
    pub fn at(&self, step: usize) -> Option<&Standing> {
        let after = self.0.partition_point(|(at, _)| *at <= step);
        self.0.get(after.checked_sub(1)?).map(|(_, standing)| standing)
    }
}

impl Standing {
    fn forget_whole(&mut self, run: &Run) {
        let became = self.turns.checked_sub(1).and_then(|last| run.turns().get(last));
        if self.partial.as_deref() == became {
            self.partial = None;
        }
    }
}
