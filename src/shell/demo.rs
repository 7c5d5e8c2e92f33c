//! The demo model, in place of a server: a worker computes its response, which goes through the same code as real
//! responses: status and headers, the decoder, the deadlines.

use js_sys::{Function, Promise};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use super::exchange::RequestContext;
use super::watch::Watchdog;
use super::{js, timer};
use crate::worker::DemoError;
use turnwise_demo_model::{BodyEnd, DemoChunk, DemoRequest, Scripted};
use turnwise_engine::{Event, Limits, ModelError, Retry, Slug};
use turnwise_llm::{Late, RetryHeaders};

/// A scripted silence ends at the run's deadline, but no later than this: nobody should have to watch it for a minute.
const SILENCE_MS: u64 = 2_000;

/// A shorter pause waits for the next one, unless the pauses have their full length.
const MIN_PAUSE_MS: f64 = 15.0;

/// Sends one request to the demo model. `None`: the engine no longer waits for it.
pub(super) async fn ask(exchange: &RequestContext, request: DemoRequest, abort: &AbortController) -> Option<Event> {
    let (sent, host) = (js::now(), exchange.session.demo()?);
    match host.ask(request, &abort.signal()).await {
        Ok(Scripted::Answer { status, headers, chunks, end }) => {
            let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
            let content_type = header("content-type").unwrap_or_default();
            if turnwise_llm::is_stream(status, &content_type) {
                return stream(exchange, chunks, end, sent, abort).await;
            }
            let mut body = Vec::new();
            hand_out(exchange, chunks, |bytes| body.extend_from_slice(bytes)).await?;
            let retry = RetryHeaders {
                retry_after: header("retry-after"),
                retry_after_ms: header("retry-after-ms"),
                should_retry: None,
            };
            Some(exchange.refusal(status, &retry, &content_type, body))
        }
        Ok(Scripted::NoAnswer { after_ms, message }) => {
            timer::pause(after_ms).await;
            let error = turnwise_llm::classify_fetch_failure(&exchange.provider, &message, js::online());
            Some(Event::ModelFailed { request: exchange.request, error, raw: None })
        }
        Ok(Scripted::Silence) => {
            let late = silence(exchange, abort, HeardSoFar::Nothing).await?;
            Some(exchange.too_late(late, None))
        }
        Err(DemoError::NoWorker(why)) => Some(failed(exchange, &why, Retry::Fatal)),
        Err(DemoError::Worker(why)) => Some(failed(exchange, &why, Retry::Yes)),
        Err(DemoError::Aborted) => None,
    }
}

async fn stream(
    exchange: &RequestContext,
    chunks: Vec<DemoChunk>,
    end: BodyEnd,
    sent: f64,
    abort: &AbortController,
) -> Option<Event> {
    let reading = exchange.reading(sent);
    let mut whole = false;
    hand_out(exchange, chunks, |bytes| whole |= reading.take(bytes).is_break()).await?;
    if end == BodyEnd::Silent && !whole {
        let late = silence(exchange, abort, HeardSoFar::Something).await?;
        return Some(match reading.finish() {
            Event::ModelFailed { raw, .. } => exchange.too_late(late, raw),
            event => event,
        });
    }
    Some(reading.finish())
}

/// Emits the chunks with their delays, which the provider option `pace` shortens. `None`: the engine no longer waits for them.
async fn hand_out(exchange: &RequestContext, chunks: Vec<DemoChunk>, mut take: impl FnMut(&[u8])) -> Option<()> {
    let pace = exchange.provider.provider_options.as_ref().and_then(|options| options.get("pace")?.as_f64());
    let pace = pace.unwrap_or(1.0).clamp(0.0, 1.0);
    // Browsers delay short timers, so short pauses are added up.
    let mut owed = 0.0;
    for chunk in chunks {
        owed += f64::from(chunk.after_ms) * pace;
        if owed >= MIN_PAUSE_MS || pace == 1.0 && owed > 0.0 {
            timer::pause(owed as u32).await;
            owed = 0.0;
        }
        if !exchange.is_awaited() {
            return None;
        }
        take(chunk.text.as_bytes());
    }
    Some(())
}

/// The state of the response when the silence begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeardSoFar {
    Nothing,
    Something,
}

/// Waits silently until a deadline passes; `None`: the engine no longer waits for the request.
async fn silence(exchange: &RequestContext, abort: &AbortController, heard: HeardSoFar) -> Option<(Late, u64)> {
    if !exchange.is_awaited() {
        return None;
    }
    let limits = exchange.session.config().limits;
    let (headers_ms, idle_ms) = (limits.headers_ms.min(SILENCE_MS), limits.idle_ms.min(SILENCE_MS));
    let dog = Watchdog::new(&Limits { headers_ms, idle_ms, ..limits });
    let signal = abort.signal();
    let aborted = Promise::new(&mut |resolve: Function, _reject: Function| signal.set_onabort(Some(&resolve)));
    let watch = dog.watch(abort.clone());
    if heard == HeardSoFar::Something {
        watch.progress();
    }
    // Resolved by the deadline or when the request is aborted; never rejected.
    let _ = JsFuture::from(aborted).await;
    dog.rest();
    watch.late()
}

fn failed(exchange: &RequestContext, why: &str, retry: Retry) -> Event {
    let message = format!("The demo model, which runs in a worker, did not answer: {why}");
    let error = ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry };
    Event::ModelFailed { request: exchange.request, error, raw: None }
}
