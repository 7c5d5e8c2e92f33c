//! The input of a run: the task's text and images, and the state that a follow-up inherits.

use turnwise_engine::{Image, Message, Run};

/// A task: its text and images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInput {
    pub text: String,
    pub images: Vec<Image>,
}

/// The state that a follow-up inherits from an ended run.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
pub struct Carried {
    pub session_id: String,
    pub history: Vec<Message>,
}

impl From<String> for UserInput {
    fn from(text: String) -> Self {
        UserInput { text, images: Vec::new() }
    }
}

impl Carried {
    /// Returns the state that the next run inherits from this one.
    #[must_use]
    pub fn from_run(run: &Run) -> Self {
        Carried { session_id: run.task().session_id.clone(), history: run.messages().to_vec() }
    }
}
