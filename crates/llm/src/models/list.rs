//! Reads the providers' lists of models, in their various formats.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use turnwise_engine::{Price, ProviderKind};

use super::super::providers::{WireFormat, wire};
use super::table_row;

/// One model of a provider; values that neither its list nor the table contains are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The name used in requests.
    pub id: String,
    /// The display name; the id if there is none.
    pub name: String,
    pub context_tokens: Option<u64>,
    pub price: Option<Price>,
    /// Whether it accepts images.
    pub images: Option<bool>,
}

/// The models of a list that can hold a conversation, sorted by id. `Err`: the response is not a list of models.
///
/// # Errors
/// Why the response is not a list of models, for users.
pub fn read_list(kind: ProviderKind, body: &str) -> Result<Vec<ModelInfo>, String> {
    let value: Value = serde_json::from_str(body).map_err(|_| "the answer is not JSON".to_owned())?;
    let list = [value.get("data"), value.get("models"), Some(&value)].into_iter().flatten().find_map(Value::as_array);
    let list = list.ok_or_else(|| "the answer is not a list of models".to_owned())?;
    let mut models: Vec<ModelInfo> = list.iter().filter_map(|entry| model(kind, entry)).collect();
    models.sort_by(|a, b| a.id.cmp(&b.id));
    models.dedup_by(|a, b| a.id == b.id);
    Ok(models)
}

fn model(kind: ProviderKind, entry: &Value) -> Option<ModelInfo> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(*key)?.as_str());
    let number = |path: &str| entry.pointer(path).and_then(Value::as_u64);
    let id = text(&["id", "name"])?.trim_start_matches("models/");
    if id.is_empty() || !converses(kind, id, entry) {
        return None;
    }
    let table = table_row(kind, id);
    let window = ["/context_length", "/inputTokenLimit", "/max_input_tokens", "/max_context_length", "/meta/n_ctx"];
    let images = entry.pointer("/architecture/input_modalities").and_then(Value::as_array);
    Some(ModelInfo {
        name: text(&["display_name", "displayName"])
            .or(text(&["name"]).filter(|_| wire(kind).lists_chat_models_only))
            .unwrap_or(id)
            .to_owned(),
        context_tokens: window.iter().find_map(|path| number(path)).or(table.map(|facts| facts.context_tokens)),
        price: price(entry).or(table.map(|facts| facts.price)),
        images: images
            .map(|kinds| kinds.iter().any(|kind| kind.as_str() == Some("image")))
            .or(table.map(|facts| facts.images)),
        id: id.to_owned(),
    })
}

/// Whether a model can hold a conversation: the lists also contain models for embeddings, speech and images.
fn converses(kind: ProviderKind, id: &str, entry: &Value) -> bool {
    const OTHERS: [&str; 12] = [
        "embedding",
        "embed-",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "davinci",
        "babbage",
        "image",
        "sora",
        "realtime",
        "transcribe",
    ];
    if let (WireFormat::Gemini, Some(methods)) =
        (wire(kind).format, entry.get("supportedGenerationMethods").and_then(Value::as_array))
    {
        return methods.iter().any(|method| method.as_str() == Some("generateContent"));
    }
    wire(kind).lists_chat_models_only || !OTHERS.iter().any(|word| id.contains(word))
}

/// OpenRouter: US dollars per token, as strings.
fn price(entry: &Value) -> Option<Price> {
    let of = |key: &str| entry.pointer(&format!("/pricing/{key}"))?.as_str()?.parse::<f64>().ok();
    // Rounded to a millionth of a dollar: a price per token is not exact in binary.
    let million = |price: f64| (price * 1e12).round() / 1e6;
    let (input, output) = (of("prompt")?, of("completion")?);
    if input < 0.0 || output < 0.0 {
        return None; // "depends": the entry is a router
    }
    let cached = of("input_cache_read").unwrap_or(input);
    Some(Price { input: million(input), output: million(output), cached: million(cached) })
}
