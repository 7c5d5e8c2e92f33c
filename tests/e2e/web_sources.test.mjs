// Sources of an answer: what came from the web is cited like a page of the docs, and checked like one.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
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
const PAGE = call('fetch_url', { url: 'http://a.example/one?q=1' }, { url: 'https://a.example/one?q=1', page: 'One', sections: [], sha256: '0a' });
const FAILED = call('fetch_url', { url: 'https://c.example/' });

test('pages that were found, read and cited, and addresses that nothing supports', async () => {
  const { sources } = await import(path.join(dist, 'turnwise/index.node.js'));
  const answer = 'See [one](https://a.example/one?q=1#part), https://b.example/two/. and (https://d.example/x_(y)), **https://c.example/**, [f](https://forged.example/).';
  const { pages, unsupported } = sources(trajectory(answer, [SEARCH, PAGE, FAILED]));
  assert.deepEqual(pages, [{ url: 'https://a.example/one?q=1', title: 'One', read: true, cited: true, sha256: ['0a'] }, { url: 'https://b.example/two', title: 'Two', read: false, cited: true, sha256: [] }]);
  assert.deepEqual(unsupported, ['https://d.example/x_(y)', 'https://c.example/', 'https://forged.example/']);
  // In a batch, and of a sub-agent; cited by the address that led to the page.
  const nested = sources(trajectory('http://a.example/one?q=1', [{ name: 'batch', calls: [PAGE] }], [trajectory('', [SEARCH])]));
  assert.deepEqual(nested.pages.map(({ url, read, cited }) => [url, read, cited]), [['https://a.example/one?q=1', true, true], ['https://b.example/two', false, false]]);
  assert.deepEqual(sources(trajectory(null, [])), { pages: [], unsupported: [] });
});

/** What `fetch_url` returns of a text of these parts. */
const parts = (url, sha256, ...texts) => texts.map((text, at) => {
  const from = texts.slice(0, at).join('').length;
  return { id: `${sha256}${at}`, ...call('fetch_url', { url, offset: from }, { url, page: 'P', sections: [], sha256, from, to: from + text.length, length: texts.join('').length }), result: `${url}\n[Title: P. Text of others.]\n\n${text}\n\n[The text goes on.]\n[Turn 1 of 5]` };
});

test('a page that changed during a run has two texts, and a quote is found in the one that has it', async () => {
  const { findQuote, sources } = await import(path.join(dist, 'turnwise/index.node.js'));
  const page = 'https://a.example/one';
  const record = trajectory('', [...parts(page, 'aa', '# Garden\n\nIt was *laid* out\nin ', '[1509](https://b.example/), by \u201ca gardener\u201d.'), ...parts(page, 'bb', 'It was laid out in 1510.'), { ...PAGE, id: 'x', result: null }]);
  assert.deepEqual(sources(record).pages.map(({ url, sha256 }) => [url, sha256]), [[page, ['aa', 'bb']], ['https://a.example/one?q=1', ['0a']]]);
  assert.deepEqual(findQuote(record, 'It was laid out in 1509, by "a gardener"'), [{ url: page, sha256: 'aa', callId: 'aa1' }], 'over the end of a part');
  assert.deepEqual(findQuote(record, 'laid out in'), ['aa0', 'aa1', 'bb0'].map((callId) => ({ url: page, sha256: callId.slice(0, 2), callId })));
  // What the tool and the engine write is no page, and parts of different texts are not one.
  for (const other of ['Text of others', 'Turn 1 of 5', 'The text goes on', 'by "a gardener". It was', 'Laid out in 1511']) assert.deepEqual(findQuote(record, other), [], other);
  for (const none of ['', ' * ', undefined]) assert.throws(() => findQuote(record, none), /quote: expected a text with words/);
});

test('the tag checks links to pages of the web as those to pages of the docs', () => {
  const base = 'https://docs.example/';
  const all = [SEARCH, PAGE, FAILED].flatMap((one) => found(one, base));
  const held = (href) => source(all, href) !== undefined;
  assert.deepEqual(['https://a.example/one?q=1', 'http://a.example/one?q=1', 'https://b.example/two', 'https://c.example/', 'https://forged.example/', 'https://forged.example/y'].map(held), [true, true, true, false, false, false]);
});

test('the content hash is of the whole text, whichever part was read, and tells a changed page', () => withPages({}, async (origin) => {
  const { Agent, findQuote, openai, sources, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
  await init();
  const read = (id, page, args) => ({ id, name: 'fetch_url', args: { url: `${origin}${page}`, ...args } });
  const [huge, pdf, text] = ['/huge', '/report.pdf', '/notes.txt'].map((one) => `${origin}${one}`);
  const { trajectory } = await withScript([{ calls: [read('a', '/huge'), read('b', '/huge', { offset: 15_500 }), read('c', '/report.pdf'), read('d', '/notes.txt'), read('e', '/picture')] }, { text: 'Done.' }], (baseUrl) =>
    new Agent({ model: openai('scripted', { baseUrl, apiKey: 'a-key' }), builtInTools: ['fetch_url'], permissions: { hosts: { [origin]: 'allow' } } }).generate('go'));
  const [a, b, c, d, e] = trajectory.turns[0].tool_calls;
  assert.deepEqual([a, b].map(({ structured_content: { from, to } }) => [from, to]), [[0, 16_000], [15_500, 31_500]]);
  assert.equal(a.structured_content.sha256, b.structured_content.sha256);
  assert.equal(d.structured_content.sha256, createHash('sha256').update('Line one\nLine two\n').digest('hex'));
  assert.equal(e.structured_content, undefined, 'what could not be read has none');
  // What is kept of a text that was read whole is the text.
  const kept = (call) => call.result.slice(call.result.indexOf('\n\n') + 2).slice(0, call.structured_content.length);
  for (const call of [c, d]) assert.equal(createHash('sha256').update(kept(call)).digest('hex'), call.structured_content.sha256);
  assert.deepEqual(sources(trajectory).pages.map(({ url, sha256 }) => [url, sha256.length]), [[huge, 1], [pdf, 1], [text, 1]]);
  assert.deepEqual(findQuote(trajectory, 'Revenue was 42 million.').map(({ url }) => url), [pdf]);
}));

test('a run that searched and read cites its sources, and replays with the network off', () => withPages({}, async (origin) => {
  const { Agent, openai, replay, sources, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
  await init();
  let record;
  await withScript([{ calls: [{ id: 'f', name: 'fetch_url', args: { url: `${origin}/moved` } }] }, { text: `The garden is [there](${origin}/page).` }], async (baseUrl) => {
    const agent = new Agent({ model: openai('scripted', { baseUrl, apiKey: 'a-key' }), builtInTools: ['fetch_url'], permissions: { hosts: { [origin]: 'allow' } } });
    record = (await agent.generate('go')).trajectory;
  });
  const { pages, unsupported } = sources(record);
  const [{ sha256, ...page }] = pages;
  assert.deepEqual([page, sha256.length, unsupported], [{ url: `${origin}/page`, title: 'Garden', read: true, cited: true }, 1, []]);
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
