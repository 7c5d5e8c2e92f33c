// The options of the API as tables, one line per option. turnwise.d.ts documents them. The engine has the defaults, so only
// the options that are set go to the worker.
import { BUILT_IN_TOOLS, PRESETS, PROVIDER_KINDS, REPORT_FORMATS, SIDE_EFFECTS } from './protocol';
import type { AccessOptions, AgentOptions, Approver, Listening, ProviderKind, SideEffect, TrajectoryMessage, TrajectoryTool } from './protocol';
import { U32, callable, flag, isKey, json, meant, missing, number, plain, recordText, secret, shape, signal, snake, takes, text, whole, word, wrong } from './check';
import type { Check, Given } from './check';
import type { Complete } from './model';
import type { Rule as WebRule, WebOptions } from './web/options';

/** A provider: its configuration, its credentials, and the function of a model supplied by the page. */
export interface Provider {
  config: AgentOptions['config'];
  access: AccessOptions;
  complete?: Complete;
}

/** The page's URL; `undefined` if there is no page. */
export const pageUrl = () => (globalThis.location as Location | undefined)?.href;

function parsed(address: string): URL | undefined {
  try {
    return new URL(address, pageUrl());
  } catch {
    return undefined;
  }
}

/** Resolves a URL as the page would. */
const address: Check<string> = (value, path) => {
  const given = value instanceof URL ? value.href : takes<string>('a string or a URL', (one) => typeof one === 'string')(value, path);
  return parsed(given)?.href ?? given;
};

const AT_HOME = /^(?:[^.]+|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|.*\.local(?:host)?)$/i;
/** Adds the scheme that was left out, by the same rule as `with_scheme` in crates/llm/src/address.rs. */
function withScheme(given: string) {
  const [, host = '', port] = /^([^/?#]*?)(:[^:/?#]*)?(?=[/?#]|$)/.exec(given) ?? [];
  const isHost = port ? /^:\d+$/.test(port) : host === 'localhost' || (host.includes('.') && !host.startsWith('.') && !host.endsWith('.php'));
  if (given.includes('://') || !host || !isHost) return given;
  return `${AT_HOME.test(host) ? 'http' : 'https'}://${given}`;
}

/** Checked here rather than when the first request fails; resolved in the worker. */
const baseUrl: Check<string> = (value, path) => {
  const words = pageUrl() === undefined
    ? 'an absolute URL such as \'https://api.example.com/v1\' (there is no page to resolve it against)'
    : 'a URL such as \'https://api.example.com/v1\' or \'/v1\'';
  const given = withScheme(text(value, path) as string);
  const url = parsed(given);
  // A URL parser takes a single slash, too, and any scheme.
  const [, scheme, rest] = /^(?:(\w+):)?\/*(.*)$/s.exec(given) ?? [];
  const odd = scheme ? !/^https?:\/\/[^/]/i.test(given) : !url && !given.startsWith('/');
  // Browsers send no request to such an address, and an error must not repeat the password.
  if (url ? url.username || url.password : given.includes('@')) {
    throw new TypeError(`${path}: got an address with a user name or a password; expected it without, and an apiKey or headers`);
  }
  if (odd || !url) throw wrong(path, value, words, odd && rest ? `; did you mean '${scheme?.endsWith('p') ? 'http' : 'https'}://${rest}'?` : '');
  return given;
};

const headers: Check<[string, string][]> = (value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, value, 'an object of strings');
  // Its entries are no fields: none would be sent.
  if (Symbol.iterator in value) throw wrong(path, value, 'an object of strings', ': Object.fromEntries(headers)');
  const trial = new Headers();
  return Object.entries(value).map(([name, content]: [string, unknown]) => {
    try {
      if (typeof content !== 'string') throw content;
      trial.set(name, content);
      return [name, content];
    } catch {
      throw new TypeError(`${path}.${name}: expected a valid header name and a string`);
    }
  });
};

const price: Check = (value, path) => {
  const words = 'US dollars per million tokens';
  if (typeof value !== 'object') throw wrong(path, value, `{ input, output }, in ${words}`);
  const { input = undefined, output = undefined, cached = input } = shape({ input: number, output: number, cached: number })(value, path);
  if (input === undefined) throw missing(`${path}.input`, words);
  if (output === undefined) throw missing(`${path}.output`, words);
  return { input, output, cached };
};

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Sent unchanged; the engine does not let them override its own fields. */
const providerOptions: Check = (value, path) => {
  const words = 'a JSON object';
  if (!isObject(value)) throw wrong(path, value, words);
  return plain(words)(value, path);
};

const PROVIDER = shape({
  kind: word(PROVIDER_KINDS), baseUrl, model: text, apiKey: secret, headers, maxOutputTokens: whole(1, U32), price, providerOptions,
  demo: word(['normal', 'endless', 'chaos']), complete: callable,
});

/** Which function makes a model of this name. */
const makerOf = (name: string) => [['openrouter', /\//], ['anthropic', /^claude/], ['gemini', /^gemini/], ['ollama', /^(llama|qwen|mistral|gemma|phi|deepseek)|:/]].find(([, of]) => (of as RegExp).test(name))?.[0] ?? 'openai';

export function provider(value: unknown, path: string): Provider {
  const given = value as Given | null;
  if (typeof given !== 'object' || given === null || (given['kind'] === undefined && Object.getPrototypeOf(given) !== Object.prototype) || 'specificationVersion' in given) {
    if (typeof given === 'object' && given && 'specificationVersion' in given) throw new TypeError(`${path}: got a model of the AI SDK; expected fromAiSdk(model), from turnwise/ai-sdk`);
    const name = typeof value === 'string' && !isKey(value) ? value : 'gpt-5.4-mini';
    throw wrong(path, value, `a model, such as ${makerOf(name)}('${name.slice(0, 60)}', { apiKey })`);
  }
  const { kind, baseUrl: base_url = '', model = '', apiKey, headers: extra = [], maxOutputTokens, price: costs, providerOptions: provider_options, demo, complete } = PROVIDER(value, path) as Given & {
    kind?: ProviderKind; apiKey?: string; headers?: [string, string][]; complete?: Complete;
  };
  if (kind === undefined) throw missing(`${path}.kind`, PROVIDER_KINDS.map((one) => `'${one}'`).join(' or '));
  if (demo !== undefined && kind !== 'demo') throw wrong(`${path}.demo`, demo, 'nothing: only the demo model has modes');
  if (kind === 'custom' && !complete) throw missing(`${path}.complete`, 'a function that asks your model');
  if (kind !== 'custom' && complete) throw wrong(`${path}.complete`, complete, 'nothing: only the \'custom\' kind has a function');
  return {
    config: { kind, base_url, model, max_output_tokens: maxOutputTokens, price: costs, demo, provider_options },
    access: { apiKey, headers: extra, inPage: kind === 'custom' || kind === 'prompt-api' },
    complete,
  };
}

const providers: Check<Provider[]> = (value, path) => {
  if (!Array.isArray(value)) return [provider(value, path)];
  if (!value.length) throw new TypeError(`${path}: got an empty array; expected an object, or an array of one or more`);
  return value.map((one, at) => provider(one, `${path}[${at}]`));
};

/** An object, or `false`, which is `null` in records. */
const unlessFalse = (inner: Check): Check => (value, path) => {
  if (value === false) return null;
  if (typeof value !== 'object' || value === null) throw wrong(path, value, 'an object or false');
  return inner(value, path);
};

const topP = takes<number>('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1);

/** The tools are only known when a run starts. */
const toolChoice: Check = (value, path) => {
  const words = ['auto', 'none', 'required'];
  const { tool, toolName, name, function: of } = (isObject(value) ? value : { name: value }) as { tool?: unknown; toolName?: unknown; name?: unknown; function?: { name?: unknown } };
  if (words.includes(value as string) || (typeof tool === 'string' && Object.keys(value as object).length === 1)) return plain('JSON')(value, path);
  // As other packages write it.
  const said = [tool, toolName, name, of?.name].find((one) => typeof one === 'string');
  throw wrong(path, value, '\'auto\', \'none\', \'required\' or { tool: name }', meant(said, words, '\'') || (said === undefined ? '' : `; did you mean { tool: ${json(said)} }?`));
};

const counter = shape({
  moderateAt: whole(0, U32), urgentAt: whole(0, U32), templates: shape({ normal: text, moderate: text, urgent: text }),
}, snake);

const synthesis = shape({
  role: word(['user', 'system']), numbered: flag, prompt: text, onError: word(['message', 'aggregated_text']), attempts: whole(1, U32),
}, snake);

const REPORT = shape({ format: word(REPORT_FORMATS), schema: plain('a JSON Schema') });
const report: Check = (value, path) => {
  const read = REPORT(value, path);
  if (read['schema'] !== undefined && read['format'] !== 'json') throw wrong(`${path}.schema`, read['schema'], 'nothing: only a \'json\' report has a schema');
  return read;
};

const builtIn: Check<string[]> = (value, path) => {
  const words = `an array of ${BUILT_IN_TOOLS.join(', ')}`;
  if (!Array.isArray(value)) throw wrong(path, value, words);
  for (const name of value) if (![...BUILT_IN_TOOLS, ...TEST_TOOLS].includes(name)) throw wrong(path, name, words, meant(name, BUILT_IN_TOOLS, '\''));
  return value.slice();
};

const kindOfAgent = shape({
  description: text, preset: word(PRESETS), system: text,
  tools: takes('an array of tool names', (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')),
  skills: takes('an array of names of skills', (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')),
  maxTurns: whole(1, U32), counter: flag,
}, snake);

/** By name; the tools are only known when a run starts. */
const agents: Check = (value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(path, value, 'an object of agent kinds by name');
  return Object.entries(value).map(([name, kind]) => ({ name, ...kindOfAgent(kind, `${path}.${name}`) }));
};

const rule = word(['ask', 'allow', 'deny']);
const rules: Check = (value, path) => {
  if (!isObject(value)) throw wrong(path, value, 'an object of rules by the name of a tool');
  return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, rule(one, `${path}.${name}`)]));
};

const HOSTS = 'a host (docs.example.org), all hosts below one (*.example.org), or an origin (http://127.0.0.1:8123)';
/** In the spelling of browsers, which is the one that the engine compares. */
const hostName = (name: string, path: string) => {
  const below = name.startsWith('*.') ? '*.' : '';
  const origin = /^https?:/i.test(name);
  const text = origin ? name : `https://${name.slice(below.length)}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.pathname !== '/' || url.search || url.hash || url.username || url.password || (below && url.port)) throw new TypeError(`${path}: got ${JSON.stringify(name)}; expected ${HOSTS}`);
  const host = `${url.hostname.replace(/\.$/, '')}${url.port && `:${url.port}`}`;
  return origin ? `${url.protocol}//${host}` : below + host;
};
const hosts: Check = (value, path) => Object.fromEntries(Object.entries(rules(value, path) as Record<string, WebRule>).map(([name, one]) => [hostName(name, path), one]));
const permissions = shape({ workspace: rule, folder: rule, network: rule, page: rule, tools: rules, hosts });

const SEARCH_SERVICE = shape({ kind: word(['searxng', 'brave', 'tavily']), baseUrl, apiKey: secret });
const searchService: Check = (value, path) => {
  const read = SEARCH_SERVICE(value, path);
  if (read['kind'] === undefined) throw missing(`${path}.kind`, '\'searxng\', \'brave\' or \'tavily\'');
  if (read['kind'] === 'searxng' ? read['baseUrl'] === undefined : read['apiKey'] === undefined) throw missing(`${path}.${read['kind'] === 'searxng' ? 'baseUrl' : 'apiKey'}`, 'what this kind of service needs');
  return read;
};
const web = shape({ relay: address, search: searchService, maxBytes: whole(1), timeoutMs: whole(1) });

const limits = shape({
  toolTimeoutMs: whole(1), parallelTools: whole(1, U32), toolCallsPerTurn: whole(1, U32), maxResultChars: whole(1, U32),
  children: whole(0, U32), childMs: whole(1), headersMs: whole(1), firstTokenMs: whole(1), requestMs: whole(1), idleMs: whole(1),
  wallMs: whole(1), tokens: whole(1), cost: number, contextTokens: whole(1),
}, snake);

const retry = shape({ baseMs: whole(0), capMs: whole(0), rateLimitMs: whole(0), retryAfterCapMs: whole(0) }, snake);

const AGENT = shape({
  preset: word(PRESETS), provider: providers, system: text, temperature: number, topP,
  reasoning: word(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']), toolChoice, maxTurns: whole(1, U32), maxAttempts: whole(1, U32),
  counter: unlessFalse(counter), synthesis: unlessFalse(synthesis), report, tools: builtIn, agents, permissions, limits, retry, seed: whole(0),
  workerUrl: address, web,
}, snake);

/** Returns the options of an agent for its worker, and its providers with the parts that stay in the page. */
export function agentOptions(given: unknown): { options: AgentOptions; providers: Provider[]; web: WebOptions; hosts: Record<string, WebRule> } {
  const read = given === undefined ? {} : AGENT(given, 'options');
  const { provider: listed, tools, worker_url: workerUrl, web: reach = {}, ...config } = read as Given & { provider?: Provider[]; tools?: string[]; worker_url?: string; web?: WebOptions };
  const strict = config['preset'] === 'strict';
  // The original value, which the error describes.
  const of = given as { synthesis?: unknown; report?: unknown };
  if (strict && config['synthesis']) throw wrong('options.synthesis', of.synthesis, 'nothing: the \'strict\' preset has no synthesis, its last turn asks for the report');
  if (!strict && config['report']) throw wrong('options.report', of.report, 'nothing: only the \'strict\' preset asks for a final report');
  const all = listed ?? [];
  return {
    options: {
      config: listed ? { ...config, providers: all.map((one) => one.config) } : config,
      tools,
      access: listed ? all.map((one) => one.access) : [{}],
      workerUrl,
    },
    providers: all,
    web: reach,
    hosts: (config['permissions'] as { hosts?: Record<string, WebRule> } | undefined)?.hosts ?? {},
  };
}

export type Execute = (args: unknown, options: { signal: AbortSignal }) => unknown;

const TOOL = shape({
  name: text, description: text,
  parameters: (value, path) => {
    const words = 'a JSON Schema with type: \'object\'';
    const schema = plain(words)(value, path) as { type?: unknown } | null;
    if (schema?.type !== 'object') throw wrong(path, value, words);
    return schema;
  },
  mayFinish: flag, sideEffect: word(SIDE_EFFECTS), execute: callable,
});

/** The argument of `registerTool`. */
export function hostTool(tool: unknown): { spec: TrajectoryTool; execute: Execute } {
  const { name, description = '', parameters = { type: 'object', properties: {} }, mayFinish = false, sideEffect = 'none', execute } = TOOL(tool, 'tool') as {
    name?: string; description?: string; parameters?: object; mayFinish?: boolean; sideEffect?: SideEffect; execute?: Execute;
  };
  const words = '1 to 64 of A-Z, a-z, 0-9, _ and -';
  if (name === undefined) throw missing('tool.name', words);
  if (!/^[\w-]{1,64}$/.test(name)) throw wrong('tool.name', name, words);
  if (!execute) throw missing('tool.execute', 'a function');
  return { spec: { name, description, parameters, may_finish: mayFinish, side_effect: sideEffect }, execute };
}

export type Approve = 'all' | ((call: unknown, options: { signal: AbortSignal }) => unknown);
const approve = takes<Approve>('a function or \'all\'', (value) => value === 'all' || typeof value === 'function');

const PICTURES = 'an array of data URLs of pictures (image/png, image/jpeg, image/webp, image/gif) or PDFs (application/pdf)';
/** The error does not show the value: it can be megabytes. */
const images: Check<string[]> = (value, path) => {
  if (!Array.isArray(value)) throw wrong(path, value, PICTURES);
  const picture = /^data:(image\/(png|jpeg|webp|gif)|application\/pdf);base64,[A-Za-z0-9+/=]+$/;
  for (const url of value) if (typeof url !== 'string' || !picture.test(url)) throw new TypeError(`${path}: expected ${PICTURES}`);
  return value.slice();
};

export interface Run {
  onEvent?: (event: any) => void;
  signal?: AbortSignal;
  approve?: Approve;
  after?: string;
  images?: string[];
  history?: TrajectoryMessage[];
  parallel?: number;
  from?: number;
}

const GRANT = { onEvent: callable, signal, approve };
const MESSAGES = 'an array of messages, as in a trajectory';
const history: Check = (value, path) => {
  if (!Array.isArray(value)) throw wrong(path, value, MESSAGES);
  const stray = value.findIndex((one) => !['system', 'user', 'assistant', 'tool'].includes(one?.role) || typeof one.content !== 'string');
  if (stray >= 0) throw wrong(`${path}[${stray}]`, value[stray], 'a message with a role and a string as its content');
  return plain(MESSAGES)(value, path);
};
const RUN = shape({ ...GRANT, after: recordText('the trajectory of an earlier run'), images, history });
const REPLY = shape({
  text, toolCalls: takes('an array of { toolName, input }', (value) => Array.isArray(value) && value.every((one) => typeof one?.toolName === 'string' && one.input !== undefined)),
});
const reply: Check = (value, path) => (typeof value === 'string' ? { text: value } : REPLY(value, path));
const BRANCH = shape({ ...GRANT, turn: whole(1, U32), callId: text, result: text, reply, system: text, say: text });
const PLAN = shape({ ...GRANT, parallel: whole(1, U32), after: recordText('the record of an earlier run of a plan'), from: whole(1, U32) });
const optional = (check: Check<Given>) => (given: unknown): Run => (given === undefined ? {} : check(given, 'options'));

export const runOptions = optional(RUN);
export const grantOptions = optional(shape(GRANT));

/** The changes of a branch, and its listeners. */
export function branchOptions(value: unknown): { given: Run; wish: Given } {
  const { onEvent, signal: aborts, approve: asked, ...wish } = value === undefined ? {} as Given : BRANCH(value, 'options');
  if ((wish['callId'] === undefined) !== (wish['result'] === undefined)) throw new TypeError('options: callId and result go together');
  if (wish['callId'] !== undefined && wish['reply'] !== undefined) throw wrong('options.reply', wish['reply'], 'nothing where a result is changed: branch again from the branch');
  return { given: { onEvent, signal: aborts, approve: asked } as Run, wish };
}

export function planOptions(given: unknown): Run {
  const read = optional(PLAN)(given);
  if (read.from !== undefined && read.after === undefined) throw wrong('options.from', read.from, 'nothing without options.after');
  return read;
}

/** The listeners of a run; `otherwise` approves calls if the page does not set `approve`. */
export const listening = ({ onEvent, approve: asked }: Run, otherwise: Approver): Listening =>
  ({ listens: onEvent !== undefined, approve: asked === undefined ? otherwise : asked === 'all' ? 'all' : 'ask' });

/** A task has a text, pictures, or both. */
export function taskText(task: unknown, attached = 0): string {
  if (typeof task !== 'string' || !(task.trim() || attached)) throw wrong('task', task, 'a non-empty string');
  return task;
}

export const turnCount: Check<number> = whole(1, U32);

/** The engine validates the plan; this only checks that it is JSON. */
export function planValue(plan: unknown): unknown {
  if (json(plan) === undefined) throw wrong('plan', plan, 'an object');
  return plan;
}

// Made when they are needed, so that bundlers leave them out where they are not.
const docsShape = () => shape({
  html: text, source: text, onProgress: callable, signal, cache: flag, credentials: word(['omit', 'include']), workerUrl: address,
});

export interface Docs {
  page: string;
  html?: string;
  source?: string;
  onProgress?: (progress: unknown) => void;
  signal?: AbortSignal;
  cache?: boolean;
  credentials?: 'omit' | 'include';
  workerUrl?: string;
}

export function docsOptions(page: unknown, given: unknown): Docs {
  const address = page instanceof URL ? page.href : page;
  if (typeof address !== 'string') throw wrong('page', page, 'the address of a page of the site');
  return { page: address, ...(given === undefined ? {} : docsShape()(given, 'options')) };
}

export const searchLimit = (given: unknown) => (given === undefined ? {} : shape({ limit: whole(1, U32) })(given, 'options')) as { limit?: number };

export const renderOptions = (given: unknown) => (given === undefined ? {} : shape({ workerUrl: address })(given, 'options')) as { workerUrl?: string };
