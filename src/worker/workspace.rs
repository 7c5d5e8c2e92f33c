//! The run's workspace on the page's side: the authoritative set of its files, as `Blob` handles, so that contents stay out
//! of wasm memory. Paths are normalized (`turnwise_tools::path`). Workers hold copies of the handles and receive the changes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use super::disk::DiskFolder;
use super::writes::{LookedAt, Write, WritePlace, WriteTarget};
use turnwise_protocol::tool_worker::FileChange;
use turnwise_tools::path::{PathError, RESULTS, normalize, result_path};

/// A shared handle to one workspace.
#[derive(Clone)]
pub struct Workspace {
    inner: Rc<RefCell<WorkspaceState>>,
    /// The run's own folder for the full text of truncated tool results: call ids are unique only within one run.
    scope: Option<Rc<str>>,
    make_target: MakeTarget,
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace { inner: Rc::default(), scope: None, make_target: in_memory }
    }
}

#[derive(Default)]
struct WorkspaceState {
    entries: BTreeMap<String, WorkspaceEntry>,
    version: u64,
    listeners: Vec<Weak<dyn Fn()>>,
    /// Folders on the user's disk by name, as `www/app/folder.js` describes them: the files below them are not copies.
    folders: BTreeMap<String, JsValue>,
}

struct WorkspaceEntry {
    /// The workspace version when this entry last changed.
    version: u64,
    /// `None`: removed; the entry is kept so that workers can be informed.
    blob: Option<Blob>,
}

/// One file, for views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    pub path: String,
    /// In bytes.
    pub size: u64,
    pub version: u64,
}

/// Ends the subscription when dropped.
pub struct Subscription {
    _listener: Rc<dyn Fn()>,
}

impl Workspace {
    #[must_use]
    pub fn new() -> Self {
        Workspace::default()
    }

    /// A workspace whose files are written elsewhere, too.
    #[must_use]
    pub(super) fn writing_to(make_target: MakeTarget) -> Self {
        Workspace { make_target, ..Workspace::default() }
    }

    /// Where calls write. `folders`: those on the user's disk in the run's rules, also those that are not open.
    pub(super) fn target(&self, folders: Vec<String>) -> Box<dyn WriteTarget> {
        (self.make_target)(self.clone(), folders)
    }

    /// Returns whether both handles refer to the same workspace.
    #[must_use]
    pub fn is(&self, other: &Workspace) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }

    /// Returns the same files with a separate folder for the full text of truncated tool results. For concurrent runs.
    #[must_use]
    pub fn scoped(&self, scope: &str) -> Self {
        Workspace { scope: Some(format!("{RESULTS}{scope}/").into()), ..self.clone() }
    }

    /// Returns all files by path, without the full text of truncated tool results.
    #[must_use]
    pub fn list(&self) -> Vec<FileEntry> {
        let inner = self.inner.borrow();
        let present =
            inner.entries.iter().filter_map(|(path, entry)| Some((path, entry.version, entry.blob.as_ref()?)));
        present
            .filter(|(path, ..)| !path.starts_with(RESULTS))
            .map(|(path, version, blob)| FileEntry { path: path.clone(), size: size(blob), version })
            .collect()
    }

    /// Adds or replaces a file by its handle (a dropped `File` is a `Blob`), and returns its normalized path.
    ///
    /// # Errors
    /// If the path is not relative or leaves the workspace.
    pub fn put(&self, path: &str, blob: Blob) -> Result<String, PathError> {
        let path = normalize(path)?;
        self.set(path.clone(), Some(blob));
        Ok(path)
    }

    /// Adds or replaces a text file.
    ///
    /// # Errors
    /// The same as for [`Workspace::put`].
    pub fn put_text(&self, path: &str, text: &str) -> Result<String, PathError> {
        self.put(path, text_blob(text))
    }

    /// Keeps the full text of a truncated tool result for `read_result`.
    pub fn keep_result(&self, handle: &str, content: &str) {
        let path = result_path(handle);
        let path = match (&self.scope, path.strip_prefix(RESULTS)) {
            (Some(scope), Some(name)) => format!("{scope}{name}"),
            _ => path,
        };
        self.set(path, Some(text_blob(content)));
    }

    #[must_use]
    pub fn get(&self, path: &str) -> Option<Blob> {
        self.inner.borrow().entries.get(path)?.blob.clone()
    }

    /// Returns the text of a file; `None` if there is no such file or it cannot be read.
    pub async fn text(&self, path: &str) -> Option<String> {
        let blob = self.get(path)?;
        JsFuture::from(blob.text()).await.ok()?.as_string()
    }

    /// Adds a folder on the user's disk, as `www/app/folder.js` describes it. Its files are added like others, below its name.
    pub fn mount(&self, name: &str, folder: JsValue) {
        self.inner.borrow_mut().folders.insert(name.to_owned(), folder);
    }

    /// Removes a folder and its files from the workspace; the disk stays as it is.
    pub fn unmount(&self, name: &str) {
        self.inner.borrow_mut().folders.remove(name);
        let below = format!("{name}/");
        for file in self.list() {
            if file.path.starts_with(&below) {
                self.remove(&file.path);
            }
        }
    }

    /// Returns the folders on the user's disk.
    #[must_use]
    pub fn folders(&self) -> Vec<(String, JsValue)> {
        self.inner.borrow().folders.iter().map(|(name, folder)| (name.clone(), folder.clone())).collect()
    }

    /// Returns the folder on the user's disk that a path is in, and the path below it.
    pub(super) fn folder_of<'a>(&self, path: &'a str) -> Option<(DiskFolder, &'a str)> {
        let (name, rest) = path.split_once('/')?;
        let folder = self.inner.borrow().folders.get(name).cloned()?;
        Some((DiskFolder::new(&folder), rest))
    }

    /// Returns whether a path is in a folder on the user's disk.
    #[must_use]
    pub fn is_on_disk(&self, path: &str) -> bool {
        self.folder_of(path).is_some()
    }

    pub fn remove(&self, path: &str) {
        if self.get(path).is_some() {
            self.set(path.to_owned(), None);
        }
    }

    /// Returns the version, which grows with every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.inner.borrow().version
    }

    /// Returns whether a file was written, replaced or removed after `version`.
    pub(super) fn has_changed(&self, path: &str, version: u64) -> bool {
        self.inner.borrow().entries.get(path).is_some_and(|entry| entry.version > version)
    }

    /// Calls `listener` after every change, until the subscription is dropped.
    #[must_use]
    pub fn subscribe(&self, listener: impl Fn() + 'static) -> Subscription {
        let listener: Rc<dyn Fn()> = Rc::new(listener);
        self.inner.borrow_mut().listeners.push(Rc::downgrade(&listener));
        Subscription { _listener: listener }
    }

    /// Returns the changes after `version`, with the blobs of all paths that still exist, in the same order.
    pub(super) fn changes_since(&self, version: u64) -> (Vec<FileChange>, Vec<Blob>) {
        let inner = self.inner.borrow();
        let changed = inner.entries.iter().filter(|(_, entry)| entry.version > version);
        let mut changes = Vec::new();
        let mut blobs = Vec::new();
        for (path, entry) in changed {
            let Some(path) = self.as_seen(path) else { continue };
            let size = entry.blob.as_ref().map(size);
            changes.push(FileChange { path, version: entry.version, size });
            blobs.extend(entry.blob.clone());
        }
        (changes, blobs)
    }

    /// Returns every path that changed after `version`, with its blob if it still exists.
    #[must_use]
    pub fn changed_since(&self, version: u64) -> Vec<(String, Option<Blob>)> {
        let inner = self.inner.borrow();
        let changed = inner.entries.iter().filter(|(_, entry)| entry.version > version);
        changed.map(|(path, entry)| (path.clone(), entry.blob.clone())).collect()
    }

    /// Returns the path as the tools of this scope see it: their own results in the usual folder, and no other results.
    fn as_seen(&self, path: &str) -> Option<String> {
        match &self.scope {
            Some(scope) if path.starts_with(RESULTS) => Some(format!("{RESULTS}{}", path.strip_prefix(&**scope)?)),
            _ => Some(path.to_owned()),
        }
    }

    fn set(&self, path: String, blob: Option<Blob>) {
        let listeners: Vec<_> = {
            let mut inner = self.inner.borrow_mut();
            inner.version += 1;
            let version = inner.version;
            inner.entries.insert(path, WorkspaceEntry { version, blob });
            inner.listeners.retain(|listener| listener.strong_count() > 0);
            inner.listeners.iter().filter_map(Weak::upgrade).collect()
        };
        // Outside the borrow: a listener may read the workspace, or change it.
        for listener in listeners {
            listener();
        }
    }
}

/// Makes the target of a run: its workspace, and the folders on the user's disk in its rules, also those that are not open.
pub(super) type MakeTarget = fn(Workspace, Vec<String>) -> Box<dyn WriteTarget>;

/// The target in a page without folders.
pub(super) fn in_memory(workspace: Workspace, _: Vec<String>) -> Box<dyn WriteTarget> {
    Box::new(InMemory(workspace))
}

struct InMemory(Workspace);

impl WriteTarget for InMemory {
    fn look(&self, files: Vec<(String, Blob)>) -> LookedAt<'_> {
        let writes = files.into_iter().map(|(path, content)| Write { path, content, place: WritePlace::Workspace });
        Box::pin(std::future::ready(Ok(Some(writes.collect()))))
    }

    fn is_current<'a>(&'a self, writes: &'a [Write], seen: u64) -> Pin<Box<dyn Future<Output = bool> + 'a>> {
        Box::pin(std::future::ready(!writes.iter().any(|write| self.0.has_changed(&write.path, seen))))
    }

    fn write(&self, writes: Vec<Write>, _: bool) -> Pin<Box<dyn Future<Output = Result<bool, String>> + '_>> {
        for Write { path, content, .. } in writes {
            // The tool normalised the path before it wrote.
            let _ = self.0.put(&path, content);
        }
        Box::pin(std::future::ready(Ok(true)))
    }

    fn is_on_disk(&self, _: &str) -> bool {
        false
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("version", &self.version()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Subscription")
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size is a whole number far below 2^53
fn size(blob: &Blob) -> u64 {
    blob.size() as u64
}

/// Returns a text as a blob.
pub(crate) fn text_blob(text: &str) -> Blob {
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let options = BlobPropertyBag::new();
    options.set_type("text/plain");
    // The constructor throws only if the parts are not a sequence.
    Blob::new_with_str_sequence_and_options(&parts, &options).unwrap_or_else(|error| error.unchecked_into())
}
