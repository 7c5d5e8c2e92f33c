//! The messages between the app and its desk: the desk drives and stores the runs, the app shows them.
//!
//! A message may have parts, which do not travel as JSON: its comment says which. Orders and news each keep their order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FileChange;
use super::snapshot::Change;
use crate::engine::{Branch, EpochMillis, ProviderConfig, RunConfig, Task};
use crate::plan::{Plan, PlanEnding, PlanTraceRecord, StepRecord};
use crate::trajectory::Summary;

/// A run on the app's page; numbered by the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatId(pub u32);

/// The files that one task and its follow-ups share; numbered by the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilesId(pub u32);

/// A plan on the app's page; numbered by the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub u32);

/// A question from the page, which numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u32);

/// From the app.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Tells all stored runs. The first one: it opens the desk.
    List,
    /// Starts a run. `after`: it is a follow-up of that one. It is stored where it is `kept`.
    Run {
        seat: SeatId,
        with: With,
        config: Box<RunConfig>,
        task: Box<Task>,
        after: Option<SeatId>,
        kept: bool,
    },
    /// Starts a branch of a run, from before the turn at that place. Answered when it has begun. A part where `of` is none:
    /// the run's record.
    Branch {
        id: QuestionId,
        seat: SeatId,
        with: With,
        of: Option<SeatId>,
        place: usize,
        branch: Box<Branch>,
    },
    /// Opens stored runs, each in a seat. Answered when all are there; orders about them wait until then.
    Open {
        id: QuestionId,
        with: With,
        runs: Vec<(SeatId, String)>,
    },
    Stop {
        seat: SeatId,
    },
    Cancel {
        seat: SeatId,
    },
    Grant {
        seat: SeatId,
        turns: u32,
    },
    /// Goes on with a run that was left open.
    Resume {
        seat: SeatId,
    },
    /// Nobody looks at the run any more.
    Close {
        seat: SeatId,
    },
    /// Answered with a part: the run's record.
    Record {
        id: QuestionId,
        seat: SeatId,
    },
    /// Runs a plan. The run of the step at place `n` of the plan is in the seat that many after `seats`. A part where it
    /// goes on after a record from a file: that text.
    Plan {
        plan: PlanId,
        seats: SeatId,
        with: With,
        config: Box<RunConfig>,
        written: Box<Plan>,
        after: Option<After>,
        /// Run this step again, and everything that builds on it.
        from: Option<u32>,
    },
    /// Shows the record of a plan, in seats likewise. Answered. A part: its text.
    ShowPlan {
        id: QuestionId,
        plan: PlanId,
        seats: SeatId,
    },
    StopPlan {
        plan: PlanId,
    },
    CancelPlan {
        plan: PlanId,
    },
    /// Answered with a part: the plan's record.
    PlanRecord {
        id: QuestionId,
        plan: PlanId,
    },
    /// The tiny run that tests a provider; stored nowhere. Answered with a part: what came of it (`view::probe::Probe`).
    Probe {
        id: QuestionId,
        seat: SeatId,
        with: With,
        config: Box<RunConfig>,
    },
    /// Answered with a part: the models that a provider lists (`llm::models::ModelInfo`).
    Models {
        id: QuestionId,
        with: With,
        provider: Box<ProviderConfig>,
    },
    /// Changes that the user made. A part for each path that is still there: a blob.
    Files {
        files: FilesId,
        changes: Vec<FileChange>,
    },
    /// Another name for stored runs; none: that of their task. Answered.
    Rename {
        id: QuestionId,
        keys: Vec<String>,
        name: Option<String>,
    },
    /// Deletes stored runs, and closes these seats. Answered.
    Delete {
        id: QuestionId,
        keys: Vec<String>,
        seats: Vec<SeatId>,
    },
}

impl Order {
    /// The runs that have to be there first.
    #[must_use]
    pub fn about(&self) -> Vec<SeatId> {
        match self {
            Order::Stop { seat }
            | Order::Cancel { seat }
            | Order::Grant { seat, .. }
            | Order::Resume { seat }
            | Order::Close { seat }
            | Order::Record { seat, .. } => vec![*seat],
            Order::Run { after: of, .. } | Order::Branch { of, .. } => of.iter().copied().collect(),
            Order::Delete { seats, .. } => seats.clone(),
            Order::List
            | Order::Open { .. }
            | Order::Plan { .. }
            | Order::ShowPlan { .. }
            | Order::StopPlan { .. }
            | Order::CancelPlan { .. }
            | Order::PlanRecord { .. }
            | Order::Probe { .. }
            | Order::Models { .. }
            | Order::Files { .. }
            | Order::Rename { .. } => Vec::new(),
        }
    }
}

/// The record after which a plan is run again: steps that ended there are not run again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// One that the desk ran.
    Plan(PlanId),
    /// A record from a file of that name. It may have been changed, and later steps are told its results: it has to replay.
    Record(String),
}

/// What a run needs in addition to its configuration.
#[derive(Clone, Serialize, Deserialize)]
pub struct With {
    pub files: FilesId,
    /// URL of `worker.js`.
    pub worker_url: String,
    /// API keys by the address they were typed in for. Never stored, never in a record.
    pub keys: Vec<(String, String)>,
}

/// From the desk.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The changes in a run, at most once per frame.
    Seen {
        seat: SeatId,
        stand: Stand,
        streamed: Streamed,
        changes: Vec<Change>,
    },
    /// The changes in a plan, at most once per frame. `begun`: this is the first message about it.
    Planned {
        plan: PlanId,
        begun: Option<Box<Begun>>,
        /// Those that changed, without their runs, which are in their seats.
        steps: Vec<StepRecord>,
        traces: Vec<PlanTraceRecord>,
        /// LLM requests that can still follow.
        calls_left: u32,
        ending: Option<Box<PlanEnding>>,
    },
    /// Changes that tools made. A part for each path that is still there: a blob.
    Wrote {
        files: FilesId,
        changes: Vec<FileChange>,
    },
    /// All stored runs, the oldest first, and how many there are that cannot be read.
    Listed {
        headers: Vec<Header>,
        unread: usize,
    },
    /// A stored run is new or has changed.
    Stored {
        header: Box<Header>,
    },
    /// For the user: it went well, or something went wrong.
    Told {
        message: String,
        wrong: bool,
    },
    /// A part where the question was for one.
    Done {
        id: QuestionId,
    },
    Failed {
        id: QuestionId,
        message: String,
    },
}

/// Who drives a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stand {
    /// The desk, or it has ended.
    #[default]
    Here,
    /// Nobody: its page was closed in the middle of it.
    Interrupted,
    /// Another tab.
    Elsewhere,
    /// It is a record, for viewing.
    Recorded,
}

/// A plan that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begun {
    pub plan: Plan,
    pub started_at: EpochMillis,
}

/// The text of the run itself since the last time. A sub-agent's text is shown once its reply is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streamed {
    /// An attempt began or failed: what was streamed before is void.
    pub void: bool,
    pub text: String,
    pub reasoning: String,
}

/// One stored run, without its events. JSON text in the database; what is missing there has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// UUIDv7: keys are in the order in which runs began.
    pub key: String,
    /// The user's name for it, if that is not its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Milliseconds since 1970: when it was last written.
    pub updated_ms: u64,
    /// Its last segment has ended.
    pub ended: bool,
    pub summary: Summary,
    /// Its line in the list. Kept loosely: where a later version draws it otherwise, the figures are enough.
    #[serde(default)]
    pub rail: Value,
}

impl Streamed {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.void && self.text.is_empty() && self.reasoning.is_empty()
    }
}

impl std::fmt::Debug for With {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("With").field("files", &self.files).finish_non_exhaustive()
    }
}
