//! Anthropic Messages. <https://platform.claude.com/docs/en/api/messages>

mod blocks;
mod decode;
mod encode;
mod thinking;
mod wire;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The name under which this format keeps what must be sent back: the blocks of a reply that thought, in their order.
/// `{"type": "thought", "size": n, "block": {…}}` is a `thinking` or `redacted_thinking` block, whole, with the length of
/// its strings; `{"type": "text", "chars": n}` and `{"type": "tool_use"}` mark where the next `n` characters of the text and
/// the next call follow.
const DIALECT: &str = "anthropic";
