//! `Effect::CallModel`: one request, streamed and decoded within its deadlines.
//!
//! Each call ends in exactly one `ModelReplied` or `ModelFailed`, unless the engine aborted it. gloo-net builds the
//! request's template and wraps the response; the call itself is the global `fetch`, so that it works in Node.js too.

use std::cell::RefCell;
use std::future::Future;
use std::ops::ControlFlow;
use std::rc::Rc;

use gloo_net::http::Response;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, RequestInit, RequestRedirect};

use super::exchange::{RequestContext, unsendable};
use super::live::{OpenRequest, TaskTicket, take};
use super::session::Session;
use super::watch::WatchedRequest;
use super::wire::{ReadyRequest, Template, Transport};
use super::{custom, demo, diagnose, gate, js, network, prompt_api, stream};
use turnwise_engine::caps::RAW_CAP;
use turnwise_engine::{Event, Message, ModelCall, RequestId, ToolSpec};
use turnwise_llm::RetryHeaders;
use turnwise_llm::address::{self, AddressSpace};

/// Registers a request, and returns the future that sends it. `None`: the engine no longer waits for it.
pub(super) fn call(session: &Session, call: &ModelCall) -> impl Future<Output = Option<Event>> + use<> {
    let (request, turn, ticket) = (call.request, call.turn, session.ticket());
    let job = session.job(call);
    let streamed = Rc::default();
    let abort = AbortController::new().ok();
    let open = OpenRequest { request, ticket, abort: abort.clone(), streamed: Rc::clone(&streamed) };
    session.live(|live| live.requests.push(open));
    let session = session.clone();
    async move {
        let event = match job? {
            (Ok(ReadyRequest { provider, how }), dog) => {
                let session = session.clone();
                let keyed = !matches!(&how, Transport::Http { template, .. } if !template.keyed);
                let exchange = RequestContext { session, ticket, request, turn, provider, dog, streamed, keyed };
                exchange.send(how, abort?).await?
            }
            (Err(thrown), _) => Event::ModelFailed { request, error: unsendable(&thrown), raw: None },
        };
        close(&session, ticket, event)
    }
}

/// Closes a request that has ended. `None`: the engine no longer waits for it.
fn close(session: &Session, ticket: TaskTicket, event: Event) -> Option<Event> {
    let mut open = session.live(|live| take(&mut live.requests, |open| open.ticket == ticket)).flatten()?;
    // A stream that ended well is left to close by itself, so that its connection is kept; after a failure, nobody needs
    // the remaining data.
    if matches!(event, Event::ModelReplied { .. }) {
        open.abort = None;
    }
    Some(event)
}

pub(super) fn abort(session: &Session, request: RequestId) {
    let open = session.live(|live| take(&mut live.requests, |open| open.request == request));
    drop(open); // outside the borrow
}

impl RequestContext {
    async fn send(&self, how: Transport, abort: AbortController) -> Option<Event> {
        self.session.kept().await;
        if !self.is_awaited() {
            return None;
        }
        match how {
            Transport::Http { template, body } => self.over_http(template, &body, abort).await,
            Transport::Custom { provider, request } => Some(custom::ask(self, provider, &request, &abort).await),
            Transport::PromptApi { messages, tools } => Some(self.to_browser(&messages, &tools, &abort).await),
            Transport::Demo { request } => demo::ask(self, *request, &abort).await,
        }
    }

    /// Sends the request to the browser's built-in model.
    async fn to_browser(&self, messages: &[Message], tools: &[ToolSpec], abort: &AbortController) -> Event {
        let (reading, watch) = self.watched_reading(abort);
        let (sink, noted) = (reading.clone(), watch.clone());
        match prompt_api::ask(messages, tools, abort, move |bytes| sink.take_watched(bytes, &noted)).await {
            Ok(()) => self.ended(&reading, &watch),
            Err(error) => self.failed(error, &watch),
        }
    }

    /// Sends the request over HTTP. `None`: it was aborted while it waited for the network or for a permit.
    async fn over_http(&self, template: Template, body: &JsValue, abort: AbortController) -> Option<Event> {
        if let Some(why) = js::forbidden(&template.request) {
            return Some(Event::ModelFailed { request: self.request, error: unsendable(&why), raw: None });
        }
        if self.session.waits_for_network() && address::space(&template.origin) != AddressSpace::Loopback {
            network::back().await;
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

    async fn read(&self, response: Response, watch: &WatchedRequest, sent: f64) -> Event {
        let reading = self.reading(sent);
        if let Some(body) = response.body() {
            let (sink, watch) = (reading.clone(), watch.clone());
            // The decoder handles a stream that breaks off: it knows whether the end marker arrived.
            let _ = stream::pump(&body, move |bytes| sink.take_watched(bytes, &watch)).await;
        }
        self.ended(&reading, watch)
    }

    pub(super) async fn answered(&self, response: Response, watch: &WatchedRequest, sent: f64) -> Event {
        if turnwise_llm::is_stream(response.status(), &content_type(&response)) {
            self.read(response, watch, sent).await
        } else {
            self.refused(&response, watch).await
        }
    }

    /// Not a completion: an error body or an HTML page.
    async fn refused(&self, response: &Response, watch: &WatchedRequest) -> Event {
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
        self.refusal(response.status(), &retry, &content_type(response), text.take())
    }

    /// The event for a request that got no response. `None`: it was aborted, so nobody needs the reason.
    async fn unreachable(&self, template: &Template, reason: &JsValue, watch: &WatchedRequest) -> Option<Event> {
        if let Some(late) = watch.late() {
            return Some(self.too_late(late, None));
        }
        if !self.is_awaited() {
            return None;
        }
        let (text, known) = (js::error_text(reason), self.session.known());
        let error = if known.has_answered(&template.origin) {
            turnwise_llm::classify_fetch_failure(&self.provider, &text, js::online())
        } else {
            known.diagnose(&self.provider, template, text).await
        };
        Some(Event::ModelFailed { request: self.request, error, raw: None })
    }
}

fn content_type(response: &Response) -> String {
    response.headers().get("content-type").unwrap_or_default()
}
