//! The settings that belong to one provider: its address, its model, and the known facts about that model.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnwise_engine::{ProviderConfig, RunConfig};
use turnwise_llm::models::ModelInfo;

use super::super::models::KnownModel;
use super::super::provider::{COMPATIBLE, Need, ProviderCard, address, cards, provider_card};
use super::{ConfigField, FieldError, UserSettings, apply};

/// The lists of models that providers returned.
pub(super) type ListedModels = BTreeMap<ProviderAddress, Arc<[ModelInfo]>>;

/// A provider at an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderAddress(String, String);

/// The key for the version of stored settings.
pub(super) const VERSION_KEY: &str = "version";
/// 2: one value of `provider` for each kind. Before, everything except the demo was `openai`.
pub(super) const VERSION: &str = "2";

/// The fields that are put away when another provider is chosen, and restored with their provider.
const OWN: &[ConfigField] = &[
    ConfigField::BaseUrl,
    ConfigField::Model,
    ConfigField::MaxOutputTokens,
    ConfigField::ContextTokens,
    ConfigField::PriceInput,
    ConfigField::PriceOutput,
    ConfigField::PriceCached,
];

impl UserSettings {
    /// Returns the card of the chosen provider; `None` for a demo.
    #[must_use]
    pub fn provider_card(&self) -> Option<ProviderCard> {
        self.changed.get(&ConfigField::Provider).and_then(|id| provider_card(id))
    }

    /// Returns the chosen provider as a run would use it, without invalid values.
    #[must_use]
    pub fn provider(&self) -> ProviderConfig {
        let mut config = RunConfig::preset(self.preset());
        for field in [ConfigField::Provider, ConfigField::BaseUrl, ConfigField::Model] {
            if let (true, Some(row)) = (self.applies(field), field.row()) {
                let _ = apply::apply(&mut config, row, &self.value(field));
            }
        }
        config.providers.into_iter().next().unwrap_or_default()
    }

    /// Returns the address that requests would go to and that a key is stored for. `None` while the address is missing or
    /// invalid, so that no key is stored for an address that the user did not mean.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        let typed = self.value(ConfigField::BaseUrl);
        let row = ConfigField::BaseUrl.row()?;
        let wrong = apply::apply(&mut RunConfig::preset(self.preset()), row, &typed).is_err();
        if wrong || self.lacks_address() { None } else { Some(address(&self.provider())) }
    }

    /// The address as it is used, with the scheme that was left out; `None`: it is empty or wrong, or needs nothing.
    #[must_use]
    pub fn whole_address(&self) -> Option<String> {
        let typed = self.value(ConfigField::BaseUrl);
        let whole = self.address().filter(|_| !typed.trim().is_empty() && !typed.contains("://"))?;
        Some(whole)
    }

    fn lacks_address(&self) -> bool {
        self.provider_card().is_some_and(|card| card.id == COMPATIBLE)
            && self.value(ConfigField::BaseUrl).trim().is_empty()
    }

    /// Stores a provider's list of models. `whose` is the value of [`UserSettings::whose`] at the time of the request.
    pub fn hear(&mut self, whose: ProviderAddress, models: Arc<[ModelInfo]>) {
        self.heard.insert(whose, models);
    }

    /// Returns the chosen provider and its address.
    #[must_use]
    pub fn whose(&self) -> ProviderAddress {
        ProviderAddress(self.value(ConfigField::Provider), self.address().unwrap_or_default())
    }

    /// Returns the list of models that the chosen provider returned during this visit.
    #[must_use]
    pub fn models(&self) -> Option<Arc<[ModelInfo]>> {
        self.heard.get(&self.whose()).cloned()
    }

    /// Returns the known facts about the chosen model, from its provider's list or else from the table.
    #[must_use]
    pub fn known(&self) -> Option<KnownModel> {
        self.address()?;
        let provider = self.provider();
        let heard = self.models();
        let listed = heard.iter().flat_map(|list| list.iter()).find(|model| model.id == provider.model);
        listed.map(KnownModel::from).or_else(|| turnwise_llm::models::table_row_of(&provider).map(KnownModel::from))
    }

    pub(super) fn swap_provider(&mut self, next: &str) {
        let now = self.value(ConfigField::Provider);
        if shelf(&now) == shelf(next) {
            return;
        }
        let own: BTreeMap<ConfigField, String> =
            OWN.iter().filter_map(|field| Some((*field, self.changed.remove(field)?))).collect();
        if !own.is_empty() {
            self.put_by.insert(shelf(&now).to_owned(), own);
        }
        self.changed.extend(self.put_by.remove(shelf(next)).unwrap_or_default());
    }

    /// Adds an error for each missing field that the chosen provider requires.
    pub(super) fn missing(&self, errors: &mut Vec<FieldError>) {
        let Some(card) = self.provider_card() else { return };
        if self.lacks_address() {
            let message = "Enter the server's base URL, such as https://models.example.org/v1.".to_owned();
            errors.push(FieldError { field: ConfigField::BaseUrl, message });
        }
        if card.model_need == Need::Needed && self.value(ConfigField::Model).trim().is_empty() {
            let message = format!("Enter the {} model to use.", card.name);
            errors.push(FieldError { field: ConfigField::Model, message });
        }
    }

    /// Fills in the known price and context window; the user's own values are applied afterwards.
    pub(super) fn fill_in(&self, config: &mut RunConfig, errors: &[FieldError]) {
        let wrong_address = errors.iter().any(|error| error.field == ConfigField::BaseUrl);
        if let (true, Some(provider)) = (wrong_address, config.providers.first_mut()) {
            // No run uses this draft, but it is shown, and must not show OpenAI's address.
            let address =
                if self.lacks_address() { "an address that is not set yet" } else { "an address that is not valid" };
            address.clone_into(&mut provider.base_url);
        }
        let Some(known) = self.known() else { return };
        if let Some(provider) = config.providers.first_mut() {
            provider.price = known.price;
        }
        config.limits.context_tokens = known.context_tokens;
    }
}

/// Returns the key under which a provider's settings are put away; all modes of the demo model share one.
fn shelf(id: &str) -> &str {
    if provider_card(id).is_some() { id } else { "demo" }
}

/// Migrates settings of version 1, which had one real provider with any address.
pub(super) fn migrate(fields: &mut BTreeMap<String, String>) {
    let provider = ConfigField::Provider.key();
    if fields.remove(VERSION_KEY).is_some() || fields.get(provider).map(String::as_str) != Some("openai") {
        return;
    }
    let base_url = fields.get(ConfigField::BaseUrl.key()).map_or("", |url| url.trim().trim_end_matches('/')).to_owned();
    let local = base_url.replacen("://127.0.0.1", "://localhost", 1);
    let same = |card: &ProviderCard| !card.base_url().is_empty() && card.base_url() == local;
    let found = cards().find(same).or_else(|| provider_card(COMPATIBLE)).filter(|_| !base_url.is_empty());
    let Some(found) = found else { return };
    fields.insert(provider.to_owned(), found.id.to_owned());
    if found.base_url() == base_url {
        fields.remove(ConfigField::BaseUrl.key());
    }
}
