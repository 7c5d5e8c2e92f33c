// node benches/bench.mjs: benchmarks our package against a hand-written loop (the floor) and other agent loops, and the docs
// agent against deep-chat, in one run. docs/development.md explains the columns.
// REPS (5): rounds. In each, a part measures every page once, one after the other, so that ratios compare adjacent measurements.
// PEERS: which other loops. ONLY: which parts. SITE: another build than dist/. Exits with 1 if a part failed or a goal was missed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch } from './browser.mjs';
import { bundle, bundles } from './bundle.mjs';
import { countable } from './renderer.mjs';
import { printGoals, printPart } from './report.mjs';
import { startModel } from './server.mjs';
import { serve } from './site.mjs';
import { DEEP_CHAT } from './parts/widget.mjs';
import { dist } from '../tests/e2e/lib/site.mjs';

const PARTS = ['sizes', 'cpu', 'stream', 'memory', 'tasks', 'crew', 'record', 'hostile', 'busy', 'start', 'slow', 'growth', 'widget', 'docs', 'same-agent'];
const PEERS = ['openai-sdk', 'ai-sdk', 'langgraph', 'openai-agents'];
const FLOOR = 'floor';
const OURS = 'turnwise';
const here = import.meta.dirname;

const words = (value, otherwise) => (value || otherwise).split(/[\s,]+/).filter(Boolean);
const reps = Number(process.env.REPS || 5);
const peers = words(process.env.PEERS, PEERS.join(' '));
const only = words(process.env.ONLY, PARTS.join(' '));
const fail = (message) => {
  console.error(`make bench: ${message}`);
  process.exit(2);
};
for (const name of only) if (!PARTS.includes(name)) fail(`ONLY names '${name}', it takes ${PARTS.join(', ')}`);
for (const name of peers) if (!PEERS.includes(name)) fail(`PEERS names '${name}', it takes ${PEERS.join(', ')}`);
if (!(reps >= 1)) fail(`REPS is '${process.env.REPS}', it takes a number from 1`);
if (!existsSync(path.join(dist, 'bench'))) fail(`${dist} is not built`);

const began = performance.now();
const seconds = (since) => (performance.now() - since) / 1000;
const parts = await Promise.all(PARTS.filter((name) => only.includes(name)).map(async (name) => ({ name, ...await import(`./parts/${name}.mjs`) })));
await bundle([FLOOR, ...peers, DEEP_CHAT]);
const all = [FLOOR, OURS, ...peers];
const site = await serve({ [`/${OURS}/`]: dist, '/': bundles });
const model = await startModel();
const browser = await launch();
const version = browser.version();
const given = (name, round) => ({ browser, model, site, dist, name, round, ours: OURS, floor: FLOOR, url: `${site.url}${name}/${name === OURS ? 'bench/' : ''}` });
const namesOf = (part) => part.names?.({ ours: OURS, floor: FLOOR }) ?? all;

/** Rotates the order: a different page is first in each round, because the first one has a colder machine. */
const turned = (names, round) => names.map((_, i) => names[(i + round) % names.length]);

const records = {}; // part -> page -> figures of each round
const spent = {};
const failures = [];
const load = () => os.loadavg()[0].toFixed(1);
console.log(`Chromium ${version}, ${os.cpus().length} cores, load ${load()}; rounds: ${reps}; parts: ${parts.map(({ name }) => name).join(' ')}; pages: ${all.join(' ')}`);
if (!countable) console.log('This system does not say what a process takes: figures of the whole renderer are left out.');
try {
  for (let round = 0; round < reps; round += 1) {
    for (const part of parts.filter(({ rounds = reps }) => round < rounds)) {
      const partBegan = performance.now();
      for (const name of turned(namesOf(part), round)) {
        const figures = ((records[part.name] ??= {})[name] ??= []);
        try {
          figures[round] = await part.measure(given(name, round));
        } catch (error) {
          figures[round] = {};
          failures.push(`round ${round + 1} ${part.name} ${name}: ${error.message}`);
          console.error(`FAILED ${failures.at(-1)}`);
        }
      }
      spent[part.name] = (spent[part.name] ?? 0) + seconds(partBegan);
      console.log(`round ${round + 1} of ${part.rounds ?? reps}, ${part.name}: ${seconds(partBegan).toFixed(0)} s, load ${load()}`);
    }
  }
} finally {
  await browser.close();
  await model.close();
  await site.close();
}

const merged = (name) => Array.from({ length: reps }, (_, round) => Object.assign({}, ...parts.map((part) => records[part.name][name]?.[round] ?? {})));
console.log('');
const missed = printGoals(parts.map(({ name }) => name), merged(OURS), merged(FLOOR));
for (const part of parts) {
  printPart(part.name, namesOf(part), records[part.name], FLOOR);
  const first = Object.fromEntries(namesOf(part).map((name) => [name, records[part.name][name][0]]));
  if (part.markdown) console.log(`\n${part.markdown(first, { chromium: version, dist })}`);
}
mkdirSync(path.join(here, 'results'), { recursive: true });
const built = readFileSync(path.join(dist, '.built'), 'utf8').trim();
writeFileSync(path.join(here, 'results/bench.json'), JSON.stringify({ when: new Date().toISOString(), chromium: version, built, reps, spent, failures, missed, records }, null, 1));
const times = Object.entries(spent).map(([name, took]) => `${name} ${took.toFixed(0)}`).join(', ');
console.log(`\n${seconds(began).toFixed(0)} s (${times}); every figure: benches/results/bench.json`);
for (const failure of failures) console.log(`FAILED ${failure}`);
for (const goal of missed) console.log(`MISSED ${goal}`);
process.exit(failures.length || missed.length ? 1 : 0);
