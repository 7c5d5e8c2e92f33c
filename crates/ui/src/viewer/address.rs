//! The record named in the page's address: `?trajectory=path/to/file.json`, a file of the same site.
//!
//! Records of other sites are refused: a link must not make a page show what its owner did not put there.

use gloo_net::http::{Request, Response};
use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, ReadableStreamDefaultReader, RequestRedirect, Url};

use turnwise_content::format::bytes;
use turnwise_protocol::record::OpenError;

use crate::browser::dom;
use crate::state::App;
use crate::viewer::open::open_text;

/// The name of the URL parameter.
const NAME: &str = "trajectory";

/// Opens the record, if the address names one.
pub fn open(app: App) {
    let here = dom::window().location().href().ok().and_then(|href| Url::new(&href).ok());
    let Some((here, path)) = here.and_then(|here| Some((here.clone(), here.search_params().get(NAME)?))) else {
        return;
    };
    match on_this_site(&here, &path) {
        Ok(url) => spawn_local(async move {
            let name = url.pathname().rsplit('/').next().unwrap_or_default().to_owned();
            if let Err(why) = fetch_and_open(app, &url, &name).await {
                app.complain(why);
            }
        }),
        Err(why) => app.complain(why),
    }
}

/// Returns the name of the record that the address names.
pub fn named() -> Option<String> {
    let here = Url::new(&dom::window().location().href().ok()?).ok()?;
    let path = here.search_params().get(NAME)?;
    path.rsplit('/').next().map(str::to_owned)
}

/// Returns the URL of the file. `?trajectory=` accepts only a path on this site.
fn on_this_site(here: &Url, path: &str) -> Result<Url, String> {
    let url = Url::new_with_base(path, &dom::beside(""))
        .map_err(|_| format!("\"{path}\" is not a path. After ?trajectory=, give the path of a file on this site."))?;
    let web = matches!(url.protocol().as_str(), "http:" | "https:");
    if web && url.origin() == here.origin() {
        return Ok(url);
    }
    Err(format!(
        "The record at {path} is on another site and was not opened. Download it and drop the file on this page."
    ))
}

async fn fetch_and_open(app: App, url: &Url, name: &str) -> Result<(), String> {
    app.progress(format!("Fetching {name}"));
    let path = url.pathname();
    let unreachable = |_| format!("{path} could not be fetched. Check that you are online, and load the page again.");
    let response = Request::get(&url.href()).redirect(RequestRedirect::Error).send().await.map_err(unreachable)?;
    if !response.ok() {
        let status = response.status();
        return Err(format!("There is no record at {path} (HTTP {status}). Check the address after ?trajectory=."));
    }
    let record = body(app, name, &response)
        .await
        .ok_or_else(|| format!("The download of {path} was interrupted. Reload the page to try again."))?;
    match open_text(app, Some(name), &record).await {
        Ok(()) => {
            app.tell(format!("Opened {name} (read-only)."));
            Ok(())
        }
        Err(OpenError::NotJson | OpenError::OtherFormat) => Err(format!(
            "{path} is not a trajectory. After ?trajectory=, give the path of a trajectory that Turnwise wrote."
        )),
        Err(OpenError::Unreadable(why)) => Err(format!("{path} was not opened. {why}")),
    }
}

/// Reads the response body, and reports the progress.
async fn body(app: App, name: &str, response: &Response) -> Option<Blob> {
    let length: Option<u64> = response.headers().get("content-length").and_then(|length| length.parse().ok());
    let reader: ReadableStreamDefaultReader = response.body()?.get_reader().dyn_into().ok()?;
    let (parts, mut come) = (Array::new(), 0u64);
    let mut reported = 0u64;
    loop {
        let part = JsFuture::from(reader.read()).await.ok()?;
        if Reflect::get(&part, &JsValue::from_str("done")).is_ok_and(|done| done.is_truthy()) {
            return Blob::new_with_u8_array_sequence(&parts).ok();
        }
        let bytes_of: Uint8Array = Reflect::get(&part, &JsValue::from_str("value")).ok()?.dyn_into().ok()?;
        come += u64::from(bytes_of.length());
        parts.push(&bytes_of);
        if come > reported + 256 * 1024 {
            reported = come;
            let of = length.filter(|length| *length >= come).map(|length| format!(" of {}", bytes(length)));
            app.progress(format!("Fetching {name}: {}{}", bytes(come), of.unwrap_or_default()));
        }
    }
}
