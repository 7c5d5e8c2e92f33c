// Measures an answer of 20,000 chunks: sent as 16 KiB blocks that split events anywhere, and one event at a time.
import { once, steady, withTarget } from '../target.mjs';

const CHUNKS = 20_000;

export const measure = (given) => withTarget(given, async (target) => {
  const figures = {};
  for (const [write, words] of [['block', 'chunks'], ['event', 'chunks one by one']]) {
    await once(target, { turns: 0, chunks: CHUNKS / 10, write });
    const { cpuMs, processMs } = await steady(target, { turns: 0, chunks: CHUNKS, write });
    figures[`page thread, ${CHUNKS} ${words} (ms)`] = cpuMs;
    figures[`process, ${CHUNKS} ${words} (ms)`] = processMs;
  }
  return figures;
});
