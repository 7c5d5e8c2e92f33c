// The Worker interface (postMessage, onmessage, onerror, onmessageerror, terminate) over Node.js worker threads, where
// the page module looks for it. Import this before the first run. A thread does not keep Node.js alive: a call under way
// does, by its deadline's timer.

import { Worker as Thread } from 'node:worker_threads';

class NodeWorker {
  onmessage = null;
  onerror = null;
  onmessageerror = null;
  #thread;

  constructor(url, { name } = {}) {
    this.#thread = new Thread(new URL(url), { name });
    this.#thread.unref();
    this.#thread.on('message', (data) => this.onmessage?.({ data }));
    this.#thread.on('messageerror', (error) => this.onmessageerror?.({ message: String(error) }));
    this.#thread.on('error', (error) => this.onerror?.({ message: String(error?.message ?? error) }));
  }

  postMessage(message) {
    this.#thread.postMessage(message);
  }

  terminate() {
    this.#thread.terminate();
  }
}

globalThis[Symbol.for('turnwise.Worker')] = NodeWorker;
