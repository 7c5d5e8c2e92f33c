// Reads delimited text (CSV, TSV) as bytes of UTF-8, without making strings. `dialect.js` tells how a text is delimited.

const QUOTE = 34, LF = 10, CR = 13, SPACE = 32;

/** Maximum number of columns of a table: SQLite's own. */
export const MAX_COLUMNS = 2_000;
/** Quotes that are never closed and are read as text; more of them would be looked for in the whole text again and again. */
const MOST_OPEN = 20;

/**
 * Calls `take({ at, count, starts, ends, quotes })` for each record that is not an empty line. `at` is the offset of the record, and
 * cell `n` is `starts[n]..ends[n]`; `quotes[n]` is 0 without quotes, 1 with quotes around it, 2 if `unescaped` has to remove quotes or
 * escapes inside of it. The object is reused. Of a record with more than `MAX_COLUMNS` cells, not all are taken, but more than these.
 *
 * A quote within a quoted cell that is followed by other text is text if a later quote on the line closes the cell; otherwise the
 * cell is taken as it is written, with its quotes. So is a cell whose quote is never closed. Blanks around a quoted cell are skipped.
 *
 * `dialect`: `separator`, `quote` (34; 0 for none), `escape` (0, or 92 where a backslash escapes quotes), `cr` (whether a lone
 * carriage return ends a line), `start` (an offset), as byte values. `whole`: whether the last line counts without a line break at its
 * end. Returns the number of cells with quotes that the format does not have, and of quotes that are never closed: `{ loose, open }`.
 */
export function delimited(bytes, { separator, quote = QUOTE, escape = 0, cr = false, start: from = 0 }, take, whole = true) {
  const record = { at: 0, count: 0, starts: [], ends: [], quotes: [] };
  const { starts, ends, quotes } = record;
  const length = bytes.length, second = cr ? CR : LF;
  let at = from, loose = 0, open = 0;

  const isEnd = (byte) => byte === undefined || byte === separator || byte === LF || byte === second;
  /** The offset behind blanks; a carriage return before a line feed counts as one. */
  const skipped = (place) => {
    while (bytes[place] === SPACE && separator !== SPACE || bytes[place] === CR && second !== CR) place += 1;
    return place;
  };
  /** The quote that closes a cell, looked for on the line behind a quote that does not; -1 without one. */
  const later = (place) => {
    for (; place < length && bytes[place] !== LF && bytes[place] !== second; place += 1) {
      if (bytes[place] !== quote) continue;
      if (bytes[place - 1] === separator) return -1; // the next cell begins
      if (bytes[place + 1] === quote) place += 1;
      else if (isEnd(bytes[skipped(place + 1)])) return place;
    }
    return -1;
  };
  let inner = 0; // of the last quoted cell: what goes into `quotes`
  /** The closing quote of the cell whose text begins at `place`; -1 if it is not a quoted cell. */
  const closed = (place) => {
    inner = 1;
    for (;;) {
      let next = bytes.indexOf(quote, place);
      if (escape && next >= 0) {
        let slashes = 0;
        while (next - slashes > place && bytes[next - slashes - 1] === escape) slashes += 1;
        if (slashes) inner = 2;
        if (slashes % 2) { place = next + 1; continue; }
      }
      if (next < 0) { open += 1; return -1; }
      if (bytes[next + 1] === quote) { inner = 2; place = next + 2; continue; }
      if (isEnd(bytes[skipped(next + 1)])) return next;
      loose += 1;
      next = later(next + 1);
      if (next >= 0) inner = 2;
      return next;
    }
  };

  while (at < length) {
    let count = 0;
    record.at = at;
    for (;;) {
      let start = at, end, mark = 0;
      let first = at;
      if (bytes[at] === SPACE && separator !== SPACE) while (bytes[first] === SPACE) first += 1;
      const close = quote && bytes[first] === quote && open < MOST_OPEN ? closed(first + 1) : -1;
      if (close >= 0) {
        start = first + 1;
        end = close;
        mark = inner;
        at = skipped(close + 1);
      } else {
        let byte;
        if (first > at && bytes[first] === quote) at = first;
        while (at < length && (byte = bytes[at]) !== separator && byte !== LF && byte !== second) at += 1;
        end = at;
        // A line may end in `\r\r\n`, where a text with `\r\n` was written as text again.
        if (at === length || bytes[at] === LF) while (end > start && bytes[end - 1] === CR) end -= 1;
      }
      starts[count] = start;
      ends[count] = end;
      quotes[count] = mark;
      if (count <= MAX_COLUMNS) count += 1;
      if (at >= length || bytes[at] !== separator) break;
      at += 1;
      if (at === length) { // a separator at the very end: one more empty cell
        starts[count] = ends[count] = at;
        quotes[count] = 0;
        count += 1;
        break;
      }
    }
    const ended = at < length;
    at += bytes[at] === CR && bytes[at + 1] === LF ? 2 : 1;
    if (count === 1 && ends[0] === starts[0] && !quotes[0]) continue;
    if (!ended && !whole) break;
    record.count = count;
    take(record);
  }
  return { loose, open };
}

/** The text of a quoted cell whose `quotes` is 2: doubled quotes become single, and what a backslash escapes stays without it. */
export function unescaped(bytes, { quote = QUOTE, escape = 0 }) {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (escape && bytes[at] === escape && (bytes[at + 1] === quote || bytes[at + 1] === escape)) at += 1;
    else if (bytes[at] === quote && bytes[at + 1] === quote) at += 1;
    out[length] = bytes[at];
    length += 1;
  }
  return out.subarray(0, length);
}
