//! What only the page has: its tools, its approvals, its models. The shell asks; who carries the questions to the
//! page plugs in here (`embed`).

use futures_channel::oneshot;

use crate::engine::{CallId, Image, SideEffect};
use crate::protocol::{CallNumber, Failure, Head};

/// The page, as far as a run needs it. Every question is answered once, unless it is aborted.
pub trait Page {
    /// Calls one of the page's tools. `arguments` is JSON text that was checked; the answer is what the model reads.
    fn tool(&self, name: &str, arguments: &str) -> Asked;

    /// Asks whether a call may run; the answer is `true` or anything else.
    fn approve(&self, call: Approval<'_>) -> Asked;

    /// Asks the model of the provider with this number. `hear` gets what it says, as it comes.
    fn complete(&self, provider: usize, request: &[u8], hear: Box<dyn FnMut(Piece)>) -> Asked;

    /// Fetches a page of the host, if this page is a frame in it. `hear` gets the head and the body.
    fn fetch(&self, url: &str, hear: Box<dyn FnMut(Piece)>) -> Asked;

    /// Nobody waits for the answer any more.
    fn abort(&self, question: CallNumber);
}

/// An open question.
#[derive(Debug)]
pub struct Asked {
    pub number: CallNumber,
    pub answer: oneshot::Receiver<Result<Returned, Failure>>,
}

/// The page's answer.
#[derive(Clone, Debug, Default)]
pub struct Returned {
    pub text: String,
    /// Pictures and PDFs, of a tool alone.
    pub images: Vec<Image>,
}

/// A call that has side effects.
#[derive(Clone, Copy, Debug)]
pub struct Approval<'a> {
    pub call: &'a CallId,
    pub name: &'a str,
    /// JSON text.
    pub arguments: &'a str,
    pub side_effect: SideEffect,
    /// It was running when the page was closed, so its effect may already have happened.
    pub again: bool,
}

/// Part of the output of a model in the page, or of what the page fetched.
#[derive(Debug)]
pub enum Piece {
    /// A response that was fetched begins; what follows is its body.
    Head(Head),
    Bytes(Vec<u8>),
}
