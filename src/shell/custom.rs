//! A model that the page supplies: `complete(request, { signal })`, asked in the shape of OpenAI Chat Completions.
//!
//! It may answer with what it has: a `Response` (the page's own fetch), an async iterable of chunks or of texts (WebLLM's
//! stream), a whole completion, or a text. All of it goes through the decoder that reads servers, so a stream of chunks
//! without its end marker is no answer here either.

use std::ops::ControlFlow;

use js_sys::{AsyncIterator, Function, JSON, Object, Promise, Reflect, Symbol};
use serde_json::json;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Response};

use super::js;
use crate::engine::{EpochMillis, ModelError, ProviderConfig, Retry, Slug};
use crate::llm::{RetryHeaders, classify_response};

/// What came of it.
pub(super) enum Answered {
    /// To be read as from a server.
    Response(Response),
    /// All of it went to `take`.
    Taken,
}

/// Asks, and hands on what comes as the bytes of a chat stream.
///
/// # Errors
/// What the function threw, or answered that is no answer.
pub(super) async fn ask(
    complete: &Function,
    provider: &ProviderConfig,
    request: &[u8],
    abort: &AbortController,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<Answered, ModelError> {
    let failed = |thrown: JsValue| thrown_error(provider, &thrown);
    let request = JSON::parse(&String::from_utf8_lossy(request)).map_err(failed)?;
    let options = Object::new();
    Reflect::set(&options, &"signal".into(), &abort.signal()).map_err(failed)?;
    let promise = complete.call2(&JsValue::UNDEFINED, &request, &options).map_err(failed)?;
    let answer = JsFuture::from(Promise::resolve(&promise)).await.map_err(failed)?;
    if let Some(text) = answer.as_string() {
        let _ = take(whole(&text).as_bytes());
        return Ok(Answered::Taken);
    }
    if answer.is_instance_of::<Response>() {
        return Ok(Answered::Response(answer.unchecked_into()));
    }
    let iterate = Reflect::get(&answer, &Symbol::async_iterator()).ok().and_then(|it| it.dyn_into::<Function>().ok());
    match iterate {
        Some(iterate) => {
            let iterator = iterate.call0(&answer).map_err(failed)?.unchecked_into::<AsyncIterator>();
            iterated(&iterator, take).await.map_err(failed)?;
        }
        None if answer.is_object() => {
            let _ = take(text_of(&answer).as_bytes());
        }
        None => {
            let message = "The page's `complete` answered nothing: it has to give a text, a chat completion, an async \
                           iterable of its chunks, or a Response.";
            return Err(error(message.to_owned(), Retry::Fatal));
        }
    }
    Ok(Answered::Taken)
}

/// Chunks as they come. Texts have no end marker of their own: their end is the iterator's.
async fn iterated(iterator: &AsyncIterator, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), JsValue> {
    let mut texts = false;
    loop {
        let next = JsFuture::from(iterator.next()?).await?;
        if Reflect::get(&next, &"done".into())?.is_truthy() {
            break;
        }
        let value = Reflect::get(&next, &"value".into())?;
        let chunk = match value.as_string() {
            Some(text) => {
                texts = true;
                json!({ "choices": [{ "delta": { "content": text } }] }).to_string()
            }
            None => text_of(&value),
        };
        if take(chunk.as_bytes()).is_break() {
            // Lets a generator clean up; what it says then does not matter.
            if let Ok(end) = Reflect::get(iterator, &"return".into()).and_then(JsCast::dyn_into::<Function>) {
                let _ = end.call0(iterator);
            }
            return Ok(());
        }
    }
    if texts {
        let _ = take(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string().as_bytes());
    }
    Ok(())
}

fn whole(text: &str) -> String {
    json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }] }).to_string()
}

fn text_of(value: &JsValue) -> String {
    JSON::stringify(value).ok().and_then(|text| text.as_string()).unwrap_or_default()
}

/// What the page threw. With a `status` it is judged as that answer of a server; `retryAfterMs` is the wait it asks for.
fn thrown_error(provider: &ProviderConfig, thrown: &JsValue) -> ModelError {
    let number = |key: &str| Reflect::get(thrown, &key.into()).ok().and_then(|value| value.as_f64());
    let words = js::error_text(thrown);
    let mut error = match number("status").filter(|status| (400.0..600.0).contains(status)) {
        Some(status) => {
            let body = json!({ "error": { "message": words } }).to_string();
            let now = EpochMillis(js::epoch_ms());
            classify_response(provider, status as u16, RetryHeaders::default(), "application/json", &body, now)
        }
        None => error(format!("The page's model failed: {words}"), Retry::Yes),
    };
    if let (Retry::Yes, Some(ms)) = (error.retry, number("retryAfterMs").filter(|ms| *ms >= 0.0)) {
        error.retry_after_ms = Some(ms as u64);
    }
    error
}

fn error(message: String, retry: Retry) -> ModelError {
    ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry }
}
