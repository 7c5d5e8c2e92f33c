//! One real worker: starts and boots it, exchanges messages with it, and ends it when dropped. The pool decides what it runs.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use js_sys::{Array, Function, Object, Promise, Reflect, WebAssembly};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};
use web_sys::{Blob, BlobPropertyBag, MessageEvent, Url, Worker};

use super::awake::{self, Beats};
use turnwise_protocol::tool_worker::WorkerReply;

/// The workers' name in developer tools.
const NAME: &str = "turnwise";

/// A worker with its handlers and its timer.
pub struct LiveWorker {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(JsValue)>,
    /// One closure for all timeouts: creating a closure costs more than arming a timer.
    on_time: Closure<dyn FnMut()>,
    timeout: Option<Armed>,
    /// The wrapper's URL, for a worker from another origin.
    wrapper: Option<String>,
    pub stage: StartStage,
    /// Distinguishes this worker from earlier ones with the same id.
    pub generation: u64,
    /// The version of the workspace that this worker last received.
    pub synced: u64,
    /// The numbers of the schemas this worker has.
    pub schemas: HashSet<u32>,
}

struct Armed {
    timer: JsValue,
    /// In awake time.
    end: f64,
    beats: Beats,
}

/// The progress of a worker's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStage {
    Starting,
    Ready,
}

/// An event from a worker.
pub enum WorkerEvent {
    Reply(WorkerReply, Vec<Blob>),
    /// The armed timeout has elapsed.
    Time,
    /// The worker can no longer be used, for this reason.
    Broken(String),
}

impl LiveWorker {
    /// Starts a worker from the URL of `worker.js` and boots it. `Ready` arrives later.
    ///
    /// # Errors
    /// The error with which the environment refuses the worker.
    pub fn spawn(
        url: &str,
        generation: u64,
        listener: impl Fn(WorkerEvent) + Clone + 'static,
    ) -> Result<LiveWorker, String> {
        let wrapper = wrapper(url)?;
        let worker = construct(wrapper.as_deref().unwrap_or(url))?;
        let on_message = {
            let listener = listener.clone();
            Closure::new(move |event: MessageEvent| listener(heard(&event.data())))
        };
        let on_time = {
            let listener = listener.clone();
            Closure::new(move || listener(WorkerEvent::Time))
        };
        let on_error = {
            let url = url.to_owned();
            Closure::new(move |event: JsValue| listener(WorkerEvent::Broken(error_text(&event, &url))))
        };
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let _ = Reflect::set(&worker, &"onmessageerror".into(), on_error.as_ref());
        boot(worker.clone(), url.to_owned());
        Ok(LiveWorker {
            worker,
            _on_message: on_message,
            _on_error: on_error,
            on_time,
            timeout: None,
            wrapper,
            stage: StartStage::Starting,
            generation,
            synced: 0,
            schemas: HashSet::new(),
        })
    }

    /// Posts one message: the text alone, or an array of the text and the blobs.
    ///
    /// # Errors
    /// If the message cannot be cloned.
    pub fn post(&self, text: &str, blobs: Vec<Blob>) -> Result<(), String> {
        let text = JsValue::from_str(text);
        let message = if blobs.is_empty() {
            text
        } else {
            let mut array = Array::of1(&text);
            array.extend(blobs);
            array.into()
        };
        self.worker.post_message(&message).map_err(|error| js_text(&error))
    }

    /// Reports [`WorkerEvent::Time`] after `ms`, unless it is armed again or disarmed first.
    pub fn arm(&mut self, ms: u64) {
        self.disarm();
        self.wait(Beats::hold(), awake::now() + ms as f64);
    }

    /// The time is up. Returns whether it is for a worker that was awake all the time; otherwise it waits for the rest.
    pub fn is_late(&mut self) -> bool {
        match self.timeout.take() {
            // A timer may fire a moment early.
            Some(armed) if armed.end - awake::now() > 1.0 => {
                self.wait(armed.beats, armed.end);
                false
            }
            armed => armed.is_some(),
        }
    }

    fn wait(&mut self, beats: Beats, end: f64) {
        let left = (end - awake::now()).clamp(0.0, f64::from(i32::MAX));
        let timer = set_timeout(self.on_time.as_ref().unchecked_ref(), left);
        self.timeout = Some(Armed { timer, end, beats });
    }

    pub fn disarm(&mut self) {
        if let Some(armed) = self.timeout.take() {
            clear_timeout(&armed.timer);
        }
    }
}

impl Drop for LiveWorker {
    fn drop(&mut self) {
        self.disarm();
        self.worker.set_onmessage(None);
        // A worker that panics reports it before its error event arrives. An unhandled error event would propagate to the
        // page, as if the worker that runs this code had failed.
        QUIET.with(|quiet| self.worker.set_onerror(Some(quiet.as_ref().unchecked_ref())));
        let _ = Reflect::set(&self.worker, &"onmessageerror".into(), &JsValue::NULL);
        self.worker.terminate();
        if let Some(url) = &self.wrapper {
            let _ = Url::revoke_object_url(url);
        }
    }
}

fn heard(data: &JsValue) -> WorkerEvent {
    let (text, blobs) = match data.dyn_ref::<Array>() {
        Some(parts) => (parts.get(0), parts.iter().skip(1).map(JsCast::unchecked_into).collect()),
        None => (data.clone(), Vec::new()),
    };
    match text.as_string().map(|text| WorkerReply::decode(&text)) {
        Some(Ok(WorkerReply::Fatal { fatal })) => WorkerEvent::Broken(fatal),
        Some(Ok(reply)) => WorkerEvent::Reply(reply, blobs),
        Some(Err(error)) => WorkerEvent::Broken(format!("it posted something that is not a reply: {error}")),
        None => WorkerEvent::Broken("it posted something that is not text".to_owned()),
    }
}

thread_local! {
    /// The host's own function to create workers: from `(url, name)` to an object with the interface of `Worker`.
    static MAKE: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Sets the function that creates all workers from now on. If its property `ownModule` is true, they load their own module.
pub fn make_by(function: Option<Function>) {
    MAKE.set(function);
}

fn brings_its_own() -> bool {
    let own = MAKE.with_borrow(|make| make.as_ref().and_then(|make| Reflect::get(make, &"ownModule".into()).ok()));
    own.is_some_and(|own| own.is_truthy())
}

/// `new Worker(url, {type: "module"})`, or the host's equivalent.
fn construct(url: &str) -> Result<Worker, String> {
    if let Some(make) = MAKE.with_borrow(Clone::clone) {
        let made = make.call2(&JsValue::UNDEFINED, &url.into(), &NAME.into());
        return made.map(JsCast::unchecked_into).map_err(|error| js_text(&error));
    }
    let class = Reflect::get(&js_sys::global(), &"Worker".into()).unwrap_or_default();
    let class: Function = class.dyn_into().map_err(|_| "there are no workers here".to_owned())?;
    let options = object(&[("type", &"module".into()), ("name", &NAME.into())]);
    let worker = Reflect::construct(&class, &Array::of2(&url.into(), &options)).map_err(|error| js_text(&error))?;
    Ok(worker.unchecked_into())
}

/// Returns the URL of a blob that imports the script, because browsers refuse a worker script from another origin. `None` if
/// no wrapper is needed.
fn wrapper(url: &str) -> Result<Option<String>, String> {
    let location = Reflect::get(&js_sys::global(), &"location".into()).unwrap_or_default();
    let Some(origin) = Reflect::get(&location, &"origin".into()).ok().and_then(|origin| origin.as_string()) else {
        return Ok(None);
    };
    let base = Reflect::get(&location, &"href".into()).ok().and_then(|href| href.as_string()).unwrap_or_default();
    let url = Url::new_with_base(url, &base).map_err(|error| js_text(&error))?;
    if url.origin() == origin {
        return Ok(None);
    }
    // A JSON string is also a JavaScript string literal.
    let address = serde_json::Value::String(url.href());
    let classic = url.hash() == CLASSIC;
    let script = if classic { format!("importScripts({address});") } else { format!("import {address};") };
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options);
    let made = blob.and_then(|blob| Url::create_object_url_with_blob(&blob)).map_err(|error| js_text(&error))?;
    Ok(Some(if classic { made + CLASSIC } else { made }))
}

/// Marks the URL of a classic script: some bundlers produce these.
const CLASSIC: &str = "#classic";

/// Sends the worker the compiled module, or `null`: then it loads its own.
fn boot(worker: Worker, url: String) {
    spawn_local(async move {
        let module = JsFuture::from(module(&url)).await.unwrap_or(JsValue::NULL);
        if worker.post_message(&object(&[("boot", &module)])).is_err() {
            let _ = worker.post_message(&object(&[("boot", &JsValue::NULL)]));
        }
    });
}

thread_local! {
    /// Compiled modules by the URL of `worker.js`: compiled once per page, however many hosts it has.
    static MODULES: RefCell<HashMap<String, Promise>> = RefCell::default();
}

/// A promise of the worker's `WebAssembly.Module`, or of `null` if this page cannot get it.
fn module(url: &str) -> Promise {
    let known = MODULES.with_borrow(|modules| modules.get(url).cloned());
    known.unwrap_or_else(|| {
        let promise = future_to_promise(compile(url.to_owned()));
        MODULES.with_borrow_mut(|modules| modules.insert(url.to_owned(), promise.clone()));
        promise
    })
}

async fn compile(url: String) -> Result<JsValue, JsValue> {
    if url.starts_with("file:") || brings_its_own() {
        return Ok(JsValue::NULL);
    }
    // If a bundler has renamed the script, only the worker itself knows where its module is.
    let script = url.split(['?', '#']).next().unwrap_or_default();
    let Some(stem) =
        script.strip_suffix(".js").filter(|stem| stem.ends_with("/worker") || stem.ends_with("/docs-worker"))
    else {
        return Ok(JsValue::NULL);
    };
    let wasm = format!("{stem}_bg.wasm");
    let Ok(fetch) = Reflect::get(&js_sys::global(), &"fetch".into())?.dyn_into::<Function>() else {
        return Ok(JsValue::NULL);
    };
    let response: Promise = fetch.call1(&JsValue::UNDEFINED, &wasm.into())?.unchecked_into();
    Ok(JsFuture::from(WebAssembly::compile_streaming(&response)).await.unwrap_or(JsValue::NULL))
}

thread_local! {
    /// Handles the errors of workers that were ended.
    static QUIET: Closure<dyn FnMut(JsValue)> = Closure::new(|event| take_error(&event));
}

/// Marks the event as handled: it does not propagate, and the console stays quiet.
fn take_error(event: &JsValue) {
    if let Ok(prevent) = Reflect::get(event, &"preventDefault".into())
        && let Some(prevent) = prevent.dyn_ref::<Function>()
    {
        let _ = prevent.call0(event);
    }
}

/// Returns the message of an `error` or `messageerror` event.
fn error_text(event: &JsValue, url: &str) -> String {
    take_error(event);
    match Reflect::get(event, &"message".into()).ok().and_then(|message| message.as_string()) {
        Some(message) if !message.is_empty() => message,
        _ => format!("its script could not be loaded or run ({url})"),
    }
}

fn object(entries: &[(&str, &JsValue)]) -> JsValue {
    let object = Object::new();
    for (key, value) in entries {
        let _ = Reflect::set(&object, &(*key).into(), value);
    }
    object.into()
}

fn js_text(error: &JsValue) -> String {
    String::from(js_sys::Object::from(error.clone()).to_string())
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(then: &Function, ms: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(id: &JsValue);
}
