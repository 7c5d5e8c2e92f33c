//! Programs (`run_code`): the page runs the code in its sandbox, the calls that it makes become events, and their answers go back
//! in the order in which the engine gives them (semantics.md#programs).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::js;
use super::live::CallPlace;
use super::page::{Code, Page, PendingRequest, Piece};
use super::session::Session;
use super::timer::Timeout;
use super::tool::{Task, no_such_tool};
use crate::engine::{CallId, Event, ProgramAnswer, ToolOutcome, own_tools};
use crate::protocol::CallNumber;

/// A program that is running in the page.
pub(super) struct RunningProgram {
    page: Rc<dyn Page>,
    number: CallNumber,
    deadline: Rc<Deadline>,
}

impl RunningProgram {
    pub(super) fn abort(&self) {
        self.page.abort(self.number);
    }
}

/// Passes the answer to a call of a running program.
pub(super) fn answer(session: &Session, program: &CallId, asked: usize, answer: &ProgramAnswer) {
    let found = session.live(|live| {
        let open = live.calls.iter().find(|open| open.call == *program)?;
        match &open.place {
            CallPlace::Program(running) => {
                Some((Rc::clone(&running.page), running.number, Rc::clone(&running.deadline)))
            }
            _ => None,
        }
    });
    if let Some((page, number, deadline)) = found.flatten() {
        deadline.answered();
        page.answer_program(number, asked, answer);
    }
}

impl Task {
    pub(super) async fn run_program(&self) -> ToolOutcome {
        let (session, call) = (&self.session, &self.run.call);
        let Some(spec) = session.offered(call, &self.run.name) else { return no_such_tool() };
        let Some(program) = self.run.program else { return no_such_tool() };
        let checked = match session.host().check(&self.run.arguments, &spec).await {
            Ok(checked) => checked,
            Err(rejected) => return rejected,
        };
        let Some(page) = session.page() else {
            return ToolOutcome::Failed { message: "there is no page that could run a program".into() };
        };
        let tools = session.tool_names(call);
        let callable: Vec<&str> =
            tools.iter().map(String::as_str).filter(|name| own_tools::allowed_inside(name)).collect();
        let code = checked.value.get("code").and_then(serde_json::Value::as_str).unwrap_or_default();
        let deadline = Deadline::new(self.run.timeout_ms);
        let on_call = {
            let (session, call, deadline) = (session.clone(), call.clone(), Rc::clone(&deadline));
            Box::new(move |piece: Piece| {
                if let Piece::Asked { name, arguments } = piece {
                    deadline.asked();
                    session.send(Event::ToolAsked { call: call.clone(), name, arguments });
                }
            })
        };
        let code = Code { code, seed: program.seed, at: program.at.0, tools: callable };
        let PendingRequest { number, answer } = page.program(code, on_call);
        let running = RunningProgram { page: Rc::clone(&page), number, deadline: Rc::clone(&deadline) };
        if self.with_open(|open| open.place = CallPlace::Program(running)).is_none() {
            page.abort(number);
            return ToolOutcome::Cancelled;
        }
        deadline.start(move || page.abort(number));
        match answer.await {
            Ok(Ok(returned)) => ToolOutcome::Executed {
                content: returned.text,
                images: Vec::new(),
                repaired_args: checked.if_repaired(),
            },
            Ok(Err(failure)) => ToolOutcome::Failed { message: failure.message },
            Err(_) if deadline.late.get() => ToolOutcome::TimedOut { after_ms: self.run.timeout_ms },
            Err(_) => ToolOutcome::Cancelled,
        }
    }
}

/// The deadline of a program. It stands still while the program waits for calls, each of which has a deadline of its own.
struct Deadline {
    left_ms: Cell<f64>,
    since: Cell<f64>,
    waiting: Cell<u32>,
    late: Cell<bool>,
    timer: RefCell<Option<Timeout>>,
    then: RefCell<Option<Rc<dyn Fn()>>>,
}

impl Deadline {
    fn new(ms: u64) -> Rc<Self> {
        Rc::new(Deadline {
            left_ms: Cell::new(ms as f64),
            since: Cell::new(0.0),
            waiting: Cell::new(0),
            late: Cell::new(false),
            timer: RefCell::new(None),
            then: RefCell::new(None),
        })
    }

    fn start(self: &Rc<Self>, then: impl Fn() + 'static) {
        self.then.replace(Some(Rc::new(then)));
        if self.waiting.get() == 0 {
            self.run();
        }
    }

    fn run(self: &Rc<Self>) {
        self.since.set(js::now());
        let this = Rc::downgrade(self);
        let timer = Timeout::new(self.left_ms.get(), move || {
            let Some(this) = this.upgrade() else { return };
            this.late.set(true);
            let then = this.then.borrow().clone();
            if let Some(then) = then {
                then();
            }
        });
        self.timer.replace(Some(timer));
    }

    fn asked(&self) {
        self.waiting.set(self.waiting.get() + 1);
        if self.timer.take().is_some() {
            self.left_ms.set((self.left_ms.get() - (js::now() - self.since.get())).max(0.0));
        }
    }

    fn answered(self: &Rc<Self>) {
        self.waiting.set(self.waiting.get().saturating_sub(1));
        if self.waiting.get() == 0 && self.then.borrow().is_some() {
            self.run();
        }
    }
}
