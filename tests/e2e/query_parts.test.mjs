// How delimited text becomes columns and cells (www/parts), without a browser: data, and random tables against their own text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Columns, columnNames, kindOf } from '../../www/parts/columns.js';
import { delimited, separatorOf, utf8 } from '../../www/parts/delimited.js';

const bytes = (text) => new TextEncoder().encode(text);
const text = (part) => new TextDecoder().decode(part);

function cells(source, separator = ',', whole = true) {
  const all = bytes(source);
  const rows = [];
  const open = delimited(all, separator.charCodeAt(0), ({ count, starts, ends, quotes }) => {
    rows.push(Array.from({ length: count }, (_, at) => text(all.subarray(starts[at], ends[at])).replaceAll(quotes[at] === 2 ? '""' : '\0', '"')));
  }, whole);
  return { rows, open };
}

test('records and cells', () => {
  const cases = [
    ['a,b\n1,2\n', [['a', 'b'], ['1', '2']]],
    ['a,b\r\n1,2', [['a', 'b'], ['1', '2']]],
    ['a,\n,b\n', [['a', ''], ['', 'b']]],
    ['"a,b","c ""d"""\n"e\nf",g', [['a,b', 'c "d"'], ['e\nf', 'g']]],
    ['\n\na\n\n', [['a']]],
    ['""\n', [['']]],
    ['a,', [['a', '']]],
    ['a"b,c\n', [['a"b', 'c']]],
    ['"a"x,b\n', [['a', 'b']]],
    ['a\rb\n', [['a\rb']]],
    ['"a\r\nb"\r\n', [['a\r\nb']]],
    ['', []],
  ];
  for (const [source, rows] of cases) assert.deepEqual(cells(source), { rows, open: false }, JSON.stringify(source));
  assert.deepEqual(cells('a,"b\nc'), { rows: [['a', 'b\nc']], open: true });
  assert.deepEqual(cells('a,b\nc,d', ',', false).rows, [['a', 'b']], 'the last line of a part is left out');
});

test('separators and encodings', () => {
  for (const [source, separator] of [['a,b;c,d', ','], ['a;b;c,d\n,,,,', ';'], ['a\tb', '\t'], ['a|b|c', '|'], ['"a;b;c",d', ','], ['a', ',']]) assert.equal(String.fromCharCode(separatorOf(bytes(source))), separator, source);
  assert.equal(text(utf8(bytes('\ufeffä')).bytes), 'ä');
  assert.deepEqual(utf8(Uint8Array.of(0xe4, 0x62)), { bytes: bytes('äb'), note: 'it is not UTF-8 and was read as Windows-1252' });
  assert.equal(text(utf8(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0xe4, 0)).bytes), 'aä');
  assert.equal(utf8(Uint8Array.of(0x61, 0xc3), true).note, undefined, 'a part may end within a character');
});

test('kinds of cells: codes stay text', () => {
  const kinds = [['', 'none'], ['0', 'int'], ['-12', 'int'], [' 7 ', 'int'], ['999999999999999999', 'int'], ['1.5', 'real'], ['-0.25', 'real'], ['.5', 'real'], ['1e9', 'real'], ['2.5E-3', 'real'],
    ['007', 'text'], ['+49', 'text'], ['1,5', 'text'], ['1.', 'text'], ['1e', 'text'], ['-', 'text'], ['.', 'text'], ['  ', 'text'], ['12345678901234567890', 'text'], ['0x1f', 'text'], ['2024-01-31', 'text'], ['NaN', 'text'], ['00.5', 'text'], ['٣', 'text']];
  for (const [source, kind] of kinds) assert.equal(['none', 'int', 'real', 'text'][kindOf(bytes(source), 0, bytes(source).length)], kind, source);
});

test('names and types of columns', () => {
  assert.deepEqual(columnNames(['a', ' A ', '', 'a_2', 'b']), ['a', 'A_2', 'column_3', 'a_2_2', 'b']);
  const cases = [
    ['id,price,code\n1,1.5,007\n2,2,8\n', { names: ['id', 'price', 'code'], types: ['INTEGER', 'REAL', 'TEXT'], header: true }],
    ['country,2019,2020\nDE,1,2\n', { names: ['country', '2019', '2020'], types: ['TEXT', 'INTEGER', 'INTEGER'], header: true }],
    ['1,2\n3,x\n', { names: ['column_1', 'column_2'], types: ['INTEGER', 'TEXT'], header: false }],
    ['a\n1,2,3\n', { names: ['a', 'column_2', 'column_3'], types: ['INTEGER', 'INTEGER', 'INTEGER'], header: true }],
    ['a,b\n', { names: ['a', 'b'], types: ['TEXT', 'TEXT'], header: true }],
    ['a,b\n"1",\n', { names: ['a', 'b'], types: ['INTEGER', 'TEXT'], header: true }],
  ];
  for (const [source, expected] of cases) {
    const all = bytes(source);
    const columns = new Columns();
    delimited(all, 44, (record) => columns.see(all, record));
    assert.deepEqual(columns.ended(), expected, source);
  }
});

test('a table that is written and read is the same', () => {
  let state = 20;
  const random = (below) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 2 ** 32) * below); };
  const pieces = ['a', 'ä', '"', '""', ',', ';', '\n', '\r\n', ' ', '1', '東', ''];
  for (let round = 0; round < 2_000; round += 1) {
    const width = 1 + random(4);
    const table = Array.from({ length: 1 + random(5) }, () => Array.from({ length: width }, () => Array.from({ length: random(5) }, () => pieces[random(pieces.length)]).join('')));
    const line = (row) => row.map((cell) => (/[",\r\n]/.test(cell) || cell === '' ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');
    const source = table.map(line).join(['\n', '\r\n'][random(2)]) + ['', '\n'][random(2)];
    assert.deepEqual(cells(source).rows, table, JSON.stringify(source));
  }
});
