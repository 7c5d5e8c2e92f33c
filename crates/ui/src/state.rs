//! The state of the page, as signals: the threads, which one is open, what the user set.
//!
//! A thread is a session: one task and its follow-ups, each a run of its own, shown one below the other. Only handles
//! are kept here; `view` determines what a run looks like.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::Blob;

use turnwise::worker::workspace::Subscription;
use turnwise::worker::{ViewerHost, Workspace};
use turnwise_protocol::Snapshot;
use turnwise_protocol::app::{HandleId, Header};
use turnwise_record::trajectory::RunSummary;
use turnwise_view::branch::BranchDraft;
use turnwise_view::ending::Tone;
use turnwise_view::permit::PermitView;
use turnwise_view::picture::PictureView;
use turnwise_view::plan::edit::PlanDraft;
use turnwise_view::search::TaskHit;
use turnwise_view::settings::UserSettings;
use turnwise_view::signin::SignIn;
use turnwise_view::skills::KeptSkill;
use turnwise_view::{PanelPhase, PanelView, RailView, RunSource};

use crate::browser::theme::Theme;
use crate::client::app_worker::{AppWorker, RunClient};
use crate::client::slots::{Local, RunPage};
use crate::components::toast::{self, Toast, Undo};
use crate::composer::models_used::{self, UsedModel};
use crate::connect::keys::Keys;
use crate::plans::state::PlanPage;
use crate::skills::skill_page::SkillPage;
use crate::text::render::Renderer;
use crate::viewer::state::{HandedOver, StagedRun, View};

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
    /// The models that runs have used, the last one first.
    pub models_used: RwSignal<Vec<UsedModel>>,
    /// A run was refused because of the settings, which are open now.
    pub refused: RwSignal<bool>,
    pub keys: RwSignal<Keys>,
    pub theme: RwSignal<Theme>,
    pub dialog: RwSignal<Option<Dialog>>,
    pub rail_open: RwSignal<bool>,
    pub panel_open: RwSignal<bool>,
    pub draft: RwSignal<String>,
    /// What is in the task boxes of other threads.
    pub drafts: StoredValue<Drafts, LocalStorage>,
    pub editing: RwSignal<Option<Editing>>,
    /// Pictures for the task that is being written.
    pub pictures: RwSignal<Vec<TaskPicture>>,
    pub signin: RwSignal<SignIn>,
    /// The plan that is being written.
    pub plan_draft: RwSignal<PlanDraft>,
    /// The branch that is being set up, and the run it comes from.
    pub branching: RwSignal<Option<BranchDraft>>,
    pub branch_of: StoredValue<Option<BranchOf>, LocalStorage>,
    /// The reader is at the end of the transcript.
    pub at_end: RwSignal<bool>,
    /// The transcript goes on below what is in sight.
    pub below: RwSignal<bool>,
    /// The open run grew while the reader was elsewhere in it.
    pub unseen: RwSignal<bool>,
    /// The open questions of tool calls, oldest first.
    pub permits: RwSignal<Vec<PermitView>>,
    pub toast: RwSignal<Option<Toast>>,
    /// What was deleted last, unless something was brought back since.
    pub deleted_last: StoredValue<Option<Undo>>,
    /// A record that a page of another origin wants to open here.
    pub handed: RwSignal<Option<HandedOver>>,
    /// Updated several times a second while a run is open.
    pub now: RwSignal<u64>,
    /// The file shown in the files drawer.
    pub shown_file: RwSignal<Option<String>>,
    /// The place in it, such as `page 7`; empty: its beginning.
    pub shown_place: RwSignal<String>,
    /// Incremented with every change of any workspace.
    pub files_version: RwSignal<u64>,
    /// The stored runs, oldest first.
    pub stored: RwSignal<Vec<Header>>,
    /// Tasks that are deleted as soon as this can no longer be undone: their sessions, and when that began.
    pub deleted: RwSignal<Vec<(String, u64)>>,
    /// The list of stored runs has arrived.
    pub listed: RwSignal<bool>,
    /// The search text of the list of runs.
    pub search: RwSignal<String>,
    /// The stored runs whose answers or calls contain the search text.
    pub found: RwSignal<Vec<TaskHit>>,
    /// The endings and the model to which the list is limited.
    pub only_tone: RwSignal<Option<Tone>>,
    pub only_model: RwSignal<String>,
    /// Tasks that are being opened, so that a second click does not open one twice.
    pub opening: StoredValue<Vec<String>>,
    /// Counts what was shown. What comes late is not shown in place of what the user went to in the meantime.
    pub visits: StoredValue<u32>,
    /// What was selected in the transcript when the palette was opened.
    pub selected: StoredValue<Option<String>>,
    pub line: StoredValue<Option<AppWorker>, LocalStorage>,
    pub library: StoredValue<Library, LocalStorage>,
    /// The skills of the user, by name.
    pub skills: RwSignal<Vec<Arc<KeptSkill>>>,
    pub skill_page: SkillPage,
    pub samples: StoredValue<Samples, LocalStorage>,
    pub renderer: StoredValue<Renderer, LocalStorage>,
    /// The view of the open thread.
    pub view: RwSignal<View>,
    /// The record that is being stepped through.
    pub stage: RwSignal<Option<StagedRun>>,
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
    Palette,
    Keys,
}

/// One task and its follow-ups.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: u32,
    pub pages: ArcRwSignal<Vec<RunPage>>,
    pub rail: ArcRwSignal<RailView>,
    pub backing: Backing,
    /// When it was opened, in milliseconds since 1970.
    pub opened_ms: u64,
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

/// The prompt that is being edited: a run of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Editing {
    pub thread: u32,
    pub place: usize,
    /// What was in the task box before.
    pub aside: (String, Vec<PictureView>),
}

/// A removed file, as it was in the open thread, among the user's own files and among the samples.
#[derive(Clone, Debug)]
pub struct Removed {
    pub path: String,
    pub own: Option<Blob>,
    pub sample: Option<Blob>,
    pub from: Option<(Workspace, Blob)>,
}

/// The input of a run, as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskInput {
    pub text: String,
    pub pictures: Vec<PictureView>,
}

/// The content of the task boxes that are not shown.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The session of the task box that is shown; empty on the start page.
    pub key: String,
    pub others: BTreeMap<String, TaskInput>,
    /// Stores the text once typing has rested.
    pub later: Option<TimeoutHandle>,
}

/// One picture in the task box.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPicture {
    pub id: u32,
    pub view: PictureView,
}

/// The run that is branched.
#[derive(Clone, Debug)]
pub enum BranchOf {
    Handle(RunClient),
    Record(OpenRecord),
}

/// The files that the user added, by path, as handles.
#[derive(Debug, Default)]
pub struct Library {
    pub files: BTreeMap<String, Blob>,
    /// The sample files that the user has not removed. A file of the user's with the same path hides one.
    pub samples: BTreeMap<String, Blob>,
    /// Documents that came with an example, only for its thread.
    pub lent: BTreeMap<String, Blob>,
    /// Folders on the user's disk by name, as handles. Their files are among `files`, below the name.
    pub folders: BTreeMap<String, JsValue>,
    pub subscriptions: Vec<Subscription>,
    /// The last file that was removed, for Undo.
    pub removed: Option<Removed>,
    /// The files that were removed all at once, for Undo.
    pub removed_own: Vec<(String, Blob)>,
    /// The paths whose change has to be stored.
    pub unkept: BTreeSet<String>,
    /// Changes are being stored.
    pub keeping: bool,
}

/// Whether the sample files are loaded, and those that the user added on an earlier visit. A run that is started earlier waits
/// for them; otherwise it would not find them.
#[derive(Default)]
pub struct Samples {
    pub ready: bool,
    pub kept_ready: bool,
    pub waiting: Vec<Box<dyn FnOnce()>>,
}

impl std::fmt::Debug for Samples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Samples {{ ready: {}, waiting: {} }}", self.ready, self.waiting.len())
    }
}

impl App {
    pub fn new() -> Self {
        App {
            threads: RwSignal::new(Vec::new()),
            current: RwSignal::new(None),
            settings: RwSignal::new(UserSettings::default()),
            models_used: RwSignal::new(models_used::load()),
            refused: RwSignal::new(false),
            keys: RwSignal::new(Keys::default()),
            theme: RwSignal::new(Theme::Auto),
            dialog: RwSignal::new(None),
            rail_open: RwSignal::new(false),
            panel_open: RwSignal::new(false),
            draft: RwSignal::new(String::new()),
            drafts: StoredValue::new_local(Drafts::default()),
            editing: RwSignal::new(None),
            pictures: RwSignal::new(Vec::new()),
            signin: RwSignal::new(SignIn::Idle),
            plan_draft: RwSignal::new(PlanDraft::blank()),
            branching: RwSignal::new(None),
            branch_of: StoredValue::new_local(None),
            at_end: RwSignal::new(true),
            below: RwSignal::new(false),
            unseen: RwSignal::new(false),
            handed: RwSignal::new(None),
            permits: RwSignal::new(Vec::new()),
            toast: RwSignal::new(None),
            deleted_last: StoredValue::new(None),
            now: RwSignal::new(crate::browser::dom::now()),
            shown_file: RwSignal::new(None),
            shown_place: RwSignal::new(String::new()),
            files_version: RwSignal::new(0),
            stored: RwSignal::new(Vec::new()),
            deleted: RwSignal::new(Vec::new()),
            listed: RwSignal::new(false),
            search: RwSignal::new(String::new()),
            found: RwSignal::new(Vec::new()),
            only_tone: RwSignal::new(None),
            only_model: RwSignal::new(String::new()),
            opening: StoredValue::new(Vec::new()),
            visits: StoredValue::new(0),
            selected: StoredValue::new(None),
            line: StoredValue::new_local(None),
            library: StoredValue::new_local(Library::default()),
            skills: RwSignal::new(Vec::new()),
            skill_page: SkillPage::default(),
            samples: StoredValue::new_local(Samples::default()),
            renderer: StoredValue::new_local(Renderer::new(crate::browser::dom::worker_url())),
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
    /// When its last run began here, in milliseconds since 1970; a record or a plan: when it was opened.
    pub fn began(&self) -> u64 {
        let handle = self.pages.with(|pages| pages.last().and_then(RunPage::handle));
        handle.and_then(|handle| handle.start()).map_or(self.opened_ms, |start| start.started_at.0)
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
