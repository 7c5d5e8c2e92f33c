// Documents as text with places, through the tools of an agent: in Chromium, where each part loads on its first use, and in
// Node.js. Real files are in tests/files; these are small, and hostile.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { docx, paragraph, pdf, xlsx, zip } from './lib/documents.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';
import { left } from './lib/tier.mjs';

const call = (id, name, args) => ({ id, name, args });
const read = (id, file, more = {}) => call(id, 'read_file', { path: file, ...more });

const REPORT = pdf([
  [[24, 'Annual report'], [11, 'Revenue was 7 million.']],
  [[11, 'The turbine in Halden failed.'], [11, 'Region'], [11, 'Sum', 200, true], [11, 'North'], [11, '12', 200, true], [11, 'South'], [11, '30', 200, true]],
  [],
]);
const BOOK = xlsx({ Q1: [['Item', 'Price'], ['Turbine', 900], ['Lamp', 12.5]] });

/** Runs one call after the other with these files; returns the answers, and the parts that were loaded before each. */
async function answers(files, calls) {
  const loaded = [];
  const seen = (pathname) => {
    const name = /\/(convert\.js|convert_bg\.wasm|pdf\.js|pdf-maps\.bin)$/.exec(pathname)?.[1];
    if (name && !loaded.includes(name)) loaded.push(name);
  };
  const steps = [...calls.map((one) => ({ calls: [one] })), { text: 'Done.' }];
  return withScript(steps, (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    const trajectory = await page.evaluate(async ({ baseUrl, files }) => {
      const agent = new window.turnwise.Agent({
        provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['read_file', 'search_files', 'list_files', 'write_file'], maxTurns: 60,
      });
      for (const [name, base64] of files) agent.files.put(name, new Blob([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]));
      return agent.run('Go.');
    }, { baseUrl, files: Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]) });
    assert.equal(trajectory.outcome, 'success', JSON.stringify(trajectory.turns.at(-1)));
    return { results: trajectory.turns.flatMap((turn) => turn.tool_calls.map(({ result }) => result)), loaded };
  }, { seen }));
}

test('a PDF, a workbook and their search results name pages and cells, and only the parts that they need load', { timeout: 120_000 }, async () => {
  const { results, loaded } = await answers({ 'report.pdf': REPORT, 'notes.md': '# Turbine\n\nSee the report.' }, [
    call('1', 'list_files', {}), read('2', 'report.pdf'), call('3', 'search_files', { query: 'turbine Halden' }), read('4', 'report.pdf', { place: 'page 2' }),
  ]);
  const [, whole, found, page] = results;
  assert.match(whole, /^\[report\.pdf: PDF, 3 pages; \d+ lines of text; pages without text \(empty, or pictures\): 3\]\n\[page 1\]\n# Annual report\n\nRevenue was 7 million\./);
  assert.match(whole, /\[page 2\]\nThe turbine in Halden failed\.\n\n\| Region \| Sum \|\n\| --- \| --- \|\n\| North \| 12 \|\n\| South \| 30 \|/);
  assert.match(found, /^report\.pdf:\d+, page 2 {2}/);
  assert.match(page, /^\[page 2\]\nThe turbine/);
  assert.deepEqual(loaded.sort(), ['pdf.js'], 'office documents and character maps were not needed');

  const other = await answers({ 'book.xlsx': BOOK }, [call('1', 'search_files', { query: 'turbine' }), read('2', 'book.xlsx')]);
  assert.match(other.results[0], /^book\.xlsx:\d+, sheet Q1, A2:B2 {2}.*Turbine/);
  assert.match(other.results[1], /\| 2 \| Turbine \| 900 \|\n\| 3 \| Lamp \| 12\.5 \|/);
  assert.deepEqual(other.loaded.sort(), ['convert.js', 'convert_bg.wasm']);
});

test('text files load no part', { timeout: 60_000 }, async () => {
  const { results, loaded } = await answers({ 'a.md': 'A turbine.', 'b.csv': 'x,y\n1,2' }, [call('1', 'search_files', { query: 'turbine' }), read('2', 'b.csv')]);
  assert.match(results[0], /^a\.md:1 /);
  assert.match(results[1], /^x,y\n1,2/);
  assert.deepEqual(loaded, []);
});

test('broken, encrypted, empty, wrongly named and hostile files get a sentence each, and the next file is read', { skip: left, timeout: 240_000 }, async () => {
  const entities = `<!DOCTYPE x [<!ENTITY a "lol">${Array.from({ length: 12 }, (_, n) => `<!ENTITY a${n} "${`&a${n ? n - 1 : ''};`.repeat(10)}">`).join('')}]>`;
  const levels = 200_000;
  const deep = docx(`${'<w:tbl><w:tr><w:tc>'.repeat(levels)}${paragraph('deep')}${'</w:tc></w:tr></w:tbl>'.repeat(levels)}`);
  const million = `${Array.from({ length: 1_000_000 }, (_, at) => `<row r="${at + 1}"><c r="A${at + 1}"><v>${at}</v></c></row>`).join('')}`;
  const encrypted = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600), Buffer.from('EncryptedPackage', 'utf16le')]);
  // Its files are larger than they say: the text of the first is cut, the second is too large.
  const lying = (paragraphs) => docx(paragraph('word '.repeat(20_000)).repeat(paragraphs), { claims: 100 });
  const files = {
    'scan.pdf': pdf([[], []]), 'broken.pdf': REPORT.subarray(0, 300), 'not.pdf': Buffer.from([1, 2, 0, 255, 4]), 'text.pdf': 'It is only text.', 'empty.docx': '',
    'cut.xlsx': BOOK.subarray(0, BOOK.length / 2), 'is-a-pdf.docx': REPORT, 'locked.xlsx': encrypted, 'plain.docx': zip([['readme.txt', 'hi']]),
    'bomb.docx': zip([['word/document.xml', Buffer.alloc(1 << 20, 97)]], { claims: 0xf0000000 }), 'lying.docx': lying(250), 'lying-more.docx': lying(3_000),
    'entities.docx': docx(paragraph('&a11;'), { before: entities }),
    'deep.docx': deep, 'million.xlsx': xlsx({ Rows: million }), 'corners.xlsx': xlsx({ Far: '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>' }),
    'good.xlsx': BOOK,
  };
  const names = Object.keys(files);
  const { results } = await answers(files, names.map((name, at) => read(String(at), name, { limit: 5 })));
  const said = Object.fromEntries(names.map((name, at) => [name, results[at]]));
  const expected = {
    'scan.pdf': /holds no text: its 2 pages are pictures, or empty, as in a scan; a model that reads/, 'broken.pdf': /damaged, or not a PDF|holds no text/, 'not.pdf': /not\.pdf is a binary file/, 'text.pdf': /^It is only text\./, 'empty.docx': /the file is empty/,
    'cut.xlsx': /damaged: its end is missing/, 'is-a-pdf.docx': /^\[is-a-pdf\.docx: PDF, 3 pages/, 'locked.xlsx': /protected by a password/, 'plain.docx': /named \.docx, but it is a ZIP archive/,
    'bomb.docx': /would unpack to .* at most/, 'lying.docx': /^\[lying\.docx: Word document; \d+ lines of text; the text is cut after 16 MB\]\nword word/,
    'lying-more.docx': /has no text that can be read: it is larger inside than a document may be/, 'entities.docx': /^\[entities\.docx: Word document; 1 lines of text\]\n&a11;\n/,
    'deep.docx': /has no text that can be read: it /, 'million.xlsx': /^\[million\.xlsx: workbook, 1 sheet; \d+ lines/, 'corners.xlsx': /sheet Far, A1:XFD1048576/, 'good.xlsx': /\| 2 \| Turbine \| 900 \|/,
  };
  for (const name of names) assert.match(said[name], expected[name], name);
});

test('documents are read in Node.js too', { timeout: 120_000 }, async () => {
  const { Agent } = await import(path.join(dist, 'turnwise/node.js'));
  await withScript([
    { calls: [read('1', 'report.pdf'), read('2', 'book.xlsx'), call('3', 'search_files', { query: 'turbine' })] }, { text: 'Done.' },
  ], async (baseUrl) => {
    const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['read_file', 'search_files'] });
    agent.files.put('report.pdf', new Blob([REPORT]));
    agent.files.put('book.xlsx', new Blob([BOOK]));
    const { turns } = await agent.run('Go.');
    const [one, two, three] = turns[0].tool_calls.map(({ result: text }) => text);
    assert.match(one, /\[page 1\]\n# Annual report/);
    assert.match(two, /\| 3 \| Lamp \| 12\.5 \|/);
    assert.match(three, /report\.pdf:\d+, page 2/);
    agent.free();
  });
});
