// Links in the answers of <turnwise-agent>: a link to another host names it, whatever its text says; Sources are the pages
// that the run found or read; a link to any other page looks different.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { audit } from './lib/axe.mjs';
import { answered, ask, launcher, page, withWidget } from './lib/widget.mjs';

const call = (id, name, args) => ({ id, name, args });
const READ = [
  { calls: [call('a', 'search_docs', { query: 'retry policy' }), call('b', 'list_pages', {})] },
  { calls: [call('c', 'read_page', { url: '/guide/queues.md' }), call('d', 'read_page', { url: 'https://evil.example/guide/retries.md' }), call('e', 'read_page', { url: '/guide/none.md' })] },
];
const ANSWER = `A request is tried three times, as [the retry policy](/guide/retries.md#policy) says, and [queues](/guide/queues.md) have a name.

- [Limits](/guide/limits.md) are [nowhere](/guide/none.md), [the policy again](https://evil.example/guide/retries.md#policy) is elsewhere.
- [https://halden.example/login](https://evil.example/login), [evil.example/ok](https://evil.example/ok), https://halden.example@evil.example/x
- [Write to us](mailto:help@halden.example) or see https://evil.example/plain
- [halden.example](https://halden.example.evil.example/), [halden.example](https://h\u0430lden.example/), [\u202eelpmaxe.nedlah](https://evil.example/), [not halden.example but evil.example](https://evil.example/)`;

const pages = (attributes = '') => (baseUrl) => ({
  '/': page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted" ${attributes}` }),
  '/llms.txt': { type: 'text/plain', body: '# Halden\n\n> A client for queues.\n\n## Guide\n\n- [Retries](/guide/retries.md): the retry policy\n- [Queues](/guide/queues.md): names of queues\n- [Limits](/guide/limits.md): upper bounds\n' },
  '/guide/retries.md': { type: 'text/markdown', body: '# Retries\n\nWhat happens after a failure.\n\n## Policy\n\nA request is tried three times. The retry policy is set in client.toml.\n' },
  '/guide/queues.md': { type: 'text/markdown', body: '# Queues\n\nA queue has a name. 1. https://evil.example/one\n' },
  '/guide/limits.md': { type: 'text/markdown', body: '# Limits\n\nUpper bounds.\n' },
});

const shown = (run) => run.locator('[part=answer]:not(:empty) a').evaluateAll((all) => all.map((link) => [link.textContent, link.classList.contains('other') ? link.getRootNode().getElementById(link.getAttribute('aria-describedby')).textContent : '']));
const sources = (run) => run.locator('.sources a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
const OTHER = 'not read for this answer';
const LINKS = [
  ['the retry policy', ''], ['queues', ''],
  ['Limits', OTHER], ['nowhere', OTHER], ['the policy again evil.example', OTHER],
  ['https://halden.example/login evil.example', OTHER], ['evil.example/ok', OTHER], ['https://halden.example@evil.example/x evil.example', OTHER],
  ['Write to us help@halden.example', OTHER], ['https://evil.example/plain', OTHER],
  ['halden.example halden.example.evil.example', OTHER], ['halden.example xn--hlden-4ve.example', OTHER], ['\u202eelpmaxe.nedlah evil.example', OTHER], ['not halden.example but evil.example evil.example', OTHER],
];

for (const [name, html, viewport] of [['light', 'lang="en" data-theme="light"', { width: 1280, height: 900 }], ['dark', 'lang="en" data-theme="dark" style="color-scheme: dark"', { width: 1280, height: 900 }], ['phone', 'lang="en" data-theme="light"', { width: 390, height: 844 }]]) {
  test(`${name}: Sources are what was found or read, other links look different, foreign hosts are shown; so too on the next page`, () => withWidget({
    steps: [...READ, { text: ANSWER }],
    pages: (baseUrl) => ({ ...pages()(baseUrl), '/': page({ html, attributes: `provider="openai" base-url="${baseUrl}" model="scripted" mode="${name === 'phone' ? 'floating' : 'modal'}"` }) }),
    options: { context: { viewport } },
  }, async (tab, { url }) => {
    const holds = async (run) => {
      assert.deepEqual(await shown(run), LINKS);
      assert.deepEqual(await sources(run), [`${url}guide/retries.md#policy`, `${url}guide/queues.md`]);
    };
    await launcher(tab).click();
    await ask(tab, 'How many retries?');
    const run = await answered(tab);
    await holds(run);
    assert.deepEqual(await run.locator('summary .args').allTextContents(), ['“retry policy”', '', '/guide/queues.md', 'evil.example/guide/retries.md', '/guide/none.md']);
    assert.deepEqual(await audit(tab), []);
    await tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-sources-${name}.png`) });
    await tab.reload();
    if (name === 'phone') await launcher(tab).click();
    await holds(await answered(tab));
  }));
}

test('an answer that links to nothing that was seen has the pages that were read as sources; without docs there are none', () => withWidget({
  steps: [...READ, { text: 'See [this](/guide/limits.md) and [that](https://evil.example/).' }, { text: 'See [this](/guide/limits.md).' }],
  pages: (baseUrl) => ({ ...pages()(baseUrl), '/off.html': page({ attributes: `id="off" provider="openai" base-url="${baseUrl}" model="scripted" docs="off"` }) }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'How many retries?');
  assert.deepEqual(await sources(await answered(tab)), [`${url}guide/queues.md`]);
  await tab.goto(`${url}off.html`);
  await launcher(tab).click();
  await ask(tab, 'Where?');
  const run = await answered(tab);
  assert.deepEqual([await shown(run), await run.locator('.sources *').count()], [[['this', OTHER]], 0]);
}));
