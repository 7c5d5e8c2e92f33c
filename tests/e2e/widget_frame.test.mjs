// mode="iframe": the panel is a document of the package's origin. The host's policy allows neither its workers nor
// WebAssembly; the docs, which belong to the host and are readable from no other origin, arrive over a port.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { events, frameFor, launcher, listen, page, withHost } from './lib/widget.mjs';

const MANUAL = {
  '/llms.txt': { type: 'text/plain', body: '# Halden\n\n> A client.\n\n## Guide\n\n- [Retries](/guide/retries.md): the retry policy\n' },
  '/sitemap.xml': { type: 'text/xml', body: '<urlset></urlset>' },
  '/guide/retries.md': { type: 'text/markdown', body: '# Retries\n\n## Policy\n\nThe retry policy: three times.\n' },
};
const CORS = { 'access-control-allow-origin': '*' };
const search = (query) => ({ calls: [{ id: 'a', name: 'search_docs', args: { query } }] });

test('in a frame of another origin it answers, reads the docs through the host, and tells the host what happens', () => withScript([
  { ...search('retry policy'), check: ({ messages }) => assert.match(messages[0].content, /the documentation "Halden" at http/) },
  { text: 'See [it](/it.html).', check: ({ messages }) => assert.match(messages.at(-1).content, /guide\/retries/) },
], (baseUrl) => withHost({ headers: CORS }, (cdn) => {
  const origin = new URL(cdn.url).origin;
  const csp = `default-src 'none'; img-src data:; script-src ${origin}; connect-src 'self'; frame-src ${origin}; require-trusted-types-for 'script'; trusted-types 'none'`;
  return withHost({
    pages: { '/': page({ src: `${cdn.url}turnwise/embed.js`, attributes: `mode="iframe" provider="openai" base-url="${baseUrl}" model="scripted"` }), ...MANUAL },
    headers: { 'content-security-policy': csp },
  }, (host) => {
    cdn.pages['/turnwise/frame.html'] = frameFor(host.url);
    return withPage(host.url, { reach: [cdn.url, baseUrl] }, async (tab) => {
      await listen(tab);
      await launcher(tab).click();
      const frame = tab.frameLocator('turnwise-agent iframe');
      await frame.getByRole('textbox').fill('Where?');
      await frame.getByRole('textbox').press('Enter');
      const run = frame.locator('article');
      await run.locator('.ending').waitFor({ timeout: 60000 });
      const link = run.locator('[part=answer]:not(:empty) a');
      assert.equal(await link.getAttribute('href'), `${host.url}it.html`);
      assert.equal(await link.getAttribute('target'), null, 'it opens in the host\'s tab');
      // The frame is another document: its events arrive a moment later.
      await tab.waitForFunction(() => window.heard.some(({ name }) => name === 'final'));
      assert.deepEqual((await events(tab)).map(({ name }) => name), ['open', 'run', 'final']);
      assert.deepEqual(cdn.asked.filter((asked) => !asked.startsWith('/turnwise/')), []);
      await frame.getByRole('textbox').press('Escape');
      await launcher(tab).waitFor();
      assert.equal(await tab.evaluate(() => document.querySelector('turnwise-agent').shadowRoot.querySelector('iframe').checkVisibility()), false);
      await tab.evaluate(() => document.querySelector('turnwise-agent').remove());
      await tab.waitForFunction(() => !document.querySelector('iframe'));
    });
  });
})));

test('a host cannot have the frame ask its own origin for anything but the package: no docs from there, no model', () => withHost({ headers: CORS }, (cdn) => withHost({
  pages: {
    '/': page({ src: `${cdn.url}turnwise/embed.js`, attributes: `mode="iframe" provider="openai" base-url="${cdn.url}turnwise/v1" model="scripted" docs="${cdn.url}private/llms.txt"` }),
  },
}, (host) => {
  cdn.pages['/turnwise/frame.html'] = frameFor(host.url);
  cdn.pages['/private/llms.txt'] = MANUAL['/llms.txt'];
  return withPage(host.url, { reach: [cdn.url], expect: [/a frame may only load the package/, /turnwise-agent: docs: .* is not on the page's own site/] }, async (tab) => {
    await listen(tab);
    const { outcome } = await tab.evaluate(() => document.querySelector('turnwise-agent').ask('Anyone?'));
    assert.equal(outcome, 'failed');
    const frame = tab.frameLocator('turnwise-agent iframe');
    await frame.getByText('The docs of this site could not be read').waitFor();
    await frame.getByText('The assistant’s server does not answer.').waitFor();
    assert.match((await events(tab)).at(-1).message, /a frame may only load the package from its own origin/);
    assert.deepEqual(cdn.asked.filter((asked) => !asked.startsWith('/turnwise/') || asked.startsWith('/turnwise/v1')), []);
  });
})));
