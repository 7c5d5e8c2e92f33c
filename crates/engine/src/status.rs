//! What others may ask a run: its state, its record, and what an event would do.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::config::{Permissions, RunConfig};
use super::ids::{CallId, Millis, RequestId};
use super::interface::{BranchChanges, Event, Parent};
use super::message::Message;
use super::record::{Ending, LogRecord, TerminationReason, TraceRecord, Trigger, TurnRecord};
use super::run::{ChildRun, ExchangeState, ModelExchange, OpenTurn, Run, RunPhase, Task, TurnStep};

/// The state of a run, for views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    #[must_use]
    pub fn status(&self) -> Status {
        let (turn, synthesis) = (self.turn(), self.is_synthesis());
        let exchange = |ModelExchange { attempt, state, .. }: &ModelExchange| match *state {
            ExchangeState::Backoff { until, .. } => Status::Waiting { turn, attempt: *attempt, until, synthesis },
            ExchangeState::Unsent | ExchangeState::Sent(_) => Status::Calling { turn, attempt: *attempt, synthesis },
        };
        match &self.phase {
            RunPhase::Opening => Status::Calling { turn, attempt: 1, synthesis },
            RunPhase::Turn(OpenTurn { step: TurnStep::Asking(open), .. }) => exchange(open),
            RunPhase::Turn(OpenTurn { step: TurnStep::Tools(_), .. }) => Status::Tools { turn },
            RunPhase::Synthesis(open) => exchange(&open.exchange),
            RunPhase::Ended => Status::Ended,
        }
    }

    #[must_use]
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Turns so far, including the open one.
    #[must_use]
    pub fn turns(&self) -> &[TurnRecord] {
        &self.book.turns
    }

    /// One ending per finished segment.
    #[must_use]
    pub fn segments(&self) -> &[Ending] {
        &self.book.segments
    }

    /// The last segment's ending, once the run has ended.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        match self.phase {
            RunPhase::Ended => self.book.segments.last(),
            _ => None,
        }
    }

    #[must_use]
    pub fn traces(&self) -> &[TraceRecord] {
        &self.book.traces
    }

    #[must_use]
    pub fn logs(&self) -> &[LogRecord] {
        &self.book.logs
    }

    /// The whole history, also what requests leave out of it. Notices and synthesis prompts of failed attempts are never in it.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.history.messages()
    }

    /// The history as the next request has it: without what it leaves out to fit the context window.
    #[must_use]
    pub fn shown_messages(&self) -> Vec<Message> {
        self.history.shown().into_iter().map(Cow::into_owned).collect()
    }

    /// The size at which a model service refused a request of this run as too long, in estimated tokens: a follow-up begins below it.
    #[must_use]
    pub fn refused_tokens(&self) -> Option<u64> {
        self.context.refused_at
    }

    /// The trigger of the wrap-up of the open or last segment, if any.
    #[must_use]
    pub fn wrap_up_trigger(&self) -> Option<Trigger> {
        match &self.phase {
            RunPhase::Opening => None,
            RunPhase::Turn(open) => open.wrap_up.trigger(),
            RunPhase::Synthesis(open) => Some(open.trigger).filter(|trigger| *trigger != Trigger::MaxTurns),
            RunPhase::Ended => self.book.segments.last().and_then(|ending| ending.wrap_up),
        }
    }

    /// `max_turns` after collapse and grants.
    #[must_use]
    pub fn effective_max_turns(&self) -> u32 {
        self.figures.effective_max_turns
    }

    /// The run that this one is a branch of.
    #[must_use]
    pub fn parent(&self) -> Option<&Parent> {
        self.family.origin.as_ref().map(|origin| &origin.parent)
    }

    /// What each branch on the way to this run changed, the first one first.
    #[must_use]
    pub fn branches(&self) -> &[BranchChanges] {
        self.family.origin.as_ref().map(|origin| origin.branches.as_slice()).unwrap_or_default()
    }

    /// The original configuration, if a branch or an adopter has changed it.
    #[must_use]
    pub fn started_with(&self) -> Option<&RunConfig> {
        self.family.started_with.as_deref()
    }

    /// Every sub-agent so far, in the order in which they were requested.
    #[must_use]
    pub fn children(&self) -> &[ChildRun] {
        &self.family.children
    }

    /// The sub-agent that an event is for; `None`: the run itself.
    #[must_use]
    pub fn child_of(&self, event: &Event) -> Option<&ChildRun> {
        self.child_index_of(event).and_then(|at| self.family.children.get(at))
    }

    /// The configuration of the run that made this call: a sub-agent's, or its own.
    #[must_use]
    pub fn config_of(&self, call: &CallId) -> &RunConfig {
        self.child_runs().find(|child| child.is_running_call(call)).map_or(&self.config, Run::config)
    }

    /// The rules that decide which tool calls run now; `None`: the run has none.
    #[must_use]
    pub fn permissions(&self) -> Option<&Permissions> {
        self.consent.permissions()
    }

    /// Whether this request is an open one; an answer to any other does nothing.
    #[must_use]
    pub fn awaits(&self, request: RequestId) -> bool {
        self.open_request(request).is_some() || self.child_runs().any(|child| child.awaits(request))
    }

    /// Whether this event may abort requests that are open: `ModelStreamed` has to come before it.
    #[must_use]
    pub fn may_abort(&self, event: &Event) -> bool {
        let limits = &self.config.limits;
        match event {
            Event::StopRequested => !self.is_concluding(),
            Event::Cancelled { .. } => true,
            Event::TimerFired { timer } => self.is_wall_timer(*timer),
            // The usage of one sub-agent can end the others' work.
            Event::ModelReplied { request, .. } => {
                request.child() != self.task.child && (limits.tokens.is_some() || limits.cost.is_some())
            }
            Event::ModelFailed { .. }
            | Event::ModelStreamed { .. }
            | Event::ToolFinished { .. }
            | Event::ToolAsked { .. }
            | Event::Permitted { .. }
            | Event::PermissionsSet { .. }
            | Event::TurnsGranted { .. }
            | Event::Resumed { .. }
            | Event::Branched(_) => false,
        }
    }

    /// Whether `TurnsGranted` would do something: the run ended on a limit.
    #[must_use]
    pub fn can_continue(&self) -> bool {
        use TerminationReason::{MaxTurnsExhausted, SynthesisFailed, Synthesized};
        self.ending()
            .is_some_and(|e| matches!(e.termination_reason, Synthesized(_) | SynthesisFailed(_) | MaxTurnsExhausted))
    }
}
