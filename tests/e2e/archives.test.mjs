// Files in archives, packed logs and texts in any encoding, through the tools of the package in Node.js, and the reader of archives by itself.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { open, read } from '../../www/parts/archive.js';
import { dist } from './lib/site.mjs';

const bytes = (text, encoding = 'utf8') => Buffer.from(text, encoding);
const JP = Buffer.from('838183820a93fa967b8cea', 'hex'); // メモ, a line break, 日本語 in Shift_JIS
const JP_NAME = Buffer.from('93fa967b8cea2f838183822e747874', 'hex'); // 日本語/メモ.txt

/** A ZIP archive. Each file: `[name, content, { flags, method, size, extra }]`; names are bytes or text. */
function zip(files, { before = Buffer.alloc(0), wide = false } = {}) {
  const [local, central] = [[before], []];
  let at = before.length;
  for (const [name, content, { flags = 0, method = 8, size = content.length, extra = Buffer.alloc(0) } = {}] of files) {
    const given = Buffer.from(name);
    const packed = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    for (const [value, place] of [[flags, 6], [method, 8], [given.length, 26]]) head.writeUInt16LE(value, place);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    for (const [value, place] of [[flags, 8], [method, 10], [given.length, 28], [extra.length, 30]]) entry.writeUInt16LE(value, place);
    for (const [value, place] of [[packed.length, 20], [size, 24], [at - (wide ? 0 : before.length), 42]]) entry.writeUInt32LE(value, place);
    local.push(head, given, packed);
    central.push(entry, given, extra);
    at += 30 + given.length + packed.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  if (!wide) {
    for (const place of [8, 10]) end.writeUInt16LE(files.length, place);
    end.writeUInt32LE(list.length, 12);
    end.writeUInt32LE(at - before.length, 16);
    return Buffer.concat([...local, list, end]);
  }
  end.fill(0xff, 8, 20);
  const record = Buffer.alloc(76);
  record.writeUInt32LE(0x06064b50, 0);
  for (const [value, place] of [[44, 4], [files.length, 24], [files.length, 32], [list.length, 40], [at, 48]]) record.writeBigUInt64LE(BigInt(value), place);
  record.writeUInt32LE(0x07064b50, 56);
  record.writeBigUInt64LE(BigInt(at + list.length), 64);
  return Buffer.concat([...local, list, record, end]);
}

/** A TAR archive. Each file: `[name, content, type]`. */
function tar(files) {
  const blocks = [];
  for (const [name, content, type = '0'] of files) {
    const head = Buffer.alloc(512);
    head.write(name.slice(0, 100), 0, 'latin1');
    head.write('0000644\0', 100);
    head.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write('        ', 148);
    head.write(type, 156);
    head.write('ustar\x0000', 257, 'latin1');
    head.write(`${head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(head, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const blob = (content) => new Blob([content]);
const noGuess = () => assert.fail('no name had to be guessed');
const contents = async (archive, guess = noGuess) => {
  const { files, notes } = await open(blob(archive), guess);
  const found = {};
  for (const file of files) found[file.path] = await read(blob(archive), file).then((part) => part.text(), (error) => `! ${error.message}`);
  return { found, notes };
};

test('the files of an archive are found in every form that it has', async () => {
  const files = [['a.txt', bytes('one')], ['sub/b.txt', bytes('two'), { method: 0 }], ['sub/', bytes('')]];
  const expected = { 'a.txt': 'one', 'sub/b.txt': 'two' };
  assert.deepEqual(await contents(zip(files)), { found: expected, notes: [] });
  assert.deepEqual((await contents(zip(files, { wide: true }))).found, expected, 'with the 64-bit extension');
  assert.deepEqual((await contents(zip(files, { before: bytes('MZ a program that unpacks it') }))).found, {}, 'it is no ZIP archive by its first bytes');
  assert.deepEqual((await contents(Buffer.concat([zip(files), bytes('')]))).found, expected);
  const long = `${'folder/'.repeat(20)}c.txt`;
  const record = (text) => { for (let n = text.length; ; n += 1) if (`${n} ${text}`.length === n) return `${n} ${text}`; };
  const packed = tar([['a.txt', bytes('one')], ['x', bytes(record(`path=${long}\n`)), 'x'], ['short', bytes('three')], ['././@LongLink', bytes(`${long}2\0`), 'L'], ['short', bytes('four')], ['link', bytes(''), '2']]);
  assert.deepEqual(await contents(packed), { found: { 'a.txt': 'one', [long]: 'three', [`${long}2`]: 'four' }, notes: ['1 links in it are not followed'] });
});

test('names are read in the encoding of the archive, and lead nowhere', async () => {
  const guess = (label) => async () => label;
  assert.deepEqual(await contents(zip([[JP_NAME, bytes('x')]]), guess('shift_jis')), { found: { '日本語/メモ.txt': 'x' }, notes: ['names in shift_jis, guessed from their bytes'] });
  assert.deepEqual(Object.keys((await contents(zip([[Buffer.from('47729a8141652e747874'.replace('9a', '94'), 'hex'), bytes('x')]]))).found), ['GröüAe.txt'], 'of DOS, without a guess');
  assert.deepEqual(Object.keys((await contents(zip([['Größe.txt', bytes('x')]]))).found), ['Größe.txt'], 'UTF-8 without its mark');
  const unicode = Buffer.concat([Buffer.from('7570', 'hex'), Buffer.from([0, 0]), Buffer.from([1, 0, 0, 0, 0]), bytes('名.txt')]);
  unicode.writeUInt16LE(unicode.length - 4, 2);
  unicode.writeUInt32LE(0xc3a6a9e5 >>> 0, 5);
  assert.ok(Object.keys((await contents(zip([['n.txt', bytes('x'), { extra: unicode }]]))).found)[0], 'a checksum that does not fit is passed over');
  const { found, notes } = await contents(zip([['../../etc/passwd', bytes('a')], ['/abs', bytes('b')], ['C:\\win.ini', bytes('c')], ['a\u0000b', bytes('d')], ['same', bytes('e')], ['same', bytes('f')], ['..', bytes('g')]]));
  assert.deepEqual(Object.keys(found), ['etc/passwd', 'abs', 'win.ini', 'a_b', 'same', 'same (2)', 'unnamed']);
  assert.deepEqual(notes, ['4 of its names lead out of a folder and are shown without that']);
});

test('what cannot be unpacked is said, and nothing unpacks without end', async () => {
  const bomb = zip([['a', Buffer.alloc(3_000_000), { size: 10 }], ['b', bytes('x'), { flags: 1, method: 0 }], ['c', bytes('x'), { method: 12 }], ['d', bytes('x'), { size: 2 ** 31, method: 0 }]]);
  assert.deepEqual(await contents(bomb), {
    found: { a: '! it is damaged: it unpacks to something else than the archive says', b: '! it is protected by a password', c: '! it is packed by bzip2, which is not read here', d: '! it would unpack to 2148 MB, and at most 256 MiB are read' },
    notes: ['1 of its files are protected by a password'],
  });
  await assert.rejects(open(blob(zip([['a', bytes('x')]]).subarray(0, 40)), noGuess), /its end is missing/);
  for (let cut = 1; cut < 60; cut += 7) await open(blob(zip([['a', bytes('x')], ['b', bytes('y')]]).subarray(0, -cut)), noGuess).catch(() => {});
});

const { Agent, custom } = await import(path.join(dist, 'turnwise/index.node.js'));

/** The results of tool calls `[name, args]`, made one after the other over `files`. */
async function calls(files, list) {
  let turn = 0;
  const model = custom(async () => {
    const call = list[turn++];
    const message = call ? { role: 'assistant', content: null, tool_calls: [{ id: `c${turn}`, type: 'function', function: { name: call[0], arguments: JSON.stringify(call[1]) } }] } : { role: 'assistant', content: 'Done.' };
    return { id: 'x', object: 'chat.completion', model: 's', choices: [{ index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  }, { model: 's' });
  const agent = new Agent({ model, files: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, blob(content)])), maxTurns: list.length + 2 });
  const run = agent.stream('Read it.');
  const out = [];
  for await (const part of run) if (part.type === 'tool-result') out.push(typeof part.output === 'string' ? part.output : JSON.stringify(part.output));
  return { out, files: (await run).files };
}

test('a file in an archive is listed, read, searched and compared by its path', async () => {
  const inner = zip([['deep.txt', bytes('the deepest zirconium\n')]]);
  const mail = bytes('From: ada@example.org\nSubject: Prices\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=iso-8859-1\n\nSt\xfchle\n--b\nContent-Disposition: attachment; filename=p.csv\nContent-Type: text/csv\n\na,b\n1,412\n--b--\n', 'latin1');
  const files = {
    'notes.zip': zip([['a.md', bytes('# Plan\nThe turbine in Halden.\n')], ['old/b.txt', bytes('Gr\xfc\xdfe aus K\xf6ln\n', 'latin1')], ['inner.zip', inner], ['mail.eml', mail]]),
    'all.tar.gz': gzipSync(tar([['logs/app.log', bytes('start\nberyllium failed\n')]])),
    'app.log.gz': gzipSync(bytes('first line\nthulium failed\n')),
    'jp.zip': zip([[JP_NAME, JP]]),
  };
  const { out } = await calls(files, [
    ['read_file', { path: 'notes.zip' }],
    ['read_file', { path: 'notes.zip/a.md' }],
    ['read_file', { path: 'notes.zip/old/b.txt' }],
    ['read_file', { path: 'notes.zip/inner.zip/deep.txt' }],
    ['read_file', { path: 'notes.zip/b.txt' }],
    ['read_file', { path: 'all.tar.gz/logs/app.log' }],
    ['read_file', { path: 'app.log.gz', offset: -1 }],
    ['read_file', { path: 'jp.zip' }],
    ['read_file', { path: 'jp.zip/日本語/メモ.txt' }],
    ['read_file', { path: 'notes.zip/mail.eml/p.csv' }],
    ['search_files', { query: 'turbine' }],
    ['search_files', { query: 'beryllium' }],
    ['search_files', { query: 'thulium' }],
    ['edit_file', { path: 'notes.zip/a.md', old: 'turbine', new: 'pump' }],
    ['edit_file', { path: 'app.log.gz', old: 'first', new: '1st' }],
    ['diff_files', { a: 'notes.zip/a.md', b: 'app.log.gz' }],
  ]);
  const expected = [
    /^\[notes\.zip: ZIP archive, 4 files; 4 lines of text; each can be read by its path, such as notes\.zip\/a\.md\]\n- a\.md {2}30 B\n- old\/b\.txt/,
    /^\[notes\.zip\/a\.md: text; 2 lines of text; inside notes\.zip\]\n# Plan\nThe turbine/,
    /^\[notes\.zip\/old\/b\.txt: text in Windows-1252, guessed from its bytes; 1 lines of text; inside notes\.zip\]\nGrüße aus Köln/,
    /the deepest zirconium/,
    /there is no file b\.txt in notes\.zip; did you mean notes\.zip\/old\/b\.txt\?/,
    /beryllium failed/,
    /^\[app\.log\.gz: text; 2 lines of text; unpacked from \d+ B of gzip\]\nthulium failed\n\[lines 2-2 of 2\]/,
    /names in shift_jis, guessed[^\n]*\n- 日本語\/メモ\.txt {2}11 B/i,
    /in Shift_JIS, guessed[^\n]*\nメモ\n日本語/,
    /a,b\n1,412/,
    /^notes\.zip\/a\.md:\d+ /,
    /^all\.tar\.gz\/logs\/app\.log:2 /,
    /^app\.log\.gz:2 /,
    /notes\.zip\/a\.md is inside notes\.zip, so it can be read, but not changed/,
    /app\.log\.gz is unpacked from \d+ B of gzip, so it can be read, but not changed/,
    /--- notes\.zip\/a\.md\n\+\+\+ app\.log\.gz/,
  ];
  expected.forEach((pattern, at) => assert.match(out[at], pattern, `call ${at}`));
});

test('texts in any encoding are read, queried and written back as they came', async () => {
  const wide = (text) => Buffer.concat([Buffer.from([0xff, 0xfe]), bytes(text, 'utf16le')]);
  const files = {
    'notes.txt': bytes('Die St\xfchle kosten 412 Euro.\r\nZeile zwei\r\n', 'latin1'),
    'ps.json': wide('[{"price":12},{"price":30}]'),
    'latin.json': bytes('{"name":"Gr\xf6\xdfe aus K\xf6ln"}', 'latin1'),
    'ru.txt': Buffer.from('d2eee2e0f03bd6e5ede00ad1f2eeebfb3b3430300a', 'hex'),
    'app.log': Buffer.concat([bytes('start\n'), Buffer.alloc(2000), bytes('error code 412\n')]),
  };
  const { out, files: after } = await calls(files, [
    ['read_file', { path: 'notes.txt' }],
    ['search_files', { query: 'Stühle' }],
    ['edit_file', { path: 'notes.txt', old: '412 Euro', new: '413 €' }],
    ['edit_file', { path: 'notes.txt', old: 'zwei', new: '→' }],
    ['query_json', { path: 'ps.json', filter: '[.[].price] | add' }],
    ['query_json', { path: 'latin.json', filter: '.name' }],
    ['read_file', { path: 'ru.txt' }],
    ['read_file', { path: 'app.log' }],
  ]);
  const expected = [/guessed from its bytes; 2 lines[^\n]*\nDie Stühle kosten 412 Euro\./, /^notes\.txt:1 /, /in Windows-1252 as before$/m, /has no character → \(U\+2192\)/, /^42\n/, /Größe aus Köln/, /Windows-1251, guessed[^\n]*\nТовар;Цена\nСтолы;400/, /2000 NUL bytes[^\n]*\nstart\n␀×2000error code 412/];
  expected.forEach((pattern, at) => assert.match(out[at], pattern, `call ${at}`));
  assert.deepEqual(Buffer.from(await after.get('notes.txt').arrayBuffer()), bytes('Die St\xfchle kosten 413 \x80.\r\nZeile zwei\r\n', 'latin1'));
});
