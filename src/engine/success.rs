//! What a reply means: does it complete the run, let it go on, or fail the attempt? Pure functions of policy and reply.
//! The model never states its own success (SEMANTICS 5).

use super::config::Preset;
use super::failure::Slug;
use super::reply::{FinishReason, Reply};

/// What sets the presets apart where success is judged. A preset is a policy of one engine, not a fork of its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    pub completion: Completion,
}

/// What completes a run, besides a final result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// A reply with text and no tool calls.
    Text,
}

impl Policy {
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        match preset {
            Preset::Research | Preset::Orchestrator => Policy { completion: Completion::Text },
        }
    }
}

/// The verdict on a reply without tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    /// The turn succeeded, the run goes on; the slugs say why it did not complete.
    GoOn(Vec<Slug>),
    /// The attempt failed; most telling slug first.
    Failed(Vec<Slug>),
}

/// Judges a turn's reply that calls no tools.
#[must_use]
pub fn judge_text(policy: Policy, reply: &Reply) -> Verdict {
    let cut = reply.finish == FinishReason::Length;
    match (policy.completion, textless(reply)) {
        (_, Some(slug)) if cut => Verdict::Failed(vec![slug, Slug::TruncatedOutput]),
        (_, Some(slug)) => Verdict::Failed(vec![slug]),
        (Completion::Text, None) if cut => Verdict::GoOn(vec![Slug::TruncatedOutput]),
        (Completion::Text, None) => Verdict::Complete,
    }
}

/// Judges a synthesis reply: `Err` says why it is none.
pub fn judge_synthesis(reply: &Reply) -> Result<(), Vec<Slug>> {
    let mut slugs = Vec::new();
    if !reply.tool_calls.is_empty() {
        slugs.push(Slug::SynthesisToolCall);
    } else if let Some(slug) = textless(reply) {
        slugs.push(slug);
    }
    if reply.finish == FinishReason::Length {
        slugs.push(Slug::TruncatedOutput);
    }
    if slugs.is_empty() { Ok(()) } else { Err(slugs) }
}

fn textless(reply: &Reply) -> Option<Slug> {
    match (reply.content.trim().is_empty(), reply.reasoning.trim().is_empty()) {
        (false, _) => None,
        (true, false) => Some(Slug::ReasoningOnly),
        (true, true) => Some(Slug::EmptyResponse),
    }
}
