// Files and queries made to harm the tools that read them, through real runs in Chromium: each is answered in a sentence or in part, and
// says so; the page goes on meanwhile, nothing leaves it, and the call after each is answered as ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xlsx } from './lib/documents.mjs';
import { ARCHIVES, JQ, PDFS, QUERIED, SQL, SUMS, WORKBOOKS } from './lib/hostile-files.mjs';
import { withCanary } from './lib/programs.mjs';
import { withScript } from './lib/script-server.mjs';
import { withPackage } from './lib/site.mjs';

/** Runs the calls `[name, arguments, answer]` in a page, one after the other; the page must not stand still for `STILL_MS`. */
const STILL_MS = 2_000;
const run = (calls, files, toolTimeoutMs) => withCanary((canary) => {
  const steps = [...calls.map(([name, args], at) => ({ calls: [{ id: `c${at}`, name, args: JSON.stringify(args).replaceAll('CANARY', canary) }] })), { text: 'Done.' }];
  return withScript(steps, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    page.setDefaultTimeout(120_000);
    const bytes = Object.entries(files).map(([name, content]) => [name, Buffer.from(Buffer.from(content).toString('latin1').replaceAll('CANARY', canary), 'latin1').toString('base64')]);
    const { results, still } = await page.evaluate(async ({ baseUrl, bytes, toolTimeoutMs, maxTurns }) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['read_file', 'query_table', 'query_json', 'calculate'], maxTurns, limits: { toolTimeoutMs } });
      for (const [name, base64] of bytes) agent.files.put(name, new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]));
      let [still, last] = [0, performance.now()];
      const clock = setInterval(() => { const now = performance.now(); still = Math.max(still, now - last); last = now; }, 20);
      const { turns } = await agent.run('Go.');
      clearInterval(clock);
      agent.free();
      return { results: turns.flatMap((turn) => turn.tool_calls.map(({ result }) => result.replace(/\n\[Turn \d+\/\d+[^\n]*\]$/, ''))), still };
    }, { baseUrl, bytes, toolTimeoutMs, maxTurns: calls.length + 2 });
    assert.ok(still < STILL_MS, `the page stood still for ${still} ms`);
    const wrong = calls.flatMap(([name, args, expected], at) => {
      const fits = typeof expected === 'string' ? results[at] === expected : expected.test(results[at]);
      return fits ? [] : [`${name} ${JSON.stringify(args).slice(0, 200)}: ${results[at]?.slice(0, 400)}`];
    });
    assert.deepEqual(wrong, []);
  }));
});
const GOOD = { 'good.txt': 'A turbine.' };
const goodAgain = ['read_file', { path: 'good.txt' }, /^A turbine\.\n?$/];
/** Reads each file, or lists its tables, and after each one a good one. */
const reading = (files, expected) => {
  assert.deepEqual(Object.keys(expected), Object.keys(files));
  return Object.entries(expected).flatMap(([path, answer]) => [['read_file', { path, limit: 6 }, answer], goodAgain]);
};
const rename = (files, end) => Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`${name}${end}`, bytes]));

const TURBINE = /^\[[^\]]*: PDF, 1 page; \d lines of text\]\n\[page 1\]\nTurbine/;
const DAMAGED = /pages that are damaged and were not read: 1\]|has no text that can be read: it is damaged, or not a PDF/;
// Which limit ends such a file, its own or the time, depends on the machine; so with some workbooks, queries and filters.
const BEGINNING = /pages of which only the beginning was read, since the rest is over the limits: 1\]\n\[page 1\]\n(# )?Turbine|^Error: timeout/;

test('hostile PDFs: circles, counts that lie, bombs, scripts', { timeout: 120_000 }, () => {
  const files = rename(PDFS, '.pdf');
  return run(reading(files, Object.fromEntries(Object.keys(PDFS).map((name) => [`${name}.pdf`, {
    'kid-of-itself': DAMAGED, 'kids-in-a-circle': DAMAGED, 'pages-less-than-none': /has no text that can be read: it has no pages$/, 'nested-arrays': DAMAGED, 'nested-dictionaries': DAMAGED,
    'filters': DAMAGED, 'packed-text': BEGINNING, 'forms-of-forms': BEGINNING, 'map-of-everything': /\[page 1\]\n./, 'content-elsewhere': /it holds no text: its page is a picture, or empty/,
    'scripts-and-addresses': /\[page 1\]\nTurbine\n[^]*^name: a field$/m, 'huge-font': /\[page 1\]\n.*Turbine/,
  }[name] ?? TURBINE]))), { ...files, ...GOOD }, 8_000);
});

const LISTED = (count) => new RegExp(`: ZIP archive, ${count} files?; `);
const NO_LIST = /it is a ZIP archive without files, or its list of files is damaged$/;
test('hostile archives: bombs, entries that overlap, names, sizes and lists that lie; none is unpacked to be listed', { timeout: 120_000 }, () => run(reading(ARCHIVES, {
  'names.zip': /: ZIP archive, \d+ files|it is damaged/, 'links.zip': LISTED(2), 'nested.zip': LISTED(1), 'overlapping.zip': LISTED(400), 'overlapping-more.zip': LISTED(600),
  'many.zip': /ZIP archive, 20000 files[^\n]*only the first 20000 of its 65534 files are listed/, 'says-64-bit.zip': /its list of files is damaged: 65533 of 65535 files are missing/, 'says-much.zip': LISTED(2), 'says-little.zip': LISTED(1), 'says-more.zip': LISTED(2),
  'not-packed-and-larger.zip': LISTED(2), 'list-elsewhere.zip': LISTED(2), 'list-cut.zip': LISTED(1), 'list-is-file.zip': LISTED(2), 'no-list.zip': NO_LIST,
}), { ...ARCHIVES, ...GOOD }, 10_000));

/** A workbook whose only sheet is damaged. */
const EMPTY = /it is damaged: its sheet S could not be read \(.+\)$/;
const BOOKS = {
  'one-string-in-all-cells.xlsx': /only its first cells were read: it has more than 4000000, or more than 134\.\d MB of text/, 'strings-by-the-thousand-million.xlsx': /it is damaged, or needs more memory than a document may$/,
  'many-strings.xlsx': /workbook, 1 sheet|^Error: timeout/, 'entities.xlsx': EMPTY, 'entities-of-strings.xlsx': /unrecognized entity `&a11;`$/, 'dimension.xlsx': /\| 1 \| Turbine \|/, 'dimension-is-wrong.xlsx': EMPTY,
  'corners-of-many-sheets.xlsx': /^\[[^\n]*: workbook, 200 sheets/, 'far-away.xlsx': /damaged/, 'merged.xlsx': /\| 1 \| Turbine \|/, 'formulas-in-a-circle.xlsx': /\| 1 \| 1 \| 2 \| 3 \|/,
  'links-to-others.xlsx': /\| 2 \| Turbine \| 900 \|/, 'sheet-elsewhere.xlsx': EMPTY, 'sheet-is-the-workbook.xlsx': EMPTY, 'no-sheet.xlsx': EMPTY, 'not-xml.xlsx': EMPTY, 'deep.xlsx': EMPTY,
  'many-sheets.xlsx': /only its first cells were read|^Error: timeout/, 'repeated.ods': /Cell limit exceeded/, 'repeated-beyond.ods': /number too large/, 'repeated-empty.ods': /\| 1048576 \| 7 \|/, 'entities.ods': /unrecognized entity `&a11;`$/,
  'circle.xls': /its format is not known/,
};
test('hostile workbooks: shared strings, entities, sizes, formulas, links, parts that are missing', { timeout: 120_000 }, () => run(reading(WORKBOOKS, BOOKS), { ...WORKBOOKS, ...GOOD }, 6_000));

test('a workbook\'s sheet that is no table does not hide the others, and one that is damaged says so', { timeout: 60_000 }, () => run([
  ['query_table', { sql: 'SHOW TABLES' }, /- book_Wide \(book\.xlsx\): book_Wide has more than 2000 columns[^\n]*\n- book_Good \(book\.xlsx, 1 row\): Item text, Price integer\n- entities_S \(entities\.xlsx\): sheet S is damaged and was not read to its end [^\n]*entity/], goodAgain,
], { 'book.xlsx': xlsx({ Wide: '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>', Good: [['Item', 'Price'], ['Turbine', 900]] }), 'entities.xlsx': WORKBOOKS['entities.xlsx'], ...GOOD }, 20_000));

test('hostile SQL that reads: products, patterns, depths, names', { timeout: 120_000 }, () => run(SQL.flat(), QUERIED, 3_000));
test('hostile filters of jq: without end, recursive, huge, reaching out', { timeout: 120_000 }, () => run(JQ.flat(), QUERIED, 3_000));
test('hostile sums', { timeout: 60_000 }, () => run(SUMS.flat(), QUERIED, 2_000));
