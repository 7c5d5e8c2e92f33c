// Measures the speed of a run while its page is busy with a loop of 200 ms tasks, compared with a quiet page.
import { once, steady, withTarget } from '../target.mjs';

/** Each turn waits for the page, because it calls the page's tool. */
const TURNS = 10;
/** Turns do not wait for the page here, but the start and the end of the run do, so the run has to be long. */
const TURNS_IN_WORKERS = 1000;
const MINUTE_MS = 60_000;

export const names = ({ ours, floor }) => [floor, ours];

export const measure = (given) => withTarget(given, async (target) => {
  const figures = {};
  const pair = async (call, turns, words) => {
    await once(target, { turns: TURNS, call });
    const quiet = (turns * MINUTE_MS) / (await steady(target, { turns, call })).ms;
    const busy = (turns * MINUTE_MS) / (await once(target, { turns, call, busy: true })).ms;
    figures[`turns a minute, quiet page${words}`] = quiet;
    figures[`turns a minute, busy page${words}`] = busy;
    figures[`times slower on a busy page${words}`] = quiet / busy;
  };
  await pair('echo', TURNS, '');
  // A built-in tool, which runs in a worker.
  if (given.name === given.ours) await pair('calculate', TURNS_IN_WORKERS, ', built-in tool');
  return figures;
});
