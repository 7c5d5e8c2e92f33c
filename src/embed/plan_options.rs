//! What `runPlan` takes: a plan, and how to run it.

use js_sys::{Function, JSON};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::error::{describe, type_error};
use super::reader::Reader;
use super::run_options;
use crate::plan::{Fault, Plan, PlanDocument, StepStatus, fault};
use crate::shell::{Approve, PlanSession, PlanStart, Session};
use crate::trajectory::replay;

const KNOWN: &[&str] = &["onEvent", "signal", "approve", "parallel", "after", "from"];

pub(super) struct PlanRunOptions {
    pub(super) on_event: Option<Function>,
    pub(super) signal: Option<AbortSignal>,
    pub(super) approve: Option<Approve>,
    pub(super) start: PlanStart,
}

/// The plan, or a `TypeError` with every fault of it.
pub(super) fn plan(agent: &Session, value: &JsValue) -> Result<Plan, JsValue> {
    let text = JSON::stringify(value).ok().and_then(|text| text.as_string());
    let json = text.and_then(|text| serde_json::from_str(&text).ok());
    let json = json.ok_or_else(|| type_error(&format!("plan: got {}; it takes an object", describe(value))))?;
    PlanSession::read(agent, &json).map_err(|faults| type_error(&refusal(&faults)))
}

fn refusal(faults: &[Fault]) -> String {
    match faults {
        [one] => one.to_string(),
        all => format!("the plan has {} faults:\n{}", all.len(), fault::listed(all)),
    }
}

pub(super) fn read(options: &JsValue, plan: &Plan) -> Result<PlanRunOptions, JsValue> {
    let given = Reader::open_optional("options", options, KNOWN, &[])?;
    let after = match given.get("after") {
        None => None,
        Some(value) => Some(Box::new(session(&given, &value)?)),
    };
    let from = given.whole::<u32>("from", 1)?;
    if let Some(order) = from {
        if after.is_none() {
            return Err(given.wrong("from", &order.into(), "nothing without options.after"));
        }
        if plan.step(order).is_none() {
            return Err(given.wrong("from", &order.into(), "the order of a step of the plan"));
        }
    }
    Ok(PlanRunOptions {
        on_event: given.function("onEvent")?,
        signal: run_options::signal(&given)?,
        approve: given.function("approve")?.map(Approve::new),
        start: PlanStart { parallel: given.whole("parallel", 1)?, after, from },
    })
}

/// The record of an earlier run. Later steps are told its results, so only what the engine can vouch for is taken.
fn session(given: &Reader, value: &JsValue) -> Result<PlanDocument, JsValue> {
    if !value.is_object() {
        return Err(given.wrong("after", value, "the record of an earlier run of a plan"));
    }
    let text = JSON::stringify(value)?.as_string().unwrap_or_default();
    let session = PlanDocument::parse(&text).map_err(|e| type_error(&format!("options.after: {e}")))?;
    let completed = session.steps.iter().filter(|step| step.status == StepStatus::Completed);
    for step in completed {
        if step.run.as_ref().is_some_and(|run| replay(run).is_err()) {
            let order = step.order;
            let message = format!("options.after: the run of step {order} does not replay; replay() says where");
            return Err(type_error(&message));
        }
    }
    Ok(session)
}
