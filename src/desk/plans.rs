//! A plan at the desk: each step's run has a seat, and changes in the plan are reported at most once per frame. A record from
//! a file is reported in the same way.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::seat::{FRAME_MS, Seat};
use super::{Back, Desk};
use crate::engine::RunConfig;
use crate::plan::{Plan, PlanDocument, PlanRun, StepRecord};
use crate::protocol::desk::{After, Begun, News, PlanId, SeatId, Stand, Streamed, With};
use crate::protocol::{Change, Snapshot};
use crate::shell::{self, Notice, PlanNotice, PlanSession, PlanStart};
use crate::worker::protocol::DocumentTask;
use crate::worker::records;

/// A plan that the desk runs or has run.
pub(super) struct PlanRunning {
    back: Back,
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

/// The parameters of a plan's start.
pub(super) struct Start {
    pub plan: PlanId,
    pub seats: SeatId,
    pub with: With,
    pub config: RunConfig,
    pub written: Plan,
    pub from: Option<u32>,
}

impl Desk {
    /// Runs a plan. `text`: the record that it continues, if that is a file.
    pub(super) async fn run_plan(&self, start: Start, after: Option<After>, text: Option<String>) {
        match self.earlier(after, text, &start.with.worker_url).await {
            Ok(after) => self.start_plan(start, after),
            Err(why) => self.told(why, true),
        }
    }

    async fn earlier(
        &self,
        after: Option<After>,
        text: Option<String>,
        worker_url: &str,
    ) -> Result<Option<Box<PlanDocument>>, String> {
        match after {
            None => Ok(None),
            Some(After::Plan(plan)) => {
                let running = self.0.plans.borrow().get(&plan).cloned();
                let running = running.ok_or("That plan no longer exists.")?;
                Ok(Some(Box::new(running.session.document())))
            }
            Some(After::Record(name)) => {
                let text = text.unwrap_or_default();
                let document = PlanDocument::parse(&text).map_err(|error| error.to_string())?;
                let replayed = records::ask(worker_url.to_owned(), DocumentTask::Session, text).await;
                replayed.map_err(|why| format!("Cannot resume {name}: {why}."))?;
                Ok(Some(Box::new(document)))
            }
        }
    }

    fn start_plan(&self, start: Start, after: Option<Box<PlanDocument>>) {
        let Start { plan: id, seats: first, with, config, written, from } = start;
        let workspace = self.files(with.files).workspace().clone();
        let agent = self.session(&with, config, workspace);
        let place: Rc<RefCell<Option<Rc<PlanRunning>>>> = Rc::default();
        let (desk, known) = (self.clone(), Rc::clone(&place));
        let ready = move |session: &PlanSession| {
            let running = Rc::new(PlanRunning {
                back: desk.back(),
                id,
                first,
                session: session.clone(),
                seats: RefCell::default(),
                fresh: RefCell::default(),
                traces: Cell::default(),
                due: Cell::default(),
            });
            desk.0.plans.borrow_mut().insert(id, Rc::clone(&running));
            running.begin();
            known.replace(Some(running));
        };
        let hear = move |notice: PlanNotice<'_>| {
            let running = place.borrow().clone();
            if let Some(running) = running {
                running.hear(notice);
            }
        };
        let how = PlanStart { parallel: None, after, from };
        if let Err(error) = PlanSession::start(&agent, written, how, ready, hear) {
            self.told(error.to_string(), true);
        }
    }

    /// Shows the record of a plan.
    ///
    /// # Errors
    /// The reason why the text is not the record of a plan that can be shown.
    pub(super) fn show_plan(&self, id: PlanId, first: SeatId, text: &str) -> Result<(), String> {
        let document = PlanDocument::parse(text).map_err(|error| error.to_string())?;
        let mut runs = Vec::new();
        for (place, record) in document.steps.iter().enumerate() {
            let run = record.run.as_ref().map(|run| run.trajectory()).transpose();
            let run = run.map_err(|error| format!("The run of step {} is damaged: {error}", record.order))?;
            runs.extend(run.map(|run| (seat_at(first, place), Snapshot::recorded(&run))));
        }
        let PlanDocument { plan, started_ms, steps, traces, ending, .. } = document;
        self.post(
            News::Planned {
                plan: id,
                begun: Some(Box::new(Begun { plan, started_at: started_ms })),
                steps: steps.into_iter().map(|record| StepRecord { run: None, ..record }).collect(),
                traces,
                calls_left: 0,
                ending: ending.map(Box::new),
            },
            Vec::new(),
        );
        for (seat, run) in runs {
            self.back().show(seat, run);
        }
        Ok(())
    }

    pub(super) fn with_plan(&self, id: PlanId, act: impl FnOnce(&PlanRunning)) {
        let running = self.0.plans.borrow().get(&id).cloned();
        if let Some(running) = running {
            act(&running);
        }
    }
}

impl Back {
    fn show(&self, seat: SeatId, run: Snapshot) {
        let (streamed, changes) = (Streamed::default(), vec![Change::Whole(Box::new(run))]);
        self.post(News::Seen { seat, stand: Stand::Recorded, streamed, changes }, Vec::new());
    }
}

impl PlanRunning {
    /// Reports the whole plan, including the steps that are not run again.
    fn begin(&self) {
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
            self.back.show(seat, run);
        }
    }

    fn hear(self: &Rc<Self>, notice: PlanNotice<'_>) {
        match notice {
            PlanNotice::Plan(record) => self.fresh.borrow_mut().extend(record.step),
            PlanNotice::Step { order, notice, .. } => {
                if let Some(seat) = self.seat(order) {
                    seat.hear(notice);
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
        let seat = Seat::new(self.back.clone(), seat_at(self.first, place), session, None);
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
        self.back.post(news, Vec::new());
    }
}

/// Returns the seat of the step at this index of the plan.
fn seat_at(SeatId(first): SeatId, place: usize) -> SeatId {
    SeatId(first.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
}
