// The scripts that the app's page loads on first use, without a page: dropped archives, also damaged and lying ones, and folders of the disk.
// And what a link of the docs agent says of where it leads.
// `app_folder.test.mjs` and `app_figures.test.mjs` use them in the app.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { zip } from './lib/documents.mjs';
import { ARCHIVES } from './lib/hostile-files.mjs';
import { root } from './lib/site.mjs';

const load = (name) => import(`data:text/javascript;base64,${readFileSync(path.join(root, 'www', name)).toString('base64')}`);
const { open, inflate } = await load('app/unzip.js');
const { walk, mayWrite } = await load('app/folder.js');
const { beside } = await load('widget/nodes.js');

const ARCHIVE = zip([['notes/', ''], ['notes/a.txt', 'Hello'], ['b.csv', 'x,y\n'.repeat(100)]]);
const opened = async (bytes) => {
  const { paths, files } = await open(new Blob([bytes]));
  return Object.fromEntries(await Promise.all(paths.map(async (name, at) => [name, await files[at].text()])));
};
/** The archive with other bytes at an offset of the first file's entry in its list. */
function changed(offset, bytes) {
  const copy = Buffer.from(ARCHIVE);
  const entry = copy.indexOf('PK\x01\x02', copy.indexOf('PK\x01\x02', 0, 'latin1') + 4, 'latin1');
  Buffer.from(bytes).copy(copy, entry + offset);
  return copy;
}

test('the files of an archive are found with their bytes, in any place of a file', async () => {
  const files = { 'notes/a.txt': 'Hello', 'b.csv': 'x,y\n'.repeat(100) };
  assert.deepEqual(await opened(ARCHIVE), files);
  // A comment at the end.
  const comment = Buffer.from('a comment');
  const commented = Buffer.concat([ARCHIVE, comment]);
  commented.writeUInt16LE(comment.length, ARCHIVE.length - 2);
  assert.deepEqual(await opened(commented), files);
});

test('damaged, encrypted and too large archives are not opened', async () => {
  const cases = [
    ['it is damaged', ARCHIVE.subarray(0, -10)],
    ['it is damaged', Buffer.from('no archive')],
    ['it is damaged', Buffer.alloc(0)],
    ['it is protected by a password', changed(8, [1])],
    ['it is compressed in a way that this browser cannot read', changed(10, [12])],
    ['it would unpack to more than 512 MB, or 20,000 files', changed(24, [0, 0, 0, 0x40])],
    ['it is damaged', changed(28, [0xff, 0xff])],
    // It unpacks to more than it says, and its header is elsewhere.
    ['it is damaged', changed(24, [2, 0, 0, 0])],
    ['it is damaged', changed(42, [0xff, 0xff, 0, 0])],
  ];
  for (const [why, bytes] of cases) await assert.rejects(opened(bytes), { message: why });
});

test('a hostile archive is opened whole or not at all', async () => {
  const TOO_MUCH = 'it would unpack to more than 512 MB, or 20,000 files';
  const cases = {
    'overlapping-more.zip': TOO_MUCH, 'many.zip': TOO_MUCH, 'says-much.zip': TOO_MUCH, 'says-64-bit.zip': 'it is compressed in a way that this browser cannot read',
    'says-little.zip': 'it is damaged', 'says-more.zip': 'it is damaged', 'not-packed-and-larger.zip': 'it is damaged', 'list-elsewhere.zip': 'it is damaged', 'list-cut.zip': 'it is damaged', 'list-is-file.zip': 'it is damaged',
  };
  for (const [name, message] of Object.entries(cases)) await assert.rejects(opened(ARCHIVES[name]), { message }, name);
  // A link is a file with its target as text, and an archive in an archive stays one.
  assert.deepEqual(await opened(ARCHIVES['links.zip']), { link: '/etc/passwd', 'b.txt': 'Lamp' });
  assert.deepEqual(Object.keys(await opened(ARCHIVES['nested.zip'])), ['49.zip']);
});

test('a packed text is unpacked up to a limit', async () => {
  const text = 'record '.repeat(10_000);
  assert.equal(await (await inflate(new Blob([gzipSync(text)]), 'gzip', text.length)).text(), text);
  assert.equal(await inflate(new Blob([gzipSync(text)]), 'gzip', text.length - 1), null);
  await assert.rejects(inflate(new Blob([deflateRawSync(text)]), 'gzip', text.length));
});

/** A handle of a folder: an object is a folder, a number a file of that size, null a file that cannot be opened, false a folder that cannot. */
const folder = (name, entries) => ({
  name,
  kind: 'directory',
  async* values() {
    if (entries === false) throw new Error('denied');
    for (const [name, what] of Object.entries(entries)) {
      if (what === false || (what !== null && typeof what === 'object')) yield folder(name, what);
      else yield { name, kind: 'file', getFile: async () => (what === null ? Promise.reject(new Error('locked')) : { size: what }) };
    }
  },
});

test('a folder is walked without what it leaves out; a file that does not fit hides no other', async () => {
  const garden = folder('garden', { 'a.md': 5, '.git': { config: 1 }, closed: { inside: false, '.GIT': { config: 1 } }, beds: { 'b.md': 5 }, 'huge.bin': 90, 'locked.md': null, 'z.md': 5 });
  const { paths, files, large, more, folder: shared } = await walk(garden, ['.git'], 200);
  assert.deepEqual([paths.toSorted(), files.length, large, more], [['a.md', 'beds/b.md', 'huge.bin', 'z.md'], 4, 0, false]);
  assert.deepEqual([shared.handle, shared.leftOut.toSorted(), shared.more], [garden, ['closed/inside', 'locked.md'], false]);
  const cut = await walk(garden, ['.git'], 50);
  assert.deepEqual([cut.paths.toSorted(), cut.large, cut.more], [['a.md', 'beds/b.md', 'z.md'], 1, false]);
  assert.deepEqual(cut.folder.leftOut.toSorted(), ['closed/inside', 'huge.bin', 'locked.md'], 'what is left out is not written either');
  const many = await walk(folder('many', Object.fromEntries(Array.from({ length: 5_010 }, (_, n) => [`f${n}`, 0]))), []);
  assert.deepEqual([many.files.length, many.more, many.folder.more], [5_000, true, true]);
  await assert.rejects(walk(folder('shut', false), []), /denied/);
});

test('write access is what the browser answers', async () => {
  const asked = [];
  const handle = (answer) => ({ requestPermission: async (wanted) => (asked.push(wanted), answer()) });
  assert.equal(await mayWrite(handle(() => 'granted')), true);
  assert.equal(await mayWrite(handle(() => 'denied')), false);
  assert.equal(await mayWrite(handle(() => { throw new Error('no click'); })), false);
  assert.deepEqual(asked[0], { mode: 'readwrite' });
  assert.equal(await mayWrite({}), true);
});

// The app and the report are tested with the same cases (tests/native/markdown.rs).
test('a link shows its host unless its whole text is that host or the very address', () => {
  const cases = JSON.parse(readFileSync(path.join(root, 'tests/fixtures/link_targets.json'), 'utf8'));
  assert.ok(cases.length > 50);
  for (const { text, href, beside: shown } of cases) assert.equal(beside(text, new URL(href)) ?? null, shown, `[${text}](${href})`);
});
