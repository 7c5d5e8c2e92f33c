//! The record on stage: its steps, the reader's position, and what is shown of it.
//!
//! Invariant: at most one query about a step is in flight; the position that the reader has moved to meanwhile is
//! queried next, and positions in between are skipped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::protocol::record::Ask;
use crate::view::replay::play::{Band, Speed, rest};
use crate::view::replay::{Difference, RequestView, StateAt, Step, Verdict};
use crate::worker::ViewerHost;

use super::super::state::{App, Local, Page, Thread};
use super::load::Load;
use super::stepped::Stepped;

/// A run on stage; cheap to clone.
#[derive(Clone, Debug)]
pub struct Stage {
    thread: u32,
    run: String,
    pub(super) host: Local<ViewerHost>,
    pub(super) page: Page,
    stepped: Local<RefCell<Stepped>>,
    steps: RwSignal<Arc<Vec<Step>>>,
    requests: RwSignal<usize>,
    pub(super) load: RwSignal<Load>,
    pub(super) bands: RwSignal<Vec<Band>>,
    /// The reader's position.
    pub(super) at: RwSignal<usize>,
    pub(super) playing: RwSignal<bool>,
    pub(super) speed: RwSignal<Speed>,
    pub(super) tab: RwSignal<Tab>,
    pub(super) request: RwSignal<Option<Arc<RequestView>>>,
    pub(super) difference: RwSignal<Option<Arc<Difference>>>,
    pub(super) differing: RwSignal<bool>,
    pub(super) verdict: RwSignal<Option<Result<Verdict, String>>>,
    pub(super) verifying: RwSignal<bool>,
    busy: Local<Rc<Cell<bool>>>,
}

/// The views next to the run; on narrow pages also the run itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    Run,
    #[default]
    Seen,
    Events,
}

impl Tab {
    const ALL: &'static [Tab] = &[Tab::Run, Tab::Seen, Tab::Events];

    pub fn name(self) -> &'static str {
        match self {
            Tab::Run => "run",
            Tab::Seen => "seen",
            Tab::Events => "events",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Tab::Run => "Run",
            Tab::Seen => "What the model saw",
            Tab::Events => "Events",
        }
    }
}

impl Stage {
    pub fn new(thread: &Thread, (page, stepped): (Page, Local<RefCell<Stepped>>), host: ViewerHost) -> Self {
        Stage {
            thread: thread.id,
            run: run_of(thread),
            host: Local::new(host),
            page,
            stepped,
            steps: RwSignal::default(),
            requests: RwSignal::new(0),
            load: RwSignal::new(Load::Busy("Getting the record ready".to_owned())),
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

    /// Returns whether it shows the thread's last run in its current state.
    pub fn is_of(&self, thread: &Thread) -> bool {
        self.thread == thread.id && self.run == run_of(thread)
    }

    /// Drops the large data, because signals outlive what draws them.
    pub fn clear(&self) {
        self.playing.set(false);
        self.steps.set(Arc::default());
        self.request.set(None);
        self.difference.set(None);
    }

    pub fn all(&self) -> Arc<Vec<Step>> {
        self.steps.get_untracked()
    }

    pub fn steps(&self) -> Arc<Vec<Step>> {
        self.steps.get()
    }

    pub fn request_count(&self) -> usize {
        self.requests.get_untracked()
    }

    pub fn keep(&self, steps: Vec<Step>, requests: usize) {
        self.steps.set(Arc::new(steps));
        self.requests.set(requests);
    }

    /// Goes to a step, or to the nearest one that exists.
    pub fn go(&self, app: App, to: usize) {
        // Before the steps are loaded, there is nowhere to go.
        let Some(last) = self.all().len().checked_sub(1) else { return };
        self.at.set(to.min(last));
        if !self.busy.replace(true) {
            let (stage, renderer) = (self.clone(), app.renderer.get_value());
            spawn_local(async move {
                loop {
                    let at = stage.at.get_untracked();
                    stage.show(at, &renderer).await;
                    if stage.at.get_untracked() == at {
                        break;
                    }
                }
                stage.busy.set(false);
            });
        }
    }

    /// Moves forward or back by some steps, and stops playing.
    pub fn step(&self, app: App, by: isize) {
        self.playing.set(false);
        self.go(app, self.at.get_untracked().saturating_add_signed(by));
    }

    /// Goes to the step that sent a request.
    pub fn go_to_request(&self, app: App, request: usize) {
        self.playing.set(false);
        if let Some(step) = self.all().iter().position(|step| step.request == request) {
            self.go(app, step);
        }
    }

    async fn show(&self, at: usize, renderer: &super::super::render::Renderer) {
        match self.host.ask::<StateAt>(Ask::State { step: at }).await {
            Ok(state) => {
                let from = self.stepped.borrow_mut().go(&state);
                let stepped = self.stepped.borrow();
                self.page.transcript.rewind(&stepped.source(), from, renderer);
            }
            Err(why) => self.load.set(Load::Nothing(format!("The step cannot be shown: {why}"))),
        }
        let Some(index) = self.all().get(at).map(|step| step.request) else { return };
        if self.request.with_untracked(|shown| shown.as_ref().is_none_or(|shown| shown.index != index)) {
            if let Ok(request) = self.host.ask::<RequestView>(Ask::Request { index }).await {
                self.request.set(Some(Arc::new(request)));
            }
            self.difference.set(None);
        }
        self.show_difference(index).await;
    }

    async fn show_difference(&self, index: usize) {
        let wanted = self.differing.get_untracked() && self.difference.with_untracked(Option::is_none);
        if wanted && let Ok(difference) = self.host.ask::<Difference>(Ask::Difference { index }).await {
            self.difference.set(Some(Arc::new(difference)));
        }
    }

    /// Switches between the difference and the messages.
    pub fn toggle_difference(&self) {
        self.differing.update(|on| *on = !*on);
        let (stage, index) =
            (self.clone(), self.request.with_untracked(|shown| shown.as_ref().map(|shown| shown.index)));
        if let Some(index) = index {
            spawn_local(async move { stage.show_difference(index).await });
        }
    }

    /// Plays from here, or from the beginning if this is the end; pauses if it is playing.
    pub fn play(&self, app: App) {
        if self.playing.get_untracked() {
            self.playing.set(false);
            return;
        }
        if self.at.get_untracked() + 1 >= self.all().len() {
            self.go(app, 0);
        }
        self.playing.set(true);
        self.play_on(app);
    }

    fn play_on(&self, app: App) {
        let (at, speed) = (self.at.get_untracked(), self.speed.get_untracked());
        let Some(ms) = rest(&self.all(), at, speed) else { return self.playing.set(false) };
        let stage = self.clone();
        set_timeout(
            move || {
                // Playing stops when the user looks elsewhere.
                let here = app.view.get_untracked() == super::View::Replay
                    && app.stage.with_untracked(|now| now.as_ref().is_some_and(|now| now.at == stage.at));
                if !here {
                    stage.playing.set(false);
                }
                if stage.playing.get_untracked() && stage.at.get_untracked() == at {
                    stage.go(app, at + 1);
                    stage.play_on(app);
                }
            },
            Duration::from_millis(ms),
        );
    }

    /// Runs the engine again and checks whether everything is as recorded.
    pub fn verify(&self) {
        if self.verifying.get_untracked() {
            return;
        }
        self.verifying.set(true);
        let stage = self.clone();
        spawn_local(async move {
            let verdict = stage.host.ask::<Verdict>(Ask::Verify).await;
            stage.verdict.set(Some(verdict));
            stage.verifying.set(false);
        });
    }
}

fn run_of(thread: &Thread) -> String {
    // A follow-up or granted turns make another record.
    let places = thread.pages.with_untracked(Vec::len);
    let turns = super::load::with_last(thread, |source| (source.turns.len(), source.segments.len()));
    format!("{places} {turns:?}")
}

/// Draws the choice of what is shown next to the run, or in its place.
pub fn tabs(stage: &Stage) -> impl IntoView + use<> {
    let tab = stage.tab;
    let each = Tab::ALL.iter().map(|of| {
        let of = *of;
        html::button()
            .r#type("button")
            .class("tab")
            .attr("data-of", of.name())
            .attr("aria-pressed", move || if tab.get() == of { "true" } else { "false" })
            .on(ev::click, move |_| tab.set(of))
            .child(of.words())
    });
    html::div().class("tabs").attr("role", "group").attr("aria-label", "Show").child(each.collect_view())
}
