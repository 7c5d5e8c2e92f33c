// `turnwise/openapi` in Node.js: documents become tools, and calls become the requests that the specification asks for. Requests go
// to a strict server on loopback, or to a function in place of `fetch` where only the request matters.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';

const { Agent, openai, replay, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
const { openapi, toolSearch } = await import(path.join(dist, 'turnwise/openapi.js'));
await init();

const SECRET = 'tok-7Hq/9+zX=="secret"';
const model = (baseUrl) => openai('scripted', { baseUrl, apiKey: 'sk-test-0123456789abcdefghij' });
const QUICK = { retry: { baseMs: 1, capMs: 2 }, seed: 1 };
const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const options = () => ({ signal: new AbortController().signal });
const doc = (paths, more) => ({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, servers: [{ url: 'https://api.example/v1' }], paths, ...more });
const ok = { responses: { 200: { description: 'ok' } } };
const get = (parameters, more) => ({ get: { operationId: 'op', parameters, ...ok, ...more } });
const post = (requestBody, more) => ({ post: { operationId: 'op', requestBody, ...ok, ...more } });
const json = (schema) => ({ required: true, content: { 'application/json': { schema } } });

/** A `fetch` that keeps its requests and answers with `answer`. */
function recorder(answer = () => new Response('{}', { headers: { 'content-type': 'application/json' } })) {
  const seen = [];
  const send = async (url, init) => {
    seen.push({ url, ...init });
    return answer(url, init);
  };
  return { seen, send };
}

/** Calls the operation `op` of a document with these arguments; returns the request. */
async function request(document, input, more) {
  const { seen, send } = recorder();
  const api = await openapi(document, { fetch: send, search: false, ...more });
  await api.tools.op.execute(input, options());
  assert.equal(seen.length, 1);
  return seen[0];
}

/** Runs `body(origin, seen)` beside a server that answers by `handle(request, response, body)`. */
async function withServer(handle, body) {
  const seen = [];
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const content = Buffer.concat(bytes).toString('latin1');
    seen.push({ method: request.method, url: request.url, headers: request.headers, body: content });
    handle(request, response, content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await body(`http://127.0.0.1:${server.address().port}`, seen);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
const sendJson = (response, value, status = 200, headers = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

// The table "Style Examples" of the specification (3.1.1): style, explode, then the results for "", "blue", the array and the object.
const ARRAY = ['blue', 'black', 'brown'];
const OBJECT = { R: 100, G: 200, B: 150 };
const STYLES = [
  ['path', 'matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['path', 'matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['path', 'label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['path', 'label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['path', 'simple', false, undefined, 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['path', 'simple', true, undefined, 'blue', 'blue,black,brown', 'R=100,G=200,B=150'],
  ['query', 'form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['query', 'form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['query', 'spaceDelimited', false, undefined, undefined, 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150'],
  ['query', 'pipeDelimited', false, undefined, undefined, 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['query', 'deepObject', true, undefined, undefined, undefined, 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
];

test('parameters are sent in the styles of the specification', async () => {
  for (const [where, style, explode, ...wanted] of STYLES) {
    const document = doc({ [where === 'path' ? '/x/{color}' : '/x']: get([{ name: 'color', in: where, required: true, style, explode, schema: {} }]) });
    for (const [at, value] of ['', 'blue', ARRAY, OBJECT].entries()) {
      if (wanted[at] === undefined) continue;
      // An empty value in a path would make another path.
      if (where === 'path' && value === '') {
        await assert.rejects(request(document, { color: value }), /^Error: Not sent: color: missing; the path needs it/);
        continue;
      }
      const { url } = await request(document, { color: value });
      const found = where === 'path' ? url.slice('https://api.example/v1/x/'.length) : new URL(url).search.slice(1);
      assert.equal(found, wanted[at], `${where} ${style} ${explode} ${JSON.stringify(value)}`);
    }
  }
});

test('the default of explode follows the style, also in headers, and content is sent as its media type', async () => {
  const items = { type: 'array', items: { type: 'string' } };
  const of = async (parameter, value) => request(doc({ '/x': get([{ name: 'p', schema: items, ...parameter }]) }), { p: value });
  const query = async (parameter, value) => new URL((await of({ in: 'query', ...parameter }, value)).url).search.slice(1);
  assert.equal(await query({}, ['a', 'b']), 'p=a&p=b');
  assert.equal(await query({ style: 'pipeDelimited' }, ['a', 'b']), 'p=a%7Cb');
  assert.equal(await query({ style: 'spaceDelimited', explode: true }, ['a', 'b']), 'p=a&p=b');
  assert.equal(await query({}, []), '', 'an empty array is left out');
  assert.equal(await query({ style: 'deepObject', schema: { type: 'object' } }, { a: { b: 1, c: [2, 3] }, d: null }), 'p%5Ba%5D%5Bb%5D=1&p%5Ba%5D%5Bc%5D=2&p%5Ba%5D%5Bc%5D=3');
  assert.equal(await query({ schema: undefined, content: { 'application/json': { schema: {} } } }, { a: ['x y'] }), 'p=%7B%22a%22%3A%5B%22x%20y%22%5D%7D');
  assert.equal((await of({ in: 'header', name: 'p' }, ['a', 'b c'])).headers.get('p'), 'a,b c');
  assert.equal((await of({ in: 'header', name: 'p', explode: true, schema: { type: 'object' } }, { a: 1, b: 2 })).headers.get('p'), 'a=1,b=2');
});

test('values are percent-encoded exactly; with allowReserved, reserved characters stay that do not end a value', async () => {
  const value = 'a b+c&d=e#f/g?h%i:ü!\'()*~';
  const of = async (parameter) => new URL((await request(doc({ '/x': get([{ name: 'q[a]', in: 'query', schema: {}, ...parameter }]) }), { q_a: value })).url).search.slice(1);
  assert.equal(await of({}), 'q%5Ba%5D=a%20b%2Bc%26d%3De%23f%2Fg%3Fh%25i%3A%C3%BC%21%27%28%29%2A~');
  // The URL parser encodes ' in a query.
  assert.equal(await of({ allowReserved: true }), 'q%5Ba%5D=a%20b%2Bc%26d=e%23f/g?h%25i:%C3%BC!%27()*~');
  assert.equal(new URLSearchParams(await of({})).get('q[a]'), value);
  const { url } = await request(doc({ '/x/{id}/y': get([{ name: 'id', in: 'path', required: true, schema: {} }]) }), { id: 'a/b?c#d;e%2Ff\uD800' });
  assert.equal(url, 'https://api.example/v1/x/a%2Fb%3Fc%23d%3Be%252Ff%EF%BF%BD/y');
});

test('no argument leaves the path or another parameter', async () => {
  const { seen, send } = recorder();
  const api = await openapi(doc({
    '/a/{x}{y}': get([{ name: 'x', in: 'path', required: true, schema: {} }, { name: 'y', in: 'path', required: true, schema: {} }, { name: 'more', in: 'query', schema: { type: 'object' } }, { name: 'key', in: 'query', schema: {} }, { name: 'X-H', in: 'header', schema: {} }]),
  }), { fetch: send, search: false, auth: { query: 'token', value: SECRET } });
  const refused = async (input, message) => assert.rejects(api.tools.op.execute({ x: 'x', y: 'y', ...input }, options()), message);
  for (const x of ['..', '.', '../b', '..\\b', 'a/../../b', '%2e%2e', '%2E.', 'a/..']) await refused({ x, y: 'z' }, /"\.\." (are|is)? ?(not allowed|a part)|a part of the path/);
  await refused({ x: '.', y: '.' }, /path/);
  await refused({ x: ['a', '..'] }, /path/);
  await refused({ x: '' }, /x: missing/);
  await refused({ more: { key: 'mine' } , key: 'given' }, /key: its member key is the parameter more/);
  await refused({ more: { token: 'mine' } }, /the arguments contain the query parameter token/);
  await refused({ 'X-H': 'a\r\nHost: evil' }, /line breaks/);
  assert.deepEqual(seen, []);
});

test('names of tools are valid, unique, stable, and never those of the engine', async () => {
  const long = 'get_'.padEnd(80, 'x');
  const paths = {
    '/a': { get: { operationId: 'pets.list/all (v2)', ...ok }, post: { operationId: long, ...ok }, put: { operationId: `${long}y`, ...ok } },
    '/b/{id}': { get: ok, delete: { operationId: '42', ...ok } },
    '/c': { get: { operationId: 'dup', ...ok }, post: { operationId: 'dup', ...ok }, put: { operationId: 'DUP', ...ok }, patch: { operationId: 'final_report', ...ok } },
    '/d': { get: { operationId: 'größe', ...ok }, post: { operationId: '日本', ...ok }, put: { operationId: 'run_code', ...ok } },
  };
  const first = await openapi(doc(paths));
  const names = first.operations.map(({ name }) => name);
  for (const name of names) assert.match(name, /^[A-Za-z][A-Za-z0-9_-]{0,63}$/);
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length);
  const hashed = (base) => new RegExp(`^${base}_[0-9a-z]{6}$`);
  assert.deepEqual(names.filter((name) => !/_[0-9a-z]{6}$/.test(name) || name === 'get_b_id'), ['pets_list_all_v2', 'get_b_id', 'final_report_operation', 'gro_e', 'run_code_operation'].filter((name) => names.includes(name)));
  for (const [base, many] of [['dup', 2], ['DUP', 1], ['operation', 2], [long.slice(0, 56), 2]]) assert.equal(names.filter((name) => hashed(base).test(name)).length, many, base);
  assert.equal(names.length, 12);
  // Other operations, in another order, do not change a name.
  const turned = await openapi(doc(Object.fromEntries(Object.entries(paths).reverse())));
  assert.deepEqual(turned.operations.map(({ name }) => name).sort(), [...names].sort());
  const some = await openapi(doc(paths), { operations: ['DELETE /b/{id}', /^dup$/, long], prefix: 'shop_' });
  assert.equal(some.operations.length, 4);
  for (const { name } of some.operations) assert.match(name, /^shop_[A-Za-z0-9_-]{1,59}$/);
  await assert.rejects(openapi(doc(paths), { operations: ['dupe'] }), /^TypeError: options\.operations\[0\]: got "dupe"; the document has no such operation\. It has pets\.list/);
});

test('schemas of 3.0 become JSON Schema: nullable, exclusive bounds, readOnly, discriminator, recursion', async () => {
  const document = {
    ...doc({ '/x': post(json({ $ref: '#/components/schemas/Pet' })) }), openapi: '3.0.3',
    components: { schemas: {
      Pet: {
        type: 'object', required: ['id', 'name', 'kind'], discriminator: { propertyName: 'kind' }, xml: { name: 'pet' }, 'x-own': 1,
        properties: {
          id: { type: 'integer', readOnly: true }, name: { type: 'string', nullable: true, enum: ['a', 'b'], example: 'a' }, age: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
          friend: { nullable: true, allOf: [{ $ref: '#/components/schemas/Pet' }] }, secret: { type: 'string', writeOnly: true }, bad: { type: 'string', pattern: '(', minLength: '3', required: true, madeUp: 1 },
          any: { type: 'any' }, lost: { $ref: '#/components/schemas/None' }, far: { $ref: 'other.yaml#/X' }, kind: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: 't', mapping: { feline: '#/components/schemas/Cat' } } },
        },
      },
      Cat: { type: 'object', properties: { t: { type: 'string' } } }, Dog: { allOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] },
    } },
  };
  const { tools, faults } = await openapi(document);
  const { $defs: { Pet, Dog }, properties } = tools.op.inputSchema;
  assert.deepEqual(properties, { body: { $ref: '#/$defs/Pet' } });
  assert.deepEqual(Pet.required, ['name', 'kind']);
  assert.deepEqual(Pet.properties, {
    name: { type: ['string', 'null'], enum: ['a', 'b', null] }, age: { type: 'number', exclusiveMinimum: 0, maximum: 9 }, friend: { anyOf: [{ allOf: [{ $ref: '#/$defs/Pet' }] }, { type: 'null' }] },
    secret: { type: 'string' }, bad: { type: 'string' }, any: {}, lost: {}, far: {},
    kind: { anyOf: [
      { allOf: [{ $ref: '#/$defs/Cat' }], properties: { t: { enum: ['feline'] } }, required: ['t'] }, { allOf: [{ $ref: '#/$defs/Dog' }], properties: { t: { enum: ['Dog'] } }, required: ['t'] },
    ] },
  });
  assert.deepEqual(Dog, { allOf: [{ $ref: '#/$defs/Cat' }, {}] }, 'a schema that is itself would be checked without end');
  const said = faults.map(({ path: at, message }) => `${at} ${message}`).join('\n');
  for (const part of ['bad/pattern pattern: "("', 'bad/minLength minLength: "3"', 'bad/required required: true', 'bad/madeUp the keyword madeUp', 'any/type the type "any"', 'lost the reference #/components/schemas/None leads nowhere', 'far the reference other.yaml#/X leads to another document; pass it in options.documents as "other.yaml"']) assert.ok(said.includes(part), `${part} in\n${said}`);
  assert.equal(faults.length, 7);
});

test('3.1 keeps keywords beside a reference; other documents are given, never fetched', async () => {
  const { send, seen } = recorder();
  const document = doc({
    '/x': post(json({ $ref: 'shared.yaml#/components/schemas/Node', description: 'The root.', minProperties: 1 })),
    '/y': { $ref: './shared.yaml#/paths/y' },
  });
  const shared = 'components:\n  schemas:\n    Node:\n      type: [object, "null"]\n      properties:\n        next: { $ref: "#/components/schemas/Node" }\n        a~b/c: { const: 2020-01-01 }\npaths:\n  y:\n    get:\n      operationId: y\n      parameters: [{ name: q, in: query, schema: { $ref: "#/components/schemas/Node/properties/a~0b~1c" } }]\n      responses: {}\n';
  const { tools, faults } = await openapi(document, { documents: { 'shared.yaml': shared }, fetch: send });
  assert.deepEqual(faults, []);
  assert.deepEqual(tools.op.inputSchema, {
    type: 'object', properties: { body: { $ref: '#/$defs/Node', description: 'The root.', minProperties: 1 } }, required: ['body'], additionalProperties: false,
    $defs: { Node: { type: ['object', 'null'], properties: { next: { $ref: '#/$defs/Node' }, 'a~b/c': { const: '2020-01-01' } } } },
  });
  assert.deepEqual(tools.y.inputSchema.properties, { q: { $ref: '#/$defs/a_b_c' } });
  const without = await openapi(document, { fetch: send });
  assert.deepEqual(without.faults.map(({ path: at, action }) => [at, action]), [['/paths/~1y', 'skipped'], ['/paths/~1x/post/requestBody/content/application~1json/schema', 'ignored']]);
  assert.deepEqual(seen, []);
});

test('bodies: JSON with null, forms, multipart with files, bytes and text', async () => {
  const of = (requestBody, input, more) => request(doc({ '/x': post(requestBody) }), { body: input }, more);
  const content = (type, schema, encoding) => ({ content: { [type]: { schema, encoding } } });
  const sent = await of(json({ type: 'object' }), { a: null, b: [1] });
  assert.deepEqual([sent.body, sent.headers.get('content-type')], ['{"a":null,"b":[1]}', 'application/json']);
  assert.equal((await of(json({ type: 'array' }), [1, 2])).body, '[1,2]');
  assert.equal((await of(content('application/vnd.api+json', {}), {})).headers.get('content-type'), 'application/vnd.api+json');
  const form = await of(content('application/x-www-form-urlencoded', { type: 'object', properties: { a: {}, list: {}, deep: {}, o: {} } }, { deep: { style: 'deepObject', explode: true }, list: { explode: false } }), { a: 'x y&z', list: [1, 2], deep: { k: { l: true } }, o: { p: 1 }, none: null });
  assert.deepEqual([form.body, form.headers.get('content-type')], ['a=x%20y%26z&list=1,2&deep%5Bk%5D%5Bl%5D=true&o=%7B%22p%22%3A1%7D', 'application/x-www-form-urlencoded']);
  const bytes = { type: 'string', format: 'binary' };
  const schema = { type: 'object', properties: { file: bytes, more: { type: 'array', items: bytes }, meta: { type: 'object' }, tags: { type: 'array', items: { type: 'string' } }, note: { type: 'string' } }, required: ['file'] };
  const files = { read: (name) => (name === 'data/a.bin' ? new Blob([new Uint8Array([0, 255])], { type: 'application/x-own' }) : undefined) };
  const multipart = await of(content('multipart/form-data', schema, { note: { contentType: 'text/markdown' } }), { file: { file: 'data/a.bin' }, more: [{ base64: 'AAE=' }, { text: 'hi', name: 'x"y.txt' }], meta: { k: 1 }, tags: ['a', 'b'], note: '# n' }, { files });
  assert.equal(multipart.headers.get('content-type'), null, 'fetch chooses the boundary');
  assert.deepEqual([...multipart.body].map(([name, value]) => [name, typeof value === 'string' ? value : `${value.name} ${value.type} ${value.size}`]), [
    ['file', 'a.bin application/x-own 2'], ['more', 'file application/octet-stream 2'], ['more', 'x_y.txt text/plain 2'], ['meta', 'blob application/json 7'], ['tags', 'a'], ['tags', 'b'], ['note', 'blob text/markdown 3'],
  ]);
  const raw = await of(content('application/octet-stream', bytes), { base64: 'AP8=' });
  assert.deepEqual([new Uint8Array(await raw.body.arrayBuffer()), raw.headers.get('content-type')], [new Uint8Array([0, 255]), 'application/octet-stream']);
  const image = await of(content('image/*', bytes), { base64: 'AP8=', type: 'image/png' });
  assert.equal(image.headers.get('content-type'), 'image/png');
  const xml = await of(content('application/xml', { type: 'object', properties: { a: {} } }), '<a/>');
  assert.deepEqual([xml.body, xml.headers.get('content-type')], ['<a/>', 'application/xml']);
  await assert.rejects(of(content('application/octet-stream', bytes), { base64: '!' }), /body\.base64: this is not base64/);
  await assert.rejects(of(content('application/octet-stream', bytes), { file: '../x' }, { files }), /body\.file: there is no file "\.\.\/x"/);
  await assert.rejects(of(content('application/octet-stream', bytes), { text: 'a', base64: 'AA==' }), /exactly one of text and base64/);
});

test('arguments with one name in several places, with names that providers refuse, and a parameter named body', async () => {
  const parameters = [{ name: 'id', in: 'query', schema: {} }, { name: 'id', in: 'header', schema: {} }, { name: 'id', in: 'path', required: true, schema: {} }, { name: 'filter[a]', in: 'query', schema: {} }, { name: 'StartTime<', in: 'query', schema: {} }, { name: 'StartTime>', in: 'query', schema: {} }, { name: 'body', in: 'query', schema: {} }];
  const document = doc({ '/x/{id}': post(json({ type: 'object', properties: { id: { type: 'string' } } }), { parameters }) });
  const { tools } = await openapi(document);
  for (const name of Object.keys(tools.op.inputSchema.properties)) assert.match(name, /^[A-Za-z0-9_.-]{1,64}$/);
  assert.deepEqual(tools.op.inputSchema.properties.StartTime_query, { description: 'The query parameter StartTime>.' });
  const { url, headers, body } = await request(document, { id: 1, id_query: 2, id_header: 3, filter_a: 4, StartTime: 5, StartTime_query: 6, body: 7, request_body: { id: 8 } });
  assert.equal(url, 'https://api.example/v1/x/1?id=2&filter%5Ba%5D=4&StartTime%3C=5&StartTime%3E=6&body=7');
  assert.deepEqual([headers.get('id'), body], ['3', '{"id":8}']);
});

test('faults are listed, and only the operation that they concern is left out', async () => {
  const { operations, faults } = await openapi(doc({
    '/a': { get: { operationId: 'a', parameters: [{ name: 's', in: 'cookie', required: true, schema: {} }], ...ok }, post: { operationId: 'b', parameters: [{ name: 's', in: 'cookie', schema: {} }, { name: 'Authorization', in: 'header', schema: {} }, { name: 'n', in: 'nowhere' }, { $ref: '#/components/parameters/P' }], ...ok } },
    '/b': { get: { operationId: 'c', requestBody: json({}), ...ok }, trace: ok, put: 'no', post: { operationId: 'd', parameters: [{ $ref: '#/nothing' }], ...ok }, patch: { operationId: 'e', requestBody: { $ref: 'far.json#/x' }, ...ok } },
    '/c/{id}': { get: { operationId: 'f', ...ok } }, bad: { get: ok }, '/x/../y': { get: ok }, '/own': { get: { operationId: 'g', servers: [{ url: 'ftp://files.example' }], ...ok } },
  }, { components: { parameters: { P: { name: 'p', in: 'query', style: 'wrong', schema: {} } } } }));
  assert.deepEqual(operations.map(({ name }) => name), ['b', 'c', 'f']);
  assert.deepEqual(faults.map(({ path: at, action }) => `${action} ${at}`).sort(), [
    'changed /components/parameters/P/style', 'changed /paths/~1c~1{id}/parameters', 'ignored /paths/~1a/post/parameters/0', 'ignored /paths/~1a/post/parameters/1', 'ignored /paths/~1a/post/parameters/2', 'ignored /paths/~1b/get/requestBody',
    'skipped /paths/bad', 'skipped /paths/~1a/get', 'skipped /paths/~1b/patch', 'skipped /paths/~1b/post', 'skipped /paths/~1b/put', 'skipped /paths/~1b/trace', 'skipped /paths/~1x~1..~1y', 'skipped /servers',
  ]);
  assert.match(faults.find(({ path: at }) => at === '/paths/~1a/get').message, /GET \/a is not offered: the required parameter s is a cookie, and cookies are never sent/);
});

test('what cannot be read is refused by name', async () => {
  const refused = (document, message) => assert.rejects(openapi(document), (error) => error.name === 'OpenApiError' && message.test(error.message));
  await refused({ swagger: '2.0' }, /Swagger 2\.0 document\. Convert it to OpenAPI 3 first, for example with the npm package swagger2openapi/);
  await refused('swagger: "2.0"', /Swagger 2\.0/);
  await refused({ openapi: '4.0.0' }, /OpenAPI 4\.0\.0 document/);
  await refused({ asyncapi: '3.0.0' }, /AsyncAPI/);
  await refused('{"openapi": ', /not JSON/);
  await refused('', /empty/);
  await refused('just words', /not an object/);
  await refused('a: [', /neither JSON nor YAML/);
  await refused(`a: &a [x]\n${Array.from({ length: 9 }, (_, at) => `b${at}: &b${at} [${Array(9).fill(at ? `*b${at - 1}` : '*a').join()}]`).join('\n')}`, /alias/i);
  await assert.rejects(openapi(), /^TypeError: document: missing/);
  await assert.rejects(openapi({}, { server: 'ftp://x' }), /OpenApiError|openapi/);
  await assert.rejects(openapi(doc({}), { operation: [] }), /^TypeError: options\.operation: unknown option/);
  const read = await openapi('\uFEFFopenapi: 3.1.0\ninfo: { title: Y, version: "1" }\nservers: [{ url: https://y.example }]\npaths:\n  /a:\n    get:\n      responses: { 200: { description: ok } }\n');
  assert.deepEqual([read.title, Object.keys(read.tools)], ['Y', ['get_a']]);
});

test('servers: variables, relative addresses, the option, and nothing but http', async () => {
  const paths = { '/x': get([]) };
  const urlOf = async (servers, more) => (await request(doc(paths, { servers }), {}, more)).url;
  const region = { url: 'https://{region}.api.example:{port}/{base}/', variables: { region: { default: 'eu', enum: ['eu', 'us'] }, port: { default: '8443' }, base: { default: 'v2' } } };
  assert.equal(await urlOf([region]), 'https://eu.api.example:8443/v2/x');
  assert.equal(await urlOf([region], { variables: { region: 'us', base: 'v3' } }), 'https://us.api.example:8443/v3/x');
  assert.equal(await urlOf([{ url: '/v2' }], { url: 'https://docs.example/specs/openapi.json' }), 'https://docs.example/v2/x');
  assert.equal(await urlOf([{ url: '../api' }], { url: 'https://docs.example/specs/a/openapi.json' }), 'https://docs.example/specs/api/x');
  assert.equal(await urlOf(undefined, { url: 'https://docs.example/specs/openapi.json' }), 'https://docs.example/x');
  assert.equal(await urlOf([region], { server: 'http://127.0.0.1:9/base/' }), 'http://127.0.0.1:9/base/x');
  assert.equal(await urlOf([{ url: 'file:///etc' }, { url: 'https://ok.example' }]), 'https://ok.example/x');
  for (const [servers, more, message] of [
    [[region], { variables: { region: 'evil' } }, /\{region\} is "evil", but has to be one of eu, us/], [[{ url: 'javascript:1' }], {}, /neither http nor https/], [[{ url: 'https://user:pw@x.example' }], {}, /user name or a password/],
    [[{ url: '/v1' }], {}, /relative; set options\.server/], [undefined, {}, /names no server; set options\.server/], [[{ url: 'https://{x}.example' }], {}, /\{x\} has no default/],
  ]) {
    const { operations, faults } = await openapi(doc(paths, { servers }), more);
    assert.deepEqual([operations.length, faults.length, faults[0].action], [0, 1, 'skipped']);
    assert.match(faults[0].message, message);
    assert.ok(!faults[0].message.includes('pw'));
  }
});

test('credentials go to their origins only, and are not shown by an echo, an error, a redirect or a record', async () => {
  await withServer((_, response) => sendJson(response, { stolen: true }), async (other, stolen) => {
    await withServer((request, response) => {
      const { pathname, search } = new URL(request.url, 'http://x');
      if (pathname === '/echo') sendJson(response, { headers: request.headers, url: request.url, search });
      else if (pathname === '/fail') sendJson(response, { error: { message: `bad key ${request.headers['x-key']}` } }, 401);
      else if (pathname === '/away') response.writeHead(302, { location: `${other}/?leak=1` }).end();
      else if (pathname === '/near') response.writeHead(307, { location: '/echo' }).end();
      else sendJson(response, {});
    }, async (origin, seen) => {
      const operation = (operationId, more) => ({ get: { operationId, responses: {}, ...more } });
      const document = doc({
        '/echo': operation('echo'), '/fail': operation('fail'), '/away': operation('away'), '/near': { post: { operationId: 'near', requestBody: json({}), responses: {} } },
        '/open': operation('open', { security: [] }), '/other': operation('other', { servers: [{ url: other }] }),
        '/key': operation('key', { parameters: [{ name: 'X-Key', in: 'header', required: true, schema: {} }, { name: 'api_key', in: 'query', schema: {} }] }),
      }, { servers: [{ url: origin }] });
      let asked = 0;
      const auth = [{ bearer: async () => { asked += 1; return SECRET; } }, { header: 'X-Key', value: SECRET }, { query: 'api_key', value: SECRET }];
      const api = await openapi(document, { auth });
      assert.deepEqual(api.origins, [origin]);
      assert.deepEqual(api.faults.map(({ path: at, message }) => `${at} ${message}`), [`/paths/~1other/get its calls carry no credentials: ${other} is not among options.origins`]);
      assert.deepEqual(api.tools.key.inputSchema.properties, {}, 'what the credentials fill is not asked of the model');
      const shown = [];
      const call = (name) => api.tools[name].execute({}, options()).then((value) => shown.push(JSON.stringify(value)), (error) => shown.push(error.message));
      await call('echo');
      assert.deepEqual([seen[0].headers.authorization, seen[0].headers['x-key'], new URL(seen[0].url, origin).searchParams.get('api_key')], [`Bearer ${SECRET}`, SECRET, SECRET]);
      assert.match(shown[0], /\[redacted\]/);
      await call('fail');
      assert.match(shown[1], /HTTP 401 Unauthorized: bad key \[redacted\]/);
      await call('away');
      assert.match(shown[2], new RegExp(`GET ${new URL(origin).host}/away: the server redirects to another origin, ${new URL(other).host}; it is not followed`));
      assert.equal(stolen.length, 0);
      await api.tools.near.execute({ body: { a: 1 } }, options());
      assert.deepEqual(seen.slice(-2).map(({ method, body, headers }) => [method, body, headers.authorization]), [['POST', '{"a":1}', `Bearer ${SECRET}`], ['POST', '{"a":1}', `Bearer ${SECRET}`]]);
      await call('open');
      assert.deepEqual([seen.at(-1).headers.authorization, seen.at(-1).url], [undefined, '/open']);
      await call('other');
      assert.deepEqual([stolen[0].headers.authorization, stolen[0].headers['x-key'], stolen[0].url], [undefined, undefined, '/other']);
      assert.ok(asked >= 4);
      for (const text of shown) for (const form of [SECRET, encodeURIComponent(SECRET), 'tok-7Hq']) assert.ok(!text.includes(form), text);

      const broken = await openapi(document, { auth: { bearer: () => { throw new Error(`no ${SECRET}`); } } });
      await assert.rejects(broken.tools.echo.execute({}, options()), (error) => /could not be obtained; nothing was sent/.test(error.message) && !error.message.includes('tok-'));
      const split = await openapi(document, { auth: { header: 'X-Key', value: `${SECRET}\nevil: 1` } });
      await assert.rejects(split.tools.echo.execute({}, options()), (error) => /could not be obtained/.test(error.message) && !error.message.includes('tok-'));

      const before = seen.length;
      let trajectory;
      await withScript([
        { calls: [{ id: 'a', name: 'echo', args: {} }, { id: 'b', name: 'fail', args: {} }] },
        { text: 'Done.', check: (request) => assert.ok(!JSON.stringify(request).includes('tok-7Hq'), 'the model reads the key') },
      ], async (baseUrl) => { ({ trajectory } = await new Agent({ model: model(baseUrl), tools: api.tools, approve: 'all', ...QUICK }).generate('go')); });
      assert.equal(seen.length, before + 2);
      assert.ok(!JSON.stringify(trajectory).includes('tok-7Hq'), 'the record has the key');
      assert.deepEqual(await replay(trajectory), { ok: true });
    });
  });
});

test('a document cannot choose who gets the credentials', async () => {
  const paths = { '/x': get([]) };
  const at = (server) => recorder(() => new Response(JSON.stringify(doc(paths, { servers: [{ url: server }] })), { headers: { 'content-type': 'application/json' } })).send;
  const auth = { bearer: SECRET };
  await assert.rejects(openapi('https://docs.example/o.json', { auth, fetch: at('https://evil.example') }), /^TypeError: options\.origins: missing; expected \['https:\/\/evil\.example'\] if your credentials may be sent there\. The document was loaded from https:\/\/docs\.example/);
  // A redirect of the document's address does not make another origin the user's choice.
  const redirected = recorder(() => Object.defineProperty(new Response(JSON.stringify(doc(paths, { servers: [{ url: '/' }] }))), 'url', { value: 'https://evil.example/o.json' })).send;
  await assert.rejects(openapi('https://docs.example/o.json', { auth, fetch: redirected }), /expected \['https:\/\/evil\.example'\]/);
  assert.deepEqual((await openapi('https://docs.example/o.json', { auth, fetch: at('https://docs.example/api') })).origins, ['https://docs.example']);
  assert.deepEqual((await openapi('https://docs.example/o.json', { auth, origins: ['https://api.example'], fetch: at('https://api.example') })).origins, ['https://api.example']);
  await assert.rejects(openapi(doc(paths, { servers: [{ url: 'http://api.example' }] }), { auth }), /The connection is not encrypted/);
  for (const [wrong, message] of [[{ token: 'x' }, /got an object with token; expected \{ bearer \}/], ['tok-secret', /options\.auth: got a value of type string; expected \{ bearer \}/], [{ bearer: 7_777_777 }, /got a value of type number/], [{ basic: { username: 'a:b', password: 'x' } }, /without a colon/]]) {
    await assert.rejects(openapi(doc(paths), { auth: wrong }), (error) => message.test(error.message) && !/tok-secret|7777777/.test(error.message));
  }
  const basic = await request(doc(paths), {}, { auth: { basic: { username: 'me', password: 'pä' } } });
  assert.equal(basic.headers.get('authorization'), `Basic ${Buffer.from('me:pä').toString('base64')}`);
  assert.deepEqual([basic.credentials, basic.redirect, basic.referrerPolicy], ['omit', 'manual', 'no-referrer']);
});

const answers = {
  '/json': (response) => sendJson(response, { id: 1, name: 'a', extra: 'x', list: [{ k: 1, z: 2 }], map: { any: { thing: 1 } }, open: { q: 1 }, both: { a: 1, b: 2, c: 3 } }),
  '/none': (response) => response.writeHead(204).end(),
  '/text': (response) => response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from([0x67, 0xfc, 0x6e])),
  '/xml': (response) => response.writeHead(200, { 'content-type': 'application/xml' }).end('<a>1</a>'),
  '/lines': (response) => response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end('{"a":1}\n{"a":2}\n'),
  '/wrong': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
  '/binary': (response) => response.writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="../../a b.zip"' }).end(Buffer.from([1, 2, 3])),
  '/image': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 3])),
  '/big': (response) => sendJson(response, { text: 'x'.repeat(5000) }),
  '/problem': (response) => response.writeHead(422, { 'content-type': 'application/problem+json', 'retry-after': '7' }).end(JSON.stringify({ title: 'Invalid', detail: 'name is too long', errors: [] })),
  '/fetch': (response) => sendJson(response, { message: 'failed to fetch the row' }, 500),
  '/cut': (response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
  '/page': (response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<html><script>x()</script><h1>Down</h1> for <b>repair</b>'),
  '/hang': () => {},
};

test('answers: cut to the schema, by media type, errors with their message, limits', async () => {
  const schema = {
    type: 'object', properties: {
      id: {}, name: {}, list: { type: 'array', items: { type: 'object', properties: { k: {} } } }, map: { type: 'object', properties: { some: {} }, additionalProperties: true }, open: { type: 'object' },
      both: { allOf: [{ type: 'object', properties: { a: {} } }, { type: 'object', properties: { b: {} } }] },
    },
  };
  await withServer((request, response) => answers[request.url](response), async (origin) => {
    const paths = Object.fromEntries(Object.keys(answers).map((at) => [at, { get: { operationId: at.slice(1), responses: { '2XX': { description: '', content: { 'application/json': { schema: at === '/json' ? schema : {} } } } } } }]));
    const api = await openapi(doc(paths), { server: origin, search: false, maxBytes: 2000, timeoutMs: 10_000 });
    const call = (name, from = api) => from.tools[name].execute({}, options());
    assert.deepEqual(await call('json'), { status: 200, body: { id: 1, name: 'a', list: [{ k: 1 }], map: { any: { thing: 1 } }, open: { q: 1 }, both: { a: 1, b: 2 } }, omitted: ['extra', 'list[].z', 'both.c'] });
    const whole = await openapi(doc(paths), { server: origin, search: false, answers: 'whole' });
    assert.equal((await call('json', whole)).body.extra, 'x');
    assert.deepEqual(await call('none'), { status: 204 });
    assert.deepEqual(await call('text'), { status: 200, contentType: 'text/plain', body: 'gün' });
    assert.deepEqual(await call('xml'), { status: 200, contentType: 'application/xml', body: '<a>1</a>' });
    assert.deepEqual(await call('lines'), { status: 200, body: [{ a: 1 }, { a: 2 }] });
    assert.deepEqual(await call('wrong'), { status: 200, body: '<html>' });
    assert.deepEqual(await call('binary'), { status: 200, contentType: 'application/zip', bytes: 3, note: 'The content is binary and is not shown.' });
    const image = await call('image');
    assert.equal(image.text, '{"status":200,"contentType":"image/png","bytes":3}');
    // The picture gets into the run: to a model that accepts none, the engine says so.
    await withScript([{ calls: [{ id: 'a', name: 'image', args: {} }] }, { text: 'Seen.', check: (request) => assert.match(results(request)[0], /^\[Left out: 1 picture or PDF\. .*\]\n\{"status":200,"contentType":"image\/png","bytes":3\}$/) }], (baseUrl) =>
      new Agent({ model: model(baseUrl), tools: { image: api.tools.image }, approve: 'all', ...QUICK }).generate('go'));
    const kept = [];
    const saving = await openapi(doc(paths), { server: origin, search: false, files: { write: (name, blob) => { kept.push([name, blob.size, blob.type]); return `results/${name}`; } } });
    assert.deepEqual(await call('binary', saving), { status: 200, contentType: 'application/zip', bytes: 3, file: 'results/a b.zip' });
    assert.deepEqual(kept, [['a b.zip', 3, 'application/zip']]);
    await assert.rejects(call('big'), /GET 127\.0\.0\.1:\d+\/big: the answer is larger than 2000 bytes; ask for less/);
    await assert.rejects(call('problem'), /HTTP 422 Unprocessable Entity: name is too long\nRetry-After: 7\n\{"title":"Invalid"/);
    await assert.rejects(call('fetch'), /HTTP 500 Internal Server Error: failed to fetch the row\n\{"message":"failed to fetch the row"\}$/);
    await assert.rejects(call('cut'), /GET 127\.0\.0\.1:\d+\/cut: terminated/);
    await assert.rejects(call('page'), /HTTP 503 Service Unavailable: Down for repair$/);
    const quick = await openapi(doc(paths), { server: origin, search: false, timeoutMs: 50 });
    await assert.rejects(call('hang', quick), /\/hang: no complete answer within 0\.05 s/);
    const abort = new AbortController();
    const hanging = api.tools.hang.execute({}, { signal: abort.signal });
    abort.abort(new Error('stopped by the run'));
    await assert.rejects(hanging, /stopped by the run/);
  });
  const gone = await openapi(doc({ '/x': get([]) }), { server: 'http://127.0.0.1:1' });
  await assert.rejects(gone.tools.op.execute({}, options()), /GET 127\.0\.0\.1:1\/x: fetch failed \(.*\)\. The server cannot be reached, or does not allow requests from this page \(CORS\)\./);
});

/** A document with `n` operations on things. */
const many = (n) => doc(Object.fromEntries(Array.from({ length: n }, (_, at) => [`/things${at}/{id}`, {
  get: { operationId: `getThing${at}`, summary: `Returns thing ${at}.`, parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }], ...ok },
  delete: { operationId: `deleteThing${at}`, summary: `Removes thing ${at}.`, parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^(a+)+$' } }], ...ok },
}]).concat([['/invoices', { post: { operationId: 'createInvoice', summary: 'Creates an invoice for a customer.', requestBody: json({ type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }), ...ok } }]])));

test('many operations are two tools: a run searches, is told about wrong arguments, and calls', async () => {
  const { seen, send } = recorder();
  const api = await openapi(many(150), { fetch: send });
  assert.equal(api.operations.length, 301);
  assert.deepEqual(Object.keys(api.tools), ['search_operations', 'call_operation']);
  assert.ok(JSON.stringify(Object.values(api.tools)).length < 1500, 'what the model reads before it searches');
  assert.equal(Object.keys((await openapi(many(9), { fetch: send })).tools).length, 19);
  assert.equal(Object.keys((await openapi(many(9), { search: 18, fetch: send })).tools).length, 2);
  const found = api.tools.search_operations.execute({ query: 'create an invoice' });
  assert.deepEqual(found.matches.map(({ name }) => name).slice(0, 1), ['createInvoice']);
  assert.equal(api.tools.search_operations.execute({ query: 'deleteThing77' }).matches[0].name, 'deleteThing77');
  assert.equal(api.tools.search_operations.execute({ query: 'remove things 77' }).matches[0].name, 'deleteThing77');
  assert.match(api.tools.search_operations.execute({ query: 'zebra' }).note, /Nothing matches/);
  assert.deepEqual([api.tools.search_operations.execute({ query: '' }).more.length, api.tools.search_operations.execute({ query: '' }).andOthers], [60, 241]);
  const asked = [];
  await withScript([
    { calls: [{ id: 'a', name: 'search_operations', args: { query: 'create invoice' } }] },
    { calls: [{ id: 'b', name: 'call_operation', args: { name: 'createInvoice', arguments: { total: 'ten' } } }, { id: 'c', name: 'call_operation', args: { name: 'createInvoices', arguments: {} } }], check: (request) => {
      assert.deepEqual(request.tools.map((one) => one.function.name), ['search_operations', 'call_operation']);
      assert.deepEqual(JSON.parse(results(request)[0]).matches[0].parameters, { type: 'object', properties: { body: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] } }, required: ['body'], additionalProperties: false });
    } },
    { calls: [{ id: 'd', name: 'call_operation', args: { name: 'createInvoice', arguments: { body: { total: 10 } } } }], check: (request) => {
      assert.match(results(request)[1], /The arguments of createInvoice are wrong, and it was not called\.\n\/: .*"body"\.\n\/total: this is not allowed here\.\nIts parameters: \{"type":"object"/);
      assert.match(results(request)[2], /There is no "createInvoices" among the operations of Test\. Similar: createInvoice/);
    } },
    { text: 'Done.', check: (request) => assert.equal(results(request)[3], '{"status":200,"body":{}}') },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools: api.tools, approve: ({ toolName, input, destination }) => { asked.push([toolName, input, destination]); return true; }, ...QUICK });
    await agent.generate('go');
  });
  assert.deepEqual(asked, [['createInvoice', { body: { total: 10 } }, 'api.example']], 'a call that fails anyway is not asked about');
  assert.deepEqual(seen.map(({ method, url, body }) => [method, url, body]), [['POST', 'https://api.example/v1/invoices', '{"total":10}']]);
  // A pattern that could keep the page busy is left to the server.
  await api.tools.call_operation.execute({ name: 'deleteThing1', arguments: { id: `${'a'.repeat(60)}!` } }, options());
  await assert.rejects(async () => api.tools.call_operation.execute({ name: 'getThing1', arguments: { id: 0 } }, options()), /\/id: /);
});

/** Runs the calls, each in a turn of its own unless in one array; returns what was asked and what was sent. */
async function approvals(calls, { approve = () => true, permissions, search, document = many(3) } = {}) {
  const { seen, send } = recorder();
  const api = await openapi(document, { fetch: send, search });
  const asked = [];
  const answer = approve === 'all' || approve === null ? approve ?? undefined : (request) => { asked.push(request.toolName); return approve(request); };
  const wrap = ({ name, args }, id) => (search ? { id, name: 'call_operation', args: { name, arguments: args } } : { id, name, args });
  let at = 0;
  await withScript([...calls.map((round) => ({ calls: [round].flat().map((one) => wrap(one, `c${at++}`)) })), { text: 'ok' }], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools: api.tools, ...(answer && { approve: answer }), permissions, ...QUICK });
    await agent.generate('go');
  });
  return { asked, sent: seen.map(({ method, url }) => `${method} ${new URL(url).pathname.slice(3)}`) };
}

test('reading asks once per host, changing asks each time, by one tool or through a search', async () => {
  const read = (at) => ({ name: `getThing${at}`, args: { id: 1 } });
  const remove = (at) => ({ name: `deleteThing${at}`, args: { id: 'aa' } });
  for (const search of [false, true]) {
    const all = await approvals([[read(0), read(1)], read(2), remove(0), remove(0)], { search });
    // Which of two calls at once asks first is not defined; the other one waits for its answer.
    assert.deepEqual([all.asked.map((name) => name.slice(0, 8)), all.sent.length], [['getThing', 'deleteTh', 'deleteTh'], 5]);
    // "This tool" is the operation, not the tool that calls all of them.
    const tool = await approvals([remove(0), remove(0), remove(1)], { search, approve: () => ({ allow: true, for: 'tool' }) });
    assert.deepEqual(tool.asked, ['deleteThing0', 'deleteThing1']);
    const run = await approvals([remove(0), remove(1), read(1)], { search, approve: () => ({ allow: true, for: 'run' }) });
    assert.deepEqual([run.asked, run.sent.length], [['deleteThing0'], 3]);
    const no = await approvals([read(0), read(1), remove(0)], { search, approve: () => false });
    assert.deepEqual([no.asked, no.sent], [['getThing0', 'getThing1', 'deleteThing0'], []]);
    assert.deepEqual((await approvals([read(0), remove(0)], { search, approve: null })).sent, []);
    assert.equal((await approvals([read(0), remove(0)], { search, approve: 'all' })).sent.length, 2);
    const rules = await approvals([read(0), read(1), remove(0), remove(1)], { search, permissions: { tools: { getThing0: 'ask', getThing1: 'ask', deleteThing0: 'deny', deleteThing1: 'allow' } } });
    assert.deepEqual(rules.asked, ['getThing0', 'getThing1']);
    assert.deepEqual(rules.sent, ['GET /things0/1', 'GET /things1/1', 'DELETE /things1/aa']);
    const denied = await approvals([remove(0), remove(1)], { search, approve: 'all', permissions: { tools: { deleteThing0: 'deny' } } });
    assert.deepEqual(denied.sent, ['DELETE /things1/aa']);
    const after = await approvals([remove(1), remove(0)], { search, approve: () => ({ allow: true, for: 'run' }), permissions: { tools: { deleteThing0: 'deny' } } });
    assert.deepEqual(after.sent, ['DELETE /things1/aa'], 'an answer for the run does not lift a rule');
    const network = await approvals([remove(0), read(0)], { search, permissions: { network: 'allow', tools: { deleteThing0: 'ask' } } });
    assert.deepEqual(network.asked, ['deleteThing0']);
  }
  const two = doc({ '/a': { get: { operationId: 'a', ...ok } }, '/b': { get: { operationId: 'b', servers: [{ url: 'https://other.example/v1' }], ...ok } } });
  assert.deepEqual((await approvals([{ name: 'a', args: {} }, { name: 'b', args: {} }, { name: 'b', args: {} }], { document: two, search: false })).asked, ['a', 'b']);
});

test('toolSearch works with any tools, also with those that need no approval', async () => {
  const tools = toolSearch({
    double: { description: 'Doubles a number.', inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }, execute: ({ n }) => n * 2 },
    long: { description: 'Long.', inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`property${at}`, { type: 'string', description: 'x'.repeat(50), enum: ['a'.repeat(30)] }])) }, execute: () => 1 },
  }, { what: 'functions' });
  assert.deepEqual(Object.keys(tools), ['search_tools', 'call_tool']);
  assert.match(JSON.stringify(tools.search_tools.execute({ query: 'long' })), /The schema is too long to show/);
  await withScript([{ calls: [{ id: 'a', name: 'call_tool', args: { name: 'double', arguments: { n: 4 } } }] }, { text: 'ok', check: (request) => assert.equal(results(request)[0], '8') }], async (baseUrl) => {
    await new Agent({ model: model(baseUrl), tools, ...QUICK }).generate('go');
  });
});

test('a hostile document takes little time, and its names are only names', async () => {
  let deep = { type: 'string' };
  for (let at = 0; at < 3000; at += 1) deep = { type: 'array', items: deep };
  // Each schema combines all others, so that walking through every way would not end.
  const web = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`S${at}`, { type: 'object', properties: { [`p${at}`]: { type: 'string', format: 'binary' } }, ...Object.fromEntries(['allOf', 'anyOf', 'oneOf'].map((word) => [word, Array.from({ length: 40 }, (_, other) => ({ $ref: `#/components/schemas/S${other}` }))])) }]));
  const chain = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`C${at}`, { type: 'object', properties: { next: { $ref: `#/components/schemas/C${at + 1}` } } }]));
  const text = JSON.stringify(doc({
    '/deep': { post: { operationId: 'deep', requestBody: json(deep), ...ok } },
    '/web': { post: { operationId: 'web', requestBody: { content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/S0' } } } }, responses: { 200: { description: '', content: { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } } } } } },
    '/chain': { post: { operationId: 'chain', requestBody: json({ $ref: '#/components/schemas/C0' }), ...ok } },
    '/names': { post: { operationId: 'constructor', parameters: ['constructor', 'toString', 'PROTO'].map((name) => ({ name, in: 'query', schema: {} })), requestBody: json({ $ref: '#/components/schemas/PROTO' }), ...ok } },
    PROTO: { get: ok },
  }, { components: { schemas: { ...web, ...chain, PROTO: { type: 'object', properties: { PROTO: { const: 1 }, constructor: { const: 2 } }, required: ['PROTO'] } } } })).replaceAll('PROTO', '__proto__');
  const { seen, send } = recorder(() => new Response(JSON.stringify({ p1: 'a', other: { deep: [{}] } }), { headers: { 'content-type': 'application/json' } }));
  const started = performance.now();
  const api = await openapi(text, { fetch: send });
  assert.deepEqual(api.operations.map(({ name }) => name), ['deep', 'web', 'chain', 'constructor']);
  assert.deepEqual(api.faults.map(({ path: at, message }) => `${at.split('/').slice(0, 4).join('/').slice(0, 30)} ${message}`).sort(), [
    '/components/schemas/C399 the operation refers to more than 400 schemas; any value is accepted here', '/paths/__proto__ a path has to begin with /', '/paths/~1deep/post the schema is nested more than 60 deep; any value is accepted here',
  ].map((line) => line));
  assert.deepEqual((await api.tools.web.execute({ body: { p1: { text: 'x' } } }, options())).omitted, ['other']);
  await api.tools.constructor.execute({ body: { a: 1 } }, options());
  assert.deepEqual([seen.at(-1).url, seen.at(-1).body], ['https://api.example/v1/names', '{"a":1}']);
  const schema = JSON.stringify(api.tools.constructor.inputSchema);
  assert.ok(schema.includes('"__proto__":{"const":1}') && schema.includes('"required":["__proto__"]'), schema);
  assert.equal({}.const, undefined);
  assert.ok(performance.now() - started < 5000, 'far more than it takes');
  // The engine takes what was made of it.
  await withScript([{ calls: [{ id: 'a', name: 'deep', args: { body: [[]] } }, { id: 'b', name: 'chain', args: { body: { next: {} } } }, { id: 'c', name: 'deep', args: { body: 'x' } }] }, { text: 'ok', check: (request) => {
    assert.match(results(request)[0], /"status":200/);
    assert.match(results(request)[1], /"status":200/);
    assert.match(results(request)[2], /body/);
  } }], async (baseUrl) => { await new Agent({ model: model(baseUrl), tools: { deep: api.tools.deep, chain: api.tools.chain }, approve: 'all', ...QUICK }).generate('go'); });
});

test('ids that a number cannot hold stay exact, and headers that matter are shown', async () => {
  const { seen, send } = recorder(() => new Response('{"id":9007199254740993,"text":"12345678901234567890 \\" 9007199254740993","n":-12345678901234567890,"f":1234567890123456.5,"e":12345678901234567e3,"small":1234567890123456}', {
    status: 201, headers: { 'content-type': 'application/json', location: '/x/1', 'x-total': '3', 'x-powered-by': 'secret machine', link: '</x?page=2>; rel="next"' },
  }));
  const api = await openapi(doc({ '/x/{id}': get([{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64', minimum: 1 } }], { responses: { '2XX': { description: '', headers: { 'X-Total': {} } } } }) }), { fetch: send });
  assert.deepEqual(api.tools.op.inputSchema.properties.id, { type: ['integer', 'string'], format: 'int64', minimum: 1, pattern: '^[1-9]\\d{15,19}$' });
  const answer = await api.tools.op.execute({ id: '9007199254740993' }, options());
  assert.equal(seen[0].url, 'https://api.example/v1/x/9007199254740993');
  assert.deepEqual(answer, {
    status: 201, headers: { 'x-total': '3', location: '/x/1', link: '</x?page=2>; rel="next"' },
    body: { id: '9007199254740993', text: '12345678901234567890 " 9007199254740993', n: '-12345678901234567890', f: 1234567890123456.5, e: 12345678901234567e3, small: 1234567890123456 },
  });
});

/** Public reports about tools of the same kind: the document, the arguments, and what has to be sent (`url`, `body`, `headers`) or found. */
const query = (schema, more) => [{ name: 'p', in: 'query', schema, ...more }];
const list = { type: 'array', items: { type: 'string' } };
const REPORTS = {
  'PrefectHQ/fastmcp#1004: explode false is ignored': { paths: { '/x': get(query(list, { style: 'form', explode: false })) }, input: { p: ['red', 'blue'] }, url: '/x?p=red,blue' },
  'PrefectHQ/fastmcp#5060: pipeDelimited without explode repeats the name': { paths: { '/x': get(query(list, { style: 'pipeDelimited' })) }, input: { p: ['a', 'b'] }, url: '/x?p=a%7Cb' },
  'PrefectHQ/fastmcp#1100: a property of the body has the name of a path parameter': { paths: { '/x/{id}': post(json({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }), { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] }) }, input: { id: 'a', body: { id: 'b' } }, url: '/x/a', body: '{"id":"b"}' },
  'PrefectHQ/fastmcp#4924: an explicit null is dropped from the body': { paths: { '/x': post(json({ type: 'object', properties: { due: { type: ['string', 'null'] } } })) }, input: { body: { due: null } }, body: '{"due":null}' },
  'PrefectHQ/fastmcp#3744: nullable is passed on as it is': { old: true, paths: { '/x': get(query({ type: 'string', nullable: true })) }, input: { p: null }, url: '/x', schema: { p: { type: ['string', 'null'] } } },
  'PrefectHQ/fastmcp#267: of two path parameters one is replaced': { paths: { '/{a}/{b}': get(['a', 'b'].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))) }, input: { a: '1', b: '2' }, url: '/1/2' },
  'PrefectHQ/fastmcp#1241: an answer with null for a string is an error': { paths: { '/x': { get: { operationId: 'op', responses: { 200: { description: '', content: { 'application/json': { schema: { type: 'object', properties: { foo: { type: 'string' } } } } } } } } } }, input: {}, answer: { foo: null }, result: { status: 200, body: { foo: null } } },
  'tadata-org/fastapi_mcp#319: a body that is an array is left out': { paths: { '/x': post(json({ type: 'array', items: { type: 'object' } })) }, input: { body: [{ a: 1 }] }, body: '[{"a":1}]' },
  'google/adk-python#6991: a body with oneOf is sent empty': { paths: { '/x': post(json({ oneOf: [{ type: 'object', properties: { a: {} } }, { type: 'string' }] })) }, input: { body: { a: 1 } }, body: '{"a":1}' },
  'samanhappy/mcphub#1078: a form becomes a tool without arguments': { paths: { '/x': post({ content: { 'application/x-www-form-urlencoded; charset=utf-8': { schema: { type: 'object', properties: { a: { type: 'array' }, b: {} } } } } }) }, input: { body: { a: [1, 2], b: 'x&y' } }, body: 'a=1&a=2&b=x%26y' },
  'samanhappy/mcphub#1083: a value of the path changes the endpoint': { paths: { '/r/{id}/d': get([{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]) }, input: { id: 'a?x=1#f' }, url: '/r/a%3Fx%3D1%23f/d' },
  'openapi-ts/openapi-typescript#2483: ".." is a category': { paths: { '/books/{c}': get([{ name: 'c', in: 'path', required: true, schema: { type: 'string' } }]) }, input: { c: '..' }, error: /not allowed/ },
  'google/adk-js#597: a server variable takes the credentials to another host': { paths: { '/x': get([{ name: 'region', in: 'path', required: true, schema: {} }]) }, servers: [{ url: 'https://{region}.api.example', variables: { region: { default: 'eu', enum: ['eu'] } } }], input: { region: 'evil.example/' }, whole: 'https://eu.api.example/x', faults: 1 },
  'MervinPraison/PraisonAI#4955: a path of the document is an address': { paths: { 'https://evil.example/collect': get([]), '//evil.example/x': get([], { operationId: 'op' }) }, input: {}, whole: 'https://api.example/v1//evil.example/x' },
  'twilio-labs/mcp#56: names with < and > are refused by the model service': { paths: { '/x': get(['StartTime<', 'StartTime>'].map((name) => ({ name, in: 'query', schema: { type: 'string' } }))) }, input: { StartTime: '1', StartTime_query: '2' }, url: '/x?StartTime%3C=1&StartTime%3E=2' },
  'anthropics/claude-code#92648: a name with brackets': { paths: { '/x': get([{ name: 'uids[]', in: 'query', schema: list }]) }, input: { uids: ['1', '2'] }, url: '/x?uids%5B%5D=1&uids%5B%5D=2' },
  'swagger-api/swagger-client#1385: a nested deepObject is ignored': { paths: { '/x': get([{ name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } }]) }, input: { filter: { name: 'ivan', date: { gte: '1970' } } }, url: '/x?filter%5Bname%5D=ivan&filter%5Bdate%5D%5Bgte%5D=1970' },
  'swagger-api/swagger-ui#7734: deepObject in a form': { paths: { '/x': post({ content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { data: { type: 'object' } } }, encoding: { data: { style: 'deepObject', explode: true } } } } }) }, input: { body: { data: { inner: { foo: 0 }, bar: 0 } } }, body: 'data%5Binner%5D%5Bfoo%5D=0&data%5Bbar%5D=0' },
  'swagger-api/swagger-ui#9284: an object in multipart is [object Object]': { paths: { '/x': post({ content: { 'multipart/form-data': { schema: { type: 'object', properties: { test: {}, foo: { type: 'object' } } } } } }) }, input: { body: { test: 't', foo: { bar: { a: 1 } } } }, parts: [['test', 't'], ['foo', 'application/json {"bar":{"a":1}}']] },
  'OpenAPITools/openapi-generator#5902: an optional file with an encoding that has a style only': { paths: { '/x': post({ content: { 'multipart/form-data': { schema: { type: 'object', properties: { file: { anyOf: [{ type: 'string', format: 'binary' }, { type: 'null' }] } } }, encoding: { file: { style: 'form' } } } } }) }, input: { body: { file: { text: 'hi', type: 'text/plain' } } }, parts: [['file', 'text/plain hi']] },
  'run-llama/llama_index#15011: schemas that refer to each other': { paths: { '/x': post(json({ $ref: '#/components/schemas/A' })) }, components: { schemas: { A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' } } }, B: { type: 'object', properties: { a: { $ref: '#/components/schemas/A' } } } } }, input: { body: { b: { a: {} } } }, body: '{"b":{"a":{}}}' },
  'APIs-guru/openapi-directory#715: a path parameter that the path does not have': { paths: { '/keys/': get([{ name: 'target_id', in: 'path', required: true, schema: {} }]) }, input: {}, url: '/keys/', faults: 1 },
  'langchain-ai/langchain#5186: only the first letter of the server is used': { paths: { '/x': get([]) }, servers: [{ url: 'https://one.example/' }, { url: 'https://two.example' }], input: {}, whole: 'https://one.example/x' },
};

for (const [report, { paths, input, url, whole, body, parts, schema, error, answer = {}, result, faults = 0, old, ...more }] of Object.entries(REPORTS)) {
  test(report, async () => {
    const { seen, send } = recorder(() => new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } }));
    const api = await openapi({ ...doc(paths, more), ...(old && { openapi: '3.0.3' }) }, { fetch: send });
    assert.equal(api.faults.filter(({ path: at }) => !at.includes('https:')).length, faults, JSON.stringify(api.faults));
    if (schema) assert.deepEqual(api.tools.op.inputSchema.properties, schema);
    const called = api.tools.op.execute(input, options());
    if (error) {
      await assert.rejects(called, error);
      return assert.deepEqual(seen, []);
    }
    const got = await called;
    if (result) assert.deepEqual(got, result);
    if (url) assert.equal(seen[0].url, `https://api.example/v1${url}`);
    if (whole) assert.equal(seen[0].url, whole);
    if (body) assert.equal(seen[0].body, body);
    if (parts) assert.deepEqual(await Promise.all([...seen[0].body].map(async ([name, part]) => [name, typeof part === 'string' ? part : `${part.type} ${await part.text()}`])), parts);
    return undefined;
  });
}

test('nothing loads before it is used, and the documented program runs', async () => {
  const source = readFileSync(path.join(dist, 'turnwise/openapi.js'), 'utf8');
  assert.ok(!/from"\.\/(yaml|argument-check)\.js"/.test(source), 'YAML and the check of arguments are loaded with the entry');
  const page = readFileSync(path.join(root, 'docs/openapi.md'), 'utf8');
  const program = /^```js\n(.*?)^```$/ms.exec(page)[1];
  assert.ok(program.split('\n').length < 30);
  await withServer((request, response) => {
    if (request.url === '/openapi.json') sendJson(response, { openapi: '3.1.0', info: { title: 'Shop', version: '1' }, servers: [{ url: '/v1' }], paths: { '/orders/{id}': { get: { operationId: 'getOrder', summary: 'An order.', parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }], responses: {} } } } });
    else sendJson(response, { id: 'A7', state: request.headers.authorization === 'Bearer shop-key' ? 'shipped' : 'unknown' });
  }, async (origin, seen) => {
    await withScript([{ calls: [{ id: 'a', name: 'getOrder', args: { id: 'A7' } }] }, { text: 'It was shipped.', check: (request) => assert.equal(results(request)[0], '{"status":200,"body":{"id":"A7","state":"shipped"}}') }], async (baseUrl) => {
      const file = path.join(dist, 'turnwise/.openapi-program.mjs');
      const { writeFileSync, rmSync } = await import('node:fs');
      const code = program.replace("'turnwise'", "'./index.node.js'").replace("'turnwise/openapi'", "'./openapi.js'").replace('https://shop.example', origin)
        .replace(/openai\([^)]*\)/, `openai('scripted', { baseUrl: '${baseUrl}' })`).replace('process.env.SHOP_KEY', "'shop-key'").replace('console.log(text)', 'globalThis.said = text');
      writeFileSync(file, code);
      try {
        await import(file);
      } finally {
        rmSync(file);
      }
    });
    assert.deepEqual([globalThis.said, seen.map(({ url }) => url)], ['It was shipped.', ['/openapi.json', '/v1/orders/A7']]);
  });
});
