//! The record of a run: turns, attempts, calls, segments, traces, logs, and the notifications about them.
//! Everything here is derived from the events; `trajectory` assembles the document from it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::correction::Correction;
use super::failure::Slug;
use super::ids::{CallId, RequestId};
use super::message::RawResponse;
use super::usage::Usage;

/// One turn in the trajectory (trajectory.md#what-is-in-it).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryTurn"),
    ts(rename = "TrajectoryTurn")
)]
pub struct TurnRecord {
    #[cfg_attr(feature = "types", schemars(range(min = 1)))]
    pub turn: u32,
    pub content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    pub tool_calls: Vec<CallRecord>,
    pub attempts: Vec<AttemptRecord>,
    pub counter_level: CounterLevel,
    /// The turn whose reply (or tool result) became the report.
    #[serde(rename = "final")]
    pub is_final: bool,
    pub synthesis: bool,
    /// RFC 3339, UTC, milliseconds.
    #[cfg_attr(feature = "types", schemars(regex(pattern = super::time::RFC3339)))]
    pub started_at: String,
}

/// One tool call and its answer, as the model saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryCall"),
    ts(rename = "TrajectoryCall")
)]
pub struct CallRecord {
    pub id: CallId,
    /// The model's id of the call, if it was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    pub name: String,
    /// Parsed (and repaired) JSON, or the model's text if it is not JSON.
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub args: Value,
    /// As the model saw it, counter line included; omitted while the call is open.
    pub result: Option<String>,
    /// The same result as data, if the tool returned any. The model does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub structured_content: Option<Value>,
    /// The calls inside a batch, or those that a program made, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// Run ids of the sub-agents it started, in order: their documents are the run's `children`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
    /// The result carried an accepted final result.
    pub is_final: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<Slug>,
    /// Attempt of the turn that asked for the call.
    pub attempt: u32,
    /// Since the run started.
    pub started_ms: u64,
    pub duration_ms: Option<u64>,
}

/// One LLM request of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryAttempt"),
    ts(rename = "TrajectoryAttempt")
)]
pub struct AttemptRecord {
    pub attempt: u32,
    pub request: RequestId,
    /// Index into the provider list.
    pub provider: usize,
    /// Why it failed, most significant slug first; empty: it did not fail.
    pub slugs: Vec<Slug>,
    /// Why it failed, for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What its refusal taught the run: the further requests to this provider are changed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    /// Hex SHA-256, chained (trajectory.md#what-is-in-it).
    #[cfg_attr(feature = "types", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub request_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Since the run started.
    pub started_ms: u64,
    /// Nothing while the request is open.
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<u64>,
    /// The wait before this attempt, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// The system notice this request carried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", schemars(regex(pattern = "^system notice: ")))]
    pub notice: Option<String>,
    /// How many of the oldest messages of the conversation this request left out to fit the context window.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "types", ts(as = "Option<u32>", optional))]
    pub left_out: u32,
    /// What had been streamed when stop, cancel or a limit aborted the request. Never part of the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<PartialReply>,
}

/// The beginning of a reply whose request was aborted, as it was streamed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryPartial"),
    ts(rename = "TrajectoryPartial")
)]
pub struct PartialReply {
    pub content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
}

impl PartialReply {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.content.is_empty() && self.reasoning.is_empty()
    }
}

/// The turn counter's urgency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CounterLevel {
    Normal,
    Moderate,
    Urgent,
    #[default]
    Off,
}

/// How a segment ended (semantics.md#how-a-run-ends).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Ending {
    pub termination_reason: TerminationReason,
    pub outcome: Outcome,
    pub answer_source: AnswerSource,
    pub max_turns: u32,
    pub effective_max_turns: u32,
    pub total_turns: u32,
    /// The trigger of the wrap-up, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap_up: Option<Trigger>,
    /// The last error, if the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The report.
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub final_result_data: Option<Value>,
    /// The accepted report as JSON, where its format is `json` or `slack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub report_data: Option<Value>,
    /// RFC 3339, UTC, milliseconds.
    #[cfg_attr(feature = "types", schemars(regex(pattern = super::time::RFC3339)))]
    pub finished_at: String,
}

/// What ended the segment. The strings are exact (semantics.md#how-a-run-ends).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationReason {
    LlmComplete,
    FinalResult,
    FinalReport,
    Synthesized(Trigger),
    SynthesisFailed(Trigger),
    LlmError,
    RetriesExhausted,
    MaxTurnsExhausted,
    Cancelled,
}

/// What asked for the wrap-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    MaxTurns,
    Stop,
    Context,
    WallTime,
    Tokens,
    Cost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Success,
    Partial,
    Failed,
    Cancelled,
}

/// Who wrote the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerSource {
    Model,
    Tool,
    Synthesis,
    System,
}

/// A noteworthy step of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryTrace"),
    ts(rename = "TrajectoryTrace")
)]
pub struct TraceRecord {
    pub name: String,
    pub at_ms: u64,
    pub turn: u32,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub data: Value,
}

/// `WRN` for each failed attempt, and for each setting that is sent differently (attempt 0, no slug); `ERR` for a failed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryLog"),
    ts(rename = "TrajectoryLog")
)]
pub struct LogRecord {
    pub level: LogLevel,
    pub at_ms: u64,
    pub turn: u32,
    pub attempt: u32,
    pub slugs: Vec<Slug>,
    pub message: String,
    pub provider: String,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawResponse>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum LogLevel {
    #[serde(rename = "WRN")]
    Warn,
    #[serde(rename = "ERR")]
    Error,
}

/// A notification: what happened, in which turn, and how many LLM calls can still follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub turn: u32,
    /// Never grows, except when the user grants turns.
    pub calls_left: u32,
    pub what: RecordKind,
}

/// The events of the JavaScript API (`onEvent`), but for streamed deltas, which go from the shell to the view directly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RecordKind {
    RunStarted {
        run_id: String,
        session_id: String,
        task: String,
        max_turns: u32,
    },
    TurnStarted {
        synthesis: bool,
    },
    AttemptStarted {
        attempt: u32,
        request: RequestId,
    },
    /// An attempt failed, or was dropped by stop; the deltas streamed so far are void.
    AttemptFailed {
        attempt: u32,
        slugs: Vec<Slug>,
        message: String,
    },
    ToolStarted {
        id: CallId,
        name: String,
        #[cfg_attr(feature = "types", ts(type = "any"))]
        args: Value,
    },
    ToolFinished {
        call: CallRecord,
    },
    TurnFinished {
        record: TurnRecord,
    },
    /// A wait before the next attempt.
    Waiting {
        attempt: u32,
        ms: u64,
        slugs: Vec<Slug>,
        message: String,
    },
    SynthesisStarted {
        trigger: Trigger,
    },
    Trace {
        trace: TraceRecord,
    },
    Log {
        log: LogRecord,
    },
    Progress {
        status: String,
        detail: Option<String>,
    },
    /// Something of a sub-agent's. A page gets it as an event of its own kind (`protocol::RunEvent`).
    #[cfg_attr(feature = "types", ts(skip))]
    Child {
        /// From 1 over the whole run.
        child: u32,
        event: Box<Record>,
    },
    /// The report, regardless of its author.
    Final {
        output: String,
        answer_source: AnswerSource,
        #[cfg_attr(feature = "types", ts(type = "any"))]
        final_result_data: Option<Value>,
    },
    AgentFinished {
        ending: Ending,
    },
    AgentFailed {
        ending: Ending,
    },
}

impl Trigger {
    pub const ALL: &'static [Trigger] =
        &[Trigger::MaxTurns, Trigger::Stop, Trigger::Context, Trigger::WallTime, Trigger::Tokens, Trigger::Cost];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Trigger::MaxTurns => "max_turns",
            Trigger::Stop => "stop",
            Trigger::Context => "context",
            Trigger::WallTime => "wall_time",
            Trigger::Tokens => "tokens",
            Trigger::Cost => "cost",
        }
    }
}

impl TerminationReason {
    /// Of a failed ending: its slug.
    #[must_use]
    pub fn slug(self) -> Option<Slug> {
        match self {
            TerminationReason::RetriesExhausted => Some(Slug::RetriesExhausted),
            TerminationReason::MaxTurnsExhausted => Some(Slug::MaxTurnsExhausted),
            TerminationReason::LlmError => Some(Slug::LlmError),
            TerminationReason::SynthesisFailed(trigger) => Some(match trigger {
                Trigger::MaxTurns => Slug::MaxTurnsSynthesisFailed,
                Trigger::Stop => Slug::StopSynthesisFailed,
                Trigger::Context => Slug::ContextSynthesisFailed,
                Trigger::WallTime => Slug::WallTimeSynthesisFailed,
                Trigger::Tokens => Slug::TokensSynthesisFailed,
                Trigger::Cost => Slug::CostSynthesisFailed,
            }),
            TerminationReason::LlmComplete
            | TerminationReason::FinalResult
            | TerminationReason::FinalReport
            | TerminationReason::Synthesized(_)
            | TerminationReason::Cancelled => None,
        }
    }
}

impl std::fmt::Display for TerminationReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TerminationReason::LlmComplete => f.write_str("llm_complete"),
            TerminationReason::FinalResult => f.write_str("final_result"),
            TerminationReason::FinalReport => f.write_str("final_report"),
            TerminationReason::Synthesized(t) => write!(f, "{}_synthesized", t.as_str()),
            TerminationReason::SynthesisFailed(t) => write!(f, "{}_synthesis_failed", t.as_str()),
            TerminationReason::LlmError => f.write_str("llm_error"),
            TerminationReason::RetriesExhausted => f.write_str("retries_exhausted"),
            TerminationReason::MaxTurnsExhausted => f.write_str("max_turns_exhausted"),
            TerminationReason::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::str::FromStr for TerminationReason {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let trigger = |name: &str| Trigger::ALL.iter().copied().find(|t| t.as_str() == name).ok_or(());
        match text {
            "llm_complete" => Ok(TerminationReason::LlmComplete),
            "final_result" => Ok(TerminationReason::FinalResult),
            "final_report" => Ok(TerminationReason::FinalReport),
            "llm_error" => Ok(TerminationReason::LlmError),
            "retries_exhausted" => Ok(TerminationReason::RetriesExhausted),
            "max_turns_exhausted" => Ok(TerminationReason::MaxTurnsExhausted),
            "cancelled" => Ok(TerminationReason::Cancelled),
            _ => match (text.strip_suffix("_synthesized"), text.strip_suffix("_synthesis_failed")) {
                (Some(name), _) => trigger(name).map(TerminationReason::Synthesized),
                (_, Some(name)) => trigger(name).map(TerminationReason::SynthesisFailed),
                _ => Err(()),
            },
        }
    }
}

#[cfg(feature = "types")]
impl TerminationReason {
    /// Every one of them, for what describes records.
    pub fn all() -> impl Iterator<Item = TerminationReason> {
        use TerminationReason::*;
        let own = [LlmComplete, FinalResult, FinalReport, LlmError, RetriesExhausted, MaxTurnsExhausted, Cancelled];
        let of_triggers = Trigger::ALL.iter().flat_map(|trigger| [Synthesized(*trigger), SynthesisFailed(*trigger)]);
        own.into_iter().chain(of_triggers)
    }
}

#[cfg(feature = "types")]
impl schemars::JsonSchema for TerminationReason {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TerminationReason".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<String> = TerminationReason::all().map(|reason| reason.to_string()).collect();
        schemars::json_schema!({ "description": "What ended the segment.", "type": "string", "enum": words })
    }
}

#[cfg(feature = "types")]
impl ts_rs::TS for TerminationReason {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn docs() -> Option<String> {
        Some("/** What ended the segment. */\n".to_owned())
    }

    fn name(_: &ts_rs::Config) -> String {
        "TerminationReason".to_owned()
    }

    fn decl(cfg: &ts_rs::Config) -> String {
        format!("type {} = {};", Self::name(cfg), Self::inline(cfg))
    }

    fn decl_concrete(cfg: &ts_rs::Config) -> String {
        Self::decl(cfg)
    }

    fn inline(_: &ts_rs::Config) -> String {
        let words: Vec<String> = TerminationReason::all().map(|reason| format!("\"{reason}\"")).collect();
        words.join(" | ")
    }

    fn output_path() -> Option<std::path::PathBuf> {
        Some("TerminationReason.ts".into())
    }
}

impl Serialize for TerminationReason {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TerminationReason {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(|()| serde::de::Error::custom("unknown termination reason"))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(n: &u32) -> bool {
    *n == 0
}
