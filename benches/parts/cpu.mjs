// Measures the time per turn, from 50 to 1,000 turns: wall time, CPU time of the page's thread and of the whole renderer.
import { once, steady, withTarget } from '../target.mjs';

/** The first runs compile the code; optimized code takes some turns. */
const WARM_UP = [1, 10, 10, 10, 10, 10, 10];

/** Only our package runs 1,000 turns every round, to show that its cost does not grow; the floor, which takes half a minute, does so once. */
const lengths = ({ name, round, ours, floor }) => (name === ours || (name === floor && round === 0) ? [50, 200, 400, 1000] : [50, 200, 400]);

export const measure = (given) => withTarget(given, async (target) => {
  const figures = {};
  for (const turns of WARM_UP) await once(target, { turns });
  for (const turns of lengths(given)) {
    const { ms, cpuMs, processMs } = await steady(target, { turns });
    figures[`page thread a turn, ${turns} turns (ms)`] = cpuMs / turns;
    figures[`process a turn, ${turns} turns (ms)`] = processMs / turns;
    figures[`wall a turn, ${turns} turns (ms)`] = ms / turns;
  }
  return figures;
});
