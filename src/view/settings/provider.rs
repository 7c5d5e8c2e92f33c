//! What belongs to one provider and not to the next: its address, its model, and what is known of that model.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::{ProviderConfig, RunConfig};
use crate::llm;
use crate::llm::models::ModelInfo;

use super::super::models::Known;
use super::super::provider::{COMPATIBLE, ENDPOINTS, Endpoint, Need, address, endpoint};
use super::{Field, FieldError, Settings, apply};

/// The lists of models that providers gave.
pub(super) type Heard = BTreeMap<Whose, Arc<[ModelInfo]>>;

/// A provider at an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whose(String, String);

/// Says from which version stored settings are.
pub(super) const VERSION_KEY: &str = "version";
/// 2: one value of `provider` for each kind. Before, everything but the demo was `openai`.
pub(super) const VERSION: &str = "2";

/// What goes with a provider when another is chosen, and comes back with it.
const OWN: &[Field] = &[
    Field::BaseUrl,
    Field::Model,
    Field::MaxOutputTokens,
    Field::ContextTokens,
    Field::PriceInput,
    Field::PriceOutput,
    Field::PriceCached,
];

impl Settings {
    /// The real model that is chosen; none: a demo.
    #[must_use]
    pub fn endpoint(&self) -> Option<&'static Endpoint> {
        self.changed.get(&Field::Provider).and_then(|id| endpoint(id))
    }

    /// The chosen provider as a run would have it, wrong values left out.
    #[must_use]
    pub fn provider(&self) -> ProviderConfig {
        let mut config = RunConfig::preset(self.preset());
        for field in [Field::Provider, Field::BaseUrl, Field::Model] {
            if let (true, Some(row)) = (self.applies(field), field.row()) {
                let _ = apply::apply(&mut config, row, &self.value(field));
            }
        }
        config.providers.into_iter().next().unwrap_or_default()
    }

    /// Where requests would go: what a key is kept for. None while the address is missing or wrong, so that no key is
    /// kept for another address than the one that was meant.
    #[must_use]
    pub fn address(&self) -> Option<String> {
        let typed = self.value(Field::BaseUrl);
        let row = Field::BaseUrl.row()?;
        let wrong = apply::apply(&mut RunConfig::preset(self.preset()), row, &typed).is_err();
        if wrong || self.lacks_address() { None } else { Some(address(&self.provider())) }
    }

    fn lacks_address(&self) -> bool {
        self.endpoint().is_some_and(|endpoint| endpoint.id == COMPATIBLE)
            && self.value(Field::BaseUrl).trim().is_empty()
    }

    /// Keeps what a provider says of its models. `whose` is [`Settings::whose`] when it was asked.
    pub fn hear(&mut self, whose: Whose, models: Arc<[ModelInfo]>) {
        self.heard.insert(whose, models);
    }

    /// Which provider is chosen, and at which address.
    #[must_use]
    pub fn whose(&self) -> Whose {
        Whose(self.value(Field::Provider), self.address().unwrap_or_default())
    }

    /// What the chosen provider said of its models, in this visit.
    #[must_use]
    pub fn models(&self) -> Option<Arc<[ModelInfo]>> {
        self.heard.get(&self.whose()).cloned()
    }

    /// What is known of the chosen model: by its provider's list, else by the table.
    #[must_use]
    pub fn known(&self) -> Option<Known> {
        self.address()?;
        let provider = self.provider();
        let heard = self.models();
        let listed = heard.iter().flat_map(|list| list.iter()).find(|model| model.id == provider.model);
        listed.map(Known::from).or_else(|| llm::models::known(&provider).map(Known::from))
    }

    pub(super) fn swap_provider(&mut self, next: &str) {
        let now = self.value(Field::Provider);
        if shelf(&now) == shelf(next) {
            return;
        }
        let own: BTreeMap<Field, String> =
            OWN.iter().filter_map(|field| Some((*field, self.changed.remove(field)?))).collect();
        if !own.is_empty() {
            self.put_by.insert(shelf(&now).to_owned(), own);
        }
        self.changed.extend(self.put_by.remove(shelf(next)).unwrap_or_default());
    }

    /// What the chosen provider cannot do without.
    pub(super) fn missing(&self, errors: &mut Vec<FieldError>) {
        let Some(endpoint) = self.endpoint() else { return };
        if self.lacks_address() {
            let message = "Enter the server's base URL, such as https://models.example.org/v1.".to_owned();
            errors.push(FieldError { field: Field::BaseUrl, message });
        }
        if endpoint.model_need == Need::Needed && self.value(Field::Model).trim().is_empty() {
            let message = format!("Enter the {} model to use.", endpoint.name);
            errors.push(FieldError { field: Field::Model, message });
        }
    }

    /// The price and the window that are known; what the user typed comes after it.
    pub(super) fn fill_in(&self, config: &mut RunConfig) {
        let provider = config.providers.first_mut();
        if let (true, Some(provider)) = (self.lacks_address(), provider) {
            // A draft that no run gets, but that is shown: it is not OpenAI's.
            "an address to be set".clone_into(&mut provider.base_url);
        }
        let Some(known) = self.known() else { return };
        if let Some(provider) = config.providers.first_mut() {
            provider.price = known.price;
        }
        config.limits.context_tokens = known.context_tokens;
    }
}

/// The modes of the demo model have one place between them.
fn shelf(id: &str) -> &str {
    if endpoint(id).is_some() { id } else { "demo" }
}

/// Settings of version 1 knew one real provider, with the address of any.
pub(super) fn migrate(fields: &mut BTreeMap<String, String>) {
    let provider = Field::Provider.key();
    if fields.remove(VERSION_KEY).is_some() || fields.get(provider).map(String::as_str) != Some("openai") {
        return;
    }
    let base_url = fields.get(Field::BaseUrl.key()).map_or("", |url| url.trim().trim_end_matches('/')).to_owned();
    let local = base_url.replacen("://127.0.0.1", "://localhost", 1);
    let same = |endpoint: &&Endpoint| !endpoint.base_url().is_empty() && endpoint.base_url() == local;
    let found = ENDPOINTS.iter().find(same).or_else(|| endpoint(COMPATIBLE)).filter(|_| !base_url.is_empty());
    let Some(found) = found else { return };
    fields.insert(provider.to_owned(), found.id.to_owned());
    if found.base_url() == base_url {
        fields.remove(Field::BaseUrl.key());
    }
}
