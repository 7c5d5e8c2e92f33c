//! A plan at the desk: each step's run has a seat, and changes in the plan are reported at most once per frame.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::seat::{FRAME_MS, NewsSender, Seat};
use crate::plan::{PlanRun, StepRecord};
use crate::protocol::Snapshot;
use crate::protocol::desk::{Begun, News, PlanId, SeatId};
use crate::shell::{self, Notice, PlanNotice, PlanSession};

/// A plan that the desk runs or has run.
pub(super) struct PlanRunning {
    news: NewsSender,
    id: PlanId,
    first: SeatId,
    pub(super) session: PlanSession,
    /// The seats of the steps that have started, by step order.
    seats: RefCell<BTreeMap<u32, Rc<Seat>>>,
    /// Steps that changed since the last report to the page.
    fresh: RefCell<BTreeSet<u32>>,
    /// Number of traces already reported.
    traces: Cell<usize>,
    due: Cell<bool>,
}

impl PlanRunning {
    pub(super) fn new(news: NewsSender, id: PlanId, first: SeatId, session: PlanSession) -> Rc<Self> {
        Rc::new(PlanRunning {
            news,
            id,
            first,
            session,
            seats: RefCell::default(),
            fresh: RefCell::default(),
            traces: Cell::default(),
            due: Cell::default(),
        })
    }

    /// Reports the whole plan, including the steps that are not run again.
    pub(super) fn begin(&self) {
        let (begun, runs) = self.session.with_run(|run| {
            let begun = Begun { plan: run.plan().clone(), started_at: run.options().started_at };
            let kept = run.plan().steps.iter().enumerate().filter_map(|(place, step)| {
                // The stored text was read before: a run that is invalid is shown without its turns.
                let kept = run.step_record(step.order)?.run?.trajectory().ok()?;
                Some((seat_at(self.first, place), Snapshot::recorded(&kept)))
            });
            (begun, kept.collect::<Vec<_>>())
        });
        let all = begun.plan.steps.iter().map(|step| step.order).collect();
        self.post(Some(begun), &all);
        for (seat, run) in runs {
            self.news.show(seat, run);
        }
    }

    pub(super) fn on_notice(self: &Rc<Self>, notice: PlanNotice<'_>) {
        match notice {
            PlanNotice::Plan(record) => self.fresh.borrow_mut().extend(record.step),
            PlanNotice::Step { order, notice, .. } => {
                if let Some(seat) = self.seat(order) {
                    seat.on_notice(notice);
                }
                if !matches!(notice, Notice::Record(_)) {
                    return;
                }
                self.fresh.borrow_mut().insert(order);
            }
        }
        if !self.due.replace(true) {
            let running = Rc::clone(self);
            spawn_local(async move {
                shell::pause(FRAME_MS).await;
                running.tell();
            });
        }
    }

    /// Returns the seat of a step that has started. Its session stays readable after it has ended.
    fn seat(&self, order: u32) -> Option<Rc<Seat>> {
        if let Some(seat) = self.seats.borrow().get(&order) {
            return Some(Rc::clone(seat));
        }
        let session = self.session.step(order)?;
        let place = self.session.with_run(|run| run.plan().steps.iter().position(|step| step.order == order))?;
        let seat = Seat::new(self.news.clone(), seat_at(self.first, place), session, None);
        self.seats.borrow_mut().insert(order, Rc::clone(&seat));
        Some(seat)
    }

    fn tell(&self) {
        self.due.set(false);
        let fresh = self.fresh.take();
        // The plan's news about a step must follow the step's own.
        for order in &fresh {
            let seat = self.seats.borrow().get(order).cloned();
            if let Some(seat) = seat {
                seat.tell();
            }
        }
        self.post(None, &fresh);
    }

    fn post(&self, begun: Option<Begun>, orders: &BTreeSet<u32>) {
        let news = self.session.with_run(|run: &PlanRun| {
            let traces = run.traces().get(self.traces.replace(run.traces().len())..).unwrap_or_default();
            let records = orders.iter().filter_map(|order| run.step_record(*order));
            News::Planned {
                plan: self.id,
                begun: begun.map(Box::new),
                steps: records.map(|record| StepRecord { run: None, ..record }).collect(),
                traces: traces.to_vec(),
                calls_left: run.calls_left(),
                ending: run.ending().cloned().map(Box::new),
            }
        });
        self.news.post(news, Vec::new());
    }
}

/// Returns the seat of the step at this index of the plan.
pub(super) fn seat_at(SeatId(first): SeatId, place: usize) -> SeatId {
    SeatId(first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
}
