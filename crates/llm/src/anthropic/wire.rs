//! The events as received, borrowed from the bytes; unknown fields are ignored. A value of an unexpected type is read as missing: one odd
//! field must not cost the reply.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lenient::{Many, Number, Object, WireText};

/// One event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: WireText<'a>,
    pub index: Number,
    /// In `message_start`.
    #[serde(borrow)]
    pub message: Object<WireMessage<'a>>,
    /// In `content_block_start`.
    #[serde(borrow)]
    pub content_block: Object<WireBlock<'a>>,
    /// In `content_block_delta` and `message_delta`.
    #[serde(borrow)]
    pub delta: Object<BlockDelta<'a>>,
    pub usage: Object<WireUsage>,
    pub error: Option<Value>,
}

/// A `content_block_start` whose block is in the wrong field (routatic/proxy#9).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MisplacedBlock<'a> {
    #[serde(borrow)]
    pub delta: Object<WireBlock<'a>>,
}

/// Only the type of an event: enough to skip unknown ones.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EventType<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: WireText<'a>,
}

/// A complete response, or the start of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow)]
    pub id: WireText<'a>,
    #[serde(borrow)]
    pub model: WireText<'a>,
    #[serde(borrow)]
    pub content: Many<WireBlock<'a>>,
    #[serde(borrow)]
    pub stop_reason: WireText<'a>,
    pub usage: Object<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireBlock<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: WireText<'a>,
    #[serde(borrow)]
    pub text: WireText<'a>,
    #[serde(borrow)]
    pub thinking: WireText<'a>,
    #[serde(borrow)]
    pub signature: WireText<'a>,
    /// In `redacted_thinking`.
    #[serde(borrow)]
    pub data: WireText<'a>,
    #[serde(borrow)]
    pub id: WireText<'a>,
    #[serde(borrow)]
    pub name: WireText<'a>,
    /// The arguments, verbatim.
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BlockDelta<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: WireText<'a>,
    #[serde(borrow)]
    pub text: WireText<'a>,
    #[serde(borrow)]
    pub thinking: WireText<'a>,
    #[serde(borrow)]
    pub signature: WireText<'a>,
    #[serde(borrow)]
    pub partial_json: WireText<'a>,
    /// In `message_delta`.
    #[serde(borrow)]
    pub stop_reason: WireText<'a>,
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
