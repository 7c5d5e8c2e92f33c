//! A plan at the run manager: each step's run has a handle, and changes in the plan are reported at most once per frame.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::run_handle::{FRAME_MS, NewsSender, RunHandle};
use crate::shell::{self, Notice, PlanNotice, PlanSession};
use crate::store::PlanWriter;
use turnwise_protocol::Snapshot;
use turnwise_protocol::app::{Begun, HandleId, News, PlanId, RunLocation};
use turnwise_record::plan::{PlanRun, StepRecord};

/// A plan that the run manager runs or has run.
pub(super) struct PlanRunning {
    news: NewsSender,
    pub(super) id: PlanId,
    first: HandleId,
    pub(super) session: PlanSession,
    /// Stores the plan, if storage is available.
    pub(super) keeper: Option<PlanWriter>,
    /// The handles of the steps that have started, by step order.
    handles: RefCell<BTreeMap<u32, Rc<RunHandle>>>,
    /// Steps that changed since the last report to the page.
    fresh: RefCell<BTreeSet<u32>>,
    /// Number of traces already reported.
    traces: Cell<usize>,
    due: Cell<bool>,
    /// What another tab wrote of it is being read, and has to be read once more.
    pub(super) reading: Cell<bool>,
    pub(super) stale: Cell<bool>,
}

impl PlanRunning {
    pub(super) fn new(
        news: NewsSender,
        id: PlanId,
        first: HandleId,
        session: PlanSession,
        keeper: Option<PlanWriter>,
    ) -> Rc<Self> {
        Rc::new(PlanRunning {
            news,
            id,
            first,
            session,
            keeper,
            handles: RefCell::default(),
            fresh: RefCell::default(),
            traces: Cell::default(),
            due: Cell::default(),
            reading: Cell::default(),
            stale: Cell::default(),
        })
    }

    /// The key under which it is stored.
    pub(super) fn key(&self) -> Option<String> {
        self.keeper.as_ref().map(|keeper| keeper.0.key())
    }

    /// Reports the whole plan, including the steps that are not run again.
    pub(super) fn begin(&self) {
        self.traces.set(0);
        let (begun, runs) = self.session.with_run(|run| {
            let begun = Begun { key: self.key(), plan: run.plan().clone(), started_at: run.options().started_at };
            let ended = run.plan().steps.iter().enumerate().filter(|(_, step)| self.session.step(step.order).is_none());
            let kept = ended.filter_map(|(place, step)| {
                // The stored text was read before: a run that is invalid is shown without its turns.
                let kept = run.step_record(step.order)?.run?.trajectory().ok()?;
                Some((handle_at(self.first, place), Snapshot::recorded(&kept)))
            });
            (begun, kept.collect::<Vec<_>>())
        });
        let all: BTreeSet<u32> = begun.plan.steps.iter().map(|step| step.order).collect();
        self.post(Some(begun), &all);
        for (handle, run) in runs {
            self.news.show(handle, run);
        }
        let handles: Vec<Rc<RunHandle>> = all.iter().filter_map(|order| self.handle(*order)).collect();
        if !handles.is_empty() {
            // The plan's news about a step must follow the step's own.
            handles.iter().for_each(|handle| handle.tell());
            self.post(None, &all);
        }
    }

    pub(super) fn on_notice(self: &Rc<Self>, notice: PlanNotice<'_>) {
        match notice {
            PlanNotice::Plan(record) => self.fresh.borrow_mut().extend(record.step),
            PlanNotice::Step { order, notice, .. } => {
                if let Some(handle) = self.handle(order) {
                    handle.on_notice(notice);
                }
                if !matches!(notice, Notice::Record(_)) {
                    return;
                }
                self.fresh.borrow_mut().insert(order);
            }
        }
        self.report_soon();
    }

    /// Reports all steps again.
    pub(super) fn renew(self: &Rc<Self>) {
        self.fresh
            .borrow_mut()
            .extend(self.session.with_run(|run| run.statuses().map(|(order, _)| order).collect::<Vec<_>>()));
        self.report_soon();
    }

    fn report_soon(self: &Rc<Self>) {
        if !self.due.replace(true) {
            let running = Rc::clone(self);
            spawn_local(async move {
                shell::pause(FRAME_MS).await;
                running.tell();
            });
        }
    }

    /// Returns the handle of a step that has started. Its session stays readable after it has ended.
    fn handle(&self, order: u32) -> Option<Rc<RunHandle>> {
        if let Some(handle) = self.handles.borrow().get(&order) {
            return Some(Rc::clone(handle));
        }
        let session = self.session.step(order)?;
        let place = self.session.with_run(|run| run.plan().steps.iter().position(|step| step.order == order))?;
        let handle = RunHandle::new(self.news.clone(), handle_at(self.first, place), session, None);
        self.handles.borrow_mut().insert(order, Rc::clone(&handle));
        Some(handle)
    }

    fn tell(&self) {
        self.due.set(false);
        let fresh = self.fresh.take();
        // The plan's news about a step must follow the step's own.
        fresh.iter().filter_map(|order| self.handle(*order)).for_each(|handle| handle.tell());
        self.post(None, &fresh);
    }

    fn post(&self, begun: Option<Begun>, orders: &BTreeSet<u32>) {
        let news = self.session.with_run(|run: &PlanRun| {
            let traces = run.traces().get(self.traces.replace(run.traces().len())..).unwrap_or_default();
            let records = orders.iter().filter_map(|order| run.step_record(*order));
            News::Planned {
                plan: self.id,
                begun: begun.map(Box::new),
                location: match (self.session.is_followed(), self.session.is_interrupted()) {
                    (true, _) => RunLocation::Elsewhere,
                    (false, true) => RunLocation::Interrupted,
                    (false, false) => RunLocation::Here,
                },
                steps: records.map(|record| StepRecord { run: None, ..record }).collect(),
                traces: traces.to_vec(),
                calls_left: run.calls_left(),
                ending: run.ending().cloned().map(Box::new),
            }
        });
        self.news.post(news, Vec::new());
    }
}

/// Returns the handle of the step at this index of the plan.
pub(super) fn handle_at(HandleId(first): HandleId, place: usize) -> HandleId {
    HandleId(first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
}
