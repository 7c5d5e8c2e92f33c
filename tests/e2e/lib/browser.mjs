// Pages in the system's Chromium that can reach this machine's loopback and nothing else, and whose console must stay empty:
// a test names the lines it expects. No retries anywhere.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

export const ARGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

// Console lines that every test may produce:
// - Chrome's advice on password fields, which may come at any time. The settings' key field is in no form, since nothing is
//   submitted with it and no password manager should take it for a login.
// - Playwright's message that it blocked a service worker. Only tests about service workers allow them.
// - How a plan's contexts came about, one line per trace.
export const ADVICE = /^\[DOM\] Password field is not contained in a form|^Service Worker registration blocked by Playwright|^turnwise: plan \S+, step \d+: /;

/** Runs `body(browser)` with a fresh browser: for files from disk, which have no origin. */
export async function withBrowser(body) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });
  try {
    return await body(browser);
  } finally {
    await browser.close();
  }
}

/** The time to wait for the expected console lines once a test is done. */
const TOLD_MS = 5000;

/**
 * Runs `body(page)` in a fresh browser with the page open at `url`, then asserts what it did. `reach`: origins besides the
 * page's own that it may contact. `expect`: patterns; each must match a console line, and every console line must match one
 * of them. `context`: options of Playwright's context (viewport, colorScheme, …).
 */
export async function withPage(url, { reach = [], expect = [], context = {} }, body) {
  const seen = [];
  const refused = [];
  const told = () => expect.every((pattern) => seen.some((line) => pattern.test(line)));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });
  try {
    const browserContext = await browser.newContext({ acceptDownloads: true, serviceWorkers: 'block', ...context });
    const page = await browserContext.newPage();
    page.setDefaultTimeout(40000);
    const allowed = new Set([new URL(url).origin, ...reach.map((other) => new URL(other).origin)]);
    page.on('console', (message) => ADVICE.test(message.text()) || seen.push(`${message.type()}: ${message.text()}${/^Failed to load/.test(message.text()) ? ` ${message.location().url}` : ''}`));
    page.on('pageerror', (error) => seen.push(`uncaught: ${error} ${error.stack}`));
    await browserContext.route('**', (route) => {
      const { protocol, origin } = new URL(route.request().url());
      if (protocol === 'data:' || protocol === 'blob:' || allowed.has(origin)) return route.continue();
      refused.push(route.request().url());
      return route.abort('blockedbyclient');
    });
    await page.goto(url);
    const result = await body(page);
    // A worker's console output takes a separate path, and may arrive after the page's answer.
    for (const end = Date.now() + TOLD_MS; !told() && Date.now() < end;) await sleep(20);
    assert.deepEqual(refused, [], 'the page asked for files that are not its own');
    assert.deepEqual(seen.filter((line) => !expect.some((pattern) => pattern.test(line))), [], 'the console is not empty');
    for (const pattern of expect) assert.ok(seen.some((line) => pattern.test(line)), `no console line matches ${pattern}: ${seen}`);
    return result;
  } catch (error) {
    // The page's console output often explains why the test timed out, or found something else.
    if (error instanceof assert.AssertionError && !seen.length && !refused.length) throw error;
    throw new Error(`${error.message}\nconsole: ${seen.join('\n') || 'empty'}\nrefused: ${refused.join(' ') || 'nothing'}`, { cause: error });
  } finally {
    await browser.close();
  }
}
