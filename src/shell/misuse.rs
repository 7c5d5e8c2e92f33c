//! Calls that are not possible in the agent's current state.

use std::fmt;

/// A misuse of the API. A failed run is not an error of this kind: it ends with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A run of this agent is in progress.
    Busy,
    /// The last run did not end at a limit, or there is none.
    NothingToContinue,
    /// The agent was freed.
    Closed,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StartError::Busy => "this agent has a run under way: wait for it, cancel it, or make another agent",
            StartError::NothingToContinue => "no run ended at a limit, so no turns can be granted",
            StartError::Closed => "this agent was freed",
        })
    }
}
