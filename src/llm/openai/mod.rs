//! OpenAI Chat Completions, and all that speak it (OpenRouter, Ollama `/v1`, llama.cpp, LM Studio, vLLM, Gemini's
//! compatible endpoint). <https://platform.openai.com/docs/api-reference/chat>

mod calls;
pub mod decode;
pub mod encode;
mod wire;
