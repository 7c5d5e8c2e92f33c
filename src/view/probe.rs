//! The Test button's question and what its answer means.

use serde::{Deserialize, Serialize};

use crate::engine::{Event, RecordKind, Reply, RunConfig};
use crate::trajectory::Trajectory;

use super::format::{duration, one_line, thousands};

/// Asks for as little as possible.
pub const QUESTION: &str = "Reply with the one word: ready";

/// Where a test stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    Asking,
    Works {
        answer: String,
        /// Who answered, and what it took.
        facts: String,
    },
    Failed {
        slug: Option<String>,
        /// What happened, in one sentence.
        title: String,
        /// What was said and what to do; may be empty. Commands stand between backticks.
        text: String,
    },
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
    pub fn of(record: &RecordKind, ms: u64, document: impl FnOnce() -> Option<Trajectory>) -> Option<Self> {
        match record {
            RecordKind::AgentFinished { ending } => {
                let facts = document().map(|document| facts(&document, ms)).unwrap_or_default();
                Some(Probe::Works { answer: one_line(&ending.output, 60), facts })
            }
            RecordKind::AttemptFailed { slugs, message, .. } => {
                Some(Probe::failed(slugs.first().map(|slug| slug.as_str().to_owned()), message))
            }
            _ => None,
        }
    }

    /// Messages begin with one sentence of what happened.
    #[must_use]
    pub fn failed(slug: Option<String>, message: &str) -> Self {
        let line = one_line(message, 1_000);
        let (title, text) = match line.split_once(". ") {
            Some((first, rest)) => (format!("{first}."), rest.to_owned()),
            None => (line, String::new()),
        };
        Probe::Failed { slug, title, text }
    }
}

/// `qwen3:8b answered after 1.2 s. 23 tokens in, 1 out.`: the model as the reply names it, and the provider's own figures
/// where it gave some.
#[must_use]
pub fn facts(document: &Trajectory, ms: u64) -> String {
    let reply = document.events.iter().rev().find_map(|recorded| match &recorded.event {
        Event::ModelReplied { reply, .. } => Some(reply),
        _ => None,
    });
    let named = reply.map(|reply: &Reply| reply.model.as_str()).filter(|name| !name.is_empty());
    let model = named.unwrap_or(&document.model);
    let model = if model.is_empty() { "The model" } else { model };
    let mut text = format!("{model} answered after {}.", duration(ms));
    if let Some(usage) = reply.and_then(|reply| reply.usage).filter(|usage| !usage.estimated) {
        text.push_str(&format!(" {} tokens in, {} out.", thousands(usage.input.0), thousands(usage.output.0)));
    }
    text
}
