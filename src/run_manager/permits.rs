//! Questions to the user whether a tool call may run: they go to the page as news, and come back as orders.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_channel::oneshot;

use super::run_handle::NewsSender;
use crate::shell::{ApprovalRequest, Code, Page, PageOutput, PendingRequest, Returned};
use turnwise_engine::ProgramAnswer;
use turnwise_protocol::app::{HandleId, News, PermitId, Permitted};
use turnwise_protocol::{CallNumber, Failure};
use turnwise_view::permit::{PermissionQuestion, PermitView};

/// Numbers of questions begin here, above those of the page's own requests.
const FIRST: u32 = 1 << 31;

/// The page as the run manager's runs see it: questions about calls go through the manager, everything else to the page itself.
pub(super) struct Asking {
    page: Rc<dyn Page>,
    permits: Rc<Permits>,
    /// The run that asks.
    handle: HandleId,
}

/// The open questions.
pub(super) struct Permits {
    news: NewsSender,
    open: RefCell<BTreeMap<PermitId, oneshot::Sender<Result<Returned, Failure>>>>,
    last: Cell<u32>,
}

impl Permits {
    pub(super) fn new(news: NewsSender) -> Rc<Self> {
        Rc::new(Permits { news, open: RefCell::default(), last: Cell::new(FIRST) })
    }

    /// Passes on the user's answer. A question that was closed in the meantime has none.
    pub(super) fn answer(&self, id: PermitId, answered: Permitted) {
        let sender = self.open.borrow_mut().remove(&id);
        if let Some(sender) = sender {
            let text = serde_json::to_string(&answered).unwrap_or_default();
            let _ = sender.send(Ok(Returned { text, ..Returned::default() }));
        }
    }
}

impl Asking {
    pub(super) fn new(page: Rc<dyn Page>, permits: Rc<Permits>, handle: HandleId) -> Self {
        Asking { page, permits, handle }
    }
}

impl Page for Asking {
    fn tool(&self, name: &str, arguments: &str) -> PendingRequest {
        self.page.tool(name, arguments)
    }

    fn approve(&self, call: ApprovalRequest<'_>) -> PendingRequest {
        let ApprovalRequest { call: _, name, arguments, side_effect: touches, again, diff, folders, host } = call;
        let number = self.permits.last.get();
        self.permits.last.set(number.checked_add(1).unwrap_or(FIRST));
        let id = PermitId(number);
        let (done, answer) = oneshot::channel();
        self.permits.open.borrow_mut().insert(id, done);
        let view = PermitView::from(PermissionQuestion {
            id,
            handle: self.handle,
            name,
            arguments,
            touches,
            again,
            diff,
            folders: folders.to_vec(),
            host: host.map(str::to_owned),
        });
        let text = serde_json::to_string(&view).unwrap_or_default();
        self.permits.news.post(News::Asked, vec![text.into()]);
        PendingRequest { number: CallNumber(number), answer }
    }

    fn program(&self, code: Code<'_>, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        self.page.program(code, on_piece)
    }

    fn answer_program(&self, program: CallNumber, asked: usize, answer: &ProgramAnswer) {
        self.page.answer_program(program, asked, answer);
    }

    fn complete(&self, provider: usize, request: &[u8], on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        self.page.complete(provider, request, on_piece)
    }

    fn fetch(&self, url: &str, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        self.page.fetch(url, on_piece)
    }

    fn abort(&self, number: CallNumber) {
        if number.0 < FIRST {
            return self.page.abort(number);
        }
        let id = PermitId(number.0);
        let open = self.permits.open.borrow_mut().remove(&id);
        if open.is_some() {
            self.permits.news.post(News::Unasked { id }, Vec::new());
        }
    }
}
