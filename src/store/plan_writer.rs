//! Stores a plan: its state under its own key, the run of each step under a key made from that. All of it is in one queue, so
//! that a step is stored before what follows from it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use super::run_writer::RunWriter;
use crate::shell::{Journal, PlanJournal};
use turnwise_engine::{Event, Run};
use turnwise_protocol::app::{StoredKind, step_key};
use turnwise_record::plan::PlanRun;
use turnwise_record::trajectory::{RecordedEvent, Recorder, Restored, Trajectory};

/// Stores one plan; clones share it.
#[derive(Clone, Debug)]
pub struct PlanWriter(pub RunWriter);

/// Stores the run of one step.
struct StepKeeper {
    keeper: RunWriter,
    order: u32,
}

impl PlanWriter {
    /// Gives a plan that begins its own key.
    #[must_use]
    pub fn begin(keeper: RunWriter) -> Self {
        let _ = keeper.take_new_key();
        PlanWriter(keeper)
    }

    /// Stores the run of a step that ended in an earlier run of the plan.
    pub fn copy(&self, order: u32, run: &Trajectory) {
        let (config, task) = run.origin();
        let restored = Restored::from_events(config, task, run.events.clone());
        self.step(order).begun(&restored.recorder);
    }
}

impl PlanJournal for PlanWriter {
    fn changed(&self, run: &PlanRun) {
        self.0.queue_plan(run);
    }

    fn step(&self, order: u32) -> Rc<dyn Journal> {
        Rc::new(StepKeeper { keeper: self.0.clone(), order })
    }
}

impl StepKeeper {
    fn key(&self) -> String {
        step_key(&self.keeper.key(), self.order)
    }
}

impl Journal for StepKeeper {
    fn begun(&self, recorder: &Recorder) {
        self.keeper.begin(&self.key(), StoredKind::Step, recorder);
    }

    fn happened(&self, events: &[&RecordedEvent], run: &Run) {
        self.keeper.queue(&self.key(), StoredKind::Step, events, run);
    }

    fn streamed(&self, streamed: &[Event]) {
        self.keeper.queue_draft(&self.key(), streamed);
    }

    fn kept(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        self.keeper.kept()
    }
}
