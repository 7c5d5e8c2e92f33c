//! Agents: creates them, gives them tools and files, runs, stops and releases them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use super::calls::{PageCalls, PageOf};
use super::outbox::{AskError, Outbox};
use crate::shell::{Access, Notice, Page, PlanSession, Session, SessionOptions, StartError, UserInput, random_seed};
use crate::worker::{Workspace, WorkspaceSync, records};
use turnwise_engine::{Answers, Branch, Image, Message, ProviderConfig, Record, RecordKind, Run};
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_protocol::{
    AccessOptions, AgentFileChange, AgentId, AgentOptions, Approver, AskId, DeltaEvent, DeltaKind, EventStep,
    Listening, RunEvent, WorkerMessage,
};
use turnwise_record::trajectory::{Carried, Restored, ResumePoint};

/// One agent of the page.
pub(super) struct HostedAgent {
    pub(super) session: Session,
    pub(super) outbox: Rc<Outbox>,
    /// The request that the current run will answer.
    segment: Cell<Option<Segment>>,
    calls_left: Cell<u32>,
    /// The running plan.
    pub(super) plan: RefCell<Option<PlanSession>>,
    /// How often the agent was stopped, and cancelled: a run that is still reading its `after` has not started yet, but must end too.
    pub(super) asked_to_end: Cell<(u32, u32)>,
    /// The page released the agent: everything ends with the current run.
    last: Cell<bool>,
    files: RefCell<Option<Rc<WorkspaceSync>>>,
}

/// A run, or its continuation, from start to end.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) id: AskId,
    pub(super) listens: bool,
}

impl HostedAgent {
    pub(super) fn open(
        id: AgentId,
        options: AgentOptions,
        worker_url: &str,
        calls: &Rc<PageCalls>,
        outbox: &Rc<Outbox>,
    ) -> Result<Rc<Self>, String> {
        let config = options.config(random_seed())?;
        let workspace = Workspace::new();
        let page: Rc<dyn Page> = Rc::new(PageOf { calls: Rc::clone(calls), agent: Some(id) });
        let given = config.providers.iter().zip(options.access).enumerate();
        let access = given.map(|(at, (provider, given))| access(at, provider, given)).collect();
        let session = Session::new(SessionOptions {
            config,
            access,
            workspace: workspace.clone(),
            worker_url: options.worker_url.unwrap_or_else(|| worker_url.to_owned()),
            page: Some(page),
        });
        let agent = Rc::new(HostedAgent {
            session,
            outbox: Rc::clone(outbox),
            segment: Cell::default(),
            calls_left: Cell::default(),
            plan: RefCell::default(),
            asked_to_end: Cell::default(),
            last: Cell::default(),
            files: RefCell::default(),
        });
        let outbox = Rc::clone(outbox);
        let twin = WorkspaceSync::new(workspace, move |files, blobs| {
            outbox.tell(&WorkerMessage::Wrote { agent: id, files }, blobs.into_iter().map(JsValue::from));
        });
        agent.files.replace(Some(twin));
        Ok(agent)
    }

    /// Applies file changes made by the page. `parts` has a blob for each path that still exists, in the same order.
    pub(super) fn take_files(&self, files: Vec<AgentFileChange>, parts: &mut VecDeque<JsValue>) {
        let there = files.iter().filter(|file| file.there).count();
        let blobs = parts.drain(..there.min(parts.len())).filter_map(|part| part.dyn_into().ok());
        let twin = self.files.borrow().clone();
        if let Some(twin) = twin {
            twin.take(files, blobs);
        }
    }

    /// Starts a run, now or once the record that it follows has been read.
    pub(super) fn run(self: &Rc<Self>, id: AskId, input: UserInput, before: PriorHistory, how: Listening) {
        match before {
            _ if self.session.is_running() => self.outbox.refused(id, &StartError::Busy.into()),
            PriorHistory::Messages(history) => {
                self.begin(id, input, Some(Carried { history, ..Carried::default() }), how);
            }
            // Here, not in the tools' worker: a chat without tools then never loads it, and that of the docs agent needs no engine.
            PriorHistory::Run(text) => match Carried::from_record(&text) {
                Ok(carried) => self.begin(id, input, Some(carried), how),
                Err(error) => self.outbox.refused(id, &AskError::Wrong(format!("options.after: {error}"))),
            },
        }
    }

    /// Resumes a recorded run, or branches from one.
    pub(super) fn restart(self: &Rc<Self>, id: AskId, task: DocumentTask, text: String, how: Listening) {
        if self.session.is_running() {
            return self.outbox.refused(id, &StartError::Busy.into());
        }
        self.read(id, task, "trajectory", text, move |agent, ResumePoint { config, task, events, branch }| {
            let providers = agent.session.providers();
            let restored = Restored::from_events(config, task, events);
            // After the replay: events can change the models that a run began with.
            if branch.is_none() && !same_models(&restored.recorder.run, &providers) {
                return agent.outbox.refused(id, &AskError::Wrong(OTHER_MODEL.to_owned()));
            }
            let ear = Rc::clone(agent);
            let listener = move |notice: Notice<'_>| ear.on_notice(notice);
            agent.segment(id, how, |session| {
                let authority = session.authority();
                match branch {
                    Some(branch) => {
                        let others = restored.recorder.run.config().providers != providers;
                        let providers = others.then_some(providers);
                        let authority = Some(Box::new(authority));
                        session.branch(restored, Branch { providers, authority, ..branch }, listener)
                    }
                    None => {
                        session.restore(restored);
                        session.observe(listener);
                        session.resume(Some(authority))
                    }
                }
            });
        });
    }

    /// Answers with the current record.
    pub(super) fn checkpoint(&self, id: AskId) {
        match self.session.document() {
            Some(document) => self.outbox.done(id, &document),
            None => self.outbox.done(id, &()),
        }
    }

    /// Has a worker read the text of a record, which the page calls `name`, and continues with the result.
    fn read<T: DeserializeOwned>(
        self: &Rc<Self>,
        id: AskId,
        task: DocumentTask,
        name: &'static str,
        text: String,
        then: impl FnOnce(&Rc<Self>, T) + 'static,
    ) {
        let (agent, before) = (Rc::clone(self), self.asked_to_end.get());
        spawn_local(async move {
            let answer = records::ask(agent.session.worker_url(), task, text).await;
            match answer.and_then(|answer| serde_json::from_str(&answer).map_err(|error| error.to_string())) {
                Ok(read) => {
                    then(&agent, read);
                    agent.end_as_asked(before);
                }
                Err(error) => agent.outbox.refused(id, &AskError::Wrong(format!("{name}: {error}"))),
            }
        });
    }

    fn begin(self: &Rc<Self>, id: AskId, input: UserInput, after: Option<Carried>, how: Listening) {
        self.segment(id, how, |session| {
            let agent = Rc::clone(self);
            session.start(input, after, move |notice| agent.on_notice(notice))
        });
    }

    pub(super) fn grant(self: &Rc<Self>, id: AskId, turns: u32, how: Listening) {
        self.segment(id, how, |session| session.grant(turns, None));
    }

    fn segment(&self, id: AskId, how: Listening, start: impl FnOnce(&Session) -> Result<(), StartError>) {
        if self.session.is_running() {
            return self.outbox.refused(id, &StartError::Busy.into());
        }
        if let Some(fault) = self.session.contradiction() {
            return self.outbox.refused(id, &AskError::Wrong(format!("options: {fault}")));
        }
        self.permit(how.approve);
        self.segment.set(Some(Segment { id, listens: how.listens }));
        if let Err(refused) = start(&self.session) {
            self.segment.take();
            self.outbox.refused(id, &refused.into());
        }
    }

    pub(super) fn permit(&self, approval: Approver) {
        match approval {
            Approver::Nobody => self.session.set_answers(Answers::Nobody),
            Approver::Ask => self.session.set_answers(Answers::Page),
            Approver::All => self.session.set_answers(Answers::All),
            Approver::Same => {}
        }
    }

    fn on_notice(&self, notice: Notice<'_>) {
        let Some(segment) = self.segment.get() else { return };
        if let Notice::Record(record) = notice {
            self.calls_left.set(record.calls_left);
        }
        self.tell(segment, notice, self.calls_left.get(), None);
        if matches!(notice, Notice::Record(record) if is_terminal(record)) {
            self.segment.take();
            if let Some(document) = self.session.document() {
                self.outbox.done(segment.id, &document);
            }
            self.rest();
        }
    }

    /// Reports one event of a run or of a plan's step.
    pub(super) fn tell(&self, segment: Segment, notice: Notice<'_>, calls_left: u32, step: Option<EventStep>) {
        if !segment.listens {
            return;
        }
        let (kind, child, turn, text) = match notice {
            Notice::Record(record) => return self.outbox.event(segment.id, &RunEvent::from_record(record, step)),
            Notice::TextDelta { child, turn, text } => (DeltaKind::Text, child, turn, text),
            Notice::ReasoningDelta { child, turn, text } => (DeltaKind::Reasoning, child, turn, text),
        };
        self.outbox.streamed(segment.id, DeltaEvent { kind, child, turn, calls_left, text, step });
    }

    /// Ends what has just begun, if that was asked for since then.
    pub(super) fn end_as_asked(&self, (stops, cancels): (u32, u32)) {
        match self.asked_to_end.get() {
            (_, now) if now != cancels => self.cancel(),
            (now, _) if now != stops => self.stop(),
            _ => {}
        }
    }

    pub(super) fn stop(&self) {
        let (stops, cancels) = self.asked_to_end.get();
        self.asked_to_end.set((stops.wrapping_add(1), cancels));
        match self.plan_under_way() {
            Some(plan) => plan.stop(),
            None => self.session.stop(),
        }
    }

    pub(super) fn cancel(&self) {
        let (stops, cancels) = self.asked_to_end.get();
        self.asked_to_end.set((stops, cancels.wrapping_add(1)));
        match self.plan_under_way() {
            Some(plan) => plan.cancel(),
            None => self.session.cancel(),
        }
    }

    /// Lets the current run end, then releases everything.
    pub(super) fn close(&self) {
        self.last.set(true);
        self.rest();
    }

    /// Releases everything, if the page released the agent and nothing is running.
    pub(super) fn rest(&self) {
        if self.last.get() && !self.session.is_running() {
            self.files.take();
            self.session.close();
            self.session.forget(); // its observer knows this agent
        }
    }

    // Cloned out of the cell first: the plan's own events empty it.
    fn plan_under_way(&self) -> Option<PlanSession> {
        self.plan.borrow().clone()
    }
}

/// The history that a run continues.
pub(super) enum PriorHistory {
    /// The text of a trajectory.
    Run(String),
    /// A conversation from the page; may be empty.
    Messages(Vec<Message>),
}

const OTHER_MODEL: &str =
    "trajectory: the run was made with another model or address than this agent's; branch from it";

/// Whether a recorded run uses these models: the conversation with other ones is not continued unasked.
fn same_models(run: &Run, own: &[ProviderConfig]) -> bool {
    let model =
        |provider: &ProviderConfig| (provider.kind, turnwise_llm::server(provider).ok(), provider.model.clone());
    run.config().providers.iter().map(model).eq(own.iter().map(model))
}

/// Decodes data URLs, which the page has checked.
pub(super) fn images(urls: &[String]) -> Vec<Image> {
    urls.iter().filter_map(|url| Image::from_data_url(url)).collect()
}

/// Converts the credentials of a provider, which is the `at`th of the configuration.
pub(super) fn access(at: usize, provider: &ProviderConfig, given: AccessOptions) -> Access {
    let AccessOptions { api_key, headers, in_page } = given;
    Access { server: turnwise_llm::server(provider).ok(), api_key, headers, in_page: in_page.then_some(at) }
}

pub(super) fn is_terminal(record: &Record) -> bool {
    matches!(record.what, RecordKind::AgentFinished { .. } | RecordKind::AgentFailed { .. })
}

impl From<StartError> for AskError {
    fn from(error: StartError) -> Self {
        AskError::Untimely(error.to_string())
    }
}
