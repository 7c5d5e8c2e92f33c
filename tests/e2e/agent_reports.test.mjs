// What users of other agent packages reported, tried here: three reports of each kind. Each test names its report; the words are ours.
//
// values      vercel/ai#10893, twentyhq/twenty#25921, ErixWong/touwaka-ai-mate#991
// stopping    cloudflare/agents#1614, vercel/ai#13962, TanStack/ai#1220
// cancelled   vercel/ai#10638, vercel/chatbot#1060, adamjmurray/producer-pal#1102
// reload      mattermost/mattermost-plugin-agents#908, vercel/ai#11509, algolia/instantsearch#7223
// two tabs    open-webui/open-webui#28742, LionSR/TeXRA#8858, merchantprotocol/sulla-desktop#404
// growth      langchain-ai/langgraph#7547, bytedance/deer-flow#4189, theexperiencecompany/gaia#972
// histories   vercel/ai#18451, databricks/app-templates#254, psd401/aistudio#977 (and janhq/jan#7484)
// schemas     openai/openai-node#995, modelcontextprotocol/typescript-sdk#808, juspay/neurolink#1691
// failing     openai/openai-agents-python#1840 (openai/openai-agents-js#1584), openai/openai-agents-python#991, assistant-ui/assistant-ui#4771
// flags       avajs/ava#2944, nodejs/node#41103, fisker/make-synchronized#44
// runners     mswjs/interceptors#505, testing with fake timers (vitest-dev/vitest#4043 for other realms), jestjs/jest#10431
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { after, mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';
import * as z from 'zod';

const entry = pathToFileURL(path.resolve(process.env.SITE ?? 'dist', 'turnwise/index.node.js')).href;
const { Agent, TurnwiseError, custom, inMemory, tool, toolContent } = await import(entry);

const QUICK = { retry: { baseMs: 1, capMs: 5 } };
const calls = (...list) => ({ choices: [{ message: { role: 'assistant', content: null, tool_calls: list.map(([name, args = {}, id], at) => ({ id: id ?? `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) } })) }, finish_reason: 'tool_calls' }] });
/** A model that answers with these steps, each a reply or a function of (request, options), and fails on one more request. */
function scripted(...steps) {
  const requests = [];
  const model = custom((request, options) => {
    requests.push(request);
    const step = steps[requests.length - 1];
    if (step === undefined) throw Object.assign(new Error(`request ${requests.length} was not expected`), { status: 400 });
    return typeof step === 'function' ? step(request, options) : step;
  });
  return { model, requests, done: () => assert.equal(requests.length, steps.length, 'the script has steps that were never asked for') };
}
const settled = (run) => Promise.resolve(run).then((result) => ({ result }), (error) => ({ error }));
const own = (content) => content.replace(/\n\[Turn [^\]]*\][^]*$/, '');
const results = ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => own(content));
const deferred = () => {
  const one = {};
  one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
  return one;
};
/** A run whose page is gone: it goes on to the end of the tests, when it is cancelled. */
const abandoned = [];
const abandon = (run) => { abandoned.push(run); run.catch(() => {}); };
after(() => abandoned.forEach((run) => run.cancel()));
/** What a storage has once it has a run: a page that closes now leaves this. */
async function left(storage, what = () => true) {
  const all = () => storage.list.all('chat').map((text) => JSON.parse(text));
  await within((async () => { while (!storage.get('chat') || !all().some(what)) await new Promise((resolve) => { setImmediate(resolve); }); })(), 'the storing');
  const copy = inMemory();
  copy.set('chat', storage.get('chat'));
  storage.list.all('chat').forEach((text, at) => copy.list.put('chat', at, text));
  return copy;
}
const late = (what, ms = 20_000) => new Promise((_, reject) => { setTimeout(() => reject(new Error(`${what} did not happen`)), ms).unref(); });
const within = (promise, what) => Promise.race([promise, late(what)]);
/** Every call has exactly one result after it, and every result a call before it: what providers demand. */
function assertWellFormed({ messages }) {
  const open = new Set();
  for (const { role, tool_calls: asked = [], tool_call_id: id } of messages) {
    if (role === 'tool') assert.ok(open.delete(id), `a result without its call: ${id}`);
    else assert.equal(open.size, 0, `calls without a result: ${[...open]}`);
    for (const call of asked) {
      assert.ok(!open.has(call.id), `the id ${call.id} twice`);
      open.add(call.id);
      assert.equal(typeof JSON.parse(call.function.arguments), 'object');
    }
  }
  assert.equal(open.size, 0, `calls without a result: ${[...open]}`);
}
async function resultOf(value) {
  const { model, requests, done } = scripted(calls(['look']), 'fine');
  await new Agent({ model, tools: { look: tool({ execute: () => value }) }, ...QUICK }).generate('x');
  done();
  return results(requests[1])[0];
}

test('vercel/ai#10893: fields that are undefined, in a list of records', async () => {
  assert.equal(await resultOf([{ id: '1', at: 'now' }, { id: '2', at: undefined }]), '[{"id":"1","at":"now"},{"id":"2"}]');
});

test('twentyhq/twenty#25921: records of a database, with Date, NaN, Infinity and BigInt', async () => {
  assert.equal(await resultOf({ records: [{ created: new Date(0), score: NaN, most: Infinity, id: 12n }] }), '{"records":[{"created":"1970-01-01T00:00:00.000Z","score":"NaN","most":"Infinity","id":12}]}');
});

test('ErixWong/touwaka-ai-mate#991: entities that refer to each other, and one whose fields throw', async () => {
  class Order { constructor() { this.lines = [new Line(this)]; } }
  class Line { constructor(order) { this.order = order; this.price = 3; } }
  assert.equal(await resultOf(new Order()), '{"lines":[{"order":"[circular]","price":3}]}');
  assert.match(await resultOf({ id: 7, get total() { throw new Error('not loaded'); } }), /"id":7|not loaded/);
});

test('cloudflare/agents#1614: a run that is cancelled during a tool that ignores its signal', async () => {
  const began = deferred();
  const { model } = scripted(calls(['slow']));
  const run = new Agent({ model, tools: { slow: tool({ execute: () => { began.resolve(); return new Promise(() => {}); } }) }, ...QUICK }).stream('x');
  await began.promise;
  run.cancel();
  const { error } = await within(settled(run), 'the end');
  assert.equal(error.reason, 'cancelled');
});

test('vercel/ai#13962: after cancel and clear, nothing arrives any more, and nothing is asked again', async () => {
  const began = deferred();
  const aborted = deferred();
  const { model, requests } = scripted((_, { signal }) => (async function* () {
    yield 'first words';
    began.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted.resolve();
    yield 'gibberish';
  })(), 'new');
  const chat = new Agent({ model, ...QUICK }).chat();
  const run = chat.send('x');
  const texts = [];
  const reading = (async () => { for await (const part of run) if (part.type === 'text-delta') texts.push(part.text); })();
  await began.promise;
  await within(chat.clear(), 'the clearing');
  await within(aborted.promise, 'the abort');
  await reading;
  assert.deepEqual(chat.messages, []);
  assert.equal((await chat.send('again')).text, 'new');
  assert.ok(!texts.join('').includes('gibberish'));
  assert.equal(requests.length, 2);
  assert.ok(!JSON.stringify(requests[1]).includes('first words'));
});

test('TanStack/ai#1220: a tool or an approval that answers after the end starts nothing', async () => {
  for (const asks of [false, true]) {
    const began = deferred();
    const answer = deferred();
    let ran = 0;
    const { model, requests } = scripted(calls(['slow']));
    const agent = new Agent({
      model, ...QUICK, tools: { slow: tool({ needsApproval: asks, execute: () => { ran += 1; began.resolve(); return answer.promise; } }) },
      ...(asks && { approve: () => { began.resolve(); return answer.promise; } }),
    });
    const run = agent.stream('x');
    await began.promise;
    run.cancel();
    assert.equal((await settled(run)).error.reason, 'cancelled');
    answer.resolve(true);
    await new Promise((resolve) => { setImmediate(resolve); });
    assert.equal(requests.length, 1);
    assert.equal(ran, asks ? 0 : 1);
  }
});

test('vercel/ai#10638: the message after one that was cancelled between a call and its result', async () => {
  const began = deferred();
  const { model, requests, done } = scripted(calls(['slow'], ['quick']), 'fine');
  const agent = new Agent({ model, tools: { slow: tool({ execute: () => { began.resolve(); return new Promise(() => {}); } }), quick: tool({ execute: () => 'done' }) }, ...QUICK });
  const storage = inMemory();
  const chat = agent.chat({ storage });
  const run = chat.send('one');
  await began.promise;
  run.cancel();
  await settled(run);
  const again = agent.chat({ storage });
  await again.load();
  assert.equal((await again.send('two')).text, 'fine');
  assertWellFormed(requests[1]);
  assert.deepEqual(requests[1].messages.filter(({ role }) => role === 'user').map(({ content }) => content), ['one', 'two']);
  done();
});

test('vercel/chatbot#1060: the words of an answer that was cut off are still there', async () => {
  const began = deferred();
  const { model } = scripted((_, { signal }) => (async function* () {
    yield 'The first half';
    began.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  })());
  const storage = inMemory();
  const agent = new Agent({ model, ...QUICK });
  const run = agent.chat({ storage }).send('x');
  for await (const part of run) if (part.type === 'text-delta') { await began.promise; run.cancel(); }
  await settled(run);
  const chat = agent.chat({ storage });
  await chat.load();
  assert.equal(chat.messages[1].outcome, 'cancelled');
  assert.match(chat.messages[1].text, /The first half/);
});

test('adamjmurray/producer-pal#1102: what ran before a failure is told as it was, not as cancelled', async () => {
  const { model, requests, done } = scripted(calls(['order']), () => { throw Object.assign(new Error('too many'), { status: 400 }); }, 'fine');
  const chat = new Agent({ model, tools: { order: tool({ execute: () => 'ordered' }) }, ...QUICK }).chat();
  assert.ok((await settled(chat.send('one'))).error);
  assert.equal((await chat.send('two')).text, 'fine');
  assertWellFormed(requests[2]);
  assert.deepEqual(results(requests[2]), ['ordered']);
  assert.ok(!/cancel/i.test(JSON.stringify(requests[2].messages)));
  done();
});

test('mattermost-plugin-agents#908: of two calls of a reply, the one that was done is not run again', async () => {
  const began = deferred();
  const ran = [];
  const { model, requests, done } = scripted(calls(['pay'], ['ship']), 'fine');
  const storage = inMemory();
  const make = (ship) => new Agent({ model, ...QUICK, approve: 'all', tools: {
    pay: tool({ touches: ['network'], execute: () => { ran.push('pay'); return 'paid'; } }),
    ship: tool({ touches: ['network'], execute: () => { ran.push('ship'); return ship(); } }),
  } });
  const first = make(() => { began.resolve(); return new Promise(() => {}); }).chat({ storage });
  abandon(first.send('x'));
  await began.promise;
  const copy = await left(storage, ({ events }) => events.some(({ event }) => event.type === 'tool_finished'));
  const asked = [];
  const second = make(() => 'shipped').chat({ storage: copy });
  await second.load();
  const result = await second.resume({ approve: ({ toolName, again }) => { asked.push([toolName, again]); return true; } });
  assert.equal(result.text, 'fine');
  assert.deepEqual(asked, [['ship', true]]);
  assert.deepEqual(ran.sort(), ['pay', 'ship', 'ship']);
  assert.deepEqual(results(requests[1]), ['paid', 'shipped']);
  done();
});

test('vercel/ai#11509: a run that is resumed twice at once goes on once', async () => {
  const began = deferred();
  const { model, requests } = scripted(() => { began.resolve(); return new Promise(() => {}); }, 'fine');
  const storage = inMemory();
  const agent = new Agent({ model, ...QUICK });
  abandon(agent.chat({ storage }).send('x'));
  await began.promise;
  const copy = await left(storage);
  const chat = agent.chat({ storage: copy });
  await chat.load();
  assert.ok(chat.isInterrupted);
  const run = chat.resume();
  assert.throws(() => chat.resume(), /is answering/);
  assert.equal((await run).text, 'fine');
  assert.equal(requests.length, 2);
  assert.equal(chat.messages.length, 2);
});

test('algolia/instantsearch#7223: a message after a reload during a tool, without resuming', async () => {
  const began = deferred();
  const { model, requests, done } = scripted(calls(['slow']), 'fine');
  const storage = inMemory();
  const agent = new Agent({ model, tools: { slow: tool({ execute: () => { began.resolve(); return new Promise(() => {}); } }) }, ...QUICK });
  abandon(agent.chat({ storage }).send('one'));
  await began.promise;
  const copy = await left(storage);
  const chat = agent.chat({ storage: copy });
  await chat.load();
  assert.equal((await chat.send('two')).text, 'fine');
  assertWellFormed(requests[1]);
  assert.equal(chat.messages.length, 4);
  done();
});

test('open-webui#28742: many messages at once through several chats of one key: none is lost', async () => {
  const storage = inMemory();
  const slow = { get: async (key) => { await null; return storage.get(key); }, set: async (key, text) => { await null; storage.set(key, text); }, delete: async (key) => storage.delete(key) };
  for (const one of [storage, slow]) {
    const agent = new Agent({ model: custom(({ messages }) => `to ${messages.at(-1).content}`), ...QUICK });
    await Promise.all(Array.from({ length: 5 }, (_, at) => agent.chat({ storage: one, id: 'room' }).send(`message ${at}`)));
    const chat = agent.chat({ storage: one, id: 'room' });
    await chat.load();
    assert.deepEqual(chat.messages.filter(({ role }) => role === 'user').map(({ text }) => text).sort(), Array.from({ length: 5 }, (_, at) => `message ${at}`));
    assert.deepEqual(chat.messages.filter(({ role }) => role === 'assistant').map(({ text }) => text).sort(), Array.from({ length: 5 }, (_, at) => `to message ${at}`));
  }
});

test('LionSR/TeXRA#8858: two tabs resume at the same time: one goes on, the other is told', async () => {
  const began = deferred();
  const { model, requests } = scripted(() => { began.resolve(); return new Promise(() => {}); }, 'fine');
  const storage = inMemory();
  const agent = new Agent({ model, ...QUICK });
  abandon(agent.chat({ storage }).send('x'));
  await began.promise;
  const copy = await left(storage);
  const tabs = [agent.chat({ storage: copy }), agent.chat({ storage: copy })];
  await Promise.all(tabs.map((tab) => tab.load()));
  const ends = await Promise.all(tabs.map((tab) => settled(tab.resume())));
  assert.deepEqual(ends.map(({ result, error }) => result?.text ?? error.slugs[0]).sort(), ['chat_continued', 'fine']);
  assert.equal(requests.length, 2);
});

test('sulla-desktop#404: chats of different keys in one storage answer side by side', async () => {
  const first = deferred();
  const storage = inMemory();
  const agent = new Agent({ model: custom(async ({ messages }) => { if (messages.at(-1).content === 'one') await first.promise; return 'fine'; }), ...QUICK });
  const one = agent.chat({ storage, id: 'one' }).send('one');
  assert.equal((await within(agent.chat({ storage, id: 'two' }).send('two'), 'the second answer')).text, 'fine');
  first.resolve();
  assert.equal((await one).text, 'fine');
});

test('langgraph#7547, deer-flow#4189 and gaia#972: what a chat writes and sends grows with what is new', async () => {
  let written = 0;
  const storage = inMemory();
  const { put } = storage.list;
  storage.list.put = (key, at, text) => { written += text.length; put(key, at, text); };
  const requests = [];
  const agent = new Agent({ model: custom((request) => { requests.push(request); return 'fine '.repeat(50); }), instructions: 'Be brief. '.repeat(100), ...QUICK });
  const chat = agent.chat({ storage });
  const picture = `data:image/png;base64,${'A'.repeat(40_000)}`;
  await chat.send([{ type: 'text', text: 'What is this?' }, { type: 'image', data: picture }]);
  const sizes = [];
  for (let at = 0; at < 24; at += 1) {
    const before = written;
    await chat.send(`message ${at}`);
    sizes.push(written - before);
  }
  // The last message writes no more than the fifth, but for a little.
  assert.ok(sizes.at(-1) < sizes[4] * 1.5, `${sizes}`);
  assert.ok(sizes.at(-1) < 40_000, `the picture is written again: ${sizes.at(-1)}`);
  assert.equal(requests.at(-1).messages.filter(({ role }) => role === 'system').length, 1);
  assert.equal(JSON.stringify(requests.at(-1)).split('A'.repeat(40_000)).length - 1, 1);
});

const asked = async (messages) => {
  const { model, requests, done } = scripted('fine');
  const { text } = await new Agent({ model, ...QUICK }).generate('and now?', { messages });
  assert.equal(text, 'fine');
  done();
  assertWellFormed(requests[0]);
  return requests[0].messages;
};
const ui = (...parts) => [{ role: 'user', content: 'do it' }, { role: 'assistant', parts }];

test('vercel/ai#18451: calls that wait for an approval, or have no state', async () => {
  for (const state of ['approval-requested', 'input-streaming', 'input-available', undefined]) {
    const messages = await asked(ui({ type: 'tool-git', toolCallId: 'c1', input: { message: 'x' }, state, ...(state === 'approval-requested' && { approval: { id: 'a' } }) }));
    assert.match(messages.find(({ role }) => role === 'tool').content, /No result/);
  }
  const denied = await asked(ui({ type: 'tool-git', toolCallId: 'c1', input: {}, state: 'output-denied', approval: { id: 'a', approved: false, reason: 'not on Fridays' } }));
  assert.match(denied.find(({ role }) => role === 'tool').content, /not on Fridays|denied|refused/i);
});

test('databricks/app-templates#254: parts of one call twice, in different states', async () => {
  const call = { type: 'tool-look', toolCallId: 'c1', input: { a: 1 } };
  const messages = await asked(ui({ ...call, state: 'input-available' }, { ...call, state: 'output-available', output: 'found' }));
  assert.deepEqual(messages.filter(({ role }) => role === 'tool').map(({ content }) => content), ['found']);
  const other = await asked(ui({ ...call, state: 'output-available', output: 'found' }, { ...call, state: 'output-available', output: 'found' }));
  assert.deepEqual(other.filter(({ role }) => role === 'tool').map(({ content }) => content), ['found']);
});

test('psd401/aistudio#977 and janhq/jan#7484: a call with its result in one part, and calls without arguments', async () => {
  const one = await asked(ui({ type: 'tool-call', toolCallId: 'c1', toolName: 'look', args: { a: 1 }, result: { found: 3 } }));
  assert.deepEqual(one.filter(({ role }) => role === 'tool').map(({ content }) => content), ['{"found":3}']);
  const bare = await asked([{ role: 'user', content: 'x' }, { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'look' }] }, { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'look', output: undefined }] }]);
  assert.equal(bare.find((message) => message.tool_calls).tool_calls[0].function.arguments, '{}');
  await asked([{ role: 'user', content: 'x' }, { role: 'assistant', content: '', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }] }, { role: 'tool', tool_call_id: 'c1', content: 'y' }]);
});

test('openai/openai-node#995: the union of objects as the output', async () => {
  const output = z.discriminatedUnion('status', [z.object({ status: z.literal('ok'), result: z.string() }), z.object({ status: z.literal('failed'), reason: z.string() })]);
  const { model, requests, done } = scripted((request) => {
    const { parameters } = request.tools.find(({ function: { name } }) => name === 'final_report').function;
    assert.equal(parameters.type, 'object');
    return calls(['final_report', { format: 'json', content: { status: 'ok', result: 'x' } }]);
  });
  const result = await new Agent({ model, output, ...QUICK }).generate('x');
  assert.deepEqual(result.output, { status: 'ok', result: 'x' });
  assert.equal(requests.length, 1);
  done();
});

test('modelcontextprotocol/typescript-sdk#808: the union of objects as the arguments of a tool', async () => {
  const inputSchema = z.discriminatedUnion('by', [z.object({ by: z.literal('id'), id: z.number() }), z.object({ by: z.literal('name'), name: z.string() })]);
  const seen = [];
  const { model, requests, done } = scripted(calls(['find', { by: 'id', id: 7 }, 'c0'], ['find', { by: 'name', id: 7 }, 'c1']), 'fine');
  await new Agent({ model, tools: { find: tool({ inputSchema, execute: (input) => { seen.push(input); return 'found'; } }) }, ...QUICK }).generate('x');
  assert.equal(requests[0].tools[0].function.parameters.type, 'object');
  assert.deepEqual(seen, [{ by: 'id', id: 7 }]);
  assert.match(results(requests[1])[1], /name|invalid|does not/i);
  done();
});

test('juspay/neurolink#1691: optional fields, defaults, records and tuples in the arguments', async () => {
  const inputSchema = z.object({ city: z.string(), unit: z.enum(['C', 'F']).default('C'), note: z.string().optional(), by: z.record(z.string(), z.number()), at: z.tuple([z.number(), z.number()]).nullable() });
  const seen = [];
  const { model, done } = scripted(calls(['look', { city: 'Oslo', by: { a: 1 }, at: null }]), 'fine');
  await new Agent({ model, tools: { look: tool({ inputSchema, execute: (input) => { seen.push(input); return 'found'; } }) }, ...QUICK }).generate('x');
  assert.deepEqual(seen, [{ city: 'Oslo', unit: 'C', by: { a: 1 }, at: null }]);
  done();
});

test('openai-agents-python#1840: an answer that a guardrail refused is not in the next request; what its tools did is', async () => {
  const { model, requests, done } = scripted(calls(['order']), 'the secret is 12', 'fine');
  const storage = inMemory();
  const agent = new Agent({ model, tools: { order: tool({ execute: () => 'ordered' }) }, guardrails: { output: [({ text }) => (text.includes('secret') ? { slug: 'secret', message: 'That is secret.' } : true)] }, ...QUICK });
  const chat = agent.chat({ storage });
  const { error } = await settled(chat.send('one'));
  assert.equal(error.reason, 'guardrail');
  for (const one of [chat, agent.chat({ storage })]) {
    await one.load();
    assert.equal(one.messages.length, 2);
    assert.ok(!JSON.stringify(one.messages).includes('the secret is 12'), 'a refused answer is shown');
    assert.equal(one.messages[1].error, 'That is secret.');
  }
  assert.equal((await chat.send('two')).text, 'fine');
  assertWellFormed(requests[2]);
  assert.ok(!JSON.stringify(requests[2]).includes('the secret is 12'), 'a refused answer is sent');
  assert.deepEqual(results(requests[2]), ['ordered']);
  done();
});

test('openai-agents-python#991: a prompt that a guardrail refuses reaches no model and no tool', async () => {
  const { model, requests } = scripted();
  const agent = new Agent({ model, tools: { order: tool({ execute: () => assert.fail('ran') }) }, guardrails: { input: [async () => ({ slug: 'no', message: 'No.' })] }, ...QUICK });
  const chat = agent.chat();
  for (const run of [agent.stream('x'), chat.send('x')]) assert.deepEqual((await settled(run)).error.slugs, ['no']);
  assert.equal(requests.length, 0);
});

test('assistant-ui#4771: a storage whose access throws, at any function', async () => {
  const refuse = () => { throw Object.assign(new Error('The operation is insecure.'), { name: 'SecurityError' }); };
  const { model } = scripted('fine', 'fine');
  const agent = new Agent({ model, ...QUICK });
  const quiet = mock.method(console, 'error', () => {});
  try {
    const { error } = await settled(agent.chat({ storage: { get: refuse, set: refuse, delete: refuse } }).send('x'));
    assert.ok(error instanceof TurnwiseError && error.reason === 'storage', String(error));
    const chat = agent.chat({ storage: { get: () => undefined, set: refuse, delete: refuse } });
    assert.equal((await chat.send('x')).text, 'fine');
    assert.match(chat.storageError.message, /insecure/);
    assert.equal((await settled(chat.clear())).error.reason, 'storage');
  } finally {
    quiet.mock.restore();
  }
});

const PROGRAM = `const { Agent, custom, tool } = await import(${JSON.stringify(entry)});
  const call = { choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] }, finish_reason: 'tool_calls' }] };
  const agent = new Agent({ model: custom((r) => (r.messages.some((m) => m.role === 'tool') ? 'fine' : call)), tools: { look: tool({ execute: () => ({ found: 1 }) }) }, files: { 'a.md': 'text' } });
  console.log((await agent.generate('x')).text);`;
function node(flags, program, env = {}) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], { encoding: 'utf8', timeout: 60_000, env: { ...process.env, NODE_OPTIONS: '', ...env } });
  assert.equal(`${stdout.trim()} ${status}`, 'fine 0', stderr);
}

test('ava#2944, nodejs/node#41103 and make-synchronized#44: flags of the process, of V8 and of the environment', () => {
  node(['--expose-gc', '--title=agent', '--stack-size=2000'], PROGRAM);
  node(['--no-warnings', '--enable-source-maps', '--conditions=development'], PROGRAM);
  node([], PROGRAM, { NODE_OPTIONS: '--max-old-space-size=512 --no-deprecation' });
});

test('mswjs/interceptors#505 and jest#10431: an environment of tests without TextEncoder, with a document', () => {
  node([], `for (const name of ['TextEncoder', 'TextDecoder']) delete globalThis[name];\n${PROGRAM}`);
  node([], `globalThis.window = globalThis; globalThis.document = { addEventListener() {}, removeEventListener() {} }; globalThis.location = new URL('http://localhost/');\n${PROGRAM}`);
});

test('fake timers of a test runner do not hold up a run', async () => {
  const { model, done } = scripted(calls(['look']), () => { throw Object.assign(new Error('busy'), { status: 503 }); }, 'fine');
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
  try {
    assert.equal((await new Agent({ model, tools: { look: tool({ execute: () => 'x' }) }, ...QUICK }).generate('x')).text, 'fine');
  } finally {
    mock.timers.reset();
  }
  done();
});

test('vitest#4043: bytes, buffers, schemas, errors and signals of another realm', async () => {
  const realm = vm.createContext({});
  const of = (code) => vm.runInContext(code, realm);
  const png = '[137, 80, 78, 71, 13, 10, 26, 10]';
  const { model, requests, done } = scripted(calls(['look'], ['fails'], ['many']), 'fine');
  const agent = new Agent({
    model, ...QUICK, tools: {
      look: tool({ inputSchema: of('({ type: "object", properties: {} })'), execute: () => toolContent([{ type: 'image', data: of(`new Uint8Array(${png}).buffer`), mediaType: 'image/png' }]) }),
      fails: tool({ execute: () => { throw of('new RangeError("no such order")'); } }),
      many: tool({ execute: () => of('new Map([["a", 1]])') }),
    },
  });
  const { text } = await agent.generate(of(`[{ type: 'text', text: 'x' }, { type: 'image', data: new Uint8Array(${png}), mediaType: 'image/png' }]`));
  assert.equal(text, 'fine');
  assert.match(JSON.stringify(requests[0].messages.at(-1)), /data:image\/png;base64,iVBORw0KGgo=/);
  assert.doesNotMatch(results(requests[1])[0], /expected/);
  assert.match(results(requests[1])[1], /no such order/);
  assert.match(results(requests[1])[2], /\{"a":1\}/);
  assert.doesNotThrow(() => new Agent(of('({})').constructor.assign(of('({})'), { model })));
  done();
});
