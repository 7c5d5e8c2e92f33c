//! Globals that pages, workers and Node.js have alike, and small conversions. `web_sys::window()` is not used for them:
//! the package runs without a DOM too.

use js_sys::{Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::llm::Online;

#[wasm_bindgen]
extern "C" {
    /// The global `fetch`. The request is a template (address, method, headers); body and signal are in `init`.
    #[wasm_bindgen(js_name = fetch)]
    pub fn fetch(template: &web_sys::Request, init: &web_sys::RequestInit) -> Promise;

    #[wasm_bindgen(js_name = setTimeout)]
    pub fn set_timeout(callback: &Function, ms: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    pub fn clear_timeout(handle: &JsValue);

    /// Milliseconds on a clock that never goes back.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub fn now() -> f64;

    /// What a stream's reader answers.
    pub type Chunk;
    #[wasm_bindgen(method, getter, structural)]
    pub fn done(this: &Chunk) -> bool;
    #[wasm_bindgen(method, getter, structural)]
    pub fn value(this: &Chunk) -> Option<Uint8Array>;

    /// `then` with functions that are kept and used again, instead of two new closures a promise.
    pub type Thenable;
    #[wasm_bindgen(method, js_name = then)]
    pub fn then_call(this: &Thenable, fulfilled: &Function, rejected: &Function) -> JsValue;
}

/// The longest delay `setTimeout` takes; above it the browser fires at once.
pub const MAX_DELAY: f64 = 2_147_483_647.0;

/// Wall clock, milliseconds since 1970.
#[must_use]
pub fn epoch_ms() -> u64 {
    js_sys::Date::now() as u64
}

/// What a thrown or rejected value says, its cause included (Node.js hides the reason of a failed fetch there).
#[must_use]
pub fn error_text(value: &JsValue) -> String {
    let message = |v: &JsValue| Reflect::get(v, &"message".into()).ok().and_then(|m| m.as_string());
    let Some(text) = value.as_string().or_else(|| message(value)) else {
        return js_sys::JSON::stringify(value)
            .ok()
            .and_then(|t| t.as_string())
            .unwrap_or_else(|| "unknown error".into());
    };
    match Reflect::get(value, &"cause".into()).ok().and_then(|cause| message(&cause)) {
        Some(cause) if !cause.is_empty() => text + ": " + &cause,
        _ => text,
    }
}

/// What `navigator.onLine` says, where there is one.
#[must_use]
pub fn online() -> Online {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).unwrap_or_default();
    match Reflect::get(&navigator, &"onLine".into()).ok().and_then(|online| online.as_bool()) {
        Some(true) => Online::Yes,
        Some(false) => Online::No,
        None => Online::Unknown,
    }
}

/// Scheme, host and port of the page, where there is one.
#[must_use]
pub fn page_origin() -> Option<String> {
    let location = Reflect::get(&js_sys::global(), &"location".into()).ok()?;
    Reflect::get(&location, &"origin".into()).ok()?.as_string()
}
