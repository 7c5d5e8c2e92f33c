//! The run: `start`, `handle`, and what can be read of it.

use serde::{Deserialize, Serialize};

use super::*;

/// What a run is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// `run_YYYYMMDD_HHMMSS_` + 6 hex, UTC.
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
    config: RunConfig,
    task: Task,
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

#[allow(unused_variables, clippy::unimplemented, clippy::needless_pass_by_value)]
impl Run {
    /// A new run and its first effects.
    #[must_use]
    pub fn start(config: RunConfig, task: Task) -> (Run, Vec<Effect>) {
        unimplemented!()
    }
    /// Total: never panics, stale ids do nothing.
    #[must_use]
    pub fn handle(&mut self, at: Millis, event: Event) -> Vec<Effect> {
        unimplemented!()
    }
    pub fn config(&self) -> &RunConfig {
        &self.config
    }
    pub fn task(&self) -> &Task {
        &self.task
    }
    pub fn status(&self) -> Status {
        unimplemented!()
    }
    /// Turns so far, the open one included.
    pub fn turns(&self) -> &[TurnRecord] {
        unimplemented!()
    }
    /// One ending a finished segment.
    pub fn segments(&self) -> &[Ending] {
        unimplemented!()
    }
    /// The last segment's ending, once the run has ended.
    pub fn ending(&self) -> Option<&Ending> {
        unimplemented!()
    }
    pub fn traces(&self) -> &[TraceRecord] {
        unimplemented!()
    }
    pub fn logs(&self) -> &[LogRecord] {
        unimplemented!()
    }
    pub fn usage(&self) -> Usage {
        unimplemented!()
    }
    /// Requests sent so far.
    pub fn requests(&self) -> u32 {
        unimplemented!()
    }
    /// Requests that can still follow at most.
    pub fn calls_left(&self) -> u32 {
        unimplemented!()
    }
    /// `max_turns` after collapse and grants.
    pub fn effective_max_turns(&self) -> u32 {
        unimplemented!()
    }
    /// The whole history, frozen.
    pub fn messages(&self) -> &[Message] {
        unimplemented!()
    }
    /// Whether `TurnsGranted` would do something: the run ended on a limit.
    pub fn can_continue(&self) -> bool {
        unimplemented!()
    }
}
