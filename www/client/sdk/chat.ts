// A conversation: each message is a run that has the earlier ones as context. It is a log that only grows: an entry for each run, which is
// final once the run has ended. If it is stored, it outlives the page.
import { describe, isObject, shape, text } from '../index.js';
import type { Check } from '../check.js';
import type { Agent as LowLevelAgent, Trajectory, TrajectoryMessage } from '../types/turnwise.js';
import type { RunOptions } from './agent.js';
import { TurnwiseError } from './error.js';
import { claim } from './lock.js';
import { partsOf } from './parts.js';
import type { Part } from './parts.js';
import { base64 } from './prompt.js';
import type { Prompt } from './prompt.js';
import type { Run } from './run.js';
import { inMemory } from './storage.js';
import type { ChatStorage } from './storage.js';

/**
 * The options of a chat.
 *
 * @example
 * const chat = agent.chat({ storage: inBrowser(), id: 'support' });
 */
export interface ChatOptions {
  /** Where the chat is stored: `inMemory()`, `inBrowser()`, or your own. Default: in memory. */
  storage?: ChatStorage;
  /** Its key in the storage. The same id continues the chat. Default: `'chat'`. */
  id?: string;
}

/**
 * One message of a chat, for display.
 *
 * @example
 * for (const { role, text, error } of chat.messages) console.log(role, error ?? text);
 */
export interface ChatMessage {
  role: 'user' | 'assistant';
  /** Of an answer that was cancelled: what had arrived. The model is not shown that in the next message. */
  text: string;
  /** The id of the run that answered. */
  runId: string;
  /** Of an answer: how the run ended; `null` while it runs or if it was interrupted, and for messages of the user. */
  outcome: Trajectory['outcome'];
  /** Of an answer: what the run did, without streamed text. */
  parts: readonly Part[];
  /** Why there is no answer. A run that was cancelled has no error. */
  error?: string;
}

/** The parts of an agent that a chat uses. @internal */
export interface ChatAgent<Output> {
  open(before: () => Promise<void>): LowLevelAgent;
  /** `from` says what the run continues from; `ended` is awaited at its end, before its result is known. */
  run(prompt: Prompt, options: Omit<RunOptions, 'messages'> | undefined, low: LowLevelAgent, hooks: ChatHooks<Trajectory | TrajectoryMessage[] | undefined>): Run<Output>;
  resume(options: Omit<RunOptions, 'messages'> | undefined, low: LowLevelAgent, hooks: ChatHooks<Trajectory>): Run<Output>;
  /** Runs the task of a record again, from its beginning. */
  again(options: Omit<RunOptions, 'messages'> | undefined, low: LowLevelAgent, hooks: ChatHooks<Trajectory>): Run<Output>;
  /** Whether the agent itself says who approves calls. */
  approves: boolean;
}

/** @internal */
export interface ChatHooks<From> {
  from: () => Promise<From>;
  /** `refused`: its answer was not accepted, and is neither shown nor sent again. */
  ended: (trajectory: Trajectory, refused?: TurnwiseError) => Promise<void>;
  /** Awaited before somebody is asked to approve a call: an answer may take longer than the page lives. */
  asking: () => Promise<void>;
}

const stored: Check = (value, path) => {
  const lacks = ['get', 'set', 'delete'].find((name) => typeof (value as any)?.[name] !== 'function');
  if (lacks) throw new TypeError(`${path}: got ${describe(value)}${isObject(value) ? ` without ${lacks}()` : ''}; expected inMemory(), inBrowser(), or an object with get(key), set(key, text) and delete(key)`);
  return value;
};
const OPTIONS = shape({ storage: stored, id: text });

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

const failed = (what: string, cause: unknown) =>
  new TurnwiseError('storage', `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { slugs: ['storage'], cause });

const answers = ({ outcome }: Trajectory) => outcome === 'success' || outcome === 'partial';

/** Without the runs that another one, which is their branch from the beginning, has replaced. */
function current(runs: readonly Trajectory[]): Trajectory[] {
  const replaced = new Set(runs.flatMap(({ parent }) => (parent?.turn === 1 ? [parent.run_id] : [])));
  return runs.filter(({ run_id: id }) => !replaced.has(id));
}

/** Whether a run did something that the next one has to know. */
const acted = (run: Trajectory) =>
  answers(run) || (run.outcome !== null && run.turns.some(({ content, tool_calls: calls, attempts }) => content || calls.length || attempts.some(({ partial }) => partial?.content)));

/**
 * A conversation, created by `agent.chat()`: each message is a run that has the earlier ones as context.
 *
 * @example
 * const chat = agent.chat({ storage: inBrowser() });
 * await chat.load();
 * const { text } = await chat.send('Hello');
 */
export class Chat<Output = string> {
  readonly id: string;
  readonly #storage: ChatStorage;
  readonly #agent: ChatAgent<Output>;
  #low: LowLevelAgent | undefined;
  #runs: Trajectory[] = [];
  /** Why the answers of these runs were not accepted, by the run's id. */
  #refused = new Map<string, string>();
  /** Each run as it is stored, in the same order. */
  #texts: string[] = [];
  #files: Record<string, StoredFile> = {};
  /** The files as they were when the agent was opened or they were stored. */
  #known = new Map<string, Blob>();
  #loaded: Promise<void> | undefined;
  #last: Run<Output> | undefined;
  /** Pending writes of the last run. */
  #stored: Promise<void> | undefined;
  #writes = Promise.resolve();
  /** The storage has a list, and the chat is not in it. */
  #whole = false;
  #cleared = 0;
  #failure: TurnwiseError | undefined;

  /** Created by `agent.chat()`. @internal */
  constructor(options: ChatOptions = {}, agent: ChatAgent<Output>) {
    const { storage = inMemory(), id = 'chat' } = OPTIONS(options, 'options') as ChatOptions;
    this.id = id;
    this.#storage = storage;
    this.#agent = agent;
  }

  /** Loads the stored chat. `send` does this automatically; call it to show `messages` earlier. Throws if the storage fails; the next call tries again. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#read().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    }));
  }

  /** The record of each message's run, oldest first, and of those that `regenerate` replaced. */
  get trajectories(): readonly Trajectory[] {
    return this.#runs;
  }

  /** The messages, oldest first: for each run that of the user, and its answer. */
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

  /** Whether the last run was interrupted, for example because the page was closed. `resume` continues it. */
  get isInterrupted(): boolean {
    return this.#runs.at(-1)?.outcome === null && this.#last === undefined;
  }

  /** Why the last write to the storage failed; `undefined`: it did not. The chat goes on without it. */
  get storageError(): TurnwiseError | undefined {
    return this.#failure;
  }

  /** Sends a message. Throws if the previous message has not been answered yet. */
  send(prompt: Prompt, options?: Omit<RunOptions, 'messages'>): Run<Output> {
    this.#idle();
    const before = this.#stored;
    const lock = this.#claim();
    const from = async () => {
      await before;
      await lock.held;
      await this.#refresh();
      // What a cancelled or failed run did is part of the conversation; one that did nothing is not.
      const last = current(this.#runs).findLast(acted);
      const refused = last && this.#refused.get(last.run_id);
      return refused === undefined ? last : (await import('./history.js')).withoutAnswer(last!, refused);
    };
    return this.#keep(lock.release, () => this.#agent.run(prompt, options, this.#own(), { from, ended: this.#ended(), asking: this.#asking }));
  }

  /**
   * Answers the last message again; the new answer replaces the old one in `messages` and in what the model reads, while both records
   * stay in `trajectories`. The files of the chat stay as they are. Throws if there is no message yet.
   *
   * @example
   * const better = await chat.regenerate();
   */
  regenerate(options?: Omit<RunOptions, 'messages'>): Run<Output> {
    this.#idle();
    const before = this.#stored;
    const last = this.#runs.at(-1);
    if (!last) throw new Error('this chat has no message that could be answered again');
    const lock = this.#claim();
    const from = async () => {
      await before;
      await lock.held;
      await this.#refresh();
      const now = this.#runs.at(-1);
      if (now?.run_id !== last.run_id) throw new TurnwiseError('storage', 'The chat was continued elsewhere, for example in another tab.', { slugs: ['chat_continued'] });
      return now;
    };
    return this.#keep(lock.release, () => this.#agent.again(options, this.#own(), { from, ended: this.#ended(), asking: this.#asking }));
  }

  /** Whether the agent itself says who approves tool calls. */
  get approves(): boolean {
    return this.#agent.approves;
  }

  /** Continues the interrupted run. Throws if there is none: see `isInterrupted`. */
  resume(options?: Omit<RunOptions, 'messages'>): Run<Output> {
    this.#idle();
    if (!this.isInterrupted) throw new Error('this chat has no interrupted run');
    const lock = this.#claim();
    const { run_id: id } = this.#runs.at(-1)!;
    const from = async () => {
      await lock.held;
      await this.#refresh();
      const last = this.#runs.at(-1);
      if (last?.run_id !== id || last.outcome !== null) throw new TurnwiseError('storage', 'The interrupted run was continued elsewhere, for example in another tab.', { slugs: ['chat_continued'] });
      return last;
    };
    return this.#keep(lock.release, () => this.#agent.resume(options, this.#own(), { from, ended: this.#ended(), asking: this.#asking }));
  }

  /** Deletes all messages, stored ones included. */
  async clear(): Promise<void> {
    this.#cleared += 1;
    this.#last?.cancel();
    await this.#last?.result.catch(() => {});
    await this.#stored;
    await this.#writes;
    this.close();
    this.#runs = [];
    this.#texts = [];
    this.#files = {};
    this.#loaded = Promise.resolve();
    try {
      await this.#storage.list?.delete(this.id);
      await this.#storage.delete(this.id);
    } catch (error) {
      throw failed('The chat could not be deleted from its storage', error);
    }
  }

  /** Releases the chat's agent and its files. The stored chat remains. */
  close() {
    this.#low?.free();
    this.#low = undefined;
  }

  #own(): LowLevelAgent {
    if (!this.#low) {
      // A call with an effect begins once it is stored that it does: after a reload the question says `again`.
      this.#low = this.#agent.open(this.#asking);
      this.#known = new Map(this.#low.files.list().map((path) => [path, this.#low!.files.get(path)!]));
      this.#restoreFiles();
    }
    return this.#low;
  }

  #idle() {
    if (this.#last) throw new Error('this chat is answering: wait for it, or cancel it');
  }

  #claim() {
    return claim(this.#storage, this.id);
  }

  /** Begins a run that holds the claim until it is stored. Wrong options begin none. */
  #keep(release: () => void, begin: () => Run<Output>): Run<Output> {
    let run: Run<Output>;
    try {
      run = begin();
    } catch (error) {
      release();
      throw error;
    }
    this.#last = run;
    const free = () => { this.#last = undefined; };
    run.result.then(free, free); // first: whoever awaits the result may send the next message
    this.#stored = this.#store(run).finally(release);
    return run;
  }

  /** Stores the run while it is in progress, so that it can be resumed. */
  async #store(run: Run<Output>) {
    const cleared = this.#cleared;
    try {
      for await (const part of run) {
        if ((part.type === 'turn-start' || part.type === 'tool-result') && cleared === this.#cleared) await this.#put(await run.checkpoint());
      }
    } catch {
      // The result says it.
    }
    await run.result.catch(() => {});
  }

  readonly #asking = async () => this.#put(await this.#last?.checkpoint());

  /** Stores a run at its end: whoever awaits its result finds it stored. */
  #ended() {
    const cleared = this.#cleared;
    return async (trajectory: Trajectory, refused?: TurnwiseError) => {
      if (cleared !== this.#cleared) return;
      if (refused) this.#refused.set(trajectory.run_id, refused.message);
      const files = await this.#changedFiles().catch((error: unknown) => void this.#failing(error));
      await this.#put(trajectory, true);
      if (files && this.#storage.list) await this.#write(async () => this.#storage.set(this.id, this.#head()));
    };
  }

  /** Adds a record, or a newer state of it, and writes it. */
  #put(trajectory: Trajectory | undefined, ended = false): Promise<void> {
    if (!trajectory) return Promise.resolve();
    const found = this.#runs.findIndex(({ run_id: id }) => id === trajectory.run_id);
    const at = found >= 0 ? found : this.#runs.length;
    if (!ended && this.#runs[at]?.outcome) return Promise.resolve(); // an older state
    this.#runs[at] = withShared(trajectory, this.#runs[at - 1]);
    this.#texts[at] = this.#entry(this.#runs[at]!, this.#runs[at - 1]);
    const text = this.#texts[at]!;
    return this.#write(async () => {
      const { list } = this.#storage;
      if (!list) return this.#storage.set(this.id, this.#head());
      // A chat that was written as a whole becomes a list.
      if (this.#whole) for (const [place, one] of this.#texts.entries()) if (place !== at) await list.put(this.id, place, one);
      await list.put(this.id, at, text);
      if (at > 0 && !this.#whole) return undefined;
      await this.#storage.set(this.id, this.#head());
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
    const cleared = this.#cleared;
    return (this.#writes = this.#writes.then(async () => {
      if (cleared !== this.#cleared) return;
      try {
        await write();
        this.#failure = undefined;
      } catch (error) {
        this.#failing(error);
      }
    }));
  }

  #failing(error: unknown) {
    this.#failure = failed('The chat could not be stored', error);
    console.error('turnwise: the chat could not be stored', error);
  }

  /** Reads what another tab has written since. */
  async #refresh() {
    if (!this.#loaded) return this.load();
    await this.#loaded;
    await this.#read();
  }

  async #read() {
    let head: Stored | undefined;
    let texts: readonly string[];
    try {
      const text = await this.#storage.get(this.id);
      if (text !== undefined) head = JSON.parse(text) as Stored;
      texts = head && this.#storage.list ? await this.#storage.list.all(this.id) : [];
    } catch (error) {
      throw failed(error instanceof SyntaxError ? `What is stored as ${JSON.stringify(this.id)} is not a Turnwise chat` : 'The chat could not be read from its storage', error);
    }
    if (!head) return;
    if (head.format !== FORMAT || !(head.version! <= VERSION)) throw new TurnwiseError('storage', `What is stored as ${JSON.stringify(this.id)} is not a Turnwise chat${head.format === FORMAT ? ` of version ${VERSION} or earlier` : ''}.`, { slugs: ['storage'] });
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
    const files = this.#low?.files;
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
    const files = this.#low?.files;
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
