// Made of the rows in crates/llm/src/providers.rs: UPDATE=1 cargo test --test native types::

export const NEED_KEY = new Set(['openai', 'openai-responses', 'anthropic', 'gemini', 'openrouter']);

/** Texts that are the same in each language: proper names. */
export const NAMES = {
  way_openrouter: 'OpenRouter',
  way_openai: 'OpenAI',
  way_anthropic: 'Anthropic',
  way_gemini: 'Google Gemini',
};

/** The providers that a visitor can choose, each with a model that is likely to be available. */
export const CHOICES = {
  openrouter: { model: 'openai/gpt-5.4-mini', key: true },
  openai: { model: 'gpt-5.4-mini', key: true },
  anthropic: { model: 'claude-sonnet-5', key: true },
  gemini: { model: 'gemini-flash-latest', key: true },
  ollama: { model: 'qwen3' },
  'prompt-api': {},
  demo: {},
};
