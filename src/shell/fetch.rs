//! `Effect::CallModel`: one request, streamed, decoded, watched by two deadlines.
//!
//! Each call ends in exactly one `ModelReplied` or `ModelFailed`, unless the engine aborted it. gloo-net builds the
//! request's template and wraps the response; the call itself is the global `fetch`, so that it works in Node.js too.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use gloo_net::http::Response;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{AbortController, RequestInit};

use super::session::{Notice, Session, Ticket};
use super::watch::{Late, Watch, Watchdog};
use super::wire::{How, Job, Template};
use super::{custom, demo, gate, js, prompt_api, stream};
use crate::engine::*;
use crate::llm::{self, Decoder, RetryHeaders};
use crate::trajectory::redact::StreamScrub;

/// A request under way. Dropped, it is aborted.
pub(super) struct OpenRequest {
    request: RequestId,
    ticket: Ticket,
    abort: Option<AbortController>,
}

/// What a task needs to know of its request.
pub(super) struct Exchange {
    pub(super) session: Session,
    ticket: Ticket,
    pub(super) request: RequestId,
    turn: u32,
    pub(super) provider: Rc<ProviderConfig>,
    dog: Watchdog,
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
    let exchange = Exchange { session: session.clone(), ticket, request, turn, provider, dog };
    let abort = AbortController::new().ok();
    session.live(|live| live.requests.push(OpenRequest { request, ticket, abort: abort.clone() }));
    spawn_local(async move {
        let event = match (how, abort) {
            (How::Http { template, body }, Some(abort)) => exchange.over_http(template, &body, abort).await,
            (How::Custom { complete, request }, Some(abort)) => {
                Some(exchange.with_custom(&complete, &request, abort).await)
            }
            (How::PromptApi { messages, tools }, Some(abort)) => {
                Some(exchange.with_prompt_api(&messages, &tools, abort).await)
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

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(abort) = self.abort.take() {
            abort.abort();
        }
    }
}

impl Exchange {
    /// `None`: aborted while it waited for its place.
    async fn over_http(&self, template: Template, body: &JsValue, abort: AbortController) -> Option<Event> {
        let _place = gate::enter(&template.origin).await;
        if !self.is_awaited() {
            return None;
        }
        let init = RequestInit::new();
        init.set_body(body);
        init.set_signal(Some(&abort.signal()));
        let watch = self.dog.watch(abort);
        let sent = js::now();
        let response = match JsFuture::from(js::fetch(&template.request, &init)).await {
            Ok(response) => Response::from(response.unchecked_into::<web_sys::Response>()),
            Err(reason) => return Some(self.unreachable(&reason, &watch)),
        };
        watch.progress();
        Some(self.answered(response, &watch, sent).await)
    }

    async fn read(&self, response: Response, watch: &Watch, sent: f64) -> Event {
        let reading = Reading::new(self, sent);
        if let Some(body) = response.body() {
            let (sink, watch) = (reading.clone(), watch.clone());
            // A stream that breaks off is the decoder's to judge: it knows whether the end marker was there.
            let _ = stream::pump(&body, move |bytes| {
                watch.progress();
                sink.take(bytes)
            })
            .await;
        }
        self.ended(&reading, watch)
    }

    async fn with_custom(&self, complete: &js_sys::Function, request: &[u8], abort: AbortController) -> Event {
        let (reading, watch) = (Reading::new(self, js::now()), self.dog.watch(abort.clone()));
        let (sink, progress) = (reading.clone(), watch.clone());
        let take = move |bytes: &[u8]| {
            progress.progress();
            sink.take(bytes)
        };
        match custom::ask(complete, &self.provider, request, &abort, take).await {
            Ok(custom::Answered::Response(response)) => {
                self.answered(Response::from(response), &watch, js::now()).await
            }
            Ok(custom::Answered::Taken) => self.ended(&reading, &watch),
            Err(error) => self.failed(error, &watch),
        }
    }

    async fn with_prompt_api(&self, messages: &[Message], tools: &[ToolSpec], abort: AbortController) -> Event {
        let (reading, watch) = (Reading::new(self, js::now()), self.dog.watch(abort.clone()));
        let (sink, progress) = (reading.clone(), watch.clone());
        let take = move |bytes: &[u8]| {
            progress.progress();
            sink.take(bytes)
        };
        match prompt_api::ask(messages, tools, &abort, take).await {
            Ok(()) => self.ended(&reading, &watch),
            Err(error) => self.failed(error, &watch),
        }
    }

    async fn answered(&self, response: Response, watch: &Watch, sent: f64) -> Event {
        if llm::is_stream(response.status(), &content_type(&response)) {
            self.read(response, watch, sent).await
        } else {
            self.refused(&response, watch).await
        }
    }

    /// A stream came to its end, by itself or because it was late.
    fn ended(&self, reading: &Reading, watch: &Watch) -> Event {
        match watch.late() {
            Some(late) => self.too_late(late, reading.raw()),
            None => reading.finish(),
        }
    }

    /// A model in the page failed, or was ended for being late.
    fn failed(&self, error: ModelError, watch: &Watch) -> Event {
        match watch.late() {
            Some(late) => self.too_late(late, None),
            None => Event::ModelFailed { request: self.request, error, raw: None },
        }
    }

    /// An answer that is none: an error, or a page.
    async fn refused(&self, response: &Response, watch: &Watch) -> Event {
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

    fn unreachable(&self, reason: &JsValue, watch: &Watch) -> Event {
        match watch.late() {
            Some(late) => self.too_late(late, None),
            None => {
                let error = llm::classify_fetch_failure(&self.provider, &js::error_text(reason), js::online());
                Event::ModelFailed { request: self.request, error, raw: None }
            }
        }
    }

    pub(super) fn too_late(&self, late: Late, raw: Option<RawResponse>) -> Event {
        let message = match late {
            Late::Headers { after_ms } => format!("the server did not answer within {after_ms} ms"),
            Late::Stream { after_ms } => format!("the stream was silent for {after_ms} ms"),
        };
        let error = ModelError { slug: Slug::Timeout, message, status: None, retry_after_ms: None, retry: Retry::Yes };
        Event::ModelFailed { request: self.request, error, raw }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.session.live(|live| live.requests.iter().any(|open| open.ticket == self.ticket)).unwrap_or(false)
    }

    /// Reports the end, unless the engine no longer waits for it.
    fn end(self, event: Event) {
        let open = self.session.live(|live| take(&mut live.requests, |open| open.ticket == self.ticket)).flatten();
        if let Some(mut open) = open {
            // Nothing to abort any more. A stream that ended is left to close by itself, so that its connection is kept.
            open.abort = None;
            self.session.send(event);
        }
    }
}

/// A stream being decoded.
#[derive(Clone)]
pub(super) struct Reading(Rc<ReadingState>);

struct ReadingState {
    session: Session,
    ticket: Ticket,
    request: RequestId,
    turn: u32,
    sent: f64,
    decoder: RefCell<Option<Decoder>>,
    /// What observers are told of the text and the reasoning.
    shown: RefCell<[StreamScrub; 2]>,
    first_token_ms: RefCell<Option<u64>>,
}

impl Reading {
    pub(super) fn new(exchange: &Exchange, sent: f64) -> Self {
        Reading(Rc::new(ReadingState {
            session: exchange.session.clone(),
            ticket: exchange.ticket,
            request: exchange.request,
            turn: exchange.turn,
            sent,
            decoder: RefCell::new(Some(Decoder::new(exchange.provider.kind))),
            shown: RefCell::default(),
            first_token_ms: RefCell::default(),
        }))
    }

    /// Decodes a chunk and passes on what it added. Breaks once the reply is whole.
    pub(super) fn take(&self, bytes: &[u8]) -> ControlFlow<()> {
        let state = &self.0;
        let mut decoder = state.decoder.borrow_mut();
        let Some(decoder) = decoder.as_mut() else { return ControlFlow::Break(()) };
        if let Some(delta) = decoder.push(bytes) {
            let elapsed = || (js::now() - state.sent) as u64;
            state.first_token_ms.borrow_mut().get_or_insert_with(elapsed);
            let (text, reasoning) = {
                let (secrets, [text, reasoning]) = (state.session.secrets(), &mut *state.shown.borrow_mut());
                (text.push(secrets, delta.text), reasoning.push(secrets, delta.reasoning))
            };
            self.tell(&text, &reasoning);
        }
        if decoder.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tell(&self, text: &str, reasoning: &str) {
        let (child, turn) = (self.0.request.child(), self.0.turn);
        if !reasoning.is_empty() {
            self.notify(Notice::ReasoningDelta { child, turn, text: reasoning });
        }
        if !text.is_empty() {
            self.notify(Notice::TextDelta { child, turn, text });
        }
    }

    /// Late deltas are dropped: the engine may have ended this request in the meantime.
    fn notify(&self, notice: Notice<'_>) {
        let awaited = self.0.session.live(|live| live.requests.iter().any(|open| open.ticket == self.0.ticket));
        if awaited == Some(true) {
            self.0.session.notify(notice);
        }
    }

    pub(super) fn raw(&self) -> Option<RawResponse> {
        self.0.decoder.take().map(|decoder| decoder.finish().1)
    }

    pub(super) fn finish(&self) -> Event {
        let [text, reasoning] = self.0.shown.take();
        let secrets = self.0.session.secrets();
        self.tell(&text.finish(secrets), &reasoning.finish(secrets));
        let (request, first_token_ms) = (self.0.request, self.0.first_token_ms.take());
        match self.0.decoder.take().map(Decoder::finish) {
            Some((Ok(reply), raw)) => Event::ModelReplied { request, reply, raw: Some(raw), first_token_ms },
            Some((Err(error), raw)) => Event::ModelFailed { request, error, raw: Some(raw) },
            None => Event::ModelFailed { request, error: unsendable(&"the stream was read twice".into()), raw: None },
        }
    }
}

fn content_type(response: &Response) -> String {
    response.headers().get("content-type").unwrap_or_default()
}

/// The browser did not even take the request: an address or a header it refuses.
fn unsendable(thrown: &JsValue) -> ModelError {
    let message = format!("the request could not be made: {}", js::error_text(thrown));
    ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry: Retry::Fatal }
}

pub(super) fn take<T>(list: &mut Vec<T>, which: impl Fn(&T) -> bool) -> Option<T> {
    list.iter().position(which).map(|at| list.swap_remove(at))
}
