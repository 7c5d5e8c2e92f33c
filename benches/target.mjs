// A page that implements `window.runAgent({ baseUrl, turns }) -> { turns, text }` and leaves the data that it has to keep of a
// run in `window.kept`. A run with wrong requests, tool results or answer is an error, not a figure.
import { setTimeout as sleep } from 'node:timers/promises';
import { countable, rendererOf } from './renderer.mjs';
import { answerLength } from './server.mjs';
import { median } from './stats.mjs';

const SHORT_MS = 1200; // shorter measurements are repeated
const SAMPLES = 5;
const LIMIT_MS = 180_000;
const BUSY_MS = 200;

let runs = 0;
/** Returns a unique name for a run. */
export const newRun = () => `r${(runs += 1)}`;

/** Opens `url` in a fresh context, and runs `body(target)`. Fails if the page throws an error. */
export async function withTarget({ browser, model, url }, body) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(url);
    await page.waitForFunction(() => window.runAgent, null, { timeout: 30_000 });
    const result = await body({ page, cdp, model, renderer: countable ? await rendererOf(browser, page, () => pageCpuMs(cdp)) : undefined });
    if (faults.length) throw new Error(faults.join('; '));
    return result;
  } finally {
    await context.close();
  }
}

/** Returns the CPU time of the page's main thread so far. */
async function pageCpuMs(cdp) {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

/** Waits for `work`; throws an error after the time limit. */
export async function limited(work) {
  const stop = new AbortController();
  const late = sleep(LIMIT_MS, undefined, { signal: stop.signal }).then(() => { throw new Error(`no end after ${LIMIT_MS / 1000} s`); });
  late.catch(() => {});
  return Promise.race([work, late]).finally(() => stop.abort());
}

/** Returns what the server received of a run, once it has checked the last request, which it does after answering. */
export async function taken(model, run) {
  for (let i = 0; i < 400 && model.taken(run)?.results === undefined; i += 1) await sleep(5);
  return model.taken(run);
}

/**
 * Measures one run of `turns` tool turns and an answer of `chunks` chunks: wall time and CPU time of the page's thread.
 * `call`: a tool to use instead of the page's own; `busy`: with a loop of long tasks running in the page.
 */
export async function once({ page, cdp, model }, { turns, chunks = 20, write = 'event', call = 'echo', busy = false }) {
  const run = newRun();
  const baseUrl = `${model.url}/turns=${turns},run=${run},chunks=${chunks},write=${write},call=${call}/v1`;
  const before = await pageCpuMs(cdp);
  const outcome = await limited(page.evaluate(async ({ options, busyMs }) => {
    let over = false;
    const spin = () => {
      for (const until = performance.now() + busyMs; performance.now() < until;);
      if (!over) setTimeout(spin);
    };
    if (busyMs) setTimeout(spin);
    const began = performance.now();
    try {
      const { turns, text } = await window.runAgent(options);
      return { ms: performance.now() - began, turns, length: text?.length ?? 0 };
    } finally {
      over = true;
    }
  }, { options: { baseUrl, turns, tool: call }, busyMs: busy ? BUSY_MS : 0 }));
  const cpuMs = (await pageCpuMs(cdp)) - before;
  const { requests, results } = await taken(model, run);
  const wanted = { turns, requests: turns + 1, results: turns, length: answerLength(chunks) };
  const got = { turns: outcome.turns, requests, results, length: outcome.length };
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`wrong run: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  return { ms: outcome.ms, cpuMs };
}

/**
 * The same, repeated if it is short: medians, and the mean CPU time of the whole process, including its work after a run.
 */
export async function steady(target, options) {
  const samples = [];
  const before = target.renderer?.mark();
  let spent = 0;
  do {
    const sample = await once(target, options);
    samples.push(sample);
    spent += sample.ms;
  } while (samples.length < SAMPLES && spent < SHORT_MS);
  const processMs = target.renderer && target.renderer.since(before) / samples.length;
  const threadMs = samples.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / samples.length;
  if (processMs < threadMs * 0.9) throw new Error(`the process took ${processMs} ms and its page's thread ${threadMs} ms`);
  return { ms: median(samples.map(({ ms }) => ms)), cpuMs: median(samples.map(({ cpuMs }) => cpuMs)), processMs };
}
