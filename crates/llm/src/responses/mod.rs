//! OpenAI Responses, which llama.cpp, LM Studio and Ollama also implement.
//! <https://platform.openai.com/docs/api-reference/responses>
//!
//! Nothing is stored on the server (`store: false`), so a request contains the whole conversation, including the
//! model's encrypted reasoning.

mod decode;
mod encode;
mod items;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The key under which this format stores what must be sent back: the reasoning items unchanged, and between them
/// `{"text": bytes}` and `{"call": true}` in place of the reply's text and its calls.
const DIALECT: &str = "responses";
