//! Trajectories to and from JavaScript, `replay` and `exportTrajectory`.

use js_sys::{JSON, Object, Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::error::{describe, error, type_error};
use crate::trajectory::{Trajectory, replay};

/// As a plain object. JSON is the record's own form, and the browser's parser is faster than building it by hand.
pub(super) fn to_js(part: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(part).map_err(|e| error(&e.to_string()))?;
    JSON::parse(&text)
}

/// `name` is what the page calls it.
pub(super) fn from_js(name: &str, value: &JsValue) -> Result<Trajectory, JsValue> {
    if !value.is_object() {
        return Err(type_error(&format!("{name}: got {}; it takes a trajectory", describe(value))));
    }
    let text = JSON::stringify(value)?.as_string().unwrap_or_default();
    Trajectory::parse(&text).map_err(|e| type_error(&format!("{name}: {e}")))
}

/// Drives the engine through a recorded run again, with no key and no network.
#[wasm_bindgen(js_name = replay, unchecked_return_type = "Promise<ReplayResult>")]
pub fn replay_trajectory(#[wasm_bindgen(unchecked_param_type = "Trajectory")] trajectory: &JsValue) -> Promise {
    let result = from_js("trajectory", trajectory).and_then(|document| {
        let result = Object::new();
        let replayed = replay(&document);
        Reflect::set(&result, &"ok".into(), &replayed.is_ok().into())?;
        if let Err(mismatch) = replayed {
            let details = mismatch.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?;
            Object::assign(&result, details.unchecked_ref());
        }
        Ok(JsValue::from(result))
    });
    match result {
        Ok(value) => Promise::resolve(&value),
        Err(thrown) => Promise::reject(&thrown),
    }
}

const LATER_FORMATS: &[&str] = &["atif", "otlp", "openai-jsonl", "mini-swe-agent", "markdown", "html"];

/// A trajectory as the text of a file. `format`: `native`; others come later.
#[wasm_bindgen(js_name = exportTrajectory)]
pub fn export_trajectory(
    #[wasm_bindgen(unchecked_param_type = "Trajectory")] trajectory: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "ExportFormat")] format: &JsValue,
) -> Result<String, JsValue> {
    match format.as_string().as_deref() {
        Some("native") => {
            let document = to_js(&from_js("trajectory", trajectory)?)?;
            let text = JSON::stringify_with_replacer_and_space(&document, &JsValue::NULL, &2.into())?;
            Ok(text.into())
        }
        Some(name) if LATER_FORMATS.contains(&name) => {
            Err(type_error(&format!("format: '{name}' is not available yet; there is 'native'")))
        }
        _ => Err(type_error(&format!("format: got {}; it takes 'native'", describe(format)))),
    }
}
