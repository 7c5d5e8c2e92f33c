// What a page and the agent's worker say to each other: the shapes of src/protocol. A post is the JSON text of an array of
// messages, or an array of that text and then parts (bytes, blobs, long texts), which the messages that have parts take
// from the front, in order. The Rust side says which ones do.

export const VERSION = 1;

export const PRESETS = ['research', 'orchestrator', 'strict'] as const;
export const PROVIDER_KINDS = [
  'demo', 'openai', 'openai-responses', 'anthropic', 'gemini', 'openrouter', 'ollama', 'lmstudio', 'llamacpp', 'prompt-api', 'custom',
] as const;
/** Those of the safe set first, then those that are offered on request only. */
export const BUILT_IN_TOOLS = [
  'search_files', 'read_file', 'list_files', 'write_file', 'read_result', 'calculate', 'now', 'progress_report', 'batch', 'spawn_subagents',
] as const;
export const SIDE_EFFECTS = ['none', 'workspace', 'network', 'page'] as const;
export const REPORT_FORMATS = ['text', 'markdown', 'json', 'slack'] as const;
export const FORMATS = ['native', 'atif', 'otlp', 'openai-jsonl', 'mini-swe-agent', 'markdown', 'html'] as const;
/** Of a recorded trajectory. */
export const DOCUMENT_FORMAT = 'turnwise-trajectory';
export const DOCUMENT_VERSION = 1;
/** Where an agent keeps whole results of cut answers; no file of the page's. */
export const RESULTS = 'results/';
/** A tool's result, in bytes. */
export const MAX_RESULT = 4 * 1024 * 1024;
/** A path of a file, in bytes. */
export const MAX_PATH = 1024;

export type Preset = (typeof PRESETS)[number];
export type ProviderKind = (typeof PROVIDER_KINDS)[number];
export type SideEffect = (typeof SIDE_EFFECTS)[number];
export type Format = (typeof FORMATS)[number];

export type AgentId = number;
export type SiteId = number;
export type AskId = number;
export type CallNumber = number;

/** Keys are those of the recorded configuration, and only what was given is there. */
export type Config = Record<string, unknown>;

export interface Access {
  apiKey?: string;
  headers?: [string, string][];
  inPage?: boolean;
}

export interface AgentOptions {
  config: Config;
  tools?: string[];
  access: Access[];
  workerUrl?: string;
}

export interface ProviderOptions {
  config: Config;
  access: Access;
}

export interface ToolSpec {
  name: string;
  description: string;
  parameters: unknown;
  may_finish: boolean;
  side_effect: SideEffect;
}

export interface FileChange {
  path: string;
  there: boolean;
}

export type Approval = 'nobody' | 'ask' | 'all' | 'same';

export interface Listening {
  listens: boolean;
  approve: Approval;
}

export type DocumentTask = 'replay' | 'carry' | 'import' | 'session' | 'summarize' | 'insight' | { export: Format };

export interface Failure {
  message: string;
  status?: number;
  retryAfterMs?: number;
  fatal?: boolean;
  tooLong?: boolean;
}

export interface Head {
  status: number;
  contentType: string;
  retryAfter?: string;
  retryAfterMs?: string;
  shouldRetry?: string;
  etag?: string;
  lastModified?: string;
  url?: string;
}

/** What is answered by `done` or `refused`, without its `id`. */
export interface Asks {
  run: { agent: AgentId; task: string; images: string[]; after: boolean; how: Listening };
  grant: { agent: AgentId; turns: number; how: Listening };
  plan: { agent: AgentId; plan: unknown; parallel?: number; from?: number; after: boolean; how: Listening };
  document: { task: DocumentTask; name: string };
  render: { markdown: string; workerUrl?: string };
  models: { provider: ProviderOptions };
  docs_open: { site: SiteId; page: string; html?: string; source?: string; cache: boolean; credentials: boolean; bridged?: boolean; workerUrl?: string };
  docs_search: { site: SiteId; query: string; limit: number };
  docs_call: { site: SiteId; name: string; arguments: unknown };
}

/** What is not answered. */
export interface Tells {
  hello: { protocol: number; page?: string; worker: string; only?: string };
  open: { agent: AgentId; options: AgentOptions };
  tool: { agent: AgentId; tool: ToolSpec };
  files: { agent: AgentId; files: FileChange[] };
  stop: { agent: AgentId };
  cancel: { agent: AgentId };
  close: { agent: AgentId };
  docs_close: { site: SiteId };
  returned: { call: CallNumber; text?: string };
  failed: { call: CallNumber; failure: Failure };
  head: { call: CallNumber; head: Head };
  piece: { call: CallNumber };
}

export interface Progress {
  stage: 'finding' | 'loading' | 'indexing' | 'ready';
  source: string;
  done: number;
  total: number;
}

export interface Info {
  kind: 'mdbook' | 'mkdocs' | 'sphinx' | 'rustdoc' | 'vitepress' | 'docusaurus' | 'starlight' | 'pages';
  title: string;
  root: string;
  pages: number;
  sections: number;
  version: string;
  cached: boolean;
  complete: boolean;
}

/** The answer to `docs_open`. */
export interface Site {
  info: Info;
  tools: ToolSpec[];
}

/** An event of a run's or of a plan's. */
export interface Told {
  type: string;
  turn?: number;
  callsLeft: number;
  step?: number | null;
}

export type Wanted =
  | { tool: { name: string; args: unknown } }
  | { approve: { id: string; name: string; args: unknown; sideEffect: SideEffect; again: boolean } }
  | { complete: { provider: number } }
  | { fetch: { url: string } };

/** From the worker. */
export interface Heard {
  ready: { protocol: number; engine: string };
  fatal: { message: string };
  /** The worker's script runs, its module is still loading; told by the script, as the next one. */
  loading: Record<string, never>;
  /** What the host's policy kept the worker from. */
  blocked: { directive: string; uri: string };
  /** Without `result`: it is a part, the UTF-8 of its JSON. */
  done: { id: AskId; result?: unknown };
  refused: { id: AskId; message: string; wrong: boolean };
  events: { id: AskId; events: Told[] };
  call: { call: CallNumber; agent?: AgentId; what: Wanted };
  abort: { call: CallNumber };
  wrote: { agent: AgentId; files: FileChange[] };
  site: { site: SiteId; progress?: Progress; info?: Info };
}
