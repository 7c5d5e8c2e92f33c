// How delimited text becomes columns and cells (www/parts), without a browser: data, and random tables against their own text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Columns, columnNames, kindOf } from '../../www/parts/columns.js';
import { utf8 } from '../../www/parts/decoding.js';
import { delimited, unescaped } from '../../www/parts/delimited.js';
import { dialectOf } from '../../www/parts/dialect.js';

const bytes = (text) => new TextEncoder().encode(text);
const text = (part) => new TextDecoder().decode(part);

function cells(source, more = {}, whole = true) {
  const all = bytes(source);
  const rows = [];
  const dialect = { separator: 44, ...more };
  const odd = delimited(all, dialect, ({ count, starts, ends, quotes }) => {
    rows.push(Array.from({ length: count }, (_, at) => {
      const cell = all.subarray(starts[at], ends[at]);
      return text(quotes[at] === 2 ? unescaped(cell, dialect) : cell);
    }));
  }, whole);
  return { rows, ...odd };
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
    ['"a" ,b\n', [['a', 'b']]],
    ['a, "b, c" ,d\n', [['a', 'b, c', 'd']]],
    ['a\rb\n', [['a\rb']]],
    ['a,b\r\r\n1,2\r\r\n', [['a', 'b'], ['1', '2']]],
    ['"a\r\nb"\r\n', [['a\r\nb']]],
    ['', []],
  ];
  for (const [source, rows] of cases) assert.deepEqual(cells(source), { rows, loose: 0, open: 0 }, JSON.stringify(source));
  assert.deepEqual(cells('a,"b\nc'), { rows: [['a', '"b'], ['c']], loose: 0, open: 1 }, 'a quote that is never closed is text');
  for (const [source, row] of [
    ['"a"x,b', ['"a"x', 'b']],
    ['"say "hi" to me",b', ['say "hi" to me', 'b']],
    ['"3" nail","b"', ['3" nail', 'b']],
    ['"a"b,"c"', ['"a"b', 'c']],
  ]) assert.deepEqual(cells(source), { rows: [row], loose: 1, open: 0 }, source);
  assert.deepEqual(cells('"a \\"b\\", c",d', { escape: 92 }).rows, [['a "b", c', 'd']]);
  assert.deepEqual(cells('a,b\r"c\nd",e\r', { cr: true }).rows, [['a', 'b'], ['c\nd', 'e']]);
  assert.deepEqual(cells("'a,b',c", { quote: 39 }).rows, [['a,b', 'c']]);
  assert.deepEqual(cells('a,b\nc,d', {}, false).rows, [['a', 'b']], 'the last line of a part is left out');
});

test('quotes that are never closed do not take time for each of them', () => {
  const { rows } = cells('"x\n'.repeat(200_000));
  assert.equal(rows.length, 200_000);
});

test('separators and encodings', async () => {
  for (const [source, separator] of [
    ['a,b;c,d', ','], ['a;b;c,d\n1;2;3', ';'], ['a\tb', '\t'], ['a|b|c', '|'], ['"a;b;c",d', ','], ['a', ','], ['a^b\n1^2', '^'], ['a~b\n1~2', '~'], ['root:x:0\nbin:y:1\nada:z:2\n', ':'],
    ['x;y\n1,5;2,5\n3,25;4,5', ';'], ['time\n12:30\n12:45\n', ','], ['"a" "b"\n"1" 2\n"3" 4\n', ' '], ['text\nwell, yes\nno\nnever\n', ','],
  ]) assert.equal(String.fromCharCode(dialectOf(bytes(source), true).separator), separator, source);
  const read = async (...codes) => text((await utf8(Uint8Array.from(codes))).bytes);
  assert.equal(await read(0xef, 0xbb, 0xbf, 0xc3, 0xa4), 'ä');
  assert.deepEqual(await utf8(Uint8Array.of(0xe4, 0x62)), { bytes: bytes('äb'), note: 'it is not UTF-8 and was read as Windows-1252' });
  const cyrillic = async (given) => [new TextDecoder('windows-1251').decode(given), 'windows-1251', true];
  assert.deepEqual(await utf8(Uint8Array.of(0xf2), false, cyrillic), { bytes: bytes('т'), note: 'it is not UTF-8 and was read as windows-1251' });
  assert.equal(await read(0xff, 0xfe, 0x61, 0, 0xe4, 0), 'aä');
  assert.deepEqual(await utf8(Uint8Array.of(0x61, 0, 0x2c, 0, 0xe4, 0, 0x0a, 0)), { bytes: bytes('a,ä\n'), note: 'it was read as UTF-16LE' }, 'without a mark');
  assert.equal((await utf8(Uint8Array.of(0x61, 0xc3), true)).note, undefined, 'a part may end within a character');
});

test('kinds of cells: codes stay text', () => {
  const kinds = [['', 'none'], ['0', 'int'], ['-12', 'int'], [' 7 ', 'int'], ['999999999999999999', 'int'], ['1.5', 'real'], ['-0.25', 'real'], ['.5', 'real'], ['1,5', 'number'], ['1.234,50', 'number'], ['$1,234.50', 'number'], ['(5.00)', 'number'], ['1 234', 'number'], ['12 %', 'number'], ['2024-01-31', 'date'], ['31.1.2024', 'date'], ['12:30', 'date'], ['1e9', 'real'], ['2.5E-3', 'real'],
    ['007', 'code'], ['+49', 'code'], ['12345678901234567890', 'code'], ['00.5', 'code'], ['030 123 456', 'text'], ['192.168.100.200', 'text'], ['1.', 'text'], ['1e', 'text'], ['-', 'text'], ['.', 'text'], ['  ', 'text'], ['0x1f', 'text'], ['NaN', 'text'], ['٣', 'text']];
  for (const [source, kind] of kinds) assert.equal(['none', 'int', 'real', 'number', 'date', 'text', 'code'][kindOf(bytes(source), 0, bytes(source).length)], kind, source);
});

test('names and types of columns', () => {
  assert.deepEqual(columnNames(['a', ' A ', '', 'a_2', 'b']), ['a', 'A_2', 'column_3', 'a_2_2', 'b']);
  const cases = [
    ['id,price,code\n1,1.5,007\n2,2,8\n', { names: ['id', 'price', 'code'], types: ['INTEGER', 'REAL', 'TEXT'], header: true }],
    ['country,2019,2020\nDE,1,2\n', { names: ['country', '2019', '2020'], types: ['TEXT', 'INTEGER', 'INTEGER'], header: true }],
    ['1,2\n3,x\n', { names: ['column_1', 'column_2'], types: ['INTEGER', 'TEXT'], header: false }],
    ['1,Anna,12.5\n2,Bob,3\n', { names: ['column_1', 'column_2', 'column_3'], types: ['INTEGER', 'TEXT', 'REAL'], header: false }],
    ['a\n1,2,3\n', { names: ['a', 'column_2', 'column_3'], types: ['INTEGER', 'INTEGER', 'INTEGER'], header: true }],
    ['a,b\n', { names: ['a', 'b'], types: ['TEXT', 'TEXT'], header: true }],
    ['a,b\n"1",\n', { names: ['a', 'b'], types: ['INTEGER', 'TEXT'], header: true }],
  ];
  for (const [source, { names, types, header }] of cases) {
    const all = bytes(source);
    const dialect = dialectOf(all, true);
    const columns = new Columns(dialect);
    delimited(all, dialect, (record) => columns.see(all, record));
    assert.deepEqual({ header: dialect.header, names: columns.ended().columns.map(({ name }) => name), types: columns.ended().columns.map(({ type }) => type) }, { header, names, types }, source);
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
