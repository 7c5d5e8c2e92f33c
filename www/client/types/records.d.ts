// Records and events, as turnwise.d.ts exports them. Made of the Rust types: UPDATE=1 cargo test --test native types::
import type { Plan } from './turnwise.js';

/**
 * The complete record of a run: a plain, JSON-safe object. Its JSON Schema ships with the project. `events` holds every
 * input of the engine; everything else except `notes` is derived from the events, the configuration and the input.
 */
export interface Trajectory {
  format: "turnwise-trajectory";
  version: 1;
  engine_version: string;
  /** Set if the document was read from a file of another format: it has no events, so it cannot be replayed. */
  imported?: TrajectoryImported;
  run_id: string;
  session_id: string;
  /** The model of the first provider; the complete list is in `config`. */
  model: string;
  provider: ProviderKind;
  preset: Preset;
  /** The complete configuration, except for the tools. */
  config: TrajectoryConfig;
  /**
   * For a run that a branch or an adopter changed: the configuration that its first events ran with. Its tools are listed
   * there if the run has others now.
   */
  started_with?: TrajectoryConfig;
  /** For a branch: the run it comes from, and the first turn of its own. */
  parent?: TrajectoryParent;
  tools: TrajectoryTool[];
  input: string;
  images?: TrajectoryImage[];
  /** The messages carried over into a follow-up. */
  history?: TrajectoryMessage[];
  /**
   * The size at which a model service refused the conversation before this run as too long, in estimated tokens: its requests stay
   * below it.
   */
  refused_tokens?: number;
  /** RFC 3339; `started_ms` is the same as milliseconds since 1970. */
  started_at: string;
  started_ms: EpochMillis;
  finished_at: string | null;
  termination_reason: TerminationReason | null;
  outcome: Outcome | null;
  answer_source: AnswerSource | null;
  wrap_up?: Trigger;
  error?: string;
  max_turns: number;
  effective_max_turns: number;
  total_turns: number;
  /** LLM requests sent, including those of sub-agents; `tokens` counts the same way. */
  requests: number;
  tokens: Usage;
  output: string | null;
  final_result_data: any;
  turns: TrajectoryTurn[];
  segments: Ending[];
  traces: TrajectoryTrace[];
  logs: TrajectoryLog[];
  /**
   * Trajectories of sub-agents, in the order they began. Their events are in the root's `events`, where the ids of their
   * requests and timers are n + child * 2^20.
   */
  children: Trajectory[];
  events: RecordedEvent[];
  /** What people noted about turns. Replay ignores it. */
  notes?: TrajectoryNote[];
}

/** The origin of an imported document. */
export interface TrajectoryImported {
  /** `ATIF-v1.7` */
  format: string;
  /** The agent that did the work. */
  agent: string;
  agent_version: string;
  /** The author's notes about it. */
  notes?: string;
}

/** Which model server. */
export type ProviderKind =
  | "demo"
  | "openai"
  | "openai-responses"
  | "anthropic"
  | "gemini"
  | "openrouter"
  | "ollama"
  | "lmstudio"
  | "llamacpp"
  | "prompt-api"
  | "custom";

/** Ways of working known from other agents, each a preset of the same engine. */
export type Preset = "research" | "orchestrator" | "strict";

/** Everything except the events that determines what a run does: no key, no header. */
export interface TrajectoryConfig {
  preset: Preset;
  /** The system message; empty means the preset's default text. */
  system: string;
  temperature: number | null;
  top_p?: number;
  /** How much the model thinks before it answers. If omitted, the model decides. */
  reasoning?: ReasoningEffort;
  /**
   * Whether the model must call a tool. `required` and a tool's name apply to the first turn only: a run whose every
   * turn must call one would never end by text. They have no effect in the last turn of a `strict` run, or if a notice
   * asks for its report. `none` has no effect in a `strict` run: only a call ends it. A tool that the run does not have
   * means `auto`. Sub-agents choose by themselves.
   */
  tool_choice?: TrajectoryToolChoice;
  max_turns: number;
  /** Requests per turn, retries included. */
  max_attempts: number;
  /** The turn counter; `null`: there is none. */
  counter: TrajectoryCounter | null;
  /** `null`: there is none. */
  synthesis: TrajectorySynthesis | null;
  /** Attempt k of a turn uses entry k modulo the length. Never empty. */
  providers: TrajectoryProvider[];
  /** Requirements for the `final_report`. Used by the `strict` preset. */
  report: TrajectoryReport;
  /**
   * Every tool the model is offered. Empty in a record, which lists the tools at the top level, unless the run began with
   * others.
   */
  tools: TrajectoryTool[];
  /** Kinds of sub-agents that the model can choose from; if empty, one kind with this run's own tools. */
  agents?: TrajectoryAgent[];
  /** The skills that the model can read, with tools for their scripts (skills.md). */
  skills?: TrajectorySkill[];
  /** Which tool calls run, which ask first and which are denied. Omitted in records made before there were permissions. */
  permissions?: TrajectoryPermissions;
  limits: TrajectoryLimits;
  retry: TrajectoryRetry;
  /**
   * What the models do not take of these settings, and what is sent instead: a sentence each, logged when the run starts. Whoever starts
   * the run writes it.
   */
  adjusted?: string[];
  /**
   * Whether requests leave out the oldest turns of a conversation that would not fit the context window. Whoever starts the run sets
   * it. Omitted in records made before this was done.
   */
  shortens?: boolean;
  /** Seeds jitter and ids: the same seed gives the same run. */
  seed: number;
}

/** How much a model thinks before it answers. Models that know numbers of tokens get one of these. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Whether a model must call a tool. */
export type TrajectoryToolChoice = "auto" | "none" | "required" | { tool: string };

/** The turn counter. Templates know `{turn}`, `{max}`, `{remaining}`. */
export interface TrajectoryCounter {
  moderate_at: number;
  urgent_at: number;
  templates: TrajectoryCounterTemplates;
}

/** One line per level, without the newline before it. */
export interface TrajectoryCounterTemplates {
  normal: string;
  moderate: string;
  urgent: string;
}

/** The synthesis call. */
export interface TrajectorySynthesis {
  role: SynthesisRole;
  /** Whether the synthesis is turn N+1 and counted in `total_turns`. */
  numbered: boolean;
  /** `null`: the preset's exact text. */
  prompt: string | null;
  on_error: SynthesisFallback;
  /** Requests for the synthesis, retries included. */
  attempts: number;
}

export type SynthesisRole = "user" | "system";

/** The report when synthesis fails. */
export type SynthesisFallback = "message" | "aggregated_text";

/** One model behind one endpoint. */
export interface TrajectoryProvider {
  kind: ProviderKind;
  /** Up to and including the version (`/v1`, `/v1beta`); empty: the kind's own. */
  base_url: string;
  model: string;
  max_output_tokens?: number;
  /** Demo model only. */
  demo?: DemoMode;
  /** The cost of its tokens, if known. */
  price?: TrajectoryPrice;
  /**
   * Additional fields of the request body, under the server's names. Each is sent unchanged and replaces one
   * that the run would send; objects are not merged. What the run itself determines cannot be set here and is
   * ignored: the model, the conversation, the tools the tool choice and streaming. It is part of the record,
   * so never put a key here.
   */
  provider_options?: Record<string, any>;
}

/** How the demo model behaves. */
export type DemoMode = "normal" | "endless" | "chaos";

/** US dollars per million tokens. */
export interface TrajectoryPrice {
  input: number;
  output: number;
  /** Of input tokens read from the provider's cache. */
  cached: number;
}

/** The final report. */
export interface TrajectoryReport {
  format: ReportFormat;
  /** JSON Schema of `content`, if the format is `json`. */
  schema?: any;
}

export type ReportFormat = "text" | "markdown" | "json" | "slack";

/** A tool as offered to the model. */
export interface TrajectoryTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: object;
  /** Only these tools can end a run by the final-result protocol. */
  may_finish?: boolean;
  side_effect: SideEffect;
  /** The argument without which a call has no side effect, such as the file that a query saves; omitted: every call may have it. */
  effect_argument?: string;
  /** The argument that is the address a call goes to. Rules and answers can then be for its host. */
  host_argument?: string;
  /**
   * The argument that names the tool that a call is really for, where one tool calls many others. Rules and answers are then those of
   * that tool.
   */
  tool_argument?: string;
}

/** The side effects of a call to a tool. */
export type SideEffect = "none" | "workspace" | "folder" | "network" | "page";

/** A kind of sub-agent. */
export interface TrajectoryAgent {
  name: string;
  /** What it is good for; the model reads this when it chooses a kind. */
  description: string;
  /** Default: its parent's. */
  preset?: Preset;
  /** Its system message; empty: its preset's. */
  system: string;
  /** Names of the parent's tools that it may use; empty means all of them. */
  tools: string[];
  /**
   * Names of the parent's skills that it has, with `read_skill` and the tools of their scripts, which `tools` need not name. Empty:
   * those whose tools it may use.
   */
  skills?: string[];
  /** Maximum number of turns, whatever a task asks for. */
  max_turns: number;
  /** Whether its runs have a turn counter. Default: as its parent. */
  counter?: boolean;
}

/**
 * A skill: instructions for one kind of work, with files and scripts (skills.md). The model sees its name and description; it reads
 * the rest with `read_skill`.
 */
export interface TrajectorySkill {
  /** Unique in a run. */
  name: string;
  /** What it is for and when to use it. */
  description: string;
  /** The text of `SKILL.md` without its front matter. */
  instructions: string;
  /** Its other text files, by path in the skill's folder: `scripts/submit.js`. */
  files: Record<string, string>;
  /** Its scripts in JavaScript, each a tool of its own. */
  scripts?: TrajectorySkillScript[];
  /** Paths of its files that are not text. */
  binary?: string[];
  /** The only tools that its scripts can call, among those that the run offers. Omitted: all of them. */
  allowed_tools?: string[];
}

/** A script of a skill. It runs as a program in the sandbox of `run_code`, with its arguments as `input`. */
export interface TrajectorySkillScript {
  /** The name of its tool. */
  tool: string;
  /** Its file. */
  path: string;
  /** What its tool's description says of it; empty: that the skill's instructions tell. */
  description: string;
  /** Its result may end the run by the final-result protocol. */
  may_finish?: boolean;
}

/** Which tool calls run, which ask first and which are denied. */
export interface TrajectoryPermissions {
  /** Who answers the questions of this run. */
  answers: TrajectoryAnswers;
  /** Tools that write files of the workspace. Default: `ask` if a person answers, otherwise `allow`. */
  workspace: TrajectoryRule | null;
  /** Tools that write to a folder on the user's disk. Default: `ask`. */
  folder: TrajectoryRule | null;
  /** Tools that reach the network. Default: `ask`. */
  network: TrajectoryRule | null;
  /** Tools that change the page. Default: `ask`. */
  page: TrajectoryRule | null;
  /** Rules for single tools, by name. They take precedence over the others. */
  tools?: Record<string, TrajectoryRule>;
  /**
   * Rules for the hosts that calls go to: a host (`docs.example.org`), all hosts below one (`*.example.org`), or an origin
   * (`http://127.0.0.1:8123`). The most exact one decides. They take precedence over the rule for the network, not over
   * that of a tool.
   */
  hosts?: Record<string, TrajectoryRule>;
  /** The folders on the user's disk that are part of the workspace, by name: a call that writes below one touches `folder`. */
  folders?: string[];
}

/** Who answers the questions of a run. */
export type TrajectoryAnswers = "nobody" | "page" | "all";

/** What happens to a call before it runs. */
export type TrajectoryRule = "ask" | "allow" | "deny";

/** Bounds of a run. Times in milliseconds. */
export interface TrajectoryLimits {
  tool_timeout_ms: number;
  parallel_tools: number;
  tool_calls_per_turn: number;
  max_result_chars: number;
  /** Maximum number of sub-agents per run. */
  children: number;
  /** Wall time of a sub-agent, after which it concludes. */
  child_ms: number;
  /** Deadlines of one request, counted from its release: response headers, the first part of a reply, all of it. */
  headers_ms: number;
  first_token_ms: number;
  request_ms: number;
  /** Longest pause in a stream. */
  idle_ms: number;
  /** Wall time of a segment, after which it wraps up. */
  wall_ms?: number;
  /** Input and output tokens of the whole run, after which it wraps up. */
  tokens?: number;
  /** US dollars of the whole run, after which it wraps up. */
  cost?: number;
  /**
   * The model's context window. Requests that would not fit leave out the oldest tool results, then the oldest turns; if that is not
   * enough, the run wraps up.
   */
  context_tokens?: number;
}

/** Waits before a request is sent again, in milliseconds. */
export interface TrajectoryRetry {
  base_ms: number;
  cap_ms: number;
  /**
   * First wait after `rate_limited` if the server does not say how long; doubles with each attempt, up to
   * `retry_after_cap_ms`.
   */
  rate_limit_ms: number;
  /** If a server asks for a longer wait, the run ends and reports the time. */
  retry_after_cap_ms: number;
}

/** The run a branch comes from, and its first own turn. */
export interface TrajectoryParent {
  run_id: string;
  turn: number;
}

/** A picture for the model to look at, or a PDF for it to read. Kept whole, so that a record replays. */
export interface TrajectoryImage {
  /** `image/png`, `image/jpeg`, `image/webp` or `image/gif`, which all providers with vision accept, or `application/pdf`. */
  media_type: string;
  /** Its bytes in base64. */
  data: string;
}

/** One message of the history. */
export type TrajectoryMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string; images?: TrajectoryImage[] }
  | { role: "assistant" } & AssistantMessage
  | { role: "tool" } & ToolMessage;

/** A model's reply as it entered the history. */
export interface AssistantMessage {
  content: string;
  reasoning?: string;
  tool_calls?: ToolCall[];
  /** Data that the provider needs back unchanged (thinking signatures). */
  opaque?: any;
  /**
   * Which model wrote it; `None`: unknown, as in a conversation that was passed in. What only that model can read goes back to it
   * alone. Not part of a request's hash: it decides how a server reads the conversation, not what was said.
   */
  from?: TrajectoryAuthor;
}

/**
 * A tool call in the history: the id is the engine's (unique in the run), the arguments are the
 * model's own JSON text.
 */
export interface ToolCall {
  id: CallId;
  name: string;
  arguments: string;
  /**
   * The model's own id, if that is another one and the model gave it to no other call: it goes back to that model as it came
   * (kimchi#1063: Kimi reads the function's name from it). Not part of a request's hash, as `from`.
   */
  wire_id?: string;
  /**
   * The arguments with which it ran, if the model's text had to be repaired first: they go back in place of that text. Not part of a
   * request's hash either: records of before replay.
   */
  repaired?: string;
}

/** A tool call's id, unique in the run, of `[A-Za-z0-9_-]`. */
export type CallId = string;

/** The model that wrote a message, as its provider was set. */
export interface TrajectoryAuthor {
  kind: ProviderKind;
  base_url: string;
  model: string;
}

/** The answer to one tool call, as the model reads it: counter line included. */
export interface ToolMessage {
  call_id: CallId;
  name: string;
  content: string;
  /** Pictures and PDFs from the tool, for models that accept them in a tool result. */
  images?: TrajectoryImage[];
  is_error?: boolean;
}

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMillis = number;

/** What ended the segment. */
export type TerminationReason =
  | "llm_complete"
  | "final_result"
  | "final_report"
  | "llm_error"
  | "retries_exhausted"
  | "max_turns_exhausted"
  | "cancelled"
  | "max_turns_synthesized"
  | "max_turns_synthesis_failed"
  | "stop_synthesized"
  | "stop_synthesis_failed"
  | "context_synthesized"
  | "context_synthesis_failed"
  | "wall_time_synthesized"
  | "wall_time_synthesis_failed"
  | "tokens_synthesized"
  | "tokens_synthesis_failed"
  | "cost_synthesized"
  | "cost_synthesis_failed";

export type Outcome = "success" | "partial" | "failed" | "cancelled";

/** Who wrote the report. */
export type AnswerSource = "model" | "tool" | "synthesis" | "system";

/** What asked for the wrap-up. */
export type Trigger = "max_turns" | "stop" | "context" | "wall_time" | "tokens" | "cost";

/** Token usage of one reply. `input` includes `cached`, `output` includes `reasoning`. */
export interface Usage {
  input: TokenCount;
  output: TokenCount;
  cached: TokenCount;
  reasoning: TokenCount;
  /** Whether the numbers are estimates because the provider reported none. */
  estimated: boolean;
}

/** Tokens as the provider counts them, or an estimate marked as such. */
export type TokenCount = number;

/** One turn in the trajectory. */
export interface TrajectoryTurn {
  turn: number;
  content: string;
  reasoning?: string;
  tool_calls: TrajectoryCall[];
  attempts: TrajectoryAttempt[];
  counter_level: CounterLevel;
  /** The turn whose reply (or tool result) became the report. */
  final: boolean;
  synthesis: boolean;
  /** RFC 3339, UTC, milliseconds. */
  started_at: string;
}

/** One tool call and its answer, as the model saw it. */
export interface TrajectoryCall {
  id: CallId;
  /** The model's id of the call, if it was replaced. */
  model_id?: string;
  name: string;
  /** Parsed (and repaired) JSON, or the model's text if it is not JSON. */
  args: any;
  /** As the model saw it, counter line included; omitted while the call is open. */
  result: string | null;
  /** The same result as data, if the tool returned any. The model does not see it. */
  structured_content?: any;
  /** The calls inside a batch, or those that a program made, in order. */
  calls?: TrajectoryCall[];
  /** Run ids of the sub-agents it started, in order: their documents are the run's `children`. */
  children?: string[];
  /** The result carried an accepted final result. */
  is_final: boolean;
  error?: string;
  slug?: Slug;
  /** Attempt of the turn that asked for the call. */
  attempt: number;
  /** Since the run started. */
  started_ms: number;
  duration_ms: number | null;
}

/**
 * Why an attempt, a tool call or a run failed. The set is open: later versions may add to it.
 * `docs/retries.md` lists those in use.
 */
export type Slug = string;

/** One LLM request of a turn. */
export interface TrajectoryAttempt {
  attempt: number;
  request: RequestId;
  /** Index into the provider list. */
  provider: number;
  /** Why it failed, most significant slug first; empty: it did not fail. */
  slugs: Slug[];
  /** Why it failed, for users. */
  error?: string;
  /** What its refusal taught the run: the further requests to this provider are changed so. */
  correction?: Correction;
  /** Hex SHA-256, chained. */
  request_hash: string;
  usage?: Usage;
  /** Since the run started. */
  started_ms: number;
  /** Nothing while the request is open. */
  duration_ms: number | null;
  first_token_ms?: number;
  /** The wait before this attempt, if there was one. */
  waited_ms?: number;
  /** The system notice this request carried. */
  notice?: string;
  /** How many of the oldest messages of the conversation this request left out to fit the context window. */
  left_out?: number;
  /** What had been streamed when stop, cancel or a limit aborted the request. Never part of the history. */
  partial?: TrajectoryPartial;
}

/** One LLM request of a run, counted from 1. Stale ids do nothing. */
export type RequestId = number;

/** A change to the requests to one provider. */
export type Correction =
  | "no_usage_flag"
  | "other_limit_name"
  | "no_sampling"
  | "no_effort"
  | { effort: ReasoningEffort }
  | "no_tool_choice"
  | "declare_tools"
  | "send_thoughts"
  | "drop_thoughts"
  | "one_system_message"
  | "no_system_message"
  | "alternate_roles"
  | "nine_character_ids"
  | "plain_ids"
  | "empty_text"
  | "no_opaque"
  | "no_images"
  | "plain_schemas";

/** The beginning of a reply whose request was aborted, as it was streamed. */
export interface TrajectoryPartial {
  content: string;
  reasoning?: string;
}

/** The turn counter's urgency. */
export type CounterLevel = "normal" | "moderate" | "urgent" | "off";

/** How a segment ended. */
export interface Ending {
  termination_reason: TerminationReason;
  outcome: Outcome;
  answer_source: AnswerSource;
  max_turns: number;
  effective_max_turns: number;
  total_turns: number;
  /** The trigger of the wrap-up, if there was one. */
  wrap_up?: Trigger;
  /** The last error, if the run failed. */
  error?: string;
  /** The report. */
  output: string;
  final_result_data?: any;
  /** The accepted report as JSON, where its format is `json` or `slack`. */
  report_data?: any;
  /** RFC 3339, UTC, milliseconds. */
  finished_at: string;
}

/** A noteworthy step of the engine. */
export interface TrajectoryTrace {
  name: string;
  at_ms: number;
  turn: number;
  data?: any;
}

/** `WRN` for each failed attempt, and for each setting that is sent differently (attempt 0, no slug); `ERR` for a failed run. */
export interface TrajectoryLog {
  level: LogLevel;
  at_ms: number;
  turn: number;
  attempt: number;
  slugs: Slug[];
  message: string;
  provider: string;
  model: string;
  raw?: TrajectoryRaw;
}

export type LogLevel = "WRN" | "ERR";

/** A raw response as received, cut if it is too long (`RAW_CAP`). */
export interface TrajectoryRaw {
  text: string;
  truncated?: boolean;
}

/** One input of the engine, as recorded. */
export interface RecordedEvent {
  /** Counted from 1. */
  seq: number;
  at_ms: Millis;
  event: TrajectoryEvent;
}

/** Milliseconds since the run started (`events[].at_ms`). */
export type Millis = number;

/** One input of the engine. Events that name an id which is no longer open do nothing. */
export type TrajectoryEvent =
  | {
      type: "model_replied";
      request: RequestId;
      reply: TrajectoryReply;
      /** The response as received; kept in the record only if the attempt failed. */
      raw?: TrajectoryRaw;
      /** Milliseconds from sending to the first streamed token. */
      first_token_ms?: number;
    }
  | { type: "model_failed"; request: RequestId; error: TrajectoryModelError; raw?: TrajectoryRaw }
  | { type: "model_streamed"; request: RequestId; partial: TrajectoryPartial }
  | { type: "tool_finished"; call: CallId; outcome: ToolOutcome }
  | {
      type: "tool_asked";
      /** The program's own call. */
      call: CallId;
      name: string;
      /** JSON text. */
      arguments: string;
    }
  | { type: "permitted"; call: CallId; allow: boolean; scope: TrajectoryPermissionScope }
  | { type: "permissions_set"; permissions: TrajectoryPermissions }
  | { type: "timer_fired"; timer: TimerId }
  | { type: "stop_requested" }
  | {
      type: "cancelled";
      /**
       * Whether the report is the text that had arrived. Omitted in records of earlier versions, whose report only says that the
       * run was cancelled.
       */
      keeps_text?: boolean;
    }
  | { type: "turns_granted"; turns: number }
  | {
      type: "resumed";
      at: EpochMillis;
      /** Who decides from here on; omitted: the run belongs to whoever resumes it, so nothing changes. */
      authority?: TrajectoryAuthority;
    }
  | { type: "branched" } & TrajectoryBranch;

/** A reply whose end marker was seen. */
export interface TrajectoryReply {
  content: string;
  reasoning?: string;
  tool_calls?: TrajectoryRawCall[];
  finish: FinishReason;
  usage?: Usage;
  /** Provider parts that must be sent back unchanged. */
  opaque?: any;
  /** The provider's id of the reply, and the model that answered. */
  id?: string;
  model?: string;
}

/** A tool call exactly as the model sent it: the id may be empty or repeated, the arguments may be no JSON. */
export interface TrajectoryRawCall {
  id: string;
  name: string;
  arguments: string;
}

/** Why the model stopped, in the usual terms. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "paused";

/** A request without a reply. */
export interface TrajectoryModelError {
  slug: Slug;
  /** For users: what happened and what to try. */
  message: string;
  /** HTTP status, if there was one. */
  status?: number;
  /** What `Retry-After` or `retry-after-ms` asked for, in milliseconds. */
  retry_after_ms?: number;
  retry: Retry;
}

/** Whether the same request may be sent again. */
export type Retry = "yes" | "fatal" | { with: Correction };

/** How one tool call ended. */
export type ToolOutcome =
  | {
      status: "executed";
      content: string;
      /** Pictures and PDFs that belong to the answer. */
      images?: TrajectoryImage[];
      /** The arguments it ran with, if they had to be repaired first. */
      repaired_args?: any;
      /**
       * The same result as data, for the program around the run. It is never sent to the model. At most
       * `super::caps::MAX_STRUCTURED_CONTENT` bytes.
       */
      structured_content?: any;
    }
  | { status: "rejected"; slug: Slug; path?: string; message: string }
  | { status: "failed"; message: string }
  | { status: "timed_out"; after_ms: number }
  | { status: "cancelled" }
  | { status: "stopped" };

/** How far an answer reaches. */
export type TrajectoryPermissionScope = "call" | "host" | "tool" | "run";

/** One wait of a run. Stale ids do nothing. */
export type TimerId = number;

/**
 * What whoever continues a recorded run brings along: it replaces what the record says, and of two limits the smaller one
 * counts.
 */
export interface TrajectoryAuthority {
  /** The models that are called from here on. */
  providers: TrajectoryProvider[];
  /** The tools that the adopter has. A tool of the record stays if one of these has its name, and then it is this one. */
  tools: TrajectoryTool[];
  /** The same of skills. */
  skills?: TrajectorySkill[];
  permissions: TrajectoryPermissions;
  limits: TrajectoryLimits;
  retry: TrajectoryRetry;
  max_turns: number;
  max_attempts: number;
  /** Requests for the synthesis, retries included. */
  synthesis_attempts: number;
}

/** A branch: its origin, and what changes from here on. */
export interface TrajectoryBranch {
  /** The new run's own ids: a branch is not a follow-up. */
  run_id: string;
  session_id: string;
  parent: TrajectoryParent;
  /** When it began. */
  at: EpochMillis;
  providers?: TrajectoryProvider[];
  limits?: TrajectoryLimits;
  /**
   * Who decides from here on; its models and limits take precedence over the ones above. Omitted in records made before
   * there were authorities.
   */
  authority?: TrajectoryAuthority;
  /** Another system message. */
  system?: string;
  max_turns?: number;
  /** A user message inserted before the turn. */
  say?: string;
  /** Replaces the model's reply in the turn. It counts as a request, although none is sent. */
  reply?: TrajectoryReply;
  /** The call before the turn whose result was changed by hand; the events before this one contain the new result. */
  edited?: CallId;
}

/** A note that somebody added to a turn. Replay ignores it. */
export interface TrajectoryNote {
  /** The turn's number, as in `turns`. */
  turn: number;
  /** Plain text. */
  text: string;
  /** When it was written or last changed, RFC 3339. */
  at: string;
}

/** Events of a run, as the engine emits them. */
export type RunEvent = {
  /** Sub-agents count their own turns. */
  turn: number;
  /** Maximum number of LLM requests still to come. */
  callsLeft: number;
  /** The step that the run belongs to, if it is part of a plan. */
  step?: number;
} & (
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text: string }
  | {
      type: "child";
      /** Counts from 1 across the run. */
      child: number;
      /** An event of the sub-agent. */
      event: RunEvent;
    }
  | { type: "run_started"; runId: string; sessionId: string; task: string; maxTurns: number }
  | { type: "turn_started"; synthesis: boolean }
  | { type: "attempt_started"; attempt: number; request: RequestId }
  | { type: "attempt_failed"; attempt: number; slugs: Slug[]; message: string }
  | { type: "tool_started"; id: CallId; name: string; args: any }
  | { type: "tool_finished"; call: TrajectoryCall }
  | { type: "turn_finished"; record: TrajectoryTurn }
  | { type: "waiting"; attempt: number; ms: number; slugs: Slug[]; message: string }
  | { type: "synthesis_started"; trigger: Trigger }
  | { type: "trace"; trace: TrajectoryTrace }
  | { type: "log"; log: TrajectoryLog }
  | { type: "progress"; status: string; detail: string | null }
  | { type: "final"; output: string; answerSource: AnswerSource; finalResultData: any }
  | { type: "agent_finished"; ending: Ending }
  | { type: "agent_failed"; ending: Ending }
);

/**
 * The complete record of a plan run, a plain, JSON-safe object: the plan, and for each step its status, the context it
 * received and its complete run. Its JSON Schema ships with the project.
 */
export interface PlanSession {
  format: "turnwise-session";
  version: 1;
  engine_version: string;
  plan_id: string;
  session_id: string;
  plan: Plan;
  /** RFC 3339; `started_ms` is the same time in milliseconds since 1970. */
  started_at: string;
  started_ms: EpochMillis;
  finished_at: string | null;
  /** `null` while it runs. */
  ending: PlanEnding | null;
  /** LLM requests sent, and tokens used, by all steps. */
  requests: number;
  tokens: Usage;
  /** In ascending order. */
  steps: PlanSessionStep[];
  traces: PlanTrace[];
}

/** How a plan ended. */
export interface PlanEnding {
  /** `success`: every step completed; `partial`: some did; `failed`: none did; `cancelled`: the user cancelled it. */
  outcome: Outcome;
  /** The result of the last completed step. */
  output: string;
  /** The order of that step. */
  output_step: number | null;
  completed: number;
  failed: number;
  blocked: number;
  cancelled: number;
  /** `stop`, if the user stopped it. */
  wrap_up?: "stop";
  /** RFC 3339, UTC, milliseconds. */
  finished_at: string;
}

/** One step: its status, the context it received, and its complete run. */
export interface PlanSessionStep {
  order: number;
  agent: string;
  kind: AgentKind;
  status: StepStatus;
  /** Steps that did not complete and block this one. */
  blocked_by: number[];
  /** The context in the first message of the run. */
  context: PlanContext;
  /** Why it failed. */
  error?: string;
  /** `null` if it was never started. */
  run: Trajectory | null;
}

/** The kind of context that an agent's steps receive. */
export type AgentKind = "gather" | "synthesis";

/** The status of a step. Each step ends in exactly one of the last four. */
export type StepStatus = "pending" | "running" | "completed" | "failed" | "blocked" | "cancelled";

/** The context of a step from earlier ones: at most one of the two keys. */
export interface PlanContext {
  dependency_artifacts?: PlanArtifact[];
  session_context?: PlanArtifact[];
}

/** The information that a later step receives about a completed one. */
export interface PlanArtifact {
  step_order: number;
  agent: string;
  action: string;
  tools: string[];
  /** The report of the step's run. */
  result: string;
}

/**
 * A trace of the scheduler: whether a step is a synthesis step, how many previous steps were found, each
 * one that was added, and the total.
 */
export interface PlanTrace {
  name: string;
  /** Empty in records of older versions, which did not write it. */
  plan_id: string;
  /** Milliseconds since the plan started. */
  at_ms: number;
  /** The order of the step it refers to. */
  step: number;
  data?: any;
}

/** Events of a plan, except those of its steps' runs. `step` is `null` for the plan as a whole. */
export type PlanOwnEvent = {
  step: number | null;
  /** Maximum number of LLM requests of the whole plan still to come. */
  callsLeft: number;
} & (
  | {
      type: "plan_started";
      planId: string;
      sessionId: string;
      plan: Plan;
      /** Steps that had ended in an earlier run of the plan and are not run again. */
      kept: number[];
    }
  | { type: "step_started"; agent: string; kind: AgentKind; runId: string; context: PlanContext }
  | { type: "plan_trace"; trace: PlanTrace }
  | { type: "step_finished"; status: StepStatus; blockedBy: number[]; output: string | null; error: string | null }
  | { type: "plan_finished"; ending: PlanEnding }
);

/** The figures of one run, including its sub-agents: a plain, JSON-safe object. */
export interface RunSummary {
  run_id: string;
  session_id: string;
  /** The first non-empty line of the task, at most 120 characters. */
  title: string;
  /** The model of the first provider. */
  model: string;
  provider: ProviderKind;
  preset: Preset;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  started_ms: number;
  /** When the last segment ended; `null`: the run is in progress, or was when its record was written. */
  finished_ms: number | null;
  /** From the start to the end of the last segment, including waits for the user between segments. */
  duration_ms: number | null;
  termination_reason: TerminationReason | null;
  outcome: Outcome | null;
  answer_source: AnswerSource | null;
  max_turns: number;
  /** The limit after collapse and grants. */
  effective_max_turns: number;
  /** As the trajectory counts them, including a numbered synthesis. */
  total_turns: number;
  /** The number of the last turn that was not a synthesis: the used part of `effective_max_turns`. */
  turns_used: number;
  requests: number;
  /** Failed attempts, counted by their most significant slug: one per `WRN` record. */
  failed_attempts: Record<string, number>;
  /** Tool calls. Calls inside a batch count individually; the batch itself does not count. */
  tool_calls: number;
  /** Failed calls by slug. Stopped or cancelled calls did not fail. */
  tool_failures: Record<string, number>;
  tokens: Usage;
  /** US dollars; `null`: the price of a provider is unknown. */
  cost: number | null;
  /** Sub-agents that were started. */
  children: number;
}

/** Selects runs: a run must match every field that is given. */
export interface InsightFilter {
  /** Started at this time or later; milliseconds since 1970. */
  fromMs?: number;
  /** Started before this time. */
  toMs?: number;
  /** The full name. */
  model?: string;
  preset?: Preset;
  outcome?: InsightOutcome;
  terminationReason?: TerminationReason;
  /** Part of the title, the model or an id; letter case is ignored. */
  text?: string;
}

/** An outcome, or `unfinished` if there is none yet. */
export type InsightOutcome = "success" | "partial" | "failed" | "cancelled" | "unfinished";

/** Figures over the runs that pass a filter: a plain, JSON-safe object. */
export interface Insight {
  /** Runs that pass the filter. */
  runs: number;
  /** All runs. */
  of: number;
  /** Runs that have ended. */
  ended: number;
  /** Runs by outcome, `success`, `partial`, `failed`, `cancelled`, and `unfinished`. */
  outcomes: Record<string, number>;
  /** The share of ended runs whose outcome is `success`, 0 to 1; `null`: no run has ended. */
  success_share: number | null;
  /** Turns used, not counting the synthesis. */
  turns: InsightFigure;
  /** Input plus output tokens per run. */
  tokens: InsightFigure;
  /** Tokens of all runs. */
  usage: Usage;
  /** US dollars, over the runs whose prices are known. */
  cost: InsightFigure;
  /** Milliseconds, over the runs that have ended. */
  duration_ms: InsightFigure;
  requests: number;
  failed_attempts: number;
  tool_calls: number;
  sub_agents: number;
  /** The most frequent first. */
  reasons: InsightReason[];
  limit: InsightLimit;
  /** Failed attempts, the most frequent first. */
  retries: InsightFailures[];
  /** Failed tool calls, the most frequent first. */
  tool_failures: InsightFailures[];
  /** The scope of a point of `series`. */
  step: InsightStep;
  series: InsightPoint[];
  /** The values that can be filtered by, over all runs. */
  choices: InsightChoices;
}

/** One number over several runs; percentiles by nearest rank. */
export interface InsightFigure {
  /** The number of runs for which it is known. */
  known: number;
  total: number;
  /** The value of one of the runs; 0 if it is not known for any run. */
  median: number;
  p95: number;
  max: number;
}

/** The number of runs that ended for a reason. */
export interface InsightReason {
  /** `null`: the runs have not ended, or their records were written before they ended. */
  reason: TerminationReason | null;
  outcome: Outcome | null;
  count: number;
  /** The share of the runs that pass the filter, 0 to 1. */
  share: number;
}

/** Turns used relative to the limit that was in force at the end. */
export interface InsightLimit {
  /** Runs that used all their turns. */
  reached: number;
  /** Runs by tenths of the limit used, below 10 % first; the last bin holds the runs that used all of it. */
  bins: InsightBin[];
}

/** The runs of one bin, by outcome. */
export interface InsightBin {
  success: number;
  partial: number;
  failed: number;
  /** Cancelled or not ended. */
  other: number;
}

/** The number of failures with one slug. */
export interface InsightFailures {
  slug: string;
  count: number;
  /** Runs in which it happened. */
  runs: number;
}

/** The scope of one point: a run or a time interval. */
export type InsightStep =
  | "run"
  | "minute"
  | "ten_minutes"
  | "hour"
  | "six_hours"
  | "day"
  | "week"
  | "four_weeks"
  | "year";

/** One run, or the runs that began in a time interval. Values are sums; divide by `runs` for the mean per run. */
export interface InsightPoint {
  /** Start of the run or of the interval, in milliseconds since 1970; intervals are aligned to UTC. */
  at_ms: number;
  runs: number;
  /** Only for a single run. */
  run_id?: string;
  title?: string;
  outcome?: Outcome;
  success: number;
  tokens_in: number;
  tokens_out: number;
  /** US dollars of the runs whose prices are known; `null`: no price is known. */
  cost: number | null;
  /** The total for the runs that have ended; `ended` is the number of these runs. */
  duration_ms: number;
  ended: number;
}

/** The values that occur, with the number of runs that have each; the most frequent first. */
export interface InsightChoices {
  models: InsightChoice[];
  presets: InsightChoice[];
  outcomes: InsightChoice[];
  reasons: InsightChoice[];
}

/** A value and the number of runs that have it. */
export interface InsightChoice {
  value: string;
  count: number;
}

/** The first difference between the record and the run that the engine derives from its events. */
export interface ReplayDifference {
  /** The turn that differs; `null`: the difference is not in a turn. */
  turn: number | null;
  /** The part that differs, as a JSON Pointer into the document. */
  path: string;
  expected: any;
  actual: any;
  /** The engine version that recorded the document, if it is not this one: differences are then expected. */
  recorded_by: string | null;
}

/** The formats a trajectory can be exported to. `docs/trajectory.md` describes each. */
export type ExportFormat = "native" | "html" | "markdown" | "atif" | "otlp" | "openai-jsonl" | "mini-swe-agent";

/** Information about a site. */
export interface DocsInfo {
  kind: DocsKind;
  title: string;
  /** Its address, ending with `/`. */
  root: string;
  /** Number of pages that are known. */
  pages: number;
  /** Number of pages whose text was read, those nearest to the open page first; the others are known by their titles. */
  read: number;
  sections: number;
  /** Changes when the site's texts change, as far as that can be detected from outside. */
  version: string;
  /** Whether it was cached by an earlier visit. */
  cached: boolean;
  /** Whether all its pages within the limits were read. */
  complete: boolean;
  /** Whether only the open page could be read, as the browser shows it: without its scripts, the site gives no text. */
  shell: boolean;
}

/** The generator of a site. */
export type DocsKind =
  | "mdbook"
  | "mkdocs"
  | "sphinx"
  | "rustdoc"
  | "vitepress"
  | "docusaurus"
  | "starlight"
  | "vuepress"
  | "antora"
  | "doxygen"
  | "javadoc"
  | "jsdoc"
  | "typedoc"
  | "pdoc"
  | "docsify"
  | "pages";

/** What a search found. */
export interface DocsFound {
  /** The best sections, best first. */
  hits: DocsHit[];
  /** The words of the query that occur nowhere in what was read of the site, as they were written. */
  missing: string[];
  /** How well the best section fits the query. */
  match: DocsMatch;
}

/** A section that was found. */
export interface DocsHit {
  /** The section's own address, if the site has one for it. */
  url: string;
  /** Title of its page. */
  page: string;
  /** Its headings from the page down, joined by ` › `; empty for the page's beginning. */
  section: string;
  snippet: string;
  score: number;
}

/** How well the best section fits a query. A guess by its words: a weak match may be the answer in other words. */
export type DocsMatch = "strong" | "weak" | "none";

/** The `structured_content` of a result of `search_docs`. */
export interface SearchDocsContent {
  /** Best first. */
  hits: DocsSection[];
  /** The words of the query that occur nowhere in what was read of the site, as they were written. */
  missing: string[];
  /** How well the best section fits the query. */
  match: DocsMatch;
}

/** A section that `search_docs` found or `read_page` read. */
export interface DocsSection {
  /** The section's own address, if the site has one for it. */
  url: string;
  /** Title of its page. */
  page: string;
  /** Its headings from the page down, joined by ` › `; empty for the page's beginning. */
  section: string;
}

/** The `structured_content` of a result of `read_page`. */
export interface ReadPageContent {
  url: string;
  /** Its title. */
  page: string;
  /** The sections in the result, in order. */
  sections: DocsSection[];
  /** SHA-256 of the whole page as Markdown, in hexadecimal: two results with the same one read the same text. */
  sha256: string;
}

export interface DocsProgress {
  stage: DocsStage;
  /** The URL being read. */
  source: string;
  done: number;
  total: number;
}

/** The progress of reading. */
export type DocsStage = "finding" | "loading" | "indexing" | "ready";

/**
 * A block or inline element of a Markdown text: an object with one key, or a string. No node carries markup; every `href`
 * is http(s), mailto or relative; no node makes a browser load anything.
 */
export type MarkdownNode =
  | { paragraph: MarkdownNode[] }
  | {
      heading: {
        /** 1 to 6. */
        level: number;
        children: MarkdownNode[];
      };
    }
  | {
      list: {
        /** The first number of an ordered list. */
        start?: number;
        items: MarkdownItem[];
      };
    }
  | {
      code_block: {
        /** The first word after the fence. */
        lang?: string;
        spans: CodeSpan[];
      };
    }
  | { quote: MarkdownNode[] }
  | { table: MarkdownTable }
  | "rule"
  | { text: string }
  | { strong: MarkdownNode[] }
  | { emphasis: MarkdownNode[] }
  | { strike: MarkdownNode[] }
  | { code: string }
  | {
      formula: {
        tex: string;
        /** In a line of its own. */
        display?: boolean;
      };
    }
  | { link: { href: string; children: MarkdownNode[] } }
  | { image: { alt: string; href?: string } }
  | { footnote_mark: number }
  | "break";

/** One item of a list. */
export interface MarkdownItem {
  task?: MarkdownTask;
  /** Set for a footnote: its number. */
  footnote?: number;
  children: MarkdownNode[];
}

/** The checkbox of a task item. */
export type MarkdownTask = "open" | "done";

/** A run of code with one highlighting class. */
export interface CodeSpan {
  class?: CodeClass;
  text: string;
}

/** The class of a run of code. */
export type CodeClass =
  | "comment"
  | "string"
  | "number"
  | "keyword"
  | "function"
  | "type"
  | "constant"
  | "name"
  | "inserted"
  | "deleted";

/** A table. Rows may be shorter than the header: empty cells at the end are left out. */
export interface MarkdownTable {
  align: MarkdownAlign[];
  head: MarkdownNode[][];
  rows: MarkdownNode[][][];
}

export type MarkdownAlign = "none" | "left" | "center" | "right";

export type BuiltInTool =
  | "search_files"
  | "read_file"
  | "list_files"
  | "write_file"
  | "edit_file"
  | "diff_files"
  | "query_table"
  | "query_json"
  | "read_result"
  | "calculate"
  | "now"
  // Not in the safe set: an agent has them only if it names them.
  | "progress_report"
  | "batch"
  | "spawn_subagents"
  | "run_code"
  | "fetch_url"
  | "search_web";
