//! A model's whole reply, decoded, and what can go wrong instead. Made by `llm`, read by the engine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Slug;
use super::ids::TokenCount;

/// A reply whose end marker was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryReply"),
    ts(rename = "TrajectoryReply")
)]
pub struct Reply {
    pub content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<RawCall>,
    pub finish: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Provider parts that must be sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub opaque: Option<Value>,
    /// The provider's id of the reply, and the model that answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

/// A tool call exactly as the model sent it: the id may be empty or repeated, the arguments may be no JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryRawCall"),
    ts(rename = "TrajectoryRawCall")
)]
pub struct RawCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// Why the model stopped, in the usual terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    #[default]
    Stop,
    /// Cut by the length limit: arguments of such a reply are never run.
    Length,
    ToolCalls,
    ContentFilter,
    Refusal,
    /// The provider paused a long turn, which continues when the reply is sent back (Anthropic's `pause_turn`).
    Paused,
}

/// Token usage of one reply. `input` includes `cached`, `output` includes `reasoning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Usage {
    pub input: TokenCount,
    pub output: TokenCount,
    pub cached: TokenCount,
    pub reasoning: TokenCount,
    /// Whether the numbers are estimates because the provider reported none.
    pub estimated: bool,
}

impl Usage {
    /// Both together; estimated where one of them is.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let sum = |a: TokenCount, b: TokenCount| TokenCount(a.0.saturating_add(b.0));
        Usage {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached: sum(self.cached, other.cached),
            reasoning: sum(self.reasoning, other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }
}

/// A request without a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryModelError"),
    ts(rename = "TrajectoryModelError")
)]
pub struct ModelError {
    pub slug: Slug,
    /// For users: what happened and what to try.
    pub message: String,
    /// HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What `Retry-After` or `retry-after-ms` asked for, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    pub retry: Retry,
}

/// Whether the same request may be sent again (SEMANTICS 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    Yes,
    Fatal,
}

/// A raw response as received, cut if it is too long (`RAW_CAP`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryRaw"),
    ts(rename = "TrajectoryRaw")
)]
pub struct RawResponse {
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
