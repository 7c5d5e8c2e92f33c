// The engine and its tools in a single thread (`turnwise/core`), in Node.js: agents share code and nothing else. Two of them
// look for each other's files, kept results, schemas and documentation sites; an agent's data is freed with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';
import { withHost } from './lib/widget.mjs';

// The instantiated modules: the engine, and the tool module once the first tool runs.
const started = [];
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...given) => {
  const made = await instantiate.apply(WebAssembly, given);
  started.push(made.instance ?? made);
  return made;
};

const { default: init, Agent, DocsSite } = await import(path.join(dist, 'turnwise/core.js'));
const bytes = (name) => readFileSync(path.join(dist, 'turnwise', name));
await init({ agent: bytes('agent_bg.wasm'), worker: bytes('worker-whole_bg.wasm') });

const call = (id, name, args = {}) => ({ id, name, args });
const results = ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const agentOn = (baseUrl, more) => new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, ...more });
const tool = (name, properties, execute) => ({ name, description: name, sideEffect: 'none', parameters: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }, execute });

test('an agent finds no file and no kept result of another one, whatever order they run in', { timeout: 120_000 }, async () => {
  const tools = ['search_files', 'read_file', 'list_files', 'read_result'];
  const seek = (id) => [call(`${id}1`, 'search_files', { query: 'code word' }), call(`${id}2`, 'read_file', { path: 'secret.txt' }), call(`${id}3`, 'list_files'), call(`${id}4`, 'read_result', { handle: 'kept' })];
  const theirs = (found) => (request) => {
    const said = results(request).slice(-4);
    assert.equal(said.filter((text) => /4711|Needle/.test(text)).length, found ? 3 : 0, said.join('\n---\n'));
    assert.equal(said.filter((text) => text.includes('secret.txt')).length >= 2, true);
  };
  await withScript([
    { calls: [call('kept', 'long')] },
    { calls: seek('a') }, { text: 'Seen.', check: theirs(true) },
    { calls: seek('b') }, { text: 'Nothing.', check: (request) => assert.doesNotMatch(results(request).join('\n'), /4711|Needle/) },
    { calls: seek('c') }, { text: 'Still seen.', check: theirs(true) },
    { calls: seek('d') }, { text: 'Nothing.', check: (request) => assert.doesNotMatch(results(request).join('\n'), /4711|Needle/) },
  ], async (baseUrl) => {
    const [a, b] = [agentOn(baseUrl, { tools }), agentOn(baseUrl, { tools })];
    a.files.put('secret.txt', 'The code word is 4711.');
    a.registerTool(tool('long', {}, async () => `Needle. ${'Hay. '.repeat(40_000)}`));
    const first = await a.run('Look.');
    await b.run('Look.');
    await a.run('Look again.', { after: first });
    await b.run('Look again.');
    a.free();
    b.free();
  });
});

test('a schema of one agent does not judge the calls of another', { timeout: 120_000 }, async () => {
  const given = [];
  const both = [call('1', 'take', { x: 1 }), call('2', 'take', { y: 'one' })];
  await withScript([{ calls: both }, { text: 'A.' }, { calls: both }, { text: 'B.' }, { calls: both }, { text: 'A again.' }], async (baseUrl) => {
    const [a, b] = [agentOn(baseUrl, { tools: [] }), agentOn(baseUrl, { tools: [] })];
    a.registerTool(tool('take', { x: { type: 'integer' } }, async (args) => { given.push(['a', args]); }));
    b.registerTool(tool('take', { y: { type: 'string' } }, async (args) => { given.push(['b', args]); }));
    const runs = [await a.run('Take.'), await b.run('Take.'), await a.run('Take again.')];
    assert.deepEqual(runs.map(({ turns }) => turns[0].tool_calls.map(({ slug }) => slug ?? 'ran')), [['ran', 'invalid_arguments'], ['invalid_arguments', 'ran'], ['ran', 'invalid_arguments']]);
    a.free();
    b.free();
  });
  assert.deepEqual(given, [['a', { x: 1 }], ['b', { y: 'one' }], ['a', { x: 1 }]]);
});

test('a documentation site that is open is searched by whoever opened it', { timeout: 120_000 }, async () => {
  const manual = (name) => ({
    '/': `<!doctype html><title>${name}</title><main><h1>${name}</h1></main>`,
    '/llms.txt': { type: 'text/plain', body: `# ${name}\n\n## Guide\n\n- [Retries](/retries.md): the retry policy of ${name}\n` },
    '/retries.md': { type: 'text/markdown', body: `# Retries of ${name}\n\nThe retry policy of ${name}.\n` },
  });
  await withHost({ pages: manual('Halden') }, (one) => withHost({ pages: manual('Varde') }, async (two) => {
    const [halden, varde] = [await DocsSite.open(one.url, { source: `${one.url}llms.txt` }), await DocsSite.open(two.url, { source: `${two.url}llms.txt` })];
    for (const [site, url] of [[halden, one.url], [varde, two.url], [halden, one.url]]) {
      const { hits } = await site.search('retry policy');
      assert.ok(hits.length && hits.every((hit) => hit.url.startsWith(url)), JSON.stringify(hits));
    }
    halden.free();
    assert.ok((await varde.search('retry policy')).hits.length);
    varde.free();
  }));
});

test('what an agent had is freed with it, also where it goes while its tools run', { timeout: 300_000 }, async () => {
  const ROUNDS = 16;
  const text = Array.from({ length: 10_000 }, (_, n) => `Line ${n} of words number${n % 977} such as ${(n * 7919) % 10_007} and ${n}`).join('\n'); // half a megabyte, and an index
  const sizes = [];
  await withScript(Array.from({ length: ROUNDS }, () => [{ calls: [call('1', 'search_files', { query: 'number500' })] }, { text: 'Found.', check: (request) => assert.match(results(request)[0], /big\.txt/) }]).flat(), async (baseUrl) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const agent = agentOn(baseUrl, { tools: ['search_files'] });
      agent.files.put('big.txt', text);
      await agent.run('Search.');
      agent.free();
      await new Promise((resolve) => { setTimeout(resolve); });
      sizes.push(started.at(-1).exports.memory.buffer.byteLength);
    }
  });
  console.log(`memory of the tool module after 4 and ${ROUNDS} agents: ${sizes[3]} and ${sizes.at(-1)} bytes`);
  assert.ok(sizes.at(-1) <= sizes[3] * 1.25, `${sizes}`);
  await withScript([{ calls: [call('1', 'search_files', { query: 'number500' })] }], async (baseUrl) => {
    const gone = agentOn(baseUrl, { tools: ['search_files'] });
    gone.files.put('big.txt', text);
    await gone.run('Search.', { onEvent: ({ type }) => type === 'tool_started' && gone.cancel() });
    gone.free();
  });
  await withScript([{ calls: [call('1', 'list_files')] }, { text: 'None.', check: (request) => assert.doesNotMatch(results(request)[0], /big\.txt/) }], async (baseUrl) => {
    const next = agentOn(baseUrl, { tools: ['list_files'] });
    assert.equal((await next.run('List.')).outcome, 'success');
    next.free();
  });
});
