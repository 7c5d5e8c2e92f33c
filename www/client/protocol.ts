// The protocol between a page and the agent's worker. The messages are in messages.ts, which is generated from the Rust types
// in crates/protocol/src; this module indexes them by name and adds constants. A post is the JSON text of an array of messages, or an
// array of that text followed by parts (bytes, blobs, long texts), which the messages that have parts take from the front, in
// order. The Rust side documents which ones do.

import type { AskId, Command, FromWorker, PageRequest } from './messages';
import type { Preset, ReportFormat, SideEffect } from './types/records';

export type {
  AccessOptions, AgentId, AgentOptions, Approver, CallNumber, DocumentTask, Failure, AgentFileChange, ResponseHead, Listening, OpenedSite, SiteId, PageRequest,
} from './messages';
export { BUILT_IN_TOOLS, FORMATS, PROVIDER_KINDS } from './names';
export type { DocsInfo, ExportFormat, ProviderKind, SideEffect, TrajectoryMessage, TrajectorySkill, TrajectoryTool } from './types/records';

export const VERSION = 1;

export const PRESETS = ['research', 'orchestrator', 'strict'] as const satisfies readonly Preset[];
export const SIDE_EFFECTS = ['none', 'workspace', 'folder', 'network', 'page'] as const satisfies readonly SideEffect[];
export const REPORT_FORMATS = ['text', 'markdown', 'json', 'slack'] as const satisfies readonly ReportFormat[];
/** The format name of a recorded trajectory. */
export const DOCUMENT_FORMAT = 'turnwise-trajectory';
export const DOCUMENT_VERSION = 1;
/** The folder in which an agent keeps the full text of truncated results; the page does not see it. */
export const RESULTS = 'results/';
/** Maximum size of a tool's result, in bytes. */
export const MAX_RESULT = 4 * 1024 * 1024;
/** Maximum size of a tool's structured content as JSON, in bytes (crates/engine/src/caps.rs). */
export const MAX_STRUCTURED_CONTENT = 256 * 1024;
/** Maximum length of a file's path, in bytes. */
export const MAX_PATH = 1024;

/** Messages by name: each is an object with one key. */
type Named<Message> = { [N in Message extends unknown ? keyof Message : never]: Extract<Message, Record<N, unknown>>[N] };

type Said = Named<Command>;

/** Messages answered by `done` or `refused`, without their `id`. */
export type Asks = { [N in keyof Said as Said[N] extends { id: AskId } ? N : never]: Omit<Said[N], 'id'> };

/** Messages without an answer. */
export type Tells = Omit<Said, keyof Asks>;

/** Messages from the worker. */
export type Heard = Named<FromWorker>;

/** A program to run. */
export type Code = Extract<PageRequest, { code: unknown }>['code'];

/** An event of a run or a plan. */
export type Told = Heard['events']['events'][number];
