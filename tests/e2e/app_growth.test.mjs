// A long answer that streams: what the page sends to the worker that parses it, what it is answered, and the elements that it makes
// grow as the text does, also if the text is a single block. Times are in the benchmarks (benches/parts/growth.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS } from '../../benches/parts/growth/texts.mjs';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const SHORT = 8_000;
const LONG = 80_000;
/** The server writes so many events at once, this often. */
const EVENTS = 40;
const PACE_MS = 8;

/** Counts what a page posts to its workers and hears from them about Markdown, in characters, and the elements it makes. */
function count() {
  window.counted = { sent: 0, heard: 0, made: 0, renders: 0 };
  const { counted } = window;
  const post = Worker.prototype.postMessage;
  const heard = new WeakSet();
  Worker.prototype.postMessage = function postMessage(message, ...rest) {
    const request = typeof message === 'string' ? message : message?.text ?? '';
    if (request.includes('"method":"render"')) {
      counted.sent += request.length;
      counted.renders += 1;
      if (!heard.has(this)) {
        heard.add(this);
        this.addEventListener('message', ({ data }) => { counted.heard += (typeof data === 'string' ? data : data?.text ?? '').length; });
      }
    }
    return post.call(this, message, ...rest);
  };
  const create = Document.prototype.createElement;
  Document.prototype.createElement = function createElement(...args) {
    counted.made += 1;
    return create.apply(this, args);
  };
}

/** Streams a text of this kind and length, and returns what was counted while it grew and what is shown of it. */
const streamed = (kind, characters) => withSite((site) => {
  const { events, shown } = KINDS[kind](characters);
  const chunks = Array.from({ length: Math.ceil(events.length / EVENTS) }, (_, n) => events.slice(n * EVENTS, (n + 1) * EVENTS).join(''));
  return withScript([{ chunks, pace: PACE_MS }], (baseUrl) => {
    const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
    const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
    return withPage(site.app, { reach: [baseUrl], context: { storageState } }, async (page) => {
      await page.addInitScript(count);
      await page.reload();
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      await page.getByRole('textbox', { name: 'Task' }).fill('Describe the service.');
      await page.evaluate(() => Object.assign(window.counted, { sent: 0, heard: 0, made: 0, renders: 0 }));
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.locator('.page[data-ended]').waitFor();
      const prose = page.locator('section.turn .prose');
      await prose.getByText(shown).waitFor();
      await page.waitForFunction(() => !document.querySelector('.prose[data-streaming], .prose.plain'));
      return { counted: await page.evaluate(() => window.counted), html: await prose.evaluate((host) => [...host.querySelectorAll('.part > *')].map(({ textContent }) => textContent).join('\n')) };
    });
  });
});

for (const kind of ['mixed', 'paragraph', 'code', 'table', 'list']) {
  test(`ten times the text is ten times what is sent, answered and drawn: ${kind}`, { timeout: 120_000 }, async () => {
    const [short, long] = [await streamed(kind, SHORT), await streamed(kind, LONG)];
    const growth = Object.fromEntries(Object.keys(short.counted).map((what) => [what, long.counted[what] / short.counted[what]]));
    const figures = JSON.stringify({ kind, short: short.counted, long: long.counted });
    // Each character is sent once, whatever the number of renders, with its escapes and the frame of each message.
    assert.ok(long.counted.sent < 1.5 * LONG + 300 * long.counted.renders, figures);
    assert.ok(long.counted.renders > 20, figures);
    for (const what of ['sent', 'heard', 'made']) assert.ok(growth[what] < 15, figures);
    console.log(figures);
  });
}
