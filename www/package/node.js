// The package in Node.js: the same API. A module is read from disk here, and a worker is a thread.
import { readFile } from 'node:fs/promises';
import './node-worker.js';
import initModule from './turnwise.js';

export * from './turnwise.js';

export default async function init(input) {
  const module = input?.module_or_path ?? input ?? readFile(new URL('./turnwise_bg.wasm', import.meta.url));
  return initModule({ module_or_path: await module });
}
