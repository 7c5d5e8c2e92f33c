//! A record as it was after a step: assembled from the whole record and the worker's state of the step.

use std::sync::Arc;

use turnwise_engine::{Status, Trigger};
use turnwise_protocol::Snapshot;
use turnwise_protocol::snapshot::{Now, Subagent};
use turnwise_view::RunSource;
use turnwise_view::replay::{Standing, StateAt};

/// The record, moved from step to step.
#[derive(Debug)]
pub struct Stepped {
    whole: Arc<Snapshot>,
    now: Snapshot,
    status: Status,
    wrap_up: Option<Trigger>,
}

impl Stepped {
    /// Creates the state before anything happened.
    pub fn new(whole: Arc<Snapshot>) -> Self {
        let now = short(&whole);
        Stepped { whole, now, status: Status::Ended, wrap_up: None }
    }

    /// Returns the source that views are made from.
    pub fn source(&self) -> RunSource<'_> {
        RunSource { status: self.status, wrap_up: self.wrap_up, ..RunSource::from(&self.now).recorded() }
    }

    /// Returns the source of the whole record.
    pub fn whole(&self) -> RunSource<'_> {
        RunSource::from(self.whole.as_ref()).recorded()
    }

    /// Moves to a step. Returns the first turn that may look different now.
    pub fn go(&mut self, to: &StateAt) -> usize {
        let segments = self.now.segments.len();
        let from = move_to(&mut self.now, &self.whole, &to.run);
        (self.status, self.wrap_up) = (to.run.status, to.run.wrap_up);
        self.now.children.truncate(to.children.len());
        for (at, standing) in to.children.iter().enumerate() {
            let Some(whole) = self.whole.children.get(at) else { continue };
            let Some(inside) = &whole.run else { continue };
            if self.now.children.len() <= at {
                self.now.children.push(Subagent { asked: whole.asked.clone(), run: Some(short(inside)) });
            }
            if let Some(child) = self.now.children.get_mut(at).and_then(|child| child.run.as_mut()) {
                move_to(child, inside, standing);
            }
        }
        // The ends of segments determine which limit a turn ran under.
        if self.now.segments.len() == segments { from } else { 0 }
    }
}

/// Moves a run to another state. All turns but the last of either state are complete and the same in both. Returns the
/// first turn that may differ.
fn move_to(now: &mut Snapshot, whole: &Snapshot, to: &Standing) -> usize {
    let keep = now.turns.len().min(to.turns).saturating_sub(1);
    now.turns.truncate(keep);
    now.turns.extend(whole.turns.get(keep..to.turns.min(whole.turns.len())).unwrap_or_default().iter().cloned());
    if let (Some(last), Some(partial)) = (now.turns.last_mut(), &to.partial) {
        last.clone_from(partial);
    }
    now.segments = whole.segments.get(..to.segments).unwrap_or_default().to_vec();
    now.now.effective_max_turns = to.effective_max_turns;
    (now.now.requests, now.now.usage) = (to.requests, to.tokens);
    keep
}

/// Returns the parts that stay the same, without the long lists.
fn short(snapshot: &Snapshot) -> Snapshot {
    let now = Now { effective_max_turns: snapshot.start.config.max_turns, requests: 0, ..snapshot.now };
    Snapshot { now, ..Snapshot::empty(snapshot.start.clone()) }
}
