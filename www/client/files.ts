// `agent.files`: the page's mirror of the files that the agent's tools see. The page reads and writes without waiting; the
// worker receives the changes, and reports what tools wrote.
import { isBlob, wrong } from './check';
import { disposable } from './lifetime';
import { MAX_PATH, RESULTS } from './protocol';
import type { AgentFileChange } from './protocol';

/** Normalizes a path as in crates/tools/src/path.rs; throws an error for the first rule that it violates. */
function normal(given: string): string {
  const path = given.trim().replaceAll('\\', '/');
  const refuse = (why: string): never => { throw new TypeError(`path: the path ${why}`); };
  if (new TextEncoder().encode(path).length > MAX_PATH) refuse(`is longer than ${MAX_PATH} bytes`);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) refuse('contains a control character');
  const absolute = () => refuse('is absolute; give one relative to the workspace, such as docs/a.md');
  if (path.startsWith('/')) absolute();
  const parts = [];
  for (const part of path.split('/').map((one) => one.trim())) {
    if (part === '..') refuse('contains `..`; it must stay inside the workspace');
    if (part !== '' && part !== '.') parts.push(part);
  }
  if (!parts.length) refuse('is empty');
  // A drive letter or a URL's scheme.
  if (/^([A-Za-z]:|[^:]*:$)/.test(parts[0]!)) absolute();
  return parts.join('/');
}

const lookup = (path: string) => {
  try {
    return normal(path);
  } catch {
    return undefined;
  }
};

export class Files {
  declare readonly [Symbol.dispose]: () => void;
  #files = new Map<string, Blob>();
  #tell: (changes: AgentFileChange[], blobs: Blob[]) => void;

  constructor(tell: (changes: AgentFileChange[], blobs: Blob[]) => void) {
    this.#tell = tell;
  }

  put(path: string, content: string | Blob): string {
    if (typeof content !== 'string' && !isBlob(content)) throw wrong('content', content, 'a string or a Blob');
    const at = normal(path);
    const blob = typeof content === 'string' ? new Blob([content], { type: 'text/plain' }) : content;
    this.#files.set(at, blob);
    this.#tell([{ path: at, there: true }], [blob]);
    return at;
  }

  list(): string[] {
    return [...this.#files.keys()].filter((path) => !path.startsWith(RESULTS)).sort();
  }

  get(path: string): Blob | undefined {
    return this.#files.get(lookup(path) ?? '');
  }

  remove(path: string) {
    const at = lookup(path);
    if (at === undefined || !this.#files.delete(at)) return;
    this.#tell([{ path: at, there: false }], []);
  }

  /** Does nothing: nothing is held outside JavaScript. */
  free() {}

  /** Returns all files, for a new worker. */
  static all(files: Files): [AgentFileChange[], Blob[]] {
    return [[...files.#files.keys()].map((path) => ({ path, there: true })), [...files.#files.values()]];
  }

  /** Applies what tools wrote or removed. */
  static wrote(files: Files, changes: AgentFileChange[], blobs: () => Blob) {
    for (const { path, there } of changes) {
      if (there) files.#files.set(path, blobs());
      else files.#files.delete(path);
    }
  }
}
disposable(Files.prototype);
