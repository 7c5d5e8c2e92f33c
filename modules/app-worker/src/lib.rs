//! The agent's worker of the app: the same as `modules/agent`, and the manager, which drives and stores the app's runs.
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code)] // wasm-bindgen's exports

use js_sys::Function;
use wasm_bindgen::prelude::*;

use std::rc::Rc;

use turnwise::embed::{PostNews, TakeOrder};
use turnwise::run_manager::RunManager;
use turnwise::shell::Page;

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
        Port(turnwise::embed::Port::new(post, tool_worker, make_worker).with_manager(open))
    }

    /// Handles one post from the page.
    pub fn receive(&self, post: &JsValue) {
        self.0.receive(post);
    }
}

fn open(page: Rc<dyn Page>, post: PostNews) -> TakeOrder {
    let manager =
        RunManager::open(page, move |news, parts| post(serde_json::to_string(&news).unwrap_or_default(), parts));
    Box::new(move |text, parts| {
        manager.take(serde_json::from_str(text)?, parts);
        Ok(())
    })
}
