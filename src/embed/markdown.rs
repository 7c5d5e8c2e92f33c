//! `renderMarkdown`: Markdown as nodes, for pages that draw answers themselves.

use std::cell::RefCell;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::error::{describe, error, type_error};
use super::options::beside_module;
use super::trajectory::to_js;
use crate::worker::RenderHost;

/// Texts being rendered, and the worker they share: it ends when none was wanted for a while, so that it keeps neither
/// memory nor a Node.js process.
#[derive(Default)]
struct Shared {
    open: u32,
    /// Counts uses: who comes back from a pause to find another number was not the last.
    uses: u64,
    host: Option<RenderHost>,
}

/// How long the worker waits for the next text. Answers stream for longer without a pause of this length.
const IDLE_MS: u32 = 20_000;

thread_local! {
    static SHARED: RefCell<Shared> = RefCell::default();
}

/// Markdown to nodes, in a worker. Texts are rendered in the order they came.
#[wasm_bindgen(js_name = renderMarkdown, unchecked_return_type = "Promise<MarkdownNode[]>")]
pub fn render_markdown(#[wasm_bindgen(unchecked_param_type = "string")] text: &JsValue) -> Promise {
    let text = text.as_string().ok_or_else(|| type_error(&format!("text: got {}; it takes a string", describe(text))));
    future_to_promise(async move {
        let text = text?;
        let host = SHARED.with_borrow_mut(|shared| {
            shared.open += 1;
            shared.uses += 1;
            shared.host.get_or_insert_with(|| RenderHost::new(beside_module("worker.js"))).clone()
        });
        let rendered = host.render(&text).await;
        let uses = SHARED.with_borrow_mut(|shared| {
            shared.open -= 1;
            shared.uses
        });
        wasm_bindgen_futures::spawn_local(async move {
            crate::shell::pause(IDLE_MS).await;
            let idle = SHARED.with_borrow_mut(|shared| {
                let idle = shared.open == 0 && shared.uses == uses;
                idle.then(|| shared.host.take()).flatten()
            });
            if let Some(host) = idle {
                host.close();
            }
        });
        to_js(&rendered.map_err(|why| error(&why.to_string()))?)
    })
}
