//! The conversation as the engine keeps it, before any provider's encoding.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::CallId;

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
}

/// A tool call in the history: the id is the engine's (unique in the run), the arguments are the
/// model's own JSON text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub arguments: String,
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

    /// `data:image/png;base64,…`; `None` where it is anything else.
    #[must_use]
    pub fn of_data_url(url: &str) -> Option<Self> {
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
