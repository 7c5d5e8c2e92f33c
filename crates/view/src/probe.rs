//! The question of the Test button, and the meaning of the answer.

use serde::{Deserialize, Serialize};

use turnwise_engine::{Event, RecordKind, Reply, RunConfig};
use turnwise_record::trajectory::Trajectory;

use turnwise_content::format::{duration, one_line, thousands};

/// Asks for as little output as possible.
pub const QUESTION: &str = "Reply with the one word: ready";

/// The state of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    Asking,
    Works {
        answer: String,
        /// The model that answered, the time and the tokens.
        facts: String,
    },
    Failed {
        slug: Option<String>,
        /// One sentence that says what happened.
        title: String,
        /// The rest of the message and what to do; may be empty. Commands are in backticks.
        text: String,
    },
}

/// Returns a configuration with one turn, one attempt and nothing else.
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
    /// Returns the result that a record of the test run gives, if any; `ms` is the time since the run began.
    #[must_use]
    pub fn from_record(record: &RecordKind, ms: u64, document: impl FnOnce() -> Option<Trajectory>) -> Option<Self> {
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

    /// Builds a failure from a message, which begins with one sentence that says what happened.
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
/// if it reported any.
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
