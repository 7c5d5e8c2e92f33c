// The relay of the key proxy, with real HTTP: off unless it is turned on, the same rule of addresses as the tool, an allow-list, limits; and the
// tool in a page that reads by it what forbids CORS.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { proxy } from '../../examples/key-proxy/node.mjs';
import { withScript } from './lib/script-server.mjs';
import { withPackage } from './lib/site.mjs';
import { withPages } from './lib/web-pages.mjs';

const SITE = 'https://docs.example.org';
const BASE = { ORIGINS: SITE, MODELS: 'small', BASE_URL: 'https://model.example/v1', API_KEY: 'a-key', SALT: 'salt', MAX_BODY_BYTES: '100000', MAX_OUTPUT_TOKENS: '1000', PER_MINUTE: '10', PER_DAY: '100', SITE_PER_DAY: '1000' };
const TABLE = JSON.parse(readFileSync(path.join(import.meta.dirname, '../fixtures/web_addresses.json'), 'utf8'));

/** Runs `body(relay(url), address of the relay)` with the proxy under these variables. */
async function withRelay(more, body) {
  const server = http.createServer(proxy({ ...BASE, RELAY: 'on', RELAY_PER_DAY: '1000', ...more }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const at = `http://127.0.0.1:${server.address().port}/v1/relay`;
  const relay = async (url, { origin = SITE, text = JSON.stringify({ url }) } = {}) => {
    const answer = await fetch(at, { method: 'POST', headers: { origin, 'content-type': 'application/json', cookie: 'a=b' }, body: text });
    const said = await answer.text();
    return { status: answer.status, headers: answer.headers, text: said, code: answer.status === 200 ? undefined : JSON.parse(said).error.code };
  };
  try {
    return await body(relay, at);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('it is off unless the site turns it on, and for the site only', async () => {
  await withRelay({ RELAY: undefined }, async (relay) => assert.equal((await relay('https://example.org/')).code, 'not_configured'));
  await withRelay({ RELAY: 'off' }, async (relay) => assert.equal((await relay('https://example.org/')).code, 'not_found'));
  await withRelay({ RELAY: 'yes' }, async (relay) => assert.equal((await relay('https://example.org/')).code, 'not_configured'));
  await withRelay({ RELAY_HOSTS: 'exa mple' }, async (relay) => assert.equal((await relay('https://example.org/')).code, 'not_configured'));
  await withRelay({ RELAY_HOSTS: '*' }, async (relay) => assert.equal((await relay('https://example.org/', { origin: 'https://evil.example' })).code, 'origin_not_allowed'));
});

test('hostile addresses are refused before anything is asked, and do not count', () => withRelay({ RELAY_HOSTS: '*', RELAY_PER_DAY: '1' }, async (relay) => {
  for (const url of Object.keys(TABLE.refused)) assert.equal((await relay(url)).code, 'address_not_allowed', url);
  for (const text of ['', '{', '[]', 'null', '{"url":7}', `{"url":"https://example.org/${'x'.repeat(9000)}"}`]) assert.ok(['invalid_request', 'address_not_allowed'].includes((await relay('', { text })).code), text.slice(0, 40));
  for (const url of ['http://localhost.example.invalid/', 'http://nobody.invalid/']) assert.equal((await relay(url)).code, url.includes('localhost.') ? 'unreachable' : 'rate_limited');
}));

test('only listed hosts are read', () => withRelay({ RELAY_HOSTS: 'docs.example.invalid, *.open.invalid' }, async (relay) => {
  const codes = [];
  for (const url of ['https://docs.example.invalid/', 'https://a.open.invalid/', 'https://example.invalid/', 'https://open.invalid/', 'https://docs.example.invalid:8443/', 'https://docs.example.invalid.evil.invalid/']) codes.push((await relay(url)).code);
  assert.deepEqual(codes, ['unreachable', 'unreachable', 'host_not_allowed', 'host_not_allowed', 'host_not_allowed', 'host_not_allowed']);
}));

test('a page is passed on as data, one hop, without anything of the visitor', () => withPages({}, (origin, seen) => withRelay({ RELAY_HOSTS: origin, RELAY_MAX_BYTES: '300000' }, async (relay) => {
  const page = await relay(`${origin}/page`);
  assert.equal(page.status, 200);
  assert.match(page.text, /Garden/);
  const told = Object.fromEntries(page.headers);
  assert.deepEqual([told['x-relay-status'], told['x-relay-content-type'], told['content-type'], told['x-content-type-options'], told['content-security-policy'], told['access-control-allow-origin']], ['200', 'text/html; charset=utf-8', 'application/octet-stream', 'nosniff', "default-src 'none'; sandbox", SITE]);
  const moved = await relay(`${origin}/moved`);
  assert.deepEqual([moved.headers.get('x-relay-status'), moved.headers.get('x-relay-location')], ['302', `${origin}/page`]);
  assert.equal((await relay(`${origin}/missing`)).headers.get('x-relay-status'), '404');
  assert.equal((await relay(`${origin}/bomb`)).text.length, 300_000, 'as much as the site permits');
  assert.match((await relay(`${origin}/cut-off`)).text, /Half/);
  assert.match((await relay(`${origin}/gzip`)).text, /Packed/);
  assert.equal(seen.length, 6);
  for (const { headers } of seen) assert.deepEqual(['cookie', 'origin', 'referer', 'authorization', 'x-forwarded-for'].filter((name) => name in headers), []);
})));

test('a visitor and the site have limits', () => withPages({}, (origin) => withRelay({ RELAY_HOSTS: origin, RELAY_PER_DAY: '2' }, async (relay) => {
  assert.deepEqual([(await relay(`${origin}/page`)).status, (await relay(`${origin}/page`)).status], [200, 200]);
  const third = await relay(`${origin}/page`);
  assert.deepEqual([third.status, third.code], [429, 'rate_limited']);
  assert.ok(Number(third.headers.get('retry-after')) > 0);
})));

test('a page reads by the relay what forbids CORS, with its redirects, and is told what the relay refuses', () => withPages({}, (a) => withPages({}, (b) => {
  const over = `${a}/to?${encodeURIComponent(`${b}/page`)}`;
  const calls = [`${a}/page`, `${a}/moved-twice`, `${a}/report.pdf`, over, `${b}/page`].map((url, at) => ({ id: `f${at}`, name: 'fetch_url', args: { url } }));
  return withScript([{ calls }, { text: 'Done.' }], async (baseUrl) => {
    // The page's own origin is known only once it is served.
    const env = { ...BASE, RELAY: 'on', RELAY_HOSTS: a };
    const server = http.createServer((request, response) => proxy({ ...env, ORIGINS: request.headers.origin })(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const relay = `http://127.0.0.1:${server.address().port}/v1/relay`;
    try {
      const results = await withPackage({ reach: [baseUrl, relay, a, b], expect: [/blocked by CORS policy/, /net::ERR_FAILED/, /status of 403/] }, (page) => page.evaluate(async ([baseUrl, relay, hosts]) => {
        const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['fetch_url'], permissions: { hosts }, web: { relay } });
        const trajectory = await agent.run('go');
        agent.free();
        return trajectory.turns[0].tool_calls.map(({ result }) => String(result));
      }, [baseUrl, relay, { [a]: 'allow', [b]: 'allow' }]));
      assert.match(results[0], /# Garden/);
      assert.equal(results[1].split('\n')[0], `${a}/page`);
      assert.match(results[2], /Revenue was 42 million/);
      assert.match(results[3], /the relay of this site refuses .* is not asked for/);
      assert.match(results[4], /the relay of this site refuses/);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
})));
