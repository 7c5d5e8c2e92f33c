//! What the user can do with plans, wired to sessions. No rule of a plan is here.

use std::cell::OnceCell;
use std::rc::Rc;

use leptos::prelude::*;

use crate::engine::RunConfig;
use crate::plan::{Plan, PlanDocument};
use crate::shell::{PlanSession, PlanStart};
use crate::worker::protocol::DocumentTask;
use crate::worker::{Workspace, records};
use wasm_bindgen_futures::spawn_local;

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
        let page = match PlanPage::document(name, text, document) {
            Ok(page) => page,
            Err(why) => return self.complain(format!("{name} was not opened. {why}")),
        };
        self.tell(format!("Opened {name}. Nothing in it is changed."));
        let rail = ArcRwSignal::new(page.panel.with_untracked(|panel| panel.rail(&page.head.title)));
        self.add_plan(page, rail, None);
    }

    fn add_plan(&self, page: PlanPage, rail: ArcRwSignal<crate::view::RailView>, workspace: Option<Workspace>) {
        let backing = Backing::Plan { page, workspace: workspace.map(Local::new) };
        self.add_thread(Thread {
            id: self.next_id(),
            pages: ArcRwSignal::new(Vec::new()),
            rail,
            backing,
            session_id: None,
            queued: ArcRwSignal::default(),
        });
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
        let Some(config) = self.config() else { return };
        let workspace = workspace.map_or_else(|| self.new_workspace(), |workspace| Workspace::clone(&workspace));
        let plan = page.plan.as_ref().clone();
        let app = *self;
        let run = move |document: PlanDocument| {
            let how = PlanStart { after: Some(Box::new(document)), from: Some(order), parallel: None };
            app.run_plan(plan, config, workspace, how);
        };
        match &page.record {
            Record::Live(session) => run(session.document()),
            Record::Document { name, text, document } => {
                // A file may have been changed, and later steps are told its results.
                let (name, text, document) = (name.clone(), text.to_string(), PlanDocument::clone(document));
                spawn_local(async move {
                    match records::ask(dom::worker_url(), DocumentTask::Session, text).await {
                        Ok(_) => run(document),
                        Err(why) => app.complain(format!("{name} cannot be gone on with: {why}.")),
                    }
                });
            }
        }
    }
}
