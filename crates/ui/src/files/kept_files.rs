//! The files that the user added: stored by the worker for later visits, until they are removed. Files of a folder on the disk are not.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::Workspace;
use turnwise_content::format::counted;
use turnwise_engine::hidden::visible;
use turnwise_protocol::AgentFileChange;
use turnwise_protocol::app::{KeptList, Order};

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::components::toast::Undo;
use crate::files::library::on_disk;
use crate::files::samples;
use crate::services;
use crate::skills;
use crate::state::{App, Dialog};

/// Most names in the task box.
const NAMED: usize = 3;

/// Loads the files of earlier visits.
pub fn load(app: App) {
    let Some(line) = app.line.get_value() else { return };
    let workspace = Workspace::new();
    let files = line.with(&workspace).files;
    let (skills, services) = (skills::load(app, &line), services::load(app, &line));
    let loaded = line.ask(move |id| Order::KeptFiles { id, list: KeptList::Files, files }, Vec::new());
    spawn_local(async move {
        let loaded = loaded.await;
        app.drawer().library.update_value(|library| {
            for file in workspace.list() {
                // What was added in the meantime is newer.
                if let Some(blob) = workspace.get(&file.path) {
                    library.files.entry(file.path).or_insert(blob);
                }
            }
        });
        app.drawer().version.update(|version| *version += 1);
        skills.await;
        services.await;
        samples::settle(app, |samples| samples.kept_ready = true);
        if let Err(why) = loaded {
            app.complain(why);
        }
    });
}

impl App {
    /// Stores the files at these paths, and deletes those that were removed. Sends one order at a time, since a file may be removed
    /// while it is being stored.
    pub fn keep_files(&self, paths: impl IntoIterator<Item = String>) {
        let app = *self;
        let busy = self.drawer().library.try_update_value(|library| {
            let paths: Vec<String> = paths.into_iter().filter(|path| !on_disk(library, path)).collect();
            library.unkept.extend(paths);
            std::mem::replace(&mut library.keeping, true)
        });
        let Some(line) = self.line.get_value().filter(|_| busy == Some(false)) else { return };
        spawn_local(async move {
            while let Some((changes, blobs)) = app.unkept_files() {
                if let Err(why) = line.ask(|id| Order::KeepFiles { id, list: KeptList::Files, changes }, blobs).await {
                    app.complain(why);
                }
            }
        });
    }

    fn unkept_files(&self) -> Option<(Vec<AgentFileChange>, Vec<JsValue>)> {
        let next = self.drawer().library.try_update_value(|library| {
            let paths = std::mem::take(&mut library.unkept);
            library.keeping = !paths.is_empty();
            let blob = |path: &String| library.files.get(path).cloned().map(JsValue::from);
            let blobs: Vec<_> = paths.iter().filter_map(blob).collect();
            let change = |path: String| AgentFileChange { there: library.files.contains_key(&path), path };
            (paths.into_iter().map(change).collect::<Vec<_>>(), blobs)
        });
        next.filter(|(changes, _)| !changes.is_empty())
    }

    /// Removes all files that the user added. Threads keep theirs.
    fn remove_own_files(&self) {
        let own = untrack(|| self.own_files());
        let text = format!("Removed your {}.", counted(own.len() as u64, "file"));
        self.drawer().library.update_value(|library| {
            library.removed_own =
                own.iter().filter_map(|path| Some((path.clone(), library.files.remove(path)?))).collect();
        });
        self.drawer().version.update(|version| *version += 1);
        self.keep_files(own);
        self.tell_with_undo(text, Some(Undo::OwnFiles));
    }

    /// Brings them back.
    pub fn put_back_own_files(&self) {
        let removed = self.drawer().library.try_update_value(|library| std::mem::take(&mut library.removed_own));
        self.add_files(removed.unwrap_or_default());
    }

    /// The paths of the files that the user added.
    fn own_files(&self) -> Vec<String> {
        self.drawer().version.track();
        self.drawer()
            .library
            .with_value(|library| library.files.keys().filter(|path| !on_disk(library, path)).cloned().collect())
    }
}

/// Draws a file of the next run: its name opens it.
fn file_chip(app: App, path: String) -> impl IntoView {
    let name = visible(&path).into_owned();
    let about = format!("{name}: kept in this browser until you remove it, and new runs get it");
    let shown = path.clone();
    let open = move || {
        app.drawer().place.set(String::new());
        app.drawer().file.set(Some(shown.clone()));
    };
    chip(app, Icon::File, name, (about, "Remove"), open, move || app.remove_file(&path))
}

/// Draws an open folder of the disk, which the next run gets: its name shows the files.
fn folder_chip(app: App, folder: String) -> impl IntoView {
    let name = visible(&folder).into_owned();
    let about = format!("{name}: a folder of your disk, open until you close it or reload the page");
    let open = move || app.drawer().file.set(None);
    chip(app, Icon::Files, name, (about, "Close"), open, move || app.close_folder(&folder))
}

/// Draws what the next run gets. `words`: about it, and the verb that takes it away.
fn chip(
    app: App,
    symbol: Icon,
    name: String,
    (about, verb): (String, &'static str),
    open: impl Fn() + 'static,
    take_away: impl Fn() + 'static,
) -> impl IntoView {
    let takes_away = format!("{verb} {name}");
    html::span().class("file-chip").child((
        html::button()
            .r#type("button")
            .attr("title", about)
            .on(ev::click, move |_| {
                open();
                app.dialog.set(Some(Dialog::Files));
            })
            .child((icon(symbol), html::span().child(name))),
        html::button()
            .r#type("button")
            .attr("aria-label", takes_away)
            .on(ev::click, move |_| {
                take_away();
                dom::focus(dom::TASK);
            })
            .child(icon(Icon::Close)),
    ))
}

/// Says in the task box of a new run which folders and files of the user it starts with.
pub fn tray(app: App) -> impl IntoView {
    let own = Memo::new(move |_| if app.current.get().is_none() { app.own_files() } else { Vec::new() });
    let folders = Memo::new(move |_| if app.current.get().is_none() { app.open_folders() } else { Vec::new() });
    reactive(move || {
        let (own, folders) = (own.get(), folders.get());
        let any = !own.is_empty() || !folders.is_empty();
        let more = own.len().checked_sub(NAMED).filter(|more| *more > 0);
        let chips = own.iter().take(NAMED).cloned().map(|path| file_chip(app, path)).collect_view();
        let folders = folders.into_iter().map(|folder| folder_chip(app, folder)).collect_view();
        any.then(|| {
            html::div().class("own-files").attr("role", "group").attr("aria-label", "Your files").child((
                folders,
                chips,
                more.map(|more| {
                    button(Look::BareSmall)
                        .on(ev::click, move |_| app.dialog.set(Some(Dialog::Files)))
                        .child(format!("and {more} more"))
                }),
                (own.len() > 1).then(|| {
                    button(Look::BareSmall)
                        .attr("title", "Start without your files")
                        .on(ev::click, move |_| {
                            app.remove_own_files();
                            dom::focus(dom::TASK);
                        })
                        .child("Remove all")
                }),
            ))
        })
    })
}
