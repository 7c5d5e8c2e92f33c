//! The two deadlines of a request: response headers, then silence in the stream. Past one the request is aborted.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use web_sys::AbortController;

use super::js;
use super::timer::Timeout;
use crate::engine::Limits;

/// What a request did not do in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    Headers { after_ms: u64 },
    Stream { after_ms: u64 },
}

/// Watches one request from its release by the gate until it is dropped.
#[derive(Debug)]
pub(super) struct Watch(Rc<State>);

#[derive(Debug)]
struct State {
    abort: AbortController,
    waiting_for: Cell<Late>,
    since: Cell<f64>,
    late: Cell<Option<Late>>,
    timer: RefCell<Option<Timeout>>,
    /// The timer never sleeps longer than the shorter deadline, so progress only has to note the time.
    step_ms: f64,
    idle_ms: u64,
}

impl Watch {
    pub(super) fn start(abort: AbortController, limits: &Limits) -> Self {
        let state = Rc::new(State {
            abort,
            waiting_for: Cell::new(Late::Headers { after_ms: limits.headers_ms }),
            since: Cell::new(js::now()),
            late: Cell::new(None),
            timer: RefCell::new(None),
            step_ms: limits.headers_ms.min(limits.idle_ms) as f64,
            idle_ms: limits.idle_ms,
        });
        State::arm(&state, state.step_ms);
        Watch(state)
    }

    /// Headers came, or bytes did: from now on silence counts.
    pub(super) fn progress(&self) {
        self.0.waiting_for.set(Late::Stream { after_ms: self.0.idle_ms });
        self.0.since.set(js::now());
    }

    /// Set once the request was aborted for being late.
    pub(super) fn late(&self) -> Option<Late> {
        self.0.late.get()
    }
}

impl Clone for Watch {
    fn clone(&self) -> Self {
        Watch(Rc::clone(&self.0))
    }
}

impl State {
    fn arm(state: &Rc<State>, ms: f64) {
        let weak = Rc::downgrade(state);
        let timer = Timeout::new(ms.min(state.step_ms), move || {
            if let Some(state) = weak.upgrade() {
                State::look(&state);
            }
        });
        state.timer.replace(Some(timer));
    }

    fn look(state: &Rc<State>) {
        let waiting_for = state.waiting_for.get();
        let (Late::Headers { after_ms } | Late::Stream { after_ms }) = waiting_for;
        let left = after_ms as f64 - (js::now() - state.since.get());
        if left > 0.0 {
            State::arm(state, left);
        } else {
            state.late.set(Some(waiting_for));
            state.abort.abort();
        }
    }
}
