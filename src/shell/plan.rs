//! Runs a plan: performs the scheduler's effects, with one session per step. `plan` decides which step starts when, and the
//! session how a step runs: there is no loop here.
//!
//! The plan's agent is busy for as long as the plan runs. The steps share the agent's access, host tools and files.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen::JsValue;

use super::access::Access;
use super::journal::PlanJournal;
use super::live::Notice;
use super::misuse::StartError;
use super::session::Session;
use super::{ids, js};
use turnwise_engine::{EpochMillis, Millis, ProviderConfig, Record, RecordKind, Run, RunConfig, Task};
use turnwise_record::plan::{
    PARALLEL, Plan, PlanDocument, PlanEffect, PlanEvent, PlanFault, PlanOptions, PlanRecord, PlanRecordKind, PlanRun,
    PlanTraceRecord, StepRun, read,
};
use turnwise_record::trajectory::Restored;

/// A handle to one plan run; clones share it.
#[derive(Clone)]
pub struct PlanSession(Rc<PlanSessionState>);

struct PlanSessionState {
    agent: Session,
    run: RefCell<PlanRun>,
    /// The sessions of the running steps.
    steps: RefCell<Vec<(u32, Session)>>,
    observer: Box<dyn Fn(PlanNotice<'_>)>,
    journal: RefCell<Option<Rc<dyn PlanJournal>>>,
    inbox: RefCell<VecDeque<PlanEvent>>,
    handling: Cell<bool>,
    /// It was restored, and has not been resumed.
    cold: Cell<bool>,
    /// Another page drives it.
    followed: Cell<bool>,
    zero: f64,
}

/// The options for starting a plan.
#[derive(Debug, Default)]
pub struct PlanStart {
    /// Maximum number of concurrent steps; `None`: four.
    pub parallel: Option<usize>,
    /// The record of an earlier run: steps that ended in it are not run again.
    pub after: Option<Box<PlanDocument>>,
    /// With `after`: rerun this step and everything that depends on it.
    pub from: Option<u32>,
}

/// The notifications for observers.
#[derive(Clone, Copy, Debug)]
pub enum PlanNotice<'a> {
    Plan(&'a PlanRecord),
    /// A notice from a step's run; `calls_left` is for the whole plan.
    Step {
        order: u32,
        calls_left: u32,
        notice: Notice<'a>,
    },
}

impl PlanSession {
    /// Parses a plan for this agent, with the agent's tools.
    ///
    /// # Errors
    /// Every fault in the plan.
    pub fn read(agent: &Session, plan: &Value) -> Result<Plan, Vec<PlanFault>> {
        let config = agent.config();
        let tools: Vec<&str> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
        read(plan, &tools)
    }

    /// Starts a plan returned by [`PlanSession::read`]; the observer is notified of everything after that. `ready` receives the
    /// session before anything else happens.
    ///
    /// # Errors
    /// The agent is busy or was freed.
    pub fn start(
        agent: &Session,
        mut plan: Plan,
        how: PlanStart,
        ready: impl FnOnce(&PlanSession),
        observer: impl Fn(PlanNotice<'_>) + 'static,
    ) -> Result<(), StartError> {
        agent.claim()?;
        scrub(agent, &mut plan);
        let mut base = agent.config();
        agent.secrets().scrub_origin(&mut base, &mut Task::default());
        let started_at = js::epoch_ms();
        let session_id = match &how.after {
            Some(after) => after.session_id.clone(),
            None => ids::session_id(started_at, base.seed),
        };
        let parallel = how.parallel.unwrap_or(PARALLEL);
        let PlanStart { after, from, .. } = how;
        let started_at = EpochMillis(started_at);
        let (run, effects) = PlanRun::start(plan, PlanOptions { base, session_id, started_at, parallel, after, from });
        let session = PlanSession::new(agent, run, js::now(), observer);
        ready(&session);
        session.keep();
        session.drive(effects);
        Ok(())
    }

    /// Loads a stored plan. Nothing happens until it is resumed.
    pub fn restore(agent: &Session, run: PlanRun, observer: impl Fn(PlanNotice<'_>) + 'static) -> Self {
        let since = js::epoch_ms().saturating_sub(run.options().started_at.0);
        let session = PlanSession::new(agent, run, js::now() - since as f64, observer);
        session.0.cold.set(true);
        session
    }

    fn new(agent: &Session, run: PlanRun, zero: f64, observer: impl Fn(PlanNotice<'_>) + 'static) -> Self {
        PlanSession(Rc::new(PlanSessionState {
            agent: agent.clone(),
            run: RefCell::new(run),
            steps: RefCell::default(),
            observer: Box::new(observer),
            journal: RefCell::default(),
            inbox: RefCell::default(),
            handling: Cell::default(),
            cold: Cell::default(),
            followed: Cell::default(),
            zero,
        }))
    }

    /// Loads the stored run of a step of a restored plan.
    pub fn restore_step(&self, order: u32, restored: Restored) -> Session {
        let step = self.0.agent.beside(restored.recorder.run.config().clone(), &scope(order));
        step.restore(restored);
        let plan = self.clone();
        step.observe(move |notice| plan.on_notice(order, notice));
        step.set_followed(self.is_followed());
        if let Some(calls_left) = step.with_run(|run| run.map(Run::calls_left)) {
            // What it has used is known from its events alone.
            let nothing = self.0.run.borrow_mut().handle(Millis(0), PlanEvent::StepProgress { order, calls_left });
            debug_assert!(nothing.is_empty(), "progress has no effect");
        }
        self.0.steps.borrow_mut().push((order, step.clone()));
        step
    }

    /// Sets the journal that stores the plan from now on.
    pub fn set_journal(&self, journal: Option<Rc<dyn PlanJournal>>) {
        for (order, step) in self.0.steps.borrow().iter() {
            step.set_journal(journal.as_ref().map(|journal| journal.step(*order)));
        }
        self.0.journal.replace(journal);
    }

    /// Replaces the credentials of the plan's agent and of the steps that have begun, from the next request on.
    pub fn set_access(&self, access: &[Access]) {
        self.0.agent.set_access(access);
        self.0.steps.borrow().iter().for_each(|(_, step)| step.set_access(access));
    }

    /// Has the page run the tools with these names, from the next call on.
    pub fn set_page_tools(&self, names: &[String]) {
        self.0.agent.set_page_tools(names);
        self.0.steps.borrow().iter().for_each(|(_, step)| step.set_page_tools(names));
    }

    /// The models that the plan's agent has keys for.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderConfig> {
        self.0.agent.providers()
    }

    /// Resumes a restored plan.
    ///
    /// # Errors
    /// It is running, it has ended, or another page drives it.
    pub fn resume(&self) -> Result<(), StartError> {
        if !self.is_interrupted() {
            return Err(StartError::NothingToContinue);
        }
        self.0.agent.claim()?;
        self.0.cold.set(false);
        let steps = self.0.steps.borrow().clone();
        let runs = steps.iter().filter_map(|(order, step)| Some((*order, StepRun::from_document(&step.document()?))));
        let restored = self.0.run.borrow().clone().restored(runs);
        self.0.run.replace(restored);
        self.send(PlanEvent::Resumed);
        Ok(())
    }

    /// Whether it was restored before it ended, and nothing drives it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.0.cold.get() && !self.is_followed() && self.is_running()
    }

    /// Whether another page drives it.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.0.followed.get()
    }

    /// Sets whether another page drives it.
    pub fn set_followed(&self, followed: bool) {
        self.0.followed.set(followed);
        self.0.steps.borrow().iter().for_each(|(_, step)| step.set_followed(followed));
    }

    /// Takes in its state as another page stored it.
    pub fn follow(&self, run: PlanRun) {
        self.0.run.replace(run);
    }

    /// Ends everything that is in progress, and stores nothing more.
    pub fn close(&self) {
        self.set_journal(None);
        let steps = self.0.steps.take();
        steps.iter().for_each(|(_, step)| step.close());
        self.0.agent.close();
    }

    /// Asks running steps to wrap up, and starts no others.
    pub fn stop(&self) {
        self.send(PlanEvent::StopRequested);
    }

    /// Ends every step at once.
    pub fn cancel(&self) {
        self.send(PlanEvent::Cancelled);
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.0.run.borrow().ending().is_none()
    }

    /// The current state of the plan run. Do not keep it.
    pub fn with_run<R>(&self, f: impl FnOnce(&PlanRun) -> R) -> R {
        f(&self.0.run.borrow())
    }

    /// The record so far, including running steps.
    #[must_use]
    pub fn document(&self) -> PlanDocument {
        self.0.run.borrow().document(|order| self.step(order)?.document())
    }

    fn send(&self, event: PlanEvent) {
        self.0.inbox.borrow_mut().push_back(event);
        if !self.0.handling.get() {
            self.drive(Vec::new());
        }
    }

    /// Handles one event at a time: an observer may stop the plan while it is being notified of a step.
    fn drive(&self, first: Vec<PlanEffect>) {
        self.0.handling.set(true);
        self.perform(first);
        loop {
            let next = self.0.inbox.borrow_mut().pop_front();
            let Some(event) = next else { break };
            let at = Millis((js::now() - self.0.zero) as u64);
            let progress = matches!(event, PlanEvent::StepProgress { .. });
            let effects = self.0.run.borrow_mut().handle(at, event);
            if !progress {
                self.keep();
            }
            self.perform(effects);
        }
        self.0.handling.set(false);
    }

    fn keep(&self) {
        let journal = self.0.journal.borrow().clone();
        if let Some(journal) = journal {
            journal.changed(&self.0.run.borrow());
        }
    }

    fn perform(&self, effects: Vec<PlanEffect>) {
        // The agent is free again by the time the observer learns of the end.
        if effects.iter().any(|effect| matches!(effect, PlanEffect::Finish)) {
            self.0.agent.finish();
        }
        // Records first: notices from a step's session already carry the bound of the whole batch.
        for effect in &effects {
            if let PlanEffect::Record(record) = effect {
                if let PlanRecordKind::PlanTrace { trace } = &record.what {
                    console(trace);
                }
                (self.0.observer)(PlanNotice::Plan(record));
            }
        }
        for effect in effects {
            match effect {
                PlanEffect::StartStep { order, config, task } => self.start_step(order, *config, task),
                PlanEffect::ResumeStep { order } => self.resume_step(order),
                PlanEffect::StopStep { order } => self.with_step(order, Session::stop),
                PlanEffect::CancelStep { order } => self.with_step(order, Session::cancel),
                PlanEffect::Record(_) | PlanEffect::Finish => {}
            }
        }
    }

    fn start_step(&self, order: u32, config: RunConfig, task: Task) {
        let step = self.0.agent.beside(config.clone(), &scope(order));
        step.set_journal(self.0.journal.borrow().as_ref().map(|journal| journal.step(order)));
        self.0.steps.borrow_mut().push((order, step.clone()));
        let plan = self.clone();
        if let Err(refused) = step.begin(config, task, move |notice| plan.on_notice(order, notice)) {
            self.forget(order);
            self.send(PlanEvent::StepRefused { order, message: refused.to_string() });
        }
    }

    fn resume_step(&self, order: u32) {
        let resumed = self.step(order).map_or(Err(StartError::NothingToContinue), |step| step.resume(None));
        if let Err(refused) = resumed {
            self.forget(order);
            self.send(PlanEvent::StepRefused { order, message: refused.to_string() });
        }
    }

    fn on_notice(&self, order: u32, notice: Notice<'_>) {
        if let Notice::Record(record) = notice {
            self.send(PlanEvent::StepProgress { order, calls_left: record.calls_left });
        }
        let calls_left = self.0.run.borrow().calls_left();
        (self.0.observer)(PlanNotice::Step { order, calls_left, notice });
        if matches!(notice, Notice::Record(record) if is_terminal(record)) {
            self.step_ended(order);
        }
    }

    fn step_ended(&self, order: u32) {
        let Some(step) = self.step(order) else { return };
        self.forget(order);
        if let Some(document) = step.document() {
            self.send(PlanEvent::StepEnded { order, run: Box::new(document) });
        }
        step.close();
    }

    fn with_step(&self, order: u32, f: impl FnOnce(&Session)) {
        if let Some(step) = self.step(order) {
            f(&step);
        }
    }

    /// The session of a step that is running.
    #[must_use]
    pub fn step(&self, order: u32) -> Option<Session> {
        self.0.steps.borrow().iter().find(|(running, _)| *running == order).map(|(_, step)| step.clone())
    }

    fn forget(&self, order: u32) {
        self.0.steps.borrow_mut().retain(|(running, _)| *running != order);
    }
}

/// Separates the full texts of a step's truncated tool results from those of other steps.
fn scope(order: u32) -> String {
    format!("step-{order}")
}

/// Redacts secrets in a plan, whose text is recorded unchanged.
fn scrub(agent: &Session, plan: &mut Plan) {
    let secrets = agent.secrets();
    for step in &mut plan.steps {
        secrets.scrub_in_place(&mut step.action);
    }
    for system in plan.agents.values_mut().filter_map(|agent| agent.system.as_mut()) {
        secrets.scrub_in_place(system);
    }
}

/// `turnwise: plan plan_…, step 4: context_total {"count":2}`
fn console(PlanTraceRecord { name, plan_id, step, data, .. }: &PlanTraceRecord) {
    let line = format!("turnwise: plan {plan_id}, step {step}: {name} {data}");
    web_sys::console::info_1(&JsValue::from_str(&line));
}

fn is_terminal(record: &Record) -> bool {
    matches!(record.what, RecordKind::AgentFinished { .. } | RecordKind::AgentFailed { .. })
}

impl fmt::Debug for PlanSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanSession").field("running", &self.is_running()).finish_non_exhaustive()
    }
}
