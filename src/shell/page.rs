//! Services that only the page can provide: its tools, approvals and models. The shell sends requests; the code that carries
//! them to the page (`embed`) plugs in here.

use futures_channel::oneshot;

use turnwise_engine::{CallId, Image, ProgramAnswer, SideEffect};
use turnwise_protocol::{CallNumber, Failure, ResponseHead, ShownChange};

/// The parts of the page that a run needs. Every request is answered once, unless it is aborted.
pub trait Page {
    /// Calls one of the page's tools. `arguments` is validated JSON text; the answer is the text for the model.
    fn tool(&self, name: &str, arguments: &str) -> PendingRequest;

    /// Asks whether a call may run. The answer is the JSON text of a `protocol::app::Permitted`; anything else is a refusal.
    fn approve(&self, call: ApprovalRequest<'_>) -> PendingRequest;

    /// Runs a program in the page's sandbox. `on_piece` receives its calls; the answer is its output.
    fn program(&self, code: Code<'_>, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest;

    /// Answers the program's call with this index.
    fn answer_program(&self, program: CallNumber, asked: usize, answer: &ProgramAnswer);

    /// Sends a request to the model of the provider with this number. `on_piece` receives its output as it arrives.
    fn complete(&self, provider: usize, request: &[u8], on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest;

    /// Fetches a page from the host's origin, if this page is a frame in it. `on_piece` receives the head and the body.
    fn fetch(&self, url: &str, on_piece: Box<dyn FnMut(PageOutput)>) -> PendingRequest;

    /// Aborts a request: its answer is no longer needed, and its receiver is cancelled.
    fn abort(&self, question: CallNumber);
}

/// A pending request.
#[derive(Debug)]
pub struct PendingRequest {
    pub number: CallNumber,
    pub answer: oneshot::Receiver<Result<Returned, Failure>>,
}

/// The page's answer.
#[derive(Clone, Debug, Default)]
pub struct Returned {
    pub text: String,
    /// Images and PDFs. Only tools return them.
    pub images: Vec<Image>,
    /// The result as data, as JSON text. Only tools return it.
    pub structured_content: Option<String>,
}

/// A tool call that needs permission.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRequest<'a> {
    pub call: &'a CallId,
    pub name: &'a str,
    /// JSON text.
    pub arguments: &'a str,
    pub side_effect: SideEffect,
    /// The call was running when the page was closed, so its effect may already have happened.
    pub again: bool,
    /// What the call would change in files, if that is known beforehand.
    pub diff: Option<ShownChange<'a>>,
    /// The folders on the user's disk that it may write to, by name.
    pub folders: &'a [String],
    /// The host that it goes to, if that is known. An answer can be for all calls of the tool to it.
    pub host: Option<&'a str>,
}

/// A program to run.
#[derive(Clone, Debug)]
pub struct Code<'a> {
    pub code: &'a str,
    /// Of its random numbers.
    pub seed: u32,
    /// Its clock when it starts, in milliseconds since 1970.
    pub at: u64,
    /// The tools that it can call.
    pub tools: Vec<&'a str>,
    /// For the script of a skill: its arguments as JSON.
    pub input: Option<&'a str>,
}

/// Part of the output of a model in the page, or of a response that the page fetched, or a call of a program.
#[derive(Debug)]
pub enum PageOutput {
    /// The head of a fetched response; its body follows.
    Head(ResponseHead),
    Bytes(Vec<u8>),
    /// A running program calls a tool.
    Asked {
        name: String,
        /// JSON text.
        arguments: String,
    },
}
