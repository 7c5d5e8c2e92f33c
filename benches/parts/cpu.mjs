// Time a turn, from 50 to 1,000 turns: wall, CPU of the page's thread, CPU of the whole renderer.
import { once, steady, withTarget } from '../target.mjs';

/** Code is compiled in the first runs, in the optimized form after some turns. */
const WARM_UP = [1, 10, 10, 10, 10, 10, 10];

/** Runs of 1,000 turns are ours, since it has to grow no further, and one of the floor, which takes half a minute for it. */
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
