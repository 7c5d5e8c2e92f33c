// The package in Node.js: the same API, the engine in a thread. It keeps Node.js alive while a request is pending.
import { TextDecoder, TextEncoder } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startBy, webBy } from './index';
import type { Start } from './link';

export * from './index';
export { default } from './index';

export const thread: Start = ({ hear, fail }) => {
  // None of the program's own flags: a thread refuses those of the whole process (memory, inspector), and needs no other.
  const worker = new Worker(new URL('./thread.js', import.meta.url), { name: 'turnwise-engine', execArgv: [] });
  worker.on('message', hear);
  worker.on('messageerror', fail);
  worker.on('error', fail);
  worker.on('exit', (code: number) => fail(new Error(`its thread ended with code ${code}`)));
  worker.unref(); // listening had ref'd it
  return {
    post: (data, transfer) => worker.postMessage(data, transfer),
    busy: (busy) => (busy ? worker.ref() : worker.unref()),
    end: () => void worker.terminate(),
  };
};

// A test's own document, as jsdom's in Jest, may lack them.
globalThis.TextEncoder ??= TextEncoder;
globalThis.TextDecoder ??= TextDecoder;

startBy(thread);
webBy(() => import('./web/node'));
