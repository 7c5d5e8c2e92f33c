//! One agent: its configuration and secrets, its host tools and files, and at most one active run. What starts and drives the
//! run is in `driver`.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::access::Access;
use super::diagnose::CalledServers;
use super::journal::Journal;
use super::live::{ActiveRun, Notice, TaskTicket};
use super::misuse::StartError;
use super::page::Page;
use super::plain::Plain;
use super::watch::Watchdog;
use super::wire::{ReadyRequest, RunConnections};
use crate::worker::{DemoHost, ToolHost, Workspace};
use turnwise_engine::{
    Answers, Authority, CallId, ChildRun, Event, ModelCall, Permissions, ProviderConfig, Run, RunConfig, Skill,
    ToolSpec,
};
use turnwise_llm::models;
use turnwise_record::trajectory::{Secrets, Trajectory};

/// A handle to one agent; clones share it.
#[derive(Clone)]
pub struct Session(pub(super) Rc<SessionState>);

pub(super) struct SessionState {
    config: RefCell<RunConfig>,
    access: RefCell<Vec<Access>>,
    known: CalledServers,
    secrets: RefCell<Rc<Secrets>>,
    pub(super) host: ToolHost,
    /// Shared with sibling sessions; released on close.
    pub(super) demo: RefCell<Option<DemoHost>>,
    workspace: Workspace,
    worker_url: String,
    page: Option<Rc<dyn Page>>,
    pub(super) host_tools: RefCell<Vec<Rc<HostTool>>>,
    /// Further tools that the page runs, by name: the run says what they are.
    page_tools: RefCell<Vec<String>>,
    answers: Cell<Answers>,
    journal: RefCell<Option<Rc<dyn Journal>>>,
    live: RefCell<Option<ActiveRun>>,
    pub(super) inbox: RefCell<VecDeque<Event>>,
    pub(super) handling: Cell<bool>,
    pub(super) running: Cell<bool>,
    pub(super) followed: Cell<bool>,
    pub(super) closed: Cell<bool>,
    tickets: Cell<u32>,
    waits_for_network: Cell<bool>,
}

/// A tool that the page runs.
#[derive(Clone, Debug)]
pub(super) struct HostTool {
    pub(super) spec: ToolSpec,
    pub(super) plain: Option<Plain>,
}

/// The options of a session.
pub struct SessionOptions {
    pub config: RunConfig,
    /// Credentials, each for its server. All of them are secrets of every run, whichever servers it calls.
    pub access: Vec<Access>,
    pub workspace: Workspace,
    /// URL of `worker.js`.
    pub worker_url: String,
    /// Calls the page's tools and models; `None`: there is no page.
    pub page: Option<Rc<dyn Page>>,
}

/// Calls of tools that run at the same time; further ones wait.
const MOST_WORKERS: u32 = 32;

/// The workers for the tools of a session.
fn host(config: &RunConfig, worker_url: String, workspace: Workspace) -> ToolHost {
    let folders = config.permissions.as_ref().map(|rules| rules.folders.clone()).unwrap_or_default();
    ToolHost::new(worker_url, workspace, config.limits.parallel_tools.min(MOST_WORKERS) as usize).with_folders(folders)
}

impl Session {
    #[must_use]
    pub fn new(options: SessionOptions) -> Self {
        let SessionOptions { config, access, workspace, worker_url, page } = options;
        let access: Vec<Access> = access.into_iter().map(Access::trimmed).collect();
        Session(Rc::new(SessionState {
            secrets: RefCell::new(Rc::new(Secrets::new(access.iter().flat_map(Access::secrets)))),
            host: host(&config, worker_url.clone(), workspace.clone()),
            demo: RefCell::new(Some(DemoHost::new(worker_url.clone()))),
            config: RefCell::new(config),
            access: RefCell::new(access),
            known: CalledServers::default(),
            workspace,
            worker_url,
            page,
            host_tools: RefCell::default(),
            page_tools: RefCell::default(),
            answers: Cell::default(),
            journal: RefCell::default(),
            live: RefCell::default(),
            inbox: RefCell::default(),
            handling: Cell::default(),
            running: Cell::default(),
            followed: Cell::default(),
            closed: Cell::default(),
            tickets: Cell::default(),
            waits_for_network: Cell::default(),
        }))
    }

    /// Has its requests wait while the browser is offline, instead of failing.
    pub fn wait_for_network(&self) {
        self.0.waits_for_network.set(true);
    }

    pub(super) fn waits_for_network(&self) -> bool {
        self.0.waits_for_network.get()
    }

    #[must_use]
    pub fn is_running(&self) -> bool {
        self.0.running.get()
    }

    /// Passes the current or last run to `f`, which must not keep it or start a run.
    pub fn with_run<R>(&self, f: impl FnOnce(Option<&Run>) -> R) -> R {
        f(self.0.live.borrow().as_ref().map(|live| &live.recorder.run))
    }

    /// Returns the record of the run so far.
    #[must_use]
    pub fn document(&self) -> Option<Trajectory> {
        self.0.live.borrow().as_ref().map(|live| live.recorder.document())
    }

    /// URL of `worker.js`.
    #[must_use]
    pub fn worker_url(&self) -> String {
        self.0.worker_url.clone()
    }

    #[must_use]
    pub fn workspace(&self) -> Workspace {
        self.0.workspace.clone()
    }

    /// Adds a page tool from the next run on, replacing any tool with the same name.
    pub fn register(&self, spec: ToolSpec) {
        let tool = HostTool { plain: Plain::from_schema(&spec.parameters), spec };
        let specs = &mut self.0.config.borrow_mut().tools;
        match specs.iter_mut().find(|spec| spec.name == tool.spec.name) {
            Some(spec) => *spec = tool.spec.clone(),
            None => specs.push(tool.spec.clone()),
        }
        let mut tools = self.0.host_tools.borrow_mut();
        tools.retain(|other| other.spec.name != tool.spec.name);
        tools.push(Rc::new(tool));
    }

    /// Removes a page tool, from the next run on.
    pub fn unregister(&self, name: &str) {
        let known = self.0.host_tools.borrow().iter().any(|tool| tool.spec.name == name);
        if known {
            self.0.host_tools.borrow_mut().retain(|tool| tool.spec.name != name);
            self.0.config.borrow_mut().tools.retain(|spec| spec.name != name);
        }
    }

    /// Has the page run the tools with these names, from the next call on.
    pub fn set_page_tools(&self, names: &[String]) {
        self.0.page_tools.replace(names.to_vec());
    }

    pub(super) fn page_runs(&self, name: &str) -> bool {
        self.0.page_tools.borrow().iter().any(|tool| tool == name)
    }

    /// Replaces the skills, from the next run on.
    pub fn set_skills(&self, skills: Vec<Skill>) {
        self.0.config.borrow_mut().skills = skills;
    }

    /// The models that this session has keys for.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderConfig> {
        self.0.config.borrow().providers.clone()
    }

    /// Replaces the credentials from the next request on. What was secret stays secret.
    pub fn set_access(&self, access: &[Access]) {
        let access: Vec<Access> = access.iter().cloned().map(Access::trimmed).collect();
        let secrets = self.secrets().and(access.iter().flat_map(Access::secrets));
        self.0.secrets.replace(Rc::new(secrets));
        self.live(|live| live.wires.values_mut().for_each(|wire| wire.set_access(&access)));
        self.0.access.replace(access);
    }

    /// Sets who answers whether calls may run, from the next run or segment on.
    pub fn set_answers(&self, answers: Answers) {
        self.0.answers.set(answers);
    }

    /// Sets the journal that stores the runs of this session from now on.
    pub fn set_journal(&self, journal: Option<Rc<dyn Journal>>) {
        self.0.journal.replace(journal);
    }

    /// Drops the last run and its observers.
    pub fn forget(&self) {
        if !self.is_running() {
            let last = self.0.live.take();
            drop(last); // outside the borrow
        }
    }

    /// Creates a separate session for a step of a plan, with the same access, host tools and files, but its own workers.
    /// `scope` separates the full texts of its truncated tool results from those of other steps.
    pub(super) fn beside(&self, config: RunConfig, scope: &str) -> Session {
        let session = Session::new(SessionOptions {
            config,
            access: self.0.access.borrow().clone(),
            workspace: self.0.workspace.scoped(scope),
            worker_url: self.0.worker_url.clone(),
            page: self.0.page.clone(),
        });
        session.0.secrets.replace(self.secrets());
        session.0.demo.replace(self.demo());
        session.0.host_tools.replace(self.0.host_tools.borrow().clone());
        session.set_page_tools(&self.0.page_tools.borrow());
        session.0.answers.set(self.answers());
        session.0.waits_for_network.set(self.waits_for_network());
        session
    }

    /// Reserves the agent for a run: it is busy until [`Session::finish`].
    pub(super) fn claim(&self) -> Result<(), StartError> {
        if self.0.closed.get() {
            return Err(StartError::Closed);
        }
        if self.0.running.replace(true) { Err(StartError::Busy) } else { Ok(()) }
    }
}

/// For the parts of the shell that perform effects.
impl Session {
    /// Returns the encoded request of a call, and the watchdog of the run; `None`: there is no run.
    pub(super) fn job(&self, call: &ModelCall) -> Option<(Result<ReadyRequest, JsValue>, Watchdog)> {
        let child = call.request.child();
        self.live(|live| {
            let run = &live.recorder.run;
            let of = run.children().iter().find(|c| c.id == child).and_then(ChildRun::run);
            let config = of.map_or(run.config(), Run::config);
            let wire = live.wires.entry(child).or_insert_with(|| RunConnections::new(config, &self.0.access.borrow()));
            (wire.prepare(config, call), live.dog.clone())
        })
    }

    pub(super) fn live<R>(&self, f: impl FnOnce(&mut ActiveRun) -> R) -> Option<R> {
        self.0.live.borrow_mut().as_mut().map(f)
    }

    pub(super) fn notify(&self, notice: Notice<'_>) {
        let observer = self.0.live.borrow().as_ref().map(|live| Rc::clone(&live.observer));
        if let Some(observer) = observer {
            observer(notice);
        }
    }

    pub(super) fn ticket(&self) -> TaskTicket {
        let next = self.0.tickets.get().wrapping_add(1);
        self.0.tickets.set(next);
        TaskTicket(next)
    }

    /// What this session brings to a run that was recorded elsewhere: its own configuration, tools and rules.
    #[must_use]
    pub fn authority(&self) -> Authority {
        let mut config = self.config();
        models::complete(&mut config);
        self.permit(&mut config);
        Authority::from(&config)
    }

    /// Returns what the options ask for and cannot have, with the tools registered now.
    #[must_use]
    pub fn contradiction(&self) -> Option<String> {
        let mut config = self.config();
        models::complete(&mut config);
        turnwise_protocol::contradiction(&config)
    }

    pub(super) fn config(&self) -> RunConfig {
        self.0.config.borrow().clone()
    }

    /// The servers that this session has called.
    pub(super) fn known(&self) -> &CalledServers {
        &self.0.known
    }

    pub(super) fn secrets(&self) -> Rc<Secrets> {
        Rc::clone(&self.0.secrets.borrow())
    }

    pub(super) fn host(&self) -> &ToolHost {
        &self.0.host
    }

    pub(super) fn demo(&self) -> Option<DemoHost> {
        self.0.demo.borrow().clone()
    }

    pub(super) fn answers(&self) -> Answers {
        self.0.answers.get()
    }

    /// Sets what decides about tool calls in this configuration: its own rules, and who answers questions in this session.
    pub(super) fn permit(&self, config: &mut RunConfig) {
        let rules = config.permissions.take().unwrap_or_default();
        config.permissions = Some(Permissions { answers: self.answers(), ..rules });
    }

    /// Returns the rules for the current run, if other rules have applied to it until now.
    pub(super) fn other_permissions(&self) -> Option<Permissions> {
        let before = self.with_run(|run| run.and_then(Run::permissions).cloned());
        let rules = self.0.config.borrow().permissions.clone().unwrap_or_default();
        let now = Permissions { answers: self.answers(), ..rules };
        (before.as_ref() != Some(&now)).then_some(now)
    }

    pub(super) fn page(&self) -> Option<Rc<dyn Page>> {
        self.0.page.clone()
    }

    /// Waits until everything so far is stored, so that requests that were sent are still known after a crash.
    pub(super) async fn kept(&self) {
        if let Some(kept) = self.journal().and_then(|journal| journal.kept()) {
            kept.await;
        }
    }

    pub(super) fn journal(&self) -> Option<Rc<dyn Journal>> {
        self.0.journal.borrow().clone()
    }

    /// Replaces the last run.
    pub(super) fn put(&self, live: ActiveRun) {
        self.0.live.replace(Some(live));
    }

    pub(super) fn host_tool(&self, name: &str) -> Option<Rc<HostTool>> {
        self.0.host_tools.borrow().iter().find(|tool| tool.spec.name == name).cloned()
    }

    /// The names of the tools that the run which made the call offers.
    pub(super) fn tool_names(&self, call: &CallId) -> Vec<String> {
        let names =
            self.live(|live| live.recorder.run.config_of(call).tools.iter().map(|spec| spec.name.clone()).collect());
        names.unwrap_or_default()
    }

    /// Returns the tool as it is offered by the run that made the call.
    pub(super) fn offered(&self, call: &CallId, name: &str) -> Option<ToolSpec> {
        self.live(|live| {
            let config = live.recorder.run.config_of(call);
            config.tools.iter().find(|spec| spec.name == name).cloned()
        })
        .flatten()
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions").field("config", &self.config).finish_non_exhaustive()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("running", &self.is_running()).finish_non_exhaustive()
    }
}
