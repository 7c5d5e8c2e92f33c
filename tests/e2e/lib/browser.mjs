// Pages in the system's Chromium that can reach this machine's loopback and nothing else, and whose console must stay empty:
// a test names the lines it expects. No retries anywhere. A test file has one browser, started when first needed; each page
// gets a context of its own: storage, caches, workers and renderers are not shared.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { chromium } from 'playwright-core';

export const ARGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  // Names that end with .example are this machine, too: for pages that are not on loopback by their name.
  '--host-resolver-rules=MAP *.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

// Console lines that every test may produce:
// - Chrome's advice on password fields, which may come at any time. The settings' key field is in no form, since nothing is
//   submitted with it and no password manager should take it for a login.
// - Playwright's message that it blocked a service worker. Only tests about service workers allow them.
// - How a plan's contexts came about, one line per trace.
export const ADVICE = /^\[DOM\] Password field is not contained in a form|^Service Worker registration blocked by Playwright|^turnwise: plan \S+, step \d+: /;

export const launch = (args = []) => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: [...ARGS, ...args] });

// Under node's test runner, the browser stays until the file's last test has ended. Scripts have no such end, and close it
// once nothing uses it.
const STAYS = Boolean(process.env.NODE_TEST_CONTEXT);
let browser;
let users = 0;

async function close() {
  const closing = browser;
  browser = undefined;
  await (await closing)?.close();
}
if (STAYS) after(close);

/** Runs `body(browser)` with the browser of this process. */
async function withBrowser(body) {
  users += 1;
  browser ??= launch();
  try {
    return await body(await browser);
  } finally {
    users -= 1;
    if (!STAYS && !users) await close();
  }
}

/** Runs `body(context)` with a new context, whose pages are closed afterwards. `options` are those of Playwright's context. */
export const withContext = (options, body) => withBrowser(async (browser) => {
  const context = await browser.newContext(options);
  try {
    return await body(context);
  } finally {
    await context.close();
  }
});

/** The time to wait for the expected console lines once a test is done. */
const TOLD_MS = 5000;

/**
 * Runs `body(page)` in a fresh context with the page open at `url`, then asserts what it did. `reach`: origins besides the
 * page's own that it may contact. `expect`: patterns; each must match a console line, and every console line must match one
 * of them. `context`: options of Playwright's context (viewport, colorScheme, …).
 */
export const withPage = (url, { reach = [], expect = [], context = {} }, body) => withContext({ acceptDownloads: true, serviceWorkers: 'block', ...context }, async (browserContext) => {
  const seen = [];
  const refused = [];
  const told = () => expect.every((pattern) => seen.some((line) => pattern.test(line)));
  let heard = () => {};
  const hear = (line) => { seen.push(line); heard(); };
  try {
    const page = await browserContext.newPage();
    page.setDefaultTimeout(40000);
    const allowed = new Set([new URL(url).origin, ...reach.map((other) => new URL(other).origin)]);
    page.on('console', (message) => ADVICE.test(message.text()) || hear(`${message.type()}: ${message.text()}${/^Failed to load/.test(message.text()) ? ` ${message.location().url}` : ''}`));
    page.on('pageerror', (error) => hear(`uncaught: ${error} ${error.stack}`));
    await browserContext.route('**', (route) => {
      const { protocol, origin } = new URL(route.request().url());
      if (protocol === 'data:' || protocol === 'blob:' || allowed.has(origin)) return route.continue();
      refused.push(route.request().url());
      return route.abort('blockedbyclient');
    });
    await page.goto(url);
    const result = await body(page);
    // A worker's console output takes a separate path, and may arrive after the page's answer.
    if (!told()) {
      await new Promise((resolve) => {
        const late = setTimeout(resolve, TOLD_MS);
        heard = () => { if (told()) { clearTimeout(late); resolve(); } };
      });
    }
    assert.deepEqual(refused, [], 'the page asked for files that are not its own');
    assert.deepEqual(seen.filter((line) => !expect.some((pattern) => pattern.test(line))), [], 'the console is not empty');
    for (const pattern of expect) assert.ok(seen.some((line) => pattern.test(line)), `no console line matches ${pattern}: ${seen}`);
    return result;
  } catch (error) {
    // The page's console output often explains why the test timed out, or found something else.
    if (error instanceof assert.AssertionError && !seen.length && !refused.length) throw error;
    throw new Error(`${error.message}\nconsole: ${seen.join('\n') || 'empty'}\nrefused: ${refused.join(' ') || 'nothing'}`, { cause: error });
  }
});
