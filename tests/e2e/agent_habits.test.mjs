// How people use agents elsewhere, from public reports: what a chat keeps, what a tool may return, stopping at any time, histories of
// other programs. Runs in Node.js, with a model in this process.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const { Agent, TurnwiseError, custom, inMemory, tool } = await import(pathToFileURL(path.resolve(process.env.SITE ?? 'dist', 'turnwise/index.node.js')).href);

const QUICK = { retry: { baseMs: 1, capMs: 5 } };
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const calls = (...list) => ({ choices: [{ message: { role: 'assistant', content: null, tool_calls: list.map(([name, args = {}], at) => ({ id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) } })) }, finish_reason: 'tool_calls' }] });
/** A model that answers with these steps, each a reply or a function of (request, options), and fails on one more request. */
function scripted(...steps) {
  const requests = [];
  const model = custom((request, options) => {
    requests.push(request);
    const step = steps[requests.length - 1];
    if (step === undefined) throw new Error(`request ${requests.length} was not expected`);
    return typeof step === 'function' ? step(request, options) : step;
  });
  return { model, requests };
}
/** How a run ended: its result, or its error. */
const settled = (run) => run.then((result) => ({ result }), (error) => ({ error }));
const own = (content) => content.replace(/\n\[Turn [^\]]*\][^]*$/, '');

test('what a tool returns reaches the model, or the model is told what to return', async () => {
  const circular = { name: 'order 7' };
  circular.self = circular;
  class Fields { a = 1; }
  class Hidden { #a = 1; get a() { return this.#a; } }
  const values = {
    bigint: [() => ({ id: 7n, big: 2n ** 70n }), '{"id":7,"big":"1180591620717411303424"}'],
    circular: [() => circular, '{"name":"order 7","self":"[circular]"}'],
    twice: [() => { const one = { a: 1 }; return [one, one]; }, '[{"a":1},{"a":1}]'],
    map: [() => new Map([['lamp', new Map([[1, 2]])]]), '{"lamp":[[1,2]]}'],
    set: [() => new Set(['lamp']), '["lamp"]'],
    headers: [() => new Headers({ a: 'b' }), '{"a":"b"}'],
    search: [() => new URLSearchParams('a=1&a=2'), '[["a","1"],["a","2"]]'],
    date: [() => new Date(0), '"1970-01-01T00:00:00.000Z"'],
    link: [() => new URL('https://example.test/a'), '"https://example.test/a"'],
    pattern: [() => ({ found: /a+/g }), '{"found":"/a+/g"}'],
    nan: [() => [NaN, Infinity], '["NaN","Infinity"]'],
    bytes: [() => new Uint8Array([1, 2]), '[1,2]'],
    symbol: [() => Symbol('x'), '"Symbol(x)"'],
    nothing: [() => undefined, 'null'],
    fields: [() => new Fields(), '{"a":1}'],
    generator: [function* () { yield 'a'; yield 'b'; }, '["a","b"]'],
    progress: [async function* () { yield 'working'; yield { lamp: 12 }; }, '["working",{"lamp":12}]'],
    words: [async function* () { yield 'lamp '; yield '12'; }, 'lamp 12'],
    response: [() => new Response('lamp 12'), 'lamp 12'],
    blob: [() => new Blob(['lamp 12']), 'lamp 12'],
    stream: [() => new Response('lamp 12').body, 'lamp 12'],
  };
  const faults = {
    missing: [() => new Response('no such lamp', { status: 404 }), /status 404: no such lamp/],
    read: [async () => { const one = new Response('x'); await one.text(); return one; }, /already read.*return what was read/],
    returned: [() => new RangeError('no such lamp'), /no such lamp/],
    picture: [() => new Blob([new Uint8Array([0xff, 0xd8])], { type: 'image/jpeg' }), /a Blob \(image\/jpeg\) that is not UTF-8 text.*toolContent/],
    hidden: [() => new Hidden(), /class Hidden without fields of its own.*a plain object/],
    promise: [() => ({ later: Promise.resolve(1) }), /a Promise.*what it holds/],
    inside: [() => ({ body: new Blob(['x']) }), /a value with a Blob in it/],
    code: [() => () => 1, /a function.*its result/],
  };
  const all = { ...values, ...faults };
  const { model } = scripted(calls(...Object.keys(all).map((name) => [name])), 'ok');
  const { trajectory } = await new Agent({ model, ...QUICK, tools: Object.fromEntries(Object.entries(all).map(([name, [execute]]) => [name, tool({ execute })])) }).generate('go');
  const made = Object.fromEntries(trajectory.turns[0].tool_calls.map((call) => [call.name, call]));
  for (const [name, [, expected]] of Object.entries(values)) assert.deepEqual([made[name].result, made[name].slug], [expected, undefined], name);
  for (const [name, [, expected]] of Object.entries(faults)) {
    assert.match(made[name].result, expected, name);
    assert.equal(made[name].slug, 'tool_exec_failed', name);
  }
});

test('a run stops when it is asked to, whenever that is', async () => {
  const make = (options = {}) => {
    let ran = 0;
    const { model, requests } = scripted(...Array(4).fill((request) => (request.tools?.length ? calls(['look']) : 'what I have')));
    return { agent: new Agent({ model, maxTurns: 4, ...QUICK, ...options, tools: { look: tool({ execute: () => { ran += 1; return 'x'; } }) } }), requests, ran: () => ran };
  };
  const slow = { guardrails: { input: [() => sleep(40)] } };
  for (const [name, options, begin, wait] of [
    ['at once', {}, (agent) => agent.stream('go'), 0],
    ['during a guardrail', slow, (agent) => agent.stream('go'), 10],
    ['while a chat is loaded', {}, (agent) => agent.chat({ storage: { get: () => sleep(40), set() {}, delete() {} } }).send('go'), 10],
  ]) {
    const one = make(options);
    const run = begin(one.agent);
    if (wait) await sleep(wait);
    run.stop();
    const { result } = await settled(run);
    assert.deepEqual([result?.ending.trigger, one.ran()], ['stop', 0], name);
    const other = make(options);
    const cancelled = begin(other.agent);
    if (wait) await sleep(wait);
    cancelled.cancel();
    const began = performance.now();
    const { error } = await settled(cancelled);
    assert.deepEqual([error?.reason, other.requests.length], ['cancelled', 0], name);
    if (wait) assert.ok(performance.now() - began < 25, `${name}: cancel waits for nothing`);
  }
});

test('guardrails and storage that fail have names of their own', async () => {
  for (const [guardrail, message] of [[() => { throw new TypeError('fetch failed'); }, /guardrails\.input\[0\] threw an error: fetch failed/], [() => false, /returned false; expected nothing or true/], [() => ({ message: 'no slug' }), /returned an object/]]) {
    const { error } = await settled(new Agent({ model: scripted().model, ...QUICK, guardrails: { input: [guardrail] } }).stream('x'));
    assert.deepEqual([error.reason, error.slugs], ['guardrail', ['guardrail_error']]);
    assert.match(error.message, message);
  }
  let broken = true;
  const memory = inMemory();
  const storage = { get: (key) => { if (broken) throw new Error('disk is away'); return memory.get(key); }, set: () => { throw new Error('quota'); }, delete() {} };
  const chat = new Agent({ model: scripted('ok').model, ...QUICK }).chat({ storage });
  const { error } = await settled(chat.send('x'));
  assert.ok(error instanceof TurnwiseError);
  assert.deepEqual([error.reason, error.message], ['storage', 'The chat could not be read from its storage: disk is away']);
  broken = false;
  assert.equal((await chat.send('x')).text, 'ok');
  assert.match(chat.storageError.message, /quota/);
  assert.throws(() => new Agent({ model: custom(() => 'x') }).chat({ storage: {} }), /options\.storage: got an object without get\(\)/);
});

test('a chat knows what a cancelled and a failed run did, and keeps no run that did nothing from the next', async () => {
  for (const how of ['cancel', 'failure']) {
    const { model, requests } = scripted(calls(['order']), (_, { signal }) => new Promise((_resolve, fail) => {
      if (how === 'failure') fail(Object.assign(new Error('bad request'), { status: 400 }));
      signal.addEventListener('abort', () => fail(new Error('aborted')));
    }), 'second');
    const chat = new Agent({ model, ...QUICK, tools: { order: tool({ execute: () => 'order 4711 placed' }) } }).chat();
    const run = chat.send('Order a lamp.');
    if (how === 'cancel') for await (const part of run) if (part.type === 'turn-start' && part.turn === 2) { await sleep(10); run.cancel(); break; }
    await settled(run);
    assert.equal((await chat.send('Did you?')).text, 'second');
    const sent = requests.at(-1).messages;
    assert.deepEqual(sent.slice(1).map(({ role }) => role), ['user', 'assistant', 'tool', 'user'], how);
    assert.match(sent[3].content, /4711/);
    const [, first] = chat.messages;
    assert.deepEqual([first.outcome, first.parts.filter(({ type }) => type === 'tool-result').map(({ output }) => output)], [how === 'cancel' ? 'cancelled' : 'failed', ['order 4711 placed']]);
    assert.equal(Boolean(first.error), how === 'failure', 'cancelling is no error');
  }
  const { model, requests } = scripted(() => { throw Object.assign(new Error('bad key'), { status: 401 }); }, 'fine');
  const chat = new Agent({ model, ...QUICK }).chat();
  await settled(chat.send('first'));
  await chat.send('second');
  assert.deepEqual(requests.at(-1).messages.slice(1).map(({ content }) => content), ['second']);
});

test('a stored chat grows with its length, in a storage that takes whole chats and in one with a list', async () => {
  for (const list of [true, false]) {
    let written = 0;
    const memory = inMemory();
    const size = () => (memory.get('chat') ?? '').length + memory.list.all('chat').join('').length;
    const storage = { ...memory, set: (key, text) => { written += text.length; memory.set(key, text); }, list: list ? { ...memory.list, put: (key, at, text) => { written += text.length; memory.list.put(key, at, text); } } : undefined };
    const agent = new Agent({ model: custom(() => 'An answer of some length. '.repeat(8)), ...QUICK });
    const chat = agent.chat({ storage });
    const sizes = {};
    for (let n = 1; n <= 40; n += 1) {
      await chat.send(`Question ${n}, with some words in it.`);
      sizes[n] = size();
    }
    assert.ok(sizes[40] / sizes[20] < 2.1, JSON.stringify([sizes[20], sizes[40]]));
    if (list) assert.ok(written < 4 * sizes[40], `${written} written for ${sizes[40]}`);
    const again = agent.chat({ storage });
    await again.load();
    assert.deepEqual(again.trajectories, chat.trajectories);
    assert.equal(again.trajectories.at(-1).history.length, 79);
    await again.clear();
    assert.equal(size(), 0);
  }
});

test('two chats over one storage keep both messages, and one of them resumes', async () => {
  const storage = inMemory();
  const agent = new Agent({ model: custom(() => sleep(5).then(() => 'ok')), ...QUICK });
  const [a, b] = [agent.chat({ storage }), agent.chat({ storage })];
  await Promise.all([a.load(), b.load()]);
  await Promise.all([a.send('from A'), b.send('from B')]);
  const read = agent.chat({ storage });
  await read.load();
  assert.deepEqual(read.messages.filter(({ role }) => role === 'user').map(({ text }) => text), ['from A', 'from B']);
  assert.equal(read.trajectories[1].history.length, 3, 'the second knows the first');

  let paid = 0;
  let kept;
  const texts = new Map();
  const plain = { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text), delete: (key) => void texts.delete(key) };
  const make = () => new Agent({ model: scripted(calls(['pay']), ...Array(2).fill('done')).model, ...QUICK, approve: 'all', tools: { pay: tool({ touches: ['network'], execute: async () => { paid += 1; kept ??= texts.get('chat'); await sleep(20); return 'paid'; } }) } });
  await make().chat({ storage: plain }).send('pay');
  const record = JSON.parse(kept).runs[0];
  assert.deepEqual([record.outcome, record.turns[0].tool_calls.length], [null, 1], 'the call is stored before it begins');
  texts.set('chat', kept);
  paid = 0;
  const again = () => new Agent({ model: custom((request) => (request.messages.some(({ role }) => role === 'tool') ? 'done' : calls(['pay']))), ...QUICK, approve: ({ again: asked }) => asked, tools: { pay: tool({ touches: ['network'], execute: () => { paid += 1; return 'paid'; } }) } }).chat({ storage: plain });
  const [c, d] = [again(), again()];
  await Promise.all([c.load(), d.load()]);
  const ends = await Promise.all([settled(c.resume()), settled(d.resume())]);
  assert.deepEqual([paid, ends.map(({ error }) => error?.slugs?.[0])], [1, [undefined, 'chat_continued']]);
});

test('a chat cleared while it answers stays empty, and its files come back with it', async () => {
  const storage = inMemory();
  const { model } = scripted(() => sleep(20).then(() => 'late'), 'x');
  const chat = new Agent({ model, ...QUICK }).chat({ storage });
  const run = settled(chat.send('x'));
  await sleep(5);
  await chat.clear();
  await run;
  await sleep(30);
  assert.deepEqual([chat.messages, storage.get('chat'), storage.list.all('chat')], [[], undefined, []]);

  const writer = scripted(calls(['write_file', { path: 'notes.md', content: 'lamp: 12' }], ['delete_file', { path: 'old.md' }]), 'done', (request) => calls(['read_file', { path: 'notes.md' }]), 'read');
  const agent = new Agent({ model: writer.model, files: { 'old.md': 'old', 'kept.md': 'kept' }, builtInTools: ['read_file', 'write_file', 'list_files'], ...QUICK });
  await agent.chat({ storage }).send('write');
  const again = agent.chat({ storage });
  const { files } = await again.send('read');
  assert.equal(await files.get('notes.md').text(), 'lamp: 12');
  assert.match(own(writer.requests.at(-1).messages.at(-1).content), /lamp: 12/);
});

test('histories of other programs are read, repaired, or refused by name', async () => {
  const sent = async (messages) => {
    const { model, requests } = scripted('ok');
    const { error } = await settled(new Agent({ model, ...QUICK }).stream('next', { messages }));
    if (error) return error.message;
    return requests[0].messages.slice(1, -1).map(({ role, content, tool_calls: made, tool_call_id: id }) => [role, ...(made ? [made.map((call) => [call.id, call.function.name, call.function.arguments])] : []), ...(content ? [content] : []), ...(id ? [id] : [])]);
  };
  const asked = ['assistant', [['c1', 'price', '{"a":1}']]];
  const answered = ['tool', '{"euros":12}', 'c1'];
  const user = { role: 'user', content: 'price?' };
  for (const [name, messages, expected] of [
    ['AI SDK', [user, { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, { type: 'tool-call', toolCallId: 'c1', toolName: 'price', input: { a: 1 } }] }, { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'price', output: { type: 'json', value: { euros: 12 } } }] }], [['user', 'price?'], [...asked, 'I look.'], answered]],
    ['useChat', [user, { role: 'assistant', parts: [{ type: 'step-start' }, { type: 'tool-price', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: { euros: 12 } }, { type: 'step-start' }, { type: 'text', text: 'Twelve.' }] }], [['user', 'price?'], asked, answered, ['assistant', 'Twelve.']]],
    ['Chat Completions', [user, { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'price', arguments: '{"a":1}' } }] }, { role: 'tool', tool_call_id: 'c1', content: '{"euros":12}' }], [['user', 'price?'], asked, answered]],
    ['Anthropic', [user, { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'price', input: { a: 1 } }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: '{"euros":12}' }] }, { type: 'text', text: 'and?' }] }], [['user', 'price?'], asked, answered, ['user', 'and?']]],
    ['a call that nothing answers', [user, { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'price', arguments: '{"a":1}' }] }, { role: 'user', content: 'well?' }], [['user', 'price?'], asked, ['tool', 'No result: the conversation was cut off before this call was answered.', 'c1'], ['user', 'well?']]],
    ['an answer that was cut off before its first word', [user, { role: 'assistant', parts: [] }, { role: 'assistant', content: null }], [['user', 'price?']]],
  ]) assert.deepEqual(await sent(messages), expected, name);
  // Each turn of another program may count its calls from 1.
  const twice = [0, 1].flatMap(() => [{ role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'price', arguments: '{}' } }] }, { role: 'tool', tool_call_id: 'c1', content: '12' }]);
  assert.deepEqual((await sent([user, ...twice])).filter(([role]) => role === 'tool').map((one) => one[2]), ['c1', 'c1_2']);
  for (const [messages, expected] of [
    [[user, { role: 'tool', tool_call_id: 'gone', content: '12' }], /messages\[1\]: the result of the call "gone" has no such call before it/],
    [[{ role: 'model', parts: [{ text: 'x' }] }], /messages\[0\]\.role: got "model"/],
    [[{ role: 'user', content: 7 }], /messages\[0\]\.content: got 7/],
    [[7], /messages\[0\]: got 7/],
  ]) assert.match(await sent(messages), expected);
});

test('a message that is only a picture, and a second click', async () => {
  const png = 'data:image/png;base64,iVBORw0KGgo=';
  const { model, requests } = scripted('a lamp', 'a lamp');
  assert.equal((await new Agent({ model, ...QUICK }).generate([{ type: 'image', data: png }])).text, 'a lamp');
  assert.deepEqual(requests[0].messages.at(-1).content, [{ type: 'image_url', image_url: { url: png } }]);
  await assert.rejects(async () => new Agent({ model, ...QUICK }).generate(''), /prompt: got ""/);
  let told = 0;
  let guarded = 0;
  const chat = new Agent({ model: scripted(() => sleep(20).then(() => 'ok')).model, ...QUICK, telemetry: () => { told += 1; }, guardrails: { input: [() => { guarded += 1; }] } }).chat();
  const first = chat.send('x');
  assert.throws(() => chat.send('x'), /answering/);
  await first;
  assert.deepEqual([told, guarded], [1, 1]);
  // Wrong options begin nothing, and the chat stays free.
  const free = new Agent({ model: scripted('ok').model, ...QUICK }).chat();
  assert.throws(() => free.send('x', { signal: 7 }), /options\.signal/);
  assert.equal((await free.send('x')).text, 'ok');
});

test('schemas with references and null are carried to the report', async () => {
  const node = { type: 'object', properties: { id: { type: 'string' }, nodes: { type: 'array', items: { $ref: '#' } } }, required: ['id'] };
  const defined = { type: 'object', $defs: { P: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } }, properties: { p: { $ref: '#/$defs/P' } }, required: ['p'] };
  for (const [schema, right, wrong] of [
    [node, { id: '1', nodes: [{ id: '2' }] }, { id: '1', nodes: [{ id: 2 }] }],
    [defined, { p: { x: 1 } }, { p: { x: 'a' } }],
    [{ type: ['object', 'null'] }, null, 7],
  ]) {
    const report = (content) => calls(['final_report', { format: 'json', content }]);
    const { model } = scripted(report(wrong), report(right));
    const { output, trajectory } = await new Agent({ model, output: schema, ...QUICK }).generate('go');
    assert.deepEqual(output, right);
    assert.equal(trajectory.requests, 2);
  }
});

// A window is counted as the request is written, four bytes a token: a request over it is a fault of the test.
function windowed(window, answer, { known = true } = {}) {
  const requests = [];
  const tokens = ({ messages }) => Math.ceil(JSON.stringify(messages).length / 4);
  const model = custom((request, options) => {
    requests.push(request);
    if (tokens(request) <= window) return answer(request, requests.length, options);
    if (known) assert.fail(`${tokens(request)} tokens were sent to a window of ${window}`);
    throw Object.assign(new Error(`This model's maximum context length is ${window} tokens`), { status: 400, code: 'context_length_exceeded' });
  });
  return { model, requests, limits: known ? { contextTokens: window } : {}, over: () => requests.filter((request) => tokens(request) > window).length };
}
const textOf = ({ content }) => (typeof content === 'string' ? content : JSON.stringify(content));
const isNote = (message) => textOf(message).startsWith('[Left out here');
const words = (n, word = 'words ') => word.repeat(n);

test('a chat that outgrows the window goes on, whether or not the window is known', async () => {
  for (const known of [true, false]) {
    const { model, requests, limits, over } = windowed(2000, () => `answer ${words(60)}`, { known });
    const chat = new Agent({ model, ...QUICK, limits }).chat();
    for (let n = 1; n <= 40; n += 1) {
      const { ending } = await chat.send(`Question ${n}: ${words(20, 'some words ')}`);
      assert.equal(ending.reason, 'llm_complete', `message ${n}`);
    }
    assert.equal(chat.messages.length, 80, 'the chat keeps all');
    const last = chat.trajectories.at(-1);
    assert.equal(last.history.length, 1 + 2 * 39, 'so does the record');
    assert.ok(last.turns[0].attempts.at(-1).left_out > 40);
    assert.equal(chat.messages.at(-1).parts.find(({ type }) => type === 'turn-finish').leftOut, last.turns[0].attempts.at(-1).left_out);
    assert.deepEqual([over(), requests.length], known ? [0, 40] : [1, 41], 'what one message learnt, the next ones know');
    assert.match(textOf(requests.at(-1).messages.find(isNote)), /messages 1 to \d+ of this conversation \(\d+ messages of the user\)\. read_earlier/);
  }
});

test('what a request leaves out is read with a tool, from a stored chat, too', async () => {
  const storage = inMemory();
  const { model, requests, limits } = windowed(2000, ({ messages }) => {
    if (!/code word/.test(textOf(messages.findLast(({ role }) => role === 'user')))) return words(60);
    const read = messages.findLast(({ role }) => role === 'tool');
    return read ? `It is ${/heron/.exec(read.content)?.[0]}.` : calls(['read_earlier', { from: 1, count: 2 }]);
  });
  const make = () => new Agent({ model, ...QUICK, limits }).chat({ storage });
  const chat = make();
  await chat.send('Remember: heron.');
  for (let n = 1; n <= 15; n += 1) await chat.send(`${n}: ${words(40)}`);
  chat.close();
  const again = make();
  await again.load();
  assert.equal((await again.send('Which code word did I give you?')).text, 'It is heron.');
  const offers = requests.map(({ messages, tools = [] }) => [messages.some(isNote), tools.some(({ function: { name } }) => name === 'read_earlier')]);
  assert.ok(offers.every(([note, tool]) => note === tool) && !offers[0][0] && offers.at(-1)[0], 'it is offered where something is left out');
});

test('one that is too long by itself is not sent, and the next message is answered', async () => {
  const { model, requests, limits } = windowed(2000, () => 'ok');
  const chat = new Agent({ model, ...QUICK, limits }).chat();
  const { error } = await settled(chat.send('x'.repeat(20_000)));
  assert.deepEqual([error.reason, requests.length], ['context_synthesis_failed', 0]);
  assert.match(error.message, /too long for the model.*about \d+ tokens.*window has 2000/s);
  assert.equal((await chat.send('shorter')).text, 'ok');
});

// Public reports of the kind, each as a test.
test('danny-avila/LibreChat#5466: the system message stays when the conversation is shortened', async () => {
  const { model, requests, limits } = windowed(1500, () => words(60));
  const chat = new Agent({ model, ...QUICK, limits, instructions: 'Answer like a pirate.' }).chat();
  for (let n = 1; n <= 25; n += 1) await chat.send(`${n}: ${words(40)}`);
  assert.ok(requests.every(({ messages: [first] }) => first.role === 'system' && first.content === 'Answer like a pirate.'));
});

test('cogentapps/chat-with-gpt#200: the newest message is the one that is answered', async () => {
  const { model, limits } = windowed(1500, ({ messages }) => `${words(60)} you asked ${/^Question \d+/.exec(messages.at(-1).content)}`);
  const chat = new Agent({ model, ...QUICK, limits }).chat();
  for (let n = 1; n <= 25; n += 1) assert.match((await chat.send(`Question ${n}: ${words(40)}`)).text, new RegExp(`you asked Question ${n}$`));
});

test('n8n-io/n8n#34166: a call and its result are left out together', async () => {
  const { model, requests, limits } = windowed(2500, ({ messages }) => (messages.at(-1).role === 'tool' ? words(30) : calls(['look', { a: 1 }], ['look', { a: 2 }])));
  const chat = new Agent({ model, ...QUICK, limits, tools: { look: tool({ execute: () => words(60, 'found ') }) } }).chat();
  for (let n = 1; n <= 25; n += 1) await chat.send(`${n}: ${words(20)}`);
  for (const { messages } of requests) {
    const open = [];
    for (const { role, tool_calls: asked = [], tool_call_id: id } of messages) {
      if (role === 'tool') assert.equal(id, open.shift());
      else assert.equal(open.length, 0, 'a call without its result');
      open.push(...asked.map((one) => one.id));
    }
    assert.equal(open.length, 0);
  }
  assert.ok(requests.at(-1).messages.some(isNote));
});

test('NorthlandPositronics/Cogtrix#2397: it is shortened in steps, not by a message or two each time', async () => {
  const { model, requests, limits } = windowed(4000, () => words(60));
  const chat = new Agent({ model, ...QUICK, limits }).chat();
  for (let n = 1; n <= 60; n += 1) await chat.send(`${n}: ${words(40)}`);
  const texts = requests.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  const anew = texts.filter((own, at) => at > 0 && !texts[at - 1].every((text, place) => own[place] === text)).length;
  assert.ok(anew >= 2 && anew <= 8, `${anew} of 59 requests do not begin with the one before`);
});
