// Tables of values: JSON, JSON lines, and the sheets of workbooks. A table is `{ names, rows, cells, blanks }`; `cells(row)` are its
// values with their columns, and with `blanks`, an empty text is no value.
import { DATE, DATES, INT, NONE, REAL, TEXT, columnNames } from './columns.js';
import { tableHead, titlesNote } from './dialect.js';
import { MAX_COLUMNS } from './delimited.js';

/** An error whose text is for the model. */
export class Fault extends Error {}

export const tooWide = (name) => `${name} has more than ${MAX_COLUMNS} columns, and tables with so many cannot be queried`;

/** The columns of a table, `[{ name, type }]`: the names and the SQL types of all values. */
export function columnsOf({ names, rows, cells, blanks }) {
  const INTS = 1, REALS = 2, TEXTS = 4;
  const kinds = names.map(() => 0);
  for (const row of rows) {
    for (const [at, value] of cells(row)) {
      if (value === null || value === undefined || value === '' && blanks) continue;
      const type = typeof value;
      kinds[at] |= type === 'string' || type === 'object' ? TEXTS : type === 'number' && !Number.isInteger(value) ? REALS : INTS;
    }
  }
  const types = { 0: 'TEXT', [INTS]: 'INTEGER', [REALS]: 'REAL', [INTS | REALS]: 'REAL', [TEXTS]: 'TEXT' };
  return names.map((name, at) => ({ name, type: types[kinds[at]] ?? '' }));
}

/** Rows that tell where a table begins. */
const HEAD_ROWS = 300;

/** The table of rows of values, and what had to be assumed: `{ table, notes }`. Lines above it and its header are told as in delimited text. */
export function arrays(all, name) {
  const rows = all.filter((row) => row.some((cell) => cell !== null && cell !== undefined && cell !== ''));
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (width > MAX_COLUMNS) throw new Fault(tooWide(name));
  const kind = (value) => {
    if (value === null || value === undefined || value === '') return NONE;
    if (typeof value === 'string') return DATES.test(value) ? DATE : TEXT;
    return typeof value === 'object' ? TEXT : Number.isInteger(value) ? INT : REAL;
  };
  const head = rows.slice(0, HEAD_ROWS).map((row) => Array.from(row, (value) => ({ kind: kind(value), text: String(value ?? '').trim() })));
  const { titles, header, note } = tableHead(head);
  const notes = [titles && titlesNote(head.slice(0, titles)), note].filter(Boolean);
  const first = rows[titles] ?? [];
  const names = columnNames(Array.from({ length: width }, (_, at) => (header ? String(first[at] ?? '') : '')));
  return { table: { names, rows: rows.slice(titles + (header ? 1 : 0)), cells: (row) => row.entries(), blanks: true }, notes };
}

/** The table of a text that is JSON or JSON lines, and what had to be assumed: `{ table, notes }`. */
export function objects(text, { path, format }) {
  const notes = [];
  if (text.includes('\0')) {
    text = text.replaceAll('\0', '');
    notes.push('it has NUL characters, which were left out');
  }
  const large = /[:[,\s]-?\d{16,}\s*[,\]}]/.test(text);
  const read = large && EXACT ? (part) => JSON.parse(part, exactly) : JSON.parse;
  if (large && !EXACT) notes.push('whole numbers with more than 15 digits are rounded here');
  const rows = rowsOf(parsed(text, read, path, format, notes), path, notes);
  if (!rows.length) throw new Fault(`${path} is an empty array`);
  if (rows.every(Array.isArray)) {
    const found = arrays(rows, path);
    return { table: found.table, notes: [...notes, ...found.notes] };
  }
  const odd = rows.findIndex((one) => one === null || typeof one !== 'object');
  if (odd >= 0) throw new Fault(`${path} is not a table: item ${odd + 1} of its array is ${JSON.stringify(rows[odd], withDigits)?.slice(0, 40)}, not an object; use query_json`);
  const places = new Map();
  for (const one of rows) {
    for (const key of Object.keys(one)) if (!places.has(key)) places.set(key, places.size);
    if (places.size > MAX_COLUMNS) throw new Fault(tooWide(path));
  }
  if (!places.size) throw new Fault(`${path}: its objects have no keys`);
  return { table: { names: columnNames([...places.keys()]), rows, cells: (one) => Object.keys(one).map((key) => [places.get(key), one[key]]) }, notes };
}

/** A whole number that JavaScript would round becomes one of any size, or its digits where SQLite has none of that size. */
function exactly(_, value, { source }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
  const exact = BigInt(source);
  return BigInt.asIntN(64, exact) === exact ? exact : source;
}

/** Whether `JSON.parse` tells the digits of a number. */
const EXACT = JSON.parse('1', (_, value, context) => context?.source === '1');

/** Writes the large numbers of `exactly`. */
export const withDigits = (_, value) => (typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value);

/** The value of a text; of several, one after the other, their array. */
function parsed(text, given, path, format, notes) {
  let replaced = false;
  // Python and others write numbers that JSON does not have.
  const read = (part) => {
    try {
      return given(part);
    } catch (error) {
      const plain = withoutNonFinite(part);
      if (plain === part) throw error;
      const value = given(plain);
      if (!replaced) notes.push('NaN and Infinity, which JSON does not have, were read as null');
      replaced = true;
      return value;
    }
  };
  let fault;
  if (format !== 'jsonl' || /^\s*\[\s*[[{]/.test(text)) {
    try {
      return read(text);
    } catch (error) {
      fault = `${path} is not JSON: ${error.message}`;
    }
  }
  const { values, left, first } = lines(text, read);
  if (values.length > left) {
    if (left) notes.push(`${left === 1 ? 'a line is' : `${left} lines are`} not JSON and left out: line ${first.number} (${first.error.message})`);
    return values;
  }
  const several = parts(text);
  if (several.length > 1) {
    try {
      return several.map(read);
    } catch {
      // The error of the whole text says more.
    }
  }
  if (!first && !fault) throw new Fault(`${path} is empty`);
  throw new Fault(fault ?? `${path} is not JSON on line ${first.number}: ${first.error.message}`);
}

/** Numbers that are none become null, outside of strings. */
const withoutNonFinite = (text) => text.replace(/"(?:[^"\\]|\\.)*"|[-+]?\b(?:NaN|Infinity)\b/g, (found) => (found[0] === '"' ? found : 'null'));

/** The values on the lines of a text; how many lines are `left` that have none, and the first of them. */
function lines(text, read) {
  const values = [];
  let number = 0, left = 0, first;
  for (const line of text.split(/\r\n|\n|\r(?=\s*[{[]|$)/)) {
    number += 1;
    const part = line.replace(/^\x1e/, '').trim();
    if (!part) continue;
    try {
      values.push(read(part));
    } catch (error) {
      left += 1;
      first ??= { number, error };
      if (left > 100 && left > values.length) break;
    }
  }
  return { values, left, first };
}

/** The objects and arrays of a text in which they follow each other without a line break between them. */
function parts(text) {
  const found = [];
  let depth = 0, start = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (token === '{' || token === '[') {
      if (depth === 0) start = index;
      depth += 1;
    } else if (token === '}' || token === ']') {
      depth -= 1;
      if (depth < 0) return [];
      if (depth === 0) found.push(text.slice(start, index + 1));
    }
  }
  return depth === 0 ? found : [];
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
/** Keys under which services and programs put the rows. */
const ROWS = new Set(['data', 'rows', 'records', 'items', 'results', 'result', 'value', 'values', 'features', 'entries', 'list', 'docs', 'hits']);
/** How deep they may be. */
const DEPTH = 3;

/** The rows of a value: an array, one array within an object, an array for each column, or an object for each row. */
function rowsOf(value, path, notes) {
  if (Array.isArray(value)) {
    const nulls = value.filter((one) => one === null).length;
    if (!nulls || nulls === value.length) return value;
    notes.push(`${nulls} of its items ${nulls === 1 ? 'is' : 'are'} null and left out`);
    return value.filter((one) => one !== null);
  }
  if (!isObject(value)) throw new Fault(`${path} is not a table: a table is an array of objects, and this is a ${value === null ? 'null' : typeof value}; use query_json`);
  const { columns, data } = value;
  if (Array.isArray(columns) && Array.isArray(data) && data.every(Array.isArray) && columns.every((one) => typeof one === 'string')) return [columns, ...data];
  const found = [];
  const search = (inside, keys) => {
    for (const [key, one] of Object.entries(inside)) {
      if (Array.isArray(one) && one.length && (one.every(isObject) || one.every(Array.isArray))) found.push({ keys: [...keys, key], rows: one });
      else if (isObject(one) && keys.length + 1 < DEPTH) search(one, [...keys, key]);
    }
  };
  search(value, []);
  const named = found.filter(({ keys }) => ROWS.has(keys.at(-1).toLowerCase()));
  const [chosen] = found.length === 1 ? found : named.length === 1 ? named : [];
  if (chosen) {
    const others = Object.keys(value).filter((key) => key !== chosen.keys[0]);
    notes.push(`the table is ${filter(chosen.keys)} of its object${others.length ? `, whose other keys are ${others.slice(0, 8).join(', ')}${others.length > 8 ? ', …' : ''}` : ''}`);
    return chosen.rows;
  }
  const all = Object.values(value);
  if (all.length && all.every((one) => Array.isArray(one) && one.length === all[0].length && one.length && one.every((item) => !Array.isArray(item) && !isObject(item)))) {
    notes.push('its object has an array for each column');
    return all[0].map((_, at) => Object.fromEntries(Object.entries(value).map(([key, column]) => [key, column[at]])));
  }
  if (all.length > 1 && !found.length && all.every(isObject) && Object.keys(all[0]).some((key) => all.every((one) => Object.hasOwn(one, key)))) {
    notes.push('its object has an object for each row, whose key is the column key');
    return Object.entries(value).map(([key, row]) => ({ key, ...row }));
  }
  const several = found.length ? ` with several arrays, ${found.slice(0, 6).map(({ keys, rows }) => `${filter(keys)} (${rows.length})`).join(', ')}: query_json with one of these filters and save_as makes a table of it` : '; use query_json';
  throw new Fault(`${path} is not a table: a table is an array of objects, and this is an object${several}`);
}

/** The filter of jq for a path of keys. */
const filter = (keys) => keys.map((key) => (/^[a-z_]\w*$/i.test(key) ? `.${key}` : `${keys[0] === key ? '.' : ''}[${JSON.stringify(key)}]`)).join('');
