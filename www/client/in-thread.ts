// The tool worker in the engine's thread. Without a separate thread, calls run one after the other, and one that never
// returns cannot be terminated.
//
// All workers share one module here. Each has a name, by which the module separates their state (crates/worker/src/serve.rs), so
// that agents share only code.
import type { MakeWorker } from 'turnwise-glue';
import start from 'turnwise-tools';

interface Scope {
  postMessage: (data: unknown) => void;
  onmessage: (event: unknown) => void;
}
const scope = globalThis as unknown as Scope;

let module: unknown;
let starting: Promise<unknown> | undefined;
let broken: unknown;
/** The module's own message handler. */
let post: ((message: unknown) => void) | undefined;
/** The worker whose call the module is running, and the queued calls. */
let current: { worker: ThreadWorker; message: unknown } | undefined;
const waiting: { worker: ThreadWorker; message: unknown }[] = [];
let made = 0;

class ThreadWorker {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: { message: string }) => void) | null = null;
  onmessageerror: ((event: { message: string }) => void) | null = null;
  ended = false;
  name = `in-thread-${(made += 1)}`;

  postMessage(message: unknown) {
    if (this.ended) return;
    if (typeof message === 'object' && message !== null && 'boot' in message) {
      void boot(this);
    } else {
      waiting.push({ worker: this, message });
      next();
    }
  }

  /** Lets the current call run to its end, but drops its answer and the worker's state. */
  terminate() {
    this.ended = true;
    for (let at = waiting.length; at--;) if (waiting[at]!.worker === this) waiting.splice(at, 1);
    forget(this);
  }

  hear(data: unknown) {
    if (!this.ended) this.onmessage?.({ data });
  }
}

async function boot(worker: ThreadWorker) {
  try {
    starting ??= begin();
    const ready = await starting;
    worker.hear(broken ?? ready);
  } catch (error) {
    worker.hear(JSON.stringify({ fatal: `the tool module did not start: ${error}` }));
  }
}

/** Starts the module, which uses the global scope, as in a worker. Resolves with its first message. */
async function begin() {
  let ready: unknown;
  scope.postMessage = (data) => { ready ??= data; };
  await start({ module_or_path: module });
  post = scope.onmessage;
  scope.postMessage = (data) => {
    if (typeof data === 'string' && data.startsWith('{"fatal"')) broken = data;
    const worker = current?.worker;
    current = undefined;
    if (worker?.ended) forget(worker); // it may have been terminated before the module took its call
    worker?.hear(data);
    next();
  };
  return ready;
}

function forget(worker: ThreadWorker) {
  if (post && !broken) post({ worker: worker.name, ended: true });
}

function next(): void {
  if (current || !waiting.length) return;
  current = waiting.shift()!;
  if (broken) {
    const { worker } = current;
    current = undefined;
    worker.hear(broken);
    next();
    return;
  }
  post!({ data: current.message, worker: current.worker.name });
}

/** Makes workers from this module when the engine needs one. */
export function inThread(compiled: unknown): MakeWorker {
  module ??= compiled;
  // The engine need not fetch and compile the module, which is already here.
  return Object.assign(() => new ThreadWorker(), { ownModule: true });
}
