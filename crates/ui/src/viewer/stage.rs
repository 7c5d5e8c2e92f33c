//! The record on stage: its steps, the reader's position, and what is shown of it.
//!
//! Invariant: at most one query about a step is in flight; the position that the reader has moved to meanwhile is
//! queried next, and positions in between are skipped.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::ViewerHost;
use turnwise_protocol::record::RecordQuery;
use turnwise_view::replay::play::rest;
use turnwise_view::replay::{Difference, ReplayVerdict, RequestView, StateAt};

use crate::client::slots::{Local, RunPage};
use crate::components::reactive::attribute;
use crate::state::{App, Thread};
use crate::viewer::state::{LoadState, StagedRun, View, ViewerTab};
use crate::viewer::stepped::Stepped;

impl StagedRun {
    /// Puts the thread's last run on stage, in its current state.
    pub fn for_thread(thread: &Thread, shown: (RunPage, Local<RefCell<Stepped>>), host: ViewerHost) -> Self {
        StagedRun::new(thread.id, run_of(thread), shown, host)
    }

    /// Returns whether it shows the thread's last run in its current state.
    pub fn is_of(&self, thread: &Thread) -> bool {
        self.thread == thread.id && self.run == run_of(thread)
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

    async fn show(&self, at: usize, renderer: &crate::text::render::Renderer) {
        match self.host.ask::<StateAt>(RecordQuery::State { step: at }).await {
            Ok(state) => {
                let from = self.stepped.borrow_mut().go(&state);
                let stepped = self.stepped.borrow();
                self.page.transcript.rewind(&stepped.source(), from, renderer);
                self.following.follow();
            }
            Err(why) => self.load.set(LoadState::Nothing(format!("The step cannot be shown: {why}"))),
        }
        let Some(index) = self.all().get(at).map(|step| step.request) else { return };
        if self.request.with_untracked(|shown| shown.as_ref().is_none_or(|shown| shown.index != index)) {
            if let Ok(request) = self.host.ask::<RequestView>(RecordQuery::Request { index }).await {
                self.request.set(Some(Arc::new(request)));
            }
            self.difference.set(None);
        }
        self.show_difference(index).await;
    }

    async fn show_difference(&self, index: usize) {
        let wanted = self.differing.get_untracked() && self.difference.with_untracked(Option::is_none);
        if wanted && let Ok(difference) = self.host.ask::<Difference>(RecordQuery::Difference { index }).await {
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
                let here = app.view.get_untracked() == View::Replay
                    && app.replays().stage.with_untracked(|now| now.as_ref().is_some_and(|now| now.at == stage.at));
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
            let verdict = stage.host.ask::<ReplayVerdict>(RecordQuery::Verify).await;
            stage.verdict.set(Some(verdict));
            stage.verifying.set(false);
        });
    }
}

fn run_of(thread: &Thread) -> String {
    // A follow-up or granted turns make another record.
    let places = thread.pages.with_untracked(Vec::len);
    let turns = thread.with_last(|source| (source.turns.len(), source.segments.len()));
    format!("{places} {turns:?}")
}

/// Draws the choice of what is shown next to the run, or in its place.
pub fn tabs(stage: &StagedRun) -> impl IntoView + use<> {
    let tab = stage.tab;
    let each = ViewerTab::ALL.iter().map(|of| {
        let of = *of;
        html::button()
            .r#type("button")
            .class("tab")
            .attr("data-of", of.name())
            .attr("aria-pressed", attribute(move || if tab.get() == of { "true" } else { "false" }))
            .on(ev::click, move |_| tab.set(of))
            .child(of.label())
    });
    html::div().class("tabs").attr("role", "group").attr("aria-label", "Show").child(each.collect_view())
}
