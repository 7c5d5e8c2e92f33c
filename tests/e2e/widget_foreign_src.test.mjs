// `src` of <turnwise-agent> names the folder that code is imported from. As an attribute it can pass through a sanitizer, so
// it must not name another site; a script may set it to one.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { answered, ask, events, launcher, listen, page, scripted, withHost } from './lib/widget.mjs';

const CORS = { 'access-control-allow-origin': '*' };
const SANITIZED = (url, more = '') => `<div id="comment"><turnwise-agent docs="off" src="${url}turnwise/" ${more}></turnwise-agent></div>`;

/** Runs `body` with a site that has the package, and another site whose copy of it would reveal that it ran. */
const withForeign = (make, body, options = {}) => withHost({ headers: CORS }, (foreign) => withHost({ pages: make(foreign.url) }, (host) =>
  withPage(host.url, { ...options, reach: [foreign.url, ...(options.reach ?? [])] }, (tab) => body(tab, { foreign, host }))));

// From the start of the page: an inline tag reports errors as soon as it is visible.
const REFUSED = /turnwise-agent: the attribute src names another site/;
const HEARS = "<script>window.heard = []; document.addEventListener('turnwise-error', ({ detail }) => window.heard.push({ name: 'error', ...detail }));</script>";

for (const [mode, attributes] of [['floating', ''], ['inline', 'mode="inline"'], ['modal', 'mode="modal"']]) {
  test(`${mode}: a tag whose attribute names another site imports nothing from there, and the panel says so`, () => withForeign((url) => ({ '/': page({ head: HEARS, tag: SANITIZED(url, attributes) }) }), async (tab, { foreign }) => {
    if (mode !== 'inline') await launcher(tab).click();
    const problem = tab.locator('turnwise-agent [part=problem]');
    await problem.waitFor();
    assert.match(await problem.locator('p').textContent(), /only the owner of this site can repair it\.$/);
    const [error] = (await events(tab)).filter(({ name }) => name === 'error');
    assert.equal(error.message, `the attribute src names another site, ${new URL(foreign.url).origin}; only a script may set that`);
    await problem.getByRole('button', { name: 'Try again' }).click();
    await problem.waitFor();
    assert.deepEqual(foreign.asked, []);
    await tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-foreign-${mode}.png`) });
  }, { expect: [REFUSED], context: { viewport: { width: 1280, height: 800 } } }));
}

test('in a frame of its own: nothing is imported, the button says that it failed, and the event why', () => withForeign((url) => ({ '/': page({ tag: SANITIZED(url, 'mode="iframe"') }) }), async (tab, { foreign }) => {
  await listen(tab);
  await launcher(tab).click();
  await launcher(tab, 'Could not be loaded. Try again.').waitFor();
  assert.match((await events(tab)).find(({ name }) => name === 'error').message, /the attribute src names another site/);
  assert.deepEqual(foreign.asked, []);
}));

test('an attribute that was changed later, or copied with its element, names no other site either', () => withForeign(() => ({ '/': page({ attributes: 'docs="off"' }) }), async (tab, { foreign }) => {
  await tab.evaluate((url) => document.querySelector('turnwise-agent').setAttribute('src', url), `${foreign.url}turnwise/`);
  await launcher(tab).click();
  await tab.locator('turnwise-agent [part=problem]').waitFor();
  await tab.evaluate((url) => {
    const element = document.querySelector('turnwise-agent');
    element.src = url;
    const copy = element.cloneNode(true);
    copy.setAttribute('label', 'Copy');
    element.replaceWith(copy);
  }, `${foreign.url}turnwise/`);
  await tab.locator('turnwise-agent[label=Copy] [part=problem]').waitFor();
  assert.deepEqual(foreign.asked, []);
}, { expect: [REFUSED] }));

test('a script of the page may name another site; an attribute the page\'s own, or the one that the launcher is from', () => withScript([{ text: 'From there.' }, { text: 'From there.' }, { text: 'From here.' }], (baseUrl) => withForeign((url) => ({
  '/': page({ attributes: scripted(baseUrl) }),
  '/cdn.html': page({ attributes: `id="cdn" ${scripted(baseUrl)} src="${url}turnwise/"`, src: `${url}turnwise/embed.js` }),
  '/own.html': page({ attributes: `id="own" ${scripted(baseUrl)} src="/turnwise/"`, src: `${url}turnwise/embed.js` }),
}), async (tab, { foreign, host }) => {
  await tab.evaluate((url) => { document.querySelector('turnwise-agent').src = url; }, `${foreign.url}turnwise/`);
  const asks = async (from, asked) => {
    await launcher(tab).click();
    await ask(tab, 'Where from?');
    await (await answered(tab)).getByText(from).waitFor();
    assert.ok(asked.includes('/turnwise/widget.js'), `${asked}`);
  };
  await asks('From there.', foreign.asked);
  foreign.asked.length = 0;
  await tab.goto(`${host.url}cdn.html`);
  await asks('From there.', foreign.asked);
  host.asked.length = 0;
  await tab.goto(`${host.url}own.html`);
  await asks('From here.', host.asked);
}, { reach: [baseUrl] })));
