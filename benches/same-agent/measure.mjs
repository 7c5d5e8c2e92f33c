// node benches/same-agent/measure.mjs [SITE]: measures the same agent with four libraries. SITE: a build of ours, dist/ by
// default. In a build other than the release, the page's modules are as shipped, but its WebAssembly is not: figures that depend
// on it are omitted. Prints the table in docs/comparison.md. docs/development.md explains the measurements.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from '../browser.mjs';
import { bundlePage, bundles } from '../bundle.mjs';
import { serve } from '../site.mjs';
import { median } from '../stats.mjs';
import { limited, newRun } from '../target.mjs';
import { weighLoaded } from '../weigh.mjs';
import { CALLS, RESULT, startShop } from './model.mjs';

export const rounds = 1; // it takes its own samples
const SAMPLES = 10;
const PAUSE_MS = 300;

const here = import.meta.dirname;
const OURS = 'turnwise';
const PROGRAMS = {
  [OURS]: { title: 'Turnwise' },
  'ai-sdk': { title: 'AI SDK', packages: ['ai', '@ai-sdk/openai-compatible'] },
  'openai-agents': { title: 'OpenAI Agents SDK', packages: ['@openai/agents'] },
  langgraph: { title: 'LangGraph', packages: ['langchain', '@langchain/langgraph', '@langchain/openai'] },
};
export const names = () => Object.keys(PROGRAMS);

const LINES = 'lines, imports left out';
const ALL_LINES = 'lines';
const PAGE = 'page (B)';
const WORKERS = 'workers (B)';
const WHOLE = 'page and workers (B)';
const OPENING = 'opening to first text (ms)';
const NEXT = 'next run to first text (ms)';

/** Counts the lines of a program that are neither blank nor a comment. */
function linesOf(name) {
  const lines = readFileSync(path.join(here, `${name}.mjs`), 'utf8').split('\n').filter((line) => line.trim() && !line.startsWith('//'));
  return { [LINES]: lines.filter((line) => !line.startsWith('import ')).length, [ALL_LINES]: lines.length };
}

/** Bundles the program as a page would ship it. Our workers stay files next to the bundle, where its module looks for them. */
async function build(name, site) {
  const folder = path.join(bundles, 'same-agent', name);
  rmSync(folder, { recursive: true, force: true });
  const alias = { program: path.join(here, `${name}.mjs`), ...(name === OURS && { turnwise: path.join(site, 'turnwise/index.js') }) };
  await bundlePage(`same-agent/${name}`, path.join(here, 'page.mjs'), { alias, splitting: true });
  if (name !== OURS) return;
  for (const file of ['engine-worker.js', 'agent_bg.wasm', 'worker.js', 'worker_bg.wasm']) copyFileSync(path.join(site, 'turnwise', file), path.join(folder, file));
}

const article = ({ type, properties, required }) => ({ type, article: properties.article.type, required });

/** Checks that the run was the same with every library: the tools offered and called, the results sent, and the output. */
function check({ output, calls }, { requests }) {
  assert.deepEqual(output, RESULT);
  assert.deepEqual(calls, CALLS.map((name) => ({ name, article: 'lamp' })));
  assert.equal(requests.length, 2, 'requests');
  for (const { tools, stream } of requests) {
    assert.equal(stream, true);
    for (const name of CALLS) {
      const offered = tools.find((tool) => tool.function.name === name);
      assert.deepEqual(article(offered.function.parameters), { type: 'object', article: 'string', required: ['article'] });
    }
  }
  const told = requests[1].messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
  assert.equal(told.length, 2, 'results of tools');
  assert.match(told[0], /euros.*12/);
  assert.match(told[1], /pieces.*3/);
}

/** Checks that a run cancelled while a reply is arriving drops its request, sends no other, and has no result. */
async function checkCancel(page, shop) {
  const run = newRun();
  await page.evaluate((baseUrl) => window.holdAgent(baseUrl), `${shop.url}/run=${run},hold=1/v1`);
  while (!shop.taken(run)) await sleep(5);
  await sleep(PAUSE_MS);
  assert.equal(shop.taken(run).dropped, 0);
  await page.evaluate(() => window.cancelAgent());
  const { output } = await limited(page.evaluate(() => window.ended));
  await sleep(PAUSE_MS);
  const { requests, dropped } = shop.taken(run);
  assert.deepEqual({ output, requests: requests.length, dropped }, { output: undefined, requests: 1, dropped: 1 });
}

/** Visits the page once: one run as soon as its modules have run, then another. */
async function visit({ browser, site, url }, shop, more) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    const [first, next] = [newRun(), newRun()];
    site.asked.length = 0;
    await page.addInitScript((baseUrl) => { window.startAt = baseUrl; }, `${shop.url}/run=${first}/v1`);
    await page.goto(url);
    await page.waitForFunction(() => window.runAgent);
    const opened = await limited(page.evaluate(() => window.started));
    check(opened, shop.taken(first));
    await sleep(PAUSE_MS);
    const again = await limited(page.evaluate((baseUrl) => window.runAgent(baseUrl), `${shop.url}/run=${next}/v1`));
    check(again, shop.taken(next));
    const rest = await more?.(page);
    if (faults.length) throw new Error(faults.join('; '));
    return { opening: opened.sinceOpening, next: again.sinceBegin, ...rest };
  } finally {
    await context.close();
  }
}

/** Measures one program. */
export async function measure({ browser, site, name, dist }) {
  await build(name, dist);
  const released = name !== OURS || path.resolve(dist) === path.resolve(here, '../../dist');
  const given = { browser, site, url: `${site.url}same-agent/${name}/` };
  const shop = await startShop();
  try {
    const loaded = await visit(given, shop, async (page) => {
      const weight = await weighLoaded(page, site.asked, `/same-agent/${name}/`, { except: [`/same-agent/${name}/`] });
      await checkCancel(page, shop);
      return weight;
    });
    const visits = [];
    while (visits.length < SAMPLES) visits.push(await visit(given, shop));
    return {
      ...linesOf(name),
      [PAGE]: loaded.page,
      ...(released && { [WORKERS]: loaded.workers, [WHOLE]: loaded.page + loaded.workers }),
      ...(released && { [OPENING]: median(visits.map(({ opening }) => opening)), [NEXT]: median(visits.map(({ next }) => next)) }),
    };
  } finally {
    await shop.close();
  }
}

const versionOf = (name) => JSON.parse(readFileSync(path.join(here, '../node_modules', name, 'package.json'), 'utf8')).version;
const number = (value) => (value === undefined ? '–' : Math.round(value).toLocaleString('en-US'));

/** Formats the table in docs/comparison.md from the figures of each program. */
export function markdown(figures, { chromium, dist }) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const columns = [LINES, ALL_LINES, PAGE, WORKERS, WHOLE, OPENING, NEXT];
  const ours = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8')).version;
  const versions = Object.values(PROGRAMS).map(({ title, packages }) => (packages ? packages.map((name) => `${name} ${versionOf(name)}`).join(', ') : `${title} ${ours}`));
  return [
    row(['', ...columns]), row(['---', ...columns.map(() => '---:')]),
    ...names().map((name) => row([PROGRAMS[name].title, ...columns.map((column) => number(figures[name]?.[column]))])),
    '', `${new Date().toISOString().slice(0, 10)}; ${versions.join('; ')}; zod ${versionOf('zod')}; Chromium ${chromium}; ${os.cpus().length} cores, ${os.cpus()[0].model.trim()}`,
  ].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const dist = path.resolve(process.argv[2] ?? path.join(here, '../../dist'));
  if (!existsSync(path.join(dist, 'turnwise/index.js'))) throw new Error(`${dist} has no build of ours: make dist, or name another one`);
  const site = await serve({ '/': bundles });
  const browser = await launch();
  const figures = {};
  try {
    for (const name of names()) figures[name] = await measure({ browser, site, name, dist });
    console.log(markdown(figures, { chromium: browser.version(), dist }));
  } finally {
    await browser.close();
    await site.close();
  }
}
