//! Stores runs outside the page's memory. Storage plugs in here: the shell knows no database.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use turnwise_engine::{Event, Run};
use turnwise_record::plan::PlanRun;
use turnwise_record::trajectory::{RecordedEvent, Recorder};

/// Stores events, in order. They contain no secrets. Implementations must not call back into the session.
pub trait Journal {
    /// Called for a run that is not stored yet, with its start and its events so far.
    fn begun(&self, recorder: &Recorder);

    /// Called with events that are new or contain more than before. `run` is the run after them.
    fn happened(&self, events: &[&RecordedEvent], run: &Run);

    /// Called each second with all that the open requests have streamed so far (`Event::ModelStreamed`), which is no part of the
    /// record until a request is aborted. Each call replaces what the last one gave.
    fn streamed(&self, streamed: &[Event]);

    /// Resolves once everything reported so far is stored, or cannot be; `None`: it already is.
    fn kept(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>>;
}

/// Stores a plan and the runs of its steps, in order.
pub trait PlanJournal {
    /// Called when more is known about the plan, before anything follows from it.
    fn changed(&self, run: &PlanRun);

    /// Returns the journal of a step's run.
    fn step(&self, order: u32) -> Rc<dyn Journal>;
}
