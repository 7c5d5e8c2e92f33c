// Appended to the wasm-bindgen glue of the worker module: together they are `worker.js`, an ES module for a dedicated worker
// (`new Worker(url, { type: 'module' })`) and for a Node.js worker thread (www/client/thread.ts). It waits for one
// message `{ boot: WebAssembly.Module | null }`, starts the module, and from then on Rust (crates/worker/src/serve.rs) owns
// `onmessage` and `postMessage`. Anywhere else it does nothing (www/client/in-thread.ts starts it there). `__wbg_init` is
// the glue's own name for its default export.

const listen = (scope, load) => {
  scope.onmessage = async ({ data }) => {
    try {
      const module = data.boot ?? (await load());
      await __wbg_init(module && { module_or_path: module });
    } catch (error) {
      scope.postMessage(JSON.stringify({ fatal: `the worker module did not start: ${error}` }));
    }
  };
};

const inNode = () => {
  const builtIn = process.getBuiltinModule; // not imported, so that bundlers for pages do not try to resolve it
  const { parentPort } = builtIn('node:worker_threads');
  if (!parentPort) return; // not in a worker thread
  const { readFile } = builtIn('node:fs/promises');
  globalThis.postMessage = (message) => parentPort.postMessage(message);
  listen(globalThis, () => readFile(new URL('./worker_bg.wasm', import.meta.url)));
  parentPort.on('message', (data) => globalThis.onmessage({ data }));
};

if (typeof DedicatedWorkerGlobalScope !== 'undefined') {
  // Otherwise an error inside a promise would go unnoticed outside.
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault();
    postMessage(JSON.stringify({ fatal: String(event.reason) }));
  });
  listen(globalThis, () => undefined);
} else if (globalThis.process?.versions?.node && globalThis.navigator?.userAgent !== 'Cloudflare-Workers') {
  inNode();
}
