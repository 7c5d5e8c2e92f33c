// A tool that hangs or crashes its worker harms nothing else. The tools `loop_forever` and `crash` (feature test-tools) are in the
// site that .ci/test.mjs builds, and never in a release.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { hurriedWorkers } from './lib/hurry.mjs';
import { dist, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const call = (id, name, args = {}) => ({ id, name, args });

async function run(steps, { limits = {}, expect = [], tools = [], mounts = {} } = {}) {
  const trajectory = await withScript(steps, (baseUrl) =>
    withPackage({ reach: [baseUrl], expect }, (page) =>
      page.evaluate(async ({ baseUrl, limits, tools }) => {
        const agent = new window.turnwise.Agent({
          provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: ['calculate', 'loop_forever', 'crash'], limits,
        });
        for (const tool of tools) agent.registerTool({ ...tool, execute: () => 'ran' });
        return agent.run('Go.');
      }, { baseUrl, limits, tools }), { mounts }));
  assertValid(trajectory);
  return trajectory;
}

const brief = (trajectory) => trajectory.turns.flatMap((turn) => turn.tool_calls.map(({ name, slug, result }) => [name, slug ?? 'ok', result.split('\n')[0]]));

test('a tool that loops for ever is answered with timeout, and the next call works', async () => {
  const trajectory = await run([
    { calls: [call('a', 'loop_forever')] },
    { calls: [call('b', 'calculate', { expression: '6 * 7' })] },
    { text: 'Done.' },
  ], { limits: { toolTimeoutMs: 1500 } });
  const [loop, calculate] = brief(trajectory);
  assert.equal(loop[1], 'timeout');
  assert.deepEqual(calculate.slice(0, 2), ['calculate', 'ok']);
  assert.match(calculate[2], /42/);
  assert.equal(trajectory.outcome, 'success');
});

test('a worker that crashes loses its own call only, and every call is answered in order', async () => {
  const trajectory = await run([
    { calls: [call('a', 'calculate', { expression: '1 + 1' }), call('b', 'crash'), call('c', 'calculate', { expression: '2 + 2' })] },
    { calls: [call('d', 'calculate', { expression: '3 + 3' })] },
    { text: 'Done.' },
  ]);
  const calls = brief(trajectory);
  assert.deepEqual(calls.map(([name, slug]) => [name, slug]), [['calculate', 'ok'], ['crash', 'tool_exec_failed'], ['calculate', 'ok'], ['calculate', 'ok']]);
  assert.match(calls[2][2], /4/);
  assert.match(calls[3][2], /6/);
});

test('a pattern that backtracks without end ends its own check only', async () => {
  const parameters = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
  // The ten seconds that a check may take become two and a half: the endless one keeps a core busy for as long.
  const trajectory = await run([
    { calls: [call('a', 'echo', { text: `${'a'.repeat(60)}!` })] },
    { calls: [call('b', 'echo', { text: 'aaa' })] },
    { text: 'Done.' },
  ], { tools: [{ name: 'echo', parameters }], mounts: hurriedWorkers(dist, { times: 4, most: 10_000 }) });
  const [endless, next] = brief(trajectory);
  assert.equal(endless[1], 'tool_exec_failed');
  assert.match(endless[2], /not run: checking the arguments .* longer than 10 s/);
  assert.deepEqual(next.slice(0, 2), ['echo', 'ok']);
  assert.match(next[2], /^ran/);
});
