//! The driver of a session: starts a run, passes events to the engine one at a time, and performs every effect.
//!
//! Events may arrive while another one is being handled (an observer calls `stop`): they wait in the inbox, so observers see
//! records in order. An effect that takes time is a future; it resolves to the event that reports how it ended.

use std::future::Future;

use wasm_bindgen_futures::spawn_local;

use super::input::UserInput;
use super::live::{ActiveRun, Notice, OpenRequest};
use super::misuse::StartError;
use super::session::Session;
use super::timer::Timeout;
use super::{fetch, ids, js, program, record, tool};
use turnwise_engine::{
    Abort, Authority, Effect, EpochMillis, Event, Message, Run, RunConfig, Task, TimerId, caps, time,
};
use turnwise_llm::{adjustments, models};
use turnwise_record::trajectory::{Carried, Recorder};

/// How often streamed text is passed to the journal, in milliseconds.
const DRAFT_MS: f64 = 1_000.0;

impl Session {
    /// Starts a run; the observer is notified of everything after that.
    pub fn start(
        &self,
        input: impl Into<UserInput>,
        after: Option<Carried>,
        observer: impl Fn(Notice<'_>) + 'static,
    ) -> Result<(), StartError> {
        let config = self.config();
        let started_at = js::epoch_ms();
        let Carried { mut session_id, mut history, refused_tokens } = after.unwrap_or_default();
        if session_id.is_empty() {
            session_id = ids::session_id(started_at, config.seed);
        }
        if history.first().is_some_and(|first| !matches!(first, Message::System { .. })) {
            history.insert(0, Message::system(config.system_text()));
        }
        let run_id = time::run_id(EpochMillis(started_at), config.seed);
        let UserInput { text: input, images } = input.into();
        let started_at = EpochMillis(started_at);
        let task = Task { run_id, session_id, input, images, history, refused_tokens, started_at, child: 0 };
        self.begin(config, task, observer)
    }

    /// Starts a task that already has its ids.
    ///
    /// # Errors
    /// A run is in progress, or the session is closed.
    pub fn begin(
        &self,
        mut config: RunConfig,
        mut task: Task,
        observer: impl Fn(Notice<'_>) + 'static,
    ) -> Result<(), StartError> {
        self.claim()?;
        models::complete(&mut config);
        config.adjusted = adjustments(&config);
        config.shortens = true;
        self.permit(&mut config);
        self.secrets().scrub_origin(&mut config, &mut task);
        let (recorder, effects) = Recorder::start(config, task);
        if let Some(journal) = self.journal() {
            journal.begun(&recorder);
        }
        self.put(ActiveRun::new(recorder, js::now(), observer));
        self.drive(effects);
        Ok(())
    }

    /// Asks the run to wrap up.
    pub fn stop(&self) {
        self.tell(Event::StopRequested);
    }

    /// Ends the run at once.
    pub fn cancel(&self) {
        self.tell(Event::Cancelled { keeps_text: true });
    }

    /// Continues a run that ended at a limit; its observer is notified of the new segment. `authority`: as for `resume`.
    pub fn grant(&self, turns: u32, authority: Option<Authority>) -> Result<(), StartError> {
        if self.is_running() {
            return Err(StartError::Busy);
        }
        if !self.with_run(|run| run.is_some_and(Run::can_continue)) {
            return Err(StartError::NothingToContinue);
        }
        self.claim()?;
        if authority.is_none() {
            self.renew_permissions();
        }
        self.warm_up(authority);
        self.send(Event::TurnsGranted { turns });
        Ok(())
    }

    /// Ends pending work and releases the workers. The record stays readable.
    pub fn close(&self) {
        self.cancel();
        self.0.closed.set(true);
        self.0.host.close();
        self.0.demo.take();
        self.0.host_tools.borrow_mut().clear();
    }

    fn tell(&self, event: Event) {
        if self.is_running() {
            self.send(event);
        }
    }

    /// Tells a run that continues which rules apply and who answers its questions, if that has changed.
    pub(super) fn renew_permissions(&self) {
        if let Some(permissions) = self.other_permissions() {
            self.send(Event::PermissionsSet { permissions });
        }
    }

    /// Called before a restored run receives its first new event: whatever was in flight when it was recorded is gone.
    fn warm_up(&self, authority: Option<Authority>) {
        let cold = self.live(|live| std::mem::take(&mut live.cold)).unwrap_or(false);
        if cold || authority.is_some() {
            self.send(Event::Resumed { at: EpochMillis(js::epoch_ms()), authority: authority.map(Box::new) });
        }
    }

    /// Passes an event to the engine, now or as soon as the current one has been handled.
    pub(super) fn send(&self, event: Event) {
        self.0.inbox.borrow_mut().push_back(event);
        if !self.0.handling.get() {
            self.drive(Vec::new());
        }
    }

    fn drive(&self, first: Vec<Effect>) {
        self.0.handling.set(true);
        self.perform(first);
        loop {
            let next = self.0.inbox.borrow_mut().pop_front();
            let Some(event) = next else { break };
            for streamed in self.streamed_before(&event) {
                self.handle(streamed);
            }
            self.handle(event);
        }
        self.0.handling.set(false);
    }

    fn handle(&self, mut event: Event) {
        caps::cut_event(&mut event);
        self.secrets().scrub_event(&mut event);
        let journal = self.journal();
        let adopts = matches!(event, Event::Resumed { .. } | Event::Branched(_));
        let effects = self.live(|live| {
            let at = live.clock();
            let effects = live.recorder.handle(at, event);
            if adopts {
                live.renew();
            }
            live.keep(journal.as_deref());
            effects
        });
        self.perform(effects.unwrap_or_default());
    }

    /// The data streamed so far by the requests that this event may abort.
    fn streamed_before(&self, event: &Event) -> Vec<Event> {
        let streamed = self.live(|live| {
            let aborts = live.recorder.run.may_abort(event);
            aborts.then(|| live.requests.iter().filter_map(OpenRequest::streamed).collect())
        });
        streamed.flatten().unwrap_or_default()
    }

    /// Text has been streamed: soon the journal gets all of it, so that it outlives the page.
    pub(super) fn draft_soon(&self) {
        if self.journal().is_none() {
            return;
        }
        let drafting = self.clone();
        self.live(|live| {
            live.draft.get_or_insert_with(|| Timeout::new(DRAFT_MS, move || drafting.draft()));
        });
    }

    fn draft(&self) {
        let streamed: Option<Vec<Event>> = self.live(|live| {
            live.draft = None;
            live.requests.iter().filter_map(OpenRequest::streamed).collect()
        });
        if let (Some(journal), Some(streamed)) = (self.journal(), streamed.filter(|streamed| !streamed.is_empty())) {
            journal.streamed(&streamed);
        }
    }

    /// Ends the segment and drops all pending work.
    pub(super) fn finish(&self) {
        self.0.running.set(false);
        let left = self.live(|live| {
            live.dog.rest();
            live.draft = None;
            (std::mem::take(&mut live.requests), std::mem::take(&mut live.calls), std::mem::take(&mut live.timers))
        });
        drop(left); // outside the borrow: dropping aborts, and that calls into JavaScript
    }

    /// Performs the effects of one step. Observers are notified once all of them have been started.
    fn perform(&self, effects: Vec<Effect>) {
        let mut records = Vec::new();
        for effect in effects {
            match effect {
                Effect::CallModel(call) => self.report(fetch::call(self, &call)),
                Effect::RunTool(call) => self.report(tool::run(self, call)),
                Effect::AnswerProgram { program, asked, answer } => program::answer(self, &program, asked, &answer),
                Effect::Sleep { timer, ms } => self.sleep(timer, ms),
                Effect::Abort(Abort::Request(request)) => fetch::abort(self, request),
                Effect::Abort(Abort::Tool(call)) => tool::abort(self, &call),
                Effect::Abort(Abort::Timer(timer)) => self.cancel_timer(timer),
                Effect::KeepResult { handle, content } => record::keep_result(self, &handle, &content),
                Effect::Record(record) => records.push(record),
                Effect::Finish => self.finish(),
            }
        }
        record::publish(self, &records);
    }

    /// Passes the event of an effect to the engine when it has ended; `None`: the engine no longer waits for it.
    fn report(&self, effect: impl Future<Output = Option<Event>> + 'static) {
        let session = self.clone();
        spawn_local(async move {
            if let Some(event) = effect.await {
                session.send(event);
            }
        });
    }

    /// Starts the engine's wait before a retry, or after a stop.
    fn sleep(&self, timer: TimerId, ms: u64) {
        let waker = self.clone();
        let timeout = Timeout::new(ms as f64, move || {
            waker.cancel_timer(timer);
            waker.send(Event::TimerFired { timer });
        });
        self.live(|live| live.timers.push((timer, timeout)));
    }

    fn cancel_timer(&self, timer: TimerId) {
        self.live(|live| live.timers.retain(|(id, _)| *id != timer));
    }
}
