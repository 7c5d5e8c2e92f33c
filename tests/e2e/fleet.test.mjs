// The fleet example, unchanged, on workerd: tasks through a queue, the package as compiled modules, records in R2.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Miniflare } from 'miniflare';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';
import { assertValid, ending } from './lib/trajectory.mjs';

const { default: init, replay } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const KEY = 'sk-test-0123456789abcdefghij';
const TOKEN = 'let-me-in-0123456789';
const example = path.join(root, 'examples/cloudflare-queues');

/** The example's own modules; `turnwise` resolves as an installed package would. */
function modules(main = readFileSync(path.join(example, 'worker.mjs'), 'utf8')) {
  const of = (name, type = 'ESModule', file = name) => ({ type, path: `turnwise/${name}`, contents: readFileSync(path.join(dist, 'turnwise', file)) });
  return [
    { type: 'ESModule', path: 'worker.mjs', contents: main },
    { type: 'ESModule', path: 'turnwise/core', contents: "export * from './core.js'; export { default } from './core.js';" },
    of('core.js'), of('turnwise.js'), of('engine-worker.js'), of('worker.js'), of('agent_bg.wasm', 'CompiledWasm'), of('worker_bg.wasm', 'CompiledWasm', 'worker-whole_bg.wasm'),
  ];
}

/** The settings of wrangler.jsonc, without comments and trailing commas, which are not JSON. */
function wrangler() {
  const text = readFileSync(path.join(example, 'wrangler.jsonc'), 'utf8');
  return JSON.parse(text.replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[}\]])/g, '$1'));
}

/** Runs `body({ fleet, ask, post, run })` with the fleet on loopback. */
async function withFleet(baseUrl, body, vars = {}) {
  const config = wrangler();
  const [consumer] = config.queues.consumers;
  // Undefined values count as unset.
  const given = Object.entries({ ...config.vars, BASE_URL: baseUrl, MODEL: 'scripted', RETRY_SECONDS: '0', API_KEY: KEY, ACCESS_TOKEN: TOKEN, ...vars }).filter(([, value]) => value !== undefined);
  const fleet = new Miniflare({
    modules: modules(), modulesRoot: '/', compatibilityDate: config.compatibility_date,
    bindings: Object.fromEntries(given),
    r2Buckets: { RUNS: 'runs' },
    queueProducers: { TASKS: 'tasks' },
    queueConsumers: { tasks: { maxBatchSize: consumer.max_batch_size, maxBatchTimeout: 0, maxRetries: consumer.max_retries, retryDelay: 0 } },
  });
  try {
    await fleet.ready;
    const ask = (at, options) => fleet.dispatchFetch(`http://fleet.test${at}`, { headers: { authorization: `Bearer ${TOKEN}` }, ...options });
    return await body({
      fleet, ask,
      post: async (tasks) => {
        const response = await ask('/tasks', { method: 'POST', body: tasks.map((task) => JSON.stringify(task)).join('\n') });
        assert.equal(response.status, 202, await response.clone().text());
      },
      run: async (id) => {
        // Bounded: an endless wait would keep its process, and all tests after it, from ending.
        const deadline = performance.now() + 60_000;
        while (performance.now() < deadline) {
          const response = await ask(`/runs/${id}`);
          if (response.status === 200) return response.json();
          await response.arrayBuffer();
          await new Promise((resolve) => { setTimeout(resolve, 50); });
        }
        throw new Error(`the run of task ${id} was never stored`);
      },
    });
  } finally {
    await fleet.dispose();
  }
}

const results = (request) => request.messages.filter((message) => message.role === 'tool').map((message) => message.content);

test('tasks of a queue run with built-in tools and the fleet\'s own, and their records replay', { timeout: 120_000 }, async () => {
  const steps = [
    { calls: [{ id: '1', name: 'calculate', args: { expression: '17 * 23' } }, { id: '2', name: 'lookup', args: { key: 'greeting' } }, { id: '3', name: 'lookup', args: { kee: 1 } }],
      check: (request, headers) => {
        assert.equal(headers.authorization, `Bearer ${KEY}`);
        assert.deepEqual(request.tools.map((tool) => tool.function.name).sort(), ['calculate', 'lookup', 'now']);
      } },
    { text: 'It is 391.', check: (request) => {
      const [sum, found, wrong] = results(request);
      assert.match(sum, /391/);
      assert.equal(found, 'Good morning.');
      assert.match(wrong, /key|kee/);
    } },
    { text: 'The second one.' },
  ];
  await withScript(steps, (baseUrl) => withFleet(baseUrl, async ({ fleet, ask, post, run }) => {
    const bucket = await fleet.getR2Bucket('RUNS');
    await bucket.put('data/greeting', 'Good morning.');
    await post([{ id: 'one', task: 'What is 17 * 23?' }]);
    const one = await run('one');
    assertValid(one);
    assert.deepEqual(ending(one), { termination_reason: 'llm_complete', outcome: 'success', answer_source: 'model', total_turns: 2, max_turns: 15 });
    assert.equal(one.turns[0].tool_calls[2].slug, 'invalid_arguments');
    assert.deepEqual(await replay(one), { ok: true }, 'what ran on workerd replays in Node.js');
    assert.ok(!JSON.stringify(one).includes(KEY));
    // The same task is not run again; a new one is.
    await post([{ id: 'one', task: 'What is 17 * 23?' }]);
    await post([{ id: 'two', task: 'And?', maxTurns: 3 }]);
    assert.equal((await run('two')).max_turns, 3);
    const stats = await (await ask('/stats')).json();
    assert.deepEqual([stats.runs, stats.success_share, stats.tool_failures], [2, 1, [{ slug: 'invalid_arguments', count: 1, runs: 1 }]]);
    assert.equal((await ask('/stats', { headers: {} })).status, 401);
  }));
});

test('what may pass goes back to the queue, what may not is a record', { timeout: 120_000 }, async () => {
  const busy = { status: 429, headers: { 'retry-after': '3600' }, body: JSON.stringify({ error: { message: 'slow down' } }) };
  await withScript([busy, { text: 'at last' }], (baseUrl) => withFleet(baseUrl, async ({ post, run }) => {
    await post([{ id: 'later', task: 'go' }]);
    assert.equal((await run('later')).output, 'at last');
  }));
  const refused = { status: 401, body: JSON.stringify({ error: { message: 'no such key' } }) };
  await withScript([refused], (baseUrl) => withFleet(baseUrl, async ({ post, run }) => {
    await post([{ id: 'never', task: 'go' }]);
    assert.equal((await run('never')).termination_reason, 'llm_error');
  }));
});

test('without its secret, or with a variable that is mistyped, it answers nobody and says which', { timeout: 120_000 }, () => withScript([], async (baseUrl) => {
  const wrong = [['ACCESS_TOKEN', undefined], ['ACCESS_TOKEN', ''], ['ACCESS_TOKEN', '  '], ['PROVIDER', undefined], ['BASE_URL', 'api.example.org'], ['MODEL', ''], ['MAX_RETRIES', 'three'], ['RETRY_SECONDS', undefined]];
  for (const [name, value] of wrong) {
    await withFleet(baseUrl, async ({ ask }) => {
      for (const authorization of ['Bearer undefined', 'Bearer null', 'Bearer ', 'Bearer', `Bearer ${TOKEN}`, '']) {
        const refused = await ask('/tasks', { method: 'POST', body: '{"id":"a","task":"go"}', headers: { authorization } });
        assert.equal(refused.status, 503, `${name}=${value}, ${authorization}`);
        assert.match(await refused.text(), new RegExp(`\\b${name}\\b`));
      }
    }, { [name]: value });
  }
}));

test('with its secret, nobody without it gets in', { timeout: 120_000 }, () => withScript([], (baseUrl) => withFleet(baseUrl, async ({ ask }) => {
  for (const authorization of ['Bearer undefined', 'Bearer ', `Bearer ${TOKEN} `.repeat(2), TOKEN, `bearer ${TOKEN}x`]) {
    assert.equal((await ask('/stats', { headers: { authorization } })).status, 401, authorization);
  }
})));

test('without the module of tools their calls say that there are no workers, and the run goes on', { timeout: 120_000 }, async () => {
  const main = `
    import init, { Agent } from 'turnwise/core';
    import agent_bg from 'turnwise/agent_bg.wasm';
    export default { async fetch(request, env) {
      await init({ agent: agent_bg });
      const agent = new Agent({ provider: { kind: 'openai', baseUrl: env.BASE_URL, model: 'scripted' }, tools: ['now'] });
      return Response.json(await agent.run('What time is it?'));
    } };`;
  const steps = [
    { calls: [{ id: '1', name: 'now', args: {} }] },
    { text: 'I cannot tell.', check: (request) => assert.match(results(request)[0], /there are no workers here/) },
  ];
  await withScript(steps, async (baseUrl) => {
    const bare = new Miniflare({ modules: modules(main), modulesRoot: '/', compatibilityDate: wrangler().compatibility_date, bindings: { BASE_URL: baseUrl } });
    try {
      const trajectory = await (await bare.dispatchFetch('http://fleet.test/')).json();
      assert.deepEqual([trajectory.outcome, trajectory.turns[0].tool_calls[0].slug], ['success', 'tool_exec_failed']);
    } finally {
      await bare.dispose();
    }
  });
});
