//! The time in which this thread could work. Deadlines count it, not the time of the clock: while the machine sleeps, or the process is
//! stopped, nothing can finish.
//!
//! Browsers and systems differ in whether their clocks advance then, so it is found by what all of them do: a timer that beats every half
//! second fires much later than it was asked to. [`AwakeTime`] is PURE: readings of a clock in, awake time out.

/// Awake time from readings of a clock that never goes back, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AwakeTime {
    asleep: f64,
    /// When the next beat is due; `None`: there is none, so nothing is known.
    due: Option<f64>,
}

/// The time between two beats.
pub const BEAT_MS: f64 = 500.0;
/// A beat may be so late in a thread that has much to do.
pub const LATE_MS: f64 = 1_000.0;
/// The same in a page that nobody sees: browsers let its timers fire once a minute.
pub const HIDDEN_LATE_MS: f64 = 65_000.0;

impl AwakeTime {
    /// A reading. What a beat is late by more than `late` was no time to work.
    pub fn read(&mut self, clock: f64, late: f64) -> f64 {
        if let Some(due) = self.due.filter(|due| clock - due > late) {
            self.asleep += clock - due;
            self.due = Some(clock);
        }
        clock - self.asleep
    }

    /// The next beat is due at this time of the clock.
    pub fn beats_at(&mut self, due: Option<f64>) {
        self.due = due;
    }
}

#[cfg(target_arch = "wasm32")]
pub use live::{Beats, now};

#[cfg(target_arch = "wasm32")]
mod live {
    use std::cell::{Cell, RefCell};

    use js_sys::{Function, Reflect};
    use wasm_bindgen::prelude::*;

    use super::{AwakeTime, BEAT_MS, HIDDEN_LATE_MS, LATE_MS};

    thread_local! {
        static TIME: Cell<AwakeTime> = const { Cell::new(AwakeTime { asleep: 0.0, due: None }) };
        static TIMER: RefCell<Option<JsValue>> = const { RefCell::new(None) };
        static HOLDERS: Cell<u32> = const { Cell::new(0) };
        static BEAT: Closure<dyn FnMut()> = Closure::new(|| { now(); arm(); });
    }

    /// The awake time of this thread, in milliseconds. It is exact to half a second, while somebody holds [`Beats`].
    pub fn now() -> f64 {
        let mut time = TIME.get();
        let awake = time.read(clock(), if is_hidden() { HIDDEN_LATE_MS } else { LATE_MS });
        TIME.set(time);
        awake
    }

    /// Keeps the beats going until it is dropped.
    #[derive(Debug)]
    pub struct Beats(());

    impl Beats {
        #[must_use]
        pub fn hold() -> Self {
            HOLDERS.set(HOLDERS.get() + 1);
            if HOLDERS.get() == 1 {
                arm();
            }
            Beats(())
        }
    }

    impl Drop for Beats {
        fn drop(&mut self) {
            HOLDERS.set(HOLDERS.get().saturating_sub(1));
            if HOLDERS.get() == 0 {
                if let Some(timer) = TIMER.take() {
                    clear_timeout(&timer);
                }
                due(None);
            }
        }
    }

    fn arm() {
        let timer = BEAT.with(|beat| set_timeout(beat.as_ref().unchecked_ref(), BEAT_MS));
        TIMER.replace(Some(timer));
        due(Some(clock() + BEAT_MS));
    }

    fn due(at: Option<f64>) {
        let mut time = TIME.get();
        time.beats_at(at);
        TIME.set(time);
    }

    /// Whether this is the thread of a page that nobody sees. Timers of workers are not slowed down.
    fn is_hidden() -> bool {
        let document = Reflect::get(&js_sys::global(), &"document".into()).unwrap_or_default();
        document.is_object() && Reflect::get(&document, &"hidden".into()).is_ok_and(|hidden| hidden.is_truthy())
    }

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(js_name = setTimeout)]
        fn set_timeout(then: &Function, ms: f64) -> JsValue;
        #[wasm_bindgen(js_name = clearTimeout)]
        fn clear_timeout(id: &JsValue);
        #[wasm_bindgen(js_namespace = performance, js_name = now)]
        fn clock() -> f64;
    }
}
