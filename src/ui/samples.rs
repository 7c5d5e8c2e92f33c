//! The sample files: the project's own documents, so that the first task has something to work over.

use gloo_net::http::Request;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use super::dom;
use super::state::App;

/// Names the documents, as a JSON array; written by the build.
const LIST: &str = "docs/files.json";

/// Brings them in once the page stands. A site without them simply has none.
pub fn load(app: App) {
    spawn_local(async move {
        let names: Vec<String> = match fetch(LIST).await {
            Some(text) => serde_json::from_str(&text).unwrap_or_default(),
            None => return,
        };
        let mut files: Vec<(String, Blob)> = Vec::new();
        for name in names {
            let path = format!("docs/{name}");
            if let Some(blob) = fetch(&path).await.and_then(|text| dom::text_blob(&text, "text/plain")) {
                files.push((path, blob));
            }
        }
        if app.files_version.try_get_untracked().is_some() {
            app.add_files(files);
        }
    });
}

async fn fetch(path: &str) -> Option<String> {
    let response = Request::get(&dom::beside(path)).send().await.ok()?;
    if response.ok() { response.text().await.ok() } else { None }
}
