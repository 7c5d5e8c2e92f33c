//! Providers as people choose them: names, places, what is likely there, and what to do so that a browser reaches it.

use crate::engine::{DemoMode, ProviderConfig, ProviderKind, RunConfig};
use crate::llm;

/// A place where a model answers, as it is offered in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its value of the setting `provider`.
    pub id: &'static str,
    pub kind: ProviderKind,
    pub name: &'static str,
    /// What sets it apart, in a few words.
    pub about: &'static str,
    pub place: Place,
    /// A model that is likely there; empty: the user must say.
    pub model: &'static str,
    pub model_need: Need,
    pub key: Need,
    /// Where a key is to be had, where one is needed.
    pub keys_at: &'static str,
    /// What has to be done for a page to reach it.
    pub hint: &'static str,
}

/// Where a provider stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Cloud,
    Machine,
    Other,
}

/// Whether something has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Needed,
    Optional,
    No,
}

/// An address of the user's own: the same wire format as OpenAI's, and nothing else is known of it.
pub const COMPATIBLE: &str = "openai-compatible";

/// Real models, in the order of the settings.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        id: "openai",
        kind: ProviderKind::Openai,
        name: "OpenAI",
        about: "Chat Completions",
        place: Place::Cloud,
        model: "gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://platform.openai.com/api-keys",
        hint: "Nothing to set up but a key. It goes from this browser to api.openai.com and nowhere else.",
    },
    Endpoint {
        id: "openai-responses",
        kind: ProviderKind::OpenaiResponses,
        name: "OpenAI Responses",
        about: "Keeps its reasoning between turns",
        place: Place::Cloud,
        model: "gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://platform.openai.com/api-keys",
        hint: "Nothing to set up but a key, the same as for OpenAI. Answers are not stored at OpenAI.",
    },
    Endpoint {
        id: "anthropic",
        kind: ProviderKind::Anthropic,
        name: "Anthropic",
        about: "Claude",
        place: Place::Cloud,
        model: "claude-sonnet-5",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://console.anthropic.com/settings/keys",
        hint: "Nothing to set up but a key. Requests say that they come from a browser, as Anthropic asks for.",
    },
    Endpoint {
        id: "gemini",
        kind: ProviderKind::Gemini,
        name: "Google Gemini",
        about: "Gemini",
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
        about: "Hundreds of models, one key",
        place: Place::Cloud,
        model: "openai/gpt-5.4-mini",
        model_need: Need::Needed,
        key: Need::Needed,
        keys_at: "https://openrouter.ai/settings/keys",
        hint: "Sign in and OpenRouter makes a key for this browser, or paste one. Models are named like vendor/model.",
    },
    Endpoint {
        id: "ollama",
        kind: ProviderKind::Ollama,
        name: "Ollama",
        about: "localhost:11434",
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
        about: "localhost:1234",
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
        about: "localhost:8080",
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
        name: "Chrome's built-in model",
        about: "No key, no server",
        place: Place::Machine,
        model: "",
        model_need: Need::No,
        key: Need::No,
        keys_at: "",
        hint: "Runs inside Chrome on this computer, offline too. It is small: give it short tasks.",
    },
    Endpoint {
        id: COMPATIBLE,
        kind: ProviderKind::Openai,
        name: "Another address",
        about: "Any OpenAI-compatible server",
        place: Place::Other,
        model: "",
        model_need: Need::Optional,
        key: Need::Optional,
        keys_at: "",
        hint: "Anything that speaks OpenAI Chat Completions, streams, and allows this page's origin (CORS): vLLM, a \
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
    /// The kind's own address; empty where the user has to say, or where there is none.
    #[must_use]
    pub fn base_url(&self) -> &'static str {
        if self.id == COMPATIBLE || !self.kind.is_http() { "" } else { llm::base_url(self.kind) }
    }
}

/// The real model of a value of the setting `provider`; none: a demo.
#[must_use]
pub fn endpoint(id: &str) -> Option<&'static Endpoint> {
    ENDPOINTS.iter().find(|endpoint| endpoint.id == id)
}

/// The address requests go to, for which a key is kept: the one that was set, else the kind's own.
#[must_use]
pub fn address(provider: &ProviderConfig) -> String {
    let set = provider.base_url.trim().trim_end_matches('/');
    if set.is_empty() { llm::base_url(provider.kind).to_owned() } else { set.to_owned() }
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
        (ProviderKind::Demo, _) => "Demo: scripted, not an AI".to_owned(),
        (ProviderKind::PromptApi, _) => "Chrome's built-in model".to_owned(),
        (ProviderKind::Custom, _) if provider.model.is_empty() => "a model of the page's".to_owned(),
        (ProviderKind::Custom, _) => format!("{}, a model of the page's", provider.model),
        _ => {
            let address = address(provider);
            match (host(&address), provider.model.as_str()) {
                (Some(host), "") => format!("model at {host}"),
                (Some(host), model) => format!("{model} at {host}"),
                // Relative to the page.
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
