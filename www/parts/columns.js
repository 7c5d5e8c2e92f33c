// The names and types of the columns of a delimited text.

const decoder = new TextDecoder();

/** Names that differ, ignoring case: an empty one becomes `column_3`, a second `a` becomes `a_2`. */
export function columnNames(names) {
  const unused = distinct();
  return names.map((given, at) => unused(given.trim() || `column_${at + 1}`));
}

/** A function that numbers the names that were used before, ignoring case. */
export function distinct(names = []) {
  const used = new Set(names.map((name) => name.toLowerCase()));
  const last = new Map(); // the last number of each name
  return (base) => {
    const key = base.toLowerCase();
    let number = last.get(key) ?? 1, name = base;
    while (used.has(name.toLowerCase())) {
      number += 1;
      name = `${base}_${number}`;
    }
    last.set(key, number);
    used.add(name.toLowerCase());
    return name;
  };
}

/** Kinds of cells. `NUMBER` is a number in another notation than SQL's, such as `1.234,50` or `$12`; `CODE` has digits but is no number. */
export const NONE = 0, INT = 1, REAL = 2, NUMBER = 3, DATE = 4, TEXT = 5, CODE = 6;

/** The kind of a cell. Numbers with leading zeros, a plus or more digits than a number holds are codes. */
export function kindOf(bytes, start, end) {
  let from = start, to = end;
  while (from < to && bytes[from] === 32) from += 1;
  while (to > from && bytes[to - 1] === 32) to -= 1;
  if (from === to) return to === end && from === start ? NONE : TEXT;
  if (to - from > 40) return TEXT;
  let at = bytes[from] === 45 ? from + 1 : from;
  const first = at;
  while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
  const digits = at - first;
  if (digits > 1 && bytes[first] === 48) return at === to || bytes[at] === 46 ? CODE : other(bytes, from, to);
  if (at === to) return digits === 0 ? TEXT : digits > 18 ? CODE : INT;
  if (bytes[at] === 46) {
    at += 1;
    const fraction = at;
    while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
    if (at === fraction) return TEXT;
  } else if (digits === 0) {
    return bytes[first] === 43 ? CODE : other(bytes, from, to);
  }
  if (at < to && (bytes[at] | 32) === 101) {
    at += 1;
    if (bytes[at] === 43 || bytes[at] === 45) at += 1;
    const exponent = at;
    while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
    if (at === exponent) return TEXT;
  }
  return at === to ? REAL : other(bytes, from, to);
}

export const DATES = /^(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([./-])(?:\d{1,2}|[A-Z][a-z]{2})\2\d{2,4}|\d{1,2} [A-Z][a-z]{2,8}\.? \d{4})(?:[T ]\d{1,2}:\d{2}.*)?$|^\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?$/;

function other(bytes, from, to) {
  const byte = bytes[from];
  // A digit, a sign, a bracket, a dollar, a letter of a currency, or a character beyond ASCII.
  if (!(byte >= 48 && byte <= 57 || byte === 45 || byte === 40 || byte === 36 || byte > 127 || byte >= 65 && byte <= 90)) return TEXT;
  const text = decoder.decode(bytes.subarray(from, to));
  return DATES.test(text) ? DATE : notation(text) ? NUMBER : TEXT;
}

const UNIT = '[$€£¥₹₽%‰]|R\\$|kr\\.?|zł|Kč|Ft|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|RUB|INR|AUD|CAD|CNY';
const SHAPE = new RegExp(`^(\\()?(${UNIT})?\\s?([-−])?\\s?(${UNIT})?\\s?(\\d[\\d.,'’\\s]*?)\\s?(${UNIT})?(-)?(\\))?$`);
const FORMS = [
  ['int', /^\d+$/],
  ['dot3', /^[1-9]\d{0,2}\.\d{3}$/], // 1.234 of 1234 or of 1.234
  ['dot', /^\d+\.\d+$/],
  ['comma3', /^[1-9]\d{0,2},\d{3}$/],
  ['comma', /^\d+,\d+$/],
  ['english', /^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$|^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/], // the last one: lakh and crore
  ['german', /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2}$|^\d{1,3}(?:\.\d{3}){4,}$/], // with three points it may be an address
  ['space', /^\d{1,3}(?:['’\s]\d{3})+$/],
  ['dot', /^\d{1,3}(?:['’\s]\d{3})+\.\d+$/],
  ['comma', /^\d{1,3}(?:['’\s]\d{3})+,\d+$/],
];

/** How a text writes a number: `{ form, digits, negative, unit }`; nothing if it is none. */
function notation(text) {
  const found = SHAPE.exec(text);
  if (!found) return undefined;
  const [, open, one, minus, two, digits, three, after, close] = found;
  if (Boolean(open) !== Boolean(close) || [one, two, three].filter(Boolean).length > 1 || [open, minus, after].filter(Boolean).length > 1) return undefined;
  if (/^0\d/.test(digits)) return undefined;
  const form = FORMS.find(([, pattern]) => pattern.test(digits))?.[0];
  return form && { form, digits, negative: Boolean(open || minus || after), unit: one ?? two ?? three ?? '' };
}

/** The number of a cell in a notation; nothing if it is none. */
function numberOf(text, decimal) {
  const found = notation(text.trim());
  if (!found) return undefined;
  const plain = decimal === ',' ? found.digits.replaceAll(/[.'’\s]/g, '').replace(',', '.') : found.digits.replaceAll(/[,'’\s]/g, '');
  return found.negative ? -Number(plain) : Number(plain);
}

/** What stands for no value among numbers. */
const MISSING = new Set(['na', 'n/a', '#n/a', 'n.a.', 'n.v.', 'k.a.', 'null', 'nil', 'none', 'nan', '-', '--', '---', '–', '—', '.', '..', '?', '\\n', '(null)', '<na>', 'missing', '#div/0!', '#value!', '#ref!', '#null!', '#num!', '#name?']);

const isMissing = (text) => MISSING.has(text.toLowerCase()) || /^\*+$/.test(text);

/** The share of cells that may be text in a column of numbers. */
const SOME = 0.1;

/** What is known of a column. */
const unseen = () => ({ int: 0, dot3: 0, dot: 0, comma3: 0, comma: 0, english: 0, german: 0, space: 0, missing: 0, texts: 0, example: '', units: new Set(), bare: 0, textual: false });
const numbersOf = ({ int, dot3, dot, comma3, comma, english, german, space }) => int + dot3 + dot + comma3 + comma + english + german + space;

/** Sees all records of a text with a dialect, then knows its columns. */
export class Columns {
  seen = [];
  names = undefined;
  /** The number of rows so far. */
  rows = 0;
  /** Rows that repeat the header, rows without a value; rows with fewer and with more cells than the header, and the first of these. */
  repeats = 0;
  empty = 0;
  fewer = 0;
  more = 0;
  odd = 0;

  constructor({ header, shifted = false }) {
    this.header = header;
    this.shifted = shifted;
  }

  see(bytes, record) {
    const { count, starts, ends, quotes } = record;
    if (!this.names) {
      this.width = this.most = count + (this.shifted ? 1 : 0);
      this.names = [];
      if (this.header) {
        this.names = Array.from({ length: count }, (_, at) => decoder.decode(bytes.subarray(starts[at], ends[at])).replaceAll('""', '"').replaceAll(/\s+/g, ' '));
        this.line = bytes.slice(starts[0], ends[count - 1]);
        while (this.names.length > 1 && !this.names.at(-1).trim()) this.names.pop();
        if (this.shifted) this.names.unshift('');
        this.width = this.names.length;
        return;
      }
    }
    if (this.isRepeated(bytes, record)) {
      this.repeats += 1;
      return;
    }
    if (isEmpty(record)) {
      this.empty += 1;
      return;
    }
    this.rows += 1;
    let reach = count;
    while (reach > this.width && ends[reach - 1] === starts[reach - 1]) reach -= 1;
    if (count < this.width || reach > this.most) {
      this.odd ||= this.rows;
      if (reach > this.most) this.more += 1;
      else this.fewer += 1;
    }
    const { seen } = this;
    while (seen.length < reach) seen.push(unseen());
    for (let at = 0; at < reach; at += 1) {
      const column = seen[at];
      if (!column.textual) this.cell(column, bytes, starts[at], ends[at], quotes[at] === 2);
    }
  }

  cell(column, bytes, start, end, escaped) {
    const kind = escaped ? TEXT : kindOf(bytes, start, end);
    if (kind === NONE) return;
    if (kind === INT || kind === REAL) {
      const form = kind === INT ? 'int' : bytes[end - 4] === 46 && notation(decoder.decode(bytes.subarray(start, end)))?.form === 'dot3' ? 'dot3' : 'dot';
      column[form] += 1;
      column.bare += 1;
      return;
    }
    if (kind === CODE) {
      column.textual = true;
      return;
    }
    const text = end - start > 40 ? '' : decoder.decode(bytes.subarray(start, end)).trim();
    if (kind === NUMBER) {
      const { form, unit } = notation(text);
      column[form] += 1;
      if (unit) column.units.add(unit);
      else column.bare += 1;
    } else if (isMissing(text)) {
      column.missing += 1;
      column.marker ??= text;
    } else {
      column.texts += 1;
      column.example ||= text;
      if (column.texts > 50 && column.texts > numbersOf(column)) column.textual = true;
    }
  }

  /** Whether a record is no row of the table. */
  isSkipped(bytes, record) {
    return isEmpty(record) || this.isRepeated(bytes, record);
  }

  /** Whether a record is the header once more, as where files were joined. */
  isRepeated(bytes, { count, starts, ends }) {
    const { line } = this;
    if (!line?.length || this.width < 2 || ends[count - 1] - starts[0] !== line.length || bytes[starts[0]] !== line[0]) return false;
    for (let at = 0; at < line.length; at += 1) if (bytes[starts[0] + at] !== line[at]) return false;
    return true;
  }

  /**
   * `{ columns, rows, notes }`: the names and SQL types of the columns, what turns a cell into its value where SQL's own conversion does
   * not (`read(text)`, `undefined` for a text), and what had to be assumed.
   */
  ended(separator = 44) {
    const { names = [], seen } = this;
    const width = Math.max(this.width ?? 0, seen.length);
    while (seen.length < width) seen.push(unseen());
    const unique = columnNames(Array.from({ length: width }, (_, at) => names[at] ?? ''));
    // What the columns say together about points and commas.
    const commas = seen.some(({ textual, texts, comma, german }) => !textual && !texts && comma + german > 0);
    const points = seen.some(({ textual, texts, dot, english }) => !textual && !texts && dot + english > 0);
    const lists = new Map();
    const list = (what, name) => lists.set(what, [...lists.get(what) ?? [], name]);
    const columns = seen.map((column, at) => {
      const name = unique[at];
      const numbers = numbersOf(column), all = numbers + column.texts;
      if (column.textual || !numbers || column.texts > all * SOME || column.units.size > 1 || column.units.has('%') && column.bare) return { name, type: 'TEXT' };
      const own = column.comma + column.german > 0 ? ',' : column.dot + column.english > 0 ? '.' : undefined;
      const unclear = column.comma3 > 0 || column.dot3 > 0;
      let decimal = own ?? (commas !== points ? commas ? ',' : '.' : undefined);
      if (!decimal && column.comma3 && separator === 44) decimal = '.';
      // A list such as `3,3` where other columns have points.
      if (own === ',' && points && separator === 44 && !column.german) return { name, type: 'TEXT' };
      if (own === ',' && column.dot + column.english > 0 || column.comma3 && !decimal || column.comma3 && column.dot3 && !own) {
        list('has numbers whose comma or point may separate decimals or thousands, so they are text', name);
        return { name, type: 'TEXT' };
      }
      decimal ??= '.';
      const odd = column.comma + column.comma3 + column.english + column.german + column.space + column.units.size > 0 || decimal === ',' && column.dot3 > 0;
      const [unit] = column.units;
      if (odd) list(`was read as numbers with ${unclear && !own ? `${decimal === ',' ? 'decimal commas' : 'decimal points'}, as the others` : decimal === ',' ? 'decimal commas' : 'decimal points'}${unit ? ` in ${unit}` : ''}`, name);
      if (column.missing) list(`has ${JSON.stringify(column.marker)} for no value`, name);
      if (column.texts) list(`has ${column.texts === 1 ? 'a text' : `${column.texts} texts`} among its numbers (${JSON.stringify(column.example)}), which sum and avg count as 0`, name);
      const whole = !(column.comma + column.dot) && (odd ? !column.german && !column.english && !(decimal === ',' ? column.comma3 : column.dot3) : !column.dot3);
      const read = odd || column.missing ? (text) => (isMissing(text.trim()) ? null : odd ? numberOf(text, decimal) : undefined) : undefined;
      return { name, type: whole ? 'INTEGER' : 'REAL', read };
    });
    const notes = [...lists].map(([what, of]) => `${of.length > 1 ? 'columns' : 'column'} ${of.slice(0, 5).join(', ')}${of.length > 5 ? ` and ${of.length - 5} more` : ''} ${of.length > 1 ? what.replace(/^has /, 'have ').replace(/^was /, 'were ') : what}`);
    if (this.shifted) notes.unshift('its header has one name less than its rows have cells, so the first column has no name');
    if (this.repeats) notes.push(`${count(this.repeats, 'line')} that repeat${this.repeats === 1 ? 's' : ''} the header ${this.repeats === 1 ? 'is' : 'are'} left out`);
    if (this.empty) notes.push(`${count(this.empty, 'row')} without a value ${this.empty === 1 ? 'is' : 'are'} left out`);
    if (this.fewer + this.more) {
      const parts = [this.fewer && `${this.fewer} with fewer cells`, this.more && `${this.more} with more`].filter(Boolean).join(', ');
      notes.push(`not all rows have ${count(this.width, 'cell')}, as its first line has: ${parts}; the first is row ${this.odd}`);
    }
    return { columns, rows: this.rows, notes };
  }
}

/** Whether a record has separators only, as below the last row of an exported sheet. */
function isEmpty({ count: cells, starts, ends, quotes }) {
  if (cells < 2) return false;
  for (let at = 0; at < cells; at += 1) if (ends[at] > starts[at] || quotes[at]) return false;
  return true;
}

const count = (number, what) => `${number} ${what}${number === 1 ? '' : 's'}`;
