// How far a run comes beside a page that is busy: a loop of 200 ms tasks, and how much slower than without it.
import { once, steady, withTarget } from '../target.mjs';

const TURNS = 10;
const MINUTE_MS = 60_000;

export const names = ({ ours, floor }) => [floor, ours];

export const measure = (given) => withTarget(given, async (target) => {
  const figures = {};
  const pair = async (call, words) => {
    await once(target, { turns: TURNS, call });
    const quiet = (TURNS * MINUTE_MS) / (await steady(target, { turns: TURNS, call })).ms;
    const busy = (TURNS * MINUTE_MS) / (await once(target, { turns: TURNS, call, busy: true })).ms;
    figures[`turns a minute, quiet page${words}`] = quiet;
    figures[`turns a minute, busy page${words}`] = busy;
    figures[`times slower on a busy page${words}`] = quiet / busy;
  };
  await pair('echo', '');
  // A tool of ours that works in a worker.
  if (given.name === given.ours) await pair('calculate', ', built-in tool');
  return figures;
});
