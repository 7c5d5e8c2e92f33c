//! The class `Agent`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::error::{describe, error, type_error};
use super::files::Files;
use super::listener::Listener;
use super::reader::whole;
use super::run_options::{self, RunOptions};
use super::trajectory::ask;
use super::{options, tool_options};
use crate::shell::{Carried, Input, PlanSession, Session, StartError};
use crate::worker::protocol::DocumentTask;

/// An agent: one run at a time, as many as you like one after the other. Several agents live side by side.
#[wasm_bindgen]
pub struct Agent {
    pub(super) session: Session,
    pub(super) listener: Rc<Listener>,
    /// The plan under way.
    pub(super) plan: Rc<RefCell<Option<PlanSession>>>,
    /// How often `cancel` was called: a run that is still reading its `after` is not under way yet, and ends all the same.
    pub(super) cancels: Rc<Cell<u32>>,
}

#[wasm_bindgen]
impl Agent {
    /// Throws a `TypeError` that names what is wrong with the options.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_optional_param_type = "AgentOptions")] options: &JsValue,
    ) -> Result<Agent, JsValue> {
        let session = Session::new(options::read(options)?);
        Ok(Agent { session, listener: Rc::default(), plan: Rc::default(), cancels: Rc::default() })
    }

    /// Runs a task. Resolves with the trajectory for every way a run can end; rejects only for misuse.
    #[wasm_bindgen(unchecked_return_type = "Promise<Trajectory>")]
    pub fn run(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] task: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "RunOptions")] options: &JsValue,
    ) -> Promise {
        or_rejected(self.try_run(task, options))
    }

    /// Continues a run that ended on a limit, with more turns.
    #[wasm_bindgen(js_name = grantTurns, unchecked_return_type = "Promise<Trajectory>")]
    pub fn grant_turns(
        &self,
        #[wasm_bindgen(unchecked_param_type = "number")] turns: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "GrantOptions")] options: &JsValue,
    ) -> Promise {
        or_rejected(self.try_grant(turns, options))
    }

    /// Asks the run to wrap up: open waits end, and it concludes from what it has.
    pub fn stop(&self) {
        match self.plan_under_way() {
            Some(plan) => plan.stop(),
            None => self.session.stop(),
        }
    }

    /// Ends the run at once.
    pub fn cancel(&self) {
        self.cancels.set(self.cancels.get().wrapping_add(1));
        match self.plan_under_way() {
            Some(plan) => plan.cancel(),
            None => self.session.cancel(),
        }
    }

    /// Offers a tool of the page's, from the next run on.
    #[wasm_bindgen(js_name = registerTool)]
    pub fn register_tool(&self, #[wasm_bindgen(unchecked_param_type = "Tool")] tool: &JsValue) -> Result<(), JsValue> {
        self.session.register(tool_options::read(tool)?);
        Ok(())
    }

    /// The files the agent's tools see.
    #[wasm_bindgen(getter)]
    pub fn files(&self) -> Files {
        Files::new(self.session.workspace())
    }
}

impl Agent {
    fn plan_under_way(&self) -> Option<PlanSession> {
        self.plan.borrow().clone()
    }

    fn try_run(&self, task: &JsValue, options: &JsValue) -> Result<Promise, JsValue> {
        let task = task
            .as_string()
            .filter(|task| !task.trim().is_empty())
            .ok_or_else(|| type_error(&format!("task: got {}; it takes a text", describe(task))))?;
        let mut given = run_options::read(options, &["onEvent", "signal", "approve", "after", "images"])?;
        let task = Input { text: task, images: std::mem::take(&mut given.images) };
        let Some(text) = given.after.take() else { return begin(&self.session, &self.listener, task, None, given) };
        if self.session.is_running() {
            return Err(error(&StartError::Busy.to_string()));
        }
        let (session, listener, cancels) = (self.session.clone(), Rc::clone(&self.listener), Rc::clone(&self.cancels));
        let before = cancels.get();
        Ok(future_to_promise(async move {
            let carried = ask("options.after", session.worker_url(), DocumentTask::Carry, text).await?;
            let carried = serde_json::from_str(&carried).map_err(|e| error(&e.to_string()))?;
            let promise = begin(&session, &listener, task, Some(carried), given)?;
            if cancels.get() != before {
                session.cancel();
            }
            JsFuture::from(promise).await
        }))
    }

    fn try_grant(&self, turns: &JsValue, options: &JsValue) -> Result<Promise, JsValue> {
        let takes = || type_error(&format!("turns: got {}; it takes a whole number, 1 or more", describe(turns)));
        let turns = whole(turns).and_then(|n| u32::try_from(n).ok()).filter(|n| *n >= 1).ok_or_else(takes)?;
        let given = run_options::read(options, &["onEvent", "signal", "approve"])?;
        self.listener.promise(&self.session, given.on_event, given.signal, |session| {
            if given.approve.is_some() {
                session.set_approve(given.approve);
            }
            session.grant(turns)
        })
    }
}

fn begin(
    session: &Session,
    listener: &Rc<Listener>,
    task: Input,
    after: Option<Carried>,
    given: RunOptions,
) -> Result<Promise, JsValue> {
    let ear = Rc::clone(listener);
    listener.promise(session, given.on_event, given.signal, |session| {
        session.set_approve(given.approve);
        session.start(task, after, move |notice| ear.hear(notice))
    })
}

/// `free()`, or the page forgot the agent. A run under way still ends and keeps its promise, then everything goes:
/// nobody can tell the two apart here, and a forgotten agent's run must not break off.
impl Drop for Agent {
    fn drop(&mut self) {
        if self.session.is_running() {
            self.listener.last.set(true);
        } else {
            self.session.close();
        }
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("session", &self.session).finish_non_exhaustive()
    }
}

pub(super) fn or_rejected(promise: Result<Promise, JsValue>) -> Promise {
    promise.unwrap_or_else(|thrown| Promise::reject(&thrown))
}
