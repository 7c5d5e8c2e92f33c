// The state of a chat as a store: what the hooks and stores of the frameworks have in common. It needs no framework.
import type { Agent, OutputOf, RunOptions } from './agent.js';
import type { Approval, ApprovalRequest } from './approval.js';
import type { Chat, ChatOptions } from './chat.js';
import type { TurnwiseError } from './error.js';
import type { Part } from './parts.js';
import type { Prompt } from './prompt-parts.js';
import type { RunResult } from './result.js';
import type { Run } from './run.js';
import type { Tools } from './tool.js';

type AnyAgent = Agent<any, any>;
/**
 * The tools of an agent's type.
 *
 * @example
 * type Names = keyof ToolsOf<typeof agent>;
 */
export type ToolsOf<A> = A extends Agent<infer T, any> ? T : Tools;
/**
 * The type of an agent's output.
 *
 * @example
 * const show = (output: OutputOfAgent<typeof agent>) => output;
 */
export type OutputOfAgent<A> = A extends Agent<any, infer S> ? OutputOf<S> : string;

/** A message for display: an assistant's message grows while it streams. */
export interface ChatStoreMessage<T extends Tools = Tools> {
  id: string;
  role: 'user' | 'assistant';
  text: string;
  /** Of an answer: the parts of the run, without streamed text. After a reload they are rebuilt from the record. */
  parts: readonly Part<T>[];
  /** Of an answer: how the run ended; `null` until then, and if it was interrupted. */
  outcome: 'success' | 'partial' | 'failed' | 'cancelled' | null;
  /** Why there is no answer. A run that was cancelled has no error: its text is what had arrived. */
  error?: string;
}

/**
 * A call that waits for the user's decision. It goes away once it is decided, or needs no decision any more.
 *
 * @example
 * approvals.map(({ request, allow, refuse }) => <p>{request.toolName}? <button onClick={() => allow()}>Yes</button> <button onClick={() => refuse()}>No</button></p>)
 */
export interface PendingApproval<T extends Tools = Tools> {
  request: ApprovalRequest<T>;
  /** `for`: this call, every further call of the tool in this run, or every call of this run that would ask. Default: `call`. */
  allow(scope?: { for?: 'call' | 'host' | 'tool' | 'run' }): void;
  refuse(scope?: { for?: 'call' | 'host' | 'tool' | 'run' }): void;
}

/** The state of a chat. Each change makes a new object. */
export interface ChatState<Output = string, T extends Tools = Tools> {
  messages: readonly ChatStoreMessage<T>[];
  /** `loading`: the stored chat is being loaded. */
  status: 'loading' | 'ready' | 'running';
  /** The current turn, and the maximum number of LLM requests still to come. */
  turn: number;
  callsLeft: number;
  /** Why the last run has no answer; a cancelled run is no error. */
  error: TurnwiseError | Error | undefined;
  result: RunResult<Output> | undefined;
  /** Whether the last run was interrupted, for example because the page was closed: `resume` continues it. */
  isInterrupted: boolean;
  /** Calls that wait for a decision. Empty if the agent or the message has its own `approve`. */
  approvals: readonly PendingApproval<T>[];
}

type Options = Omit<RunOptions, 'messages'>;

/** What can be done with a chat. */
export interface ChatActions<Output = string> {
  /** Resolves with the result, or with `undefined` if the run failed or was cancelled: `error` says why. Rejects while the chat is answering. */
  send(prompt: Prompt, options?: Options): Promise<RunResult<Output> | undefined>;
  /** Continues the interrupted run. */
  resume(options?: Options): Promise<RunResult<Output> | undefined>;
  /** Answers the last message again; the new answer replaces the old one. */
  regenerate(options?: Options): Promise<RunResult<Output> | undefined>;
  /** Wraps up: one more request has the model conclude from what the run has. For a button *Wrap up*. */
  stop(): void;
  /** Ends the run now. Its message keeps the text that had arrived, with the outcome `cancelled`. For a button *Stop*. */
  cancel(): void;
  /** Deletes all messages, stored ones included. */
  clear(): Promise<void>;
}

/** A store: `subscribe` loads the chat; when the last subscriber has left, a run in progress is cancelled. */
export interface ChatStore<Output = string, T extends Tools = Tools> extends ChatActions<Output> {
  getSnapshot(): ChatState<Output, T>;
  /** Returns the function that ends the subscription. */
  subscribe(listener: () => void): () => void;
}

const text = (prompt: Prompt) => (typeof prompt === 'string' ? prompt : prompt.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'));

/**
 * Creates the store of a chat with an agent, for a framework without a hook of its own.
 *
 * @example
 * const store = createChatStore(agent, { storage: inBrowser() });
 * const leave = store.subscribe(() => draw(store.getSnapshot().messages));
 * await store.send('What do three lamps cost?');
 */
export function createChatStore<A extends AnyAgent>(agent: A, { id = 'chat', storage }: ChatOptions = {}): ChatStore<OutputOfAgent<A>, ToolsOf<A>> {
  type Output = OutputOfAgent<A>;
  type Message = ChatStoreMessage<ToolsOf<A>>;
  const chat = agent.chat({ id, ...(storage && { storage }) }) as Chat<Output>;
  const listeners = new Set<() => void>();
  let state: ChatState<Output, ToolsOf<A>> = { messages: [], status: 'loading', turn: 0, callsLeft: 0, error: undefined, result: undefined, isInterrupted: false, approvals: [] };
  /** Messages of earlier runs, and of the current one. */
  let settled: readonly Message[] = [];
  let live: readonly Message[] = [];
  let running: Run<Output> | undefined;
  let ids = 0;

  const set = (change: Partial<typeof state>) => {
    state = { ...state, ...change, messages: live.length ? [...settled, ...live] : settled };
    for (const listener of [...listeners]) listener();
  };
  const stored = () => chat.messages.map(({ role, text: content, outcome, parts, error }, at): Message =>
    ({ id: `stored-${at}`, role, text: content, parts: parts as Message['parts'], outcome, ...(error !== undefined && { error }) }));

  async function load() {
    let error: Error | undefined;
    try {
      await chat.load();
    } catch (failure) {
      error = failure as Error;
    }
    // A message that was sent meanwhile stays below those that were stored.
    if (running) {
      settled = stored();
      return set({});
    }
    if (!listeners.size) return undefined;
    settled = stored();
    return set({ status: 'ready', turn: 0, callsLeft: 0, error, result: undefined, isInterrupted: chat.isInterrupted });
  }

  function subscribe(listener: () => void) {
    const own = () => listener();
    listeners.add(own);
    if (listeners.size === 1) void load();
    return () => {
      if (!listeners.delete(own) || listeners.size) return;
      running?.cancel();
      chat.close();
    };
  }

  /** Asks the user, by an entry of `approvals`. */
  const approve = (request: ApprovalRequest, { signal }: { signal: AbortSignal }) => new Promise<Approval>((resolve) => {
    const settle = (answer: Approval) => {
      set({ approvals: state.approvals.filter((one) => one !== pending) });
      resolve(answer);
    };
    const pending: PendingApproval<any> = {
      request,
      allow: ({ for: scope = 'call' } = {}) => settle({ allow: true, for: scope }),
      refuse: ({ for: scope = 'call' } = {}) => settle({ allow: false, for: scope }),
    };
    if (signal.aborted) return resolve(false);
    signal.addEventListener('abort', () => settle(false), { once: true });
    return set({ approvals: [...state.approvals, pending] });
  });
  const withApproval = (options?: Options): Options => ({ ...(chat.approves ? {} : { approve }), ...options });

  /** Follows a run until it has ended. `question`: the message that it answers; `from`: the parts that it continues. */
  async function follow(run: Run<Output>, question: Message | undefined, from?: readonly Part[]): Promise<RunResult<Output> | undefined> {
    running = run;
    let answer: Message = { id: `assistant-${(ids += 1)}`, role: 'assistant', text: '', parts: (from ?? []) as Message['parts'], outcome: null };
    const draw = (change: Partial<Message>, more: Partial<typeof state> = {}) => {
      answer = { ...answer, ...change };
      live = question ? [question, answer] : [answer];
      set(more);
    };
    /** What a run that went on did before is in its record only. */
    const parts = () => (from ? { parts: chat.messages.at(-1)?.parts as Message['parts'] ?? answer.parts } : {});
    const end = (change: Partial<Message>, more: Partial<typeof state>) => {
      running = undefined;
      answer = { ...answer, ...parts(), ...change };
      settled = [...settled, ...(question ? [question] : []), answer];
      live = [];
      set({ status: 'ready', ...more });
    };
    draw({}, { status: 'running', turn: 0, callsLeft: 0, error: undefined, result: undefined, isInterrupted: false });
    try {
      let written = '';
      for await (const part of run) {
        if (part.type === 'turn-start' || part.type === 'attempt-failed') written = '';
        if (part.type === 'text-delta') written += part.text;
        if (part.type === 'finish') written = part.text;
        const known = part.type === 'tool-call' ? answer.parts.filter((one) => one.type !== 'tool-call' || one.toolCallId !== part.toolCallId) : answer.parts;
        draw({ text: written, parts: /delta$/.test(part.type) ? answer.parts : [...known, part as Part<ToolsOf<A>>] }, { turn: part.turn, callsLeft: part.callsLeft });
      }
      const result = await run;
      end({ outcome: result.ending.outcome }, { result });
      return result;
    } catch (error) {
      // By its property: a page may have the package twice.
      const cancelled = (error as Partial<TurnwiseError>).reason === 'cancelled';
      end(cancelled ? { outcome: 'cancelled' } : { outcome: 'failed', error: (error as Error).message }, cancelled ? {} : { error: error as Error });
      return undefined;
    }
  }

  return {
    getSnapshot: () => state,
    subscribe,
    async send(prompt, options) {
      // Throws if the last message has no answer yet: nothing of this store has changed then.
      const run = chat.send(prompt, withApproval(options));
      return follow(run, { id: `user-${ids + 1}`, role: 'user', text: text(prompt), parts: [], outcome: null });
    },
    async resume(options) {
      const run = chat.resume(withApproval(options));
      const interrupted = settled.at(-1);
      settled = settled.slice(0, -1);
      return follow(run, undefined, interrupted?.parts ?? []);
    },
    async regenerate(options) {
      const run = chat.regenerate(withApproval(options));
      const [question] = settled.slice(-2);
      settled = settled.slice(0, -2);
      return follow(run, question);
    },
    stop: () => running?.stop(),
    cancel: () => running?.cancel(),
    async clear() {
      await chat.clear();
      settled = [];
      live = [];
      set({ error: undefined, result: undefined, isInterrupted: false });
    },
  };
}
