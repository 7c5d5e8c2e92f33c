//! The models that runs have used, for the switcher at the task box. Their keys are not here.

use serde::{Deserialize, Serialize};

use turnwise_view::provider::{host, provider_card};

use crate::browser::storage;

const STORED: &str = "turnwise.models";
/// The number of models that are remembered.
pub const MOST: usize = 6;

/// A model, as the texts of its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedModel {
    pub provider: String,
    pub base_url: String,
    pub model: String,
}

impl UsedModel {
    /// `gpt-5-mini · OpenAI`, `qwen3 · localhost:8000`
    pub fn name(&self) -> String {
        let card = provider_card(&self.provider).map_or(self.provider.as_str(), |card| card.name);
        let host = host(&self.base_url);
        let place = host.as_deref().unwrap_or(card);
        if self.model.is_empty() { place.to_owned() } else { format!("{} \u{b7} {place}", self.model) }
    }
}

/// Loads the models of earlier visits, the last used first.
pub fn load() -> Vec<UsedModel> {
    storage::load(STORED).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

pub fn save(used: &[UsedModel]) {
    if let Ok(text) = serde_json::to_string(used) {
        storage::save(STORED, &text);
    }
}
