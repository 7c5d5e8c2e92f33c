//! `agent.runPlan`: a plan from the page, its events, and the promise of its record.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::agent::{Agent, or_rejected};
use super::error::{error, type_error};
use super::event;
use super::listener::{Aborting, Listener};
use super::plan_options::{self, PlanRunOptions};
use super::trajectory::{self, ask};
use crate::plan::{Plan, PlanDocument, PlanRecord, PlanRecordKind};
use crate::shell::{Notice, PlanNotice, PlanSession, Session, StartError};
use crate::worker::protocol::DocumentTask;

#[wasm_bindgen]
impl Agent {
    /// Runs a plan: each step a run of its own. Resolves with the record of the whole for every way it can end; rejects for
    /// a plan with faults, all of them named, and for misuse.
    #[wasm_bindgen(js_name = runPlan, unchecked_return_type = "Promise<PlanSession>")]
    pub fn run_plan(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Plan")] plan: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "PlanRunOptions")] options: &JsValue,
    ) -> Promise {
        or_rejected(self.try_plan(plan, options))
    }
}

impl Agent {
    fn try_plan(&self, plan: &JsValue, options: &JsValue) -> Result<Promise, JsValue> {
        let plan = plan_options::plan(&self.session, plan)?;
        let mut given = plan_options::read(options, &plan)?;
        if self.session.is_running() {
            return Err(error(&StartError::Busy.to_string()));
        }
        let place =
            Place { session: self.session.clone(), listener: Rc::clone(&self.listener), plan: Rc::clone(&self.plan) };
        let Some(text) = given.after.take() else { return place.begin(plan, given) };
        let cancels = Rc::clone(&self.cancels);
        let before = cancels.get();
        Ok(future_to_promise(async move {
            let name = "options.after";
            ask(name, place.session.worker_url(), DocumentTask::Session, text.clone()).await?;
            let after = PlanDocument::parse(&text).map_err(|e| type_error(&format!("{name}: {e}")))?;
            given.start.after = Some(Box::new(after));
            let promise = place.begin(plan, given)?;
            if cancels.get() != before {
                place.cancel();
            }
            JsFuture::from(promise).await
        }))
    }
}

/// Where a plan runs: an agent, which may be forgotten meanwhile.
struct Place {
    session: Session,
    listener: Rc<Listener>,
    /// Where the agent keeps the plan under way.
    plan: Rc<RefCell<Option<PlanSession>>>,
}

impl Place {
    fn begin(&self, plan: Plan, given: PlanRunOptions) -> Result<Promise, JsValue> {
        let mut resolver = None;
        let promise = Promise::new(&mut |resolve: Function, _reject: Function| resolver = Some(resolve));
        let resolve = resolver.ok_or_else(|| error("the promise was not made"))?;
        let ear = Ear {
            agent: self.session.clone(),
            listener: Rc::clone(&self.listener),
            plan: Rc::clone(&self.plan),
            on_event: given.on_event,
            resolve,
            aborting: RefCell::default(),
        };
        self.session.set_approve(given.approve);
        let (place, ear) = (Rc::clone(&self.plan), Rc::new(ear));
        let (hearing, signal) = (Rc::clone(&ear), given.signal.clone());
        let ready = move |session: &PlanSession| {
            place.replace(Some(session.clone()));
            let session = session.clone();
            ear.aborting.replace(signal.map(|signal| Aborting::new(signal, move || session.cancel())));
        };
        PlanSession::start(&self.session, plan, given.start, ready, move |notice| hearing.hear(notice))
            .map_err(|refused| error(&refused.to_string()))?;
        if given.signal.is_some_and(|signal| signal.aborted()) {
            self.cancel();
        }
        Ok(promise)
    }

    fn cancel(&self) {
        // Out of the cell first: what the plan tells empties it.
        let under_way = self.plan.borrow().clone();
        if let Some(plan) = under_way {
            plan.cancel();
        }
    }
}

/// Who waits for a plan.
struct Ear {
    agent: Session,
    listener: Rc<Listener>,
    /// Where the agent keeps the plan under way.
    plan: Rc<RefCell<Option<PlanSession>>>,
    on_event: Option<Function>,
    resolve: Function,
    aborting: RefCell<Option<Aborting>>,
}

impl Ear {
    fn hear(&self, notice: PlanNotice<'_>) {
        let ended = matches!(notice, PlanNotice::Plan(record) if is_last(record));
        // The page may start the next run when it hears of the end.
        let session = if ended { self.plan.take() } else { None };
        if let Some(on_event) = &self.on_event {
            // A listener that throws is the page's own trouble: the plan goes on.
            if let Err(thrown) = from_notice(notice).and_then(|event| on_event.call1(&JsValue::UNDEFINED, &event)) {
                web_sys::console::error_2(&"turnwise: onEvent threw".into(), &thrown);
            }
        }
        let Some(session) = session else { return };
        self.aborting.take();
        let document = trajectory::to_js(&session.document()).unwrap_or_else(|thrown| thrown);
        let _ = self.resolve.call1(&JsValue::UNDEFINED, &document);
        if self.listener.last.get() {
            self.agent.close();
        }
    }
}

fn is_last(record: &PlanRecord) -> bool {
    matches!(record.what, PlanRecordKind::PlanFinished { .. })
}

/// Events of a step's run are those of `run`, with the step they belong to.
fn from_notice(notice: PlanNotice<'_>) -> Result<JsValue, JsValue> {
    let (event, step, calls_left) = match notice {
        PlanNotice::Plan(record) => (trajectory::to_js(&record.what)?, record.step, record.calls_left),
        PlanNotice::Step { order, calls_left, notice } => {
            let event = match notice {
                Notice::Record(record) => event::from_record(record)?,
                Notice::TextDelta { child, turn, text } => {
                    event::from_delta("text_delta", child, turn, calls_left, text)?
                }
                Notice::ReasoningDelta { child, turn, text } => {
                    event::from_delta("reasoning_delta", child, turn, calls_left, text)?
                }
            };
            (event, Some(order), calls_left)
        }
    };
    Reflect::set(&event, &"step".into(), &step.map_or(JsValue::NULL, JsValue::from))?;
    Reflect::set(&event, &"callsLeft".into(), &calls_left.into())?;
    Ok(event)
}
