//! The deadlines of a request: response headers, the first part of a reply, silence in the stream, the whole reply. A
//! request that misses one is aborted.
//!
//! A run has one timer for all of its requests, including those of its sub-agents: it sleeps no longer than the shortest
//! deadline and checks the time when it wakes, so that starting a request and receiving a chunk only have to note it.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use web_sys::AbortController;

use super::timer::Timeout;
use crate::worker::awake;
use turnwise_engine::Limits;
use turnwise_llm::Late;

/// A run's timer. It stops at the end of the segment.
#[derive(Clone, Debug)]
pub(super) struct Watchdog(Rc<Dog>);

#[derive(Debug)]
struct Dog {
    deadlines: Deadlines,
    timer: RefCell<Option<Timeout>>,
    watched: RefCell<Vec<Weak<Watched>>>,
}

/// In milliseconds.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    headers: u64,
    first_token: u64,
    idle: u64,
    whole: u64,
}

/// One watched request, from its release by the gate until it is dropped.
#[derive(Clone, Debug)]
pub(super) struct WatchedRequest(Rc<Watched>);

#[derive(Debug)]
struct Watched {
    abort: AbortController,
    /// In awake time.
    released: f64,
    /// When headers or bytes last arrived, in awake time.
    progress: Cell<Option<f64>>,
    begun: Cell<bool>,
    late: Cell<Option<(Late, u64)>>,
}

impl Watchdog {
    pub(super) fn new(limits: &Limits) -> Self {
        let deadlines = Deadlines {
            headers: limits.headers_ms,
            first_token: limits.first_token_ms,
            idle: limits.idle_ms,
            whole: limits.request_ms,
        };
        Watchdog(Rc::new(Dog { deadlines, timer: RefCell::default(), watched: RefCell::default() }))
    }

    /// Watches a request until the last [`WatchedRequest`] of it is dropped.
    pub(super) fn watch(&self, abort: AbortController) -> WatchedRequest {
        let dog = &self.0;
        let watched = Rc::new(Watched {
            abort,
            released: awake::now(),
            progress: Cell::new(None),
            begun: Cell::new(false),
            late: Cell::new(None),
        });
        let mut all = dog.watched.borrow_mut();
        all.retain(|other| other.strong_count() > 0);
        all.push(Rc::downgrade(&watched));
        drop(all);
        if dog.timer.borrow().is_none() {
            Dog::sleep(dog, f64::INFINITY);
        }
        WatchedRequest(watched)
    }

    /// Stops the timer once no requests are open, so that it does not keep the process alive.
    pub(super) fn rest(&self) {
        self.0.watched.take();
        self.0.timer.take();
    }
}

impl WatchedRequest {
    /// Notes that headers or bytes arrived: from now on the idle deadline applies.
    pub(super) fn progress(&self) {
        self.0.progress.set(Some(awake::now()));
    }

    /// Notes that part of the reply arrived, or that there is no reply to wait for.
    pub(super) fn begin(&self) {
        self.0.begun.set(true);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.0.begun.get()
    }

    /// Set once the request was aborted for missing a deadline: which one, and after how many milliseconds.
    pub(super) fn late(&self) -> Option<(Late, u64)> {
        self.0.late.get()
    }
}

impl Watched {
    /// Returns the time, kind and length of the next deadline. If two coincide, the more specific one.
    fn next(&self, deadlines: &Deadlines) -> (f64, Late, u64) {
        let Deadlines { headers, first_token, idle, whole } = *deadlines;
        let mut next = match self.progress.get() {
            None => (self.released + headers as f64, Late::Headers, headers),
            Some(at) => (at + idle as f64, Late::Stream, idle),
        };
        let mut sooner = |late, ms: u64| {
            let at = self.released + ms as f64;
            if at < next.0 {
                next = (at, late, ms);
            }
        };
        if !self.begun.get() {
            sooner(Late::FirstToken, first_token);
        }
        sooner(Late::Whole, whole);
        next
    }
}

impl Dog {
    fn sleep(dog: &Rc<Dog>, ms: f64) {
        let Deadlines { headers, first_token, idle, whole } = dog.deadlines;
        let shortest = headers.min(first_token).min(idle).min(whole);
        let weak = Rc::downgrade(dog);
        let timer = Timeout::new(ms.min(shortest as f64), move || {
            if let Some(dog) = weak.upgrade() {
                dog.timer.take();
                Dog::wake(&dog);
            }
        });
        dog.timer.replace(Some(timer));
    }

    fn wake(dog: &Rc<Dog>) {
        let (now, mut left) = (awake::now(), None::<f64>);
        let open: Vec<_> = dog.watched.borrow().iter().filter_map(Weak::upgrade).collect();
        for watched in open.into_iter().filter(|watched| watched.late.get().is_none()) {
            let (at, late, after_ms) = watched.next(&dog.deadlines);
            if at > now {
                left = Some(left.map_or(at - now, |left| left.min(at - now)));
            } else {
                watched.late.set(Some((late, after_ms)));
                watched.abort.abort();
            }
        }
        if let Some(left) = left {
            Dog::sleep(dog, left);
        }
    }
}
