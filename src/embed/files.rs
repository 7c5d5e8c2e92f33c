//! `agent.files`: the workspace that the agent's tools see.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use web_sys::Blob;

use super::error::{describe, type_error};
use crate::worker::Workspace;

/// Files by path, such as `docs/a.md`. They stay when a run ends, and go with the agent.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Files {
    workspace: Workspace,
}

impl Files {
    pub(super) fn new(workspace: Workspace) -> Self {
        Files { workspace }
    }
}

#[wasm_bindgen]
impl Files {
    /// Adds or replaces a file. Returns the path it has now; throws a `TypeError` for one that leaves the workspace.
    pub fn put(
        &self,
        path: &str,
        #[wasm_bindgen(unchecked_param_type = "string | Blob")] content: &JsValue,
    ) -> Result<String, JsValue> {
        let stored = match (content.as_string(), content.dyn_ref::<Blob>()) {
            (Some(text), _) => self.workspace.put_text(path, &text),
            (None, Some(blob)) => self.workspace.put(path, blob.clone()),
            (None, None) => {
                return Err(type_error(&format!("content: got {}; it takes a text or a Blob", describe(content))));
            }
        };
        stored.map_err(|e| type_error(&format!("path: {e}")))
    }

    /// All paths, sorted.
    #[wasm_bindgen(unchecked_return_type = "string[]")]
    pub fn list(&self) -> Array {
        self.workspace.list().into_iter().map(|file| JsValue::from(file.path)).collect()
    }

    /// A file's content; nothing where there is no such file.
    pub fn get(&self, path: &str) -> Option<Blob> {
        self.workspace.get(path)
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, path: &str) {
        self.workspace.remove(path);
    }
}
