//! What was found about servers that speak Chat Completions: a row each.
//!
//! Sources are issues and packages of November 2026; nothing here was tried on a real service.

use super::call_ids::IdRule;
use super::families::{REASONING_CONTENT, Thoughts};

/// What is known of a server; `None`: the family of the model decides.
#[derive(Debug)]
pub(super) struct Server {
    /// Without a port.
    hosts: &'static [&'static str],
    pub ids: Option<IdRule>,
    pub thoughts: Option<Thoughts>,
    pub needs_thoughts: Option<bool>,
    pub system_midway: bool,
    pub user_after_tool: Option<bool>,
    pub asks_for_usage: bool,
    pub empty_beside_calls: bool,
}

pub(super) const FLOOR: Server = Server {
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

pub(super) fn server(host: &str) -> &'static Server {
    let name = host.split(':').next().unwrap_or_default();
    SERVERS.iter().find(|server| server.hosts.contains(&name)).unwrap_or(&FLOOR)
}
