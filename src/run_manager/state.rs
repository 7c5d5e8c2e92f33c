//! The state of a run manager: its handles, plans, files and stored runs, and how to find one of them.

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
use turnwise_protocol::app::{FilesId, HandleId, News, Order, PlanId, With};

/// Handles the orders of one page; clones share the same run manager.
#[derive(Clone)]
pub struct RunManager(pub(super) Rc<RunManagerState>);

pub(super) struct RunManagerState {
    pub(super) page: Rc<dyn Page>,
    pub(super) permits: Rc<Permits>,
    pub(super) post: Rc<NewsPoster>,
    pub(super) handles: RefCell<BTreeMap<HandleId, Rc<RunHandle>>>,
    pub(super) plans: RefCell<BTreeMap<PlanId, Rc<PlanRunning>>>,
    pub(super) files: RefCell<BTreeMap<FilesId, Rc<WorkspaceSync>>>,
    pub(super) storage: RefCell<Option<Storage>>,
    /// Stored runs and plans that are being opened; `waiting` holds the orders about them.
    pub(super) opening: RefCell<BTreeSet<HandleId>>,
    pub(super) opening_plans: RefCell<BTreeSet<PlanId>>,
    pub(super) waiting: RefCell<Vec<(Order, Vec<JsValue>)>>,
}

/// A weak reference to a manager, which may be gone.
#[derive(Clone)]
pub(super) struct WeakRunManager(Weak<RunManagerState>);

/// The stored runs, and the other tabs that read them.
#[derive(Clone)]
pub(super) struct Storage {
    pub(super) database: RunDatabase,
    pub(super) tabs: Rc<Tabs>,
}

impl RunManager {
    /// Creates a session with the user's keys, whose questions the user answers. `handle`: where the page shows it; of a plan,
    /// that of its first step.
    pub(super) fn session(
        &self,
        handle: HandleId,
        with: &With,
        mut config: RunConfig,
        workspace: Workspace,
    ) -> Session {
        let access = all_access(with);
        let page: Rc<dyn Page> = Rc::new(Asking::new(Rc::clone(&self.0.page), Rc::clone(&self.0.permits), handle));
        permit(&mut config);
        let worker_url = with.worker_url.clone();
        // The Test button has one attempt, and says at once what is wrong.
        let retries = config.max_attempts > 1;
        let session = Session::new(SessionOptions { config, access, workspace, worker_url, page: Some(page) });
        session.set_answers(Answers::Page);
        session.set_page_tools(&with.page_tools);
        if retries {
            session.wait_for_network();
        }
        session
    }

    /// Returns the run manager's copy of these files, which is the one that tools see.
    pub(super) fn files(&self, id: FilesId) -> Rc<WorkspaceSync> {
        let news = self.news();
        let make = || {
            WorkspaceSync::new(workspace_with_folders(), move |changes, blobs| {
                news.post(News::Wrote { files: id, changes }, blobs.into_iter().map(JsValue::from).collect());
            })
        };
        Rc::clone(self.0.files.borrow_mut().entry(id).or_insert_with(make))
    }

    pub(super) fn handle(&self, id: HandleId) -> Option<Rc<RunHandle>> {
        self.0.handles.borrow().get(&id).cloned()
    }

    /// Returns a handle, whose run goes on with the keys of this moment.
    pub(super) fn handle_with_keys(&self, id: HandleId, with: &With) -> Option<Rc<RunHandle>> {
        let handle = self.handle(id)?;
        handle.session.set_access(&all_access(with));
        handle.session.set_page_tools(&with.page_tools);
        Some(handle)
    }

    pub(super) fn with(&self, id: HandleId, act: impl FnOnce(&Rc<RunHandle>)) {
        if let Some(handle) = self.handle(id) {
            act(&handle);
        }
    }

    /// Returns the open handles. They are cloned, because the caller may open another one.
    pub(super) fn handles(&self) -> Vec<Rc<RunHandle>> {
        self.0.handles.borrow().values().cloned().collect()
    }

    /// Returns the plans that the run manager runs or has run.
    pub(super) fn plans(&self) -> Vec<Rc<PlanRunning>> {
        self.0.plans.borrow().values().cloned().collect()
    }

    pub(super) fn plan(&self, id: PlanId) -> Option<Rc<PlanRunning>> {
        self.0.plans.borrow().get(&id).cloned()
    }

    pub(super) fn downgrade(&self) -> WeakRunManager {
        WeakRunManager(Rc::downgrade(&self.0))
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

impl WeakRunManager {
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
        f.debug_struct("RunManager").field("handles", &self.0.handles.borrow().len()).finish_non_exhaustive()
    }
}
