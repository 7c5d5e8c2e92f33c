// A model list is requested with the key, and the key goes nowhere else: not into the error message when a server echoes it,
// and not along with a redirect.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { withPackage } from './lib/site.mjs';

const KEY = 'sk-planted-9c8b7a6d5e4f3a2b1c0d';
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };

async function withServer(answer, body) {
  const seen = [];
  const server = http.createServer((request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    seen.push(request.headers);
    const { status, headers = {}, text = '' } = answer(request);
    return response.writeHead(status, { ...CORS, 'content-type': 'application/json', ...headers }).end(text);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(`http://127.0.0.1:${server.address().port}/v1`, seen);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

const list = (page, baseUrl) => page.evaluate(async ({ baseUrl, apiKey }) => {
  try {
    return { models: await window.turnwise.listModels({ kind: 'openai', baseUrl, apiKey }) };
  } catch (error) {
    return { error: `${error.message} ${error.stack}` };
  }
}, { baseUrl, apiKey: KEY });

test('a server that says the key back: the message does not', () => withServer(
  ({ headers }) => ({ status: 401, text: JSON.stringify({ error: { message: `Wrong key: ${headers.authorization}` } }) }),
  (baseUrl, seen) => withPackage({ reach: [baseUrl] }, async (page) => {
    const { error } = await list(page, baseUrl);
    assert.equal(seen[0].authorization, `Bearer ${KEY}`);
    assert.match(error, /\[redacted\]/);
    assert.ok(!error.includes(KEY), error);
  }),
));

test('a redirect is not followed', () => withServer(() => ({ status: 200, text: '{"data":[]}' }), (elsewhere, taken) => withServer(
  () => ({ status: 302, headers: { location: `${elsewhere}/models` } }),
  (baseUrl, seen) => withPackage({ reach: [baseUrl, elsewhere] }, async (page) => {
    const { error, models } = await list(page, baseUrl);
    assert.equal(seen.length, 1);
    assert.equal(models, undefined);
    assert.ok(error && !error.includes(KEY), error);
    assert.deepEqual(taken, [], 'the other server was asked');
  }),
)));
