//! The record of a run: the document, its redaction, its replay. PURE -> engine.
//!
//! Invariant: the recorded events, the configuration and the task are enough to derive everything else; a test derives
//! it again. No secret is ever in it: the shell redacts an event before it is recorded **and** before the engine sees it.

pub mod document;
pub mod redact;
pub mod replay;

use serde::{Deserialize, Serialize};

use crate::engine::{Effect, Event, Millis, Run, RunConfig, Task};
pub use document::{ParseError, Trajectory};
pub use redact::Secrets;
pub use replay::{Mismatch, replay};

/// One input of the engine, as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Counted from 1.
    pub seq: u32,
    pub at_ms: Millis,
    pub event: Event,
}

/// A run with its event list: what the shell drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    pub run: Run,
    pub events: Vec<RecordedEvent>,
}

impl Recorder {
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Recorder, Vec<Effect>) {
        let (run, effects) = Run::start(config, task);
        (Recorder { run, events: Vec::new() }, effects)
    }

    /// Records the event and hands it to the run.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        let (raw_free, has_raw) = without_raw(&event);
        let logs = self.run.logs().len();
        let effects = self.run.handle(at, event);
        let mut recorded = raw_free;
        // The raw response is the log's; of an attempt that did not fail nobody reads it, so it is not kept.
        if has_raw && let Some(log) = self.run.logs().get(logs) {
            match &mut recorded {
                Event::ModelReplied { raw, .. } | Event::ModelFailed { raw, .. } => raw.clone_from(&log.raw),
                _ => {}
            }
        }
        let seq = u32::try_from(self.events.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.events.push(RecordedEvent { seq, at_ms: at, event: recorded });
        effects
    }

    /// The run as one JSON document, at any time.
    #[must_use]
    pub fn document(&self) -> Trajectory {
        Trajectory::of(self)
    }
}

/// A copy of the event without the raw response, and whether it had one.
fn without_raw(event: &Event) -> (Event, bool) {
    match event {
        Event::ModelReplied { request, reply, raw, first_token_ms } => (
            Event::ModelReplied { request: *request, reply: reply.clone(), raw: None, first_token_ms: *first_token_ms },
            raw.is_some(),
        ),
        Event::ModelFailed { request, error, raw } => {
            (Event::ModelFailed { request: *request, error: error.clone(), raw: None }, raw.is_some())
        }
        other => (other.clone(), false),
    }
}
