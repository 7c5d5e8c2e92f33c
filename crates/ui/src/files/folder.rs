//! A folder of the user's own disk: opened by the browser's picker, read through its handle when a tool asks for a file,
//! written only by calls that the user permits.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::Workspace;
use turnwise_content::format::{bytes, counted};
use turnwise_engine::hidden::visible;
use turnwise_engine::{PermissionRule, Permissions, RunConfig};
use turnwise_protocol::app::HandleId;
use turnwise_tools::folder::LEFT_OUT;
use turnwise_tools::path::normalize;

use crate::browser::scripts::{self, Folder, Found, Opened, Problem, Space};
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::files::library::{whole, workspace};
use crate::state::App;

impl App {
    /// Adds the rules for folders to the configuration of a run.
    pub fn with_folders(&self, mut config: RunConfig) -> RunConfig {
        let folders = untrack(|| self.open_folders());
        if !folders.is_empty() {
            let rules = Permissions { workspace: Some(PermissionRule::Allow), ..Permissions::default() };
            config.permissions.get_or_insert(rules).folders = folders;
        }
        config
    }

    /// The names of the open folders.
    pub fn open_folders(&self) -> Vec<String> {
        self.drawer().version.track();
        self.drawer().library.with_value(|library| library.folders.keys().cloned().collect())
    }

    /// Has the user choose a folder, and adds it.
    pub fn open_folder(self) {
        spawn_local(async move {
            match scripts::pick().await {
                Ok(handle) => self.add_folder(handle).await,
                Err(error) => {
                    let error = error.unchecked_into::<Problem>();
                    if error.name() != "AbortError" {
                        self.complain(format!("The folder was not opened: {}", error.message()));
                    }
                }
            }
        });
    }

    /// Adds a folder, also to the open thread. One of the same name is read again, in every thread that has it.
    async fn add_folder(self, handle: JsValue) {
        let name = handle.unchecked_ref::<Folder>().name();
        let Ok(name) = normalize(&name.replace(['/', '\\'], " ")) else {
            return self.complain("The folder was not opened: its name cannot be part of a path.");
        };
        let known = self.drawer().library.with_value(|library| library.folders.get(&name).cloned());
        // What the user permits for one folder must not reach another.
        if let Some(known) = &known
            && scripts::is_other(&handle, known).await.is_ok_and(|other| other.is_truthy())
        {
            return self.complain(format!("Another folder {name} is open. Close it first."));
        }
        let known = known.is_some();
        let below = format!("{name}/");
        let taken = || self.files().iter().any(|file| file.path == name || file.path.starts_with(&below));
        if !known && taken() {
            return self.complain(format!("The task already has files in a folder {name}. Remove them first."));
        }
        // If it cannot be read, everything stays as it was.
        let found: Found = match scripts::walk(&handle, &LEFT_OUT.join("\n")).await {
            Ok(found) => found.unchecked_into(),
            Err(error) => {
                let why = error.unchecked_into::<Problem>().message();
                return self.complain(format!("The folder {name} could not be read: {why}"));
            }
        };
        let (left_out, folder) = (cut(&found), found.folder());
        let files = found.into_files().into_iter().map(|(path, blob)| (format!("{below}{path}"), blob));
        // Under another path, another file would be written than is read.
        let (files, unnamed): (Vec<_>, Vec<_>) = files.partition(|(path, _)| normalize(path).as_ref() == Ok(path));
        let left_out = left_out.or_else(|| {
            let count = unnamed.len() as u64;
            (count > 0).then(|| format!("Left out: {} whose names cannot be part of a path.", counted(count, "file")))
        });
        let added = App::added(&files);
        let mut having = self.having_folder(&name);
        self.close_folder(&name);
        let open = workspace(self.thread_now());
        if let Some(open) = open.clone().filter(|open| !having.iter().any(|one| one.is(open))) {
            having.push(open);
        }
        self.drawer().library.update_value(|library| drop(library.folders.insert(name.clone(), folder.clone())));
        for workspace in having {
            self.with_line(|line| line.mount(&workspace, &name, &folder));
            if open.as_ref().is_none_or(|open| !open.is(&workspace)) {
                for (path, blob) in &files {
                    let _ = workspace.put(path, blob.clone());
                }
            }
        }
        self.add_files(files);
        self.tell(format!("Opened {}: {added}. {}", visible(&name), left_out.unwrap_or_else(|| HOW.to_owned())));
    }

    /// Takes a folder and its files out of the list and of every thread; the disk stays as it is.
    pub fn close_folder(self, name: &str) {
        let below = format!("{name}/");
        self.drawer().library.update_value(|library| {
            library.folders.remove(name);
            library.files.retain(|path, _| !path.starts_with(&below));
        });
        for workspace in self.having_folder(name) {
            self.with_line(|line| line.unmount(&workspace, name));
        }
        self.drawer().version.update(|version| *version += 1);
    }

    /// The files of the threads in which a folder is open.
    fn having_folder(&self, name: &str) -> Vec<Workspace> {
        let all = self.threads.with_untracked(|threads| {
            threads.iter().filter_map(|thread| workspace(Some(thread.clone()))).collect::<Vec<_>>()
        });
        all.into_iter().filter(|workspace| workspace.folders().iter().any(|(open, _)| open == name)).collect()
    }

    fn with_line(&self, act: impl FnOnce(&crate::client::app_worker::AppWorker)) {
        self.line.with_value(|line| {
            if let Some(line) = line {
                act(line);
            }
        });
    }

    fn read_folder_again(self, name: &str) {
        let folder = self.drawer().library.with_value(|library| library.folders.get(name).cloned());
        if let Some(folder) = folder {
            spawn_local(self.add_folder(folder.unchecked_ref::<Opened>().handle()));
        }
    }

    /// Returns the first of these folders that is not open for a run, such as after a reload.
    pub fn closed_folder(&self, run: HandleId, names: &[String]) -> Option<String> {
        self.drawer().version.track();
        let open = workspace(self.thread_of(run)).map(|workspace| workspace.folders()).unwrap_or_default();
        names.iter().find(|name| open.iter().all(|(open, _)| open != *name)).cloned()
    }

    /// Asks the browser for write access to folders of a run. Needs a click of the user.
    ///
    /// # Errors
    /// A sentence that says why it cannot write to one of them.
    pub async fn may_write(self, run: HandleId, names: &[String]) -> Result<(), String> {
        let open = workspace(untrack(|| self.thread_of(run))).map(|workspace| workspace.folders()).unwrap_or_default();
        for name in names {
            let Some((_, handle)) = open.iter().find(|(open, _)| open == name) else {
                return Err(format!(
                    "The folder {name} is not open any more, so the call was refused. Open it again in Files."
                ));
            };
            let granted = scripts::may_write(handle).await;
            if !granted.is_ok_and(|granted| granted.is_truthy()) {
                return Err(format!("The browser did not permit changes to {name}, so the call was refused."));
            }
        }
        Ok(())
    }
}

const HOW: &str = "Tools read it; changes ask you first.";

/// Says what of a folder is left out.
fn cut(found: &Found) -> Option<String> {
    if found.more() {
        return Some("It has more: the limit is 5,000 files, and the rest is left out.".to_owned());
    }
    let large = u64::from(found.large());
    (large > 0).then(|| format!("Left out: {} beyond the limit of 1 GB for a folder.", counted(large, "file")))
}

/// Draws the button that opens a folder, where the browser has a picker.
pub fn opener(app: App) -> Option<impl IntoView> {
    scripts::has_picker().then(|| {
        button(Look::Quiet)
            .attr("title", "Tools read its files where they are; every change asks you first")
            .on(ev::click, move |_| app.open_folder())
            .child((icon(Icon::Files), "Open a folder"))
    })
}

/// Draws the open folders.
pub fn list(app: App) -> impl IntoView {
    reactive(move || {
        app.drawer().version.track();
        let folders = app.drawer().library.with_value(|library| {
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
    })
}

fn row(app: App, name: &str, count: usize, size: f64) -> impl IntoView + use<> {
    let facts = format!("{}, {}, on your disk", counted(count as u64, "file"), bytes(whole(size)));
    let (again, closed) = (name.to_owned(), name.to_owned());
    html::li().class("folder").child((
        icon(Icon::Files),
        html::span()
            .class("words")
            .child((html::b().child(visible(name).into_owned()), html::span().class("fact").child(facts))),
        button(Look::BareSmall)
            .attr("aria-label", format!("Read again: {name}"))
            .on(ev::click, move |_| app.read_folder_again(&again))
            .child("Read again"),
        button(Look::BareSmall)
            .attr("aria-label", format!("Close: {name}"))
            .on(ev::click, move |_| app.close_folder(&closed))
            .child("Close"),
    ))
}

/// Draws how much the browser stores for the app, and how much it may.
pub fn space() -> impl IntoView {
    let text = RwSignal::new(String::new());
    spawn_local(async move {
        if let Some(found) = estimate().await {
            text.try_set(found);
        }
    });
    html::p().class("fact space").child(reactive(move || text.get()))
}

async fn estimate() -> Option<String> {
    let space: Space = scripts::space().await.ok()?.unchecked_into();
    let (used, quota) = (bytes(whole(space.usage()?)), bytes(whole(space.quota()?)));
    Some(format!("Tasks and their files are stored in this browser: {used} of at most {quota} are used."))
}
