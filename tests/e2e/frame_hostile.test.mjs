// frame.html embedded by others: a page of another origin that embeds it and speaks its protocol is not a host, unless the
// site lists it; and no host, listed or not, can run a script in the package's origin.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';
import { events, frameFor, launcher, listen, page, withHost } from './lib/widget.mjs';

const HEADERS = { 'access-control-allow-origin': '*' };
const SCRIPT = "javascript:localStorage.setItem('hostile','ran')";

/** A page that embeds the frame and records what arrives over its port. `window.host(message)` speaks as a host would. */
const foreign = (cdn) => `<!doctype html><title>Foreign</title><link rel="icon" href="data:,"><script>
  window.heard = [];
  window.loaded = new Promise((resolve) => addEventListener('message', ({ data }) => data?.turnwise === 'ready' && resolve()));
  window.host = (message) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => window.heard.push(data);
    document.querySelector('iframe').contentWindow.postMessage({ turnwise: 'host', html: '', ...message }, '*', [port2]);
    return port1;
  };
</script><iframe src="${cdn}turnwise/frame.html" width="500" height="700"></iframe>`;

/** Runs `body(tab, places)` with the package, a listed host, and a foreign page, each on its own origin. */
const withOrigins = (steps, listed, body, expect = []) => withScript(steps, (baseUrl) => {
  return withHost({ headers: HEADERS }, (cdn) => withHost({
    pages: { '/': page({ src: `${cdn.url}turnwise/embed.js`, attributes: `mode="iframe" provider="openai" base-url="${baseUrl}" model="scripted" docs="off" app="${SCRIPT}"` }) },
  }, (host) => withHost({ pages: { '/': foreign(cdn.url) } }, (other) => {
    const places = { baseUrl, cdn: cdn.url, host: host.url, other: other.url };
    cdn.pages['/turnwise/frame.html'] = frameFor(...listed(places));
    return withPage(host.url, { reach: [cdn.url, other.url, baseUrl], expect }, (tab) => body(tab, places));
  })));
});

/** The settings that the foreign page would send: the model, an address that is a script, and whose conversation it wants. */
const settings = ({ baseUrl }, more) => ({
  provider: 'openai', baseUrl, model: 'scripted', preset: '', maxTurns: '', label: '', heading: '', placeholder: '', greeting: '', suggestions: '', docs: 'off', app: SCRIPT,
  theme: 'light', dir: 'ltr', language: 'en', ...more,
});

const marked = (frame) => frame.evaluate(() => localStorage.getItem('hostile'));
const cdnFrame = (tab, { cdn }) => tab.frames().find((frame) => frame.url().startsWith(cdn));

test('a page that is not listed is no host, whatever it says of itself: it asks nothing, reads nothing and runs nothing', () => withOrigins([{ text: 'The secret is 42.' }], ({ host }) => [host], async (tab, places) => {
  const { output } = await tab.evaluate(() => document.querySelector('turnwise-agent').ask('What is the secret?'));
  assert.equal(output, 'The secret is 42.');
  const kept = await cdnFrame(tab, places).evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert.match(kept, /The secret is 42\./);
  await tab.goto(places.other);
  await tab.evaluate(() => window.loaded);
  const frame = cdnFrame(tab, places);
  assert.match(await frame.evaluate(() => JSON.stringify({ ...sessionStorage })), /The secret is 42\./, 'the conversation is there to be had');
  for (const says of [places.other, places.cdn, places.host, `${places.host}#${places.other}`]) {
    for (const storageKey of ['turnwise:/#0', `${new URL(places.host).origin} turnwise:/#0`]) {
      await tab.evaluate(([message]) => {
        const port = window.host(message);
        port.postMessage({ show: { focus: true } });
        port.postMessage({ ask: 1, text: 'What is the secret?' });
        port.postMessage({ settings: message.settings });
      }, [{ page: says, settings: settings(places, { storageKey }) }]);
    }
  }
  await tab.waitForFunction(() => window.heard.length >= 8);
  // Whatever the frame might load or start after its answers would come before this file, which it asks for last.
  await frame.evaluate(async () => {
    await new Promise((resolve) => { requestIdleCallback(resolve); });
    await (await fetch(location.href, { cache: 'reload' })).text();
    await new Promise((resolve) => { requestIdleCallback(resolve); });
  });
  assert.deepEqual(await tab.evaluate(() => window.heard), Array(8).fill({ hosted: false }));
  assert.equal(await frame.evaluate(() => document.body.childElementCount), 0);
  assert.equal(await marked(frame), null);
  assert.equal(tab.workers().length, 0);
}));

test('a listed host does not read what another one\'s visitors asked', () => withOrigins([{ text: 'The secret is 42.' }], ({ host, other }) => [host, other], async (tab, places) => {
  await tab.evaluate(() => document.querySelector('turnwise-agent').ask('What is the secret?'));
  await tab.goto(places.other);
  await tab.evaluate(() => window.loaded);
  for (const storageKey of ['turnwise:/#0', `${new URL(places.host).origin} turnwise:/#0`]) {
    await tab.reload();
    await tab.evaluate(() => window.loaded);
    await tab.evaluate((message) => { window.host(message).postMessage({ show: { focus: true } }); }, { page: places.other, settings: settings(places, { storageKey }) });
    const frame = tab.frameLocator('iframe');
    await frame.getByRole('textbox').waitFor();
    assert.equal(await frame.locator('article').count(), 0);
  }
}));

test('no host opens a script: an app that is one is not offered, and not opened', () => withOrigins([{ text: 'Done.' }], ({ host }) => [host], async (tab, places) => {
  await launcher(tab).click();
  const panel = tab.frameLocator('turnwise-agent iframe');
  await panel.getByRole('textbox').fill('Anyone?');
  await panel.getByRole('textbox').press('Enter');
  await panel.getByText('Answered in 1 turn.').waitFor({ timeout: 60000 });
  await panel.getByRole('button', { name: 'Menu' }).click();
  await panel.getByRole('button', { name: 'Download the record' }).waitFor();
  assert.equal(await panel.getByRole('button', { name: 'Open in the app' }).count(), 0);
  const frame = cdnFrame(tab, places);
  const download = tab.waitForEvent('download');
  const said = await frame.evaluate(async (app) => {
    const { open } = await import('./hand-over.js');
    return new Promise((resolve) => { open(app, '{"run_id":"run"}', resolve); });
  }, SCRIPT);
  assert.equal(said, 'notHandedOver');
  await download;
  assert.equal(await marked(frame), null);
}));

test('a host that is not listed hears why: the button says that it failed, and the event what to list', () => withOrigins([], () => [], async (tab, { host }) => {
  await listen(tab);
  await launcher(tab).click();
  await launcher(tab, 'Could not be loaded. Try again.').waitFor();
  const [error] = (await events(tab)).filter(({ name }) => name === 'error');
  assert.match(error.message, new RegExp(`turnwise-hosts must list ${new URL(host).origin}$`));
  assert.equal(await tab.evaluate(() => document.querySelector('turnwise-agent').shadowRoot.querySelector('iframe')), null);
}, [/turnwise-hosts must list/]));

const policy = () => /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(readFileSync(path.join(dist, 'turnwise/frame.html'), 'utf8'))[1];

test('the frame\'s own policy has nothing that csp_evaluator finds high, and lets no inline script run', () => withHost({}, (cdn) => withPage(`${cdn.url}turnwise/frame.html`, { expect: [/Content Security Policy|TrustedScript/] }, async (tab) => {
  const require = createRequire(import.meta.url);
  const { CspEvaluator } = require('csp_evaluator');
  const { CspParser } = require('csp_evaluator/dist/parser.js');
  const { Severity } = require('csp_evaluator/dist/finding.js');
  const high = new CspEvaluator(new CspParser(policy()).csp).evaluate().filter(({ severity }) => severity <= Severity.SYNTAX);
  assert.deepEqual(high.map(({ directive, value, description }) => `${directive} ${value}: ${description}`), []);
  await tab.evaluate((script) => {
    const link = document.createElement('a');
    link.href = script;
    link.target = '_self';
    document.body.append(link);
    link.click();
    const element = document.createElement('img');
    element.setAttribute('src', 'data:,x');
    try {
      element.setAttribute('onerror', "localStorage.setItem('hostile','ran')");
      document.body.append(element);
    } catch {
      // Trusted Types reject the attribute.
    }
  }, SCRIPT);
  await tab.evaluate(() => new Promise((resolve) => { requestIdleCallback(resolve); }));
  assert.equal(await tab.evaluate(() => localStorage.getItem('hostile')), null);
})));
