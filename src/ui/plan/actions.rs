//! The user's actions on plans, wired to sessions. Contains no rules about plans.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::engine::RunConfig;
use crate::plan::Plan;
use crate::protocol::desk::{After, Order, PlanId};
use crate::view::RailView;
use crate::worker::Workspace;

use super::super::dom;
use super::super::slots::Local;
use super::super::state::{App, Backing, Thread};
use super::live::LivePlan;
use super::state::{PlanPage, Record};

/// The record and the step from which a plan is run again.
pub struct Again {
    after: After,
    /// The text of the record, if it is a file.
    text: Option<Arc<str>>,
    from: u32,
}

impl App {
    /// Returns the plan of the open thread.
    pub fn plan(&self) -> Option<PlanPage> {
        self.thread().and_then(|thread| thread.plan())
    }

    /// Returns the same without tracking it, for one-time actions.
    pub fn plan_now(&self) -> Option<PlanPage> {
        self.thread_now().and_then(|thread| thread.plan())
    }

    /// Runs a plan as a thread of its own.
    pub fn run_plan(&self, written: Plan, config: RunConfig, workspace: &Workspace, again: Option<Again>) {
        let Some(line) = self.line.get_value() else { return };
        self.toast.set(None);
        let (app, files) = (*self, workspace.clone());
        let (plan, seats) = line.plan_numbers();
        let added = move |page: &PlanPage, rail: &ArcRwSignal<RailView>| {
            app.add_plan(page.clone(), rail.clone(), Some(files.clone()));
        };
        let live = LivePlan::new(app, line.clone(), seats, Record::Live(plan), added);
        line.observe_plan(plan, move |report| live.apply(report));
        let (after, text, from) = match again {
            Some(Again { after, text, from }) => (Some(after), text, Some(from)),
            None => (None, None, None),
        };
        let (with, config, written) = (line.with(workspace), Box::new(config), Box::new(written));
        let parts = text.iter().map(|text| text.as_ref().into()).collect();
        line.tell(&Order::Plan { plan, seats, with, config, written, after, from }, parts);
    }

    /// Shows the record of a plan.
    ///
    /// # Errors
    /// The reason why it was not opened.
    pub async fn open_plan(&self, name: &str, text: String) -> Result<(), String> {
        let Some(line) = self.line.get_value() else { return Ok(()) };
        let app = *self;
        let (plan, seats) = line.plan_numbers();
        let parts = vec![text.as_str().into()];
        let record = Record::Document { name: name.to_owned(), text: text.into() };
        let added = move |page: &PlanPage, rail: &ArcRwSignal<RailView>| {
            app.dialog.set(None);
            app.add_plan(page.clone(), rail.clone(), None);
        };
        let live = LivePlan::new(app, line.clone(), seats, record, added);
        line.observe_plan(plan, move |report| live.apply(report));
        let opened = line.ask(|id| Order::ShowPlan { id, plan, seats }, parts).await;
        opened?;
        self.tell(format!("Opened {name}. The file itself is not changed."));
        Ok(())
    }

    fn add_plan(&self, page: PlanPage, rail: ArcRwSignal<RailView>, workspace: Option<Workspace>) {
        let backing = Backing::Plan { page, workspace: workspace.map(Local::new) };
        self.add_thread(Thread {
            id: self.next_id(),
            opened_ms: dom::now(),
            pages: ArcRwSignal::new(Vec::new()),
            rail,
            backing,
            session_id: None,
            queued: ArcRwSignal::default(),
        });
    }

    pub fn stop_plan(&self) {
        self.order_plan(|plan| Order::StopPlan { plan });
    }

    pub fn cancel_plan(&self) {
        self.order_plan(|plan| Order::CancelPlan { plan });
    }

    fn order_plan(&self, order: impl FnOnce(PlanId) -> Order) {
        if let (Some(line), Some(PlanPage { record: Record::Live(plan), .. })) =
            (self.line.get_value(), self.plan_now())
        {
            line.tell(&order(plan), Vec::new());
        }
    }

    /// Downloads the record; verbatim if it came from a file.
    pub fn download_plan(&self) {
        let (Some(page), Some(line), app) = (self.plan_now(), self.line.get_value(), *self) else { return };
        spawn_local(async move {
            let named = match page.record {
                Record::Document { name, text } => Ok((name, text.to_string())),
                Record::Live(plan) => {
                    let text = line.ask(|id| Order::PlanRecord { id, plan }, Vec::new()).await;
                    text.map(|text| (format!("{}.json", page.plan.plan_id), text.unwrap_or_default()))
                }
            };
            match named.map(|(name, text)| (name, dom::text_blob(&text, "application/json"))) {
                Ok((name, Some(blob))) => dom::save_as(&name, &blob),
                Ok((_, None)) => app.complain("There is nothing to download yet."),
                Err(why) => app.complain(why),
            }
        });
    }

    /// Runs the open plan again from a step; steps that do not build on it are kept. Opens a new thread, so that both
    /// can be read.
    pub fn rerun_from(&self, order: u32) {
        let Some(Thread { backing: Backing::Plan { page, workspace }, .. }) = self.thread_now() else { return };
        let Some(config) = self.config() else { return };
        let workspace = workspace.map_or_else(|| self.new_workspace(), |workspace| Workspace::clone(&workspace));
        let (after, text) = match &page.record {
            Record::Live(plan) => (After::Plan(*plan), None),
            Record::Document { name, text } => (After::Record(name.clone()), Some(Arc::clone(text))),
        };
        self.run_plan(page.plan.as_ref().clone(), config, &workspace, Some(Again { after, text, from: order }));
    }
}
