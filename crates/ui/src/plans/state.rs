//! A plan on the screen, as signals: one slot per step, and the worker's reports about it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;

use turnwise_engine::EpochMillis;
use turnwise_protocol::app::{Begun, HandleId, PlanId, RunLocation};
use turnwise_record::plan::{Plan, PlanEnding, PlanTraceRecord, StepRecord};
use turnwise_view::SourceOrigin;
use turnwise_view::plan::{ContextView, Graph, PlanHead, PlanPanelView, PlanProgress, StepSource, StepView};

use crate::client::app_worker::{AppWorker, PlanChanges, RunClient};
use crate::client::slots::{Local, RunPage, put};

/// One plan run; cheap to clone.
#[derive(Clone, Debug)]
pub struct PlanPage {
    pub plan: Arc<Plan>,
    pub head: PlanHead,
    pub wide: Arc<Graph>,
    pub narrow: Arc<Graph>,
    pub steps: Arc<[StepSlot]>,
    pub panel: ArcRwSignal<PlanPanelView>,
    /// The step whose detail is shown.
    pub selected: ArcRwSignal<Option<u32>>,
    pub record: RecordPlace,
    /// The key under which it is stored.
    pub key: Option<String>,
    pub started_at: u64,
    known: Local<RefCell<PlanReports>>,
}

/// The location of the record.
#[derive(Clone, Debug)]
pub enum RecordPlace {
    /// The worker runs the plan, or has run it.
    Live(PlanId),
    /// In a file, kept verbatim.
    Document { name: String, text: Arc<str> },
}

/// One step on the screen.
#[derive(Clone, Debug)]
pub struct StepSlot {
    pub order: u32,
    pub view: ArcRwSignal<StepView>,
    pub context: ArcRwSignal<ContextView>,
    /// Its run, once it has one.
    pub handle: Local<RunClient>,
    /// Its transcript; created when the step runs or is selected.
    pub page: ArcRwSignal<Option<RunPage>>,
}

/// The worker's reports about the plan.
#[derive(Debug, Default)]
struct PlanReports {
    records: BTreeMap<u32, StepRecord>,
    traces: Vec<PlanTraceRecord>,
    calls_left: u32,
    ending: Option<PlanEnding>,
    location: RunLocation,
    /// The worker that ran it is gone.
    lost: bool,
}

impl PlanPage {
    /// Creates the page of a plan that has begun. `handles`: the handle of its first step's run; the others follow.
    pub fn new(line: &AppWorker, begun: Begun, handles: HandleId, fresh: PlanChanges, record: RecordPlace) -> Self {
        let Begun { key, plan, started_at } = begun;
        let EpochMillis(started_ms) = started_at;
        let PlanChanges { location, steps, traces, calls_left, ending } = fresh;
        let origin = origin(&record, location);
        let slots = plan.steps.iter().zip(handles.0..).filter_map(|(step, handle)| {
            let record = steps.iter().find(|record| record.order == step.order)?;
            let source = StepSource { plan: &plan, record, run: None, traces: &traces, origin };
            Some(StepSlot {
                order: step.order,
                view: ArcRwSignal::new(StepView::from(&source)),
                context: ArcRwSignal::new(ContextView::from(&source)),
                handle: Local::new(line.handle_of(HandleId(handle))),
                page: ArcRwSignal::new(None),
            })
        });
        let slots: Arc<[StepSlot]> = slots.collect();
        let views: Vec<StepView> = slots.iter().map(|slot| slot.view.get_untracked()).collect();
        let records = steps.into_iter().map(|record| (record.order, record)).collect();
        let known = PlanReports { records, traces, calls_left, ending, location, lost: false };
        let panel = PlanPanelView::new(&views, &known.progress(started_at, &record));
        PlanPage {
            head: PlanHead::from_plan(&plan),
            wide: Arc::new(Graph::wide(&plan)),
            narrow: Arc::new(Graph::narrow(&plan)),
            plan: Arc::new(plan),
            panel: ArcRwSignal::new(panel),
            selected: ArcRwSignal::new(None),
            steps: slots,
            record,
            key,
            started_at: started_ms,
            known: Local::new(RefCell::new(known)),
        }
    }

    pub fn slot(&self, order: u32) -> Option<&StepSlot> {
        self.steps.iter().find(|slot| slot.order == order)
    }

    /// Takes in the changes; returns the steps that changed.
    pub fn take(&self, fresh: PlanChanges) -> Vec<u32> {
        let mut known = self.known.borrow_mut();
        let orders = fresh.steps.iter().map(|record| record.order).collect();
        known.records.extend(fresh.steps.into_iter().map(|record| (record.order, record)));
        known.traces.extend(fresh.traces);
        known.calls_left = fresh.calls_left;
        known.ending = fresh.ending;
        known.location = fresh.location;
        orders
    }

    /// Records that the worker that ran the plan is gone.
    pub fn lose(&self) {
        let mut known = self.known.borrow_mut();
        known.lost = true;
        if known.ending.is_none() {
            known.location = RunLocation::Interrupted;
        }
    }

    /// Prepares for the worker to open the plan again, if it was lost with an earlier worker; returns the handle of its first step.
    pub fn reopen(&self) -> Option<HandleId> {
        let mut known = self.known.borrow_mut();
        if !std::mem::take(&mut known.lost) {
            return None;
        }
        known.traces.clear();
        self.steps.iter().for_each(|slot| slot.handle.reopen());
        self.steps.first().map(|slot| slot.handle.id())
    }

    /// Redraws a step.
    pub fn draw_step(&self, order: u32) {
        let Some(slot) = self.slot(order) else { return };
        let known = self.known.borrow();
        let Some(record) = known.records.get(&order) else { return };
        let (plan, traces) = (self.plan.as_ref(), known.traces.as_slice());
        let draw = |source: &StepSource<'_>| {
            put(&slot.view, StepView::from(source));
            put(&slot.context, ContextView::from(source));
        };
        let origin = origin(&self.record, known.location);
        let run = slot.handle.look(|run| draw(&StepSource { plan, record, run: Some(*run), traces, origin }));
        if run.is_none() {
            draw(&StepSource { plan, record, run: None, traces, origin });
        }
    }

    /// Redraws what is shown of the plan as a whole.
    pub fn draw_panel(&self) {
        let views: Vec<StepView> = self.steps.iter().map(|slot| slot.view.get_untracked()).collect();
        let known = self.known.borrow();
        put(&self.panel, PlanPanelView::new(&views, &known.progress(EpochMillis(self.started_at), &self.record)));
    }

    /// Selects a step to show; `None` closes it.
    pub fn select(&self, order: Option<u32>) {
        if let Some(slot) = order.and_then(|order| self.slot(order)) {
            // The transcript of a recorded run is created only here: a long one costs nothing before it is wanted.
            let there = slot.page.with_untracked(Option::is_some);
            if let Some(page) = RunPage::from_handle(&slot.handle, 0).filter(|_| !there) {
                slot.page.set(Some(page));
            }
        }
        self.selected.set(order);
    }
}

impl PlanReports {
    fn progress(&self, started_at: EpochMillis, record: &RecordPlace) -> PlanProgress<'_> {
        let origin = origin(record, self.location);
        PlanProgress { started_at, calls_left: self.calls_left, ending: self.ending.as_ref(), origin }
    }
}

fn origin(record: &RecordPlace, location: RunLocation) -> SourceOrigin {
    match (record, location) {
        (RecordPlace::Document { .. }, _) => SourceOrigin::Document,
        (_, RunLocation::Interrupted) => SourceOrigin::Interrupted,
        (_, RunLocation::Elsewhere) => SourceOrigin::Elsewhere,
        _ => SourceOrigin::Session,
    }
}

impl StepSlot {
    /// Returns its run, if that has ended.
    pub fn ended(&self) -> Option<&RunClient> {
        let handle: &RunClient = &self.handle;
        handle.snapshot_ended().then_some(handle)
    }
}
