// The package in Node.js: the same API, the engine in a thread. It keeps Node.js alive while a request is pending.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { startBy } from './index';
import type { Start } from './link';

export * from './index';
export { default } from './index';

export const thread: Start = ({ hear, fail }) => {
  // `node -e` has flags for the module type of the program, which must not be passed to a file.
  const execArgv = process.execArgv.filter((argument) => !argument.startsWith('--input-type'));
  const worker = new Worker(new URL('./thread.js', import.meta.url), { name: 'turnwise-engine', execArgv });
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

startBy(thread);
