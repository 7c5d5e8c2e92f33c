//! Fetches one page of a documentation site.
//!
//! Requests go to the site only, without credentials unless the page asks for them, and no redirect is followed to another
//! origin: in Node.js it could lead into a private network.

use std::rc::Rc;

use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Blob, Request, RequestCredentials, RequestInit, RequestMode, RequestRedirect, Response,
};

use super::bridged;
use crate::shell::{Page, Timeout, js, stream};
use turnwise_docs_index::FetchedPage;
use turnwise_engine::caps::MAX_SITE_FILE;

const DEADLINE_MS: f64 = 30_000.0;
/// Maximum number of consecutive redirects within the site.
const MAX_REDIRECTS: usize = 5;

/// How the pages of one site are fetched.
pub(super) struct Fetcher {
    same_origin: bool,
    credentials: bool,
    /// The host page that fetches for this frame, and an address of its origin.
    bridge: Option<(Rc<dyn Page>, String)>,
    /// The page that the reading begins with. It may be a generator's page for missing ones, with that status.
    first: String,
    /// Aborted when the site is closed.
    closing: Option<AbortController>,
}

impl Fetcher {
    /// `page` is the address of a page of the site.
    pub(super) fn new(page: &str, credentials: bool, bridge: Option<Rc<dyn Page>>) -> Self {
        let origin = js::page_origin().filter(|origin| origin != "null");
        Fetcher {
            same_origin: origin.is_some_and(|origin| page.starts_with(&format!("{origin}/")) || page == origin),
            credentials,
            first: page.split(['#', '?']).next().unwrap_or_default().to_owned(),
            bridge: bridge.map(|host| (host, page.to_owned())),
            closing: AbortController::new().ok(),
        }
    }

    /// Aborts all open requests.
    pub(super) fn close(&self) {
        if let Some(closing) = &self.closing {
            closing.abort();
        }
    }

    /// Fetches one address; any failure is a response without a body.
    pub(super) async fn fetch(&self, url: String) -> (FetchedPage, Option<Blob>) {
        let mut got = FetchedPage { url, ..FetchedPage::default() };
        let body = self.try_fetch(&mut got).await.ok().flatten();
        got.body = body.is_some();
        (got, body)
    }

    async fn try_fetch(&self, got: &mut FetchedPage) -> Result<Option<Blob>, JsValue> {
        let abort = AbortController::new()?;
        let late = abort.clone();
        let _deadline = Timeout::new(DEADLINE_MS, move || late.abort());
        let _closing = self.closing.as_ref().map(|closing| Chained::new(closing, &abort));
        if let Some((host, host_address)) = &self.bridge
            && same_origin(host_address, &got.url)?
        {
            let fetched = bridged::fetch(Rc::clone(host), got, &abort, |got| self.has_text(got)).await;
            let stays = got.at.is_empty() || same_origin(&got.url, &got.at)?;
            return Ok(fetched.filter(|_| stays));
        }
        let Some(response) = self.follow(got, &abort).await? else {
            abort.abort();
            return Ok(None);
        };
        got.status = response.status();
        let header = |name: &str| response.headers().get(name).ok().flatten().unwrap_or_default();
        got.content_type = header("content-type");
        got.robots = header("x-robots-tag");
        let stamps = [header("etag"), header("last-modified")];
        got.stamp = stamps.into_iter().find(|stamp| !stamp.is_empty()).unwrap_or_default();
        let large = header("content-length").parse::<f64>().is_ok_and(|length| length > MAX_SITE_FILE as f64);
        let blob = match response.body() {
            Some(body) if self.has_text(got) && !large => stream::read_blob(&body, MAX_SITE_FILE).await?,
            _ => None,
        };
        if blob.is_none() {
            abort.abort();
        }
        Ok(blob)
    }

    /// Whether a response is the text of what was requested.
    fn has_text(&self, got: &FetchedPage) -> bool {
        (200..300).contains(&got.status) || got.status == 404 && got.url == self.first
    }

    /// Sends a request and follows redirects within its origin. `None`: it was redirected elsewhere, and `got` says where.
    async fn follow(&self, got: &mut FetchedPage, abort: &AbortController) -> Result<Option<Response>, JsValue> {
        // A browser does not reveal a redirect's target. For the page's own origin, the request mode blocks redirects to other
        // origins; for other sites, a request is repeated with `follow` only once it turns out to be redirected.
        let mut redirect = if self.same_origin { RequestRedirect::Follow } else { RequestRedirect::Manual };
        let mut at = got.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&at, redirect, abort).await?;
            got.status = response.status();
            let location = response.headers().get("location")?.filter(|_| (300..400).contains(&got.status));
            if Reflect::get(&response, &"type".into())? == "opaqueredirect" {
                redirect = RequestRedirect::Follow;
            } else if let Some(location) = location {
                at = web_sys::Url::new_with_base(&location, &at)?.href();
                if !same_origin(&got.url, &at)? {
                    got.at = at;
                    return Ok(None);
                }
            } else {
                let found = Some(response.url()).filter(|url| !url.is_empty()).unwrap_or(at);
                let stays = same_origin(&got.url, &found)?;
                if found != got.url {
                    got.at = found;
                }
                return Ok(stays.then_some(response));
            }
        }
        Err(js_sys::Error::new("too many redirects").into())
    }

    async fn request(&self, at: &str, redirect: RequestRedirect, abort: &AbortController) -> Result<Response, JsValue> {
        let init = RequestInit::new();
        init.set_credentials(match self.credentials {
            true => RequestCredentials::Include,
            false => RequestCredentials::Omit,
        });
        init.set_redirect(redirect);
        if self.same_origin {
            // A redirect to another origin fails.
            init.set_mode(RequestMode::SameOrigin);
        }
        let request = Request::new_with_str_and_init(at, &init)?;
        let init = RequestInit::new();
        init.set_signal(Some(&abort.signal()));
        Ok(JsFuture::from(js::fetch(&request, &init)).await?.unchecked_into())
    }
}

fn same_origin(a: &str, b: &str) -> Result<bool, JsValue> {
    Ok(web_sys::Url::new(a)?.origin() == web_sys::Url::new(b)?.origin())
}

/// Aborts one controller when another is aborted, until this is dropped.
struct Chained {
    first: AbortController,
    callback: Closure<dyn FnMut()>,
}

impl Chained {
    fn new(first: &AbortController, then: &AbortController) -> Self {
        let then = then.clone();
        let callback = Closure::<dyn FnMut()>::new(move || then.abort());
        let _ = first.signal().add_event_listener_with_callback("abort", callback.as_ref().unchecked_ref());
        Chained { first: first.clone(), callback }
    }
}

impl Drop for Chained {
    fn drop(&mut self) {
        let _ =
            self.first.signal().remove_event_listener_with_callback("abort", self.callback.as_ref().unchecked_ref());
    }
}
