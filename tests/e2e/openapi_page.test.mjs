// `turnwise/openapi` in a page: a document in YAML from another origin, a call with credentials, an argument check, a redirect,
// under a policy without eval; and nothing is loaded before it is used.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { withPackage } from './lib/site.mjs';

const DOCUMENT = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: /v1 }]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { 200: { description: ok } }
  /moved:
    get: { operationId: moved, responses: { 200: { description: ok } } }
`;

test('a page loads a YAML document of another origin and calls its operations', async () => {
  const seen = [];
  const server = http.createServer((request, response) => {
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' };
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    seen.push([request.method, request.url, request.headers.authorization, request.headers.cookie, request.headers.referer]);
    if (request.url === '/openapi.yaml') return response.writeHead(200, { ...cors, 'content-type': 'application/yaml' }).end(DOCUMENT);
    if (request.url === '/v1/moved') return response.writeHead(302, { ...cors, location: '/v1/orders/1' }).end();
    return response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end('{"id":"A7"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  try {
    await withPackage({ reach: [origin] }, async (page, { url }) => {
      const result = await page.evaluate(async ({ url, origin }) => {
        const loaded = () => performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)).filter((name) => ['yaml.js', 'argument-check.js', 'openapi.js'].includes(name)).sort();
        const before = loaded();
        const { openapi } = await import(`${url}turnwise/openapi.js`);
        const imported = loaded();
        const shop = await openapi(`${origin}/openapi.yaml`, { auth: { bearer: 'shop-key-1' }, search: true });
        const read = loaded();
        const { signal } = new AbortController();
        const call = (name, args) => shop.tools.call_operation.execute({ name, arguments: args }, { signal }).catch((error) => error.message);
        const results = [await call('getOrder', { id: 'A7' }), await call('getOrder', { id: 7 }), await call('moved', {})];
        return { before, imported, read, after: loaded(), results, faults: shop.faults };
      }, { url, origin });
      assert.deepEqual(result.results[0], { status: 200, body: { id: 'A7' } });
      assert.match(result.results[1], /\/id: Instance type "number" is invalid/);
      assert.match(result.results[2], /\/v1\/moved: the server redirects, and a page cannot see where to; it is not followed|\/moved: the server redirects, and a page cannot see where to; it is not followed/);
      assert.deepEqual([result.before, result.imported, result.read, result.after, result.faults], [[], ['openapi.js'], ['openapi.js', 'yaml.js'], ['argument-check.js', 'openapi.js', 'yaml.js'], []]);
      assert.deepEqual(seen, [['GET', '/openapi.yaml', undefined, undefined, undefined], ['GET', '/v1/orders/A7', 'Bearer shop-key-1', undefined, undefined], ['GET', '/v1/moved', 'Bearer shop-key-1', undefined, undefined]]);
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
