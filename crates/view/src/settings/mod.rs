//! Settings: the user's changes, as text, and the run's configuration built from them.
//!
//! Only differences from the preset are kept, so that a preset's own values can change with a version. Settings never
//! contain a key. Invariant: [`UserSettings::build`] returns either a valid configuration or an error for every invalid field.

mod apply;
mod fields;
mod provider;

use std::collections::{BTreeMap, BTreeSet};

use turnwise_engine::{Preset, RunConfig, ToolSpec, own_tools};

use super::provider::Need;
use crate::services::{SearchCard, SearchSettings, WebOptions, WebSettings, search_card};

pub use fields::{ConfigField, FieldInput, Group, ROWS, SettingsRow, SettingsTab};
pub use provider::ProviderAddress;

/// The user's changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserSettings {
    changed: BTreeMap<ConfigField, String>,
    /// Tools that are on although they are off by default, or the reverse.
    tools_toggled: BTreeSet<String>,
    /// The settings of the providers that are not chosen now. For this visit only.
    put_by: BTreeMap<String, BTreeMap<ConfigField, String>>,
    /// The lists of models that providers returned. For this visit only.
    heard: provider::ListedModels,
}

/// A value that cannot be used, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: ConfigField,
    pub message: String,
}

/// The key under which toggled tools are stored.
const TOOLS: &str = "tools_off";

/// Offered only if the user wants them: a model with fewer tools chooses better.
const OFF_BY_DEFAULT: &[&str] = &[own_tools::PROGRESS, own_tools::BATCH, own_tools::SPAWN, own_tools::FETCH_URL];

impl UserSettings {
    /// Returns the text of a field: the user's, or else the preset's.
    #[must_use]
    pub fn value(&self, field: ConfigField) -> String {
        self.changed.get(&field).cloned().unwrap_or_else(|| match (field, self.provider_card()) {
            (ConfigField::Model, Some(card)) => card.model.to_owned(),
            _ => apply::text(&RunConfig::preset(self.preset()), field),
        })
    }

    #[must_use]
    pub fn is_on(&self, field: ConfigField) -> bool {
        self.value(field) == "on"
    }

    /// Sets a field; the preset's own value does not count as a change. Choosing a preset applies its limit and its synthesis.
    /// Choosing a provider restores the settings made for it, and puts away the settings of the previous one.
    pub fn set(&mut self, field: ConfigField, value: &str) {
        if field == ConfigField::Provider {
            self.swap_provider(value);
        }
        self.changed.remove(&field);
        if self.value(field) != value {
            self.changed.insert(field, value.to_owned());
        }
        if field == ConfigField::Preset {
            let own = [
                ConfigField::Synthesis,
                ConfigField::SynthesisRole,
                ConfigField::SynthesisNumbered,
                ConfigField::SynthesisOnError,
            ];
            self.changed.retain(|field, _| *field != ConfigField::MaxTurns && !own.contains(field));
        }
    }

    /// Resets to the preset, but keeps the model, and what reaches the web.
    pub fn reset(&mut self) {
        let kept = |field: &ConfigField| {
            field.row().is_some_and(|row| matches!(row.group, Group::Model | Group::Search | Group::Pages))
        };
        self.put_by.clear();
        self.changed.retain(|field, _| kept(field));
        self.tools_toggled.clear();
    }

    #[must_use]
    pub fn preset(&self) -> Preset {
        match self.changed.get(&ConfigField::Preset).map(String::as_str) {
            Some(key) => Preset::ALL.iter().copied().find(|preset| preset.as_str() == key).unwrap_or_default(),
            None => Preset::default(),
        }
    }

    #[must_use]
    pub fn tool_offered(&self, name: &str) -> bool {
        let is_there = name != own_tools::SEARCH_WEB || self.search_address().is_some();
        is_there && OFF_BY_DEFAULT.contains(&name) == self.tools_toggled.contains(name)
    }

    pub fn toggle_tool(&mut self, name: &str) {
        if !self.tools_toggled.remove(name) {
            self.tools_toggled.insert(name.to_owned());
        }
    }

    /// Returns a short summary of a group's values.
    #[must_use]
    pub fn summary(&self, group: Group) -> String {
        let value = |field: ConfigField| self.value(field);
        match group {
            Group::Counter if self.is_on(ConfigField::Counter) => {
                format!("amber from {}, red from {}", value(ConfigField::ModerateAt), value(ConfigField::UrgentAt))
            }
            Group::Synthesis if self.is_on(ConfigField::Synthesis) => {
                let counted =
                    if self.is_on(ConfigField::SynthesisNumbered) { "counts as a turn" } else { "not counted" };
                format!("{} attempts, {counted}", value(ConfigField::SynthesisAttempts))
            }
            Group::Counter | Group::Synthesis => "off".to_owned(),
            Group::Report => value(ConfigField::ReportFormat),
            Group::Prices => self.prices(),
            Group::Deadlines => format!("{} s for the whole answer", value(ConfigField::RequestTimeout)),
            Group::Retries => {
                format!("{} s doubling up to {} s", value(ConfigField::RetryBase), value(ConfigField::RetryCap))
            }
            Group::Model | Group::Run | Group::Tools | Group::Limits | Group::Search | Group::Pages => String::new(),
        }
    }

    fn prices(&self) -> String {
        let (input, output) = (self.value(ConfigField::PriceInput), self.value(ConfigField::PriceOutput));
        if input.is_empty() && output.is_empty() {
            return "list prices".to_owned();
        }
        let shown = |price: &str| if price.is_empty() { "list price".to_owned() } else { format!("${price}") };
        format!("{} in, {} out", shown(&input), shown(&output))
    }

    /// Returns whether a field applies, given the other fields.
    #[must_use]
    pub fn applies(&self, field: ConfigField) -> bool {
        match field {
            ConfigField::BaseUrl | ConfigField::MaxOutputTokens => {
                self.provider_card().is_some_and(|card| card.kind.is_http())
            }
            ConfigField::Model => self.provider_card().is_some_and(|card| card.model_need != Need::No),
            ConfigField::ModerateAt | ConfigField::UrgentAt => self.is_on(ConfigField::Counter),
            ConfigField::TemplateNormal | ConfigField::TemplateModerate | ConfigField::TemplateUrgent => {
                self.is_on(ConfigField::Counter)
            }
            ConfigField::Synthesis => self.preset() != Preset::Strict,
            ConfigField::SynthesisRole | ConfigField::SynthesisNumbered | ConfigField::SynthesisAttempts => {
                self.synthesizes()
            }
            ConfigField::SynthesisOnError | ConfigField::SynthesisPrompt => self.synthesizes(),
            ConfigField::SearchAddress => self.search_card().is_some(),
            ConfigField::ReportFormat => self.preset() == Preset::Strict,
            ConfigField::ReportSchema => {
                self.preset() == Preset::Strict && self.value(ConfigField::ReportFormat) == "json"
            }
            _ => true,
        }
    }

    /// The search service that is chosen.
    #[must_use]
    pub fn search_card(&self) -> Option<&'static SearchCard> {
        search_card(&self.value(ConfigField::SearchService))
    }

    /// Where searches go; `None`: no service is chosen, or it has no valid address.
    #[must_use]
    pub fn search_address(&self) -> Option<String> {
        let own = apply::address(self.value(ConfigField::SearchAddress).trim()).ok()?;
        let address = if own.is_empty() { self.search_card()?.base_url.to_owned() } else { own };
        self.search_card().map(|_| address).filter(|address| !address.is_empty())
    }

    /// What the page's tools may ask of the web. `key`: that of an address.
    #[must_use]
    pub fn web(&self, key: impl Fn(&str) -> Option<String>) -> WebSettings {
        let search = self.search_card().zip(self.search_address()).map(|(card, base_url)| SearchSettings {
            kind: card.id,
            api_key: key(&base_url),
            base_url,
        });
        let relay = apply::address(self.value(ConfigField::Relay).trim()).ok().filter(|relay| !relay.is_empty());
        let hosts = self.draft(Vec::new()).0.permissions.map(|rules| rules.hosts).unwrap_or_default();
        WebSettings { web: WebOptions { search, relay }, hosts }
    }

    /// Whether requests would name no model, which some servers allow.
    #[must_use]
    pub fn names_no_model(&self) -> bool {
        self.applies(ConfigField::Model) && self.value(ConfigField::Model).trim().is_empty()
    }

    /// Returns whether there is a synthesis; the last turn of a strict run asks for the report instead.
    fn synthesizes(&self) -> bool {
        self.preset() != Preset::Strict && self.is_on(ConfigField::Synthesis)
    }

    /// Returns whether any field of a group applies, given the other fields.
    #[must_use]
    pub fn group_applies(&self, group: Group) -> bool {
        ROWS.iter().any(|row| row.group == group && self.applies(row.field))
    }

    /// Builds the configuration, which offers the `tools` that are on; or returns all errors.
    pub fn build(&self, tools: Vec<ToolSpec>) -> Result<RunConfig, Vec<FieldError>> {
        let (config, errors) = self.draft(tools);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// Like [`UserSettings::build`], but invalid fields keep the preset's value.
    #[must_use]
    pub fn draft(&self, tools: Vec<ToolSpec>) -> (RunConfig, Vec<FieldError>) {
        let mut config = RunConfig::preset(self.preset());
        let mut errors = Vec::new();
        // The model's facts are known only after its rows are read, so these come first.
        let (model, rest): (Vec<&SettingsRow>, Vec<&SettingsRow>) =
            ROWS.iter().filter(|row| self.applies(row.field)).partition(|row| row.group == Group::Model);
        for (rows, is_model) in [(model, true), (rest, false)] {
            for row in rows {
                if let Err(message) = apply::apply(&mut config, row, &self.value(row.field)) {
                    errors.push(FieldError { field: row.field, message });
                }
            }
            if is_model {
                self.missing(&mut errors);
                self.fill_in(&mut config, &errors);
            }
        }
        if self.search_card().is_some_and(|card| card.base_url.is_empty())
            && self.value(ConfigField::SearchAddress).trim().is_empty()
        {
            let message = "Enter the address of your instance, such as https://search.example.org.".to_owned();
            errors.push(FieldError { field: ConfigField::SearchAddress, message });
        }
        errors.extend(apply::contradictions(&config));
        config.tools = tools.into_iter().filter(|tool| self.tool_offered(&tool.name)).collect();
        (config, errors)
    }

    /// Returns the stored form: a flat JSON object of texts.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut fields: BTreeMap<&str, String> =
            self.changed.iter().map(|(field, value)| (field.key(), value.clone())).collect();
        if !self.tools_toggled.is_empty() {
            fields.insert(TOOLS, self.tools_toggled.iter().cloned().collect::<Vec<_>>().join(" "));
        }
        fields.insert(provider::VERSION_KEY, provider::VERSION.to_owned());
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// Reads the stored form; fields that no longer exist are dropped.
    #[must_use]
    pub fn from_json(text: &str) -> Self {
        let mut fields: BTreeMap<String, String> = serde_json::from_str(text).unwrap_or_default();
        provider::migrate(&mut fields);
        let mut settings = UserSettings::default();
        if let Some(toggled) = fields.get(TOOLS) {
            settings.tools_toggled = toggled.split(' ').map(ToOwned::to_owned).collect();
        }
        settings.changed = fields
            .into_iter()
            .filter_map(|(key, value)| ConfigField::of_key(&key).map(|field| (field, value)))
            .collect();
        settings
    }
}
