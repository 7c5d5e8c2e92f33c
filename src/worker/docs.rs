//! A documentation site that is open in its own worker, which keeps it between questions.

use std::rc::Rc;

use serde::de::DeserializeOwned;
use web_sys::Blob;

use super::driver::{Driver, EndedCall};
use super::pool::CallEnd;
use super::workspace::Workspace;
use turnwise_docs_index::SiteQuery;
use turnwise_protocol::tool_worker::{WorkerAnswer, WorkerCall};

/// Reading the index of a large site takes seconds; a worker that needs longer than this is stuck.
const ASK_MS: u64 = 120_000;

/// A shared handle to the worker. Dropping the last handle ends the worker and frees its data.
#[derive(Clone)]
pub struct DocsHost(Rc<DocsWorkerGuard>);

struct DocsWorkerGuard(Rc<Driver>);

impl Drop for DocsWorkerGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl DocsHost {
    /// Creates the handle. No worker is started before the first question.
    #[must_use]
    pub fn new(worker_url: String) -> Self {
        DocsHost(Rc::new(DocsWorkerGuard(Driver::new(worker_url, Workspace::new(), 1))))
    }

    /// Sends a question with the fetched data, and returns the answer's JSON text.
    ///
    /// # Errors
    /// A message for users that says why there is no answer.
    pub async fn ask_text(&self, ask: SiteQuery, blobs: Vec<Blob>) -> Result<String, String> {
        let (_, ended) = self.0.0.submit_with(WorkerCall::Docs(Box::new(ask)), blobs, ASK_MS);
        match ended.await {
            Ok(EndedCall::Answer(WorkerAnswer::Document(answer))) => Ok(answer),
            Ok(EndedCall::Answer(_) | EndedCall::Unwritten(..)) => {
                Err("the worker answered another question".to_owned())
            }
            Ok(EndedCall::Error(why)) => Err(why),
            Ok(EndedCall::Without(CallEnd::Crashed(why) | CallEnd::NoWorker(why))) => {
                Err(format!("the worker failed: {why}"))
            }
            Ok(EndedCall::Without(CallEnd::TimedOut)) => Err("reading the documentation took too long".to_owned()),
            Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => {
                Err("the site was closed".to_owned())
            }
        }
    }

    /// Does the same and parses the answer.
    ///
    /// # Errors
    /// A message for users that says why there is no answer.
    pub async fn ask<T: DeserializeOwned>(&self, ask: SiteQuery, blobs: Vec<Blob>) -> Result<T, String> {
        let answer = self.ask_text(ask, blobs).await?;
        serde_json::from_str(&answer).map_err(|error| format!("the worker's answer could not be read: {error}"))
    }

    /// Ends the worker; pending questions fail.
    pub fn close(&self) {
        self.0.0.close();
    }
}

impl std::fmt::Debug for DocsHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DocsHost")
    }
}
