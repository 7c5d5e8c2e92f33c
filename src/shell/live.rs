//! The run of a session, and its pending work.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fetch::OpenRequest;
use super::journal::Journal;
use super::js;
use super::session::Notice;
use super::timer::Timeout;
use super::tool::OpenCall;
use super::watch::Watchdog;
use super::wire::Wire;
use crate::engine::*;
use crate::trajectory::Recorder;

/// The run, and its pending work. Kept after the end, so that it can be read and granted more turns.
pub(super) struct Live {
    pub(super) recorder: Recorder,
    /// The connections of the run (0) and of its sub-agents.
    pub(super) wires: BTreeMap<u32, Wire>,
    pub(super) dog: Watchdog,
    pub(super) requests: Vec<OpenRequest>,
    pub(super) calls: Vec<OpenCall>,
    pub(super) timers: Vec<(TimerId, Timeout)>,
    pub(super) observer: Rc<dyn Fn(Notice<'_>)>,
    pub(super) zero: f64,
    /// The run was restored and has not been driven since.
    pub(super) cold: bool,
}

impl Live {
    /// A run whose clock was 0 at `zero`.
    pub(super) fn new(recorder: Recorder, zero: f64, observer: impl Fn(Notice<'_>) + 'static) -> Self {
        Live {
            dog: Watchdog::new(&recorder.run.config().limits),
            recorder,
            wires: BTreeMap::new(),
            requests: Vec::new(),
            calls: Vec::new(),
            timers: Vec::new(),
            observer: Rc::new(observer),
            zero,
            cold: false,
        }
    }

    pub(super) fn clock(&self) -> Millis {
        Millis((js::now() - self.zero).max(0.0) as u64)
    }

    /// Passes new events to the journal.
    pub(super) fn keep(&mut self, journal: Option<&dyn Journal>) {
        self.recorder.with_changed(|events, run| {
            if let Some(journal) = journal {
                journal.happened(events, run);
            }
        });
    }
}
