// Storage for chats: in memory, in the browser, or your own.
import { text as string } from '../index.js';
import { createStore, del, delMany, get, getMany, keys, set } from 'idb-keyval';

/**
 * Stores texts by key. Implement the first three functions for your own storage.
 *
 * @example
 * const storage: ChatStorage = { get: (key) => db.read(key), set: (key, text) => db.write(key, text), delete: (key) => db.remove(key) };
 */
export interface ChatStorage {
  get(key: string): Promise<string | undefined> | string | undefined;
  set(key: string, text: string): Promise<void> | void;
  delete(key: string): Promise<void> | void;
  /** A list of texts for each key. With it, a chat writes only the run that is new; without it, the whole chat each time. */
  list?: {
    all(key: string): Promise<readonly string[]> | readonly string[];
    /** Sets the text at this place, counted from 0: an earlier one, or the next. */
    put(key: string, at: number, text: string): Promise<void> | void;
    delete(key: string): Promise<void> | void;
  };
  /**
   * A name that is the same wherever this storage is opened, also in other tabs. Of several tabs with the same chat, one answers at a
   * time, and the next continues from what it wrote. Without it, that holds for the chats that share this object.
   */
  name?: string;
}

/**
 * Kept in memory, lost when the page closes.
 *
 * @example
 * agent.chat({ storage: inMemory() })
 */
export function inMemory(): ChatStorage {
  const texts = new Map<string, string>();
  const lists = new Map<string, string[]>();
  return {
    get: (key) => texts.get(key),
    set: (key, text) => void texts.set(key, text),
    delete: (key) => void texts.delete(key),
    list: {
      all: (key) => [...lists.get(key) ?? []],
      put: (key, at, text) => {
        const list = lists.get(key) ?? [];
        list[at] = text;
        lists.set(key, list);
      },
      delete: (key) => void lists.delete(key),
    },
  };
}

/**
 * Kept in this browser, for this site (IndexedDB). `name` is the name of the database.
 *
 * @example
 * agent.chat({ storage: inBrowser(), id: 'support' })
 */
export function inBrowser(name = 'turnwise-chats'): ChatStorage {
  string(name, 'inBrowser(): name');
  let opened: ReturnType<typeof createStore> | undefined;
  const store = () => {
    if (typeof indexedDB === 'undefined') throw new Error('inBrowser() needs IndexedDB, which this program does not have: use inMemory(), or a storage of your own');
    return (opened ??= createStore(name, 'chats')); // opened on first use: servers have no IndexedDB
  };
  const place = (key: string, at: number) => `${key}\n${String(at).padStart(9, '0')}`;
  const places = async (key: string) => (await keys<string>(store())).filter((one) => one.startsWith(`${key}\n`)).sort();
  return {
    name: `turnwise ${name}`,
    get: async (key) => get<string>(key, store()),
    set: async (key, text) => set(key, text, store()),
    delete: async (key) => del(key, store()),
    list: {
      all: async (key) => (await getMany<string>(await places(key), store())).filter((text) => text !== undefined),
      put: async (key, at, text) => set(place(key, at), text, store()),
      delete: async (key) => delMany(await places(key), store()),
    },
  };
}
