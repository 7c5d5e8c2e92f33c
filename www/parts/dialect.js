// Tells how a text is delimited, from its head: separator, quotes, escapes, line ends, and where its table begins.
import { delimited, unescaped } from './delimited.js';
import { DATE, NONE, TEXT, kindOf } from './columns.js';

const SPACE = 32, COLON = 58;
/** Records that decide. */
const RECORDS = 300;
/** Lines above a table that are looked for. */
const MOST_TITLES = 60;

/** Separators by how often they are meant: comma, semicolon, tab, bar, caret, tilde, the control characters of Hive and of ASCII, colon, space. */
const SEPARATORS = [[44, 1], [59, 1], [9, 1], [124, 0.95], [94, 0.8], [126, 0.8], [1, 1], [31, 1], [COLON, 0.6], [SPACE, 1]];
const decoder = new TextDecoder();

/**
 * The dialect of a text, for `delimited`, with `header` (whether its first record is one), `shifted` (whether the header lacks the name of
 * the first column) and `notes` (what was assumed). `head`: its first bytes; `whole`: whether that is all of it; `tabs`: whether its
 * name says that tabs separate it.
 */
export function dialectOf(head, whole, tabs = false) {
  const notes = [];
  const said = /^"?sep=(.)"?[ ,;\t]*(\r\n|\r|\n|$)/i.exec(decoder.decode(head.subarray(0, 40)));
  const start = said && said[1].charCodeAt(0) < 128 ? encoded(said[0]) : 0;
  const text = decoder.decode(head.subarray(start, start + 20_000));
  const cr = !/[^\r]\n|^\n/.test(text) && text.includes('\r') || moreReturns(text);
  const quotes = [34];
  if (/(?:^|[,;\t|\r\n])'[^'\r\n]*'(?=[,;\t|\r\n]|$)/.test(text) && !/(?:^|[,;\t|\r\n])"/.test(text)) quotes.push(39);
  const escapes = /\\"/.test(text) ? [0, 92] : [0];
  const separators = start ? [[said[1].charCodeAt(0), 1]] : SEPARATORS;
  let best;
  for (const [separator, weight] of separators) {
    if (!start && !head.includes(separator)) continue;
    for (const quote of quotes) {
      for (const escape of escapes) {
        const dialect = { separator, quote, escape, cr, start };
        const score = scoreOf(sample(head, dialect, whole), dialect, start > 0) * weight * (tabs && separator === 9 ? 2 : 1);
        if (score > (best?.score ?? 0)) best = { score, dialect };
      }
    }
  }
  const dialect = best?.dialect ?? { separator: tabs ? 9 : 44, quote: 34, escape: 0, cr, start };
  const records = sample(head, dialect, whole);
  const found = tableHead(records.map(({ cells }) => cells));
  if (found.titles) {
    dialect.start = records[found.titles].at;
    notes.push(titlesNote(records.slice(0, found.titles).map(({ cells }) => cells)));
  }
  if (found.note) notes.push(found.note);
  return { ...dialect, header: found.header, shifted: found.shifted, notes };
}

/** What is said about lines above a table. `rows`: their cells. */
export function titlesNote(rows) {
  const lines = rows.map((cells) => cells.map(({ text }) => text).filter(Boolean).join(' ').slice(0, 60));
  const shown = lines.filter(Boolean).slice(0, 3).map((line) => JSON.stringify(line)).join(', ');
  return `its first ${rows.length === 1 ? 'line is' : `${rows.length} lines are`} above the table and not in it: ${shown}${lines.filter(Boolean).length > 3 ? ', …' : ''}`;
}

const encoded = (text) => new TextEncoder().encode(text).length;

/** Whether lines end in a lone carriage return more often than in a line feed. */
function moreReturns(text) {
  const lone = text.match(/\r(?![\r\n])/g)?.length ?? 0;
  return lone > 1 && lone > (text.match(/\n/g)?.length ?? 0);
}

function sample(head, dialect, whole) {
  const records = [];
  const end = { records };
  try {
    delimited(head, dialect, ({ at, count, starts, ends, quotes }) => {
      if (records.length === RECORDS) throw end;
      const cells = Array.from({ length: count }, (_, n) => {
        let bytes = head.subarray(starts[n], ends[n]);
        if (quotes[n] === 2) bytes = unescaped(bytes, dialect);
        return { kind: kindOf(head, starts[n], ends[n]), text: decoder.decode(bytes).replaceAll(/\s+/g, ' ').trim(), quoted: quotes[n] > 0 };
      });
      records.push({ at, cells });
    }, whole);
  } catch (thrown) {
    if (thrown !== end) throw thrown;
  }
  return records;
}

/** How well a separator fits: the share of records with the usual number of cells, and of cells without other separators or odd quotes. */
function scoreOf(records, { separator, quote }, said) {
  const counts = new Map();
  for (const { cells } of records) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [width, most] = [...counts].reduce((best, one) => (one[0] > 1 && (one[1] > best[1] || one[1] === best[1] && one[0] > best[0]) ? one : best), [1, 0]);
  if (said) return 1;
  if (width < 2) return 0;
  const share = most / records.length;
  // A text in one column may have commas.
  if (share < 0.5 && records[0].cells.length < 2) return 0;
  if (separator === COLON && (share < 1 || records.length < 3 || !/^[^\d\s/]/.test(records[0].cells[0].text))) return 0;
  // Words have spaces, so they separate only where cells are quoted.
  if (separator === SPACE && (share < 0.9 || records.filter(({ cells }) => cells.some(({ quoted }) => quoted)).length * 2 < records.length)) return 0;
  const mark = String.fromCharCode(quote);
  let cells = 0, clean = 0;
  for (const { cells: row } of records) {
    for (const { text, quoted } of row) {
      cells += 1;
      const odd = !quoted && (text.includes(mark) || /[\t|]|;(?! )|,(?! |\d)/.test(text));
      if (!odd) clean += 1;
    }
  }
  return share * (clean / cells) ** 2 * (width - 1) / width;
}

const filled = (row) => row.reduce((count, { kind }) => count + (kind === NONE ? 0 : 1), 0);
/** The number of cells up to the last one with a value. */
const reach = (row) => row.findLastIndex(({ kind }) => kind !== NONE) + 1;
const isText = ({ kind }) => kind >= TEXT && kind !== DATE;
const typed = ({ kind }) => kind !== NONE && !isText({ kind });

/**
 * Where the table of some first rows begins, and whether it has a header: `{ titles, header, shifted, note }`. `rows`: arrays of
 * `{ kind, text }`, without rows of no cells. `titles`: the number of rows above the table.
 */
export function tableHead(rows) {
  const titles = titlesOf(rows);
  const [first, ...below] = rows.slice(titles);
  if (!first) return { titles: 0, header: false };
  const header = isHeader(first, below);
  const note = !header && first.some(isText) ? 'it has no header: its first line has values, so its columns are named column_1, column_2, …' : undefined;
  // R writes no name for the column of the rows' names.
  const names = filled(first);
  const shifted = header && names >= 2 && names === first.length && below.length > 0
    && below.every((row) => row.length === names + 1 && row[names].kind !== NONE) && isText(below[0][0]);
  return { titles, header, shifted, note };
}

function titlesOf(rows) {
  const counts = new Map();
  for (const row of rows) {
    const cells = reach(row);
    if (cells > 1) counts.set(cells, (counts.get(cells) ?? 0) + 1);
  }
  const usual = [...counts].reduce((best, one) => (one[1] > best[1] || one[1] === best[1] && one[0] > best[0] ? one : best), [0, 0]);
  if (usual[1] < 2) return 0;
  const full = rows.slice(0, MOST_TITLES).findIndex((row) => reach(row) >= usual[0] * 0.8 && filled(row) >= usual[0] / 2);
  if (full <= 0) return 0;
  // A header may lack its last names.
  const before = rows[full - 1], row = rows[full], below = rows.slice(full + 1);
  const names = before.every((cell) => cell.kind === NONE || isText(cell)) && filled(before) >= Math.max(2, usual[0] / 2);
  if (names && !(row.every((cell) => cell.kind === NONE || isText(cell)) && overNumbers(row, below))) return full - 1;
  return below.length ? full : 0;
}

/** Whether a row has a text above a column of numbers or dates. */
const overNumbers = (row, below) => row.some((cell, at) => {
  if (!isText(cell)) return false;
  const values = below.map((other) => other[at]).filter((other) => other && other.kind !== NONE);
  return values.length > 0 && values.filter(typed).length >= values.length * 0.8;
});

/** Whether a first row has the names of the columns. A row of numbers has not; one with some numbers has, if they count something. */
function isHeader(first, below) {
  if (!first.some(isText)) return false;
  if (overNumbers(first, below)) return true;
  const values = first.map((cell, at) => ({ ...cell, at })).filter((cell) => {
    if (!typed(cell)) return false;
    const others = below.map((row) => row[cell.at]).filter((other) => other && other.kind !== NONE);
    return others.length > 0 && others.filter((other) => typed(other) && (other.kind === DATE) === (cell.kind === DATE)).length >= others.length * 0.8;
  });
  if (!values.length) return true;
  if (values.every(({ kind }) => kind === DATE)) return values.length >= 3;
  const numbers = values.map(({ text }) => Number(text));
  if (numbers.some((number) => !Number.isInteger(number))) return false;
  if (numbers.every((number) => number >= 1800 && number <= 2200)) return true;
  const step = numbers[1] - numbers[0];
  return numbers.length >= 3 && step !== 0 && numbers.every((number, n) => n === 0 || number - numbers[n - 1] === step);
}
