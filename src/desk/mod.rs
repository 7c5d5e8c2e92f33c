//! Where the app's runs are driven and stored. WASM -> shell, store.
//!
//! The app's page sends orders and gets news (`protocol::desk`), and holds nothing of a run but what it was told. Owns the
//! sessions, their files, the database, and what other tabs say. Deliberately absent: how orders come here, and everything
//! that is seen (`ui`).

mod seat;
mod shelf;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::{Rc, Weak};

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use crate::engine::{Branch, ProviderKind, RunConfig, Task};
use crate::protocol::desk::{FilesId, News, Order, QuestionId, SeatId, With};
use crate::shell::{Access, Carried, Page, Session, SessionOptions};
use crate::trajectory::{Restored, Trajectory};
use crate::view::provider::address;
use crate::worker::{Twin, Workspace};

use seat::Seat;
use shelf::Shelf;

/// Takes the orders of one page; clones are the same desk.
#[derive(Clone)]
pub struct Desk(Rc<Inner>);

pub(crate) struct Inner {
    page: Rc<dyn Page>,
    post: Box<dyn Fn(News, Vec<JsValue>)>,
    seats: RefCell<BTreeMap<SeatId, Rc<Seat>>>,
    files: RefCell<BTreeMap<FilesId, Rc<Twin>>>,
    shelf: RefCell<Option<Shelf>>,
    /// Stored runs that are being opened, and orders about them.
    opening: RefCell<BTreeSet<SeatId>>,
    waiting: RefCell<Vec<(Order, Vec<JsValue>)>>,
}

/// A desk that may be gone.
#[derive(Clone)]
pub(crate) struct Back(Weak<Inner>);

impl Desk {
    /// `post` brings news and their parts to the page; `page` asks its models. The database is opened.
    #[must_use]
    pub fn open(page: Rc<dyn Page>, post: impl Fn(News, Vec<JsValue>) + 'static) -> Self {
        let desk = Desk(Rc::new(Inner {
            page,
            post: Box::new(post),
            seats: RefCell::default(),
            files: RefCell::default(),
            shelf: RefCell::default(),
            opening: RefCell::default(),
            waiting: RefCell::default(),
        }));
        desk.0.shelf.replace(Some(Shelf::open(&desk.back())));
        desk
    }

    /// One order with its parts.
    pub fn take(&self, order: Order, parts: Vec<JsValue>) {
        if order.about().iter().any(|seat| self.0.opening.borrow().contains(seat)) {
            return self.0.waiting.borrow_mut().push((order, parts));
        }
        let mut parts = VecDeque::from(parts);
        let part = |parts: &mut VecDeque<JsValue>| parts.pop_front().and_then(|part| part.as_string());
        match order {
            Order::List => self.list_soon(),
            Order::Run { seat, with, config, task, after } => self.run(seat, &with, *config, *task, after),
            Order::Branch { id, seat, with, of, place, branch } => {
                let document = match of {
                    Some(of) => self.seat(of).and_then(|seat| seat.session.document()),
                    None => part(&mut parts).and_then(|text| Trajectory::parse(&text).ok()),
                };
                self.answer(id, self.branch(seat, &with, document, place, *branch));
            }
            Order::Open { id, with, runs } => {
                self.0.opening.borrow_mut().extend(runs.iter().map(|(seat, _)| *seat));
                let desk = self.clone();
                spawn_local(async move {
                    let opened = desk.open_stored(&with, &runs).await;
                    desk.answer(id, opened);
                    desk.0.opening.borrow_mut().retain(|seat| runs.iter().all(|(opened, _)| opened != seat));
                    let waited = desk.0.waiting.take();
                    waited.into_iter().for_each(|(order, parts)| desk.take(order, parts));
                });
            }
            Order::Stop { seat } => self.with(seat, |seat| seat.session.stop()),
            Order::Cancel { seat } => self.with(seat, |seat| seat.session.cancel()),
            Order::Grant { seat, turns } => {
                let granted = self.seat(seat).map(|seat| seat.session.grant(turns));
                self.complain(granted);
            }
            Order::Resume { seat } => {
                let resumed = self.seat(seat).map(|seat| seat.session.resume());
                self.complain(resumed);
                self.with(seat, Seat::renew);
            }
            Order::Close { seat } => self.with(seat, |seat| seat.session.close()),
            Order::Record { id, seat } => {
                let document = self.seat(seat).and_then(|seat| seat.session.document());
                match document.and_then(|document| serde_json::to_string_pretty(&document).ok()) {
                    Some(text) => self.post(News::Done { id }, vec![text.into()]),
                    None => self.answer(id, Err("this run has no record yet".to_owned())),
                }
            }
            Order::Files { files, changes } => {
                let blobs = parts.into_iter().filter_map(|part| part.dyn_into().ok());
                self.files(files).take(changes, blobs);
            }
            Order::Rename { id, keys, name } => {
                let desk = self.clone();
                spawn_local(async move { desk.answer(id, desk.rename(&keys, name).await) });
            }
            Order::Delete { id, keys, seats } => {
                let desk = self.clone();
                spawn_local(async move { desk.answer(id, desk.delete(&keys, &seats).await) });
            }
        }
    }

    fn run(&self, id: SeatId, with: &With, config: RunConfig, task: Task, after: Option<SeatId>) {
        let carried = after.and_then(|after| self.seat(after)?.session.with_run(|run| run.map(Carried::from_run)));
        let task = match carried {
            Some(Carried { session_id, history }) => Task { session_id, history, ..task },
            None => task,
        };
        let seat = self.new_seat(id, with, config.clone());
        let hear = seat.ear();
        if let Err(error) = seat.session.begin(config, task, hear) {
            self.told(error.to_string(), true);
        }
    }

    fn branch(
        &self,
        id: SeatId,
        with: &With,
        document: Option<Trajectory>,
        place: usize,
        branch: Branch,
    ) -> Result<(), String> {
        let document = document.ok_or("The run is not there any more.")?;
        let restored = Restored::before_turn(&document, place)
            .ok_or("This turn cannot be reached from the events of the record.")?;
        let mut config = restored.recorder.run.config().clone();
        if let Some(providers) = &branch.providers {
            config.providers.clone_from(providers);
        }
        let seat = self.new_seat(id, with, config);
        let hear = seat.ear();
        seat.session.branch(restored, branch, hear).map_err(|error| error.to_string())?;
        seat.tell();
        Ok(())
    }

    fn new_seat(&self, id: SeatId, with: &With, config: RunConfig) -> Rc<Seat> {
        let workspace = self.files(with.files).workspace().clone();
        let session = self.session(with, config, workspace.clone());
        let keeper = self.keeper(&session, &workspace);
        let seat = Seat::new(self.back(), id, session, keeper);
        self.0.seats.borrow_mut().insert(id, Rc::clone(&seat));
        seat
    }

    /// A session with the user's keys, each for the address it was typed in for.
    fn session(&self, with: &With, config: RunConfig, workspace: Workspace) -> Session {
        let key = |address: String| {
            let address = address.trim().trim_end_matches('/');
            with.keys.iter().find(|(of, _)| of == address).map(|(_, key)| key.clone())
        };
        let access = config.providers.iter().enumerate().map(|(at, provider)| Access {
            api_key: provider.kind.is_http().then(|| key(address(provider))).flatten(),
            headers: Vec::new(),
            in_page: (provider.kind == ProviderKind::PromptApi).then_some(at),
        });
        let (access, page) = (access.collect(), Some(Rc::clone(&self.0.page)));
        Session::new(SessionOptions { config, access, workspace, worker_url: with.worker_url.clone(), page })
    }

    /// The desk's copy is what tools see.
    fn files(&self, id: FilesId) -> Rc<Twin> {
        let back = self.back();
        let make = || {
            Twin::new(Workspace::new(), move |changes, blobs| {
                back.post(News::Wrote { files: id, changes }, blobs.into_iter().map(JsValue::from).collect());
            })
        };
        Rc::clone(self.0.files.borrow_mut().entry(id).or_insert_with(make))
    }

    fn seat(&self, id: SeatId) -> Option<Rc<Seat>> {
        self.0.seats.borrow().get(&id).cloned()
    }

    fn with(&self, id: SeatId, act: impl FnOnce(&Rc<Seat>)) {
        if let Some(seat) = self.seat(id) {
            act(&seat);
        }
    }

    /// Those that are open. Not borrowed: what is done with them may open another.
    fn seats(&self) -> Vec<Rc<Seat>> {
        self.0.seats.borrow().values().cloned().collect()
    }

    fn back(&self) -> Back {
        Back(Rc::downgrade(&self.0))
    }

    fn post(&self, news: News, parts: Vec<JsValue>) {
        (self.0.post)(news, parts);
    }

    fn told(&self, message: impl Into<String>, wrong: bool) {
        self.post(News::Told { message: message.into(), wrong }, Vec::new());
    }

    fn complain<E: std::fmt::Display>(&self, done: Option<Result<(), E>>) {
        if let Some(Err(error)) = done {
            self.told(error.to_string(), true);
        }
    }

    fn answer(&self, id: QuestionId, done: Result<(), String>) {
        let news = match done {
            Ok(()) => News::Done { id },
            Err(message) => News::Failed { id, message },
        };
        self.post(news, Vec::new());
    }
}

impl Back {
    fn desk(&self) -> Option<Desk> {
        self.0.upgrade().map(Desk)
    }

    fn post(&self, news: News, parts: Vec<JsValue>) {
        if let Some(desk) = self.desk() {
            desk.post(news, parts);
        }
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("seats", &self.0.seats.borrow().len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Back {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Back")
    }
}
