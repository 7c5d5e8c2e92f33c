//! The messages between a page and the agent's worker. PURE: types and their JSON text, no ports.
//!
//! A post is a JSON array of messages, or an array of that text followed by `parts`: data that is better sent outside of JSON
//! (bytes, which are transferred; blobs; long texts). A message that has parts takes them from the front, in order, and its
//! comment says how many. Each message is an object with one key, its name.
//!
//! The page says `hello` first, and the worker answers `ready`, or `fatal` if it speaks another version. Every message with an
//! `id` is answered once, by `done` or `refused`. `call` is the other direction: the page answers by `returned` or `failed`.
//! The TypeScript types are in `www/client/messages.ts`, which `tests/native/types.rs` generates from this module.

pub mod app;
mod event;
mod options;
pub mod record;
pub mod snapshot;
pub mod tool_worker;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use event::{DeltaEvent, DeltaKind, EventStep, PlanOwnEvent, RunEvent};
pub use options::{AccessOptions, AgentOptions, ProviderOptions, contradiction};
pub use snapshot::{Reporter, Snapshot, SnapshotChange};

use turnwise_docs_index::{Info, SiteStage};
use turnwise_engine::{Message, SideEffect, Skill, ToolSpec};
use turnwise_record::trajectory::ExportFormat;

/// The version of this protocol: both sides ship in one package and are never mixed with those of another version.
pub const VERSION: u32 = 1;

/// Messages from the page.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Command {
    /// Always the first message.
    Hello {
        protocol: u32,
        /// The page's address: relative addresses are resolved against it. There is none in Node.js.
        page: Option<String>,
        /// URL of `worker.js`, unless an agent sets another. Default: the one known to this worker's own script.
        worker: Option<String>,
        /// Set in a frame that pages of other origins drive: requests to its own origin must be below this address.
        only: Option<String>,
    },
    /// Creates an agent.
    Open {
        agent: AgentId,
        options: Box<AgentOptions>,
    },
    /// Adds a page tool from the next run on.
    Tool {
        agent: AgentId,
        tool: ToolSpec,
    },
    /// Removes a page tool, from the next run on.
    Untool {
        agent: AgentId,
        name: String,
    },
    /// The skills of the agent from the next run on, instead of those before.
    Skills {
        agent: AgentId,
        skills: Vec<Skill>,
    },
    /// Changes to the agent's files. A part for each path that still exists: a blob.
    Files {
        agent: AgentId,
        files: Vec<AgentFileChange>,
    },
    /// An order from the app to its worker (`app::Order`), with this number of parts: its JSON text, then its own parts.
    App {
        parts: usize,
    },
    /// Starts a run; answered when it has ended, with its trajectory. One part if `after` is set: the text of an earlier
    /// trajectory.
    Run {
        id: AskId,
        agent: AgentId,
        task: String,
        /// Data URLs.
        #[serde(default)]
        images: Vec<String>,
        #[serde(default)]
        after: bool,
        /// The conversation so far, if it does not come from a trajectory.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        history: Vec<Message>,
        how: Listening,
    },
    /// Resumes a run that had not ended; answered like `run`. The part: the text of its trajectory.
    Resume {
        id: AskId,
        agent: AgentId,
        how: Listening,
    },
    /// Starts a branch of a run; answered like `run`. The part: the text of a `BranchWish`.
    Branch {
        id: AskId,
        agent: AgentId,
        how: Listening,
    },
    /// Requests the record of the current or last run; answered with a trajectory, or nothing.
    Checkpoint {
        id: AskId,
        agent: AgentId,
    },
    /// Grants more turns to a run that ended at a limit; answered like `run`.
    Grant {
        id: AskId,
        agent: AgentId,
        turns: u32,
        how: Listening,
    },
    /// Runs a plan; answered with its record. One part if `after` is set: the text of an earlier record.
    Plan {
        id: AskId,
        agent: AgentId,
        #[cfg_attr(feature = "types", ts(type = "unknown"))]
        plan: Value,
        parallel: Option<usize>,
        from: Option<u32>,
        #[serde(default)]
        after: bool,
        how: Listening,
    },
    Stop {
        agent: AgentId,
    },
    Cancel {
        agent: AgentId,
    },
    /// Releases an agent. Its current run ends first.
    Close {
        agent: AgentId,
    },
    /// Runs a task on the text of a record, which is the part; answered with the task's result.
    Document {
        id: AskId,
        task: DocumentTask,
        /// The name of the record in the page's code, for errors.
        name: String,
    },
    /// Renders Markdown to nodes.
    Render {
        id: AskId,
        markdown: String,
        worker_url: Option<String>,
    },
    /// Reads the response whose body, a blob, is the part; answered with `{title, text, notes}`.
    Page {
        id: AskId,
        /// Its address, after redirects.
        url: String,
        content_type: String,
    },
    /// Lists the models of a provider.
    Models {
        id: AskId,
        provider: Box<ProviderOptions>,
    },
    /// Reads a documentation site; answered with a [`OpenedSite`] when it can be queried.
    DocsOpen {
        id: AskId,
        site: SiteId,
        page: String,
        html: Option<String>,
        source: Option<String>,
        cache: bool,
        credentials: bool,
        /// Whether the host page fetches resources from the origin of `page` (`fetch`).
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        bridged: bool,
        worker_url: Option<String>,
    },
    /// Searches a site; answered with a list of hits.
    DocsSearch {
        id: AskId,
        site: SiteId,
        query: String,
        limit: usize,
    },
    /// Calls one of the site's tools; answered with a `ToolText`.
    DocsCall {
        id: AskId,
        site: SiteId,
        name: String,
        #[cfg_attr(feature = "types", ts(type = "unknown"))]
        arguments: Value,
    },
    DocsClose {
        site: SiteId,
    },
    /// The result of a `call`. For a tool: text, data URLs of images and PDFs, and the result as data, as JSON text; for an approval: the JSON text of
    /// `{allow, scope}`; for a model: nothing, since its output came in pieces.
    Returned {
        call: CallNumber,
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        text: String,
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        images: Vec<String>,
        #[serde(default)]
        #[cfg_attr(feature = "types", ts(optional = nullable))]
        structured_content: Option<String>,
    },
    /// The error that a `call` threw.
    Failed {
        call: CallNumber,
        failure: Failure,
    },
    /// The head of a model's response, or of a fetched one.
    Head {
        call: CallNumber,
        head: ResponseHead,
    },
    /// A running program calls a tool; answered by `answered`. Its calls are numbered from 0.
    Asked {
        call: CallNumber,
        name: String,
        /// JSON text.
        arguments: String,
    },
    /// More of a model's output or of a fetched body. The part: bytes of a stream of chat completion chunks or of the response's
    /// body.
    Piece {
        call: CallNumber,
    },
}

/// Tasks on the text of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum DocumentTask {
    /// Checks whether this trajectory replays: `{ok}`, and the first difference if it does not; otherwise `programs`, each of which
    /// the page runs again.
    Replay,
    /// The starting point of a resumed run: a `ResumePoint`.
    Resume,
    /// The starting point of a branch: from a `BranchWish`, a `ResumePoint`.
    Branch,
    /// Exports this trajectory as the text of a file.
    Export(ExportFormat),
    /// Converts a file of any known kind to a trajectory.
    Import,
    /// Checks whether the completed steps of this plan's record replay: `true`, or an error.
    Session,
    /// The figures of this trajectory: a `Summary`.
    Summarize,
    /// Statistics over runs: from `{summaries, filter}`, an `Insight`.
    Insight,
    /// The table or chart in this result of a tool, laid out for drawing; `null`: it holds none.
    Figure,
    /// The table in this text of separated values.
    Separated,
}

/// Whether a run's events are sent, and how calls of tools with side effects are approved.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Listening {
    /// Whether anybody listens to `events`.
    pub listens: bool,
    pub approve: Approver,
}

/// Who answers whether calls may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Approver {
    /// Nobody: what has to be asked is denied.
    #[default]
    Nobody,
    /// The page is asked, by `call`.
    Ask,
    /// Every question is answered with yes.
    All,
    /// The same as for the previous segment.
    Same,
}

/// A change to one of an agent's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct AgentFileChange {
    pub path: String,
    /// Whether the file still exists; if so, it has a part.
    pub there: bool,
}

/// What a tool call would change in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownChange<'a> {
    /// A unified diff.
    pub diff: &'a str,
    /// The number of lines at the end that the diff leaves out.
    pub omitted: usize,
    /// The call was asked about before; a file has changed since then, so its answer did not count.
    pub again: bool,
}

/// An error that a function of the page threw.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct Failure {
    pub message: String,
    /// The status of a server's response, if the error has it.
    pub status: Option<f64>,
    /// The wait that the error asks for.
    pub retry_after_ms: Option<f64>,
    /// A retry would not help.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub fatal: bool,
    /// The conversation is too long for the model.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub too_long: bool,
    /// No server was reached, or the connection broke.
    #[cfg_attr(feature = "types", ts(optional = nullable))]
    pub network: bool,
}

/// The beginning of a response that the page fetched.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct ResponseHead {
    pub status: u16,
    pub content_type: String,
    pub retry_after: Option<String>,
    pub retry_after_ms: Option<String>,
    pub should_retry: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// `X-Robots-Tag`.
    pub robots: Option<String>,
    /// The URL after redirects.
    pub url: Option<String>,
}

/// Messages from the worker.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "FromWorker", optional_fields))]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum WorkerMessage<'a> {
    /// The answer to `hello`.
    Ready {
        protocol: u32,
        /// Version of the engine.
        engine: &'a str,
    },
    /// The worker can no longer be used.
    Fatal { message: &'a str },
    /// The answer to a message with an `id`: `result`, or, if it is long, a part with its JSON in UTF-8.
    Done {
        id: AskId,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional, type = "unknown"))]
        result: Option<&'a RawValue>,
    },
    /// A message with an `id` failed.
    Refused {
        id: AskId,
        message: &'a str,
        /// Whether the argument is wrong (`TypeError`); otherwise the message came at the wrong time.
        wrong: bool,
    },
    /// The events of a run or a plan, in order. Streamed text is merged into at most one event per frame.
    Events {
        id: AskId,
        #[cfg_attr(feature = "types", ts(type = "(RunEvent | PlanOwnEvent)[]"))]
        events: Vec<&'a RawValue>,
    },
    /// A request for something that only the page can do.
    Call {
        call: CallNumber,
        /// The agent that makes the request; omitted if it is not from an agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<AgentId>,
        what: PageRequest<'a>,
    },
    /// The answer to the call of a running program with this index: the result, or what went wrong.
    Answered { call: CallNumber, asked: usize, content: &'a str, failed: bool },
    /// Aborts a call: its answer is no longer needed.
    Abort { call: CallNumber },
    /// Files that tools wrote or removed. A part for each that exists: a blob.
    Wrote { agent: AgentId, files: Vec<AgentFileChange> },
    /// News from the app's worker (`app::News`), with this number of parts: its JSON text, then its own parts.
    App { parts: usize },
    /// The worker's script is running and loads the module. Sent by that script, not by this module.
    Loading {},
    /// The content security policy of the worker blocked something. Sent by the worker's own script, not by this module.
    Blocked { directive: &'a str, uri: &'a str },
    /// The progress of reading a site, and what is known about it so far.
    Site {
        site: SiteId,
        #[serde(skip_serializing_if = "Option::is_none")]
        progress: Option<Progress<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        info: Option<&'a Info>,
    },
}

/// Requests to the page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PageRequest<'a> {
    /// Call a tool with these arguments, which have been checked.
    Tool {
        name: &'a str,
        #[cfg_attr(feature = "types", ts(type = "unknown"))]
        args: &'a RawValue,
    },
    /// Ask whether a call may run.
    Approve {
        id: &'a str,
        name: &'a str,
        #[cfg_attr(feature = "types", ts(type = "unknown"))]
        args: &'a RawValue,
        side_effect: SideEffect,
        again: bool,
        /// What the call would change in files, as a unified diff.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        diff: Option<&'a str>,
        /// The number of lines at the end that a very long diff leaves out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        omitted_lines: Option<usize>,
        /// The host that the call goes to, if that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        host: Option<&'a str>,
    },
    /// Run a program in the sandbox; `returned` says how it ended, `{ ok, output }` as JSON. `failed`: it could not be run.
    Code {
        code: &'a str,
        /// Of its random numbers.
        seed: u32,
        /// Its clock when it starts, in milliseconds since 1970.
        #[cfg_attr(feature = "types", ts(type = "number"))]
        at: u64,
        /// The tools that it can call.
        tools: Vec<&'a str>,
        /// For the script of a skill: its arguments as JSON, which it sees as `input`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(optional))]
        input: Option<&'a str>,
    },
    /// Call the model of the agent's provider with this number. One part: the request, as JSON in UTF-8.
    Complete { provider: usize },
    /// Fetch a page from the host's origin: this page is a frame, and its host has another origin.
    Fetch { url: &'a str },
}

#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsProgress"))]
pub struct Progress<'a> {
    pub stage: SiteStage,
    /// The URL being read.
    pub source: &'a str,
    pub done: usize,
    pub total: usize,
}

/// A site that can be queried.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
pub struct OpenedSite<'a> {
    pub info: &'a Info,
    pub tools: &'a [ToolSpec],
}

/// The number that the page gave to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct AgentId(pub u32);

/// The number that the page gave to a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct SiteId(pub u32);

/// The id of a message answered by `done` or `refused`; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct AskId(pub u32);

/// The id of a request that the page answers by `returned` or `failed`; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct CallNumber(pub u32);
