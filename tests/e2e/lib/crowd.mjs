// A crowd of runs in one page, each with an agent of its own, and their model.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { reply } from './script-server.mjs';

export const TURNS = 5;
export const OPEN_AT_MOST = 4;
/** The first requests of a crowd are answered once OPEN_AT_MOST are open, and a fifth has had FIFTH_MS to arrive. */
const FIFTH_MS = 200;
const FULL_MS = 10_000;

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS', 'access-control-max-age': '7200' };

/** Runs `body` with a model for each run: a tool call at every turn but the last. An unexpected request fails the test. */
export async function withModel(body) {
  const seen = { requests: 0, open: 0, most: 0, faults: [], crowd: false, full: undefined };
  // Makes the result independent of how fast page and server are.
  const arrivals = new EventEmitter();
  const full = async () => {
    const signal = AbortSignal.timeout(FULL_MS);
    while (seen.open < OPEN_AT_MOST && !signal.aborted) await once(arrivals, 'request', { signal }).catch(() => {});
    // Nothing tells that a request will not come.
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
    arrivals.emit('request');
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    try {
      const parts = reply(answer(JSON.parse(Buffer.concat(bytes).toString())));
      if (seen.crowd) await (seen.full ??= full());
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
export const crowd = (page, baseUrl, count) => page.evaluate(async ({ baseUrl, count }) => {
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

/** Fails unless all of `count` runs ended as they should, with the requests that their scripts need. */
export function check({ ends }, count, seen) {
  assert.deepEqual(seen.faults, [], 'the server got requests that it did not expect');
  assert.deepEqual(ends, Array.from({ length: count }, (_, n) => `success ${TURNS} run ${n} is done, ${TURNS} requests`));
  assert.equal(seen.requests, count * TURNS, 'requests');
  assert.ok(seen.most <= OPEN_AT_MOST, `${seen.most} requests were open at one origin at a time`);
}
