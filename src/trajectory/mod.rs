//! The record of a run: document, redaction, replay. PURE -> engine.

use serde::{Deserialize, Serialize};

use crate::engine::*;

/// One input of the engine, as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvent {
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
        self.events.push(RecordedEvent { seq: 0, at_ms: at, event: event.clone() });
        self.run.handle(at, event)
    }
    // To come here: `document(&self) -> Trajectory` (Serialize, the JSON document of SEMANTICS 10),
    // `Trajectory::parse(&str) -> Result<Trajectory, ParseError>`, `replay(&Trajectory) -> Result<Recorder, Mismatch>`,
    // `redact::Secrets::new(Vec<String>)`, `Secrets::scrub(&self, &str) -> Cow<str>`, `Secrets::scrub_event(&self, &mut Event)`.
}
