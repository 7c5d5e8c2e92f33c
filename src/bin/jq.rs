//! The part of the tools' worker that runs filters of the jq language. The worker starts a new instance for each filter, so
//! that one that runs out of memory harms nothing (`www/parts/jq.js`).
#![allow(unsafe_code)] // wasm-bindgen's expansion

use turnwise::tools::tabular::{SavedFormat, jq};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen::prelude::*;

/// Runs a filter. `save` is the extension of the file to make, or empty. Returns the JSON of what was found
/// (`tools::tabular::Found`), or of `{ "fault": text }`.
#[cfg_attr(target_arch = "wasm32", wasm_bindgen)]
pub fn run(filter: &str, input: &str, save: &str) -> String {
    let format = if save.is_empty() { None } else { SavedFormat::of(&format!(".{save}")).ok() };
    match jq::run(filter, input, format) {
        Ok(found) => serde_json::to_string(&found).unwrap_or_default(),
        Err(fault) => serde_json::json!({ "fault": fault }).to_string(),
    }
}

fn main() {}
