//! Globals that pages, workers and Node.js share, and small conversions. `web_sys::window()` is not used for them because
//! the package also runs without a DOM.

use std::cell::RefCell;

use js_sys::{Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use turnwise_llm::Online;
use turnwise_llm::address::ServerAddress;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch)]
    fn global_fetch(template: &web_sys::Request, init: &web_sys::RequestInit) -> Promise;

    #[wasm_bindgen(js_name = setTimeout)]
    pub fn set_timeout(callback: &Function, ms: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    pub fn clear_timeout(handle: &JsValue);

    /// Milliseconds on a clock that never goes back.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub fn now() -> f64;

    /// The result of a stream's reader.
    pub type Chunk;
    #[wasm_bindgen(method, getter, structural)]
    pub fn done(this: &Chunk) -> bool;
    #[wasm_bindgen(method, getter, structural)]
    pub fn value(this: &Chunk) -> Option<Uint8Array>;

    /// `then` with functions that are kept and reused, instead of two new closures per promise.
    pub type Thenable;
    #[wasm_bindgen(method, js_name = then)]
    pub fn then_call(this: &Thenable, fulfilled: &Function, rejected: &Function) -> JsValue;
}

/// The longest delay of `setTimeout`; beyond it the browser fires immediately.
pub const MAX_DELAY: f64 = 2_147_483_647.0;

/// Returns the wall-clock time in milliseconds since 1970.
#[must_use]
pub fn epoch_ms() -> u64 {
    js_sys::Date::now() as u64
}

/// Returns the message of a thrown or rejected value, including its cause (where Node.js hides the reason of a failed fetch).
#[must_use]
pub fn error_text(value: &JsValue) -> String {
    let message = |v: &JsValue| Reflect::get(v, &"message".into()).ok().and_then(|m| m.as_string());
    let Some(text) = value.as_string().or_else(|| message(value)) else {
        return js_sys::JSON::stringify(value)
            .ok()
            .and_then(|t| t.as_string())
            .unwrap_or_else(|| "unknown error".into());
    };
    match Reflect::get(value, &"cause".into()).ok().and_then(|cause| message(&cause)) {
        Some(cause) if !cause.is_empty() => text + ": " + &cause,
        _ => text,
    }
}

/// Returns `navigator.onLine`, if it exists.
#[must_use]
pub fn online() -> Online {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).unwrap_or_default();
    match Reflect::get(&navigator, &"onLine".into()).ok().and_then(|online| online.as_bool()) {
        Some(true) => Online::Yes,
        Some(false) => Online::No,
        None => Online::Unknown,
    }
}

thread_local! {
    /// The page's address, if this code does not run in the page itself.
    static PAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the page that this worker belongs to: relative addresses are resolved against it from now on.
pub fn set_page(address: Option<String>) {
    PAGE.set(address);
}

thread_local! {
    /// Requests to this origin must be below this address; `None`: no restriction.
    static ONLY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Restricts requests to the origin of this address, which ends with a slash, to URLs below it. The page that embeds the
/// frame chooses the addresses of its docs and its model, and must not be able to read or control this origin that way.
pub fn ask_only(below: Option<String>) {
    ONLY.set(below);
}

/// The global `fetch`. The request is a template (address, method, headers); body and signal are in `init`.
pub fn fetch(template: &web_sys::Request, init: &web_sys::RequestInit) -> Promise {
    forbidden(template).map_or_else(|| global_fetch(template, init), |why| Promise::reject(&why))
}

/// Returns the error for a request that [`ask_only`] forbids.
#[must_use]
pub fn forbidden(request: &web_sys::Request) -> Option<js_sys::TypeError> {
    let below = ONLY.with_borrow(Clone::clone)?;
    let url = request.url();
    let origin = |address: &str| web_sys::Url::new(address).map(|url| url.origin()).ok();
    let own = origin(&url) == origin(&below);
    let fits = request.method() == "GET" && url.starts_with(&below);
    let text = || format!("a frame may only load the package from its own origin: {url}");
    (own && !fits).then(|| js_sys::TypeError::new(&text()))
}

/// Returns the scheme, host and port of the page, if there is one.
#[must_use]
pub fn page_origin() -> Option<String> {
    if let Some(page) = PAGE.with_borrow(Clone::clone) {
        return web_sys::Url::new(&page).ok().map(|page| page.origin());
    }
    let location = Reflect::get(&js_sys::global(), &"location".into()).ok()?;
    Reflect::get(&location, &"origin".into()).ok()?.as_string()
}

/// Resolves a URL as the page would. An invalid URL is returned unchanged and fails when it is used.
#[must_use]
pub fn absolute(address: &str) -> String {
    let page = PAGE.with_borrow(Clone::clone);
    let resolved = page.and_then(|page| web_sys::Url::new_with_base(address, &page).ok());
    resolved.map_or_else(|| address.to_owned(), |url| url.href())
}

/// Checks that the browser reads the address of a request as one below this server: the rest of a request's address, such as the
/// name of a model, may come from a record.
///
/// # Errors
/// An `Error` that names the server.
pub fn goes_to(url: &str, server: &ServerAddress) -> Result<(), JsValue> {
    let below = web_sys::Request::new_with_str(&absolute(&server.to_string()))?.url();
    let below = below.trim_end_matches('/');
    match url.strip_prefix(below) {
        Some(rest) if rest.starts_with('/') => Ok(()),
        _ => Err(js_sys::Error::new(&format!("the request would not go to {server}")).into()),
    }
}
