//! What the user can do with plans, wired to sessions. No rule of a plan is here.

use std::cell::OnceCell;
use std::rc::Rc;

use leptos::prelude::*;

use crate::engine::RunConfig;
use crate::plan::{Plan, PlanDocument, StepStatus};
use crate::shell::{PlanSession, PlanStart};
use crate::trajectory::replay;
use crate::worker::Workspace;

use super::super::dom;
use super::super::state::{App, Backing, Local, Thread};
use super::live::LivePlan;
use super::state::{PlanPage, Record};

impl App {
    /// The plan of the open thread.
    pub fn plan(&self) -> Option<PlanPage> {
        self.thread().and_then(|thread| thread.plan())
    }

    /// The same, for what happens once.
    pub fn plan_now(&self) -> Option<PlanPage> {
        self.thread_now().and_then(|thread| thread.plan())
    }

    /// Runs a plan as a thread of its own.
    pub fn run_plan(&self, plan: Plan, config: RunConfig, workspace: Workspace, how: PlanStart) {
        let app = *self;
        let agent = self.session(config, workspace.clone());
        let live: Rc<OnceCell<LivePlan>> = Rc::default();
        let place = live.clone();
        self.toast.set(None);
        let ready = move |session: &PlanSession| {
            let page = PlanPage::live(session);
            let rail = ArcRwSignal::new(page.panel.with_untracked(|panel| panel.rail(&page.head.title)));
            let _ = place.set(LivePlan::new(app, session.clone(), page.clone(), rail.clone()));
            app.add_plan(page, rail, Some(workspace));
        };
        let started = PlanSession::start(&agent, plan, how, ready, move |notice| {
            if let Some(live) = live.get() {
                live.observe(notice);
            }
        });
        if let Err(error) = started {
            self.complain(error.to_string());
        }
    }

    /// Shows the record of a plan.
    pub fn open_plan(&self, name: &str, text: String, document: PlanDocument) {
        let page = PlanPage::document(name, text, document);
        let rail = ArcRwSignal::new(page.panel.with_untracked(|panel| panel.rail(&page.head.title)));
        self.add_plan(page, rail, None);
    }

    fn add_plan(&self, page: PlanPage, rail: ArcRwSignal<crate::view::RailView>, workspace: Option<Workspace>) {
        let backing = Backing::Plan { page, workspace: workspace.map(Local::new) };
        self.add_thread(Thread { id: self.next_id(), pages: ArcRwSignal::new(Vec::new()), rail, backing });
    }

    pub fn stop_plan(&self) {
        self.with_plan(PlanSession::stop);
    }

    pub fn cancel_plan(&self) {
        self.with_plan(PlanSession::cancel);
    }

    fn with_plan(&self, act: impl FnOnce(&PlanSession)) {
        if let Some(PlanPage { record: Record::Live(session), .. }) = self.plan_now() {
            act(&session);
        }
    }

    /// The record as a file, letter by letter where it came from one.
    pub fn download_plan(&self) {
        let Some(page) = self.plan_now() else { return };
        let named = match &page.record {
            Record::Document { name, text, .. } => Some((name.clone(), text.to_string())),
            Record::Live(session) => {
                let document = session.document();
                let text = serde_json::to_string_pretty(&document).ok();
                text.map(|text| (format!("{}.json", document.plan_id), text))
            }
        };
        match named.and_then(|(name, text)| Some((name, dom::text_blob(&text, "application/json")?))) {
            Some((name, blob)) => dom::save_as(&name, &blob),
            None => self.complain("There is nothing to download yet."),
        }
    }

    /// The open plan again from a step: what does not build on it is kept. A thread of its own, so that both can be read.
    pub fn rerun_from(&self, order: u32) {
        let Some(Thread { backing: Backing::Plan { page, workspace }, .. }) = self.thread_now() else { return };
        let document = match &page.record {
            Record::Live(session) => session.document(),
            Record::Document { document, .. } => {
                // A file may have been changed, and later steps are told its results.
                let completed = document.steps.iter().filter(|step| step.status == StepStatus::Completed);
                let broken = completed.filter_map(|step| Some((step.order, step.run.as_ref()?)));
                if let Some((order, _)) = broken.into_iter().find(|(_, run)| replay(run).is_err()) {
                    self.complain(format!("This file was changed: the run of step {order} does not replay."));
                    return;
                }
                PlanDocument::clone(document)
            }
        };
        let Some(config) = self.config() else { return };
        let workspace = workspace.map_or_else(|| self.new_workspace(), |workspace| Workspace::clone(&workspace));
        let plan = page.plan.as_ref().clone();
        self.run_plan(
            plan,
            config,
            workspace,
            PlanStart { after: Some(Box::new(document)), from: Some(order), parallel: None },
        );
    }
}
