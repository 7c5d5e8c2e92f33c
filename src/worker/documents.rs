//! Reading records: replaying them, what another run takes over from one, other formats. PURE: text in, text out.
//!
//! It happens in a worker, because a page that never opens a record should not load what reads one.

use serde::Serialize;

use super::protocol::DocumentTask;
use crate::engine::Message;
use crate::trajectory::{Trajectory, replay};

#[cfg(feature = "worker")]
mod whole;

/// The small worker's answer to requests that only the complete one supports.
pub const NOT_HERE: &str = "this worker cannot do that: it needs worker.js";

/// What a follow-up takes over.
#[derive(Serialize)]
struct Carried<'a> {
    session_id: &'a str,
    history: &'a [Message],
}

/// The answer to a task about the text of a record: JSON, or the text of the file it is written as.
///
/// # Errors
/// What is wrong with the record, for users.
pub fn answer(task: DocumentTask, text: &str) -> Result<String, String> {
    match task {
        DocumentTask::Carry => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            // Derived again, so only what the engine itself can vouch for.
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
    format!("{what} does not replay; replay() says where")
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}
