// The process that draws a page and runs its workers, as Linux counts it.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether processes can be read at all; elsewhere what needs them is left out. */
export const countable = existsSync('/proc/self/smaps_rollup');

const TICK_MS = 10;
const SPIN_MS = 150;
const TRIES = 20;

/** Processor time of all its threads so far, those that have ended too, in steps of 10 ms. */
function ticksMs(pid) {
  // The name in brackets may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** That of the threads that are there, to the nanosecond. A thread may end while they are read. */
function threadsMs(pid) {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      // Its time is in the ticks.
    }
  }
  return sum;
}

/** A point in the life of a process, to count from. */
const mark = (pid) => ({ ticks: ticksMs(pid), threads: threadsMs(pid) });

/** Processor time since then: by thread, unless one has ended and taken its time along, which the ticks show. */
function since(pid, before) {
  const ticks = ticksMs(pid) - before.ticks;
  const threads = threadsMs(pid) - before.threads;
  return Math.abs(ticks - threads) <= 2 * TICK_MS ? threads : ticks;
}

/**
 * Memory: with what it shares counted by its share (`pss`), which another browser on the machine makes smaller, and what
 * is its own alone (`own`).
 */
function memoryMiB(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const read = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)[1]) / 1024;
  return { pss: read('Pss'), own: read('Private_Clean') + read('Private_Dirty') };
}

/** Processor time of a process's first thread, which in a renderer is the page's. */
const firstThreadMs = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/**
 * The page's renderer: of all that the browser has (it also starts a spare one) the one whose first thread takes as much
 * time as the page says it does (`pageCpuMs`). Looked for until one fits and no other does.
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
