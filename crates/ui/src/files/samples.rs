//! The sample files: the project's own documents, so that the first task has something to work on.

use std::collections::BTreeMap;

use futures_channel::oneshot;
use gloo_net::http::Request;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use crate::browser::dom;
use crate::files::store::Samples;
use crate::state::App;

/// Path of the list of documents, a JSON array written by the build.
const LIST: &str = "docs/files.json";

/// Calls `f` once the files are known that the user added on an earlier visit. A run that is started earlier would not find them.
pub fn when_ready(app: App, f: impl FnOnce() + 'static) {
    wait(app, false, Box::new(f));
}

/// Calls `f` once the sample files are loaded, too.
pub fn when_loaded(app: App, f: impl FnOnce() + 'static) {
    load(app);
    wait(app, true, Box::new(f));
}

fn wait(app: App, for_samples: bool, f: Box<dyn FnOnce()>) {
    app.drawer().samples.update_value(|samples| samples.waiting.push((for_samples, f)));
    settle(app, |_| ());
}

/// Loads the samples as soon as a new run would get them.
pub fn keep(app: App) {
    Effect::new(move || {
        if app.reads_samples() {
            load(app);
        }
    });
}

/// Loads all files at once, unless that was done. A site may have none.
fn load(app: App) {
    let asked = app.drawer().samples.try_update_value(|samples| std::mem::replace(&mut samples.asked, true));
    if asked != Some(false) {
        return;
    }
    spawn_local(async move {
        let list = fetch(LIST).await.unwrap_or_default();
        let names: Vec<String> = serde_json::from_str(&list).unwrap_or_default();
        let asked = names.into_iter().map(|name| {
            let (loaded, file) = oneshot::channel();
            spawn_local(async move {
                let path = format!("docs/{name}");
                let blob = fetch(&path).await.and_then(|text| dom::text_blob(&text, "text/plain"));
                let _ = loaded.send(blob.map(|blob| (path, blob)));
            });
            file
        });
        let mut files = Vec::new();
        for file in asked.collect::<Vec<_>>() {
            files.extend(file.await.ok().flatten());
        }
        if app.drawer().version.try_get_untracked().is_none() {
            return; // the page is gone
        }
        app.drawer().library.update_value(|library| library.samples.extend(files));
        app.drawer().version.update(|version| *version += 1);
        settle(app, |samples| samples.ready = true);
    });
}

/// Notes that files are loaded; what waited for them begins.
pub fn settle(app: App, note: impl FnOnce(&mut Samples)) {
    let due = app.drawer().samples.try_update_value(|samples| {
        note(samples);
        let (ready, kept_ready) = (samples.ready, samples.kept_ready);
        let waiting = std::mem::take(&mut samples.waiting);
        let (due, later) = waiting.into_iter().partition(|(for_samples, _)| kept_ready && (ready || !for_samples));
        samples.waiting = later;
        due
    });
    for (_, f) in due.unwrap_or_else(Vec::new) {
        f();
    }
}

impl App {
    /// Whether a new run would get the sample files: the demo model has nothing else to read. A person's files are never mixed
    /// with them.
    pub fn reads_samples(&self) -> bool {
        self.drawer().version.track();
        self.settings.with(|settings| settings.provider_card().is_none())
            && self.drawer().library.with_value(|library| library.files.is_empty())
    }
}

/// Fetches the files of an example. A JSON file there holds several, by their paths.
///
/// # Errors
/// The path that could not be loaded.
pub async fn of_example(names: &[&str]) -> Result<Vec<(String, Blob)>, String> {
    let mut files = Vec::new();
    for name in names {
        let path = format!("samples/files/{name}");
        if name.ends_with(".json") {
            let text = fetch(&path).await.unwrap_or_default();
            let several: BTreeMap<String, String> = serde_json::from_str(&text).map_err(|_| path)?;
            let blob = |(path, text): (String, String)| Some((path, dom::text_blob(&text, "text/plain")?));
            files.extend(several.into_iter().filter_map(blob));
        } else {
            files.push(((*name).to_owned(), fetch_blob(&path).await.ok_or(path)?));
        }
    }
    Ok(files)
}

async fn fetch_blob(path: &str) -> Option<Blob> {
    let response = Request::get(&dom::beside(path)).send().await.ok().filter(|response| response.ok())?;
    let response = web_sys::Response::from(response);
    JsFuture::from(response.blob().ok()?).await.ok().map(JsCast::unchecked_into)
}

pub async fn fetch(path: &str) -> Option<String> {
    let response = Request::get(&dom::beside(path)).send().await.ok()?;
    if response.ok() { response.text().await.ok() } else { None }
}
