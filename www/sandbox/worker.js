// A worker that runs one program: a classic or a module worker of a page or of the sandboxed frame, or a Node.js thread. It
// receives `{ code, seed, at, tools, input }` with `wasm`, the bytes of quickjs.wasm, or `wasmUrl`, and then `{ answer: [number, failed, text] }` for each call; it posts
// `{ ask: [name, arguments] }` and, once, `{ end: [ok, text] }`, or `{ failed: why }` if it could not run the program.
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import { start } from './program.js';

/** Nothing of this worker is of use to a program, so it goes, should a program ever come out of QuickJS. */
const NEEDED = new Set([
  'Object', 'Function', 'Array', 'Number', 'String', 'Boolean', 'Symbol', 'BigInt', 'Math', 'JSON', 'Reflect', 'Promise', 'Proxy',
  'Map', 'Set', 'WeakMap', 'WeakSet', 'Date', 'RegExp', 'Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError',
  'EvalError', 'URIError', 'AggregateError', 'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array',
  'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'WebAssembly',
  'TextEncoder', 'TextDecoder', 'undefined', 'NaN', 'Infinity', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'globalThis', 'self',
  'console', 'performance', 'queueMicrotask', 'setTimeout', 'clearTimeout', 'onmessage',
]);

function strip() {
  for (let scope = globalThis; scope && scope !== Object.prototype; scope = Object.getPrototypeOf(scope)) {
    for (const name of Object.getOwnPropertyNames(scope)) {
      if (NEEDED.has(name) || name === 'constructor') continue;
      try {
        if (!delete scope[name]) scope[name] = undefined;
      } catch {
        // It cannot be removed. A policy and QuickJS itself are what keeps programs in.
      }
    }
  }
}

function run(wasm, program, post) {
  const answers = []; // that came before the program had begun
  let begun;
  const answer = (given) => (begun ? begun.answer(...given) : answers.push(given));
  const begin = async () => {
    // QuickJS asks the engine around it for the time zone: a program runs in UTC everywhere.
    Date.prototype.getTimezoneOffset = () => 0;
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: await WebAssembly.compile(await wasm) }));
    begun = start(quickjs, program, { ask: (...ask) => post({ ask }), end: (...end) => post({ end }) });
    for (const given of answers.splice(0)) begun.answer(...given);
  };
  begin().catch((error) => post({ failed: String(error) }));
  return answer;
}

/** `listen` registers the listener of messages; `load(wasm, wasmUrl)` resolves with the module's bytes. */
function serve(listen, post, load) {
  let answer;
  listen((message) => {
    if (answer) return answer(message.answer);
    const { wasm, wasmUrl, ...program } = message;
    answer = run(load(wasm, wasmUrl), program, post);
    return undefined;
  });
}

if (typeof DedicatedWorkerGlobalScope !== 'undefined') {
  const scope = globalThis;
  const post = scope.postMessage.bind(scope);
  serve((hear) => { scope.onmessage = ({ data }) => hear(data); }, (message) => post(message), async (bytes, url) => {
    const wasm = bytes ?? await (await fetch(url)).arrayBuffer();
    strip();
    return wasm;
  });
} else if (globalThis.process?.versions?.node) {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  // Node.js needs its own globals.
  if (parentPort) serve((hear) => parentPort.on('message', hear), (message) => parentPort.postMessage(message), async (bytes) => bytes);
}
