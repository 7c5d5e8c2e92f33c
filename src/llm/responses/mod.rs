//! OpenAI Responses, and what speaks it beside OpenAI (llama.cpp, LM Studio, Ollama).
//! <https://platform.openai.com/docs/api-reference/responses>
//!
//! Nothing is kept on the server (`store: false`), so a request holds the whole conversation, the model's encrypted
//! reasoning included.

mod decode;
mod encode;
mod items;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// Under which name this format keeps what must be sent back: the reasoning items as they came, and between them
/// `{"text": bytes}` and `{"call": true}` where the reply's text and its calls stood.
const DIALECT: &str = "responses";
