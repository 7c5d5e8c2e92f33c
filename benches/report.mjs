// Prints the two kinds of table: our figures with their goals, and all measurements compared with the other loops.
import { GOALS } from './goals.mjs';
import { countable } from './renderer.mjs';
import { least, median, most } from './stats.mjs';

const text = (value) => {
  if (value === undefined) return '-';
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
};

function goalRow({ figure, of, most: goal, worst, process }, ours, floor) {
  const values = ours.map((figures, round) => of(figures, floor[round] ?? {}));
  const value = worst ? most(values) : median(values);
  const verdict = goal === undefined || (process && !countable) ? '' : value <= goal ? 'kept' : 'MISSED';
  return [figure, text(value), `${text(least(values))} … ${text(most(values))}`, goal === undefined ? '-' : text(goal), verdict];
}

function print(rows, widths) {
  for (const row of rows) console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(''));
}

/**
 * Prints our figures with the goals, for the requested parts; returns the missed ones, as text. A figure that could not be
 * measured counts as missed.
 */
export function printGoals(parts, ours, floor) {
  const rows = GOALS.filter(({ part }) => parts.includes(part)).map((goal) => goalRow(goal, ours, floor));
  print([['figure', 'ours', 'least … most', 'goal', 'verdict'], ...rows], [50, 12, 22, 12, 10]);
  return rows.filter((row) => row.at(-1) === 'MISSED').map(([figure, ours, , goal]) => `${figure}: ${ours}, the goal is at most ${goal}`);
}

/** Prints a part's figures for every page, with their ratio to the floor's in the same round in parentheses. */
export function printPart(part, names, records, floorName) {
  const metrics = [...new Set(names.flatMap((name) => records[name].flatMap((figures) => Object.keys(figures))))];
  const cell = (name, metric) => {
    const values = records[name].map((figures) => figures[metric]);
    const ratio = median(values.map((value, round) => value / records[floorName]?.[round]?.[metric]));
    return `${text(median(values))}${ratio === undefined || name === floorName ? '' : ` (${ratio.toFixed(2)}x)`}`;
  };
  console.log('');
  print([[part, ...names], ...metrics.map((metric) => [metric, ...names.map((name) => cell(name, metric))])], [50, ...names.map(() => 18)]);
}
