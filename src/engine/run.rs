//! The run: `start`, `handle`, and its queries. Control flow only; the rules are in the sibling files.
//!
//! Invariants (SEMANTICS 2, 5, 6), property-tested in `tests/sim_run`: requests stay within the bound; every tool call
//! is answered once, in order; each segment emits one `final` and then one terminal record; a serialized and reloaded
//! run behaves like the original.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::calls::Calls;
use super::context::Context;
use super::history::History;
use super::retry::Rng;
use super::success::Policy;
use super::synthesis::Synthesis;
use super::*;

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
    pub started_at: EpochMillis,
    /// Which sub-agent of its parent this run is, from 1; 0: nobody's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub child: u32,
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
    /// The model's failure that the next request tells it about.
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
    /// Of a sub-agent: what the rest of the tree leaves for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) budget: Option<Budget>,
    pub(super) wall_timer: Option<TimerId>,
    /// When the open segment's wall time is up.
    pub(super) wall_until: Millis,
    /// The time in which nobody drove the run and its clock was paused.
    pub(super) paused_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<Parent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started_with: Option<Box<RunConfig>>,
    /// Sub-agents, in the order they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<Child>,
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

impl Run {
    /// A new run and its first effects.
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Run, Vec<Effect>) {
        let config = config.normalized();
        let mut messages = task.history.clone();
        if messages.is_empty() {
            messages.push(Message::system(config.system_text()));
        }
        messages.push(Message::User { content: task.input.clone(), images: task.images.clone() });
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
            budget: None,
            wall_timer: None,
            wall_until: Millis(0),
            paused_ms: 0,
            parent: None,
            started_with: None,
            children: Vec::new(),
            synthesis: None,
            now: Millis(0),
            out: Vec::new(),
        };
        run.announce();
        if run.task.history.iter().skip(1).any(|message| matches!(message, Message::System { .. })) {
            run.trace_moved_system();
        }
        run.start_clock();
        run.begin_turn(1);
        let effects = run.take_effects();
        (run, effects)
    }

    /// One step. Total: it never panics, and an event that names an id no longer open does nothing.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        self.now = self.now.max(at);
        if let Some(child) = self.addressee(&event) {
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
            Event::TimerFired { timer } => self.timer_fired(timer),
            Event::StopRequested => self.wrap_up(Trigger::Stop),
            Event::Cancelled => self.cancel(),
            Event::TurnsGranted { turns } => self.grant(turns),
            Event::Resumed { at } => self.resumed(at),
            Event::Branched(branch) => self.branch(*branch),
        }
        self.take_effects()
    }
}

/// Shared by the sibling files.
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

    /// The world's time: the pauses in which nobody drove the run count.
    pub(super) fn clock(&self) -> EpochMillis {
        EpochMillis(self.task.started_at.0.saturating_add(self.now.0).saturating_add(self.paused_ms))
    }

    pub(super) fn timestamp(&self) -> String {
        super::time::rfc3339(self.clock())
    }

    pub(super) fn policy(&self) -> Policy {
        Policy::of(self.config.preset)
    }

    pub(super) fn sleep(&mut self, ms: u64) -> TimerId {
        self.timers += 1;
        let timer = TimerId::of(self.task.child, self.timers);
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
        let calls_left = self.config.most_requests();
        self.out.push(Effect::Record(Record { turn: 0, calls_left, what }));
    }

    pub(super) fn open_request(&self, request: RequestId) -> Option<u32> {
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

    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn call_ids(history: &[Message]) -> BTreeSet<CallId> {
    let calls = history.iter().filter_map(|m| match m {
        Message::Assistant(a) => Some(&a.tool_calls),
        _ => None,
    });
    calls.flatten().map(|c| c.id.clone()).collect()
}
