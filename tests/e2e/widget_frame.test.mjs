// mode="iframe": the panel is a document of the package's origin. The host's policy allows neither its workers nor
// WebAssembly; the docs, which are the host's, come over a port.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dist } from './lib/site.mjs';
import { events, launcher, listen, page, withHost } from './lib/widget.mjs';

const script = (body) => ({ type: 'text/javascript', body });
/** A reader that fetches one page of the host's, and what it must not get: its own origin's, and anything but GET. */
const READER = `
  static async open(page, { html }) {
    const there = await fetch(new URL('/secret-of-the-manual.txt', page));
    const refused = await Promise.all([fetch(new URL('/private', import.meta.url)), fetch(import.meta.url, { method: 'POST' })].map((asked) => asked.then(() => 'read', () => 'refused')));
    const foreign = await fetch(new URL('/it.html', page), { method: 'POST' }).then(() => 'sent', () => 'blocked');
    const site = new DocsSite();
    site.info = { title: 'Manual ' + await there.text() + ' ' + (new URL(there.url).pathname) + ' ' + html.includes('A page of the host.') + ' ' + refused + ' ' + foreign, root: new URL('/', page).href, pages: 1 };
    site.tools = [];
    return site;
  }
  free() {}`;

test('in a frame of another origin it answers, reads the docs through the host, and tells the host what happens', () => withScript([
  { text: 'See [it](/it.html).', check: ({ messages }) => assert.match(messages[0].content, /"Manual 42 \/secret-of-the-manual\.txt true refused,refused blocked"/) },
], (baseUrl) => withHost({
  headers: { 'access-control-allow-origin': '*' },
  pages: {
    '/turnwise/real.js': script(readFileSync(path.join(dist, 'turnwise/turnwise.js'), 'utf8')),
    '/turnwise/turnwise.js': script(`export * from './real.js'; export { default } from './real.js'; export class DocsSite { ${READER} }`),
  },
}, (cdn) => {
  const origin = new URL(cdn.url).origin;
  const csp = `default-src 'none'; img-src data:; script-src ${origin}; connect-src 'self'; frame-src ${origin}; require-trusted-types-for 'script'; trusted-types 'none'`;
  return withHost({
    pages: { '/': page({ src: `${cdn.url}turnwise/embed.js`, attributes: `mode="iframe" provider="openai" base-url="${baseUrl}" model="scripted"` }), '/secret-of-the-manual.txt': { body: '42', type: 'text/plain' } },
    headers: { 'content-security-policy': csp },
  }, (host) => withPage(host.url, { reach: [cdn.url, baseUrl] }, async (tab) => {
    await listen(tab);
    await launcher(tab).click();
    const frame = tab.frameLocator('turnwise-agent iframe');
    await frame.getByRole('textbox').fill('Where?');
    await frame.getByRole('textbox').press('Enter');
    const run = frame.locator('article');
    await run.locator('.ending').waitFor({ timeout: 60000 });
    assert.equal(await run.locator('.sources a').getAttribute('href'), `${host.url}it.html`);
    assert.equal(await run.locator('.sources a').getAttribute('target'), null, 'it opens in the host\'s tab');
    assert.deepEqual((await events(tab)).map(({ name }) => name), ['open', 'run', 'final']);
    await frame.getByRole('textbox').press('Escape');
    await launcher(tab).waitFor();
    assert.equal(await tab.evaluate(() => document.querySelector('turnwise-agent').shadowRoot.querySelector('iframe').checkVisibility()), false);
    await tab.evaluate(() => document.querySelector('turnwise-agent').remove());
    await tab.waitForFunction(() => !document.querySelector('iframe'));
  }));
})));

test('the package\'s own reader reads the host\'s docs from the frame, though the host allows no other origin', () => withScript([
  { calls: [{ id: 'a', name: 'search_docs', args: { query: 'retry policy' } }] },
  { text: 'Three.', check: ({ messages }) => assert.match(messages.at(-1).content, /guide\/retries/) },
], (baseUrl) => withHost({ headers: { 'access-control-allow-origin': '*' } }, (cdn) => withHost({
  pages: {
    '/': page({ src: `${cdn.url}turnwise/embed.js`, attributes: `mode="iframe" provider="openai" base-url="${baseUrl}" model="scripted"` }),
    '/llms.txt': { type: 'text/plain', body: '# Halden\n\n> A client.\n\n## Guide\n\n- [Retries](/guide/retries.md): the retry policy\n' },
    '/sitemap.xml': { type: 'text/xml', body: '<urlset></urlset>' },
    '/guide/retries.md': { type: 'text/markdown', body: '# Retries\n\n## Policy\n\nThe retry policy: three times.\n' },
  },
}, (host) => withPage(host.url, { reach: [cdn.url, baseUrl] }, async (tab) => {
  const { outcome, output } = await tab.evaluate(() => document.querySelector('turnwise-agent').ask('How many retries?'));
  assert.deepEqual([outcome, output], ['success', 'Three.']);
})))));
