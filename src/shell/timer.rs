//! Timers that are cleared when dropped, pauses, and slices of long work.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::js;

/// A `setTimeout` that is cleared when dropped.
#[derive(Debug)]
pub struct Timeout {
    handle: JsValue,
    _callback: Closure<dyn FnMut()>,
}

impl Timeout {
    pub fn new(ms: f64, then: impl FnOnce() + 'static) -> Self {
        let callback = Closure::once(then);
        let handle = js::set_timeout(callback.as_ref().unchecked_ref(), ms.clamp(0.0, js::MAX_DELAY));
        Timeout { handle, _callback: callback }
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        js::clear_timeout(&self.handle);
    }
}

/// Pauses the current task for this many milliseconds.
pub async fn pause(ms: u32) {
    let promise = Promise::new(&mut |resolve: Function, _reject: Function| {
        js::set_timeout(&resolve, f64::from(ms));
    });
    // A timer's promise is never rejected.
    let _ = JsFuture::from(promise).await;
}

/// Splits long work into slices short enough not to delay a frame.
#[derive(Debug)]
pub struct Slice {
    began: f64,
}

impl Slice {
    /// Milliseconds.
    const LONG: f64 = 12.0;

    #[must_use]
    pub fn begin() -> Self {
        Slice { began: js::now() }
    }

    pub async fn pause_if_long(&mut self) {
        if js::now() - self.began > Self::LONG {
            pause(0).await;
            *self = Slice::begin();
        }
    }
}
