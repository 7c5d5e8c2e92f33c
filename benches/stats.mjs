// Aggregates the figures of several rounds.
const sorted = (values) => values.filter(Number.isFinite).sort((a, b) => a - b);

/** Returns the median, or `undefined` if there are no values. */
export function median(values) {
  const all = sorted(values);
  const half = all.length >> 1;
  if (!all.length) return undefined;
  return all.length % 2 ? all[half] : (all[half - 1] + all[half]) / 2;
}

export const least = (values) => sorted(values)[0];
export const most = (values) => sorted(values).at(-1);
