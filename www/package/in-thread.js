// Tools in the thread of the agent, for hosts without workers, such as Cloudflare Workers. Call `useThread` once, with the
// compiled `worker_bg.wasm`, before the first run: built-in tools, checks of arguments, `replay`, `summarize` and the demo
// model then work as in a page. What a thread of its own would give is missing: calls run one after the other, and one that
// never comes back cannot be ended.
import start from './worker.js';

let module;
let starting;
let broken;
/** Whose call the module is running, and those that wait. */
let current;
const waiting = [];

class ThreadWorker {
  onmessage = null;
  onerror = null;
  onmessageerror = null;
  ended = false;

  /** The page need not fetch and compile what is here already. */
  static ownModule = true;

  postMessage(message) {
    if (typeof message === 'object' && message !== null && 'boot' in message) boot(this);
    else {
      waiting.push({ worker: this, message });
      next();
    }
  }

  /** What is under way goes on to its end; its answer is dropped. */
  terminate() {
    this.ended = true;
    for (let at = waiting.length; at--;) if (waiting[at].worker === this) waiting.splice(at, 1);
  }

  hear(data) {
    if (!this.ended) this.onmessage?.({ data });
  }
}

async function boot(worker) {
  try {
    starting ??= begin();
    const ready = await starting;
    worker.hear(broken ?? ready);
  } catch (error) {
    worker.hear(JSON.stringify({ fatal: `the tool module did not start: ${error}` }));
  }
}

/** Starts the module; it speaks to the global scope, as in a worker. Resolves with its first message. */
async function begin() {
  let ready;
  globalThis.postMessage = (data) => { ready ??= data; };
  await start({ module_or_path: module });
  globalThis.postMessage = (data) => {
    if (typeof data === 'string' && data.startsWith('{"fatal"')) broken = data;
    const { worker } = current ?? {};
    current = undefined;
    worker?.hear(data);
    next();
  };
  return ready;
}

function next() {
  if (current || !waiting.length) return;
  current = waiting.shift();
  if (broken) {
    const { worker } = current;
    current = undefined;
    worker.hear(broken);
    next();
    return;
  }
  globalThis.onmessage({ data: current.message });
}

/** `compiled`: the `WebAssembly.Module` of `worker_bg.wasm`, or its bytes where those may be compiled. */
export function useThread(compiled) {
  module = compiled;
  globalThis[Symbol.for('turnwise.Worker')] = ThreadWorker;
}
