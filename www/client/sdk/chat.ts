// A conversation: each message is a run that has the earlier ones as context. What it keeps and stores is its log (chat-log.ts), which loads
// with its first use.
import { describe, isObject, shape, text } from '../index.js';
import type { Check } from '../check.js';
import type { Agent as LowLevelAgent, Trajectory, TrajectoryMessage } from '../types/turnwise.js';
import type { RunOptions } from './agent.js';
import type { ChatLog } from './chat-log.js';
import { TurnwiseError } from './error.js';
import type { Part } from './parts.js';
import type { Prompt } from './prompt-parts.js';
import type { Run } from './run.js';
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
  readonly #storage: ChatStorage | undefined;
  readonly #agent: ChatAgent<Output>;
  #low: LowLevelAgent | undefined;
  #opening: Promise<ChatLog> | undefined;
  #log: ChatLog | undefined;
  #last: Run<Output> | undefined;
  /** Pending writes of the last run. */
  #stored: Promise<void> | undefined;
  #cleared = 0;

  /** Created by `agent.chat()`. @internal */
  constructor(options: ChatOptions = {}, agent: ChatAgent<Output>) {
    const { storage, id = 'chat' } = OPTIONS(options, 'options') as ChatOptions;
    this.id = id;
    this.#storage = storage;
    this.#agent = agent;
  }

  /** Loads the stored chat. `send` does this automatically; call it to show `messages` earlier. Throws if the storage fails; the next call tries again. */
  async load(): Promise<void> {
    return (await this.#open()).load();
  }

  /** The record of each message's run, oldest first, and of those that `regenerate` replaced. */
  get trajectories(): readonly Trajectory[] {
    return this.#log?.runs ?? [];
  }

  /** The messages, oldest first: for each run that of the user, and its answer. */
  get messages(): ChatMessage[] {
    return this.#log?.messages ?? [];
  }

  /** Whether the last run was interrupted, for example because the page was closed. `resume` continues it. */
  get isInterrupted(): boolean {
    return this.trajectories.at(-1)?.outcome === null && this.#last === undefined;
  }

  /** Why the last write to the storage failed; `undefined`: it did not. The chat goes on without it. */
  get storageError(): TurnwiseError | undefined {
    return this.#log?.failure;
  }

  /** Sends a message. Throws if the previous message has not been answered yet. */
  send(prompt: Prompt, options?: Omit<RunOptions, 'messages'>): Run<Output> {
    return this.#begin((log) => log.before(), (low, hooks) => this.#agent.run(prompt, options, low, hooks));
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
    const last = this.trajectories.at(-1);
    if (!last) throw new Error('this chat has no message that could be answered again');
    return this.#begin((log) => log.last(last.run_id, false), (low, hooks) => this.#agent.again(options, low, hooks));
  }

  /** Whether the agent itself says who approves tool calls. */
  get approves(): boolean {
    return this.#agent.approves;
  }

  /** Continues the interrupted run. Throws if there is none: see `isInterrupted`. */
  resume(options?: Omit<RunOptions, 'messages'>): Run<Output> {
    this.#idle();
    if (!this.isInterrupted) throw new Error('this chat has no interrupted run');
    const { run_id: id } = this.trajectories.at(-1)!;
    return this.#begin((log) => log.last(id, true), (low, hooks) => this.#agent.resume(options, low, hooks));
  }

  /** Deletes all messages, stored ones included. */
  async clear(): Promise<void> {
    this.#cleared += 1;
    this.#last?.cancel();
    await this.#last?.result.catch(() => {});
    await this.#stored;
    const log = await this.#open();
    this.close();
    await log.clear();
  }

  /** Releases the chat's agent and its files. The stored chat remains. */
  close() {
    this.#log?.use(undefined);
    this.#low?.free();
    this.#low = undefined;
  }

  #open(): Promise<ChatLog> {
    return (this.#opening ??= import('./chat-log.js').then(
      ({ ChatLog }) => (this.#log = new ChatLog({ id: this.id, storage: this.#storage, Failure: TurnwiseError, cleared: () => this.#cleared })),
      (cause: Error) => {
        this.#opening = undefined;
        throw new TurnwiseError('storage', `A file of the package could not be loaded: ${cause.message}`, { slugs: ['storage'], cause });
      },
    ));
  }

  #idle() {
    if (this.#last) throw new Error('this chat is answering: wait for it, or cancel it');
  }

  readonly #asking = async () => (await this.#open()).put(await this.#last?.checkpoint());

  /** Begins a run, which nobody else does in this chat until it is stored. Wrong options begin none. */
  #begin<From>(from: (log: ChatLog) => From | Promise<From>, begin: (low: LowLevelAgent, hooks: ChatHooks<From>) => Run<Output>): Run<Output> {
    this.#idle();
    const before = this.#stored;
    const cleared = this.#cleared;
    // A call with an effect begins once it is stored that it does: after a reload the question says `again`.
    const low = (this.#low ??= this.#agent.open(this.#asking));
    const claiming = this.#open().then((log) => log.claim());
    const release = () => void claiming.then((claim) => claim.release(), () => {});
    const hooks: ChatHooks<From> = {
      from: async () => {
        await before;
        await (await claiming).held;
        const log = await this.#open();
        log.use(this.#low?.files);
        await log.refresh();
        return from(log);
      },
      ended: async (trajectory, refused) => {
        if (cleared === this.#cleared) await (await this.#open()).end(trajectory, refused);
      },
      asking: this.#asking,
    };
    let run: Run<Output>;
    try {
      run = begin(low, hooks);
    } catch (error) {
      release();
      throw error;
    }
    this.#last = run;
    const free = () => { this.#last = undefined; };
    run.result.then(free, free); // first: whoever awaits the result may send the next message
    this.#stored = this.#open().then((log) => log.follow(run, cleared)).catch(() => run.result.then(() => {}, () => {})).finally(release);
    return run;
  }
}
