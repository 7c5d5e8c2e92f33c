// What leaves, tool by tool: a call asks by default, the question has all that leaves, without anybody to ask nothing is sent, and the answer
// is an event of the record. A new built-in tool that reaches the network fails here until it has its row.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';

const { Agent, openai, replay, tool, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
const { openapi, toolSearch } = await import(path.join(dist, 'turnwise/openapi.js'));
await init();

const DOCUMENT = (origin) => ({ openapi: '3.1.0', info: { title: 'S', version: '1' }, servers: [{ url: origin }], paths: { '/r': { get: { operationId: 'read', parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }], responses: {} }, post: { operationId: 'write', requestBody: { content: { 'application/json': { schema: {} } } }, responses: {} } } } });
const SKILL = { 's/SKILL.md': '---\nname: s\ndescription: d\n---\nDo.', 's/scripts/go.js': 'await tools.mine({ words: input.words })' };
const mine = (origin) => ({ mine: tool({ touches: ['network'], destination: new URL(origin).host, inputSchema: { type: 'object', properties: { words: { type: 'string' } } }, execute: ({ words }) => fetch(`${origin}/mine?${words}`).then((answer) => answer.text()) }) });

/** By tool: the options of the agent, the call, and what the question says: the tool that asks, all of its arguments, and where to. */
const ROWS = {
  fetch_url: async (origin) => ({ options: { builtInTools: ['fetch_url'], permissions: { hosts: { [origin]: 'ask' } } }, call: ['fetch_url', { url: `${origin}/page?secret=1` }], to: 'host' }),
  search_web: async (origin) => ({ options: { builtInTools: ['search_web'], web: { search: { kind: 'searxng', baseUrl: origin } } }, call: ['search_web', { query: 'secret words' }] }),
  'an operation that reads': async (origin) => ({ options: { tools: (await openapi(DOCUMENT(origin))).tools }, call: ['read', { q: 'secret' }], to: 'destination' }),
  'an operation that writes': async (origin) => ({ options: { tools: (await openapi(DOCUMENT(origin))).tools }, call: ['write', { body: { secret: 1 } }], to: 'destination' }),
  'an operation behind a search': async (origin) => ({ options: { tools: (await openapi(DOCUMENT(origin), { search: true })).tools }, call: ['call_operation', { name: 'write', arguments: { body: 1 } }], asks: ['write', { body: 1 }], to: 'destination' }),
  'a tool behind a search': async (origin) => ({ options: { tools: toolSearch(mine(origin)) }, call: ['call_tool', { name: 'mine', arguments: { words: 'secret' } }], asks: ['mine', { words: 'secret' }], to: 'destination' }),
  'a tool of your own': async (origin) => ({ options: { tools: mine(origin) }, call: ['mine', { words: 'secret' }], to: 'destination' }),
  'a script of a skill': async (origin) => ({ options: { tools: mine(origin), skills: SKILL }, call: ['s_go', { words: 'secret' }], asks: ['mine', { words: 'secret' }], to: 'destination' }),
  'a program': async (origin) => ({ options: { tools: mine(origin), builtInTools: ['run_code'] }, call: ['run_code', { code: "await tools.mine({ words: 'secret' })" }], asks: ['mine', { words: 'secret' }], to: 'destination' }),
  'a batch': async (origin) => ({ options: { tools: mine(origin), builtInTools: ['batch'] }, call: ['batch', { calls: [{ name: 'mine', arguments: { words: 'secret' } }] }], asks: ['mine', { words: 'secret' }], to: 'destination' }),
};

/** One call; `approve` is the agent's. Returns the record, the questions and the requests that arrived. */
async function calling(row, approve) {
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${server.address().port}`;
  try {
    const { options, call: [name, args], asks = [name, args], to } = await row(origin);
    const questions = [];
    const ask = approve === undefined ? {} : { approve: (question) => { questions.push(question); return approve; } };
    const { trajectory } = await withScript([{ calls: [{ id: 'a', name, args }] }, { text: 'Done.' }], (baseUrl) =>
      new Agent({ model: openai('scripted', { baseUrl, apiKey: 'a-key' }), ...options, ...ask, retry: { baseMs: 1, capMs: 2 } }).generate('go'));
    assert.deepEqual(await replay(trajectory), { ok: true });
    const permitted = trajectory.events.map(({ event }) => event).filter(({ type }) => type === 'permitted').map(({ allow }) => allow);
    return { requests, questions, permitted, asks, to, where: new URL(origin).host };
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

for (const [name, row] of Object.entries(ROWS)) {
  test(`${name} asks by default and shows what leaves`, async () => {
    // Without anybody to ask, and with a refusal, nothing is sent.
    assert.equal((await calling(row, undefined)).requests, 0);
    const refused = await calling(row, false);
    assert.deepEqual([refused.requests, refused.permitted], [0, [false]]);
    const { requests, questions, permitted, asks: [tool, input], to, where } = await calling(row, true);
    assert.deepEqual([requests, permitted, questions.length], [1, [true], 1]);
    assert.deepEqual([questions[0].toolName, questions[0].input, questions[0].touches], [tool, input, ['network']]);
    if (to) assert.equal(questions[0][to], where);
  });
}

test('every built-in tool that reaches the network has its row, and the docs say what asking does not protect from', () => {
  const table = readFileSync(path.join(root, 'crates/tools/src/table.rs'), 'utf8');
  const network = [...table.matchAll(/^ {8}name: (?:"(\w+)"|(\w+)),(?:(?!^ {8}name: )[^])*?SideEffect::Network/gm)].map(([, name, constant]) => name ?? constant.toLowerCase());
  assert.ok(['fetch_url', 'search_web'].every((name) => network.includes(name)), network.join());
  for (const name of network) assert.ok(Object.hasOwn(ROWS, name), `${name} has no row`);
  for (const page of ['web.md', 'openapi.md', 'skills.md']) assert.match(readFileSync(path.join(root, 'docs', page), 'utf8'), /does not protect from|not that it is harmless/, page);
});
