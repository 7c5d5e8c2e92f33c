// node .ci/files.mjs: prints the files of the package that the app loads, without the parts of its worker. Also a module with that
// list and the list of the parts, so that each is written once.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const loader = readFileSync(path.join(import.meta.dirname, '../www/worker-parts.js'), 'utf8');

/** The files of the parts of the tools' worker, which load on first use. */
export const PARTS = [...loader.matchAll(/^ {2}'([^']+)': \(\) => new URL\('\.\/([^']+)', import\.meta\.url\),$/gm)].map(([, name, file]) => {
  if (name !== file) throw new Error(`www/worker-parts.js: ${name} is ${file}`);
  return name;
});
if (!PARTS.length) throw new Error('www/worker-parts.js lists no files');

/** The files of the package that the app loads, without `PARTS`. */
export const APP = ['worker.js', 'worker_bg.wasm', 'app-client.js', 'app-worker.js', 'app-worker_bg.wasm', 'prompt-api.js', 'sandbox.js', 'sandbox-worker.js', 'quickjs.wasm'];

if (process.argv[1] === import.meta.filename) console.log(APP.join('\n'));
