//! A stream being decoded: collects the reply from its bytes and passes what each chunk adds to observers, redacted.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use super::fetch::{Exchange, unsendable};
use super::js;
use super::session::{Notice, Session, Ticket};
use super::watch::Watch;
use crate::engine::{Event, PartialReply, RequestId};
use crate::llm::Decoder;
use crate::trajectory::redact::StreamScrub;

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
    /// The text and reasoning for observers.
    shown: RefCell<[StreamScrub; 2]>,
    first_token_ms: RefCell<Option<u64>>,
    /// Everything that observers have received so far.
    streamed: Rc<RefCell<PartialReply>>,
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
                (text.push(secrets, delta.text), reasoning.push(secrets, delta.reasoning))
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
    pub(super) fn take_watched(&self, bytes: &[u8], watch: &Watch) -> ControlFlow<()> {
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
        self.tell(&text.finish(secrets), &reasoning.finish(secrets));
        let (request, first_token_ms) = (self.0.request, self.0.first_token_ms.take());
        match self.0.decoder.take().map(Decoder::finish) {
            Some((Ok(reply), raw)) => Event::ModelReplied { request, reply, raw: Some(raw), first_token_ms },
            Some((Err(error), raw)) => Event::ModelFailed { request, error, raw: Some(raw) },
            None => Event::ModelFailed { request, error: unsendable(&"the stream was read twice".into()), raw: None },
        }
    }
}
