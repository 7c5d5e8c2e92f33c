//! Asks a worker about the text of a record, or for the text of a page of the web. The worker is started for the first question
//! and ended once no question is open: one worker answers many questions, one after the other.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use web_sys::Blob;

use super::driver::{Driver, EndedCall};
use super::pool::CallEnd;
use super::workspace::Workspace;
use turnwise_protocol::tool_worker::{DocumentTask, WorkerAnswer, WorkerCall};

/// Records of thousands of turns take seconds; a worker that needs longer than this is stuck.
const DOCUMENT_MS: u64 = 120_000;

thread_local! {
    /// The worker that open questions share, and its URL.
    static OPEN: RefCell<(String, Weak<Driver>)> = const { RefCell::new((String::new(), Weak::new())) };
}

/// Keeps the worker alive between questions, if more of them will follow.
pub struct KeptWorker(Rc<Driver>);

/// Keeps the worker, which still starts only with the first question.
#[must_use]
pub fn keep(worker_url: String) -> KeptWorker {
    KeptWorker(shared(worker_url))
}

impl Drop for KeptWorker {
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) == 1 {
            self.0.close();
        }
    }
}

impl std::fmt::Debug for KeptWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}

fn shared(worker_url: String) -> Rc<Driver> {
    OPEN.with_borrow_mut(|(url, open)| match open.upgrade() {
        Some(driver) if *url == worker_url => driver,
        _ => {
            let driver = Driver::new(worker_url.clone(), Workspace::new(), 1);
            (*url, *open) = (worker_url, Rc::downgrade(&driver));
            driver
        }
    })
}

/// Asks the question and returns the answer as JSON text.
///
/// # Errors
/// A message for users that says what is wrong with the record, or why it could not be read.
pub async fn ask(worker_url: String, task: DocumentTask, text: String) -> Result<String, String> {
    answered(worker_url, WorkerCall::Document { task, text }, Vec::new(), "the record").await
}

/// Reads a response, and returns the JSON text of a `turnwise_docs_index::web::WebText`.
///
/// # Errors
/// A message for the model that says why it has no text.
pub async fn page(worker_url: String, url: String, content_type: String, body: Blob) -> Result<String, String> {
    answered(worker_url, WorkerCall::Page { url, content_type }, vec![body], "it").await
}

async fn answered(worker_url: String, call: WorkerCall, blobs: Vec<Blob>, what: &str) -> Result<String, String> {
    let driver = shared(worker_url);
    let (_, ended) = driver.submit_with(call, blobs, DOCUMENT_MS);
    let answer = match ended.await {
        Ok(EndedCall::Answer(WorkerAnswer::Document(answer))) => Ok(answer),
        Ok(EndedCall::Answer(_) | EndedCall::Unwritten(..)) => Err("the worker answered another question".to_owned()),
        Ok(EndedCall::Error(why)) => Err(why),
        Ok(EndedCall::Without(CallEnd::Crashed(why) | CallEnd::NoWorker(why))) => {
            Err(format!("the worker failed: {why}"))
        }
        Ok(EndedCall::Without(CallEnd::TimedOut)) => Err(format!("reading {what} took too long")),
        Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => Err("the worker was ended".to_owned()),
    };
    if Rc::strong_count(&driver) == 1 {
        driver.close();
    }
    answer
}
