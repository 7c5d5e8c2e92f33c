// The package in a page against aimock, a third-party model server, over real HTTP and CORS.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { withPackage } from './lib/site.mjs';
import { assertValid, ending } from './lib/trajectory.mjs';

/**
 * Runs an agent with the tool `lookup` against aimock, which returns the replies one after the other. `together`: the tool
 * calls return only once this many have begun.
 */
async function run(replies, { options = {}, expect = [], together = 1 } = {}) {
  const left = [...replies];
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' });
  mock.on({ predicate: () => true }, () => left.shift() ?? { error: { message: 'the script is at its end' }, status: 400 });
  await mock.start();
  try {
    const result = await withPackage({ reach: [mock.url], expect }, (page) =>
      page.evaluate(async ({ baseUrl, options, together }) => {
        const agent = new window.turnwise.Agent({
          provider: { kind: 'openai', baseUrl, model: 'gpt-4o', apiKey: 'sk-test-0123456789abcdef' },
          tools: [], seed: 7, retry: { baseMs: 20, capMs: 60, rateLimitMs: 20 }, ...options,
        });
        const spans = [];
        let enough;
        const begun = new Promise((resolve) => { enough = resolve; });
        agent.registerTool({
          name: 'lookup', description: 'Looks a word up',
          parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false },
          execute: async ({ word }) => {
            const span = { word, from: performance.now() };
            spans.push(span);
            if (spans.length >= together) enough();
            await begun;
            span.to = performance.now();
            return `${word} means ${word.toUpperCase()}`;
          },
        });
        const events = [];
        const trajectory = await agent.run('What do the words mean?', { onEvent: (event) => events.push(event) });
        agent.free();
        return { trajectory, spans, events };
      }, { baseUrl: `${mock.url}/v1`, options, together }));
    assertValid(result.trajectory);
    assert.ok(!JSON.stringify(result.trajectory).includes('sk-test'), 'the key is in the trajectory');
    assert.deepEqual(left, [], 'not every reply was asked for');
    return { ...result, requests: mock.getRequests().map(({ body, headers }) => ({ ...body, headers })) };
  } finally {
    await mock.stop();
  }
}

const call = (word, id) => ({ id, name: 'lookup', arguments: JSON.stringify({ word }) });
const lastOf = (request) => request.messages.filter((message) => message.role === 'tool');

test('tool turns end in an answer, and every result goes back to the server that asked for it', async () => {
  const { trajectory, requests } = await run([
    { content: 'I look it up.', toolCalls: [call('alpha', 'call_a')] },
    { toolCalls: [call('beta', 'call_b')] },
    { content: 'ALPHA and BETA.' },
  ]);
  assert.deepEqual(ending(trajectory), { termination_reason: 'llm_complete', outcome: 'success', answer_source: 'model', total_turns: 3, max_turns: 15 });
  assert.equal(trajectory.output, 'ALPHA and BETA.');
  assert.equal(requests.length, 3);
  assert.deepEqual(lastOf(requests[2]).map((message) => [message.tool_call_id, message.content]), [
    ['call_a', 'alpha means ALPHA\n[Turn 1/15]'],
    ['call_b', 'beta means BETA\n[Turn 2/15]'],
  ]);
});

test('parallel calls run side by side and are answered in the order they were asked', async () => {
  const { trajectory, spans, requests } = await run([
    { toolCalls: [call('one', 'c1'), call('two', 'c2'), call('three', 'c3')] },
    { content: 'Done.' },
  ], { together: 3 });
  assert.equal(trajectory.outcome, 'success');
  assert.ok(Math.max(...spans.map(({ from }) => from)) <= Math.min(...spans.map(({ to }) => to)), 'the calls did not overlap');
  assert.deepEqual(lastOf(requests[1]).map((message) => message.tool_call_id), ['c1', 'c2', 'c3']);
  assert.deepEqual(lastOf(requests[1]).map((message) => /\[Turn/.test(message.content)), [false, false, true], 'the counter is on the last result only');
});

test('calls that share an id are each answered once, under ids of their own', async () => {
  const { trajectory, requests } = await run([
    { toolCalls: [call('left', 'call_0'), call('right', 'call_0')] },
    { toolCalls: [call('again', 'call_0')] },
    { content: 'Done.' },
  ]);
  assert.equal(trajectory.outcome, 'success');
  const asked = requests[2].messages.flatMap((message) => message.tool_calls ?? []).map(({ id }) => id);
  const answered = lastOf(requests[2]).map((message) => message.tool_call_id);
  assert.equal(new Set(asked).size, 3, `ids repeat: ${asked}`);
  assert.deepEqual(answered, asked);
  assert.deepEqual(lastOf(requests[2]).map((message) => message.content.split(' ')[0]), ['left', 'right', 'again']);
});

test('an overloaded server is asked again within the turn, without a Retry-After that the page cannot read', async () => {
  const { trajectory, events, requests } = await run([
    { error: { message: 'Slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, status: 429 },
    { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 },
    { content: 'Here I am.' },
  ], { expect: [/warning: .*attempt 1: rate_limited/, /warning: .*attempt 2: provider_error/] });
  assert.equal(trajectory.output, 'Here I am.');
  assert.equal(trajectory.total_turns, 1);
  assert.equal(requests.length, 3);
  assert.deepEqual(trajectory.turns[0].attempts.map(({ slugs }) => slugs[0]), ['rate_limited', 'provider_error', undefined]);
  assert.equal(events.filter(({ type }) => type === 'waiting').length, 2);
  assert.equal(trajectory.logs.filter(({ level }) => level === 'WRN').length, 2);
});

test('a call of an unknown tool and one with wrong arguments are answered, and the run goes on', async () => {
  const { trajectory, requests } = await run([
    { toolCalls: [{ id: 'x1', name: 'no_such_tool', arguments: '{}' }, { id: 'x2', name: 'lookup', arguments: '{"word":5}' }] },
    { content: 'Sorry.' },
  ]);
  assert.equal(trajectory.outcome, 'success');
  assert.deepEqual(trajectory.turns[0].tool_calls.map(({ slug }) => slug), ['unknown_tool', 'invalid_arguments']);
  assert.match(lastOf(requests[1])[1].content, /word/, 'the answer names the path that failed');
});
