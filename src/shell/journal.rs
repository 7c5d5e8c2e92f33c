//! Who keeps a run outside the page's memory. Storage plugs in here: the shell knows no database.

use std::future::Future;
use std::pin::Pin;

use super::session::Session;
use crate::engine::Run;
use crate::trajectory::{RecordedEvent, Recorder};

/// Stores the events, in order. None of them contains a secret. It must not call back into the session.
pub trait Journal {
    /// A run that is not stored yet: its start, and its events so far.
    fn begun(&self, recorder: &Recorder);

    /// These events are new, or hold more than before. `run` is the run after them.
    fn happened(&self, events: &[&RecordedEvent], run: &Run);

    /// Ready once all that was told is kept, or cannot be; `None`: it is already.
    fn kept(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>>;
}

impl Session {
    /// Waits until what happened so far is kept, so that a request that was sent is known of after a crash.
    pub(super) async fn kept(&self) {
        if let Some(kept) = self.journal().and_then(|journal| journal.kept()) {
            kept.await;
        }
    }
}
