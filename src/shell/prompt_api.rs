//! The model built into Chrome: its availability, its download, and requests to it.
//!
//! It exists in windows only, not in workers. Every request gets its own session, created from the conversation so far: no
//! state of a run is kept where a record could not show it.

use std::ops::ControlFlow;

use js_sys::{Array, Function, JSON, Object, Promise, Reflect};
use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use super::js;
use turnwise_engine::{Message, ModelError, Retry, Slug, ToolSpec};
use turnwise_llm::prompt_api::{Prompt, Tools, completion, prompt};

/// The state of the built-in model on this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The browser has no Prompt API.
    Unsupported,
    /// The browser has the API, but the device or its settings do not allow the model.
    Unavailable,
    Downloadable,
    Downloading,
    Available,
}

/// Asks the browser for the model's state.
pub async fn availability() -> Availability {
    state(&expected(false)).await
}

/// Downloads the model; `on_progress` receives the downloaded fraction, 0 to 1. Requires a recent click.
///
/// # Errors
/// Why the download failed, for users.
pub async fn download(on_progress: impl Fn(f64) + 'static) -> Result<(), String> {
    let text = |thrown: JsValue| js::error_text(&thrown);
    let listen = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
        let loaded = Reflect::get(&event, &"loaded".into()).ok().and_then(|loaded| loaded.as_f64());
        on_progress(loaded.unwrap_or(0.0));
    });
    let listener = listen.as_ref().clone();
    let monitor = Closure::<dyn Fn(JsValue)>::new(move |monitor: JsValue| {
        let _ = method(&monitor, "addEventListener", &["downloadprogress".into(), listener.clone()]);
    });
    let options = Object::new();
    Reflect::set(&options, &"monitor".into(), monitor.as_ref()).map_err(text)?;
    let model = language_model().ok_or("This browser has no built-in model.")?;
    let session = settled(method(&model, "create", &[options.into()])).await.map_err(text)?;
    let _ = method(&session, "destroy", &[]);
    Ok(())
}

/// Sends one request. `take` receives the response as the bytes of a chat stream.
///
/// # Errors
/// Classifies what the browser threw.
pub(super) async fn ask(
    messages: &[Message],
    tools: &[ToolSpec],
    abort: &AbortController,
    take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), ModelError> {
    match availability().await {
        Availability::Available => {}
        Availability::Unsupported => {
            return Err(fatal(
                "This browser has no built-in model. Chrome on a desktop has one: use it, or choose another provider.",
            ));
        }
        Availability::Unavailable => {
            return Err(fatal(
                "Chrome's built-in model is not available on this device: it needs a recent Chrome, about 22 GB of free disk \
                 space, and a strong enough graphics card or processor. chrome://on-device-internals says what is missing.",
            ));
        }
        Availability::Downloadable | Availability::Downloading => {
            return Err(fatal(
                "Chrome's built-in model is not downloaded yet: download it in the settings, then run again.",
            ));
        }
    }
    let (session, asked) = session(messages, tools, abort).await.map_err(|thrown| judged(&thrown))?;
    let answered = answer(&session, &asked, tools.is_empty(), abort, take).await;
    let _ = method(&session, "destroy", &[]);
    answered.map_err(|thrown| judged(&thrown))
}

/// Creates a session that has the conversation, with native tools, or with tools described in the prompt if the browser
/// refuses native ones.
async fn session(
    messages: &[Message],
    tools: &[ToolSpec],
    abort: &AbortController,
) -> Result<(JsValue, Prompt), JsValue> {
    let model = language_model().ok_or_else(|| JsValue::from("the built-in model is gone"))?;
    let native = expected(true);
    if !tools.is_empty() && state(&native).await == Availability::Available {
        let asked = prompt(messages, tools, Tools::Native);
        // Some browsers report that tools are available and then refuse the session.
        if let Ok(session) = settled(method(&model, "create", &[options(&asked, &native, abort)?])).await {
            return Ok((session, asked));
        }
    }
    let asked = prompt(messages, tools, Tools::Described);
    let session = settled(method(&model, "create", &[options(&asked, &expected(false), abort)?])).await?;
    Ok((session, asked))
}

async fn answer(
    session: &JsValue,
    asked: &Prompt,
    stream: bool,
    abort: &AbortController,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), JsValue> {
    let options = Object::new();
    Reflect::set(&options, &"signal".into(), &abort.signal())?;
    if let Some(constraint) = &asked.constraint {
        Reflect::set(&options, &"responseConstraint".into(), &js_value(constraint)?)?;
    }
    let arguments = [js_value(&asked.ask)?, options.into()];
    if stream {
        let reader = method(&method(session, "promptStreaming", &arguments)?, "getReader", &[])?;
        loop {
            let next = settled(method(&reader, "read", &[])).await?;
            let done = Reflect::get(&next, &"done".into())?.is_truthy();
            let text = Reflect::get(&next, &"value".into())?.as_string().unwrap_or_default();
            let finish = if done { json!("stop") } else { Value::Null };
            let chunk = json!({ "choices": [{ "delta": { "content": text }, "finish_reason": finish }] });
            if take(chunk.to_string().as_bytes()).is_break() || done {
                return Ok(());
            }
        }
    }
    let answer = settled(method(session, "prompt", &arguments)).await?;
    let answer = JSON::stringify(&answer)?.as_string().unwrap_or_default();
    let answer: Value = serde_json::from_str(&answer).unwrap_or(Value::Null);
    let _ = take(completion(&answer, asked.constraint.is_some()).to_string().as_bytes());
    Ok(())
}

fn options(asked: &Prompt, expected: &Value, abort: &AbortController) -> Result<JsValue, JsValue> {
    let options = js_value(&json!({ "initialPrompts": asked.initial }))?;
    if asked.tools.as_array().is_some_and(|tools| !tools.is_empty()) {
        Reflect::set(&options, &"tools".into(), &js_value(&asked.tools)?)?;
    }
    Object::<JsValue>::assign(options.unchecked_ref(), js_value(expected)?.unchecked_ref::<Object>());
    Reflect::set(&options, &"signal".into(), &abort.signal())?;
    Ok(options)
}

/// The inputs and outputs of a session. Browsers require the languages, and refuse any that the model does not support.
fn expected(tools: bool) -> Value {
    let text = json!({ "type": "text", "languages": [language()] });
    let sorts = |other: &str| match tools {
        true => json!([text, { "type": other }]),
        false => json!([text]),
    };
    json!({ "expectedInputs": sorts("tool-response"), "expectedOutputs": sorts("tool-call") })
}

/// The user's language if the model supports it, otherwise English.
fn language() -> &'static str {
    const KNOWN: [&str; 5] = ["en", "es", "ja", "de", "fr"];
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).unwrap_or_default();
    let language = Reflect::get(&navigator, &"language".into()).ok().and_then(|language| language.as_string());
    KNOWN.into_iter().find(|known| language.as_deref().is_some_and(|own| own.starts_with(known))).unwrap_or("en")
}

async fn state(options: &Value) -> Availability {
    let Some(model) = language_model() else { return Availability::Unsupported };
    let options = js_value(options).ok().filter(|options| options.is_object());
    let asked = method(&model, "availability", &options.into_iter().collect::<Vec<_>>());
    match settled(asked).await.ok().and_then(|said| said.as_string()).as_deref() {
        Some("available" | "readily") => Availability::Available,
        Some("downloadable" | "after-download") => Availability::Downloadable,
        Some("downloading") => Availability::Downloading,
        _ => Availability::Unavailable,
    }
}

/// The `LanguageModel` global, detected by its method rather than its type: some browsers define the name without the model.
fn language_model() -> Option<JsValue> {
    let model = Reflect::get(&js_sys::global(), &"LanguageModel".into()).ok()?;
    let asks = Reflect::get(&model, &"availability".into()).ok()?;
    asks.is_function().then_some(model)
}

fn js_value(value: &Value) -> Result<JsValue, JsValue> {
    Ok(value.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?)
}

fn method(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function = Reflect::get(object, &name.into())?.dyn_into::<Function>()?;
    function.apply(object, &arguments.iter().collect::<Array>())
}

async fn settled(promise: Result<JsValue, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&promise?)).await
}

fn judged(thrown: &JsValue) -> ModelError {
    let name = Reflect::get(thrown, &"name".into()).ok().and_then(|name| name.as_string()).unwrap_or_default();
    let text = js::error_text(thrown);
    let error = |slug, message: String, retry| ModelError { slug, message, status: None, retry_after_ms: None, retry };
    match name.as_str() {
        "QuotaExceededError" => error(
            Slug::ContextGuard,
            format!("The conversation is too long for Chrome's built-in model. It says: {text}"),
            Retry::Fatal,
        ),
        "NotSupportedError" | "NotAllowedError" | "TypeError" => {
            fatal(&format!("Chrome's built-in model refused the request. It says: {text}"))
        }
        _ => error(Slug::ProviderError, format!("Chrome's built-in model failed. It says: {text}"), Retry::Yes),
    }
}

fn fatal(message: &str) -> ModelError {
    let message = message.to_owned();
    ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry: Retry::Fatal }
}
