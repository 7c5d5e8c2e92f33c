//! OpenAI Chat Completions, and all servers that implement it (OpenRouter, Ollama `/v1`, llama.cpp, LM Studio, vLLM,
//! Gemini's compatible endpoint). <https://platform.openai.com/docs/api-reference/chat>

mod calls;
mod decode;
mod encode;
mod think;
mod wire;

pub(super) use decode::Assembly;
pub(super) use encode::{Encoder, takes_breakpoints};

/// The key under which this format stores what must be sent back.
const DIALECT: &str = "chat";

/// The same for what has to go back with each call: as many values as calls.
const EXTRAS: &str = "chat_calls";
