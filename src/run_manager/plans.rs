//! Orders about plans: running one, continuing one, and showing the record of one.

use std::cell::RefCell;
use std::rc::Rc;

use super::running::{PlanRunning, handle_at};
use super::state::RunManager;
use crate::shell::{PlanNotice, PlanSession, PlanStart};
use crate::store::PlanWriter;
use crate::worker::records;
use turnwise_engine::RunConfig;
use turnwise_protocol::Snapshot;
use turnwise_protocol::app::{After, Begun, HandleId, News, PlanId, RunLocation, With};
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_record::plan::{Plan, PlanDocument, PlanRun, StepRecord};

/// The parameters of a plan's start.
pub(super) struct PlanParameters {
    pub plan: PlanId,
    pub handles: HandleId,
    pub with: With,
    pub config: RunConfig,
    pub written: Plan,
    pub from: Option<u32>,
}

impl RunManager {
    /// Runs a plan. `text`: the record that it continues, if that is a file.
    pub(super) async fn run_plan(&self, start: PlanParameters, after: Option<After>, text: Option<String>) {
        let strange = after.as_ref().is_some_and(|after| self.is_after_strange(after));
        match self.earlier(after, text, &start.with.worker_url).await {
            Ok(after) => self.start_plan(start, after, strange),
            Err(why) => self.notify(why, true),
        }
    }

    /// Whether the results that a plan takes over come from a record that this store did not make.
    fn is_after_strange(&self, after: &After) -> bool {
        match after {
            After::Record(_) => true,
            After::Plan(plan) => {
                let keeper = self.plan(*plan).and_then(|running| running.keeper.clone());
                keeper.is_some_and(|keeper| keeper.0.is_strange())
            }
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
                let running = self.plan(plan).ok_or("That plan no longer exists.")?;
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

    fn start_plan(&self, start: PlanParameters, after: Option<Box<PlanDocument>>, strange: bool) {
        let PlanParameters { plan: id, handles: first, with, config, written, from } = start;
        let workspace = self.files(with.files).workspace().clone();
        let agent = self.session(first, &with, config, workspace);
        let place = PlanPlace::default();
        let (manager, known) = (self.clone(), place.clone());
        let keeper = self.new_keeper(agent.workspace()).map(PlanWriter::begin);
        keeper.iter().filter(|_| strange).for_each(|keeper| keeper.0.set_strange());
        let ready = move |session: &PlanSession| {
            if let Some(keeper) = &keeper {
                session.set_journal(Some(Rc::new(keeper.clone())));
                session.with_run(|run| copy_kept(keeper, run));
            }
            let running = PlanRunning::new(manager.news(), id, first, session.clone(), keeper);
            manager.0.plans.borrow_mut().insert(id, Rc::clone(&running));
            running.begin();
            known.0.replace(Some(running));
        };
        let listener = place.listener();
        let how = PlanStart { parallel: None, after, from };
        if let Err(error) = PlanSession::start(&agent, written, how, ready, listener) {
            self.notify(error.to_string(), true);
        }
    }

    /// Shows the record of a plan.
    ///
    /// # Errors
    /// The reason why the text is not the record of a plan that can be shown.
    pub(super) fn show_plan(&self, id: PlanId, first: HandleId, text: &str) -> Result<(), String> {
        let document = PlanDocument::parse(text).map_err(|error| error.to_string())?;
        let mut runs = Vec::new();
        for (place, record) in document.steps.iter().enumerate() {
            let run = record.run.as_ref().map(|run| run.trajectory()).transpose();
            let run = run.map_err(|error| format!("The run of step {} is damaged: {error}", record.order))?;
            runs.extend(run.map(|run| (handle_at(first, place), Snapshot::recorded(&run))));
        }
        let PlanDocument { plan, started_ms, steps, traces, ending, .. } = document;
        self.post(
            News::Planned {
                plan: id,
                begun: Some(Box::new(Begun { key: None, plan, started_at: started_ms })),
                location: RunLocation::Recorded,
                steps: steps.into_iter().map(|record| StepRecord { run: None, ..record }).collect(),
                traces,
                calls_left: 0,
                ending: ending.map(Box::new),
            },
            Vec::new(),
        );
        for (handle, run) in runs {
            self.news().show(handle, run);
        }
        Ok(())
    }
}

/// Stores the runs of the steps that ended in an earlier run of the plan.
fn copy_kept(keeper: &PlanWriter, run: &PlanRun) {
    for (order, _) in run.statuses() {
        // The text was read before.
        let kept = run.step_record(order).and_then(|record| record.run?.trajectory().ok());
        kept.iter().for_each(|kept| keeper.copy(order, kept));
    }
}

/// Where a plan is shown, known as soon as it has a session.
#[derive(Clone, Default)]
pub(super) struct PlanPlace(pub Rc<RefCell<Option<Rc<PlanRunning>>>>);

impl PlanPlace {
    pub(super) fn listener(&self) -> impl Fn(PlanNotice<'_>) + 'static {
        let place = self.clone();
        move |notice| {
            let running = place.0.borrow().clone();
            if let Some(running) = running {
                running.on_notice(notice);
            }
        }
    }
}
