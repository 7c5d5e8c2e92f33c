// Every wire format against third-party servers: aimock speaks four of them, llama.cpp's own server three.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import { missing, withLlama } from './lib/llama.mjs';
import { withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const KEY = 'sk-test-0123456789abcdef';

/** The provider kinds, and the paths where aimock serves them. */
const KINDS = [
  { kind: 'openai', base: '/v1', model: 'gpt-4o' },
  { kind: 'openai-responses', base: '/v1', model: 'gpt-4o' },
  { kind: 'anthropic', base: '/v1', model: 'claude-sonnet-4-5' },
  { kind: 'gemini', base: '/v1beta', model: 'gemini-2.5-pro' },
];

/** Runs an agent with the tool `lookup` against aimock, which returns the replies one after the other. */
async function run({ kind, base, model }, replies, { expect = [], options = {}, task = 'What do the words mean?' } = {}) {
  const left = [...replies];
  // A request without the key in the right header gets a 401.
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', auth: { apiKeys: [KEY] } });
  mock.on({ predicate: () => true }, () => left.shift() ?? { error: { message: 'the script is at its end' }, status: 400 });
  await mock.start();
  try {
    const result = await withPackage({ reach: [mock.url], expect }, (page) =>
      page.evaluate(async ({ provider, options, task }) => {
        const agent = new window.turnwise.Agent({ provider, tools: [], seed: 7, retry: { baseMs: 20, capMs: 60, rateLimitMs: 20 }, ...options });
        agent.registerTool({
          name: 'lookup', description: 'Looks a word up',
          parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false },
          execute: async ({ word }) => `${word} means ${word.toUpperCase()}`,
        });
        const deltas = [];
        const trajectory = await agent.run(task, { onEvent: (event) => { if (event.type === 'text_delta') deltas.push(event.text); } });
        const replayed = await window.turnwise.replay(trajectory);
        agent.free();
        return { trajectory, deltas, replayed };
      }, { provider: { kind, model, baseUrl: mock.url + base, apiKey: KEY }, options, task }));
    assertValid(result.trajectory);
    assert.deepEqual(result.replayed, { ok: true });
    assert.ok(!JSON.stringify(result.trajectory).includes(KEY), 'the key is in the trajectory');
    assert.deepEqual(left, [], 'not every reply was asked for');
    return { ...result, requests: mock.getRequests() };
  } finally {
    await mock.stop();
  }
}

const call = (word, id) => ({ id, name: 'lookup', arguments: JSON.stringify({ word }) });

for (const provider of KINDS) {
  test(`${provider.kind}: tool turns, parallel calls and an answer, the key in its header only`, async () => {
    const { trajectory, deltas, requests } = await run(provider, [
      { content: 'I look it up.', toolCalls: [call('alpha', 'call_a'), call('beta', 'call_b')] },
      { toolCalls: [call('gamma', 'call_c')] },
      { content: 'ALPHA, BETA and GAMMA.' },
    ]);
    assert.deepEqual([trajectory.termination_reason, trajectory.outcome, trajectory.total_turns], ['llm_complete', 'success', 3]);
    assert.equal(trajectory.output, 'ALPHA, BETA and GAMMA.');
    assert.ok(deltas.join('').endsWith(trajectory.output), 'the answer was streamed');
    assert.deepEqual(trajectory.turns.flatMap((turn) => turn.tool_calls.map((call) => call.result.split('\n')[0])),
      ['alpha means ALPHA', 'beta means BETA', 'gamma means GAMMA']);
    assert.ok(trajectory.tokens.output > 0, 'usage is counted');
    assert.equal(requests.length, 3);
    for (const { path, body } of requests) assert.ok(!`${path} ${JSON.stringify(body)}`.includes(KEY), 'the key is in no address and no body');
    const last = JSON.stringify(requests.at(-1).body);
    for (const word of ['alpha means ALPHA', 'beta means BETA', 'gamma means GAMMA']) assert.ok(last.includes(word), `${word} went back`);
  });

  test(`${provider.kind}: a limit ends in a synthesis without tools`, async () => {
    const { trajectory, requests } = await run(provider, [
      { toolCalls: [call('alpha', 'call_a')] },
      { content: 'So far: ALPHA.' },
    ], { options: { maxTurns: 1 } });
    assert.deepEqual([trajectory.termination_reason, trajectory.outcome, trajectory.output], ['max_turns_synthesized', 'partial', 'So far: ALPHA.']);
    assert.equal(requests.length, 2);
  });

  test(`${provider.kind}: too many requests and an overloaded server are waited for`, async () => {
    const { trajectory } = await run(provider, [
      { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429 },
      { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 },
      { content: 'Here I am.' },
    ], { expect: [/attempt 1: rate_limited/, /attempt 2: provider_error/] });
    assert.equal(trajectory.output, 'Here I am.');
    assert.deepEqual(trajectory.turns[0].attempts.map(({ slugs }) => slugs[0]), ['rate_limited', 'provider_error', undefined]);
  });

  test(`${provider.kind}: a wrong key ends the run at once, and the message says so`, async () => {
    const { trajectory, requests } = await run(provider, [
      { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 },
    ], { expect: [/auth_error/, /error: /] });
    assert.equal(requests.length, 1);
    assert.deepEqual([trajectory.outcome, trajectory.termination_reason], ['failed', 'llm_error']);
    assert.match(trajectory.error, /did not accept the key/);
  });
}

test('anthropic: a system message in the middle goes as a user message, and the record says so', async () => {
  const { trajectory, requests } = await run(KINDS[2], [
    { toolCalls: [call('alpha', 'call_a')] },
    { content: 'So far: ALPHA.' },
  ], { options: { maxTurns: 1, preset: 'orchestrator' } });
  assert.equal(trajectory.outcome, 'partial');
  assert.ok(trajectory.traces.some(({ name }) => name === 'system_message_sent_as_user'));
  assert.match(JSON.stringify(requests.at(-1).body), /maximum number of turns/);
});

for (const kind of ['openai', 'openai-responses', 'anthropic']) {
  test(`${kind}: llama.cpp's own server streams a real model's answer`, { skip: missing }, async () => {
    const { trajectory, deltas } = await withLlama((baseUrl) => withPackage({ reach: [baseUrl] }, (page) =>
      page.evaluate(async ({ baseUrl, kind }) => {
        const provider = { kind, baseUrl, model: 'smollm2', maxOutputTokens: 40 };
        const agent = new window.turnwise.Agent({ provider, tools: [], system: 'Answer in few words.', temperature: 0 });
        const deltas = [];
        const trajectory = await agent.run('Say hello.', { onEvent: (event) => { if (event.type === 'text_delta') deltas.push(event.text); } });
        return { trajectory, deltas };
      }, { baseUrl, kind })));
    assertValid(trajectory);
    assert.equal(trajectory.termination_reason, 'llm_complete', trajectory.output);
    assert.ok(deltas.length > 2, `only ${deltas.length} pieces came`);
    assert.equal(deltas.join(''), trajectory.output);
    assert.ok(trajectory.tokens.input > 0 && trajectory.tokens.output > 0 && !trajectory.tokens.estimated, 'the usage is the server\'s');
  });
}

test('the server of llama.cpp lists its model', { skip: missing }, async () => {
  const models = await withLlama((baseUrl) => withPackage({ reach: [baseUrl] }, (page) =>
    page.evaluate((baseUrl) => window.turnwise.listModels({ kind: 'llamacpp', baseUrl }), baseUrl)));
  assert.equal(models.length, 1);
  assert.ok(models[0].id.length > 0 && models[0].price === null);
});
