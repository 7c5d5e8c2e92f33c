//! The two deadlines of a request: response headers, then silence in the stream. Past one the request is aborted.
//!
//! A run has one request open at a time and one timer for all of them: it sleeps no longer than the shorter deadline and
//! looks at the clock when it wakes, so that starting a request, and every chunk of it, only has to note the time.

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

/// A run's timer. Dropped with the segment's last request.
#[derive(Clone, Debug)]
pub(super) struct Watchdog(Rc<Dog>);

#[derive(Debug)]
struct Dog {
    headers_ms: u64,
    idle_ms: u64,
    timer: RefCell<Option<Timeout>>,
    watched: RefCell<Option<Rc<Watched>>>,
}

/// One request, from its release by the gate until it is dropped.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    watched: Rc<Watched>,
    idle_ms: u64,
}

#[derive(Debug)]
struct Watched {
    abort: AbortController,
    waiting_for: Cell<Late>,
    since: Cell<f64>,
    late: Cell<Option<Late>>,
}

impl Watchdog {
    pub(super) fn new(limits: &Limits) -> Self {
        let Limits { headers_ms, idle_ms, .. } = *limits;
        Watchdog(Rc::new(Dog { headers_ms, idle_ms, timer: RefCell::default(), watched: RefCell::default() }))
    }

    /// Watches a request in the place of the one before.
    pub(super) fn watch(&self, abort: AbortController) -> Watch {
        let dog = &self.0;
        let watched = Rc::new(Watched {
            abort,
            waiting_for: Cell::new(Late::Headers { after_ms: dog.headers_ms }),
            since: Cell::new(js::now()),
            late: Cell::new(None),
        });
        dog.watched.replace(Some(Rc::clone(&watched)));
        if dog.timer.borrow().is_none() {
            Dog::sleep(dog, f64::INFINITY);
        }
        Watch { watched, idle_ms: dog.idle_ms }
    }

    /// Nothing is open any more, and nothing keeps the process alive.
    pub(super) fn rest(&self) {
        self.0.watched.take();
        self.0.timer.take();
    }
}

impl Watch {
    /// Headers came, or bytes did: from now on silence counts.
    pub(super) fn progress(&self) {
        self.watched.waiting_for.set(Late::Stream { after_ms: self.idle_ms });
        self.watched.since.set(js::now());
    }

    /// Set once the request was aborted for being late.
    pub(super) fn late(&self) -> Option<Late> {
        self.watched.late.get()
    }
}

impl Dog {
    fn sleep(dog: &Rc<Dog>, ms: f64) {
        let weak = Rc::downgrade(dog);
        let timer = Timeout::new(ms.min(dog.headers_ms.min(dog.idle_ms) as f64), move || {
            if let Some(dog) = weak.upgrade() {
                dog.timer.take();
                Dog::wake(&dog);
            }
        });
        dog.timer.replace(Some(timer));
    }

    fn wake(dog: &Rc<Dog>) {
        let Some(watched) = dog.watched.borrow().clone() else { return };
        let waiting_for = watched.waiting_for.get();
        let (Late::Headers { after_ms } | Late::Stream { after_ms }) = waiting_for;
        let left = after_ms as f64 - (js::now() - watched.since.get());
        if left > 0.0 {
            Dog::sleep(dog, left);
        } else {
            dog.watched.take();
            watched.late.set(Some(waiting_for));
            watched.abort.abort();
        }
    }
}
