// `turnwise/testing`: models for tests. They answer from a script, and say what did not go as the script says.
import { describe, isObject } from '../check.js';
import type { FinishReason, Slug, Trajectory, TrajectoryEvent } from '../types/turnwise.js';
import { custom } from './models.js';
import type { Model } from './models.js';
import type { RunResult } from './result.js';

/** A request as a script sees it. */
export interface ScriptedRequest {
  /** The conversation, as OpenAI's Chat Completions writes it: `role`, `content`, and for calls `tool_calls` and `tool_call_id`. */
  messages: readonly { role: string; content: any; [field: string]: any }[];
  /** Names of the tools that the model is offered. */
  tools: readonly string[];
  /** Text of the last message: a question, or the result of a tool with the turn counter below it. */
  lastMessage: string;
  /** Text of the system message. */
  system: string;
  /** The whole body of the request. */
  body: any;
}

/** What a reply expects of its request. A string has to occur in the text, a regular expression has to match it. */
export interface RequestExpectation {
  lastMessage?: string | RegExp;
  system?: string | RegExp;
  /** Names of all offered tools, in any order. */
  tools?: readonly string[];
}

/** An HTTP status from 400 to 599, with what a server says beside it. */
export interface ScriptedStatus {
  status: number;
  message?: string;
  /** Milliseconds that the run waits before it asks again. Default: 0, so that a test does not wait. */
  retryAfterMs?: number;
}

/** Failures that a reply can name. `stream_cut` ends the stream before its end marker; `network_error` breaks the connection. */
export type ScriptedFailure = keyof typeof STATUS | 'network_error' | 'stream_cut';

/** A reply as an object: plain data, except for promises, regular expressions and functions. */
export interface ScriptedReplyOptions {
  /** What the model writes. In a list, strings are streamed one by one; a promise is awaited at its place, a number waits so many milliseconds. */
  text?: string | readonly (string | number | Promise<unknown>)[];
  /** What the model thinks before that. */
  thinking?: string;
  /** One tool call. */
  toolName?: string;
  /** Arguments of that call. A string is sent as it is, valid JSON or not. Default: `{}`. */
  input?: unknown;
  /** Several tool calls. */
  toolCalls?: readonly { toolName: string; input?: unknown; toolCallId?: string }[];
  /** The request fails: an HTTP status, or the slug of a failure. After a `text`, the reply breaks off. */
  error?: number | ScriptedFailure | ScriptedStatus;
  /** What is awaited before the reply begins: milliseconds, or a promise that the test resolves. */
  delay?: number | Promise<unknown>;
  /** Tokens of the request. Default: none reported, so that they are estimated. */
  usage?: { inputTokens: number; outputTokens: number; cachedInputTokens?: number; reasoningTokens?: number };
  /** Why the model stops. Default: `tool_calls` with calls, otherwise `stop`. */
  finishReason?: FinishReason;
  /** Fails the run, and `done()`, if the request is another. A function may also throw, for example by an assertion. */
  expect?: RequestExpectation | ((request: ScriptedRequest) => unknown);
  /** Only for requests of the run with this task, for example of one sub-agent: a text that occurs in a message of the user. */
  when?: { task: string };
}

/** A reply as plain data. */
export type RecordedReply = Omit<ScriptedReplyOptions, 'text' | 'delay' | 'expect'> & { text?: string; expect?: { lastMessage: string } };

/** What `scriptOf` adds to the replies. */
export interface ScriptOptions {
  /** Each reply expects what its request ended with: the task, or the beginning of the last tool result. Default: false. */
  expect?: boolean;
}

/** A reply: its text, an object, or a function of the request. */
export type ScriptedReply = string | ScriptedReplyOptions | ((request: ScriptedRequest) => string | ScriptedReplyOptions | Promise<string | ScriptedReplyOptions>);

/** The parts of Playwright's `Route` that a script uses. */
export interface RouteLike {
  request(): { method(): string; url(): string; postData(): string | null; headers(): Record<string, string> };
  fulfill(response: { status: number; headers: Record<string, string>; body: string }): Promise<void>;
  abort(errorCode?: string): Promise<void>;
}

/** A server that answers from a script. */
export interface ScriptServer {
  /** With the version, as `baseUrl` wants it: `http://127.0.0.1:40123/v1`. */
  url: string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A model that answers from a script. */
export type ScriptedModel = Model & {
  /** All requests so far, oldest first. */
  readonly requests: readonly ScriptedRequest[];
  /** Throws an `Error` that lists each unexpected request and each reply that was not requested. */
  done(): void;
  /** For Playwright: `await page.route('**\/chat/completions', model.route)` answers the page's requests from the script. */
  route(route: RouteLike): Promise<void>;
  /** Answers a request of OpenAI's Chat Completions from the script, for example in Mock Service Worker or in a test's server. */
  fetch(request: Request): Promise<Response>;
  /**
   * Serves the script on a free port of this machine, in Node.js, Deno and Bun: `url` is the `baseUrl` of a model, as in
   * `openai('scripted', { baseUrl: url })`. Unlike `route`, it streams.
   */
  listen(): Promise<ScriptServer>;
  /** The same as `done`, for `using model = scripted([…])`. */
  [Symbol.dispose](): void;
};

const STATUS = { rate_limited: 429, auth_error: 401, quota_error: 402, timeout: 408, context_guard: 413, provider_error: 500 } as const;
const FIELDS = ['text', 'thinking', 'toolName', 'input', 'toolCalls', 'error', 'delay', 'usage', 'finishReason', 'expect', 'when'];
const EXPECTED = ['lastMessage', 'system', 'tools'];
/** A text is streamed in at most so many pieces. */
const PIECES = 16;

const textOf = (content: unknown): string =>
  (typeof content === 'string' ? content : Array.isArray(content) ? content.map((part: any) => part?.text ?? '').join('') : '');

function requestOf(body: any): ScriptedRequest {
  const messages: any[] = body.messages ?? [];
  return {
    messages, body, tools: (body.tools ?? []).map((one: any) => String(one.function?.name)), lastMessage: textOf(messages.at(-1)?.content),
    system: messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content)).join('\n\n'),
  };
}

const short = (text: string, most = 160) => JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);
/** An answer to a call that the engine refused, as of `final_report`, says at its end what to do. */
const MAX_SAID = 2_000;

/** A reply in a few words, for errors. */
function words(reply: ScriptedReply): string {
  if (typeof reply === 'function') return 'a function';
  if (typeof reply === 'string') return `text ${short(reply)}`;
  const { text, toolName, toolCalls = [], error } = reply;
  const names = [...(toolName === undefined ? [] : [toolName]), ...toolCalls.map((call) => call.toolName)];
  return [
    ...(text === undefined ? [] : [`text ${short(typeof text === 'string' ? text : text.filter((piece) => typeof piece === 'string').join(''))}`]),
    ...names.map((name) => `call of ${name}`), ...(error === undefined ? [] : [`error ${JSON.stringify(error)}`]),
  ].join(', ') || 'an empty reply';
}

/** Checks a reply; `path` names it in errors. */
function checked(reply: unknown, path: string): ScriptedReplyOptions {
  if (typeof reply === 'string') return { text: reply };
  const fail = (where: string, value: unknown, expected: string) => { throw new TypeError(`${path}${where}: got ${describe(value)}; expected ${expected}`); };
  if (!isObject(reply)) return fail('', reply, 'a text, an object such as { toolName, input }, or a function that returns one');
  const stray = Object.keys(reply).find((key) => !FIELDS.includes(key));
  if (stray) throw new TypeError(`${path}.${stray}: unknown; a reply takes ${FIELDS.join(', ')}`);
  const { text, toolName, input, toolCalls, error, expect, when, delay } = reply as ScriptedReplyOptions;
  if (text !== undefined && typeof text !== 'string' && !Array.isArray(text)) fail('.text', text, 'a string, or a list of strings, milliseconds and promises');
  if (input !== undefined && toolName === undefined) fail('.toolName', toolName, 'the name of the tool that input is for');
  if (toolName !== undefined && typeof toolName !== 'string') fail('.toolName', toolName, 'the name of a tool');
  if (toolCalls !== undefined && !(Array.isArray(toolCalls) && toolCalls.every((call) => typeof call?.toolName === 'string'))) fail('.toolCalls', toolCalls, 'a list of { toolName, input }');
  if (delay !== undefined && typeof delay !== 'number' && typeof (delay as PromiseLike<unknown>)?.then !== 'function') fail('.delay', delay, 'milliseconds or a promise');
  if (error !== undefined) {
    const status = typeof error === 'object' ? error?.status : error;
    const known = typeof status === 'string' ? status in STATUS || status === 'network_error' || status === 'stream_cut' : Number.isInteger(status) && status >= 400 && status < 600;
    if (!known) fail('.error', error, `an HTTP status from 400 to 599, { status, message, retryAfterMs }, or one of ${[...Object.keys(STATUS), 'network_error', 'stream_cut'].map((name) => `'${name}'`).join(', ')}`);
  }
  if (expect !== undefined && typeof expect !== 'function') {
    const wrong = isObject(expect) ? Object.keys(expect).find((key) => !EXPECTED.includes(key)) : '';
    if (wrong !== undefined) fail('.expect', expect, `a function, or an object with ${EXPECTED.join(', ')}`);
  }
  if (when !== undefined && typeof when?.task !== 'string') fail('.when', when, '{ task: string }');
  return reply as ScriptedReplyOptions;
}

/** Why a request is not the expected one; `undefined`: it is. */
function unlike(expect: ScriptedReplyOptions['expect'], request: ScriptedRequest): string | undefined {
  if (expect === undefined) return undefined;
  if (typeof expect === 'function') {
    try {
      return expect(request) === false ? 'its expect returned false' : undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  for (const field of ['lastMessage', 'system'] as const) {
    const wanted = expect[field];
    if (wanted === undefined) continue;
    const matches = typeof wanted === 'string' ? request[field].includes(wanted) : new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).test(request[field]);
    if (!matches) return `expected ${field} ${typeof wanted === 'string' ? `with ${short(wanted)}` : `to match ${wanted}`}, got ${short(request[field])}`;
  }
  const { tools } = expect;
  if (tools && JSON.stringify([...tools].sort()) !== JSON.stringify([...request.tools].sort())) return `expected the tools ${tools.join(', ') || '(none)'}, got ${request.tools.join(', ') || '(none)'}`;
  return undefined;
}

/** Waits, but not for a request that nobody waits for any more. */
async function pause(wait: number | Promise<unknown> | undefined, signal: AbortSignal | undefined) {
  if (wait === undefined) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve, reject) => {
    const abort = () => reject(signal!.reason as Error);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort, { once: true });
    if (typeof wait === 'number') timer = setTimeout(resolve, wait);
    else wait.then(() => resolve(), reject);
  }).finally(() => clearTimeout(timer));
}

/** What a reply is on the wire. */
type Answer = { refused: ScriptedStatus } | { network: true } | { chunks: AsyncGenerator<object, void>; end: 'done' | 'cut' | 'network' };

async function* chunksOf(reply: ScriptedReplyOptions, number: number, signal: AbortSignal | undefined): AsyncGenerator<object, void> {
  const { text = '', thinking, toolName, input, toolCalls = [], usage, finishReason, error } = reply;
  const choice = (delta: object, finish_reason: string | null = null) => ({ id: `scripted-${number}`, object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, delta, finish_reason }] });
  yield choice({ role: 'assistant' });
  if (thinking) yield choice({ reasoning_content: thinking });
  const pieces = typeof text === 'string' ? text.match(new RegExp(`.{1,${Math.ceil(text.length / PIECES) || 1}}`, 'gsu')) ?? [] : text;
  for (const piece of pieces) {
    if (typeof piece === 'string') yield choice({ content: piece });
    else await pause(piece, signal);
  }
  const calls = [...(toolName === undefined ? [] : [{ toolName, input, toolCallId: undefined }]), ...toolCalls];
  for (const [index, { toolName: name, input: given = {}, toolCallId }] of calls.entries()) {
    yield choice({ tool_calls: [{ index, id: toolCallId ?? `call_${number}_${index + 1}`, type: 'function', function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) } }] });
  }
  if (error !== undefined) return;
  if (finishReason === 'refusal') yield choice({ refusal: ' ' });
  yield choice({}, finishReason === 'refusal' ? 'stop' : finishReason ?? (calls.length ? 'tool_calls' : 'stop'));
  if (usage) {
    const { inputTokens, outputTokens, cachedInputTokens: cached_tokens = 0, reasoningTokens: reasoning_tokens = 0 } = usage;
    yield {
      ...choice({}), choices: [],
      usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens, prompt_tokens_details: { cached_tokens }, completion_tokens_details: { reasoning_tokens } },
    };
  }
}

class Script {
  readonly requests: ScriptedRequest[] = [];
  readonly faults: string[] = [];
  readonly #replies: readonly ScriptedReply[];
  readonly #each: ((request: ScriptedRequest) => unknown) | undefined;
  readonly #open: Set<number>;

  constructor(replies: unknown) {
    this.#each = typeof replies === 'function' ? replies as (request: ScriptedRequest) => unknown : undefined;
    if (!this.#each && !Array.isArray(replies)) throw new TypeError(`replies: got ${describe(replies)}; expected a list of replies, or a function that answers each request`);
    this.#replies = this.#each ? [] : [...replies as ScriptedReply[]];
    for (const [at, reply] of this.#replies.entries()) if (typeof reply !== 'function') checked(reply, `replies[${at}]`);
    this.#open = new Set(this.#replies.keys());
  }

  /** Takes the reply for a request. Throws what is wrong with it; `done` says it again. */
  async answer(body: unknown, signal?: AbortSignal): Promise<Answer> {
    if (!isObject(body) || !Array.isArray(body.messages)) throw this.#fault(`a request is not one of OpenAI's Chat Completions: it has no messages. Give the page a model of openai(…) in this test`);
    const request = requestOf(body);
    const number = this.requests.push(request);
    const said = `its last message is of the role ${request.messages.at(-1)?.role}: ${short(request.lastMessage, MAX_SAID)}`;
    const at = [...this.#open].find((one) => {
      const reply = this.#replies[one]!;
      return typeof reply !== 'object' || !reply.when || request.messages.some(({ role, content }) => role === 'user' && textOf(content).includes(reply.when!.task));
    });
    if (at === undefined && !this.#each) {
      const rest = this.#open.size ? `the replies that are left are for other tasks` : `the script has ${this.#replies.length}`;
      throw this.#fault(`request ${number} has no reply: ${rest}; ${said}`);
    }
    if (at !== undefined) this.#open.delete(at);
    const path = this.#each ? `the reply to request ${number}` : `replies[${at}]`;
    let reply: ScriptedReplyOptions;
    try {
      const given = this.#each ?? this.#replies[at!]!;
      reply = checked(typeof given === 'function' ? await given(request) : given, path);
    } catch (error) {
      throw this.#fault(`request ${number}: ${error instanceof TypeError && error.message.startsWith(path) ? '' : `${path} threw `}${(error as Error)?.message ?? error}`);
    }
    const other = unlike(reply.expect, request);
    if (other !== undefined) throw this.#fault(`request ${number} is not the one that ${path} (${words(reply)}) expects: ${other}`);
    await pause(reply.delay, signal);
    const { error } = reply;
    const begun = reply.text !== undefined || reply.thinking !== undefined;
    if (error === 'network_error' && !begun) return { network: true };
    if (error !== undefined && error !== 'stream_cut' && !begun) {
      return { refused: typeof error === 'object' ? error : { status: typeof error === 'number' ? error : STATUS[error as keyof typeof STATUS] } };
    }
    return { chunks: chunksOf(reply, number, signal), end: error === undefined ? 'done' : error === 'stream_cut' ? 'cut' : 'network' };
  }

  done() {
    const left = [...this.#open].map((at) => `reply ${at + 1} of ${this.#replies.length} was not requested: ${words(this.#replies[at]!)}`);
    const all = [...this.faults, ...left];
    if (all.length) throw new Error(`scripted: ${all.join('\nscripted: ')}`);
  }

  #fault(message: string): Error {
    this.faults.push(message);
    return new Error(`scripted: ${message}`);
  }
}

/** Scripts that nobody has verified yet. */
const unverified = new Set<{ done(): void }>();

/**
 * Verifies all scripts since the last call, and throws an `Error` if one had an unexpected request or a reply that was not requested.
 * One line in a setup file covers every test.
 *
 * @example
 * import { afterEach } from 'vitest';
 * import { verifyScripts } from 'turnwise/testing';
 *
 * afterEach(verifyScripts);
 */
export function verifyScripts(): void {
  const all = [...unverified];
  unverified.clear();
  const messages = all.flatMap((script) => {
    try {
      script.done();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  if (messages.length) throw new Error(messages.join('\n'));
}

/** The engine reads this property, and does not try again. */
const final = (error: unknown) => Object.assign(error as Error, { turnwiseFailure: { message: (error as Error).message, fatal: true } });

/** Error of a server: what `custom` may throw, and the body of a response. */
const messageOf = ({ status, message }: ScriptedStatus) => message ?? `scripted error ${status}`;

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': '*', 'access-control-expose-headers': '*' };

/**
 * A model that answers each request with the next reply of a script, or each request with a function. It is strict: a request for which
 * there is no reply, or which is not what the reply expects, ends the run with an error, and `done()` throws if a reply was not
 * requested. `verifyScripts` calls `done()` for all tests. Throws a `TypeError` that names what is wrong with the script.
 *
 * @example
 * const model = scripted([{ toolName: 'price', input: { article: 'lamp' } }, { text: 'It costs 12 euros.', expect: { lastMessage: '12' } }]);
 * const { text } = await new Agent({ model, tools: { price } }).generate('What does a lamp cost?');
 * model.done();
 */
export function scripted(replies: readonly ScriptedReply[] | ((request: ScriptedRequest) => string | ScriptedReplyOptions | Promise<string | ScriptedReplyOptions>)): ScriptedModel {
  const script = new Script(replies);

  async function* complete(request: unknown, { signal }: { signal: AbortSignal }) {
    const answer = await script.answer(request, signal).catch((error: unknown) => { throw signal.aborted ? error : final(error); });
    // A run that asks again does so at once.
    if ('network' in answer) throw Object.assign(new TypeError('network error'), { retryAfterMs: 0 });
    if ('refused' in answer) throw Object.assign(new Error(messageOf(answer.refused)), { status: answer.refused.status, retryAfterMs: answer.refused.retryAfterMs ?? 0 });
    yield* answer.chunks;
    if (answer.end === 'network') throw Object.assign(new TypeError('network error'), { retryAfterMs: 0 });
  }

  async function fetch(request: Request): Promise<Response> {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS });
    // The engine also asks whether a server is there, and for the models that it has.
    if (request.method !== 'POST') return new Response(null, { status: 404, headers: CORS });
    const refuse = (status: number, message: string, headers: object = {}) => Response.json({ error: { message } }, { status, headers: { ...CORS, ...headers } });
    let answer: Answer;
    try {
      answer = await script.answer(await request.json().catch(() => undefined), request.signal);
    } catch (error) {
      return refuse(400, (error as Error).message);
    }
    if ('network' in answer) return Response.error();
    if ('refused' in answer) return refuse(answer.refused.status, messageOf(answer.refused), { 'retry-after-ms': String(answer.refused.retryAfterMs ?? 0) });
    const { chunks, end } = answer;
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          if (!done) return controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
          if (end === 'network') return controller.error(new TypeError('network error'));
          if (end === 'done') controller.enqueue(encoder.encode('data: [DONE]\n\n'));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        return undefined;
      },
      cancel: () => void chunks.return(),
    });
    return new Response(body, { headers: { ...CORS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } });
  }

  async function route(given: RouteLike): Promise<void> {
    const asked = given.request();
    const body = asked.postData();
    const response = await fetch(new Request(asked.url(), { method: asked.method(), ...(body !== null && asked.method() !== 'GET' && { body }) }));
    if (response.type === 'error') return given.abort('connectionfailed');
    let text = '';
    try {
      // A stream that breaks off keeps what it had.
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>) ?? []) text += chunk;
    } catch { /* cut */ }
    return given.fulfill({ status: response.status, headers: Object.fromEntries(response.headers), body: text });
  }

  async function listen(): Promise<ScriptServer> {
    // Not written as a constant: bundlers of pages do not have it.
    const name = 'node:http';
    const { createServer } = await import(name) as typeof import('node:http');
    const server = createServer((asked, response) => {
      const body: Uint8Array[] = [];
      asked.on('data', (chunk) => body.push(chunk));
      asked.on('end', async () => {
        const over = new AbortController();
        response.on('close', () => over.abort());
        const sent = asked.method === 'POST' && { body: new Blob(body as Uint8Array<ArrayBuffer>[]) };
        const { type, status, headers, body: stream } = await fetch(new Request(`http://127.0.0.1${asked.url}`, { method: asked.method, signal: over.signal, ...sent }));
        if (type === 'error') return response.destroy();
        response.writeHead(status, Object.fromEntries(headers));
        try {
          for await (const chunk of stream ?? []) response.write(chunk);
          response.end();
        } catch {
          response.destroy();
        }
        return undefined;
      });
    });
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const close = () => new Promise<void>((resolve) => { server.close(() => resolve()); server.closeAllConnections(); });
    return Object.assign({ url: `http://127.0.0.1:${server.address()!.port}/v1`, close }, { [Symbol.asyncDispose]: close }) as ScriptServer;
  }

  const done = () => {
    unverified.delete(methods);
    script.done();
  };
  const methods = { done };
  unverified.add(methods);
  // Not enumerable: an agent takes the model as plain data.
  return Object.defineProperties(custom(complete, { model: 'scripted' }), {
    requests: { get: () => script.requests }, done: { value: done }, fetch: { value: fetch }, listen: { value: listen }, route: { value: route }, [Symbol.dispose]: { value: done },
  }) as ScriptedModel;
}

/** The record of each run below this one, and of this one, with what its requests are called. */
const runsOf = (record: Trajectory): Trajectory[] => [record, ...record.children.flatMap(runsOf)];

/**
 * Converts recorded runs to a script that gives the same replies: texts, tool calls, failed requests, usage, those of sub-agents for their
 * tasks. Pass the runs of a chat in order. It is plain data, so it can be stored as JSON. Replies that a stop or a cancel cut off are left
 * out. `{ expect: true }` after the runs makes the script refuse requests that end with another task or tool result. Throws a `TypeError` for a record without events, such as an imported one.
 *
 * @example
 * const { trajectory } = await agent.generate('What does a lamp cost?');
 * await writeFile('lamp.script.json', JSON.stringify(scriptOf(trajectory), null, 2));
 * const model = scripted(JSON.parse(await readFile('lamp.script.json', 'utf8')));
 */
export function scriptOf(...given: readonly (Trajectory | Pick<RunResult<unknown>, 'trajectory'> | ScriptOptions)[]): RecordedReply[] {
  const last: unknown = given.at(-1);
  const options = isObject(last) && Object.keys(last).join() === 'expect' ? last as ScriptOptions : undefined;
  if (options && typeof options.expect !== 'boolean') throw new TypeError(`options.expect: got ${describe(options.expect)}; expected true or false`);
  const runs = (options ? given.slice(0, -1) : given) as (Trajectory | Pick<RunResult<unknown>, 'trajectory'>)[];
  return runs.flatMap((given, at) => {
    const record = isObject(given) && 'trajectory' in given ? given.trajectory as Trajectory : given as Trajectory;
    if (!isObject(record) || !Array.isArray(record.events)) throw new TypeError(`runs[${at}]: got ${describe(given)}; expected a run's result, or its trajectory`);
    if (record.imported) throw new TypeError(`runs[${at}]: this record was imported from ${record.imported.format}, so it has no events; expected a record of Turnwise`);
    const all = runsOf(record);
    const tasks = new Map(all.flatMap(({ input, turns }) => turns.flatMap(({ attempts }) => attempts.map(({ request }) => [request, input] as const))));
    const ends = new Map(options?.expect ? all.flatMap(endsOf) : []);
    return record.events.flatMap(({ event }) => {
      const reply = replyOf(event);
      if (!reply) return [];
      const { request } = event as { request: number };
      const task = all.length > 1 ? tasks.get(request) : undefined;
      const lastMessage = ends.get(request);
      return [{ ...(task && { when: { task } }), ...reply, ...(lastMessage && { expect: { lastMessage } }) }];
    });
  });
}

/** A tool result is expected by its beginning. */
const MAX_EXPECTED = 300;

/** How the first request of each turn ended, where the record says so: not if the engine wrote the message, or it has redacted texts. */
function endsOf({ input, turns }: Trajectory): [number, string][] {
  return turns.flatMap(({ attempts }, at): [number, string][] => {
    const text = at ? turns[at - 1]!.tool_calls.at(-1)?.result : input;
    const own = text?.replace(/\n\[Turn \d[^\n]*\]$/, '').slice(0, MAX_EXPECTED).trim();
    return own && attempts[0] && !own.includes('[redacted]') ? [[attempts[0].request, own]] : [];
  });
}

const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
};

function replyOf(event: TrajectoryEvent): RecordedReply | undefined {
  if (event.type === 'model_failed') return { error: failureOf(event.error) };
  if (event.type !== 'model_replied') return undefined;
  const { content, reasoning, tool_calls: calls = [], finish, usage } = event.reply;
  const toolCalls = calls.map(({ id, name, arguments: text }) => ({ toolName: name, input: parsed(text), ...(id && { toolCallId: id }) }));
  return {
    ...((content || !calls.length) && { text: content }), ...(reasoning && { thinking: reasoning }), ...(toolCalls.length && { toolCalls }),
    ...(finish !== (calls.length ? 'tool_calls' : 'stop') && { finishReason: finish }),
    ...(usage && !usage.estimated && { usage: { inputTokens: usage.input, outputTokens: usage.output, cachedInputTokens: usage.cached, reasoningTokens: usage.reasoning } }),
  };
}

const failureOf = ({ slug, status }: { slug: Slug; status?: number }): ScriptedReplyOptions['error'] => {
  if (slug === 'stream_cut' || slug === 'network_error') return slug;
  if (status !== undefined && status >= 400 && status < 600) return status;
  return slug in STATUS ? slug as ScriptedFailure : 'provider_error';
};
