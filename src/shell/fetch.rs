//! `Effect::CallModel`: one request, streamed and decoded within its deadlines.
//!
//! Each call ends in exactly one `ModelReplied` or `ModelFailed`, unless the engine aborted it. gloo-net builds the
//! request's template and wraps the response; the call itself is the global `fetch`, so that it works in Node.js too.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use gloo_net::http::Response;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortController, RequestInit, RequestRedirect};

use super::reading::Reading;
use super::session::{Session, Ticket};
use super::watch::{Watch, Watchdog};
use super::wire::{How, Job, Template};
use super::{custom, demo, diagnose, gate, in_page, js, stream};
use crate::engine::*;
use crate::llm::{self, Late, RetryHeaders};

/// A request in progress. Dropping it aborts it.
pub(super) struct OpenRequest {
    request: RequestId,
    pub(super) ticket: Ticket,
    abort: Option<AbortController>,
    /// The data received so far, redacted.
    streamed: Rc<RefCell<PartialReply>>,
}

/// The context of a request's task.
pub(super) struct Exchange {
    pub(super) session: Session,
    pub(super) ticket: Ticket,
    pub(super) request: RequestId,
    pub(super) turn: u32,
    pub(super) provider: Rc<ProviderConfig>,
    pub(super) dog: Watchdog,
    pub(super) streamed: Rc<RefCell<PartialReply>>,
}

pub(super) fn call(session: &Session, call: &ModelCall) {
    let (request, turn, ticket) = (call.request, call.turn, session.ticket());
    let (Job { provider, how }, dog) = match session.job(call) {
        Some((Ok(job), dog)) => (job, dog),
        Some((Err(thrown), _)) => {
            return session.send(Event::ModelFailed { request, error: unsendable(&thrown), raw: None });
        }
        None => return,
    };
    let streamed = Rc::default();
    let abort = AbortController::new().ok();
    let open = OpenRequest { request, ticket, abort: abort.clone(), streamed: Rc::clone(&streamed) };
    let exchange = Exchange { session: session.clone(), ticket, request, turn, provider, dog, streamed };
    session.live(|live| live.requests.push(open));
    spawn_local(async move {
        exchange.session.kept().await;
        if !exchange.is_awaited() {
            return;
        }
        let event = match (how, abort) {
            (How::Http { template, body }, Some(abort)) => exchange.over_http(template, &body, abort).await,
            (How::Custom { provider, request }, Some(abort)) => {
                Some(custom::ask(&exchange, provider, &request, &abort).await)
            }
            (How::PromptApi { messages, tools }, Some(abort)) => {
                Some(in_page::prompt_api(&exchange, &messages, &tools, &abort).await)
            }
            (How::Demo { request }, Some(abort)) => demo::ask(&exchange, *request, &abort).await,
            (_, None) => None,
        };
        if let Some(event) = event {
            exchange.end(event);
        }
    });
}

pub(super) fn abort(session: &Session, request: RequestId) {
    let open = session.live(|live| take(&mut live.requests, |open| open.request == request));
    drop(open); // outside the borrow
}

impl OpenRequest {
    /// The data received so far, if any.
    pub(super) fn streamed(&self) -> Option<Event> {
        let partial = self.streamed.borrow().clone();
        (!partial.is_empty()).then_some(Event::ModelStreamed { request: self.request, partial })
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(abort) = self.abort.take() {
            abort.abort();
        }
    }
}

impl Exchange {
    /// Sends the request over HTTP. `None`: it was aborted while it waited for a permit.
    async fn over_http(&self, template: Template, body: &JsValue, abort: AbortController) -> Option<Event> {
        if let Some(why) = js::forbidden(&template.request) {
            return Some(Event::ModelFailed { request: self.request, error: unsendable(&why), raw: None });
        }
        let place = gate::enter(&template.origin).await;
        if !self.is_awaited() {
            return None;
        }
        let init = RequestInit::new();
        init.set_body(body);
        init.set_signal(Some(&abort.signal()));
        // A redirect could lead to another origin, and headers that contain a key would be sent there.
        init.set_redirect(RequestRedirect::Manual);
        let watch = self.dog.watch(abort);
        diagnose::listen();
        let sent = js::now();
        let response = match JsFuture::from(js::fetch(&template.request, &init)).await {
            Ok(response) => Response::from(response.unchecked_into::<web_sys::Response>()),
            Err(reason) => {
                drop(place);
                return self.unreachable(&template, &reason, &watch).await;
            }
        };
        self.session.known().answers(&template.origin);
        watch.progress();
        Some(self.answered(response, &watch, sent).await)
    }

    async fn read(&self, response: Response, watch: &Watch, sent: f64) -> Event {
        let reading = Reading::new(self, sent);
        if let Some(body) = response.body() {
            let (sink, watch) = (reading.clone(), watch.clone());
            // The decoder handles a stream that breaks off: it knows whether the end marker arrived.
            let _ = stream::pump(&body, move |bytes| sink.take_watched(bytes, &watch)).await;
        }
        self.ended(&reading, watch)
    }

    pub(super) async fn answered(&self, response: Response, watch: &Watch, sent: f64) -> Event {
        if llm::is_stream(response.status(), &content_type(&response)) {
            self.read(response, watch, sent).await
        } else {
            self.refused(&response, watch).await
        }
    }

    /// The event for a stream that ended, by itself or because it missed a deadline.
    pub(super) fn ended(&self, reading: &Reading, watch: &Watch) -> Event {
        match (reading.finish(), watch.late()) {
            // A reply whose end marker was seen is complete, even if the connection was never closed.
            (Event::ModelFailed { raw, .. }, Some(late)) => self.too_late(late, raw),
            (event, _) => event,
        }
    }

    /// The event for a model in the page that failed or missed a deadline.
    pub(super) fn failed(&self, error: ModelError, watch: &Watch) -> Event {
        match watch.late() {
            Some(late) => self.too_late(late, None),
            None => Event::ModelFailed { request: self.request, error, raw: None },
        }
    }

    /// Not a completion: an error body or an HTML page.
    async fn refused(&self, response: &Response, watch: &Watch) -> Event {
        watch.begin(); // no reply to wait for
        let text = Rc::new(RefCell::new(Vec::new()));
        if let Some(body) = response.body() {
            let (sink, watch) = (Rc::clone(&text), watch.clone());
            let _ = stream::pump(&body, move |bytes| {
                watch.progress();
                let mut sink = sink.borrow_mut();
                sink.extend_from_slice(bytes);
                if sink.len() > RAW_CAP { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .await;
        }
        let header = |name: &str| response.headers().get(name);
        let retry = RetryHeaders {
            retry_after: header("retry-after"),
            retry_after_ms: header("retry-after-ms"),
            should_retry: header("x-should-retry"),
        };
        self.refusal(response.status(), retry, &content_type(response), text.take())
    }

    pub(super) fn refusal(&self, status: u16, retry: RetryHeaders, content_type: &str, mut bytes: Vec<u8>) -> Event {
        let truncated = bytes.len() > RAW_CAP;
        bytes.truncate(RAW_CAP);
        let raw = RawResponse { text: String::from_utf8_lossy(&bytes).into_owned(), truncated };
        let now = EpochMillis(js::epoch_ms());
        let error = llm::classify_response(&self.provider, status, retry, content_type, &raw.text, now);
        Event::ModelFailed { request: self.request, error, raw: Some(raw) }
    }

    /// The event for a request that got no response. `None`: it was aborted, so nobody needs the reason.
    async fn unreachable(&self, template: &Template, reason: &JsValue, watch: &Watch) -> Option<Event> {
        if let Some(late) = watch.late() {
            return Some(self.too_late(late, None));
        }
        if !self.is_awaited() {
            return None;
        }
        let (words, known) = (js::error_text(reason), self.session.known());
        let error = if known.has_answered(&template.origin) {
            llm::classify_fetch_failure(&self.provider, &words, js::online())
        } else {
            known.diagnose(&self.provider, template, words).await
        };
        Some(Event::ModelFailed { request: self.request, error, raw: None })
    }

    pub(super) fn too_late(&self, (late, after_ms): (Late, u64), raw: Option<RawResponse>) -> Event {
        let error = llm::classify_late(&self.provider, late, after_ms);
        Event::ModelFailed { request: self.request, error, raw }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.session.live(|live| live.requests.iter().any(|open| open.ticket == self.ticket)).unwrap_or(false)
    }

    /// Reports the end, unless the engine no longer waits for it.
    fn end(self, event: Event) {
        let open = self.session.live(|live| take(&mut live.requests, |open| open.ticket == self.ticket)).flatten();
        if let Some(mut open) = open {
            // A stream that ended well is left to close by itself, so that its connection is kept; after a failure, nobody needs
            // the remaining data.
            if matches!(event, Event::ModelReplied { .. }) {
                open.abort = None;
            }
            drop(open);
            self.session.send(event);
        }
    }
}

fn content_type(response: &Response) -> String {
    response.headers().get("content-type").unwrap_or_default()
}

/// The error for a request that the browser did not accept, because of its address or a header.
pub(super) fn unsendable(thrown: &JsValue) -> ModelError {
    let message = format!("the request could not be made: {}", js::error_text(thrown));
    ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry: Retry::Fatal }
}

pub(super) fn take<T>(list: &mut Vec<T>, which: impl Fn(&T) -> bool) -> Option<T> {
    list.iter().position(which).map(|at| list.swap_remove(at))
}
