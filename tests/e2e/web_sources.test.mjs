// Sources of an answer: what came from the web is cited like a page of the docs, and checked like one.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { found, source } from '../../www/widget/citations.js';
import { withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';
import { withPages } from './lib/web-pages.mjs';

const call = (name, args, data) => ({ name, args, ...(data && { structured_content: data }) });
const trajectory = (output, calls, children = []) => ({ output, turns: [{ tool_calls: calls }], children });
const hit = (url, page) => ({ url, page, section: '' });
const SEARCH = call('search_web', { query: 'a' }, { hits: [hit('https://a.example/one?q=1', 'One'), hit('https://b.example/two', 'Two')] });
const PAGE = call('fetch_url', { url: 'http://a.example/one?q=1' }, { url: 'https://a.example/one?q=1', page: 'One', sections: [] });
const FAILED = call('fetch_url', { url: 'https://c.example/' });

test('pages that were found, read and cited, and addresses that nothing supports', async () => {
  const { sources } = await import(path.join(dist, 'turnwise/index.node.js'));
  const answer = 'See [one](https://a.example/one?q=1#part), https://b.example/two/. and (https://d.example/x_(y)), **https://c.example/**, [f](https://forged.example/).';
  const { pages, unsupported } = sources(trajectory(answer, [SEARCH, PAGE, FAILED]));
  assert.deepEqual(pages, [{ url: 'https://a.example/one?q=1', title: 'One', read: true, cited: true }, { url: 'https://b.example/two', title: 'Two', read: false, cited: true }]);
  assert.deepEqual(unsupported, ['https://d.example/x_(y)', 'https://c.example/', 'https://forged.example/']);
  // In a batch, and of a sub-agent; cited by the address that led to the page.
  const nested = sources(trajectory('http://a.example/one?q=1', [{ name: 'batch', calls: [PAGE] }], [trajectory('', [SEARCH])]));
  assert.deepEqual(nested.pages.map(({ url, read, cited }) => [url, read, cited]), [['https://a.example/one?q=1', true, true], ['https://b.example/two', false, false]]);
  assert.deepEqual(sources(trajectory(null, [])), { pages: [], unsupported: [] });
});

test('the tag checks links to pages of the web as those to pages of the docs', () => {
  const base = 'https://docs.example/';
  const all = [SEARCH, PAGE, FAILED].flatMap((one) => found(one, base));
  const held = (href) => source(all, href) !== undefined;
  assert.deepEqual(['https://a.example/one?q=1', 'http://a.example/one?q=1', 'https://b.example/two', 'https://c.example/', 'https://forged.example/', 'https://forged.example/y'].map(held), [true, true, true, false, false, false]);
});

test('a run that searched and read cites its sources, and replays with the network off', () => withPages({}, async (origin) => {
  const { Agent, openai, replay, sources, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
  await init();
  let record;
  await withScript([{ calls: [{ id: 'f', name: 'fetch_url', args: { url: `${origin}/moved` } }] }, { text: `The garden is [there](${origin}/page).` }], async (baseUrl) => {
    const agent = new Agent({ model: openai('scripted', { baseUrl, apiKey: 'a-key' }), builtInTools: ['fetch_url'], permissions: { hosts: { [origin]: 'allow' } } });
    record = (await agent.generate('go')).trajectory;
  });
  const { pages, unsupported } = sources(record);
  assert.deepEqual([pages, unsupported], [[{ url: `${origin}/page`, title: 'Garden', read: true, cited: true }], []]);
  // What was read is in the record, so nothing is asked again.
  const { fetch } = globalThis;
  globalThis.fetch = () => assert.fail('a replay asks nothing');
  try {
    assert.deepEqual(await replay(JSON.parse(JSON.stringify(record))), { ok: true });
  } finally {
    globalThis.fetch = fetch;
  }
  assert.ok(JSON.stringify(record.events).includes('# Garden'));
}));
