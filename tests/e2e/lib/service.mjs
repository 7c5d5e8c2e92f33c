// A strict service on loopback: it answers each request with the next step, for pages of every origin. An extra request, an unused step
// and a request that its step does not expect all fail the test.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': '*' };

/**
 * Runs `body(origin, close)`; `close` ends the service before its end. A step is { check(request), status, headers, json, text }: `check` gets
 * { method, path, query, headers, body }, and `json` or `text` is the answer's body.
 */
export async function withService(steps, body) {
  const faults = [];
  let next = 0;
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    const parts = [];
    for await (const part of request) parts.push(part);
    const step = steps[next++];
    const { pathname, searchParams } = new URL(request.url, 'http://service');
    try {
      assert.ok(step, `${request.method} ${request.url} is one request more than expected`);
      assert.deepEqual([request.headers.cookie, request.headers.referer], [undefined, undefined]);
      step.check?.({ method: request.method, path: pathname, query: Object.fromEntries(searchParams), headers: request.headers, body: Buffer.concat(parts).toString() });
    } catch (error) {
      faults.push(error.message);
      return response.writeHead(500, CORS).end();
    }
    const { status = 200, headers = {}, json, text = JSON.stringify(json ?? null) } = step;
    return response.writeHead(status, { ...CORS, 'content-type': json === undefined ? 'text/plain' : 'application/json', ...headers }).end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  try {
    const result = await body(`http://127.0.0.1:${server.address().port}`, close);
    assert.deepEqual(faults, []);
    assert.equal(next, steps.length, 'the service was asked as often as expected');
    return result;
  } finally {
    close();
  }
}
