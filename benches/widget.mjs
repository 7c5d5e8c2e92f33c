// node benches/widget.mjs [DIST]: the docs agent beside deep-chat and beside a page with neither, in one browser and one run.
// REPS (5): rounds; in each every page is measured once. What a page loads is counted by the server, as brotli; what
// workers load is apart. "Open" is from the click to a field that takes text; deep-chat is open from the start.
import { build } from 'esbuild';
import { promises as fs, mkdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import zlib from 'node:zlib';
import { chromium } from 'playwright-core';
import { median } from './measure.mjs';

const here = import.meta.dirname;
const dist = path.resolve(process.argv[2] ?? path.join(here, '../dist'));
const reps = Number(process.env.REPS || 5);
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const QUIET_MS = 1500;
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.wasm': 'application/wasm', '.css': 'text/css' };

const host = (inside) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><body><h1>Docs</h1>${'<p>A page of documentation, with some text in it.</p>'.repeat(40)}${inside}</body></html>`;
const PAGES = {
  'no widget': host(''),
  turnwise: host('<script type="module" src="/turnwise/embed.js"></script><turnwise-agent provider="openai" base-url="/v1" model="none" docs="off"></turnwise-agent>'),
  'deep-chat': host('<script type="module" src="/deep-chat.js"></script>'),
};

async function bundle() {
  mkdirSync(path.join(here, 'dist'), { recursive: true });
  await build({
    entryPoints: [path.join(here, 'pages/deep-chat.js')], outfile: path.join(here, 'dist/deep-chat.js'), bundle: true, minify: true,
    format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'error', define: { 'process.env.NODE_ENV': '"production"' },
  });
}

/** Serves the pages and notes what was asked for, and whether a worker asked. */
async function serve() {
  const asked = [];
  const workers = new Set();
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const from = request.headers.referer && new URL(request.headers.referer).pathname;
    if (request.headers['sec-fetch-dest'] === 'worker' || workers.has(from)) workers.add(pathname);
    const name = decodeURIComponent(pathname.slice(1));
    const body = PAGES[name] ?? await fs.readFile(name === 'deep-chat.js' ? path.join(here, 'dist', name) : path.join(dist, path.posix.normalize(pathname))).catch(() => undefined);
    asked.push({ pathname, body, worker: workers.has(pathname) });
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': TYPES[path.extname(pathname)] ?? TYPES['.html'], 'cache-control': 'no-store' }).end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, clear: () => { asked.length = 0; workers.clear(); }, close: () => { server.close(); server.closeAllConnections(); } };
}

const weights = new Map();
function weigh(asked, worker) {
  return asked.filter((file) => file.worker === worker && file.body !== undefined && !(file.pathname.slice(1) in PAGES)).reduce((sum, { pathname, body }) => {
    if (!weights.has(pathname)) weights.set(pathname, zlib.brotliCompressSync(body).length);
    return sum + weights.get(pathname);
  }, 0);
}

const field = (name) => (name === 'deep-chat'
  ? () => window.ready && window.field()
  : () => document.querySelector('turnwise-agent').shadowRoot.querySelector('textarea, input[type=text]'));

async function measure(browser, site, name) {
  site.clear();
  const context = await browser.newContext();
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => { for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.startTime + task.duration); }).observe({ type: 'longtask', buffered: true });
  });
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const cpu = async () => (await cdp.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
  await page.goto(site.url + encodeURIComponent(name));
  if (name === 'deep-chat') await page.waitForFunction(field(name));
  await page.waitForTimeout(QUIET_MS);
  const figures = {
    'loaded before opening, page (B)': weigh(site.asked, false),
    'interactive (ms)': await page.evaluate(() => Math.max(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd, window.longest, window.ready ?? 0)),
    'CPU before opening (ms)': await cpu(),
  };
  if (name !== 'no widget') {
    const began = await page.evaluate(() => performance.now());
    if (name === 'turnwise') await page.getByRole('button', { name: 'Ask the docs' }).click();
    await page.waitForFunction(field(name), undefined, { polling: 'raf' });
    const opened = await page.evaluate(async (of) => {
      const element = new Function(`return (${of})()`)();
      element.focus();
      document.execCommand('insertText', false, 'hello');
      await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
      return { at: performance.now(), typed: element.value ?? element.textContent };
    }, field(name).toString());
    if (!opened.typed.includes('hello')) throw new Error(`${name}: its field takes no text`);
    await page.waitForTimeout(QUIET_MS);
    Object.assign(figures, {
      'open (ms)': name === 'deep-chat' ? 0 : opened.at - began,
      'loaded once open, page (B)': weigh(site.asked, false),
      'loaded once open, workers (B)': weigh(site.asked, true),
      'CPU once open (ms)': await cpu(),
    });
  }
  await context.close();
  return figures;
}

await bundle();
const site = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });
const records = Object.fromEntries(Object.keys(PAGES).map((name) => [name, []]));
try {
  for (let rep = 0; rep < reps; rep += 1) for (const name of Object.keys(PAGES)) records[name].push(await measure(browser, site, name));
} finally {
  await browser.close();
  site.close();
}
const metrics = Object.keys(records.turnwise[0]);
console.log(`\n${''.padEnd(36)}${Object.keys(PAGES).map((name) => name.padStart(14)).join('')}   median of ${reps}`);
for (const metric of metrics) {
  const cells = Object.values(records).map((figures) => median(figures.map((of) => of[metric])));
  console.log(`${metric.padEnd(36)}${cells.map((value) => (value === undefined ? '-' : value.toLocaleString('en-US', { maximumFractionDigits: 0 })).padStart(14)).join('')}`);
}
