//! The options of `run` and `grantTurns`.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::reader::Reader;
use super::trajectory;
use crate::shell::Approve;

pub(super) struct RunOptions {
    pub(super) on_event: Option<Function>,
    pub(super) signal: Option<AbortSignal>,
    pub(super) approve: Option<Approve>,
    /// The text of an earlier run's trajectory.
    pub(super) after: Option<String>,
}

pub(super) fn read(options: &JsValue, known: &[&str]) -> Result<RunOptions, JsValue> {
    let given = Reader::open_optional("options", options, known, &[])?;
    let after = match given.get("after") {
        None => None,
        Some(value) => Some(trajectory::text("options.after", &value, "the trajectory of an earlier run")?),
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
