//! A deadline that can be paused.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::timer::Timeout;
use crate::worker::awake;

/// The deadline of a program. It is paused while the program waits for its calls, each of which has its own deadline.
pub(super) struct ProgramDeadline {
    left_ms: Cell<f64>,
    since: Cell<f64>,
    waiting: Cell<u32>,
    pub(super) late: Cell<bool>,
    timer: RefCell<Option<Timeout>>,
    then: RefCell<Option<Rc<dyn Fn()>>>,
}

impl ProgramDeadline {
    pub(super) fn new(ms: u64) -> Rc<Self> {
        Rc::new(ProgramDeadline {
            left_ms: Cell::new(ms as f64),
            since: Cell::new(0.0),
            waiting: Cell::new(0),
            late: Cell::new(false),
            timer: RefCell::new(None),
            then: RefCell::new(None),
        })
    }

    pub(super) fn start(self: &Rc<Self>, then: impl Fn() + 'static) {
        self.then.replace(Some(Rc::new(then)));
        if self.waiting.get() == 0 {
            self.run();
        }
    }

    fn run(self: &Rc<Self>) {
        self.since.set(awake::now());
        let this = Rc::downgrade(self);
        let timer = Timeout::new(self.left_ms.get(), move || {
            let Some(this) = this.upgrade() else { return };
            this.late.set(true);
            let then = this.then.borrow().clone();
            if let Some(then) = then {
                then();
            }
        });
        self.timer.replace(Some(timer));
    }

    pub(super) fn asked(&self) {
        self.waiting.set(self.waiting.get() + 1);
        if self.timer.take().is_some() {
            self.left_ms.set((self.left_ms.get() - (awake::now() - self.since.get())).max(0.0));
        }
    }

    pub(super) fn answered(self: &Rc<Self>) {
        self.waiting.set(self.waiting.get().saturating_sub(1));
        if self.waiting.get() == 0 && self.then.borrow().is_some() {
            self.run();
        }
    }
}
