//! A run's workspace: paths with the hash of each content. Equal contents are stored once, even across runs.
//!
//! Contents are stored as bytes, not as the workspace's blobs: in Chromium (seen in version 156), a blob whose page
//! crashes while its transaction commits stays in the database under its key, and reading it never completes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use indexed_db_futures::database::Database as Connection;
use indexed_db_futures::prelude::*;
use indexed_db_futures::transaction::Transaction;
use js_sys::{Array, ArrayBuffer, Uint8Array};
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use super::database::{Durability, FILES, RunDatabase, WORKSPACES, reading, writing};
use super::error::StoreError;
use crate::worker::Workspace;
use turnwise_engine::digest::sha256_hex;
use turnwise_protocol::app::{KeptList, Share};

/// The key of what is kept for later visits. Keys of runs and plans are UUIDs.
pub(super) const fn key_of(list: KeptList) -> &'static str {
    match list {
        KeptList::Files => "kept",
        KeptList::Skills => "skills",
        KeptList::Services => "services",
    }
}

/// One file of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    pub path: String,
    /// SHA-256 of its content, hex.
    pub hash: String,
    /// In bytes; 0: an earlier version did not note it.
    #[serde(default)]
    pub size: u64,
    /// The file's declared media type; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
}

/// The part of a workspace that is known to be stored.
#[derive(Default)]
pub(super) struct Mirror {
    /// The version of the workspace that is stored.
    version: RefCell<u64>,
    /// The stored files by path, each with its version.
    known: RefCell<KnownFiles>,
}

/// The changes to write so that the stored workspace equals this one.
pub(super) struct StoredFileChanges {
    version: u64,
    known: KnownFiles,
    /// Contents that may not be stored yet, by hash.
    pub contents: Vec<(String, ArrayBuffer)>,
}

type KnownFiles = BTreeMap<String, (u64, StoredFile)>;

impl Mirror {
    /// Records that the workspace was just filled with these files: a resumed run need not read and write them all
    /// again.
    pub fn begin_with(&self, workspace: &Workspace, stored: &[StoredFile]) {
        let present = workspace.list();
        let version_of = |path: &str| present.iter().find(|file| file.path == path).map(|file| file.version);
        let known = stored.iter().filter_map(|file| Some((file.path.clone(), (version_of(&file.path)?, file.clone()))));
        let known: KnownFiles = known.collect();
        if known.len() == present.len() {
            self.version.replace(workspace.version());
        }
        self.known.replace(known);
    }

    /// Returns what changed since the last write; `None`: nothing did.
    pub async fn changes(&self, workspace: &Workspace) -> Result<Option<StoredFileChanges>, StoreError> {
        let version = workspace.version();
        if version == *self.version.borrow() {
            return Ok(None);
        }
        let mut changes = StoredFileChanges { version, known: BTreeMap::new(), contents: Vec::new() };
        for file in workspace.list() {
            // Files on the user's disk are not copied.
            if workspace.is_on_disk(&file.path) {
                continue;
            }
            let known = self.known.borrow().get(&file.path).filter(|(at, _)| *at == file.version).cloned();
            let entry = match (known, workspace.get(&file.path)) {
                (Some(known), _) => known,
                (None, Some(blob)) => {
                    let bytes: ArrayBuffer = JsFuture::from(blob.array_buffer()).await?.unchecked_into();
                    let hash = hash(&bytes);
                    changes.contents.push((hash.clone(), bytes));
                    (
                        file.version,
                        StoredFile { path: file.path.clone(), hash, size: file.size, media_type: blob.type_() },
                    )
                }
                (None, None) => continue,
            };
            changes.known.insert(file.path, entry);
        }
        Ok(Some(changes))
    }

    /// Records that these changes are stored.
    pub fn accept(&self, changes: StoredFileChanges) {
        self.version.replace(changes.version);
        self.known.replace(changes.known);
    }
}

impl StoredFileChanges {
    /// Returns the stored form of the workspace.
    pub fn paths(&self) -> String {
        let files: Vec<&StoredFile> = self.known.values().map(|(_, file)| file).collect();
        serde_json::to_string(&files).unwrap_or_default()
    }
}

/// Fills a workspace with the files stored for a run, and returns them.
pub(super) async fn load(
    database: &RunDatabase,
    key: &str,
    workspace: &Workspace,
) -> Result<Vec<StoredFile>, StoreError> {
    let connection = database.connection()?;
    let transaction = reading(&connection, &[WORKSPACES, FILES])?;
    let text: Option<String> = transaction.object_store(WORKSPACES)?.get(key).primitive()?.await?;
    let files: Vec<StoredFile> = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let contents = transaction.object_store(FILES)?;
    let mut loaded = Vec::with_capacity(files.len());
    for file in files {
        let bytes: Option<JsValue> = contents.get(file.hash.as_str()).primitive()?.await?;
        if let Some(bytes) = bytes.and_then(|bytes| bytes.dyn_into::<ArrayBuffer>().ok())
            && let Ok(path) = workspace.put(&file.path, blob(&bytes, &file.media_type)?)
        {
            loaded.push(StoredFile { path, ..file });
        }
    }
    Ok(loaded)
}

/// Changes what is kept for later visits. Other tabs may have changed it too, so that each path is changed by itself.
pub(super) async fn keep(
    database: &RunDatabase,
    list: KeptList,
    changes: Vec<(String, Option<Blob>)>,
) -> Result<(), StoreError> {
    let key = key_of(list);
    database.ready().await;
    let (mut added, mut contents) = (Vec::new(), Vec::new());
    // Before the transaction, which ends when it has nothing to do.
    for (path, blob) in &changes {
        let Some(blob) = blob else { continue };
        let bytes: ArrayBuffer = JsFuture::from(blob.array_buffer()).await?.unchecked_into();
        let hash = hash(&bytes);
        let size = u64::from(bytes.byte_length());
        added.push(StoredFile { path: path.clone(), hash: hash.clone(), size, media_type: blob.type_() });
        contents.push((hash, bytes));
    }
    let connection = database.connection()?;
    let transaction = writing(&connection, &[WORKSPACES, FILES], Durability::Strict)?;
    let lists = transaction.object_store(WORKSPACES)?;
    let text: Option<String> = lists.get(key).primitive()?.await?;
    let mut kept: Vec<StoredFile> = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    kept.retain(|file| changes.iter().all(|(path, _)| *path != file.path));
    kept.extend(added);
    lists.put(serde_json::to_string(&kept).unwrap_or_default()).with_key(key).primitive()?;
    for (hash, bytes) in contents {
        transaction.object_store(FILES)?.put(JsValue::from(bytes)).with_key(hash.as_str()).primitive()?;
    }
    if changes.iter().any(|(_, blob)| blob.is_none()) {
        remove_unused(&transaction).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Counts the contents.
pub(super) async fn space(connection: &Connection) -> Result<Share, StoreError> {
    let transaction = reading(connection, &[WORKSPACES, FILES])?;
    let sizes: BTreeMap<String, u64> =
        all_files(&transaction).await?.into_iter().map(|file| (file.hash, file.size)).collect();
    let contents = transaction.object_store(FILES)?;
    let mut share = Share::default();
    for (hash, size) in sizes {
        share.count += 1;
        share.bytes += match size {
            0 => {
                let bytes: Option<JsValue> = contents.get(hash.as_str()).primitive()?.await?;
                bytes
                    .and_then(|bytes| bytes.dyn_into::<ArrayBuffer>().ok())
                    .map_or(0, |bytes| bytes.byte_length().into())
            }
            known => known,
        };
    }
    Ok(share)
}

/// Returns the files of all workspaces.
async fn all_files(transaction: &Transaction<'_>) -> Result<Vec<StoredFile>, StoreError> {
    let lists = transaction.object_store(WORKSPACES)?.get_all::<String>().primitive()?.await?;
    let lists = lists.filter_map(Result::ok).filter_map(|text| serde_json::from_str::<Vec<StoredFile>>(&text).ok());
    Ok(lists.flatten().collect())
}

/// Removes the contents that no workspace has any more.
pub(super) async fn remove_unused(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let used: BTreeSet<String> = all_files(transaction).await?.into_iter().map(|file| file.hash).collect();
    let files = transaction.object_store(FILES)?;
    let stored = files.get_all_keys::<String>().primitive()?.await?;
    for hash in stored.filter_map(Result::ok).filter(|hash| !used.contains(hash)) {
        files.delete(hash.as_str()).primitive()?;
    }
    Ok(())
}

fn blob(bytes: &ArrayBuffer, media_type: &str) -> Result<Blob, StoreError> {
    let options = BlobPropertyBag::new();
    options.set_type(media_type);
    Ok(Blob::new_with_buffer_source_sequence_and_options(&Array::of1(bytes), &options)?)
}

fn hash(bytes: &ArrayBuffer) -> String {
    sha256_hex(&[&Uint8Array::new(bytes).to_vec()])
}
