//! The parts of an ATIF file (1.0 to 1.8) that are shown. Unknown keys are ignored.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
pub struct File {
    pub schema_version: String,
    pub session_id: Option<String>,
    pub trajectory_id: Option<String>,
    pub agent: AtifAgent,
    pub steps: Vec<AtifStep>,
    pub notes: Option<String>,
    pub final_metrics: Option<FinalMetrics>,
    pub extra: Option<Map<String, Value>>,
    pub subagent_trajectories: Option<Vec<File>>,
}

#[derive(Debug, Deserialize)]
pub struct AtifAgent {
    pub name: String,
    pub version: String,
    pub model_name: Option<String>,
    pub tool_definitions: Option<Vec<Value>>,
    pub extra: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
pub struct AtifStep {
    pub timestamp: Option<String>,
    pub source: AtifSource,
    pub message: AtifContent,
    pub reasoning_content: Option<String>,
    pub tool_calls: Option<Vec<AtifToolCall>>,
    pub observation: Option<Observation>,
    pub metrics: Option<Metrics>,
    pub llm_call_count: Option<u32>,
    pub is_copied_context: Option<bool>,
    pub extra: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtifSource {
    System,
    User,
    Agent,
}

/// A text, or a list of parts that may include images and audio (since 1.6).
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum AtifContent {
    Text(String),
    Parts(Vec<AtifPart>),
}

#[derive(Debug, Deserialize)]
pub struct AtifPart {
    #[serde(rename = "type")]
    pub kind: String,
    pub text: Option<String>,
    pub source: Option<Media>,
}

#[derive(Debug, Deserialize)]
pub struct Media {
    pub media_type: Option<String>,
    pub path: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct AtifToolCall {
    pub tool_call_id: String,
    pub function_name: String,
    #[serde(default)]
    pub arguments: Value,
    pub extra: Option<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
pub struct Observation {
    pub results: Vec<ObservationResult>,
}

#[derive(Debug, Deserialize)]
pub struct ObservationResult {
    pub source_call_id: Option<String>,
    pub content: Option<AtifContent>,
    pub subagent_trajectory_ref: Option<Vec<Reference>>,
}

#[derive(Debug, Deserialize)]
pub struct Reference {
    pub trajectory_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Metrics {
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub cached_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
pub struct FinalMetrics {
    pub total_prompt_tokens: Option<u64>,
    pub total_completion_tokens: Option<u64>,
    pub total_cached_tokens: Option<u64>,
    pub extra: Option<Map<String, Value>>,
}

impl AtifContent {
    /// Returns the content as one text, with a label for each part that is not text.
    pub fn text(&self) -> String {
        match self {
            AtifContent::Text(text) => text.clone(),
            AtifContent::Parts(parts) => parts.iter().map(AtifPart::as_text).collect::<Vec<_>>().join("\n\n"),
        }
    }
}

impl AtifPart {
    pub fn as_text(&self) -> String {
        match (&self.text, &self.source) {
            (Some(text), _) => text.clone(),
            (None, Some(source)) => {
                let what = if self.kind == "image" { "picture" } else { &self.kind };
                let path = source.path.as_deref().unwrap_or_default();
                // A data URL holds the bytes and has no name.
                let name = if path.starts_with("data:") || path.is_empty() { "in the file" } else { path };
                let media = source.media_type.as_deref().unwrap_or("of an unknown type");
                format!("[{what}: {name}, {media}]")
            }
            (None, None) => String::new(),
        }
    }
}

/// Reads a field of an `extra`, if it is present and has the right type.
pub fn extra_field<T: DeserializeOwned>(extra: &Map<String, Value>, key: &str) -> Option<T> {
    let value = extra.get(key).filter(|value| !value.is_null())?;
    serde_json::from_value(value.clone()).ok()
}
