//! The inputs of the engine. These events are the backbone of the trajectory: `events[]` is every one of them, in order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Slug;
use super::ids::{CallId, EpochMillis, RequestId, TimerId};
use super::message::Image;
use super::record::PartialReply;
use super::reply::{ModelError, RawResponse, Reply};
use super::restart::Branch;

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
    /// A timer asked for by `Effect::Sleep` fired.
    TimerFired { timer: TimerId },
    /// The user asked to wrap up.
    StopRequested,
    /// The user asked to end at once.
    Cancelled,
    /// The user granted more turns after a run that ended on a limit.
    TurnsGranted { turns: u32 },
    /// The former driver of the run is gone, and with it what was in flight; from here on there is a new one.
    Resumed { at: EpochMillis },
    /// From here on this is another run, which takes another way than the one it comes from.
    Branched(Box<Branch>),
}

/// How one tool call ended (SEMANTICS 6).
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
    },
    /// The call never ran: its arguments are no JSON (`malformed_tool_call`) or fail the schema
    /// (`invalid_arguments`, `path` is the JSON Pointer that failed), or the user refused it.
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
