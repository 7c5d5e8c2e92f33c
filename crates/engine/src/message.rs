//! Messages, independent of any provider's format: the conversation as the engine keeps it, and a model's reply or its failure.
//! `llm` makes replies and failures.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::correction::Correction;
use super::failure::Slug;
use super::ids::CallId;
use super::provider::{ProviderConfig, ProviderKind};
use super::usage::Usage;

/// One message of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryMessage"),
    ts(rename = "TrajectoryMessage")
)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    System {
        content: String,
    },
    User {
        content: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    Assistant(AssistantMessage),
    Tool(ToolMessage),
}

/// A picture for the model to look at, or a PDF for it to read. Kept whole, so that a record replays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryImage"),
    ts(rename = "TrajectoryImage")
)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`, which all providers with vision accept, or `application/pdf`.
    #[cfg_attr(feature = "types", schemars(extend("enum" = Image::MEDIA_TYPES)))]
    pub media_type: String,
    /// Its bytes in base64.
    #[cfg_attr(feature = "types", schemars(extend("contentEncoding" = "base64")))]
    pub data: String,
}

/// A model's reply as it entered the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(inline),
    ts(rename = "AssistantMessage")
)]
pub struct AssistantMessage {
    pub content: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Data that the provider needs back unchanged (thinking signatures).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub opaque: Option<Value>,
    /// Which model wrote it; `None`: unknown, as in a conversation that was passed in. What only that model can read goes back to it
    /// alone. Not part of a request's hash: it decides how a server reads the conversation, not what was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Author>,
}

/// The model that wrote a message, as its provider was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryAuthor"),
    ts(rename = "TrajectoryAuthor")
)]
pub struct Author {
    pub kind: ProviderKind,
    pub base_url: String,
    pub model: String,
}

impl From<&ProviderConfig> for Author {
    fn from(p: &ProviderConfig) -> Self {
        Author { kind: p.kind, base_url: p.base_url.clone(), model: p.model.clone() }
    }
}

/// A tool call in the history: the id is the engine's (unique in the run), the arguments are the
/// model's own JSON text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub arguments: String,
    /// The model's own id, if that is another one and the model gave it to no other call: it goes back to that model as it came
    /// (kimchi#1063: Kimi reads the function's name from it). Not part of a request's hash, as `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire_id: Option<String>,
    /// The arguments with which it ran, if the model's text had to be repaired first: they go back in place of that text. Not part of a
    /// request's hash either: records of before replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<String>,
}

impl ToolCall {
    #[must_use]
    pub fn new(id: CallId, name: String, arguments: String) -> Self {
        ToolCall { id, name, arguments, wire_id: None, repaired: None }
    }

    /// The arguments that servers get.
    #[must_use]
    pub fn written(&self) -> &str {
        self.repaired.as_deref().unwrap_or(&self.arguments)
    }
}

/// The answer to one tool call, as the model reads it: counter line included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS), schemars(inline), ts(rename = "ToolMessage"))]
pub struct ToolMessage {
    pub call_id: CallId,
    pub name: String,
    pub content: String,
    /// Pictures and PDFs from the tool, for models that accept them in a tool result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

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

impl Reply {
    /// A reply that a person wrote in place of the model.
    #[must_use]
    pub fn by_hand(content: String, tool_calls: Vec<RawCall>) -> Self {
        let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Reply { content, tool_calls, finish, ..Reply::default() }
    }
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

/// Whether the same request may be sent again (retries.md#retries-and-waiting).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    Yes,
    Fatal,
    /// Only with this change.
    With(Correction),
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

impl ModelError {
    /// Whether the server read the request and will not take it as it is.
    pub(super) fn refuses_request(&self) -> bool {
        self.retry == Retry::Fatal && matches!(self.status, Some(400 | 404 | 422 | 500 | 501))
    }
}

impl Message {
    pub fn user(content: impl Into<String>) -> Self {
        Message::User { content: content.into(), images: Vec::new() }
    }

    pub fn system(content: impl Into<String>) -> Self {
        Message::System { content: content.into() }
    }
}

impl Image {
    /// The attachments of a task.
    pub const MEDIA_TYPES: &'static [&'static str] =
        &["image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"];

    /// Pictures only: what all providers with vision take.
    pub const PICTURES: &'static [&'static str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

    /// Reads `data:image/png;base64,…`; `None` if it is anything else.
    #[must_use]
    pub fn from_data_url(url: &str) -> Option<Self> {
        let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
        let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let known = Image::MEDIA_TYPES.contains(&media_type) && !data.is_empty() && data.bytes().all(base64);
        known.then(|| Image { media_type: media_type.to_owned(), data: data.to_owned() })
    }

    /// Not a picture: some models cannot read it, and no page shows it.
    #[must_use]
    pub fn is_pdf(&self) -> bool {
        self.media_type == "application/pdf"
    }

    /// As a page shows it.
    #[must_use]
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}
