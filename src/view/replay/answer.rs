//! The questions of a page about a record that is open in a worker, and the first answers.

use serde::{Deserialize, Serialize};

use crate::protocol::Snapshot;
use crate::trajectory::Summary;

use super::pieces::Cursor;
use super::step::Step;

/// A question. The first is always [`Ask::Open`]; answers are JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Open the record whose text is sent along with this: `Result<Opened, Refused>`.
    Open,
    /// A part of the document: [`super::pieces::Part`].
    Part(Cursor),
    /// The steps from an index on: [`Steps`].
    Steps { from: usize },
    /// The state of everything after a step: [`super::StateAt`].
    State { step: usize },
    /// [`super::RequestView`]
    Request { index: usize },
    /// Some messages of a request, from one index up to but not including another: a list of [`super::MessageView`].
    Messages { index: usize, from: usize, to: usize },
    /// One message in full: [`super::MessageView`].
    Message { index: usize, at: usize },
    /// [`super::Difference`]
    Difference { index: usize },
    /// Whether the record replays: [`super::Verdict`].
    Verify,
    /// The changes between two texts: a list of [`super::difference::Piece`]. Needs no open record.
    Compare { before: String, after: String },
}

/// A record that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Without its turns, logs, traces and sub-agents: they follow in parts.
    pub head: Snapshot,
    pub summary: Summary,
    pub turns: usize,
    pub events: usize,
}

/// The reason a text was not opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// Not JSON.
    NotJson,
    /// JSON in another format.
    OtherFormat,
    /// A trajectory that cannot be read; a message for users says why.
    Unreadable(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Refused::NotJson => "it is not JSON",
            Refused::OtherFormat => "it is no trajectory",
            Refused::Unreadable(why) => why,
        })
    }
}

/// Some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    pub steps: Vec<Step>,
    /// The total number of steps.
    pub of: usize,
    pub requests: usize,
}
