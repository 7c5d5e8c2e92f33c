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

use super::super::slots::{Local, RunPage};
use super::stepped::Stepped;

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
    pub(super) from: String,
    pub(super) text: Local<JsString>,
    pub(super) opener: Local<Window>,
}

/// A run on stage; cheap to clone.
#[derive(Clone, Debug)]
pub struct StagedRun {
    pub(super) thread: u32,
    pub(super) run: String,
    pub(super) host: Local<ViewerHost>,
    pub(super) page: RunPage,
    pub(super) stepped: Local<RefCell<Stepped>>,
    pub(super) steps: RwSignal<Arc<Vec<ReplayStep>>>,
    pub(super) requests: RwSignal<usize>,
    pub(super) load: RwSignal<LoadState>,
    pub(super) bands: RwSignal<Vec<Band>>,
    /// The reader's position.
    pub(super) at: RwSignal<usize>,
    pub(super) playing: RwSignal<bool>,
    pub(super) speed: RwSignal<Speed>,
    pub(super) tab: RwSignal<ViewerTab>,
    pub(super) request: RwSignal<Option<Arc<RequestView>>>,
    pub(super) difference: RwSignal<Option<Arc<Difference>>>,
    pub(super) differing: RwSignal<bool>,
    pub(super) verdict: RwSignal<Option<Result<ReplayVerdict, String>>>,
    pub(super) verifying: RwSignal<bool>,
    pub(super) busy: Local<Rc<Cell<bool>>>,
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
    pub(super) const ALL: &'static [ViewerTab] = &[ViewerTab::Run, ViewerTab::Seen, ViewerTab::Events];

    pub fn name(self) -> &'static str {
        match self {
            ViewerTab::Run => "run",
            ViewerTab::Seen => "seen",
            ViewerTab::Events => "events",
        }
    }

    pub(super) fn label(self) -> &'static str {
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
