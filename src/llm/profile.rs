//! What differs between the servers that speak Chat Completions, and between the families of models that they serve. A row for a server
//! says what was found about it; where it says nothing, the family of the model decides, then the floor, which works everywhere.
//!
//! Sources are issues and packages of November 2026; nothing here was tried on a real service.

use crate::engine::{Correction, ProviderConfig, ProviderKind};

use super::call_ids::IdRule;
use super::endpoint;
use super::families::{REASONING_CONTENT, Thoughts, caps_completion, family};
use super::servers::{FLOOR, server};

/// What a writer of Chat Completions has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    pub ids: IdRule,
    pub thoughts: Thoughts,
    /// Whether each reply with tool calls has to have thoughts: those of another model are a space.
    pub needs_thoughts: bool,
    /// Whether a system message may follow others.
    pub system_midway: bool,
    /// Whether a user message may follow a tool's result. If not, an assistant message is written between them.
    pub user_after_tool: bool,
    /// Whether the usage of tokens has to be asked for.
    pub asks_for_usage: bool,
    /// Whether the text beside calls is an empty string where there is none, not `null`.
    pub empty_beside_calls: bool,
    /// Whether the limit of a reply is called `max_completion_tokens`, not `max_tokens`.
    pub caps_completion: bool,
}

/// What is known of a provider that speaks Chat Completions.
pub(super) fn profile(p: &ProviderConfig, learnt: &[Correction]) -> Profile {
    let family = family(&p.model);
    let server = if p.kind == ProviderKind::Openai { server(endpoint::host(p)) } else { &FLOOR };
    // OpenRouter keeps them in `reasoning_details`, and knows what the server behind it wants.
    let routed = p.kind == ProviderKind::Openrouter;
    let mut profile = Profile {
        ids: server.ids.unwrap_or(family.ids).corrected(learnt),
        thoughts: server.thoughts.unwrap_or(if routed { Thoughts::Never } else { family.thoughts }),
        needs_thoughts: server.needs_thoughts.unwrap_or(family.needs_thoughts && !routed),
        system_midway: if p.kind == ProviderKind::Openai { server.system_midway } else { p.kind.takes_system_midway() },
        user_after_tool: server.user_after_tool.unwrap_or(family.user_after_tool),
        asks_for_usage: server.asks_for_usage,
        empty_beside_calls: server.empty_beside_calls,
        // OpenRouter translates it.
        caps_completion: endpoint::is_openai(p) || (p.kind == ProviderKind::Openai && caps_completion(&p.model)),
    };
    learnt.iter().for_each(|correction| profile.correct(*correction));
    profile
}

impl Profile {
    fn correct(&mut self, correction: Correction) {
        match correction {
            Correction::OtherLimitName => self.caps_completion = !self.caps_completion,
            Correction::NoUsageFlag => self.asks_for_usage = false,
            Correction::SendThoughts => {
                (self.thoughts, self.needs_thoughts) = (Thoughts::Field(REASONING_CONTENT), true);
            }
            Correction::DropThoughts => (self.thoughts, self.needs_thoughts) = (Thoughts::Never, false),
            Correction::OneSystemMessage => self.system_midway = false,
            // Where a system message is a user message, two of these follow each other.
            Correction::AlternateRoles | Correction::NoSystemMessage => {
                (self.system_midway, self.user_after_tool) = (false, false);
            }
            Correction::EmptyText => self.empty_beside_calls = true,
            // Settings of the run, what all formats have, and ids.
            Correction::NoSampling
            | Correction::NoEffort
            | Correction::Effort(_)
            | Correction::NoToolChoice
            | Correction::NineCharacterIds
            | Correction::PlainIds
            | Correction::NoOpaque
            | Correction::NoImages
            | Correction::PlainSchemas => {}
        }
    }
}
