//! The state of the page, as signals: the threads, which one is open, what the user set.
//!
//! A thread is a session: one task and its follow-ups, each a run of its own, shown one below the other. Only handles
//! are kept here; `view` determines what a run looks like.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;

use turnwise::worker::Workspace;
use turnwise_protocol::Snapshot;
use turnwise_protocol::app::HandleId;
use turnwise_record::trajectory::RunSummary;
use turnwise_view::picture::PictureView;
use turnwise_view::settings::UserSettings;
use turnwise_view::{PanelPhase, PanelView, RailView, RunSource};

use crate::browser::theme::Theme;
use crate::client::app_worker::{AppWorker, RunClient};
use crate::client::slots::{Local, RunPage};
use crate::components::toast::{self, Toast, Undo};
use crate::connect::keys::Keys;
use crate::plans::state::PlanPage;
use crate::store::Stores;
use crate::text::render::Renderer;
use crate::viewer::state::View;

/// How long good news is shown.
const SHOWN: Duration = Duration::from_secs(8);
/// How long what was deleted can be brought back.
pub const UNDOABLE: Duration = Duration::from_secs(30);

/// Every signal of the page; cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub threads: RwSignal<Vec<Thread>>,
    /// The open thread; `None`: the start page.
    pub current: RwSignal<Option<u32>>,
    pub settings: RwSignal<UserSettings>,
    pub keys: RwSignal<Keys>,
    pub theme: RwSignal<Theme>,
    pub dialog: RwSignal<Option<Dialog>>,
    pub rail_open: RwSignal<bool>,
    pub panel_open: RwSignal<bool>,
    pub toast: RwSignal<Option<Toast>>,
    /// What was deleted last, unless something was brought back since.
    pub deleted_last: StoredValue<Option<Undo>>,
    /// Updated several times a second while a run is open.
    pub now: RwSignal<u64>,
    /// Counts what was shown. What comes late is not shown in place of what the user went to in the meantime.
    pub visits: StoredValue<u32>,
    pub line: StoredValue<Option<AppWorker>, LocalStorage>,
    pub renderer: StoredValue<Renderer, LocalStorage>,
    /// The view of the open thread.
    pub view: RwSignal<View>,
    /// The name of the feature whose page is open, in place of a run (features.rs).
    pub feature: RwSignal<Option<&'static str>>,
    /// The thread that was open before it.
    pub left: StoredValue<Option<u32>>,
    /// The stores of the features (store.rs).
    pub stores: Stores,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Settings,
    Connect,
    Files,
    Log,
    Plan,
    Branch,
    Palette,
    Keys,
    #[cfg(feature = "test-tools")]
    Gallery,
}

/// One task and its follow-ups.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: u32,
    pub pages: ArcRwSignal<Vec<RunPage>>,
    pub rail: ArcRwSignal<RailView>,
    pub backing: Backing,
    /// When its run or plan began, in milliseconds since 1970; of runs that go on, the first one that is here.
    pub began_ms: u64,
    /// Set for a task whose runs are stored; of a plan, the key under which it is stored.
    pub session_id: Option<String>,
    /// The follow-up that is sent when the current run ends.
    pub queued: ArcRwSignal<Option<TaskInput>>,
}

/// The data behind a thread.
#[derive(Clone, Debug)]
pub enum Backing {
    /// Its last run, and its files.
    Live {
        handle: Local<RefCell<RunClient>>,
        workspace: Local<Workspace>,
    },
    Document(OpenRecord),
    /// A plan, and the files of its steps if it runs here.
    Plan {
        page: PlanPage,
        workspace: Option<Local<Workspace>>,
    },
}

/// A record from a file.
#[derive(Clone, Debug)]
pub struct OpenRecord {
    pub name: String,
    /// Verbatim, except for notes that were changed here.
    pub text: Arc<str>,
    pub whole: Arc<Snapshot>,
    pub summary: Arc<RunSummary>,
    /// The number of its events.
    pub events: usize,
}

/// The input of a run, as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskInput {
    pub text: String,
    pub pictures: Vec<PictureView>,
}

impl App {
    pub fn new() -> Self {
        App {
            threads: RwSignal::new(Vec::new()),
            current: RwSignal::new(None),
            settings: RwSignal::new(UserSettings::default()),
            keys: RwSignal::new(Keys::default()),
            theme: RwSignal::new(Theme::Auto),
            dialog: RwSignal::new(None),
            rail_open: RwSignal::new(false),
            panel_open: RwSignal::new(false),
            toast: RwSignal::new(None),
            deleted_last: StoredValue::new(None),
            now: RwSignal::new(crate::browser::dom::now()),
            visits: StoredValue::new(0),
            line: StoredValue::new_local(None),
            renderer: StoredValue::new_local(Renderer::new(crate::browser::dom::worker_url())),
            view: RwSignal::new(View::Transcript),
            feature: RwSignal::new(None),
            left: StoredValue::new(None),
            stores: Stores::default(),
        }
    }

    /// Returns the store of a feature. Its folder has a method with a name for it.
    pub fn store<S: Copy + Default + 'static>(&self) -> S {
        self.stores.of()
    }

    /// Returns the open thread.
    pub fn thread(&self) -> Option<Thread> {
        let id = self.current.get()?;
        self.threads.with(|threads| threads.iter().find(|thread| thread.id == id).cloned())
    }

    /// Returns the open thread without tracking it, for one-time actions.
    pub fn thread_now(&self) -> Option<Thread> {
        self.thread_with(self.current.get_untracked()?)
    }

    /// Returns an open thread, without tracking it.
    pub fn thread_with(&self, id: u32) -> Option<Thread> {
        self.threads.with_untracked(|threads| threads.iter().find(|thread| thread.id == id).cloned())
    }

    /// Returns the thread of a run; for a step of a plan, that of the plan. `None`: the run is not shown.
    pub fn thread_of(&self, handle: HandleId) -> Option<Thread> {
        self.threads.with(|threads| threads.iter().find(|thread| thread.has(handle)).cloned())
    }

    /// Returns whether the run of this panel is the open thread's last one.
    pub fn is_open(&self, panel: &ArcRwSignal<PanelView>) -> bool {
        let last =
            |thread: Thread| thread.pages.with_untracked(|pages| pages.last().is_some_and(|page| page.panel == *panel));
        self.thread_now().is_some_and(last)
    }

    /// Returns the last run of the open thread.
    pub fn page(&self) -> Option<RunPage> {
        self.thread().and_then(|thread| thread.pages.with(|pages| pages.last().cloned()))
    }

    /// Returns a short status of the open run or plan.
    pub fn open_title(&self) -> Option<String> {
        let of_plan = self.plan().map(|plan| plan.panel.with(|panel| panel.title.clone()));
        of_plan.or_else(|| self.page().map(|page| page.panel.with(|panel| panel.title.clone())))
    }

    pub fn tell(&self, text: impl Into<String>) {
        self.tell_with_undo(text, None);
    }

    pub fn tell_with_undo(&self, text: impl Into<String>, undo: Option<Undo>) {
        let after = if undo.is_some() { UNDOABLE } else { SHOWN };
        if undo.is_some() {
            self.deleted_last.set_value(undo.clone());
        }
        let toast = Toast { text: text.into(), kind: toast::ToastKind::Done, undo };
        self.toast.set(Some(toast.clone()));
        let shown = self.toast;
        // Good news disappears by itself; an error stays until it is dismissed.
        toast::after(after, move || shown.update(|now| *now = now.take().filter(|now| *now != toast)));
    }

    pub fn complain(&self, text: impl Into<String>) {
        self.toast.set(Some(Toast { text: text.into(), kind: toast::ToastKind::Wrong, undo: None }));
    }

    /// Returns the text that screen readers announce when it changes.
    pub fn announcement(&self) -> String {
        let of_plan = self.plan().map(|plan| plan.panel.with(|panel| panel.announcement.clone()));
        let of_run = || self.page().map(|page| page.panel.with(|panel| panel.announcement.clone()));
        of_plan.or_else(of_run).unwrap_or_default()
    }
}

impl Thread {
    /// When its last run began, in milliseconds since 1970.
    pub fn began(&self) -> u64 {
        let handle = self.pages.with(|pages| pages.last().and_then(RunPage::handle));
        handle.and_then(|handle| handle.start()).map_or(self.began_ms, |start| start.started_at.0)
    }

    /// The model of its last run.
    pub fn model(&self) -> Option<String> {
        self.with_last(|source| source.config.providers.first().map(|provider| provider.model.clone())).flatten()
    }

    /// Returns whether its last run is under way.
    pub fn is_running(&self) -> bool {
        let last = self.pages.with_untracked(|pages| pages.last().cloned());
        last.is_some_and(|page| page.panel.with_untracked(|panel| panel.phase != PanelPhase::Ended))
    }

    /// Returns its run at this index.
    pub fn page_at(&self, place: usize) -> Option<RunPage> {
        self.pages.with_untracked(|pages| pages.get(place).cloned())
    }

    /// Passes the source of its last run to `look`.
    pub fn with_last<T>(&self, look: impl FnOnce(&RunSource<'_>) -> T) -> Option<T> {
        let page = self.pages.with_untracked(|pages| pages.last().cloned())?;
        page.behind.with(look)
    }

    fn has(&self, handle: HandleId) -> bool {
        match &self.backing {
            Backing::Plan { page, .. } => page.steps.iter().any(|step| step.handle.id() == handle),
            Backing::Live { .. } | Backing::Document(_) => {
                self.pages.with(|pages| pages.iter().any(|page| page.handle().is_some_and(|own| own.id() == handle)))
            }
        }
    }

    /// Returns the thread's plan, if it has one.
    pub fn plan(&self) -> Option<PlanPage> {
        match &self.backing {
            Backing::Plan { page, .. } => Some(page.clone()),
            Backing::Live { .. } | Backing::Document(_) => None,
        }
    }
}
