//! `summarize` and `insight`: the figures of runs. What reads a record and what counts is in the worker.

use js_sys::{JSON, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::error::{describe, type_error};
use super::options::beside_module;
use super::trajectory::{ask, text};
use crate::worker::protocol::DocumentTask;

/// The figures of one run, from its trajectory or the text of one.
#[wasm_bindgen(js_name = summarize, unchecked_return_type = "Promise<Summary>")]
pub fn summarize(#[wasm_bindgen(unchecked_param_type = "Trajectory | string")] trajectory: &JsValue) -> Promise {
    let text = match trajectory.as_string() {
        Some(text) => Ok(text),
        None => text("trajectory", trajectory, "a trajectory, or the text of one"),
    };
    answered("trajectory", DocumentTask::Summarize, text)
}

/// What runs have in common.
#[wasm_bindgen(js_name = insight, unchecked_return_type = "Promise<Insight>")]
pub fn insight(
    #[wasm_bindgen(unchecked_param_type = "Summary[]")] summaries: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "InsightFilter")] filter: &JsValue,
) -> Promise {
    let text = asked(summaries, filter);
    answered("insight", DocumentTask::Insight, text)
}

fn asked(summaries: &JsValue, filter: &JsValue) -> Result<String, JsValue> {
    if !js_sys::Array::is_array(summaries) {
        return Err(type_error(&format!("summaries: got {}; it takes an array of summaries", describe(summaries))));
    }
    let summaries = text("summaries", summaries, "an array of summaries")?;
    let filter = if filter.is_undefined() { "{}".to_owned() } else { text("filter", filter, "an object")? };
    Ok(format!("{{\"summaries\":{summaries},\"filter\":{filter}}}"))
}

fn answered(name: &'static str, task: DocumentTask, text: Result<String, JsValue>) -> Promise {
    future_to_promise(async move { JSON::parse(&ask(name, beside_module("worker.js"), task, text?).await?) })
}
