//! The run: `start`, `handle`, and what can be read of it. Control flow only; the rules are in the sibling files.
//!
//! Invariants (SEMANTICS 2, 5, 6), property-tested in `tests/sim_run.rs`: requests stay within the bound; every tool call
//! is answered once, in order; each segment emits one `final` and then one terminal record; a serialized and reloaded
//! run behaves like the original.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::context::Context;
use super::history::History;
use super::retry::Rng;
use super::success::{AtLimit, Policy, TurnSuccess};
use super::synthesis::Synthesis;
use super::*;

/// What a run is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// `run_YYYYMMDD_HHMMSS_` + 6 hex, UTC: [`super::time::run_id`].
    pub run_id: String,
    pub session_id: String,
    pub input: String,
    /// For a follow-up: the history carried over, system message included; empty for a first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    pub started_at: EpochMillis,
}

/// One run of one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub(super) config: RunConfig,
    pub(super) task: Task,
    pub(super) history: History,
    pub(super) phase: Phase,
    pub(super) turns: Vec<TurnRecord>,
    pub(super) segments: Vec<Ending>,
    pub(super) traces: Vec<TraceRecord>,
    pub(super) logs: Vec<LogRecord>,
    pub(super) usage: Usage,
    pub(super) requests: u32,
    pub(super) timers: u32,
    /// Whether the last turn's end is still to be announced.
    pub(super) turn_open: bool,
    pub(super) effective_max_turns: u32,
    /// Failure of the model's that the next request tells it about.
    pub(super) notice: Option<String>,
    /// A wrap-up that waits for the open calls.
    pub(super) wrap_up_pending: Option<Trigger>,
    /// What asked for the wrap-up of this segment.
    pub(super) wrap_up: Option<Trigger>,
    pub(super) synthesis: Option<Synthesis>,
    pub(super) report_attempts: u32,
    pub(super) used_ids: BTreeSet<CallId>,
    /// Calls whose whole result is in the workspace, and those whose result was removed from the history.
    pub(super) kept: BTreeSet<CallId>,
    pub(super) stubbed: BTreeSet<CallId>,
    pub(super) context: Context,
    /// US dollars, of the replies whose price is known.
    pub(super) cost: f64,
    pub(super) wall_timer: Option<TimerId>,
    pub(super) rng: Rng,
    pub(super) now: Millis,
    /// Effects of the step under way; empty between steps.
    #[serde(skip)]
    pub(super) out: Vec<Effect>,
}

/// What the run is waiting for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    Calling { attempt: u32, request: RequestId },
    Waiting { attempt: u32, timer: TimerId, ms: u64, until: Millis },
    Tools(Calls),
    Ended,
}

/// Where a run stands, for views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// An LLM request is open.
    Calling {
        turn: u32,
        attempt: u32,
        synthesis: bool,
    },
    /// Waiting to try again; `until` is when the wait ends.
    Waiting {
        turn: u32,
        attempt: u32,
        until: Millis,
        synthesis: bool,
    },
    /// Tool calls are open.
    Tools {
        turn: u32,
    },
    Ended,
}

impl Run {
    /// A new run and its first effects.
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Run, Vec<Effect>) {
        let config = config.normalized();
        let mut messages = task.history.clone();
        if messages.is_empty() {
            messages.push(Message::system(config.system_text()));
        }
        messages.push(Message::user(task.input.clone()));
        let mut run = Run {
            history: History::new(&config, messages),
            used_ids: call_ids(&task.history),
            rng: Rng::new(config.seed),
            effective_max_turns: config.max_turns,
            config,
            task,
            phase: Phase::Ended,
            turns: Vec::new(),
            segments: Vec::new(),
            traces: Vec::new(),
            logs: Vec::new(),
            usage: Usage::default(),
            requests: 0,
            timers: 0,
            turn_open: false,
            notice: None,
            wrap_up_pending: None,
            wrap_up: None,
            report_attempts: 0,
            kept: BTreeSet::new(),
            stubbed: BTreeSet::new(),
            context: Context::default(),
            cost: 0.0,
            wall_timer: None,
            synthesis: None,
            now: Millis(0),
            out: Vec::new(),
        };
        run.announce();
        run.start_clock();
        run.begin_turn(1);
        let effects = run.take_effects();
        (run, effects)
    }

    /// One step. Total: it never panics, and an event that names an id no longer open does nothing.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        self.now = self.now.max(at);
        match event {
            Event::ModelReplied { request, reply, raw, first_token_ms } => {
                if let Some(attempt) = self.open_request(request) {
                    self.replied(attempt, reply, raw, first_token_ms);
                }
            }
            Event::ModelFailed { request, error, raw } => {
                if let Some(attempt) = self.open_request(request) {
                    self.request_failed(attempt, &error, raw);
                }
            }
            Event::ToolFinished { call, outcome } => self.tool_finished(&call, outcome),
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::StopRequested => self.wrap_up(Trigger::Stop),
            Event::Cancelled => self.cancel(),
            Event::TurnsGranted { turns } => self.grant(turns),
        }
        self.take_effects()
    }

    #[must_use]
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    #[must_use]
    pub fn status(&self) -> Status {
        let (turn, synthesis) = (self.turn(), self.synthesis.is_some());
        match &self.phase {
            Phase::Calling { attempt, .. } => Status::Calling { turn, attempt: *attempt, synthesis },
            Phase::Waiting { attempt, until, .. } => {
                Status::Waiting { turn, attempt: *attempt, until: *until, synthesis }
            }
            Phase::Tools(_) => Status::Tools { turn },
            Phase::Ended => Status::Ended,
        }
    }

    /// Turns so far, the open one included.
    #[must_use]
    pub fn turns(&self) -> &[TurnRecord] {
        &self.turns
    }

    /// One ending a finished segment.
    #[must_use]
    pub fn segments(&self) -> &[Ending] {
        &self.segments
    }

    /// The last segment's ending, once the run has ended.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        match self.phase {
            Phase::Ended => self.segments.last(),
            _ => None,
        }
    }

    #[must_use]
    pub fn traces(&self) -> &[TraceRecord] {
        &self.traces
    }

    #[must_use]
    pub fn logs(&self) -> &[LogRecord] {
        &self.logs
    }

    /// Tokens of all replies so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// LLM requests sent so far.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// LLM requests that can still follow at most. It only shrinks, except by a grant of the user's.
    #[must_use]
    pub fn calls_left(&self) -> u32 {
        let attempts = self.config.max_attempts;
        let synthesis = match self.policy().at_limit {
            AtLimit::Synthesis => self.config.synthesis_attempts(),
            AtLimit::ForcedFinal => 0,
        };
        let concluding = match self.policy().at_limit {
            AtLimit::Synthesis => self.wrap_up.is_some(),
            AtLimit::ForcedFinal => self.wrap_up_pending.is_some(),
        };
        let in_turn = match (&self.phase, self.synthesis.is_some()) {
            (Phase::Ended, _) => return 0,
            (Phase::Calling { attempt, .. }, true) => return synthesis.saturating_sub(*attempt),
            (Phase::Waiting { attempt, .. }, true) => return (synthesis + 1).saturating_sub(*attempt),
            _ if concluding => 0,
            (Phase::Calling { attempt, .. }, false) => attempts.saturating_sub(*attempt),
            (Phase::Waiting { attempt, .. }, false) => (attempts + 1).saturating_sub(*attempt),
            // Where tool calls alone make a turn succeed, no attempt of it can follow.
            (Phase::Tools(_), _) if self.policy().turn_success == TurnSuccess::AnyReply => 0,
            (Phase::Tools(calls), _) => attempts.saturating_sub(calls.attempt),
        };
        let turns = match (self.wrap_up, self.policy().at_limit) {
            (Some(_), AtLimit::Synthesis) => 0,
            _ => self.effective_max_turns.saturating_sub(self.turn()),
        };
        turns.saturating_mul(attempts).saturating_add(in_turn).saturating_add(synthesis)
    }

    /// What asked for the wrap-up of the open or the last segment, where something did.
    #[must_use]
    pub fn wrap_up_trigger(&self) -> Option<Trigger> {
        self.wrap_up
    }

    /// `max_turns` after collapse and grants.
    #[must_use]
    pub fn effective_max_turns(&self) -> u32 {
        self.effective_max_turns
    }

    /// The whole history. Notices and synthesis prompts of failed attempts are never in it.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.history.messages()
    }

    /// Whether this request is the open one; an answer to any other does nothing.
    #[must_use]
    pub fn awaits(&self, request: RequestId) -> bool {
        self.open_request(request).is_some()
    }

    /// Whether `TurnsGranted` would do something: the run ended on a limit.
    #[must_use]
    pub fn can_continue(&self) -> bool {
        use TerminationReason::{MaxTurnsExhausted, SynthesisFailed, Synthesized};
        self.ending()
            .is_some_and(|e| matches!(e.termination_reason, Synthesized(_) | SynthesisFailed(_) | MaxTurnsExhausted))
    }
}

/// What the sibling files share.
impl Run {
    /// The number of the open turn.
    pub(super) fn turn(&self) -> u32 {
        self.turns.last().map_or(0, |t| t.turn)
    }

    pub(super) fn emit(&mut self, effect: Effect) {
        self.out.push(effect);
    }

    pub(super) fn record(&mut self, what: RecordKind) {
        let record = Record { turn: self.turn(), calls_left: self.calls_left(), what };
        self.out.push(Effect::Record(record));
    }

    pub(super) fn trace(&mut self, name: &str, data: serde_json::Value) {
        let trace = TraceRecord { name: name.to_owned(), at_ms: self.now.0, turn: self.turn(), data };
        self.traces.push(trace.clone());
        self.record(RecordKind::Trace { trace });
    }

    pub(super) fn timestamp(&self) -> String {
        super::time::rfc3339(EpochMillis(self.task.started_at.0.saturating_add(self.now.0)))
    }

    pub(super) fn policy(&self) -> Policy {
        Policy::of(self.config.preset)
    }

    pub(super) fn sleep(&mut self, ms: u64) -> TimerId {
        self.timers += 1;
        let timer = TimerId(self.timers);
        self.emit(Effect::Sleep { timer, ms });
        timer
    }

    /// The assistant's text so far, joined by blank lines.
    pub(super) fn aggregated_text(&self) -> String {
        let texts: Vec<&str> =
            self.turns.iter().filter(|t| !t.synthesis).map(|t| t.content.trim()).filter(|t| !t.is_empty()).collect();
        texts.join("\n\n")
    }

    fn announce(&mut self) {
        let what = RecordKind::RunStarted {
            run_id: self.task.run_id.clone(),
            session_id: self.task.session_id.clone(),
            task: self.task.input.clone(),
            max_turns: self.config.max_turns,
        };
        // The bound before anything was sent: `calls_left` counts from the open phase, and there is none yet.
        let synthesis = match self.policy().at_limit {
            AtLimit::Synthesis => self.config.synthesis_attempts(),
            AtLimit::ForcedFinal => 0,
        };
        let calls_left = self.config.max_turns.saturating_mul(self.config.max_attempts).saturating_add(synthesis);
        self.out.push(Effect::Record(Record { turn: 0, calls_left, what }));
    }

    fn open_request(&self, request: RequestId) -> Option<u32> {
        match self.phase {
            Phase::Calling { attempt, request: open } if open == request => Some(attempt),
            _ => None,
        }
    }

    fn timer_fired(&mut self, fired: TimerId) {
        match &self.phase {
            _ if self.wall_timer == Some(fired) => {
                self.wall_timer = None;
                self.wrap_up(Trigger::WallTime);
            }
            Phase::Waiting { attempt, timer, ms, .. } if *timer == fired => {
                let (attempt, ms) = (*attempt, *ms);
                self.send_again(attempt, Some(ms));
            }
            Phase::Tools(calls) if calls.grace == Some(fired) => self.stop_open_calls(),
            _ => {}
        }
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}

fn call_ids(history: &[Message]) -> BTreeSet<CallId> {
    let calls = history.iter().filter_map(|m| match m {
        Message::Assistant(a) => Some(&a.tool_calls),
        _ => None,
    });
    calls.flatten().map(|c| c.id.clone()).collect()
}
