// `turnwise/svelte`: a store that keeps a chat with an agent, and an action for Markdown. It follows Svelte's contract of stores, so it needs
// nothing of Svelte. Its declarations (www/package/svelte.d.ts) also declare the tag for templates.
import type { Agent } from './agent.js';
import type { ChatOptions } from './chat.js';
import { createChatStore } from './chat-store.js';
import type { ChatActions, ChatState, ChatStoreMessage, OutputOfAgent, ToolsOf } from './chat-store.js';
import { draw } from './draw.js';
import type { MarkdownOptions } from './markdown.js';
import type { Tools } from './tool.js';

export type { OutputOfAgent, PendingApproval, ToolsOf } from './chat-store.js';
export type { MarkdownOptions } from './markdown.js';

/** A message for display: an assistant's message grows while it streams. */
export type UseAgentMessage<T extends Tools = Tools> = ChatStoreMessage<T>;

/** A readable store of the chat's state, and what can be done with the chat. */
export interface UseAgent<Output = string, T extends Tools = Tools> extends ChatActions<Output> {
  subscribe(run: (state: ChatState<Output, T>) => void): () => void;
}

/**
 * A chat with an agent, as a store: `$chat.messages`, `chat.send(…)`. The types of the output and of the tools' names and arguments come
 * from the agent. When the last component that uses it has gone, a run in progress is cancelled.
 *
 * @example
 * const chat = useAgent(agent, { storage: inBrowser() });
 */
export function useAgent<A extends Agent<any, any>>(agent: A, options?: ChatOptions): UseAgent<OutputOfAgent<A>, ToolsOf<A>> {
  const { getSnapshot, subscribe, ...actions } = createChatStore(agent, options);
  return {
    ...actions,
    subscribe(run) {
      run(getSnapshot());
      // A server only draws the first state.
      return globalThis.document ? subscribe(() => run(getSnapshot())) : () => {};
    },
  };
}

/** A text, with options or without. */
export type MarkdownValue = string | ({ text: string } & MarkdownOptions);

/**
 * `<div use:markdown={message.text}></div>` draws Markdown that a model wrote, as `drawMarkdown` of `turnwise/markdown` does, which loads on
 * first use.
 *
 * @example
 * import { markdown } from 'turnwise/svelte';
 */
export function markdown(element: HTMLElement, value: MarkdownValue) {
  const update = (given: MarkdownValue) => {
    const { text, ...options } = typeof given === 'string' ? { text: given } : given;
    void draw(element, text, options);
  };
  update(value);
  return { update };
}
