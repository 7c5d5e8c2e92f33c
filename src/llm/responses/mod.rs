//! OpenAI Responses, which llama.cpp, LM Studio and Ollama also implement.
//! <https://platform.openai.com/docs/api-reference/responses>
//!
//! Nothing is kept on the server (`store: false`), so a request holds the whole conversation, the model's encrypted
//! reasoning included.

mod decode;
mod encode;
mod items;

pub(super) use decode::Assembly;
pub(super) use encode::Encoder;

/// The name under which this format keeps what must be sent back: the reasoning items as they came, and between them
/// `{"text": bytes}` and `{"call": true}` in place of the reply's text and its calls.
const DIALECT: &str = "responses";
