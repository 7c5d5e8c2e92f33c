//! A live run on the screen: the worker's reports are collected and drawn once per frame.
//!
//! Invariants: only turns that can have changed are updated; streamed text of a failed attempt is dropped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::*;

use turnwise_engine::Status;
use turnwise_protocol::app::StreamedText;
use turnwise_view::{Activity, PanelView, RailView, RunSource, WorkView};

use crate::browser::dom;
use crate::client::slots::{EndDrawn, RunPage, TurnSlot, put};
use crate::state::App;
use crate::text::prose::Streaming;
use crate::text::render::Renderer;
use crate::transcript::follow;

/// Draws one run; clones share it.
#[derive(Clone)]
pub struct LiveRun(Rc<LiveRunState>);

impl std::fmt::Debug for LiveRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LiveRun")
    }
}

struct LiveRunState {
    app: App,
    page: RunPage,
    rail: ArcRwSignal<RailView>,
    renderer: Renderer,
    pending: RefCell<Pending>,
    scheduled: Cell<bool>,
    /// Number of frames for which the end waited for the rest of the answer.
    waited: Cell<u32>,
}

/// The end waits no longer for the rest of the answer, in frames: its worker may be gone.
const PATIENCE: u32 = 120;

/// Changes since the last frame.
#[derive(Default)]
struct Pending {
    text: String,
    reasoning: String,
    /// An attempt began or failed: text streamed before is void.
    void: bool,
    records: bool,
}

impl LiveRun {
    pub fn new(app: App, page: RunPage, rail: ArcRwSignal<RailView>, renderer: Renderer) -> Self {
        let (pending, scheduled, waited) = (RefCell::default(), Cell::default(), Cell::default());
        LiveRun(Rc::new(LiveRunState { app, page, rail, renderer, pending, scheduled, waited }))
    }

    /// Collects a report of the worker about the run: streamed text, and whether anything else changed.
    pub fn apply(&self, streamed: &StreamedText, changed: bool) {
        {
            let mut pending = self.0.pending.borrow_mut();
            pending.records |= changed || streamed.void;
            if streamed.void {
                pending.text.clear();
                pending.reasoning.clear();
                pending.void = true;
            }
            pending.text.push_str(&streamed.text);
            pending.reasoning.push_str(&streamed.reasoning);
        }
        if !self.0.scheduled.replace(true) {
            self.schedule();
        }
    }

    /// Schedules a redraw of the run.
    pub fn renew(&self) {
        self.0.pending.borrow_mut().records = true;
        if !self.0.scheduled.replace(true) {
            self.schedule();
        }
    }

    fn schedule(&self) {
        let live = self.clone();
        dom::after_frame(move |_| live.draw());
    }

    /// Draws what is new.
    pub fn draw(&self) {
        self.0.scheduled.set(false);
        let pending = self.0.pending.take();
        let (app, page) = (self.0.app, &self.0.page);
        let is_open = app.is_open(&page.panel);
        let drawn = page.end.get_untracked();
        let mut outcome = None;
        if pending.records {
            page.behind.with(|source| {
                outcome = source.segments.last().map(|ending| ending.outcome);
                let step =
                    match source.status == Status::Ended {
                        false => EndDrawn::Nothing,
                        true if is_open && !dom::document().hidden() => {
                            if drawn == EndDrawn::Turn && self.awaits_text() { drawn } else { drawn.next() }
                        }
                        true => EndDrawn::Whole,
                    };
                self.draw_step(source, step);
                put(&page.end, step);
                if step == EndDrawn::Nothing {
                    page.unfold();
                } else if step == EndDrawn::Whole && drawn != EndDrawn::Whole {
                    page.fold(!is_open || app.reading().at_end.get_untracked());
                }
            });
        }
        if let Some(slot) = page.transcript.last() {
            self.stream(&slot, &pending);
            let calls = slot.view.with_untracked(|view| matches!(view.live, Some(Activity::Calling { .. })));
            put(&page.writes, calls && !slot.text.is_empty());
        }
        if is_open {
            if !app.reading().at_end.get_untracked() {
                app.reading().unseen.set(true);
            }
            follow::keep_up_at_once(app);
        }
        match page.end.get_untracked() {
            EndDrawn::Nothing => {}
            // Last, because a queued message begins another run.
            EndDrawn::Whole => {
                if let Some(outcome) = outcome.filter(|_| drawn != EndDrawn::Whole) {
                    page.panel.with_untracked(|panel| app.notify_end(panel, &page.head.task));
                    app.run_ended(&page.panel, outcome);
                }
            }
            _ => self.renew(),
        }
    }

    /// Returns whether the rest of the last turn's text is still being rendered: what follows it is drawn below it.
    fn awaits_text(&self) -> bool {
        let waits = self.0.page.transcript.last().is_some_and(|slot| !slot.text.is_whole());
        let waited = if waits { self.0.waited.get() + 1 } else { 0 };
        self.0.waited.set(waited);
        waits && waited < PATIENCE
    }

    /// Draws the state of the run, or a step of its end.
    fn draw_step(&self, source: &RunSource<'_>, step: EndDrawn) {
        let page = &self.0.page;
        match step {
            EndDrawn::Turn => page.transcript.refresh_turns(source, &self.0.renderer),
            EndDrawn::Ending => page.transcript.refresh(source, &self.0.renderer),
            EndDrawn::Panel => put(&page.panel, PanelView::from(source)),
            // They wait for their step (run_facts/mod.rs, answer/mod.rs).
            EndDrawn::PanelActions | EndDrawn::PanelEnding | EndDrawn::AnswerActions => {}
            EndDrawn::Nothing | EndDrawn::List | EndDrawn::Whole => {
                page.transcript.refresh(source, &self.0.renderer);
                self.refresh(source);
            }
        }
    }

    /// Shows the state of the run around its transcript.
    fn refresh(&self, source: &RunSource<'_>) {
        let page = &self.0.page;
        put(&page.panel, PanelView::from(source));
        put(&page.work, WorkView::from_source(source));
        page.log.maybe_update(|log| log.take(source));
        if page.notes.with_untracked(|notes| notes != source.notes) {
            page.notes.set(source.notes.to_vec());
        }
        // A follow-up keeps the name of its thread's first task.
        let title = self.0.rail.with_untracked(|rail| rail.title.clone());
        let rail = RailView { title, ..RailView::from(source) };
        put(&self.0.rail, rail);
        self.0.app.tick();
    }

    fn stream(&self, slot: &TurnSlot, pending: &Pending) {
        let calling = slot.view.with_untracked(|view| matches!(view.live, Some(Activity::Calling { .. })));
        if pending.void && slot.view.with_untracked(|view| view.content.is_empty() && view.live.is_some()) {
            slot.text.clear();
            slot.thoughts.clear();
            slot.text.mark(&Streaming::No);
            slot.streaming.set(false);
        }
        if !calling || (pending.text.is_empty() && pending.reasoning.is_empty()) {
            return;
        }
        slot.thoughts.append(&pending.reasoning);
        if !pending.text.is_empty() {
            slot.text.mark(&Streaming::Yes);
            slot.text.append(&pending.text);
            self.0.renderer.render_soon(&slot.text);
        }
        slot.streaming.set(true);
    }
}
