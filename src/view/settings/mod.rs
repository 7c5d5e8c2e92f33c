//! Settings: what the user changed, as text, and the run's configuration made from it.
//!
//! Only differences from the preset are kept, so that a preset's own values can change with a version. No key is ever
//! in here. Invariant: [`Settings::build`] either gives a valid configuration or names every field that is wrong.

mod apply;
mod fields;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Preset, RunConfig, ToolSpec};

pub use fields::{Field, Group, Input, ROWS, Row};

/// What the user changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    changed: BTreeMap<Field, String>,
    tools_off: BTreeSet<String>,
}

/// A value that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    pub field: Field,
    pub message: String,
}

/// Under which key switched-off tools are stored.
const TOOLS_OFF: &str = "tools_off";

impl Settings {
    /// The text of a field: as changed, else the preset's.
    #[must_use]
    pub fn value(&self, field: Field) -> String {
        self.changed.get(&field).cloned().unwrap_or_else(|| apply::text(&RunConfig::preset(self.preset()), field))
    }

    #[must_use]
    pub fn is_on(&self, field: Field) -> bool {
        self.value(field) == "on"
    }

    /// Sets a field; the preset's own value is no change. Choosing a preset takes its limit and its synthesis.
    pub fn set(&mut self, field: Field, value: &str) {
        self.changed.remove(&field);
        if self.value(field) != value {
            self.changed.insert(field, value.to_owned());
        }
        if field == Field::Preset {
            for own in [Field::MaxTurns, Field::SynthesisRole, Field::SynthesisNumbered, Field::SynthesisOnError] {
                self.changed.remove(&own);
            }
        }
    }

    /// Back to the preset, the model kept.
    pub fn reset(&mut self) {
        let model = [Field::Provider, Field::BaseUrl, Field::Model, Field::MaxOutputTokens];
        self.changed.retain(|field, _| model.contains(field));
        self.tools_off.clear();
    }

    #[must_use]
    pub fn preset(&self) -> Preset {
        match self.changed.get(&Field::Preset).map(String::as_str) {
            Some("orchestrator") => Preset::Orchestrator,
            _ => Preset::Research,
        }
    }

    #[must_use]
    pub fn tool_offered(&self, name: &str) -> bool {
        !self.tools_off.contains(name)
    }

    pub fn toggle_tool(&mut self, name: &str) {
        if !self.tools_off.remove(name) {
            self.tools_off.insert(name.to_owned());
        }
    }

    /// What a group is set to, in a few words.
    #[must_use]
    pub fn summary(&self, group: Group) -> String {
        let of = |field: Field| self.value(field);
        match group {
            Group::Counter if self.is_on(Field::Counter) => {
                format!("amber from {}, red from {}", of(Field::ModerateAt), of(Field::UrgentAt))
            }
            Group::Synthesis if self.is_on(Field::Synthesis) => {
                let counted = if self.is_on(Field::SynthesisNumbered) { "counts as a turn" } else { "not counted" };
                format!("{} attempts, {counted}", of(Field::SynthesisAttempts))
            }
            Group::Counter | Group::Synthesis => "off".to_owned(),
            Group::Limits => format!("tools {} s, {} at once", of(Field::ToolTimeout), of(Field::ParallelTools)),
            Group::Retries => format!("{} s doubling up to {} s", of(Field::RetryBase), of(Field::RetryCap)),
            Group::Model | Group::Run => String::new(),
        }
    }

    /// Whether a field has a meaning as the others stand.
    #[must_use]
    pub fn applies(&self, field: Field) -> bool {
        match field {
            Field::BaseUrl | Field::Model | Field::MaxOutputTokens => self.value(Field::Provider) == "openai",
            Field::ModerateAt | Field::UrgentAt => self.is_on(Field::Counter),
            Field::TemplateNormal | Field::TemplateModerate | Field::TemplateUrgent => self.is_on(Field::Counter),
            Field::SynthesisRole | Field::SynthesisNumbered | Field::SynthesisAttempts => self.is_on(Field::Synthesis),
            Field::SynthesisOnError | Field::SynthesisPrompt => self.is_on(Field::Synthesis),
            _ => true,
        }
    }

    /// The configuration, offering those of `tools` that are on; or everything that is wrong.
    pub fn build(&self, tools: Vec<ToolSpec>) -> Result<RunConfig, Vec<FieldError>> {
        let (config, errors) = self.draft(tools);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// As [`Settings::build`]; what is wrong keeps the preset's value.
    #[must_use]
    pub fn draft(&self, tools: Vec<ToolSpec>) -> (RunConfig, Vec<FieldError>) {
        let mut config = RunConfig::preset(self.preset());
        let mut errors = Vec::new();
        for row in ROWS.iter().filter(|row| self.applies(row.field)) {
            if let Err(message) = apply::apply(&mut config, row, &self.value(row.field)) {
                errors.push(FieldError { field: row.field, message });
            }
        }
        errors.extend(apply::contradictions(&config));
        config.tools = tools.into_iter().filter(|tool| self.tool_offered(&tool.name)).collect();
        (config, errors)
    }

    /// As stored: a flat JSON object of texts.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut fields: BTreeMap<&str, String> =
            self.changed.iter().map(|(field, value)| (field.key(), value.clone())).collect();
        if !self.tools_off.is_empty() {
            fields.insert(TOOLS_OFF, self.tools_off.iter().cloned().collect::<Vec<_>>().join(" "));
        }
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// From storage; what is not known any more is dropped.
    #[must_use]
    pub fn from_json(text: &str) -> Self {
        let fields: BTreeMap<String, String> = serde_json::from_str(text).unwrap_or_default();
        let mut settings = Settings::default();
        if let Some(off) = fields.get(TOOLS_OFF) {
            settings.tools_off = off.split(' ').map(ToOwned::to_owned).collect();
        }
        settings.changed =
            fields.into_iter().filter_map(|(key, value)| Field::of_key(&key).map(|field| (field, value))).collect();
        settings
    }
}
