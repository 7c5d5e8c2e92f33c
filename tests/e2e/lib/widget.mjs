// Host pages of <turnwise-agent>, as a site's server would serve them, with the built package at /turnwise/.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { promises as fs, existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { withPage } from './browser.mjs';
import { withScript } from './script-server.mjs';
import { dist } from './site.mjs';

const TYPES = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html; charset=utf-8', '.json': 'application/json' };

/** A page with the tag. `attributes`: the tag's attributes; `head`, `body`: more HTML; `src`: where embed.js is. */
export const page = ({ attributes = '', head = '', body = '', src = '/turnwise/embed.js', tag = `<turnwise-agent ${attributes}></turnwise-agent>`, html = 'lang="en"' } = {}) => `<!doctype html>
<html ${html}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Halden docs</title><link rel="icon" href="data:,">
${head}<script type="module" src="${src}"></script></head>
<body><main><h1>Halden</h1><p>A page of the host.</p>${body}</main>${tag}</body></html>`;

/**
 * Serves `pages` ({ '/path': html, or { body, type, status, location, headers } }) and the package below `at`. `headers` are sent with every
 * response; `asked` lists the requested paths, and `until(path)` waits for a request. Pages can be added later: `body` receives
 * the same `pages`.
 */
export async function withHost({ pages = {}, headers = {}, at = '/turnwise/' }, body) {
  assert.ok(existsSync(path.join(dist, 'turnwise/embed.js')), `${dist}/turnwise has no embed.js: make dist`);
  const asked = [];
  const arrivals = new EventEmitter();
  const until = async (wanted) => {
    const signal = AbortSignal.timeout(40_000);
    while (!asked.includes(wanted)) await once(arrivals, 'request', { signal });
  };
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    asked.push(pathname);
    arrivals.emit('request');
    const answer = (status, type, content, more) => response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...headers, ...more }).end(content);
    const found = pages[pathname];
    if (found !== undefined) return typeof found === 'string' ? answer(200, TYPES['.html'], found) : answer(found.status ?? 200, found.type ?? TYPES['.html'], found.body, { ...found.headers, ...(found.location && { location: found.location }) });
    const file = pathname.startsWith(at) && path.join(dist, 'turnwise', path.posix.normalize(`/${pathname.slice(at.length)}`));
    const content = file && await fs.readFile(file).catch(() => undefined);
    return content ? answer(200, TYPES[path.extname(file)] ?? 'text/plain', content) : answer(404, 'text/plain', '404');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body({ url: `http://127.0.0.1:${server.address().port}/`, asked, pages, until });
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Runs `body` with a scripted model, a host with `pages(baseUrl)`, and a browser at its first page. */
export const withWidget = ({ steps = [], pages, options = {}, host = {} }, body) => withScript(steps, (baseUrl) =>
  withHost({ ...host, pages: pages(baseUrl) }, (site) => withPage(site.url, { ...options, reach: [baseUrl, ...(options.reach ?? [])] }, (tab) => body(tab, { ...site, baseUrl }))));

/** The package's frame, as served by a site that lets these sites embed it. */
export const frameFor = (...urls) => readFileSync(path.join(dist, 'turnwise/frame.html'), 'utf8').replace('name="turnwise-hosts" content=""', `name="turnwise-hosts" content="${urls.map((url) => new URL(url).origin).join(' ')}"`);

/** Attributes for a scripted model. */
export const scripted = (baseUrl) => `provider="openai" base-url="${baseUrl}" model="scripted" docs="off"`;

/** The strictest policy that the tag can work with, for a model of that origin; `change` replaces directives. */
export const strictPolicy = (model, change = {}) => Object.entries({
  'default-src': "'none'", 'img-src': 'data:', 'script-src': "'self' 'wasm-unsafe-eval'", 'connect-src': `'self' ${model}`, 'worker-src': "'self'",
  'require-trusted-types-for': "'script'", 'trusted-types': 'turnwise', ...change,
}).map((part) => part.join(' ')).join('; ');

/**
 * A script of the host, since the policy also applies to what a test runs in the page. It notes on `html` (`data-…`) what is
 * thrown in the page, and what the tag reports when something fails.
 */
export const NOTES = {
  type: 'text/javascript',
  body: `const notes = document.documentElement.dataset;
    for (const name of ['error', 'unhandledrejection']) addEventListener(name, (event) => { notes.thrown = (notes.thrown ?? '') + (event.message ?? event.reason); });
    document.addEventListener('turnwise-error', ({ detail }) => { notes.error = JSON.stringify(detail); });`,
};
export const noting = '<script src="/notes.js"></script>';

export const launcher = (tab, name = 'Ask the docs') => tab.getByRole('button', { name });
export const input = (tab) => tab.locator('turnwise-agent').first().getByRole('textbox');

export async function ask(tab, text) {
  await input(tab).fill(text);
  await input(tab).press('Enter');
}

/** Waits for the n-th answer, and returns its article. */
export async function answered(tab, n = 1) {
  const run = tab.locator('turnwise-agent article').nth(n - 1);
  await run.locator('.foot :is(.ending, .problem)').waitFor({ timeout: 60000 });
  return run;
}

/** Records the element's events, to be read with `events`. */
export const listen = (tab) => tab.evaluate(() => {
  window.heard = [];
  for (const name of ['open', 'close', 'run', 'final', 'error', 'feedback']) document.addEventListener(`turnwise-${name}`, ({ detail }) => window.heard.push({ name, ...detail }));
});
export const events = (tab) => tab.evaluate(() => window.heard);
