//! Asks a worker about the text of a record. The worker is started for the first question and ended once no question is
//! open: one worker reads many records, one after the other.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::driver::{Driver, Ended};
use super::pool::End;
use super::workspace::Workspace;
use turnwise_protocol::tool_worker::{Answer, Call, DocumentTask};

/// Records of thousands of turns take seconds; a worker that needs longer than this is stuck.
const DOCUMENT_MS: u64 = 120_000;

thread_local! {
    /// The worker that open questions share, and its URL.
    static OPEN: RefCell<(String, Weak<Driver>)> = const { RefCell::new((String::new(), Weak::new())) };
}

/// Keeps the worker alive between questions, if more of them will follow.
pub struct Kept(Rc<Driver>);

/// Keeps the worker, which still starts only with the first question.
#[must_use]
pub fn keep(worker_url: String) -> Kept {
    Kept(shared(worker_url))
}

impl Drop for Kept {
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) == 1 {
            self.0.close();
        }
    }
}

impl std::fmt::Debug for Kept {
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
    let driver = shared(worker_url);
    let (_, ended) = driver.submit(Call::Document { task, text }, DOCUMENT_MS);
    let answer = match ended.await {
        Ok(Ended::Answer(Answer::Document(answer))) => Ok(answer),
        Ok(Ended::Answer(_) | Ended::Unwritten(..)) => Err("the worker answered another question".to_owned()),
        Ok(Ended::Error(why)) => Err(why),
        Ok(Ended::Without(End::Crashed(why) | End::NoWorker(why))) => Err(format!("the worker failed: {why}")),
        Ok(Ended::Without(End::TimedOut)) => Err("reading the record took too long".to_owned()),
        Ok(Ended::Without(End::Aborted | End::Answered)) | Err(_) => Err("the worker was ended".to_owned()),
    };
    if Rc::strong_count(&driver) == 1 {
        driver.close();
    }
    answer
}
