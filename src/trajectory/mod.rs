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
    /// Where the last reply or failure of the model stands in `events`.
    last_reply: usize,
}

impl Recorder {
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Recorder, Vec<Effect>) {
        let (run, effects) = Run::start(config, task);
        (Recorder { run, events: Vec::new(), last_reply: 0 }, effects)
    }

    /// Records the event and hands it to the run.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        let seq = u32::try_from(self.events.len()).unwrap_or(u32::MAX).saturating_add(1);
        if let Event::ModelReplied { request, .. } | Event::ModelFailed { request, .. } = event
            && self.run.awaits(request)
        {
            self.last_reply = self.events.len();
        }
        self.events.push(RecordedEvent { seq, at_ms: at, event: without_raw(&event) });
        let logs = self.run.logs().len();
        let effects = self.run.handle(at, event);
        self.keep_raw(logs);
        effects
    }

    /// The raw response is the log's; of an attempt that did not fail nobody reads it, so it is not kept. Whether it
    /// failed may be known only when its tool calls are answered.
    fn keep_raw(&mut self, logs: usize) {
        let Some(raw) = self.run.logs().iter().skip(logs).find_map(|log| log.raw.clone()) else { return };
        if let Some(RecordedEvent { event, .. }) = self.events.get_mut(self.last_reply)
            && let Event::ModelReplied { raw: kept, .. } | Event::ModelFailed { raw: kept, .. } = event
        {
            *kept = Some(raw);
        }
    }

    /// The run as one JSON document, at any time.
    #[must_use]
    pub fn document(&self) -> Trajectory {
        Trajectory::of(self)
    }
}

/// A copy of the event without the raw response.
fn without_raw(event: &Event) -> Event {
    match event {
        Event::ModelReplied { request, reply, first_token_ms, .. } => {
            let (request, first_token_ms) = (*request, *first_token_ms);
            Event::ModelReplied { request, reply: reply.clone(), raw: None, first_token_ms }
        }
        Event::ModelFailed { request, error, .. } => {
            Event::ModelFailed { request: *request, error: error.clone(), raw: None }
        }
        other => other.clone(),
    }
}
