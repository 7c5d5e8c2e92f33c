//! The parts of the worker that load on first use (`www/worker-parts.js`): readers of documents.

use js_sys::Uint8Array;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use turnwise_files::document::{Container, Document};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = convert)]
    async fn convert_package(bytes: &Uint8Array, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = pdf)]
    async fn convert_pdf(bytes: &Uint8Array, most_ms: f64) -> Result<JsValue, JsValue>;
}

/// What a part says besides the document.
#[derive(Deserialize)]
struct ReadExtent {
    #[serde(default)]
    late: bool,
}

/// The text of a document, and whether the rest of it was not read for lack of time: reading stops after `most_ms`.
///
/// # Errors
/// A sentence without the file's name that says why it has none.
pub async fn document(
    container: Container,
    bytes: &Uint8Array,
    name: &str,
    most_ms: f64,
) -> Result<(Document, bool), String> {
    let converted = match container {
        Container::Pdf => convert_pdf(bytes, most_ms).await,
        Container::Package => convert_package(bytes, name).await,
    };
    let json = converted.map_err(|error| sentence(&error))?;
    let json = json.as_string().unwrap_or_default();
    let invalid = |error| format!("the text that was read of it is not valid: {error}");
    let document = serde_json::from_str(&json).map_err(invalid)?;
    let ReadExtent { late } = serde_json::from_str(&json).map_err(invalid)?;
    Ok((document, late))
}

/// A part throws a string, or an error with a message. Any other error is a trap of its module: out of memory or stack.
fn sentence(error: &JsValue) -> String {
    if let Some(text) = error.as_string() {
        return text;
    }
    let name = js_sys::Error::from(error.clone()).name();
    if name == "RuntimeError" || name == "RangeError" {
        return "it could not be read: it is damaged, or needs more memory than a document may".to_owned();
    }
    String::from(js_sys::Error::from(error.clone()).message())
}
