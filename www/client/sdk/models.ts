// Models by the names of their providers: `openai('gpt-5.4-mini', { apiKey })`. Each function returns plain data, the
// `provider` of the low-level API. Those of model servers are in providers.ts.
import { callable, describe, isKey, isObject, wrong } from '../index.js';
import type { CustomProvider, DemoProvider, HttpProvider, Price, PromptApiProvider, Provider } from '../types/turnwise.js';

/**
 * A model for an agent. Created by `openai`, `anthropic`, …, or `custom`.
 *
 * @example
 * const model: Model = location.hostname === 'localhost' ? ollama('qwen3') : openai('gpt-5.4-mini', { baseUrl: '/v1' });
 */
export type Model = Provider;

/**
 * The settings of a model on a server.
 *
 * @example
 * openai('gpt-5.4-mini', { apiKey, maxOutputTokens: 2000, price: { input: 0.75, output: 4.5 } })
 */
export interface ModelSettings {
  /** Sent in the header that the provider expects; omitted if unset. Never part of a trajectory. */
  apiKey?: string;
  /** Up to and including the version (`/v1`). In a page, a relative URL is resolved against the page. Default: the provider's own. */
  baseUrl?: string;
  /** Extra request headers. Their values are never part of a trajectory. */
  headers?: Record<string, string>;
  /** Maximum output tokens of one request. Default: the provider's. */
  maxOutputTokens?: number;
  /** US dollars per million tokens. Default: from the built-in price list, if the model is in it. */
  price?: Price;
  /** Merged into the body of each request. It is part of the trajectory, so never put secrets here. */
  providerOptions?: Record<string, unknown>;
}

type HttpKind = HttpProvider['kind'];
/** The function of a kind of model server: providers.ts has them. */
export const http = (kind: HttpKind) => (model: string, settings: ModelSettings = {}): Model => {
  const name = kind.replace('-r', 'R');
  // An error must not show a key that is in the wrong place, and a key must not become the name of a model, which is recorded.
  if (typeof model !== 'string' || !model || isKey(model)) throw wrong(`${name}(): model`, model, `the model's name: ${name}('name', { apiKey })`);
  if (!isObject(settings)) throw new TypeError(`${name}(): settings: got ${typeof settings === 'string' ? 'a string' : describe(settings)}; expected an object: ${name}('${model}', { apiKey })`);
  return { ...settings, kind, model };
};

/**
 * The model built into Chrome: no key, no server.
 *
 * @example
 * new Agent({ model: chrome() })
 */
export const chrome = (): Model => ({ kind: 'prompt-api' } satisfies PromptApiProvider);

/**
 * The scripted demo model: no AI, no key, no network. `endless` never finishes by itself; `chaos` misbehaves by seed.
 *
 * @example
 * new Agent({ model: demo() })
 */
export const demo = (mode: NonNullable<DemoProvider['demo']> = 'normal', settings: Pick<ModelSettings, 'price'> = {}): Model => ({ ...settings, kind: 'demo', demo: mode });

/**
 * Your own function that calls a model, with the requests and responses of OpenAI's Chat Completions.
 *
 * @example
 * new Agent({ model: custom(async (request, { signal }) => fetch('/llm', { method: 'POST', body: JSON.stringify(request), signal })) })
 */
export const custom = (complete: CustomProvider['complete'], settings: Omit<CustomProvider, 'kind' | 'complete'> = {}): Model =>
  ({ ...settings, kind: 'custom', complete: callable(complete, 'custom(): complete') as CustomProvider['complete'] });
