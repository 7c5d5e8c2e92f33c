//! The effects that the engine requests. The shell has one driver: one exhaustive match on [`Effect`].

use serde::{Deserialize, Serialize};

use super::config::ToolSpec;
use super::ids::{BaseId, CallId, RequestId, TimerId};
use super::message::Message;
use super::record::Record;
use super::report;

/// One thing the shell must do. Results come back as [`super::Event`]s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Send one LLM request; ends in `ModelReplied` or `ModelFailed` with the same `request`.
    CallModel(ModelCall),
    /// Check the arguments (parse, repair, schema) and run one tool; ends in `ToolFinished` with the same `call`.
    RunTool(RunTool),
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
            ToolChoice::Report => tool.name == report::TOOL,
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
