// The thread of Node.js in which the engine runs. What it starts and reads is written in the words that bundlers for servers
// know, with the `Worker` that Node.js has for it: they put the files beside what they make, as bundlers for pages do.
import { readFile } from 'node:fs/promises';
import { Worker, parentPort } from 'node:worker_threads';
import type { MakeWorker } from 'turnwise-glue';
import { init, serve } from './engine-worker';

/** Stands for the package's own worker of tools; a page may name another. */
const TOOLS = 'turnwise:worker.js';

// What the engine uses of a worker, over a thread. It keeps nothing alive: the agent's thread lives while the page wants it.
const makeWorker: MakeWorker = (url, name) => {
  const thread = url === TOOLS ? new Worker(new URL('./worker.js', import.meta.url), { name }) : new Worker(new URL(url), { name });
  const worker: ReturnType<MakeWorker> = {
    onmessage: null, onerror: null, onmessageerror: null,
    postMessage: (message) => thread.postMessage(message),
    terminate: () => void thread.terminate(),
  };
  thread.on('message', (data: unknown) => worker.onmessage?.({ data }));
  thread.on('messageerror', (error: unknown) => worker.onmessageerror?.({ message: String(error) }));
  thread.on('error', (error: Error) => worker.onerror?.({ message: String(error?.message ?? error) }));
  thread.unref(); // listening has made it count
  return worker;
};

const port = parentPort!;
const module = readFile(new URL('./agent_bg.wasm', import.meta.url));
port.on('message', serve((data, transfer) => port.postMessage(data, transfer), async () => init({ module_or_path: await module }), makeWorker, TOOLS));
