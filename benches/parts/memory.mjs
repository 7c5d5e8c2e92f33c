// Measures memory after 200 turns, with the record of the run kept: the page's heap, and the whole renderer with its workers.
import { once, withTarget } from '../target.mjs';

const MiB = 1_048_576;

async function collect({ page, cdp }) {
  for (let i = 0; i < 3; i += 1) {
    await cdp.send('HeapProfiler.collectGarbage');
    for (const worker of page.workers()) await worker.evaluate(() => globalThis.gc());
  }
}

export const measure = (given) => withTarget(given, async (target) => {
  for (const turns of [10, 50, 200]) await once(target, { turns });
  await collect(target);
  const { usedSize } = await target.cdp.send('Runtime.getHeapUsage');
  const renderer = target.renderer?.memoryMiB();
  return {
    'renderer after 200 turns (MiB PSS)': renderer?.pss,
    'renderer after 200 turns (MiB of its own)': renderer?.own,
    'page heap after 200 turns (MiB)': usedSize / MiB,
  };
});
