//! The tool calls of one reply: ids, order, limits, refusals, batches, answers (semantics.md#turn-counter, tool-calls.md#tool-calls, strict.md#progress-and-batch).
//!
//! A [`ToolRound`] is a machine of its own. Each step gets a [`RunParts`]: the parts of the run that it may use, and a list for
//! what it asks the run to do. It knows neither turns nor sub-agents: a call of `spawn_subagents` is handed to the run, which
//! answers it when the sub-agents have ended.
//!
//! Invariant: every call is answered exactly once, by [`ToolRound::answer`]; the order of the records is that of the calls.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::caps::MAX_CALLS;
use super::config::{RunConfig, SideEffect, ToolSpec};
use super::failure::Slug;
use super::history::History;
use super::ids::{CallId, CallIds, EpochMillis, Millis, TimerId};
use super::interface::{CallPermission, Program, ProgramAnswer, RunMode, RunTool, ToolOutcome};
use super::judge::{CallFact, CallKind, Completion, Offer, Policy};
use super::message::{FinishReason, Image, Message, RawResponse, Reply, ToolCall, ToolMessage};
use super::own_tools::{self, AcceptedReport, InnerCall, SubagentTask};
use super::permission::{self, CallDecision, Consent};
use super::record::{CallRecord, RecordKind};
use super::skills;

/// The calls of the current attempt. The calls of a batch follow it directly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToolRound {
    pub attempt: u32,
    pub offer: Offer,
    /// The index of the first record of these calls in the turn.
    pub first: usize,
    /// The timer of the grace period, once the run was asked to wrap up.
    pub grace_timer: Option<TimerId>,
    pub calls: Vec<OpenCall>,
    /// The reply was cut by its length limit: none of its calls runs, and the model is told.
    truncated: bool,
    /// The reply as received, for the log of a failed attempt.
    raw: Option<RawResponse>,
    report: Option<AcceptedReport>,
}

/// One call of the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub call: ToolCall,
    pub kind: CallKind,
    pub place: CallIndex,
    pub state: RoundCallState,
    executed: bool,
    slug: Option<Slug>,
    /// For a program: the bytes of its calls and of their answers so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exchanged: usize,
    /// The pictures and PDFs of its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<Image>,
    /// The final result in its answer: text and JSON.
    result: Option<(String, Value)>,
}

/// Where a call's record is: the index of the call in the reply, and in its batch or program if it is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallIndex {
    pub call: usize,
    pub inner: Option<usize>,
    /// It is in a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub program: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum RoundCallState {
    Queued,
    /// The user is asked whether it may run in this mode.
    Asking(RunMode),
    Running,
    /// The tool has answered with `content`, whose final result is checked as a report under the id `check`: a second
    /// answer of the tool itself is not taken for the outcome of the check.
    Checking {
        check: CallId,
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        structured_content: Option<Value>,
    },
    /// A batch whose calls, or a spawn whose sub-agents, are running.
    Expanded,
    Answered,
}

/// The parts of a run that its tool calls use, for one step.
pub(super) struct RunParts<'a> {
    pub config: &'a RunConfig,
    pub consent: &'a Consent,
    pub now: Millis,
    pub world_time: EpochMillis,
    /// The records of the round's calls, in order.
    pub records: &'a mut [CallRecord],
    pub ids: &'a mut CallIds,
    /// How often the model has tried to report.
    pub report_attempts: &'a mut u32,
    /// The conversation of which the request left a part out, and how many characters one call reads of that.
    pub earlier: Option<(&'a History, usize)>,
    /// What the round asks the run to do, in order.
    pub requests: Vec<RoundRequest>,
}

/// One thing that a round asks its run to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RoundRequest {
    Run(RunTool),
    Abort(CallId),
    /// Keep a result that was cut for the model.
    Keep {
        handle: CallId,
        content: String,
    },
    Notify(RecordKind),
    /// Pass the answer to the program's call with this index.
    AnswerProgram {
        program: CallId,
        asked: usize,
        answer: ProgramAnswer,
    },
    /// Start these sub-agents, and answer the call when they have ended.
    Spawn {
        call: CallId,
        tasks: Vec<SubagentTask>,
    },
}

/// The result of a round whose calls are all answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RoundOutcome {
    /// A tool's result ends the run.
    FinalResult { text: String, data: Value },
    /// A report was accepted.
    Report(AcceptedReport),
    /// Neither; the facts decide whether the turn succeeded.
    Answered { facts: Vec<CallFact>, truncated: bool, raw: Option<RawResponse> },
}

/// The answer to a call, before the counter line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallAnswer {
    pub content: String,
    pub slug: Option<Slug>,
    /// For users, if the call failed.
    pub error: Option<String>,
    /// The result as data, for the record only.
    pub structured_content: Option<Value>,
}

/// The life of a round: begin, steps, stop or cancel, outcome.
impl ToolRound {
    /// The round of a reply's calls, which have their ids and records already. The first step is [`ToolRound::refuse`].
    pub(super) fn new(
        config: &RunConfig,
        (attempt, offer, first): (u32, Offer, usize),
        calls: Vec<ToolCall>,
        finish: FinishReason,
        raw: Option<RawResponse>,
    ) -> Self {
        let place = |call| CallIndex { call, inner: None, program: false };
        let calls =
            calls.into_iter().enumerate().map(|(index, call)| OpenCall::queued(call, place(index), config)).collect();
        let truncated = finish == FinishReason::Length;
        ToolRound { attempt, offer, first, grace_timer: None, calls, truncated, raw, report: None }
    }

    /// Answers the calls that must not run: those of a new reply, later those of a batch.
    pub(super) fn refuse(&mut self, run: &mut RunParts<'_>) {
        let most = run.config.limits.tool_calls_per_turn as usize;
        let first_report = self.calls.iter().position(|c| c.kind == CallKind::Report && c.place.inner.is_none());
        let mut counted = 0;
        let mut refused = Vec::new();
        for (index, open) in self.calls.iter().enumerate() {
            let over = counted >= most;
            counted += usize::from(open.kind != CallKind::Batch && !open.in_program());
            if !open.is_queued() {
                continue;
            }
            // The limits of a reply are not those of a program.
            let answer = if open.in_program() {
                open.denial(run)
            } else if self.truncated {
                let text = "your reply was cut by its length limit, so this call was not run".to_owned();
                Some(CallAnswer::refused(Slug::TruncatedOutput, text))
            } else if first_report.is_some_and(|report| index > report) {
                Some(CallAnswer::exactly("not run", None))
            } else if over {
                let text = format!("not run: at most {most} tool calls are run in one turn");
                Some(CallAnswer::refused(Slug::ToolLimit, text))
            } else {
                open.refusal(run, self.offer).or_else(|| open.denial(run))
            };
            refused.extend(answer.map(|answer| (index, answer)));
        }
        for (index, answer) in refused {
            self.answer(run, index, answer);
        }
    }

    /// A running call came back. Returns whether there was one with this id.
    pub(super) fn finished(&mut self, run: &mut RunParts<'_>, id: &CallId, outcome: ToolOutcome) -> bool {
        let Some(index) = self.calls.iter().position(|call| call.awaited() == Some(id)) else { return false };
        let Some(open) = self.calls.get_mut(index) else { return false };
        let ran = matches!(outcome, ToolOutcome::Executed { .. } | ToolOutcome::TimedOut { .. });
        if ran && open.state == RoundCallState::Asking(RunMode::Run) {
            return false; // nobody has permitted it
        }
        let (kind, place) = (open.kind, open.place);
        if let RoundCallState::Checking { content, structured_content, .. } =
            std::mem::replace(&mut open.state, RoundCallState::Running)
        {
            let answer = CallAnswer { structured_content, ..CallAnswer::text(content) };
            self.final_result_checked(run, index, answer, outcome);
            return true;
        }
        if let ToolOutcome::Executed { repaired_args: Some(args), .. } = &outcome {
            let args = args.clone();
            run.with_record(place, |record| record.args = args);
        }
        let checked = matches!(outcome, ToolOutcome::Executed { .. });
        match kind {
            CallKind::Tool => self.tool_answered(run, index, outcome),
            CallKind::Report => self.report_checked(run, index, outcome),
            CallKind::Progress if checked => self.progress(run, index),
            CallKind::Batch if checked => self.expand(run, index),
            CallKind::Spawn if checked => self.spawn(run, index),
            CallKind::Skill if checked => self.read_skill(run, index),
            CallKind::Program => self.program_ended(run, index, CallAnswer::from_outcome(outcome)),
            CallKind::Script => {
                self.end_calls_of_program(run, index);
                self.tool_answered(run, index, outcome);
            }
            CallKind::Progress | CallKind::Batch | CallKind::Spawn | CallKind::Skill => {
                self.answer(run, index, CallAnswer::from_outcome(outcome));
            }
        }
        true
    }

    /// Stop: nothing new starts, and no question stays open. What runs has until the grace timer fires.
    pub(super) fn answer_queued_as_stopped(&mut self, run: &mut RunParts<'_>) {
        let is_asking = |call: &OpenCall| matches!(call.state, RoundCallState::Asking(_));
        let asking = self.calls.iter().filter(|call| is_asking(call)).map(|call| call.call.id.clone());
        run.requests.extend(asking.map(RoundRequest::Abort));
        let answer = CallAnswer::from_outcome(ToolOutcome::Stopped);
        self.answer_all(run, |call| is_asking(call) || call.is_queued(), &answer);
    }

    /// Aborts everything that is still open, and answers it: `Stopped` or `Cancelled`.
    pub(super) fn abort(&mut self, run: &mut RunParts<'_>, outcome: ToolOutcome) {
        let running = self.calls.iter().filter_map(OpenCall::awaited).cloned();
        run.requests.extend(running.map(RoundRequest::Abort));
        let answer = CallAnswer::from_outcome(outcome);
        self.answer_all(run, |call| call.awaited().is_some(), &answer);
        self.answer_all(run, OpenCall::is_queued, &answer);
    }

    /// The calls of `spawn_subagents` whose sub-agents are running.
    pub(super) fn spawned(&self) -> Vec<CallId> {
        let spawned = self.calls.iter().filter(|c| c.kind == CallKind::Spawn && c.state == RoundCallState::Expanded);
        spawned.map(|c| c.call.id.clone()).collect()
    }

    /// Sub-agents of this call were started.
    pub(super) fn mark_executed(&mut self, call: &CallId) {
        if let Some(open) = self.calls.iter_mut().find(|open| open.call.id == *call) {
            open.executed = true;
        }
    }

    /// Whether a call counts as executed.
    pub(super) fn was_executed(&self, call: &CallId) -> bool {
        self.calls.iter().any(|open| open.call.id == *call && open.executed)
    }

    /// Answers a call of `spawn_subagents`.
    pub(super) fn answer_spawn(&mut self, run: &mut RunParts<'_>, call: &CallId, answer: CallAnswer) {
        if let Some(index) = self.calls.iter().position(|open| open.call.id == *call) {
            self.answer(run, index, answer);
        }
    }

    /// Answers each batch whose calls are all answered: an array of their results, in order.
    pub(super) fn close_batches(&mut self, run: &mut RunParts<'_>) {
        let is_open_batch = |c: &OpenCall| c.kind == CallKind::Batch && c.state == RoundCallState::Expanded;
        let is_done = |batch: &OpenCall| {
            let mut inner = self.calls.iter().filter(|c| c.place.call == batch.place.call && c.place.inner.is_some());
            inner.all(|call| call.state == RoundCallState::Answered)
        };
        let batches = self.calls.iter().enumerate().filter(|(_, call)| is_open_batch(call) && is_done(call));
        let done: Vec<(usize, CallIndex)> = batches.map(|(index, batch)| (index, batch.place)).collect();
        for (index, place) in done {
            let results = run.with_record(place, |batch| {
                let result = |call: &CallRecord| match &call.error {
                    None => json!({ "name": call.name, "result": call.result }),
                    Some(_) => json!({ "name": call.name, "error": call.result }),
                };
                Value::Array(batch.calls.iter().map(result).collect()).to_string()
            });
            self.answer(run, index, CallAnswer::text(results.unwrap_or_default()));
        }
    }

    /// Starts the calls that may start now. Returns whether every call is answered.
    pub(super) fn start_ready(&mut self, run: &mut RunParts<'_>) -> bool {
        let running = self.calls.iter().filter(|call| call.awaited().is_some());
        // A program waits for calls of its own, so it takes no place among the others.
        let (programs, others): (Vec<_>, Vec<_>) = running.partition(|call| call.kind.is_program());
        // While a final result is checked, nothing new starts: it may end the run.
        let checking = self.calls.iter().any(|call| matches!(call.state, RoundCallState::Checking { .. }));
        let most = if checking { 0 } else { run.config.limits.parallel_tools.max(1) as usize };
        let (mut programs, mut others) = (most.saturating_sub(programs.len()), most.saturating_sub(others.len()));
        let idle = self.calls.iter().all(|call| call.awaited().is_none());
        let mut started = 0;
        let mut before_answered = true;
        for open in &mut self.calls {
            // A report is judged after the calls before it have run.
            let ready = open.kind != CallKind::Report || before_answered;
            let room = if open.kind.is_program() { &mut programs } else { &mut others };
            if open.is_queued() && ready && *room > 0 {
                *room -= 1;
                started += 1;
                run.start(open);
            }
            before_answered &= open.state == RoundCallState::Answered;
        }
        started == 0 && idle && before_answered
    }

    /// The answers as messages, in the order of the calls.
    pub(super) fn messages(&self, records: &[CallRecord]) -> Vec<Message> {
        let message = |(at, record): (usize, &CallRecord)| {
            // Images of the call, or of the calls inside a batch.
            let images = self.calls.iter().filter(|c| c.place.call == at).flat_map(|c| &c.images).cloned().collect();
            Message::Tool(ToolMessage {
                call_id: record.id.clone(),
                name: record.name.clone(),
                content: record.result.clone().unwrap_or_default(),
                images,
                is_error: record.error.is_some(),
            })
        };
        records.iter().enumerate().map(message).collect()
    }

    /// The outcome, once every call is answered.
    pub(super) fn outcome(&mut self, run: &mut RunParts<'_>) -> RoundOutcome {
        let finished = self.calls.iter_mut().find_map(|c| c.result.take().map(|result| (c.place, result)));
        if let Some((place, (text, data))) = finished {
            run.with_record(place, |record| record.is_final = true);
            return RoundOutcome::FinalResult { text, data };
        }
        if let Some(report) = self.report.take() {
            return RoundOutcome::Report(report);
        }
        let fact = |c: &OpenCall| CallFact { kind: c.kind, executed: c.executed, slug: c.slug };
        let facts = self.calls.iter().map(fact).collect();
        RoundOutcome::Answered { facts, truncated: self.truncated, raw: self.raw.take() }
    }

    /// Whether this call is running.
    pub(super) fn is_running(&self, id: &CallId) -> bool {
        self.calls.iter().any(|call| call.awaited() == Some(id))
    }

    /// Begins the running calls anew, for another driver. The rules may have changed since they started.
    pub(super) fn run_again(&mut self, run: &mut RunParts<'_>) {
        let mut denied = Vec::new();
        for (index, open) in self.calls.iter_mut().enumerate() {
            let mode = match &open.state {
                RoundCallState::Running if open.kind == CallKind::Tool => RunMode::RunAgain,
                RoundCallState::Running => RunMode::Check,
                RoundCallState::Asking(mode) => *mode,
                RoundCallState::Checking { check, content, .. } => {
                    if let Some((text, data)) = own_tools::find_final_result(content) {
                        let request = check_final_result(run.config, check.clone(), &text, &data);
                        run.requests.push(RoundRequest::Run(request));
                    }
                    continue;
                }
                RoundCallState::Queued | RoundCallState::Expanded | RoundCallState::Answered => continue,
            };
            // An adopter may not have the tool.
            let unknown =
                run.tool(open).is_none().then(|| CallAnswer::unknown_tool(&open.call.name, &run.config.tools));
            match unknown.or_else(|| open.denial(run)) {
                Some(answer) if mode != RunMode::Check => denied.push((index, answer)),
                _ => run.request(open, mode),
            }
        }
        for (index, answer) in denied {
            self.answer(run, index, answer);
        }
        self.refuse(run);
    }

    /// The call that waits for this answer; `None`: there is no such question.
    pub(super) fn asking_about(&self, id: &CallId) -> Option<&ToolCall> {
        let asking = |open: &&OpenCall| matches!(open.state, RoundCallState::Asking(_)) && open.call.id == *id;
        self.calls.iter().find(asking).map(|open| &open.call)
    }

    /// A question was answered. An answer that reaches further also decides about other calls of the round.
    pub(super) fn permitted(&mut self, run: &mut RunParts<'_>, id: &CallId, allow: bool) {
        let mut denied = Vec::new();
        for (index, open) in self.calls.iter_mut().enumerate() {
            let RoundCallState::Asking(mode) = open.state else { continue };
            let decision = match (open.call.id == *id, allow) {
                (true, true) => CallDecision::Allowed,
                (true, false) => CallDecision::Denied(permission::REFUSED.to_owned()),
                (false, _) => match run.decide(open) {
                    // Whether it may have its effect twice is a question about this call only.
                    CallDecision::Allowed if mode == RunMode::RunAgain => CallDecision::Ask,
                    decision => decision,
                },
            };
            if open.call.id != *id && decision != CallDecision::Ask {
                run.requests.push(RoundRequest::Abort(open.call.id.clone()));
            }
            match decision {
                CallDecision::Ask => {}
                CallDecision::Denied(why) => denied.push((index, CallAnswer::refused(Slug::Refused, why))),
                CallDecision::Allowed => run.run(open, mode, CallPermission::Allowed),
            }
        }
        for (index, answer) in denied {
            self.answer(run, index, answer);
        }
        self.refuse(run);
    }
}

/// One rule each: what becomes of a call.
impl ToolRound {
    /// `progress_report`: the user sees it, the model reads `ok`.
    fn progress(&mut self, run: &mut RunParts<'_>, index: usize) {
        let args = self.args(run, index);
        let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
        let report = RecordKind::Progress { status: text("status").unwrap_or_default(), detail: text("detail") };
        run.requests.push(RoundRequest::Notify(report));
        self.answer(run, index, CallAnswer::text("ok".into()));
    }

    /// `read_skill`: the engine has the skills.
    fn read_skill(&mut self, run: &mut RunParts<'_>, index: usize) {
        let answer = match skills::read(&run.config.skills, &self.args(run, index)) {
            Ok(text) => CallAnswer::text(text),
            Err(fault) => CallAnswer::refused(Slug::InvalidArguments, fault),
        };
        if let Some(open) = self.calls.get_mut(index) {
            open.executed = answer.error.is_none();
        }
        self.answer(run, index, answer);
    }

    /// `read_earlier`: answered at once.
    pub(super) fn read_earlier(&mut self, run: &mut RunParts<'_>) {
        let Some((history, chars)) = run.earlier else { return };
        for index in 0..self.calls.len() {
            let Some(open) = self.calls.get_mut(index).filter(|open| open.is_queued() && open.reads_earlier(run))
            else {
                continue;
            };
            run.starts(open);
            let answer = match history.read_earlier(&open.call.arguments, chars) {
                Ok((text, images)) => {
                    open.executed = true;
                    if !open.in_program() {
                        open.images = images;
                    }
                    CallAnswer::text(text)
                }
                Err(fault) => CallAnswer::refused(Slug::InvalidArguments, fault),
            };
            self.answer(run, index, answer);
        }
    }

    /// `batch`: its calls are inserted right behind it.
    fn expand(&mut self, run: &mut RunParts<'_>, index: usize) {
        let asked = own_tools::inner_calls(&self.args(run, index));
        let before = self.calls.iter().filter(|c| c.place.inner.is_some() && !c.in_program()).count();
        if before + asked.len() > MAX_CALLS {
            return self.answer(run, index, CallAnswer::too_many(asked.len(), "calls"));
        }
        let Some(batch) = self.calls.get_mut(index) else { return };
        batch.state = RoundCallState::Expanded;
        let (outer, place) = (batch.call.id.clone(), batch.place);
        let mut inner = Vec::new();
        for (i, InnerCall { name, arguments }) in asked.into_iter().enumerate() {
            let id = run.ids.fresh(&format!("{outer}_{i}"));
            let record = CallRecord::open(id.clone(), &name, parse_args(&arguments), self.attempt, run.now);
            run.with_record(place, |batch| batch.calls.push(record));
            let place = CallIndex { inner: Some(i), ..place };
            inner.push(OpenCall::queued(ToolCall::new(id, name, arguments), place, run.config));
        }
        self.calls.splice(index + 1..index + 1, inner);
        self.refuse(run);
    }

    /// `spawn_subagents`: the run starts them.
    fn spawn(&mut self, run: &mut RunParts<'_>, index: usize) {
        if self.grace_timer.is_some() {
            return self.answer(run, index, CallAnswer::from_outcome(ToolOutcome::Stopped));
        }
        let tasks = own_tools::subagent_tasks(&self.args(run, index));
        if tasks.len() > MAX_CALLS {
            return self.answer(run, index, CallAnswer::too_many(tasks.len(), "tasks"));
        }
        if let Some(open) = self.calls.get_mut(index) {
            open.state = RoundCallState::Expanded;
            run.requests.push(RoundRequest::Spawn { call: open.call.id.clone(), tasks });
        }
    }

    /// `final_report`: accepted, or answered with what is wrong.
    fn report_checked(&mut self, run: &mut RunParts<'_>, index: usize, outcome: ToolOutcome) {
        *run.report_attempts += 1;
        let args = self.args(run, index);
        let answer = match judge_report(run.config, "the report was refused", &args, outcome) {
            Ok(accepted) => {
                self.report = Some(accepted);
                if let Some(place) = self.calls.get(index).map(|open| open.place) {
                    run.with_record(place, |record| record.is_final = true);
                }
                CallAnswer::text("accepted".into())
            }
            Err(refused) => refused,
        };
        self.answer(run, index, answer);
    }

    /// Any other tool. Its result may be the final one.
    fn tool_answered(&mut self, run: &mut RunParts<'_>, index: usize, mut outcome: ToolOutcome) {
        let Some(open) = self.calls.get_mut(index) else { return };
        let in_program = open.in_program();
        open.executed =
            !matches!(outcome, ToolOutcome::Rejected { .. } | ToolOutcome::Cancelled | ToolOutcome::Stopped);
        if let ToolOutcome::Executed { images, .. } = &mut outcome
            && !in_program
        {
            open.images = std::mem::take(images);
        }
        let may_finish =
            !in_program && run.config.tools.iter().any(|tool| tool.name == open.call.name && tool.may_finish);
        let found = match &outcome {
            ToolOutcome::Executed { content, .. } if may_finish => own_tools::find_final_result(content),
            _ => None,
        };
        let needs_check = Policy::for_preset(run.config.preset).completion == Completion::Report;
        match (found, outcome) {
            // Where only a report completes a run, a final result has to be one: it is checked like `final_report`.
            (Some((text, data)), ToolOutcome::Executed { content, structured_content, .. }) if needs_check => {
                let check = run.ids.assign_own(&format!("{}_result", open.call.id));
                let request = check_final_result(run.config, check.clone(), &text, &data);
                open.state = RoundCallState::Checking { check, content, structured_content };
                run.requests.push(RoundRequest::Run(request));
            }
            (Some(found), outcome) => self.accept_final_result(run, index, found, CallAnswer::from_outcome(outcome)),
            (None, outcome) => self.answer(run, index, CallAnswer::from_outcome(outcome)),
        }
    }

    fn final_result_checked(&mut self, run: &mut RunParts<'_>, index: usize, answer: CallAnswer, outcome: ToolOutcome) {
        *run.report_attempts += 1;
        let Some((text, data)) = own_tools::find_final_result(&answer.content) else { return };
        let args = own_tools::final_result_as_report(&run.config.report, &text, &data);
        match judge_report(run.config, "this is not taken as the final result", &args, outcome) {
            Ok(_) => self.accept_final_result(run, index, (text, data), answer),
            // The tool has run, so its answer is still worth reading.
            Err(refused) => {
                let content = format!("{}\n\n{}", refused.content, answer.content);
                let structured_content = answer.structured_content;
                self.answer(run, index, CallAnswer { content, structured_content, ..refused });
            }
        }
    }

    fn accept_final_result(
        &mut self,
        run: &mut RunParts<'_>,
        index: usize,
        found: (String, Value),
        answer: CallAnswer,
    ) {
        if let Some(open) = self.calls.get_mut(index) {
            open.result = Some(found);
        }
        self.answer(run, index, answer);
        self.answer_all(run, OpenCall::is_queued, &CallAnswer::exactly("not run", None));
    }

    pub(super) fn answer_all(
        &mut self,
        run: &mut RunParts<'_>,
        which: impl Fn(&OpenCall) -> bool,
        answer: &CallAnswer,
    ) {
        for index in 0..self.calls.len() {
            if self.calls.get(index).is_some_and(&which) {
                self.answer(run, index, answer.clone());
            }
        }
    }

    /// The only function that answers a call.
    pub(super) fn answer(&mut self, run: &mut RunParts<'_>, index: usize, mut answer: CallAnswer) {
        let Some(open) = self.calls.get_mut(index).filter(|c| c.state != RoundCallState::Answered) else { return };
        (open.state, open.slug) = (RoundCallState::Answered, answer.slug);
        let (kind, place, id) = (open.kind, open.place, open.call.id.clone());
        self.answer_program(run, place, &answer);
        // A batch is not cut: each of its calls was.
        let is_cut = matches!(kind, CallKind::Tool | CallKind::Program | CallKind::Script | CallKind::Skill);
        let max = if is_cut { run.config.limits.max_result_chars } else { usize::MAX };
        if let Some(short) = cut(&answer.content, max, &id) {
            answer.error = answer.error.map(|_| short.clone());
            let content = std::mem::replace(&mut answer.content, short);
            // The model does not read what a program read.
            if !place.program {
                run.requests.push(RoundRequest::Keep { handle: id, content });
            }
        }
        let now = run.now.0;
        let record = run.with_record(place, |record| {
            record.result = Some(answer.content);
            record.structured_content = answer.structured_content;
            record.error = answer.error;
            record.slug = answer.slug;
            record.duration_ms = Some(now.saturating_sub(record.started_ms));
            record.clone()
        });
        run.requests.extend(record.map(|call| RoundRequest::Notify(RecordKind::ToolFinished { call })));
    }

    /// A tool's result ends the run.
    pub(super) fn has_final_result(&self) -> bool {
        self.calls.iter().any(|open| open.result.is_some())
    }

    fn args(&self, run: &mut RunParts<'_>, index: usize) -> Value {
        let place = self.calls.get(index).map(|open| open.place);
        place.and_then(|place| run.with_record(place, |record| record.args.clone())).unwrap_or_default()
    }
}

impl OpenCall {
    pub(super) fn queued(call: ToolCall, place: CallIndex, config: &RunConfig) -> Self {
        let kind = match call.name.as_str() {
            own_tools::REPORT => CallKind::Report,
            own_tools::BATCH => CallKind::Batch,
            own_tools::PROGRESS => CallKind::Progress,
            own_tools::SPAWN => CallKind::Spawn,
            own_tools::PROGRAM => CallKind::Program,
            skills::READ_SKILL if !config.skills.is_empty() => CallKind::Skill,
            name if config.is_script(name) => CallKind::Script,
            _ => CallKind::Tool,
        };
        let state = RoundCallState::Queued;
        let (executed, slug, exchanged) = (false, None, 0);
        OpenCall { call, kind, place, state, executed, slug, exchanged, images: Vec::new(), result: None }
    }

    fn reads_earlier(&self, run: &RunParts<'_>) -> bool {
        run.earlier.is_some() && self.call.name == own_tools::EARLIER
    }

    fn is_queued(&self) -> bool {
        self.state == RoundCallState::Queued
    }

    /// The id under which the shell answers next, if the call is running.
    pub(super) fn awaited(&self) -> Option<&CallId> {
        match &self.state {
            RoundCallState::Asking(_) | RoundCallState::Running => Some(&self.call.id),
            RoundCallState::Checking { check, .. } => Some(check),
            RoundCallState::Queued | RoundCallState::Expanded | RoundCallState::Answered => None,
        }
    }

    /// The answer to a call that the rules of the run deny.
    pub(super) fn denial(&self, run: &RunParts<'_>) -> Option<CallAnswer> {
        match run.decide(self) {
            CallDecision::Denied(why) => Some(CallAnswer::refused(Slug::Refused, why)),
            CallDecision::Allowed | CallDecision::Ask => None,
        }
    }

    /// Why the call must not run, whatever the other calls are.
    pub(super) fn refusal(&self, run: &RunParts<'_>, offer: Offer) -> Option<CallAnswer> {
        let (name, tools) = (self.call.name.as_str(), &run.config.tools);
        if self.place.inner.is_some() && (!own_tools::allowed_inside(name) || self.kind == CallKind::Script) {
            let text = format!("{name} cannot stand inside a batch: call it by itself");
            return Some(CallAnswer::refused(Slug::InvalidArguments, text));
        }
        if !tools.iter().any(|tool| tool.name == name) && !self.reads_earlier(run) {
            return Some(CallAnswer::unknown_tool(name, tools));
        }
        if offer == Offer::ReportOnly && self.kind != CallKind::Report {
            let text = "not run: this is the last turn, and only final_report can be called".to_owned();
            return Some(CallAnswer::refused(Slug::FinalReportMissing, text));
        }
        None
    }
}

impl RunParts<'_> {
    pub(super) fn with_record<R>(&mut self, place: CallIndex, change: impl FnOnce(&mut CallRecord) -> R) -> Option<R> {
        let record = self.records.get_mut(place.call)?;
        match place.inner {
            Some(inner) => record.calls.get_mut(inner).map(change),
            None => Some(change(record)),
        }
    }

    fn starts(&mut self, open: &OpenCall) {
        let now = self.now.0;
        self.with_record(open.place, |record| record.started_ms = now);
        let ToolCall { id, name, arguments, .. } = open.call.clone();
        let started = RecordKind::ToolStarted { id, name, args: parse_args(&arguments) };
        self.requests.push(RoundRequest::Notify(started));
    }

    fn start(&mut self, open: &mut OpenCall) {
        self.starts(open);
        let is_run = matches!(open.kind, CallKind::Tool | CallKind::Program | CallKind::Script);
        let mode = if is_run { RunMode::Run } else { RunMode::Check };
        self.request(open, mode);
    }

    /// Has a call run in this mode, or asks whether it may.
    fn request(&mut self, open: &mut OpenCall, mode: RunMode) {
        let touches = self.tool(open).map(|tool| self.consent.touches(tool, &open.call.arguments));
        let has_effect = touches.is_some_and(|touches| touches != SideEffect::None);
        let permission = match self.decide(open) {
            CallDecision::Ask if mode != RunMode::Check => CallPermission::Ask,
            // Records from before there were permissions: nothing is decided here.
            _ if mode == RunMode::RunAgain && has_effect && self.consent.permissions().is_some() => {
                CallPermission::AskAgain
            }
            _ => CallPermission::Allowed,
        };
        self.run(open, mode, permission);
    }

    fn run(&mut self, open: &mut OpenCall, mode: RunMode, permission: CallPermission) {
        open.state =
            if permission == CallPermission::Allowed { RoundCallState::Running } else { RoundCallState::Asking(mode) };
        let program = open.kind.is_program().then(|| {
            let script = self.config.script(&open.call.name);
            Program::of(self.config.seed, &open.call.id, self.world_time, script)
        });
        let call = RunTool { permission, program, ..run_tool(self.config, open.call.clone(), mode) };
        self.requests.push(RoundRequest::Run(call));
    }

    /// What the rules of the run say of a call. Nobody is asked about the tools that the engine handles itself; they can be denied.
    fn decide(&self, open: &OpenCall) -> CallDecision {
        let decision = self.tool(open).map(|tool| self.consent.decide(tool, &open.call.arguments));
        match (open.kind, decision) {
            (CallKind::Tool | CallKind::Program | CallKind::Script, Some(decision)) => decision,
            (_, Some(CallDecision::Denied(why))) => CallDecision::Denied(why),
            _ => CallDecision::Allowed,
        }
    }

    fn tool(&self, open: &OpenCall) -> Option<&ToolSpec> {
        self.config.tools.iter().find(|tool| tool.name == open.call.name)
    }
}

impl CallAnswer {
    /// A call that succeeded.
    pub(super) fn text(content: String) -> Self {
        CallAnswer { content, slug: None, error: None, structured_content: None }
    }

    /// A call that was answered without having run.
    pub(super) fn refused(slug: Slug, error: String) -> Self {
        let content = format!("Error: {error}");
        CallAnswer { slug: Some(slug), error: Some(error), ..CallAnswer::text(content) }
    }

    /// Exactly this text, such as `stopped`, `cancelled`, `not run`.
    pub(super) fn exactly(text: &str, slug: Option<Slug>) -> Self {
        CallAnswer { slug, error: Some(text.to_owned()), ..CallAnswer::text(text.to_owned()) }
    }

    fn unknown_tool(name: &str, tools: &[ToolSpec]) -> Self {
        let names: Vec<&str> = tools.iter().map(|t| t.name.as_str()).collect();
        let known = if names.is_empty() { "there are none".into() } else { names.join(", ") };
        CallAnswer::refused(Slug::UnknownTool, format!("there is no tool named {name:?}. Available tools: {known}"))
    }

    /// A call asks for more than is recorded of one reply.
    fn too_many(asked: usize, what: &str) -> Self {
        let text = format!("not run: {asked} {what} in one reply; at most {MAX_CALLS} are accepted");
        CallAnswer::refused(Slug::ToolLimit, text)
    }

    pub(super) fn from_outcome(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Executed { content, structured_content, .. } => {
                CallAnswer { structured_content, ..CallAnswer::text(content) }
            }
            ToolOutcome::Rejected { slug, message, .. } => CallAnswer::refused(slug, message),
            ToolOutcome::Failed { message } => CallAnswer::refused(Slug::ToolExecFailed, message),
            ToolOutcome::TimedOut { after_ms } => {
                let text = format!("timeout: the tool did not answer within {} s", seconds(after_ms));
                CallAnswer::refused(Slug::Timeout, text)
            }
            ToolOutcome::Cancelled => CallAnswer::exactly("cancelled", Some(Slug::Cancelled)),
            ToolOutcome::Stopped => CallAnswer::exactly("stopped", Some(Slug::Stopped)),
        }
    }
}

impl CallRecord {
    /// A call that has no answer yet.
    pub(super) fn open(id: CallId, name: &str, args: Value, attempt: u32, now: Millis) -> Self {
        CallRecord {
            model_id: None,
            id,
            name: name.to_owned(),
            args,
            result: None,
            structured_content: None,
            calls: Vec::new(),
            children: Vec::new(),
            is_final: false,
            error: None,
            slug: None,
            attempt,
            started_ms: now.0,
            duration_ms: None,
        }
    }
}

/// Takes the calls out of a reply, and makes a record for each.
pub(super) fn take_calls(
    reply: &mut Reply,
    ids: &mut CallIds,
    (turn, attempt): (u32, u32),
    now: Millis,
) -> (Vec<ToolCall>, Vec<CallRecord>) {
    let raw_calls = std::mem::take(&mut reply.tool_calls).into_iter().enumerate();
    let calls = raw_calls.map(|(index, raw)| {
        let (id, wire_id) = ids.assign(raw.id.clone(), &format!("call_{turn}_{attempt}_{index}"));
        let mut record = CallRecord::open(id.clone(), &raw.name, parse_args(&raw.arguments), attempt, now);
        record.model_id = (id.0 != raw.id).then_some(raw.id);
        (ToolCall { wire_id, ..ToolCall::new(id, raw.name, raw.arguments) }, record)
    });
    calls.unzip()
}

/// Whether arguments are a report, after the shell checked them against the schema; `Err` is the answer that says what
/// is wrong, beginning with `refused`.
fn judge_report(
    config: &RunConfig,
    refused: &str,
    args: &Value,
    checked: ToolOutcome,
) -> Result<AcceptedReport, CallAnswer> {
    let refused = |slug, fault: String| CallAnswer::refused(slug, format!("{refused}: {fault}"));
    match checked {
        ToolOutcome::Executed { .. } => {
            own_tools::judge_report(&config.report, args).map_err(|(slug, fault)| refused(slug, fault))
        }
        ToolOutcome::Rejected { slug: Slug::InvalidArguments, path, message } => {
            Err(refused(own_tools::report_schema_slug(path.as_deref()), message))
        }
        other => Err(CallAnswer::from_outcome(other)),
    }
}

fn run_tool(config: &RunConfig, call: ToolCall, run: RunMode) -> RunTool {
    let ToolCall { id: call, name, arguments, .. } = call;
    let timeout_ms = config.limits.tool_timeout_ms;
    RunTool { call, name, arguments, timeout_ms, run, permission: CallPermission::Allowed, program: None }
}

/// The shell checks a final result as the arguments of `final_report`.
fn check_final_result(config: &RunConfig, check: CallId, text: &str, data: &Value) -> RunTool {
    let arguments = own_tools::final_result_as_report(&config.report, text, data).to_string();
    run_tool(config, ToolCall::new(check, own_tools::REPORT.to_owned(), arguments), RunMode::Check)
}

/// Cuts a text in the middle so that about `max` characters of it remain. `None`: it is short enough.
pub(super) fn cut(content: &str, max: usize, handle: &CallId) -> Option<String> {
    // Bytes are at least as many as characters, so most texts need not be counted.
    if content.len() <= max {
        return None;
    }
    let total = content.chars().count();
    if total <= max {
        return None;
    }
    let half = max / 2;
    let head_end = content.char_indices().nth(half).map_or(content.len(), |(i, _)| i);
    let tail_start = content.char_indices().nth(total - half).map_or(content.len(), |(i, _)| i);
    let (head, tail) = (content.get(..head_end).unwrap_or(content), content.get(tail_start..).unwrap_or_default());
    let gone = total - 2 * half;
    Some(format!(
        "{head}\n[{gone} of {total} characters were cut here; read_result(\"{handle}\") reads the whole in parts]\n{tail}"
    ))
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Milliseconds as seconds, without trailing zeros.
fn seconds(ms: u64) -> String {
    match ms % 1000 {
        0 => (ms / 1000).to_string(),
        rest => format!("{}.{}", ms / 1000, format!("{rest:03}").trim_end_matches('0')),
    }
}

pub(super) fn parse_args(arguments: &str) -> Value {
    match arguments.trim() {
        "" => Value::Object(serde_json::Map::new()),
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(arguments.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Preset;

    /// A round of one reply, without a run around it.
    struct Alone {
        config: RunConfig,
        consent: Consent,
        ids: CallIds,
        records: Vec<CallRecord>,
        report_attempts: u32,
        round: ToolRound,
    }

    impl Alone {
        fn new(config: RunConfig, calls: &[(&str, &str)]) -> Self {
            let mut ids = CallIds::new(0, std::iter::empty(), std::iter::empty());
            let call = |(name, arguments): &(&str, &str)| crate::message::RawCall {
                id: String::new(),
                name: (*name).to_owned(),
                arguments: (*arguments).to_owned(),
            };
            let mut reply = Reply { tool_calls: calls.iter().map(call).collect(), ..Reply::default() };
            let (calls, records) = take_calls(&mut reply, &mut ids, (1, 1), Millis(0));
            let round = ToolRound::new(&config, (1, Offer::AllTools, 0), calls, FinishReason::ToolCalls, None);
            let consent = Consent::new(config.permissions.clone());
            let mut alone = Alone { config, consent, ids, records, report_attempts: 0, round };
            alone.step(ToolRound::refuse);
            alone
        }

        fn step<R>(&mut self, step: impl FnOnce(&mut ToolRound, &mut RunParts<'_>) -> R) -> (R, Vec<RoundRequest>) {
            let mut run = RunParts {
                config: &self.config,
                consent: &self.consent,
                now: Millis(5),
                world_time: EpochMillis(5),
                records: &mut self.records,
                ids: &mut self.ids,
                report_attempts: &mut self.report_attempts,
                earlier: None,
                requests: Vec::new(),
            };
            let result = step(&mut self.round, &mut run);
            (result, run.requests)
        }

        /// The ids of the calls that start now.
        fn start(&mut self) -> Vec<String> {
            let (_, requests) = self.step(|round, run| {
                round.close_batches(run);
                round.start_ready(run)
            });
            let started = requests.iter().filter_map(|request| match request {
                RoundRequest::Run(tool) => Some(tool.call.0.clone()),
                _ => None,
            });
            started.collect()
        }

        fn answer(&mut self, id: &str, content: &str) -> bool {
            let outcome = ToolOutcome::executed(content.into(), None);
            self.step(|round, run| round.finished(run, &CallId(id.into()), outcome)).0
        }

        fn results(&self) -> Vec<&str> {
            self.records.iter().map(|record| record.result.as_deref().unwrap_or("open")).collect()
        }
    }

    fn config() -> RunConfig {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
            may_finish: name == "submit",
            side_effect: SideEffect::None,
            effect_argument: None,
            host_argument: None,
            tool_argument: None,
        };
        let tools = vec![spec("read"), spec("submit"), own_tools::batch_spec(), own_tools::spawn_spec(&[])];
        let mut config = RunConfig { tools, ..RunConfig::preset(Preset::Research) };
        config.limits.parallel_tools = 2;
        config
    }

    #[test]
    fn calls_start_as_there_is_room_and_are_answered_once() {
        let mut alone = Alone::new(config(), &[("read", "{}"), ("read", "{}"), ("nope", "{}"), ("read", "{}")]);
        assert_eq!(alone.start(), ["call_1_1_0", "call_1_1_1"]);
        assert!(alone.answer("call_1_1_1", "b"));
        assert!(!alone.answer("call_1_1_1", "again"), "a second answer finds no running call");
        assert_eq!(alone.start(), ["call_1_1_3"]);
        assert!(alone.answer("call_1_1_0", "a") && alone.answer("call_1_1_3", "d"));
        assert!(alone.step(ToolRound::start_ready).0, "all are answered");
        let results = alone.results();
        assert_eq!((results[0], results[1], results[3]), ("a", "b", "d"));
        assert!(results[2].starts_with("Error: there is no tool named \"nope\""), "{results:?}");
    }

    #[test]
    fn a_batch_is_answered_when_its_calls_are() {
        let calls = r#"{"calls": [{"name": "read"}, {"name": "batch"}]}"#;
        let mut alone = Alone::new(config(), &[("batch", calls)]);
        assert_eq!(alone.start(), ["call_1_1_0"]);
        assert!(alone.answer("call_1_1_0", ""));
        assert_eq!(alone.start(), ["call_1_1_0_0"]);
        assert_eq!(alone.results(), ["open"]);
        assert!(alone.answer("call_1_1_0_0", "found") && alone.start().is_empty());
        let expected = "[{\"name\":\"read\",\"result\":\"found\"},{\"error\":\"Error: batch cannot stand inside a batch: \
                        call it by itself\",\"name\":\"batch\"}]";
        assert_eq!(alone.results(), [expected]);
    }

    #[test]
    fn nothing_starts_after_a_final_result() {
        let mut alone = Alone::new(config(), &[("submit", "{}"), ("read", "{}"), ("read", "{}")]);
        assert_eq!(alone.start().len(), 2);
        alone.answer("call_1_1_0", "<<<FINAL_RESULT>>>42<<<END_FINAL_RESULT>>>");
        assert!(alone.start().is_empty());
        assert_eq!(alone.results()[1..], ["open", "not run"]);
        alone.answer("call_1_1_1", "late");
        let (outcome, _) = alone.step(ToolRound::outcome);
        assert_eq!(outcome, RoundOutcome::FinalResult { text: "42".into(), data: json!(42) });
    }

    #[test]
    fn stop_answers_what_waits_and_abort_answers_the_rest() {
        let mut alone = Alone::new(config(), &[("read", "{}"), ("read", "{}"), ("read", "{}")]);
        alone.start();
        alone.step(ToolRound::answer_queued_as_stopped);
        assert_eq!(alone.results(), ["open", "open", "stopped"]);
        let (_, requests) = alone.step(|round, run| round.abort(run, ToolOutcome::Stopped));
        let aborted = requests.iter().filter(|request| matches!(request, RoundRequest::Abort(_))).count();
        assert_eq!((aborted, alone.results()), (2, vec!["stopped"; 3]));
    }

    #[test]
    fn sub_agents_are_for_the_run_and_not_after_stop() {
        let tasks = r#"{"tasks": [{"task": "one part"}]}"#;
        let mut alone = Alone::new(config(), &[("spawn_subagents", tasks), ("spawn_subagents", tasks)]);
        assert_eq!(alone.start().len(), 2);
        let outcome = ToolOutcome::executed(String::new(), None);
        let (_, requests) = alone.step(|round, run| round.finished(run, &CallId("call_1_1_0".into()), outcome.clone()));
        assert!(matches!(requests.as_slice(), [RoundRequest::Spawn { tasks, .. }] if tasks.len() == 1), "{requests:?}");
        alone.round.grace_timer = Some(TimerId(1));
        alone.step(|round, run| round.finished(run, &CallId("call_1_1_1".into()), outcome));
        assert_eq!(alone.results(), ["open", "stopped"]);
        assert_eq!(alone.round.spawned(), [CallId("call_1_1_0".into())]);
    }
}
