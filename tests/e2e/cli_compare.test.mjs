// `turnwise compare` and `turnwise export`, on records that `turnwise run` wrote.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { inFolder, lines, read, turnwise } from './lib/cli.mjs';
import { dist, root } from './lib/site.mjs';
import { withScript } from './lib/script-server.mjs';

/** Runs cases against a script, into a folder. */
async function runs(folder, out, cases, steps, more = []) {
  writeFileSync(path.join(folder, `${out}.jsonl`), lines(cases));
  await withScript(steps, (baseUrl) => turnwise(['run', `${out}.jsonl`, '--provider', 'openai', '--base-url', baseUrl, '--model', 'm', '--concurrency', '1', '--out', out, ...more], { cwd: folder }));
}
const call = (expression) => ({ calls: [{ id: '1', name: 'calculate', args: { expression } }] });
const cases = [{ id: 'a', task: 'one', expect: { contains: 'yes' } }, { id: 'b', task: 'two', expect: { contains: 'yes' } }, { id: 'c', task: 'three', expect: { contains: 'yes' } }];

test('two folders: what passes, what changed, where runs part, and an exit code for CI', () => inFolder(async (folder) => {
  await runs(folder, 'old', cases, [call('1+1'), { text: 'yes' }, { text: 'no' }, { text: 'yes' }]);
  await runs(folder, 'new', [...cases.slice(0, 2), { id: 'd', task: 'four' }], [call('1+2'), { text: 'nope' }, { text: 'yes' }, { text: 'x' }]);
  const worse = await turnwise(['compare', 'old', 'new'], { cwd: folder });
  assert.equal(worse.code, 1, worse.err);
  assert.match(worse.out, /2 cases in both/);
  assert.match(worse.out, /pass rate +0\.50 ± 0\.50 +0\.50 ± 0\.50 +0\.00 ± 1\.00/);
  assert.match(worse.out, /Worse in B \(1 case\):\n {2}a: 1 of 1 passed, now 0 of 1 passed; they part at turn 1: A calls calculate \{"expression":"1\+1"\}; B calls calculate \{"expression":"1\+2"\}\n {6}A: yes\n {6}B: nope {2}\[expected that the answer contains "yes"\]/);
  assert.match(worse.out, /Better in B \(1 case\):\n {2}b: 0 of 1 passed, now 1 of 1 passed; they part at turn 1: A says “no”; B says “yes”/);
  assert.match(worse.out, /Only in A \(1 case\): c\n\nOnly in B \(1 case\): d\n\nB is worse in 2 cases\.\n$/);
  // Without the cases that differ, and with a tolerance.
  assert.equal((await turnwise(['compare', 'old', 'old'], { cwd: folder })).code, 0);
  assert.equal((await turnwise(['compare', 'old', 'new', '--max-drop', '0'], { cwd: folder })).code, 0);
  const json = JSON.parse((await turnwise(['compare', 'old', 'new', '--json'], { cwd: folder })).out);
  assert.deepEqual(json.cases.map(({ id, change }) => [id, change]), [['a', 'worse'], ['b', 'better'], ['c', 'only in A'], ['d', 'only in B']]);
  assert.deepEqual([json.ok, json.common, json.cases[0].parts.turn, json.cases[0].parts.what, json.turns.change.mean], [false, 2, 1, 'tool calls', 0]);
}));

test('the pass rate may fall by as much as it is allowed to', () => inFolder(async (folder) => {
  const two = cases.slice(0, 2);
  await runs(folder, 'old', two, Array.from({ length: 8 }, () => ({ text: 'yes' })), ['--epochs', '4']);
  await runs(folder, 'new', two, ['no', ...Array(7).fill('yes')].map((text) => ({ text })), ['--epochs', '4']);
  // 100 % to 87.5 %.
  const codes = [];
  for (const more of [[], ['--max-drop', '12'], ['--max-drop', '12.5'], ['--max-drop', '20']]) codes.push((await turnwise(['compare', 'old', 'new', ...more], { cwd: folder })).code);
  assert.deepEqual(codes, [1, 1, 0, 0]);
  assert.match((await turnwise(['compare', 'old', 'new'], { cwd: folder })).out, /a: 4 of 4 passed, now 3 of 4 passed; they part at turn 1/);
}));

test('two records: their figures, where they part, both answers', () => inFolder(async (folder) => {
  await runs(folder, 'a', [{ id: 'x', task: 'one' }], [call('1+1'), { text: 'two' }]);
  await runs(folder, 'b', [{ id: 'x', task: 'one' }], [call('1+1'), call('2+2'), { text: 'four' }]);
  const { code, out } = await turnwise(['compare', 'a/x.json', 'b/x.json'], { cwd: folder });
  assert.equal(code, 0);
  assert.match(out, /turns +2 +3 +\+1 \(\+50 %\)/);
  assert.match(out, /They part at turn 2: A answers “two”; B calls calculate \{"expression":"2\+2"\}\./);
  assert.match(out, /A answers: two\nB answers: four\n\nB is not worse than A\.\n$/);
  await runs(folder, 'same', [{ id: 'x', task: 'one' }], [call('1+1'), { text: 'two' }]);
  assert.match((await turnwise(['compare', 'a/x.json', 'same/x.json'], { cwd: folder })).out, /All their turns are the same\./);
}));

test('folders without a summary go by the outcome, and say so', () => inFolder(async (folder) => {
  await runs(folder, 'old', cases.slice(0, 1), [{ text: 'no' }]);
  mkdirSync(path.join(folder, 'bare'));
  writeFileSync(path.join(folder, 'bare/a.json.gz'), gzipSync(readFileSync(path.join(folder, 'old/a.json'))));
  const { code, out } = await turnwise(['compare', 'old', 'bare'], { cwd: folder });
  assert.equal(code, 0);
  assert.match(out, /bare does not have a summary\.json of turnwise run: without it, a run has passed if its outcome is success or partial\./);
}));

test('a case of which nothing is known in B is not taken for one that is no worse', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 's.mjs'), 'export default () => true;');
  writeFileSync(path.join(folder, 'broken.mjs'), "export default () => { throw new Error('gone'); };");
  await runs(folder, 'old', cases.slice(0, 1), [{ text: 'yes' }], ['--scorer', 's.mjs']);
  await runs(folder, 'new', cases.slice(0, 1), [{ text: 'yes' }], ['--scorer', 'broken.mjs']);
  const { code, out } = await turnwise(['compare', 'old', 'new'], { cwd: folder });
  assert.equal(code, 1);
  assert.match(out, /Not scored in B \(1 case\): a/);
}));

test('formats and the names of their files are those of the documentation', async () => {
  const { ENDINGS } = await import(pathToFileURL(path.join(dist, 'turnwise/cli-export.mjs')).href);
  const [, table] = /^## Export\n([^]*?)\n## /m.exec(readFileSync(path.join(root, 'docs/trajectory.md'), 'utf8'));
  assert.deepEqual(ENDINGS, Object.fromEntries([...table.matchAll(/^\| `([\w-]+)` \| `(\.[\w.]+)` \|/gm)].map(([, format, ending]) => [format, ending])));
});

test('records are exported in each format, to the standard output or to a folder in its shape', () => inFolder(async (folder) => {
  await runs(folder, 'r', cases.slice(0, 2), [{ text: 'yes' }, { text: 'no' }]);
  mkdirSync(path.join(folder, 'r/deep'));
  const record = read(folder, 'r/a.json');
  const step = (order, run) => ({ order, agent: 'A', kind: 'gather', status: 'completed', blocked_by: [], context: {}, run });
  writeFileSync(path.join(folder, 'r/deep/plan.json'), JSON.stringify({ format: 'turnwise-session', version: 1, steps: [step(1, record), step(2, null)] }));
  const one = async (format) => {
    const { code, out, err } = await turnwise(['export', 'r/a.json', '--format', format], { cwd: folder });
    assert.equal(code, 0, err);
    return out;
  };
  assert.deepEqual(JSON.parse(await one('native')), record);
  assert.match(await one('markdown'), /^# one\n/);
  assert.match(await one('html'), /^<!DOCTYPE html>[^]*yes/);
  assert.equal(JSON.parse(await one('otlp')).resourceSpans.length, 1);
  assert.match(JSON.parse(await one('atif')).schema_version, /^ATIF/);
  assert.ok(JSON.parse(await one('mini-swe-agent')).info);
  assert.ok(JSON.parse(await one('openai-jsonl')).messages);
  const all = await turnwise(['export', 'r', '--format', 'html', '--out', 'pages'], { cwd: folder });
  assert.deepEqual([all.code, all.out], [0, '3 files written to pages\n'], all.err);
  assert.deepEqual(readdirSync(path.join(folder, 'pages'), { recursive: true }).sort(), ['a.html', 'b.html', 'deep', 'deep/plan-step-1.html']);
  const both = await turnwise(['export', 'r/a.json', 'r/b.json', '--format', 'openai-jsonl'], { cwd: folder });
  assert.deepEqual(both.out.trim().split('\n').map((text) => JSON.parse(text).messages.at(-1).content), ['yes', 'no']);
  // An HTML report and an ATIF file have a record in them.
  const back = await turnwise(['export', 'pages/a.html', '--format', 'native'], { cwd: folder });
  assert.deepEqual(JSON.parse(back.out), record);
  assert.match((await turnwise(['export', 'r/a.json', '--format', 'native', '--out', 'r'], { cwd: folder })).err, /r\/a\.json is the record itself: choose another --out/);
}));
