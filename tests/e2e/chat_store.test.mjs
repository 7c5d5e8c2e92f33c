// The store of a chat behind `useAgent`: what a person sees, live and after a reload; approvals, resume, regenerate.
import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { dist } from './lib/site.mjs';

const load = (name) => import(pathToFileURL(path.join(dist, 'turnwise', name)));
const { Agent, inMemory, tool } = await load('index.node.js');
const { createChatStore } = await load('chat-store.js');
const { scripted, verifyScripts } = await load('testing.js');

const opened = [];
// A run that a failed test leaves waiting would keep Node.js alive.
afterEach(() => { for (const { cancel } of opened.splice(0)) cancel(); });
afterEach(verifyScripts);

const ordered = [];
const tools = {
  look: tool({ inputSchema: { type: 'object', properties: { at: { type: 'string' } } }, execute: ({ at }) => `sunny ${at}` }),
  order: tool({ inputSchema: { type: 'object', properties: { article: { type: 'string' } } }, touches: ['network'], execute: ({ article }) => { ordered.push(article); return 'ordered'; } }),
};
/** A store with a subscriber, and its states. */
function open(replies, options = {}, chat) {
  const model = scripted(replies);
  const store = createChatStore(new Agent({ model, tools, ...options }), chat);
  opened.push(store);
  const states = [];
  const leave = store.subscribe(() => states.push(store.getSnapshot()));
  const until = async (condition) => {
    for (;;) {
      const state = store.getSnapshot();
      if (condition(state)) return state;
      await new Promise((resolve) => { const stop = store.subscribe(() => { stop(); resolve(); }); });
    }
  };
  return { store, states, leave, until, model };
}
const ready = ({ status }) => status === 'ready';
/** Without ids, which are of this page. */
const seen = ({ messages }) => messages.map(({ id, ...message }) => message);
const lines = ({ messages }) => messages.map(({ role, text, outcome }) => `${role}: ${text}${outcome ? ` (${outcome})` : ''}`);
/** Texts and tools alone: times and usage differ. */
const types = (message) => message.parts.map(({ type, toolName, output }) => [type, toolName, output].filter(Boolean).join(' '));

test('a message grows while it streams, and after a reload it is the same, with its parts', async () => {
  const storage = inMemory();
  let go;
  const { store, states, until } = open([{ text: 'Let me look.', toolName: 'look', input: { at: 'noon' } }, { text: ['It ', new Promise((resolve) => { go = resolve; }), 'is sunny.'] }], {}, { storage });
  assert.equal(store.getSnapshot().status, 'loading');
  await until(ready);
  const sent = store.send('Weather?');
  await until(({ messages }) => messages.at(-1)?.text === 'It ');
  go();
  const result = await sent;
  assert.equal(result.text, 'It is sunny.');
  const texts = states.map(({ messages }) => messages.at(-1)?.text).filter(Boolean);
  assert.ok(texts.includes('Let me look.'), `${texts}`);
  assert.ok(states.some(({ status, turn, callsLeft }) => status === 'running' && turn === 2 && callsLeft > 0));
  const live = await until(ready);
  assert.equal(live.result, result);
  const { until: later } = open([], {}, { storage });
  const again = await later(ready);
  assert.deepEqual(lines(again), ['user: Weather?', 'assistant: It is sunny. (success)']);
  assert.deepEqual(again.messages.map(types), live.messages.map(types));
  assert.deepEqual(types(again.messages[1]), ['turn-start', 'tool-call look', 'tool-result look sunny noon', 'turn-finish', 'turn-start', 'turn-finish', 'finish']);
});

test('each state is a new object, and an old one does not change', async () => {
  const { store, states, until } = open([{ text: ['A', 'B', 'C'] }]);
  await until(ready);
  const copies = [];
  store.subscribe(() => copies.push(structuredClone({ ...store.getSnapshot(), result: undefined, approvals: [] })));
  await store.send('Go');
  assert.equal(new Set(states).size, states.length);
  assert.deepEqual(states.slice(-copies.length).map((state) => ({ ...state, result: undefined, approvals: [] })), copies);
});

test('a call that touches the network waits in approvals: allowed, refused, allowed for the tool, and gone with a cancel', async () => {
  const { store, until } = open([
    { toolCalls: [{ toolName: 'order', input: { article: 'a' } }, { toolName: 'order', input: { article: 'b' } }] }, { toolName: 'order', input: { article: 'c' } }, 'Done.',
    { toolName: 'order', input: { article: 'd' } },
  ]);
  await until(ready);
  ordered.length = 0;
  const sent = store.send('Order');
  const waiting = ({ approvals }) => approvals.length > 0;
  const { approvals } = await until((state) => state.approvals.length === 2);
  const [first, second] = approvals;
  assert.deepEqual([first.request.toolName, first.request.input, first.request.touches, first.request.again], ['order', { article: 'a' }, ['network'], false]);
  assert.equal(store.getSnapshot().status, 'running');
  first.refuse();
  assert.deepEqual(store.getSnapshot().approvals, [second]);
  second.allow({ for: 'tool' });
  await sent;
  assert.deepEqual(ordered, ['b', 'c']);
  assert.deepEqual(store.getSnapshot().approvals, []);
  const results = store.getSnapshot().messages[1].parts.filter(({ type }) => type === 'tool-result');
  assert.deepEqual(results.map(({ slug }) => slug), ['refused', undefined, undefined]);
  const other = store.send('More');
  await until(waiting);
  store.cancel();
  assert.equal(await other, undefined);
  assert.deepEqual(store.getSnapshot().approvals, []);
  assert.deepEqual([store.getSnapshot().error, store.getSnapshot().messages.at(-1).outcome], [undefined, 'cancelled']);
});

test('calls of one turn ask in their order, however long each takes to be checked', async () => {
  // The first calls say that they ask only once the last one was looked at.
  let looked;
  const last = new Promise((resolve) => { looked = resolve; });
  const of = (needsApproval, more = {}) => tool({ inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, ...more }, touches: ['network'], needsApproval, execute: ({ n }) => n });
  const slow = of(async () => { await last; return true; });
  const quick = of(() => true);
  const silent = of(async () => { await last; return false; });
  // The engine's fast check does not know such a schema: the tools' worker checks it.
  const complex = of(() => true, { patternProperties: { '^x': { type: 'string', pattern: '^(a|b)+$' } }, dependentRequired: { x1: ['n'] } });
  const final = of(() => { looked(); return true; });
  const names = ['complex', 'slow', 'quick', 'silent', 'complex', 'quick', 'slow', 'complex', 'final'];
  const script = [{ toolCalls: names.map((toolName, n) => ({ toolName, input: { n } })) }, 'Done.'];
  const own = { tools: { complex, slow, quick, silent, final }, limits: { parallelTools: names.length } };
  const expected = names.map((_, n) => n).filter((n) => names[n] !== 'silent');
  const { store, until } = open(script, own);
  await until(ready);
  const sent = store.send('Go');
  const { approvals } = await until((state) => state.approvals.length === expected.length);
  assert.deepEqual(approvals.map(({ request }) => request.input.n), expected);
  for (const { allow } of approvals) allow();
  await sent;
  const asked = [];
  await new Agent({ model: scripted(script), ...own, approve: ({ input: { n } }) => { asked.push(n); return true; } }).generate('Go');
  assert.deepEqual(asked, expected);
});

test('the approve of an agent, or of a message, decides by itself', async () => {
  ordered.length = 0;
  const call = { toolName: 'order', input: { article: 'a' } };
  const { store, until } = open([call, 'Done.'], { approve: 'all' });
  await until(ready);
  await store.send('Order');
  const other = open([call, 'Done.', call, 'Done.']);
  await other.until(ready);
  await other.store.send('Order', { approve: () => false });
  assert.deepEqual(ordered, ['a']);
  await other.store.send('Order', { approve: () => true });
  assert.deepEqual(ordered, ['a', 'a']);
});

test('a run that was interrupted is resumed: its question, its parts before and after, and its approval again', async () => {
  const storage = inMemory();
  const first = open([{ toolName: 'look', input: { at: 'noon' } }, { toolName: 'order', input: { article: 'lamp' } }], {}, { storage });
  await first.until(ready);
  void first.store.send('Order');
  await first.until(({ approvals }) => approvals.length);
  // The page is closed: what is stored is all there is.
  const kept = inMemory();
  await copy(storage, kept);
  ordered.length = 0;
  const { store, until } = open(['All done.'], {}, { storage: kept });
  const before = await until(ready);
  assert.equal(before.isInterrupted, true);
  assert.deepEqual(lines(before), ['user: Order', 'assistant: ']);
  const resumed = store.resume();
  const { approvals: [{ request, allow }] } = await until(({ approvals }) => approvals.length);
  assert.deepEqual([request.toolName, request.input], ['order', { article: 'lamp' }]);
  allow();
  assert.equal((await resumed).text, 'All done.');
  assert.deepEqual(ordered, ['lamp']);
  const after = store.getSnapshot();
  assert.deepEqual([after.isInterrupted, lines(after)], [false, ['user: Order', 'assistant: All done. (success)']]);
  assert.deepEqual(types(after.messages[1]), [
    'turn-start', 'tool-call look', 'tool-result look sunny noon', 'turn-finish', 'turn-start', 'tool-call order', 'tool-result order ordered', 'turn-finish', 'turn-start', 'turn-finish', 'finish',
  ]);
  const later = await open([], {}, { storage: kept }).until(ready);
  assert.deepEqual(later.messages.map(types), after.messages.map(types));
  first.store.cancel();
});

/** Copies what a chat has stored. */
async function copy(from, to) {
  const head = await from.get('chat');
  await to.set('chat', head);
  for (const [at, text] of (await from.list?.all('chat') ?? []).entries()) await to.list.put('chat', at, text);
}

test('regenerate answers the last message again: what it replaces is neither shown nor read, and stays in the records', async () => {
  const storage = inMemory();
  const roles = (expected) => ({ messages }) => assert.deepEqual(messages.slice(1).map(({ content }) => content), expected);
  const { store, until, model } = open([
    'One.', 'Bad.', { text: 'Good.', expect: roles(['First', 'One.', 'Second']) }, { text: 'Better.', expect: roles(['First', 'One.', 'Second']) },
    { text: 'End.', expect: roles(['First', 'One.', 'Second', 'Better.', 'Third']) },
  ], {}, { storage });
  await until(ready);
  await store.send('First');
  await store.send('Second');
  assert.equal((await store.regenerate()).text, 'Good.');
  assert.deepEqual(lines(store.getSnapshot()), ['user: First', 'assistant: One. (success)', 'user: Second', 'assistant: Good. (success)']);
  assert.equal((await store.regenerate()).text, 'Better.');
  await store.send('Third');
  const live = store.getSnapshot();
  assert.deepEqual(lines(live), ['user: First', 'assistant: One. (success)', 'user: Second', 'assistant: Better. (success)', 'user: Third', 'assistant: End. (success)']);
  assert.equal(model.requests.length, 5);
  const agent = new Agent({ model: scripted([]), tools });
  const chat = agent.chat({ storage });
  await chat.load();
  assert.deepEqual(chat.messages.map(({ text }) => text), live.messages.map(({ text }) => text));
  assert.deepEqual(chat.trajectories.map(({ output }) => output), ['One.', 'Bad.', 'Good.', 'Better.', 'End.']);
});

test('regenerate after a failure and after a cancel', async () => {
  const { store, until } = open([{ error: 401 }, { text: ['Half', new Promise(() => {})] }, 'Whole.']);
  await until(ready);
  await store.send('A');
  assert.match(store.getSnapshot().error.message, /key/);
  const half = store.regenerate();
  await until(({ messages }) => messages.at(-1).text === 'Half');
  store.cancel();
  await half;
  assert.deepEqual(lines(store.getSnapshot()), ['user: A', 'assistant: Half (cancelled)']);
  assert.equal((await store.regenerate()).text, 'Whole.');
  assert.deepEqual(lines(store.getSnapshot()), ['user: A', 'assistant: Whole. (success)']);
});

test('misuse changes nothing: two messages at once, nothing to resume, nothing to answer again', async () => {
  const { store, until } = open(['One.']);
  await until(ready);
  await assert.rejects(store.regenerate(), /no message that could be answered again/);
  await assert.rejects(store.resume(), /no interrupted run/);
  const sent = store.send('A');
  await assert.rejects(store.send('B'), /is answering/);
  await assert.rejects(store.regenerate(), /is answering/);
  await sent;
  assert.deepEqual(lines(store.getSnapshot()), ['user: A', 'assistant: One. (success)']);
});

test('a message that is sent while the chat is loading comes after what was stored', async () => {
  const storage = inMemory();
  const first = open(['One.'], {}, { storage });
  await first.store.send('First');
  let go;
  const gate = new Promise((resolve) => { go = resolve; });
  const { get, set, delete: remove, list } = storage;
  const slow = { get: async (key) => { await gate; return get(key); }, set, delete: remove, list };
  const { store, until } = open(['Two.'], {}, { storage: slow });
  const sent = store.send('Second');
  await until(({ status }) => status === 'running');
  go();
  await sent;
  assert.deepEqual(lines(store.getSnapshot()), ['user: First', 'assistant: One. (success)', 'user: Second', 'assistant: Two. (success)']);
});

test('the last subscriber that leaves cancels the run, and whoever comes later finds what was stored', async () => {
  const { store, leave, until } = open([{ text: ['Half', new Promise(() => {})] }, 'Whole.']);
  await until(ready);
  const sent = store.send('A');
  await until(({ messages }) => messages.at(-1)?.text === 'Half');
  leave();
  assert.equal(await sent, undefined);
  const back = store.subscribe(() => {});
  assert.equal((await until(ready)).messages.at(-1).outcome, 'cancelled');
  assert.equal((await store.regenerate()).text, 'Whole.');
  await store.clear();
  assert.deepEqual(seen(store.getSnapshot()), []);
  back();
});
