// How the pieces of text of a PDF become lines and tables (www/parts/pdf-lines.js, pdf-text.js), without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf } from '../../www/parts/pdf-lines.js';
import { markdownOf, sizesOf } from '../../www/parts/pdf-text.js';

const line = (y, cells) => ({ y, height: 10, cells: cells.map(([from, to, text]) => ({ from, to, text })) });
const markdown = (lines) => markdownOf(lines, sizesOf([lines]));

/** The lengths of the tables that begin at the first line, by trying each end from the last line on. */
function longest(lines) {
  for (let end = lines.length; end >= 3; end -= 1) {
    const spans = lines.slice(0, end).flatMap(({ cells }) => cells.map(({ from, to }) => [from, to])).sort((one, other) => one[0] - other[0]);
    const columns = [];
    for (const [from, to] of spans) {
      if (columns.length && from < columns.at(-1)[1]) columns.at(-1)[1] = Math.max(columns.at(-1)[1], to);
      else columns.push([from, to]);
    }
    const place = ({ from }) => columns.findIndex(([start, stop]) => from >= start && from < stop);
    if (columns.length > 1 && lines.slice(0, end).every(({ cells }) => new Set(cells.map(place)).size === cells.length)) return end;
  }
  return 0;
}

test('a table ends where its lines no longer form columns', () => {
  let state = 7;
  const random = (below) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 2 ** 32) * below); };
  let tables = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const lines = Array.from({ length: 3 + random(20) }, (_, row) => {
      const [one, two] = [random(3), 20 + random(3)];
      const cells = [[one, one + 5 + random(12), `a${row}`], [two, two + 5, `b${row}`]];
      if (random(3) === 0) cells.push([40, 45, `c${row}`]);
      return line(1000 - 12 * row, random(12) ? cells : [[0, 50 * random(2), `a${row}`], [60, 65, `b${row}`]]);
    });
    const rows = longest(lines);
    const text = markdown(lines);
    const found = text[0].startsWith('|') ? (text.indexOf('') < 0 ? text.length : text.indexOf('')) - 1 : 0;
    assert.equal(found, rows, JSON.stringify(lines));
    tables += rows > 0;
  }
  assert.ok(tables > 500 && tables < 2_000, `${tables}`);
});

test('pages made to be slow end in the time for documents', () => {
  // No three lines form columns; all lines form columns; each line has its own columns.
  const none = Array.from({ length: 60_000 }, (_, row) => line(-row, row % 3 ? [[0, 5, 'a'], [10, 15, 'b']] : [[0, 100, 'a'], [101, 105, 'b']]));
  const all = Array.from({ length: 60_000 }, (_, row) => line(-row, [[0, 5, 'a'], [10, 15, 'b']]));
  const own = Array.from({ length: 20_000 }, (_, row) => line(-row, [[3 * row, 3 * row + 1, 'a'], [3 * row + 1.5, 3 * row + 2, 'b']]));
  const wide = Array.from({ length: 4 }, (_, row) => line(-row, Array.from({ length: 20_000 }, (_, at) => [2 * at, 2 * at + 1, 'a'])));
  const heights = Array.from({ length: 60_000 }, (_, row) => ({ ...line(-row, [[0, 5, 'a']]), height: row }));
  const began = performance.now();
  for (const lines of [none, all, own, wide, heights]) assert.ok(markdown(lines).join('\n').length < 20 << 20);
  assert.ok(performance.now() - began < 20_000, `${performance.now() - began} ms`);
});

test('pieces made to be slow become lines in the time for documents', () => {
  const piece = (str, x, y, width) => ({ str, dir: 'ltr', transform: [12, 0, 0, 12, x, y], width, height: 12 });
  const pieces = (of) => Array.from({ length: 60_000 }, (_, n) => of(n));
  const shapes = {
    'two cells': pieces((n) => piece('word two three', 60 + 300 * (n % 2), -14 * (n >> 1), 60)), 'two columns, not level': pieces((n) => piece('word two three', 60 + 300 * (n % 2), -8 * n, 60)),
    'one cell': pieces((n) => piece('w', 60 + 7 * n, 0, 6)), 'many gaps': pieces((n) => piece('w', 60 + 15 * n, 0, 6)), 'one line to the left': pieces((n) => piece('ש', -7 * n, 0, 6)),
    'vertical': pieces((n) => piece('字', 60 + 20 * (n % 1_000), -12 * Math.floor(n / 1_000), 12)), 'spaces': [piece(`a${' '.repeat(1e6)}b c d${' e'.repeat(1e6)}`, 0, 0, 1e6)], 'numbers to the left': [piece('ש1 (a'.repeat(200_000), 0, 0, 1e6)],
  };
  const inserts = Array.from({ length: 1_000 }, (_, n) => ({ rect: [400, -14 * n, 450, 10 - 14 * n], text: 'x', own: n % 2 === 0 }));
  for (const [name, items] of Object.entries(shapes)) {
    const began = performance.now();
    const lines = linesOf(items, inserts);
    assert.equal(lines.reduce((sum, { cells }) => sum + cells.filter(({ text }) => /x/.test(text)).length, 0), inserts.length, name);
    assert.ok(performance.now() - began < 20_000, `${name}: ${performance.now() - began} ms`);
  }
});
