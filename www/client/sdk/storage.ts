// Where chats keep what they hold: in memory, in the browser, or wherever you like.
import { createStore, del, get, set } from 'idb-keyval';

/** Texts by key. A storage of your own has these three functions. */
export interface ChatStorage {
  get(key: string): Promise<string | undefined> | string | undefined;
  set(key: string, text: string): Promise<void> | void;
  delete(key: string): Promise<void> | void;
}

/** Forgotten with the page. */
export function inMemory(): ChatStorage {
  const texts = new Map<string, string>();
  return {
    get: (key) => texts.get(key),
    set: (key, text) => void texts.set(key, text),
    delete: (key) => void texts.delete(key),
  };
}

/** In this browser, for this site (IndexedDB). `name` tells databases apart. */
export function inBrowser(name = 'turnwise-chats'): ChatStorage {
  let opened: ReturnType<typeof createStore> | undefined;
  const store = () => (opened ??= createStore(name, 'chats')); // not before it is used: a server has no such thing
  return {
    get: (key) => get<string>(key, store()),
    set: (key, text) => set(key, text, store()),
    delete: (key) => del(key, store()),
  };
}
