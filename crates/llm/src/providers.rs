//! The table of providers: one row has everything about a kind, and a kind without a row does not compile.
//!
//! What only one kind does stays with the code that does it: the sign-in at OpenRouter, starting Ollama, asking the page.

use turnwise_engine::ProviderKind;

/// How a kind of provider is called. What differs between servers of one format is in `servers.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireOptions {
    pub format: WireFormat,
    /// Up to and including the version.
    pub base_url: &'static str,
    /// Headers of every request, in addition to those of the format.
    pub headers: &'static [(&'static str, &'static str)],
    pub prices: Prices,
    /// Whether the list of models contains only models that converse, with their display names as `name`.
    pub lists_chat_models_only: bool,
    /// The advice if there is no such model.
    pub no_such_model: &'static str,
}

/// A wire format; a folder of `llm` for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFormat {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    Gemini,
}

/// Where the table of models (`models/table.csv`) has a provider's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prices {
    Unknown,
    /// Under this word in the first column.
    Of(&'static str),
    /// Under the vendor in the model's name: `vendor/model`.
    OfVendorInName,
}

/// How users choose a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    pub name: &'static str,
    pub place: ProviderGroup,
    /// A model that is likely available; empty: the user must enter one.
    pub model: &'static str,
    pub model_need: Need,
    pub key: Need,
    /// The page where users get a key, if one is needed.
    pub keys_at: &'static str,
    /// The setup that lets a page reach it.
    pub hint: &'static str,
    /// Whether the docs agent offers it to visitors of a site that brings no model.
    pub offered_to_visitors: bool,
}

/// The group of a provider in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderGroup {
    Cloud,
    Machine,
    Other,
}

impl ProviderGroup {
    pub const ALL: &'static [ProviderGroup] = &[ProviderGroup::Cloud, ProviderGroup::Machine, ProviderGroup::Other];
}

/// Whether something is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Needed,
    Optional,
    No,
}

const CHAT: WireOptions = WireOptions {
    format: WireFormat::Chat,
    base_url: "",
    headers: &[],
    prices: Prices::Unknown,
    lists_chat_models_only: false,
    no_such_model: "Check the model's name.",
};

const CLOUD: Card = Card {
    name: "",
    place: ProviderGroup::Cloud,
    model: "",
    model_need: Need::Needed,
    key: Need::Needed,
    keys_at: "",
    hint: "",
    offered_to_visitors: false,
};

const MACHINE: Card = Card { place: ProviderGroup::Machine, model_need: Need::Optional, key: Need::No, ..CLOUD };

// Two functions, not one table: a build that draws no settings does not contain their texts.
macro_rules! providers {
    ($($kind:ident { wire: $wire:expr, card: $card:expr, function: $function:expr, })*) => {
        /// How a kind of provider is called.
        #[must_use]
        pub fn wire(kind: ProviderKind) -> &'static WireOptions {
            match kind { $(ProviderKind::$kind => const { &$wire },)* }
        }

        /// How users choose it in the settings; `None`: they do not.
        #[must_use]
        pub fn card(kind: ProviderKind) -> Option<&'static Card> {
            match kind { $(ProviderKind::$kind => const { &$card }.as_ref(),)* }
        }

        /// The comment on its function in `www/client/sdk/providers.ts`, which is generated; `None`: no such function.
        #[must_use]
        pub fn function(kind: ProviderKind) -> Option<&'static str> {
            match kind { $(ProviderKind::$kind => $function,)* }
        }
    };
}

// In the settings they have the order of `ProviderKind`.
providers! {
    Openai {
        wire: WireOptions { base_url: "https://api.openai.com/v1", prices: Prices::Of("openai"), ..CHAT },
        card: Some(Card {
            name: "OpenAI",
            model: "gpt-5.4-mini",
            keys_at: "https://platform.openai.com/api-keys",
            hint: "Paste your key. It goes only to api.openai.com.",
            offered_to_visitors: true,
            ..CLOUD
        }),
        function: Some("A model of OpenAI, through Chat Completions; with `baseUrl`, of any compatible server."),
    }
    OpenaiResponses {
        wire: WireOptions {
            format: WireFormat::Responses,
            base_url: "https://api.openai.com/v1",
            prices: Prices::Of("openai"),
            ..CHAT
        },
        card: Some(Card {
            name: "OpenAI Responses",
            model: "gpt-5.4-mini",
            keys_at: "https://platform.openai.com/api-keys",
            hint: "OpenAI's newer interface, which keeps a model's reasoning between turns. The key is the same as for \
                   OpenAI.",
            ..CLOUD
        }),
        function: Some("A model of OpenAI, through the Responses API."),
    }
    Anthropic {
        wire: WireOptions {
            format: WireFormat::Messages,
            base_url: "https://api.anthropic.com/v1",
            prices: Prices::Of("anthropic"),
            ..CHAT
        },
        card: Some(Card {
            name: "Anthropic",
            model: "claude-sonnet-5",
            keys_at: "https://console.anthropic.com/settings/keys",
            hint: "Claude. Paste your key. It goes only to api.anthropic.com.",
            offered_to_visitors: true,
            ..CLOUD
        }),
        function: Some("A model of Anthropic, through the Messages API."),
    }
    Gemini {
        wire: WireOptions {
            format: WireFormat::Gemini,
            base_url: "https://generativelanguage.googleapis.com/v1beta",
            prices: Prices::Of("gemini"),
            ..CHAT
        },
        card: Some(Card {
            name: "Google Gemini",
            model: "gemini-flash-latest",
            keys_at: "https://aistudio.google.com/apikey",
            hint: "Paste your key of Google AI Studio. It goes only to generativelanguage.googleapis.com.",
            offered_to_visitors: true,
            ..CLOUD
        }),
        function: Some("A model of Google, through the Gemini API."),
    }
    Openrouter {
        wire: WireOptions {
            base_url: "https://openrouter.ai/api/v1",
            headers: &[("x-openrouter-title", "Turnwise")],
            prices: Prices::OfVendorInName,
            lists_chat_models_only: true,
            no_such_model: "Check the model's name: it looks like vendor/model.",
            ..CHAT
        },
        card: Some(Card {
            name: "OpenRouter",
            model: "openai/gpt-5.4-mini",
            keys_at: "https://openrouter.ai/settings/keys",
            hint: "Hundreds of models with one key. Sign in and OpenRouter makes a key for this browser, or paste one.",
            offered_to_visitors: true,
            ..CLOUD
        }),
        function: Some("Any model at OpenRouter, as `vendor/model`."),
    }
    Ollama {
        wire: WireOptions { base_url: "http://localhost:11434/v1", ..CHAT },
        card: Some(Card {
            name: "Ollama",
            model: "qwen3",
            model_need: Need::Needed,
            hint: "A page of localhost reaches it as it is. For any other page, set OLLAMA_ORIGINS to the page's address \
                   and start Ollama again.",
            offered_to_visitors: true,
            ..MACHINE
        }),
        function: Some("A model that Ollama serves."),
    }
    Lmstudio {
        wire: WireOptions {
            base_url: "http://localhost:1234/v1",
            no_such_model: "Check the model's name: `lms ls` lists the models.",
            ..CHAT
        },
        card: Some(Card {
            name: "LM Studio",
            hint: "Start its server so that pages may ask it: lms server start --cors",
            ..MACHINE
        }),
        function: Some("A model that LM Studio serves."),
    }
    Llamacpp {
        wire: WireOptions { base_url: "http://localhost:8080/v1", ..CHAT },
        card: Some(Card {
            name: "llama.cpp",
            key: Need::Optional,
            hint: "Start llama-server with --jinja for tool calls. If this page is on port 8080 too, give one of them \
                   another port.",
            ..MACHINE
        }),
        function: Some("The model that a llama.cpp server serves."),
    }
    // The last three have no server; the format is that of their requests and responses inside the page.
    PromptApi {
        wire: WireOptions { base_url: "prompt-api:", ..CHAT },
        card: Some(Card {
            name: "Built into Chrome",
            model_need: Need::No,
            hint: "Gemini Nano, inside Chrome on this computer: no key, no server, offline too. It is small, so give it \
                   short tasks.",
            offered_to_visitors: true,
            ..MACHINE
        }),
        function: None,
    }
    Demo {
        wire: WireOptions { base_url: "demo://demo-model", ..CHAT },
        card: None,
        function: None,
    }
    Custom {
        wire: WireOptions { base_url: "custom:", ..CHAT },
        card: None,
        function: None,
    }
}
