// Deadlines where several requests of one run are open at once: each sub-agent has its own.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { reply } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';

const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const SIZE = 3;

/** Runs `body` with a model whose root spawns a crew; the first response to each member but the last begins, and then stalls. */
async function withSilence(body) {
  const asked = new Map();
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const { messages } = JSON.parse(Buffer.concat(bytes).toString());
    const who = /^part (\d+)$/.exec(messages.find(({ role }) => role === 'user').content)?.[1] ?? 'root';
    asked.set(who, (asked.get(who) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (parts) => response.end(parts.join(''));
    if (who !== 'root') {
      const silent = asked.get(who) === 1 && Number(who) < SIZE;
      return silent ? response.write(reply({ text: 'Hm' })[1]) : say(reply({ text: `What ${who} found.` }));
    }
    if (messages.some(({ role }) => role === 'tool')) return say(reply({ text: 'All together.' }));
    const tasks = Array.from({ length: SIZE }, (_, index) => ({ task: `part ${index + 1}` }));
    return say(reply({ calls: [{ id: 'c', name: 'spawn_subagents', args: { tasks } }] }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(`http://127.0.0.1:${server.address().port}/v1`, asked);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

test('the stream of every sub-agent has its own deadline', async () => {
  const warn = console.warn;
  console.warn = () => {};
  try {
    await withSilence(async (baseUrl, asked) => {
      const limits = { idleMs: 1000, childMs: 20000 };
      const agent = new Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['spawn_subagents'], seed: 1, retry: { baseMs: 1 }, limits });
      const trajectory = await agent.run('Share the work').finally(() => agent.free());
      assert.equal(trajectory.termination_reason, 'llm_complete', trajectory.output);
      const children = trajectory.children.map(({ turns }) => turns[0].attempts.map(({ slugs }) => slugs[0] ?? 'ok'));
      assert.deepEqual(children, [['timeout', 'ok'], ['timeout', 'ok'], ['ok']]);
      assert.deepEqual(Object.fromEntries(asked), { root: 2, 1: 2, 2: 2, 3: 1 });
    });
  } finally {
    console.warn = warn;
  }
});
