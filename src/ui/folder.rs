//! A folder of the user's own disk: opened by the browser's picker, read through its handle when a tool asks for a file,
//! written only by calls that the user permits.

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use crate::content::format::{bytes, counted};
use crate::engine::{Permissions, Rule, RunConfig};
use crate::tools::path::normalize;

use super::dom;
use super::drop::LEFT_OUT;
use super::icon::{Icon, icon};
use super::library::{whole, workspace};
use super::state::App;

/// Maximum number of files of one folder.
const MOST_FILES: usize = 5_000;
/// Maximum size of the files of one folder together, in bytes.
const MOST_BYTES: f64 = 1_073_741_824.0;

/// The files found in a folder.
struct Found {
    files: Vec<(String, Blob)>,
    /// Why not all of them are there.
    cut: Option<String>,
}

impl App {
    /// Adds the rules for folders to the configuration of a run.
    pub(super) fn with_folders(&self, mut config: RunConfig) -> RunConfig {
        let folders: Vec<String> = self.library.with_value(|library| library.folders.keys().cloned().collect());
        if !folders.is_empty() {
            let rules = Permissions { workspace: Some(Rule::Allow), ..Permissions::default() };
            config.permissions.get_or_insert(rules).folders = folders;
        }
        config
    }

    /// Has the user choose a folder, and adds it.
    pub(super) fn open_folder(self) {
        let Some(picker) = picker() else { return };
        let options = Object::new();
        let _ = Reflect::set(&options, &"mode".into(), &"read".into());
        // The picker needs the click that led here, so it is called before anything waits.
        let chosen = picker.call1(&dom::window(), &options);
        spawn_local(async move {
            let chosen = match chosen.map(JsCast::unchecked_into::<Promise>) {
                Ok(promise) => JsFuture::from(promise).await,
                Err(error) => Err(error),
            };
            match chosen {
                Ok(handle) => self.add_folder(handle).await,
                Err(error) if text(&error, "name") == "AbortError" => {}
                Err(error) => self.complain(format!("The folder was not opened: {}", text(&error, "message"))),
            }
        });
    }

    async fn add_folder(self, handle: JsValue) {
        let name = text(&handle, "name");
        let Ok(name) = normalize(&name.replace(['/', '\\'], " ")) else {
            return self.complain("The folder was not opened: its name cannot be part of a path.");
        };
        if self.library.with_value(|library| library.folders.contains_key(&name)) {
            self.close_folder(&name);
        }
        let taken = self.files().iter().any(|file| file.path == name || file.path.starts_with(&format!("{name}/")));
        if taken {
            return self.complain(format!("The task already has files in a folder {name}. Remove them first."));
        }
        let found = match walk(&handle, &name).await {
            Ok(found) => found,
            Err(error) => {
                return self.complain(format!("The folder {name} could not be read: {}", text(&error, "message")));
            }
        };
        let Found { files, cut } = found;
        let added = App::added(&files);
        self.library.update_value(|library| drop(library.folders.insert(name.clone(), handle.clone())));
        if let (Some(workspace), Some(line)) = (workspace(self.thread_now()), self.line.get_value()) {
            line.mount(&workspace, &name, &handle);
        }
        self.add_files(files);
        self.tell(match cut {
            None => format!("Opened {name}: {added}. Tools read it; changes ask you first."),
            Some(cut) => format!("Opened {name}: {added}. {cut}"),
        });
    }

    /// Takes a folder and its files out of the list; the disk stays as it is.
    fn close_folder(self, name: &str) {
        let below = format!("{name}/");
        self.library.update_value(|library| {
            library.folders.remove(name);
            library.files.retain(|path, _| !path.starts_with(&below));
        });
        if let (Some(workspace), Some(line)) = (workspace(self.thread_now()), self.line.get_value()) {
            line.unmount(&workspace, name);
        }
        self.files_version.update(|version| *version += 1);
    }

    fn read_folder_again(self, name: &str) {
        let handle = self.library.with_value(|library| library.folders.get(name).cloned());
        if let Some(handle) = handle {
            spawn_local(self.add_folder(handle));
        }
    }

    /// Asks the browser for write access to a folder; true if it has it. Needs a click of the user.
    pub(super) async fn may_write(self, name: &str) -> bool {
        let handle = self.library.with_value(|library| library.folders.get(name).cloned());
        let Some(handle) = handle else { return true };
        let Ok(request) = Reflect::get(&handle, &"requestPermission".into()).and_then(JsCast::dyn_into::<Function>)
        else {
            return true;
        };
        let options = Object::new();
        let _ = Reflect::set(&options, &"mode".into(), &"readwrite".into());
        let Ok(answer) = request.call1(&handle, &options).and_then(JsCast::dyn_into::<Promise>) else { return false };
        JsFuture::from(answer).await.is_ok_and(|answer| answer.as_string().as_deref() == Some("granted"))
    }
}

/// Draws the button that opens a folder, where the browser has a picker.
pub fn button(app: App) -> Option<impl IntoView> {
    picker().map(|_| {
        html::button()
            .r#type("button")
            .class("btn quiet")
            .attr("title", "Tools read its files where they are; every change asks you first")
            .on(ev::click, move |_| app.open_folder())
            .child((icon(Icon::Files), "Open a folder"))
    })
}

/// Draws the open folders.
pub fn list(app: App) -> impl IntoView {
    move || {
        app.files_version.track();
        let folders = app.library.with_value(|library| {
            let figures = |name: &String| {
                let below = format!("{name}/");
                let files = library.files.iter().filter(|(path, _)| path.starts_with(&below));
                let sizes: Vec<f64> = files.map(|(_, blob)| blob.size()).collect();
                (name.clone(), sizes.len(), sizes.iter().sum::<f64>())
            };
            library.folders.keys().map(figures).collect::<Vec<_>>()
        });
        let rows = folders.into_iter().map(|(name, count, size)| row(app, &name, count, size)).collect::<Vec<_>>();
        (!rows.is_empty()).then(|| html::ul().class("folders").attr("aria-label", "Open folders").child(rows))
    }
}

fn row(app: App, name: &str, count: usize, size: f64) -> impl IntoView + use<> {
    let facts = format!("{}, {}, on your disk", counted(count as u64, "file"), bytes(whole(size)));
    let (again, closed) = (name.to_owned(), name.to_owned());
    html::li().class("folder").child((
        icon(Icon::Files),
        html::span().class("words").child((html::b().child(name.to_owned()), html::span().class("fact").child(facts))),
        html::button()
            .r#type("button")
            .class("btn bare small")
            .attr("aria-label", format!("Read again: {name}"))
            .on(ev::click, move |_| app.read_folder_again(&again))
            .child("Read again"),
        html::button()
            .r#type("button")
            .class("btn bare small")
            .attr("aria-label", format!("Close: {name}"))
            .on(ev::click, move |_| app.close_folder(&closed))
            .child("Close"),
    ))
}

fn picker() -> Option<Function> {
    Reflect::get(&dom::window(), &"showDirectoryPicker".into()).ok()?.dyn_into().ok()
}

/// Returns the files below a folder. They are references: nothing is read from them yet.
async fn walk(handle: &JsValue, name: &str) -> Result<Found, JsValue> {
    let mut found = Found { files: Vec::new(), cut: None };
    let mut size = 0.0;
    let mut open = vec![(handle.clone(), name.to_owned())];
    while let Some((folder, path)) = open.pop() {
        let values: Function = Reflect::get(&folder, &"values".into())?.dyn_into()?;
        let entries = values.call0(&folder)?;
        let next: Function = Reflect::get(&entries, &"next".into())?.dyn_into()?;
        loop {
            let step = JsFuture::from(next.call0(&entries)?.dyn_into::<Promise>()?).await?;
            if Reflect::get(&step, &"done".into())?.is_truthy() {
                break;
            }
            let entry = Reflect::get(&step, &"value".into())?;
            let entry_name = text(&entry, "name");
            if LEFT_OUT.contains(&entry_name.as_str()) {
                continue;
            }
            let below = format!("{path}/{entry_name}");
            if text(&entry, "kind") == "directory" {
                open.push((entry, below));
                continue;
            }
            let file = call(&entry, "getFile").await;
            // A file that cannot be opened now is left out, such as one that another program holds.
            let Ok(Ok(blob)) = file.map(JsCast::dyn_into::<Blob>) else { continue };
            size += blob.size();
            if found.files.len() >= MOST_FILES || size > MOST_BYTES {
                let limit =
                    if size > MOST_BYTES { bytes(whole(MOST_BYTES)) } else { counted(MOST_FILES as u64, "file") };
                found.cut = Some(format!("It has more: the limit is {limit}, and the rest is left out."));
                return Ok(found);
            }
            found.files.push((below, blob));
        }
    }
    Ok(found)
}

async fn call(object: &JsValue, method: &str) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    JsFuture::from(function.apply(object, &Array::new())?.dyn_into::<Promise>()?).await
}

fn text(object: &JsValue, key: &str) -> String {
    Reflect::get(object, &key.into()).ok().and_then(|value| value.as_string()).unwrap_or_default()
}

/// Draws how much the browser stores for the app, and how much it may.
pub fn space() -> impl IntoView {
    let text = RwSignal::new(String::new());
    spawn_local(async move {
        if let Some(found) = estimate().await {
            text.try_set(found);
        }
    });
    html::p().class("fact space").child(move || text.get())
}

async fn estimate() -> Option<String> {
    let storage = Reflect::get(&dom::window().navigator(), &"storage".into()).ok()?;
    let estimate = call(&storage, "estimate").await.ok()?;
    let figure = |key: &str| Reflect::get(&estimate, &key.into()).ok().and_then(|value| value.as_f64());
    let (used, quota) = (figure("usage")?, figure("quota")?);
    let (used, quota) = (bytes(whole(used)), bytes(whole(quota)));
    Some(format!("Tasks and their files are stored in this browser: {used} of at most {quota} are used."))
}
