//! The run's side of its tool calls: it lends a [`ToolRound`] what it needs for each step, performs what the round asks for, and
//! enters the answers into the history with the counter line on the last of them (semantics.md#turn-counter, tool-calls.md#tool-calls).

use serde_json::{Value, json};

use super::config::{Permissions, Scope};
use super::ids::CallId;
use super::interface::{Abort, Effect, ToolOutcome};
use super::judge::Offer;
use super::message::{RawResponse, Reply};
use super::prompts;
use super::record::Trigger;
use super::run::{OpenTurn, Run, RunPhase, TurnStep};
use super::tool_round::{self, RoundOutcome, RoundRequest, RunParts, ToolRound};

/// After a stop or a limit, open calls may still run this long.
pub(super) const WRAP_UP_GRACE_MS: u64 = 2_000;

impl Run {
    /// A reply with tool calls enters the history, and its calls are run.
    pub(super) fn begin_round(&mut self, attempt: u32, mut reply: Reply, raw: Option<RawResponse>) {
        let (turn, offer, finish, now) = (self.turn(), self.offer(), reply.finish, self.clock.now);
        let (calls, records) = tool_round::take_calls(&mut reply, &mut self.call_ids, (turn, attempt), now);
        let Some(open) = self.book.turns.last_mut() else { return };
        let first = open.tool_calls.len();
        open.tool_calls.extend(records);
        self.enter(reply, calls.clone());
        if let RunPhase::Turn(OpenTurn { step, .. }) = &mut self.phase {
            *step = TurnStep::Tools(ToolRound::new(&self.config, (attempt, offer, first), calls, finish, raw));
        }
        self.with_round(ToolRound::refuse);
        self.advance_round();
    }

    /// Starts the calls that may start; when all are answered, the turn is judged.
    pub(super) fn advance_round(&mut self) {
        self.with_round(ToolRound::read_earlier);
        self.with_round(ToolRound::close_batches);
        self.close_spawns();
        if self.with_round(ToolRound::start_ready) == Some(true) {
            self.round_over();
        }
    }

    /// A running program calls a tool.
    pub(super) fn tool_asked(&mut self, program: &CallId, name: String, arguments: String) {
        if self.with_round(|round, parts| round.asked(parts, program, name, arguments)) == Some(true) {
            self.advance_round();
        }
    }

    /// A stop or a limit while calls are open: nothing new starts, and what runs has [`WRAP_UP_GRACE_MS`] to end.
    pub(super) fn wrap_up_round(&mut self, trigger: Trigger) {
        self.with_round(ToolRound::answer_queued_as_stopped);
        self.stop_children(trigger);
        let timer = self.sleep(WRAP_UP_GRACE_MS);
        self.with_round(|round, _| round.grace_timer = Some(timer));
        self.advance_round();
    }

    /// The grace period is over.
    pub(super) fn grace_over(&mut self) {
        self.with_round(|round, parts| round.abort(parts, ToolOutcome::Stopped));
        self.advance_round();
    }

    /// Cancel: everything that is open is aborted and answered, and the answers enter the history.
    pub(super) fn cancel_round(&mut self, keeps_text: bool) {
        self.with_round(|round, parts| round.abort(parts, ToolOutcome::Cancelled));
        self.cancel_children(keeps_text);
        self.with_round(ToolRound::close_batches);
        self.enter_answers_and_lines();
        self.drop_grace_timer();
    }

    /// The running calls begin anew, for another driver; programs are answered as interrupted.
    pub(super) fn run_round_again(&mut self) {
        self.with_round(ToolRound::interrupt_programs);
        let Some(round) = self.round() else { return };
        let grace = round.grace_timer;
        self.with_round(ToolRound::run_again);
        if let Some(timer) = grace {
            self.emit(Effect::Sleep { timer, ms: WRAP_UP_GRACE_MS });
        }
        // The interruption may have ended sub-agents: others take their place, or the call is answered.
        self.start_children();
        self.advance_round();
    }

    /// The user answered whether a call may run. An answer to a question that is no longer open does nothing.
    pub(super) fn permitted(&mut self, call: &CallId, allow: bool, scope: Scope) {
        let runs = || std::iter::once(&*self).chain(self.child_runs());
        let Some((run, asked)) = runs().find_map(|run| Some((run, run.round()?.asking_about(call)?))) else { return };
        let tool = run.config.tools.iter().find(|tool| tool.name == asked.name);
        let Some((key, scope)) = tool.map(|tool| self.consent.answer_key(tool, &asked.arguments, scope)) else {
            return;
        };
        let data = json!({ "call": call, "name": asked.name, "allow": allow, "scope": scope });
        self.trace("permission_answered", data);
        self.permit(call, &key, allow, scope);
        self.start_children();
        self.advance_round();
    }

    /// Applies an answer to the calls of this run and of its sub-agents.
    pub(super) fn permit(&mut self, call: &CallId, tool: &str, allow: bool, scope: Scope) {
        self.consent.remember(tool, allow, scope);
        self.with_round(|round, parts| round.permitted(parts, call, allow));
        self.permit_children(call, tool, allow, scope);
        self.advance_round();
    }

    /// Other rules decide which calls run from here on. Open questions are decided by [`Event::Resumed`], which follows.
    pub(super) fn set_permissions(&mut self, permissions: &Permissions) {
        self.consent.set(permissions.clone());
        self.with_round(ToolRound::refuse); // what waits may be denied now
        self.set_child_permissions(permissions);
        self.advance_round();
    }

    /// All calls are answered: the answers enter the history, the context and counter lines on the last of them.
    pub(super) fn enter_answers_and_lines(&mut self) {
        let Some(round) = self.round() else { return };
        let records = self.book.turns.last().and_then(|turn| turn.tool_calls.get(round.first..)).unwrap_or_default();
        let messages = round.messages(records);
        self.history.repair_calls(|call| {
            let record = records.iter().find(|record| record.id == call.id)?;
            let given: Option<Value> = serde_json::from_str(&call.arguments).ok();
            (record.args.is_object() && given.as_ref() != Some(&record.args)).then(|| record.args.to_string())
        });
        messages.into_iter().for_each(|message| self.history.push(message));
        let counter = self.config.counter.as_ref();
        let counter = counter.map(|c| prompts::counter_line(c, self.turn(), self.figures.effective_max_turns));
        let mut lines = String::new();
        if let Some(context) = self.context_percent().and_then(prompts::context_line) {
            lines.push('\n');
            lines.push_str(&context);
        }
        let Some(turn) = self.book.turns.last_mut() else { return };
        if let Some((level, line)) = counter {
            turn.counter_level = level;
            lines.push('\n');
            lines.push_str(&line);
        }
        if let Some(result) = turn.tool_calls.last_mut().and_then(|call| call.result.as_mut()) {
            result.push_str(&lines);
        }
        self.history.extend_last(&lines);
    }

    /// The outcome of the round, with the attempt and the offer that it belongs to.
    pub(super) fn close_round(&mut self) -> Option<(RoundOutcome, u32, Offer)> {
        self.drop_grace_timer();
        self.with_round(|round, parts| (round.outcome(parts), round.attempt, round.offer))
    }

    fn drop_grace_timer(&mut self) {
        if let Some(timer) = self.round().and_then(|round| round.grace_timer) {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
    }

    /// Whether this call is running.
    pub(super) fn is_running_call(&self, call: &CallId) -> bool {
        self.round().is_some_and(|round| round.is_running(call))
    }

    /// One step of the open round, if there is one. What it asks for is performed right after it.
    pub(super) fn with_round<R>(&mut self, step: impl FnOnce(&mut ToolRound, &mut RunParts<'_>) -> R) -> Option<R> {
        let world_time = self.world_time();
        let earlier_chars = self.earlier_chars();
        let Run { config, phase, book, figures, consent, clock, call_ids, history, .. } = self;
        let RunPhase::Turn(OpenTurn { step: TurnStep::Tools(round), .. }) = phase else { return None };
        let records = book.turns.last_mut()?.tool_calls.get_mut(round.first..)?;
        let report_attempts = &mut figures.report_attempts;
        let mut parts = RunParts {
            config,
            consent,
            now: clock.now,
            world_time,
            records,
            ids: call_ids,
            report_attempts,
            earlier: history.offers_earlier().then_some((&*history, earlier_chars)),
            requests: Vec::new(),
        };
        let result = step(round, &mut parts);
        let requests = parts.requests;
        self.perform(requests);
        Some(result)
    }

    fn perform(&mut self, requests: Vec<RoundRequest>) {
        for request in requests {
            match request {
                RoundRequest::Run(tool) => self.emit(Effect::RunTool(tool)),
                RoundRequest::Abort(call) => self.emit(Effect::Abort(Abort::Tool(call))),
                RoundRequest::Keep { handle, content } => self.keep_result(handle, content),
                RoundRequest::Notify(what) => self.record(what),
                RoundRequest::AnswerProgram { program, asked, answer } => {
                    self.emit(Effect::AnswerProgram { program, asked, answer });
                }
                RoundRequest::Spawn { call, tasks } => self.spawn(&call, tasks),
            }
        }
    }

    /// Keeps the whole of a result that the model reads only in part.
    pub(super) fn keep_result(&mut self, handle: CallId, content: String) {
        self.context.kept.insert(handle.clone());
        self.emit(Effect::KeepResult { handle, content });
    }
}
