//! The events as received, borrowed from the bytes; unknown fields are ignored. A value of an unexpected type is read as missing: one odd
//! field must not cost the reply.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::openai::{Many, Number, Object, Text};

/// One event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
    pub index: Number,
    /// In `message_start`.
    #[serde(borrow)]
    pub message: Object<Answer<'a>>,
    /// In `content_block_start`.
    #[serde(borrow)]
    pub content_block: Object<Block<'a>>,
    /// In `content_block_delta` and `message_delta`.
    #[serde(borrow)]
    pub delta: Object<Delta<'a>>,
    pub usage: Object<WireUsage>,
    pub error: Option<Value>,
}

/// A `content_block_start` whose block is in the wrong field (routatic/proxy#9).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Begun<'a> {
    #[serde(borrow)]
    pub delta: Object<Block<'a>>,
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
    pub content: Many<Block<'a>>,
    #[serde(borrow)]
    pub stop_reason: Text<'a>,
    pub usage: Object<WireUsage>,
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
    pub input_tokens: Number,
    pub cache_creation_input_tokens: Number,
    pub cache_read_input_tokens: Number,
    pub output_tokens: Number,
    pub output_tokens_details: Object<OutputDetails>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub thinking_tokens: Number,
}
