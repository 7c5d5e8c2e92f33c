//! The engine's inputs and outputs: [`Event`]s in, [`Effect`]s out. The shell has one driver: one exhaustive match on [`Effect`].
//!
//! The events are the backbone of the trajectory: `events[]` is every one of them, in order.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::authority::Authority;
use super::config::{Limits, Permissions, RunConfig, Scope, ToolSpec};
use super::correction::Correction;
use super::failure::Slug;
use super::ids::{BaseId, CallId, EpochMillis, RequestId, TimerId};
use super::message::{Image, Message, ModelError, RawResponse, Reply};
use super::own_tools;
use super::provider::ProviderConfig;
use super::record::{PartialReply, Record};
use super::skills::ScriptCode;

/// One input of the engine. Events that name an id which is no longer open do nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryEvent"),
    ts(rename = "TrajectoryEvent")
)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A request ended with a whole reply.
    ModelReplied {
        request: RequestId,
        reply: Reply,
        /// The response as received; kept in the record only if the attempt failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawResponse>,
        /// Milliseconds from sending to the first streamed token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_token_ms: Option<u64>,
    },
    /// A request ended without one. A stream without its end marker is one of these (`stream_cut`).
    ModelFailed {
        request: RequestId,
        error: ModelError,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawResponse>,
    },
    /// What an open request has streamed so far. Sent right before an event that may abort the request
    /// (`Run::may_abort`), so that the record keeps it.
    ModelStreamed { request: RequestId, partial: PartialReply },
    /// A tool call asked for by `Effect::RunTool` ended.
    ToolFinished { call: CallId, outcome: ToolOutcome },
    /// A running program (`run_code`) calls a tool. Its calls are numbered in this order, from 0.
    ToolAsked {
        /// The program's own call.
        call: CallId,
        name: String,
        /// JSON text.
        arguments: String,
    },
    /// The user answered whether a call may run.
    Permitted {
        call: CallId,
        allow: bool,
        #[serde(default)]
        scope: Scope,
    },
    /// From here on, other rules decide which tool calls run.
    PermissionsSet { permissions: Permissions },
    /// A timer asked for by `Effect::Sleep` fired.
    TimerFired { timer: TimerId },
    /// The user asked to wrap up.
    StopRequested,
    /// The user asked to end at once.
    Cancelled {
        /// Whether the report is the text that had arrived. Omitted in records of earlier versions, whose report only says that the
        /// run was cancelled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps_text: bool,
    },
    /// The user granted more turns after a run that ended on a limit.
    TurnsGranted { turns: u32 },
    /// The former driver of the run is gone, and with it what was in flight; from here on there is a new one.
    Resumed {
        at: EpochMillis,
        /// Who decides from here on; omitted: the run belongs to whoever resumes it, so nothing changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Box<Authority>>,
    },
    /// From here on this is another run, which takes another way than the one it comes from.
    Branched(Box<Branch>),
}

/// How one tool call ended (tool-calls.md#tool-calls).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The tool ran and answered.
    Executed {
        content: String,
        /// Pictures and PDFs that belong to the answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// The arguments it ran with, if they had to be repaired first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(type = "any"))]
        repaired_args: Option<Value>,
        /// The same result as data, for the program around the run. It is never sent to the model. At most
        /// [`super::caps::MAX_STRUCTURED_CONTENT`] bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "types", ts(type = "any"))]
        structured_content: Option<Value>,
    },
    /// The call never ran: its arguments are no JSON (`malformed_tool_call`) or fail the schema
    /// (`invalid_arguments`, `path` is the JSON Pointer that failed), the user refused it, or a program could not be run
    /// (`tool_exec_failed`).
    Rejected {
        slug: Slug,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        message: String,
    },
    /// The tool ran and threw, or its worker crashed (`tool_exec_failed`).
    Failed { message: String },
    /// The tool did not answer before its deadline (`timeout`).
    TimedOut { after_ms: u64 },
    /// Ended by cancel, answered `cancelled`.
    Cancelled,
    /// Still open 2 s after stop, answered `stopped`.
    Stopped,
}

impl ToolOutcome {
    /// The tool ran and answered with text only.
    #[must_use]
    pub fn executed(content: String, repaired_args: Option<Value>) -> Self {
        ToolOutcome::Executed { content, images: Vec::new(), repaired_args, structured_content: None }
    }
}

/// A branch: its origin, and what changes from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(inline),
    ts(rename = "TrajectoryBranch")
)]
#[serde(default)]
pub struct Branch {
    /// The new run's own ids: a branch is not a follow-up.
    pub run_id: String,
    pub session_id: String,
    pub parent: Parent,
    /// When it began.
    pub at: EpochMillis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(length(min = 1)))]
    pub providers: Option<Vec<ProviderConfig>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Who decides from here on; its models and limits take precedence over the ones above. Omitted in records made before
    /// there were authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Box<Authority>>,
    /// Another system message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// A user message inserted before the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// Replaces the model's reply in the turn. It counts as a request, although none is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// The call before the turn whose result was changed by hand; the events before this one contain the new result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<CallId>,
}

/// The run a branch comes from, and its first own turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryParent"),
    ts(rename = "TrajectoryParent")
)]
pub struct Parent {
    pub run_id: String,
    pub turn: u32,
}

/// What a branch changed, without the new values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchChanges {
    pub parent: Parent,
    pub parts: Vec<BranchPart>,
    /// Whether whoever made the branch decides in it; not in records made before there were authorities.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
    /// The call whose result was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<CallId>,
}

/// A part of a run that a branch changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchPart {
    /// The model's reply in the branch's first turn.
    Reply,
    /// A message was added before that turn.
    Message,
    System,
    Model,
    Limits,
}

impl From<&Branch> for BranchChanges {
    fn from(branch: &Branch) -> Self {
        let parts = [
            (BranchPart::Reply, branch.reply.is_some()),
            (BranchPart::Message, branch.say.is_some()),
            (BranchPart::System, branch.system.is_some()),
            (BranchPart::Model, branch.providers.is_some()),
            (BranchPart::Limits, branch.limits.is_some() || branch.max_turns.is_some()),
        ];
        BranchChanges {
            parent: branch.parent.clone(),
            adopted: branch.authority.is_some(),
            parts: parts.into_iter().filter_map(|(part, changed)| changed.then_some(part)).collect(),
            edited: branch.edited.clone(),
        }
    }
}

/// One thing the shell must do. Results come back as [`Event`]s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Send one LLM request; ends in `ModelReplied` or `ModelFailed` with the same `request`.
    CallModel(ModelCall),
    /// Check the arguments (parse, repair, schema) and run one tool; ends in `ToolFinished` with the same `call`. If the
    /// call needs permission, ask for it instead of running it; ends in `Permitted`, or in `ToolFinished` if it cannot run.
    RunTool(RunTool),
    /// The answer to the running program's call with this index (`Event::ToolAsked`).
    AnswerProgram { program: CallId, asked: usize, answer: ProgramAnswer },
    /// Ends in `TimerFired`.
    Sleep { timer: TimerId, ms: u64 },
    /// End what is still in progress; its result is no longer awaited.
    Abort(Abort),
    /// A tool result that was cut for the model: keep the whole in the run's workspace for `read_result(handle)`.
    KeepResult { handle: CallId, content: String },
    /// Notify observers, and store.
    Record(Record),
    /// The segment ended; nothing is pending any more.
    Finish,
}

/// One LLM request. The encoded history is `base` grown by `append`; `tail` is for this request only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    pub request: RequestId,
    pub turn: u32,
    pub attempt: u32,
    /// Index into `RunConfig::providers`.
    pub provider: usize,
    /// If it differs from the last call's, the shell starts from an empty history and `append` is all of it.
    pub base: BaseId,
    /// Messages that join the frozen history with this call.
    pub append: Vec<Message>,
    /// Messages of this request only: a notice, the synthesis prompt.
    pub tail: Vec<Message>,
    pub tools: ToolChoice,
    /// The request leaves out a part of the conversation, and offers the tool that reads it. If it differs from the last call's, `base`
    /// does, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// What the run learnt about this provider. If it differs from the last call's to it, `base` does, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learnt: Vec<Correction>,
}

impl ModelCall {
    /// The tools that the request declares; `tools` says which of them may be called.
    #[must_use]
    pub fn declared<'a>(&self, config: &'a RunConfig) -> Cow<'a, [ToolSpec]> {
        match self.earlier {
            true => Cow::Owned(config.tools.iter().cloned().chain([own_tools::earlier_spec()]).collect()),
            false => Cow::Borrowed(&config.tools),
        }
    }
}

/// Which tools a request offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// All of `RunConfig::tools`; the model decides.
    Auto,
    /// All of them too; `RunConfig::tool_choice` says which is called.
    Asked,
    /// No tools: synthesis.
    None,
    /// Only `final_report`, forced where the provider allows it.
    Report,
}

impl ToolChoice {
    /// Whether a tool of the run is one the model may call now.
    #[must_use]
    pub fn offers(self, tool: &ToolSpec) -> bool {
        match self {
            ToolChoice::Auto | ToolChoice::Asked => true,
            ToolChoice::Report => tool.name == own_tools::REPORT,
            ToolChoice::None => false,
        }
    }
}

/// One tool call to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTool {
    pub call: CallId,
    pub name: String,
    /// The model's own text, not yet parsed.
    pub arguments: String,
    pub timeout_ms: u64,
    pub run: RunMode,
    /// For `run_code`: what the code sees of the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    #[serde(default)]
    pub permission: CallPermission,
}

/// What a program sees of the world, apart from the answers to its calls. The same call of the same run always has the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Of its random numbers.
    pub seed: u32,
    /// Its clock when it starts; every reading advances it by 1 ms.
    pub at: EpochMillis,
    /// The script of a skill, which gets the call's arguments as `input`; omitted: the arguments hold the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptCode>,
}

/// The answer to a program's call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramAnswer {
    /// The whole result, which is not cut, or what went wrong.
    pub content: String,
    /// The call throws in the program.
    pub failed: bool,
}

/// Whether a call may run (tool-calls.md#permissions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPermission {
    #[default]
    Allowed,
    /// Only the user can say so.
    Ask,
    /// It was allowed, but it was under way when the run was interrupted. It runs if an interrupted call of this tool has no
    /// effect; otherwise only the user can say so.
    AskAgain,
}

/// How far the shell goes with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// Check the arguments, then run the tool.
    Run,
    /// As `Run`, for a call that was under way when the run was interrupted. It may have had its effect already: one
    /// with side effects is run only if the user agrees.
    RunAgain,
    /// Only check the arguments (parse, repair, schema): the engine does the rest. `Executed` with any content.
    Check,
}

/// What to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Abort {
    Request(RequestId),
    Tool(CallId),
    Timer(TimerId),
}
