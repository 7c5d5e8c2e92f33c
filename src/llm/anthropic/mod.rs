//! Anthropic Messages.

// Until its own encoder and decoder stand here, requests go out in the chat format.
pub(super) use super::openai::{Assembly, Encoder};
