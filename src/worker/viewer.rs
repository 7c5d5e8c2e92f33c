//! A record that is open in its own worker, which keeps it between questions.

use std::rc::Rc;

use serde::de::DeserializeOwned;
use web_sys::Blob;

use super::driver::{Driver, EndedCall};
use super::pool::CallEnd;
use super::workspace::Workspace;
use turnwise_protocol::record::{OpenError, OpenedRecord, RecordQuery};
use turnwise_protocol::tool_worker::{WorkerAnswer, WorkerCall};

/// Replaying records of thousands of turns takes seconds; a worker that needs longer than this is stuck.
const ASK_MS: u64 = 120_000;

/// A shared handle to the worker. Dropping the last handle ends the worker and frees its data.
#[derive(Clone)]
pub struct ViewerHost(Rc<ViewerWorkerGuard>);

struct ViewerWorkerGuard(Rc<Driver>);

impl Drop for ViewerWorkerGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl ViewerHost {
    /// Creates the handle. No worker is started before the first question.
    #[must_use]
    pub fn new(worker_url: String) -> Self {
        ViewerHost(Rc::new(ViewerWorkerGuard(Driver::new(worker_url, Workspace::new(), 1))))
    }

    /// Opens a record.
    ///
    /// # Errors
    /// A message for users if the worker failed; the inner error: the text is not a record, or cannot be read.
    pub async fn open(&self, record: Blob) -> Result<Result<OpenedRecord, OpenError>, String> {
        self.ended(RecordQuery::Open, vec![record]).await
    }

    /// Asks about the open record.
    ///
    /// # Errors
    /// A message for users that says why there is no answer.
    pub async fn ask<T: DeserializeOwned>(&self, ask: RecordQuery) -> Result<T, String> {
        self.ended(ask, Vec::new()).await
    }

    async fn ended<T: DeserializeOwned>(&self, ask: RecordQuery, blobs: Vec<Blob>) -> Result<T, String> {
        let (_, ended) = self.0.0.submit_with(WorkerCall::View(ask), blobs, ASK_MS);
        let answer = match ended.await {
            Ok(EndedCall::Answer(WorkerAnswer::Document(answer))) => answer,
            Ok(EndedCall::Answer(_) | EndedCall::Unwritten(..)) => {
                return Err("the worker answered another question".to_owned());
            }
            Ok(EndedCall::Error(why)) => return Err(why),
            Ok(EndedCall::Without(CallEnd::Crashed(why) | CallEnd::NoWorker(why))) => {
                return Err(format!("the worker failed: {why}"));
            }
            Ok(EndedCall::Without(CallEnd::TimedOut)) => return Err("reading the record took too long".to_owned()),
            Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => {
                return Err("the worker was ended".to_owned());
            }
        };
        serde_json::from_str(&answer).map_err(|error| format!("the worker's answer could not be read: {error}"))
    }
}

impl std::fmt::Debug for ViewerHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ViewerHost")
    }
}
