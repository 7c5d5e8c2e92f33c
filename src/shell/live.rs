//! The run of a session, its pending work, and what its observer is told.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use web_sys::AbortController;

use super::ask_order::AskOrder;
use super::deadline::ProgramDeadline;
use super::journal::Journal;
use super::js;
use super::page::Page;
use super::timer::Timeout;
use super::watch::Watchdog;
use super::wire::RunConnections;
use crate::worker::{Prepared, ToolHost};
use turnwise_engine::*;
use turnwise_protocol::CallNumber;
use turnwise_record::trajectory::Recorder;

/// The run, and its pending work. Kept after the end, so that it can be read and granted more turns.
pub(super) struct ActiveRun {
    pub(super) recorder: Recorder,
    /// The connections of the run (0) and of its sub-agents.
    pub(super) wires: BTreeMap<u32, RunConnections>,
    pub(super) dog: Watchdog,
    pub(super) requests: Vec<OpenRequest>,
    pub(super) calls: Vec<RunningCall>,
    pub(super) asking: AskOrder,
    /// What was shown of calls that the user permitted and that have not begun to run.
    pub(super) shown: Vec<(CallId, ShownCall)>,
    pub(super) timers: Vec<(TimerId, Timeout)>,
    /// Until streamed text is passed to the journal.
    pub(super) draft: Option<Timeout>,
    pub(super) observer: Rc<dyn Fn(Notice<'_>)>,
    pub(super) zero: f64,
    /// The run was restored and has not been driven since.
    pub(super) cold: bool,
}

/// Identifies one open request or tool call. Unlike the engine's ids it is never reused, not even in the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskTicket(pub(super) u32);

/// A request in progress. Dropping it aborts it.
pub(super) struct OpenRequest {
    pub(super) request: RequestId,
    pub(super) ticket: TaskTicket,
    pub(super) abort: Option<AbortController>,
    /// The data received so far, redacted.
    pub(super) streamed: Rc<RefCell<PartialReply>>,
}

/// A running tool call. Dropping it aborts it.
pub(super) struct RunningCall {
    pub(super) call: CallId,
    pub(super) ticket: TaskTicket,
    pub(super) place: CallPlace,
    pub(super) deadline: Option<Timeout>,
}

/// What a person was shown of a call, and permitted: exactly this is done.
pub(super) struct ShownCall {
    pub(super) prepared: Prepared,
    /// The answer was for more than this call, so what the call does may differ from what was shown of it.
    pub(super) for_more: bool,
}

/// Where a tool call is running.
pub(super) enum CallPlace {
    Worker(ToolHost),
    Page(Rc<dyn Page>, CallNumber),
    Program(Rc<dyn Page>, CallNumber, Rc<ProgramDeadline>),
    /// Nothing to abort: the call is being checked, or the user is being asked.
    Waiting,
}

/// The notifications for observers.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    Record(&'a Record),
    /// Text as it streams in; void if its attempt fails. `child` is the sub-agent that it comes from; 0 is the run itself.
    TextDelta {
        child: u32,
        turn: u32,
        text: &'a str,
    },
    ReasoningDelta {
        child: u32,
        turn: u32,
        text: &'a str,
    },
}

impl ActiveRun {
    /// A run whose clock was 0 at `zero`.
    pub(super) fn new(recorder: Recorder, zero: f64, observer: impl Fn(Notice<'_>) + 'static) -> Self {
        ActiveRun {
            dog: Watchdog::new(&recorder.run.config().limits),
            recorder,
            wires: BTreeMap::new(),
            requests: Vec::new(),
            calls: Vec::new(),
            asking: AskOrder::default(),
            shown: Vec::new(),
            timers: Vec::new(),
            draft: None,
            observer: Rc::new(observer),
            zero,
            cold: false,
        }
    }

    /// The run has other servers and limits from here on.
    pub(super) fn renew(&mut self) {
        self.wires.clear();
        self.dog = Watchdog::new(&self.recorder.run.config().limits);
    }

    pub(super) fn clock(&self) -> Millis {
        Millis((js::now() - self.zero).max(0.0) as u64)
    }

    /// Passes new events to the journal.
    pub(super) fn keep(&mut self, journal: Option<&dyn Journal>) {
        self.recorder.with_changed(|events, run| {
            if let Some(journal) = journal {
                journal.happened(events, run);
            }
        });
    }
}

impl OpenRequest {
    /// The data received so far, if any.
    pub(super) fn streamed(&self) -> Option<Event> {
        let partial = self.streamed.borrow().clone();
        (!partial.is_empty()).then_some(Event::ModelStreamed { request: self.request, partial })
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(abort) = self.abort.take() {
            abort.abort();
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        match &self.place {
            CallPlace::Worker(host) => host.abort(&self.call),
            CallPlace::Page(page, question) | CallPlace::Program(page, question, _) => page.abort(*question),
            CallPlace::Waiting => {}
        }
    }
}

/// Removes the first element that matches.
pub(super) fn take<T>(list: &mut Vec<T>, which: impl Fn(&T) -> bool) -> Option<T> {
    list.iter().position(which).map(|at| list.swap_remove(at))
}
