//! Requests that need no agent: about records, Markdown, a provider's models.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use super::agents::access;
use super::outbox::{AskError, Outbox};
use crate::shell;
use crate::worker::{RenderHost, records};
use turnwise_engine::Price;
use turnwise_llm::models::ModelInfo;
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_protocol::{AskId, ProviderOptions};

/// Runs a task on the text of a record. `name`: the record's name in the page's code.
pub(super) fn document(
    outbox: &Rc<Outbox>,
    id: AskId,
    worker_url: String,
    task: DocumentTask,
    name: String,
    text: String,
) {
    let outbox = Rc::clone(outbox);
    spawn_local(async move {
        match records::ask(worker_url, task, text).await {
            // A file's text, or JSON.
            Ok(answer) if matches!(task, DocumentTask::Export(_)) => outbox.done(id, &answer),
            Ok(answer) => outbox.done_with(id, answer.into_bytes()),
            Err(why) => outbox.refused(id, &AskError::Wrong(format!("{name}: {why}"))),
        }
    });
}

/// Reads a response.
pub(super) fn page(
    outbox: &Rc<Outbox>,
    id: AskId,
    worker_url: String,
    url: String,
    content_type: String,
    body: Option<Blob>,
) {
    let outbox = Rc::clone(outbox);
    spawn_local(async move {
        let read = match body {
            Some(body) => records::page(worker_url, url, content_type, body).await,
            None => Err("the request came without a body".to_owned()),
        };
        match read {
            Ok(answer) => outbox.done_with(id, answer.into_bytes()),
            Err(why) => outbox.refused(id, &AskError::Untimely(why)),
        }
    });
}

/// The texts being rendered by one kind of worker, and the worker they share. It ends after it has been idle for a while.
#[derive(Default)]
struct Shared {
    open: u32,
    /// Counts uses: a task that finds another number after its pause was not the last.
    uses: u64,
    host: Option<RenderHost>,
}

/// How long the worker waits for the next text. A reply that streams never pauses for this long.
const IDLE_MS: u32 = 20_000;

thread_local! {
    /// Keyed by the worker's URL.
    static SHARED: RefCell<BTreeMap<String, Shared>> = RefCell::default();
}

/// Renders Markdown to nodes. Texts are rendered in order of arrival.
pub(super) fn render(outbox: &Rc<Outbox>, id: AskId, url: String, markdown: String) {
    let outbox = Rc::clone(outbox);
    let host = SHARED.with_borrow_mut(|all| {
        let shared = all.entry(url.clone()).or_default();
        shared.open += 1;
        shared.uses += 1;
        shared.host.get_or_insert_with(|| RenderHost::new(url.clone())).clone()
    });
    spawn_local(async move {
        match host.render(&markdown).await {
            Ok(nodes) => outbox.done_with(id, nodes.into_bytes()),
            Err(why) => outbox.refused(id, &AskError::Untimely(why.to_string())),
        }
        let uses = SHARED.with_borrow_mut(|all| {
            let shared = all.entry(url.clone()).or_default();
            shared.open -= 1;
            shared.uses
        });
        shell::pause(IDLE_MS).await;
        let idle = SHARED.with_borrow_mut(|all| {
            let shared = all.entry(url).or_default();
            let idle = shared.open == 0 && shared.uses == uses;
            idle.then(|| shared.host.take()).flatten()
        });
        if let Some(host) = idle {
            host.close();
        }
    });
}

/// One row, in the shape of the JavaScript API's `ModelInfo`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    name: String,
    context_tokens: Option<u64>,
    price: Option<Price>,
    images: Option<bool>,
}

/// Lists the models of a provider, with what is known about each.
pub(super) fn models(outbox: &Rc<Outbox>, id: AskId, provider: ProviderOptions) {
    let outbox = Rc::clone(outbox);
    spawn_local(async move {
        match shell::list_models(&provider.config, &access(0, &provider.config, provider.access)).await {
            Ok(models) => {
                let listed = models.into_iter().map(|ModelInfo { id, name, context_tokens, price, images }| Listed {
                    id,
                    name,
                    context_tokens,
                    price,
                    images,
                });
                outbox.done(id, &listed.collect::<Vec<_>>());
            }
            Err(failed) => outbox.refused(id, &AskError::Untimely(failed.message)),
        }
    });
}
