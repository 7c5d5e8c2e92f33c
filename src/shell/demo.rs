//! The demo model in the place of a server: its wire bytes come chunk by chunk and go through the real decoder.

use std::ops::ControlFlow;

use super::timer;
use crate::llm::demo::DemoChunk;

/// Hands out the chunks with their delays until they end or `take` breaks.
pub(super) async fn stream(chunks: Vec<DemoChunk>, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) {
    for chunk in chunks {
        if chunk.after_ms > 0 {
            timer::pause(chunk.after_ms).await;
        }
        if take(&chunk.bytes).is_break() {
            return;
        }
    }
}
