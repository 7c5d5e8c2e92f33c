// What the tests of the example's proxy share, whatever platform it runs on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';

export const KEY = 'sk-site-0123456789abcdefghij';
export const SITE = 'https://docs.example.org';

/** Runs `body` with a model server on loopback; `handle(asked, response, request)` answers. */
export async function withUpstream(handle, body) {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const asked = { url: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) };
    seen.push(asked);
    handle(asked, response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await body(`http://127.0.0.1:${server.address().port}/v1`, seen);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

export const question = (more = {}) => ({ model: 'small', messages: [{ role: 'user', content: 'hello' }], ...more });
export const json = (value) => (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Reads a response in full, and checks that the key appears nowhere in it. */
export async function told(response) {
  const text = await response.text();
  assert.ok(!`${[...response.headers].join()} ${text}`.includes(KEY), 'the key left the proxy');
  return { status: response.status, headers: response.headers, text, code: text.startsWith('{"error"') ? JSON.parse(text).error.code : undefined };
}
