// A run that searched, read a page, called an operation and was ended by a skill: in Node.js and in a page, replayed without any of the
// services and without a network, its sources listed and checked, and its record opened in the app.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { drop, showTurns } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { turnwise } from './lib/cli.mjs';
import { SHOP_KEY, SKILL, TASK, assertRun, assertSources, withServices } from './lib/one-run.mjs';
import { dist, withPackage, withSite } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const turnwiseNode = await import(path.join(dist, 'turnwise/index.node.js'));
const { openapi } = await import(path.join(dist, 'turnwise/openapi.js'));
await turnwiseNode.default();

/** `turnwise replay` in a process that ends if it uses the network. */
const replayOffline = (file) => turnwise(['replay', file], { env: { NODE_OPTIONS: `--import=${pathToFileURL(path.join(import.meta.dirname, 'lib/no-network.mjs'))}` } });

async function withFile(text, body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const file = path.join(folder, 'run.json');
    writeFileSync(file, text);
    return await body(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replays a record with the network off; one with another text of the page, price or query is told. */
async function assertReplays(trajectory) {
  const text = JSON.stringify(trajectory);
  assertValid(trajectory);
  await withFile(text, async (file) => {
    const { code, out, err } = await replayOffline(file);
    assert.deepEqual([code, out.trim(), err], [0, `ok       ${file}`, '']);
  });
  // Each is changed in what was kept of the outside world, as the events have it.
  for (const [from, to] of [['# Lamp 12\\n', '# Lamp 13\\n'], ['guaranteed for **seven**', 'guaranteed for **eight**'], ['{\\"id\\":\\"12\\",\\"price\\":49.5}', '{\\"id\\":\\"12\\",\\"price\\":59.5}']]) {
    const events = JSON.stringify(trajectory.events).replaceAll(from, to);
    assert.notEqual(events, JSON.stringify(trajectory.events), from);
    await withFile(JSON.stringify({ ...trajectory, events: JSON.parse(events) }), async (file) => {
      const { code, out } = await replayOffline(file);
      assert.equal(code, 1);
      assert.match(out, /^differs {2}/);
    });
  }
}

test('in Node.js', () => withServices({}, async ({ baseUrl, search, pages, document }) => {
  const { Agent, openai } = turnwiseNode;
  const shop = await openapi(document, { auth: { bearer: () => SHOP_KEY } });
  assert.deepEqual(shop.faults, []);
  const asked = [];
  const agent = new Agent({
    model: openai('scripted', { baseUrl, apiKey: 'a-key' }), tools: shop.tools, skills: SKILL,
    builtInTools: ['search_web', 'fetch_url'], web: { search: { kind: 'searxng', baseUrl: search } }, permissions: { hosts: { [pages]: 'ask' } },
    approve: ({ toolName, input, destination, host, touches }) => { asked.push([toolName, input, destination, host, touches]); return true; },
  });
  return { trajectory: (await agent.generate(TASK)).trajectory, asked };
}, async ({ trajectory, asked }, { pages, shop }) => {
  assertRun(trajectory, { pages });
  // What left, each asked about with all that leaves; the operation once for its host, also for the script.
  assert.deepEqual(asked, [
    ['search_web', { query: 'lamp 12 guarantee' }, undefined, undefined, ['network']],
    ['fetch_url', { url: `${pages}/lamps/12` }, undefined, new URL(pages).host, ['network']],
    ['getItem', { id: '12' }, new URL(shop).host, undefined, ['network']],
  ]);
  assertSources(turnwiseNode, trajectory, { pages });
  await assertReplays(trajectory);
}));

test('in a page, with services of other sites and a relay; replayed offline, there and elsewhere', () => withServices({ host: (name) => (name === 'pages' ? '127.0.0.1' : `${name}.example`), relay: true }, ({ baseUrl, search, pages, shop, document, relay }) => {
  const reach = [baseUrl, search, pages, shop, relay];
  // Its own policy would allow loopback only, and the services have names of other sites.
  return withPackage({ name: 'open.html', reach, expect: [/blocked by CORS policy/, /net::ERR_FAILED/] }, async (page, { url }) => page.evaluate(async ([given, options]) => {
    const { Agent, openai } = await import(`${given.url}turnwise/index.js`);
    const loaded = () => performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)).filter((name) => ['web.js', 'openapi.js', 'skills.js', 'sandbox.js', 'yaml.js'].includes(name)).sort();
    const steps = [loaded()];
    const { openapi } = await import(`${given.url}turnwise/openapi.js`);
    const { tools } = await openapi(given.document, { auth: { bearer: options.key }, origins: [given.shop] });
    const agent = new Agent({ model: openai('scripted', { baseUrl: given.baseUrl, apiKey: 'a-key' }), tools, ...options.agent, approve: () => true });
    steps.push(loaded());
    const { trajectory } = await agent.generate(options.task);
    steps.push(loaded());
    return { trajectory, steps };
  }, [{ baseUrl, shop, document, url }, { key: SHOP_KEY, task: TASK, agent: { skills: SKILL, builtInTools: ['search_web', 'fetch_url'], web: { search: { kind: 'searxng', baseUrl: search }, relay }, permissions: { hosts: { [pages]: 'allow' } } } }]));
}, async ({ trajectory, steps }, { pages }) => {
  // Nothing loads before it is used.
  assert.deepEqual(steps, [[], ['openapi.js'], ['openapi.js', 'sandbox.js', 'skills.js', 'web.js', 'yaml.js']], 'YAML is for the skill, not for the document');
  assertRun(trajectory, { pages });
  assertSources(turnwiseNode, trajectory, { pages });
  await assertReplays(trajectory);
  // Another page, which reaches only its own files, and after the first replay nothing at all.
  await withPackage({ name: 'open.html' }, async (page, { url }) => {
    const replay = () => page.evaluate(async ([at, record]) => (await import(`${at}turnwise/index.js`)).replay(record), [url, trajectory]);
    assert.deepEqual(await replay(), { ok: true });
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.context().setOffline(true);
    assert.deepEqual(await replay(), { ok: true });
    // The parts of the package come out of the browser's cache.
    assert.deepEqual(asked.filter((one) => !/^(?:blob|data):/.test(one) && !one.startsWith(`${url}turnwise/`)), []);
  });
  // Where the script of the skill cannot be run again, that is no difference.
  await withPackage({ expect: [/violates the following Content Security Policy/] }, async (page, { url }) => {
    await page.evaluate(async ([at, record]) => {
      window.api = await import(`${at}turnwise/index.js`);
      await window.api.replay({ ...record, events: record.events.slice(0, 1) });
      await import(`${at}turnwise/sandbox.js`);
    }, [url, trajectory]);
    await page.context().setOffline(true);
    await assert.rejects(page.evaluate((record) => window.api.replay(record), trajectory), /a program of the record could not be run again/);
  });
  // Opened in the app, with its calls and result; the app's own check says the same.
  await withFile(JSON.stringify(trajectory), (file) => withSite((site) => withPage(site.app, { context: { viewport: { width: 1440, height: 900 } } }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await drop(page, [file]);
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
    for (const name of ['search_web', 'fetch_url', 'getItem', 'read_skill', 'offer_submit']) await page.locator(`.call[data-tool="${name}"]`).first().waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('slider', { name: 'Step' }).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(`Replays exactly: ${trajectory.events.length} events, 4 requests, every hash matches.`).waitFor();
  })));
}));
