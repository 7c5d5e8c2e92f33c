//! Sends messages to the page: those of one task in one post. A run's events are sent with the next message, or wait for a
//! frame: a post costs both threads a quarter of a millisecond.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Uint8Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::shell::js;
use turnwise_protocol::{AskId, DeltaEvent, DeltaKind, EventStep, RunEvent, WorkerMessage};

/// How long events wait for others to join them: one frame.
const FRAME_MS: f64 = 16.0;
/// A longer result is sent as bytes, which are transferred.
const MAX_INLINE: usize = 16 * 1024;

/// Queues messages in order.
pub(super) struct Outbox {
    post: Function,
    queue: RefCell<Queue>,
    flush: RefCell<Option<Flush>>,
    /// Whether the next frame's timer is set.
    awaits_frame: Cell<bool>,
}

#[derive(Default)]
struct Queue {
    /// Messages, joined by commas.
    text: String,
    parts: Vec<JsValue>,
    /// Events of one run that are not in `text` yet, joined by commas.
    events: Option<(AskId, String)>,
    /// Streamed text that is not in `events` yet.
    streamed: Option<StreamedDelta>,
    due: Due,
}

struct StreamedDelta {
    id: AskId,
    kind: DeltaKind,
    child: u32,
    turn: u32,
    calls_left: u32,
    step: Option<EventStep>,
    text: String,
}

/// When the queue is posted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Never,
    /// With the next frame.
    Frame,
    /// When the current task is done.
    Now,
}

/// Callbacks, created once.
struct Flush {
    at_once: Closure<dyn FnMut(JsValue)>,
    on_frame: Closure<dyn FnMut()>,
}

impl Outbox {
    /// Creates an outbox that sends by `post(text, parts)`.
    pub(super) fn new(post: Function) -> Rc<Self> {
        let outbox = Rc::new(Outbox {
            post,
            queue: RefCell::default(),
            flush: RefCell::default(),
            awaits_frame: Cell::default(),
        });
        let (now, frame) = (Rc::downgrade(&outbox), Rc::downgrade(&outbox));
        let flush = Flush {
            at_once: Closure::new(move |_| {
                if let Some(outbox) = now.upgrade() {
                    outbox.flush();
                }
            }),
            on_frame: Closure::new(move || {
                if let Some(outbox) = frame.upgrade() {
                    outbox.awaits_frame.set(false);
                    outbox.flush();
                }
            }),
        };
        outbox.flush.replace(Some(flush));
        outbox
    }

    pub(super) fn tell(&self, message: &WorkerMessage<'_>, parts: impl IntoIterator<Item = JsValue>) {
        self.write(&written(message), parts);
    }

    /// Answers with a value; a long one is sent as bytes.
    pub(super) fn done(&self, id: AskId, value: &impl Serialize) {
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        self.done_with(id, bytes);
    }

    /// The same, for a value that is already JSON text.
    pub(super) fn done_with(&self, id: AskId, json: Vec<u8>) {
        if json.len() > MAX_INLINE {
            let part = Uint8Array::from(json.as_slice());
            return self.tell(&WorkerMessage::Done { id, result: None }, [part.into()]);
        }
        let json = String::from_utf8(json).unwrap_or_default();
        self.write(&format!("{{\"done\":{{\"id\":{},\"result\":{json}}}}}", id.0), []);
    }

    /// Refuses a message because its argument is wrong or it came at the wrong time.
    pub(super) fn refused(&self, id: AskId, refusal: &AskError) {
        let (message, wrong) = match refusal {
            AskError::Wrong(message) => (message, true),
            AskError::Untimely(message) => (message, false),
        };
        self.tell(&WorkerMessage::Refused { id, message, wrong }, []);
    }

    pub(super) fn event(&self, id: AskId, event: &impl Serialize) {
        self.with_queue(Due::Frame, |queue| {
            queue.settle_streamed();
            queue.add_event(id, &written(event));
        });
    }

    pub(super) fn streamed(&self, id: AskId, delta: DeltaEvent<'_>) {
        let DeltaEvent { kind, child, turn, calls_left, text, step } = delta;
        self.with_queue(Due::Frame, |queue| match &mut queue.streamed {
            Some(open)
                if (open.id, open.kind, open.child, open.turn) == (id, kind, child, turn) && same(open.step, step) =>
            {
                open.text.push_str(text);
                (open.calls_left, open.step) = (calls_left, step);
            }
            _ => {
                queue.settle_streamed();
                queue.streamed = Some(StreamedDelta { id, kind, child, turn, calls_left, step, text: text.to_owned() });
            }
        });
    }

    fn write(&self, message: &str, parts: impl IntoIterator<Item = JsValue>) {
        self.with_queue(Due::Now, |queue| {
            queue.settle_streamed();
            queue.settle_events();
            queue.add(message);
            queue.parts.extend(parts);
        });
    }

    fn with_queue(&self, due: Due, f: impl FnOnce(&mut Queue)) {
        let before = {
            let mut queue = self.queue.borrow_mut();
            f(&mut queue);
            let before = queue.due;
            if before != Due::Now {
                queue.due = due;
            }
            before
        };
        if before == due || before == Due::Now {
            return;
        }
        if let Some(flush) = &*self.flush.borrow() {
            match due {
                Due::Now => drop(Promise::resolve(&JsValue::UNDEFINED).then(&flush.at_once)),
                // A timer that is still set from before an immediate post fires early enough.
                Due::Frame if self.awaits_frame.replace(true) => {}
                Due::Frame => drop(js::set_timeout(flush.on_frame.as_ref().unchecked_ref(), FRAME_MS)),
                Due::Never => {}
            }
        }
    }

    fn flush(&self) {
        let Queue { text, parts, .. } = {
            let mut queue = self.queue.borrow_mut();
            queue.settle_streamed();
            queue.settle_events();
            std::mem::take(&mut *queue)
        };
        if text.is_empty() {
            return;
        }
        let parts: Array = parts.into_iter().collect();
        // Posting blobs, bytes and text cannot fail.
        let _ = self.post.call2(&JsValue::UNDEFINED, &format!("[{text}]").into(), &parts);
    }
}

impl Queue {
    fn add(&mut self, message: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(message);
    }

    fn add_event(&mut self, id: AskId, event: &str) {
        match &mut self.events {
            Some((open, events)) if *open == id => {
                events.push(',');
                events.push_str(event);
            }
            _ => {
                self.settle_events();
                self.events = Some((id, event.to_owned()));
            }
        }
    }

    fn settle_streamed(&mut self) {
        let Some(StreamedDelta { id, kind, child, turn, calls_left, step, text }) = self.streamed.take() else {
            return;
        };
        self.add_event(
            id,
            &written(&RunEvent::streamed(DeltaEvent { kind, child, turn, calls_left, text: &text, step })),
        );
    }

    fn settle_events(&mut self) {
        if let Some((id, events)) = self.events.take() {
            self.add(&format!("{{\"events\":{{\"id\":{},\"events\":[{events}]}}}}", id.0));
        }
    }
}

/// Why something could not be done.
#[derive(Debug)]
pub(super) enum AskError {
    /// The argument is wrong.
    Wrong(String),
    /// It is valid, but not possible now.
    Untimely(String),
}

fn same(a: Option<EventStep>, b: Option<EventStep>) -> bool {
    a.map(|step| step.order) == b.map(|step| step.order)
}

fn written(message: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(message).unwrap_or_default()
}
