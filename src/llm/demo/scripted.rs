//! What is asked of the demo model and what it answers, as data: it runs in a worker, and the page plays its answer.

use serde::{Deserialize, Serialize};

use crate::engine::{DemoMode, Message, ToolChoice, ToolSpec};

/// One request, with the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DemoRequest {
    pub mode: DemoMode,
    pub seed: u64,
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    pub choice: ToolChoice,
}

/// What the request comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scripted {
    /// The body of an answer that streams.
    Stream { chunks: Vec<DemoChunk> },
}

/// Some wire bytes, and how long after the ones before they come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoChunk {
    pub after_ms: u32,
    pub text: String,
}
