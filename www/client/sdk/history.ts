// The conversation before a prompt, in the forms in which programs keep it: messages of the AI SDK (also those of `useChat`), of OpenAI's
// Chat Completions, of Anthropic, and of a trajectory. Each becomes messages of a trajectory, or is refused by name.
import { describe } from '../index.js';
import type { ToolCall, Trajectory, TrajectoryMessage } from '../types/turnwise.js';
import { readPrompt } from './prompt-parts.js';
import type { PromptPart } from './prompt-parts.js';

/**
 * A part of a message that calls a tool or answers a call: of the AI SDK, of `useChat`, or of Anthropic.
 *
 * @example
 * { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Oslo' } }
 */
export interface ToolPart {
  type: string;
  [field: string]: unknown;
}

/**
 * A message of the conversation so far.
 *
 * @example
 * const messages: Message[] = [{ role: 'user', content: 'Hello' }, { role: 'assistant', content: 'Hi.' }];
 */
export type Message =
  | { role: 'user' | 'assistant'; content: string | null | readonly (PromptPart | ToolPart)[] }
  | { role: 'system' | 'developer'; content: string }
  /** Of the AI SDK. */
  | { role: 'tool'; content: readonly ToolPart[] }
  /** The form that `useChat` and other UIs keep. Its texts, pictures, and tool calls with their results are read. */
  | { role: 'user' | 'assistant' | 'system'; parts: readonly { type: string; [field: string]: unknown }[] }
  /** Of OpenAI's Chat Completions. */
  | { role: 'assistant'; content?: string | null; tool_calls: readonly { id: string; type?: 'function'; function: { name: string; arguments: string } }[] }
  | { role: 'tool'; tool_call_id: string; content: string | readonly { type: string; text?: string }[] }
  /** The form of a trajectory. */
  | TrajectoryMessage;

/** The result of a call that the conversation does not answer. */
const UNANSWERED = 'No result: the conversation was cut off before this call was answered.';

type Fields = Record<string, any>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');

/** The text of a tool's result: a text, parts, or a value with its kind, as the AI SDK has it. */
function resultText(value: unknown): string {
  if (Array.isArray(value)) return value.map((part: Fields) => (typeof part?.text === 'string' ? part.text : isObject(part) && typeof part.type === 'string' ? `[${part.type}]` : asText(part))).join('\n');
  if (isObject(value) && typeof value.type === 'string' && 'value' in value) return resultText(value.value);
  return asText(value);
}

/** What a part says, whichever form it has; `undefined`: it is no call and no result. */
function toolPart(part: Fields, path: string): { call?: ToolCall; result?: { id: string; name?: string; content: string } } | undefined {
  const type = String(part.type);
  const call = (id: unknown, name: unknown, input: unknown) => {
    if (typeof id !== 'string' || typeof name !== 'string') throw new TypeError(`${path}: got ${describe(part)}; expected a tool call with its id and the tool's name`);
    return { id, name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) };
  };
  if (type === 'tool-call') {
    // Some programs keep the result in the same part.
    const content = part.output ?? part.result;
    return { call: call(part.toolCallId, part.toolName, part.input ?? part.args), ...(content !== undefined && { result: { id: part.toolCallId, content: resultText(content) } }) };
  }
  if (type === 'tool_use') return { call: call(part.id, part.name, part.input) };
  if (type === 'tool-result') return { result: { id: String(part.toolCallId), name: part.toolName, content: resultText(part.output ?? part.result) } };
  if (type === 'tool_result') return { result: { id: String(part.tool_use_id), content: resultText(part.content ?? '') } };
  if (type === 'tool-invocation' && isObject(part.toolInvocation)) {
    const { toolCallId, toolName, args, result, state } = part.toolInvocation;
    return { call: call(toolCallId, toolName, args), ...(state === 'result' && { result: { id: toolCallId, name: toolName, content: resultText(result) } }) };
  }
  if (type === 'dynamic-tool' || type.startsWith('tool-')) {
    const { toolCallId, toolName = type.slice('tool-'.length), input, output, errorText } = part;
    const content = errorText ?? output ?? (part.state === 'output-denied' ? `The user refused this call.${part.approval?.reason ? ` Reason: ${asText(part.approval.reason)}` : ''}` : undefined);
    return { call: call(toolCallId, toolName, input), ...(content !== undefined && { result: { id: toolCallId, name: toolName, content: resultText(content) } }) };
  }
  return undefined;
}

/** Parts that say nothing to a model: markers of a UI. */
const SILENT = /^(reasoning|thinking|redacted_thinking|step-start|source-url|source-document|data-.*)$/;

class History {
  readonly messages: TrajectoryMessage[] = [];
  /** The calls that wait for their results: the ids that they came with, and what they are here. */
  #open = new Map<string, ToolCall>();
  #ids = new Set<string>();

  /** Adds a reply. What came before it, and was not answered, gets a result that says so. */
  reply(content: string, calls: readonly ToolCall[], more: object = {}) {
    this.close();
    // Of an answer that was cut off before its first word, there is nothing to keep.
    if (!content && !calls.length) return;
    const own = calls.map((call) => {
      let { id } = call;
      for (let n = 2; this.#ids.has(id); n += 1) id = `${call.id}_${n}`; // each turn of another program may count from 1
      this.#ids.add(id);
      const renamed = { ...call, id };
      this.#open.set(call.id, renamed);
      return renamed;
    });
    this.messages.push({ role: 'assistant', content, ...(own.length && { tool_calls: own }), ...more });
  }

  result({ id, content }: { id: string; content: string }, path: string, more: object = {}) {
    const call = this.#open.get(id);
    if (!call) throw new TypeError(`${path}: the result of the call ${describe(id)} has no such call before it; remove it, or pass the message with the call as well`);
    this.#open.delete(id);
    this.messages.push({ ...more, role: 'tool', call_id: call.id, name: call.name, content });
  }

  close() {
    for (const { id, name } of this.#open.values()) this.messages.push({ role: 'tool', call_id: id, name, content: UNANSWERED });
    this.#open.clear();
  }
}

/** What only messages of a trajectory have, which says who wrote it: data that a provider needs back unchanged. */
const ofTrajectory = ({ reasoning, opaque, from }: Fields) => (isObject(from) ? { from, ...(reasoning !== undefined && { reasoning }), ...(opaque !== undefined && { opaque }) } : {});

/** Adds a message whose content, or parts, is a list. */
async function readParts(history: History, role: string, parts: readonly unknown[], path: string) {
  const prompt: PromptPart[] = [];
  let texts: string[] = [];
  let calls: ToolCall[] = [];
  let results: { id: string; content: string; at: string }[] = [];
  const flush = () => {
    if (role === 'assistant') history.reply(texts.join('\n\n'), calls);
    for (const { at, ...result } of results) history.result(result, at);
    [texts, calls, results] = [[], [], []];
  };
  for (const [at, part] of parts.entries()) {
    const where = `${path}[${at}]`;
    if (!isObject(part)) throw new TypeError(`${where}: got ${describe(part)}; expected a part with a type`);
    const tool = toolPart(part, where);
    if (tool) {
      // Of a call that is there in several states, the last one counts.
      const { call, result } = tool;
      if (call) calls = [...calls.filter(({ id }) => id !== call.id), call];
      if (result) results = [...results.filter(({ id }) => id !== result.id), { ...result, at: where }];
    } else if (role === 'assistant' || role === 'system') {
      if (part.type === 'step-start' || (part.type === 'text' && results.length)) flush();
      if ((part.type === 'text' || part.type === 'output_text') && part.text) texts.push(String(part.text));
      else if (part.type === 'refusal' && part.refusal) texts.push(String(part.refusal));
    } else if (part.type === 'image_url') prompt.push({ type: 'image', data: String(part.image_url?.url ?? part.image_url) });
    else if (part.type === 'image' && isObject(part.source)) prompt.push({ type: 'image', data: String(part.source.data), mediaType: part.source.media_type });
    else if (part.type === 'image' && part.image !== undefined) prompt.push({ type: 'image', data: part.image, mediaType: part.mediaType });
    else if (!SILENT.test(String(part.type))) prompt.push(part as PromptPart);
  }
  if (role === 'system') return void history.messages.push({ role: 'system', content: texts.join('\n\n') });
  flush();
  if (role === 'user' && prompt.length) await readUser(history, prompt, path);
}

async function readUser(history: History, content: unknown, path: string) {
  const { text, images } = await readPrompt(content, path);
  history.close();
  if (!text && !images.length) return;
  const pictures = images.map((url) => {
    const [, media_type = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    return { media_type, data };
  });
  history.messages.push({ role: 'user', content: text, ...(pictures.length && { images: pictures }) });
}

/**
 * Converts the conversation for the engine. Calls that nothing answers get a result that says so. Throws a `TypeError` that names the
 * message for a result without its call, and for what is no message.
 * @internal
 */
export async function readMessages(messages: unknown): Promise<TrajectoryMessage[]> {
  if (!Array.isArray(messages)) throw new TypeError(`messages: got ${describe(messages)}; expected an array of messages`);
  const history = new History();
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    if (!isObject(message)) throw new TypeError(`${path}: got ${describe(message)}; expected a message with a role`);
    const { role, content, parts, tool_calls: calls, call_id, tool_call_id, name: _name, ...more } = message;
    if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(role)) throw new TypeError(`${path}.role: got ${describe(role)}; expected 'system', 'user', 'assistant' or 'tool'`);
    if (Array.isArray(parts)) await readParts(history, role, parts, `${path}.parts`);
    else if (role === 'tool' && (call_id ?? tool_call_id) !== undefined) history.result({ id: String(call_id ?? tool_call_id), content: resultText(content ?? '') }, path, call_id === undefined ? {} : more);
    else if (Array.isArray(calls)) {
      const read = calls.map((call: Fields, n): ToolCall => {
        const { id, name, arguments: given } = { ...call?.function, ...(call?.function ? { id: call.id } : call) } as Fields;
        if (typeof id !== 'string' || typeof name !== 'string') throw new TypeError(`${path}.tool_calls[${n}]: got ${describe(call)}; expected a call with its id, the tool's name and its arguments`);
        return { ...(call.function ? {} : call), id, name, arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}) };
      });
      const text = Array.isArray(content) ? content.map((part: Fields) => part?.text ?? '').join('') : content ?? '';
      history.reply(asText(text), read, ofTrajectory(more));
    } else if (Array.isArray(content)) await readParts(history, role === 'developer' ? 'system' : role, content, `${path}.content`);
    else if (role === 'assistant') {
      if (content !== null && content !== undefined && typeof content !== 'string') throw new TypeError(`${path}.content: got ${describe(content)}; expected a string, or an array of parts`);
      history.reply(content ?? '', [], ofTrajectory(more));
    } else if (typeof content !== 'string') throw new TypeError(`${path}.content: got ${describe(content)}; expected a string, or an array of parts`);
    else if (role === 'user') {
      history.close();
      const { images } = more as Fields;
      if (content || images) history.messages.push({ role: 'user', content, ...(images && { images }) });
    } else if (role === 'tool') throw new TypeError(`${path}: expected tool_call_id, the id of the call that it answers`);
    else {
      history.close();
      history.messages.push({ role: 'system', content });
    }
  }
  history.close();
  return history.messages;
}

/** The conversation with a run whose answer was not accepted: what its tools did is in it, the answer is not. @internal */
export function withoutAnswer({ history = [], input, images, turns }: Trajectory, reason: string): TrajectoryMessage[] {
  const messages: TrajectoryMessage[] = [...history, { role: 'user', content: input, ...(images && { images }) }];
  for (const { content, tool_calls: all, final } of turns) {
    const calls = all.filter(({ name, result }) => result !== null && !(final && name === 'final_report'));
    if (final ? !calls.length : !content && !calls.length) continue;
    messages.push({ role: 'assistant', content: final ? '' : content, ...(calls.length && { tool_calls: calls.map(({ id, name, args }) => ({ id, name, arguments: JSON.stringify(args) })) }) });
    for (const { id, name, result } of calls) messages.push({ role: 'tool', call_id: id, name, content: final ? WITHHELD : result! });
  }
  messages.push({ role: 'assistant', content: `${WITHHELD} ${reason}` });
  return messages;
}
const WITHHELD = 'This answer was withheld.';
