// A stateless model: its answer depends on the conversation alone, so that an interrupted run that asks again gets the same
// answers. It streams slowly, so that an interruption can fall anywhere.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { reply } from './script-server.mjs';

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS', 'access-control-max-age': '7200' };

// Each turn's calls, to tools that read, that calculate, and that write.
const TURNS = [
  [['write_file', { path: 'notes/one.md', content: 'first note' }], ['calculate', { expression: '6 * 7' }]],
  [['read_file', { path: 'notes/one.md' }]],
  [['write_file', { path: 'notes/two.md', content: 'second note' }], ['write_file', { path: 'notes/one.md', content: 'first note, revised' }]],
  [['search_files', { query: 'revised' }], ['calculate', { expression: '2 ^ 10' }], ['read_file', { path: 'notes/two.md' }]],
  [['write_file', { path: 'notes/three.md', content: 'third note' }]],
];
export const ANSWER = 'All notes are written: one, two and three.';
export const LENGTH = TURNS.length + 1;

/**
 * Runs `body(baseUrl, seen)`; `seen.turns` are the requested turns, in order, one per request, `seen.times` the times of the
 * requests (ms), and `seen.until(n)` waits for the n-th request. `pace`: ms between chunks; `gate(turn)`: a promise that the answer to that turn waits for, or nothing.
 */
export async function withSteadyModel({ pace = 6, say = '', gate }, body) {
  const arrivals = new EventEmitter();
  const until = async (n) => {
    const signal = AbortSignal.timeout(30_000);
    while (seen.turns.length < n) await once(arrivals, 'request', { signal });
  };
  const seen = { turns: [], times: [], faults: [], until };
  // Idle connections stay open: a browser silently resends a request that hits a connection just closed.
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    let parts;
    try {
      const { messages } = JSON.parse(Buffer.concat(bytes).toString());
      const calls = messages.filter(({ role }) => role === 'assistant').flatMap(({ tool_calls = [] }) => tool_calls);
      const results = messages.filter(({ role }) => role === 'tool');
      assert.deepEqual(results.map(({ tool_call_id }) => tool_call_id), calls.map(({ id }) => id), 'each call is answered once, in order');
      const done = messages.filter(({ role }) => role === 'assistant').length;
      seen.turns.push(done + 1);
      seen.times.push(performance.now());
      arrivals.emit('request');
      const asked = TURNS[done];
      parts = reply(asked
        ? { text: `Turn ${done + 1}. ${say}`, calls: asked.map(([name, args], at) => ({ id: `c${done}_${at}`, name, args })) }
        : { text: ANSWER });
    } catch (error) {
      seen.faults.push(error.message);
      return response.writeHead(400, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: error.message } }));
    }
    await gate?.(seen.turns.at(-1));
    response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    for (const part of parts) {
      if (response.destroyed) return undefined;
      response.write(part);
      await sleep(pace);
    }
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const result = await body(`http://127.0.0.1:${server.address().port}/v1`, seen);
    assert.deepEqual(seen.faults, [], 'the server got requests that it did not expect');
    return result;
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}
