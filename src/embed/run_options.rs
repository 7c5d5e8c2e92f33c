//! The options of `run` and `grantTurns`.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::reader::Reader;
use super::trajectory;
use crate::shell::{Approve, Carried};
use crate::trajectory::replay;

pub(super) struct RunOptions {
    pub(super) on_event: Option<Function>,
    pub(super) signal: Option<AbortSignal>,
    pub(super) approve: Option<Approve>,
    pub(super) after: Option<Carried>,
}

pub(super) fn read(options: &JsValue, known: &[&str]) -> Result<RunOptions, JsValue> {
    let given = Reader::open_optional("options", options, known, &[])?;
    let after = match given.get("after") {
        None => None,
        Some(value) => Some(carried(&given, &value)?),
    };
    Ok(RunOptions {
        on_event: given.function("onEvent")?,
        signal: signal(&given)?,
        approve: given.function("approve")?.map(Approve::new),
        after,
    })
}

pub(super) fn signal(given: &Reader) -> Result<Option<AbortSignal>, JsValue> {
    let Some(value) = given.get("signal") else { return Ok(None) };
    let signal = value.clone().dyn_into::<AbortSignal>();
    signal.map(Some).map_err(|_| given.wrong("signal", &value, "an AbortSignal"))
}

/// The history of an earlier run: derived again from its document, so only what the engine itself can vouch for.
fn carried(given: &Reader, value: &JsValue) -> Result<Carried, JsValue> {
    if !value.is_object() {
        return Err(given.wrong("after", value, "the trajectory of an earlier run"));
    }
    let document = trajectory::from_js(&format!("{}.after", given.path), value)?;
    let refused = || super::error::type_error("options.after: this trajectory does not replay; replay() says where");
    let recorder = replay(&document).map_err(|_| refused())?;
    Ok(Carried::from_run(&recorder.run))
}
