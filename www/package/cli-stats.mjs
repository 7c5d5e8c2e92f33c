// The reports that `turnwise stats` and `turnwise run` print: the package's own figures, for people.
import { insight } from './node.js';
import { plain } from './cli-usage.mjs';

const BAR = 28;
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
export const whole = (value) => number.format(value);
export const percent = (part, of) => `${Math.round((part * 100) / Math.max(of, 1))} %`;
export const counted = (n, noun) => `${whole(n)} ${noun}${n === 1 ? '' : 's'}`;

export function dollars(amount) {
  if (amount > 0 && amount < 0.00005) return 'under $0.0001';
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
}

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${String(Math.floor(ms / 1000) % 60).padStart(2, '0')} s`;
}

/** Formats rows as aligned lines: the first column and a bar to the left, the others to the right. */
export function table(rows, { bars = false } = {}) {
  const widths = [];
  const last = (row) => bars && row.length - 1;
  for (const row of rows) row.forEach((cell, at) => { widths[at] = Math.max(widths[at] ?? 0, cell.length); });
  return rows.map((row) => `  ${row.map((cell, at) => (at === 0 || at === last(row) ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ')}`.trimEnd());
}

const bar = (value, most) => (value > 0 ? '█'.repeat(Math.max(1, Math.round((value * BAR) / most))) : '');

function section(title, rows) {
  return rows.length ? ['', title, ...table(rows, { bars: true })] : [];
}

const counts = (of, noun) => {
  const most = Math.max(...of.map(({ count }) => count));
  return of.map(({ slug, count, runs }) => [plain(slug), whole(count), `in ${counted(runs, noun)}`, bar(count, most)]);
};

/** The report, as lines. */
export function report(found) {
  const { runs, of, ended } = found;
  if (!runs) return [of ? `None of ${counted(of, 'run')} passes the filter.` : 'No runs found.'];
  const filtered = runs < of ? ` of ${whole(of)}` : '';
  const shown = (figure, words) => [words(figure.median), words(figure.p95), words(figure.max), words(figure.total)];
  const figures = [
    ['', 'median', 'p95', 'max', 'total'],
    ['turns', ...shown(found.turns, whole)],
    ['tokens', ...shown(found.tokens, whole)],
  ];
  if (found.cost.known) figures.push([found.cost.known < runs ? `cost (known of ${whole(found.cost.known)})` : 'cost', ...shown(found.cost, dollars)]);
  if (found.duration_ms.known) figures.push(['time', ...shown(found.duration_ms, duration)]);
  const most = Math.max(...found.reasons.map(({ count }) => count));
  const reasons = found.reasons.map(({ reason, outcome, count }) => [reason ?? 'not ended', outcome ?? '', whole(count), percent(count, runs), bar(count, most)]);
  const all = ({ success, partial, failed, other }) => success + partial + failed + other;
  const bins = found.limit.bins.map(all);
  const last = bins.length - 1;
  const limit = bins.map((count, at) => [at === last ? 'limit' : `${at * 10} %`, whole(count), bar(count, Math.max(...bins))]);
  return [
    `${whole(runs)}${filtered} ${runs === 1 && !filtered ? 'run' : 'runs'}, ${whole(ended)} ended, ${ended ? `${percent(found.success_share * ended, ended)} of them with the outcome success` : 'none ended'}; `
      + `${counted(found.requests, 'request')}, ${counted(found.failed_attempts, 'failed attempt')}, ${counted(found.tool_calls, 'tool call')}`,
    '',
    ...table(figures),
    ...section('How runs ended', reasons),
    ...section(`Share of the turn limit used: ${whole(found.limit.reached)} of ${counted(runs, 'run')} used all`, limit.slice(limit.findIndex((row) => row[1] !== '0'))),
    ...section('Failed attempts by slug', counts(found.retries, 'run')),
    ...section('Failed tool calls by slug', counts(found.tool_failures, 'run')),
    ...(found.usage.estimated ? ['', 'Some token figures are estimates: their provider reports none.'] : []),
  ];
}

const GROUPS = { model: 'models', preset: 'presets', outcome: 'outcomes' };

/** The groups of the runs that pass the filter: `[{ value, insight }]`. */
export async function grouped(summaries, filter, by) {
  const { choices } = await insight(summaries, filter);
  const values = choices[GROUPS[by]].map(({ value }) => value).filter((value) => filter[by] === undefined || filter[by] === value);
  const groups = await Promise.all(values.map(async (value) => ({ value, insight: await insight(summaries, { ...filter, [by]: value }) })));
  return groups.filter((group) => group.insight.runs > 0);
}

/** One row per group, as lines. */
export function groupReport(by, groups) {
  const head = [by, 'runs', 'success', 'at limit', 'turns', 'failed attempts', 'tokens', 'cost', 'time'];
  const rows = groups.map(({ value, insight: found }) => [
    plain(value) || '(none)', whole(found.runs), found.success_share === null ? '-' : percent(found.success_share, 1),
    whole(found.limit.reached), whole(found.turns.median), whole(found.failed_attempts), whole(found.tokens.median),
    found.cost.known ? dollars(found.cost.median) : '-', found.duration_ms.known ? duration(found.duration_ms.median) : '-',
  ]);
  return ['', `By ${by} (turns, tokens, cost and time: medians)`, ...table([head, ...rows])];
}
