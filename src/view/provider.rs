//! Providers as people choose them: names, addresses to start from, and what to say about each.

use crate::engine::{DemoMode, ProviderConfig, ProviderKind, RunConfig};

/// A place where an OpenAI-compatible model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub id: &'static str,
    pub name: &'static str,
    pub base_url: &'static str,
    /// A model that is likely there; empty: the user must say.
    pub model: &'static str,
    pub key: KeyNeed,
    /// What has to be done for a page to reach it.
    pub hint: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNeed {
    Needed,
    Optional,
    No,
}

/// The presets of the settings; the last one is any other address.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        id: "openai",
        name: "OpenAI",
        base_url: "https://api.openai.com/v1",
        model: "gpt-4.1-mini",
        key: KeyNeed::Needed,
        hint: "Your key goes from this browser to api.openai.com and nowhere else.",
    },
    Endpoint {
        id: "openrouter",
        name: "OpenRouter",
        base_url: "https://openrouter.ai/api/v1",
        model: "openai/gpt-4.1-mini",
        key: KeyNeed::Needed,
        hint: "One key for many models. Models are named like vendor/model.",
    },
    Endpoint {
        id: "ollama",
        name: "Ollama",
        base_url: "http://localhost:11434/v1",
        model: "qwen3",
        key: KeyNeed::No,
        hint: "On this machine. A page from another address needs OLLAMA_ORIGINS to name it.",
    },
    Endpoint {
        id: "lmstudio",
        name: "LM Studio",
        base_url: "http://localhost:1234/v1",
        model: "",
        key: KeyNeed::No,
        hint: "On this machine. Start it with: lms server start --cors",
    },
    Endpoint {
        id: "llamacpp",
        name: "llama.cpp",
        base_url: "http://localhost:8080/v1",
        model: "",
        key: KeyNeed::Optional,
        hint: "On this machine. Serve it on a port of its own, with --jinja for tool calls.",
    },
    Endpoint {
        id: "custom",
        name: "Other address",
        base_url: "",
        model: "",
        key: KeyNeed::Optional,
        hint: "Anything that speaks OpenAI Chat Completions and allows this page's origin (CORS).",
    },
];

/// The preset whose address this is, or the last.
#[must_use]
pub fn endpoint(base_url: &str) -> Option<&'static Endpoint> {
    let wanted = base_url.trim_end_matches('/');
    ENDPOINTS.iter().find(|endpoint| endpoint.base_url == wanted).or_else(|| ENDPOINTS.last())
}

/// What a run's head says about its model.
#[must_use]
pub fn facts(config: &RunConfig) -> Vec<String> {
    config.providers.iter().map(name).collect()
}

/// One provider in a few words.
#[must_use]
pub fn name(provider: &ProviderConfig) -> String {
    match (provider.kind, provider.demo) {
        (ProviderKind::Demo, Some(DemoMode::Endless)) => "Demo: scripted, not an AI; never finishes".to_owned(),
        (ProviderKind::Demo, Some(DemoMode::Chaos)) => "Demo: scripted, not an AI; misbehaves".to_owned(),
        (ProviderKind::Demo, _) => "Demo: scripted, not an AI".to_owned(),
        _ => match host(&provider.base_url) {
            Some(host) if provider.model.is_empty() => format!("model at {host}"),
            Some(host) => format!("{} at {host}", provider.model),
            None => provider.model.clone(),
        },
    }
}

fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}
