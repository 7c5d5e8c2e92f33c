//! Providers as users choose them: names, locations, likely models, and the setup that lets a browser reach them.

use crate::engine::{DemoMode, ProviderConfig, ProviderKind, RunConfig};
use crate::llm;

use crate::content::format::sentence_case;

/// An endpoint of a model, as it is offered in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The value of the setting `provider`.
    pub id: &'static str,
    pub kind: ProviderKind,
    pub name: &'static str,
    pub place: Place,
    /// A model that is likely available; empty: the user must enter one.
    pub model: &'static str,
    pub model_need: Need,
    pub key: Need,
    /// The page where users get a key, if one is needed.
    pub keys_at: &'static str,
    /// The setup that lets a page reach it.
    pub hint: &'static str,
}

/// The group of a provider in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Cloud,
    Machine,
    Other,
}

/// Whether something is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Needed,
    Optional,
    No,
}

/// The user's own address: it has OpenAI's wire format, and nothing else is known about it.
pub const COMPATIBLE: &str = "openai-compatible";

/// Real models, in the order of the settings.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        id: "openai",
        kind: ProviderKind::Openai,
        name: "OpenAI",
        place: Place::Cloud,
        model: "gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://platform.openai.com/api-keys",
        hint: "Over Chat Completions. Nothing to set up but a key: it goes from this browser to api.openai.com and \
               nowhere else.",
    },
    Endpoint {
        id: "openai-responses",
        kind: ProviderKind::OpenaiResponses,
        name: "OpenAI Responses",
        place: Place::Cloud,
        model: "gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://platform.openai.com/api-keys",
        hint: "OpenAI's newer interface, which keeps a model's reasoning between turns. The key is the same as for OpenAI.",
    },
    Endpoint {
        id: "anthropic",
        kind: ProviderKind::Anthropic,
        name: "Anthropic",
        place: Place::Cloud,
        model: "claude-sonnet-5",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://console.anthropic.com/settings/keys",
        hint: "Claude. Nothing to set up but a key: it goes from this browser to api.anthropic.com and nowhere else.",
    },
    Endpoint {
        id: "gemini",
        kind: ProviderKind::Gemini,
        name: "Google Gemini",
        place: Place::Cloud,
        model: "gemini-flash-latest",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://aistudio.google.com/apikey",
        hint: "Nothing to set up but a key of Google AI Studio.",
    },
    Endpoint {
        id: "openrouter",
        kind: ProviderKind::Openrouter,
        name: "OpenRouter",
        place: Place::Cloud,
        model: "openai/gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://openrouter.ai/settings/keys",
        hint: "Hundreds of models with one key. Sign in and OpenRouter makes a key for this browser, or paste one.",
    },
    Endpoint {
        id: "ollama",
        kind: ProviderKind::Ollama,
        name: "Ollama",
        place: Place::Machine,
        model: "qwen3",
        model_need: Need::Needed,
        key: Need::No,
        keys_at: "",
        hint: "A page of localhost reaches it as it is. For any other page, set OLLAMA_ORIGINS to the page's address \
               and start Ollama again.",
    },
    Endpoint {
        id: "lmstudio",
        kind: ProviderKind::Lmstudio,
        name: "LM Studio",
        place: Place::Machine,
        model: "",
        model_need: Need::Optional,
        key: Need::No,
        keys_at: "",
        hint: "Start its server so that pages may ask it: lms server start --cors",
    },
    Endpoint {
        id: "llamacpp",
        kind: ProviderKind::Llamacpp,
        name: "llama.cpp",
        place: Place::Machine,
        model: "",
        model_need: Need::Optional,
        key: Need::Optional,
        keys_at: "",
        hint: "Start llama-server with --jinja for tool calls. If this page is on port 8080 too, give one of them \
               another port.",
    },
    Endpoint {
        id: "prompt-api",
        kind: ProviderKind::PromptApi,
        name: "Built into Chrome",
        place: Place::Machine,
        model: "",
        model_need: Need::No,
        key: Need::No,
        keys_at: "",
        hint: "Gemini Nano, inside Chrome on this computer: no key, no server, offline too. It is small, so give it short \
               tasks.",
    },
    Endpoint {
        id: COMPATIBLE,
        kind: ProviderKind::Openai,
        name: "Another address",
        place: Place::Other,
        model: "",
        model_need: Need::Optional,
        key: Need::Optional,
        keys_at: "",
        hint: "Any server that speaks OpenAI Chat Completions, streams, and allows this page's origin (CORS): vLLM, a \
               gateway, your own proxy.",
    },
];

impl Place {
    pub const ALL: &'static [Place] = &[Place::Cloud, Place::Machine, Place::Other];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Place::Cloud => "In the cloud",
            Place::Machine => "On this machine",
            Place::Other => "Other",
        }
    }
}

impl Endpoint {
    /// Returns the kind's own address; empty if the user has to enter it, or if there is none.
    #[must_use]
    pub fn base_url(&self) -> &'static str {
        if self.id == COMPATIBLE || !self.kind.is_http() { "" } else { llm::base_url(self.kind) }
    }
}

/// Returns the endpoint for a value of the setting `provider`; `None` for a demo.
#[must_use]
pub fn endpoint(id: &str) -> Option<&'static Endpoint> {
    ENDPOINTS.iter().find(|endpoint| endpoint.id == id)
}

/// Returns the name of a demo mode: `Demo that never finishes: shows limits and synthesis` -> `Never finishes`.
#[must_use]
pub fn demo_name(words: &str) -> String {
    let (name, about) = words.split_once(": ").unwrap_or((words, words));
    sentence_case(name.strip_prefix("Demo that ").unwrap_or(about))
}

/// Returns the address that requests go to and that a key is stored for: the configured one, or else the kind's own.
#[must_use]
pub fn address(provider: &ProviderConfig) -> String {
    let set = provider.base_url.trim().trim_end_matches('/');
    if set.is_empty() { llm::base_url(provider.kind).to_owned() } else { set.to_owned() }
}

/// Returns the facts about its models for the top of a run.
#[must_use]
pub fn facts(config: &RunConfig) -> Vec<String> {
    config.providers.iter().map(name).collect()
}

/// Returns a short name for a provider.
#[must_use]
pub fn name(provider: &ProviderConfig) -> String {
    match (provider.kind, provider.demo) {
        (ProviderKind::Demo, Some(DemoMode::Endless)) => "Demo: scripted, not an AI; never finishes".to_owned(),
        (ProviderKind::Demo, Some(DemoMode::Chaos)) => "Demo: scripted, not an AI; misbehaves".to_owned(),
        (ProviderKind::Demo, _) => "Demo: scripted, not an AI".to_owned(),
        (ProviderKind::PromptApi, _) => "Chrome's built-in model".to_owned(),
        (ProviderKind::Custom, _) if provider.model.is_empty() => "a model of the page's".to_owned(),
        (ProviderKind::Custom, _) => format!("{}, a model of the page's", provider.model),
        _ => {
            let address = address(provider);
            match (host(&address), provider.model.as_str()) {
                (Some(host), "") => format!("model at {host}"),
                (Some(host), model) => format!("{model} at {host}"),
                // The address is relative to the page.
                (None, "") => format!("model at {address}"),
                (None, model) => model.to_owned(),
            }
        }
    }
}

fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())
}
