//! Cache breakpoints of Claude, directly or through OpenRouter. The service keeps a prompt up to each breakpoint of its request, and finds what
//! an earlier request kept only at a breakpoint or at most 20 blocks before one. A turn with a dozen calls has more blocks than that, so a
//! request marks two places: its own end, and the end of the request before it. With the system text that is three of at most four.
//! <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>

use turnwise_engine::{Message, ToolChoice, ToolSpec};

use super::dialect::Encode;
use super::json::raw;

/// One more field of an open block.
pub(super) const BREAKPOINT: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// A writer whose bytes may end inside a block.
pub(super) trait BlockWriter: Encode + Clone {
    /// Whether the last block is open and takes a breakpoint.
    fn is_open(&self) -> bool;
}

/// Adds the breakpoints in messages. What follows the last request is held back until the next reply: bytes once written never change, and
/// the breakpoint before them is for one request only.
#[derive(Clone, Debug)]
pub(super) struct CacheMarked<E> {
    writer: E,
    held: Vec<u8>,
    /// Whether the bytes before the held ones end inside an open block.
    after_block: bool,
}

impl<E: BlockWriter> CacheMarked<E> {
    pub fn new(writer: E) -> Self {
        CacheMarked { writer, held: Vec::new(), after_block: false }
    }
}

impl<E: BlockWriter + 'static> Encode for CacheMarked<E> {
    fn start(&mut self, out: &mut Vec<u8>) {
        (self.held, self.after_block) = (Vec::new(), false);
        self.writer.start(out);
    }

    fn message(&mut self, message: &Message, out: &mut Vec<u8>) {
        // A reply follows the end of a request.
        if matches!(message, Message::Assistant(_)) && self.writer.is_open() {
            out.append(&mut self.held);
            self.after_block = true;
        }
        self.writer.message(message, &mut self.held);
    }

    fn mark(&mut self, out: &mut Vec<u8>) {
        if self.after_block && !self.held.is_empty() {
            raw(out, BREAKPOINT);
        }
        out.append(&mut self.held);
        if self.writer.is_open() {
            raw(out, BREAKPOINT);
        }
    }

    fn end(&mut self, tools: &[ToolSpec], choice: ToolChoice, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.writer.end(tools, choice, out);
    }

    fn fork(&self) -> Box<dyn Encode> {
        Box::new(self.clone())
    }
}
