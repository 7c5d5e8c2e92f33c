//! The messages between the app and its worker: the worker drives and stores the runs, and the app displays them.
//!
//! A message may have parts, which are not sent as JSON; its comment says which. Orders and news each arrive in sequence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::AgentFileChange;
use super::snapshot::SnapshotChange;
use turnwise_engine::{Authority, Branch, EpochMillis, ProviderConfig, RunConfig, Scope, Task};
use turnwise_record::plan::{Plan, PlanEnding, PlanTraceRecord, StepRecord};
use turnwise_record::trajectory::{Note, NoteChange, RunSummary};

/// The number that the app's page gave to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HandleId(pub u32);

/// The page's number for the files that one task and its follow-ups share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilesId(pub u32);

/// The number that the app's page gave to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(pub u32);

/// The number that the page gave to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u32);

/// The number of a question whether a tool call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PermitId(pub u32);

/// The answer to a question whether a tool call may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Permitted {
    pub allow: bool,
    pub scope: Scope,
}

/// What is kept for later visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptList {
    /// The files of the user that new runs start with.
    Files,
    /// The skills of the user: one JSON file each (`view::skills::KeptSkill`).
    Skills,
    /// The services of the user, two files each: `ID.json` (`view::services::KeptService`) and `ID.txt`, the OpenAPI document.
    Services,
}

impl KeptList {
    /// What it has, for messages to users.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            KeptList::Files => "files",
            KeptList::Skills => "skills",
            KeptList::Services => "services",
        }
    }
}

/// Messages from the app.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Lists all stored runs. Always the first order: it opens the worker.
    List,
    /// Starts a run. `after`: the run that it follows up on. `kept`: whether it is stored. `version`: the run whose prompt it changes.
    Run {
        handle: HandleId,
        with: With,
        config: Box<RunConfig>,
        task: Box<Task>,
        after: Option<HandleId>,
        kept: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<VersionOf>,
    },
    /// Starts a branch of a run, from before the turn at index `place`. `result`: the new result of the call that the branch
    /// names as edited. Answered when it has begun. A part if `of` is `None`: the run's record.
    Branch {
        id: QuestionId,
        handle: HandleId,
        with: With,
        of: Option<HandleId>,
        place: usize,
        branch: Box<Branch>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
    },
    /// Opens stored runs, each in a handle. Answered when all are open; orders about them wait until then.
    Open {
        id: QuestionId,
        with: With,
        runs: Vec<(HandleId, String)>,
    },
    Stop {
        handle: HandleId,
    },
    Cancel {
        handle: HandleId,
    },
    /// `with`: its keys replace those that the run had. `authority`: who decides from here on, if what the run says came from a
    /// record of somebody else.
    Grant {
        handle: HandleId,
        turns: u32,
        with: With,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Box<Authority>>,
    },
    /// Resumes a run that was interrupted. `with` and `authority`: as for `Grant`.
    Resume {
        handle: HandleId,
        with: With,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Box<Authority>>,
    },
    /// The user's answer to a question.
    Permit {
        permit: PermitId,
        answered: Permitted,
    },
    /// Closes a run that is no longer displayed.
    Close {
        handle: HandleId,
    },
    /// Answered with a part: the run's record.
    Record {
        id: QuestionId,
        handle: HandleId,
    },
    /// Answered with a part: the record of a stored run or plan, which need not be open.
    StoredRecord {
        id: QuestionId,
        key: String,
        kind: StoredKind,
    },
    /// Changes a note on a run. Answered with a part: [`Noted`]. A part if `handle` is `None`: the text of the record.
    Note {
        id: QuestionId,
        handle: Option<HandleId>,
        /// The keys of the user, which must not get into the note.
        with: With,
        change: Box<NoteChange>,
    },
    /// Runs a plan. The run of the step at index `n` is in handle `handles + n`. A part if it continues from a record in a file:
    /// that record's text.
    Plan {
        plan: PlanId,
        handles: HandleId,
        with: With,
        config: Box<RunConfig>,
        written: Box<Plan>,
        after: Option<After>,
        /// Rerun this step and everything that depends on it.
        from: Option<u32>,
    },
    /// Shows the record of a plan, with the same use of handles. Answered. A part: its text.
    ShowPlan {
        id: QuestionId,
        plan: PlanId,
        handles: HandleId,
    },
    /// Opens a stored plan, with the same use of handles. Answered when it is open.
    OpenPlan {
        id: QuestionId,
        plan: PlanId,
        handles: HandleId,
        with: With,
        key: String,
    },
    /// Resumes a plan that was interrupted. `with`: its keys replace those that the plan had.
    ResumePlan {
        plan: PlanId,
        with: With,
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
    /// A small run that tests a provider; not stored. Answered with a part: the result (`view::probe::Probe`).
    Probe {
        id: QuestionId,
        handle: HandleId,
        with: With,
        config: Box<RunConfig>,
    },
    /// Answered with a part: the models that a provider lists (`llm::models::ModelInfo`).
    Models {
        id: QuestionId,
        with: With,
        provider: Box<ProviderConfig>,
    },
    /// Answered with a part: the text of a file, as the tools read it. The part: its blob.
    Text {
        id: QuestionId,
        worker_url: String,
        path: String,
    },
    /// File changes made by the user. A part for each path that still exists: a blob.
    Files {
        files: FilesId,
        changes: Vec<AgentFileChange>,
    },
    /// A folder on the user's disk, which becomes part of these files. The part: its handle.
    Mount {
        files: FilesId,
        name: String,
    },
    /// The folder is closed.
    Unmount {
        files: FilesId,
        name: String,
    },
    /// Changes what is kept for later visits. Answered when it is stored. A part for each path that still exists: a blob.
    KeepFiles {
        id: QuestionId,
        list: KeptList,
        changes: Vec<AgentFileChange>,
    },
    /// Adds what is kept to these files. Answered.
    KeptFiles {
        id: QuestionId,
        list: KeptList,
        files: FilesId,
    },
    /// Asks which stored tasks contain all of these words in their task, answer or calls: a JSON array of `view::search::Hit`.
    Search {
        id: QuestionId,
        words: String,
    },
    /// Asks how much is stored: [`StorageUsage`].
    Space {
        id: QuestionId,
    },
    /// Renames stored runs; `None`: they are named after their task. Answered.
    Rename {
        id: QuestionId,
        keys: Vec<String>,
        name: Option<String>,
    },
    /// Deletes stored runs, and closes these handles. Answered.
    Delete {
        id: QuestionId,
        keys: Vec<String>,
        handles: Vec<HandleId>,
    },
}

impl Order {
    /// Returns the runs that have to be open first.
    #[must_use]
    pub fn about(&self) -> Vec<HandleId> {
        match self {
            Order::Stop { handle }
            | Order::Cancel { handle }
            | Order::Grant { handle, .. }
            | Order::Resume { handle, .. }
            | Order::Close { handle }
            | Order::Record { handle, .. } => vec![*handle],
            Order::Run { after: of, .. } | Order::Branch { of, .. } | Order::Note { handle: of, .. } => {
                of.iter().copied().collect()
            }
            Order::Delete { handles, .. } => handles.clone(),
            Order::List
            | Order::Open { .. }
            | Order::Plan { .. }
            | Order::ShowPlan { .. }
            | Order::OpenPlan { .. }
            | Order::ResumePlan { .. }
            | Order::StopPlan { .. }
            | Order::CancelPlan { .. }
            | Order::Permit { .. }
            | Order::PlanRecord { .. }
            | Order::StoredRecord { .. }
            | Order::Probe { .. }
            | Order::Models { .. }
            | Order::Text { .. }
            | Order::Files { .. }
            | Order::Mount { .. }
            | Order::Unmount { .. }
            | Order::KeepFiles { .. }
            | Order::KeptFiles { .. }
            | Order::Search { .. }
            | Order::Space { .. }
            | Order::Rename { .. } => Vec::new(),
        }
    }
}

impl Order {
    /// Returns the plan that has to be open first.
    #[must_use]
    pub fn about_plan(&self) -> Option<PlanId> {
        match self {
            Order::ResumePlan { plan, .. }
            | Order::StopPlan { plan }
            | Order::CancelPlan { plan }
            | Order::PlanRecord { plan, .. }
            | Order::Plan { after: Some(After::Plan(plan)), .. } => Some(*plan),
            _ => None,
        }
    }
}

/// The record from which a plan continues: steps that ended in it are not run again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The record of a plan that the worker ran.
    Plan(PlanId),
    /// A record from a file with this name. It may have been edited, and later steps receive its results, so it has to replay.
    Record(String),
}

/// The notes on a run after a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Noted {
    pub notes: Vec<Note>,
    /// The text of the record with its notes, if that was sent.
    pub record: Option<String>,
}

/// The settings that a run needs in addition to its configuration.
#[derive(Clone, Serialize, Deserialize)]
pub struct With {
    pub files: FilesId,
    /// URL of `worker.js`.
    pub worker_url: String,
    /// API keys, by the address they were entered for. Never stored, never in a record.
    pub keys: Vec<(String, String)>,
    /// Names of tools that the page runs, in addition to the built-in ones that reach the web.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_tools: Vec<String>,
}

/// Messages from the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The changes in a run, at most once per frame.
    Seen {
        handle: HandleId,
        location: RunLocation,
        streamed: StreamedText,
        changes: Vec<SnapshotChange>,
    },
    /// The changes in a plan, at most once per frame. `begun`: this is the first message about it.
    Planned {
        plan: PlanId,
        begun: Option<Box<Begun>>,
        location: RunLocation,
        /// The steps that changed, without their runs, which are in their handles.
        steps: Vec<StepRecord>,
        traces: Vec<PlanTraceRecord>,
        /// Maximum number of LLM requests still to come.
        calls_left: u32,
        ending: Option<Box<PlanEnding>>,
    },
    /// File changes made by tools. A part for each path that still exists: a blob.
    Wrote {
        files: FilesId,
        changes: Vec<AgentFileChange>,
    },
    /// A tool call asks whether it may run. The part: the question (`view::permit::PermitView`), as JSON.
    Asked,
    /// A question is closed: its call needs no answer any more.
    Unasked {
        id: PermitId,
    },
    /// All stored runs, oldest first, and the number of runs that cannot be read.
    Listed {
        headers: Vec<Header>,
        unread: usize,
    },
    /// A stored run is new or has changed.
    Stored {
        header: Box<Header>,
    },
    /// A message for the user: of success, or of a failure.
    Told {
        message: String,
        wrong: bool,
    },
    /// A request succeeded. A part if it asked for one.
    Done {
        id: QuestionId,
    },
    Failed {
        id: QuestionId,
        message: String,
    },
}

/// Where a run is driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLocation {
    /// In the worker, or it has ended.
    #[default]
    Here,
    /// Nowhere: its page was closed in the middle of it.
    Interrupted,
    /// In another tab.
    Elsewhere,
    /// It is a record, for viewing.
    Recorded,
}

/// A plan that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// The key under which it is stored; `None`: it is a record.
    pub key: Option<String>,
    pub plan: Plan,
    pub started_at: EpochMillis,
}

/// The text that the run itself has streamed since the last message. A sub-agent's text is shown once its reply is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamedText {
    /// An attempt began or failed: the text streamed before is void.
    pub void: bool,
    pub text: String,
    pub reasoning: String,
}

/// What is stored under a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredKind {
    #[default]
    Run,
    Plan,
    /// The run of a step of a plan.
    Step,
}

/// The run that another one is a version of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionOf {
    pub run_id: String,
    /// What is different, for people: `prompt changed`
    pub change: String,
}

/// One stored run or plan, without its events. Stored as JSON text; missing fields have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// UUIDv7: keys sort in the order in which the runs began. For a step, see [`step_key`].
    pub key: String,
    #[serde(default, skip_serializing_if = "Header::is_of_run")]
    pub kind: StoredKind,
    /// The name given by the user, if it differs from the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Set for a run that is another version of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionOf>,
    /// Whether a part of its content comes from a record that this store did not make: one from a file, a link or another
    /// window. `None`: it was stored before there was this mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strange: Option<bool>,
    /// When it was last written, in milliseconds since 1970.
    pub updated_ms: u64,
    /// Whether its last segment has ended.
    pub ended: bool,
    pub summary: RunSummary,
    /// Its rail in the list. Untyped: a later version may draw it differently, and then the figures are enough.
    #[serde(default)]
    pub rail: Value,
    /// What the search looks through: the task, the answer, the calls. Of an earlier version, in lower case. Empty in what the page is
    /// told, which asks the worker to search.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// How much is stored.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct StorageUsage {
    pub runs: Share,
    /// With the runs of their steps.
    pub plans: Share,
    /// Equal files count once.
    pub files: Share,
}

/// A part of what is stored. Texts count one byte for each UTF-16 code unit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Share {
    pub count: u64,
    pub bytes: u64,
}

/// Returns the key of a step's run.
#[must_use]
pub fn step_key(plan: &str, order: u32) -> String {
    format!("{plan}.{order}")
}

impl Header {
    #[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
    fn is_of_run(kind: &StoredKind) -> bool {
        *kind == StoredKind::Run
    }

    /// Returns what the list shows on one line: the session of a run, or the key of a plan. Several runs of one plan share a
    /// session.
    #[must_use]
    pub fn line(&self) -> &str {
        match self.kind {
            StoredKind::Run => &self.summary.session_id,
            StoredKind::Plan => &self.key,
            StoredKind::Step => self.key.split_once('.').map_or(self.key.as_str(), |(plan, _)| plan),
        }
    }

    /// When it began here, in milliseconds since 1970, from its key: a branch has the start time of the run that it comes from.
    #[must_use]
    pub fn began_ms(&self) -> u64 {
        let digits: String = self.key.chars().filter(|c| *c != '-').take(12).collect();
        u64::from_str_radix(&digits, 16).unwrap_or(self.summary.started_ms)
    }

    /// Returns it without what only the search needs.
    #[must_use]
    pub fn listed(self) -> Self {
        Header { words: String::new(), ..self }
    }
}

impl StreamedText {
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
