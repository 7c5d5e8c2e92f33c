// A function for each kind of model server. Made of the rows in crates/llm/src/providers.rs: UPDATE=1 cargo test --test native types::
import { http } from './models.js';

/**
 * A model of OpenAI, through Chat Completions; with `baseUrl`, of any compatible server.
 *
 * @example
 * new Agent({ model: openai('name-of-a-model', { apiKey }) })
 */
export const openai = /* @__PURE__ */ http('openai');
/**
 * A model of OpenAI, through the Responses API.
 *
 * @example
 * new Agent({ model: openaiResponses('name-of-a-model', { apiKey }) })
 */
export const openaiResponses = /* @__PURE__ */ http('openai-responses');
/**
 * A model of Anthropic, through the Messages API.
 *
 * @example
 * new Agent({ model: anthropic('name-of-a-model', { apiKey }) })
 */
export const anthropic = /* @__PURE__ */ http('anthropic');
/**
 * A model of Google, through the Gemini API.
 *
 * @example
 * new Agent({ model: gemini('name-of-a-model', { apiKey }) })
 */
export const gemini = /* @__PURE__ */ http('gemini');
/**
 * Any model at OpenRouter, as `vendor/model`.
 *
 * @example
 * new Agent({ model: openrouter('name-of-a-model', { apiKey }) })
 */
export const openrouter = /* @__PURE__ */ http('openrouter');
/**
 * A model that Ollama serves.
 *
 * @example
 * new Agent({ model: ollama('name-of-a-model', { apiKey }) })
 */
export const ollama = /* @__PURE__ */ http('ollama');
/**
 * A model that LM Studio serves.
 *
 * @example
 * new Agent({ model: lmstudio('name-of-a-model', { apiKey }) })
 */
export const lmstudio = /* @__PURE__ */ http('lmstudio');
/**
 * The model that a llama.cpp server serves.
 *
 * @example
 * new Agent({ model: llamacpp('name-of-a-model', { apiKey }) })
 */
export const llamacpp = /* @__PURE__ */ http('llamacpp');
