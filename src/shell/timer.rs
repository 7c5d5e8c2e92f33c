//! Timers that are cleared when dropped, pauses, and slices of long work.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::js;
use crate::worker::awake::{self, Beats};

/// A timer that is cleared when dropped. It counts awake time: where the machine slept meanwhile, it fires that much later.
#[derive(Debug)]
pub struct Timeout {
    armed: Rc<PendingTimer>,
    _callback: Closure<dyn FnMut()>,
    _beats: Beats,
}

#[derive(Debug)]
struct PendingTimer {
    function: OnceCell<Function>,
    handle: RefCell<JsValue>,
    /// In awake time.
    end: f64,
}

impl PendingTimer {
    fn wait(&self) {
        let Some(function) = self.function.get() else { return };
        let left = (self.end - awake::now()).clamp(0.0, js::MAX_DELAY);
        self.handle.replace(js::set_timeout(function, left));
    }
}

impl Timeout {
    pub fn new(ms: f64, then: impl FnOnce() + 'static) -> Self {
        let beats = Beats::hold();
        let armed =
            Rc::new(PendingTimer { function: OnceCell::new(), handle: RefCell::default(), end: awake::now() + ms });
        let (this, mut then) = (Rc::downgrade(&armed), Some(then));
        let callback = Closure::<dyn FnMut()>::new(move || {
            let Some(armed) = this.upgrade() else { return };
            // A timer may fire a moment early.
            if armed.end - awake::now() > 1.0 {
                return armed.wait();
            }
            if let Some(then) = then.take() {
                then();
            }
        });
        let _ = armed.function.set(callback.as_ref().unchecked_ref::<Function>().clone());
        armed.wait();
        Timeout { armed, _callback: callback, _beats: beats }
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        js::clear_timeout(&self.armed.handle.borrow());
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
