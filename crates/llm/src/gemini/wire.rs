//! The chunks as received; unknown fields are ignored.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One chunk of a stream, or a complete response.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub candidates: Option<Vec<Candidate<'a>>>,
    pub prompt_feedback: Option<Feedback>,
    pub usage_metadata: Option<WireUsage>,
    pub model_version: Option<String>,
    pub response_id: Option<String>,
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub index: Option<u64>,
    #[serde(borrow)]
    pub content: Option<Content<'a>>,
    pub finish_reason: Option<String>,
    pub finish_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub parts: Option<Vec<Part<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part<'a> {
    pub text: Option<String>,
    /// Whether the text summarizes the model's thinking.
    pub thought: Option<bool>,
    pub thought_signature: Option<String>,
    #[serde(borrow)]
    pub function_call: Option<Call<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    pub id: Option<String>,
    pub name: Option<String>,
    /// An object, verbatim, so that its order and its numbers are preserved.
    #[serde(borrow)]
    pub args: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Feedback {
    pub block_reason: Option<String>,
    pub block_reason_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireUsage {
    pub prompt_token_count: Option<f64>,
    pub tool_use_prompt_token_count: Option<f64>,
    pub candidates_token_count: Option<f64>,
    pub thoughts_token_count: Option<f64>,
    pub cached_content_token_count: Option<f64>,
}

/// One part of a reply, to be sent back unchanged; its text is in the message.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) struct Mark {
    pub part: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// A number of bytes of the text.
    Text(usize),
    /// A number of bytes of the reasoning.
    Thought(usize),
    /// The next call, and the id that the model gave it; empty if it gave none.
    Call(String),
}
