//! What differs between the servers that speak Chat Completions, and between the families of models that they serve. A row for a server
//! says what was found about it; where it says nothing, the family of the model decides, then the floor, which works everywhere.
//!
//! Sources are issues and packages of November 2026; nothing here was tried on a real service.

use crate::engine::{Correction, ProviderConfig, ProviderKind};

use super::call_ids::IdRule;
use super::endpoint;

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
}

/// How the model's own thoughts go back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoughts {
    Never,
    /// In a field of this name.
    Field(&'static str),
    /// At the beginning of the text, between `<think>` and `</think>`.
    Tags,
}

/// What is known of a server; `None`: the family of the model decides.
#[derive(Debug)]
struct Server {
    /// Without a port.
    hosts: &'static [&'static str],
    ids: Option<IdRule>,
    thoughts: Option<Thoughts>,
    needs_thoughts: Option<bool>,
    system_midway: bool,
    user_after_tool: Option<bool>,
    asks_for_usage: bool,
    empty_beside_calls: bool,
}

const FLOOR: Server = Server {
    hosts: &[],
    ids: None,
    thoughts: None,
    needs_thoughts: None,
    // The templates of Qwen 3.5 and later, and others, refuse a second one (vllm#41114, Qwen3.8#244).
    system_midway: false,
    user_after_tool: None,
    asks_for_usage: true,
    empty_beside_calls: false,
};

/// Refuses fields that it does not know: `reasoning_content` on a message is an error.
const REFUSES_THOUGHTS: Server = Server { thoughts: Some(Thoughts::Never), needs_thoughts: Some(false), ..FLOOR };

const SERVERS: &[Server] = &[
    Server { hosts: &["api.openai.com"], system_midway: true, ..REFUSES_THOUGHTS },
    // Order: code 3230 (zed#37021). `stream_options` was refused once (anon-kode#53); usage comes unasked.
    Server {
        hosts: &["api.mistral.ai", "codestral.mistral.ai"],
        ids: Some(IdRule::Nine),
        user_after_tool: Some(false),
        asks_for_usage: false,
        ..REFUSES_THOUGHTS
    },
    // continue#9720, zed#55321; those of another model may be blank (litellm, pydantic-ai).
    Server {
        hosts: &["api.deepseek.com"],
        thoughts: Some(Thoughts::Field(REASONING_CONTENT)),
        needs_thoughts: Some(true),
        ..FLOOR
    },
    // opencode#16318, pi#4178: an empty text does not do.
    Server {
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        thoughts: Some(Thoughts::Field(REASONING_CONTENT)),
        needs_thoughts: Some(true),
        system_midway: true,
        ..FLOOR
    },
    // They take them back (pydantic-ai, @ai-sdk/alibaba), and do not demand them.
    Server {
        hosts: &["api.z.ai", "open.bigmodel.cn", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
        thoughts: Some(Thoughts::Field(REASONING_CONTENT)),
        needs_thoughts: Some(false),
        ..FLOOR
    },
    Server { hosts: &["api.minimax.io", "api.minimaxi.com"], thoughts: Some(Thoughts::Tags), ..FLOOR },
    // freellmapi#1070, kilocode#10375.
    Server { hosts: &["api.groq.com", "api.cerebras.ai"], ..REFUSES_THOUGHTS },
    // zeroclaw#9493.
    Server { hosts: &["api.cloudflare.com", "gateway.ai.cloudflare.com"], empty_beside_calls: true, ..FLOOR },
    // rig.
    Server { hosts: &["api.perplexity.ai"], asks_for_usage: false, ..REFUSES_THOUGHTS },
];

const REASONING_CONTENT: &str = "reasoning_content";

/// A family of models, by the beginning of a name without its vendor.
#[derive(Debug)]
struct Family {
    names: &'static [&'static str],
    thoughts: Thoughts,
    needs_thoughts: bool,
    ids: IdRule,
    user_after_tool: bool,
}

const ANY: Family = Family {
    names: &[],
    thoughts: Thoughts::Never,
    needs_thoughts: false,
    ids: IdRule::Max(40),
    user_after_tool: true,
};

const FAMILIES: &[Family] = &[
    Family { names: &["deepseek", "kimi"], thoughts: Thoughts::Field(REASONING_CONTENT), needs_thoughts: true, ..ANY },
    // Interleaved thinking: what is left out is thought again.
    Family { names: &["minimax-m"], thoughts: Thoughts::Tags, ..ANY },
    // The chat templates of all of them: llama.cpp#19851, mistral-vibe#1006, NIM, vLLM.
    Family {
        names: &["mistral", "ministral", "magistral", "devstral", "codestral", "mixtral", "pixtral", "voxtral"],
        ids: IdRule::Nine,
        user_after_tool: false,
        ..ANY
    },
];

/// What is known of a provider that speaks Chat Completions.
pub(super) fn profile(p: &ProviderConfig, learnt: &[Correction]) -> Profile {
    let family = family(&p.model);
    let server = if p.kind == ProviderKind::Openai { server(endpoint::host(p)) } else { &FLOOR };
    // OpenRouter keeps them in `reasoning_details`, and knows what the server behind it wants.
    let routed = p.kind == ProviderKind::Openrouter;
    let mut profile = Profile {
        ids: server.ids.unwrap_or(family.ids),
        thoughts: server.thoughts.unwrap_or(if routed { Thoughts::Never } else { family.thoughts }),
        needs_thoughts: server.needs_thoughts.unwrap_or(family.needs_thoughts && !routed),
        system_midway: if p.kind == ProviderKind::Openai { server.system_midway } else { p.kind.takes_system_midway() },
        user_after_tool: server.user_after_tool.unwrap_or(family.user_after_tool),
        asks_for_usage: server.asks_for_usage,
        empty_beside_calls: server.empty_beside_calls,
    };
    learnt.iter().for_each(|correction| profile.correct(*correction));
    profile
}

impl Profile {
    fn correct(&mut self, correction: Correction) {
        match correction {
            Correction::NoUsageFlag => self.asks_for_usage = false,
            Correction::SendThoughts => {
                (self.thoughts, self.needs_thoughts) = (Thoughts::Field(REASONING_CONTENT), true);
            }
            Correction::DropThoughts => (self.thoughts, self.needs_thoughts) = (Thoughts::Never, false),
            Correction::OneSystemMessage => self.system_midway = false,
            Correction::AlternateRoles => (self.system_midway, self.user_after_tool) = (false, false),
            Correction::NineCharacterIds => self.ids = IdRule::Nine,
            Correction::EmptyText => self.empty_beside_calls = true,
            // They are no facts of a server, but settings of the run.
            Correction::OtherLimitName
            | Correction::NoSampling
            | Correction::NoEffort
            | Correction::EffortNone
            | Correction::NoToolChoice
            | Correction::NoOpaque => {}
        }
    }
}

fn server(host: &str) -> &'static Server {
    let name = host.split(':').next().unwrap_or_default();
    SERVERS.iter().find(|server| server.hosts.contains(&name)).unwrap_or(&FLOOR)
}

/// `vendor/` and `models/` are no part of a name, nor is `:tag`.
fn family(model: &str) -> &'static Family {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is = |family: &&Family| family.names.iter().any(|known| name.starts_with(known));
    FAMILIES.iter().find(is).unwrap_or(&ANY)
}
