//! `Effect::RunTool`: built-in tools in a worker, host tools in the page. Each call ends in exactly one `ToolFinished`,
//! unless the engine aborted it.
//!
//! A host tool's arguments are checked in the worker; where [`Plain`] is certain of them the call needs no worker, and
//! where the tool answers at once it needs no task either.

use std::rc::Rc;

use js_sys::{Function, JSON, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::AbortController;

use super::fetch::take;
use super::js;
use super::plain::Plain;
use super::session::{Session, Ticket};
use super::timer::Timeout;
use crate::engine::*;

/// A tool of the page's: `execute(args, { signal })`.
#[derive(Clone, Debug)]
pub struct HostTool {
    pub(super) spec: ToolSpec,
    execute: Function,
    plain: Option<Plain>,
}

/// Asks the user: `approve({ id, name, args, sideEffect })`, answered by `true` or not, at once or later.
#[derive(Clone, Debug)]
pub struct Approve(Function);

/// A tool call under way.
pub(super) struct OpenCall {
    call: CallId,
    ticket: Ticket,
    place: Place,
    deadline: Option<Timeout>,
}

enum Place {
    Worker(Session),
    Page(AbortController),
    /// Nothing to end: it is being checked, or the user is being asked.
    Waiting,
}

impl HostTool {
    #[must_use]
    pub fn new(spec: ToolSpec, execute: Function) -> Self {
        let plain = Plain::of(&spec.parameters);
        HostTool { spec, execute, plain }
    }
}

impl Approve {
    #[must_use]
    pub fn new(function: Function) -> Self {
        Approve(function)
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
                let args = JSON::parse(&task.run.arguments);
                task.execute(&tool, args, None);
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
            Place::Page(abort) => abort.abort(),
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
        let Some(spec) = self.session.offered(&self.run.name) else {
            return self.end(ToolOutcome::Failed { message: "there is no such tool".into() });
        };
        // What a built-in tool writes is there only once its call has ended: one that was interrupted wrote nothing.
        let again = if spec.side_effect == SideEffect::Workspace { RunMode::Run } else { self.run.run };
        if let Err(refused) = self.ask(&spec, &self.run.arguments, again).await {
            return self.end(refused);
        }
        if self.at(Place::Worker(self.session.clone())) {
            let outcome = self.session.host().run(self.run.clone(), spec).await;
            self.end(outcome);
        }
    }

    /// The engine does the rest itself.
    async fn check_only(self) {
        let Some(spec) = self.session.offered(&self.run.name) else {
            return self.end(ToolOutcome::Failed { message: "there is no such tool".into() });
        };
        match self.session.host().check(&self.run.arguments, &spec).await {
            Ok(checked) => {
                self.end(ToolOutcome::Executed { content: String::new(), repaired_args: checked.if_repaired() });
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
        self.execute(&tool, JSON::parse(&arguments), repaired);
    }

    /// `Err` where the user said no, or where nobody can be asked whether it may have its effects twice.
    async fn ask(&self, spec: &ToolSpec, arguments: &str, mode: RunMode) -> Result<(), ToolOutcome> {
        if spec.side_effect == SideEffect::None {
            return Ok(());
        }
        self.session.kept().await;
        let Some(Approve(approve)) = self.session.approve() else {
            if mode != RunMode::RunAgain {
                return Ok(());
            }
            let message = "not run again: the page was closed while it ran, and it may have had its effect".into();
            return Err(ToolOutcome::Rejected { slug: Slug::Interrupted, path: None, message });
        };
        let call = Object::new();
        let args = JSON::parse(arguments).unwrap_or_else(|_| arguments.into());
        let side_effect = match spec.side_effect {
            SideEffect::None => "none",
            SideEffect::Workspace => "workspace",
            SideEffect::Network => "network",
            SideEffect::Page => "page",
        };
        set(&call, "id", &self.run.call.0.as_str().into());
        set(&call, "name", &self.run.name.as_str().into());
        set(&call, "args", &args);
        set(&call, "sideEffect", &side_effect.into());
        set(&call, "again", &(mode == RunMode::RunAgain).into());
        let answer = match approve.call1(&JsValue::UNDEFINED, &call) {
            Ok(answer) => JsFuture::from(Promise::resolve(&answer)).await,
            Err(thrown) => Err(thrown),
        };
        match answer {
            Ok(answer) if answer == JsValue::TRUE => Ok(()),
            Ok(_) => {
                let message = "the user refused this call".into();
                Err(ToolOutcome::Rejected { slug: Slug::Refused, path: None, message })
            }
            Err(thrown) => Err(ToolOutcome::Failed { message: js::error_text(&thrown) }),
        }
    }

    /// Calls the page's function. Its arguments were checked.
    fn execute(self, tool: &HostTool, args: Result<JsValue, JsValue>, repaired_args: Option<serde_json::Value>) {
        let (args, abort) = match (args, AbortController::new()) {
            (Ok(args), Ok(abort)) => (args, abort),
            (Err(thrown), _) | (_, Err(thrown)) => {
                return self.end(ToolOutcome::Failed { message: js::error_text(&thrown) });
            }
        };
        let options = Object::new();
        set(&options, "signal", &abort.signal());
        if !self.at(Place::Page(abort)) {
            return;
        }
        let executed = move |value: &JsValue| ToolOutcome::Executed { content: as_text(value), repaired_args };
        match tool.execute.call2(&JsValue::UNDEFINED, &args, &options) {
            Ok(value) if value.is_object() && Reflect::has(&value, &"then".into()) == Ok(true) => {
                self.set_deadline();
                spawn_local(async move {
                    let outcome = match JsFuture::from(Promise::resolve(&value)).await {
                        Ok(value) => executed(&value),
                        Err(thrown) => ToolOutcome::Failed { message: js::error_text(&thrown) },
                    };
                    self.end(outcome);
                });
            }
            Ok(value) => self.end(executed(&value)),
            Err(thrown) => self.end(ToolOutcome::Failed { message: js::error_text(&thrown) }),
        }
    }

    fn set_deadline(&self) {
        let late = Task { session: self.session.clone(), ticket: self.ticket, run: self.run.clone() };
        let after_ms = self.run.timeout_ms;
        let timer = Timeout::new(after_ms as f64, move || {
            // Taken without being disarmed: the tool's signal fires.
            if late.take().is_some() {
                let call = late.run.call;
                late.session.send(Event::ToolFinished { call, outcome: ToolOutcome::TimedOut { after_ms } });
            }
        });
        self.with_open(|open| open.deadline = Some(timer));
    }

    /// Notes where the call is now; false where the engine no longer waits for it.
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

/// What the model reads: text as it is, anything else as JSON.
fn as_text(value: &JsValue) -> String {
    value.as_string().unwrap_or_else(|| {
        JSON::stringify(value).ok().and_then(|text| text.as_string()).unwrap_or_else(|| "null".into())
    })
}

fn set(object: &Object, key: &str, value: &JsValue) {
    // Setting a property of a fresh plain object does not fail.
    let _ = Reflect::set(object, &key.into(), value);
}
