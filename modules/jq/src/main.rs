//! The part of the tools' worker that runs filters of the jq language. After one that ran
//! out of memory, or used much of it, the next filter gets a new instance (`www/worker-parts.js`).
#![allow(unsafe_code)] // wasm-bindgen's expansion

use turnwise_files::saved::SavedFormat;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::*;

/// Runs a filter. `save` is the extension of the file to make, or empty. Returns the JSON of what was found
/// (`turnwise_files::saved::QueryResult`), or of `{ "fault": text }`.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
pub fn run(filter: &str, input: &str, save: &str) -> String {
    let format = if save.is_empty() { None } else { SavedFormat::of(&format!(".{save}")).ok() };
    match turnwise_jq::run(filter, input, format) {
        Ok(found) => serde_json::to_string(&found).unwrap_or_default(),
        Err(fault) => serde_json::json!({ "fault": fault }).to_string(),
    }
}

fn main() {}
