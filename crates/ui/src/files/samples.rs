//! The sample files: the project's own documents, so that the first task has something to work on.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gloo_net::http::Request;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use crate::browser::dom;
use crate::browser::storage;
use crate::files::store::Samples;
use crate::state::App;

/// Path of the list of documents, a JSON array written by the build.
const LIST: &str = "docs/files.json";
/// Storage key of the paths that the user removed.
const REMOVED: &str = "turnwise.samples_removed";

/// Calls `f` now, or as soon as the files are loaded.
pub fn when_ready(app: App, f: impl FnOnce() + 'static) {
    if app.drawer().samples.with_value(|samples| samples.ready && samples.kept_ready) {
        f();
    } else {
        app.drawer().samples.update_value(|samples| samples.waiting.push(Box::new(f)));
    }
}

/// Loads all files at once, after the page has loaded, but for those that the user removed. A site may have none.
pub fn load(app: App) {
    spawn_local(async move {
        let list = fetch(LIST).await.unwrap_or_default();
        let names: Vec<String> = serde_json::from_str(&list).unwrap_or_default();
        let removed = removed();
        let paths: Vec<String> = names.into_iter().map(|name| format!("docs/{name}")).collect();
        let paths: Vec<String> = paths.into_iter().filter(|path| !removed.contains(path)).collect();
        let missing = Rc::new(Cell::new(paths.len()));
        let files = Rc::new(RefCell::new(Vec::new()));
        if paths.is_empty() {
            done(app, Vec::new());
        }
        for path in paths {
            let (missing, files) = (missing.clone(), files.clone());
            spawn_local(async move {
                if let Some(blob) = fetch(&path).await.and_then(|text| dom::text_blob(&text, "text/plain")) {
                    files.borrow_mut().push((path, blob));
                }
                missing.set(missing.get().saturating_sub(1));
                if missing.get() == 0 {
                    done(app, files.take());
                }
            });
        }
    });
}

fn done(app: App, files: Vec<(String, Blob)>) {
    if app.drawer().version.try_get_untracked().is_none() {
        return; // the page is gone
    }
    app.drawer().library.update_value(|library| library.samples.extend(files));
    app.drawer().version.update(|version| *version += 1);
    settle(app, |samples| samples.ready = true);
}

/// Notes that files are loaded; what waited for them begins once all are.
pub fn settle(app: App, note: impl FnOnce(&mut Samples)) {
    let waiting = app.drawer().samples.try_update_value(|samples| {
        note(samples);
        if samples.ready && samples.kept_ready { std::mem::take(&mut samples.waiting) } else { Vec::new() }
    });
    for f in waiting.unwrap_or_default() {
        f();
    }
}

/// Loads what the user removed, for good.
pub fn bring_back(app: App) {
    if !removed().is_empty() {
        storage::remove(REMOVED);
        app.drawer().samples.update_value(|samples| samples.ready = false);
        load(app);
    }
}

/// The paths of the files that the user removed, on this visit or an earlier one.
pub fn removed() -> BTreeSet<String> {
    storage::load(REMOVED).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

pub fn set_removed(paths: &BTreeSet<String>) {
    match serde_json::to_string(paths) {
        Ok(text) if !paths.is_empty() => storage::save(REMOVED, &text),
        _ => storage::remove(REMOVED),
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
