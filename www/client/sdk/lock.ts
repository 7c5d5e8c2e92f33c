// Who writes a chat: of all that share its storage, in this page and in other tabs, one at a time.
import type { ChatStorage } from './storage.js';

/** For each storage, the end of the last claim of each key. */
const claims = new WeakMap<ChatStorage, Map<string, Promise<void>>>();

/** A claim: `held` resolves once it is this one's turn; `release` ends it, also before that. */
export interface Claim {
  held: Promise<void>;
  release: () => void;
}

/** Claims a key of a storage. A storage with a name is claimed in all tabs, where the browser has locks. */
export function claim(storage: ChatStorage, key: string): Claim {
  const own = claims.get(storage) ?? new Map<string, Promise<void>>();
  claims.set(storage, own);
  const before = own.get(key) ?? Promise.resolve();
  let release!: () => void;
  const released = new Promise<void>((resolve) => { release = resolve; });
  own.set(key, before.then(() => released));
  const locks = storage.name === undefined ? undefined : (globalThis.navigator as Navigator | undefined)?.locks;
  const held = locks
    ? before.then(() => new Promise<void>((resolve) => void locks.request(`${storage.name} ${key}`, () => { resolve(); return released; }).catch(() => resolve())))
    : before;
  return { held, release };
}
