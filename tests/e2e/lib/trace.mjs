// Measurements of a page from Chromium's own trace.
import assert from 'node:assert/strict';

/**
 * Returns the longest task of the page's main thread while `body` runs, in milliseconds of processor time, so that waiting for
 * other processes of the machine does not count.
 */
export async function longestTask(page, body) {
  return (await longestTasks(page, body)).cpu;
}

/** Fewer tasks than this mean that the trace missed something, unless little happens in the page. */
const LEAST = 100;

/**
 * Returns the same by the clock (`wall`) and by the thread's own processor time (`cpu`), which other programs on a busy
 * machine change less. Where a limit is asserted, the file runs alone (.ci/e2e.mjs).
 */
export async function longestTasks(page, body, least = LEAST) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'] } });
  await body();
  const done = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await done;
  const main = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid}.${tid}`));
  const tasks = events.filter(({ name, pid, tid }) => name === 'RunTask' && main.has(`${pid}.${tid}`));
  assert.ok(tasks.length > least, `the trace has ${tasks.length} tasks`);
  const most = (key) => Math.max(...tasks.map((task) => task[key] ?? 0)) / 1000;
  return { wall: most('dur'), cpu: most('tdur') };
}
