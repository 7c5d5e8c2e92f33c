//! Fetches a page of a documentation site through the host page, if this page is a frame in it with another origin.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Blob};

use crate::shell::{Page, PageOutput, PendingRequest};
use turnwise_docs_index::FetchedPage;
use turnwise_engine::caps::MAX_SITE_FILE;
use turnwise_protocol::ResponseHead;

/// The data received so far.
#[derive(Default)]
struct Fetched {
    head: ResponseHead,
    body: Vec<u8>,
    too_large: bool,
}

/// Returns the body, if there is one and `has_text` says that it counts; `got` receives the rest. `abort` cancels the fetch.
pub(super) async fn fetch(
    page: Rc<dyn Page>,
    got: &mut FetchedPage,
    abort: &AbortController,
    has_text: impl Fn(&FetchedPage) -> bool,
) -> Option<Blob> {
    let fetched: Rc<RefCell<Fetched>> = Rc::default();
    let (sink, late) = (Rc::clone(&fetched), abort.clone());
    let on_piece = move |piece| {
        let fetched = &mut *sink.borrow_mut();
        match piece {
            PageOutput::Head(head) => fetched.head = head,
            PageOutput::Bytes(bytes) if fetched.body.len() + bytes.len() <= MAX_SITE_FILE => fetched.body.extend(bytes),
            PageOutput::Bytes(_) => fetched.too_large = true,
            PageOutput::Asked { .. } => {} // only programs ask
        }
        if fetched.too_large {
            late.abort();
        }
    };
    let PendingRequest { number, answer } = page.fetch(&got.url, Box::new(on_piece));
    let on_abort = Closure::once(move || page.abort(number));
    abort.signal().set_onabort(Some(on_abort.as_ref().unchecked_ref()));
    let answer = answer.await;
    abort.signal().set_onabort(None);
    let Fetched { head, body, too_large } = fetched.take();
    let whole = matches!(answer, Ok(Ok(_))) && !too_large;
    let ResponseHead { status, content_type, etag, last_modified, robots, url, .. } = head;
    got.status = status;
    got.content_type = content_type;
    got.robots = robots.unwrap_or_default();
    got.stamp = [etag, last_modified].into_iter().flatten().find(|stamp| !stamp.is_empty()).unwrap_or_default();
    got.at = url.filter(|url| *url != got.url).unwrap_or_default();
    let blob = || Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(body.as_slice()))).ok();
    (whole && has_text(got)).then(blob).flatten()
}
