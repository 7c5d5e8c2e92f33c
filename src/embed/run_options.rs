//! The options of `run` and `grantTurns`.

use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::reader::Reader;
use super::{error::type_error, trajectory};
use crate::engine::Image;
use crate::shell::Approve;

pub(super) struct RunOptions {
    pub(super) on_event: Option<Function>,
    pub(super) signal: Option<AbortSignal>,
    pub(super) approve: Option<Approve>,
    /// The text of an earlier run's trajectory.
    pub(super) after: Option<String>,
    pub(super) images: Vec<Image>,
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
        images: images(&given)?,
    })
}

/// Data URLs. What is wrong is not shown: it can be megabytes.
fn images(given: &Reader) -> Result<Vec<Image>, JsValue> {
    let Some(value) = given.get("images") else { return Ok(Vec::new()) };
    let takes = "an array of data URLs of pictures (image/png, image/jpeg, image/webp, image/gif)";
    let list =
        Array::is_array(&value).then(|| Array::from(&value)).ok_or_else(|| given.wrong("images", &value, takes))?;
    let image = |url: JsValue| {
        let text = url.as_string();
        text.as_deref()
            .and_then(Image::of_data_url)
            .ok_or_else(|| type_error(&format!("{}.images: it takes {takes}", given.path)))
    };
    list.iter().map(image).collect()
}

pub(super) fn signal(given: &Reader) -> Result<Option<AbortSignal>, JsValue> {
    let Some(value) = given.get("signal") else { return Ok(None) };
    let signal = value.clone().dyn_into::<AbortSignal>();
    signal.map(Some).map_err(|_| given.wrong("signal", &value, "an AbortSignal"))
}
