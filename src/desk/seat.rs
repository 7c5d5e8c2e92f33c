//! One run at the desk, and what the page was told about it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::Back;
use crate::engine::RecordKind;
use crate::protocol::Reporter;
use crate::protocol::desk::{News, SeatId, Stand, Streamed};
use crate::shell::{self, Notice, Session};
use crate::store::Keeper;

/// How long what happens waits for more of it, in milliseconds: a frame.
pub(super) const FRAME_MS: u32 = 16;

pub(super) struct Seat {
    back: Back,
    id: SeatId,
    pub(super) session: Session,
    /// Stores it, if storage is available.
    pub(super) keeper: Option<Keeper>,
    reporter: RefCell<Reporter>,
    streamed: RefCell<Streamed>,
    stand: Cell<Stand>,
    /// The page will be told.
    due: Cell<bool>,
}

impl Seat {
    pub(super) fn new(back: Back, id: SeatId, session: Session, keeper: Option<Keeper>) -> Rc<Self> {
        Rc::new(Seat {
            back,
            id,
            session,
            keeper,
            reporter: RefCell::default(),
            streamed: RefCell::default(),
            stand: Cell::default(),
            due: Cell::default(),
        })
    }

    /// Handles the session's notifications. It holds the seat weakly: the seat has the session.
    pub(super) fn ear(self: &Rc<Self>) -> impl Fn(Notice<'_>) + 'static {
        let seat = Rc::downgrade(self);
        move |notice| {
            if let Some(seat) = seat.upgrade() {
                seat.hear(notice);
            }
        }
    }

    pub(super) fn hear(self: &Rc<Self>, notice: Notice<'_>) {
        {
            let mut streamed = self.streamed.borrow_mut();
            match notice {
                Notice::TextDelta { child: 0, text, .. } => streamed.text.push_str(text),
                Notice::ReasoningDelta { child: 0, text, .. } => streamed.reasoning.push_str(text),
                // A sub-agent's text is shown once its reply is complete.
                Notice::TextDelta { .. } | Notice::ReasoningDelta { .. } => return,
                Notice::Record(record) => {
                    if let RecordKind::AttemptStarted { .. } | RecordKind::AttemptFailed { .. } = record.what {
                        *streamed = Streamed { void: true, ..Streamed::default() };
                    }
                }
            }
        }
        self.renew();
    }

    /// Tells the page the state of the run, soon.
    pub(super) fn renew(self: &Rc<Self>) {
        if self.due.replace(true) {
            return;
        }
        let seat = Rc::clone(self);
        spawn_local(async move {
            shell::pause(FRAME_MS).await;
            seat.tell();
        });
    }

    /// Tells the page the changes.
    pub(super) fn tell(&self) {
        self.due.set(false);
        let changes = self.session.with_run(|run| run.map(|run| self.reporter.borrow_mut().changes(run)));
        let (changes, streamed, stand) = (changes.unwrap_or_default(), self.streamed.take(), self.stand());
        let stood = self.stand.replace(stand);
        if !changes.is_empty() || !streamed.is_empty() || stood != stand {
            self.back.post(News::Seen { seat: self.id, stand, streamed, changes }, Vec::new());
        }
    }

    fn stand(&self) -> Stand {
        match (self.session.is_followed(), self.session.is_interrupted()) {
            (true, _) => Stand::Elsewhere,
            (false, true) => Stand::Interrupted,
            (false, false) => Stand::Here,
        }
    }
}
