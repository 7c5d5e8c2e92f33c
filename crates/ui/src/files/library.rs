//! The files that the user added: every new thread starts with them. Without any, one with the demo model starts with the sample
//! files. Files that an agent writes stay with its thread.

use std::collections::BTreeMap;

use leptos::prelude::*;
use web_sys::Blob;

use turnwise::worker::Workspace;
use turnwise_content::format::{bytes, counted};
use turnwise_engine::hidden::visible;
use turnwise_tools::path::normalize;

use crate::browser::dom;
use crate::components::toast::Undo;
use crate::files::store::Library;
use crate::files::store::Removed;
use crate::state::{App, Backing, Thread};

/// One file in the drawer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    pub path: String,
    pub size: String,
    /// The agent wrote it.
    pub written: bool,
    /// It came with the app.
    pub sample: bool,
    /// It is in a folder on the user's disk.
    pub on_disk: bool,
}

impl App {
    /// Creates a workspace with the user's files, or with the sample files.
    pub fn new_workspace(&self) -> Workspace {
        if untrack(|| self.reads_samples()) {
            return self.workspace_of_samples();
        }
        let workspace = Workspace::new();
        self.drawer().library.with_value(|library| {
            for (name, handle) in &library.folders {
                workspace.mount(name, handle.clone());
            }
            for (path, blob) in &library.files {
                let _ = workspace.put(path, blob.clone());
            }
        });
        self.watch(&workspace);
        workspace
    }

    /// Creates a workspace with only the sample files.
    pub fn workspace_of_samples(&self) -> Workspace {
        let samples = self.drawer().library.with_value(|library| library.samples.clone());
        self.workspace_of(samples.into_iter().collect())
    }

    /// Creates a workspace for a task that is run again: with the user's files, or with those that came with its example.
    pub fn workspace_again(&self, before: &Workspace) -> Workspace {
        let lent = self.drawer().library.with_value(|library| {
            let is_lent = |path: &str, blob: &Blob| library.lent.get(path) == Some(blob);
            let files = before.list().into_iter().filter_map(|file| Some((before.get(&file.path)?, file.path)));
            files.filter(|(blob, path)| is_lent(path, blob)).map(|(blob, path)| (path, blob)).collect::<Vec<_>>()
        });
        if lent.is_empty() { self.new_workspace() } else { self.workspace_of(lent) }
    }

    /// Creates a workspace with only these files.
    pub fn workspace_of(&self, files: Vec<(String, Blob)>) -> Workspace {
        let workspace = Workspace::new();
        for (path, blob) in &files {
            let _ = workspace.put(path, blob.clone());
        }
        self.drawer().library.update_value(|library| library.lent.extend(files));
        self.watch(&workspace);
        workspace
    }

    fn watch(&self, workspace: &Workspace) {
        let version = self.drawer().version;
        let subscription = workspace.subscribe(move || version.update(|version| *version += 1));
        self.drawer().library.update_value(|library| library.subscriptions.push(subscription));
    }

    /// Adds files of the user, also to the open thread.
    pub fn add_files(&self, files: Vec<(String, Blob)>) {
        let workspace = workspace(self.thread_now());
        let mut added = Vec::new();
        for (path, blob) in files {
            let path = match &workspace {
                Some(workspace) => workspace.put(&path, blob.clone()),
                None => normalize(&path),
            };
            match path {
                Ok(path) => {
                    self.drawer().library.update_value(|library| drop(library.files.insert(path.clone(), blob)));
                    added.push(path);
                }
                Err(error) => self.complain(format!("This file was left out: {error}")),
            }
        }
        self.drawer().version.update(|version| *version += 1);
        self.keep_files(added);
    }

    pub fn remove_file(&self, path: &str) {
        let workspace = workspace(self.thread_now());
        let on_disk = self.is_on_disk(path);
        let from = workspace.and_then(|workspace| Some((workspace.clone(), workspace.get(path)?)));
        if let Some((workspace, _)) = &from {
            workspace.remove(path);
        }
        self.drawer().library.update_value(|library| {
            let own = library.files.remove(path);
            library.removed = Some(Removed { path: path.to_owned(), own, from });
        });
        self.drawer().version.update(|version| *version += 1);
        self.keep_files([path.to_owned()]);
        let name = visible(path);
        let done = if on_disk {
            format!("Removed {name} from the list. It stays on your disk.")
        } else {
            format!("Removed {name}.")
        };
        self.tell_with_undo(done, Some(Undo::File(path.to_owned())));
    }

    /// Removes a file without a word.
    pub fn drop_file(&self, path: &str) {
        if let Some(workspace) = workspace(self.thread_now()) {
            workspace.remove(path);
        }
        self.drawer().library.update_value(|library| drop(library.files.remove(path)));
        self.drawer().version.update(|version| *version += 1);
        self.keep_files([path.to_owned()]);
    }

    /// Puts the removed file back where it was.
    pub fn put_back_file(&self, path: &str) {
        let removed = self.drawer().library.try_update_value(|library| library.removed.take()).flatten();
        let Some(Removed { own, from, .. }) = removed.filter(|removed| removed.path == path) else { return };
        if let Some((workspace, blob)) = from {
            let _ = workspace.put(path, blob);
        }
        if let Some(blob) = own {
            self.drawer().library.update_value(|library| {
                library.files.insert(path.to_owned(), blob);
            });
            self.keep_files([path.to_owned()]);
        }
        self.drawer().version.update(|version| *version += 1);
    }

    /// Returns the files of the open thread, or those that a new one would have.
    pub fn files(&self) -> Vec<FileRow> {
        self.drawer().version.track();
        let workspace = workspace(self.thread());
        let samples = workspace.is_none() && self.reads_samples();
        self.drawer().library.with_value(|library| match workspace {
            Some(workspace) => {
                let rows = workspace.list().into_iter();
                rows.map(|file| {
                    let now = workspace.get(&file.path);
                    let is_from =
                        |files: &BTreeMap<String, Blob>| now.is_some() && files.get(&file.path) == now.as_ref();
                    let sample = is_from(&library.samples);
                    FileRow {
                        on_disk: on_disk(library, &file.path),
                        written: !sample && !is_from(&library.files) && !is_from(&library.lent),
                        sample,
                        size: bytes(file.size),
                        path: file.path,
                    }
                })
                .collect()
            }
            None => {
                let all = if samples { &library.samples } else { &library.files };
                let rows = all.iter().map(|(path, blob)| FileRow {
                    path: path.clone(),
                    size: size(blob),
                    written: false,
                    sample: samples,
                    on_disk: on_disk(library, path),
                });
                rows.collect()
            }
        })
    }

    pub fn file(&self, path: &str) -> Option<Blob> {
        match workspace(self.thread_now()) {
            Some(workspace) => workspace.get(path),
            None => self
                .drawer()
                .library
                .with_value(|library| library.files.get(path).or_else(|| library.samples.get(path)).cloned()),
        }
    }

    /// Returns whether a path is in a folder on the user's disk that is open.
    pub fn is_on_disk(&self, path: &str) -> bool {
        normalize(path).is_ok_and(|path| self.drawer().library.with_value(|library| on_disk(library, &path)))
    }

    /// Downloads a file of the open thread.
    pub fn save_file(&self, path: &str) {
        match self.file(path) {
            Some(blob) => dom::save_as(path.rsplit('/').next().unwrap_or(path), &blob),
            None => self.complain("This file no longer exists."),
        }
    }

    pub fn file_count(&self) -> String {
        self.files().len().to_string()
    }

    /// Describes files, as in `12 files, 48.2 KB`.
    pub fn added(files: &[(String, Blob)]) -> String {
        let total: f64 = files.iter().map(|(_, blob)| blob.size()).sum();
        format!("{}, {}", counted(files.len() as u64, "file"), bytes(whole(total)))
    }
}

pub fn workspace(thread: Option<Thread>) -> Option<Workspace> {
    match thread?.backing {
        Backing::Live { workspace, .. } => Some(Workspace::clone(&workspace)),
        Backing::Plan { workspace, .. } => workspace.map(|workspace| Workspace::clone(&workspace)),
        Backing::Document(_) => None,
    }
}

pub fn on_disk(library: &Library, path: &str) -> bool {
    path.split_once('/').is_some_and(|(name, _)| library.folders.contains_key(name))
}

fn size(blob: &Blob) -> String {
    bytes(whole(blob.size()))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Sizes are whole and positive.
pub fn whole(size: f64) -> u64 {
    size as u64
}
