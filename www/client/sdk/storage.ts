// Storage for chats: in memory, in the browser, or your own.
import { createStore, del, get, set } from 'idb-keyval';

/** Stores texts by key. Implement these three functions for your own storage. */
export interface ChatStorage {
  get(key: string): Promise<string | undefined> | string | undefined;
  set(key: string, text: string): Promise<void> | void;
  delete(key: string): Promise<void> | void;
}

/** Kept in memory, lost when the page closes. */
export function inMemory(): ChatStorage {
  const texts = new Map<string, string>();
  return {
    get: (key) => texts.get(key),
    set: (key, text) => void texts.set(key, text),
    delete: (key) => void texts.delete(key),
  };
}

/** Kept in this browser, for this site (IndexedDB). `name` is the name of the database. */
export function inBrowser(name = 'turnwise-chats'): ChatStorage {
  let opened: ReturnType<typeof createStore> | undefined;
  const store = () => (opened ??= createStore(name, 'chats')); // opened on first use: servers have no IndexedDB
  return {
    get: (key) => get<string>(key, store()),
    set: (key, text) => set(key, text, store()),
    delete: (key) => del(key, store()),
  };
}
