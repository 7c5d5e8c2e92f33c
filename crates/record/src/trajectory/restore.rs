//! Restores a recorded run, so that a shell can continue it or branch from one of its turns.

use super::document::Trajectory;
use super::{RecordedEvent, Recorder};
use turnwise_engine::{Branch, CallId, Effect, Event, Millis, RunConfig, Status, Task};

/// A run after its events. Nothing is in flight: the first event that the caller sends must be `Resumed` or `Branched`.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored {
    pub recorder: Recorder,
    /// The full text of results that were truncated for the model, in order of arrival.
    pub kept: Vec<(CallId, String)>,
    /// The time on the run's clock.
    pub at: Millis,
}

impl Restored {
    /// Replays the events.
    #[must_use]
    pub fn from_events(config: RunConfig, task: Task, events: Vec<RecordedEvent>) -> Self {
        let (recorder, effects) = Recorder::start(config, task);
        let mut restored = Restored { recorder, kept: Vec::new(), at: Millis(0) };
        restored.keep(effects);
        for event in events {
            restored.play(event);
        }
        restored
    }

    /// Replays one more event. Its effects already happened during recording.
    pub fn play(&mut self, RecordedEvent { at_ms, event, .. }: RecordedEvent) {
        self.at = self.at.max(at_ms);
        let effects = self.recorder.handle(at_ms, event);
        self.keep(effects);
    }

    /// Adds what the requests that were open had streamed when the former driver ended.
    pub fn recall(&mut self, streamed: Vec<Event>) {
        self.recorder.recall(streamed);
    }

    /// Returns the run just before the request of this turn (an index in `turns`) was sent; `None` if there is no such turn.
    #[must_use]
    pub fn before_turn(recorded: &Trajectory, place: usize) -> Option<Self> {
        Self::up_to_turn(recorded, place).map(|(restored, _)| restored)
    }

    /// Returns the same state, with the events that lead to it.
    #[must_use]
    pub fn up_to_turn(recorded: &Trajectory, place: usize) -> Option<(Self, Vec<RecordedEvent>)> {
        let (config, task) = recorded.origin();
        let mut restored = Restored::from_events(config, task, Vec::new());
        let mut played = 0;
        while !restored.begins(place) {
            restored.play(recorded.events.get(played)?.clone());
            played += 1;
        }
        let mut events = recorded.events.get(..played)?.to_vec();
        // A branch of a branch at the same turn keeps what the earlier one changed, except for the reply, which is requested again.
        while let Some(RecordedEvent { event: Event::Branched(branch), .. }) = recorded.events.get(events.len()) {
            let event = Event::Branched(Box::new(Branch { reply: None, ..branch.as_ref().clone() }));
            let again = RecordedEvent { event, ..recorded.events.get(events.len())?.clone() };
            restored.play(again.clone());
            events.push(again);
        }
        restored.begins(place).then_some((restored, events))
    }

    fn begins(&self, place: usize) -> bool {
        let run = &self.recorder.run;
        run.turns().len() == place + 1 && matches!(run.status(), Status::Calling { attempt: 1, .. })
    }

    fn keep(&mut self, effects: Vec<Effect>) {
        self.kept.extend(effects.into_iter().filter_map(|effect| match effect {
            Effect::KeepResult { handle, content } => Some((handle, content)),
            _ => None,
        }));
    }
}
