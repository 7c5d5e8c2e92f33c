//! Limits open requests to four per origin, for all agents of the page (retries.md#retries-and-waiting): a browser opens six, and the page
//! needs some for itself. The header deadline does not start while a request waits here.

use std::cell::RefCell;
use std::collections::VecDeque;

use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

const OPEN_PER_ORIGIN: usize = 4;

struct Gate {
    origin: String,
    open: usize,
    waiting: VecDeque<Function>,
}

thread_local! {
    static GATES: RefCell<Vec<Gate>> = const { RefCell::new(Vec::new()) };
}

/// The permit for one open request; released when dropped.
#[derive(Debug)]
pub(super) struct GatePermit {
    origin: String,
}

/// Waits for a permit, first come, first served.
pub(super) async fn enter(origin: &str) -> GatePermit {
    if !take_free(origin) {
        let turn = Promise::new(&mut |resolve: Function, _reject: Function| {
            with_gate(origin, |gate| gate.waiting.push_back(resolve));
        });
        // Resolved when a permit is handed over; never rejected.
        let _ = JsFuture::from(turn).await;
    }
    GatePermit { origin: origin.to_owned() }
}

impl Drop for GatePermit {
    fn drop(&mut self) {
        // The permit goes straight to the next in line, so `open` stays unchanged.
        let next = with_gate(&self.origin, |gate| {
            let next = gate.waiting.pop_front();
            if next.is_none() {
                gate.open -= 1;
            }
            next
        });
        if let Some(resolve) = next {
            let _ = resolve.call0(&JsValue::UNDEFINED);
        }
    }
}

fn take_free(origin: &str) -> bool {
    with_gate(origin, |gate| {
        let free = gate.open < OPEN_PER_ORIGIN;
        gate.open += usize::from(free);
        free
    })
}

fn with_gate<R>(origin: &str, f: impl FnOnce(&mut Gate) -> R) -> R {
    GATES.with_borrow_mut(|gates| match gates.iter_mut().find(|gate| gate.origin == origin) {
        Some(gate) => f(gate),
        None => {
            let mut gate = Gate { origin: origin.to_owned(), open: 0, waiting: VecDeque::new() };
            let result = f(&mut gate);
            gates.push(gate);
            result
        }
    })
}
