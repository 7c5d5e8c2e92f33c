//! Programs (`run_code`, scripts of skills): the page runs the code in its sandbox, the calls that it makes become events, and their answers go back
//! in the order in which the engine gives them (tool-calls.md#programs).

use std::rc::Rc;

use serde::Deserialize;

use super::deadline::ProgramDeadline;
use super::live::{CallPlace, TaskTicket};
use super::page::{Code, PageOutput, PendingRequest};
use super::session::Session;
use turnwise_engine::{CallId, Event, Program, ProgramAnswer, RunTool, Slug, ToolOutcome, own_tools};

/// Passes the answer to a call of a running program.
pub(super) fn answer(session: &Session, program: &CallId, asked: usize, answer: &ProgramAnswer) {
    let found = session.live(|live| {
        let open = live.calls.iter().find(|open| open.call == *program)?;
        match &open.place {
            CallPlace::Program(page, number, deadline) => Some((Rc::clone(page), *number, Rc::clone(deadline))),
            _ => None,
        }
    });
    if let Some((page, number, deadline)) = found.flatten() {
        deadline.answered();
        page.answer_program(number, asked, answer);
    }
}

/// Runs a program, whose open call has this ticket.
pub(super) async fn run(session: &Session, ticket: TaskTicket, run: &RunTool, program: Program) -> ToolOutcome {
    let call = &run.call;
    let Some(spec) = session.offered(call, &run.name) else {
        return not_run("there is no such tool".into());
    };
    let checked = match session.host().check(&run.arguments, &spec).await {
        Ok(checked) => checked,
        Err(rejected) => return rejected,
    };
    let Some(page) = session.page() else {
        return not_run("there is no page that could run a program".into());
    };
    let tools = session.tool_names(call);
    let callable: Vec<&str> = tools.iter().map(String::as_str).filter(|name| own_tools::allowed_inside(name)).collect();
    let input = program.script.is_some().then(|| checked.value.to_string());
    let (code, callable) = match &program.script {
        Some(script) => (script.code.as_str(), script.tools.iter().map(String::as_str).collect()),
        None => (checked.value.get("code").and_then(serde_json::Value::as_str).unwrap_or_default(), callable),
    };
    let deadline = ProgramDeadline::new(run.timeout_ms);
    let on_call = {
        let (session, call, deadline) = (session.clone(), call.clone(), Rc::clone(&deadline));
        Box::new(move |piece: PageOutput| {
            if let PageOutput::Asked { name, arguments } = piece {
                deadline.asked();
                session.send(Event::ToolAsked { call: call.clone(), name, arguments });
            }
        })
    };
    let code = Code { code, seed: program.seed, at: program.at.0, tools: callable, input: input.as_deref() };
    let PendingRequest { number, answer } = page.program(code, on_call);
    let placed = session.live(|live| {
        let open = live.calls.iter_mut().find(|open| open.ticket == ticket)?;
        open.place = CallPlace::Program(Rc::clone(&page), number, Rc::clone(&deadline));
        Some(())
    });
    if placed.flatten().is_none() {
        page.abort(number);
        return ToolOutcome::Cancelled;
    }
    deadline.start(move || page.abort(number));
    match answer.await {
        Ok(Ok(returned)) => match serde_json::from_str(&returned.text) {
            Ok(EndedProgram { ok: true, output: content }) => ToolOutcome::executed(content, checked.if_repaired()),
            Ok(EndedProgram { ok: false, output: message }) => ToolOutcome::Failed { message },
            Err(error) => not_run(format!("the answer of the sandbox is not valid: {error}")),
        },
        Ok(Err(failure)) => not_run(failure.message),
        Err(_) if deadline.late.get() => ToolOutcome::TimedOut { after_ms: run.timeout_ms },
        Err(_) => ToolOutcome::Cancelled,
    }
}

/// How a program ended by itself.
#[derive(Deserialize)]
struct EndedProgram {
    ok: bool,
    /// What it printed with its value, or its error.
    output: String,
}

/// Not an error of the program: a replay, which could run it, would compare its own error with this.
fn not_run(message: String) -> ToolOutcome {
    ToolOutcome::Rejected { slug: Slug::ToolExecFailed, path: None, message }
}
