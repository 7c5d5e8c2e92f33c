// `turnwise/react`: a hook that keeps a chat with an agent. Its declarations (www/package/react.d.ts) also declare the tag for JSX.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Agent, RunOptions } from './agent.js';
import type { Chat, ChatOptions } from './chat.js';
import { TurnwiseError } from './index.js';
import type { Part } from './parts.js';
import type { Prompt } from './prompt.js';
import type { RunResult } from './result.js';
import type { Run } from './run.js';

/**
 * A message for display: an assistant's message grows while it streams.
 *
 * @example
 * messages.map(({ id, role, text, error }) => <p key={id} className={role}>{error ?? text}</p>)
 */
export interface UseAgentMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
  /** For assistant messages: the parts of the run, without streamed text. */
  parts: readonly Part[];
  /** For assistant messages: how the run ended; `null` until then. */
  outcome: 'success' | 'partial' | 'failed' | 'cancelled' | null;
  /** Why there is no answer. */
  error?: string;
}

/**
 * What the hook returns.
 *
 * @example
 * const { messages, status, send, cancel }: UseAgent<string> = useAgent(agent);
 */
export interface UseAgent<Output> {
  messages: readonly UseAgentMessage[];
  /** `loading`: the stored chat is being loaded. */
  status: 'loading' | 'ready' | 'running';
  /** The current turn, and the maximum number of LLM requests still to come. */
  turn: number;
  callsLeft: number;
  /** Why the last run has no answer. */
  error: TurnwiseError | Error | undefined;
  result: RunResult<Output> | undefined;
  /** Resolves with the result, or with `undefined` if the run failed: `error` says why. */
  send(prompt: Prompt, options?: Omit<RunOptions, 'messages'>): Promise<RunResult<Output> | undefined>;
  /** Whether the last run was interrupted, for example because the page was closed: `resume` continues it. */
  isInterrupted: boolean;
  resume(options?: Omit<RunOptions, 'messages'>): Promise<RunResult<Output> | undefined>;
  /** Asks the run to conclude from what it has. */
  stop(): void;
  cancel(): void;
  clear(): Promise<void>;
}

const text = (prompt: Prompt) => (typeof prompt === 'string' ? prompt : prompt.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'));

/**
 * A chat with an agent. Create the agent outside the component or with `useMemo`; a different agent or `id` is a different chat.
 *
 * @example
 * const { messages, status, send } = useAgent(agent, { storage });
 * return <button disabled={status !== 'ready'} onClick={() => send('Hello')}>Ask</button>;
 */
export function useAgent<Output = string>(agent: Agent<any, any>, { id = 'chat', storage }: ChatOptions = {}): UseAgent<Output> {
  const chat = useMemo(() => agent.chat({ id, ...(storage && { storage }) }) as Chat<Output>, [agent, id, storage]);
  const [messages, setMessages] = useState<readonly UseAgentMessage[]>([]);
  const [state, setState] = useState<Pick<UseAgent<Output>, 'status' | 'turn' | 'callsLeft' | 'error' | 'result' | 'isInterrupted'>>({ status: 'loading', turn: 0, callsLeft: 0, error: undefined, result: undefined, isInterrupted: false });
  const running = useRef<Run<Output> | undefined>(undefined);
  const ids = useRef(0);

  useEffect(() => {
    let current = true;
    const stored = () => chat.messages.map(({ role, text: content, outcome, parts, error }, at): UseAgentMessage => ({ id: `stored-${at}`, role, text: content, parts, outcome, ...(error !== undefined && { error }) }));
    const ready = (error?: Error) => {
      if (!current) return;
      setMessages(stored());
      setState({ status: 'ready', turn: 0, callsLeft: 0, error, result: undefined, isInterrupted: chat.isInterrupted });
    };
    chat.load().then(() => ready(), ready);
    return () => {
      current = false;
      running.current?.cancel();
      chat.close();
    };
  }, [chat]);

  /** Follows a run until it has ended; `user` is the message that it answers. */
  const follow = useCallback(async (run: Run<Output>, user?: string) => {
    const own = `assistant-${(ids.current += 1)}`;
    let message: UseAgentMessage = { id: own, role: 'assistant', text: '', parts: [], outcome: null };
    const draw = (change: Partial<UseAgentMessage>) => {
      message = { ...message, ...change };
      setMessages((all) => all.map((one) => (one.id === own ? message : one)));
    };
    try {
      running.current = run;
      // A run that goes on replaces the answer that was interrupted.
      setMessages((all) => (user === undefined ? [...all.slice(0, -1), message] : [...all, { id: `user-${ids.current}`, role: 'user', text: user, parts: [], outcome: null }, message]));
      setState({ status: 'running', turn: 0, callsLeft: 0, error: undefined, result: undefined, isInterrupted: false });
      let written = '';
      for await (const part of run) {
        if (part.type === 'turn-start' || part.type === 'attempt-failed') written = '';
        if (part.type === 'text-delta') written += part.text;
        if (part.type === 'finish') written = part.text;
        draw({ text: written, parts: /delta$/.test(part.type) ? message.parts : [...message.parts, part] });
        setState((before) => ({ ...before, turn: part.turn, callsLeft: part.callsLeft }));
      }
      const result = await run;
      draw({ outcome: result.ending.outcome });
      setState((before) => ({ ...before, status: 'ready', result }));
      return result;
    } catch (error) {
      const cancelled = error instanceof TurnwiseError && error.reason === 'cancelled';
      draw({ outcome: cancelled ? 'cancelled' : 'failed', error: (error as Error).message });
      setState((before) => ({ ...before, status: 'ready', error: error as Error }));
      return undefined;
    } finally {
      running.current = undefined;
    }
  }, [chat]);

  const send = useCallback(async (prompt: Prompt, options?: Omit<RunOptions, 'messages'>) => {
    // Throws if the last message has no answer yet: nothing of this page has changed then.
    return follow(chat.send(prompt, options), text(prompt));
  }, [chat, follow]);
  const resume = useCallback(async (options?: Omit<RunOptions, 'messages'>) => {
    return follow(chat.resume(options));
  }, [chat, follow]);
  const stop = useCallback(() => running.current?.stop(), []);
  const cancel = useCallback(() => running.current?.cancel(), []);
  const clear = useCallback(async () => {
    await chat.clear();
    setMessages([]);
    setState((before) => ({ ...before, error: undefined, result: undefined, isInterrupted: false }));
  }, [chat]);
  return { ...state, messages, send, resume, stop, cancel, clear };
}
