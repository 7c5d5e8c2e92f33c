//! The user's actions, wired to sessions. Contains no rules about runs: the engine refuses what makes no sense.

use std::cell::RefCell;
use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::shell::{random_seed, session_id};
use turnwise::worker::Workspace;
use turnwise_content::format::counted;
use turnwise_engine::{EpochMillis, Image, ProviderConfig, RunConfig, Task, ToolSpec, time};
use turnwise_llm::models;
use turnwise_protocol::app::{Order, RunLocation, VersionOf};
use turnwise_protocol::snapshot::SnapshotStart;
use turnwise_view::provider::address;
use turnwise_view::settings::ConfigField;
use turnwise_view::tasks::ExampleTask;
use turnwise_view::{FilePreview, PanelPhase, RailView, RunSource};

use crate::browser::dom;
use crate::browser::focus;
use crate::client::app_worker::RunClient;
use crate::client::live::LiveRun;
use crate::client::slots::{Behind, Local, RunPage};
use crate::files::library::workspace;
use crate::files::samples;
use crate::settings::id_of;
use crate::state::{App, Backing, Dialog, OpenRecord, TaskInput, Thread};
use crate::transcript::follow;
use crate::viewer::state::View;

impl App {
    /// Returns whether the open thread has a run under way.
    pub fn running(&self) -> bool {
        self.phase().is_some_and(|phase| phase != PanelPhase::Ended)
    }

    /// Returns the phase of the open thread's last run.
    pub fn phase(&self) -> Option<PanelPhase> {
        self.page().map(|page| page.panel.with(|panel| panel.phase))
    }

    /// Runs the content of the task box: as a new thread, or as a follow-up in the open one, at once or when its run
    /// has ended.
    pub fn submit(&self) {
        let input = self.composer().draft.get_untracked().trim().to_owned();
        if input.is_empty() {
            dom::focus(dom::TASK);
            return;
        }
        if let Some((thread, place)) = untrack(|| self.edited()) {
            return self.run_edited_prompt(&thread, place, input);
        }
        if let Some(thread) = self.thread_now().filter(Thread::is_running) {
            self.composer().draft.set(String::new());
            return self.queue(&thread, TaskInput { text: input, pictures: self.take_pictures() });
        }
        if let Some(config) = self.config() {
            let asked = TaskInput { text: input, pictures: self.take_pictures() };
            // Before the new thread shows a task box of its own.
            self.composer().draft.set(String::new());
            match self.thread_now() {
                Some(thread) => self.follow_up(&thread, asked, config),
                None => self.begin(asked, config),
            }
        }
    }

    pub fn run_example(&self, task: &'static ExampleTask) {
        if let Some(mut config) = self.config() {
            task.apply(&mut config);
            let (app, asked) = (*self, TaskInput { text: task.text.to_owned(), pictures: Vec::new() });
            if task.files.is_empty() {
                return samples::when_loaded(app, move || {
                    app.begin_with(asked, app.with_kept(config), app.workspace_of_samples());
                });
            }
            spawn_local(async move {
                match samples::of_example(task.files).await {
                    Ok(files) => app.begin_with(asked, config, app.workspace_of(files)),
                    Err(path) => app.complain(format!("{path} could not be loaded, so nothing was started.")),
                }
            });
        }
    }

    /// Runs the task of a run of the open thread again with the current settings, after what came before it: a branch keeps what
    /// it changed, a follow-up its conversation. `place`: its index.
    pub fn ask_again_at(&self, place: usize) {
        let Some(thread) = self.thread_now() else { return };
        let Some(page) = thread.pages.with_untracked(|pages| pages.get(place).cloned()) else { return };
        let Some(config) = self.config() else { return };
        let is_branch = page.handle().and_then(|handle| handle.start()).is_some_and(|start| start.parent.is_some());
        if is_branch {
            return self.branch_again(place, &config);
        }
        let asked = TaskInput { text: page.head.task, pictures: page.head.pictures };
        if place > 0 {
            return match self.find_again(&thread) {
                Ok(()) => self.run_after(&thread, place, asked, config, None),
                Err(why) => self.complain(why),
            };
        }
        match workspace(Some(thread)) {
            Some(before) => self.begin_with(asked, config, self.workspace_again(&before)),
            None => self.begin(asked, config),
        }
    }

    /// Ends the open thread's run now; the text that has arrived is kept.
    pub fn stop(&self) {
        self.with_handle(RunClient::cancel);
    }

    /// Asks the open thread's run to conclude from what it has.
    pub fn wrap_up(&self) {
        self.with_handle(RunClient::stop);
    }

    /// Stops the open run or plan; `false`: nothing runs here.
    pub fn stop_what_runs(&self) -> bool {
        let of_plan = self.plan().map(|plan| plan.panel.with(|panel| panel.running && !panel.elsewhere));
        let runs = || {
            let page = self.page();
            page.is_some_and(|page| page.panel.with(|panel| panel.phase != PanelPhase::Ended && !panel.elsewhere))
        };
        match of_plan {
            Some(true) => self.stop_plan(),
            None if runs() => self.stop(),
            _ => return false,
        }
        true
    }

    pub fn grant(&self, turns: u32) {
        if self.own_model_lacks_key() {
            return;
        }
        let app = *self;
        self.with_handle(|handle| handle.grant(turns, app.authority_for(handle)));
        follow::set_at_end(*self, true);
    }

    /// Makes a read-only thread from a record, without showing it: for a long record, that is a browser task of its
    /// own.
    pub fn record_thread(&self, record: &OpenRecord) -> Thread {
        let source = RunSource::from(record.whole.as_ref()).recorded();
        let page = RunPage::new(0, &source, Behind::Document(Arc::clone(&record.whole)));
        Thread {
            id: self.next_id(),
            began_ms: dom::began(source.started_at.0),
            pages: ArcRwSignal::new(vec![page]),
            rail: ArcRwSignal::new(RailView::from(&source)),
            backing: Backing::Document(record.clone()),
            session_id: None,
            queued: ArcRwSignal::default(),
        }
    }

    pub fn new_run(&self) {
        self.start_page();
        self.rail_open.set(false);
        self.toast.set(None);
        dom::focus(dom::TASK);
        // Where there was none to write in, it is not drawn yet.
        focus::to(format!("#{}", dom::TASK));
    }

    pub fn start_page(&self) {
        self.visits.update_value(|visits| *visits += 1);
        self.view.set(View::Transcript);
        self.end_editing();
        self.feature.set(None);
        self.current.set(None);
        self.switch_draft();
        start_at_top();
        focus::arrive();
    }

    pub fn open_thread(&self, id: u32) {
        start_at_top();
        self.visits.update_value(|visits| *visits += 1);
        self.view.set(View::Transcript);
        self.end_editing();
        self.feature.set(None);
        self.current.set(Some(id));
        self.switch_draft();
        self.rail_open.set(false);
        // A document is read from its beginning; a run is followed at its end.
        let document = matches!(self.thread_now().map(|thread| thread.backing), Some(Backing::Document(_)));
        self.reading().unseen.set(false);
        self.reading().at_end.set(!document);
        follow::keep_up(*self);
        self.give_back_unsent();
        // Its line in the list, unless the list is closed.
        dom::after_frame(move |_| {
            if document {
                follow::to_start();
            }
            let line = dom::document().query_selector(".run[aria-current=true]").ok().flatten();
            line.filter(focus::is_shown).iter().for_each(dom::reveal);
        });
        focus::arrive();
    }

    pub fn model_name(&self) -> String {
        self.preview().model
    }

    /// Returns what the next run would have; invalid settings fall back to the preset's values.
    pub fn preview(&self) -> FilePreview {
        FilePreview::from(&self.preview_config())
    }

    /// Returns the configuration behind it.
    pub fn preview_config(&self) -> RunConfig {
        self.settings.with(|settings| settings.draft(turnwise_tools::all())).0
    }

    /// Updates the clock of countdowns and elapsed times.
    pub fn tick(&self) {
        self.now.set(dom::now());
    }

    /// Returns the next run's configuration; if a setting is wrong or the key is missing, opens what sets it and says so.
    pub fn config(&self) -> Option<RunConfig> {
        let (built, seeded) = self.settings.with_untracked(|settings| {
            (settings.build(turnwise_tools::all()), !settings.value(ConfigField::Seed).is_empty())
        });
        match built {
            Ok(config) if self.lacks_key(&config) => None,
            Ok(config) => {
                self.note_model();
                let config = self.with_kept(self.with_folders(config));
                Some(if seeded { config } else { RunConfig { seed: random_seed(), ..config } })
            }
            Err(errors) => {
                let (field, message) = errors.into_iter().next().map(|error| (error.field, error.message)).unzip();
                let message = message.unwrap_or_default();
                self.connect().refused.set(true);
                match field {
                    Some(field @ (ConfigField::BaseUrl | ConfigField::Model)) => self.open_connect_at(&id_of(field)),
                    _ => self.dialog.set(Some(Dialog::Settings)),
                }
                self.complain(format!("A setting is wrong: {message}"));
                None
            }
        }
    }

    /// Gives a run the skills and the services of the user.
    pub fn with_kept(&self, config: RunConfig) -> RunConfig {
        self.with_skills(self.with_services(config))
    }

    /// The tools that runs can have.
    pub fn tools(&self) -> Vec<ToolSpec> {
        let own = self.services().offered.with(|offered| offered.tools.clone());
        turnwise_tools::all().into_iter().chain(own).collect()
    }

    fn begin(&self, asked: TaskInput, config: RunConfig) {
        let app = *self;
        // The files and the skills of earlier visits may be known only now.
        samples::when_ready(app, move || {
            let begin = move || app.begin_with(asked, app.with_kept(config), app.new_workspace());
            if untrack(|| app.reads_samples()) { samples::when_loaded(app, begin) } else { begin() }
        });
    }

    fn begin_with(&self, asked: TaskInput, config: RunConfig, workspace: Workspace) {
        self.run_in_new_thread(asked, config, workspace, None, None);
    }

    /// Starts a run in a thread of its own. `before`: the run whose conversation it continues. `version`: the run whose prompt it
    /// changes.
    pub fn run_in_new_thread(
        &self,
        asked: TaskInput,
        config: RunConfig,
        workspace: Workspace,
        before: Option<&RunClient>,
        version: Option<VersionOf>,
    ) {
        let files = files_fact(&workspace);
        self.toast.set(None);
        let Some((handle, mut page)) = self.start(asked, config, &workspace, before, None, version) else { return };
        page.head.facts.push(files);
        page.head.facts.extend(before.map(|_| "continues an earlier conversation".to_owned()));
        let rail = ArcRwSignal::new(handle.look(|source| RailView::from(source)).unwrap_or_default());
        self.draw(&handle, &page, &rail);
        self.add_run(vec![page], rail, handle, workspace);
        follow::set_at_end(*self, true);
        follow::keep_up(*self);
    }

    pub fn follow_up(&self, thread: &Thread, asked: TaskInput, config: RunConfig) {
        let Backing::Live { handle, workspace } = &thread.backing else { return };
        let last = handle.borrow().clone();
        if last.location() != RunLocation::Here {
            return self.complain("This run has not ended: resume it first, or wait for the tab that runs it.");
        }
        if let Err(why) = self.find_again(thread) {
            return self.complain(why);
        }
        let session_id = last.start().map(|start| start.session_id);
        let Some((next, page)) = self.start(asked, config, workspace, Some(&last), session_id, None) else { return };
        let page = RunPage { place: thread.pages.with_untracked(Vec::len), ..page };
        self.draw(&next, &page, &thread.rail);
        let panel = page.panel.clone();
        thread.pages.update(|pages| pages.push(page));
        handle.replace(next);
        last.close();
        // A queued follow-up may begin while another thread is being read.
        if self.is_open(&panel) {
            follow::set_at_end(*self, true);
            follow::keep_up(*self);
        }
    }

    /// Starts a run, as a follow-up if `after` is given, in a session of its own if no other is given. Returns what is shown of
    /// it before the worker has reported anything.
    fn start(
        &self,
        asked: TaskInput,
        mut config: RunConfig,
        workspace: &Workspace,
        after: Option<&RunClient>,
        session_id: Option<String>,
        version: Option<VersionOf>,
    ) -> Option<(RunClient, RunPage)> {
        let line = self.line.get_value()?;
        models::complete(&mut config);
        let TaskInput { text, pictures } = asked;
        let images: Vec<Image> = pictures.iter().map(|picture| picture.image.as_ref().clone()).collect();
        let mut task = Task { images, ..new_task(&config, text) };
        if let Some(session_id) = session_id {
            task.session_id = session_id;
        }
        let handle = line.begin(SnapshotStart {
            run_id: task.run_id.clone(),
            session_id: task.session_id.clone(),
            config: config.clone().normalized(),
            input: task.input.clone(),
            images: task.images.clone(),
            started_at: task.started_at,
            parent: None,
            branches: Vec::new(),
            imported: None,
        });
        let (with, after) = (line.with(workspace), after.map(RunClient::id));
        let (config, task) = (Box::new(config), Box::new(task));
        line.tell(&Order::Run { handle: handle.id(), with, config, task, after, kept: true, version }, Vec::new());
        let mut page = RunPage::from_handle(&handle, 0)?;
        // With their file names, which a record does not keep.
        page.head.pictures = pictures;
        Some((handle, page))
    }

    /// Draws a run while it is running.
    pub fn draw(&self, handle: &RunClient, page: &RunPage, rail: &ArcRwSignal<RailView>) -> LiveRun {
        let live = LiveRun::new(*self, page.clone(), rail.clone(), self.renderer.get_value());
        let hearing = live.clone();
        handle.observe(move |streamed, changed| hearing.apply(streamed, changed));
        live
    }

    /// Adds a thread of runs; the last one is in this handle.
    pub fn add_run(&self, pages: Vec<RunPage>, rail: ArcRwSignal<RailView>, handle: RunClient, workspace: Workspace) {
        self.list_all();
        self.add_thread(self.run_thread(pages, rail, handle, workspace));
    }

    /// Makes a thread of runs; the last one is in this handle.
    pub fn run_thread(
        &self,
        pages: Vec<RunPage>,
        rail: ArcRwSignal<RailView>,
        handle: RunClient,
        workspace: Workspace,
    ) -> Thread {
        let session_id = handle.start().map(|start| start.session_id);
        let backing = Backing::Live { handle: Local::new(RefCell::new(handle)), workspace: Local::new(workspace) };
        Thread {
            id: self.next_id(),
            began_ms: dom::now(),
            pages: ArcRwSignal::new(pages),
            rail,
            backing,
            session_id,
            queued: ArcRwSignal::default(),
        }
    }

    /// Returns the key that the user gave for a provider's address.
    pub fn key_for(&self, provider: &ProviderConfig) -> Option<String> {
        let key = || self.keys.with_untracked(|keys| keys.get(&address(provider)));
        provider.kind.is_http().then(key).flatten()
    }

    /// Starts a run that is neither drawn nor stored, without files.
    pub fn run_apart(&self, mut config: RunConfig, input: String) -> Option<RunClient> {
        let line = self.line.get_value()?;
        models::complete(&mut config);
        let (handle, with) = (line.handle(), line.with_no_files());
        let (task, config) = (Box::new(new_task(&config, input)), Box::new(config));
        line.tell(
            &Order::Run { handle: handle.id(), with, config, task, after: None, kept: false, version: None },
            Vec::new(),
        );
        Some(handle)
    }

    pub fn with_handle(&self, act: impl FnOnce(&RunClient)) {
        let Some(thread) = self.thread_now() else { return };
        let Backing::Live { handle, .. } = &thread.backing else { return };
        // Cloned out of the cell first: the handle's messages may read the cell.
        let handle = handle.borrow().clone();
        match self.find_again(&thread) {
            Ok(()) => act(&handle),
            Err(why) => self.complain(why),
        }
    }

    pub fn add_thread(&self, thread: Thread) {
        let id = thread.id;
        self.threads.update(|threads| threads.push(thread));
        self.open_thread(id);
    }

    pub fn next_id(&self) -> u32 {
        self.threads.with_untracked(|threads| threads.iter().map(|thread| thread.id).max().map_or(1, |id| id + 1))
    }
}

/// Says at the top of a run how many files it has.
pub fn files_fact(workspace: &Workspace) -> String {
    format!("{} in the workspace", counted(workspace.list().len() as u64, "file"))
}

/// Returns a task that begins now, in its own session.
fn new_task(config: &RunConfig, input: String) -> Task {
    let started_at = EpochMillis(dom::now());
    let (run_id, session_id) = (time::run_id(started_at, config.seed), session_id(started_at.0, config.seed));
    Task { run_id, session_id, input, started_at, ..Task::default() }
}

/// Scrolls the start page to its top, before it is left and when it comes back: the browser keeps the place in the meantime.
fn start_at_top() {
    if let Ok(Some(main)) = dom::document().query_selector("main") {
        main.set_scroll_top(0);
    }
}
