//! A run: its state, and the function that moves it.
//!
//! The state is nested: [`RunPhase`] says what the run is doing and holds what only that needs. `turn` has the loop, from the
//! beginning of a turn to the end of the run; the files next to it have the rules that the loop calls by name.
//!
//! Invariants (semantics.md#bound-on-requests, semantics.md#how-a-run-ends, tool-calls.md#tool-calls), property-tested in `tests/native/sim_run`: requests stay within the bound; every tool call
//! is answered once, in order; each segment emits one `final` and then one terminal record; a serialized and reloaded
//! run behaves like the original.

use serde::{Deserialize, Serialize};

use super::config::RunConfig;
use super::correction::Learnt;
use super::history::{ContextCount, History};
use super::ids::{CallId, CallIds, EpochMillis, Millis, RequestId, TimerId};
use super::interface::{BranchChanges, Effect, Event, Parent};
use super::message::{Image, Message};
use super::own_tools::SubagentTask;
use super::permission::Consent;
use super::record::{Ending, LogRecord, Record, RecordKind, TraceRecord, Trigger, TurnRecord};
use super::retry::Rng;
use super::time;
use super::tool_round::ToolRound;
use super::usage::Usage;

/// The task of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// `run_YYYYMMDD_HHMMSS_` + 6 hex, UTC: [`super::time::run_id`].
    pub run_id: String,
    pub session_id: String,
    pub input: String,
    /// Pictures and PDFs that belong to the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// For a follow-up: the history carried over, system message included; empty for a first run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// For a follow-up: the size at which a model service refused the conversation as too long, in estimated tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_tokens: Option<u64>,
    pub started_at: EpochMillis,
    /// The number of this run among its parent's sub-agents, from 1; 0: it has no parent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub child: u32,
}

/// One run of one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub(super) config: RunConfig,
    pub(super) task: Task,
    pub(super) phase: RunPhase,
    pub(super) history: History,
    pub(super) context: ContextCount,
    pub(super) book: RunRecord,
    pub(super) figures: Figures,
    pub(super) family: RunRelatives,
    #[serde(default)]
    pub(super) consent: Consent,
    pub(super) clock: Clock,
    pub(super) call_ids: CallIds,
    #[serde(default)]
    pub(super) learnt: Learnt,
    pub(super) rng: Rng,
    /// Effects of the current step; empty between steps.
    #[serde(skip)]
    pub(super) out: Vec<Effect>,
}

/// What the run is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum RunPhase {
    /// No turn has begun yet.
    Opening,
    Turn(OpenTurn),
    Synthesis(Synthesis),
    Ended,
}

/// A turn in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub wrap_up: WrapUp,
    pub step: TurnStep,
}

/// Whether the run was asked to wrap up (semantics.md#stop-cancel-continue-follow-up).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WrapUp {
    NotAsked,
    /// This turn is the last one before the conclusion.
    LastTurn(Trigger),
    /// `strict` only: this turn has to end with the report because the run was asked to wrap up.
    ReportTurn(Trigger),
}

/// The two halves of a turn: the model replies, then its tool calls run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum TurnStep {
    Asking(ModelExchange),
    Tools(ToolRound),
}

/// The conclusion at a limit: requests without tools (semantics.md#when-a-run-reaches-its-turn-limit).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Synthesis {
    pub trigger: Trigger,
    /// Text of a failed attempt (it called tools, or was cut), used if no attempt succeeds.
    pub fallback: String,
    pub exchange: ModelExchange,
}

/// The attempts to get one reply (retries.md#retries-and-waiting).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelExchange {
    /// The attempt whose request is open, or comes next; from 1.
    pub attempt: u32,
    /// Tells the model about its last failure.
    pub notice: Option<String>,
    pub state: ExchangeState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ExchangeState {
    /// The request is about to be sent, in the same step.
    Unsent,
    Sent(RequestId),
    /// Waits before the attempt. `until` is when the wait ends.
    Backoff {
        timer: TimerId,
        ms: u64,
        until: Millis,
    },
}

/// The record of the run so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    pub turns: Vec<TurnRecord>,
    pub segments: Vec<Ending>,
    pub traces: Vec<TraceRecord>,
    pub logs: Vec<LogRecord>,
}

/// What this run itself has used, without its sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub usage: Usage,
    /// US dollars for the replies whose price is known.
    pub cost: f64,
    pub requests: u32,
    pub report_attempts: u32,
    /// `max_turns` after collapse and grants.
    pub effective_max_turns: u32,
}

/// The run's relatives: the run that it is a branch of, and its sub-agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunRelatives {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<BranchOrigin>,
    /// The first configuration, if a branch or an adopter has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_with: Option<Box<RunConfig>>,
    /// Sub-agents, in the order in which they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildRun>,
    /// For a sub-agent: the budget that the rest of the tree leaves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<RunBudget>,
}

/// The origin of a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BranchOrigin {
    pub parent: Parent,
    /// What each branch on the way here changed, the first one first.
    #[serde(default)]
    pub branches: Vec<BranchChanges>,
}

/// Tokens and US dollars that a run may use; `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunBudget {
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
}

/// One sub-agent, from the moment it was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildRun {
    /// From 1 over the whole run; part of the ids of its requests and timers.
    pub id: u32,
    /// The call that requested it, and its position among that call's tasks, from 1.
    pub call: CallId,
    pub task_id: u32,
    /// The kind of agent, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Since the parent started; the child's own times count from here.
    pub started: Millis,
    pub(super) state: ChildState,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildState {
    /// Waits until fewer others run.
    Queued(SubagentTask),
    Started(Box<Run>),
    /// The run was stopped or cancelled before this child started.
    Dropped(String),
    /// Exceeds the limit of sub-agents.
    Refused(String),
}

/// The run's time. It is advanced by events only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Clock {
    pub now: Millis,
    /// The time in which the run had no driver.
    pub paused_ms: u64,
    /// Number of timers so far.
    pub timers: u32,
    /// The end of the open segment's wall time.
    pub wall: Option<RunDeadline>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunDeadline {
    pub timer: TimerId,
    pub at: Millis,
}

impl Run {
    /// Creates a run and returns its first effects.
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Run, Vec<Effect>) {
        Run::start_knowing(config, task, Learnt::default())
    }

    /// As `start`, with what another run learnt about the same providers.
    pub(super) fn start_knowing(config: RunConfig, task: Task, learnt: Learnt) -> (Run, Vec<Effect>) {
        let config = config.normalized();
        let mut messages = task.history.clone();
        if messages.is_empty() {
            messages.push(Message::system(config.system_text()));
        }
        messages.push(Message::User { content: task.input.clone(), images: task.images.clone() });
        // A window that is known says more.
        let refused_at = task.refused_tokens.filter(|_| config.shortens && config.limits.context_tokens.is_none());
        let mut run = Run {
            history: History::new(&config, messages),
            call_ids: ids_of_calls(task.child, &task.history),
            rng: Rng::new(config.seed),
            figures: Figures { effective_max_turns: config.max_turns, ..Figures::default() },
            consent: Consent::new(config.permissions.clone()),
            config,
            task,
            phase: RunPhase::Opening,
            context: ContextCount { refused_at, ..ContextCount::default() },
            book: RunRecord::default(),
            family: RunRelatives::default(),
            clock: Clock::default(),
            learnt,
            out: Vec::new(),
        };
        run.open();
        let effects = run.take_effects();
        (run, effects)
    }

    /// One step. Total: it never panics, and an event for an id that is no longer open does nothing.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        self.clock.now = self.clock.now.max(at);
        if let Some(child) = self.child_index_of(&event) {
            self.child_event(child, event);
            return self.take_effects();
        }
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
            Event::ModelStreamed { request, partial } => {
                if self.open_request(request).is_some() {
                    self.set_partial(Some(partial));
                }
            }
            Event::ToolFinished { call, outcome } => self.tool_finished(&call, outcome),
            Event::ToolAsked { call, name, arguments } => self.tool_asked(&call, name, arguments),
            Event::Permitted { call, allow, scope } => self.permitted(&call, allow, scope),
            Event::PermissionsSet { permissions } => self.set_permissions(&permissions),
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::StopRequested => self.wrap_up(Trigger::Stop),
            Event::Cancelled { keeps_text } => self.cancel(keeps_text),
            Event::TurnsGranted { turns } => self.grant(turns),
            Event::Resumed { at, authority } => self.resume(at, authority.as_deref()),
            Event::Branched(branch) => self.branch(*branch),
        }
        self.take_effects()
    }

    fn timer_fired(&mut self, fired: TimerId) {
        if self.clock.wall.is_some_and(|wall| wall.timer == fired) {
            self.clock.wall = None;
            return self.wrap_up(Trigger::WallTime);
        }
        if self.round().is_some_and(|round| round.grace_timer == Some(fired)) {
            return self.grace_over();
        }
        if let Some(ModelExchange { attempt, notice, state: ExchangeState::Backoff { timer, ms, .. } }) =
            self.exchange().cloned()
            && timer == fired
        {
            self.send_again(attempt, notice, Some(ms));
        }
    }
}

/// What the rules need of every run.
impl Run {
    /// The number of the open turn.
    pub(super) fn turn(&self) -> u32 {
        self.book.turns.last().map_or(0, |t| t.turn)
    }

    /// The exchange with the model, while there is one.
    pub(super) fn exchange(&self) -> Option<&ModelExchange> {
        match &self.phase {
            RunPhase::Turn(OpenTurn { step: TurnStep::Asking(exchange), .. }) => Some(exchange),
            RunPhase::Synthesis(synthesis) => Some(&synthesis.exchange),
            RunPhase::Opening | RunPhase::Turn(_) | RunPhase::Ended => None,
        }
    }

    /// The attempt whose request this is, if it is open.
    pub(super) fn open_request(&self, request: RequestId) -> Option<u32> {
        let exchange = self.exchange()?;
        (exchange.state == ExchangeState::Sent(request)).then_some(exchange.attempt)
    }

    /// The open tool calls, while there are any.
    pub(super) fn round(&self) -> Option<&ToolRound> {
        match &self.phase {
            RunPhase::Turn(OpenTurn { step: TurnStep::Tools(round), .. }) => Some(round),
            _ => None,
        }
    }

    pub(super) fn is_synthesis(&self) -> bool {
        matches!(self.phase, RunPhase::Synthesis(_))
    }

    pub(super) fn emit(&mut self, effect: Effect) {
        self.out.push(effect);
    }

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }

    pub(super) fn record(&mut self, what: RecordKind) {
        let record = Record { turn: self.turn(), calls_left: self.calls_left(), what };
        self.out.push(Effect::Record(record));
    }

    pub(super) fn trace(&mut self, name: &str, data: serde_json::Value) {
        let trace = TraceRecord { name: name.to_owned(), at_ms: self.clock.now.0, turn: self.turn(), data };
        self.book.traces.push(trace.clone());
        self.record(RecordKind::Trace { trace });
    }

    /// The current time of the world, which includes the time in which the run had no driver.
    pub(super) fn world_time(&self) -> EpochMillis {
        let Clock { now, paused_ms, .. } = self.clock;
        EpochMillis(self.task.started_at.0.saturating_add(now.0).saturating_add(paused_ms))
    }

    pub(super) fn timestamp(&self) -> String {
        time::rfc3339(self.world_time())
    }

    pub(super) fn sleep(&mut self, ms: u64) -> TimerId {
        self.clock.timers += 1;
        let timer = TimerId::numbered(self.task.child, self.clock.timers);
        self.emit(Effect::Sleep { timer, ms });
        timer
    }

    /// The assistant's text so far, joined by blank lines.
    pub(super) fn aggregated_text(&self) -> String {
        let texts = self.book.turns.iter().filter(|t| !t.synthesis).map(|t| t.content.trim());
        texts.filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl ModelExchange {
    /// The first attempt of a turn, not sent yet.
    pub(super) fn first(notice: Option<String>) -> Self {
        ModelExchange { attempt: 1, notice, state: ExchangeState::Unsent }
    }

    /// How many attempts can still begin, of `allowed`.
    pub(super) fn attempts_left(&self, allowed: u32) -> u32 {
        match self.state {
            ExchangeState::Sent(_) => allowed.saturating_sub(self.attempt),
            ExchangeState::Unsent | ExchangeState::Backoff { .. } => (allowed + 1).saturating_sub(self.attempt),
        }
    }
}

impl WrapUp {
    /// What asked for the wrap-up.
    pub(super) fn trigger(self) -> Option<Trigger> {
        match self {
            WrapUp::NotAsked => None,
            WrapUp::LastTurn(trigger) | WrapUp::ReportTurn(trigger) => Some(trigger),
        }
    }
}

impl ChildRun {
    /// The child's run, once it has started.
    #[must_use]
    pub fn run(&self) -> Option<&Run> {
        match &self.state {
            ChildState::Started(run) => Some(run),
            _ => None,
        }
    }

    /// Whether it exceeded the limit; every other child counts.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.state, ChildState::Refused(_))
    }

    /// Whether nothing more comes from it.
    pub(super) fn has_settled(&self) -> bool {
        match &self.state {
            ChildState::Queued(_) => false,
            ChildState::Started(run) => run.phase == RunPhase::Ended,
            ChildState::Dropped(_) | ChildState::Refused(_) => true,
        }
    }
}

fn ids_of_calls(child: u32, history: &[Message]) -> CallIds {
    let calls = history.iter().filter_map(|message| match message {
        Message::Assistant(assistant) => Some(&assistant.tool_calls),
        _ => None,
    });
    let calls = calls.flatten();
    let given = calls.clone().filter_map(|call| call.wire_id.clone());
    CallIds::new(child, calls.map(|call| call.id.clone()), given)
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}
