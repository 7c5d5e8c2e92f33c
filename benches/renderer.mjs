// Measures the process that renders a page and runs its workers, with the figures of Linux.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether process figures are available; on other systems, measurements that need them are omitted. */
export const countable = existsSync('/proc/self/smaps_rollup');

const TICK_MS = 10;
const SPIN_MS = 150;
const TRIES = 20;

/** Returns the CPU time of all threads so far, including those that have ended, in steps of 10 ms. */
function ticksMs(pid) {
  // The name in parentheses may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Returns the CPU time of the current threads, in nanosecond precision. A thread may end while they are read. */
function threadsMs(pid) {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      // The ticks include its time.
    }
  }
  return sum;
}

/** Takes the starting point of a measurement. */
const mark = (pid) => ({ ticks: ticksMs(pid), threads: threadsMs(pid) });

/** Returns the CPU time since then: by thread, unless a thread has ended and its time is only in the ticks. */
function since(pid, before) {
  const ticks = ticksMs(pid) - before.ticks;
  const threads = threadsMs(pid) - before.threads;
  return Math.abs(ticks - threads) <= 2 * TICK_MS ? threads : ticks;
}

/**
 * Returns the memory of a process: including its proportion of shared memory (`pss`), which shrinks when another browser is
 * running, and the private part only (`own`).
 */
function memoryMiB(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)[1]) / 1024;
  return { pss: read('Pss'), own: read('Private_Clean') + read('Private_Dirty') };
}

/** Returns the CPU time of a process's first thread, which in a renderer is the page's. */
const firstThreadMs = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/**
 * Finds the page's renderer: of all the browser's renderers (there is also a spare one), the one whose first thread takes as
 * much time as the page reports (`pageCpuMs`). Retries until exactly one matches.
 */
export async function rendererOf(browser, page, pageCpuMs) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const pids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = pids.map(firstThreadMs);
    const told = await pageCpuMs();
    await page.evaluate((ms) => { for (const until = performance.now() + ms; performance.now() < until;); }, SPIN_MS);
    const took = (await pageCpuMs()) - told;
    const fits = pids.map((pid, i) => ({ pid, share: (firstThreadMs(pid) - before[i]) / took })).filter(({ share }) => share > 0.5);
    const [{ pid, share } = {}, other] = fits;
    if (pid && !other && share > 0.9 && share < 1.25) return { mark: () => mark(pid), since: (from) => since(pid, from), memoryMiB: () => memoryMiB(pid) };
    await sleep(SPIN_MS);
  }
  throw new Error('which process draws the page is not clear');
}
