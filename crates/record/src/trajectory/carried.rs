//! What a follow-up inherits from an ended run.

use turnwise_engine::{Message, Run};

use super::{Trajectory, replay};

/// The state that a follow-up inherits from an ended run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carried {
    pub session_id: String,
    pub history: Vec<Message>,
    /// The size at which a model service refused the conversation, in estimated tokens.
    pub refused_tokens: Option<u64>,
}

impl Carried {
    /// Returns the state that the next run inherits from this one.
    #[must_use]
    pub fn from_run(run: &Run) -> Self {
        Carried {
            session_id: run.task().session_id.clone(),
            history: run.messages().to_vec(),
            refused_tokens: run.refused_tokens(),
        }
    }

    /// Returns the state that a follow-up inherits from the text of a record. It is taken from the replay, so that only data the
    /// engine itself derives is carried over.
    ///
    /// # Errors
    /// A message for users that says what is wrong with the record.
    pub fn from_record(text: &str) -> Result<Self, String> {
        let document = Trajectory::parse(text).map_err(|error| error.to_string())?;
        let recorder = replay(&document)
            .map_err(|_| "this trajectory does not replay; replay() reports where it differs".to_owned())?;
        Ok(Carried::from_run(&recorder.run))
    }
}
