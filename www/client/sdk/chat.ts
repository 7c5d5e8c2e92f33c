// A conversation: each message is a run that has the earlier ones as context. If it is stored, it outlives the page.
import type { Agent as LowLevelAgent, Trajectory } from '../types/turnwise.js';
import type { RunOptions } from './agent.js';
import type { Prompt } from './prompt.js';
import type { Run } from './run.js';
import { inMemory } from './storage.js';
import type { ChatStorage } from './storage.js';

export interface ChatOptions {
  /** Where the chat is stored: `inMemory()`, `inBrowser()`, or your own. Default: in memory. */
  storage?: ChatStorage;
  /** Its key in the storage. The same id continues the chat. Default: `'chat'`. */
  id?: string;
}

/** One message of a chat, for display. */
export interface ChatMessage {
  role: 'user' | 'assistant';
  text: string;
  /** The id of the run that answered. */
  runId: string;
  /** How the run ended; `null` until then. */
  outcome: Trajectory['outcome'];
}

/** The parts of an agent that a chat uses. */
export interface ChatAgent<Output> {
  open(): LowLevelAgent;
  run(prompt: Prompt, options: Omit<RunOptions, 'messages'> | undefined, low: LowLevelAgent, after: () => Promise<Trajectory | undefined>): Run<Output>;
  resume(trajectory: Trajectory, options: Omit<RunOptions, 'messages'> | undefined, low: LowLevelAgent): Run<Output>;
}

const FORMAT = 'turnwise-chat';

export class Chat<Output = string> {
  readonly id: string;
  readonly #storage: ChatStorage;
  readonly #agent: ChatAgent<Output>;
  #low: LowLevelAgent | undefined;
  #runs: Trajectory[] = [];
  #loaded: Promise<void> | undefined;
  #last: Run<Output> | undefined;
  /** Pending writes of the last run. */
  #stored: Promise<void> | undefined;

  /** Created by `agent.chat()`. */
  constructor({ storage = inMemory(), id = 'chat' }: ChatOptions = {}, agent: ChatAgent<Output>) {
    this.id = id;
    this.#storage = storage;
    this.#agent = agent;
  }

  /** Loads the stored chat. `send` does this automatically; call it to show `messages` earlier. */
  load(): Promise<void> {
    return (this.#loaded ??= this.#read());
  }

  /** The record of each message's run, oldest first. */
  get trajectories(): readonly Trajectory[] {
    return this.#runs;
  }

  get messages(): ChatMessage[] {
    return this.#runs.flatMap(({ run_id: runId, input, output, outcome }): ChatMessage[] => [
      { role: 'user', text: input, runId, outcome },
      ...(output === null ? [] : [{ role: 'assistant' as const, text: output, runId, outcome }]),
    ]);
  }

  /** Whether the last run was interrupted, for example because the page was closed. `resume` continues it. */
  get isInterrupted(): boolean {
    return this.#runs.at(-1)?.outcome === null && this.#last === undefined;
  }

  /** Sends a message. Throws if the previous message has not been answered yet. */
  send(prompt: Prompt, options?: Omit<RunOptions, 'messages'>): Run<Output> {
    const before = this.#stored;
    return this.#keep(this.#agent.run(prompt, options, this.#own(), async () => {
      await Promise.all([this.load(), before]);
      return this.#runs.findLast(({ outcome }) => outcome === 'success' || outcome === 'partial');
    }));
  }

  /** Continues the interrupted run. Throws if there is none: see `isInterrupted`. */
  resume(options?: Omit<RunOptions, 'messages'>): Run<Output> {
    if (!this.isInterrupted) throw new Error('this chat has no interrupted run');
    return this.#keep(this.#agent.resume(this.#runs.at(-1)!, options, this.#own()));
  }

  /** Deletes all messages, stored ones included. */
  async clear(): Promise<void> {
    this.#last?.cancel();
    await this.#last?.result.catch(() => {});
    this.close();
    this.#runs = [];
    this.#loaded = Promise.resolve();
    await this.#storage.delete(this.id);
  }

  /** Releases the chat's agent and its files. The stored chat remains. */
  close() {
    this.#low?.free();
    this.#low = undefined;
  }

  #own(): LowLevelAgent {
    return (this.#low ??= this.#agent.open());
  }

  #keep(run: Run<Output>): Run<Output> {
    if (this.#last) {
      run.cancel();
      run.result.catch(() => {});
      throw new Error('this chat is answering: wait for it, or cancel it');
    }
    this.#last = run;
    this.#stored = this.#store(run);
    return run;
  }

  /** Stores the run while it is in progress, so that it can be resumed, and at its end. */
  async #store(run: Run<Output>) {
    const put = async (trajectory: Trajectory | undefined) => {
      if (!trajectory) return;
      const at = this.#runs.findIndex(({ run_id: id }) => id === trajectory.run_id);
      if (at >= 0) this.#runs[at] = trajectory;
      else this.#runs.push(trajectory);
      await this.#storage.set(this.id, JSON.stringify({ format: FORMAT, version: 1, runs: this.#runs }));
    };
    const watch = async () => {
      for await (const part of run) if (part.type === 'turn-start' || part.type === 'tool-result') await put(await run.checkpoint());
    };
    const ended = async () => {
      const trajectory = await run.result.then((result) => result.trajectory, (error: { trajectory?: Trajectory }) => error?.trajectory);
      this.#last = undefined;
      return trajectory;
    };
    try {
      const end = ended();
      await watch().catch(() => {});
      await put(await end);
    } catch (error) {
      console.error('turnwise: the chat could not be stored', error);
    }
  }

  async #read() {
    const text = await this.#storage.get(this.id);
    if (text === undefined) return;
    const { format, runs } = JSON.parse(text) as { format?: string; runs: Trajectory[] };
    if (format !== FORMAT) throw new Error(`what is stored as ${JSON.stringify(this.id)} is not a Turnwise chat`);
    this.#runs = runs;
  }
}
