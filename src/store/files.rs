//! A run's workspace: paths with the hash of each content. Equal contents are stored once, whoever has them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use indexed_db_futures::prelude::*;
use js_sys::Uint8Array;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use super::database::{Database, FILES, WORKSPACES, reading};
use super::error::StoreError;
use crate::worker::Workspace;

/// One path of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    pub path: String,
    /// SHA-256 of its content, hex.
    pub hash: String,
}

/// What is known to be stored of a workspace.
#[derive(Default)]
pub(super) struct Mirror {
    /// Up to which version of the workspace.
    version: RefCell<u64>,
    /// Version and hash of each path.
    known: RefCell<BTreeMap<String, (u64, String)>>,
}

/// What has to be written so that the stored workspace is this one.
pub(super) struct Changes {
    version: u64,
    known: BTreeMap<String, (u64, String)>,
    /// Contents that may not be stored yet.
    pub contents: Vec<(String, Blob)>,
}

impl Mirror {
    /// The workspace was filled with these just now: a run that goes on need not read and write them all again.
    pub fn begin_with(&self, workspace: &Workspace, stored: &[StoredFile]) {
        let present = workspace.list();
        let version_of = |path: &str| present.iter().find(|file| file.path == path).map(|file| file.version);
        let known = stored
            .iter()
            .filter_map(|StoredFile { path, hash }| Some((path.clone(), (version_of(path)?, hash.clone()))));
        let known: BTreeMap<_, _> = known.collect();
        if known.len() == present.len() {
            self.version.replace(workspace.version());
        }
        self.known.replace(known);
    }

    /// `None`: nothing changed.
    pub async fn changes(&self, workspace: &Workspace) -> Result<Option<Changes>, StoreError> {
        let version = workspace.version();
        if version == *self.version.borrow() {
            return Ok(None);
        }
        let mut changes = Changes { version, known: BTreeMap::new(), contents: Vec::new() };
        for file in workspace.list() {
            let known = self.known.borrow().get(&file.path).filter(|(at, _)| *at == file.version).cloned();
            let entry = match (known, workspace.get(&file.path)) {
                (Some(known), _) => known,
                (None, Some(blob)) => {
                    let hash = hash(&blob).await?;
                    changes.contents.push((hash.clone(), blob));
                    (file.version, hash)
                }
                (None, None) => continue,
            };
            changes.known.insert(file.path, entry);
        }
        Ok(Some(changes))
    }

    /// They are stored.
    pub fn accept(&self, changes: Changes) {
        self.version.replace(changes.version);
        self.known.replace(changes.known);
    }
}

impl Changes {
    /// The stored form of the workspace.
    pub fn paths(&self) -> String {
        let files = self.known.iter().map(|(path, (_, hash))| StoredFile { path: path.clone(), hash: hash.clone() });
        serde_json::to_string(&files.collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// Fills a workspace with what is stored for a run; what that is.
pub(super) async fn load(database: &Database, key: &str, workspace: &Workspace) -> Result<Vec<StoredFile>, StoreError> {
    let connection = database.connection()?;
    let transaction = reading(&connection, &[WORKSPACES, FILES])?;
    let text: Option<String> = transaction.object_store(WORKSPACES)?.get(key).primitive()?.await?;
    let files: Vec<StoredFile> = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let contents = transaction.object_store(FILES)?;
    let mut loaded = Vec::with_capacity(files.len());
    for StoredFile { path, hash } in files {
        let blob: Option<JsValue> = contents.get(hash.as_str()).primitive()?.await?;
        if let Some(blob) = blob.and_then(|blob| blob.dyn_into::<Blob>().ok())
            && let Ok(path) = workspace.put(&path, blob)
        {
            loaded.push(StoredFile { path, hash });
        }
    }
    Ok(loaded)
}

async fn hash(blob: &Blob) -> Result<String, StoreError> {
    let bytes = Uint8Array::new(&JsFuture::from(blob.array_buffer()).await?).to_vec();
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(&bytes) {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    Ok(hex)
}
