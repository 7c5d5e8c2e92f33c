//! The status of a run: its state, what it has used, what can still follow.

use serde::{Deserialize, Serialize};

use super::run::{Phase, Run};
use super::success::{AtLimit, TurnSuccess};
use super::*;

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
    /// The runs of the sub-agents that have begun.
    pub fn child_runs(&self) -> impl Iterator<Item = &Run> {
        self.children.iter().filter_map(Child::run)
    }

    /// The sub-agent that an event is for; `None`: the run itself.
    #[must_use]
    pub fn addressed(&self, event: &Event) -> Option<&Child> {
        self.addressee(event).and_then(|at| self.children.get(at))
    }

    /// The configuration of the run that made this call: a sub-agent's, or its own.
    #[must_use]
    pub fn config_of(&self, call: &CallId) -> &RunConfig {
        self.child_runs().find(|child| child.has_running(call)).map_or(&self.config, Run::config)
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

    /// Tokens of all replies so far, those of sub-agents included.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.child_runs().fold(self.usage, |sum, child| sum.plus(child.usage()))
    }

    /// LLM requests sent so far, those of sub-agents included.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.child_runs().fold(self.requests, |sum, child| sum.saturating_add(child.requests()))
    }

    /// Maximum number of LLM requests still to come, including those of sub-agents not yet requested. It only
    /// shrinks, except when the user grants turns.
    #[must_use]
    pub fn calls_left(&self) -> u32 {
        self.own_calls_left().saturating_add(self.children_calls_left())
    }

    fn own_calls_left(&self) -> u32 {
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

    /// The trigger of the wrap-up of the open or last segment, if any.
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
            Event::StopRequested => !self.concluding(),
            Event::Cancelled => true,
            Event::TimerFired { timer } => {
                let mut clocks = self.child_runs().map(|child| child.wall_timer).chain([self.wall_timer]);
                clocks.any(|clock| clock == Some(*timer))
            }
            // The usage of one sub-agent can end the others' work.
            Event::ModelReplied { request, .. } => {
                request.child() != self.task.child && (limits.tokens.is_some() || limits.cost.is_some())
            }
            Event::ModelFailed { .. }
            | Event::ModelStreamed { .. }
            | Event::ToolFinished { .. }
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
