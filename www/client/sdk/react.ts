// `turnwise/react`: a hook that keeps a chat with an agent, and Markdown. Its declarations (www/package/react.d.ts) also declare the tag for JSX.
import { createElement, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { HTMLAttributes, ReactElement } from 'react';
import type { Agent } from './agent.js';
import type { ChatOptions } from './chat.js';
import { createChatStore } from './chat-store.js';
import type { ChatActions, ChatState, ChatStoreMessage, OutputOfAgent, ToolsOf } from './chat-store.js';
import { draw } from './draw.js';
import type { MarkdownOptions } from './markdown.js';
import type { Tools } from './tool.js';

export type { OutputOfAgent, PendingApproval, ToolsOf } from './chat-store.js';
export type { MarkdownOptions } from './markdown.js';

/**
 * A message for display: an assistant's message grows while it streams.
 *
 * @example
 * messages.map(({ id, role, text, error }) => <p key={id} className={role}>{error ?? text}</p>)
 */
export type UseAgentMessage<T extends Tools = Tools> = ChatStoreMessage<T>;

/**
 * What `useAgent` returns: the state of the chat, and what can be done with it.
 *
 * @example
 * const { messages, status, send, cancel }: UseAgent = useAgent(agent);
 */
export type UseAgent<Output = string, T extends Tools = Tools> = ChatState<Output, T> & ChatActions<Output>;

/**
 * A chat with an agent. Create the agent outside the component or with `useMemo`; a different agent, `id` or `storage` is a different
 * chat. The types of the output and of the tools' names and arguments come from the agent. Unmounting cancels a run in progress.
 *
 * @example
 * const { messages, status, approvals, send, regenerate } = useAgent(agent, { storage });
 */
export function useAgent<A extends Agent<any, any>>(agent: A, { id, storage }: ChatOptions = {}): UseAgent<OutputOfAgent<A>, ToolsOf<A>> {
  const store = useMemo(() => createChatStore(agent, { ...(id !== undefined && { id }), ...(storage && { storage }) }), [agent, id, storage]);
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
  return useMemo(() => {
    const { send, resume, regenerate, stop, cancel, clear } = store;
    return { ...state, send, resume, regenerate, stop, cancel, clear };
  }, [store, state]);
}

/**
 * Markdown that a model wrote, as `drawMarkdown` of `turnwise/markdown` draws it, which loads on first use. Takes its options, and what
 * a `div` takes.
 *
 * @example
 * <Markdown text={message.text} className="answer" />
 */
export function Markdown({ text, images, hosts, newTab, base, highlight, ...rest }: MarkdownOptions & { text: string } & Omit<HTMLAttributes<HTMLDivElement>, 'children'>): ReactElement {
  const element = useRef<HTMLDivElement>(null);
  const at = base && String(base);
  useEffect(() => {
    const options = Object.fromEntries(Object.entries({ images, hosts, newTab, base: at, highlight }).filter(([, value]) => value !== undefined)) as MarkdownOptions;
    if (element.current) void draw(element.current, text, options);
  }, [text, images, hosts, newTab, at, highlight]);
  return createElement('div', { ...rest, ref: element });
}
