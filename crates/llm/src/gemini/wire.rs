//! The chunks as received; unknown fields are ignored. A value of an unexpected type is read as missing: one odd field must not cost the
//! reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lenient::{Many, Number, Object, WireText};

/// One chunk of a stream, or a complete response.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResponseChunk<'a> {
    #[serde(borrow)]
    pub candidates: Many<Candidate<'a>>,
    #[serde(borrow)]
    pub prompt_feedback: Object<Feedback<'a>>,
    pub usage_metadata: Object<WireUsage>,
    #[serde(borrow)]
    pub model_version: WireText<'a>,
    #[serde(borrow)]
    pub response_id: WireText<'a>,
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub content: Object<CandidateContent<'a>>,
    #[serde(borrow)]
    pub finish_reason: WireText<'a>,
    #[serde(borrow)]
    pub finish_message: WireText<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CandidateContent<'a> {
    #[serde(borrow)]
    pub parts: Many<WirePart<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WirePart<'a> {
    #[serde(borrow)]
    pub text: Option<WireText<'a>>,
    /// `true`: the text summarizes the model's thinking.
    pub thought: Value,
    #[serde(borrow)]
    pub thought_signature: WireText<'a>,
    #[serde(borrow)]
    pub function_call: Object<FunctionCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub id: WireText<'a>,
    #[serde(borrow)]
    pub name: WireText<'a>,
    /// An object, verbatim, so that its order and its numbers are preserved.
    #[serde(borrow)]
    pub args: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow)]
    pub block_reason: WireText<'a>,
    #[serde(borrow)]
    pub block_reason_message: WireText<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireUsage {
    pub prompt_token_count: Number,
    pub tool_use_prompt_token_count: Number,
    pub candidates_token_count: Number,
    pub thoughts_token_count: Number,
    pub cached_content_token_count: Number,
}

/// One part of a reply, to be sent back unchanged; its text is in the message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) struct SignedPart {
    pub part: MarkPosition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MarkPosition {
    /// A number of bytes of the text.
    Text(usize),
    /// A number of bytes of the reasoning.
    Thought(usize),
    /// The next call, and the id that the model gave it; empty if it gave none.
    Call(String),
}
