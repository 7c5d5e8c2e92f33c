//! The state of a desk: its seats, plans, files and stored runs, and how to find one of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};

use wasm_bindgen::JsValue;

use super::permits::{Asking, Permits};
use super::run_handle::{NewsPoster, NewsSender, RunHandle};
use super::running::PlanRunning;
use crate::shell::{Access, Page, Session, SessionOptions};
use crate::store::{RunDatabase, Tabs};
use crate::worker::{Workspace, WorkspaceSync, workspace_with_folders};
use turnwise_engine::{Answers, PermissionRule, Permissions, RunConfig};
use turnwise_llm::address::ServerAddress;
use turnwise_protocol::desk::{FilesId, News, Order, PlanId, SeatId, With};

/// Handles the orders of one page; clones share the same desk.
#[derive(Clone)]
pub struct RunManager(pub(super) Rc<RunManagerState>);

pub(super) struct RunManagerState {
    pub(super) page: Rc<dyn Page>,
    pub(super) permits: Rc<Permits>,
    pub(super) post: Rc<NewsPoster>,
    pub(super) seats: RefCell<BTreeMap<SeatId, Rc<RunHandle>>>,
    pub(super) plans: RefCell<BTreeMap<PlanId, Rc<PlanRunning>>>,
    pub(super) files: RefCell<BTreeMap<FilesId, Rc<WorkspaceSync>>>,
    pub(super) storage: RefCell<Option<Storage>>,
    /// Stored runs and plans that are being opened; `waiting` holds the orders about them.
    pub(super) opening: RefCell<BTreeSet<SeatId>>,
    pub(super) opening_plans: RefCell<BTreeSet<PlanId>>,
    pub(super) waiting: RefCell<Vec<(Order, Vec<JsValue>)>>,
}

/// A weak reference to a desk, which may be gone.
#[derive(Clone)]
pub(super) struct WeakDesk(Weak<RunManagerState>);

/// The stored runs, and the other tabs that read them.
#[derive(Clone)]
pub(super) struct Storage {
    pub(super) database: RunDatabase,
    pub(super) tabs: Rc<Tabs>,
}

impl RunManager {
    /// Creates a session with the user's keys, whose questions the user answers. `seat`: where the page shows it; of a plan,
    /// that of its first step.
    pub(super) fn session(&self, seat: SeatId, with: &With, mut config: RunConfig, workspace: Workspace) -> Session {
        let access = all_access(with);
        let page: Rc<dyn Page> = Rc::new(Asking::new(Rc::clone(&self.0.page), Rc::clone(&self.0.permits), seat));
        permit(&mut config);
        let worker_url = with.worker_url.clone();
        let session = Session::new(SessionOptions { config, access, workspace, worker_url, page: Some(page) });
        session.set_answers(Answers::Page);
        session
    }

    /// Returns the desk's copy of these files, which is the one that tools see.
    pub(super) fn files(&self, id: FilesId) -> Rc<WorkspaceSync> {
        let news = self.news();
        let make = || {
            WorkspaceSync::new(workspace_with_folders(), move |changes, blobs| {
                news.post(News::Wrote { files: id, changes }, blobs.into_iter().map(JsValue::from).collect());
            })
        };
        Rc::clone(self.0.files.borrow_mut().entry(id).or_insert_with(make))
    }

    pub(super) fn seat(&self, id: SeatId) -> Option<Rc<RunHandle>> {
        self.0.seats.borrow().get(&id).cloned()
    }

    /// Returns a seat, whose run goes on with the keys of this moment.
    pub(super) fn seat_with_keys(&self, id: SeatId, with: &With) -> Option<Rc<RunHandle>> {
        let seat = self.seat(id)?;
        seat.session.set_access(&all_access(with));
        Some(seat)
    }

    pub(super) fn with(&self, id: SeatId, act: impl FnOnce(&Rc<RunHandle>)) {
        if let Some(seat) = self.seat(id) {
            act(&seat);
        }
    }

    /// Returns the open seats. They are cloned, because the caller may open another one.
    pub(super) fn seats(&self) -> Vec<Rc<RunHandle>> {
        self.0.seats.borrow().values().cloned().collect()
    }

    /// Returns the plans that the desk runs or has run.
    pub(super) fn plans(&self) -> Vec<Rc<PlanRunning>> {
        self.0.plans.borrow().values().cloned().collect()
    }

    pub(super) fn plan(&self, id: PlanId) -> Option<Rc<PlanRunning>> {
        self.0.plans.borrow().get(&id).cloned()
    }

    pub(super) fn downgrade(&self) -> WeakDesk {
        WeakDesk(Rc::downgrade(&self.0))
    }

    pub(super) fn news(&self) -> NewsSender {
        NewsSender::new(&self.0.post)
    }

    pub(super) fn post(&self, news: News, parts: Vec<JsValue>) {
        (self.0.post)(news, parts);
    }

    pub(super) fn notify(&self, message: impl Into<String>, wrong: bool) {
        self.post(News::Told { message: message.into(), wrong }, Vec::new());
    }
}

impl WeakDesk {
    pub(super) fn upgrade(&self) -> Option<RunManager> {
        self.0.upgrade().map(RunManager)
    }
}

/// Sets the rules of a run that has none: tools write to its own files without asking.
pub(super) fn permit(config: &mut RunConfig) {
    let rules = || Permissions { workspace: Some(PermissionRule::Allow), ..Permissions::default() };
    config.permissions.get_or_insert_with(rules);
}

/// The same for a branch, whose files are these: the folders that are open now count, not those that a record names.
pub(super) fn permit_branch(rules: &mut Permissions, files: &Workspace) {
    rules.workspace.get_or_insert(PermissionRule::Allow);
    rules.folders = files.folders().into_iter().map(|(name, _)| name).collect();
}

/// Returns the user's keys, each for the server it was entered for, and how to reach the browser's own model.
pub(super) fn all_access(with: &With) -> Vec<Access> {
    let key = |(address, key): &(String, String)| Access {
        server: ServerAddress::parse(address).ok(),
        api_key: Some(key.clone()),
        ..Access::default()
    };
    let in_page = Access { server: ServerAddress::parse("").ok(), in_page: Some(0), ..Access::default() };
    std::iter::once(in_page).chain(with.keys.iter().map(key)).collect()
}

impl std::fmt::Debug for RunManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("seats", &self.0.seats.borrow().len()).finish_non_exhaustive()
    }
}
