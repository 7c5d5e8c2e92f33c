//! The files that the user added and the sample files: every new thread starts with them. Files that an agent writes stay
//! with its thread.

use std::collections::BTreeMap;

use leptos::prelude::*;
use web_sys::Blob;

use turnwise::worker::Workspace;
use turnwise_content::format::{bytes, counted};
use turnwise_engine::hidden::visible;
use turnwise_tools::path::normalize;

use crate::browser::dom;
use crate::components::toast::Undo;
use crate::files::samples;
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
    /// Creates a workspace with the sample files and the user's own.
    pub fn new_workspace(&self) -> Workspace {
        let workspace = Workspace::new();
        self.drawer().library.with_value(|library| {
            for (name, handle) in &library.folders {
                workspace.mount(name, handle.clone());
            }
            for (path, blob) in library.samples.iter().chain(&library.files) {
                let _ = workspace.put(path, blob.clone());
            }
        });
        self.watch(&workspace);
        workspace
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
            // A file of the user's hides the sample, which comes to light again.
            let sample = if own.is_none() { library.samples.remove(path) } else { None };
            if sample.is_some() {
                let mut paths = samples::removed();
                paths.insert(path.to_owned());
                samples::set_removed(&paths);
            }
            library.removed = Some(Removed { path: path.to_owned(), own, sample, from });
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

    /// Removes all sample files, for later visits too. The agent's changed versions stay with their thread.
    pub fn remove_samples(&self) {
        let workspace = workspace(self.thread_now());
        self.drawer().library.update_value(|library| {
            let mut paths = samples::removed();
            for (path, blob) in std::mem::take(&mut library.samples) {
                if let Some(workspace) =
                    workspace.as_ref().filter(|workspace| workspace.get(&path).as_ref() == Some(&blob))
                {
                    workspace.remove(&path);
                }
                paths.insert(path);
            }
            samples::set_removed(&paths);
        });
        self.drawer().version.update(|version| *version += 1);
        self.tell_with_undo("Removed the sample files.".to_owned(), Some(Undo::Samples));
    }

    /// Puts the removed file back where it was.
    pub fn put_back_file(&self, path: &str) {
        let removed = self.drawer().library.try_update_value(|library| library.removed.take()).flatten();
        let Some(Removed { own, sample, from, .. }) = removed.filter(|removed| removed.path == path) else { return };
        if let Some((workspace, blob)) = from {
            let _ = workspace.put(path, blob);
        }
        if let Some(blob) = own {
            self.drawer().library.update_value(|library| {
                library.files.insert(path.to_owned(), blob);
            });
            self.keep_files([path.to_owned()]);
        }
        if let Some(blob) = sample {
            let mut paths = samples::removed();
            paths.remove(path);
            samples::set_removed(&paths);
            self.drawer().library.update_value(|library| {
                library.samples.insert(path.to_owned(), blob);
            });
        }
        self.drawer().version.update(|version| *version += 1);
    }

    /// Returns the files of the open thread, or those that a new one would have.
    pub fn files(&self) -> Vec<FileRow> {
        self.drawer().version.track();
        let workspace = workspace(self.thread());
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
                let mut all: BTreeMap<&String, (&Blob, bool)> =
                    library.samples.iter().map(|(path, blob)| (path, (blob, true))).collect();
                all.extend(library.files.iter().map(|(path, blob)| (path, (blob, false))));
                let rows = all.into_iter().map(|(path, (blob, sample))| FileRow {
                    path: path.clone(),
                    size: size(blob),
                    written: false,
                    sample,
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
