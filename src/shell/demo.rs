//! The demo model in the place of a server: a worker works its answer out, and its wire bytes come chunk by chunk and go
//! through the real decoder.

use web_sys::AbortController;

use super::fetch::{Exchange, Reading};
use super::{js, timer};
use crate::engine::{Event, ModelError, Retry, Slug};
use crate::llm::demo::{DemoChunk, DemoRequest, Scripted};
use crate::worker::DemoError;

/// `None`: nobody waits for it any more.
pub(super) async fn ask(exchange: &Exchange, request: DemoRequest, abort: &AbortController) -> Option<Event> {
    let (sent, host) = (js::now(), exchange.session.demo()?);
    match host.ask(request, &abort.signal()).await {
        Ok(Scripted::Stream { chunks }) => stream(exchange, chunks, sent).await,
        Err(DemoError::NoWorker(why)) => Some(failed(exchange, &why, Retry::Fatal)),
        Err(DemoError::Worker(why)) => Some(failed(exchange, &why, Retry::Yes)),
        Err(DemoError::Aborted) => None,
    }
}

/// Hands out the chunks with their delays until they end, the reply is whole, or nobody waits any more.
async fn stream(exchange: &Exchange, chunks: Vec<DemoChunk>, sent: f64) -> Option<Event> {
    let reading = Reading::new(exchange, sent);
    for chunk in chunks {
        if chunk.after_ms > 0 {
            timer::pause(chunk.after_ms).await;
        }
        if !exchange.is_awaited() {
            return None;
        }
        if reading.take(chunk.text.as_bytes()).is_break() {
            break;
        }
    }
    Some(reading.finish())
}

fn failed(exchange: &Exchange, why: &str, retry: Retry) -> Event {
    let message = format!("The demo model, which runs in a worker, did not answer: {why}");
    let error = ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry };
    Event::ModelFailed { request: exchange.request, error, raw: None }
}
