//! A plan on the screen as the worker reports it: each step's run is drawn like any run; changes in the graph are drawn
//! as they arrive, at most once per frame.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use leptos::prelude::*;

use turnwise_protocol::app::{Begun, HandleId, RunLocation, StreamedText};
use turnwise_view::RailView;

use crate::client::app_worker::{AppWorker, PlanChanges, PlanReport};
use crate::client::live::LiveRun;
use crate::client::slots::{RunPage, put};
use crate::plans::state::{PlanPage, RecordPlace, StepSlot};
use crate::state::App;

/// Called with a page and its entry in the list when the plan has begun.
type Begins = dyn Fn(&PlanPage, &ArcRwSignal<RailView>);

/// Draws one plan; clones share it.
#[derive(Clone)]
pub struct LivePlan(Rc<LivePlanState>);

struct LivePlanState {
    app: App,
    line: AppWorker,
    /// The handle of the first step's run; the others follow.
    handles: HandleId,
    record: RecordPlace,
    /// Called when the plan has begun.
    then: Box<Begins>,
    shown: OnceCell<(PlanPage, ArcRwSignal<RailView>)>,
    runs: RefCell<BTreeMap<u32, LiveRun>>,
}

impl LivePlan {
    pub fn new(
        app: App,
        line: AppWorker,
        handles: HandleId,
        record: RecordPlace,
        then: impl Fn(&PlanPage, &ArcRwSignal<RailView>) + 'static,
    ) -> Self {
        let (shown, runs) = (OnceCell::new(), RefCell::default());
        LivePlan(Rc::new(LivePlanState { app, line, handles, record, then: Box::new(then), shown, runs }))
    }

    /// Takes in a report of the worker.
    pub fn apply(&self, report: PlanReport) {
        match report {
            PlanReport::Begun(begun, changes) => self.begin(*begun, changes),
            PlanReport::Changed(changes) => self.change(changes),
            PlanReport::Lost => self.lose(),
        }
    }

    fn change(&self, changes: PlanChanges) {
        if let Some((page, _)) = self.0.shown.get() {
            page.take(changes).into_iter().for_each(|order| page.draw_step(order));
            self.draw_panel();
        }
    }

    fn begin(&self, begun: Begun, fresh: PlanChanges) {
        // It was opened again.
        if self.0.shown.get().is_some() {
            return self.change(fresh);
        }
        let LivePlanState { app, line, handles, record, then, .. } = self.0.as_ref();
        let page = PlanPage::new(line, begun, *handles, fresh, record.clone());
        for slot in page.steps.iter() {
            let (live, step) = (self.clone(), slot.clone());
            slot.handle.observe(move |streamed, changed| {
                live.draw_run(&step, streamed, changed);
            });
        }
        let rail = ArcRwSignal::new(page.panel.with_untracked(|panel| panel.rail(&page.head.title)));
        let _ = self.0.shown.set((page.clone(), rail.clone()));
        then(&page, &rail);
        app.tick();
    }

    /// Draws a report about a step's run.
    fn draw_run(&self, slot: &StepSlot, streamed: &StreamedText, changed: bool) {
        if slot.handle.location() == RunLocation::Recorded {
            self.redraw(slot.order);
            return;
        }
        let known = self.0.runs.borrow().get(&slot.order).cloned();
        let run = known.or_else(|| {
            let page = RunPage::from_handle(&slot.handle, 0)?;
            let rail = ArcRwSignal::new(slot.handle.look(|source| RailView::from(source))?);
            let run = LiveRun::new(self.0.app, page.clone(), rail, self.0.app.renderer.get_value());
            self.0.runs.borrow_mut().insert(slot.order, run.clone());
            slot.page.set(Some(page));
            Some(run)
        });
        if let Some(run) = run {
            run.apply(streamed, changed);
        }
    }

    fn redraw(&self, order: u32) {
        if let Some((page, _)) = self.0.shown.get() {
            page.draw_step(order);
            self.draw_panel();
        }
    }

    fn draw_panel(&self) {
        let Some((page, rail)) = self.0.shown.get() else { return };
        page.draw_panel();
        let title = rail.with_untracked(|rail| rail.title.clone());
        put(rail, page.panel.with_untracked(|panel| panel.rail(&title)));
        self.0.app.tick();
    }

    /// Handles the loss of the worker that ran the plan. What was reported of it stays.
    fn lose(&self) {
        let Some((page, _)) = self.0.shown.get() else { return };
        if matches!(page.record, RecordPlace::Live(_)) {
            page.lose();
            page.steps.iter().for_each(|slot| page.draw_step(slot.order));
            self.draw_panel();
        }
    }
}
