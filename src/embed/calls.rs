//! Requests to the page: tool calls, approvals, model requests and fetches.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_channel::oneshot;
use js_sys::Uint8Array;
use serde_json::value::RawValue;

use super::outbox::Outbox;
use crate::shell::{ApprovalRequest, Code, Page, PageOutput, PendingRequest, Returned};
use turnwise_engine::ProgramAnswer;
use turnwise_protocol::{AgentId, CallNumber, Failure, PageRequest, WorkerMessage};

/// All open requests.
pub(super) struct PageCalls {
    outbox: Rc<Outbox>,
    open: RefCell<BTreeMap<CallNumber, PendingCall>>,
    next: Cell<u32>,
}

struct PendingCall {
    done: oneshot::Sender<Result<Returned, Failure>>,
    on_piece: Option<Box<dyn FnMut(PageOutput)>>,
}

/// The page from the point of view of one agent or site.
pub(super) struct PageOf {
    pub(super) calls: Rc<PageCalls>,
    pub(super) agent: Option<AgentId>,
}

impl PageCalls {
    pub(super) fn new(outbox: Rc<Outbox>) -> Rc<Self> {
        Rc::new(PageCalls { outbox, open: RefCell::default(), next: Cell::new(1) })
    }

    /// Completes a request. Aborted ones are unknown here.
    pub(super) fn answer(&self, call: CallNumber, answer: Result<Returned, Failure>) {
        if let Some(open) = self.open.borrow_mut().remove(&call) {
            let _ = open.done.send(answer);
        }
    }

    pub(super) fn piece(&self, call: CallNumber, piece: PageOutput) {
        // Taken out during the callback, which may abort the request.
        let on_piece = self.open.borrow_mut().get_mut(&call).and_then(|open| open.on_piece.take());
        let Some(mut on_piece) = on_piece else { return };
        on_piece(piece);
        if let Some(open) = self.open.borrow_mut().get_mut(&call) {
            open.on_piece = Some(on_piece);
        }
    }

    fn ask(
        &self,
        agent: Option<AgentId>,
        what: PageRequest<'_>,
        part: Option<Uint8Array>,
        on_piece: Option<Box<dyn FnMut(PageOutput)>>,
    ) -> PendingRequest {
        let number = CallNumber(self.next.get());
        self.next.set(number.0.wrapping_add(1));
        let (done, answer) = oneshot::channel();
        self.open.borrow_mut().insert(number, PendingCall { done, on_piece });
        self.outbox.tell(&WorkerMessage::Call { call: number, agent, what }, part.map(Into::into));
        PendingRequest { number, answer }
    }
}

impl Page for PageOf {
    fn tool(&self, name: &str, arguments: &str) -> PendingRequest {
        self.calls.ask(self.agent, PageRequest::Tool { name, args: &json(arguments) }, None, None)
    }

    fn approve(&self, approval: ApprovalRequest<'_>) -> PendingRequest {
        let ApprovalRequest { call, name, arguments, side_effect, again, diff, folders: _, host } = approval;
        let omitted_lines = diff.map(|change| change.omitted).filter(|omitted| *omitted > 0);
        let diff = diff.map(|change| change.diff);
        let what = PageRequest::Approve {
            id: &call.0,
            name,
            args: &json(arguments),
            side_effect,
            again,
            diff,
            omitted_lines,
            host,
        };
        self.calls.ask(self.agent, what, None, None)
    }

    fn program(&self, code: Code<'_>, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        let Code { code, seed, at, tools, input } = code;
        self.calls.ask(self.agent, PageRequest::Code { code, seed, at, tools, input }, None, Some(on_piece))
    }

    fn answer_program(&self, program: CallNumber, asked: usize, answer: &ProgramAnswer) {
        let ProgramAnswer { content, failed } = answer;
        self.calls.outbox.tell(&WorkerMessage::Answered { call: program, asked, content, failed: *failed }, None);
    }

    fn complete(&self, provider: usize, request: &[u8], on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        self.calls.ask(self.agent, PageRequest::Complete { provider }, Some(Uint8Array::from(request)), Some(on_piece))
    }

    fn fetch(&self, url: &str, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        self.calls.ask(self.agent, PageRequest::Fetch { url }, None, Some(on_piece))
    }

    fn abort(&self, question: CallNumber) {
        if self.calls.open.borrow_mut().remove(&question).is_some() {
            self.calls.outbox.tell(&WorkerMessage::Abort { call: question }, None);
        }
    }
}

/// Arguments as raw JSON. A model's text that is not JSON becomes a JSON string.
fn json(arguments: &str) -> Box<RawValue> {
    serde_json::from_str(arguments)
        .or_else(|_| serde_json::value::to_raw_value(arguments))
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}
