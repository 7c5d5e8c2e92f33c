//! One request in progress: its context, the decoding of its stream, and the events that it can end with.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::AbortController;

use super::js;
use super::live::{Notice, TaskTicket};
use super::session::Session;
use super::watch::{Watchdog, WatchedRequest};
use turnwise_engine::caps::RAW_CAP;
use turnwise_engine::{
    EpochMillis, Event, ModelError, PartialReply, ProviderConfig, RawResponse, RequestId, Retry, Slug,
};
use turnwise_llm::{Decoder, Late, RetryHeaders};
use turnwise_record::trajectory::redact::StreamScrub;

/// The context of a request's task.
pub(super) struct RequestContext {
    pub(super) session: Session,
    pub(super) ticket: TaskTicket,
    pub(super) request: RequestId,
    pub(super) turn: u32,
    pub(super) provider: Rc<ProviderConfig>,
    pub(super) dog: Watchdog,
    pub(super) streamed: Rc<RefCell<PartialReply>>,
    /// Whether the request carries a key or a header of the page.
    pub(super) keyed: bool,
}

/// A stream being decoded: collects the reply from its bytes and passes what each chunk adds to observers, redacted.
#[derive(Clone)]
pub(super) struct Reading(Rc<ReadingState>);

struct ReadingState {
    session: Session,
    ticket: TaskTicket,
    request: RequestId,
    turn: u32,
    sent: f64,
    decoder: RefCell<Option<Decoder>>,
    /// The text and reasoning for observers.
    shown: RefCell<[StreamScrub; 2]>,
    first_token_ms: RefCell<Option<u64>>,
    /// Everything that observers have received so far.
    streamed: Rc<RefCell<PartialReply>>,
}

impl RequestContext {
    /// Starts to decode the response to a request that was sent at this time.
    pub(super) fn reading(&self, sent: f64) -> Reading {
        Reading::new(self, sent)
    }

    /// Starts to decode the output of a model in the page, under the deadlines of a request.
    pub(super) fn watched_reading(&self, abort: &AbortController) -> (Reading, WatchedRequest) {
        (self.reading(js::now()), self.dog.watch(abort.clone()))
    }

    /// The event for a stream that ended, by itself or because it missed a deadline.
    pub(super) fn ended(&self, reading: &Reading, watch: &WatchedRequest) -> Event {
        match (reading.finish(), watch.late()) {
            // A reply whose end marker was seen is complete, even if the connection was never closed.
            (Event::ModelFailed { raw, .. }, Some(late)) => self.too_late(late, raw),
            (event, _) => event,
        }
    }

    /// The event for a model in the page that failed or missed a deadline.
    pub(super) fn failed(&self, error: ModelError, watch: &WatchedRequest) -> Event {
        match watch.late() {
            Some(late) => self.too_late(late, None),
            None => Event::ModelFailed { request: self.request, error, raw: None },
        }
    }

    pub(super) fn refusal(&self, status: u16, retry: &RetryHeaders, content_type: &str, mut bytes: Vec<u8>) -> Event {
        let truncated = bytes.len() > RAW_CAP;
        bytes.truncate(RAW_CAP);
        let raw = RawResponse { text: String::from_utf8_lossy(&bytes).into_owned(), truncated };
        let now = EpochMillis(js::epoch_ms());
        let classify =
            if self.keyed { turnwise_llm::classify_response } else { turnwise_llm::classify_keyless_response };
        let error = classify(&self.provider, status, retry, content_type, &raw.text, now);
        Event::ModelFailed { request: self.request, error, raw: Some(raw) }
    }

    pub(super) fn too_late(&self, (late, after_ms): (Late, u64), raw: Option<RawResponse>) -> Event {
        let error = turnwise_llm::classify_late(&self.provider, late, after_ms);
        Event::ModelFailed { request: self.request, error, raw }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.session.live(|live| live.requests.iter().any(|open| open.ticket == self.ticket)).unwrap_or(false)
    }
}

impl Reading {
    fn new(exchange: &RequestContext, sent: f64) -> Self {
        Reading(Rc::new(ReadingState {
            session: exchange.session.clone(),
            ticket: exchange.ticket,
            request: exchange.request,
            turn: exchange.turn,
            sent,
            decoder: RefCell::new(Some(Decoder::new(&exchange.provider))),
            shown: RefCell::default(),
            first_token_ms: RefCell::default(),
            streamed: Rc::clone(&exchange.streamed),
        }))
    }

    /// Decodes a chunk and passes on what it added. Breaks once the reply is complete.
    pub(super) fn take(&self, bytes: &[u8]) -> ControlFlow<()> {
        let state = &self.0;
        let mut decoder = state.decoder.borrow_mut();
        let Some(decoder) = decoder.as_mut() else { return ControlFlow::Break(()) };
        if let Some(delta) = decoder.push(bytes) {
            let elapsed = || (js::now() - state.sent) as u64;
            state.first_token_ms.borrow_mut().get_or_insert_with(elapsed);
            let (text, reasoning) = {
                let (secrets, [text, reasoning]) = (state.session.secrets(), &mut *state.shown.borrow_mut());
                (text.push(&secrets, delta.text), reasoning.push(&secrets, delta.reasoning))
            };
            self.tell(&text, &reasoning);
        }
        if decoder.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn tell(&self, text: &str, reasoning: &str) {
        {
            let mut streamed = self.0.streamed.borrow_mut();
            streamed.content.push_str(text);
            streamed.reasoning.push_str(reasoning);
        }
        self.0.session.draft_soon();
        let (child, turn) = (self.0.request.child(), self.0.turn);
        if !reasoning.is_empty() {
            self.notify(Notice::ReasoningDelta { child, turn, text: reasoning });
        }
        if !text.is_empty() {
            self.notify(Notice::TextDelta { child, turn, text });
        }
    }

    /// Notifies the observer. Late deltas are dropped: the engine may have ended this request in the meantime.
    fn notify(&self, notice: Notice<'_>) {
        let awaited = self.0.session.live(|live| live.requests.iter().any(|open| open.ticket == self.0.ticket));
        if awaited == Some(true) {
            self.0.session.notify(notice);
        }
    }

    /// Like [`Reading::take`], but also notes the time.
    pub(super) fn take_watched(&self, bytes: &[u8], watch: &WatchedRequest) -> ControlFlow<()> {
        watch.progress();
        let flow = self.take(bytes);
        if !watch.has_begun() && self.has_begun() {
            watch.begin();
        }
        flow
    }

    fn has_begun(&self) -> bool {
        self.0.decoder.borrow().as_ref().is_some_and(Decoder::has_begun)
    }

    pub(super) fn finish(&self) -> Event {
        let [text, reasoning] = self.0.shown.take();
        let secrets = self.0.session.secrets();
        self.tell(&text.finish(&secrets), &reasoning.finish(&secrets));
        let (request, first_token_ms) = (self.0.request, self.0.first_token_ms.take());
        match self.0.decoder.take().map(Decoder::finish) {
            Some((Ok(reply), raw)) => Event::ModelReplied { request, reply, raw: Some(raw), first_token_ms },
            Some((Err(error), raw)) => Event::ModelFailed { request, error, raw: Some(raw) },
            None => Event::ModelFailed { request, error: unsendable(&"the stream was read twice".into()), raw: None },
        }
    }
}

/// The error for a request that the browser did not accept, because of its address or a header.
pub(super) fn unsendable(thrown: &JsValue) -> ModelError {
    let message = format!("the request could not be made: {}", js::error_text(thrown));
    ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry: Retry::Fatal }
}
