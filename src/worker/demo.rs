//! The demo model in its own worker: its requests never wait for tools, and no tool can end them.

use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::driver::{Driver, EndedCall};
use super::pool::CallEnd;
use super::workspace::Workspace;
use turnwise_demo_model::{DemoRequest, Scripted};
use turnwise_protocol::tool_worker::{WorkerAnswer, WorkerCall};

/// An answer takes milliseconds; a worker that needs longer than this is stuck.
const ANSWER_MS: u64 = 30_000;

/// A shared handle to the worker of the demo model. Requests of a run and of its sub-agents are answered one at a time, in
/// order. Dropping the last handle ends the worker.
#[derive(Clone)]
pub struct DemoHost {
    driver: Rc<Driver>,
}

/// The reason the demo model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoError {
    /// The worker could not be started; a message for users. Asking again would not help.
    NoWorker(String),
    /// The worker crashed or was stuck; a message for users. The next request gets a new worker.
    Worker(String),
    /// The request was aborted.
    Aborted,
}

impl DemoHost {
    /// `worker_url`: the URL of `worker.js`. No worker is started before the first request.
    #[must_use]
    pub fn new(worker_url: String) -> Self {
        DemoHost { driver: Driver::new(worker_url, Workspace::new(), 1) }
    }

    /// Sends the request and returns its result; the signal aborts it.
    ///
    /// # Errors
    /// If the worker fails, or the request is aborted.
    pub async fn ask(&self, request: DemoRequest, signal: &AbortSignal) -> Result<Scripted, DemoError> {
        let (ticket, ended) = self.driver.submit(WorkerCall::Demo(Box::new(request)), ANSWER_MS);
        let driver = Rc::clone(&self.driver);
        let on_abort = Closure::once(move || driver.abort(ticket));
        signal.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
        let ended = ended.await;
        signal.set_onabort(None);
        match ended {
            Ok(EndedCall::Answer(WorkerAnswer::Demo(scripted))) => Ok(scripted),
            Ok(EndedCall::Answer(_) | EndedCall::Unwritten(..)) => {
                Err(DemoError::Worker("the worker answered another question".to_owned()))
            }
            Ok(EndedCall::Error(why)) => Err(DemoError::Worker(why)),
            Ok(EndedCall::Without(CallEnd::Crashed(why))) => {
                Err(DemoError::Worker(format!("the worker crashed: {why}")))
            }
            Ok(EndedCall::Without(CallEnd::TimedOut)) => {
                Err(DemoError::Worker(format!("the worker did not answer within {} s", ANSWER_MS / 1000)))
            }
            Ok(EndedCall::Without(CallEnd::NoWorker(why))) => Err(DemoError::NoWorker(why)),
            Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => Err(DemoError::Aborted),
        }
    }
}

impl std::fmt::Debug for DemoHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DemoHost")
    }
}
