//! What `runPlan` takes: a plan, and how to run it.

use js_sys::{Function, JSON};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::error::{describe, type_error};
use super::reader::Reader;
use super::{run_options, trajectory};
use crate::plan::{Fault, Plan, fault};
use crate::shell::{Approve, PlanSession, PlanStart, Session};

const KNOWN: &[&str] = &["onEvent", "signal", "approve", "parallel", "after", "from"];

pub(super) struct PlanRunOptions {
    pub(super) on_event: Option<Function>,
    pub(super) signal: Option<AbortSignal>,
    pub(super) approve: Option<Approve>,
    /// The text of an earlier run's record.
    pub(super) after: Option<String>,
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
        Some(value) => Some(trajectory::text("options.after", &value, "the record of an earlier run of a plan")?),
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
        after,
        start: PlanStart { parallel: given.whole("parallel", 1)?, after: None, from },
    })
}
