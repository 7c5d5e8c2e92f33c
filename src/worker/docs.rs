//! A documentation site that is open in a worker of its own, which keeps it between questions.

use std::rc::Rc;

use serde::de::DeserializeOwned;
use web_sys::Blob;

use super::driver::{Driver, Ended};
use super::pool::End;
use super::protocol::{Answer, Call};
use super::workspace::Workspace;
use crate::docs::Ask;

/// The index of a large site takes seconds to be read; what takes longer is stuck.
const ASK_MS: u64 = 120_000;

/// A shared handle on the worker. Dropping the last one ends it, and with it what it holds.
#[derive(Clone)]
pub struct DocsHost(Rc<Ends>);

struct Ends(Rc<Driver>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl DocsHost {
    /// No worker is made before the first question.
    #[must_use]
    pub fn new(worker_url: String) -> Self {
        DocsHost(Rc::new(Ends(Driver::new(worker_url, Workspace::new(), 1))))
    }

    /// Asks, with the fetched data; returns the answer's JSON text.
    ///
    /// # Errors
    /// Why there is no answer, for users.
    pub async fn ask_text(&self, ask: Ask, blobs: Vec<Blob>) -> Result<String, String> {
        let (_, ended) = self.0.0.submit_with(Call::Docs(Box::new(ask)), blobs, ASK_MS);
        match ended.await {
            Ok(Ended::Answer(Answer::Document(answer))) => Ok(answer),
            Ok(Ended::Answer(_)) => Err("the worker answered another question".to_owned()),
            Ok(Ended::Error(why)) => Err(why),
            Ok(Ended::Without(End::Crashed(why) | End::NoWorker(why))) => Err(format!("the worker failed: {why}")),
            Ok(Ended::Without(End::TimedOut)) => Err("reading the documentation took too long".to_owned()),
            Ok(Ended::Without(End::Aborted | End::Answered)) | Err(_) => Err("the site was closed".to_owned()),
        }
    }

    /// The same, as what the answer means.
    ///
    /// # Errors
    /// Why there is no answer, for users.
    pub async fn ask<T: DeserializeOwned>(&self, ask: Ask, blobs: Vec<Blob>) -> Result<T, String> {
        let answer = self.ask_text(ask, blobs).await?;
        serde_json::from_str(&answer).map_err(|error| format!("the worker's answer could not be read: {error}"))
    }

    /// Ends the worker; what is still asked fails.
    pub fn close(&self) {
        self.0.0.close();
    }
}

impl std::fmt::Debug for DocsHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DocsHost")
    }
}
