//! Programs: calls of `run_code`, and of the scripts of skills (tool-calls.md#programs). The shell runs the code; each tool call that the code makes is a call of
//! the run, like those of a batch, and this file has the rules for them.
//!
//! A program and its calls depend on nothing but the record: the clock and the random numbers that the code sees follow from
//! [`Program`], and it receives answers in the order of [`RoundRequest::AnswerProgram`].

use super::failure::Slug;
use super::ids::{CallId, EpochMillis};
use super::interface::{Program, ProgramAnswer, ToolOutcome};
use super::judge::CallKind;
use super::message::ToolCall;
use super::own_tools;
use super::record::CallRecord;
use super::skills::ScriptCode;
use super::tool_round::{
    CallAnswer, CallIndex, OpenCall, RoundCallState, RoundRequest, RunParts, ToolRound, parse_args,
};

/// Calls that one program can make.
pub const MAX_PROGRAM_CALLS: usize = 1_000;
/// Bytes of the arguments of a program's calls and of their answers: all of them are recorded.
const MAX_EXCHANGED: usize = 64 * 1024 * 1024;

/// A program that ran when the page was closed.
const INTERRUPTED: &str = "interrupted: the page was closed while the program ran, and its calls may have had effects. \
                           Check what it did before you run it again";

impl ToolRound {
    /// A running program asks for a tool: the call is inserted behind its earlier ones. Returns whether the program runs.
    pub(super) fn asked(&mut self, run: &mut RunParts<'_>, program: &CallId, name: String, arguments: String) -> bool {
        let Some(index) = self.calls.iter().position(|open| open.is_running_program() && open.call.id == *program)
        else {
            return false;
        };
        let Some(own) = self.calls.get_mut(index) else { return false };
        let place = own.place;
        own.exchanged = own.exchanged.saturating_add(arguments.len());
        let full = own.exchanged > MAX_EXCHANGED;
        let before = self.calls.iter().filter(|open| open.in_program() && open.place.call == place.call).count();
        // The program makes no more calls either; this only refuses one that was forged.
        if before > MAX_PROGRAM_CALLS {
            return false;
        }
        let id = run.ids.fresh(&format!("{program}_{before}"));
        let arguments = if full { String::new() } else { arguments };
        let record = CallRecord::open(id.clone(), &name, parse_args(&arguments), self.attempt, run.now);
        run.with_record(place, |outer| outer.calls.push(record));
        let inner = CallIndex { inner: Some(before), program: true, ..place };
        let at = index + 1 + before;
        self.calls
            .insert(at.min(self.calls.len()), OpenCall::queued(ToolCall::new(id, name, arguments), inner, run.config));
        let refusal = if full { Some(too_much()) } else { self.refusal_in_program(run, at, before) };
        if let Some(answer) = refusal {
            self.answer(run, at, answer);
        }
        true
    }

    fn refusal_in_program(&self, run: &RunParts<'_>, at: usize, before: usize) -> Option<CallAnswer> {
        let open = self.calls.get(at)?;
        let name = open.call.name.as_str();
        if before == MAX_PROGRAM_CALLS {
            let text = format!("not run: a program can make at most {MAX_PROGRAM_CALLS} calls");
            return Some(CallAnswer::refused(Slug::ToolLimit, text));
        }
        if self.grace_timer.is_some() {
            return Some(CallAnswer::from_outcome(ToolOutcome::Stopped));
        }
        if self.has_final_result() {
            return Some(CallAnswer::exactly("not run", None));
        }
        if !own_tools::allowed_inside(name) || open.kind == CallKind::Script {
            let text = format!("{name} cannot be called by a program: call it by itself");
            return Some(CallAnswer::refused(Slug::InvalidArguments, text));
        }
        let script =
            self.calls.iter().find(|outer| outer.place.call == open.place.call && outer.kind == CallKind::Script);
        if let Some(ScriptCode { tools, .. }) = script.and_then(|outer| run.config.script(&outer.call.name))
            && !tools.iter().any(|tool| tool == name)
        {
            let text = format!("{name} is not among the tools that this skill's scripts can call");
            return Some(CallAnswer::refused(Slug::Refused, text));
        }
        open.refusal(run, self.offer).or_else(|| open.denial(run))
    }

    /// The program has ended.
    pub(super) fn program_ended(&mut self, run: &mut RunParts<'_>, index: usize, answer: CallAnswer) {
        self.end_calls_of_program(run, index);
        self.answer(run, index, answer);
    }

    /// What an ended program did not wait for is aborted.
    pub(super) fn end_calls_of_program(&mut self, run: &mut RunParts<'_>, index: usize) {
        let Some(place) = self.calls.get_mut(index).map(|open| {
            open.state = RoundCallState::Expanded; // it receives no more answers
            open.place
        }) else {
            return;
        };
        let is_its = |open: &OpenCall| open.in_program() && open.place.call == place.call;
        let running = self.calls.iter().filter(|open| is_its(open)).filter_map(OpenCall::awaited).cloned();
        run.requests.extend(running.map(RoundRequest::Abort));
        self.answer_all(run, is_its, &CallAnswer::from_outcome(ToolOutcome::Cancelled));
    }

    /// The run has a new driver: programs cannot go on, because their state is gone.
    pub(super) fn interrupt_programs(&mut self, run: &mut RunParts<'_>) {
        let running = self.calls.iter().filter(|open| open.is_running_program()).map(|open| open.call.id.clone());
        for program in running.collect::<Vec<_>>() {
            if let Some(index) = self.calls.iter().position(|open| open.call.id == program) {
                self.program_ended(run, index, CallAnswer::refused(Slug::Interrupted, INTERRUPTED.to_owned()));
            }
        }
    }

    /// The program that made this call receives the whole answer, if it still runs.
    pub(super) fn answer_program(&mut self, run: &mut RunParts<'_>, place: CallIndex, answer: &CallAnswer) {
        let Some(asked) = place.inner.filter(|_| place.program) else { return };
        let program = self.calls.iter_mut().find(|open| open.is_running_program() && open.place.call == place.call);
        if let Some(program) = program {
            let answer = ProgramAnswer {
                content: answer.error.as_ref().unwrap_or(&answer.content).clone(),
                failed: answer.error.is_some(),
            };
            program.exchanged = program.exchanged.saturating_add(answer.content.len());
            run.requests.push(RoundRequest::AnswerProgram { program: program.call.id.clone(), asked, answer });
        }
    }
}

fn too_much() -> CallAnswer {
    let most = MAX_EXCHANGED / (1024 * 1024);
    CallAnswer::refused(Slug::ToolLimit, format!("not run: a program can exchange at most {most} MiB with its tools"))
}

impl OpenCall {
    /// Whether a program made the call.
    pub(super) fn in_program(&self) -> bool {
        self.place.program
    }

    fn is_running_program(&self) -> bool {
        self.kind.is_program() && self.state == RoundCallState::Running
    }
}

impl Program {
    /// What the code of this call sees as its clock and as the seed of its random numbers. FNV-1a: every bit of the id counts.
    pub(super) fn of(seed: u64, call: &CallId, at: EpochMillis, script: Option<ScriptCode>) -> Self {
        let bytes = seed.to_le_bytes().into_iter().chain(call.0.bytes());
        let seed = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Program { seed, at, script }
    }
}
