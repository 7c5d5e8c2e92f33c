//! `renderMarkdown`: Markdown as nodes, for pages that draw answers themselves.

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::Promise;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::error::{describe, error, type_error};
use super::options::beside_module;
use super::reader::Reader;
use super::trajectory::to_js;
use crate::worker::RenderHost;

/// Texts being rendered by one kind of worker, and the worker they share: it ends when none was wanted for a while, so
/// that it keeps neither memory nor a Node.js process.
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
    /// By the worker's address.
    static SHARED: RefCell<BTreeMap<String, Shared>> = RefCell::default();
}

/// Markdown to nodes, in a worker. Texts are rendered in the order they came.
#[wasm_bindgen(js_name = renderMarkdown, unchecked_return_type = "Promise<MarkdownNode[]>")]
pub fn render_markdown(
    #[wasm_bindgen(unchecked_param_type = "string")] text: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "{ workerUrl?: string }")] options: &JsValue,
) -> Promise {
    let text = text.as_string().ok_or_else(|| type_error(&format!("text: got {}; it takes a string", describe(text))));
    let url = Reader::open_optional("options", options, &["workerUrl"], &[]).and_then(|given| given.text("workerUrl"));
    future_to_promise(async move {
        let text = text?;
        let url = url?.unwrap_or_else(|| beside_module("worker.js"));
        let host = SHARED.with_borrow_mut(|all| {
            let shared = all.entry(url.clone()).or_default();
            shared.open += 1;
            shared.uses += 1;
            shared.host.get_or_insert_with(|| RenderHost::new(url.clone())).clone()
        });
        let rendered = host.render(&text).await;
        let uses = SHARED.with_borrow_mut(|all| {
            let shared = all.entry(url.clone()).or_default();
            shared.open -= 1;
            shared.uses
        });
        wasm_bindgen_futures::spawn_local(async move {
            crate::shell::pause(IDLE_MS).await;
            let idle = SHARED.with_borrow_mut(|all| {
                let shared = all.entry(url).or_default();
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
