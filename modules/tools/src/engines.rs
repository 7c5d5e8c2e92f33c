//! The engines of the query tools, which the worker loads on first use (`www/worker-parts.js`).

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use turnwise_files::Engine;

/// Asks an engine; the request and the answer are JSON.
///
/// # Errors
/// Why the engine could not be loaded or failed.
pub(super) async fn ask(engine: Engine, request: &str, files: &[Blob]) -> Result<String, String> {
    let blobs = files.iter().collect::<Array>();
    let asked = match engine {
        Engine::Sql => sql(request, &blobs),
        Engine::Jq => jq(request, &blobs),
    };
    let failed = |error: JsValue| format!("the query could not run: {}", message(&error));
    let answer = JsFuture::from(asked.map_err(failed)?).await.map_err(failed)?;
    answer.as_string().ok_or_else(|| "the query could not run: its engine returned nothing".to_owned())
}

fn message(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(
        || error.as_string().unwrap_or_else(|| format!("{error:?}")),
        |error| String::from(error.message()),
    )
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = turnwiseParts, catch)]
    fn sql(request: &str, files: &Array) -> Result<Promise, JsValue>;
    #[wasm_bindgen(js_namespace = turnwiseParts, catch)]
    fn jq(request: &str, files: &Array) -> Result<Promise, JsValue>;
}
