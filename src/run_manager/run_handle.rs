//! One run at the manager, and what was reported about it to the page.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use crate::shell::{self, Notice, Session};
use crate::store::RunWriter;
use turnwise_engine::RecordKind;
use turnwise_protocol::app::{HandleId, News, RunLocation, StreamedText};
use turnwise_protocol::{Reporter, Snapshot, SnapshotChange};
use turnwise_record::trajectory::{Note, Trajectory};

/// Time during which changes are collected before they are reported, in milliseconds: one frame.
pub(super) const FRAME_MS: u32 = 16;

pub(super) type NewsPoster = dyn Fn(News, Vec<JsValue>);

/// Posts news to the page for as long as the run manager exists.
#[derive(Clone)]
pub(super) struct NewsSender(Weak<NewsPoster>);

pub(super) struct RunHandle {
    news: NewsSender,
    id: HandleId,
    pub(super) session: Session,
    /// Stores the run, if storage is available.
    pub(super) keeper: Option<RunWriter>,
    reporter: RefCell<Reporter>,
    streamed: RefCell<StreamedText>,
    location: Cell<RunLocation>,
    notes: RefCell<Vec<Note>>,
    /// The notes changed since the last report to the page.
    noted: Cell<bool>,
    /// A report to the page is scheduled.
    due: Cell<bool>,
}

impl NewsSender {
    pub(super) fn new(post: &Rc<NewsPoster>) -> Self {
        NewsSender(Rc::downgrade(post))
    }

    pub(super) fn post(&self, news: News, parts: Vec<JsValue>) {
        if let Some(post) = self.0.upgrade() {
            post(news, parts);
        }
    }

    /// Shows a recorded run.
    pub(super) fn show(&self, handle: HandleId, run: Snapshot) {
        let (streamed, changes) = (StreamedText::default(), vec![SnapshotChange::Whole(Box::new(run))]);
        self.post(News::Seen { handle, location: RunLocation::Recorded, streamed, changes }, Vec::new());
    }
}

impl RunHandle {
    pub(super) fn new(news: NewsSender, id: HandleId, session: Session, keeper: Option<RunWriter>) -> Rc<Self> {
        Rc::new(RunHandle {
            news,
            id,
            session,
            keeper,
            reporter: RefCell::default(),
            streamed: RefCell::default(),
            location: Cell::default(),
            notes: RefCell::default(),
            noted: Cell::default(),
            due: Cell::default(),
        })
    }

    /// Returns a handler for the session's notifications. It holds the handle weakly, because the handle owns the session.
    pub(super) fn ear(self: &Rc<Self>) -> impl Fn(Notice<'_>) + 'static {
        let handle = Rc::downgrade(self);
        move |notice| {
            if let Some(handle) = handle.upgrade() {
                handle.on_notice(notice);
            }
        }
    }

    pub(super) fn on_notice(self: &Rc<Self>, notice: Notice<'_>) {
        {
            let mut streamed = self.streamed.borrow_mut();
            match notice {
                Notice::TextDelta { child: 0, text, .. } => streamed.text.push_str(text),
                Notice::ReasoningDelta { child: 0, text, .. } => streamed.reasoning.push_str(text),
                // A sub-agent's text is shown once its reply is complete.
                Notice::TextDelta { .. } | Notice::ReasoningDelta { .. } => return,
                Notice::Record(record) => {
                    if let RecordKind::AttemptStarted { .. } | RecordKind::AttemptFailed { .. } = record.what {
                        *streamed = StreamedText { void: true, ..StreamedText::default() };
                    }
                }
            }
        }
        self.renew();
    }

    /// Schedules a report of the run's state to the page.
    pub(super) fn renew(self: &Rc<Self>) {
        if self.due.replace(true) {
            return;
        }
        let handle = Rc::clone(self);
        spawn_local(async move {
            shell::pause(FRAME_MS).await;
            handle.tell();
        });
    }

    /// Returns the record of the run so far, with its notes.
    pub(super) fn document(&self) -> Option<Trajectory> {
        Some(Trajectory { notes: self.notes(), ..self.session.document()? })
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        self.notes.borrow().clone()
    }

    /// Sets the notes on the run, which the next report contains.
    pub(super) fn set_notes(&self, notes: Vec<Note>) {
        if *self.notes.borrow() != notes {
            self.notes.replace(notes);
            self.noted.set(true);
        }
    }

    /// Reports the changes to the page.
    pub(super) fn tell(&self) {
        self.due.set(false);
        let changes = self.session.with_run(|run| run.map(|run| self.reporter.borrow_mut().changes(run)));
        let (mut changes, streamed, location) = (changes.unwrap_or_default(), self.streamed.take(), self.location());
        if self.noted.take() {
            changes.push(SnapshotChange::Notes(self.notes()));
        }
        let before = self.location.replace(location);
        if !changes.is_empty() || !streamed.is_empty() || before != location {
            self.news.post(News::Seen { handle: self.id, location, streamed, changes }, Vec::new());
        }
    }

    fn location(&self) -> RunLocation {
        match (self.session.is_followed(), self.session.is_interrupted()) {
            (true, _) => RunLocation::Elsewhere,
            (false, true) => RunLocation::Interrupted,
            (false, false) => RunLocation::Here,
        }
    }

    /// Returns whether the handle shows this run, and another tab drives it.
    pub(super) fn follows(&self, key: &str) -> bool {
        self.session.is_followed() && self.keeper.as_ref().is_some_and(|keeper| keeper.key() == key)
    }
}
