//! Records to and from JavaScript: `replay`, `exportTrajectory`, `importTrajectory`. What reads a record is in the worker.

use js_sys::{JSON, Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::error::{describe, error, type_error};
use super::options::beside_module;
use crate::trajectory::Format;
use crate::trajectory::document::{FORMAT, VERSION};
use crate::worker::protocol::DocumentTask;
use crate::worker::records;

/// As a plain object. JSON is the record's own form, and the browser's parser is faster than building it by hand.
pub(super) fn to_js(part: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(part).map_err(|e| error(&e.to_string()))?;
    JSON::parse(&text)
}

/// The text of a record that the page calls `name`.
pub(super) fn text(name: &str, value: &JsValue, takes: &str) -> Result<String, JsValue> {
    if !value.is_object() {
        return Err(type_error(&format!("{name}: got {}; it takes {takes}", describe(value))));
    }
    Ok(JSON::stringify(value)?.as_string().unwrap_or_default())
}

/// Asks a worker about a record; what is wrong with it is the page's fault.
pub(super) async fn ask(name: &str, url: String, task: DocumentTask, text: String) -> Result<String, JsValue> {
    records::ask(url, task, text).await.map_err(|e| type_error(&format!("{name}: {e}")))
}

/// Drives the engine through a recorded run again, with no key and no network.
#[wasm_bindgen(js_name = replay, unchecked_return_type = "Promise<ReplayResult>")]
pub fn replay_trajectory(#[wasm_bindgen(unchecked_param_type = "Trajectory")] trajectory: &JsValue) -> Promise {
    let text = text("trajectory", trajectory, "a trajectory");
    future_to_promise(async move {
        let answer = ask("trajectory", beside_module("worker.js"), DocumentTask::Replay, text?).await?;
        JSON::parse(&answer)
    })
}

/// A trajectory as the text of a file. `native` is only written out; every other format is made in a worker.
#[wasm_bindgen(js_name = exportTrajectory, unchecked_return_type = "Promise<string>")]
pub fn export_trajectory(
    #[wasm_bindgen(unchecked_param_type = "Trajectory")] trajectory: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "ExportFormat")] format: &JsValue,
) -> Promise {
    let named = named(format).and_then(|format| Ok((format, exportable(trajectory, format)?)));
    future_to_promise(async move {
        let (format, text) = named?;
        if format == Format::Native {
            return Ok(text.into());
        }
        let written = ask("trajectory", beside_module("worker.js"), DocumentTask::Export(format), text).await?;
        Ok(written.into())
    })
}

/// The text of a file as a trajectory: a document of ours, an HTML report, or ATIF.
#[wasm_bindgen(js_name = importTrajectory, unchecked_return_type = "Promise<Trajectory>")]
pub fn import_trajectory(#[wasm_bindgen(unchecked_param_type = "string")] text: &JsValue) -> Promise {
    let given = text.as_string().ok_or_else(|| {
        let takes = "the text of a trajectory, of an HTML report, or of an ATIF file";
        type_error(&format!("text: got {}; it takes {takes}", describe(text)))
    });
    future_to_promise(async move {
        let answer = ask("text", beside_module("worker.js"), DocumentTask::Import, given?).await?;
        JSON::parse(&answer)
    })
}

fn named(format: &JsValue) -> Result<Format, JsValue> {
    format.as_string().and_then(|name| Format::named(&name)).ok_or_else(|| {
        let all: Vec<String> = Format::ALL.iter().map(|format| format!("'{}'", format.as_str())).collect();
        type_error(&format!("format: got {}; it takes {}", describe(format), all.join(", ")))
    })
}

/// The document as text; the native one as it is to stand in the file.
fn exportable(trajectory: &JsValue, format: Format) -> Result<String, JsValue> {
    let is = |key: &str, wanted: &JsValue| Reflect::get(trajectory, &key.into()).is_ok_and(|v| v == *wanted);
    if !(trajectory.is_object() && is("format", &FORMAT.into()) && is("version", &VERSION.into())) {
        let got = describe(trajectory);
        return Err(type_error(&format!("trajectory: got {got}; it takes a trajectory of version {VERSION}")));
    }
    let text = match format {
        Format::Native => JSON::stringify_with_replacer_and_space(trajectory, &JsValue::NULL, &2.into())?,
        _ => JSON::stringify(trajectory)?,
    };
    Ok(text.into())
}
