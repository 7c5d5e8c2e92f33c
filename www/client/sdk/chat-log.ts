// The log of a chat: an entry for each run, which is final once the run has ended. It only grows, is stored, and is read again after a reload.
// It loads with the first use of a chat; its front is chat.ts.
import type { Files, Trajectory } from '../types/turnwise.js';
import type { ChatMessage } from './chat.js';
import type { TurnwiseError } from './error.js';
import { claim } from './lock.js';
import type { Claim } from './lock.js';
import { partsOf } from './parts.js';
import { base64 } from './prompt-parts.js';
import type { Run } from './run.js';
import { inMemory } from './storage.js';
import type { ChatStorage } from './storage.js';

const FORMAT = 'turnwise-chat';
const VERSION = 2;
/** So many bytes of changed files are stored with a chat. */
const MAX_FILES = 16 << 20;

/** A file that the chat changed; `null`: it removed it. */
type StoredFile = { text: string; type: string } | { base64: string; type: string } | null;
interface Stored {
  format?: string;
  version?: number;
  files?: Record<string, StoredFile>;
  runs?: StoredRun[];
}
/** A record without the messages that the history of the run before it has, too: each message is stored once. */
type StoredRun = Trajectory & { shared_history?: number; refused?: string };

const answers = ({ outcome }: Trajectory) => outcome === 'success' || outcome === 'partial';

/** Without the runs that another one, which is their branch from the beginning, has replaced. */
function current(runs: readonly Trajectory[]): Trajectory[] {
  const replaced = new Set(runs.flatMap(({ parent }) => (parent?.turn === 1 ? [parent.run_id] : [])));
  return runs.filter(({ run_id: id }) => !replaced.has(id));
}

/** Whether a run did something that the next one has to know. */
const acted = (run: Trajectory) =>
  answers(run) || (run.outcome !== null && run.turns.some(({ content, tool_calls: calls, attempts }) => content || calls.length || attempts.some(({ partial }) => partial?.content)));

/** What a log has of its chat. */
interface Owner {
  id: string;
  storage?: ChatStorage;
  /** The class of the page: this file is a module of its own. */
  Failure: typeof TurnwiseError;
  /** How often the chat was cleared: what began before is not stored. */
  cleared(): number;
}

/** The log of one chat. @internal */
export class ChatLog {
  readonly #id: string;
  readonly #storage: ChatStorage;
  readonly #Failure: typeof TurnwiseError;
  readonly #cleared: () => number;
  #runs: Trajectory[] = [];
  /** Why the answers of these runs were not accepted, by the run's id. */
  #refused = new Map<string, string>();
  /** Each run as it is stored, in the same order. */
  #texts: string[] = [];
  /** The files of the chat's agent. */
  #open: Files | undefined;
  #files: Record<string, StoredFile> = {};
  /** The files as they were when the agent was opened or they were stored. */
  #known = new Map<string, Blob>();
  #loaded: Promise<void> | undefined;
  #writes = Promise.resolve();
  /** The storage has a list, and the chat is not in it. */
  #whole = false;
  #failure: TurnwiseError | undefined;

  constructor({ id, storage = inMemory(), Failure, cleared }: Owner) {
    this.#id = id;
    this.#storage = storage;
    this.#Failure = Failure;
    this.#cleared = cleared;
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    }));
  }

  get runs(): readonly Trajectory[] {
    return this.#runs;
  }

  get failure(): TurnwiseError | undefined {
    return this.#failure;
  }

  get messages(): ChatMessage[] {
    return current(this.#runs).flatMap((run): ChatMessage[] => {
      const { run_id: runId, input, output, outcome, turns } = run;
      const refused = this.#refused.get(runId);
      const answered = refused === undefined && answers(run);
      const last = turns.at(-1);
      const written = last?.content || last?.attempts.at(-1)?.partial?.content;
      return [
        { role: 'user', text: input, runId, outcome: null, parts: [] },
        {
          role: 'assistant', text: (answered ? output : refused === undefined ? written : '') ?? '', runId, outcome: refused === undefined ? outcome : 'failed',
          parts: partsOf(refused === undefined ? run : { ...run, outcome: 'failed', turns: turns.filter(({ final }) => !final) }),
          ...(!answered && outcome !== null && outcome !== 'cancelled' && { error: refused ?? run.error ?? 'The run failed.' }),
        },
      ];
    });
  }

  claim(): Claim {
    return claim(this.#storage, this.#id);
  }

  /** Restores the chat's files in those of its agent; `undefined`: the agent was closed. */
  use(files: Files | undefined) {
    if (files === this.#open) return;
    this.#open = files;
    if (!files) return;
    this.#known = new Map(files.list().map((path) => [path, files.get(path)!]));
    this.#restoreFiles();
  }

  /** What the next message continues from: also what a cancelled or failed run did, but not one that did nothing. */
  async before() {
    const last = current(this.#runs).findLast(acted);
    const refused = last && this.#refused.get(last.run_id);
    return refused === undefined ? last : (await import('./history.js')).withoutAnswer(last!, refused);
  }

  /** The last run, which has this id. `open`: nobody has continued it. */
  last(id: string, open: boolean): Trajectory {
    const last = this.#runs.at(-1);
    if (last?.run_id === id && !(open && last.outcome !== null)) return last;
    throw new this.#Failure('storage', `The ${open ? 'interrupted run' : 'chat'} was continued elsewhere, for example in another tab.`, { slugs: ['chat_continued'] });
  }

  /** Stores a run while it is in progress, so that it can be resumed. Resolves when it has ended. */
  async follow(run: Run<unknown>, cleared: number) {
    try {
      for await (const part of run) {
        if ((part.type === 'turn-start' || part.type === 'tool-result') && cleared === this.#cleared()) await this.put(await run.checkpoint());
      }
    } catch {
      // The result says it.
    }
    await run.result.catch(() => {});
  }

  /** Stores a run at its end: whoever awaits its result finds it stored. */
  async end(trajectory: Trajectory, refused?: TurnwiseError) {
    if (refused) this.#refused.set(trajectory.run_id, refused.message);
    const files = await this.#changedFiles().catch((error: unknown) => void this.#failing(error));
    await this.put(trajectory, true);
    if (files && this.#storage.list) await this.#write(async () => this.#storage.set(this.#id, this.#head()));
  }

  async clear() {
    await this.#writes;
    this.#runs = [];
    this.#texts = [];
    this.#files = {};
    this.#loaded = Promise.resolve();
    try {
      await this.#storage.list?.delete(this.#id);
      await this.#storage.delete(this.#id);
    } catch (error) {
      throw this.#failed('The chat could not be deleted from its storage', error);
    }
  }

  /** Reads what another tab has written since. */
  async refresh() {
    if (!this.#loaded) return this.load();
    await this.#loaded;
    await this.#read();
  }

  #failed(what: string, cause: unknown) {
    return new this.#Failure('storage', `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { slugs: ['storage'], cause });
  }

  /** Adds a record, or a newer state of it, and writes it. */
  put(trajectory: Trajectory | undefined, ended = false): Promise<void> {
    if (!trajectory) return Promise.resolve();
    const found = this.#runs.findIndex(({ run_id: id }) => id === trajectory.run_id);
    const at = found >= 0 ? found : this.#runs.length;
    if (!ended && this.#runs[at]?.outcome) return Promise.resolve(); // an older state
    this.#runs[at] = withShared(trajectory, this.#runs[at - 1]);
    this.#texts[at] = this.#entry(this.#runs[at]!, this.#runs[at - 1]);
    const text = this.#texts[at]!;
    return this.#write(async () => {
      const { list } = this.#storage;
      if (!list) return this.#storage.set(this.#id, this.#head());
      // A chat that was written as a whole becomes a list.
      if (this.#whole) for (const [place, one] of this.#texts.entries()) if (place !== at) await list.put(this.#id, place, one);
      await list.put(this.#id, at, text);
      if (at > 0 && !this.#whole) return undefined;
      await this.#storage.set(this.#id, this.#head());
      this.#whole = false;
    });
  }

  #entry(run: Trajectory, before: Trajectory | undefined): string {
    const count = shared(run.history, before?.history);
    return JSON.stringify({ ...run, ...(count && { history: run.history!.slice(count), shared_history: count }), refused: this.#refused.get(run.run_id) });
  }

  /** The whole chat, or what of it is not in the list. */
  #head(): string {
    const files = Object.keys(this.#files).length ? `,"files":${JSON.stringify(this.#files)}` : '';
    return `{"format":"${FORMAT}","version":${VERSION}${files}${this.#storage.list ? '' : `,"runs":[${this.#texts.join(',')}]`}}`;
  }

  /** Writes in order. A storage that fails does not fail the chat. */
  #write(write: () => Promise<void> | void): Promise<void> {
    const cleared = this.#cleared();
    return (this.#writes = this.#writes.then(async () => {
      if (cleared !== this.#cleared()) return;
      try {
        await write();
        this.#failure = undefined;
      } catch (error) {
        this.#failing(error);
      }
    }));
  }

  #failing(error: unknown) {
    this.#failure = this.#failed('The chat could not be stored', error);
    console.error('turnwise: the chat could not be stored', error);
  }

  async #read() {
    let head: Stored | undefined;
    let texts: readonly string[];
    try {
      const text = await this.#storage.get(this.#id);
      if (text !== undefined) head = JSON.parse(text) as Stored;
      texts = head && this.#storage.list ? await this.#storage.list.all(this.#id) : [];
    } catch (error) {
      throw this.#failed(error instanceof SyntaxError ? `What is stored as ${JSON.stringify(this.#id)} is not a Turnwise chat` : 'The chat could not be read from its storage', error);
    }
    if (!head) return;
    if (head.format !== FORMAT || !(head.version! <= VERSION)) throw new this.#Failure('storage', `What is stored as ${JSON.stringify(this.#id)} is not a Turnwise chat${head.format === FORMAT ? ` of version ${VERSION} or earlier` : ''}.`, { slugs: ['storage'] });
    this.#whole = this.#storage.list !== undefined && head.runs !== undefined;
    const runs: Trajectory[] = [];
    for (const one of [...head.runs ?? [], ...texts.map((text) => JSON.parse(text) as StoredRun)]) {
      const { shared_history: shared = 0, refused, ...run } = one;
      if (refused !== undefined) this.#refused.set(run.run_id, refused);
      // A list that was written before the whole chat, or after it.
      if (runs.some(({ run_id: id }) => id === run.run_id)) continue;
      runs.push(shared ? { ...run, history: [...(runs.at(-1)?.history ?? []).slice(0, shared), ...(run.history ?? [])] } : run);
    }
    // A run that could not be stored stays.
    for (const own of this.#runs) if (!runs.some(({ run_id: id }) => id === own.run_id)) runs.push(withShared(own, runs.at(-1)));
    this.#runs = runs;
    this.#texts = runs.map((run, at) => this.#entry(run, runs[at - 1]));
    if (JSON.stringify(head.files ?? {}) !== JSON.stringify(this.#files)) {
      this.#files = head.files ?? {};
      this.#restoreFiles();
    }
  }

  /** Notes the files that differ from those that the agent began with; returns whether that is news. */
  async #changedFiles(): Promise<boolean> {
    const files = this.#open;
    if (!files) return false;
    const paths = files.list();
    const changed = paths.filter((path) => files.get(path) !== this.#known.get(path));
    const removed = [...this.#known.keys()].filter((path) => !paths.includes(path));
    if (!changed.length && !removed.length) return false;
    const next = { ...this.#files };
    for (const path of removed) next[path] = null;
    for (const path of changed) next[path] = await storedFile(files.get(path)!);
    const size = JSON.stringify(next).length;
    if (size > MAX_FILES) throw new Error(`its changed files have ${size} bytes, more than ${MAX_FILES}: they are lost when the page closes`);
    this.#files = next;
    this.#known = new Map(paths.map((path) => [path, files.get(path)!]));
    return true;
  }

  #restoreFiles() {
    const files = this.#open;
    if (!files) return;
    for (const [path, file] of Object.entries(this.#files)) {
      if (file) files.put(path, 'text' in file ? new Blob([file.text], { type: file.type }) : new Blob([Uint8Array.from(atob(file.base64), (one) => one.charCodeAt(0))], { type: file.type }));
      else files.remove(path);
    }
    this.#known = new Map(files.list().map((path) => [path, files.get(path)!]));
  }
}

/** The number of messages at the beginning of both histories that are the same. */
function shared(history: Trajectory['history'] = [], before: Trajectory['history'] = []): number {
  let count = 0;
  while (count < before.length && count < history.length && (history[count] === before[count] || JSON.stringify(history[count]) === JSON.stringify(before[count]))) count += 1;
  return count;
}

/** The record with the same objects for the messages that it shares with the one before it. */
function withShared(run: Trajectory, before: Trajectory | undefined): Trajectory {
  const count = shared(run.history, before?.history);
  return count ? { ...run, history: [...before!.history!.slice(0, count), ...run.history!.slice(count)] } : run;
}

async function storedFile(blob: Blob): Promise<StoredFile> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), type: blob.type };
  } catch {
    return { base64: base64(bytes), type: blob.type };
  }
}
