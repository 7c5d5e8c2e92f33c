//! What both query tools do: ask an engine, and save a result.

use serde::de::DeserializeOwned;

use crate::read::writable;
use turnwise_files::saved::SavedFormat;
use turnwise_files::{Engine, Files, size_text};

/// Asks an engine and reads its answer.
pub(super) async fn ask<F: Files, A: DeserializeOwned>(
    files: &F,
    engine: Engine,
    request: &serde_json::Value,
    paths: &[&str],
) -> Result<A, String> {
    let answer = files.ask(engine, &request.to_string(), paths).await?;
    serde_json::from_str(&answer).map_err(|error| format!("the engine's answer cannot be read: {error}"))
}

/// The normalized path of `save_as` and its format; `None` if the call saves nothing.
pub(super) fn saved_as<F: Files>(files: &F, save_as: &str) -> Result<Option<(String, SavedFormat)>, String> {
    if save_as.is_empty() {
        return Ok(None);
    }
    let path = writable(files, save_as).map_err(|error| format!("`save_as`: {error}"))?;
    let format = SavedFormat::of(&path)?;
    Ok(Some((path, format)))
}

/// Writes a result and says so.
pub(super) fn save<F: Files>(files: &mut F, path: String, content: String, what: &str) -> String {
    let verb = if files.list().contains_key(&path) { "Replaced" } else { "Wrote" };
    let said = format!("{verb} {path}: {what}, {}", size_text(content.len() as u64));
    files.write(path, content.into_bytes());
    said
}

/// `1 row`, `2,345 rows`.
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// `2,345`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
