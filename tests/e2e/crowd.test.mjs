// Two hundred runs at once in one page: all finish, with exactly the requests that their scripts need, never more than four
// of them open, and their memory is released.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reply } from './lib/script-server.mjs';
import { engineMemory, withPackage } from './lib/site.mjs';
import { longestTask } from './lib/trace.mjs';

const RUNS = 200;
const TURNS = 5;
const OPEN_AT_MOST = 4;
/** The first requests of a crowd are answered once OPEN_AT_MOST are open, and a fifth has had FIFTH_MS to arrive. */
const FIFTH_MS = 200;
const FULL_MS = 10_000;
// Growth during a second crowd, when the first one has already filled caches and tables.
const HEAP_GROWTH_MB = 2;
const WASM_GROWTH_MB = 2;
const LONGEST_TASK_MS = 500;

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS', 'access-control-max-age': '7200' };

/** Runs `body` with a model for each run: a tool call at every turn but the last. An unexpected request fails the test. */
async function withModel(body) {
  const seen = { requests: 0, open: 0, most: 0, faults: [], crowd: false, full: undefined };
  // Makes the result independent of how fast page and server are.
  const full = async () => {
    for (const until = performance.now() + FULL_MS; seen.open < OPEN_AT_MOST && performance.now() < until;) await sleep(2);
    await sleep(FIFTH_MS);
  };
  const answer = ({ messages }) => {
    const [, who] = /^run (\d+)$/.exec(messages.find(({ role }) => role === 'user').content);
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    assert.ok(results.length < TURNS, `run ${who} asks again after its answer`);
    results.forEach((result, at) => assert.match(result, new RegExp(`^run ${who}, step ${at + 1}\\n\\[Turn ${at + 1}/`)));
    if (results.length === TURNS - 1) return { text: `run ${who} is done` };
    return { text: 'Next. ', calls: [{ id: `c${results.length}`, name: 'step', args: { run: Number(who), step: results.length + 1 } }] };
  };
  // Idle connections stay open: a browser silently resends a request that hits a connection just closed, and it would count twice.
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    seen.requests += 1;
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    try {
      const parts = reply(answer(JSON.parse(Buffer.concat(bytes).toString())));
      if (seen.crowd) await (seen.full ??= full());
      await sleep(2);
      // Before the last byte is sent: the page may send its next request as soon as it has that byte.
      seen.open -= 1;
      response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      return response.end(parts.join(''));
    } catch (error) {
      seen.open -= 1;
      seen.faults.push(error.message);
      return response.writeHead(400, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: error.message } }));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(`http://127.0.0.1:${server.address().port}/v1`, seen);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Starts `count` runs, each with its own agent, before it awaits any. Resolves with how they ended. */
const crowd = (page, baseUrl, count) => page.evaluate(async ({ baseUrl, count }) => {
  const agents = [];
  const began = performance.now();
  const runs = Array.from({ length: count }, (_, n) => {
    const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: [], system: 'Step by step.', seed: n + 1 });
    agent.registerTool({
      name: 'step', description: 'One step',
      parameters: { type: 'object', properties: { run: { type: 'integer' }, step: { type: 'integer' } }, required: ['run', 'step'], additionalProperties: false },
      execute: async ({ run, step }) => `run ${run}, step ${step}`,
    });
    agents.push(agent);
    return agent.run(`run ${n}`, { onEvent: () => {} });
  });
  const ends = [];
  // Requests as the engine counts them, and the reason for each retry.
  for (const { outcome, output, total_turns, requests, logs } of await Promise.all(runs)) {
    ends.push([`${outcome} ${total_turns} ${output}, ${requests} requests`, ...logs.map(({ message }) => message)].join('; '));
  }
  for (const agent of agents) agent.free();
  return { ends, seconds: (performance.now() - began) / 1000 };
}, { baseUrl, count });

test(`${RUNS} runs at once in one page`, async (t) => {
  await withModel((baseUrl, seen) => withPackage({ reach: [baseUrl], watch: true }, async (page) => {
    const session = await page.context().newCDPSession(page);
    // Megabytes left after a garbage collection: the page's heap, and the module's memory, which never shrinks.
    const memory = async () => {
      for (let n = 0; n < 3; n++) await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      const wasm = await engineMemory(page);
      return { heap: usedSize / 2 ** 20, wasm: wasm / 2 ** 20 };
    };
    const check = ({ ends }, count) => {
      assert.deepEqual(seen.faults, [], 'the server got requests that it did not expect');
      assert.deepEqual(ends, Array.from({ length: count }, (_, n) => `success ${TURNS} run ${n} is done, ${TURNS} requests`));
    };
    check(await crowd(page, baseUrl, 1), 1);
    const fresh = await memory();

    const rounds = [];
    for (const round of [1, 2]) {
      const before = seen.requests;
      Object.assign(seen, { crowd: true, full: undefined });
      let result;
      const task = await longestTask(page, async () => { result = await crowd(page, baseUrl, RUNS); });
      check(result, RUNS);
      assert.equal(seen.requests - before, RUNS * TURNS, 'requests');
      const after = await memory();
      rounds.push({ ...after, task });
      t.diagnostic(`round ${round}: ${RUNS} runs of ${TURNS} turns in ${result.seconds.toFixed(1)} s, ${seen.requests - before} requests, at most ${seen.most} open, longest task ${task.toFixed(0)} ms, heap ${after.heap.toFixed(1)} MB (fresh ${fresh.heap.toFixed(1)}), wasm memory ${after.wasm.toFixed(1)} MB (fresh ${fresh.wasm.toFixed(1)})`);
    }
    assert.equal(seen.most, OPEN_AT_MOST, 'requests open at one origin at a time, at most');
    const [first, second] = rounds;
    assert.ok(second.heap - first.heap < HEAP_GROWTH_MB, `the heap grew from ${first.heap} MB to ${second.heap} MB`);
    assert.ok(first.heap - fresh.heap < 4 * HEAP_GROWTH_MB, `the heap grew from ${fresh.heap} MB to ${first.heap} MB`);
    assert.ok(first.wasm - fresh.wasm < 8 * WASM_GROWTH_MB, `wasm memory grew from ${fresh.wasm} MB to ${first.wasm} MB`);
    assert.ok(second.wasm - first.wasm < WASM_GROWTH_MB, `wasm memory grew from ${first.wasm} MB to ${second.wasm} MB`);
    for (const { task } of rounds) assert.ok(task < LONGEST_TASK_MS, `a task took ${task} ms`);
  }));
});
