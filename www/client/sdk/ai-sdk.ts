// `turnwise/ai-sdk`: a model of the Vercel AI SDK as a Turnwise model. It runs in the page, or wherever the agent's client runs.
import { describe } from '../index.js';
import { custom } from './models.js';
import type { Model } from './models.js';
import type { CustomProvider } from '../types/turnwise.js';

/**
 * The part of `LanguageModelV4` (or V3) from `@ai-sdk/provider` that is used.
 *
 * @example
 * const model: AiSdkModel = mistral('mistral-large-latest');
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: any): PromiseLike<{ stream: ReadableStream<any> }>;
}

/**
 * Converts a model of any AI SDK provider: `fromAiSdk(anthropic('claude-sonnet-5'))`. The run, not the SDK, handles retries and limits.
 *
 * @example
 * new Agent({ model: fromAiSdk(mistral('mistral-large-latest')) })
 */
export function fromAiSdk(model: AiSdkModel, settings: Omit<CustomProvider, 'kind' | 'complete' | 'model'> & { providerOptions?: Record<string, Record<string, unknown>> } = {}): Model {
  if (model?.specificationVersion !== 'v4' && model?.specificationVersion !== 'v3') {
    throw new TypeError(`fromAiSdk takes a language model of the AI SDK, version v3 or v4 of its specification; got ${describe(model?.specificationVersion ?? model)}`);
  }
  const { providerOptions, ...rest } = settings;
  return custom((request, { signal }) => chunks(model, { ...callOptions(request, model.specificationVersion), providerOptions }, signal), { ...rest, model: `${model.provider}/${model.modelId}` });
}

const TOOL_CHOICE: Record<string, { type: string }> = { auto: { type: 'auto' }, none: { type: 'none' }, required: { type: 'required' } };

/** Converts a Chat Completions request to call options. */
function callOptions(request: any, version: string): Record<string, unknown> {
  const names = new Map<string, string>();
  return {
    prompt: request.messages.map((message: any) => promptMessage(message, names, version)),
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens, temperature: request.temperature, topP: request.top_p,
    reasoning: request.reasoning_effort,
    tools: request.tools?.map(({ function: { name, description, parameters } }: any) => ({ type: 'function', name, description, inputSchema: parameters })),
    toolChoice: typeof request.tool_choice === 'object' ? { type: 'tool', toolName: request.tool_choice.function.name } : TOOL_CHOICE[request.tool_choice],
  };
}

function promptMessage(message: any, names: Map<string, string>, version: string): object {
  const { role, content } = message;
  if (role === 'system') return { role, content };
  if (role === 'user') return { role, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map((part: any) => userPart(part, version)) };
  if (role === 'tool') {
    return { role, content: [{ type: 'tool-result', toolCallId: message.tool_call_id, toolName: names.get(message.tool_call_id) ?? '', output: { type: 'text', value: content } }] };
  }
  // The reasoning details contain data that the provider needs back unchanged.
  const details: any[] = message.reasoning_details ?? [];
  const signed = new Map(details.filter((one) => one.call !== undefined).map((one) => [one.call, one.metadata]));
  const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }: any, index: number) => {
    names.set(id, name);
    return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.parse(input || '{}'), providerOptions: signed.get(index) };
  });
  const reasoning = details.filter((one) => one.call === undefined).map(({ text, metadata }) => ({ type: 'reasoning', text, providerOptions: metadata }));
  return { role, content: [...reasoning, ...(content ? [{ type: 'text', text: content }] : []), ...calls] };
}

function userPart(part: any, version: string): object {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const url: string = part.image_url?.url ?? part.file?.file_data ?? '';
  const [, mediaType = 'application/octet-stream', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: 'file', mediaType, filename: part.file?.filename, data: version === 'v3' ? data : { type: 'data', data } };
}

const FINISH: Record<string, string> = { 'stop': 'stop', 'length': 'length', 'content-filter': 'content_filter', 'tool-calls': 'tool_calls' };

/** Converts the stream to Chat Completions chunks. */
async function* chunks(model: AiSdkModel, options: Record<string, unknown>, abortSignal: AbortSignal): AsyncGenerator<object, void, undefined> {
  const { stream } = await model.doStream({ ...options, abortSignal }).then((result) => result, (error: unknown) => { throw judged(error); });
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
  const reasoning = new Map<string, { text: string; metadata: unknown }>();
  const details: object[] = [];
  let calls = 0;
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      switch (part.type) {
        case 'text-delta': yield delta({ content: part.delta }); break;
        case 'reasoning-start': reasoning.set(part.id, { text: '', metadata: part.providerMetadata }); break;
        case 'reasoning-delta': {
          const own = reasoning.get(part.id);
          if (own) Object.assign(own, { text: own.text + part.delta, metadata: part.providerMetadata ?? own.metadata });
          if (part.delta) yield delta({ reasoning: part.delta });
          break;
        }
        case 'reasoning-end': {
          const own = reasoning.get(part.id);
          const metadata = part.providerMetadata ?? own?.metadata;
          if (own && metadata) details.push({ type: 'turnwise.ai-sdk', text: own.text, metadata });
          break;
        }
        case 'tool-call':
          if (part.providerExecuted) break;
          if (part.providerMetadata) details.push({ type: 'turnwise.ai-sdk', call: calls, metadata: part.providerMetadata });
          yield delta({ tool_calls: [{ index: calls, id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: part.input } }] });
          calls += 1;
          break;
        case 'error': throw judged(part.error);
        case 'finish': {
          if (details.length) yield delta({ reasoning_details: details });
          const { inputTokens, outputTokens } = part.usage;
          const unified = part.finishReason.unified;
          if (unified === 'error' || unified === 'interrupted') throw judged(new Error(`the model ended with ${part.finishReason.raw ?? unified}`));
          yield { choices: [{ index: 0, delta: {}, finish_reason: FINISH[unified] ?? (calls ? 'tool_calls' : 'stop') }] };
          if (inputTokens.total !== undefined || outputTokens.total !== undefined) {
            yield { choices: [], usage: {
              prompt_tokens: inputTokens.total ?? 0, completion_tokens: outputTokens.total ?? 0,
              prompt_tokens_details: { cached_tokens: inputTokens.cacheRead ?? 0 }, completion_tokens_details: { reasoning_tokens: outputTokens.reasoning ?? 0 },
            } };
          }
          break;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Converts an error of the SDK, with the status that decides whether the run retries. */
function judged(error: any): Error {
  const status: unknown = error?.statusCode;
  const after = Number(error?.responseHeaders?.['retry-after']);
  const own = error instanceof Error ? error : new Error(String(error?.message ?? error));
  return Object.assign(own, typeof status === 'number' && { status }, after > 0 && { retryAfterMs: after * 1000 });
}
