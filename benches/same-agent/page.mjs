// The page around a program: runs it once at the start, and again by `window.runAgent`.
import { run } from 'program';
import { calls } from './shop.mjs';

/** Runs the agent; returns its tool calls and the time of its first text: since it began, and since the page was opened. */
async function measured(baseUrl) {
  calls.length = 0;
  const began = performance.now();
  let first;
  const output = await run({ baseUrl, signal: new AbortController().signal, onText: () => { first ??= performance.now(); } });
  return { output, calls: [...calls], sinceBegin: first - began, sinceOpening: first };
}

/** Starts a run that continues until `window.cancelAgent()`; `window.ended` resolves with how it ended. */
window.holdAgent = (baseUrl) => {
  const abort = new AbortController();
  window.cancelAgent = () => abort.abort();
  window.ended = run({ baseUrl, signal: abort.signal, onText: () => {} }).then((output) => ({ output }), (error) => ({ error: String(error) }));
};

if (window.startAt) window.started = measured(window.startAt);
window.runAgent = measured;
