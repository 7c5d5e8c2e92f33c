//! An observer outside the worker sees the run exactly as it is.

use turnwise_engine::Run;
use turnwise_protocol::snapshot::{Now, SnapshotStart, SubagentRequest};
use turnwise_protocol::{Reporter, Snapshot, SnapshotChange};
use turnwise_record::trajectory::RunSummary;

/// The run as its changes describe it.
#[derive(Default)]
pub struct Seen {
    reporter: Reporter,
    snapshot: Option<Snapshot>,
}

impl Seen {
    /// Follows a step of the run. Changes are not reported at every step, since frames are longer.
    pub fn follow(&mut self, run: &Run, told: bool) {
        let ended = run.ending().is_some();
        if !told && !ended {
            return;
        }
        let text = serde_json::to_string(&self.reporter.changes(run)).expect("serializes");
        let changes: Vec<SnapshotChange> = serde_json::from_str(&text).expect("reads back");
        self.snapshot = Snapshot::after(self.snapshot.take(), changes);
        let snapshot = self.snapshot.as_ref().expect("it began");
        shows(snapshot, run);
        let (seen, there) = (snapshot.summary(), RunSummary::of_run(run));
        assert_eq!(serde_json::to_string(&seen).unwrap(), serde_json::to_string(&there).unwrap());
        assert_eq!(self.reporter.changes(run), [], "nothing happened since");
    }
}

fn shows(seen: &Snapshot, run: &Run) {
    assert_eq!(seen.start, SnapshotStart::from_run(run));
    assert_eq!(seen.now, Now::from_run(run));
    assert_eq!(seen.turns.len(), run.turns().len());
    for (seen, turn) in seen.turns.iter().zip(run.turns()) {
        assert_eq!(seen, turn);
    }
    assert_eq!(seen.segments, run.segments());
    assert_eq!(seen.logs, run.logs());
    assert_eq!(seen.traces, run.traces());
    assert_eq!(seen.children.len(), run.children().len());
    for (seen, child) in seen.children.iter().zip(run.children()) {
        let asked = SubagentRequest { call: child.call.clone(), task_id: child.task_id, refused: child.is_refused() };
        assert_eq!(seen.asked, asked);
        match (&seen.run, child.run()) {
            (Some(seen), Some(run)) => shows(seen, run),
            (None, None) => {}
            (seen, run) => panic!("seen: {}, there: {}", seen.is_some(), run.is_some()),
        }
    }
}
