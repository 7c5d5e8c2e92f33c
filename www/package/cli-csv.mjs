// Comma-separated values, as RFC 4180 defines them.

/**
 * The text of a table: `rows` of cells that are strings, numbers, booleans, or `null` for an empty cell. A text that a spreadsheet
 * would run as a formula begins with an apostrophe, since answers of models and tasks are data of others.
 */
export function toCsv(head, rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return '';
    if (typeof value !== 'string') return String(value);
    const text = /^\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(value) ? `'${value}` : value;
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

const PLAIN = /[^,\r\n]*/y;

/**
 * The rows of a table: arrays of strings, each with the line on which it begins, `{ line, cells }`. Empty lines are left out. Throws
 * an `Error` with the line if the quotes of a cell do not match.
 */
export function fromCsv(text) {
  const rows = [];
  let cells = [];
  let [at, line, begun] = [0, 1, 1];
  const fail = (why) => { throw new Error(`line ${line}: ${why}`); };
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; ; at += 1) {
        const next = text.indexOf('"', at);
        if (next < 0) fail('a quoted cell has no closing quote');
        cell += text.slice(at, next);
        at = next + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
      line += cell.split('\n').length - 1;
      if (at < text.length && !/[,\r\n]/.test(text[at])) fail(`after the closing quote of a cell comes ${JSON.stringify(text[at])}; write quotes inside a cell twice`);
    } else {
      PLAIN.lastIndex = at;
      [cell] = PLAIN.exec(text);
      at = PLAIN.lastIndex;
    }
    cells.push(cell);
    if (text[at] === ',') {
      at += 1;
      if (at < text.length) continue;
      cells.push('');
    }
    if (cells.length > 1 || cells[0] !== '') rows.push({ line: begun, cells });
    cells = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
    begun = line;
  }
  return rows;
}
