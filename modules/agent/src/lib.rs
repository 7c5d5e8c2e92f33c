//! The agent's worker of the package: `www/client/engine-worker.ts` passes it what the page posts.
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)] // wasm-bindgen's exports

use js_sys::Function;
use wasm_bindgen::prelude::*;

/// One page's connection to this module.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Port(turnwise::embed::Port);

#[wasm_bindgen]
impl Port {
    /// Creates a port. `post(text, parts)` sends a post to the page; `tool_worker` is the URL of `worker.js`, unless the page
    /// sets another; `make_worker(url, name)` creates the workers for tools, documents and Markdown. Default: `new Worker`.
    #[wasm_bindgen(constructor)]
    pub fn new(post: Function, tool_worker: String, make_worker: Option<Function>) -> Port {
        Port(turnwise::embed::Port::new(post, tool_worker, make_worker))
    }

    /// Handles one post from the page.
    pub fn receive(&self, post: &JsValue) {
        self.0.receive(post);
    }
}
