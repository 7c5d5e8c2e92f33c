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

const NONE = 0, INT = 1, REAL = 2, TEXT = 3;

/** The kind of a cell. Numbers with leading zeros, a plus or more digits than a number holds are text: they are codes. */
export function kindOf(bytes, start, end) {
  let from = start, to = end;
  while (from < to && bytes[from] === 32) from += 1;
  while (to > from && bytes[to - 1] === 32) to -= 1;
  if (from === to) return to === end && from === start ? NONE : TEXT;
  if (to - from > 24) return TEXT;
  let at = bytes[from] === 45 ? from + 1 : from;
  const first = at;
  while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
  const digits = at - first;
  if (digits > 1 && bytes[first] === 48) return TEXT;
  if (at === to) return digits === 0 || digits > 18 ? TEXT : INT;
  if (bytes[at] === 46) {
    at += 1;
    const fraction = at;
    while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
    if (at === fraction) return TEXT;
  } else if (digits === 0) {
    return TEXT;
  }
  if (at < to && (bytes[at] | 32) === 101) {
    at += 1;
    if (bytes[at] === 43 || bytes[at] === 45) at += 1;
    const exponent = at;
    while (at < to && bytes[at] >= 48 && bytes[at] <= 57) at += 1;
    if (at === exponent) return TEXT;
  }
  return at === to ? REAL : TEXT;
}

/** Sees all records of a text, then knows its columns. */
export class Columns {
  kinds = [];
  first = undefined;
  records = 0;

  see(bytes, { count, starts, ends, quotes }) {
    this.records += 1;
    if (!this.first) {
      const cells = Array.from({ length: count }, (_, at) => ({
        name: decoder.decode(bytes.subarray(starts[at], ends[at])).replaceAll('""', '"').replaceAll(/\s+/g, ' '),
        kind: kindOf(bytes, starts[at], ends[at]),
      }));
      this.first = cells;
      return;
    }
    const { kinds } = this;
    while (kinds.length < count) kinds.push(NONE);
    for (let at = 0; at < count; at += 1) {
      if (kinds[at] === TEXT) continue;
      const kind = quotes[at] === 2 ? TEXT : kindOf(bytes, starts[at], ends[at]);
      if (kind > kinds[at]) kinds[at] = kind;
    }
  }

  /** The names and SQL types. The first record is the header, unless all of its cells are numbers or empty. */
  ended() {
    const { first, kinds } = this;
    const header = first.some(({ kind }) => kind === TEXT);
    const width = Math.max(first.length, kinds.length);
    while (kinds.length < width) kinds.push(NONE);
    if (!header) first.forEach(({ kind }, at) => { kinds[at] = Math.max(kinds[at], kind); });
    const names = columnNames(Array.from({ length: width }, (_, at) => (header ? first[at]?.name ?? '' : '')));
    return { names, types: kinds.map((kind) => (kind === INT ? 'INTEGER' : kind === REAL ? 'REAL' : 'TEXT')), header };
  }
}
