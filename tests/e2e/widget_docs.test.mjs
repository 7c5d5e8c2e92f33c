// <turnwise-agent> and the docs of its site, with a stand-in for the reader: what the panel shows while the docs are read,
// what the model receives, what becomes of links, and the message where there is nothing to read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';
import { answered, ask, events, launcher, listen, page, withWidget } from './lib/widget.mjs';

const call = (id, name, args) => ({ id, name, args });
const script = (body) => ({ type: 'text/javascript', body });

/** The package with another `DocsSite`, which continues when the page says so. */
const withReader = (reader) => ({
  '/turnwise/real.js': script(readFileSync(path.join(dist, 'turnwise/turnwise.js'), 'utf8')),
  '/turnwise/turnwise.js': script(`export * from './real.js'; export { default } from './real.js';
    const go = () => new Promise((resolve) => { new BroadcastChannel('go').onmessage = resolve; });
    export class DocsSite { ${reader} }`),
});
const READER = `
  static async open(page, { html, source, onProgress }) {
    if (html !== undefined || source !== 'auto') throw new Error('not what was agreed');
    onProgress({ stage: 'finding', source: '', done: 0, total: 0 });
    onProgress({ stage: 'loading', source: 'searchindex.js', done: 34, total: 120 });
    await go();
    onProgress({ stage: 'ready', source: 'searchindex.js', done: 120, total: 120 });
    const site = new DocsSite();
    site.info = { kind: 'mdbook', title: 'Halden manual', root: new URL('/book/', page).href, pages: 120, sections: 400, version: '1', cached: false, complete: true };
    const text = { type: 'string' };
    const content = (text, structuredContent) => ({ text, [Symbol.for('turnwise.toolContent')]: { structuredContent } });
    const policy = { url: site.info.root + 'retries.html#policy', page: 'Retries', section: 'Policy' };
    site.tools = [
      { name: 'search_docs', description: 'Searches.', sideEffect: 'none', parameters: { type: 'object', properties: { query: text }, required: ['query'] }, execute: async ({ query }) => content('Found for ' + query + ': ' + policy.url, { hits: [policy], match: 'strong', missing: [] }) },
      { name: 'read_page', description: 'Reads.', sideEffect: 'none', parameters: { type: 'object', properties: { url: text }, required: ['url'] }, execute: async ({ url }) => content(url + '\\n# Retries\\n\\n## Policy\\n\\nA request is tried three times: the number of retries is set in client.toml.\\n', { url: site.info.root + 'retries.html', page: 'Retries', sections: [policy] }) },
    ];
    return site;
  }
  async search() { return { hits: [{ url: this.info.root + 'retries.html#policy', page: 'Retries', section: 'Policy', snippet: 'Three', score: 1 }], missing: [], match: 'strong' }; }
  free() {}`;

test('the docs are read when it opens, with a line that says how far; the answer links the exact section', () => withWidget({
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retries' })], check: ({ messages, tools }) => {
      assert.match(messages[0].content, /the documentation "Halden manual" at http.*\/book\/ \(120 pages\)/);
      assert.match(messages[0].content, /Where the documentation does not answer the question after another wording, say in the first sentence that the docs do not say/);
      assert.deepEqual(tools.map(({ function: { name } }) => name).sort(), ['read_page', 'read_result', 'search_docs']);
    } },
    { calls: [call('b', 'read_page', { url: '/book/retries.html#policy' })], check: ({ messages }) => assert.match(messages.at(-1).content, /Found for retries/) },
    { text: 'Three: see [Retry policy](retries.html#policy).' },
  ],
  pages: (baseUrl) => ({ '/': page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted"` }), ...withReader(READER) }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await tab.getByText('Reading the docs: 34 of 120 pages').waitFor({ timeout: 60000 });
  assert.equal(await tab.getByRole('progressbar').getAttribute('value'), '34');
  // A question asked before the docs are loaded waits for them, unless the visitor stops it.
  await ask(tab, 'Never mind?');
  await tab.getByRole('button', { name: 'Stop' }).click();
  assert.equal(await (await answered(tab)).locator('.ending').textContent(), 'Stopped.');
  await tab.getByRole('button', { name: 'New conversation' }).click();
  await ask(tab, 'How many retries?');
  await tab.evaluate(() => new BroadcastChannel('go').postMessage(1));
  const run = await answered(tab);
  assert.deepEqual(await run.locator('summary').allTextContents(), ['Searched“retries”', 'Read/book/retries.html#policy']);
  assert.equal(await run.locator('[part=answer]:not(:empty) a').getAttribute('href'), `${url}book/retries.html#policy`);
  assert.deepEqual(await run.locator('.sources a').evaluateAll((links) => links.map(({ href, target, firstChild }) => [href, target, firstChild.textContent])), [[`${url}book/retries.html#policy`, '', 'Retries › Policy']], 'not what the model calls it');
  assert.equal(await tab.getByRole('progressbar').count(), 0);
}));

test('a tool with a side effect never runs: the panel offers none and gives no standing permission', () => withWidget({
  steps: [
    { calls: ['network', 'page', 'workspace', 'none'].map((kind) => call(kind, `with_${kind}`, {})) },
    { text: 'Done.', check: ({ messages }) => assert.deepEqual(messages.filter(({ role }) => role === 'tool').map(({ content }) => /ran/.test(content)), [false, false, false, true]) },
    { calls: [call('again', 'with_network', {})] }, { calls: [call('more', 'with_page', {})] },
    { text: 'So far.' },
    { calls: [call('granted', 'with_network', {})] }, { text: 'Done again.' },
  ],
  pages: (baseUrl) => ({ '/': page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted" max-turns="2"` }), ...withReader(`
    static async open(page) {
      const site = new DocsSite();
      site.info = { title: 'Halden manual', root: page, pages: 1 };
      site.tools = ['network', 'page', 'workspace', 'none'].map((sideEffect) => ({ name: 'with_' + sideEffect, description: 'Does.', sideEffect, parameters: { type: 'object', properties: {} }, execute: async () => { if (sideEffect !== 'none') await fetch('/effect'); return 'ran'; } }));
      return site;
    }
    free() {}`) }),
}, async (tab, { asked }) => {
  await launcher(tab).click();
  await ask(tab, 'Do it.');
  const failed = (run) => run.locator('summary em').count();
  assert.equal(await failed(await answered(tab)), 3);
  await ask(tab, 'Do it again.');
  const second = await answered(tab, 2);
  assert.equal(await failed(second), 2);
  await second.getByRole('button', { name: 'Continue' }).click();
  await second.getByText('Done again.').waitFor();
  assert.equal(await failed(second), 3);
  assert.ok(!asked.includes('/effect'), `${asked}`);
}));

test('where nothing can be read, the panel says so, the event why, and the model is told to say so', () => withWidget({
  steps: [{ text: 'The pages could not be read.', check: ({ messages }) => assert.match(messages[0].content, /could not be read: this site has no index/) }],
  pages: (baseUrl) => ({ '/': page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted"` }), ...withReader("static async open() { throw new Error('this site has no index'); }") }),
  options: { expect: [/turnwise-agent: docs: this site has no index/] },
}, async (tab) => {
  await listen(tab);
  await launcher(tab).click();
  await tab.getByText('The docs of this site could not be read.').waitFor({ timeout: 60000 });
  assert.equal((await events(tab)).find(({ name }) => name === 'error').message, 'docs: this site has no index');
  await ask(tab, 'How many retries?');
  await answered(tab);
}));

// A site of a signed-in visitor, rendered by scripts: what the server sends has no text.
const APP = (attributes) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,"><div id="app"></div><script type="module">
document.getElementById('app').innerHTML = '<main><h1>Account</h1><p>' + 'The settings of the account are explained here, for everybody who has one. '.repeat(4) + '</p><p>Your plan is zebra.</p><p data-turnwise-private>Signed in as anna.</p></main>';
const tag = document.createElement('div');
tag.innerHTML = '<turnwise-agent ${attributes}></turnwise-agent>';
document.title = 'anna';
await import('/turnwise/embed.js');
document.body.append(...tag.childNodes);
</script>`;
const live = (attributes, steps, body, expect = []) => withWidget({ steps, options: { expect }, pages: (baseUrl) => ({ '/': APP(`provider="openai" base-url="${baseUrl}" model="scripted" ${attributes}`) }) }, body);
const kept = (tab) => tab.evaluate(async () => {
  const found = [JSON.stringify(sessionStorage), JSON.stringify(localStorage)];
  for (const { name } of await indexedDB.databases()) {
    const opened = indexedDB.open(name);
    const database = await new Promise((resolve) => { opened.onsuccess = () => resolve(opened.result); });
    for (const store of database.objectStoreNames) {
      const asked = database.transaction(store).objectStore(store).getAll();
      found.push(JSON.stringify(await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); })));
    }
    database.close();
  }
  return found.join('\n');
});

test('on a site rendered by scripts, the page that the browser shows is not read: the panel and the model are told', () => live('', [
  { text: 'The pages could not be read.', check: (request) => {
    assert.match(request.messages[0].content, /could not be read: The documentation could not be read: its pages have no text until a browser runs their scripts/);
    assert.doesNotMatch(JSON.stringify(request), /zebra|anna/);
  } },
], async (tab) => {
  await launcher(tab).click();
  await tab.getByText('The docs of this site could not be read.').waitFor({ timeout: 60000 });
  await ask(tab, 'Which plan?');
  await answered(tab);
}, [/turnwise-agent: docs: .*its pages have no text until a browser runs their scripts/]));

test('where the site allows it, the page that the browser shows is read, without what is private, and nothing of it is kept', () => live('docs-live-page="include"', [
  { calls: [call('a', 'search_docs', { query: 'plan' }), call('b', 'read_page', { url: '/' })] },
  { text: 'Your plan is zebra.', check: (request) => {
    assert.equal(request.messages.filter(({ role, content }) => role === 'tool' && content.includes('zebra')).length, 2);
    assert.doesNotMatch(JSON.stringify(request), /Signed in/);
  } },
], async (tab) => {
  await launcher(tab).click();
  await tab.getByText('Only this page could be read').waitFor({ timeout: 60000 });
  await ask(tab, 'Which plan?');
  await (await answered(tab)).locator('[part=answer]').getByText('zebra').waitFor();
  await tab.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide')));
  assert.doesNotMatch(await kept(tab), /zebra/);
  await tab.reload();
  // The panel is open again, and empty: only its place in the page is kept.
  await tab.getByText('Only this page could be read').waitFor({ timeout: 60000 });
  assert.equal(await tab.locator('turnwise-agent article').count(), 0);
}));

test('on a page that is missing, the site is found above it', () => withWidget({
  pages: () => ({
    '/': page({ attributes: 'provider="demo"' }), '/guide/gone/': { status: 404, body: page({ attributes: 'provider="demo"' }) },
    '/llms.txt': { type: 'text/plain', body: '# Halden\n\n- [Retries](/retries.md): the retry policy\n' }, '/retries.md': { type: 'text/markdown', body: '# Retries\n\nThree.\n' },
  }), options: { expect: [/404/] },
}, async (tab, { url, until }) => {
  await tab.goto(`${url}guide/gone/`);
  await launcher(tab).click();
  await until('/retries.md');
}));

test('the demo model searches the pages of the site as files, and what it names is linked', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'provider="demo"' }), ...withReader(READER.replace('await go();', '')) }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await tab.getByText('Demo: scripted, not an AI').waitFor();
  await ask(tab, 'How is the number of retries set?');
  const run = await answered(tab);
  assert.match(await run.locator('[part=answer]:not(:empty)').textContent(), /set in client\.toml/);
  assert.deepEqual(await run.locator('.sources a').evaluateAll((links) => links.map(({ href }) => href)), [`${url}book/retries.html`]);
}));

test('with the package\'s own reader: an llms.txt and the pages it names are searched, read and linked; only code loads more', () => withWidget({
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retry policy' })] },
    { calls: [call('b', 'read_page', { url: '/guide/retries.md' })], check: ({ messages }) => assert.match(messages.at(-1).content, /http.*\/guide\/retries/) },
    { text: 'Three: see [Policy](/guide/retries.md#policy).', check: ({ messages }) => assert.match(messages.at(-1).content, /A request is tried three times/) },
    { text: 'Like this:\n\n```js\nconst retries = 3;\n```', check: ({ messages }) => assert.equal(messages.at(-1).content, 'Show me.') },
  ],
  pages: (baseUrl) => ({
    '/': page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted"` }),
    '/llms.txt': { type: 'text/plain', body: '# Halden\n\n> A client for queues.\n\n## Guide\n\n- [Retries](/guide/retries.md): the retry policy\n- [Queues](/guide/queues.md): names and limits\n' },
    '/guide/retries.md': { type: 'text/markdown', body: '# Retries\n\nWhat happens after a failure.\n\n## Policy\n\nA request is tried three times. The retry policy is set in client.toml.\n' },
    '/guide/queues.md': { type: 'text/markdown', body: '# Queues\n\nA queue has a name.\n' },
  }),
}, async (tab, { url, asked }) => {
  await launcher(tab).click();
  await ask(tab, 'How many retries?');
  const run = await answered(tab);
  assert.equal(await run.locator('summary em').count(), 0, await run.innerText());
  assert.deepEqual(await run.locator('.sources a').evaluateAll((links) => links.map(({ href }) => href)), [`${url}guide/retries.md#policy`]);
  assert.ok(asked.includes('/turnwise/docs-worker_bg.wasm'));
  assert.ok(!asked.includes('/turnwise/worker.js'), 'reading docs takes the small worker only');
  await ask(tab, 'Show me.');
  const code = (await answered(tab, 2)).locator('pre code');
  await code.locator('.c-keyword').waitFor();
  assert.equal(await code.innerText(), 'const retries = 3;\n');
  assert.ok(asked.includes('/turnwise/worker_bg.wasm'), 'what colours code is loaded for it');
  assert.ok(!asked.some((one) => /worker-(records|exports|docs|demo)\.wasm$/.test(one)), `${asked}`);
  // Code that is kept across a page change keeps its colours.
  await tab.reload();
  await tab.locator('turnwise-agent article').nth(1).locator('.c-keyword').waitFor();
}));

test('after a router went on, the site is where the page that is there says', async () => {
  const manual = (base, text) => page({ head: `<script id="__config" type="application/json">{"base": "${base}", "features": []}</script>`, body: text, attributes: 'provider="demo"' });
  await withWidget({
    pages: () => ({
      '/book/': manual('.', 'Home.'), '/book/guide/deep/': manual('../..', 'Deep.'),
      '/book/search/search_index.json': { type: 'application/json', body: JSON.stringify({ docs: [{ location: '', title: 'Home', text: 'Home.' }, { location: 'guide/deep/', title: 'Deep', text: 'Deep.' }] }) },
      '/': manual('book', 'Start.'),
    }),
  }, async (tab, { url, asked, until }) => {
    await tab.goto(`${url}book/`);
    await tab.evaluate(() => history.pushState({}, '', '/book/guide/deep/'));
    await launcher(tab).click();
    await until('/book/search/search_index.json');
    assert.deepEqual(asked.filter((path) => /search_index|llms|sitemap/.test(path)), ['/book/search/search_index.json']);
  });
});
