// The Node.js thread in which the engine runs. Its references to other files have the form that bundlers for servers
// recognize, with the `Worker` of Node.js: they put the files next to their output, as bundlers for pages do.
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { Worker, parentPort } from 'node:worker_threads';
import type { MakeWorker } from 'turnwise-glue';
import { init, serve } from './engine-worker';

// The command line has lines of its own for what happens, and the records have the rest.
if (process.env.TURNWISE_CONSOLE === 'off') Object.assign(console, { warn() {}, error() {} });

/** Stands for the package's own tool worker; a page may set another. */
const TOOLS = 'turnwise:worker.js';

// Implements the part of `Worker` that the engine uses with a thread. It does not keep the process alive: the agent's thread
// lives as long as the page needs it.
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
  thread.unref(); // listening had ref'd it
  return worker;
};

const port = parentPort!;
const module = readFile(new URL('./agent_bg.wasm', import.meta.url));
port.on('message', serve((data, transfer) => port.postMessage(data, transfer), async () => init({ module_or_path: await module }), makeWorker, TOOLS));
