// `turnwise/vue`: a composable that keeps a chat with an agent, and a directive for Markdown. Its declarations (www/package/vue.d.ts) also
// declare the tag for templates.
import { computed, onScopeDispose, shallowRef } from 'vue';
import type { ComputedRef } from 'vue';
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

/** What `useAgent` returns: a ref for each field of the chat's state, and what can be done with the chat. */
export type UseAgent<Output = string, T extends Tools = Tools> = { readonly [Name in keyof ChatState]: ComputedRef<ChatState<Output, T>[Name]> } & ChatActions<Output>;

/**
 * A chat with an agent, for `setup`. The types of the output and of the tools' names and arguments come from the agent. Unmounting cancels
 * a run in progress.
 *
 * @example
 * const { messages, status, approvals, send } = useAgent(agent, { storage: inBrowser() });
 */
export function useAgent<A extends Agent<any, any>>(agent: A, options?: ChatOptions): UseAgent<OutputOfAgent<A>, ToolsOf<A>> {
  const store = createChatStore(agent, options);
  const state = shallowRef(store.getSnapshot());
  // A server only draws the first state.
  if (globalThis.document) onScopeDispose(store.subscribe(() => { state.value = store.getSnapshot(); }));
  const refs = Object.fromEntries(Object.keys(state.value).map((name) => [name, computed(() => state.value[name as keyof ChatState])]));
  const { send, resume, regenerate, stop, cancel, clear } = store;
  return { ...refs, send, resume, regenerate, stop, cancel, clear } as unknown as UseAgent<OutputOfAgent<A>, ToolsOf<A>>;
}

/** A text, with options or without. */
export type MarkdownValue = string | ({ text: string } & MarkdownOptions);

function show(element: HTMLElement, { value, oldValue }: { value: MarkdownValue; oldValue?: MarkdownValue | null }) {
  if (value === oldValue) return;
  const { text, ...options } = typeof value === 'string' ? { text: value } : value;
  void draw(element, text, options);
}

/**
 * `<div v-markdown="message.text" />` draws Markdown that a model wrote, as `drawMarkdown` of `turnwise/markdown` does, which loads on first use.
 *
 * @example
 * import { vMarkdown } from 'turnwise/vue';
 */
export const vMarkdown = { mounted: show, updated: show };
