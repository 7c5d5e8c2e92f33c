// Permissions through the API, in Chromium and in Node.js: what asks, with which arguments and which diff, how far an answer
// reaches, what is denied without a question, and that answers are part of the record.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const write = (id, file, content) => ({ id, name: 'write_file', args: { path: file, content } });

const OLD = 'one\ntwo\nthree\n';

/** The script of one run: a file is changed, a new one is written, the network is used twice. */
const steps = (check) => [
  { calls: [write('w1', 'notes.md', 'one\n2\nthree\n')] },
  { calls: [write('w2', 'new.md', 'fresh\n'), { id: 'n1', name: 'send', args: { to: 'a' } }] },
  { calls: [{ id: 'n2', name: 'send', args: { to: 'b' } }, { id: 'p1', name: 'paint', args: {} }] },
  { text: 'Done.', check },
];

/** Runs in a page or in Node.js: needs only `Agent`, and is passed as text. */
const run = async ({ Agent, replay }, { baseUrl, permissions, answers, all, nobody, old }) => {
  const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted', apiKey: 'sk-test-0123456789abcdefghij' }, tools: ['write_file'], permissions, retry: { baseMs: 1, capMs: 2 }, seed: 1 });
  agent.files.put('notes.md', old);
  const ran = [];
  agent.registerTool({ name: 'send', parameters: { type: 'object', properties: { to: { type: 'string' } } }, sideEffect: 'network', execute: ({ to }) => { ran.push(to); return 'sent'; } });
  agent.registerTool({ name: 'paint', sideEffect: 'page', execute: () => { ran.push('paint'); return 'painted'; } });
  const asked = [];
  const approve = all ? 'all' : nobody ? undefined : ({ id, name, args, sideEffect, again, diff }) => {
    asked.push({ id, name, args, sideEffect, again, diff });
    return answers[id] ?? false;
  };
  const trajectory = await agent.run('go', { approve });
  const notes = await agent.files.get('notes.md').text();
  const replayed = await replay(trajectory);
  agent.free();
  return { trajectory, asked, ran, notes, replayed };
};

/** Runs the script in both places; returns both results, which are the same but for times and ids. */
async function both(given, check) {
  const found = [];
  await withScript(steps(check), async (baseUrl) => {
    const node = await import(path.join(dist, 'turnwise/node.js'));
    await node.default();
    found.push(await run(node, { ...given, baseUrl, old: OLD }));
  });
  await withScript(steps(check), (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    found.push(await page.evaluate(([source, given]) => eval(source)(window.turnwise, given), [`(${run})`, { ...given, baseUrl, old: OLD }]));
  }));
  for (const { trajectory, replayed } of found) {
    assertValid(trajectory);
    assert.deepEqual(replayed, { ok: true });
  }
  assert.deepEqual(found[0].asked, found[1].asked);
  assert.deepEqual(found[0].ran, found[1].ran);
  return found[0];
}

const permitted = (trajectory) => trajectory.events.map(({ event }) => event).filter(({ type }) => type === 'permitted').map(({ call, allow, scope }) => [call, allow, scope]);

test('a question shows the arguments, or the diff of a file, and its answer reaches as far as it says', async () => {
  const { asked, ran, notes, trajectory } = await both({ answers: { w1: true, w2: false, n1: { allow: true, for: 'tool' }, p1: { allow: 'yes' } } }, (request) => {
    const [one, two, three, four, five] = results(request);
    assert.match(one, /^Replaced notes.md/);
    assert.match(two, /^Error: the user refused this call/);
    assert.deepEqual([three, four], ['sent', 'sent']);
    assert.match(five, /^Error: the user refused this call/);
  });
  assert.deepEqual(asked.map(({ id, sideEffect, again }) => [id, sideEffect, again]), [
    ['w1', 'workspace', false], ['w2', 'workspace', false], ['n1', 'network', false], ['p1', 'page', false],
  ], 'the second call to the network is covered by the answer for the tool');
  assert.equal(asked[0].diff, '--- notes.md\n+++ notes.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
  assert.equal(asked[1].diff, '--- /dev/null\n+++ new.md\n@@ -0,0 +1 @@\n+fresh\n');
  assert.deepEqual([asked[2].args, asked[2].diff], [{ to: 'a' }, undefined]);
  assert.equal(notes, 'one\n2\nthree\n');
  assert.deepEqual(ran, ['a', 'b']);
  assert.deepEqual(permitted(trajectory).sort(), [['n1', true, 'tool'], ['p1', false, 'call'], ['w1', true, 'call'], ['w2', false, 'call']]);
  assert.deepEqual(trajectory.config.permissions, { answers: 'page' });
});

test('one yes for the run is enough, and rules say what is never asked', async () => {
  const { asked, ran } = await both({ permissions: { page: 'deny', workspace: 'allow' }, answers: { n1: { allow: true, for: 'run' } } }, (request) => {
    assert.match(results(request)[4], /^Error: not run: this run does not permit paint, which acts on the page/);
  });
  assert.deepEqual(asked.map(({ id }) => id), ['n1']);
  assert.deepEqual(ran, ['a', 'b']);
});

test('a no for the run ends the questions', async () => {
  const { asked, ran, notes } = await both({ answers: { w1: { allow: false, for: 'run' } } });
  assert.deepEqual([asked.length, ran, notes], [1, [], OLD]);
});

test('where nobody answers, what has to be asked is refused; all is a standing yes, but not against a rule', async () => {
  const nobody = await both({ nobody: true, permissions: { tools: { send: 'allow' } } }, (request) => assert.match(results(request)[4], /nobody to ask/));
  assert.deepEqual([nobody.ran, nobody.notes], [['a', 'b'], 'one\n2\nthree\n']);
  const all = await both({ all: true, permissions: { tools: { write_file: 'deny' } } });
  assert.deepEqual([all.ran, all.notes, all.asked], [['a', 'b', 'paint'], OLD, []]);
});

test('a call that would fail is not asked about, and wrong rules are named', async () => {
  await withScript([
    { calls: [write('w1', '../out', 'x'), { id: 'w2', name: 'write_file', args: { path: 'a' } }] },
    { text: 'Done.', check: (request) => {
      const [out, less] = results(request);
      assert.match(out, /^Error: /);
      assert.match(less, /content/);
    } },
  ], async (baseUrl) => {
    const { Agent } = await import(path.join(dist, 'turnwise/node.js'));
    const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted', apiKey: 'sk-test-0123456789abcdefghij' }, tools: ['write_file'] });
    const trajectory = await agent.run('go', { approve: () => assert.fail('asked') });
    assert.equal(trajectory.outcome, 'success');
    agent.free();
    assert.throws(() => new Agent({ permissions: { network: 'maybe' } }), /options\.permissions\.network: got "maybe"; expected 'ask'/);
    assert.throws(() => new Agent({ permissions: { tools: { send: 1 } } }), /options\.permissions\.tools\.send/);
  });
});

test('a yes is for what was shown: if the file changes meanwhile, it is asked again; a long change is whole', async () => {
  const long = `${'x'.repeat(5_000)}\n${'line\n'.repeat(1_000)}`;
  await withScript([
    { calls: [{ id: 'e1', name: 'edit_file', args: { path: 'notes.md', old: 'two', new: '2' } }] },
    { calls: [write('w1', 'long.md', long)], check: (request) => assert.match(results(request)[0], /^Edited notes\.md/) },
    { text: 'Done.' },
  ], async (baseUrl) => {
    const { Agent } = await import(path.join(dist, 'turnwise/node.js'));
    const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted', apiKey: 'sk-test-0123456789abcdefghij' }, tools: ['write_file', 'edit_file'] });
    agent.files.put('notes.md', OLD);
    const asked = [];
    await agent.run('go', { approve: ({ id, diff, omittedLines }) => {
      if (asked.length === 0) agent.files.put('notes.md', `zero\n${OLD}`);
      asked.push([id, diff, omittedLines]);
      return true;
    } });
    assert.deepEqual(asked.slice(0, 2), [
      ['e1', '--- notes.md\n+++ notes.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n', undefined],
      ['e1', '--- notes.md\n+++ notes.md\n@@ -1,4 +1,4 @@\n zero\n one\n-two\n+2\n three\n', undefined],
    ]);
    assert.equal(await agent.files.get('notes.md').text(), 'zero\none\n2\nthree\n');
    assert.deepEqual([asked.length, asked[2][1]], [3, `--- /dev/null\n+++ long.md\n@@ -0,0 +1,1001 @@\n${long.trimEnd().split('\n').map((line) => `+${line}\n`).join('')}`]);
    agent.free();
  });
});

test('a call covered by the answer to another question is told so: its signal is aborted', async () => {
  const calls = ['a', 'b'].map((to) => ({ id: to, name: 'send', args: { to } }));
  await withScript([{ calls }, { text: 'Done.', check: (request) => assert.deepEqual(results(request), ['sent', 'sent']) }], async (baseUrl) => {
    const { Agent } = await import(path.join(dist, 'turnwise/node.js'));
    const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted', apiKey: 'sk-test-0123456789abcdefghij' }, tools: [] });
    agent.registerTool({ name: 'send', sideEffect: 'network', execute: () => 'sent' });
    const open = new Map();
    const aborted = [];
    const approve = ({ id }, { signal }) => new Promise((resolve) => {
      open.set(id, resolve);
      signal.addEventListener('abort', () => aborted.push(id));
      if (open.size === 2) open.get('a')({ allow: true, for: 'tool' });
    });
    await agent.run('go', { approve });
    assert.deepEqual(aborted, ['b']);
    agent.free();
  });
});
