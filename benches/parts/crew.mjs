// Measures how responsive a page and the app stay while 16 sub-agents stream, how soon they end when they are cancelled, and
// what 200 runs at once cost and leave behind. Other loops have no sub-agents. Each has a browser of its own.
import { check, crowd, withModel } from '../../tests/e2e/lib/crowd.mjs';
import { withCrewApp } from '../../tests/e2e/lib/crew-app.mjs';
import { SIZE, ended, start, withCrew } from '../../tests/e2e/lib/crew-server.mjs';
import { runTask } from '../../tests/e2e/lib/app.mjs';
import { engineMemory, withPackage } from '../../tests/e2e/lib/site.mjs';
import { longestTask } from '../../tests/e2e/lib/trace.mjs';

const RUNS = 200;
const MiB = 1_048_576;

export const names = ({ ours }) => [ours];

const inPage = () => withCrew({ size: SIZE, pause: 1 }, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
  // Returns nothing from the page during the measurement: that would be our own work.
  const longest = await longestTask(page, async () => {
    await start(page, baseUrl);
    await page.evaluate(async () => { await window.run; });
  });
  const { outcome, children } = await ended(page);
  if (outcome !== 'success' || children.length !== SIZE) throw new Error(`wrong run: ${outcome}, ${children.length} sub-agents`);
  return longest;
}));

const inApp = () => withCrewApp({ pause: 1 }, 'wide', async (page) => {
  const lanes = page.locator('.lane');
  const longest = await longestTask(page, async () => {
    const running = runTask(page, 'Share it.');
    running.catch(() => {});
    await lanes.first().locator('summary').click();
    await running;
  });
  if (await lanes.count() !== SIZE) throw new Error(`${await lanes.count()} lanes`);
  return longest;
});

const cancelled = () => withCrew({ size: SIZE, pause: 20 }, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
  await start(page, baseUrl, { limits: { parallelTools: SIZE } });
  await page.waitForFunction((size) => window.events.filter(({ event }) => event?.type === 'attempt_started').length >= size, SIZE);
  const ms = await page.evaluate(async () => {
    const from = performance.now();
    window.agent.cancel();
    await window.run;
    return performance.now() - from;
  });
  const { outcome } = await ended(page);
  if (outcome !== 'cancelled') throw new Error(`wrong run: ${outcome}`);
  return ms;
}));

const many = () => withModel((baseUrl, seen) => withPackage({ reach: [baseUrl], watch: true }, async (page) => {
  const session = await page.context().newCDPSession(page);
  // What is left after a garbage collection: the page's heap, and the module's memory, which never shrinks.
  const memory = async () => {
    for (let n = 0; n < 3; n += 1) await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return { heap: usedSize / MiB, module: (await engineMemory(page)) / MiB };
  };
  const round = async (count) => {
    Object.assign(seen, { crowd: count > 1, full: undefined, requests: 0 });
    let [result, longest] = [];
    const run = async () => { result = await crowd(page, baseUrl, count); };
    // One run has too few tasks for a trace.
    if (count > 1) longest = await longestTask(page, run);
    else await run();
    check(result, count, seen);
    return { ...await memory(), longest, seconds: result.seconds };
  };
  const fresh = await round(1);
  // The first crowd fills caches and tables, the second finds them full.
  const first = await round(RUNS);
  const second = await round(RUNS);
  return {
    [`longest task, ${RUNS} runs at once (ms)`]: Math.max(first.longest, second.longest),
    'heap after the first crowd, grown by (MiB)': first.heap - fresh.heap,
    'heap after the second crowd, grown by (MiB)': second.heap - first.heap,
    'module after the first crowd, grown by (MiB)': first.module - fresh.module,
    'module after the second crowd, grown by (MiB)': second.module - first.module,
    [`${RUNS} runs at once (s)`]: second.seconds,
  };
}));

export const measure = async () => ({
  [`longest task, ${SIZE} sub-agents in a page (ms)`]: await inPage(),
  [`longest task, ${SIZE} sub-agents in the app (ms)`]: await inApp(),
  [`cancel of ${SIZE} sub-agents (ms)`]: await cancelled(),
  ...await many(),
});
