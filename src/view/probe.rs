//! The Test button's question and what its answer means.

use crate::engine::{RecordKind, RunConfig};

use super::format::one_line;

/// Asks for as little as possible.
pub const QUESTION: &str = "Reply with the one word: ready";

/// Where a test stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    Asking,
    Works { answer: String, ms: u64 },
    Failed { slug: Option<&'static str>, message: String },
}

/// One turn, one attempt, nothing around it.
#[must_use]
pub fn probe_config(config: RunConfig) -> RunConfig {
    RunConfig {
        system: "This is a connection test.".to_owned(),
        max_turns: 1,
        max_attempts: 1,
        counter: None,
        synthesis: None,
        tools: Vec::new(),
        ..config
    }
}

impl Probe {
    /// What a record of the tiny run says about it, if anything; `ms` is the time since it began.
    #[must_use]
    pub fn of(record: &RecordKind, ms: u64) -> Option<Self> {
        match record {
            RecordKind::AgentFinished { ending } => Some(Probe::Works { answer: one_line(&ending.output, 60), ms }),
            RecordKind::AttemptFailed { slugs, message, .. } => {
                Some(Probe::Failed { slug: slugs.first().map(|slug| slug.as_str()), message: one_line(message, 600) })
            }
            _ => None,
        }
    }
}
