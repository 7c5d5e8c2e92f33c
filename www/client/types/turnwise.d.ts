// Records and events are in records.d.ts, which is made of the Rust types. What is here is written by hand: options, which
// read better so, and functions.
import type {
  AgentKind, DocsHit, DocsInfo, DocsProgress, ExportFormat, Insight, InsightFilter, MarkdownNode, PlanOwnEvent,
  PlanSession, Preset, ReasoningEffort, ReplayDifference, RunEvent, SideEffect, Summary, Trajectory, TrajectoryMessage,
} from './records.js';

export * from './records.js';

/** Options of an agent. Everything has a default; unknown or wrong options throw a `TypeError` that names them. */
export interface AgentOptions {
  /** Which of the engine's presets the other options start from. Default: `research`. */
  preset?: Preset;
  /** One model, or a list: attempt k of a turn uses entry k modulo its length. Default: the demo model. */
  provider?: Provider | Provider[];
  /** The system message. Default: what the run is, how many turns it has, that it may be asked to synthesize. */
  system?: string;
  temperature?: number;
  /** From 0 to 1. */
  topP?: number;
  /** How much the model thinks before it answers, where it can be told. Default: as much as it does by itself. */
  reasoning?: ReasoningEffort;
  /**
   * Whether the model must call a tool. `required`, and a tool by name, hold for the first turn of a run only. `none` does
   * not hold in a `strict` run. Default: the model decides.
   */
  toolChoice?: "auto" | "none" | "required" | { tool: string };
  /** Default: 15, `orchestrator` 10. */
  maxTurns?: number;
  /** LLM requests a turn, retries included. Default: 3. */
  maxAttempts?: number;
  /** The line at the end of each turn's tool results. `false`: none. */
  counter?: CounterOptions | false;
  /** The closing call without tools when a limit stops the run. `false`: none. */
  synthesis?: SynthesisOptions | false;
  /** The final report a `strict` run must end with. */
  report?: ReportOptions;
  /** Built-in tools to offer. Default: all but `progress_report`, `batch` and `spawn_subagents`. Tools of your own: `agent.registerTool`. */
  tools?: BuiltInTool[];
  /** Kinds of sub-agents by name, for `spawn_subagents`. Default: one kind with the agent's own tools. */
  agents?: Record<string, SubagentKind>;
  limits?: LimitOptions;
  retry?: RetryOptions;
  /** For jitter and ids: same seed, same run. Default: a random one. */
  seed?: number;
  /** Where `worker.js` is. Default: beside the package's module. */
  workerUrl?: string | URL;
}

/** A kind of sub-agent. */
export interface SubagentKind {
  /** What it is good for, as the model that chooses reads it. */
  description?: string;
  /** Default: the agent's. A sub-agent of the preset `strict` reports by `final_report`, as text. */
  preset?: Preset;
  /** Default: what the run is, how many turns it has, that it may be asked to synthesize. */
  system?: string;
  /** Names of the agent's own tools. Default: all of them. */
  tools?: string[];
  /** Turns at most, whatever a task asks for. Default: 7. */
  maxTurns?: number;
  /** `false`: its runs have no turn counter. Default: as the agent. */
  counter?: boolean;
}

export interface ReportOptions {
  /** Default: `text`. */
  format?: "text" | "markdown" | "json" | "slack";
  /** JSON Schema (2020-12) of a `json` report. */
  schema?: object;
}

/** US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Of input tokens read from the provider's cache. Default: as `input`. */
  cached?: number;
}

export type Provider = DemoProvider | HttpProvider | PromptApiProvider | CustomProvider;

/** Scripted, not an AI: no key, no network. */
export interface DemoProvider {
  kind: "demo";
  /**
   * `endless` never finishes by itself, so that limits and synthesis can be seen; `chaos` shows by its seed the faults of
   * model servers and of models, so that retries can be seen.
   */
  demo?: "normal" | "endless" | "chaos";
  model?: string;
  baseUrl?: string;
  apiKey?: string;
  headers?: Record<string, string>;
  maxOutputTokens?: number;
  /** For `limits.cost`, and to show what a run cost. */
  price?: Price;
  providerOptions?: Record<string, unknown>;
}

/** A model server, called from the page directly. */
export interface HttpProvider {
  /** `openai`: Chat Completions and all that speak it. */
  kind:
    | "openai"
    | "openai-responses"
    | "anthropic"
    | "gemini"
    | "openrouter"
    | "ollama"
    | "lmstudio"
    | "llamacpp";
  /** Up to and including the version (`/v1`). A relative one is resolved against the page. Default: the kind's own. */
  baseUrl?: string;
  model?: string;
  /** Sent in the header that the kind wants; none is sent without it. Never in a trajectory. */
  apiKey?: string;
  /** Extra request headers. Their values are kept out of trajectories too. */
  headers?: Record<string, string>;
  maxOutputTokens?: number;
  /** For `limits.cost`, and to show what a run cost. Default: the price list's, where the model is known. */
  price?: Price;
  /**
   * Further fields of the request's body, as the server calls them. They are part of trajectories: no key belongs here.
   * The model, the conversation, the tools and the stream cannot be set by them.
   */
  providerOptions?: Record<string, unknown>;
}

/** The model built into Chrome: no key, no server. */
export interface PromptApiProvider {
  kind: "prompt-api";
  model?: string;
}

/** A model that the page supplies. */
export interface CustomProvider {
  kind: "custom";
  /** For the record. */
  model?: string;
  maxOutputTokens?: number;
  price?: Price;
  /**
   * Further fields of the request's body, as the server calls them. They are part of trajectories: no key belongs here.
   * The model, the conversation, the tools and the stream cannot be set by them.
   */
  providerOptions?: Record<string, unknown>;
  /**
   * Asks the model. `request` is the body of an OpenAI Chat Completions request with `stream: true`. Answers with an async
   * iterable of chunks or of texts, a whole chat completion, a text, or a `Response`. What it throws is retried, unless its
   * `status` is that of a request no server would take.
   */
  complete: (request: any, options: { signal: AbortSignal }) => unknown;
}

/** A model that a provider offers; `null` where something is not known. */
export interface ModelInfo {
  /** What `model` takes. */
  id: string;
  name: string;
  contextTokens: number | null;
  price: Price | null;
  /** Whether it takes pictures. */
  images: boolean | null;
}

export interface CounterOptions {
  /** Turns left at which the wording changes. Default: 5. */
  moderateAt?: number;
  /** Default: 3. */
  urgentAt?: number;
  /** Each knows `{turn}`, `{max}` and `{remaining}`. */
  templates?: { normal?: string; moderate?: string; urgent?: string };
}

export interface SynthesisOptions {
  /** Role of the prompt. Default: `user`, `orchestrator` `system`. */
  role?: "user" | "system";
  /** Whether it is turn N+1 and counts. Default: true, `orchestrator` false. */
  numbered?: boolean;
  prompt?: string;
  /** The report when it fails. Default: `message`, `orchestrator` `aggregated_text`. */
  onError?: "message" | "aggregated_text";
  /** Requests, retries included. Default: 3. */
  attempts?: number;
}

export interface LimitOptions {
  /** Default: 30,000. */
  toolTimeoutMs?: number;
  /** Default: 4. */
  parallelTools?: number;
  /** Calls past it are answered, not run. Default: 32. */
  toolCallsPerTurn?: number;
  /** Longer results are cut in the middle; the whole can be read in parts. Default: 20,000. */
  maxResultChars?: number;
  /** Sub-agents of a run at most. Default: 16. */
  children?: number;
  /** Wall time of a sub-agent; it then concludes. Default: 300,000. */
  childMs?: number;
  /** Until response headers. Default: 120,000. */
  headersMs?: number;
  /** Until the first text, reasoning or tool call; comments that keep the connection alive do not count. Default: 120,000. */
  firstTokenMs?: number;
  /** Until the reply is complete. Default: 600,000. */
  requestMs?: number;
  /** Silence in a stream. Default: 60,000. */
  idleMs?: number;
  /** Wall time of the run; wraps up. Default: none. */
  wallMs?: number;
  /** Input and output tokens of the run; wraps up. Default: none. */
  tokens?: number;
  /** US dollars; wraps up. Needs the provider's `price`. Default: none. */
  cost?: number;
  /** The model's window: past it the oldest tool results are removed. Default: unknown. */
  contextTokens?: number;
}

export interface RetryOptions {
  /** Default: 500. */
  baseMs?: number;
  /** Default: 8,000. */
  capMs?: number;
  /** First wait after a 429 that does not say how long; doubled for each attempt, up to 25 % longer by chance. Default: 5,000. */
  rateLimitMs?: number;
  /** Above it the run does not wait: it ends and names the time. Default: 60,000. */
  retryAfterCapMs?: number;
}

export type BuiltInTool =
  | "calculate"
  | "list_files"
  | "read_file"
  | "write_file"
  | "search_files"
  | "read_result"
  | "now"
  /** Not in the safe set: reports to the user, counts for nothing. */
  | "progress_report"
  /** Not in the safe set: several calls in one. */
  | "batch"
  /** Not in the safe set: gives tasks to sub-agents that work in parallel. */
  | "spawn_subagents";

/** A tool of the page's. */
export interface Tool<Args = any> {
  /** 1 to 64 of A-Z, a-z, 0-9, _ and -. One of the same name is replaced. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments, `type: 'object'`. Arguments that fail it never reach `execute`. */
  parameters?: object;
  /** Whether its result may end the run (`<<<FINAL_RESULT>>>`). Default: false. */
  mayFinish?: boolean;
  /** Anything but `none` asks `approve` first; `network` and `page` are refused where there is none. Default: `none`. */
  sideEffect?: SideEffect;
  /** A result that is no string is sent as JSON; a throw or a rejection is answered to the model as an error. */
  execute(args: Args, options: { signal: AbortSignal }): unknown;
}

export interface GrantOptions {
  /** In order, none after `agent_finished` or `agent_failed`. */
  onEvent?: (event: AgentEvent) => void;
  /** Aborting it cancels the run; the promise resolves all the same. */
  signal?: AbortSignal;
  /**
   * Asked before a tool with side effects; only `true` lets it run. `'all'` permits all of them. Without it, calls of tools
   * that reach the network or the page are refused.
   */
  approve?: Approve;
}

export interface RunOptions extends GrantOptions {
  /** The trajectory of an earlier run: same session, its history carried over. */
  after?: Trajectory;
  /** Pictures and PDFs that belong to the task, as data URLs (`image/png`, `image/jpeg`, `image/webp`, `image/gif`, `application/pdf`). */
  images?: string[];
  /** The conversation so far, oldest first, where it comes from elsewhere. A system message is put first where there is none. */
  history?: TrajectoryMessage[];
}

export interface BranchOptions extends GrantOptions {
  /** The first turn that is the branch's own, from 1. Default: the turn after the call `callId`, else the last one. */
  turn?: number;
  /** A call whose result is changed, together with `result`. */
  callId?: string;
  result?: string;
  /** Takes the place of the model's reply in the turn. It counts as a request. */
  reply?: string | { text?: string; toolCalls?: { toolName: string; input: unknown }[] };
  /** Another system message from the turn on. */
  system?: string;
  /** A message of the user's before the turn. */
  say?: string;
}

/** Who permits calls of tools with side effects: a function that is asked, or `'all'`. */
export type Approve = "all" | ((call: ApprovalRequest) => boolean | Promise<boolean>);

export interface ApprovalRequest {
  id: string;
  name: string;
  args: any;
  sideEffect: Exclude<SideEffect, "none">;
  /** It was under way when the page was closed, and may have had its effect. */
  again: boolean;
}

/** What happens in a run. */
export type AgentEvent =
  | RunEvent
  /** The worker in which the run lived is gone, and the run with it: its promise rejects. */
  | { type: "worker_lost"; message: string; turn: number; callsLeft: number };

export type ReplayResult = { ok: true } | ({ ok: false } & ReplayDifference);

/** Agents, and the steps that are given to them. */
export interface Plan {
  /** Default: made from the time and the seed. */
  plan_id?: string;
  /** By name. */
  agents: Record<string, PlanAgent>;
  /** At least one; listed in any order. */
  steps: PlanStep[];
}

/** What is not given comes from the options of the agent that runs the plan. */
export interface PlanAgent {
  /** `gather`: its steps see the results of their dependencies. `synthesis`: those of all completed steps before them. */
  kind: AgentKind;
  /** The system message. */
  system?: string;
  /** Names of the tools it is offered; empty: none. */
  tools?: string[];
  maxTurns?: number;
  /** As in records; the same as `maxTurns`. */
  max_turns?: number;
  /** `false`: its runs have no turn counter. Default: as the agent that runs the plan. */
  counter?: boolean;
}

export interface PlanStep {
  /** 1 or more, unique in the plan. */
  order: number;
  /** One of the plan's. */
  agent: string;
  /** The task of the step. */
  action: string;
  /** Smaller orders that a gather step needs completed. Default: none. */
  dependencies?: number[];
  /** Not empty: the only tools of the step. Default: those of its agent. */
  tools?: string[];
}

export interface PlanRunOptions {
  /** In order, none after `plan_finished`. */
  onEvent?: (event: PlanEvent) => void;
  /** Aborting it cancels the plan; the promise resolves all the same. */
  signal?: AbortSignal;
  /** As for `run`. */
  approve?: Approve;
  /** Steps running at once. Default: 4. */
  parallel?: number;
  /** The record of an earlier run of the plan: steps that ended in it are not run again. */
  after?: PlanSession;
  /** With `after`: run this step again, and everything that builds on it. */
  from?: number;
}

/** What happens in a plan: its own events (`step: null` for the plan as a whole), and those of its steps' runs. */
export type PlanEvent =
  | (AgentEvent & { step: number })
  | (PlanOwnEvent & { type: "plan_started" | "plan_finished"; step: null })
  | (PlanOwnEvent & { type: "step_started" | "step_finished" | "plan_trace"; step: number });

/** How a documentation site is read. */
export interface DocsOptions {
  /** The page's own HTML, as `document.documentElement.outerHTML` has it, so that it is not fetched again. */
  html?: string;
  /** `auto`, or the address of an `llms.txt`, a search index or a site map. Default: `auto`. */
  source?: string;
  /** Also called after the site can be asked, for as long as pages are still being read. */
  onProgress?: (progress: DocsProgress) => void;
  /** Aborting it ends the reading, and closes the site. */
  signal?: AbortSignal;
  /** Keep what was read in the browser, and use it for as long as the site is the same. Default: true. */
  cache?: boolean;
  /**
   * `include` sends cookies and HTTP authentication, so that pages behind a login are read; nothing is kept then. With
   * `omit` such a page counts as one that cannot be read. Default: `omit`.
   */
  credentials?: "omit" | "include";
  /** Where `worker.js` is, or the smaller `docs-worker.js`. Default: `worker.js` beside the package's module. */
  workerUrl?: string | URL;
}

/** An agent: one run at a time, as many as you like one after the other. Several agents live side by side. */
export class Agent {
  /** Throws a `TypeError` that names what is wrong with the options. */
  constructor(options?: AgentOptions);
  /** Runs a task. Resolves with the trajectory for every way a run can end; rejects for misuse, and where the worker is gone. */
  run(task: string, options?: RunOptions): Promise<Trajectory>;
  /**
   * Goes on with a run that had not ended, from its record. Refused where the record was made with another model or address:
   * the agent's key would go there.
   */
  resume(trajectory: Trajectory, options?: GrantOptions): Promise<Trajectory>;
  /** A new run that goes on from a turn of a recorded one, with something changed, asking this agent's models. */
  branch(trajectory: Trajectory, options?: BranchOptions): Promise<Trajectory>;
  /** The record as it is now, of the run under way or of the last one. Replays, and can be resumed after a crash. */
  checkpoint(): Promise<Trajectory | undefined>;
  /** Continues a run that ended on a limit, with more turns. */
  grantTurns(turns: number, options?: GrantOptions): Promise<Trajectory>;
  /**
   * Runs a plan: each step a run of its own. Resolves with the record of the whole for every way it can end; rejects for a
   * plan with faults, all of them named, for misuse, and where the worker is gone.
   */
  runPlan(plan: Plan, options?: PlanRunOptions): Promise<PlanSession>;
  /** Asks the run to wrap up: open waits end, and it concludes from what it has. */
  stop(): void;
  /** Ends the run at once. */
  cancel(): void;
  /** Offers a tool of the page's, from the next run on. */
  registerTool(tool: Tool): void;
  /** The tool is not offered from the next run on. */
  removeTool(name: string): void;
  /** The files the agent's tools see. */
  readonly files: Files;
  /** Releases everything. A run under way still ends and keeps its promise. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Files by path, such as `docs/a.md`. They stay when a run ends, and go with the agent. */
export class Files {
  private constructor();
  /** Adds or replaces a file. Returns the path it has now; throws a `TypeError` for one that leaves the workspace. */
  put(path: string, content: string | Blob): string;
  /** All paths, sorted. */
  list(): string[];
  /** A file's content; nothing where there is no such file. */
  get(path: string): Blob | undefined;
  /** Removes a file, if it is there. */
  remove(path: string): void;
  free(): void;
  [Symbol.dispose](): void;
}

/** A documentation site that was found, read and indexed, and the tools over it. */
export class DocsSite {
  private constructor();
  /** Finds what the site of this page ships, reads and indexes it. */
  static open(page: string | URL, options?: DocsOptions): Promise<DocsSite>;
  /** What is known of the site by now. */
  readonly info: DocsInfo;
  /** For `agent.registerTool`. */
  readonly tools: Tool[];
  /** The best sections, best first. */
  search(query: string, options?: { limit?: number }): Promise<DocsHit[]>;
  /** Ends its worker. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Drives the engine through a recorded run again, with no key and no network. */
export function replay(trajectory: Trajectory): Promise<ReplayResult>;

/** A trajectory as the text of a file. `native` is only written out; every other format is made in a worker. */
export function exportTrajectory(trajectory: Trajectory, format: ExportFormat): Promise<string>;

/** The text of a file as a trajectory: a document of ours, an HTML report, or ATIF. */
export function importTrajectory(text: string): Promise<Trajectory>;

/** The figures of one run, from its trajectory or the text of one. */
export function summarize(trajectory: Trajectory | string): Promise<Summary>;

/** What runs have in common. */
export function insight(summaries: Summary[], filter?: InsightFilter): Promise<Insight>;

/** The models of a provider, with what is known of each. */
export function listModels(provider: Provider): Promise<ModelInfo[]>;

/** Markdown to nodes, in a worker. Texts are rendered in the order they came. */
export function renderMarkdown(text: string, options?: { workerUrl?: string | URL }): Promise<MarkdownNode[]>;

/** Where the package's files are served, where neither a bundler nor the module's own address tells. To be called before anything else. */
export function configure(options: { assets: string | URL }): void;

/** Says that the engine is going to be used, so that it can be started early. Nothing has to wait for it. */
export default function init(options?: unknown): Promise<void>;

declare global {
  interface SymbolConstructor {
    /** For `using agent = new Agent()`. */
    readonly dispose: unique symbol;
  }
}
