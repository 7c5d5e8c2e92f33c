//! A model that the page calls itself. Its output arrives as the bytes of a chat stream, or as a response that the page
//! fetched; both go through the decoder used for servers, so a stream without its end marker is not a reply here either.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::json;
use wasm_bindgen::prelude::*;
use web_sys::AbortController;

use super::exchange::RequestContext;
use super::js;
use super::page::{PageOutput, PendingRequest};
use turnwise_engine::caps::RAW_CAP;
use turnwise_engine::{EpochMillis, Event, ModelError, ProviderConfig, ProviderKind, Retry, Slug};
use turnwise_llm::{RetryHeaders, classify_response, is_stream};
use turnwise_protocol::{CallNumber, Failure, ResponseHead};

/// A response that is not a reply.
struct ErrorResponse {
    head: ResponseHead,
    body: Vec<u8>,
}

/// Sends one request.
pub(super) async fn ask(exchange: &RequestContext, provider: usize, request: &[u8], abort: &AbortController) -> Event {
    let (reading, watch) = exchange.watched_reading(abort);
    let Some(page) = exchange.session.page() else {
        return exchange.failed(error("There is no page to run its model.".to_owned(), Retry::Fatal), &watch);
    };
    let refused: Rc<RefCell<Option<ErrorResponse>>> = Rc::default();
    let asked: Rc<Cell<Option<CallNumber>>> = Rc::default();
    let on_piece = {
        let (reading, watch, refused) = (reading.clone(), watch.clone(), Rc::clone(&refused));
        let (page, asked) = (Rc::clone(&page), Rc::clone(&asked));
        move |piece| match (piece, &mut *refused.borrow_mut()) {
            (PageOutput::Head(head), refused) => {
                watch.progress();
                if !is_stream(head.status, &head.content_type) {
                    watch.begin(); // no reply to wait for
                    *refused = Some(ErrorResponse { head, body: Vec::new() });
                }
            }
            (PageOutput::Bytes(bytes), Some(ErrorResponse { body, .. })) => {
                watch.progress();
                if body.len() <= RAW_CAP {
                    body.extend_from_slice(&bytes);
                }
            }
            (PageOutput::Bytes(bytes), None) => {
                // The reply is complete: the page can stop streaming.
                if let (true, Some(number)) = (reading.take_watched(&bytes, &watch).is_break(), asked.get()) {
                    page.abort(number);
                }
            }
            (PageOutput::Asked { .. }, _) => {} // only programs ask
        }
    };
    let PendingRequest { number, answer } = page.complete(provider, request, Box::new(on_piece));
    asked.set(Some(number));
    let on_abort = Closure::once(move || page.abort(number));
    abort.signal().set_onabort(Some(on_abort.as_ref().unchecked_ref()));
    let answer = answer.await;
    abort.signal().set_onabort(None);
    if let Some(ErrorResponse { head, body }) = refused.take() {
        let ResponseHead { status, content_type, retry_after, retry_after_ms, should_retry, .. } = head;
        return exchange.refusal(
            status,
            &RetryHeaders { retry_after, retry_after_ms, should_retry },
            &content_type,
            body,
        );
    }
    match answer {
        Ok(Err(failure)) => exchange.failed(thrown(&exchange.provider, failure), &watch),
        Ok(Ok(_)) | Err(_) => exchange.ended(&reading, &watch),
    }
}

/// Classifies what the page threw. With a `status`, it is treated like a server's response with that status.
fn thrown(provider: &ProviderConfig, failure: Failure) -> ModelError {
    let Failure { message, status, retry_after_ms, fatal, too_long, network } = failure;
    let mut error = match status.filter(|status| (400.0..600.0).contains(status)) {
        Some(status) => {
            let body = json!({ "error": { "message": message } }).to_string();
            let now = EpochMillis(js::epoch_ms());
            classify_response(provider, status as u16, &RetryHeaders::default(), "application/json", &body, now)
        }
        None if too_long => ModelError { slug: Slug::ContextGuard, ..error(message, Retry::Fatal) },
        None if fatal => error(message, Retry::Fatal),
        // The message already names the model.
        None if provider.kind == ProviderKind::PromptApi => error(message, Retry::Yes),
        None => {
            let slug = if network { Slug::NetworkError } else { Slug::ProviderError };
            ModelError { slug, ..error(format!("The page's model failed: {message}"), Retry::Yes) }
        }
    };
    if let (Retry::Yes, Some(ms)) = (error.retry, retry_after_ms.filter(|ms| *ms >= 0.0)) {
        error.retry_after_ms = Some(ms as u64);
    }
    error
}

fn error(message: String, retry: Retry) -> ModelError {
    ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry }
}
