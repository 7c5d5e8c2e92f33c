//! Providers as users choose them: names, locations, likely models, and the setup that lets a browser reach them.

use std::ops::Deref;

use turnwise_engine::hidden::visible;
use turnwise_engine::{DemoMode, ProviderConfig, ProviderKind, RunConfig};
use turnwise_llm::address::{self, AddressSpace, ServerAddress};
use turnwise_llm::providers::{Card, card};

pub use turnwise_llm::providers::{Need, ProviderGroup};

/// A provider as it is offered in the settings: a kind, or the user's own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderCard {
    /// The value of the setting `provider`.
    pub id: &'static str,
    pub kind: ProviderKind,
    card: &'static Card,
}

/// The user's own address: it has OpenAI's wire format, and nothing else is known about it.
pub const COMPATIBLE: &str = "openai-compatible";

/// The modes of the demo, by their values of the setting `provider`.
pub const DEMOS: &[(&str, &str)] =
    &[("demo", "Demo (no AI)"), ("demo-endless", "Demo: hits the limit"), ("demo-chaos", "Demo: flaky server")];

const COMPATIBLE_CARD: ProviderCard = ProviderCard {
    id: COMPATIBLE,
    kind: ProviderKind::Openai,
    card: &Card {
        name: "Another address",
        place: ProviderGroup::Other,
        model: "",
        model_need: Need::Optional,
        key: Need::Optional,
        keys_at: "",
        hint: "Any server that speaks OpenAI Chat Completions, streams, and allows this page's origin (CORS): vLLM, a \
               gateway, your own proxy.",
        offered_to_visitors: false,
    },
};

/// Real models, in the order of the settings.
pub fn cards() -> impl Iterator<Item = ProviderCard> {
    let card_of = |kind: &ProviderKind| Some(ProviderCard { id: kind.as_str(), kind: *kind, card: card(*kind)? });
    ProviderKind::ALL.iter().filter_map(card_of).chain([COMPATIBLE_CARD])
}

/// Returns the title of a group of providers.
#[must_use]
pub fn title(place: ProviderGroup) -> &'static str {
    match place {
        ProviderGroup::Cloud => "In the cloud",
        ProviderGroup::Machine => "On this machine",
        ProviderGroup::Other => "Other",
    }
}

impl Deref for ProviderCard {
    type Target = Card;

    fn deref(&self) -> &Card {
        self.card
    }
}

impl ProviderCard {
    /// Returns the kind's own address; empty if the user has to enter it, or if there is none.
    #[must_use]
    pub fn base_url(&self) -> &'static str {
        if self.id == COMPATIBLE || !self.kind.is_http() { "" } else { turnwise_llm::base_url(self.kind) }
    }
}

/// Returns the card for a value of the setting `provider`; `None` for a demo.
#[must_use]
pub fn provider_card(id: &str) -> Option<ProviderCard> {
    cards().find(|card| card.id == id)
}

/// Returns the address that requests go to and that a key is stored for: the configured one, or else the kind's own. One that is
/// refused is returned as it is configured.
#[must_use]
pub fn address(provider: &ProviderConfig) -> String {
    turnwise_llm::server(provider).map_or_else(|_| provider.base_url.trim().to_owned(), |server| server.to_string())
}

/// Returns all that leaves for a model: its whole address, and the options that are added to each request.
/// `gpt-5.4-mini at https://api.openai.com/v1, with {"service_tier":"priority"}`
#[must_use]
pub fn destination(provider: &ProviderConfig) -> String {
    let options = provider.provider_options.as_ref().map(|options| format!(", with {options}")).unwrap_or_default();
    if !provider.kind.is_http() {
        return name(provider) + &options;
    }
    let model = if provider.model.is_empty() { "model" } else { &provider.model };
    format!("{} at {}{}", visible(model), shown_address(provider), visible(&options))
}

/// The whole address, as the URL parser reads it; one that is refused, with all of its characters visible.
fn shown_address(provider: &ProviderConfig) -> String {
    match turnwise_llm::server(provider) {
        Ok(server) => server.to_string(),
        // A draft in the settings, which says in words that there is none yet.
        Err(_) if !provider.base_url.contains([':', '/', '\\', '.']) => visible(&provider.base_url).into_owned(),
        Err(_) => format!("\u{201c}{}\u{201d}, which is not a valid address", visible(&provider.base_url)),
    }
}

/// Returns the provider's name, if nothing can be asked of it without a key. At another address than its own, that is not known.
#[must_use]
pub fn needs_key(provider: &ProviderConfig) -> Option<&'static str> {
    let card = card(provider.kind).filter(|card| card.key == Need::Needed)?;
    (address(provider) == turnwise_llm::base_url(provider.kind)).then_some(card.name)
}

/// Whether a request to the provider leaves this machine, so that it waits while the browser is offline.
#[must_use]
pub fn needs_network(provider: &ProviderConfig) -> bool {
    provider.kind.is_http() && address::space(&self::address(provider)) != AddressSpace::Loopback
}

/// The chip at the task box of a model whose key is missing: `gpt-5.4-mini \u{b7} key needed`.
#[must_use]
pub fn key_needed(provider: &ProviderConfig) -> String {
    let model = if provider.model.is_empty() { name(provider) } else { provider.model.clone() };
    format!("{model} \u{b7} key needed")
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
        (ProviderKind::Demo, Some(DemoMode::Endless)) => "Demo: hits the limit".to_owned(),
        (ProviderKind::Demo, Some(DemoMode::Chaos)) => "Demo: flaky server".to_owned(),
        (ProviderKind::Demo, _) => "Demo (no AI)".to_owned(),
        (ProviderKind::PromptApi, _) => "Chrome's built-in model".to_owned(),
        (ProviderKind::Custom, _) if provider.model.is_empty() => "a model that the page supplies".to_owned(),
        (ProviderKind::Custom, _) => format!("{}, supplied by the page", provider.model),
        _ => match (turnwise_llm::server(provider), provider.model.as_str()) {
            (Ok(server), model) => match (server.host(), model) {
                (Some(host), "") => format!("model at {host}"),
                (Some(host), model) => format!("{model} at {host}"),
                // The address is relative to the page.
                (None, "") => format!("model at {server}"),
                (None, model) => model.to_owned(),
            },
            (Err(_), "") => format!("model at {}", shown_address(provider)),
            (Err(_), model) => format!("{model} at {}", shown_address(provider)),
        },
    }
}

/// Returns the host of an address, with its port; `None`: it is a path, or not a valid address.
#[must_use]
pub fn host(url: &str) -> Option<String> {
    ServerAddress::parse(url).ok()?.host().map(str::to_owned)
}
