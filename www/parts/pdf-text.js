// The lines of a PDF's pages as Markdown: headings and tables are found from their positions and sizes. Without side effects.
import { PARAGRAPH_GAP } from './pdf-columns.js';

/** Text that is so many times as high as the document's most frequent height is a heading. */
const HEADING = 1.15;
const MAX_HEADING_CHARS = 140;
/** So many lines in a row with at least two cells are a table, if the cells form columns. */
const MIN_TABLE_LINES = 3;
const MAX_TABLE_COLUMNS = 200;
const BULLET = /^[•◦▪▫‣⁃●○■□➢➤✓·\uf0b7\uf0a7]\s*/u;

/** The height of most of the text, and of each larger text that may be a heading, the largest first. */
export function sizesOf(pages) {
  const chars = new Map();
  for (const lines of pages) {
    for (const { height, cells } of lines) {
      const rounded = Math.round(height * 2) / 2;
      chars.set(rounded, (chars.get(rounded) ?? 0) + cells.reduce((sum, { text }) => sum + text.length, 0));
    }
  }
  const body = [...chars].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
  const larger = [...chars.keys()].filter((height) => height > HEADING * body).sort((one, other) => other - one);
  // There are four levels of headings; smaller ones are of the last.
  return { body, larger: larger.length > 4 ? [...larger.slice(0, 3), larger.at(-1)] : larger };
}

/** The columns of lines, as `[from, to]`, if their cells form at least two, and each line has at most one cell in each. */
function columnsOf(lines) {
  const spans = lines.flatMap(({ cells }) => cells.map(({ from, to }) => [from, Math.max(to, from + 0.1)])).sort((one, other) => one[0] - other[0]);
  const columns = [];
  for (const [from, to] of spans) {
    const last = columns.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else columns.push([from, to]);
  }
  if (columns.length < 2 || columns.length > MAX_TABLE_COLUMNS) return undefined;
  return lines.every(({ cells }) => new Set(cells.map((cell) => placeOf(columns, cell))).size === cells.length) ? columns : undefined;
}

/** The index of the column with a cell. */
function placeOf(columns, { from }) {
  let [low, high] = [0, columns.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (columns[middle][0] <= from) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The longest table that begins at a line and ends before `end`: `{ end, columns }`. One more line can only join columns, so if
 * some lines are no table, more of them are none either, and the end is found by doubling and halving.
 */
function tableAt(lines, at, end) {
  if (end - at < MIN_TABLE_LINES) return undefined;
  let [good, bad, step] = [at + MIN_TABLE_LINES, end + 1, MIN_TABLE_LINES];
  let columns = columnsOf(lines.slice(at, good));
  if (!columns) return undefined;
  while (good + 1 < bad) {
    const next = Math.min(good + step, bad - 1);
    const more = columnsOf(lines.slice(at, next));
    if (more) [good, columns] = [next, more];
    else bad = next;
    step = more && bad > end ? 2 * step : Math.max(1, (bad - good) >> 1);
  }
  return { end: good, columns };
}

const escaped = (text) => text.replaceAll('|', '\\|');

function tableOf(lines, columns) {
  const rows = lines.map(({ cells }) => {
    const row = new Array(columns.length).fill('');
    for (const cell of cells) row[placeOf(columns, cell)] = escaped(cell.text);
    return row;
  });
  if (lines.every(({ rtl }) => rtl)) for (const row of rows) row.reverse();
  const written = (row) => `| ${row.join(' | ')} |`;
  return [written(rows[0]), `|${' --- |'.repeat(columns.length)}`, ...rows.slice(1).map(written)];
}

/** The Markdown lines of a page. */
export function markdownOf(lines, { body, larger }) {
  const out = [];
  let run = 0; // where the next lines with several cells end
  for (let at = 0; at < lines.length;) {
    if (run < at) run = at;
    while (run < lines.length && lines[run].cells.length >= 2) run += 1;
    // A line above the table, or below it, may have cells by chance.
    const table = tableAt(lines, at, run);
    if (table) {
      if (out.length) out.push('');
      for (const row of tableOf(lines.slice(at, table.end), table.columns)) out.push(row);
      out.push('');
      at = table.end;
      continue;
    }
    const line = lines[at];
    const before = lines[at - 1];
    const text = line.cells.map((cell) => cell.text).join('  ');
    const rank = larger.findIndex((height) => Math.round(line.height * 2) / 2 >= height);
    const heading = body > 0 && rank >= 0 && text.length <= MAX_HEADING_CHARS && /\p{L}/u.test(text);
    const apart = before && out.length && out.at(-1) !== '' && (heading || before.y - line.y > PARAGRAPH_GAP * Math.max(line.height, before.height) || line.y > before.y + line.height);
    if (apart) out.push('');
    if (heading) out.push(`${'#'.repeat(Math.min(rank, 3) + 1)} ${text}`, '');
    else out.push(text.replace(BULLET, '- '));
    at += 1;
  }
  while (out.at(-1) === '') out.pop();
  return out.filter((text, index) => text !== '' || out[index - 1] !== '');
}
