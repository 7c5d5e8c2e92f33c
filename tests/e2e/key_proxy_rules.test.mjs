// The rules of the example's proxy, without a platform: what a request to the model may contain, and how requests are counted.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { KEY, SITE, question, told, withUpstream } from './lib/key-proxy.mjs';
import { root } from './lib/site.mjs';

const load = (name) => import(pathToFileURL(path.join(root, 'examples/key-proxy', name)));
const { serve } = await load('core.mjs');
const { count, inMemory, network } = await load('limits.mjs');
const { clean } = await load('clean.mjs');

const ENV = { ORIGINS: SITE, MODELS: 'small', API_KEY: KEY, SALT: 'salt', MAX_BODY_BYTES: '400000', MAX_OUTPUT_TOKENS: '300', PER_MINUTE: '1000', PER_DAY: '1000', SITE_PER_DAY: '1000' };
const [MINUTE, DAY] = [60_000, 86_400_000];
const ok = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

/** `ask(request, { address, …variables })` sends a request to the proxy; `seen` is what the model server got. */
const withProxy = (vars, body, meters = inMemory()) => withUpstream(ok, (BASE_URL, seen) => body({
  seen,
  ask: async (request, { address = '192.0.2.1', ...more } = {}) => told(await serve(
    new Request('http://x/v1/chat/completions', { method: 'POST', headers: { origin: SITE }, body: JSON.stringify(request) }),
    { env: { ...ENV, BASE_URL, ...vars, ...more }, address, meters, questions: { add() {} } },
  )),
}));

const PNG = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64')}`;
const picture = (url, more) => ({ type: 'image_url', image_url: { url, ...more } });
const says = (content, role = 'user') => question({ messages: [{ role, content }] });
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

test('texts pass, and what an agent sends: calls, results, tools, the reasoning of a model', () => withProxy({}, async ({ ask, seen }) => {
  const request = {
    model: 'small', stream: true, stream_options: { include_usage: true }, temperature: 0.5, top_p: 1, seed: 7, stop: ['a', 'b'], parallel_tool_calls: false, max_tokens: 20,
    messages: [
      { role: 'system', content: 's' }, { role: 'developer', content: 'd' }, { role: 'user', name: 'n', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'https://example.org/x.png' }] },
      { role: 'assistant', content: null, tool_calls: [call], reasoning_details: [{ type: 'reasoning.encrypted', id: null, format: 'x', index: 0, data: 'abc' }] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'r' }] }, { role: 'assistant', content: 'end' },
    ],
    tools: [{ type: 'function', function: { name: 'f', description: 'd', strict: true, parameters: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { id: { type: 'string' }, $ref: { $ref: '#/$defs/a' } }, $defs: { a: { $id: 'a', type: 'number' } } } } }],
    tool_choice: { type: 'function', function: { name: 'f' } }, response_format: { type: 'json_schema', json_schema: { name: 'r', strict: true, schema: { type: 'object' } } },
  };
  assert.equal((await ask(request)).status, 200);
  assert.deepEqual(seen[0].body, request);
}));

test('other fields are left out, wherever they are, and fields of another type', () => withProxy({}, async ({ ask, seen }) => {
  const cost = { cache_control: { type: 'ephemeral' }, audio: { id: 'a' }, url: 'http://evil.example' };
  await ask({
    model: 'small', ...cost, n: 9, modalities: ['audio'], service_tier: 'priority', prediction: {}, web_search_options: {}, plugins: [{ id: 'web' }], models: ['large'], reasoning_effort: 7, reasoning: 'high', thinking: ['enabled'], enable_thinking: 'yes', thinking_budget: -1, store: true, user: 'x',
    stream: 'yes', temperature: { a: 1 }, stop: [{}], seed: '7', stream_options: { include_usage: true, ...cost }, tool_choice: { type: 'allowed_tools', allowed_tools: {} }, response_format: { type: 'grammar', grammar: 'x' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'a', ...cost }], ...cost },
      { role: 'assistant', content: 'b', refusal: 'c', ...cost, tool_calls: [{ ...call, ...cost, function: { ...call.function, ...cost } }], reasoning_details: [{ type: 'reasoning.text', text: 't', ...cost }, 7] },
      { role: 'user', content: 'd', tool_calls: [call], reasoning_details: [] },
    ],
    tools: [{ type: 'function', function: { name: 'f', ...cost }, ...cost }, { type: 'web_search' }, { type: 'mcp', server_url: 'http://evil.example' }, { type: 'function', function: {} }, null],
  });
  assert.deepEqual(seen[0].body, {
    model: 'small', max_tokens: 300, stream_options: { include_usage: true },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }, { role: 'assistant', content: 'b', tool_calls: [call], reasoning_details: [{ type: 'reasoning.text', text: 't' }] }, { role: 'user', content: 'd' }],
    tools: [{ type: 'function', function: { name: 'f' } }],
  });
}));

test('what a model needs to think passes, and its limits are lowered whatever their names are', () => withProxy({ MODELS: 'small, gpt-5.4, openai/o4-mini, gpt-4o' }, async ({ ask, seen }) => {
  const limits = ({ max_tokens, max_completion_tokens }) => ({ ...(max_tokens && { max_tokens }), ...(max_completion_tokens && { max_completion_tokens }) });
  const rows = [
    ['small', {}, { max_tokens: 300 }], ['gpt-4o', {}, { max_tokens: 300 }],
    ['gpt-5.4', {}, { max_completion_tokens: 300 }], ['openai/o4-mini', {}, { max_completion_tokens: 300 }],
    ['gpt-5.4', { max_completion_tokens: 20 }, { max_completion_tokens: 20 }], ['gpt-5.4', { max_tokens: 20 }, { max_completion_tokens: 20 }],
    // A server that ignores one of the names gets the other one.
    ['small', { max_completion_tokens: 20 }, { max_tokens: 20 }], ['small', { max_completion_tokens: 9000, max_tokens: 8000 }, { max_tokens: 300 }], ['small', { max_completion_tokens: 9000, max_tokens: 20 }, { max_tokens: 20 }],
    ['small', { max_completion_tokens: -1, max_tokens: 'x' }, { max_tokens: 300 }],
  ];
  for (const [model, given, sent] of rows) {
    await ask({ ...question(given), model });
    assert.deepEqual(limits(seen.at(-1).body), sent, `${model} ${JSON.stringify(given)}`);
  }
  await ask(question(), { LIMIT_FIELD: 'max_completion_tokens' });
  assert.deepEqual(limits(seen.at(-1).body), { max_completion_tokens: 300 });
  assert.equal((await ask(question(), { LIMIT_FIELD: 'n' })).code, 'not_configured');
  const thinks = { reasoning_effort: 'high', reasoning: { effort: 'low', exclude: true, max_tokens: 200 }, thinking: { type: 'enabled', budget_tokens: 200, clear_thinking: false }, enable_thinking: true, thinking_budget: 200, reasoning_format: 'parsed', reasoning_split: true };
  const messages = [{ role: 'user', content: 'a' }, { role: 'assistant', content: null, reasoning_content: 'so', reasoning: 'so', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c1', content: 'r' }];
  await ask(question({ ...thinks, messages }));
  assert.deepEqual(seen.at(-1).body, { model: 'small', messages, max_tokens: 300, ...thinks });
  await ask(question({ reasoning: { max_tokens: 9000, x: 1 }, thinking: { type: 'enabled', budget_tokens: 9000 }, enable_thinking: true }));
  const { reasoning, thinking, thinking_budget: budget } = seen.at(-1).body;
  assert.deepEqual([reasoning, thinking.budget_tokens, budget], [{ max_tokens: 300 }, 300, 300]);
}));

test('a part that is not a text is refused, in every role, and nothing makes the model server read from an address', () => withProxy({}, async ({ ask, seen }) => {
  const url = 'http://169.254.169.254/latest/meta-data/';
  const parts = [
    picture(url), picture(PNG), { type: 'image_url', image_url: url }, { type: 'input_image', image_url: url }, { type: 'image', source: { type: 'url', url } }, { type: 'image', image: PNG }, { type: 'video_url', video_url: { url } }, { type: 'audio_url', audio_url: { url } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, { type: 'file', file: { file_id: 'f' } }, { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } }, { type: 'document', source: { type: 'url', url } }, { type: 'refusal', refusal: 'x' },
    { type: 'text', text: { url } }, { type: 'text', text: [picture(url)] }, { type: 'text' }, { type: 'tool_result', content: [picture(url)] }, { type: ['text'], text: 'x' }, {}, null, 'x', 7, [picture(url)],
  ];
  for (const part of parts) {
    for (const role of ['system', 'developer', 'user', 'assistant', 'tool']) {
      const { status, code } = await ask(says([{ type: 'text', text: 'a' }, part], role));
      assert.deepEqual([status, code], [403, 'content_not_allowed'], `${role}: ${JSON.stringify(part)}`);
    }
  }
  for (const messages of [[null], ['x'], [{ content: 'x' }], [{ role: 'function', content: 'x' }], [{ role: 'user', content: { url } }], [{ role: 'user', content: 7 }], [{ role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: { url } } }] }], [{ role: 'assistant', tool_calls: [{ type: 'custom' }] }]]) {
    assert.deepEqual((await ask(question({ messages }))).code, 'invalid_request', JSON.stringify(messages));
  }
  const schemas = [{ $ref: url }, { $ref: 'other.json' }, { $ref: '//evil.example' }, { $ref: 'file:///etc/passwd' }, { properties: { a: { items: [{ anyOf: [{ $dynamicRef: `${url}#a` }] }] } } }, { $recursiveRef: url }, { $id: url, $ref: '#/a' }, { $defs: { a: { id: url } } }, { $schema: url }];
  for (const schema of schemas) {
    const [asTool, asFormat] = [{ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }, { response_format: { type: 'json_schema', json_schema: { name: 'r', schema } } }];
    for (const more of [asTool, asFormat]) assert.equal((await ask(question(more))).code, 'content_not_allowed', JSON.stringify(more));
  }
  const nested = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`);
  for (const more of [{ messages: [nested] }, { more: nested }, { tools: [{ type: 'function', function: { name: 'f', parameters: { enum: nested } } }] }]) assert.equal((await ask(question(more))).code, 'invalid_request');
  assert.equal(seen.length, 0);
}));

test('a site can allow some pictures of users, which are in the request itself', () => withProxy({ MAX_PICTURES: '2' }, async ({ ask, seen }) => {
  const sent = says([{ type: 'text', text: 'a' }, picture(PNG), picture('data:image/jpeg;base64,/9j/4AAQ')]);
  assert.equal((await ask(says([{ type: 'text', text: 'a' }, picture(PNG, { detail: 'high', url2: 'x' }), picture('data:image/jpeg;base64,/9j/4AAQ')]))).status, 200);
  assert.deepEqual(seen[0].body, { ...sent, max_tokens: 300 });
  const urls = [
    'https://example.org/a.png', 'http://127.0.0.1/a.png', '//example.org/a.png', 'file:///etc/passwd', 'data:image/svg+xml;base64,PHN2Zz4=', 'data:image/png,abc', 'data:text/html;base64,AAAA', 'data:application/pdf;base64,JVBERi0=', 'data:;base64,AAAA', 'data:image/png;base64,', 'data:image/png;base64,PHN2Zz4=',
    `${PNG} http://evil.example`, `${PNG}\n`, ` ${PNG}`, PNG.replace('data:', 'DATA:'), PNG.replace('image/png', 'image/png;x=1'), PNG.replace('png', 'constructor'), '', undefined, null, { url: PNG }, [PNG],
  ];
  for (const url of urls) assert.equal((await ask(says([picture(url)]))).code, 'content_not_allowed', JSON.stringify(url));
  for (const role of ['system', 'assistant', 'tool']) assert.equal((await ask(says([picture(PNG)], role))).code, 'content_not_allowed', role);
  for (const part of [{ type: 'file', file: { file_data: PNG } }, { type: 'image_url', image_url: PNG }, { type: 'input_image', image_url: PNG }]) assert.equal((await ask(says([part]))).code, 'content_not_allowed', JSON.stringify(part));
  const over = await ask(question({ messages: [1, 2, 3].map(() => ({ role: 'user', content: [picture(PNG)] })) }));
  assert.deepEqual([over.status, over.code], [403, 'content_not_allowed'], 'in all messages together');
  assert.equal(seen.length, 1);
}));

test('with a variable that is missing or mistyped it serves nobody, and says which', () => withProxy({}, async ({ ask, seen }) => {
  const numbers = ['MAX_BODY_BYTES', 'MAX_OUTPUT_TOKENS', 'PER_MINUTE', 'PER_DAY', 'SITE_PER_DAY'];
  const wrong = [
    ['ORIGINS', undefined], ['ORIGINS', ' , '], ['MODELS', ''], ['BASE_URL', 'api.example.org/v1'], ['BASE_URL', undefined], ['API_KEY', undefined], ['API_KEY', ' '], ['SALT', undefined],
    ...numbers.flatMap((name) => [[name, undefined], [name, '']]),
    ['PER_DAY', 'none'], ['PER_MINUTE', '20/min'], ['SITE_PER_DAY', '0'], ['MAX_BODY_BYTES', 'Infinity'], ['MAX_OUTPUT_TOKENS', '-1'], ['MAX_PICTURES', 'on'], ['MAX_PICTURES', '-1'], ['QUESTIONS_PER_DAY', '0'],
  ];
  for (const [name, value] of wrong) {
    const refused = await ask(question(), { [name]: value });
    assert.deepEqual([refused.status, refused.code], [503, 'not_configured'], `${name}=${value}`);
    assert.match(JSON.parse(refused.text).error.message, new RegExp(`\\b${name}\\b`));
    assert.equal(refused.headers.get('access-control-allow-origin'), name === 'ORIGINS' ? null : SITE, 'a page of the site can read it');
  }
  assert.equal(seen.length, 0);
}));

test('the limit of the site holds, however many visitors there are', () => withProxy({ PER_DAY: '2', SITE_PER_DAY: '5' }, async ({ ask, seen }) => {
  let at = 0;
  const visit = () => ask(question(), { address: `2001:db8:1:${(at += 1).toString(16)}::1` });
  for (let n = 0; n < 100; n += 1) await visit();
  await Promise.all(Array.from({ length: 100 }, visit));
  assert.equal(seen.length, 5);
}, inMemory(10)));

/** Whether the meter counts a request, with these limits. */
const counts = async (meters, name, limits, options) => (await meters(name, options).take(limits)) === undefined;

test('a meter in memory is forgotten only if it is not full, the one first that was asked longest ago; that of the site never', async () => {
  const meters = inMemory(3);
  const asked = (name, most, options) => counts(meters, name, [[DAY, most]], options);
  assert.deepEqual([await asked('site', 1, { keep: true }), await asked('full', 1), await asked('a', 9), await asked('b', 9), await asked('a', 9)], Array(5).fill(true));
  for (let at = 0; at < 20; at += 1) {
    assert.equal(await asked(`new ${at}`, 9), true);
    assert.equal(await asked('a', 9), at < 7, 'the count of one that is asked again and again stays, and is full in the end');
    assert.deepEqual([await asked('site', 1, { keep: true }), await asked('full', 1)], [false, false]);
  }
  assert.equal(await asked('b', 1), true, 'forgotten');
});

test('if all meters are full, whoever is new waits; a request that is refused makes its meter newer', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 10 * DAY });
  const meters = inMemory(2);
  const asked = (name) => counts(meters, name, [[MINUTE, 1], [DAY, 2]]);
  assert.deepEqual([await asked('a'), await asked('b'), await asked('c')], [true, true, false]);
  assert.equal(await asked('a'), false); // full, and newer than b now
  t.mock.timers.tick(MINUTE);
  assert.equal(await asked('c'), true, 'b is forgotten');
  assert.equal(await asked('a'), true);
  t.mock.timers.tick(MINUTE);
  assert.equal(await asked('a'), false, 'both of its requests were counted');
  t.mock.timers.tick(DAY);
  assert.deepEqual([await asked('a'), await asked('d')], [true, true]);
});

test('a window that has begun does not begin anew when a clock goes back', () => {
  for (const length of [MINUTE, DAY]) {
    const held = {};
    const start = 100 * length;
    assert.equal(count(held, [[length, 1]], start), undefined);
    for (const now of [start - 1, start, start - 1, start + length - 1]) assert.ok(count(held, [[length, 1]], now)?.seconds >= 1);
    assert.equal(count(held, [[length, 1]], start + length), undefined);
  }
});

test('no spelling of an address is another visitor, and what is not an address is not a visitor of its own', () => {
  const same = [
    ['192.0.2.7', '192.0.2.7:50000', '::ffff:192.0.2.7', '::FFFF:c000:207', '[::ffff:192.0.2.7]:443', ' 192.0.2.7 '],
    ['2001:db8:1:2::1', '2001:0DB8:1:2:ffff::', '[2001:db8:1:2::9]:443', '[2001:db8:1:2::9]', '2001:db8:1:2::1%eth0'],
    ['', undefined, null, 'unknown', '_hidden', 'x'.repeat(9000), '1.2.3', '999.1.1.1', '1.2.3.4, 5.6.7.8', '1.2.3.4 x', '::1]/[', 'a@b', '1:2', '16909060', '0x1020304', 'evil.example', '%'],
  ];
  for (const [first, ...others] of same) for (const other of others) assert.equal(network(other), network(first), `${other}`);
  assert.equal(new Set(['192.0.2.7', '192.0.2.8', '2001:db8:1:2::1', '2001:db8:1:3::1', '', 'fe80::1'].map(network)).size, 6);
});

test('a meter that fails lets nothing through, and the error has no key', async (t) => {
  const said = t.mock.method(console, 'error', () => {});
  const failing = (at) => (name) => ({ take: async () => { if (name.includes(at)) throw new Error(`no store, ${KEY}`); } });
  for (const at of ['site', 'visitor']) {
    await withProxy({}, async ({ ask, seen }) => {
      const { status, code, headers } = await ask(question());
      assert.deepEqual([status, code, headers.get('access-control-allow-origin'), seen.length], [500, 'internal', SITE, 0]);
    }, failing(at));
  }
  const lines = said.mock.calls.map((one) => one.arguments.join(' ')).filter((line) => line.startsWith('key proxy'));
  assert.deepEqual(lines, Array(2).fill('key proxy: no store, [key]'));
});

test('a report takes little time, whatever it is', () => {
  const texts = ['a', 'a-', '1', '1 ', 'a@', 'a@a.', '.a', 'sk-', '1a-', '-', '(', '\u0000'].flatMap((text) => [text.repeat(4000), `a@${text.repeat(4000)}`]);
  const started = performance.now();
  for (const comment of texts) clean(JSON.stringify({ question: 'x', why: 'limit', comment, page: comment, missing: Array(20).fill(comment) }));
  const ms = (performance.now() - started) / texts.length;
  assert.ok(ms < 30, `${ms} ms each`);
  assert.equal(clean(JSON.stringify({ question: `${'x'.repeat(100)}@example.org`, why: 'limit', lang: ['en'] })).question, '[removed]');
  assert.equal(clean(JSON.stringify({ question: 'x', why: 'limit', lang: ['en'] })).lang, '');
});
