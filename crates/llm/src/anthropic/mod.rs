//! Anthropic Messages. <https://platform.claude.com/docs/en/api/messages>

mod blocks;
mod decode;
mod encode;
mod thinking;
mod wire;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The key under which this format stores what must be sent back: the blocks of a reply with thoughts, in order.
/// `{"type": "thought", "size": n, "block": {…}}` is a complete `thinking` or `redacted_thinking` block, with the
/// length of its strings; `{"type": "text", "chars": n}` and `{"type": "tool_use"}` mark the positions of the next `n`
/// characters of the text and of the next call.
const DIALECT: &str = "anthropic";
