// A strict OpenAI-compatible server for a run with sub-agents: the root spawns a crew at its first turn and answers at its
// second; each member calls a tool at every turn, until it is asked to conclude. Anything else fails the test.
import assert from 'node:assert/strict';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { reply } from './script-server.mjs';

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-methods': 'POST, OPTIONS' };

/**
 * Runs `body(baseUrl, asked)`. `asked` grows by one entry per request: `who` (0: the root), `tools` (whether any were
 * offered), `at`. `pause`: milliseconds between a stream's chunks. `gate(who, nth)`: a promise that the second half of the
 * n-th reply to that member waits for, or nothing.
 */
export async function withCrew({ size, pause = 0, gate, tool = { name: 'calculate', args: { expression: '6 * 7' } } }, body) {
  const asked = [];
  const faults = [];
  const tasks = Array.from({ length: size }, (_, index) => ({ task: `part ${index + 1}` }));
  const answer = (request) => {
    const first = request.messages.find(({ role }) => role === 'user').content;
    const who = Number(/^part (\d+)$/.exec(first)?.[1] ?? 0);
    const tools = Boolean(request.tools?.length);
    asked.push({ who, tools, at: Date.now() });
    const answered = request.messages.filter(({ role }) => role === 'tool');
    if (!tools) return { text: who ? `What ${who} found.` : 'All together, concluded.' };
    if (who) return { text: `Looking at part ${who}. `.repeat(6), calls: [{ id: 'call_0', ...tool }] };
    if (!answered.length) return { text: 'I share the work.', calls: [{ id: 'call_0', name: 'spawn_subagents', args: { tasks } }] };
    const reports = JSON.parse(answered[0].content.split('\n')[0]);
    assert.equal(reports.length, size, 'a report for each task');
    return { text: `All together: ${reports.map(({ report }) => report).join(' ')}` };
  };
  // Idle connections stay open: a browser silently resends a request that hits a connection just closed.
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') return response.writeHead(204, CORS).end();
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    try {
      const parts = reply(answer(JSON.parse(Buffer.concat(bytes).toString())));
      response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      const { who } = asked.at(-1);
      const held = gate?.(who, asked.filter((other) => other.who === who).length);
      for (const [at, part] of parts.entries()) {
        if (at === parts.length >> 1) await held;
        response.write(part);
        if (pause) await sleep(pause);
      }
      return response.end();
    } catch (error) {
      faults.push(error.message);
      return response.writeHead(400, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: error.message } }));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const result = await body(`http://127.0.0.1:${server.address().port}/v1`, asked);
    assert.deepEqual(faults, [], 'the server got requests that it did not expect');
    return result;
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** The number of sub-agents in the tests of large crews. */
export const SIZE = 16;

/** Starts a crew's run in a page with the package; `window.run` is its promise, `window.events` the events it reported. */
export const start = (page, baseUrl, more = {}) => page.evaluate(async ({ baseUrl, more }) => {
  window.events = [];
  window.agent = new window.turnwise.Agent({
    provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['calculate', 'spawn_subagents'], seed: 1, ...more,
  });
  window.run = window.agent.run('Share it.', { onEvent: (event) => window.events.push({ at: performance.now(), ...event }) });
}, { baseUrl, more });

export const ended = (page) => page.evaluate(() => window.run);
