// Real OpenAPI documents, from packages, against a mock of others: Prism reads each document by itself and names whatever a request
// violates. A run calls every operation, with arguments that json-schema-faker makes from the tools' schemas.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { generate } from 'json-schema-faker';
import { withScript } from '../e2e/lib/script-server.mjs';
import { dist } from '../e2e/lib/site.mjs';

const require = createRequire(import.meta.url);
const { getHttpOperationsFromSpec } = require('@stoplight/prism-http');
const { createServer } = require('@stoplight/prism-http-server');
const { Agent, openai, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
const { openapi } = await import(path.join(dist, 'turnwise/openapi.js'));
await init();

/** Documents: their file in its package, operations, faults, and requests that Prism refuses although they are right. */
const DOCUMENTS = [
  { file: '@blockfrost/openapi/openapi.yaml', operations: 129, faults: 2 },
  { file: '@directus/specs/dist/openapi.json', operations: 136, faults: 1, peer: [[/^(GET|PATCH|DELETE) \/items\/[^/]+\/-?\d+$/, 'oneOf of integer and string: Prism reads "5" as both']] },
  { file: '@ideal-postcodes/openapi/dist/openapi.json', operations: 31, faults: 0 },
  { file: '@digdir/dialogporten-schema/swagger.verified.json', operations: 29, faults: 0 },
  { file: '@readme/oas-examples/3.0/json/star-trek.json', operations: 120, faults: 0 },
  { file: '@readme/oas-examples/3.0/json/petstore.json', operations: 20, faults: 0 },
  { file: '@readme/oas-examples/3.1/json/train-travel.json', operations: 7, faults: 0 },
];

const logger = new Proxy({}, { get: (_, name) => (name === 'child' ? () => logger : () => {}) });

/** Runs `body(origin)` beside Prism with a document. */
async function withPrism(text, name, body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-openapi-'));
  const file = path.join(folder, path.basename(name));
  writeFileSync(file, text.replace(/^\uFEFF/, ''));
  const config = { checkSecurity: false, validateRequest: true, validateResponse: false, errors: false, isProxy: false, mock: { dynamic: false, ignoreExamples: false } };
  const server = createServer(await getHttpOperationsFromSpec(file), { cors: false, components: { logger }, config });
  try {
    return await body(await server.listen(0, '127.0.0.1'));
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}

/** The schema for the generator, which makes empty texts, any text for base64, and fractions for int32 otherwise. */
function careful(schema) {
  if (Array.isArray(schema)) return schema.map(careful);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([word, value]) => [word, careful(value)]));
  if (copy.contentEncoding === 'base64') return { ...copy, enum: ['AAEC'] };
  if (copy.type === 'string' && !copy.enum && !copy.pattern && !copy.format && copy.minLength === undefined) return { ...copy, minLength: 1 };
  return copy.type === 'number' && /^int/.test(copy.format) ? { ...copy, type: 'integer' } : copy;
}

for (const { file, operations, faults, peer = [] } of DOCUMENTS) {
  test(`${file}: every operation is called, and no request violates the document`, async (t) => {
    const text = readFileSync(path.join(import.meta.dirname, 'node_modules', file), 'utf8');
    await withPrism(text, file, async (origin) => {
      const seen = [];
      const send = async (url, given) => {
        const response = await fetch(url, given);
        const body = await response.clone().text();
        const problem = /prism\/errors#(?!NO_RESPONSE|NOT_ACCEPTABLE)\w+/.exec(body)?.[0];
        seen.push({ call: `${given.method} ${new URL(url).pathname}`, violation: response.headers.get('sl-violations') ?? (problem && body) });
        return response;
      };
      const api = await openapi(text, { server: origin, search: false, fetch: send });
      assert.equal(api.operations.length, operations);
      const alone = await openapi(text, { url: 'https://docs.example/openapi.json' });
      assert.equal(alone.operations.length, operations);
      assert.equal(alone.faults.length, faults, JSON.stringify(alone.faults));

      const calls = [];
      for (const { name, tool } of api.operations) {
        for (const seed of [1, 2]) {
          const args = await generate(careful(tool.inputSchema), { seed, alwaysFakeOptionals: seed === 2, optionalsProbability: seed - 1, refDepthMax: 3, maxItems: 2 });
          calls.push({ id: `${name.slice(0, 50)}_${seed}`, name, args });
        }
      }
      const empty = api.operations.filter(({ tool }) => tool.inputSchema.required).map(({ name }) => ({ id: `${name.slice(0, 50)}_none`, name, args: {} }));
      const rounds = [];
      for (let at = 0; at < calls.length; at += 100) rounds.push(calls.slice(at, at + 100));
      let trajectory;
      await withScript([...rounds.map((round) => ({ calls: round })), ...(empty.length ? [{ calls: empty }] : []), { text: 'Done.' }], async (baseUrl) => {
        const agent = new Agent({ model: openai('scripted', { baseUrl }), tools: api.tools, approve: 'all', maxTurns: 20, limits: { toolCallsPerTurn: 200, contextTokens: 100_000_000 }, retry: { baseMs: 1, capMs: 2 }, seed: 1 });
        ({ trajectory } = await agent.generate('go'));
      });
      const done = trajectory.turns.flatMap((turn) => turn.tool_calls);
      const of = (ending) => done.filter(({ id }) => id.endsWith(ending));
      assert.deepEqual(of('_none').map(({ slug }) => slug), empty.map(() => 'invalid_arguments'), 'a call without its required arguments was sent');
      // The generator does not always keep to a schema; the engine refuses those calls.
      const refused = done.filter(({ id, slug }) => !id.endsWith('_none') && slug === 'invalid_arguments');
      assert.ok(refused.length <= calls.length / 8, refused.map(({ result }) => result).join('\n'));
      assert.equal(seen.length, calls.length - refused.length);
      const called = new Set(done.filter(({ id, slug }) => !id.endsWith('_none') && slug !== 'invalid_arguments').map(({ name }) => name));
      const never = api.operations.filter(({ name }) => !called.has(name)).map(({ name }) => name);
      const wrong = seen.filter(({ violation }) => violation);
      const unexplained = wrong.filter(({ call }) => !peer.some(([pattern]) => pattern.test(call)));
      t.diagnostic(`${operations} operations, ${seen.length} requests, ${wrong.length} refused by Prism (${peer.map(([, why]) => why).join('; ') || 'none'}), ${refused.length} calls of the generator refused by the engine, operations never called: ${never.join(', ') || 'none'}`);
      assert.deepEqual(unexplained, []);
    });
  });
}

test('Prism refuses what violates a document', async () => {
  const file = '@readme/oas-examples/3.0/json/petstore.json';
  await withPrism(readFileSync(path.join(import.meta.dirname, 'node_modules', file), 'utf8'), file, async (origin) => {
    const response = await fetch(`${origin}/store/order`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"quantity":"many"}' });
    assert.match(response.headers.get('sl-violations') ?? await response.text(), /quantity/);
  });
});

test('every example document is read, and YAML as another reader reads it', async (t) => {
  const { parse } = require('@stoplight/yaml');
  const examples = path.join(import.meta.dirname, 'node_modules/@readme/oas-examples');
  const read = (document) => openapi(document, { search: false, url: 'https://docs.example/openapi.json' });
  const plain = ({ operations: all, faults }) => JSON.parse(JSON.stringify({ all: all.map(({ tool, ...rest }) => ({ ...rest, schema: tool.inputSchema })), faults }));
  let [documents, operations] = [0, 0];
  for (const file of readdirSync(examples, { recursive: true }).filter((one) => /^3\.\d\/.*\.(json|yaml)$/.test(one))) {
    const text = readFileSync(path.join(examples, file), 'utf8');
    const api = await read(text);
    assert.deepEqual(api.faults.filter(({ action }) => action === 'skipped'), [], file);
    assert.ok(api.operations.length > 0 || /webhooks|openapi-workshop/.test(file), file);
    if (file.endsWith('yaml')) assert.deepEqual(plain(api), plain(await read(parse(text))), file);
    documents += 1;
    operations += api.operations.length;
  }
  t.diagnostic(`${documents} documents with ${operations} operations`);
  assert.ok(documents > 80);
  await assert.rejects(read(readFileSync(path.join(examples, '2.0/json/petstore.json'), 'utf8')), /Swagger 2\.0 document\. Convert it/);
});
