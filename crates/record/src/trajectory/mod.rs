//! The record of a run: the document, its redaction, its replay, and conversion to and from other formats. PURE -> engine.
//!
//! Invariant: the recorded events, the configuration and the task are enough to derive everything else but notes; a test does so.
//! A record never contains a secret: the shell redacts an event before it is recorded **and** before the engine sees it.

mod carried;
mod clamp;
pub mod document;
pub mod export;
pub mod import;
pub mod notes;
pub mod programs;
pub mod redact;
pub mod replay;
pub mod restore;
pub mod resume_point;
pub mod summary;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use carried::Carried;
pub use document::{Imported, ParseError, Trajectory};
pub use export::ExportFormat;
pub use notes::{Note, NoteChange};
pub use programs::{RecordedProgram, programs};
pub use redact::Secrets;
pub use replay::{Mismatch, replay};
pub use restore::Restored;
pub use resume_point::{BranchWish, ResumePoint};
pub use summary::RunSummary;
use turnwise_engine::{Effect, Event, LogRecord, Millis, RecordKind, Run, RunConfig, Task};

/// One input of the engine, as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RecordedEvent {
    /// Counted from 1.
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub seq: u32,
    pub at_ms: Millis,
    pub event: Event,
}

/// A run with its event list, driven by the shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    pub run: Run,
    pub events: Vec<RecordedEvent>,
    /// Index in `events` of the model's last reply or failure, for the run itself (key 0) and for each sub-agent.
    last_reply: BTreeMap<u32, usize>,
    /// Indices in `events` of the events added or changed since the last [`Recorder::with_changed`].
    #[serde(skip)]
    changed: BTreeSet<usize>,
}

impl Recorder {
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Recorder, Vec<Effect>) {
        let (run, effects) = Run::start(config, task);
        (Recorder { run, events: Vec::new(), last_reply: BTreeMap::new(), changed: BTreeSet::new() }, effects)
    }

    /// Records the event and hands it to the run.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        let seq = u32::try_from(self.events.len()).unwrap_or(u32::MAX).saturating_add(1);
        if let Event::ModelReplied { request, .. } | Event::ModelFailed { request, .. } = event
            && self.run.awaits(request)
        {
            self.last_reply.insert(request.child(), self.events.len());
        }
        self.changed.insert(self.events.len());
        self.events.push(RecordedEvent { seq, at_ms: at, event: without_raw(&event) });
        let effects = self.run.handle(at, event);
        effects.iter().for_each(|effect| self.keep_raw(effect));
        effects
    }

    /// Keeps the raw response of a failed attempt, for the log; the raw response of a successful attempt is never read.
    /// Whether an attempt failed may be known only after its tool calls are answered.
    fn keep_raw(&mut self, effect: &Effect) {
        let Effect::Record(record) = effect else { return };
        let (child, what) = match &record.what {
            RecordKind::Child { child, event } => (*child, &event.what),
            own => (0, own),
        };
        let RecordKind::Log { log: LogRecord { raw: Some(raw), .. } } = what else { return };
        let Some(at) = self.last_reply.get(&child) else { return };
        if let Some(RecordedEvent { event, .. }) = self.events.get_mut(*at)
            && let Event::ModelReplied { raw: kept, .. } | Event::ModelFailed { raw: kept, .. } = event
        {
            *kept = Some(raw.clone());
            self.changed.insert(*at);
        }
    }

    /// Adds what open requests had streamed when the driver of a restored run ended (`Event::ModelStreamed`): it becomes part of the
    /// record. Anything else, and what a request that is no longer open had streamed, does nothing.
    pub fn recall(&mut self, streamed: Vec<Event>) {
        let at = self.events.last().map_or(Millis(0), |event| event.at_ms);
        for event in streamed {
            if matches!(event, Event::ModelStreamed { request, .. } if self.run.awaits(request)) {
                // It has no effects.
                drop(self.handle(at, event));
            }
        }
    }

    /// Passes `look` the events added since the last call, and earlier ones whose raw response was kept since then.
    pub fn with_changed(&mut self, look: impl FnOnce(&[&RecordedEvent], &Run)) {
        let changed = std::mem::take(&mut self.changed);
        let events: Vec<&RecordedEvent> = changed.into_iter().filter_map(|at| self.events.get(at)).collect();
        look(&events, &self.run);
    }

    /// Returns the run in its current state as one JSON document.
    #[must_use]
    pub fn document(&self) -> Trajectory {
        Trajectory::from_recorder(self)
    }
}

/// Returns a copy of the event without the raw response.
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
