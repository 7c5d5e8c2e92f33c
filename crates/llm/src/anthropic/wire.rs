//! The events as received, borrowed from the bytes; unknown fields are ignored.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::openai::Text;

/// One event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    pub index: Option<u64>,
    /// In `message_start`.
    #[serde(borrow)]
    pub message: Option<Answer<'a>>,
    /// In `content_block_start`.
    #[serde(borrow)]
    pub content_block: Option<Block<'a>>,
    /// In `content_block_delta` and `message_delta`.
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

/// Only the type of an event: enough to skip unknown ones.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
}

/// A complete response, or the start of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub content: Vec<Block<'a>>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
    pub usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub thinking: Text<'a>,
    #[serde(borrow)]
    pub signature: Text<'a>,
    /// In `redacted_thinking`.
    #[serde(borrow)]
    pub data: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The arguments, verbatim.
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub thinking: Text<'a>,
    #[serde(borrow)]
    pub signature: Text<'a>,
    #[serde(borrow)]
    pub partial_json: Text<'a>,
    /// In `message_delta`.
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
}

/// `input_tokens` excludes tokens that were read from the cache or written to it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    pub input_tokens: Option<f64>,
    pub cache_creation_input_tokens: Option<f64>,
    pub cache_read_input_tokens: Option<f64>,
    pub output_tokens: Option<f64>,
    pub output_tokens_details: Option<OutputDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub thinking_tokens: Option<f64>,
}
