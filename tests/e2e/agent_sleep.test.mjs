// A machine that sleeps turns no finished work into a timeout: processes are stopped for longer than every deadline, and go on.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

const SLEEPER = path.resolve(import.meta.dirname, 'lib/sleeper.mjs');

/** Runs it, and stops it for so long each time that it says READY. */
async function sleeper(mode, { stopMs = 4000, args = [], asleep } = {}) {
  const child = spawn(process.execPath, [SLEEPER, mode, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stderr.on('data', (data) => { err += data; });
  child.stdout.on('data', (data) => {
    out += data;
    if (!String(data).includes('READY\n')) return;
    setTimeout(() => {
      child.kill('SIGSTOP');
      asleep?.();
      setTimeout(() => child.kill('SIGCONT'), stopMs);
    }, mode === 'start' ? 0 : 100);
  });
  await new Promise((done) => { child.on('close', done); });
  const last = out.trim().split('\n').at(-1);
  assert.ok(last.startsWith('{'), `${mode}: ${out} ${err}`);
  return JSON.parse(last);
}

const expected = {
  tool: { ran: 1 }, headers: {}, stream: {}, wait: {}, wall: { ran: 1 }, program: { ran: 1 }, 'built in': {},
};
const skip = process.platform === 'win32' && 'there are no signals that stop a process';

for (const [mode, more] of Object.entries(expected)) {
  test(`asleep during: ${mode}`, { skip }, async () => {
    assert.deepEqual(await sleeper(mode), { text: 'done', reason: 'llm_complete', slugs: [], ran: 0, ...more });
  });
}

// Public reports of the kind, each as a test.
test('PostHog/code#1563: an agent survives the sleep of the machine, however often, without a retry', { skip }, async () => {
  assert.deepEqual(await sleeper('tool and stream'), { text: 'done', reason: 'llm_complete', slugs: [], ran: 1 });
});

test('AdguardTeam/AdguardForWindows#2438: what was answered meanwhile is no timeout after the sleep', { skip }, async () => {
  let answer;
  const server = createServer((request, response) => {
    answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }] }));
    request.resume();
    child.ready();
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const child = {};
  const asked = new Promise((done) => { child.ready = done; });
  try {
    const args = [SLEEPER, 'http', `http://127.0.0.1:${server.address().port}/v1`];
    const one = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    one.stdout.on('data', (data) => { out += data; });
    const closed = new Promise((done) => { one.on('close', done); });
    await Promise.race([asked, closed.then(() => assert.fail(`it ended without a request: ${out}`))]);
    one.kill('SIGSTOP');
    answer(); // it is asleep when it comes
    setTimeout(() => one.kill('SIGCONT'), 4000);
    await closed;
    assert.deepEqual(JSON.parse(out), { text: 'done', reason: 'llm_complete', slugs: [], ran: 0 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('liliMozi/openhanako#2603: a sleep while the engine starts is no failed start', { skip }, async () => {
  assert.deepEqual(await sleeper('start', { stopMs: 21_000 }), { text: 'done', reason: 'llm_complete', slugs: [], ran: 0 });
});

test('a deadline still counts when nothing sleeps', async () => {
  const { Agent, custom, tool } = await import(path.resolve(process.env.SITE ?? 'dist', 'turnwise/index.node.js'));
  const call = { choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] }, finish_reason: 'tool_calls' }] };
  const model = custom(({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'done' : call));
  for (const toolTimeoutMs of [80, 1200]) {
    const agent = new Agent({ model, limits: { toolTimeoutMs }, tools: { look: tool({ execute: (_, { signal }) => new Promise((_done, fail) => { signal.onabort = () => fail(new Error('late')); }) }) } });
    const began = performance.now();
    const { trajectory } = await agent.generate('go');
    const took = performance.now() - began;
    assert.equal(trajectory.turns[0].tool_calls[0].slug, 'timeout');
    assert.ok(took >= toolTimeoutMs - 2 && took < toolTimeoutMs + 2_000, `${took} ms`);
  }
});
