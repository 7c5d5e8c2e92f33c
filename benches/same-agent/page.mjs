// The page around a program: runs it once at the start, and again by `window.runAgent`.
import { run } from 'program';
import { calls } from './shop.mjs';

/** A run, its calls of tools, and when its first text came: since it began, and since the page was opened. */
async function measured(baseUrl) {
  calls.length = 0;
  const began = performance.now();
  let first;
  const output = await run({ baseUrl, signal: new AbortController().signal, onText: () => { first ??= performance.now(); } });
  return { output, calls: [...calls], sinceBegin: first - began, sinceOpening: first };
}

/** A run that goes on until `window.cancelAgent()`; how it ended is in `window.ended`. */
window.holdAgent = (baseUrl) => {
  const abort = new AbortController();
  window.cancelAgent = () => abort.abort();
  window.ended = run({ baseUrl, signal: abort.signal, onText: () => {} }).then((output) => ({ output }), (error) => ({ error: String(error) }));
};

if (window.startAt) window.started = measured(window.startAt);
window.runAgent = measured;
