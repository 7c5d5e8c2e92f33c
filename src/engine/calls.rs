//! The tool calls of one reply: ids, order, bounds, answers. Every call is answered exactly once, in the order of the
//! calls, and the counter line is appended to the last of them (SEMANTICS 3, 6).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch;
use super::failure::Slug;
use super::report::{self, Report};
use super::result::{Answer, cut};
use super::run::{Phase, Run};
use super::success::{CallFact, CallKind, Completion, Offer, judge_calls};
use super::*;

/// The prefix of the ids of sub-agents' calls.
const SUB: &str = "sub";

/// Open calls are still run this long after stop.
pub(super) const STOP_GRACE_MS: u64 = 2_000;

/// The calls of the current attempt. The calls of a batch follow it directly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    pub attempt: u32,
    /// The index of the first record of these calls in the turn.
    first: usize,
    pub(super) open: Vec<OpenCall>,
    pub(super) offer: Offer,
    /// The reply was cut by its length limit: none of its calls runs, and the model is told.
    pub(super) truncated: bool,
    /// Set by stop.
    pub grace: Option<TimerId>,
    /// The reply as received, for the log of a failed attempt.
    raw: Option<RawResponse>,
    pub(super) report: Option<Report>,
}

/// One running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub call: ToolCall,
    pub kind: CallKind,
    pub place: Place,
    pub(super) state: State,
    pub(super) executed: bool,
    slug: Option<Slug>,
    /// The pictures and PDFs of its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<Image>,
    /// The final result it carried: its text and its JSON.
    result: Option<(String, Value)>,
    /// While the final result that it carries is checked as a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    judging: Option<Judging>,
}

/// The check of a final result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Judging {
    /// The check's own id: a second answer of the tool itself does not pass for its outcome.
    check: CallId,
    /// The tool's answer.
    content: String,
}

/// Where a call's record is: the index of the call in the reply, and in its batch if it is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub call: usize,
    pub inner: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    Queued,
    Running,
    /// A batch whose calls, or a spawn whose sub-agents, are running.
    Expanded,
    Answered,
}

impl Run {
    /// A reply with tool calls enters the history, and its calls are run.
    pub(super) fn begin_calls(&mut self, attempt: u32, mut reply: Reply, raw: Option<RawResponse>) {
        let truncated = reply.finish == FinishReason::Length;
        let raw_calls = std::mem::take(&mut reply.tool_calls);
        let turn = self.turn();
        let first = self.turns.last().map_or(0, |open| open.tool_calls.len());
        let mut calls = Vec::with_capacity(raw_calls.len());
        for (index, raw) in raw_calls.into_iter().enumerate() {
            let id = self.unique_id(&raw.id, &format!("call_{turn}_{attempt}_{index}"));
            let mut record = self.new_record(attempt, id.clone(), &raw.name, &raw.arguments);
            record.model_id = (id.0 != raw.id).then_some(raw.id);
            if let Some(open) = self.turns.last_mut() {
                open.tool_calls.push(record);
            }
            calls.push(ToolCall { id, name: raw.name, arguments: raw.arguments });
        }
        self.enter(reply, calls.clone());
        let place = |call| Place { call, inner: None };
        let open = calls.into_iter().enumerate().map(|(i, call)| OpenCall::new(call, place(i))).collect();
        let offer = self.offer();
        self.phase = Phase::Tools(Calls { attempt, first, open, offer, truncated, grace: None, raw, report: None });
        self.refuse_calls();
        self.pump();
    }

    /// A running call came back. Its late or second answer finds nothing to do.
    pub(super) fn tool_finished(&mut self, id: &CallId, outcome: ToolOutcome) {
        let Some((index, kind, place, name)) = self.running(id) else { return };
        if let Some(judging) = self.open_call(index).and_then(|open| open.judging.take()) {
            self.final_result_checked(index, judging.content, outcome);
            return self.pump();
        }
        if let ToolOutcome::Executed { repaired_args: Some(args), .. } = &outcome {
            let args = args.clone();
            self.with_record(place, |r| r.args = args);
        }
        let ran = !matches!(outcome, ToolOutcome::Rejected { .. } | ToolOutcome::Cancelled | ToolOutcome::Stopped);
        let checked = matches!(outcome, ToolOutcome::Executed { .. });
        match kind {
            CallKind::Tool => self.tool_answered(index, &name, ran, outcome),
            CallKind::Progress if checked => self.progress(index, place),
            CallKind::Batch if checked => self.expand(index, place),
            CallKind::Spawn if checked => self.spawn(index, place),
            CallKind::Report => self.report_checked(index, place, outcome),
            CallKind::Progress | CallKind::Batch | CallKind::Spawn => self.answer(index, Answer::of(outcome)),
        }
        self.pump();
    }

    /// Stop while calls are open: nothing new starts, what runs has [`STOP_GRACE_MS`] to end.
    pub(super) fn stop_calls(&mut self, trigger: Trigger) {
        self.answer_all(State::Queued, &Answer::of(ToolOutcome::Stopped));
        self.stop_children(trigger);
        let timer = self.sleep(STOP_GRACE_MS);
        if let Phase::Tools(calls) = &mut self.phase {
            calls.grace = Some(timer);
        }
        self.pump();
    }

    pub(super) fn stop_open_calls(&mut self) {
        self.abort_calls(&Answer::of(ToolOutcome::Stopped));
        self.pump();
    }

    /// Answers everything that is still open, and enters the answers into the history; the run is about to end.
    pub(super) fn cancel_calls(&mut self) {
        self.abort_calls(&Answer::of(ToolOutcome::Cancelled));
        self.cancel_children();
        self.close_batches();
        self.enter_answers();
    }

    /// Starts the calls that may start; when all are answered, the turn continues.
    pub(super) fn pump(&mut self) {
        self.close_batches();
        self.close_spawns();
        let Phase::Tools(calls) = &mut self.phase else { return };
        let running = calls.open.iter().filter(|c| c.state == State::Running).count();
        // While a final result is judged nothing new starts: it may be the end of the run.
        let judging = calls.open.iter().any(|c| c.judging.is_some());
        let room = (self.config.limits.parallel_tools.max(1) as usize).saturating_sub(running);
        let room = if judging { 0 } else { room };
        let mut starting = Vec::new();
        let mut before_answered = true;
        for open in &mut calls.open {
            // A report is judged after the calls before it have run.
            let ready = open.kind != CallKind::Report || before_answered;
            if open.state == State::Queued && ready && starting.len() < room {
                open.state = State::Running;
                starting.push((open.place, open.kind, open.call.clone()));
            }
            before_answered &= open.state == State::Answered;
        }
        let idle = starting.is_empty() && running == 0 && before_answered;
        for (place, kind, call) in starting {
            self.start_call(place, kind, call);
        }
        if idle {
            self.calls_done();
        }
    }

    fn start_call(&mut self, place: Place, kind: CallKind, call: ToolCall) {
        let now = self.now.0;
        self.with_record(place, |r| r.started_ms = now);
        let (id, name, args) = (call.id.clone(), call.name.clone(), parse_args(&call.arguments));
        self.record(RecordKind::ToolStarted { id, name, args });
        let timeout_ms = self.config.limits.tool_timeout_ms;
        let ToolCall { id: call, name, arguments } = call;
        let run = if kind == CallKind::Tool { RunMode::Run } else { RunMode::Check };
        self.emit(Effect::RunTool(RunTool { call, name, arguments, timeout_ms, run }));
    }

    /// Every call is answered: judges the turn.
    fn calls_done(&mut self) {
        self.enter_answers();
        let Phase::Tools(calls) = &mut self.phase else { return };
        let (attempt, offer, truncated) = (calls.attempt, calls.offer, calls.truncated);
        let (raw, report) = (calls.raw.take(), calls.report.take());
        let finished = calls.open.iter_mut().find_map(|c| c.result.take().map(|r| (c.place, r)));
        let facts: Vec<CallFact> = calls.open.iter().map(OpenCall::fact).collect();
        if let Some(timer) = calls.grace {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
        if let Some((place, (text, data))) = finished {
            self.with_record(place, |r| r.is_final = true);
            return self.end_final_result(text, data);
        }
        if let Some(report) = report {
            return self.end_report(report);
        }
        match judge_calls(self.policy(), offer, &facts) {
            Err(slugs) if self.wrap_up_pending.is_none() => self.model_failed(attempt, slugs, raw),
            _ => {
                if truncated {
                    self.notice = notice::text(self.policy(), offer, &[Slug::TruncatedOutput]);
                }
                self.turn_done();
            }
        }
    }

    fn tool_answered(&mut self, index: usize, name: &str, ran: bool, mut outcome: ToolOutcome) {
        let given = match &mut outcome {
            ToolOutcome::Executed { images, .. } => std::mem::take(images),
            _ => Vec::new(),
        };
        let may_finish = self.config.tools.iter().any(|t| t.name == name && t.may_finish);
        let found = match &outcome {
            ToolOutcome::Executed { content, .. } if may_finish => final_result::find(content),
            _ => None,
        };
        if let Some(open) = self.open_call(index) {
            (open.executed, open.images) = (ran, given);
        }
        match (found, outcome) {
            (Some(found), ToolOutcome::Executed { content, .. }) if self.policy().completion == Completion::Report => {
                self.check_final_result(index, &found, content);
            }
            (Some(found), outcome) => self.accept_final_result(index, found, Answer::of(outcome)),
            (None, outcome) => self.answer(index, Answer::of(outcome)),
        }
    }

    /// Where only a report completes a run, a final result has to be one: the shell checks it as the arguments of
    /// `final_report`.
    fn check_final_result(&mut self, index: usize, (text, data): &(String, Value), content: String) {
        let arguments = report::of_final_result(&self.config.report, text, data).to_string();
        let timeout_ms = self.config.limits.tool_timeout_ms;
        let Some(tool) = self.open_call(index).map(|open| open.call.id.clone()) else { return };
        let check = fresh_id(&self.used_ids, &format!("{tool}_result"));
        self.used_ids.insert(check.clone());
        if let Some(open) = self.open_call(index) {
            open.judging = Some(Judging { check: check.clone(), content });
        }
        let name = report::TOOL.to_owned();
        self.emit(Effect::RunTool(RunTool { call: check, name, arguments, timeout_ms, run: RunMode::Check }));
    }

    fn final_result_checked(&mut self, index: usize, content: String, outcome: ToolOutcome) {
        self.report_attempts += 1;
        let Some((text, data)) = final_result::find(&content) else { return };
        let args = report::of_final_result(&self.config.report, &text, &data);
        match self.judge_report("this is not taken as the final result", &args, outcome) {
            Ok(_) => {
                let answer = Answer { content, slug: None, error: None };
                self.accept_final_result(index, (text, data), answer);
            }
            // The tool has run, so its answer is still worth reading.
            Err(refused) => {
                self.answer(index, Answer { content: format!("{}\n\n{content}", refused.content), ..refused });
            }
        }
    }

    fn accept_final_result(&mut self, index: usize, found: (String, Value), answer: Answer) {
        if let Some(open) = self.open_call(index) {
            open.result = Some(found);
        }
        self.answer(index, answer);
        self.answer_all(State::Queued, &Answer::word("not run", None));
    }

    fn abort_calls(&mut self, answer: &Answer) {
        let Phase::Tools(calls) = &self.phase else { return };
        let running: Vec<CallId> =
            calls.open.iter().filter(|c| c.state == State::Running).map(|c| c.awaited().clone()).collect();
        for id in running {
            self.emit(Effect::Abort(Abort::Tool(id)));
        }
        self.answer_all(State::Running, answer);
        self.answer_all(State::Queued, answer);
    }

    fn answer_all(&mut self, state: State, answer: &Answer) {
        let Phase::Tools(calls) = &self.phase else { return };
        let which: Vec<usize> =
            calls.open.iter().enumerate().filter(|(_, c)| c.state == state).map(|(i, _)| i).collect();
        for index in which {
            self.answer(index, answer.clone());
        }
    }

    /// The one place where a call is answered.
    pub(super) fn answer(&mut self, index: usize, mut answer: Answer) {
        let Some(open) = self.open_call(index).filter(|c| c.state != State::Answered) else { return };
        (open.state, open.slug) = (State::Answered, answer.slug);
        let (place, kind, id) = (open.place, open.kind, open.call.id.clone());
        // A batch is not cut: each of its calls was.
        let cut =
            if kind == CallKind::Tool { cut(&answer.content, self.config.limits.max_result_chars, &id) } else { None };
        if let Some(short) = cut {
            answer.error = answer.error.map(|_| short.clone());
            let content = std::mem::replace(&mut answer.content, short);
            self.kept.insert(id.clone());
            self.emit(Effect::KeepResult { handle: id, content });
        }
        let now = self.now.0;
        let record = self.with_record(place, |r| {
            r.result = Some(answer.content);
            r.error = answer.error;
            r.slug = answer.slug;
            r.duration_ms = Some(now.saturating_sub(r.started_ms));
            r.clone()
        });
        if let Some(call) = record {
            self.record(RecordKind::ToolFinished { call });
        }
    }

    pub(super) fn open_call(&mut self, index: usize) -> Option<&mut OpenCall> {
        match &mut self.phase {
            Phase::Tools(calls) => calls.open.get_mut(index),
            _ => None,
        }
    }

    pub(super) fn with_record<R>(&mut self, place: Place, f: impl FnOnce(&mut CallRecord) -> R) -> Option<R> {
        let Phase::Tools(calls) = &self.phase else { return None };
        let record = self.turns.last_mut()?.tool_calls.get_mut(calls.first + place.call)?;
        match place.inner {
            Some(inner) => record.calls.get_mut(inner).map(f),
            None => Some(f(record)),
        }
    }

    /// Whether this call is running.
    pub(super) fn has_running(&self, id: &CallId) -> bool {
        self.running(id).is_some()
    }

    fn running(&self, id: &CallId) -> Option<(usize, CallKind, Place, String)> {
        let Phase::Tools(calls) = &self.phase else { return None };
        let index = calls.open.iter().position(|c| c.state == State::Running && c.awaited() == id)?;
        calls.open.get(index).map(|c| (index, c.kind, c.place, c.call.name.clone()))
    }

    pub(super) fn new_record(&self, attempt: u32, id: CallId, name: &str, arguments: &str) -> CallRecord {
        CallRecord {
            model_id: None,
            id,
            name: name.to_owned(),
            args: parse_args(arguments),
            result: None,
            calls: Vec::new(),
            children: Vec::new(),
            is_final: false,
            error: None,
            slug: None,
            attempt,
            started_ms: self.now.0,
            duration_ms: None,
        }
    }

    /// The model's id where it is usable and new in the run, else `fresh`. Those of a sub-agent carry its number, so that
    /// they are unique in the whole tree.
    pub(super) fn unique_id(&mut self, given: &str, fresh: &str) -> CallId {
        let child = self.task.child;
        if child > 0 {
            let id = fresh_id(&self.used_ids, &format!("{SUB}{child}_{fresh}"));
            self.used_ids.insert(id.clone());
            return id;
        }
        let usable = !given.is_empty()
            && given.len() <= 64
            && !given.starts_with(SUB)
            && given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let mut id = CallId(given.to_owned());
        if !usable || self.used_ids.contains(&id) {
            id = fresh_id(&self.used_ids, fresh);
        }
        self.used_ids.insert(id.clone());
        id
    }
}

impl OpenCall {
    pub(super) fn new(call: ToolCall, place: Place) -> Self {
        let kind = match call.name.as_str() {
            report::TOOL => CallKind::Report,
            batch::BATCH => CallKind::Batch,
            batch::PROGRESS => CallKind::Progress,
            spawn::TOOL => CallKind::Spawn,
            _ => CallKind::Tool,
        };
        let state = State::Queued;
        OpenCall {
            call,
            kind,
            place,
            state,
            executed: false,
            slug: None,
            images: Vec::new(),
            result: None,
            judging: None,
        }
    }

    /// The id under which the shell answers next.
    fn awaited(&self) -> &CallId {
        self.judging.as_ref().map_or(&self.call.id, |judging| &judging.check)
    }

    fn fact(&self) -> CallFact {
        CallFact { kind: self.kind, executed: self.executed, slug: self.slug }
    }

    /// The effect that begins the call anew.
    pub(super) fn again(&self, config: &RunConfig) -> RunTool {
        let call = self.awaited().clone();
        let timeout_ms = config.limits.tool_timeout_ms;
        let judged = self.judging.as_ref().and_then(|judging| final_result::find(&judging.content));
        if let Some((text, data)) = judged {
            let arguments = report::of_final_result(&config.report, &text, &data).to_string();
            return RunTool { call, name: report::TOOL.to_owned(), arguments, timeout_ms, run: RunMode::Check };
        }
        let run = if self.kind == CallKind::Tool { RunMode::RunAgain } else { RunMode::Check };
        RunTool { call, name: self.call.name.clone(), arguments: self.call.arguments.clone(), timeout_ms, run }
    }

    pub(super) fn is_queued(&self) -> bool {
        self.state == State::Queued
    }
}

/// `wanted`, or with a suffix where the model has used it up.
fn fresh_id(used: &BTreeSet<CallId>, wanted: &str) -> CallId {
    let mut id = CallId(wanted.to_owned());
    let mut n = 1;
    while used.contains(&id) {
        n += 1;
        id = CallId(format!("{wanted}_{n}"));
    }
    id
}

fn parse_args(arguments: &str) -> Value {
    match arguments.trim() {
        "" => Value::Object(serde_json::Map::new()),
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(arguments.to_owned())),
    }
}
