//! The tool calls of one reply: ids, order, bounds, answers. Every call is answered exactly once, in the order of the
//! calls, and the counter line stands on the last of them (SEMANTICS 3, 6).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Slug;
use super::result::{Answer, cut};
use super::run::{Phase, Run};
use super::*;

/// Open calls are still run this long after stop.
const STOP_GRACE_MS: u64 = 2_000;

/// The calls of the attempt under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    pub attempt: u32,
    open: Vec<OpenCall>,
    /// The reply was cut by its length limit: none of its calls runs, and the model is told.
    truncated: bool,
    /// Set by stop.
    pub grace: Option<TimerId>,
}

/// One call; its record is the turn's, at the same place from the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    call: ToolCall,
    state: State,
    /// The final result it carried: its text and its JSON.
    result: Option<(String, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    Queued,
    Running,
    Answered,
}

impl Run {
    /// A reply with tool calls enters the history, and its calls are run.
    pub(super) fn begin_calls(&mut self, attempt: u32, mut reply: Reply) {
        let truncated = reply.finish == FinishReason::Length;
        let raw_calls = std::mem::take(&mut reply.tool_calls);
        let turn = self.turn();
        let mut calls = Vec::with_capacity(raw_calls.len());
        for (index, raw) in raw_calls.into_iter().enumerate() {
            let id = self.unique_id(&raw.id, turn, attempt, index);
            let record = CallRecord {
                model_id: (id.0 != raw.id).then_some(raw.id),
                id: id.clone(),
                name: raw.name.clone(),
                args: parse_args(&raw.arguments),
                result: None,
                is_final: false,
                error: None,
                slug: None,
                attempt,
                started_ms: self.now.0,
                duration_ms: None,
            };
            if let Some(open) = self.turns.last_mut() {
                open.tool_calls.push(record);
            }
            calls.push(ToolCall { id, name: raw.name, arguments: raw.arguments });
        }
        self.enter(reply, calls.clone());
        let open = calls.into_iter().map(|call| OpenCall { call, state: State::Queued, result: None }).collect();
        self.phase = Phase::Tools(Calls { attempt, open, truncated, grace: None });
        self.refuse_calls();
        self.pump();
    }

    /// A running call came back. Its late or second answer finds nothing to do.
    pub(super) fn tool_finished(&mut self, id: &CallId, outcome: ToolOutcome) {
        let Some((index, name)) = self.running(id) else { return };
        if let ToolOutcome::Executed { repaired_args: Some(args), .. } = &outcome {
            let args = args.clone();
            self.with_record(index, |r| r.args = args);
        }
        let may_finish = self.config.tools.iter().any(|t| t.name == name && t.may_finish);
        let found = match &outcome {
            ToolOutcome::Executed { content, .. } if may_finish => final_result::find(content),
            _ => None,
        };
        let finished = found.is_some();
        if let Phase::Tools(calls) = &mut self.phase
            && let Some(open) = calls.open.get_mut(index)
        {
            open.result = found;
        }
        let mut answer = Answer::of(outcome);
        if let Some(short) = cut(&answer.content, self.config.limits.max_result_chars, id) {
            answer.error = answer.error.map(|_| short.clone());
            let content = std::mem::replace(&mut answer.content, short);
            self.emit(Effect::KeepResult { handle: id.clone(), content });
        }
        self.answer(index, answer);
        if finished {
            self.answer_all(State::Queued, &Answer::word("not run", None));
        }
        self.pump();
    }

    /// Stop while calls are open: nothing new starts, what runs has [`STOP_GRACE_MS`] to end.
    pub(super) fn stop_calls(&mut self) {
        self.answer_all(State::Queued, &Answer::of(ToolOutcome::Stopped));
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
        self.enter_answers();
    }

    /// Starts what may start; when all calls are answered, the turn goes on.
    fn pump(&mut self) {
        let Phase::Tools(calls) = &mut self.phase else { return };
        let running = calls.open.iter().filter(|c| c.state == State::Running).count();
        let room = (self.config.limits.parallel_tools.max(1) as usize).saturating_sub(running);
        let mut starting = Vec::new();
        for (index, open) in calls.open.iter_mut().enumerate().filter(|(_, c)| c.state == State::Queued).take(room) {
            open.state = State::Running;
            starting.push((index, open.call.clone()));
        }
        let idle = starting.is_empty() && running == 0;
        for (index, call) in starting {
            let now = self.now.0;
            self.with_record(index, |r| r.started_ms = now);
            let (id, name, args) = (call.id.clone(), call.name.clone(), parse_args(&call.arguments));
            self.record(RecordKind::ToolStarted { id, name, args });
            let timeout_ms = self.config.limits.tool_timeout_ms;
            let ToolCall { id: call, name, arguments } = call;
            self.emit(Effect::RunTool(RunTool { call, name, arguments, timeout_ms }));
        }
        if idle {
            self.calls_done();
        }
    }

    fn calls_done(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let grace = calls.grace;
        let truncated = calls.truncated;
        let finished = calls.open.iter().enumerate().find_map(|(i, c)| c.result.clone().map(|r| (i, r)));
        self.enter_answers();
        if let Some(timer) = grace {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
        match finished {
            Some((index, (text, data))) => {
                self.with_record(index, |r| r.is_final = true);
                self.end_final_result(text, data);
            }
            None => {
                if truncated {
                    self.notice = notice::text(&[Slug::TruncatedOutput]);
                }
                self.turn_done();
            }
        }
    }

    /// All calls are answered: the counter line goes onto the last answer, and the answers into the history.
    fn enter_answers(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let count = calls.open.len();
        let counter = self.config.counter.as_ref().map(|c| counter::line(c, self.turn(), self.effective_max_turns));
        let Some(turn) = self.turns.last_mut() else { return };
        let start = turn.tool_calls.len().saturating_sub(count);
        if let (Some((level, line)), Some(result)) =
            (counter, turn.tool_calls.last_mut().and_then(|r| r.result.as_mut()))
        {
            turn.counter_level = level;
            result.push('\n');
            result.push_str(&line);
        }
        for record in turn.tool_calls.iter().skip(start) {
            self.history.push(Message::Tool(ToolMessage {
                call_id: record.id.clone(),
                name: record.name.clone(),
                content: record.result.clone().unwrap_or_default(),
                is_error: record.error.is_some(),
            }));
        }
    }

    /// Answers the calls that must not run.
    fn refuse_calls(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let limit = self.config.limits.tool_calls_per_turn as usize;
        let refusals: Vec<(usize, Answer)> = calls
            .open
            .iter()
            .enumerate()
            .filter_map(|(index, open)| {
                let known = self.config.tools.iter().any(|t| t.name == open.call.name);
                let answer = if calls.truncated {
                    let text = "your reply was cut by its length limit, so this call was not run".to_owned();
                    Answer::refused(Slug::TruncatedOutput, text)
                } else if index >= limit {
                    Answer::refused(Slug::ToolLimit, format!("not run: at most {limit} tool calls are run in one turn"))
                } else if !known {
                    Answer::unknown_tool(&open.call.name, &self.config.tools)
                } else {
                    return None;
                };
                Some((index, answer))
            })
            .collect();
        for (index, answer) in refusals {
            self.answer(index, answer);
        }
    }

    fn abort_calls(&mut self, answer: &Answer) {
        let Phase::Tools(calls) = &self.phase else { return };
        let running: Vec<CallId> =
            calls.open.iter().filter(|c| c.state == State::Running).map(|c| c.call.id.clone()).collect();
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
    fn answer(&mut self, index: usize, answer: Answer) {
        let Phase::Tools(calls) = &mut self.phase else { return };
        let Some(open) = calls.open.get_mut(index).filter(|c| c.state != State::Answered) else { return };
        open.state = State::Answered;
        let now = self.now.0;
        let record = self.with_record(index, |r| {
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

    fn with_record<R>(&mut self, index: usize, f: impl FnOnce(&mut CallRecord) -> R) -> Option<R> {
        let Phase::Tools(calls) = &self.phase else { return None };
        let records = &mut self.turns.last_mut()?.tool_calls;
        let start = records.len().saturating_sub(calls.open.len());
        records.get_mut(start + index).map(f)
    }

    fn running(&self, id: &CallId) -> Option<(usize, String)> {
        let Phase::Tools(calls) = &self.phase else { return None };
        let find = |c: &&OpenCall| c.state == State::Running && c.call.id == *id;
        let index = calls.open.iter().position(|c| find(&c))?;
        calls.open.get(index).map(|c| (index, c.call.name.clone()))
    }

    /// The model's id where it is usable and new in the run, else a fresh one.
    fn unique_id(&mut self, given: &str, turn: u32, attempt: u32, index: usize) -> CallId {
        let usable = !given.is_empty()
            && given.len() <= 64
            && given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let mut id = CallId(given.to_owned());
        if !usable || self.used_ids.contains(&id) {
            id = fresh_id(&self.used_ids, &format!("call_{turn}_{attempt}_{index}"));
        }
        self.used_ids.insert(id.clone());
        id
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
