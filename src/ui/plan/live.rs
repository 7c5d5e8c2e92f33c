//! A plan under way on the screen: each step's run is drawn as any run; what changes in the graph is gathered and drawn
//! once a frame.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use crate::shell::{Notice, PlanNotice, PlanSession, Session};
use crate::view::plan::{ContextView, PlanPanelView, StepSource, StepView, Told};
use crate::view::{Origin, RailView, Source};

use super::super::dom;
use super::super::live::LiveRun;
use super::super::slots::{Behind, put};
use super::super::state::{App, Local, Page};
use super::state::PlanPage;

/// Draws one plan run; clones share it.
#[derive(Clone)]
pub struct LivePlan(Rc<Inner>);

struct Inner {
    app: App,
    session: PlanSession,
    page: PlanPage,
    rail: ArcRwSignal<RailView>,
    steps: RefCell<BTreeMap<u32, LiveStep>>,
    /// Steps of which something was told since the last frame.
    fresh: RefCell<BTreeSet<u32>>,
    scheduled: Cell<bool>,
}

/// A step that was started here. Its session stays readable when it has ended.
#[derive(Clone)]
struct LiveStep {
    session: Session,
    page: Page,
    run: LiveRun,
}

impl LivePlan {
    pub fn new(app: App, session: PlanSession, page: PlanPage, rail: ArcRwSignal<RailView>) -> Self {
        let (steps, fresh, scheduled) = (RefCell::default(), RefCell::default(), Cell::default());
        LivePlan(Rc::new(Inner { app, session, page, rail, steps, fresh, scheduled }))
    }

    /// Takes note of what the plan tells.
    pub fn observe(&self, notice: PlanNotice<'_>) {
        match notice {
            PlanNotice::Plan(record) => self.0.fresh.borrow_mut().extend(record.step),
            PlanNotice::Step { order, notice, .. } => {
                if let Some(step) = self.step(order) {
                    step.run.observe(notice);
                }
                if !matches!(notice, Notice::Record(_)) {
                    return;
                }
                self.0.fresh.borrow_mut().insert(order);
            }
        }
        if !self.0.scheduled.replace(true) {
            self.schedule();
        }
    }

    fn step(&self, order: u32) -> Option<LiveStep> {
        if let Some(step) = self.0.steps.borrow().get(&order) {
            return Some(step.clone());
        }
        let session = self.0.session.step(order)?;
        let (app, renderer) = (self.0.app, self.0.app.renderer.get_value());
        let (page, rail) = session.with_run(|run| {
            let source = Source::from(run?);
            let behind = Behind::Session(Local::new(session.clone()));
            Some((Page::new(0, &source, behind), RailView::from(&source)))
        })?;
        let run = LiveRun::new(app, page.clone(), ArcRwSignal::new(rail), renderer);
        let step = LiveStep { session, page, run };
        self.0.steps.borrow_mut().insert(order, step.clone());
        Some(step)
    }

    /// Frames stop in hidden tabs; the plan does not.
    fn schedule(&self) {
        let live = self.clone();
        let draw = Closure::once_into_js(move || live.draw());
        let draw = draw.unchecked_ref();
        let window = dom::window();
        let _ = if dom::document().hidden() {
            window.set_timeout_with_callback_and_timeout_and_arguments_0(draw, 250)
        } else {
            window.request_animation_frame(draw)
        };
    }

    fn draw(&self) {
        self.0.scheduled.set(false);
        let fresh = self.0.fresh.take();
        for order in fresh {
            self.draw_step(order);
        }
        let views: Vec<StepView> = self.0.page.steps.iter().map(|slot| slot.view.get_untracked()).collect();
        let panel = self.0.session.with_run(|run| {
            let told = Told {
                started_at: run.options().started_at,
                calls_left: run.calls_left(),
                ending: run.ending(),
                origin: Origin::Session,
            };
            PlanPanelView::of(&views, &told)
        });
        let rail = panel.rail(&self.0.page.head.title);
        put(&self.0.page.panel, panel);
        put(&self.0.rail, rail);
        self.0.app.tick();
    }

    fn draw_step(&self, order: u32) {
        let Some(slot) = self.0.page.slot(order) else { return };
        let (record, traces) = self.0.session.with_run(|run| (run.step_record(order), run.traces().to_vec()));
        let Some(record) = record else { return };
        let traces = traces.as_slice();
        let live = self.0.steps.borrow().get(&order).cloned();
        let plan = &self.0.page.plan;
        let draw = |source: &StepSource<'_>| {
            put(&slot.view, StepView::from(source));
            put(&slot.context, ContextView::from(source));
        };
        match &live {
            Some(step) => {
                step.session
                    .with_run(|run| draw(&StepSource { plan, record: &record, run: run.map(Source::from), traces }));
            }
            None => draw(&StepSource::recorded(plan, &record, slot.recorded.as_deref(), traces)),
        }
        let there = slot.page.with_untracked(Option::is_some);
        if let Some(step) = live.filter(|_| !there) {
            slot.page.set(Some(step.page));
        }
    }
}
