//! What can be read off a provider's base URL.

use crate::engine::{ProviderConfig, ProviderKind};

const OPENAI: &str = "https://api.openai.com/v1";
const CHAT: &str = "/chat/completions";

/// The base URL without a trailing slash; the kind's own where none is set.
pub(super) fn base(p: &ProviderConfig) -> &str {
    let base = p.base_url.trim().trim_end_matches('/');
    match p.kind {
        ProviderKind::Demo => "demo://demo-model",
        ProviderKind::Openai if base.is_empty() => OPENAI,
        ProviderKind::Openai => base.strip_suffix(CHAT).unwrap_or(base),
    }
}

pub(super) fn chat_url(p: &ProviderConfig) -> String {
    format!("{}{CHAT}", base(p))
}

/// Host and port, for messages; a relative base URL is named whole.
pub(super) fn host(p: &ProviderConfig) -> &str {
    let base = base(p);
    base.split_once("://").and_then(|(_, rest)| rest.split('/').next()).unwrap_or(base)
}

pub(super) fn is_openai(p: &ProviderConfig) -> bool {
    host(p) == "api.openai.com"
}

/// Whether the server is on the user's own machine.
pub(super) fn is_local(p: &ProviderConfig) -> bool {
    let host = host(p);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0") || name.ends_with(".localhost")
}

pub(super) fn is_ollama(p: &ProviderConfig) -> bool {
    host(p).ends_with(":11434")
}
