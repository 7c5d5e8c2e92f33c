// What `turnwise run` offers of the web by its flags: a search service, and the operations of an OpenAPI document; their keys, which are in
// no record, and what is answered to flags that are wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { inFolder, lines, read, turnwise } from './lib/cli.mjs';
import { withScript } from './lib/script-server.mjs';

const KEY = 'words-that-open-the-shop';
const operation = (operationId, more) => ({ operationId, responses: { 200: { description: 'ok' } }, ...more });
const DOCUMENT = {
  openapi: '3.1.0', info: { title: 'Shop', version: '1' }, servers: [{ url: '/v1' }],
  paths: {
    '/orders/{id}': { get: operation('getOrder', { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] }) },
    '/orders': { post: operation('createOrder', { requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', properties: { item: { type: 'string' } } } } } } }) },
  },
};

/** A server that answers these requests in this order, by `METHOD address`, and no others. */
async function withService(rows, body) {
  const faults = [];
  let next = 0;
  const server = http.createServer((request, response) => {
    const [wanted, check, answer] = rows[next++] ?? [];
    const got = `${request.method} ${request.url}`;
    try {
      assert.equal(got, wanted);
      check(request.headers);
    } catch (error) {
      faults.push(error.message);
      return response.writeHead(500).end();
    }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await body(`http://127.0.0.1:${server.address().port}`);
    assert.deepEqual([faults, next], [[], rows.length]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Runs one task with these flags against a script of the model; returns the record of it, with what the command said. */
const running = (steps, flags, { env, document = DOCUMENT, config } = {}) => inFolder((folder) => withScript(steps, async (baseUrl) => {
  writeFileSync(path.join(folder, 'tasks.jsonl'), lines([{ id: 'a', task: 'go' }]));
  writeFileSync(path.join(folder, 'shop.json'), JSON.stringify(document));
  writeFileSync(path.join(folder, 'c.json'), JSON.stringify(config ?? {}));
  const { code, err } = await turnwise(['run', 'tasks.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'scripted', '--config', 'c.json', ...flags], { cwd: folder, env });
  assert.equal(code, 0, err);
  for (const file of readdirSync(path.join(folder, 'runs'))) assert.ok(!readFileSync(path.join(folder, 'runs', file), 'utf8').includes(KEY), `the key is in ${file}`);
  assert.ok(!err.includes(KEY));
  const { code: replays } = await turnwise(['replay', 'runs'], { cwd: folder });
  assert.equal(replays, 0);
  return { calls: read(folder, 'runs', 'a.json').turns[0].tool_calls, err };
}));
const names = ({ tools }) => tools.map((tool) => tool.function.name).filter((name) => /order|operation|search_web|fetch_url/i.test(name)).sort();

test('operations that only read are offered; the key is sent to the service, and is in no file', () => withService([
  ['GET /v1/orders/A7', ({ authorization }) => assert.equal(authorization, `Bearer ${KEY}`), { id: 'A7' }],
], async (origin) => {
  const { calls } = await running([
    { calls: [{ id: 'a', name: 'getOrder', args: { id: 'A7' } }], check: (request) => assert.deepEqual(names(request), ['getOrder']) }, { text: 'Done.' },
  ], ['--openapi', 'shop.json', '--openapi-server', `${origin}/v1`, '--openapi-auth', 'SHOP_KEY'], { env: { SHOP_KEY: KEY } });
  assert.match(calls[0].result, /^\{"status":200,"body":\{"id":"A7"\}\}/);
}));

test('named operations may be called, from a document at an address, with a key in a header; wrong arguments send nothing', () => withService([
  ['GET /shop.json', () => {}, DOCUMENT], ['POST /v1/orders', (headers) => assert.deepEqual([headers['x-key'], headers['content-type']], [KEY, 'application/json']), { id: 'A8' }],
], async (origin) => {
  const { calls } = await running([
    { calls: [{ id: 'a', name: 'createOrder', args: { body: { item: 7 } } }, { id: 'b', name: 'createOrder', args: { body: { item: 'lamp' } } }], check: (request) => assert.deepEqual(names(request), ['createOrder']) }, { text: 'Done.' },
  ], ['--openapi', `${origin}/shop.json`, '--openapi-operations', 'POST /orders', '--openapi-auth', 'X-Key=SHOP_KEY'], { env: { SHOP_KEY: KEY } });
  assert.ok(calls[0].error !== undefined && /"id":"A8"/.test(calls[1].result), JSON.stringify(calls));
}));

test('many operations are searched, and a rule of the configuration is more than the flag', () => withService([], async (origin) => {
  const paths = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`/p${n}`, { get: operation(`getOrder${n}`) }]));
  const { calls } = await running([
    { calls: [{ id: 'a', name: 'call_operation', args: { name: 'getOrder3' } }], check: (request) => assert.deepEqual(names(request), ['call_operation', 'search_operations']) }, { text: 'Done.' },
  ], ['--openapi', 'shop.json', '--openapi-server', origin], { document: { ...DOCUMENT, paths }, config: { permissions: { tools: { call_operation: 'deny' } } } });
  assert.match(calls[0].result, /refused|not run|denied/);
}));

for (const [kind, url, header, answer] of [
  ['searxng', '/search?q=lamp&format=json', undefined, { results: [{ url: 'https://a.example/', title: 'A', content: 'x' }] }],
  ['brave', '/web/search?q=lamp&count=8&text_decorations=false', 'x-subscription-token', { web: { results: [{ url: 'https://a.example/', title: 'A', description: 'x' }] } }],
]) {
  test(`--search ${kind}: offered and allowed, its key from the environment`, () => withService([[`GET ${url}`, (headers) => header && assert.equal(headers[header], KEY), answer]], async (origin) => {
    const { calls } = await running([
      { calls: [{ id: 's', name: 'search_web', args: { query: 'lamp' } }], check: (request) => assert.deepEqual(names(request), ['search_web']) }, { text: 'Done.' },
    ], ['--search', `${kind}=${origin}`, ...(kind === 'brave' ? ['--search-key-env', 'MY_KEY'] : [])], { env: { MY_KEY: KEY } });
    assert.match(calls[0].result, /^1\. https:\/\/a\.example\//);
  }));
}

test('flags that are wrong are answered with what they take, and nothing runs', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'go' }]));
  writeFileSync(path.join(folder, 'shop.json'), JSON.stringify(DOCUMENT));
  writeFileSync(path.join(folder, 'writes.json'), JSON.stringify({ ...DOCUMENT, paths: { '/orders': DOCUMENT.paths['/orders'] } }));
  writeFileSync(path.join(folder, 'elsewhere.json'), JSON.stringify({ ...DOCUMENT, servers: [{ url: 'http://shop.example' }] }));
  writeFileSync(path.join(folder, 'old.json'), '{"swagger":"2.0"}');
  writeFileSync(path.join(folder, 'host.mjs'), "export default { hostTools: [{ name: 'getOrder', execute: () => '' }] };");
  const server = ['--openapi-server', 'https://shop.example'];
  const table = [
    [['--openapi', 'shp.json'], /--openapi shp\.json: No such file or folder; did you mean shop\.json\?/],
    [['--openapi', 'old.json'], /--openapi old\.json: .*Swagger 2\.0/],
    [['--openapi', 'http://127.0.0.1:9/x.json'], /cannot be loaded/],
    [['--openapi', 'shop.json'], /relative; set --openapi-server/],
    [['--openapi', 'writes.json', ...server], /it has no operation that only reads; name those that may be called in --openapi-operations/],
    [['--openapi', 'shop.json', ...server, '--openapi-operations', 'getOder'], /--openapi-operations: got "getOder"; the document has no such operation\. It has getOrder, createOrder/],
    [['--openapi', 'shop.json', ...server, '--openapi-auth', KEY], /--openapi-auth takes the name of an environment variable, such as SHOP_KEY; a key itself is no argument/],
    [['--openapi', 'shop.json', ...server, '--openapi-auth', 'NO_SUCH'], /--openapi-auth: the environment variable NO_SUCH is not set/],
    [['--openapi', 'elsewhere.json', '--openapi-auth', 'SHOP_KEY'], /name --openapi-server http:\/\/shop\.example if your credentials may be sent there/],
    [['--openapi', 'shop.json', ...server, '--config', 'host.mjs'], /its tool getOrder has the name of one of "hostTools"/],
    [['--openapi-operations', 'getOrder'], /--openapi-operations is for an OpenAPI document: add --openapi FILE/],
    [['--openapi-auth', 'SHOP_KEY'], /--openapi-auth is for an OpenAPI document/],
    [['--search', 'bravo'], /--search takes searxng=URL, brave or tavily; got bravo; did you mean brave\?/],
    [['--search', 'searxng'], /which one\? --search searxng=http/],
    [['--search', 'searxng=localhost:8888'], /the address has to begin with http/],
    [['--search', 'tavily'], /--search tavily: the environment variable TAVILY_API_KEY is not set/],
    [['--search', 'brave', '--search-key-env', KEY], /--search-key-env takes the name of an environment variable/],
    [['--search-key-env', 'X'], /--search-key-env is for a search service/],
  ];
  for (const [flags, message] of table) {
    const { code, err } = await turnwise(['run', 't.jsonl', '--provider', 'demo', ...flags], { cwd: folder, env: { SHOP_KEY: KEY, BRAVE_API_KEY: '', TAVILY_API_KEY: '' } });
    assert.equal(code, 2, `${flags}: ${err}`);
    assert.match(err, message, flags.join(' '));
    if (!flags.includes(KEY)) assert.ok(!err.includes(KEY), err);
  }
  assert.ok(!readdirSync(folder).includes('runs'));
}));
