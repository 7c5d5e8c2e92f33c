//! Tasks on records: replay, continuation in another run, other formats. PURE: text in, text out.
//!
//! They run in a worker, because a page that never opens a record should not load the code that reads one.

use serde::Serialize;

use super::protocol::DocumentTask;
use crate::engine::Message;
use crate::trajectory::{Trajectory, replay};

#[cfg(feature = "worker")]
mod whole;

/// The small worker's answer to requests that only the complete one supports.
pub const NOT_HERE: &str = "this worker cannot do that: it needs worker.js";

/// The data that a follow-up takes over.
#[derive(Serialize)]
struct Carried<'a> {
    session_id: &'a str,
    history: &'a [Message],
}

/// Answers a task on the text of a record: with JSON, or with the text of an exported file.
///
/// # Errors
/// A message for users that says what is wrong with the record.
pub fn answer(task: DocumentTask, text: &str) -> Result<String, String> {
    match task {
        DocumentTask::Carry => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            // Taken from the replay, so that only data the engine itself derives is carried over.
            let recorder = replay(&document).map_err(|_| does_not_replay("this trajectory"))?;
            let task = recorder.run.task();
            Ok(written(&Carried { session_id: &task.session_id, history: recorder.run.messages() }))
        }
        #[cfg(feature = "worker")]
        task => whole::answer(task, text),
        #[cfg(not(feature = "worker"))]
        _ => Err(NOT_HERE.to_owned()),
    }
}

fn does_not_replay(what: &str) -> String {
    format!("{what} does not replay; replay() reports where it differs")
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}
