//! `Effect::RunTool`: built-in tools in a worker, host tools by the page. Each call ends in exactly one `ToolFinished`,
//! unless the engine aborted it.
//!
//! The arguments of a host tool and of a report are checked in the worker, unless [`Plain`] is certain that they are valid.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::fetch::take;
use super::page::{Approval, Asked, Page, Returned};
use super::plain::Plain;
use super::session::{Session, Ticket};
use super::timer::Timeout;
use crate::engine::*;
use crate::protocol::CallNumber;

/// A tool that the page runs.
#[derive(Clone, Debug)]
pub(super) struct HostTool {
    pub(super) spec: ToolSpec,
    plain: Option<Plain>,
}

/// How calls of tools with side effects are approved.
#[derive(Clone, Copy, Debug)]
pub enum Approve {
    /// The page is asked.
    Ask,
    /// All of them are allowed.
    All,
}

/// A running tool call.
pub(super) struct OpenCall {
    call: CallId,
    ticket: Ticket,
    place: Place,
    deadline: Option<Timeout>,
}

enum Place {
    Worker(Session),
    Page(Rc<dyn Page>, CallNumber),
    /// Nothing to abort: the call is being checked, or the user is being asked.
    Waiting,
}

impl HostTool {
    pub(super) fn new(spec: ToolSpec) -> Self {
        let plain = Plain::of(&spec.parameters);
        HostTool { spec, plain }
    }
}

pub(super) fn run(session: &Session, run: RunTool) {
    let task = Task { session: session.clone(), ticket: session.ticket(), run };
    let open = OpenCall { call: task.run.call.clone(), ticket: task.ticket, place: Place::Waiting, deadline: None };
    session.live(|live| live.calls.push(open));
    if task.run.run == RunMode::Check {
        return spawn_local(task.check_only());
    }
    match session.host_tool(&task.run.name) {
        Some(tool) => match &tool.plain {
            Some(plain) if tool.spec.side_effect == SideEffect::None && plain.accepts(&task.run.arguments) => {
                let arguments = task.run.arguments.clone();
                task.execute(&arguments, None);
            }
            _ => spawn_local(task.check_then_execute(tool)),
        },
        None => spawn_local(task.run_built_in()),
    }
}

pub(super) fn abort(session: &Session, call: &CallId) {
    let open = session.live(|live| take(&mut live.calls, |open| open.call == *call));
    drop(open); // outside the borrow
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        match &self.place {
            Place::Worker(session) => session.host().abort(&self.call),
            Place::Page(page, question) => page.abort(*question),
            Place::Waiting => {}
        }
    }
}

struct Task {
    session: Session,
    ticket: Ticket,
    run: RunTool,
}

impl Task {
    async fn run_built_in(self) {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else {
            return self.end(ToolOutcome::Failed { message: "there is no such tool".into() });
        };
        // A built-in tool's writes take effect only when its call ends, so an interrupted call wrote nothing.
        let again = if spec.side_effect == SideEffect::Workspace { RunMode::Run } else { self.run.run };
        if let Err(refused) = self.ask(&spec, &self.run.arguments, again).await {
            return self.end(refused);
        }
        if self.at(Place::Worker(self.session.clone())) {
            let outcome = self.session.host().run(self.run.clone(), spec).await;
            self.end(outcome);
        }
    }

    /// Only checks the arguments: the engine does the rest itself.
    async fn check_only(self) {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else {
            return self.end(ToolOutcome::Failed { message: "there is no such tool".into() });
        };
        if Plain::of(&spec.parameters).is_some_and(|plain| plain.accepts(&self.run.arguments)) {
            return self.end(ToolOutcome::Executed { content: String::new(), images: Vec::new(), repaired_args: None });
        }
        match self.session.host().check(&self.run.arguments, &spec).await {
            Ok(checked) => {
                self.end(ToolOutcome::Executed {
                    content: String::new(),
                    images: Vec::new(),
                    repaired_args: checked.if_repaired(),
                });
            }
            Err(rejected) => self.end(rejected),
        }
    }

    async fn check_then_execute(self, tool: Rc<HostTool>) {
        let checked = match self.session.host().check(&self.run.arguments, &tool.spec).await {
            Ok(checked) => checked,
            Err(rejected) => return self.end(rejected),
        };
        let repaired = checked.if_repaired();
        let arguments = repaired.as_ref().map(ToString::to_string);
        let arguments = arguments.as_deref().unwrap_or(&self.run.arguments).to_owned();
        if let Err(refused) = self.ask(&tool.spec, &arguments, self.run.run).await {
            return self.end(refused);
        }
        self.execute(&arguments, repaired);
    }

    /// Asks for approval. `Err` if the user refused, if a call that reaches the network or the page has neither anybody to ask
    /// nor a standing permission, or if nobody can be asked whether it may have its effects twice (semantics.md#tool-calls).
    async fn ask(&self, spec: &ToolSpec, arguments: &str, mode: RunMode) -> Result<(), ToolOutcome> {
        if spec.side_effect == SideEffect::None {
            return Ok(());
        }
        self.session.kept().await;
        let again = mode == RunMode::RunAgain;
        let reaches_out = matches!(spec.side_effect, SideEffect::Network | SideEffect::Page);
        match self.session.approve() {
            Some(Approve::Ask) => {}
            None if reaches_out && !again => {
                let name = &spec.name;
                let where_to = if spec.side_effect == SideEffect::Page { "page" } else { "network" };
                let message = format!(
                    "not run: {name} acts on the {where_to}, which has to be approved, and this run has nobody to ask and no \
                     standing permission. Go on without it"
                );
                return Err(ToolOutcome::Rejected { slug: Slug::Refused, path: None, message });
            }
            Some(Approve::All) | None if again => {
                let message = "not run again: the page was closed while it ran, and it may have had its effect".into();
                return Err(ToolOutcome::Rejected { slug: Slug::Interrupted, path: None, message });
            }
            Some(Approve::All) | None => return Ok(()),
        }
        let refused =
            |message: &str| ToolOutcome::Rejected { slug: Slug::Refused, path: None, message: message.into() };
        let Some(page) = self.session.page() else { return Err(refused("there is nobody to ask")) };
        let (call, name) = (&self.run.call, &self.run.name);
        let Asked { answer, .. } =
            page.approve(Approval { call, name, arguments, side_effect: spec.side_effect, again });
        match answer.await {
            Ok(Ok(answer)) if answer.text == "true" => Ok(()),
            Ok(Ok(_)) => Err(refused("the user refused this call")),
            Ok(Err(failure)) => Err(ToolOutcome::Failed { message: failure.message }),
            Err(_) => Err(ToolOutcome::Cancelled),
        }
    }

    /// Makes the page call its function. The arguments have been checked.
    fn execute(self, arguments: &str, repaired_args: Option<serde_json::Value>) {
        let Some(page) = self.session.page() else {
            return self.end(ToolOutcome::Failed { message: "there is no page that has this tool".into() });
        };
        let Asked { number, answer } = page.tool(&self.run.name, arguments);
        if !self.at(Place::Page(Rc::clone(&page), number)) {
            return page.abort(number);
        }
        self.set_deadline();
        spawn_local(async move {
            let outcome = match answer.await {
                Ok(Ok(Returned { text: content, images })) => ToolOutcome::Executed { content, images, repaired_args },
                Ok(Err(failure)) => ToolOutcome::Failed { message: failure.message },
                Err(_) => ToolOutcome::Cancelled,
            };
            self.end(outcome);
        });
    }

    fn set_deadline(&self) {
        let late = Task { session: self.session.clone(), ticket: self.ticket, run: self.run.clone() };
        let after_ms = self.run.timeout_ms;
        let timer = Timeout::new(after_ms as f64, move || {
            // `place` is left as it is, so dropping the call fires the tool's abort signal.
            if late.take().is_some() {
                let call = late.run.call;
                late.session.send(Event::ToolFinished { call, outcome: ToolOutcome::TimedOut { after_ms } });
            }
        });
        self.with_open(|open| open.deadline = Some(timer));
    }

    /// Notes where the call is running; false if the engine no longer waits for it.
    fn at(&self, place: Place) -> bool {
        self.with_open(|open| open.place = place).is_some()
    }

    fn with_open<R>(&self, f: impl FnOnce(&mut OpenCall) -> R) -> Option<R> {
        self.session.live(|live| live.calls.iter_mut().find(|open| open.ticket == self.ticket).map(f)).flatten()
    }

    fn take(&self) -> Option<OpenCall> {
        self.session.live(|live| take(&mut live.calls, |open| open.ticket == self.ticket)).flatten()
    }

    /// Reports the end, unless the engine no longer waits for it.
    fn end(self, outcome: ToolOutcome) {
        if let Some(mut open) = self.take() {
            open.place = Place::Waiting; // it ended: nothing to abort
            self.session.send(Event::ToolFinished { call: self.run.call, outcome });
        }
    }
}
