//! Who waits for a segment of a run: the page's `onEvent`, its `signal`, and the promise that `run` gave out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::{event, trajectory};
use crate::engine::{Record, RecordKind};
use crate::shell::{Notice, Session, StartError};

/// An agent's ear: kept over its runs, with one [`Segment`] while a run is under way.
#[derive(Default)]
pub(super) struct Listener {
    segment: RefCell<Option<Rc<Segment>>>,
    calls_left: Cell<u32>,
    /// The agent was freed: let everything go once the run has ended.
    pub(super) last: Cell<bool>,
}

struct Segment {
    /// Broken when the segment ends: session and listener know each other.
    session: Session,
    on_event: Option<Function>,
    resolve: Function,
    _signal: Option<Aborting>,
}

/// An `AbortSignal` that cancels a run, for as long as this is kept.
pub(super) struct Aborting {
    signal: AbortSignal,
    callback: Closure<dyn FnMut()>,
}

impl Listener {
    /// The promise of a segment's end. `start` sets the run going; what it refuses rejects the promise.
    pub(super) fn promise(
        self: &Rc<Self>,
        session: &Session,
        on_event: Option<Function>,
        signal: Option<AbortSignal>,
        start: impl FnOnce(&Session) -> Result<(), StartError>,
    ) -> Result<Promise, JsValue> {
        if session.is_running() {
            return Err(super::error::error(&StartError::Busy.to_string()));
        }
        let mut resolver = None;
        let promise = Promise::new(&mut |resolve: Function, _reject: Function| resolver = Some(resolve));
        let resolve = resolver.ok_or_else(|| super::error::error("the promise was not made"))?;
        let aborting = signal.as_ref().map(|signal| {
            let session = session.clone();
            Aborting::new(signal.clone(), move || session.cancel())
        });
        let segment = Segment { session: session.clone(), on_event, resolve, _signal: aborting };
        self.segment.replace(Some(Rc::new(segment)));
        if let Err(refused) = start(session) {
            self.segment.take();
            return Err(super::error::error(&refused.to_string()));
        }
        if signal.is_some_and(|signal| signal.aborted()) {
            session.cancel();
        }
        Ok(promise)
    }

    pub(super) fn hear(&self, notice: Notice<'_>) {
        // The last notice of a segment closes the ear before the page hears it: the page may start the next run then.
        let ended = matches!(notice, Notice::Record(record) if is_terminal(record));
        let segment = if ended { self.segment.take() } else { self.segment.borrow().clone() };
        let Some(segment) = segment else { return };
        let document = ended.then(|| segment.session.document()).flatten();
        if let Notice::Record(record) = notice {
            self.calls_left.set(record.calls_left);
        }
        if let Some(on_event) = &segment.on_event {
            // A listener that throws is the page's own trouble: the run goes on.
            if let Err(thrown) = self.event(notice).and_then(|event| on_event.call1(&JsValue::UNDEFINED, &event)) {
                web_sys::console::error_2(&"turnwise: onEvent threw".into(), &thrown);
            }
        }
        if let Some(document) = document {
            let document = trajectory::to_js(&document).unwrap_or_else(|thrown| thrown);
            let _ = segment.resolve.call1(&JsValue::UNDEFINED, &document);
            if self.last.get() {
                segment.session.close();
            }
        }
    }

    fn event(&self, notice: Notice<'_>) -> Result<JsValue, JsValue> {
        let calls_left = self.calls_left.get();
        match notice {
            Notice::Record(record) => event::from_record(record),
            Notice::TextDelta { child, turn, text } => event::from_delta("text_delta", child, turn, calls_left, text),
            Notice::ReasoningDelta { child, turn, text } => {
                event::from_delta("reasoning_delta", child, turn, calls_left, text)
            }
        }
    }
}

fn is_terminal(record: &Record) -> bool {
    matches!(record.what, RecordKind::AgentFinished { .. } | RecordKind::AgentFailed { .. })
}

impl Aborting {
    pub(super) fn new(signal: AbortSignal, cancel: impl FnMut() + 'static) -> Self {
        let callback = Closure::<dyn FnMut()>::new(cancel);
        let _ = signal.add_event_listener_with_callback("abort", callback.as_ref().unchecked_ref());
        Aborting { signal, callback }
    }
}

impl Drop for Aborting {
    fn drop(&mut self) {
        let _ = self.signal.remove_event_listener_with_callback("abort", self.callback.as_ref().unchecked_ref());
    }
}
