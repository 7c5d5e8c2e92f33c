//! The state of the page, as signals: the threads, which one is open, what the user set.
//!
//! A thread is a session: one task and its follow-ups, each a run of its own, shown one below the other. Only handles
//! are kept here; `view` determines what a run looks like.

use std::cell::RefCell;
use std::sync::Arc;

use leptos::prelude::*;
use send_wrapper::SendWrapper;

use crate::protocol::Snapshot;
use crate::protocol::desk::Header;
use crate::signin::SignIn;
use crate::trajectory::Summary;
use crate::view::branch::BranchDraft;
use crate::view::log::Log;
use crate::view::plan::edit::PlanDraft;
use crate::view::settings::Settings;
use crate::view::{HeadView, PanelView, RailView, Source};
use crate::worker::{ViewerHost, Workspace};

use super::actions::Asked;
use super::branch::BranchOf;
use super::desk::{Line, Seat};
use super::keys::Keys;
use super::library::Library;
use super::pictures::Picture;
use super::plan::state::PlanPage;
use super::render::Renderer;
use super::samples::Samples;
use super::slots::{Behind, Transcript, Whose};
use super::theme::Theme;
use super::toast::Toast;
use super::viewer::{HandedOver, Stage, View};

/// Every signal of the page; cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub threads: RwSignal<Vec<Thread>>,
    /// The open thread; `None`: the start page.
    pub current: RwSignal<Option<u32>>,
    pub settings: RwSignal<Settings>,
    pub keys: RwSignal<Keys>,
    pub theme: RwSignal<Theme>,
    pub dialog: RwSignal<Option<Dialog>>,
    pub rail_open: RwSignal<bool>,
    pub panel_open: RwSignal<bool>,
    pub draft: RwSignal<String>,
    /// Pictures for the task that is being written.
    pub pictures: RwSignal<Vec<Picture>>,
    pub signin: RwSignal<SignIn>,
    /// The plan that is being written.
    pub plan_draft: RwSignal<PlanDraft>,
    /// The branch that is being set up, and the run it comes from.
    pub branching: RwSignal<Option<BranchDraft>>,
    pub branch_of: StoredValue<Option<BranchOf>, LocalStorage>,
    /// The reader is at the end of the transcript.
    pub at_end: RwSignal<bool>,
    /// The open run grew while the reader was elsewhere in it.
    pub unseen: RwSignal<bool>,
    pub toast: RwSignal<Option<Toast>>,
    /// A record that a page of another origin wants to open here.
    pub handed: RwSignal<Option<HandedOver>>,
    /// Updated several times a second while a run is open.
    pub now: RwSignal<u64>,
    /// The file shown in the files drawer.
    pub shown_file: RwSignal<Option<String>>,
    /// Incremented with every change of any workspace.
    pub files_version: RwSignal<u64>,
    /// The stored runs, oldest first.
    pub stored: RwSignal<Vec<Header>>,
    /// The search text of the list of runs.
    pub search: RwSignal<String>,
    /// Tasks that are being opened, so that a second click does not open one twice.
    pub opening: StoredValue<Vec<String>>,
    pub line: StoredValue<Option<Line>, LocalStorage>,
    pub library: StoredValue<Library, LocalStorage>,
    pub samples: StoredValue<Samples, LocalStorage>,
    pub renderer: StoredValue<Renderer, LocalStorage>,
    /// The view of the open thread.
    pub view: RwSignal<View>,
    /// The record that is being stepped through.
    pub stage: RwSignal<Option<Stage>>,
    /// A worker that already has the record of a thread open, for its replay.
    pub opened: StoredValue<Option<(u32, ViewerHost)>, LocalStorage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Settings,
    Files,
    Log,
    Plan,
    Branch,
    Insight,
}

/// One task and its follow-ups.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: u32,
    pub pages: ArcRwSignal<Vec<Page>>,
    pub rail: ArcRwSignal<RailView>,
    pub backing: Backing,
    /// Set for a task whose runs are stored.
    pub session_id: Option<String>,
    /// The follow-up that is sent when the current run ends.
    pub queued: ArcRwSignal<Option<Asked>>,
}

/// The data behind a thread.
#[derive(Clone, Debug)]
pub enum Backing {
    /// Its last run, and its files.
    Live {
        seat: Local<RefCell<Seat>>,
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
    /// Verbatim.
    pub text: Arc<str>,
    pub whole: Arc<Snapshot>,
    pub summary: Arc<Summary>,
    /// The number of its events.
    pub events: usize,
}

/// A value of the page's single thread, in a shared handle that is not disposed of while it is held.
#[derive(Debug)]
pub struct Local<T>(Arc<SendWrapper<T>>);

/// One run on the screen.
#[derive(Clone, Debug)]
pub struct Page {
    pub place: usize,
    pub head: HeadView,
    pub behind: Behind,
    pub transcript: Transcript,
    pub panel: ArcRwSignal<PanelView>,
    pub log: ArcRwSignal<Log>,
}

impl<T> Local<T> {
    pub fn new(value: T) -> Self {
        Local(Arc::new(SendWrapper::new(value)))
    }
}

impl<T> Clone for Local<T> {
    fn clone(&self) -> Self {
        Local(Arc::clone(&self.0))
    }
}

impl<T> std::ops::Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl App {
    pub fn new() -> Self {
        App {
            threads: RwSignal::new(Vec::new()),
            current: RwSignal::new(None),
            settings: RwSignal::new(Settings::default()),
            keys: RwSignal::new(Keys::default()),
            theme: RwSignal::new(Theme::Auto),
            dialog: RwSignal::new(None),
            rail_open: RwSignal::new(false),
            panel_open: RwSignal::new(false),
            draft: RwSignal::new(String::new()),
            pictures: RwSignal::new(Vec::new()),
            signin: RwSignal::new(SignIn::Idle),
            plan_draft: RwSignal::new(PlanDraft::blank()),
            branching: RwSignal::new(None),
            branch_of: StoredValue::new_local(None),
            at_end: RwSignal::new(true),
            unseen: RwSignal::new(false),
            handed: RwSignal::new(None),
            toast: RwSignal::new(None),
            now: RwSignal::new(super::dom::now()),
            shown_file: RwSignal::new(None),
            files_version: RwSignal::new(0),
            stored: RwSignal::new(Vec::new()),
            search: RwSignal::new(String::new()),
            opening: StoredValue::new(Vec::new()),
            line: StoredValue::new_local(None),
            library: StoredValue::new_local(Library::default()),
            samples: StoredValue::new_local(Samples::default()),
            renderer: StoredValue::new_local(Renderer::new(super::dom::worker_url())),
            view: RwSignal::new(View::Transcript),
            stage: RwSignal::new(None),
            opened: StoredValue::new_local(None),
        }
    }

    /// Returns the open thread.
    pub fn thread(&self) -> Option<Thread> {
        let id = self.current.get()?;
        self.threads.with(|threads| threads.iter().find(|thread| thread.id == id).cloned())
    }

    /// Returns the open thread without tracking it, for one-time actions.
    pub fn thread_now(&self) -> Option<Thread> {
        let id = self.current.get_untracked()?;
        self.threads.with_untracked(|threads| threads.iter().find(|thread| thread.id == id).cloned())
    }

    /// Returns whether the run of this panel is the open thread's last one.
    pub fn is_open(&self, panel: &ArcRwSignal<PanelView>) -> bool {
        let last =
            |thread: Thread| thread.pages.with_untracked(|pages| pages.last().is_some_and(|page| page.panel == *panel));
        self.thread_now().is_some_and(last)
    }

    /// Returns the last run of the open thread.
    pub fn page(&self) -> Option<Page> {
        self.thread().and_then(|thread| thread.pages.with(|pages| pages.last().cloned()))
    }

    /// Returns a short status of the open run or plan.
    pub fn open_title(&self) -> Option<String> {
        let of_plan = self.plan().map(|plan| plan.panel.with(|panel| panel.title.clone()));
        of_plan.or_else(|| self.page().map(|page| page.panel.with(|panel| panel.title.clone())))
    }

    /// Returns the text that screen readers announce when it changes.
    pub fn announcement(&self) -> String {
        let of_plan = self.plan().map(|plan| plan.panel.with(|panel| panel.announcement.clone()));
        let of_run = || self.page().map(|page| page.panel.with(|panel| panel.announcement.clone()));
        of_plan.or_else(of_run).unwrap_or_default()
    }
}

impl Thread {
    /// Returns the thread's plan, if it has one.
    pub fn plan(&self) -> Option<PlanPage> {
        match &self.backing {
            Backing::Plan { page, .. } => Some(page.clone()),
            Backing::Live { .. } | Backing::Document(_) => None,
        }
    }
}

impl Page {
    /// Makes a page of the run in a seat; `None`: nothing was reported of it yet.
    pub fn of(seat: &Seat, place: usize) -> Option<Self> {
        seat.look(|source| Page::new(place, source, Behind::Seat(Local::new(seat.clone()))))
    }

    /// Returns the seat of its run; `None`: the desk does not drive this run.
    pub fn seat(&self) -> Option<Seat> {
        match &self.behind {
            Behind::Seat(seat) => Some(Seat::clone(seat)),
            Behind::Document(_) | Behind::Stepped(_) => None,
        }
    }

    /// Makes a page of a run in its current state.
    pub fn new(place: usize, source: &Source<'_>, behind: Behind) -> Self {
        let mut log = Log::default();
        log.take(source);
        Page {
            place,
            head: HeadView::from(source),
            behind,
            transcript: Transcript::new(source, Whose::Run),
            panel: ArcRwSignal::new(PanelView::from(source)),
            log: ArcRwSignal::new(log),
        }
    }
}
