//! `Effect::RunTool`: built-in tools in a worker, host tools by the page. Each call ends in exactly one `ToolFinished`,
//! unless the engine aborted it.
//!
//! The arguments of a host tool and of a report are checked in the worker, unless [`Plain`] is certain that they are valid.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use super::live::{CallPlace, OpenCall, Ticket, take};
use super::page::{Approval, PendingRequest, Returned};
use super::plain::Plain;
use super::session::{Approve, HostTool, Session};
use super::timer::Timeout;
use crate::engine::{CallId, Event, RunMode, RunTool, SideEffect, Slug, ToolOutcome, ToolSpec};
use crate::worker::ToolHost;

/// Registers a tool call, and returns the future that runs it. `None`: the engine no longer waits for it. A page tool whose
/// arguments need no check is called before this returns.
pub(super) fn run(session: &Session, run: RunTool) -> impl Future<Output = Option<Event>> + use<> {
    let task = Task { session: session.clone(), ticket: session.ticket(), run };
    let (call, ticket) = (task.run.call.clone(), task.ticket);
    let open = OpenCall { call, ticket, place: CallPlace::Waiting, deadline: None };
    session.live(|live| live.calls.push(open));
    let tool = session.host_tool(&task.run.name).filter(|_| task.run.run != RunMode::Check);
    let called =
        tool.as_ref().filter(|tool| task.needs_no_check(tool)).map(|_| task.call_page(&task.run.arguments, None));
    async move {
        let outcome = match (called, tool) {
            (Some(called), _) => called.await,
            (None, Some(tool)) => task.check_then_call(&tool).await,
            (None, None) if task.run.program.is_some() => task.run_program().await,
            (None, None) if task.run.run == RunMode::Check => task.check_only().await,
            (None, None) => task.run_built_in().await,
        };
        task.end(outcome)
    }
}

pub(super) fn abort(session: &Session, call: &CallId) {
    let open = session.live(|live| take(&mut live.calls, |open| open.call == *call));
    drop(open); // outside the borrow
}

pub(super) struct Task {
    pub(super) session: Session,
    ticket: Ticket,
    pub(super) run: RunTool,
}

impl Task {
    fn needs_no_check(&self, tool: &HostTool) -> bool {
        let accepts = |plain: &Plain| plain.accepts(&self.run.arguments);
        tool.spec.side_effect == SideEffect::None && tool.plain.as_ref().is_some_and(accepts)
    }

    async fn run_built_in(&self) -> ToolOutcome {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else { return no_such_tool() };
        let spec = ToolHost::for_call(spec, &self.run.arguments);
        // A built-in tool's writes take effect only when its call ends, so an interrupted call wrote nothing.
        let again = if spec.side_effect == SideEffect::Workspace { RunMode::Run } else { self.run.run };
        if let Err(refused) = self.ask(&spec, &self.run.arguments, again).await {
            return refused;
        }
        let host = self.session.host();
        if self.with_open(|open| open.place = CallPlace::Worker(host.clone())).is_none() {
            return ToolOutcome::Cancelled;
        }
        host.run(self.run.clone(), spec).await
    }

    /// Only checks the arguments: the engine does the rest itself.
    async fn check_only(&self) -> ToolOutcome {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else { return no_such_tool() };
        let checked =
            |repaired_args| ToolOutcome::Executed { content: String::new(), images: Vec::new(), repaired_args };
        if Plain::from_schema(&spec.parameters).is_some_and(|plain| plain.accepts(&self.run.arguments)) {
            return checked(None);
        }
        match self.session.host().check(&self.run.arguments, &spec).await {
            Ok(arguments) => checked(arguments.if_repaired()),
            Err(rejected) => rejected,
        }
    }

    async fn check_then_call(&self, tool: &HostTool) -> ToolOutcome {
        let checked = match self.session.host().check(&self.run.arguments, &tool.spec).await {
            Ok(checked) => checked,
            Err(rejected) => return rejected,
        };
        let repaired = checked.if_repaired();
        let arguments = repaired.as_ref().map(ToString::to_string);
        let arguments = arguments.as_deref().unwrap_or(&self.run.arguments).to_owned();
        if let Err(refused) = self.ask(&tool.spec, &arguments, self.run.run).await {
            return refused;
        }
        self.call_page(&arguments, repaired).await
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
        let PendingRequest { answer, .. } =
            page.approve(Approval { call, name, arguments, side_effect: spec.side_effect, again });
        match answer.await {
            Ok(Ok(answer)) if answer.text == "true" => Ok(()),
            Ok(Ok(_)) => Err(refused("the user refused this call")),
            Ok(Err(failure)) => Err(ToolOutcome::Failed { message: failure.message }),
            Err(_) => Err(ToolOutcome::Cancelled),
        }
    }

    /// Makes the page call its function, now. The arguments have been checked.
    fn call_page(
        &self,
        arguments: &str,
        repaired_args: Option<serde_json::Value>,
    ) -> impl Future<Output = ToolOutcome> + use<> {
        let after_ms = self.run.timeout_ms;
        let late = Rc::new(Cell::new(false));
        let asked = self.session.page().map(|page| {
            let PendingRequest { number, answer } = page.tool(&self.run.name, arguments);
            let (missed, asked) = (Rc::clone(&late), Rc::clone(&page));
            let awaited = self.with_open(|open| {
                open.place = CallPlace::Page(Rc::clone(&page), number);
                open.deadline = Some(Timeout::new(after_ms as f64, move || {
                    missed.set(true);
                    asked.abort(number);
                }));
            });
            if awaited.is_none() {
                page.abort(number);
            }
            answer
        });
        async move {
            let Some(answer) = asked else {
                return ToolOutcome::Failed { message: "there is no page that has this tool".into() };
            };
            match answer.await {
                Ok(Ok(Returned { text: content, images })) => ToolOutcome::Executed { content, images, repaired_args },
                Ok(Err(failure)) => ToolOutcome::Failed { message: failure.message },
                Err(_) if late.get() => ToolOutcome::TimedOut { after_ms },
                Err(_) => ToolOutcome::Cancelled,
            }
        }
    }

    pub(super) fn with_open<R>(&self, f: impl FnOnce(&mut OpenCall) -> R) -> Option<R> {
        self.session.live(|live| live.calls.iter_mut().find(|open| open.ticket == self.ticket).map(f)).flatten()
    }

    /// Closes the call. `None`: the engine no longer waits for it.
    fn end(self, outcome: ToolOutcome) -> Option<Event> {
        let mut open = self.session.live(|live| take(&mut live.calls, |open| open.ticket == self.ticket)).flatten()?;
        open.place = CallPlace::Waiting; // it ended: nothing to abort
        Some(Event::ToolFinished { call: self.run.call, outcome })
    }
}

pub(super) fn no_such_tool() -> ToolOutcome {
    ToolOutcome::Failed { message: "there is no such tool".into() }
}
