//! Loads a recorded run into a session, to read it, continue it, or branch from it.

use std::rc::Rc;

use super::live::{ActiveRun, Notice};
use super::misuse::StartError;
use super::session::Session;
use super::{ids, js};
use turnwise_engine::{Authority, Branch, Effect, EpochMillis, Event, time};
use turnwise_record::trajectory::{RecordedEvent, Restored};

impl Session {
    /// Loads a recorded run. Nothing happens until it is resumed or granted turns.
    pub fn restore(&self, restored: Restored) {
        let Restored { recorder, kept, at } = restored;
        for (handle, content) in &kept {
            self.workspace().keep_result(&handle.0, content);
        }
        let mut live = ActiveRun::new(recorder, js::now() - at.0 as f64, |_| {});
        live.cold = true;
        self.put(live);
    }

    /// Adds to a restored run what its open requests had streamed ([`turnwise_record::trajectory::Recorder::recall`]).
    pub fn recall(&self, streamed: Vec<Event>) {
        self.live(|live| live.recorder.recall(streamed));
    }

    /// Sets the observer of the run in this session.
    pub fn observe(&self, observer: impl Fn(Notice<'_>) + 'static) {
        self.live(|live| live.observer = Rc::new(observer));
    }

    /// Whether the restored run was interrupted before it ended.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let open = self.with_run(|run| run.is_some_and(|run| run.ending().is_none()));
        open && !self.is_running() && !self.is_followed()
    }

    /// Whether another page drives the run.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.0.followed.get()
    }

    /// Sets whether another page drives the run.
    pub fn set_followed(&self, followed: bool) {
        self.0.followed.set(followed);
    }

    /// Resumes a restored run. `authority`: who decides in it from here on; `None` only for a run whose record is the user's own.
    ///
    /// # Errors
    /// There is no such run, or it is running.
    pub fn resume(&self, authority: Option<Authority>) -> Result<(), StartError> {
        if !self.is_interrupted() {
            return Err(StartError::NothingToContinue);
        }
        self.claim()?;
        self.live(|live| live.cold = false);
        // An authority has its own rules, and nothing of the run may happen under those of the record.
        if authority.is_none() {
            self.renew_permissions();
        }
        self.send(Event::Resumed { at: now(), authority: authority.map(Box::new) });
        Ok(())
    }

    /// Applies an event that another page stored, so that this copy of the run follows it.
    pub fn follow(&self, event: RecordedEvent) {
        let RecordedEvent { at_ms, event, .. } = event;
        let effects = self.live(|live| live.recorder.handle(at_ms, event)).unwrap_or_default();
        // The other page performs all other effects.
        for effect in effects {
            if let Effect::KeepResult { handle, content } = effect {
                self.workspace().keep_result(&handle.0, &content);
            }
        }
    }

    /// Starts a branch of a restored run: the original run plus the changes. The branch's ids are generated here, and its
    /// authority is completed: the answers come from this session.
    ///
    /// # Errors
    /// A run is in progress, or the session is closed.
    pub fn branch(
        &self,
        restored: Restored,
        mut branch: Branch,
        observer: impl Fn(Notice<'_>) + 'static,
    ) -> Result<(), StartError> {
        self.claim()?;
        let seed = restored.recorder.run.config().seed;
        self.restore(restored);
        self.live(|live| live.cold = false);
        self.observe(observer);
        branch.at = now();
        (branch.run_id, branch.session_id) = (time::run_id(branch.at, seed), ids::session_id(branch.at.0, !seed));
        if let Some(authority) = &mut branch.authority {
            authority.permissions.answers = self.answers();
        }
        let mut event = Event::Branched(Box::new(branch));
        self.secrets().scrub_event(&mut event);
        if let Some(journal) = self.journal() {
            self.live(|live| journal.begun(&live.recorder));
        }
        self.send(event);
        Ok(())
    }

    /// Returns the number of events of the run in this session.
    #[must_use]
    pub fn events(&self) -> u32 {
        self.live(|live| u32::try_from(live.recorder.events.len()).unwrap_or(u32::MAX)).unwrap_or(0)
    }
}

fn now() -> EpochMillis {
    EpochMillis(js::epoch_ms())
}
