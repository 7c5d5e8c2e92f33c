/// <reference path="./web.d.ts" />
// Records and events are in records.d.ts, which is generated from the Rust types. This file is written by hand: options, which
// are easier to read that way, and functions.
import type {
  AgentKind, BuiltInTool, DocsFound, DocsHit, DocsInfo, DocsMatch, DocsProgress, ExportFormat, Insight, InsightFilter, MarkdownNode,
  PlanOwnEvent, PlanSession, Preset, ProviderKind, ReasoningEffort, ReplayDifference, RunEvent, SideEffect, RunSummary,
  Trajectory, TrajectoryMessage, TrajectorySkill,
} from './records.js';

export * from './records.js';

/**
 * Options of an agent. Everything has a default; unknown or wrong options throw a `TypeError` that names them.
 *
 * @example
 * new LowLevelAgent({ provider: { kind: 'openai', model: 'gpt-5.4-mini', apiKey }, maxTurns: 8 })
 */
export interface AgentOptions {
  /** Which of the engine's presets the other options start from. Default: `research`. */
  preset?: Preset;
  /** One model, or a list: attempt k of a turn uses entry k modulo its length. Default: the demo model. */
  provider?: Provider | Provider[];
  /** The system message. Default: describes the run, its number of turns, and that it may be asked to synthesize. */
  system?: string;
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  /** How much the model reasons before it answers, if that can be configured. Default: the model decides. */
  reasoning?: ReasoningEffort;
  /**
   * Whether the model must call a tool. `required` and a tool's name apply to the first turn of a run only. `none` has
   * no effect in a `strict` run. Default: the model decides.
   */
  toolChoice?: "auto" | "none" | "required" | { tool: string };
  /** Default: 15; 10 for `orchestrator`. */
  maxTurns?: number;
  /** LLM requests per turn, retries included. Default: 3. */
  maxAttempts?: number;
  /** The turn counter appended to each turn's tool results. `false` disables it. */
  counter?: CounterOptions | false;
  /** The final call without tools when a limit stops the run. `false` disables it. */
  synthesis?: SynthesisOptions | false;
  /** The final report that a `strict` run must end with. */
  report?: ReportOptions;
  /** Built-in tools to offer. Default: all but `progress_report`, `batch`, `run_code`, `spawn_subagents`, `fetch_url` and `search_web`. Tools of your own: `agent.registerTool`. */
  tools?: BuiltInTool[];
  /** Kinds of sub-agents by name, for `spawn_subagents`. Default: one kind with the agent's own tools. */
  agents?: Record<string, SubagentKind>;
  /** Which tool calls run, which ask `approve` first and which are denied. */
  permissions?: PermissionOptions;
  limits?: LimitOptions;
  retry?: RetryOptions;
  /** Seeds jitter and ids: the same seed gives the same run. Default: random. */
  seed?: number;
  /** URL of `worker.js`. Default: next to the package's module. */
  workerUrl?: string | URL;
  /** How `fetch_url` and `search_web` reach the web; name them in `tools`. */
  web?: WebOptions;
}

/**
 * How the tools `fetch_url` and `search_web` reach the web. Which hosts may be asked is set by `permissions.hosts`.
 *
 * @example { search: { kind: 'searxng', baseUrl: 'https://search.example.org' }, relay: '/v1/relay' }
 */
export interface WebOptions {
  /** URL of the site's relay, for pages that do not let other pages read them. Default: none. Not needed in Node.js. */
  relay?: string | URL;
  /** The service that `search_web` asks. */
  search?: SearchService;
  /** Longer responses are read up to here, in bytes. Default: 10 MiB. */
  maxBytes?: number;
  /** Deadline of one address with its redirects, in milliseconds. Default: 20,000. */
  timeoutMs?: number;
}

/**
 * A search service. The key is never in a record, an event or an address.
 *
 * @example
 * web: { search: { kind: 'brave', apiKey } }
 */
export interface SearchService {
  kind: "searxng" | "brave" | "tavily";
  /** Default: the service's own; `searxng` needs one. */
  baseUrl?: string;
  /** `brave` and `tavily` need one. */
  apiKey?: string;
}

/**
 * A kind of sub-agent.
 *
 * @example
 * agents: { reader: { description: 'Reads one file', tools: ['read_file'], maxTurns: 4 } }
 */
export interface SubagentKind {
  /** The purpose of this kind; the model reads this when it chooses a kind. */
  description?: string;
  /** Default: the agent's. A sub-agent with the preset `strict` reports through `final_report`, as text. */
  preset?: Preset;
  /** Default: describes the run, its number of turns, and that it may be asked to synthesize. */
  system?: string;
  /** Names of the agent's tools that it may use. Default: all of them. */
  tools?: string[];
  /**
   * Names of the agent's skills that it has; `read_skill` and the tools of their scripts come with them. Default: the skills whose tools
   * it may use: all of them without `tools`.
   */
  skills?: string[];
  /** Maximum number of turns, whatever a task asks for. Default: 7. */
  maxTurns?: number;
  /** `false`: its runs have no turn counter. Default: the agent's setting. */
  counter?: boolean;
}

/**
 * The final report of a `strict` run.
 *
 * @example
 * report: { format: 'json', schema: { type: 'object', properties: { city: { type: 'string' } } } }
 */
export interface ReportOptions {
  /** Default: `text`. */
  format?: "text" | "markdown" | "json" | "slack";
  /** JSON Schema (2020-12) of a `json` report. */
  schema?: object;
}

/**
 * US dollars per million tokens.
 *
 * @example
 * price: { input: 0.75, output: 4.5, cached: 0.075 }
 */
export interface Price {
  input: number;
  output: number;
  /** Price of input tokens read from the provider's cache. Default: same as `input`. */
  cached?: number;
}

/**
 * A model and how to reach it.
 *
 * @example
 * const provider: Provider = { kind: 'ollama', model: 'qwen3' };
 */
export type Provider = DemoProvider | HttpProvider | PromptApiProvider | CustomProvider;

/**
 * Scripted, not an AI: no key, no network.
 *
 * @example
 * const provider: DemoProvider = { kind: 'demo', demo: 'endless' };
 */
export interface DemoProvider {
  kind: "demo";
  /**
   * `endless` never finishes by itself, to demonstrate limits and synthesis; `chaos` produces, depending on the seed, the faults of
   * model servers and models, to demonstrate retries.
   */
  demo?: "normal" | "endless" | "chaos";
  model?: string;
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  maxOutputTokens?: number;
  /** For `limits.cost`, and to show the cost of a run. */
  price?: Price;
  providerOptions?: Record<string, unknown>;
}

/**
 * A model server, called directly from the page.
 *
 * @example
 * const provider: HttpProvider = { kind: 'openai', baseUrl: '/v1', model: 'gpt-5.4-mini' };
 */
export interface HttpProvider {
  /** `openai`: any server that implements Chat Completions. */
  kind: Exclude<ProviderKind, "demo" | "prompt-api" | "custom">;
  /** Up to and including the version (`/v1`). A relative URL is resolved against the page. Default: the provider's own. */
  baseUrl?: string;
  model?: string;
  /** Sent in the header that the provider expects; omitted if unset. Never part of a trajectory. */
  apiKey?: string;
  /** Extra request headers. Their values are never part of a trajectory either. */
  headers?: Record<string, string>;
  maxOutputTokens?: number;
  /** For `limits.cost`, and to show the cost of a run. Default: from the price list, if the model is in it. */
  price?: Price;
  /**
   * Additional fields of the request body, under the server's names. They are part of trajectories, so never put a key here.
   * They cannot override the model, the conversation, the tools or streaming.
   */
  providerOptions?: Record<string, unknown>;
}

/**
 * The model built into Chrome: no key, no server.
 *
 * @example
 * const provider: PromptApiProvider = { kind: 'prompt-api' };
 */
export interface PromptApiProvider {
  kind: "prompt-api";
  model?: string;
}

/**
 * A model that the page supplies.
 *
 * @example
 * const provider: CustomProvider = { kind: 'custom', complete: async ({ messages }) => `You said ${messages.at(-1).content}` };
 */
export interface CustomProvider {
  kind: "custom";
  /** For the record. */
  model?: string;
  maxOutputTokens?: number;
  price?: Price;
  /**
   * Additional fields of the request body, under the server's names. They are part of trajectories, so never put a key here.
   * They cannot override the model, the conversation, the tools or streaming.
   */
  providerOptions?: Record<string, unknown>;
  /**
   * Calls the model. `request` is the body of an OpenAI Chat Completions request with `stream: true`. Returns an async
   * iterable of chunks or strings, a complete chat completion, a string, or a `Response`. An error is retried unless its
   * `status` means that the request itself is invalid.
   */
  complete: (request: any, options: { signal: AbortSignal }) => unknown;
}

/**
 * A model that a provider offers; unknown values are `null`.
 *
 * @example
 * const models: ModelInfo[] = await listModels({ kind: 'ollama' });
 */
export interface ModelInfo {
  /** The value for `model`. */
  id: string;
  name: string;
  contextTokens: number | null;
  price: Price | null;
  /** Whether it accepts images. */
  images: boolean | null;
}

/**
 * The counter of turns that the model reads.
 *
 * @example
 * counter: { moderateAt: 5, urgentAt: 2, templates: { urgent: '{remaining} turns left: conclude now.' } }
 */
export interface CounterOptions {
  /** Number of turns left at which the wording changes. Default: 5. */
  moderateAt?: number;
  /** Default: 3. */
  urgentAt?: number;
  /** Placeholders: `{turn}`, `{max}` and `{remaining}`. */
  templates?: { normal?: string; moderate?: string; urgent?: string };
}

/**
 * The final request of a run that a limit stopped.
 *
 * @example
 * synthesis: { prompt: 'Answer from what you have.', attempts: 2 }
 */
export interface SynthesisOptions {
  /** Role of the prompt. Default: `user`; `system` for `orchestrator`. */
  role?: "user" | "system";
  /** Whether it counts as turn N+1. Default: true; false for `orchestrator`. */
  numbered?: boolean;
  prompt?: string;
  /** The report if synthesis fails. Default: `message`; `aggregated_text` for `orchestrator`. */
  onError?: "message" | "aggregated_text";
  /** Requests, retries included. Default: 3. */
  attempts?: number;
}

/**
 * Limits of a run. Times are in milliseconds.
 *
 * @example
 * limits: { toolTimeoutMs: 60_000, parallelTools: 8, contextTokens: 32_000 }
 */
export interface LimitOptions {
  /** Default: 30,000. */
  toolTimeoutMs?: number;
  /** Default: 4. */
  parallelTools?: number;
  /** Calls beyond this number are answered with an error and not run. Default: 32. */
  toolCallsPerTurn?: number;
  /** Longer results are cut in the middle; the full result can be read in parts. Default: 20,000. */
  maxResultChars?: number;
  /** Maximum number of sub-agents per run. Default: 16. */
  children?: number;
  /** Wall time of a sub-agent, after which it concludes. Default: 300,000. */
  childMs?: number;
  /** Time until the response headers. Default: 120,000. */
  headersMs?: number;
  /** Time until the first text, reasoning or tool call; keep-alive comments do not count. Default: 120,000. */
  firstTokenMs?: number;
  /** Time until the reply is complete. Default: 600,000. */
  requestMs?: number;
  /** Longest pause in a stream. Default: 60,000. */
  idleMs?: number;
  /** Wall time of the run, after which it wraps up. Default: none. */
  wallMs?: number;
  /** Input and output tokens of the run, after which it wraps up. Default: none. */
  tokens?: number;
  /** Cost in US dollars, after which the run wraps up. Needs the provider's `price`. Default: none. */
  cost?: number;
  /** The model's context window; when it is full, the oldest tool results are removed. Default: unknown. */
  contextTokens?: number;
}

/**
 * Waits between attempts, in milliseconds.
 *
 * @example
 * retry: { baseMs: 1000, retryAfterCapMs: 10_000 }
 */
export interface RetryOptions {
  /** Default: 500. */
  baseMs?: number;
  /** Default: 8,000. */
  capMs?: number;
  /** First wait after a 429 without a `Retry-After`; doubles with each attempt, plus up to 25 % random jitter. Default: 5,000. */
  rateLimitMs?: number;
  /** If a server asks for a longer wait, the run ends and reports the time. Default: 60,000. */
  retryAfterCapMs?: number;
}

/**
 * A tool supplied by the page.
 *
 * @example
 * agent.registerTool({ name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } }, execute: ({ city }) => `${city}: sun` });
 */
export interface Tool<Args = any> {
  /** 1 to 64 characters of A-Z, a-z, 0-9, _ and -. Replaces a tool with the same name. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments, with `type: 'object'`. Invalid arguments never reach `execute`. */
  parameters?: object;
  /** Whether its result may end the run (`<<<FINAL_RESULT>>>`). Default: false. */
  mayFinish?: boolean;
  /** Anything but `none` asks `approve` first; without `approve`, `network` and `page` are refused. Default: `none`. */
  sideEffect?: SideEffect;
  /** A result that is not a string is sent as JSON; if it throws or rejects, the model gets the error. */
  execute(args: Args, options: { signal: AbortSignal }): unknown;
}

/**
 * Options of a run that goes on.
 *
 * @example
 * await agent.grantTurns(5, { onEvent: console.log });
 */
export interface GrantOptions {
  /** Called with each event in order; nothing follows `agent_finished` or `agent_failed`. */
  onEvent?: (event: AgentEvent) => void;
  /** Aborting it cancels the run; the promise still resolves. */
  signal?: AbortSignal;
  /**
   * Asked before a tool with side effects runs, as far as `permissions` say so; `'all'` answers every question with yes.
   * Without it, calls that have to be asked are refused: those to the network, the page or a folder.
   */
  approve?: Approve;
}

/**
 * Options of a run.
 *
 * @example
 * await agent.run('And tomorrow?', { after: trajectory, onEvent: console.log });
 */
export interface RunOptions extends GrantOptions {
  /** The trajectory of an earlier run to continue: same session, same history. */
  after?: Trajectory;
  /** Images and PDFs for the task, as data URLs (`image/png`, `image/jpeg`, `image/webp`, `image/gif`, `application/pdf`). */
  images?: string[];
  /** The conversation so far, oldest first, if it comes from elsewhere. A missing system message is added. */
  history?: TrajectoryMessage[];
}

/**
 * The change of a branch, and its listeners.
 *
 * @example
 * await agent.branch(trajectory, { turn: 2, say: 'Look in the archive, too.' });
 */
export interface BranchOptions extends GrantOptions {
  /** The first turn of the branch, counted from 1. Default: the turn after the call `callId`, otherwise the last turn. */
  turn?: number;
  /** The call whose result changes; set together with `result`. */
  callId?: string;
  result?: string;
  /** Replaces the model's reply in the turn. It counts as a request. */
  reply?: string | { text?: string; toolCalls?: { toolName: string; input: unknown }[] };
  /** A new system message, from this turn on. */
  system?: string;
  /** A user message inserted before the turn. */
  say?: string;
}

/**
 * The approval of tool calls: a function that decides, or `'all'`. `signal` is aborted when the question needs no answer any more.
 *
 * @example
 * const approve: Approve = ({ name }) => name !== 'delete_account';
 */
export type Approve = "all" | ((call: ApprovalRequest, options: { signal: AbortSignal }) => ApprovalAnswer | Promise<ApprovalAnswer>);

/**
 * `for`: how far the answer reaches: this call, every call of the tool to this host in this run, every call of the tool in this run, or every call of this run that would ask. Default: this call.
 *
 * @example
 * approve: () => ({ allow: true, for: 'tool' })
 */
export type ApprovalAnswer = boolean | { allow: boolean; for?: "call" | "host" | "tool" | "run" };

/**
 * What happens to a call before it runs.
 *
 * @example
 * permissions: { network: 'allow' }
 */
export type Rule = "ask" | "allow" | "deny";

/**
 * The rules for tool calls, by what a tool touches.
 *
 * @example
 * permissions: { network: 'ask', tools: { delete_account: 'deny' } }
 */
export interface PermissionOptions {
  /** Default: `ask` if the run has a function `approve`, otherwise `allow`. */
  workspace?: Rule;
  /** Default: `ask`. */
  folder?: Rule;
  /** Default: `ask`. */
  network?: Rule;
  /** Default: `ask`. */
  page?: Rule;
  /** By the name of a tool; takes precedence. */
  tools?: Record<string, Rule>;
  /**
   * For calls that go to a host, as those of `fetch_url` do; takes precedence over `network`. By host (`docs.example.org`), by all hosts below one
   * (`*.example.org`), or by origin (`http://127.0.0.1:8123`); the most exact one decides. Only an origin permits an address that is not public.
   */
  hosts?: Record<string, Rule>;
}

/**
 * A call that asks.
 *
 * @example
 * approve: ({ name, args, again }) => !again && confirm(`Run ${name}?`)
 */
export interface ApprovalRequest {
  id: string;
  name: string;
  args: any;
  sideEffect: SideEffect;
  /** It was running when the page was closed, so its effect may already have happened. */
  again: boolean;
  /** What the call would change in files, as a unified diff; only of built-in tools. */
  diff?: string;
  /** The number of lines at the end that a diff of more than 8 MiB leaves out. */
  omittedLines?: number;
  /** The host that the call goes to, if that is known: the answer can be for it (`{ allow: true, for: 'host' }`). */
  host?: string;
}

/**
 * Events of a run.
 *
 * @example
 * onEvent: (event) => { if (event.type === 'text_delta') console.log(event.text); }
 */
export type AgentEvent =
  | RunEvent
  /** The run's worker has died, and the run with it: its promise rejects. */
  | { type: "worker_lost"; message: string; turn: number; callsLeft: number };

/**
 * Whether a record replays; otherwise, where it differs.
 *
 * @example
 * const result = await replay(trajectory);
 * if (!result.ok) console.log(result.turn, result.expected, result.actual);
 */
export type ReplayResult = { ok: true } | ({ ok: false } & ReplayDifference);

/**
 * Agents, and the steps assigned to them.
 *
 * @example
 * const plan: Plan = { agents: { reader: { kind: 'gather' } }, steps: [{ order: 1, agent: 'reader', action: 'Read the changelog.' }] };
 */
export interface Plan {
  /** Default: generated from the time and the seed. */
  plan_id?: string;
  /** By name. */
  agents: Record<string, PlanAgent>;
  /** At least one; listed in any order. */
  steps: PlanStep[];
}

/**
 * Missing options come from the agent that runs the plan.
 *
 * @example
 * agents: { reader: { kind: 'gather', tools: ['read_file'], maxTurns: 4 } }
 */
export interface PlanAgent {
  /** `gather`: its steps see the results of their dependencies. `synthesis`: its steps see the results of all earlier completed steps. */
  kind: AgentKind;
  /** The system message. */
  system?: string;
  /** Names of the tools it may use; an empty list means none. */
  tools?: string[];
  maxTurns?: number;
  /** Alias of `maxTurns`, as it is spelled in records. */
  max_turns?: number;
  /** `false`: its runs have no turn counter. Default: the setting of the agent that runs the plan. */
  counter?: boolean;
}

/**
 * A step of a plan: one run.
 *
 * @example
 * steps: [{ order: 2, agent: 'writer', action: 'Write the summary.', dependencies: [1] }]
 */
export interface PlanStep {
  /** 1 or more, unique in the plan. */
  order: number;
  /** Name of one of the plan's agents. */
  agent: string;
  /** The task of the step. */
  action: string;
  /** Orders of earlier steps that a gather step needs completed. Default: none. */
  dependencies?: number[];
  /** If not empty, the only tools of the step. Default: its agent's. */
  tools?: string[];
}

/**
 * Options of a plan's run.
 *
 * @example
 * await agent.runPlan(plan, { parallel: 2, onEvent: console.log });
 */
export interface PlanRunOptions {
  /** Called with each event in order; nothing follows `plan_finished`. */
  onEvent?: (event: PlanEvent) => void;
  /** Aborting it cancels the plan; the promise still resolves. */
  signal?: AbortSignal;
  /** As for `run`. */
  approve?: Approve;
  /** Number of steps that run in parallel. Default: 4. */
  parallel?: number;
  /** The record of an earlier run of the plan; steps that ended there are not run again. */
  after?: PlanSession;
  /** With `after`: reruns this step and everything that depends on it. */
  from?: number;
}

/**
 * Events of a plan: its own (`step: null` for the plan as a whole) and those of its steps' runs.
 *
 * @example
 * onEvent: (event) => { if (event.type === 'step_finished') console.log(event.step, event.status); }
 */
export type PlanEvent =
  | (AgentEvent & { step: number })
  | (PlanOwnEvent & { type: "plan_started" | "plan_finished"; step: null })
  | (PlanOwnEvent & { type: "step_started" | "step_finished" | "plan_trace"; step: number });

/**
 * Options for reading a documentation site.
 *
 * @example
 * await DocsSite.open(location.href, { source: '/llms.txt', onProgress: console.log });
 */
export interface DocsOptions {
  /** The page's HTML, `document.documentElement.outerHTML`, so that it is not fetched again. */
  html?: string;
  /** `auto`, or the address of an `llms.txt`, a search index or a site map. Default: `auto`. */
  source?: string;
  /** Called as pages are read, even after the site is ready for queries. */
  onProgress?: (progress: DocsProgress) => void;
  /** Aborting it stops reading and closes the site. */
  signal?: AbortSignal;
  /** Whether to cache the site in the browser until it changes. Default: true. */
  cache?: boolean;
  /**
   * `include` sends cookies and HTTP authentication, so that pages behind a login can be read; nothing is cached then. With
   * `omit`, such a page counts as unreadable. Default: `omit`.
   */
  credentials?: "omit" | "include";
  /** URL of `worker.js` or of the smaller `docs-worker.js`. Default: `worker.js` next to the package's module. */
  workerUrl?: string | URL;
}

/**
 * The agent of the low-level API: one task at a time, any number of them in sequence. Several agents can run in parallel.
 * This module also exports it as `Agent`; that of `import { Agent } from 'turnwise'` is another class, on top of this one.
 *
 * @example
 * const agent = new LowLevelAgent({ provider: { kind: 'demo' } });
 * const trajectory = await agent.run('Hello');
 */
export class LowLevelAgent {
  /** Throws a `TypeError` that names what is wrong with the options. */
  constructor(options?: AgentOptions);
  /** Runs a task. Resolves with the trajectory however the run ends; rejects for misuse, and if the worker dies. */
  run(task: string, options?: RunOptions): Promise<Trajectory>;
  /**
   * Continues an unfinished run from its record. Rejects if the record was made with another model or address, because
   * the agent's key would be sent there.
   */
  resume(trajectory: Trajectory, options?: GrantOptions): Promise<Trajectory>;
  /** Starts a new run from a turn of a recorded one, with one thing changed, using this agent's models. */
  branch(trajectory: Trajectory, options?: BranchOptions): Promise<Trajectory>;
  /** The current record of the running or last run. It can be replayed, and resumed after a crash. */
  checkpoint(): Promise<Trajectory | undefined>;
  /** Continues a run that ended at a limit, with more turns. */
  grantTurns(turns: number, options?: GrantOptions): Promise<Trajectory>;
  /**
   * Runs a plan; each step is a separate run. Resolves with the record of the plan however it ends; rejects for an
   * invalid plan (listing every fault), for misuse, and if the worker dies.
   */
  runPlan(plan: Plan, options?: PlanRunOptions): Promise<PlanSession>;
  /** Wraps up: the run stops waiting, and one more request, without tools, has the model conclude from what it has. For a button *Wrap up*. */
  stop(): void;
  /** Ends the run now, without another request; its `output` is the text that had arrived. For a button *Stop*. */
  cancel(): void;
  /** Adds a tool supplied by the page, from the next run on. */
  registerTool(tool: Tool): void;
  /** Removes a tool, from the next run on. */
  removeTool(name: string): void;
  /** Replaces the skills, from the next run on. `readSkills` of `turnwise/skills` makes them. */
  setSkills(skills: TrajectorySkill[]): void;
  /** The files that the agent's tools see. */
  readonly files: Files;
  /** Releases everything. A run in progress still finishes, and its promise settles. */
  free(): void;
  [Symbol.dispose](): void;
}

export { LowLevelAgent as Agent };

/**
 * Files by path, such as `docs/a.md`. They persist between runs and are released with the agent.
 *
 * @example
 * agent.files.put('docs/a.md', '# A');
 * await agent.files.get('docs/a.md')?.text();
 */
export class Files {
  private constructor();
  /** Adds or replaces a file. Returns the normalized path; throws a `TypeError` for a path outside the workspace. */
  put(path: string, content: string | Blob): string;
  /** All paths, sorted. */
  list(): string[];
  /** A file's content; `undefined` if there is no such file. */
  get(path: string): Blob | undefined;
  /** Removes a file, if it exists. */
  remove(path: string): void;
  /** Does nothing: the files go with their agent. */
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * A documentation site that was found, read and indexed, and the tools to search it.
 *
 * @example
 * const site = await DocsSite.open('https://docs.example.com/');
 * site.tools.forEach((tool) => agent.registerTool(tool));
 */
export class DocsSite {
  private constructor();
  /** Finds the documentation of this page's site, reads it and indexes it. */
  static open(page: string | URL, options?: DocsOptions): Promise<DocsSite>;
  /** The details known about the site so far. */
  readonly info: DocsInfo;
  /**
   * For `agent.registerTool`. Each returns `{ text }`; the calls of `search_docs` and `read_page` have structured content in the
   * record and in events: `SearchDocsContent`, `ReadPageContent`.
   */
  readonly tools: Tool[];
  /** The best sections, best first; which words of the query occur nowhere; how well the best section fits. */
  search(query: string, options?: { limit?: number }): Promise<DocsFound>;
  /** Terminates its worker. */
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * Runs the engine again on the events of a recorded run, without a key or network.
 *
 * @example
 * const { ok } = await replay(trajectory);
 */
export function replay(trajectory: Trajectory): Promise<ReplayResult>;

/**
 * Converts a trajectory to the text of a file. `native` is serialized directly; every other format is made in a worker.
 *
 * @example
 * const page = await exportTrajectory(trajectory, 'html');
 */
export function exportTrajectory(trajectory: Trajectory, format: ExportFormat): Promise<string>;

/**
 * Reads a trajectory from the text of a file: a Turnwise trajectory, an HTML report, or ATIF.
 *
 * @example
 * const trajectory = await importTrajectory(await file.text());
 */
export function importTrajectory(text: string): Promise<Trajectory>;

/**
 * The figures of one run, from its trajectory or the text of its file.
 *
 * @example
 * const { requests, outcome } = await summarize(trajectory);
 */
export function summarize(trajectory: Trajectory | string): Promise<RunSummary>;

/**
 * Statistics over several runs.
 *
 * @example
 * const { turns } = await insight(await Promise.all(trajectories.map(summarize)), { outcome: 'success' });
 */
export function insight(summaries: RunSummary[], filter?: InsightFilter): Promise<Insight>;

/**
 * Lists a provider's models, with what is known about each.
 *
 * @example
 * const names = (await listModels(openai('any', { apiKey }))).map(({ id }) => id);
 */
export function listModels(provider: Provider): Promise<ModelInfo[]>;

/**
 * Renders Markdown to nodes, in a worker. Texts are rendered in the order of the calls.
 *
 * @example
 * const nodes = await renderMarkdown('# Title');
 */
export function renderMarkdown(text: string, options?: { workerUrl?: string | URL }): Promise<MarkdownNode[]>;

/**
 * Sets where the package's files are served, if neither a bundler nor the module's URL determines it. Call it before anything else.
 *
 * @example
 * configure({ assets: '/static/turnwise/' });
 */
export function configure(options: { assets: string | URL }): void;

/**
 * Announces that the engine will be used, so that it can start early. You need not await it.
 *
 * @example
 * import init from 'turnwise';
 * init();
 */
export default function init(options?: unknown): Promise<void>;

declare global {
  interface SymbolConstructor {
    /** For `using agent = new Agent()`. */
    readonly dispose: unique symbol;
  }
}
