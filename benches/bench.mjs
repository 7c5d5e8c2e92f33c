// node benches/bench.mjs: our package beside a hand-written loop (the floor) and other loops, in one browser and one run.
// REPS (3): rounds; in each every page is measured once, so that a ratio is between neighbours in time.
// PEERS: which other loops, of those in pages/ (default: openai-sdk ai-sdk).
// The last column says whether ours reaches its figure.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { chromium } from 'playwright-core';
import { serve } from '../.ci/static.mjs';
import { CHUNKS, measure, median } from './measure.mjs';
import { startModel } from './server.mjs';

const here = import.meta.dirname;
const FLOOR = 'floor';
const OURS = 'turnwise';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const reps = Number(process.env.REPS || 3);
const peers = (process.env.PEERS || 'openai-sdk ai-sdk').split(/[\s,]+/).filter(Boolean);
const bundled = [FLOOR, ...peers];

// Ratio to the floor that ours has to reach.
const GOALS = {
  'CPU a turn, 50 turns (ms)': 1.0,
  'CPU a turn, 200 turns (ms)': 0.6,
  'CPU a turn, 400 turns (ms)': 0.4,
  'wall a turn, 400 turns (ms)': 0.5,
  [`CPU, ${CHUNKS} streamed chunks (ms)`]: 0.6,
  'memory after 200 turns (MiB)': 2,
};
const GROWTH_GOAL = 1.2;

async function bundle() {
  for (const name of bundled) {
    const outdir = path.join(here, 'dist', name);
    mkdirSync(outdir, { recursive: true });
    await build({
      entryPoints: [path.join(here, 'pages', `${name}.js`)], outfile: path.join(outdir, 'bundle.js'), bundle: true, minify: true,
      format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'error',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    writeFileSync(path.join(outdir, 'index.html'), '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,"><script type="module" src="bundle.js"></script>');
  }
}

const brotli = (file) => zlib.brotliCompressSync(readFileSync(file)).length;
const sizes = () => ({
  ...Object.fromEntries(bundled.map((name) => [name, brotli(path.join(here, 'dist', name, 'bundle.js'))])),
  [OURS]: ['turnwise.js', 'turnwise_bg.wasm'].reduce((sum, file) => sum + brotli(path.join(here, '../dist/turnwise', file)), 0),
});

function table(names, records) {
  const metrics = [...new Set(names.flatMap((name) => records[name].flatMap((figures) => Object.keys(figures))))];
  const cell = (name, metric) => {
    const value = median(records[name].map((figures) => figures[metric]));
    if (value === undefined) return { text: '-' };
    const ratio = median(records[name].map((figures, rep) => figures[metric] / records[FLOOR][rep]?.[metric]));
    return { text: `${value.toPrecision(3)}${ratio === undefined ? '' : ` (${ratio.toFixed(2)}x)`}`, ratio };
  };
  const width = 18;
  console.log(`\n${''.padEnd(36)}${names.map((name) => name.padStart(width)).join('')}`);
  for (const metric of metrics) {
    const cells = names.map((name) => cell(name, metric));
    const goal = GOALS[metric];
    const ours = cells[names.indexOf(OURS)].ratio;
    const verdict = goal === undefined || ours === undefined ? '' : `  ${ours <= goal ? 'reached' : 'MISSED'}: ${goal}x at most`;
    console.log(`${metric.padEnd(36)}${cells.map(({ text }) => text.padStart(width)).join('')}${verdict}`);
  }
  const growth = median(records[OURS].map((figures) => figures['CPU a turn, 1000 turns (ms)'] / figures['CPU a turn, 50 turns (ms)']));
  if (growth !== undefined) console.log(`\nours, CPU a turn at 1,000 turns over that at 50: ${growth.toFixed(2)}  ${growth <= GROWTH_GOAL ? 'reached' : 'MISSED'}: ${GROWTH_GOAL} at most`);
  console.log(`\nbrotli bytes: ${Object.entries(sizes()).map(([name, n]) => `${name} ${n.toLocaleString('en-US')}`).join(', ')}`);
}

const began = performance.now();
await bundle();
const names = [FLOOR, OURS, ...peers];
const records = Object.fromEntries(names.map((name) => [name, []]));
const site = await serve(path.join(here, 'dist'), { mounts: { '/ours/': path.join(here, '../dist') } });
const model = await startModel();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });
let failed = false;
try {
  console.log(`Chromium ${browser.version()}, ${reps} rounds of ${names.join(', ')}`);
  for (let rep = 0; rep < reps; rep += 1) {
    for (const name of names) {
      const url = name === OURS ? `${site.url}ours/bench/` : `${site.url}${name}/`;
      const pageBegan = performance.now();
      try {
        records[name][rep] = await measure(browser, model, url, { longest: name === OURS || name === FLOOR });
        console.log(`round ${rep + 1} ${name}: ${((performance.now() - pageBegan) / 1000).toFixed(0)} s`);
      } catch (error) {
        failed = true;
        records[name][rep] = {};
        console.error(`round ${rep + 1} ${name} FAILED: ${error.message}`);
      }
    }
  }
} finally {
  await browser.close();
  await model.close();
  await site.close();
}
table(names, records);
mkdirSync(path.join(here, 'results'), { recursive: true });
writeFileSync(path.join(here, 'results/bench.json'), JSON.stringify({ when: new Date().toISOString(), chromium: browser.version(), records }, null, 1));
console.log(`\n${((performance.now() - began) / 1000).toFixed(0)} s; every figure: benches/results/bench.json`);
process.exit(failed ? 1 : 0);
