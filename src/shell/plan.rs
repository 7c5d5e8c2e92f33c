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

use super::live::Notice;
use super::misuse::StartError;
use super::session::Session;
use super::{ids, js};
use crate::engine::{EpochMillis, Millis, Record, RecordKind, RunConfig, Task};
use crate::plan::{
    Fault, PARALLEL, Plan, PlanDocument, PlanEffect, PlanEvent, PlanOptions, PlanRecord, PlanRecordKind, PlanRun,
    PlanTraceRecord, read,
};

/// A handle to one plan run; clones share it.
#[derive(Clone)]
pub struct PlanSession(Rc<PlanSessionState>);

struct PlanSessionState {
    agent: Session,
    run: RefCell<PlanRun>,
    /// The sessions of the running steps.
    steps: RefCell<Vec<(u32, Session)>>,
    observer: Box<dyn Fn(PlanNotice<'_>)>,
    inbox: RefCell<VecDeque<PlanEvent>>,
    handling: Cell<bool>,
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
    pub fn read(agent: &Session, plan: &Value) -> Result<Plan, Vec<Fault>> {
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
        let base = agent.config();
        let started_at = js::epoch_ms();
        let session_id = match &how.after {
            Some(after) => after.session_id.clone(),
            None => ids::session_id(started_at, base.seed),
        };
        let parallel = how.parallel.unwrap_or(PARALLEL);
        let PlanStart { after, from, .. } = how;
        let started_at = EpochMillis(started_at);
        let (run, effects) = PlanRun::start(plan, PlanOptions { base, session_id, started_at, parallel, after, from });
        let session = PlanSession(Rc::new(PlanSessionState {
            agent: agent.clone(),
            run: RefCell::new(run),
            steps: RefCell::default(),
            observer: Box::new(observer),
            inbox: RefCell::default(),
            handling: Cell::default(),
            zero: js::now(),
        }));
        ready(&session);
        session.drive(effects);
        Ok(())
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
            let effects = self.0.run.borrow_mut().handle(at, event);
            self.perform(effects);
        }
        self.0.handling.set(false);
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
                PlanEffect::StopStep { order } => self.with_step(order, Session::stop),
                PlanEffect::CancelStep { order } => self.with_step(order, Session::cancel),
                PlanEffect::Record(_) | PlanEffect::Finish => {}
            }
        }
    }

    fn start_step(&self, order: u32, config: RunConfig, task: Task) {
        let step = self.0.agent.beside(config.clone(), &format!("step-{order}"));
        self.0.steps.borrow_mut().push((order, step.clone()));
        let plan = self.clone();
        if let Err(refused) = step.begin(config, task, move |notice| plan.on_notice(order, notice)) {
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
