// Measures one page that keeps the contract `window.runAgent({ baseUrl, turns }) -> { turns, text }` and leaves what it
// has to keep of a run in `window.kept`. A run whose requests, tool results or answer are wrong is an error, not a figure.
import { answerLength } from './server.mjs';

export const CHUNKS = 20000;
const SHORT_MS = 1200;                             // shorter measurements are repeated, and the median is taken
const LIMIT_MS = 180000;
const MiB = 1048576;

export const median = (values) => {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (!sorted.length) return undefined;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

let runs = 0;

async function mainThreadCpuMs(cdp) {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
}

/** One run of `turns` tool turns and an answer of `chunks` pieces; wall and main-thread CPU time. */
async function once({ page, cdp, model }, turns, chunks = 20, write = 'event') {
  const run = `r${(runs += 1)}`;
  const baseUrl = `${model.url}/turns=${turns},run=${run},chunks=${chunks},write=${write}/v1`;
  const cpuBefore = await mainThreadCpuMs(cdp);
  let timer;
  const outcome = await Promise.race([
    page.evaluate(async (options) => {
      const began = performance.now();
      const { turns, text } = await window.runAgent(options);
      return { ms: performance.now() - began, turns, length: text?.length ?? 0 };
    }, { baseUrl, turns }),
    new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no end after ${LIMIT_MS / 1000} s`)), LIMIT_MS); }),
  ]).finally(() => clearTimeout(timer));
  const cpuMs = (await mainThreadCpuMs(cdp)) - cpuBefore;
  await new Promise((resolve) => setTimeout(resolve, 5)); // the server looks at the last request after it answered
  const { requests, results } = model.taken(run);
  const wanted = { turns, requests: turns + 1, results: turns, length: answerLength(chunks) };
  const got = { turns: outcome.turns, requests, results, length: outcome.length };
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`wrong run: ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`);
  return { ms: outcome.ms, cpuMs };
}

async function steady(target, ...args) {
  const samples = [];
  let spent = 0;
  do {
    const sample = await once(target, ...args);
    samples.push(sample);
    spent += sample.ms;
  } while (samples.length < 5 && spent < SHORT_MS);
  return { ms: median(samples.map(({ ms }) => ms)), cpuMs: median(samples.map(({ cpuMs }) => cpuMs)) };
}

/** Bytes held: the JavaScript heap after collection, array buffers, and wasm memory, which the heap leaves out. */
async function memoryMiB({ page, cdp }) {
  for (let i = 0; i < 3; i += 1) await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await cdp.send('Runtime.getHeapUsage');
  const wasm = await page.evaluate(() => [...window.wasmMemories].reduce((sum, memory) => sum + memory.buffer.byteLength, 0));
  return (usedSize + Math.max(backingStorageSize, wasm)) / MiB;
}

// Runs before the page's scripts: remembers every wasm memory, so that it can be counted.
function watchMemories() {
  const memories = (window.wasmMemories = new Set());
  const note = (instance) => {
    for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) memories.add(value);
  };
  for (const name of ['instantiate', 'instantiateStreaming']) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const made = await original.apply(WebAssembly, args);
      note(made.instance ?? made);
      return made;
    };
  }
}

/** All figures of a page, in a fresh browser context. `longest`: also 1,000 turns. */
export async function measure(browser, model, url, { longest }) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.addInitScript(watchMemories);
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(url);
    await page.waitForFunction(() => window.runAgent, null, { timeout: 30000 });
    const target = { page, cdp, model };
    const figures = {};
    await once(target, 10);
    for (const turns of longest ? [50, 200, 400, 1000] : [50, 200, 400]) {
      const { ms, cpuMs } = await steady(target, turns);
      figures[`CPU a turn, ${turns} turns (ms)`] = cpuMs / turns;
      if (turns === 400) figures['wall a turn, 400 turns (ms)'] = ms / turns;
      if (turns === 200) figures['memory after 200 turns (MiB)'] = await memoryMiB(target);
    }
    await once(target, 0, 2000, 'block');
    figures[`CPU, ${CHUNKS} streamed chunks (ms)`] = (await steady(target, 0, CHUNKS, 'block')).cpuMs;
    figures[`CPU, ${CHUNKS} chunks one by one (ms)`] = (await steady(target, 0, CHUNKS, 'event')).cpuMs;
    if (faults.length) throw new Error(faults.join('; '));
    return figures;
  } finally {
    await context.close();
  }
}
