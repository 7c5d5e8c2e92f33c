//! Models as data: which wire format, where, which one. No secret is ever in it: keys and headers stay in the shell.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::usage::Usage;

/// One model behind one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryProvider"),
    ts(rename = "TrajectoryProvider")
)]
#[serde(default)]
pub struct ProviderConfig {
    pub kind: ProviderKind,
    /// Up to and including the version (`/v1`, `/v1beta`); empty: the kind's own.
    // Read without a user name and a password.
    #[serde(deserialize_with = "without_user_info")]
    pub base_url: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Demo model only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demo: Option<DemoMode>,
    /// The cost of its tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Additional fields of the request body, under the server's names. Each is sent unchanged and replaces one
    /// that the run would send; objects are not merged. What the run itself determines cannot be set here and is
    /// ignored: the model, the conversation, the tools the tool choice and streaming. It is part of the record,
    /// so never put a key here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(extend("type" = "object")), ts(type = "Record<string, any>"))]
    pub provider_options: Option<Value>,
}

/// Where an address has a user name and a password, with the `@` after them; found as URL parsers do.
#[must_use]
pub fn user_info(address: &str) -> Option<Range<usize>> {
    let separators = [':', '/', '\\', '?', '#'];
    let scheme = address.find(separators).filter(|at| address.get(*at..).is_some_and(|rest| rest.starts_with(':')));
    let path = address.get(scheme.map_or(0, |at| at + 1)..)?;
    let authority = path.trim_start_matches(['/', '\\']);
    if scheme.is_none() && path.len() - authority.len() < 2 {
        return None;
    }
    let start = address.len() - authority.len();
    let end = authority.split(['/', '\\', '?', '#']).next()?.rfind('@')?;
    Some(start..start + end + 1)
}

/// A browser sends no request to an address with a user name, so in a record or a plan it would only be seen.
fn without_user_info<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let mut address = String::deserialize(from)?;
    if let Some(range) = user_info(&address) {
        address.replace_range(range, "");
    }
    Ok(address)
}

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident = $name:tt, takes_system_midway: $midway:literal;)*) => {
        /// Which model server.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
        pub enum ProviderKind { $($(#[$attribute])* #[serde(rename = $name)] $kind,)* }

        impl ProviderKind {
            pub const ALL: &'static [ProviderKind] = &[$(ProviderKind::$kind,)*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(ProviderKind::$kind => $name,)* }
            }

            /// Whether the history may contain system messages in the middle. If not, they are sent as user messages:
            /// Anthropic and Gemini know one system text a request, the built-in model takes one at the start, and the
            /// chat templates of many local models refuse a second one.
            #[must_use]
            pub fn takes_system_midway(self) -> bool {
                match self { $(ProviderKind::$kind => $midway,)* }
            }
        }
    };
}

// What the engine knows of each kind. Everything else is in `llm/providers.rs`.
kinds! {
    /// Scripted, not an AI: no key, no network.
    #[default]
    Demo = "demo", takes_system_midway: true;
    /// OpenAI Chat Completions and all that speak it.
    Openai = "openai", takes_system_midway: true;
    OpenaiResponses = "openai-responses", takes_system_midway: true;
    /// Anthropic Messages.
    Anthropic = "anthropic", takes_system_midway: false;
    Gemini = "gemini", takes_system_midway: false;
    Openrouter = "openrouter", takes_system_midway: true;
    Ollama = "ollama", takes_system_midway: true;
    Lmstudio = "lmstudio", takes_system_midway: false;
    Llamacpp = "llamacpp", takes_system_midway: false;
    /// The model built into Chrome.
    PromptApi = "prompt-api", takes_system_midway: false;
    /// A function supplied by the page.
    Custom = "custom", takes_system_midway: true;
}

impl ProviderKind {
    /// Whether requests go to a base URL.
    #[must_use]
    pub fn is_http(self) -> bool {
        !matches!(self, ProviderKind::Demo | ProviderKind::PromptApi | ProviderKind::Custom)
    }
}

/// How the demo model behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DemoMode {
    #[default]
    Normal,
    /// Never finishes by itself, to demonstrate limits and synthesis.
    Endless,
    /// Shows, by the seed, the faults of model servers and of models, so that retries can be seen.
    Chaos,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryPrice"),
    ts(rename = "TrajectoryPrice")
)]
pub struct Price {
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub input: f64,
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub output: f64,
    /// Of input tokens read from the provider's cache.
    #[cfg_attr(feature = "types", schemars(range(min = 0.0)))]
    pub cached: f64,
}

impl Price {
    /// US dollars for the tokens of one reply.
    #[must_use]
    pub fn cost(self, usage: Usage) -> f64 {
        let fresh = usage.input.0.saturating_sub(usage.cached.0);
        let dollars = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        dollars(fresh, self.input) + dollars(usage.cached.0, self.cached) + dollars(usage.output.0, self.output)
    }
}
