//! The user's actions on plans, wired to sessions. Contains no rules about plans.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::Workspace;
use turnwise_engine::RunConfig;
use turnwise_protocol::app::{After, HandleId, Order, PlanId};
use turnwise_record::plan::Plan;
use turnwise_view::RailView;

use crate::browser::dom;
use crate::browser::focus;
use crate::client::app_worker::AppWorker;
use crate::client::slots::Local;
use crate::plans::live::LivePlan;
use crate::plans::state::{PlanPage, RecordPlace};
use crate::state::{App, Backing, Thread};

/// The record and the step from which a plan is run again.
#[derive(Debug)]
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

    /// Runs a plan as a thread of its own.
    pub fn run_plan(&self, written: Plan, config: RunConfig, workspace: &Workspace, again: Option<Again>) {
        let Some(line) = self.line.get_value() else { return };
        self.toast.set(None);
        let (app, files) = (*self, workspace.clone());
        let (plan, handles) = self.show_plan(&line, RecordPlace::Live, move |page, rail| {
            app.add_plan(page.clone(), rail.clone(), Some(files.clone()));
        });
        focus::to_home();
        let (after, text, from) = match again {
            Some(Again { after, text, from }) => (Some(after), text, Some(from)),
            None => (None, None, None),
        };
        let (with, config, written) = (line.with(workspace), Box::new(config), Box::new(written));
        let parts = text.iter().map(|text| text.as_ref().into()).collect();
        line.tell(&Order::Plan { plan, handles, with, config, written, after, from }, parts);
    }

    /// Shows the record of a plan.
    ///
    /// # Errors
    /// The reason why it was not opened.
    pub async fn open_plan(&self, name: &str, text: String) -> Result<(), String> {
        let app = *self;
        self.read_plan(name, text.into(), move |thread| {
            app.dialog.set(None);
            app.list_all();
            app.add_thread(thread);
        })
        .await?;
        self.tell(self.about_opened(&format!("Opened {name}. The file itself is not changed.")));
        Ok(())
    }

    /// Reads the record of a plan. `then` takes its thread.
    ///
    /// # Errors
    /// The reason why it was not read.
    pub async fn read_plan(&self, name: &str, text: Arc<str>, then: impl Fn(Thread) + 'static) -> Result<(), String> {
        let Some(line) = self.line.get_value() else { return Ok(()) };
        let app = *self;
        let parts = vec![text.as_ref().into()];
        let record = RecordPlace::Document { name: name.to_owned(), text };
        let (plan, handles) = self.show_plan(
            &line,
            |_| record,
            move |page, rail| then(app.plan_thread(page.clone(), rail.clone(), None)),
        );
        line.ask(|id| Order::ShowPlan { id, plan, handles }, parts).await.map(drop)
    }

    /// Opens a stored plan.
    pub async fn load_plan(&self, line: &AppWorker, key: String, title: String) -> Result<(), String> {
        let (app, workspace) = (*self, self.workspace_of(Vec::new()));
        let with = line.with(&workspace);
        let (plan, handles) = self.show_plan(line, RecordPlace::Live, move |page, rail| {
            rail.update(|rail| rail.title.clone_from(&title));
            app.add_plan(page.clone(), rail.clone(), Some(workspace.clone()));
        });
        line.ask(|id| Order::OpenPlan { id, plan, handles, with, key }, Vec::new()).await.map(drop)
    }

    /// Draws a plan from now on. `then` is called when it has begun.
    fn show_plan(
        &self,
        line: &AppWorker,
        record: impl FnOnce(PlanId) -> RecordPlace,
        then: impl Fn(&PlanPage, &ArcRwSignal<RailView>) + 'static,
    ) -> (PlanId, HandleId) {
        let (plan, handles) = line.plan_numbers();
        let live = LivePlan::new(*self, line.clone(), handles, record(plan), then);
        line.observe_plan(plan, move |report| live.apply(report));
        (plan, handles)
    }

    /// Has the worker open a plan again, if it was lost with an earlier worker. Later orders about it wait for that.
    pub fn find_plan_again(&self, page: &PlanPage, workspace: &Workspace) {
        let (RecordPlace::Live(plan), Some(key), Some(line)) = (&page.record, page.key.clone(), self.line.get_value())
        else {
            return;
        };
        let Some(handles) = page.reopen() else { return };
        let (app, plan, with) = (*self, *plan, line.with(workspace));
        let opened = line.ask(move |id| Order::OpenPlan { id, plan, handles, with, key }, Vec::new());
        spawn_local(async move {
            if let Err(why) = opened.await {
                app.complain(why);
            }
        });
    }

    fn add_plan(&self, page: PlanPage, rail: ArcRwSignal<RailView>, workspace: Option<Workspace>) {
        self.add_thread(self.plan_thread(page, rail, workspace));
    }

    fn plan_thread(&self, page: PlanPage, rail: ArcRwSignal<RailView>, workspace: Option<Workspace>) -> Thread {
        let session_id = page.key.clone();
        Thread {
            id: self.next_id(),
            began_ms: dom::began(page.started_at),
            pages: ArcRwSignal::new(Vec::new()),
            rail,
            backing: Backing::Plan { page, workspace: workspace.map(Local::new) },
            session_id,
            queued: ArcRwSignal::default(),
        }
    }

    /// Resumes the open plan, if it was interrupted.
    pub fn resume_plan(&self) {
        if self.own_model_lacks_key() {
            return;
        }
        self.order_plan(|plan, line| Order::ResumePlan { plan, with: line.with_no_files() });
    }

    /// Ends all steps of the open plan now.
    pub fn stop_plan(&self) {
        self.order_plan(|plan, _| Order::CancelPlan { plan });
    }

    /// Lets the running steps conclude, and starts no others.
    pub fn wrap_up_plan(&self) {
        self.order_plan(|plan, _| Order::StopPlan { plan });
    }

    fn order_plan(&self, order: impl FnOnce(PlanId, &AppWorker) -> Order) {
        let Some(thread) = self.thread_now().filter(|thread| self.find_again(thread).is_ok()) else { return };
        if let (Some(line), Some(PlanPage { record: RecordPlace::Live(plan), .. })) =
            (self.line.get_value(), thread.plan())
        {
            line.tell(&order(plan, &line), Vec::new());
        }
    }

    /// Downloads the record; verbatim if it came from a file.
    pub fn download_plan(&self) {
        let (Some(thread), Some(line), app) = (self.thread_now(), self.line.get_value(), *self) else { return };
        let (Some(page), Ok(())) = (thread.plan(), self.find_again(&thread)) else { return };
        spawn_local(async move {
            let named = match page.record {
                RecordPlace::Document { name, text } => Ok((name, text.to_string())),
                RecordPlace::Live(plan) => {
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
        let Some(thread) = self.thread_now().filter(|thread| self.find_again(thread).is_ok()) else { return };
        let Backing::Plan { page, workspace } = thread.backing else { return };
        let Some(config) = self.config() else { return };
        let workspace = workspace.map_or_else(|| self.new_workspace(), |workspace| Workspace::clone(&workspace));
        let (after, text) = match &page.record {
            RecordPlace::Live(plan) => (After::Plan(*plan), None),
            RecordPlace::Document { name, text } => (After::Record(name.clone()), Some(Arc::clone(text))),
        };
        self.run_plan(page.plan.as_ref().clone(), config, &workspace, Some(Again { after, text, from: order }));
    }
}
