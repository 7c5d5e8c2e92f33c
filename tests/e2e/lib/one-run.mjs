// One run that reaches everything: it searches, reads a page, calls an operation of a service and is ended by a script of a skill. The
// services are strict: a request that they do not expect, and one that never comes, both fail the test.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { proxy } from '../../../examples/key-proxy/node.mjs';
import { withScript } from './script-server.mjs';

export const SHOP_KEY = 'words-that-open-the-shop';
export const TASK = 'What does lamp 12 cost, and how long is it guaranteed?';
const QUERY = 'lamp 12 guarantee';
export const QUOTE = 'Every lamp is guaranteed for seven years.';

export const SKILL = {
  'offer/SKILL.md': '---\nname: offer\ndescription: Submits an offer with its source. Use it for prices.\nallowed-tools: getItem\nmetadata:\n  may-finish: scripts/submit.js\n---\nCall offer_submit with id, years and source, alone.',
  'offer/scripts/submit.js': `// Submits an offer. Arguments: id, years, source.
const { body } = JSON.parse((await tools.getItem({ id: input.id })).split('\\n[Turn')[0]);
console.log('<<<FINAL_RESULT>>>' + JSON.stringify({ price: body.price, years: input.years, source: input.source }) + '<<<END_FINAL_RESULT>>>');`,
};

const DOCUMENT = (origin) => ({
  openapi: '3.1.0', info: { title: 'Shop', version: '1' }, servers: [{ url: `${origin}/v1` }],
  paths: { '/items/{id}': { get: {
    operationId: 'getItem', summary: 'One item', parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9]+$' } }],
    responses: { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' }, price: { type: 'number' } } } } } } },
  } } },
});

/** A server that answers these requests, one after the other, and no others. A row: what the request is, and its answer. */
async function strict(name, rows, headers, body) {
  const faults = [];
  let next = 0;
  let origin;
  const server = http.createServer((request, response) => {
    for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
    if (request.method === 'OPTIONS' && headers['access-control-allow-origin']) return response.writeHead(204).end();
    const [wanted, answer] = rows[next++] ?? [];
    const got = [request.method, request.url, request.headers.authorization];
    try {
      assert.deepEqual(got, [wanted?.method, wanted?.url, wanted?.authorization]);
      assert.deepEqual([request.headers.cookie, request.headers.referer], [undefined, undefined], 'nothing of the visitor is sent');
    } catch (error) {
      faults.push(`${name}, request ${next}: ${error.message}`);
      return response.writeHead(500).end();
    }
    const [type, text] = answer(origin);
    return response.writeHead(200, { 'content-type': type }).end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  };
  try {
    return await body(port, (as) => { origin = as; }, close, () => {
      assert.deepEqual(faults, []);
      assert.equal(next, rows.length, `${name} got ${next} of ${rows.length} requests`);
    });
  } finally {
    if (server.listening) await close();
  }
}

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
const GET = (url, authorization) => ({ method: 'GET', url, authorization });
const json = (value) => (origin) => ['application/json', JSON.stringify(typeof value === 'function' ? value(origin) : value)];
const PAGE = () => ['text/html; charset=utf-8', `<title>Lamp 12</title><main><h1>Lamp 12</h1><p>${QUOTE.replace('seven', '<b>seven</b>')}</p></main>`];
const ITEM = json({ id: '12', price: 49.5, cost: 12 });

/**
 * Runs `run(services)` beside the services, checks that each of them was asked what it expects, stops all of them, and runs
 * `after(result, services)` without them. `host(name)`: the host under which a service is known; `relay`: the page forbids CORS, so it is asked for a
 * second time, by the relay.
 */
export async function withServices({ host = () => '127.0.0.1', relay = false }, run, after) {
  const all = [];
  const done = await strict('search', [[GET(`/search?${new URLSearchParams({ q: QUERY, format: 'json' })}`), (at) => ['application/json', JSON.stringify({ query: QUERY, results: [{ url: `${at}/lamps/12`, title: 'Lamp 12', content: 'A <b>lamp</b>' }, { url: 'https://elsewhere.example/', title: 'Else', content: 'x' }] })]]], CORS, (searchPort, searchKnows, ...search) =>
    strict('pages', Array.from({ length: relay ? 2 : 1 }, () => [GET('/lamps/12'), PAGE]), relay ? {} : CORS, (pagesPort, _, ...pages) =>
      strict('shop', [[GET('/openapi.json'), json(DOCUMENT)], ...Array.from({ length: 2 }, () => [GET('/v1/items/12', `Bearer ${SHOP_KEY}`), ITEM])], CORS, async (shopPort, shopKnows, ...shop) => {
        all.push(search, pages, shop);
        const at = (name, port) => `http://${host(name)}:${port}`;
        const services = { search: at('search', searchPort), pages: at('pages', pagesPort), shop: at('shop', shopPort), document: `${at('shop', shopPort)}/openapi.json` };
        searchKnows(services.pages);
        shopKnows(services.shop);
        const page = `${services.pages}/lamps/12`;
        const names = ({ tools }) => tools.map((tool) => tool.function.name).sort();
        const results = ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
        const steps = [
          { calls: [{ id: 's', name: 'search_web', args: { query: QUERY } }], check: (request) => assert.deepEqual(names(request), ['fetch_url', 'getItem', 'offer_submit', 'read_skill', 'search_web']) },
          { calls: [{ id: 'f', name: 'fetch_url', args: { url: page } }], check: (request) => assert.match(results(request)[0], new RegExp(`^1\\. ${page}\n`)) },
          { calls: [{ id: 'i', name: 'getItem', args: { id: '12' } }, { id: 'r', name: 'read_skill', args: { name: 'offer' } }], check: (request) => assert.match(results(request)[1], /# Lamp 12\n\nEvery lamp is guaranteed for \*\*seven\*\* years\./) },
          { calls: [{ id: 'e', name: 'offer_submit', args: { id: '12', years: 7, source: page } }], check: (request) => assert.match(results(request)[2], /^\{"status":200,"body":\{"id":"12","price":49\.5\},"omitted":\["cost"\]\}/) },
        ];
        const result = await withScript(steps, async (baseUrl) => {
          if (!relay) return run({ ...services, baseUrl });
          // The page's own origin is known only once it is served.
          const env = { MODELS: 'small', BASE_URL: 'https://model.example/v1', API_KEY: 'a-key', SALT: 'salt', MAX_BODY_BYTES: '100000', MAX_OUTPUT_TOKENS: '1000', PER_MINUTE: '10', PER_DAY: '100', SITE_PER_DAY: '1000', RELAY: 'on', RELAY_HOSTS: `http://127.0.0.1:${pagesPort}` };
          const server = http.createServer((request, response) => proxy({ ...env, ORIGINS: request.headers.origin })(request, response));
          await once(server.listen(0, '127.0.0.1'), 'listening');
          try {
            return await run({ ...services, baseUrl, relay: `http://127.0.0.1:${server.address().port}/v1/relay` });
          } finally {
            server.closeAllConnections();
            server.close();
          }
        });
        return { result, services };
      })));
  for (const [, check] of all) check();
  return after(done.result, done.services);
}

/** What a record of this run has to be, wherever it was made. */
export function assertRun(trajectory, { pages }) {
  const page = `${pages}/lamps/12`;
  assert.deepEqual([trajectory.outcome, trajectory.termination_reason, trajectory.total_turns], ['success', 'final_result', 4]);
  assert.deepEqual(trajectory.final_result_data, { price: 49.5, years: 7, source: page });
  const calls = trajectory.turns.flatMap((turn) => turn.tool_calls);
  assert.deepEqual(calls.map(({ name, error }) => [name, error]), ['search_web', 'fetch_url', 'getItem', 'read_skill', 'offer_submit'].map((name) => [name, undefined]));
  assert.deepEqual(calls.at(-1).calls.map(({ name, args }) => [name, args]), [['getItem', { id: '12' }]]);
  assert.ok(!JSON.stringify(trajectory).includes(SHOP_KEY), 'the key of the service is in the record');
}

/** Its sources, by the functions of the package. */
export function assertSources({ sources, findQuote }, trajectory, { pages }) {
  const page = `${pages}/lamps/12`;
  const { pages: listed, unsupported } = sources(trajectory);
  assert.deepEqual(listed.map(({ url, title, read, cited, sha256 }) => [url, title, read, cited, sha256.length]), [[page, 'Lamp 12', true, true, 1], ['https://elsewhere.example/', 'Else', false, false, 0]]);
  assert.deepEqual(unsupported, []);
  assert.deepEqual(findQuote(trajectory, QUOTE), [{ url: page, sha256: listed[0].sha256[0], callId: 'f' }]);
  assert.deepEqual(findQuote(trajectory, 'guaranteed for eight years'), []);
}
