//! `Effect::RunTool`: built-in tools in a worker, host tools by the page. Each call ends in exactly one `ToolFinished`, or in
//! `Permitted` if it asked for permission, unless the engine aborted it.
//!
//! The arguments of a host tool and of a report are checked in the worker, unless [`Plain`] is certain that they are valid.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use super::ask_order::AskPlace;
use super::live::{CallPlace, RunningCall, ShownCall, TaskTicket, take};
use super::page::{ApprovalRequest, PendingRequest, Returned};
use super::plain::Plain;
use super::program;
use super::session::{HostTool, Session};
use super::timer::Timeout;
use crate::worker::Prepared;
use turnwise_engine::{
    Answers, CallId, CallPermission, Event, Run, RunMode, RunTool, Scope, SideEffect, Slug, ToolOutcome, ToolSpec,
    host_of, named_tool,
};
use turnwise_protocol::ShownChange;
use turnwise_protocol::app::Permitted;
use turnwise_tools::{Needs, needs};

/// Registers a tool call, and returns the future that runs it. `None`: the engine no longer waits for it. A page tool whose
/// arguments need no check is called before this returns.
pub(super) fn run(session: &Session, run: RunTool) -> impl Future<Output = Option<Event>> + use<> {
    let place = (run.permission != CallPermission::Allowed).then(|| session.live(|live| live.asking.join())).flatten();
    let task = ToolTask { session: session.clone(), ticket: session.ticket(), run, place: Cell::new(place) };
    let (call, ticket) = (task.run.call.clone(), task.ticket);
    let open = RunningCall { call, ticket, place: CallPlace::Waiting, deadline: None };
    session.live(|live| live.calls.push(open));
    let own = || session.host_tool(&task.run.name).or_else(|| task.page_tool());
    let tool = Some(()).filter(|()| task.run.run != RunMode::Check).and_then(|()| own());
    let called =
        tool.as_ref().filter(|tool| task.needs_no_check(tool)).map(|_| task.call_page(&task.run.arguments, None));
    async move {
        let end = match (called, tool, task.run.program.clone()) {
            (Some(called), ..) => ToolEnd::Outcome(called.await),
            (None, Some(tool), _) => task.check_then_call(&tool).await,
            (None, None, Some(of)) if task.run.permission == CallPermission::Allowed => {
                ToolEnd::Outcome(program::run(&task.session, task.ticket, &task.run, of).await)
            }
            (None, None, _) if task.run.run == RunMode::Check => ToolEnd::Outcome(task.check_only().await),
            (None, None, _) => task.run_built_in().await,
        };
        task.end(end)
    }
}

pub(super) fn abort(session: &Session, call: &CallId) {
    let open = session.live(|live| take(&mut live.calls, |open| open.call == *call));
    drop(open); // outside the borrow
}

struct ToolTask {
    session: Session,
    ticket: TaskTicket,
    run: RunTool,
    /// Until it is asked about.
    place: Cell<Option<AskPlace>>,
}

/// How far a call got.
enum ToolEnd {
    Outcome(ToolOutcome),
    /// The user answered; the engine decides what follows. With what was shown of the call, if it would write files.
    Answered(Permitted, Option<Prepared>),
}

impl ToolTask {
    /// A tool that the page runs, though none was registered: a built-in one that reaches the network, or one of a service of the user.
    fn page_tool(&self) -> Option<Rc<HostTool>> {
        let name = &self.run.name;
        let is_of_page = || self.run.program.is_none() && self.session.page_runs(name);
        let offered = (needs(name) == Needs::Page || is_of_page()).then(|| self.session.offered(&self.run.call, name));
        let spec = offered.flatten()?;
        Some(Rc::new(HostTool { spec, plain: None }))
    }

    fn needs_no_check(&self, tool: &HostTool) -> bool {
        let accepts = |plain: &Plain| plain.accepts(&self.run.arguments);
        let runs = self.run.permission == CallPermission::Allowed && tool.spec.side_effect == SideEffect::None;
        runs && tool.plain.as_ref().is_some_and(accepts)
    }

    async fn run_built_in(&self) -> ToolEnd {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else { return no_such_tool().into() };
        // A built-in tool's writes take effect only when its call ends, so an interrupted call wrote nothing.
        let atomic = matches!(self.touches(&spec), SideEffect::None | SideEffect::Workspace);
        match self.run.permission {
            CallPermission::Ask => return self.preview_then_ask(&spec, !atomic).await,
            CallPermission::AskAgain if !atomic => return self.preview_then_ask(&spec, true).await,
            CallPermission::Allowed | CallPermission::AskAgain => {
                drop(self.place.take());
                self.keep_first(&spec).await;
            }
        }
        self.run_in_worker(spec).await
    }

    async fn run_in_worker(&self, spec: ToolSpec) -> ToolEnd {
        let host = self.session.host();
        if self.with_open(|open| open.place = CallPlace::Worker(host.clone())).is_none() {
            return ToolOutcome::Cancelled.into();
        }
        let to_disk = self.touches(&spec) == SideEffect::Folder;
        let shown = self.session.live(|live| take(&mut live.shown, |(call, _)| *call == self.run.call)).flatten();
        if let Some((_, ShownCall { prepared, for_more })) = shown {
            match host.apply(prepared, to_disk).await {
                Some(outcome) => return outcome.into(),
                None if for_more => {}
                None => return ToolOutcome::Failed { message: CHANGED.into() }.into(),
            }
        }
        host.run(self.run.clone(), spec, to_disk).await.into()
    }

    /// Asks about a call of a built-in tool, with what it would write. A call that would fail anyway fails at once. If a file changes
    /// while the question is open, the answer was about something else: it is asked again.
    async fn preview_then_ask(&self, spec: &ToolSpec, may_repeat: bool) -> ToolEnd {
        let host = self.session.host();
        if spec.side_effect == SideEffect::None {
            let checked = match host.check(&self.run.arguments, spec).await {
                Ok(checked) => checked,
                Err(rejected) => return rejected.into(),
            };
            return self.ask(spec, &checked.value.to_string(), None, false).await;
        }
        let mut again = false;
        loop {
            if self.with_open(|open| open.place = CallPlace::Worker(host.clone())).is_none() {
                return ToolOutcome::Cancelled.into();
            }
            let prepared = match host.prepare(self.run.clone(), spec.clone()).await {
                Ok(prepared) => prepared,
                Err(outcome) => return outcome.into(),
            };
            let arguments = prepared.repaired_args().map(ToString::to_string);
            let arguments = arguments.as_deref().unwrap_or(&self.run.arguments);
            let change = prepared.diff().map(|(diff, omitted)| ShownChange { diff, omitted, again });
            match self.ask(spec, arguments, change, may_repeat).await {
                ToolEnd::Answered(answer, _) if answer.allow => {
                    if answer.scope != Scope::Call || host.is_current(&prepared).await {
                        return ToolEnd::Answered(answer, Some(prepared));
                    }
                    again = true;
                }
                end => return end,
            }
        }
    }

    /// Only checks the arguments: the engine does the rest itself.
    async fn check_only(&self) -> ToolOutcome {
        let Some(spec) = self.session.offered(&self.run.call, &self.run.name) else { return no_such_tool() };
        let checked = |repaired_args| ToolOutcome::executed(String::new(), repaired_args);
        if Plain::from_schema(&spec.parameters).is_some_and(|plain| plain.accepts(&self.run.arguments)) {
            return checked(None);
        }
        match self.session.host().check(&self.run.arguments, &spec).await {
            Ok(arguments) => checked(arguments.if_repaired()),
            Err(rejected) => rejected,
        }
    }

    async fn check_then_call(&self, tool: &HostTool) -> ToolEnd {
        let checked = match self.session.host().check(&self.run.arguments, &tool.spec).await {
            Ok(checked) => checked,
            Err(rejected) => return rejected.into(),
        };
        let repaired = checked.if_repaired();
        let arguments = repaired.as_ref().map(ToString::to_string);
        let arguments = arguments.as_deref().unwrap_or(&self.run.arguments).to_owned();
        if self.run.permission != CallPermission::Allowed {
            return self.ask(&tool.spec, &arguments, None, true).await;
        }
        self.keep_first(&tool.spec).await;
        self.call_page(&arguments, repaired).await.into()
    }

    /// What this call touches, by the rules of the run.
    fn touches(&self, spec: &ToolSpec) -> SideEffect {
        let by_rules =
            |run: Option<&Run>| run.and_then(Run::permissions).map(|rules| rules.touches(spec, &self.run.arguments));
        self.session.with_run(by_rules).unwrap_or(spec.side_effect)
    }

    /// The folders on the user's disk that these arguments name.
    fn folders(&self, arguments: &str) -> Vec<String> {
        let named = |run: Option<&Run>| {
            run.and_then(Run::permissions).map(|rules| rules.folders_in(arguments)).unwrap_or_default()
        };
        self.session.with_run(named)
    }

    /// What led to an effect is stored before the effect.
    async fn keep_first(&self, spec: &ToolSpec) {
        if spec.side_effect != SideEffect::None {
            self.session.kept().await;
        }
    }

    /// Asks the page whether the call may run. `may_repeat`: an interrupted call of this tool may have had its effect.
    async fn ask(
        &self,
        spec: &ToolSpec,
        arguments: &str,
        change: Option<ShownChange<'_>>,
        may_repeat: bool,
    ) -> ToolEnd {
        let again = self.run.run == RunMode::RunAgain && may_repeat;
        let page = self.session.page().filter(|_| self.session.answers() == Answers::Page);
        let Some(page) = page else {
            let message = "not run again: the page was closed while it ran, and it may have had its effect".into();
            return ToolOutcome::Rejected { slug: Slug::Interrupted, path: None, message }.into();
        };
        let name = named_tool(spec, arguments).unwrap_or_else(|| self.run.name.clone());
        let call = &self.run.call;
        let side_effect = self.touches(spec);
        let folders = if side_effect == SideEffect::Folder { self.folders(arguments) } else { Vec::new() };
        let mut place = self.place.take();
        if let Some(place) = &mut place {
            place.reached().await;
        }
        let PendingRequest { number, answer } = page.approve(ApprovalRequest {
            call,
            name: &name,
            arguments,
            side_effect,
            again,
            diff: change,
            folders: &folders,
            host: host_of(spec, arguments).as_deref(),
        });
        drop(place);
        if self.with_open(|open| open.place = CallPlace::Page(Rc::clone(&page), number)).is_none() {
            page.abort(number);
        }
        match answer.await {
            Ok(Ok(answer)) => ToolEnd::Answered(serde_json::from_str(&answer.text).unwrap_or_default(), None),
            Ok(Err(failure)) => ToolOutcome::Failed { message: failure.message }.into(),
            Err(_) => ToolOutcome::Cancelled.into(),
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
                Ok(Ok(Returned { text: content, images, structured_content })) => {
                    let structured_content = structured_content.and_then(|data| serde_json::from_str(&data).ok());
                    ToolOutcome::Executed { content, images, repaired_args, structured_content }
                }
                Ok(Err(failure)) => ToolOutcome::Failed { message: failure.message },
                Err(_) if late.get() => ToolOutcome::TimedOut { after_ms },
                Err(_) => ToolOutcome::Cancelled,
            }
        }
    }

    fn with_open<R>(&self, f: impl FnOnce(&mut RunningCall) -> R) -> Option<R> {
        self.session.live(|live| live.calls.iter_mut().find(|open| open.ticket == self.ticket).map(f)).flatten()
    }

    /// Closes the call. `None`: the engine no longer waits for it.
    fn end(self, end: ToolEnd) -> Option<Event> {
        let mut open = self.session.live(|live| take(&mut live.calls, |open| open.ticket == self.ticket)).flatten()?;
        open.place = CallPlace::Waiting; // it ended: nothing to abort
        let call = self.run.call;
        Some(match end {
            ToolEnd::Outcome(outcome) => Event::ToolFinished { call, outcome },
            ToolEnd::Answered(Permitted { allow, scope }, prepared) => {
                if let Some(prepared) = prepared {
                    let shown = ShownCall { prepared, for_more: scope != Scope::Call };
                    self.session.live(|live| live.shown.push((call.clone(), shown)));
                }
                Event::Permitted { call, allow, scope }
            }
        })
    }
}

impl From<ToolOutcome> for ToolEnd {
    fn from(outcome: ToolOutcome) -> Self {
        ToolEnd::Outcome(outcome)
    }
}

const CHANGED: &str =
    "not written: the file changed after the user permitted this call. Read it again and repeat the call";

fn no_such_tool() -> ToolOutcome {
    ToolOutcome::Failed { message: "there is no such tool".into() }
}
