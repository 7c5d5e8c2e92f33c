// The engine of query_table (www/parts/sql.js) by itself, in Node.js: the names of tables, wide and large ones, what is read when.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { start } = await import(path.join(dist, 'turnwise/sql.js'));
const module = await WebAssembly.compile(readFileSync(path.join(dist, 'turnwise/sql_bg.wasm')));

/** A database, and `ask(sql)`. `files`: `[path, name, format, content]`; the content of a workbook is its sheets as JSON, behind the bytes of one. */
async function engine(...files) {
  const tables = await start(module);
  const converted = [];
  const sheets = async (bytes, name) => {
    converted.push(name);
    const text = new TextDecoder().decode(bytes).slice(4);
    if (text === 'damaged') throw 'it is damaged';
    return text;
  };
  const made = new Map();
  const blob = (content, format) => made.get(content) ?? made.set(content, new Blob(format === 'workbook' ? ['PK\x03\x04', content] : [content])).get(content);
  return {
    converted,
    files,
    ask: (sql, more = {}) => tables.query(
      { sql, rows: 100, chars: 16_000, max_rows: 1_000_000, max_saved: 1 << 20, listed: 40, save: null, files: files.map(([at, name, format]) => ({ path: at, name, format })), ...more },
      files.map(([, , format, content]) => blob(content, format)), sheets,
    ),
  };
}
const rowsOf = async (asked) => {
  const { fault, rows } = await asked;
  assert.equal(fault, undefined);
  return JSON.parse(JSON.stringify(rows));
};
const book = (of) => JSON.stringify(Object.entries(of).map(([name, value]) => ({ name, rows: [['v'], [value]] })));

test('a sheet does not take the name of a file or of another sheet', async () => {
  const { ask, files } = await engine(
    ['book.xlsx', 'book', 'workbook', book({ Q1: 'sheet', 'A B': 'first', 'A-B': 'second' })],
    ['book_A.xlsx', 'book_A', 'workbook', book({ B: 'other book' })],
    ['book_Q1.csv', 'book_Q1', 'csv', 'v\nfile\n'],
  );
  const value = async (name) => (await rowsOf(ask(`SELECT v FROM "${name}"`)))[0][0];
  for (const [name, expected] of [['book_Q1_2', 'sheet'], ['book_Q1', 'file'], ['book_A_B', 'first'], ['book_A_B_2', 'second'], ['book_A_B_3', 'other book'], ['book_A.xlsx', 'other book'], ['book_a_b', 'first']]) assert.equal(await value(name), expected, name);
  files.pop();
  assert.equal(await value('book_Q1'), 'sheet', 'without the file');
  files.push(['book_Q1.csv', 'book_Q1', 'csv', 'v\nfile again\n']);
  assert.equal(await value('book_Q1'), 'file again', 'a table of the sheet was loaded under that name');
});

test('a workbook is converted once, and not to list it in an error', async () => {
  const { ask, converted } = await engine(['a.xlsx', 'a', 'workbook', book({ S: 1 })], ['b.xlsx', 'b', 'workbook', 'damaged'], ['c.csv', 'c', 'csv', 'n\n1\n']);
  const { fault, tables } = await ask('SELECT * FROM nope');
  assert.equal(fault, 'there is no table nope');
  assert.deepEqual(tables.map(({ name, note }) => [name, note]), [['a_…', 'a workbook; SHOW TABLES lists its sheets'], ['b_…', 'a workbook; SHOW TABLES lists its sheets'], ['c', undefined]]);
  assert.deepEqual(converted, []);
  assert.match((await ask('SELECT * FROM b_S')).fault, /^b\.xlsx: it is damaged$/);
  for (let round = 0; round < 2; round += 1) {
    assert.equal((await ask('SELECT * FROM a_T')).tables[0].name, 'a_S');
    const listed = await ask('SHOW TABLES');
    assert.deepEqual(listed.tables.map(({ name, note }) => [name, note]), [['a_S', undefined], ['b', 'b.xlsx: it is damaged'], ['c', undefined]]);
  }
  assert.deepEqual(await rowsOf(ask('SELECT v FROM a_S')), [[1]]);
  assert.deepEqual(converted, ['b.xlsx', 'a.xlsx']);
});

test('what was not read of a sheet is said', async () => {
  const { ask } = await engine(['a.xlsx', 'a', 'workbook', JSON.stringify([{ name: 'S', rows: [['n'], [1]], notes: ['sheet S is damaged'] }, { name: 'T', rows: [], fault: 'sheet T is too much' }])]);
  assert.deepEqual((await ask('SELECT sum(n) FROM a_S')).notes, ['a.xlsx: sheet S is damaged']);
  assert.equal((await ask('SELECT * FROM a_T')).fault, 'a.xlsx: sheet T is too much');
});

test('tables with too many columns are refused before they fill memory', async () => {
  const { ask } = await engine(
    ['a.json', 'a', 'json', JSON.stringify(Array.from({ length: 60_000 }, (_, n) => ({ [`k${n}`]: 1 })))],
    ['b.csv', 'b', 'csv', `${'same,'.repeat(300_000)}\n`],
    ['c.json', 'c', 'json', JSON.stringify([Array.from({ length: 3_000 }, () => 'x')])],
    ['d.json', 'd', 'json', JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ [`k${n % 2_000}`]: n })))],
  );
  for (const [name, at] of [['a', 'a.json'], ['b', 'b'], ['c', 'c.json']]) assert.match((await ask(`SELECT * FROM ${name}`)).fault, new RegExp(`^${at} has more than 2000 columns`));
  assert.deepEqual(await rowsOf(ask('SELECT count(*), sum(k1999), max(k0) FROM d')), [[20_000, 10 * 1999 + 2000 * 45, 18_000]]);
});

test('large whole numbers of JSON keep their digits, or a note says that they are rounded', async () => {
  const exact = JSON.parse('1', (_, value, context) => context?.source === '1');
  const { ask } = await engine(
    ['a.json', 'a', 'json', '[{"id":9007199254740993,"in":{"id":9007199254740993}},{"id":7}]'],
    ['b.jsonl', 'b', 'jsonl', '{"id":123456789012345678901234567890}\n{"id":0.12345678901234567890}\n'],
  );
  const { rows: [[id, type, inside]], notes } = await ask('SELECT id, typeof(id), "in" ->> \'id\' FROM a WHERE id > 9007199254740000');
  assert.equal(type, 'integer');
  assert.deepEqual(notes, exact ? [] : ['a.json: whole numbers with more than 15 digits are rounded here']);
  assert.equal(String(id), exact ? '9007199254740993' : '9007199254740992');
  assert.equal(String(inside), exact ? '9007199254740993' : '9007199254740992');
  const beyond = await ask('SELECT id FROM b');
  assert.equal(beyond.notes.length, exact ? 0 : 1);
  if (exact) assert.equal(beyond.rows[0][0], '123456789012345678901234567890');
});

test('agents that share a thread query one after the other, each its own files', async () => {
  await import(path.join(dist, 'turnwise/worker.js')); // outside of a worker it only defines its parts
  const request = (sql) => JSON.stringify({ sql, rows: 100, chars: 16_000, max_rows: 1_000_000, max_saved: 1 << 20, listed: 40, save: null, files: [{ path: 'a.csv', name: 'a', format: 'csv' }] });
  const { sql, jq } = globalThis.turnwiseParts;
  const blobs = [1, 2, 3].map((n) => new Blob([`n\n${n}\n`]));
  const asked = await Promise.all([0, 1, 2, 1, 0].map((at) => sql(request('SELECT n FROM a'), [blobs[at]])));
  assert.deepEqual(asked.map((answer) => JSON.parse(answer).rows), [[[1]], [[2]], [[3]], [[2]], [[1]]]);
  const filters = ['.', 'def f: 1 + f; f', '.', '.']; // the second one ends its instance
  const found = await Promise.all(filters.map((filter) => jq(JSON.stringify({ filter }), [new Blob(['1'])])));
  assert.deepEqual(found.map((answer) => JSON.parse(answer)).map(({ shown, fault }) => (fault ? 'ended' : shown)), [['1'], 'ended', ['1'], ['1']]);
});
