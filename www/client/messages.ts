// What a page and the agent's worker say to each other. Made of the Rust types: UPDATE=1 cargo test --test native types::
import type { DocsInfo, DocsProgress, ExportFormat, PlanOwnEvent, RunEvent, SideEffect, TrajectoryMessage, TrajectorySkill, TrajectoryTool } from './types/records';

/** Messages from the page. */
export type Command =
  | {
      hello: {
        protocol: number;
        /** The page's address: relative addresses are resolved against it. There is none in Node.js. */
        page?: string;
        /** URL of `worker.js`, unless an agent sets another. Default: the one known to this worker's own script. */
        worker?: string;
        /** Set in a frame that pages of other origins drive: requests to its own origin must be below this address. */
        only?: string;
      };
    }
  | { open: { agent: AgentId; options: AgentOptions } }
  | { tool: { agent: AgentId; tool: TrajectoryTool } }
  | { untool: { agent: AgentId; name: string } }
  | { skills: { agent: AgentId; skills: TrajectorySkill[] } }
  | { files: { agent: AgentId; files: AgentFileChange[] } }
  | { app: { parts: number } }
  | {
      run: {
        id: AskId;
        agent: AgentId;
        task: string;
        /** Data URLs. */
        images: string[];
        after: boolean;
        /** The conversation so far, if it does not come from a trajectory. */
        history?: TrajectoryMessage[];
        how: Listening;
      };
    }
  | { resume: { id: AskId; agent: AgentId; how: Listening } }
  | { branch: { id: AskId; agent: AgentId; how: Listening } }
  | { checkpoint: { id: AskId; agent: AgentId } }
  | { grant: { id: AskId; agent: AgentId; turns: number; how: Listening } }
  | {
      plan: {
        id: AskId;
        agent: AgentId;
        plan: unknown;
        parallel?: number;
        from?: number;
        after: boolean;
        how: Listening;
      };
    }
  | { stop: { agent: AgentId } }
  | { cancel: { agent: AgentId } }
  | { close: { agent: AgentId } }
  | {
      document: {
        id: AskId;
        task: DocumentTask;
        /** The name of the record in the page's code, for errors. */
        name: string;
      };
    }
  | { render: { id: AskId; markdown: string; workerUrl?: string } }
  | {
      page: {
        id: AskId;
        /** Its address, after redirects. */
        url: string;
        contentType: string;
      };
    }
  | { models: { id: AskId; provider: ProviderOptions } }
  | {
      docs_open: {
        id: AskId;
        site: SiteId;
        page: string;
        html?: string;
        source?: string;
        cache: boolean;
        credentials: boolean;
        /** Whether the host page fetches resources from the origin of `page` (`fetch`). */
        bridged?: boolean;
        workerUrl?: string;
      };
    }
  | { docs_search: { id: AskId; site: SiteId; query: string; limit: number } }
  | { docs_call: { id: AskId; site: SiteId; name: string; arguments: unknown } }
  | { docs_close: { site: SiteId } }
  | { returned: { call: CallNumber; text?: string; images?: string[]; structuredContent?: string } }
  | { failed: { call: CallNumber; failure: Failure } }
  | { head: { call: CallNumber; head: ResponseHead } }
  | {
      asked: {
        call: CallNumber;
        name: string;
        /** JSON text. */
        arguments: string;
      };
    }
  | { piece: { call: CallNumber } };

/** The number that the page gave to an agent. */
export type AgentId = number;

/** The options of an agent. */
export interface AgentOptions {
  /** The differences from the preset's configuration (`TrajectoryConfig`). `null` switches `counter` or `synthesis` off. */
  config: Record<string, unknown>;
  /** Names of built-in tools. Default: the safe set. */
  tools?: string[];
  /** One entry for each of the configuration's providers, in the same order. */
  access: AccessOptions[];
  workerUrl?: string;
}

/** A provider's credentials. */
export interface AccessOptions {
  apiKey?: string;
  headers?: [string, string][];
  /** The page calls the model itself. */
  inPage?: boolean;
}

/** A change to one of an agent's files. */
export interface AgentFileChange {
  path: string;
  /** Whether the file still exists; if so, it has a part. */
  there: boolean;
}

/** The id of a message answered by `done` or `refused`; never reused. */
export type AskId = number;

/** Whether a run's events are sent, and how calls of tools with side effects are approved. */
export interface Listening {
  /** Whether anybody listens to `events`. */
  listens: boolean;
  approve: Approver;
}

/** Who answers whether calls may run. */
export type Approver = "nobody" | "ask" | "all" | "same";

/** Tasks on the text of a record. */
export type DocumentTask =
  | "replay"
  | "resume"
  | "branch"
  | { export: ExportFormat }
  | "import"
  | "session"
  | "summarize"
  | "insight"
  | "figure"
  | "separated";

/** A model that is queried outside a run. */
export interface ProviderOptions {
  config: Record<string, unknown>;
  access: AccessOptions;
}

/** The number that the page gave to a site. */
export type SiteId = number;

/** The id of a request that the page answers by `returned` or `failed`; never reused. */
export type CallNumber = number;

/** An error that a function of the page threw. */
export interface Failure {
  message: string;
  /** The status of a server's response, if the error has it. */
  status?: number;
  /** The wait that the error asks for. */
  retryAfterMs?: number;
  /** A retry would not help. */
  fatal?: boolean;
  /** The conversation is too long for the model. */
  tooLong?: boolean;
  /** No server was reached, or the connection broke. */
  network?: boolean;
}

/** The beginning of a response that the page fetched. */
export interface ResponseHead {
  status: number;
  contentType: string;
  retryAfter?: string;
  retryAfterMs?: string;
  shouldRetry?: string;
  etag?: string;
  lastModified?: string;
  /** `X-Robots-Tag`. */
  robots?: string;
  /** The URL after redirects. */
  url?: string;
}

/** Messages from the worker. */
export type FromWorker =
  | {
      ready: {
        protocol: number;
        /** Version of the engine. */
        engine: string;
      };
    }
  | { fatal: { message: string } }
  | { done: { id: AskId; result?: unknown } }
  | {
      refused: {
        id: AskId;
        message: string;
        /** Whether the argument is wrong (`TypeError`); otherwise the message came at the wrong time. */
        wrong: boolean;
      };
    }
  | { events: { id: AskId; events: (RunEvent | PlanOwnEvent)[] } }
  | {
      call: {
        call: CallNumber;
        /** The agent that makes the request; omitted if it is not from an agent. */
        agent?: AgentId;
        what: PageRequest;
      };
    }
  | { answered: { call: CallNumber; asked: number; content: string; failed: boolean } }
  | { abort: { call: CallNumber } }
  | { wrote: { agent: AgentId; files: AgentFileChange[] } }
  | { app: { parts: number } }
  | { loading: Record<symbol, never> }
  | { blocked: { directive: string; uri: string } }
  | { site: { site: SiteId; progress?: DocsProgress; info?: DocsInfo } };

/** Requests to the page. */
export type PageRequest =
  | { tool: { name: string; args: unknown } }
  | {
      approve: {
        id: string;
        name: string;
        args: unknown;
        sideEffect: SideEffect;
        again: boolean;
        /** What the call would change in files, as a unified diff. */
        diff?: string;
        /** The number of lines at the end that a very long diff leaves out. */
        omittedLines?: number;
        /** The host that the call goes to, if that is known. */
        host?: string;
      };
    }
  | {
      code: {
        code: string;
        /** Of its random numbers. */
        seed: number;
        /** Its clock when it starts, in milliseconds since 1970. */
        at: number;
        /** The tools that it can call. */
        tools: string[];
        /** For the script of a skill: its arguments as JSON, which it sees as `input`. */
        input?: string;
      };
    }
  | { complete: { provider: number } }
  | { fetch: { url: string } };

/** A site that can be queried. */
export interface OpenedSite {
  info: DocsInfo;
  tools: TrajectoryTool[];
}
