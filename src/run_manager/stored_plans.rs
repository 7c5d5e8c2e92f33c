//! The stored plans: opening them, following one that another tab runs, and taking it over once that tab is gone.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::plans::PlanPlace;
use super::running::PlanRunning;
use super::state::{RunManager, Storage};
use crate::shell::{PlanSession, Slice};
use crate::store::{PlanWriter, RunDatabase, StoreError, claim};
use turnwise_protocol::app::{HandleId, PlanId, With, step_key};
use turnwise_record::plan::{PlanDocument, PlanRun, StepRun, StepStatus};
use turnwise_record::trajectory::Restored;

/// The stored runs of a plan's steps.
#[derive(Default)]
struct StoredStepRuns {
    runs: Vec<(u32, StepRun)>,
    /// Those that have not ended.
    open: Vec<(u32, Restored)>,
    /// What cannot be read: `step 2`.
    damaged: Vec<String>,
}

impl RunManager {
    /// Opens a stored plan.
    pub(super) async fn open_plan(
        &self,
        id: PlanId,
        first: HandleId,
        with: &With,
        key: &str,
    ) -> Result<(), StoreError> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(()) };
        database.ready().await;
        let header = database.header(key).await?.ok_or_else(StoreError::no_longer_stored)?;
        let stored = database.load_plan(key).await?;
        let workspace = self.files(with.files).workspace().clone();
        let files = database.load_files(key, &workspace).await?;
        let agent = self.session(first, with, stored.options().base.clone(), workspace.clone());
        let StoredStepRuns { runs, open, damaged } = load_steps(&database, key, &stored).await;
        if !damaged.is_empty() {
            let parts = damaged.join(", ");
            self.notify(format!("A part of this plan is damaged and not shown: {parts}. Nothing was deleted."), true);
        }
        let held = claim(key).await;
        let place = PlanPlace::default();
        let session = PlanSession::restore(&agent, stored.restored(runs), place.listener());
        session.set_followed(held.is_none());
        for (order, restored) in open {
            let step = session.restore_step(order, restored);
            if !session.is_followed() {
                self.recall(&step, &step_key(key, order)).await;
            }
        }
        let keeper = self.new_keeper(workspace).map(PlanWriter);
        if let Some(keeper) = &keeper {
            keeper.0.has(&files);
            match held {
                Some(held) if damaged.is_empty() => {
                    keeper.0.go_on(&header, held);
                    session.set_journal(Some(Rc::new(keeper.clone())));
                }
                // Read-only: damaged data is not overwritten.
                _ => keeper.0.name_key(&header),
            }
        }
        let running = PlanRunning::new(self.news(), id, first, session, keeper);
        place.0.replace(Some(Rc::clone(&running)));
        self.0.plans.borrow_mut().insert(id, Rc::clone(&running));
        running.begin();
        Ok(())
    }

    /// Returns the record of a plan as it is stored.
    pub(super) async fn stored_plan_record(&self, key: &str) -> Result<PlanDocument, StoreError> {
        let Storage { database, .. } = self.storage().ok_or_else(StoreError::no_longer_stored)?;
        database.ready().await;
        let stored = database.load_plan(key).await?;
        let StoredStepRuns { runs, .. } = load_steps(&database, key, &stored).await;
        Ok(stored.restored(runs).document(|_| None))
    }

    /// Takes in what another tab wrote of a plan that is open here.
    pub(super) async fn follow_plan(&self, key: &str) {
        let Some(Storage { database, .. }) = self.storage() else { return };
        let followed = |plan: &Rc<PlanRunning>| plan.session.is_followed() && plan.key().as_deref() == Some(key);
        let Some(plan) = self.plans().into_iter().find(followed) else { return };
        plan.stale.set(true);
        if plan.reading.replace(true) {
            return;
        }
        while plan.stale.replace(false) {
            // What cannot be read now stays as it is shown; the next message may bring it.
            drop(follow(&database, key, &plan).await);
        }
        plan.reading.set(false);
        plan.renew();
    }

    /// Takes over plans whose tab is gone.
    pub(super) fn look_for_left_plans(&self) {
        for plan in self.plans().into_iter().filter(|plan| plan.session.is_followed()) {
            let Some(keeper) = plan.keeper.clone() else { continue };
            let manager = self.clone();
            spawn_local(async move {
                let key = keeper.0.key();
                let Some(held) = claim(&key).await else { return };
                if let Some(header) = manager.catch_up(&key).await {
                    keeper.0.go_on(&header, held);
                    for order in plan.session.with_run(started) {
                        if let Some(step) = plan.session.step(order) {
                            manager.recall(&step, &step_key(&key, order)).await;
                        }
                    }
                    plan.session.set_journal(Some(Rc::new(keeper)));
                    plan.session.set_followed(false);
                    plan.renew();
                }
            });
        }
    }

    /// Closes the plans that are stored under these keys.
    pub(super) fn close_plans(&self, keys: &[String]) {
        for plan in self.plans().into_iter().filter(|plan| plan.key().is_some_and(|key| keys.contains(&key))) {
            plan.session.close();
            self.0.plans.borrow_mut().remove(&plan.id);
        }
    }
}

async fn load_steps(database: &RunDatabase, key: &str, plan: &PlanRun) -> StoredStepRuns {
    let mut steps = StoredStepRuns::default();
    for order in started(plan) {
        let (origin, mut events) = match database.load_run(&step_key(key, order)).await {
            Ok(Some(run)) => run,
            Ok(None) => continue,
            Err(_) => {
                steps.damaged.push(format!("step {order}"));
                continue;
            }
        };
        let mut restored = Restored::from_events(origin.config, origin.task, Vec::new());
        let mut slice = Slice::begin();
        for event in events.by_ref() {
            restored.play(event);
            slice.pause_if_long().await;
        }
        if let Some(seq) = events.damaged_at() {
            steps.damaged.push(format!("step {order} from event {seq} on"));
        }
        let run = StepRun::from_document(&restored.recorder.document());
        if plan.ending().is_none() && run.outcome.is_none() {
            steps.open.push((order, restored));
        }
        steps.runs.push((order, run));
    }
    steps
}

async fn follow(database: &RunDatabase, key: &str, plan: &PlanRunning) -> Result<(), StoreError> {
    let stored = database.load_plan(key).await?;
    let session = &plan.session;
    let mut runs = Vec::new();
    for order in started(&stored) {
        let known = session.with_run(|run| run.step_record(order)?.run).filter(|run| run.outcome.is_some());
        if let Some(run) = known {
            runs.push((order, run));
            continue;
        }
        let step = match session.step(order) {
            Some(step) => step,
            None => match database.load_run(&step_key(key, order)).await? {
                Some((origin, _)) => {
                    session.restore_step(order, Restored::from_events(origin.config, origin.task, Vec::new()))
                }
                None => continue,
            },
        };
        for event in database.events_after(&step_key(key, order), step.events()).await? {
            step.follow(event);
        }
        let ended = step.document().filter(|run| run.outcome.is_some());
        runs.extend(ended.map(|run| (order, StepRun::from_document(&run))));
    }
    session.follow(stored.restored(runs));
    Ok(())
}

/// The steps that may have a run.
fn started(plan: &PlanRun) -> Vec<u32> {
    let started = |status| !matches!(status, StepStatus::Pending | StepStatus::Blocked);
    plan.statuses().filter(|(_, status)| started(*status)).map(|(order, _)| order).collect()
}
