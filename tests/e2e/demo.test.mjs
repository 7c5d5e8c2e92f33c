// The demo model in Node.js: it runs in a worker thread, needs no network, and reports it when its worker fails.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { root } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { Agent, replay, startBy } = await import(path.join(dist, 'turnwise/node.js'));

// The engine's thread, and the threads it starts, without fetch and with a silenced console.
const OFFLINE = `data:text/javascript,${encodeURIComponent(`
  globalThis.fetch = async () => { throw new Error('there is no network here'); };
  console.warn = console.error = () => {};
`)}`;
startBy(({ hear, fail }) => {
  const engine = pathToFileURL(path.join(dist, 'turnwise/thread.js'));
  const thread = new Worker(engine, { execArgv: ['--import', OFFLINE] });
  thread.on('message', hear).on('error', fail).unref();
  return { post: (data, transfer) => thread.postMessage(data, transfer), busy: (busy) => (busy ? thread.ref() : thread.unref()), end: () => thread.terminate() };
});

const run = async (options, runOptions, use = () => {}) => {
  const agent = new Agent({ provider: { kind: 'demo' }, seed: 1, retry: { baseMs: 1, capMs: 2 }, ...options });
  try {
    agent.files.put('docs/limits.md', '# Limits\n\nThe limit of turns is fifteen.\n');
    const running = agent.run('What is the limit of turns?', runOptions);
    use(agent);
    const trajectory = await running;
    assertValid(trajectory);
    return trajectory;
  } finally {
    agent.free();
  }
};

/** Runs `body` with a `worker.js` of the test: it reports ready, and then runs `answer` for every request. */
async function withWorker(answer, body) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'turnwise-'));
  try {
    const file = path.join(folder, 'worker.mjs');
    await writeFile(file, `import { parentPort } from 'node:worker_threads';
      parentPort.once('message', () => {
        parentPort.on('message', () => { ${answer} });
        parentPort.postMessage(JSON.stringify({ ready: 'test' }));
      });`);
    return await body(pathToFileURL(file).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const failures = ({ logs }) => logs.filter(({ level }) => level === 'WRN');

test('it answers from the files without a network, and the same seed gives the same bytes', async () => {
  const texts = [];
  const onEvent = (event) => { if (event.type === 'text_delta') texts.push(event.text); };
  const trajectory = await run({}, { onEvent });
  assert.deepEqual([trajectory.provider, trajectory.outcome, trajectory.termination_reason], ['demo', 'success', 'llm_complete']);
  assert.match(trajectory.output, /The limit of turns is fifteen\./);
  // Text that arrives within a frame is reported as one chunk, so the number of chunks depends on the machine.
  assert.ok(texts.length > 5, `${texts.length} pieces`);
  assert.deepEqual(await replay(trajectory), { ok: true });
  const again = [];
  await run({}, { onEvent: (event) => { if (event.type === 'text_delta') again.push(event.text); } });
  assert.equal(again.join(''), texts.join(''));
});

test('without a worker its attempt fails with provider_error, and is not made again', async () => {
  const workerUrl = pathToFileURL(path.join(os.tmpdir(), 'turnwise-nowhere', 'worker.js')).href;
  const trajectory = await run({ workerUrl });
  assert.equal(trajectory.termination_reason, 'llm_error');
  assert.deepEqual(failures(trajectory).map(({ slugs }) => slugs), [['provider_error']]);
  assert.match(trajectory.logs[0].message, /^The demo model, which runs in a worker, did not answer: the worker could not be started from .*turnwise-nowhere/);
});

test('a worker that crashes fails the attempt, and each attempt gets a new one', async () => {
  await withWorker("throw new Error('boom');", async (workerUrl) => {
    const trajectory = await run({ workerUrl });
    assert.equal(trajectory.termination_reason, 'llm_error');
    assert.deepEqual(failures(trajectory).map(({ slugs, message }) => [slugs[0], /the worker crashed: boom$/.test(message)]), Array(3).fill(['provider_error', true]));
  });
});

test('cancel ends a request that the worker never answers', async () => {
  const channel = new BroadcastChannel('turnwise-demo-test');
  try {
    // The worker reports when it has the request.
    await withWorker("new BroadcastChannel('turnwise-demo-test').postMessage('asked');", async (workerUrl) => {
      const trajectory = await run({ workerUrl }, {}, (agent) => { channel.onmessage = () => agent.cancel(); });
      assert.equal(trajectory.outcome, 'cancelled');
      assert.deepEqual(trajectory.turns[0].attempts.map(({ slugs }) => slugs), [['cancelled']]);
    });
  } finally {
    channel.close();
  }
});
