// Measures what a server that sends what no model sends costs a page: how soon each request ends, how long the page's timers
// stand still, and how much memory it takes. The figures are the worst of all requests.
import { MIB, WORK, withHostile, works } from '../../tests/e2e/lib/hostile.mjs';
import { engineMemory, withPackage } from '../../tests/e2e/lib/site.mjs';

export const names = ({ ours }) => [ours];

/** Runs `work` in the page; returns what it cost. */
async function measured(page, work, argument) {
  const before = await engineMemory(page);
  const cost = await page.evaluate(async ([work, argument]) => {
    const size = () => performance.memory?.usedJSHeapSize ?? 0;
    let [last, still, most] = [performance.now(), 0, 0];
    const before = size();
    const look = () => {
      const now = performance.now();
      [still, last, most] = [Math.max(still, now - last), now, Math.max(most, size())];
    };
    const tick = setInterval(look, 10);
    const began = performance.now();
    await window.hostile[work](window.turnwise, argument);
    const ms = performance.now() - began;
    // A timer that was late comes before this one.
    await new Promise((resolve) => { setTimeout(resolve, 10); });
    clearInterval(tick);
    look();
    return { ms, still, grown: most - before };
  }, [work, argument]);
  // A module's memory never shrinks: its final size is its peak.
  return { ...cost, grown: (cost.grown + await engineMemory(page) - before) / MIB };
}

export const measure = () => withHostile((url) => withPackage({ reach: [url], watch: true, expect: [/reply_too_large/, /error: .*/] }, async (page) => {
  await page.evaluate(WORK);
  await page.evaluate(() => window.turnwise.renderMarkdown('')); // loads the engine
  const costs = [];
  for (const [, work, argument] of works(url)) costs.push(await measured(page, work, argument));
  const worst = (key) => Math.max(...costs.map((cost) => cost[key]));
  return { 'slowest end (ms)': worst('ms'), 'timers stood still (ms)': worst('still'), 'memory grown by (MiB)': worst('grown') };
}));
