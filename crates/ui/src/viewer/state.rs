//! What the viewer shows, as signals: the view of the open thread, and the record on stage.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use js_sys::JsString;
use leptos::prelude::*;
use web_sys::Window;

use turnwise::worker::ViewerHost;
use turnwise_view::replay::play::{Band, Speed};
use turnwise_view::replay::{Difference, ReplayStep, ReplayVerdict, RequestView};

use crate::client::slots::{Local, RunPage};
use crate::viewer::follow::Following;
use crate::viewer::stepped::Stepped;

/// The view of the open thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    #[default]
    Transcript,
    Replay,
    Compare(Compared),
}

/// Two runs side by side: that at the index `own` of the open thread, and that at the index `place` of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    pub own: usize,
    pub other: u32,
    pub place: usize,
}

impl View {
    pub fn name(self) -> &'static str {
        match self {
            View::Transcript => "transcript",
            View::Replay => "replay",
            View::Compare(_) => "compare",
        }
    }
}

/// The progress of loading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadState {
    Busy(String),
    Ready,
    /// There is nothing to step through, for this reason.
    Nothing(String),
}

/// A record that awaits the user's answer.
#[derive(Clone, Debug)]
pub struct HandedOver {
    /// The opener's origin, as the browser reports it.
    pub from: String,
    pub text: Local<JsString>,
    pub opener: Local<Window>,
}

/// A run on stage; cheap to clone.
#[derive(Clone, Debug)]
pub struct StagedRun {
    pub thread: u32,
    pub run: String,
    pub host: Local<ViewerHost>,
    pub page: RunPage,
    pub stepped: Local<RefCell<Stepped>>,
    pub steps: RwSignal<Arc<Vec<ReplayStep>>>,
    pub requests: RwSignal<usize>,
    pub load: RwSignal<LoadState>,
    pub bands: RwSignal<Vec<Band>>,
    /// The reader's position.
    pub at: RwSignal<usize>,
    pub playing: RwSignal<bool>,
    pub speed: RwSignal<Speed>,
    pub tab: RwSignal<ViewerTab>,
    pub request: RwSignal<Option<Arc<RequestView>>>,
    pub difference: RwSignal<Option<Arc<Difference>>>,
    pub differing: RwSignal<bool>,
    pub verdict: RwSignal<Option<Result<ReplayVerdict, String>>>,
    pub verifying: RwSignal<bool>,
    pub busy: Local<Rc<Cell<bool>>>,
    pub following: Local<Rc<Following>>,
}

/// The views next to the run; on narrow pages also the run itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewerTab {
    Run,
    #[default]
    Seen,
    Events,
}

impl ViewerTab {
    pub const ALL: &'static [ViewerTab] = &[ViewerTab::Run, ViewerTab::Seen, ViewerTab::Events];

    pub fn name(self) -> &'static str {
        match self {
            ViewerTab::Run => "run",
            ViewerTab::Seen => "seen",
            ViewerTab::Events => "events",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            ViewerTab::Run => "Run",
            ViewerTab::Seen => "What the model saw",
            ViewerTab::Events => "Events",
        }
    }
}

impl StagedRun {
    pub fn new(
        thread: u32,
        run: String,
        (page, stepped): (RunPage, Local<RefCell<Stepped>>),
        host: ViewerHost,
    ) -> Self {
        StagedRun {
            thread,
            run,
            host: Local::new(host),
            page,
            stepped,
            steps: RwSignal::default(),
            requests: RwSignal::new(0),
            load: RwSignal::new(LoadState::Busy("Getting the record ready".to_owned())),
            bands: RwSignal::default(),
            at: RwSignal::new(0),
            playing: RwSignal::new(false),
            speed: RwSignal::default(),
            tab: RwSignal::default(),
            request: RwSignal::new(None),
            difference: RwSignal::new(None),
            differing: RwSignal::new(false),
            verdict: RwSignal::new(None),
            verifying: RwSignal::new(false),
            busy: Local::new(Rc::default()),
            following: Local::new(Rc::default()),
        }
    }

    /// Drops the large data, because signals outlive what draws them.
    pub fn clear(&self) {
        self.playing.set(false);
        self.steps.set(Arc::default());
        self.request.set(None);
        self.difference.set(None);
    }

    pub fn all(&self) -> Arc<Vec<ReplayStep>> {
        self.steps.get_untracked()
    }

    pub fn steps(&self) -> Arc<Vec<ReplayStep>> {
        self.steps.get()
    }

    pub fn request_count(&self) -> usize {
        self.requests.get_untracked()
    }

    pub fn keep(&self, steps: Vec<ReplayStep>, requests: usize) {
        self.steps.set(Arc::new(steps));
        self.requests.set(requests);
    }
}
