//! The page's end of its desk: a seat for each run on the screen, and news as they come.
//!
//! Invariant: what a seat shows is what the desk told of its run. Nothing is read from a run itself.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use futures_channel::oneshot;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::desk::Desk;
use crate::protocol::desk::{FilesId, News, Order, QuestionId, SeatId, Stand, Streamed, With};
use crate::protocol::snapshot::Start;
use crate::protocol::{Change, Snapshot};
use crate::trajectory::Summary;
use crate::view::Source;
use crate::worker::{Twin, Workspace};

use super::dom;
use super::state::App;

/// The line to the desk; clones share it.
#[derive(Clone)]
pub struct Line(Rc<Inner>);

struct Inner {
    app: App,
    desk: OnceCell<Desk>,
    seats: RefCell<BTreeMap<SeatId, Weak<Place>>>,
    files: RefCell<Vec<(FilesId, Rc<Twin>)>>,
    questions: RefCell<BTreeMap<QuestionId, oneshot::Sender<Answer>>>,
    /// Numbers of seats, files and questions.
    last: Cell<u32>,
}

/// Draws what was told.
type Ear = Rc<dyn Fn(&Streamed)>;

/// What the desk answered: a text where one was asked for, or why not.
type Answer = Result<Option<String>, String>;

/// One run on the page; clones are the same run.
#[derive(Clone)]
pub struct Seat(Rc<Place>);

struct Place {
    id: SeatId,
    line: Line,
    seen: RefCell<Option<Snapshot>>,
    stand: Cell<Stand>,
    /// Who draws it.
    ear: RefCell<Option<Ear>>,
}

/// Opens the desk.
pub fn open(app: App) {
    let (seats, files, questions) = (RefCell::default(), RefCell::default(), RefCell::default());
    let inner = Rc::new(Inner { app, desk: OnceCell::new(), seats, files, questions, last: Cell::default() });
    let line = Rc::downgrade(&inner);
    let _ = inner.desk.set(Desk::open(move |news, parts| {
        if let Some(line) = line.upgrade().map(Line) {
            line.hear(news, parts);
        }
    }));
    app.line.set_value(Some(Line(inner)));
}

impl Line {
    pub fn tell(&self, order: Order, parts: Vec<JsValue>) {
        if let Some(desk) = self.0.desk.get() {
            desk.take(order, parts);
        }
    }

    /// Asks, and waits for the answer.
    pub async fn ask(&self, order: impl FnOnce(QuestionId) -> Order, parts: Vec<JsValue>) -> Answer {
        let id = QuestionId(self.number());
        let (told, answer) = oneshot::channel();
        self.0.questions.borrow_mut().insert(id, told);
        self.tell(order(id), parts);
        answer.await.unwrap_or_else(|_| Err("the run's worker is gone".to_owned()))
    }

    /// A seat that shows nothing yet.
    pub fn seat(&self) -> Seat {
        let id = SeatId(self.number());
        let (seen, stand, ear) = (RefCell::default(), Cell::default(), RefCell::default());
        let place = Rc::new(Place { id, line: self.clone(), seen, stand, ear });
        self.0.seats.borrow_mut().insert(id, Rc::downgrade(&place));
        Seat(place)
    }

    /// A seat for a run that begins just now.
    pub fn begin(&self, start: Start) -> Seat {
        let seat = self.seat();
        seat.0.seen.replace(Some(Snapshot::begin(start)));
        seat
    }

    /// What a run with these files needs.
    pub fn with(&self, workspace: &Workspace) -> With {
        let keys = self.0.app.keys.with_untracked(super::keys::Keys::all);
        With { files: self.files(workspace), worker_url: dom::worker_url(), keys }
    }

    /// The number of these files; from the first time on the desk has them too.
    fn files(&self, workspace: &Workspace) -> FilesId {
        let known = |(_, twin): &&(FilesId, Rc<Twin>)| twin.workspace().is(workspace);
        if let Some((id, _)) = self.0.files.borrow().iter().find(known) {
            return *id;
        }
        let id = FilesId(self.number());
        let line = Rc::downgrade(&self.0);
        let twin = Twin::new(workspace.clone(), move |changes, blobs| {
            if let Some(line) = line.upgrade() {
                let parts = blobs.into_iter().map(JsValue::from).collect();
                Line(line).tell(Order::Files { files: id, changes }, parts);
            }
        });
        self.0.files.borrow_mut().push((id, twin));
        id
    }

    fn number(&self) -> u32 {
        self.0.last.set(self.0.last.get() + 1);
        self.0.last.get()
    }

    fn hear(&self, news: News, parts: Vec<JsValue>) {
        let app = self.0.app;
        match news {
            News::Seen { seat, stand, streamed, changes } => {
                let seat = self.0.seats.borrow().get(&seat).and_then(Weak::upgrade);
                if let Some(seat) = seat.map(Seat) {
                    seat.take(stand, &streamed, changes);
                }
            }
            News::Wrote { files, changes } => {
                let known = |(id, _): &&(FilesId, Rc<Twin>)| *id == files;
                let twin = self.0.files.borrow().iter().find(known).map(|(_, twin)| Rc::clone(twin));
                if let Some(twin) = twin {
                    twin.take(changes, parts.into_iter().filter_map(|part| part.dyn_into().ok()));
                }
            }
            News::Listed { headers, unread } => app.take_list(headers, unread),
            News::Stored { header } => app.note(*header),
            News::Told { message, wrong: true } => app.complain(message),
            News::Told { message, wrong: false } => app.tell(message),
            News::Done { id } => self.answered(id, Ok(parts.first().and_then(JsValue::as_string))),
            News::Failed { id, message } => self.answered(id, Err(message)),
        }
    }

    fn answered(&self, id: QuestionId, answer: Answer) {
        let told = self.0.questions.borrow_mut().remove(&id);
        if let Some(told) = told {
            let _ = told.send(answer);
        }
    }
}

impl Seat {
    pub fn id(&self) -> SeatId {
        self.0.id
    }

    /// Looks at the run as it was told; `None`: nothing was yet.
    pub fn look<T>(&self, look: impl FnOnce(&Source<'_>) -> T) -> Option<T> {
        let seen = self.0.seen.borrow();
        let source = Source::from(seen.as_ref()?);
        Some(look(&match self.0.stand.get() {
            Stand::Here => source,
            Stand::Interrupted => source.interrupted(),
            Stand::Elsewhere => source.elsewhere(),
        }))
    }

    /// What it started from.
    pub fn start(&self) -> Option<Start> {
        self.0.seen.borrow().as_ref().map(|seen| seen.start.clone())
    }

    pub fn summary(&self) -> Option<Summary> {
        self.0.seen.borrow().as_ref().map(Snapshot::summary)
    }

    pub fn stand(&self) -> Stand {
        self.0.stand.get()
    }

    pub fn is_running(&self) -> bool {
        let open = || self.look(|source| source.status != crate::engine::Status::Ended);
        self.stand() == Stand::Here && open() == Some(true)
    }

    pub fn stop(&self) {
        self.tell(Order::Stop { seat: self.0.id });
    }

    pub fn cancel(&self) {
        self.tell(Order::Cancel { seat: self.0.id });
    }

    pub fn grant(&self, turns: u32) {
        self.tell(Order::Grant { seat: self.0.id, turns });
    }

    /// Goes on with a run that was left open.
    pub fn resume(&self) {
        self.tell(Order::Resume { seat: self.0.id });
    }

    /// Nothing of the run goes on. What was told of it stays.
    pub fn close(&self) {
        self.tell(Order::Close { seat: self.0.id });
    }

    /// The run's record, as JSON text.
    pub async fn record(&self) -> Result<String, String> {
        let seat = self.0.id;
        let text = self.0.line.ask(|id| Order::Record { id, seat }, Vec::new()).await?;
        text.ok_or_else(|| "this run has no record yet".to_owned())
    }

    /// Who draws it from now on.
    pub fn observe(&self, ear: impl Fn(&Streamed) + 'static) {
        self.0.ear.replace(Some(Rc::new(ear)));
    }

    fn take(&self, stand: Stand, streamed: &Streamed, changes: Vec<Change>) {
        self.0.stand.set(stand);
        {
            let mut seen = self.0.seen.borrow_mut();
            *seen = Snapshot::after(seen.take(), changes);
        }
        let ear = self.0.ear.borrow().clone();
        if let Some(ear) = ear {
            ear(streamed);
        }
    }

    fn tell(&self, order: Order) {
        self.0.line.tell(order, Vec::new());
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Line")
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Seat").field(&self.0.id).finish()
    }
}
