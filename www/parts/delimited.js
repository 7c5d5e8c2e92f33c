// Reads delimited text (CSV, TSV) as bytes of UTF-8, without making strings.

const QUOTE = 34, LF = 10, CR = 13;

/** Maximum number of columns of a table: SQLite's own. */
export const MAX_COLUMNS = 2_000;

/** The bytes as UTF-8 without byte order mark, and what had to be assumed. `part`: the text may end within a character. */
export function utf8(bytes, part = false) {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { bytes: bytes.subarray(3) };
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
  const again = (encoding) => new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));
  if (wide) return { bytes: again(wide) };
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: part });
    return { bytes };
  } catch {
    return { bytes: again('windows-1252'), note: 'it is not UTF-8 and was read as Windows-1252' };
  }
}

/** The separator that occurs most in the first line outside of quotes: comma, semicolon, tab or bar. */
export function separatorOf(bytes) {
  const counts = new Map([[44, 0], [59, 0], [9, 0], [124, 0]]);
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (byte === LF && !quoted) break;
    else if (!quoted && counts.has(byte)) counts.set(byte, counts.get(byte) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}

/**
 * Calls `take({ count, starts, ends, quotes })` for each record that is not an empty line. Cell `n` is `starts[n]..ends[n]`;
 * `quotes[n]` is 0 without quotes, 1 with quotes around it, 2 if doubled quotes are in it as well. The object is reused. Of a record
 * with more than `MAX_COLUMNS` cells, not all are taken, but more than these.
 * `whole`: whether the last line counts without a line break at its end. Returns whether a quote was left open.
 */
export function delimited(bytes, separator, take, whole = true) {
  const record = { count: 0, starts: [], ends: [], quotes: [] };
  const { starts, ends, quotes } = record;
  const length = bytes.length;
  let at = 0, open = false;
  while (at < length) {
    let count = 0;
    for (;;) {
      let start = at, end, quote = 0;
      if (bytes[at] === QUOTE) {
        quote = 1;
        start = at += 1;
        for (;;) {
          const next = bytes.indexOf(QUOTE, at);
          if (next < 0) { end = at = length; open = true; break; }
          if (bytes[next + 1] !== QUOTE) { end = next; at = next + 1; break; }
          quote = 2;
          at = next + 2;
        }
        // What follows a closing quote up to the separator belongs to no cell in the format; it is skipped.
        while (at < length && bytes[at] !== separator && bytes[at] !== LF) at += 1;
      } else {
        let byte;
        while (at < length && (byte = bytes[at]) !== separator && byte !== LF) at += 1;
        end = at > start && bytes[at - 1] === CR && (at === length || bytes[at] === LF) ? at - 1 : at;
      }
      starts[count] = start;
      ends[count] = end;
      quotes[count] = quote;
      if (count <= MAX_COLUMNS) count += 1;
      if (at >= length || bytes[at] === LF) break;
      at += 1;
      if (at === length) { // a separator at the very end: one more empty cell
        starts[count] = ends[count] = at;
        quotes[count] = 0;
        count += 1;
        break;
      }
    }
    const ended = at < length;
    at += 1;
    if (count === 1 && ends[0] === starts[0] && !quotes[0]) continue;
    if (!ended && !whole) break;
    record.count = count;
    take(record);
  }
  return open;
}
