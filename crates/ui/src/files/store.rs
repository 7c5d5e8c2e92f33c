//! The files of the user and the samples, and the one that is shown.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::Blob;

use turnwise::worker::Workspace;
use turnwise::worker::workspace::Subscription;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct FilesStore {
    /// The file shown in the files drawer.
    pub file: RwSignal<Option<String>>,
    /// The place in it, such as `page 7`; empty: its beginning.
    pub place: RwSignal<String>,
    /// Incremented with every change of any workspace.
    pub version: RwSignal<u64>,
    pub library: StoredValue<Library, LocalStorage>,
    pub samples: StoredValue<Samples, LocalStorage>,
}

impl Default for FilesStore {
    fn default() -> Self {
        FilesStore {
            file: RwSignal::new(None),
            place: RwSignal::new(String::new()),
            version: RwSignal::new(0),
            library: StoredValue::new_local(Library::default()),
            samples: StoredValue::new_local(Samples::default()),
        }
    }
}

impl App {
    pub fn drawer(&self) -> FilesStore {
        self.store()
    }
}

/// The files that the user added, by path, as handles.
#[derive(Debug, Default)]
pub struct Library {
    pub files: BTreeMap<String, Blob>,
    /// The sample files, once they were needed.
    pub samples: BTreeMap<String, Blob>,
    /// Documents that came with an example, only for its thread.
    pub lent: BTreeMap<String, Blob>,
    /// Folders on the user's disk by name, as handles. Their files are among `files`, below the name.
    pub folders: BTreeMap<String, JsValue>,
    pub subscriptions: Vec<Subscription>,
    /// The last file that was removed, for Undo.
    pub removed: Option<Removed>,
    /// The files that were removed all at once, for Undo.
    pub removed_own: Vec<(String, Blob)>,
    /// The paths whose change has to be stored.
    pub unkept: BTreeSet<String>,
    /// Changes are being stored.
    pub keeping: bool,
}

/// A removed file, as it was in the open thread, and among the user's own files.
#[derive(Clone, Debug)]
pub struct Removed {
    pub path: String,
    pub own: Option<Blob>,
    pub from: Option<(Workspace, Blob)>,
}

/// Whether the sample files were asked for and are loaded, whether those are that the user added on an earlier visit, and what
/// waits for that.
#[derive(Default)]
pub struct Samples {
    pub asked: bool,
    pub ready: bool,
    pub kept_ready: bool,
    /// The flag: for the sample files too.
    pub waiting: Vec<(bool, Box<dyn FnOnce()>)>,
}

impl std::fmt::Debug for Samples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Samples {{ ready: {}, waiting: {} }}", self.ready, self.waiting.len())
    }
}
