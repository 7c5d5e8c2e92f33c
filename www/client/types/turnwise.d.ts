/** Options of an agent. Everything has a default; unknown or wrong options throw a `TypeError` that names them. */
export interface AgentOptions {
  /** Which of the engine's presets the other options start from. Default: `research`. */
  preset?: Preset;
  /** One model, or a list: attempt k of a turn uses entry k modulo its length. Default: the demo model. */
  provider?: Provider | Provider[];
  /** The system message. Default: what the run is, how many turns it has, that it may be asked to synthesize. */
  system?: string;
  temperature?: number;
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

export type Preset = "research" | "orchestrator" | "strict";

export interface ReportOptions {
  /** Default: `text`. */
  format?: "text" | "markdown" | "json" | "slack";
  /** JSON Schema (2020-12) of a `json` report. */
  schema?: object;
}

/** US dollars a million tokens. */
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

export type SideEffect = "none" | "workspace" | "network" | "page";

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
  /** Pictures that belong to the task, as data URLs (`image/png`, `image/jpeg`, `image/webp`, `image/gif`). */
  images?: string[];
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

/** What happens in a run. `callsLeft`: LLM requests that can still follow at most. */
export type AgentEvent = { turn: number; callsLeft: number } & (
  | { type: "run_started"; runId: string; sessionId: string; task: string; maxTurns: number }
  | { type: "turn_started"; synthesis: boolean }
  | { type: "attempt_started"; attempt: number; request: number }
  | { type: "attempt_failed"; attempt: number; slugs: Slug[]; message: string }
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text: string }
  | { type: "tool_started"; id: string; name: string; args: any }
  | { type: "tool_finished"; call: TrajectoryCall }
  | { type: "turn_finished"; record: TrajectoryTurn }
  | { type: "waiting"; attempt: number; ms: number; slugs: Slug[]; message: string }
  | { type: "synthesis_started"; trigger: Trigger }
  | { type: "trace"; trace: TrajectoryTrace }
  | { type: "log"; log: TrajectoryLog }
  | { type: "progress"; status: string; detail: string | null }
  /** An event of a sub-agent's; `child` counts from 1 over the run. */
  | { type: "child"; child: number; event: AgentEvent }
  | { type: "final"; output: string; answerSource: AnswerSource; finalResultData: any }
  | { type: "agent_finished"; ending: Ending }
  | { type: "agent_failed"; ending: Ending }
  /** The worker in which the run lived is gone, and the run with it: its promise rejects. */
  | { type: "worker_lost"; message: string }
);

export type Trigger = "max_turns" | "stop" | "context" | "wall_time" | "tokens" | "cost";
export type Outcome = "success" | "partial" | "failed" | "cancelled";
export type AnswerSource = "model" | "tool" | "synthesis" | "system";
export type CounterLevel = "normal" | "moderate" | "urgent" | "off";
export type TerminationReason =
  | "llm_complete"
  | "final_result"
  | "final_report"
  | `${Trigger}_synthesized`
  | `${Trigger}_synthesis_failed`
  | "llm_error"
  | "retries_exhausted"
  | "max_turns_exhausted"
  | "cancelled";

/** Why an attempt or a tool call failed. The set is open: later versions may add to it. */
export type Slug = string;

export interface Usage {
  input: number;
  output: number;
  cached: number;
  reasoning: number;
  estimated: boolean;
}

export interface Ending {
  termination_reason: TerminationReason;
  outcome: Outcome;
  answer_source: AnswerSource;
  max_turns: number;
  effective_max_turns: number;
  total_turns: number;
  wrap_up?: Trigger | null;
  error?: string | null;
  output: string;
  final_result_data?: any;
  /** The accepted report as JSON, where its format is `json` or `slack`. */
  report_data?: any;
  finished_at: string;
}

export interface TrajectoryCall {
  id: string;
  model_id?: string | null;
  name: string;
  args: any;
  /** As the model saw it, counter line included. */
  result: string | null;
  /** The calls inside a batch. */
  calls?: TrajectoryCall[];
  /** Run ids of the sub-agents it started: their documents are the trajectory's `children`. */
  children?: string[];
  is_final: boolean;
  error?: string | null;
  slug?: Slug | null;
  attempt: number;
  started_ms: number;
  duration_ms: number | null;
}

export interface TrajectoryAttempt {
  attempt: number;
  request: number;
  provider: number;
  slugs: Slug[];
  error?: string | null;
  request_hash: string;
  usage?: Usage | null;
  started_ms: number;
  duration_ms: number | null;
  first_token_ms?: number | null;
  waited_ms?: number | null;
  notice?: string | null;
  /** What had been streamed when stop, cancel or a limit aborted the request. Never part of the conversation. */
  partial?: { content: string; reasoning?: string };
}

export interface TrajectoryTurn {
  turn: number;
  content: string;
  reasoning?: string;
  tool_calls: TrajectoryCall[];
  attempts: TrajectoryAttempt[];
  counter_level: CounterLevel;
  final: boolean;
  synthesis: boolean;
  started_at: string;
}

export interface TrajectoryTrace {
  name: string;
  at_ms: number;
  turn: number;
  data?: any;
}

export interface TrajectoryLog {
  level: "WRN" | "ERR";
  at_ms: number;
  turn: number;
  attempt: number;
  slugs: Slug[];
  message: string;
  provider: string;
  model: string;
  raw?: { text: string; truncated?: boolean } | null;
}

export interface TrajectoryTool {
  name: string;
  description: string;
  parameters: object;
  may_finish?: boolean;
  side_effect: SideEffect;
}

export interface TrajectoryMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  [key: string]: unknown;
}

/** The configuration as it is recorded: no key, no header. */
export interface TrajectoryConfig {
  preset: Preset;
  system: string;
  temperature: number | null;
  max_turns: number;
  max_attempts: number;
  counter: { moderate_at: number; urgent_at: number; templates: { normal: string; moderate: string; urgent: string } } | null;
  synthesis: {
    role: "user" | "system";
    numbered: boolean;
    prompt: string | null;
    on_error: "message" | "aggregated_text";
    attempts: number;
  } | null;
  providers: {
    kind: Provider["kind"];
    base_url: string;
    model: string;
    max_output_tokens?: number;
    demo?: "normal" | "endless" | "chaos";
    price?: Price;
  }[];
  limits: {
    tool_timeout_ms: number;
    parallel_tools: number;
    tool_calls_per_turn: number;
    max_result_chars: number;
    children: number;
    child_ms: number;
    headers_ms: number;
    first_token_ms: number;
    request_ms: number;
    idle_ms: number;
    wall_ms?: number;
    tokens?: number;
    cost?: number;
    context_tokens?: number;
  };
  agents?: { name: string; description: string; preset?: Preset; system: string; tools: string[]; max_turns: number; counter?: boolean }[];
  report: { format: "text" | "markdown" | "json" | "slack"; schema?: any };
  retry: { base_ms: number; cap_ms: number; rate_limit_ms: number; retry_after_cap_ms: number };
  seed: number;
  [key: string]: unknown;
}

/** The complete record of a run: a plain, JSON-safe object. Its JSON Schema ships with the project. */
export interface Trajectory {
  format: "turnwise-trajectory";
  version: 1;
  engine_version: string;
  /** It was read from a file of another format: there are no events, so it cannot be replayed. */
  imported?: { format: string; agent: string; agent_version: string; notes?: string };
  run_id: string;
  session_id: string;
  model: string;
  provider: Provider["kind"];
  preset: Preset;
  config: TrajectoryConfig;
  /** Of a branch: the configuration its first events ran under. */
  started_with?: TrajectoryConfig;
  /** Of a branch: the run it comes from, and the first turn that is its own. */
  parent?: { run_id: string; turn: number };
  tools: TrajectoryTool[];
  input: string;
  images?: { media_type: string; data: string }[];
  history?: TrajectoryMessage[];
  started_at: string;
  started_ms: number;
  finished_at: string | null;
  termination_reason: TerminationReason | null;
  outcome: Outcome | null;
  answer_source: AnswerSource | null;
  wrap_up?: Trigger;
  error?: string;
  max_turns: number;
  effective_max_turns: number;
  total_turns: number;
  /** Those of sub-agents included, as in `tokens`. */
  requests: number;
  tokens: Usage;
  output: string | null;
  final_result_data: any;
  turns: TrajectoryTurn[];
  segments: Ending[];
  traces: TrajectoryTrace[];
  logs: TrajectoryLog[];
  /** Sub-agents, in the order they began. Their events stand in the root's `events`. */
  children: Trajectory[];
  events: { seq: number; at_ms: number; event: { type: string; [key: string]: unknown } }[];
}

export type ReplayResult =
  | { ok: true }
  | {
      ok: false;
      /** `null`: the difference is not in a turn. */
      turn: number | null;
      /** JSON Pointer into the trajectory. */
      path: string;
      expected: any;
      actual: any;
      /** The engine that recorded it, where it is another than this one. */
      recorded_by: string | null;
    };

/** What `exportTrajectory` writes. What each one holds stands in docs/trajectory.md. */
export type ExportFormat =
  | "native"
  | "atif"
  | "otlp"
  | "openai-jsonl"
  | "mini-swe-agent"
  | "markdown"
  | "html";

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
  kind: "gather" | "synthesis";
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
  | ({ callsLeft: number } & (
      | { type: "plan_started"; step: null; planId: string; sessionId: string; plan: Plan; kept: number[] }
      | { type: "step_started"; step: number; agent: string; kind: PlanAgent["kind"]; runId: string; context: PlanContext }
      | { type: "plan_trace"; step: number; trace: PlanTrace }
      | { type: "step_finished"; step: number; status: StepStatus; blockedBy: number[]; output: string | null; error: string | null }
      | { type: "plan_finished"; step: null; ending: PlanEnding }
    ));

export type StepStatus = "pending" | "running" | "completed" | "failed" | "blocked" | "cancelled";

/** What a step is given of earlier ones: at most one of the two keys. */
export interface PlanContext {
  dependency_artifacts?: PlanArtifact[];
  session_context?: PlanArtifact[];
}

export interface PlanArtifact {
  step_order: number;
  agent: string;
  action: string;
  tools: string[];
  result: string;
}

export interface PlanTrace {
  name: string;
  plan_id: string;
  at_ms: number;
  step: number;
  data?: any;
}

export interface PlanEnding {
  outcome: Outcome;
  /** The result of the last completed step. */
  output: string;
  output_step: number | null;
  completed: number;
  failed: number;
  blocked: number;
  cancelled: number;
  wrap_up?: "stop";
  finished_at: string;
}

export interface PlanSessionStep {
  order: number;
  agent: string;
  kind: PlanAgent["kind"];
  status: StepStatus;
  blocked_by: number[];
  context: PlanContext;
  error?: string;
  /** `null`: it was never started. */
  run: Trajectory | null;
}

/** The complete record of a plan that was run: a plain, JSON-safe object. Its JSON Schema ships with the project. */
export interface PlanSession {
  format: "turnwise-session";
  version: 1;
  engine_version: string;
  plan_id: string;
  session_id: string;
  plan: Plan;
  started_at: string;
  started_ms: number;
  finished_at: string | null;
  ending: PlanEnding | null;
  requests: number;
  tokens: Usage;
  steps: PlanSessionStep[];
  traces: PlanTrace[];
}

/** The figures of one run, those of its sub-agents included: a plain, JSON-safe object. */
export interface Summary {
  run_id: string;
  session_id: string;
  /** The first line of the task, at most 120 characters. */
  title: string;
  model: string;
  provider: Provider["kind"];
  preset: Preset;
  /** Milliseconds since 1970. */
  started_ms: number;
  /** `null`: it had not ended. */
  finished_ms: number | null;
  duration_ms: number | null;
  termination_reason: TerminationReason | null;
  outcome: Outcome | null;
  answer_source: AnswerSource | null;
  max_turns: number;
  /** After collapse and grants. */
  effective_max_turns: number;
  /** A numbered synthesis included. */
  total_turns: number;
  /** What was used of `effective_max_turns`. */
  turns_used: number;
  requests: number;
  /** Attempts that failed, by the most telling slug of each. */
  failed_attempts: Record<string, number>;
  /** Calls inside a batch one by one, without the batch. */
  tool_calls: number;
  tool_failures: Record<string, number>;
  tokens: Usage;
  /** US dollars; `null`: a price is not known. */
  cost: number | null;
  children: number;
}

/** Which runs are looked at: those that every given part fits. */
export interface InsightFilter {
  /** Started at this time or later; milliseconds since 1970. */
  fromMs?: number;
  /** Started before this time. */
  toMs?: number;
  model?: string;
  preset?: Preset;
  outcome?: Outcome | "unfinished";
  terminationReason?: TerminationReason;
  /** Part of the title, the model or an id, in any case. */
  text?: string;
}

/** One number over several runs; percentiles by nearest rank. */
export interface Figure {
  /** Runs that it is known of. */
  known: number;
  total: number;
  median: number;
  p95: number;
  max: number;
}

/** What runs have in common: a plain, JSON-safe object. */
export interface Insight {
  /** Runs that pass the filter. */
  runs: number;
  /** All runs. */
  of: number;
  ended: number;
  outcomes: Record<string, number>;
  /** Ended runs whose outcome is `success`, 0 to 1. */
  success_share: number | null;
  turns: Figure;
  tokens: Figure;
  /** Tokens of all runs. */
  usage: Usage;
  cost: Figure;
  duration_ms: Figure;
  requests: number;
  failed_attempts: number;
  tool_calls: number;
  sub_agents: number;
  /** The most frequent first. */
  reasons: { reason: TerminationReason | null; outcome: Outcome | null; count: number; share: number }[];
  /** Runs by tenths of the limit used; the last of the 11 bins used all of it, `reached` counts them. */
  limit: { reached: number; bins: { success: number; partial: number; failed: number; other: number }[] };
  /** Failed attempts, the most frequent first. */
  retries: { slug: string; count: number; runs: number }[];
  /** Failed tool calls, the most frequent first. */
  tool_failures: { slug: string; count: number; runs: number }[];
  /** What a point of `series` stands for: a run, or a stretch of time. */
  step: "run" | "minute" | "ten_minutes" | "hour" | "six_hours" | "day" | "week" | "four_weeks" | "year";
  series: InsightPoint[];
  /** Values that can be filtered by, of all runs. */
  choices: Record<"models" | "presets" | "outcomes" | "reasons", { value: string; count: number }[]>;
}

/** A run, or the runs that began in a stretch of time; sums. */
export interface InsightPoint {
  at_ms: number;
  runs: number;
  run_id?: string;
  title?: string;
  outcome?: Outcome | null;
  success: number;
  tokens_in: number;
  tokens_out: number;
  cost: number | null;
  duration_ms: number;
  ended: number;
}

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

export interface DocsProgress {
  stage: "finding" | "loading" | "indexing" | "ready";
  /** What is being read: an address. */
  source: string;
  done: number;
  total: number;
}

/** What is known of a documentation site. */
export interface DocsInfo {
  kind: "mdbook" | "mkdocs" | "sphinx" | "rustdoc" | "vitepress" | "docusaurus" | "starlight" | "pages";
  title: string;
  /** With `/` at the end. */
  root: string;
  pages: number;
  sections: number;
  /** Changes when the site's texts do, as far as that can be told from outside. */
  version: string;
  /** It was kept from an earlier visit. */
  cached: boolean;
  /** All its pages were read, as far as they are to be. */
  complete: boolean;
}

/** A section that was found. */
export interface DocsHit {
  /** Of the section itself, where the site has an address for it. */
  url: string;
  /** Title of its page. */
  page: string;
  /** Its headings, from the page down; empty for the page's beginning. */
  section: string;
  snippet: string;
  score: number;
}

/**
 * A block or an inline of a Markdown text: an object with one key, or a word. No node carries markup; every `href` is
 * http(s), mailto or relative; a soft line break is a newline in `text`; nothing in here makes a browser load anything.
 */
export type MarkdownNode =
  | { paragraph: MarkdownNode[] }
  | { heading: { level: number; children: MarkdownNode[] } }
  /** `start`: the first number of an ordered list. `task`: the box of a task item. */
  | { list: { start?: number; items: { task?: "open" | "done"; children: MarkdownNode[] }[] } }
  | { code_block: { lang?: string; spans: { class?: CodeClass; text: string }[] } }
  | { quote: MarkdownNode[] }
  /** Rows may be shorter than the head. */
  | {
      table: {
        align: ("none" | "left" | "center" | "right")[];
        head: MarkdownNode[][];
        rows: MarkdownNode[][][];
      };
    }
  | "rule"
  | { text: string }
  | { strong: MarkdownNode[] }
  | { emphasis: MarkdownNode[] }
  | { strike: MarkdownNode[] }
  | { code: string }
  | { link: { href: string; children: MarkdownNode[] } }
  /** A picture that is not loaded: its description, and its address where that is a safe one. */
  | { image: { alt: string; href?: string } }
  | "break";

/** What a run of code is; none: plain. */
export type CodeClass =
  | "comment"
  | "string"
  | "keyword"
  | "number"
  | "function"
  | "type"
  | "constant"
  | "name"
  | "inserted"
  | "deleted";

/** An agent: one run at a time, as many as you like one after the other. Several agents live side by side. */
export class Agent {
  /** Throws a `TypeError` that names what is wrong with the options. */
  constructor(options?: AgentOptions);
  /** Runs a task. Resolves with the trajectory for every way a run can end; rejects for misuse, and where the worker is gone. */
  run(task: string, options?: RunOptions): Promise<Trajectory>;
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

/** Says that the engine is going to be used, so that it can be started early. Nothing has to wait for it. */
export default function init(options?: unknown): Promise<void>;

declare global {
  interface SymbolConstructor {
    /** For `using agent = new Agent()`. */
    readonly dispose: unique symbol;
  }
}
