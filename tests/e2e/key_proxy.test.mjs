// The example of a proxy that holds a site's key, unchanged, on workerd: who may send requests, which ones and how many, and
// that the key never leaves it. A page in Chromium runs an agent through it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { KEY, SITE, json, question, told, withUpstream } from './lib/key-proxy.mjs';
import { workerd, wrangler } from './lib/key-proxy-hosts.mjs';
import { reply } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

/** The bindings that have a value: undefined ones count as unset. */
const given = (bindings) => Object.fromEntries(Object.entries(bindings).filter(([, value]) => value !== undefined));

/** Runs `body` with the proxy in front of the model server. `ask(body, headers)` sends a request as a page of the site. */
async function withProxy(baseUrl, vars, body) {
  const bindings = given({ ...wrangler().vars, ORIGINS: SITE, MODELS: 'small, large', BASE_URL: baseUrl, API_KEY: KEY, SALT: 'salt', ...vars });
  return workerd(bindings, ({ address }) => {
    const url = new URL('/v1/chat/completions', address);
    const ask = (request, headers = {}, more = {}) => fetch(url, {
      method: 'POST', body: typeof request === 'string' ? request : JSON.stringify(request),
      headers: { origin: SITE, 'content-type': 'application/json', 'cf-connecting-ip': '192.0.2.1', ...headers }, ...more,
    });
    return body({ ask, address, url });
  });
}

test('only pages of the site are served, and foreign ones never reach the model', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, {}, async ({ ask, url }) => {
  for (const origin of ['https://evil.example', `${SITE}.evil.example`, 'http://docs.example.org', 'null', '']) {
    const refused = await told(await ask(question(), { origin }));
    assert.deepEqual([refused.status, refused.code, refused.headers.get('access-control-allow-origin')], [403, 'origin_not_allowed', null], origin);
  }
  assert.equal(seen.length, 0);
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: SITE, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' } });
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, SITE]);
  assert.match(preflight.headers.get('access-control-allow-headers'), /content-type/);
  const served = await told(await ask(question()));
  assert.deepEqual([served.status, served.headers.get('access-control-allow-origin'), served.text], [200, SITE, '{"choices":[]}']);
  assert.match(served.headers.get('access-control-expose-headers'), /retry-after/);
  assert.equal(seen[0].headers.authorization, `Bearer ${KEY}`);
  assert.equal(seen[0].url, '/v1/chat/completions');
  for (const name of ['cookie', 'origin', 'cf-connecting-ip', 'referer']) assert.equal(seen[0].headers[name], undefined, `${name} is not sent on`);
  assert.equal((await told(await fetch(new URL('/v1/models', url), { headers: { origin: SITE } }))).status, 404);
})));

test('models, tokens and sizes are capped', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, { MAX_BODY_BYTES: '2000', MAX_OUTPUT_TOKENS: '300' }, async ({ ask }) => {
  const other = await told(await ask(question({ model: 'huge' })));
  assert.deepEqual([other.status, other.code], [403, 'model_not_allowed']);
  assert.match(other.text, /small, large/);
  assert.equal((await told(await ask(question({ messages: [{ role: 'user', content: 'x'.repeat(3000) }] })))).status, 413);
  for (const body of ['{', '[]', '{"model":"small"}', 'null']) assert.equal((await told(await ask(body))).status, 400, body);
  assert.equal(seen.length, 0);
  const wanted = [[{}, { max_tokens: 300 }], [{ max_tokens: 9000 }, { max_tokens: 300 }], [{ max_tokens: 20 }, { max_tokens: 20 }], [{ max_tokens: -1 }, { max_tokens: 300 }], [{ max_completion_tokens: 9000 }, { max_tokens: 300 }], [{ max_completion_tokens: 20 }, { max_tokens: 20 }]];
  for (const [given, sent] of wanted) {
    await told(await ask(question(given)));
    assert.deepEqual(seen.at(-1).body, { ...question(), ...sent });
  }
  const tools = [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }];
  await told(await ask(question({ tools, n: 9, service_tier: 'priority', web_search_options: {}, temperature: 0 })));
  assert.deepEqual(seen.at(-1).body, { ...question(), temperature: 0, tools: [tools[0]], max_tokens: 300 });
})));

test('a visitor and the site have their limits', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, { PER_MINUTE: '100', PER_DAY: '3', SITE_PER_DAY: '5' }, async ({ ask }) => {
  const from = (address) => ask(question(), { 'cf-connecting-ip': address }).then(told);
  // Requests that are refused before the meter do not count.
  await told(await ask(question({ model: 'huge' })));
  const statuses = [];
  for (let at = 0; at < 4; at += 1) statuses.push((await from('192.0.2.1')).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  const over = await from('192.0.2.1');
  assert.equal(over.code, 'rate_limited');
  const seconds = Number(over.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 86400, `${seconds}`);
  assert.deepEqual([(await from('192.0.2.2')).status, (await from('192.0.2.2')).status], [200, 200]);
  assert.equal((await from('192.0.2.2')).status, 429, 'the site is used up');
  assert.equal(seen.length, 5);
})));

test('a visitor is a whole IPv6 network of /64, however its addresses are written', () => withUpstream(json({ choices: [] }), (baseUrl) => withProxy(baseUrl, { PER_DAY: '1' }, async ({ ask }) => {
  const status = async (address) => (await told(await ask(question(), { 'cf-connecting-ip': address }))).status;
  const networks = [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:0002:0:0:0:9'],
    ['2001:db8:1:3::1', '2001:db8:1:3::2'],
    ['2001:db8::1', '2001:db8::2:0:0:1'],
    ['192.0.2.7', '::ffff:192.0.2.7'],
    ['192.0.2.8'],
  ];
  for (const [first, ...others] of networks) {
    assert.equal(await status(first), 200, first);
    for (const other of others) assert.equal(await status(other), 429, other);
  }
})));

test('without a secret it serves nobody', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, { API_KEY: undefined }, async ({ ask }) => {
  const refused = await told(await ask(question()));
  assert.deepEqual([refused.status, refused.code, seen.length], [503, 'not_configured', 0]);
})));

test('requests at once are counted one by one', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, { PER_DAY: '4' }, async ({ ask }) => {
  const all = await Promise.all(Array.from({ length: 12 }, () => ask(question()).then(told)));
  assert.equal(all.filter(({ status }) => status === 200).length, 4);
  assert.equal(seen.length, 4);
})));

test('an answer streams through, and a visitor who leaves ends the request', { timeout: 120_000 }, async () => {
  let goOn;
  let left;
  const closed = new Promise((resolve) => { left = resolve; });
  const stream = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1', 'set-cookie': 'a=b' });
    response.write('data: one\n\n');
    response.on('close', left);
    goOn = () => {
      response.write('data: two\n\n');
      // Like a model that keeps streaming, heard or not.
      const speaking = setInterval(() => response.write('data: more\n\n'), 20);
      response.on('close', () => clearInterval(speaking));
    };
  };
  await withUpstream(stream, (baseUrl) => withProxy(baseUrl, {}, async ({ ask }) => {
    const leave = new AbortController();
    const response = await ask(question({ stream: true }), {}, { signal: leave.signal });
    assert.deepEqual(['content-type', 'x-request-id', 'set-cookie', 'cache-control'].map((name) => response.headers.get(name)), ['text/event-stream', 'req_1', null, 'no-store']);
    const reader = response.body.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    // The second part is sent only once the first has arrived: a proxy that buffers would wait forever.
    assert.equal(await next(), 'data: one\n\n');
    goOn();
    assert.match(await next(), /^data: two\n\n/);
    leave.abort();
    await closed;
  }));
});

test('what the server says of the key stays with the proxy, other errors pass without it', async () => {
  const answers = [
    (response) => response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } })),
    (response) => response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' }).end(JSON.stringify({ error: { message: `slow down, ${KEY}` } })),
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    (response) => response.destroy(),
  ];
  await withUpstream((_, response) => answers.shift()(response), (baseUrl) => withProxy(baseUrl, {}, async ({ ask }) => {
    const refused = await told(await ask(question()));
    assert.deepEqual([refused.status, refused.code], [502, 'upstream_refused']);
    const busy = await told(await ask(question()));
    assert.deepEqual([busy.status, busy.headers.get('retry-after'), JSON.parse(busy.text).error.message], [429, '7', 'slow down, [key]']);
    assert.deepEqual([(await told(await ask(question()))).code, (await told(await ask(question()))).code], ['upstream_redirects', 'upstream_unreachable']);
  }));
  assert.deepEqual(answers, []);
});

test('an agent in a page of the site runs through it without a key', async () => {
  const parts = reply({ text: 'Through the proxy.' });
  const stream = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };
  await withSite((site) => withUpstream(stream, (baseUrl, seen) => withProxy(baseUrl, { ORIGINS: new URL(site.host).origin }, async ({ address }) => {
    const { trajectory } = await runIn(site.host, new URL('/v1', address).href);
    assert.deepEqual([trajectory.outcome, trajectory.output], ['success', 'Through the proxy.']);
    assert.ok(!JSON.stringify(trajectory).includes(KEY));
    assert.equal(seen.length, 1);
  })));
});

test('a page of another site gets no answer, and says why', () => withSite((site) => withUpstream(json({}), (baseUrl, seen) => withProxy(baseUrl, {}, async ({ address }) => {
  const { trajectory } = await runIn(site.host, new URL('/v1', address).href, [/may not read its answer \(CORS\)/]);
  assert.equal(trajectory.outcome, 'failed');
  assert.match(trajectory.logs.map(({ message }) => message).join(), /CORS/);
  assert.equal(seen.length, 0);
}))));

const runIn = (host, baseUrl, expect = []) => withPage(host, { reach: [baseUrl], expect }, async (page) => {
  await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
  return page.evaluate(async (at) => {
    const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl: at, model: 'small' }, tools: [], maxAttempts: 1, synthesis: false });
    const trajectory = await agent.run('hello');
    agent.free();
    return { trajectory };
  }, baseUrl);
});

test('questions are collected only if the site wants them, cleaned, counted apart, and given to whoever has the token', () => withUpstream(json({ choices: [] }), async (baseUrl, seen) => {
  const report = { question: 'How do I rotate the key?', why: 'not_found', missing: ['rotate'], page: '/guide/keys?x=1', lang: 'en' };
  const send = (url, body, headers = {}) => fetch(new URL('/v1/questions', url), { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers: { origin: SITE, 'content-type': 'application/json', 'cf-connecting-ip': '192.0.2.1', ...headers } }).then(told);
  await withProxy(baseUrl, {}, async ({ url }) => {
    assert.equal((await send(url, report)).status, 404);
    assert.equal((await told(await fetch(new URL('/v1/questions', url), { headers: { authorization: 'Bearer ' } }))).status, 401, 'without a token in the settings nobody reads');
  });
  await withProxy(baseUrl, { QUESTIONS: 'on', QUESTIONS_PER_DAY: '3', QUESTIONS_SITE_PER_DAY: '4', QUESTIONS_TOKEN: 'token-of-the-site', PER_DAY: '1' }, async ({ ask, url }) => {
    assert.equal((await send(url, report, { origin: 'https://evil.example' })).status, 403);
    for (const wrong of ['{', '[]', '{"question":"x"}', JSON.stringify({ ...report, why: 'because' }), JSON.stringify({ ...report, question: ' \n ' })]) assert.equal((await send(url, wrong)).status, 400, wrong);
    assert.equal((await send(url, JSON.stringify({ ...report, comment: 'x'.repeat(9000) }))).status, 413);
    assert.equal((await send(url, report)).status, 204);
    const secret = { question: 'Mail me at jane.doe@example.org,\u0000 my key is sk-live-abcdef0123456789, call +49 170 1234567', why: 'bad_answer', missing: ['a', 7, 'b'], comment: 'token AbC123dEf456GhI789jKl012MnO', page: 'javascript:x', lang: '<b>', answer: 'no', address: '192.0.2.1' };
    assert.equal((await send(url, secret)).status, 204);
    assert.equal((await send(url, report)).status, 204);
    const over = await send(url, report);
    assert.deepEqual([over.status, over.code], [429, 'rate_limited']);
    assert.ok(Number(over.headers.get('retry-after')) >= 1);
    assert.equal((await send(url, report, { 'cf-connecting-ip': '192.0.2.2' })).status, 204);
    assert.equal((await send(url, report, { 'cf-connecting-ip': '192.0.2.3' })).status, 429, 'the site is used up');
    assert.equal((await told(await ask(question()))).status, 200, 'reports do not count as requests to the model');
    for (const authorization of ['', 'Bearer token-of-the-sitE', 'token-of-the-site']) assert.equal((await told(await fetch(new URL('/v1/questions', url), { headers: { authorization } }))).status, 401);
    const all = await told(await fetch(new URL('/v1/questions', url), { headers: { authorization: 'Bearer token-of-the-site' } }));
    assert.equal(all.headers.get('access-control-allow-origin'), null, 'no page can read it');
    const day = new Date().toISOString().slice(0, 10);
    const kept = { day, ...report, page: '/guide/keys' };
    assert.deepEqual(all.text.trim().split('\n').map((line) => JSON.parse(line)), [
      kept,
      { day, question: 'Mail me at [removed], my key is [removed], call [removed]', why: 'bad_answer', missing: ['a', 'b'], comment: 'token [removed]', page: '', lang: '' },
      kept, kept,
    ]);
  });
  assert.equal(seen.length, 1);
}));
