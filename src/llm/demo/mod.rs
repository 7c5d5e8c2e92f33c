//! The demo model: scripted, not an AI.

use crate::engine::{DemoMode, Message, ToolChoice, ToolSpec};

/// What the demo model calls itself, wherever it is named.
pub const NAME: &str = "Demo: scripted, not an AI";

/// Some wire bytes, and how long after the ones before they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoChunk {
    pub after_ms: u32,
    pub bytes: Vec<u8>,
}

/// The response to one request, as OpenAI stream bytes for the real decoder. A pure function of its arguments.
#[must_use]
pub fn respond(
    _mode: DemoMode,
    _seed: u64,
    _messages: &[Message],
    _tools: &[ToolSpec],
    _choice: ToolChoice,
) -> Vec<DemoChunk> {
    Vec::new()
}
