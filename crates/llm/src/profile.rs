//! What differs between the servers that speak Chat Completions, and between the families of models that they serve. A row for a server
//! says what was found about it; where it says nothing, the family of the model decides, then the floor, which works everywhere.
//!
//! Sources are issues and packages of November 2026; nothing here was tried on a real service.

use turnwise_engine::{Correction, ProviderConfig};

use super::call_ids::IdRule;
use super::families::{REASONING_CONTENT, Thoughts, caps_completion, family};
use super::servers::{Cap, EffortField, ServerRow};

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
    pub merges_user_messages: bool,
    /// Whether the usage of tokens has to be asked for.
    pub asks_for_usage: bool,
    /// Whether the text beside calls is an empty string where there is none, not `null`.
    pub empty_beside_calls: bool,
    /// Whether the limit of a reply is called `max_completion_tokens`, not `max_tokens`.
    pub caps_completion: bool,
    pub effort: EffortField,
    /// Whether a temperature and `top_p` may be set.
    pub samples: bool,
    pub images: bool,
    pub pdfs: bool,
    /// Whether attachments are texts in `image_url` and `document_url`.
    pub plain_urls: bool,
}

/// What is known of a provider that speaks Chat Completions.
pub(super) fn profile(p: &ProviderConfig, learnt: &[Correction]) -> Profile {
    let (family, server) = (family(&p.model), ServerRow::of(p));
    let mut profile = Profile {
        ids: server.ids.unwrap_or(family.ids).corrected(learnt),
        thoughts: server.thoughts.unwrap_or(family.thoughts),
        needs_thoughts: server.needs_thoughts.unwrap_or(family.needs_thoughts),
        system_midway: server.system_midway,
        user_after_tool: server.user_after_tool.unwrap_or(family.user_after_tool),
        merges_user_messages: server.merges_user_messages,
        asks_for_usage: server.asks_for_usage,
        empty_beside_calls: server.empty_beside_calls,
        caps_completion: match server.cap {
            Cap::ByModel => caps_completion(&p.model),
            Cap::MaxTokens => false,
            Cap::MaxCompletion => true,
        },
        effort: server.effort,
        samples: server.samples,
        images: server.images,
        pdfs: server.pdfs,
        plain_urls: server.plain_urls,
    };
    learnt.iter().for_each(|correction| profile.correct(*correction));
    profile
}

impl Profile {
    /// Where the order of roles is checked, it is checked that they alternate.
    pub fn merges_user_messages(&self) -> bool {
        self.merges_user_messages || !self.user_after_tool
    }

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
            | Correction::DeclareTools
            | Correction::NineCharacterIds
            | Correction::PlainIds
            | Correction::NoOpaque
            | Correction::NoImages
            | Correction::PlainSchemas => {}
        }
    }
}
