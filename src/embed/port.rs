//! The worker's end of the connection: receives the page's posts, with one handler per message.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use js_sys::{Array, Function, Uint8Array};
use serde::Deserialize;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::*;

use super::agents::{HostedAgent, PriorHistory, images};
use super::asks;
use super::calls::{PageCalls, PageOf};
use super::docs::Sites;
use super::outbox::{AskError, Outbox};
use super::plans::Wish;
use crate::docs_fetch::DocsOptions;
use crate::shell::{Page, PageOutput, Returned, StartError, UserInput, js};
use crate::worker;
use turnwise_protocol::{AgentId, AskId, Command, DocumentTask, VERSION, WorkerMessage};

/// Handles an order of the app's page for its run manager: the order's text, and its parts.
///
/// # Errors
/// The text is no order.
pub type TakeOrder = Box<dyn Fn(&str, Vec<JsValue>) -> Result<(), serde_json::Error>>;

/// What a run manager gets when it opens: calls of its page, and what sends it a message.
pub type OpenRunManager = fn(Rc<dyn Page>, PostNews) -> TakeOrder;

/// Sends a text and its parts to the app's page.
pub type PostNews = Box<dyn Fn(String, Vec<JsValue>)>;

/// One page's connection to this module. Each module exports it as `Port` (`modules/agent`, `modules/app-worker`).
pub struct Port {
    outbox: Rc<Outbox>,
    calls: Rc<PageCalls>,
    sites: Rc<Sites>,
    agents: RefCell<BTreeMap<AgentId, Rc<HostedAgent>>>,
    /// URL of `worker.js`.
    worker_url: RefCell<String>,
    /// Opens the app's run manager with its first order, in the module that has one.
    open_manager: Option<OpenRunManager>,
    manager: OnceCell<TakeOrder>,
    /// Whether the page said `hello` in this version of the protocol.
    met: Cell<bool>,
}

impl Port {
    /// Creates a port. `post(text, parts)` sends a post to the page; `tool_worker` is the URL of `worker.js`, unless the page
    /// sets another; `make_worker(url, name)` creates the workers for tools, documents and Markdown. Default: `new Worker`.
    #[must_use]
    pub fn new(post: Function, tool_worker: String, make_worker: Option<Function>) -> Port {
        worker::make_by(make_worker);
        let outbox = Outbox::new(post.clone());
        std::panic::set_hook(Box::new(move |info| {
            let fatal = WorkerMessage::Fatal { message: &info.to_string() };
            let text = serde_json::to_string(&[fatal]).unwrap_or_default();
            let _ = post.call2(&JsValue::UNDEFINED, &text.into(), &Array::new());
        }));
        Port {
            calls: PageCalls::new(Rc::clone(&outbox)),
            sites: Sites::new(Rc::clone(&outbox)),
            outbox,
            agents: RefCell::default(),
            worker_url: RefCell::new(tool_worker),
            open_manager: None,
            manager: OnceCell::new(),
            met: Cell::default(),
        }
    }

    /// The same with a manager, for the app.
    #[must_use]
    pub fn with_manager(self, open: OpenRunManager) -> Port {
        Port { open_manager: Some(open), ..self }
    }

    /// Handles one post from the page.
    pub fn receive(&self, post: &JsValue) {
        let (text, mut parts): (JsValue, VecDeque<JsValue>) = match post.dyn_ref::<Array>() {
            Some(post) => (post.get(0), post.iter().skip(1).collect()),
            None => (post.clone(), VecDeque::new()),
        };
        let text = text.as_string().unwrap_or_default();
        let unread = |error| self.fatal(&format!("the page posted a message that cannot be read: {error}"));
        let commands = match serde_json::from_str::<Vec<&RawValue>>(&text) {
            Ok(commands) => commands,
            Err(error) => return unread(error),
        };
        for command in commands {
            match serde_json::from_str(command.get()) {
                Ok(command) => self.take(command, &mut parts),
                Err(error) => match UnreadCommand::of(command) {
                    Some(ask) => self.refuse(&ask, &error, &mut parts),
                    None => unread(error),
                },
            }
        }
    }
}

/// What is read of a question that cannot be read whole: the page's checks let data through that has another shape in the engine,
/// such as a message of an earlier conversation, or that is nested too deep. It ends its call, not the agent.
#[derive(Deserialize)]
struct UnreadCommand {
    id: AskId,
    #[serde(default)]
    after: bool,
}

impl UnreadCommand {
    fn of(command: &RawValue) -> Option<UnreadCommand> {
        let named: HashMap<String, UnreadCommand> = serde_json::from_str(command.get()).ok()?;
        named.into_values().next()
    }
}

impl Port {
    fn refuse(&self, ask: &UnreadCommand, error: &serde_json::Error, parts: &mut VecDeque<JsValue>) {
        if ask.after {
            text_part(parts);
        }
        self.outbox.refused(ask.id, &AskError::Wrong(format!("the engine cannot read what was passed: {error}")));
    }

    fn take(&self, command: Command, parts: &mut VecDeque<JsValue>) {
        if !self.met.get() && !matches!(command, Command::Hello { .. }) {
            return self.fatal("the page must send its hello message first");
        }
        match command {
            Command::Hello { protocol, page, worker, only } => {
                js::ask_only(only);
                self.meet(protocol, page, worker);
            }
            Command::Open { agent, options } => {
                let made = HostedAgent::open(agent, *options, &self.worker_url.borrow(), &self.calls, &self.outbox);
                match made {
                    Ok(made) => drop(self.agents.borrow_mut().insert(agent, made)),
                    Err(error) => self.fatal(&error),
                }
            }
            Command::Tool { agent, tool } => self.with(agent, |agent| agent.session.register(tool)),
            Command::Untool { agent, name } => self.with(agent, |agent| agent.session.unregister(&name)),
            Command::Skills { agent, skills } => self.with(agent, |agent| agent.session.set_skills(skills)),
            Command::Files { agent, files } => self.with(agent, |agent| agent.take_files(files, parts)),
            Command::App { parts: count } => {
                let parts = parts.drain(..count.min(parts.len())).collect();
                self.order(parts);
            }
            Command::Run { id, agent, task, images: urls, after, history, how } => {
                let before = if after { PriorHistory::Run(text_part(parts)) } else { PriorHistory::Messages(history) };
                let input = UserInput { text: task, images: images(&urls) };
                self.ask(id, agent, |agent| agent.run(id, input, before, how));
            }
            Command::Resume { id, agent, how } => {
                let text = text_part(parts);
                self.ask(id, agent, |agent| agent.restart(id, DocumentTask::Resume, text, how));
            }
            Command::Branch { id, agent, how } => {
                let text = text_part(parts);
                self.ask(id, agent, |agent| agent.restart(id, DocumentTask::Branch, text, how));
            }
            Command::Checkpoint { id, agent } => self.ask(id, agent, |agent| agent.checkpoint(id)),
            Command::Grant { id, agent, turns, how } => self.ask(id, agent, |agent| agent.grant(id, turns, how)),
            Command::Plan { id, agent, plan, parallel, from, after, how } => {
                let after = after.then(|| text_part(parts));
                self.ask(id, agent, |agent| agent.run_plan(id, &plan, Wish { parallel, from, after, how }));
            }
            Command::Stop { agent } => self.with(agent, |agent| agent.stop()),
            Command::Cancel { agent } => self.with(agent, |agent| agent.cancel()),
            Command::Close { agent } => {
                let closed = self.agents.borrow_mut().remove(&agent);
                if let Some(agent) = closed {
                    agent.close();
                }
            }
            Command::Document { id, task, name } => {
                let worker_url = self.worker_url.borrow().clone();
                asks::document(&self.outbox, id, worker_url, task, name, text_part(parts));
            }
            Command::Render { id, markdown, worker_url } => {
                let url = worker_url.unwrap_or_else(|| self.worker_url.borrow().clone());
                asks::render(&self.outbox, id, url, markdown);
            }
            Command::Page { id, url, content_type } => {
                let body = parts.pop_front().and_then(|part| part.dyn_into().ok());
                asks::page(&self.outbox, id, self.worker_url.borrow().clone(), url, content_type, body);
            }
            Command::Models { id, provider } => asks::models(&self.outbox, id, *provider),
            Command::DocsOpen { id, site, page, html, source, cache, credentials, bridged, worker_url } => {
                let worker_url = worker_url.unwrap_or_else(|| self.worker_url.borrow().clone());
                self.sites.open(id, site, |on_progress| DocsOptions {
                    page,
                    html,
                    source,
                    cache,
                    credentials,
                    bridge: bridged
                        .then(|| -> Rc<dyn Page> { Rc::new(PageOf { calls: Rc::clone(&self.calls), agent: None }) }),
                    worker_url,
                    on_progress,
                });
            }
            Command::DocsSearch { id, site, query, limit } => self.sites.search(id, site, query, limit),
            Command::DocsCall { id, site, name, arguments } => self.sites.call(id, site, name, arguments),
            Command::DocsClose { site } => self.sites.close(site),
            Command::Returned { call, text, images: urls, structured_content } => {
                self.calls.answer(call, Ok(Returned { text, images: images(&urls), structured_content }));
            }
            Command::Failed { call, failure } => self.calls.answer(call, Err(failure)),
            Command::Head { call, head } => self.calls.piece(call, PageOutput::Head(head)),
            Command::Asked { call, name, arguments } => self.calls.piece(call, PageOutput::Asked { name, arguments }),
            Command::Piece { call } => {
                let bytes = parts.pop_front().and_then(|part| part.dyn_into::<Uint8Array>().ok());
                self.calls.piece(call, PageOutput::Bytes(bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()));
            }
        }
    }

    /// Handles an order for the app's manager; its text is the first part.
    fn order(&self, mut parts: Vec<JsValue>) {
        let Some(open) = self.open_manager else {
            return self.fatal("this worker has no run manager: only the app's worker has one");
        };
        let text = if parts.is_empty() { None } else { parts.remove(0).as_string() };
        let manager = self.manager.get_or_init(|| {
            let outbox = Rc::clone(&self.outbox);
            let page = PageOf { calls: Rc::clone(&self.calls), agent: Some(AgentId(0)) };
            let post = move |text: String, parts: Vec<JsValue>| {
                let message = WorkerMessage::App { parts: parts.len() + 1 };
                outbox.tell(&message, std::iter::once(text.into()).chain(parts));
            };
            open(Rc::new(page), Box::new(post))
        });
        if let Err(error) = manager(&text.unwrap_or_default(), parts) {
            self.fatal(&format!("the app posted an order that cannot be read: {error}"));
        }
    }

    fn meet(&self, protocol: u32, page: Option<String>, worker: Option<String>) {
        if protocol != VERSION {
            return self.fatal(&format!(
                "the page speaks version {protocol} of the protocol and its worker version {VERSION}: their files are of \
                 two versions of the package"
            ));
        }
        js::set_page(page);
        if let Some(worker) = worker {
            self.worker_url.replace(worker);
        }
        self.met.set(true);
        self.outbox.tell(&WorkerMessage::Ready { protocol: VERSION, engine: env!("CARGO_PKG_VERSION") }, None);
    }

    fn fatal(&self, message: &str) {
        self.outbox.tell(&WorkerMessage::Fatal { message }, None);
    }

    /// Calls `f` with the agent, unless it no longer exists.
    fn with(&self, agent: AgentId, f: impl FnOnce(&Rc<HostedAgent>)) {
        let agent = self.agents.borrow().get(&agent).cloned();
        if let Some(agent) = agent {
            f(&agent);
        }
    }

    fn ask(&self, id: AskId, agent: AgentId, f: impl FnOnce(&Rc<HostedAgent>)) {
        let agent = self.agents.borrow().get(&agent).cloned();
        match agent {
            Some(agent) => f(&agent),
            None => self.outbox.refused(id, &StartError::Closed.into()),
        }
    }
}

fn text_part(parts: &mut VecDeque<JsValue>) -> String {
    parts.pop_front().and_then(|part| part.as_string()).unwrap_or_default()
}

impl std::fmt::Debug for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Port").field("agents", &self.agents.borrow().len()).finish_non_exhaustive()
    }
}
