// Programs of `run_code`, in Chromium and in Node.js: what they can do, that none gets out (tests/e2e/lib/escapes.mjs), and that a
// replay runs each again with the same bytes. The model is a function that plays a list of programs.
// `make test` tries one escape of each kind and 20 random programs, `make test-all` all of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { random } from '../../.ci/random.mjs';
import { frame } from '../../.ci/sandbox.mjs';
import { escapes, oneOfEach } from './lib/escapes.mjs';
import { OUT, judgeOutside, outside, outsideGiven } from './lib/outside.mjs';
import { attempts, given, judge, play, withCanary } from './lib/programs.mjs';
import { dist, root, withPackage } from './lib/site.mjs';
import { SHORT, left, sayLeft } from './lib/tier.mjs';
import { assertValid } from './lib/trajectory.mjs';

const { default: init, Agent, replay } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const inNode = (turns, given) => play({ Agent, replay }, turns, given);
/** A page without a policy, which allows the frame. */
const OPEN = { name: 'open.html' };
const inPage = (turns, given) => withPackage(OPEN, (page) => page.evaluate(([source, turns, given]) => eval(`(${source})`)(window.turnwise, turns, given), [play.toString(), turns, given]));

const TASKS = [
  ['1 + 1', `console.log('a', { b: 1 }, [1, null]); const text = await tools.read_file({ path: 'own.txt' }); text.length`],
  [`const names = (await tools.list_files()).split('\\n').filter((line) => line.endsWith('.txt') || line.includes('.txt')); await tools.write_file({ path: 'made.md', content: '# ' + names.length }); names.length`],
  [`try { await tools.read_file({ path: 'missing.txt' }) } catch (error) { 'caught: ' + error.message.split('\\n')[0] }`, `null.x`, `const a = [`],
  [`[Date.now(), Date.now(), new Date().getTimezoneOffset(), Math.random() === Math.random()]`],
  [`const all = await Promise.all([1, 2, 3].map((n) => tools.calculate({ expression: n + ' * 10' }))); all.join()`],
  [`await tools.calculate({ wrong: 1 })`],
  [`queueMicrotask(() => { throw new Error('lost') }); const left = []; queueMicrotask(() => left.push('kept')); await tools.list_files(); left.join()`],
  [`throw new Error('x'.repeat(1_000_000))`],
  [`const texts = Array.from({ length: 40 }, () => tools.calculate({ expression: '1', more: 'x'.repeat(500_000) }).catch((error) => error.message)); (await Promise.all(texts)).pop()`],
  [`({ chart: 'bar', x: ['a', 'b'], series: [{ name: 's', y: [1, 2] }] })`],
];

for (const [where, playIn] of [['Chromium', inPage], ['Node.js', inNode]]) {
  test(`programs compute, print, call tools and fail clearly, in ${where}`, async () => {
    const { trajectory, replayed, results, written } = await playIn(TASKS, { files: { 'own.txt': 'twelve chars' } });
    assertValid(trajectory);
    assert.equal(trajectory.output, 'done');
    assert.equal(results[0], '=> 2');
    assert.match(results[1], /^a \{"b":1\} \[1,null\]\n=> \d+$/);
    assert.equal(results[2], '=> 1');
    assert.equal(written['made.md'], '# 1');
    assert.match(results[3], /^=> caught: .*missing\.txt/);
    assert.match(results[4], /^Error: TypeError: .* \(line 1\)$/);
    assert.match(results[5], /^Error: SyntaxError: /);
    const [first, second, zone, same] = JSON.parse(results[6].slice(3));
    assert.deepEqual([second - first, zone, same], [1, 0, false]);
    assert.ok(Math.abs(first - Date.parse(trajectory.turns[3].started_at)) < 60_000, 'the clock starts at the call');
    assert.equal(results[7], '=> 10,20,30');
    assert.match(results[8], /^Error: Error: .*expression/);
    assert.equal(results[9], '=> kept', 'a microtask that throws does not take the others along');
    assert.match(results[10], /^Error: Error: x+\n?/);
    assert.ok(results[10].length < 300_000, `${results[10].length} characters`);
    assert.match(results[11], /at most 16777216 characters/);
    assert.deepEqual(JSON.parse(results[12].slice(3)).series[0].y, [1, 2]);
    const inner = trajectory.turns[4].tool_calls[0].calls;
    assert.deepEqual(inner.map(({ id, name }) => [id, name]), [0, 1, 2].map((n) => [`c5_0_${n}`, 'calculate']));
    assert.deepEqual(replayed, { ok: true });
  });
}

/** The attempts that a test makes. */
function chosen(t, { slow }) {
  const all = escapes.filter((one) => slow || !one.slow);
  const tried = SHORT ? all.filter((one) => oneOfEach.includes(one)) : all;
  sayLeft(t, all.length - tried.length, 'attempts');
  return tried;
}

test('attempts to escape or to harm, in Chromium', async (t) => {
  assert.ok(escapes.length >= 60);
  const tried = chosen(t, { slow: true });
  await withCanary((canary) => withPackage(OPEN, async (page) => {
    const before = await page.evaluate(() => { window.canary = { is: 'whole' }; localStorage.setItem('mine', 'whole'); return Object.getOwnPropertyNames(window).length; });
    const played = await page.evaluate(([source, turns, given]) => eval(`(${source})`)(window.turnwise, turns, given), [play.toString(), attempts(tried, canary), given]);
    judge(tried, played);
    const after = await page.evaluate(() => [window.canary.is, localStorage.getItem('mine'), document.querySelectorAll('iframe').length, Object.getOwnPropertyNames(window).length]);
    assert.deepEqual(after, ['whole', 'whole', 0, before], 'the page is unharmed, and no frame is left');
  }));
});

test('code that came out of QuickJS is held by the frame: no network, no storage, no page, and what it posts is checked', { timeout: 120_000, skip: left }, async () => {
  // The worker may have ended before its console line is told; its answer says what was thrown.
  await withCanary((canary) => withPackage({ ...OPEN, expect: [/thrown|could not be cloned/] }, async (page) => {
    let loaded = 0;
    await page.route('**/sandbox-worker.js', (route) => { loaded += 1; return route.fulfill({ contentType: 'text/javascript', body: OUT(canary) }); });
    await page.evaluate(() => { window.heard = []; new BroadcastChannel('go').onmessage = ({ data }) => window.heard.push(data); indexedDB.open('turnwise'); localStorage.setItem('mine', 'whole'); });
    const played = await page.evaluate(([source, turns, given]) => eval(`(${source})`)(window.turnwise, turns, given), [play.toString(), outside, outsideGiven]);
    assert.equal(loaded, 1, 'the worker is the one that tries');
    judgeOutside(played);
    assert.deepEqual(await page.evaluate(() => [window.heard, document.querySelectorAll('iframe').length, localStorage.getItem('mine')]), [[], 0, 'whole']);
  }));
});

test('attempts to escape, in Node.js', { skip: left }, async (t) => {
  const quick = chosen(t, { slow: false });
  await withCanary(async (canary) => judge(quick, await inNode(attempts(quick, canary), given)));
});

test('a page whose policy refuses the frame runs programs in the worker alone', { skip: left }, async (t) => {
  const quick = chosen(t, { slow: false });
  await withCanary((canary) => withPackage({ expect: [/Executing inline script violates/] }, async (page) => {
    judge(quick, await page.evaluate(([source, turns, given]) => eval(`(${source})`)(window.turnwise, turns, given), [play.toString(), attempts(quick, canary), given]));
  }));
});

test('the docs name the hash of the frame', () => {
  assert.ok(readFileSync(path.join(root, 'docs/security.md'), 'utf8').includes(frame().hash));
});

/** Random choices that can be repeated. */
function choices(seed) {
  const next = random(seed);
  return { below: (n) => Math.floor(next() * n), pick: (list) => list[Math.floor(next() * list.length)] };
}

/** A random program with clock, randomness, tools, timers, output and errors. */
function program(r) {
  const pieces = [
    () => 'console.log(Date.now(), new Date().toISOString())',
    () => 'console.log(Math.random(), Math.floor(Math.random() * 1000))',
    () => `console.log((await tools.read_file({ path: 'f${r.below(6)}.txt' })).length)`,
    () => `try { console.log(await tools.read_file({ path: 'none${r.below(9)}.txt' })) } catch (e) { console.log(e.message) }`,
    () => `console.log((await Promise.all([${Array.from({ length: 1 + r.below(4) }, () => `tools.calculate({ expression: '${r.below(99)} + ' + Math.floor(Math.random() * 9) })`).join()}])).join('|'))`,
    () => `console.log(await Promise.race([tools.list_files(), tools.calculate({ expression: '1 + ${r.below(9)}' })]))`,
    () => `await new Promise((resolve) => setTimeout(resolve, ${r.below(5000)})); console.log(Date.now())`,
    () => `setTimeout(() => console.log('timer', Math.random()), ${r.below(50)})`,
    () => `await tools.write_file({ path: 'f${r.below(6)}.txt', content: 'at ' + Date.now() + ' ' + Math.random() })`,
    () => `for (let i = 0; i < ${r.below(2000)}; i++) total += Math.sqrt(i) * Math.random()`,
    () => `console.log(JSON.stringify({ total, map: [...new Map([[${r.below(9)}, total]])] }))`,
    () => `tools.calculate({ expression: '${r.below(9)} * 3' }).then((x) => console.log('later', x))`,
    () => `if (Math.random() < 0.3) throw new RangeError('by chance ' + Math.random())`,
    () => `if (Math.random() < 0.1) await tools.calculate({ expression: '1 / 0' })`,
    () => `if (Math.random() < 0.05) null.property`,
  ];
  const lines = Array.from({ length: 2 + r.below(6) }, () => r.pick(pieces)());
  return `let total = 0;\n${lines.map((line) => `{ ${line} }`).join('\n')}\n[total, Math.random(), Date.now()]`;
}

/** Runs of twenty programs each. */
const ALL_RUNS = 10;
const RUNS = SHORT ? 1 : ALL_RUNS;

test('random programs: a replay runs each again, and its bytes are those of the record', async (t) => {
  sayLeft(t, 20 * (ALL_RUNS - RUNS), 'random programs');
  const r = choices(20);
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`f${i}.txt`, 'x'.repeat(10 * i)]));
  let [outputs, errors] = [0, 0];
  for (let run = 0; run < RUNS; run += 1) {
    const turns = Array.from({ length: 5 }, () => Array.from({ length: 4 }, () => program(r)));
    const { trajectory, replayed, results } = await inNode(turns, { files, options: { seed: run + 1 } });
    assert.equal(results.length, 20);
    for (const result of results) {
      if (result.startsWith('Error: ')) errors += 1;
      else outputs += 1;
    }
    assert.deepEqual(replayed, { ok: true }, `run ${run}`);
    // With another seed the programs see other numbers, so a replay has to notice.
    if (run === 0) {
      const { ok, path: where } = await replay({ ...trajectory, config: { ...trajectory.config, seed: 999 } });
      assert.equal(ok, false);
      assert.match(where, /^\/events\/\d+\/event\/outcome$/);
    }
  }
  assert.equal(outputs + errors, 20 * RUNS);
  assert.ok(errors > 2 * RUNS && outputs > 8 * RUNS, `${outputs} outputs, ${errors} errors`);
});
