// What the tools' worker loads: the usual tools need its module only; Markdown, code in colours, records, exports and the demo model load
// with the first of them, each once, and only if they are those of this build.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';

// A build without the splitter has all of it in the module.
const split = readFileSync(path.join(dist, 'turnwise/worker.js'), 'utf8').includes("'worker-records.wasm'");
const parts = (...names) => (split ? names.map((name) => `worker-${name}.wasm`) : []);
const calls = [
  ['write_file', { path: 'a.md', content: '# Turbine\n\nOne turns.\n' }], ['read_file', { path: 'a.md' }], ['list_files', {}],
  ['search_files', { query: 'turbine' }], ['edit_file', { path: 'a.md', old: 'One', new: 'It' }], ['calculate', { expression: '5 feet to cm' }], ['now', {}],
];

/** Runs `body(page, loaded)` in a page with an agent that called the usual tools; `loaded()` are the modules that were asked for since the last call. */
const withTools = (body, options = {}) => withScript([...calls.map(([name, args], at) => ({ calls: [{ id: `c${at}`, name, args }] })), { text: 'Done.' }], (baseUrl) => {
  let asked = [];
  const seen = (pathname) => void (pathname.endsWith('.wasm') && asked.push(path.basename(pathname)));
  return withPackage({ reach: [baseUrl], ...options }, async (page) => {
    const slugs = await page.evaluate(async ({ baseUrl, tools }) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools });
      window.record = await agent.run('Go.');
      return window.record.turns.flatMap((turn) => turn.tool_calls.map(({ status }) => status));
    }, { baseUrl, tools: calls.map(([name]) => name) });
    assert.equal(slugs.length, calls.length);
    await body(page, () => {
      const all = asked.toSorted();
      asked = [];
      return all;
    });
  }, { seen });
});
const run = (page, name, ...args) => page.evaluate(async ({ name, args }) => window.turnwise[name](...args.map((one) => (one === 'the record' ? window.record : one))), { name, args });

test('each part loads with the first use of it, and once', { timeout: 120_000 }, () => withTools(async (page, loaded) => {
  assert.deepEqual(loaded(), ['agent_bg.wasm', 'worker_bg.wasm'], 'the usual tools need no part');
  await run(page, 'renderMarkdown', 'A **word**.\n\n```\ncode\n```');
  assert.deepEqual(loaded(), parts('exports-markdown', 'markdown'));
  const coloured = async () => JSON.stringify(await run(page, 'renderMarkdown', '```js\nconst one = 1;\n```'));
  assert.match(await coloured(), /keyword/);
  assert.deepEqual(loaded(), parts('exports-highlighting', 'highlighting'));
  assert.match(await coloured(), /keyword/);
  assert.deepEqual(loaded(), []);
}));

test('records and exports load apart', { timeout: 120_000 }, () => withTools(async (page, loaded) => {
  loaded();
  assert.deepEqual(await run(page, 'replay', 'the record'), { ok: true });
  assert.deepEqual(loaded(), parts('exports-records', 'records'));
  assert.match(await run(page, 'exportTrajectory', 'the record', 'html'), /^<!doctype html>/i);
  const exported = loaded().filter((one) => !/-(records|markdown|highlighting)\.wasm$/.test(one) || one === 'worker-records.wasm');
  assert.deepEqual(exported, parts('exports'));
}));

test('a part of another build is refused with a message, and the tools go on', { timeout: 120_000 }, () => withTools(async (page) => {
  const other = readFileSync(path.join(dist, 'turnwise/jq_bg.wasm'));
  await page.route('**/worker-records.wasm', (route) => route.fulfill({ body: other, contentType: 'application/wasm' }));
  const refused = await page.evaluate(() => window.turnwise.summarize(window.record).then(() => 'it answered', (error) => String(error.message)));
  assert.match(refused, split ? /a part of the tools could not be loaded/ : /it answered/);
  await page.unroute('**/worker-records.wasm');
  assert.equal((await run(page, 'summarize', 'the record')).outcome, 'success', 'the next use asks again');
}, { expect: split ? [/worker-records\.wasm|integrity|Failed to fetch/i] : [] }));
