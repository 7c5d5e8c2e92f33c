// `cancel()` (a button Stop) ends a run now and keeps the text that had arrived; `stop()` (a button Wrap up) has it conclude. Both count
// whenever they are asked for. Runs in Node.js, with a model in this process that refuses every request that is not expected.
import assert from 'node:assert/strict';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { dist } from './lib/site.mjs';

const load = (name) => import(pathToFileURL(path.join(dist, 'turnwise', name)));
const { Agent, TurnwiseError, tool } = await load('index.node.js');
const { createChatStore } = await load('chat-store.js');
const { scripted, verifyScripts } = await load('testing.js');

afterEach(verifyScripts);

const never = () => new Promise(() => {});
const half = () => ({ text: ['Half a sen', never()] });
const failure = (run) => run.then(() => assert.fail('there is no result'), (error) => error);
const users = ({ messages }) => messages.filter(({ role }) => role === 'user').map(({ content }) => content);
/** Calls `then` once the run has streamed text. */
async function onText(run, then) {
  for await (const part of run) if (part.type === 'text-delta') return then();
}

test('the error of a run that was cancelled has the text that had arrived, which is the report of its record', async () => {
  const run = new Agent({ model: scripted([half()]) }).stream('Tell me.');
  await onText(run, () => run.cancel());
  const error = await failure(run);
  assert.ok(error instanceof TurnwiseError);
  const { trajectory } = error;
  assert.deepEqual([error.reason, error.partialText, trajectory.output, trajectory.answer_source, trajectory.requests], ['cancelled', 'Half a sen', 'Half a sen', 'model', 1]);
  assert.ok(!Object.keys(error).includes('partialText'), 'a console shows the message');
});

test('without text there is none: the error of a run that is cancelled during a tool, a wait, or before it begins', async () => {
  const slow = tool({ execute: never });
  for (const [what, replies, event] of [
    ['a tool', [{ toolName: 'slow', input: {} }], 'tool-call'],
    ['a wait', [{ error: { status: 429, retryAfterMs: 60_000 } }], 'attempt-failed'],
    ['nothing', [], undefined],
  ]) {
    const run = new Agent({ model: scripted(replies), tools: { slow } }).stream('Do it.');
    if (!event) run.cancel();
    for await (const part of run) if (part.type === event) run.cancel();
    const error = await failure(run);
    assert.deepEqual([error.reason, error.partialText], ['cancelled', ''], what);
    if (error.trajectory) assert.equal(error.trajectory.output, 'Stopped before an answer arrived.', what);
  }
});

test('stop() makes one request in which no tool can be called, whatever the run was doing', async () => {
  const slow = tool({ execute: never });
  for (const [what, first, event] of [['a tool', { toolName: 'slow', input: {} }, 'tool-call'], ['a wait', { error: { status: 429, retryAfterMs: 60_000 } }, 'attempt-failed'], ['a reply', half(), 'text-delta'], ['nothing', half(), undefined]]) {
    const concluding = { text: 'In short.', expect: ({ tools, tool_choice: choice }) => assert.ok(!tools?.length || choice === 'none', what) };
    const run = new Agent({ model: scripted([first, concluding]), tools: { slow } }).stream('Do it.');
    if (!event) run.stop();
    for await (const part of run) if (part.type === event && part.turn === 1) run.stop();
    const { text, ending } = await run;
    assert.deepEqual([text, ending.reason], ['In short.', 'stop_synthesized'], what);
  }
});

test('a sub-agent that is cancelled keeps its text, and the run that has it sends nothing more', async () => {
  const agent = new Agent({ model: scripted([{ toolName: 'spawn_subagents', input: { tasks: [{ task: 'Look' }] } }, half()]), subagents: { helper: {} } });
  const run = agent.stream('Look around.');
  for await (const part of run) if (part.type === 'child' && part.part.type === 'text-delta') run.cancel();
  const { trajectory } = await failure(run);
  assert.deepEqual([trajectory.requests, trajectory.output, trajectory.children[0].output], [2, 'Stopped before an answer arrived.', 'Half a sen']);
});

test('the next message of a chat knows what was asked, and not what had arrived', async () => {
  const model = scripted([half(), { text: 'Short.', expect: (request) => assert.deepEqual(users(request), ['Tell me.', 'Shorter, please.']) }]);
  const store = createChatStore(new Agent({ model }));
  const leave = store.subscribe(() => {
    if (store.getSnapshot().messages.at(-1)?.text === 'Half a sen' && store.getSnapshot().status === 'running') store.cancel();
  });
  assert.equal(await store.send('Tell me.'), undefined);
  const { messages, error } = store.getSnapshot();
  assert.deepEqual([messages.at(-1).text, messages.at(-1).outcome, messages.at(-1).error, error], ['Half a sen', 'cancelled', undefined, undefined]);
  assert.equal((await store.send('Shorter, please.')).text, 'Short.');
  leave();
});

test('a plan that is stopped or cancelled before the engine has it ends that way', async () => {
  const plan = { agents: { Reader: { kind: 'gather' } }, steps: [{ order: 1, agent: 'Reader', action: 'Read' }, { order: 2, agent: 'Reader', action: 'Read on', dependencies: [1] }] };
  const source = { skills: [] };
  const cancelled = new Agent({ model: scripted([]), skills: source.skills }).runPlan(plan);
  cancelled.cancel();
  assert.equal((await cancelled).ending.outcome, 'cancelled');
  const stopped = new Agent({ model: scripted([{ text: 'In short.' }]), skills: source.skills }).runPlan(plan);
  stopped.stop();
  const { ending, steps } = await stopped;
  assert.deepEqual([ending.wrap_up, steps.map(({ status }) => status)], ['stop', ['completed', 'cancelled']]);
});
