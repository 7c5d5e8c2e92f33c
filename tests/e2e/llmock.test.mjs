// The package in a page against llmock, a server that breaks on demand and grades its client: after runs through all of its
// faults, its own `llmock report --strict` decides.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withPage } from './lib/browser.mjs';
import { withProxy } from './lib/proxy.mjs';
import { missing, python, withPython } from './lib/python.mjs';
import { root, withSite } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

/** Runs `body({ run, queue, report, page, requests })` with llmock and a page that reaches it at its own origin. */
const withLlmock = (settings, expect, body) =>
  withPython('llmock_server.py', [JSON.stringify(settings)], (address) =>
    withSite((site) => withProxy(site.url, { prefix: 'llmock', target: address }, (url) =>
      withPage(`${url}host/package.html`, { expect }, async (page) => {
        await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
        const ask = async (name, options) => (await fetch(`${address}/_llmock/${name}`, options)).json();
        return body({
          page,
          run: (task, options) => run(page, task, options),
          queue: (...behaviors) => ask('scenario', { method: 'POST', body: JSON.stringify({ behaviors }) }),
          pending: async () => (await ask('scenario')).pending,
          requests: async () => (await ask('requests')).requests,
          report: (...flags) => report(address, ...flags),
        });
      }))));

/**
 * Performs one run with a tool that looks up words; resolves with its record. The seed's waits, before the second and the
 * third attempt, are 130 and 790 ms: llmock takes two waits of about the same length, which chance draws now and then, for a
 * client that does not back off.
 */
async function run(page, task, options = {}) {
  const trajectory = await page.evaluate(async ({ task, options: { long, ...options } }) => {
    const agent = new window.turnwise.Agent({
      provider: { kind: 'openai', baseUrl: '/llmock/v1', model: 'gpt-4o', apiKey: 'sk-test' },
      tools: [], system: 'Answer.', seed: 8, ...options,
    });
    agent.registerTool({
      name: 'lookup', description: 'Looks a word up',
      parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'], additionalProperties: false },
      execute: ({ word }) => (long ? 'long '.repeat(long) : `${word} means ${word.toUpperCase()}`),
    });
    const trajectory = await agent.run(task);
    agent.free();
    return trajectory;
  }, { task, options });
  assertValid(trajectory);
  return trajectory;
}

/** Returns llmock's own report on its client: exit code and text. It is kept in tests/e2e/shots with the screenshots. */
async function report(address, name, ...flags) {
  const args = ['-m', 'llmock.cli', 'report', '--url', address, ...flags];
  const { code, stdout, stderr } = await promisify(execFile)(python, args).then((out) => ({ code: 0, ...out }), (error) => error);
  const shots = path.join(root, 'tests/e2e/shots');
  mkdirSync(shots, { recursive: true });
  writeFileSync(path.join(shots, `llmock-${name}.txt`), stdout);
  return { code, text: `${stdout}${stderr}` };
}

const slugs = ({ turns }) => turns.flatMap(({ attempts }) => attempts).flatMap(({ slugs }) => slugs);
const fail = (status, more) => ({ type: 'fail', status, ...more });
const cut = (kind, more) => ({ type: 'stream_fault', kind, ...more });
const call = (word = 'alpha', more) => ({ type: 'reply', tool_calls: [{ name: 'lookup', arguments: { word } }], ...more });
const say = (text = 'Words have meanings, and this is one of them.') => ({ type: 'reply', text });
// Long enough to tell a client that stops reading in the middle from one that reads on.
const LONG = 'Words have meanings, and this is one of them. '.repeat(6).trim();
// Each case: what is queued, the expected slugs, how the run ends, options of the agent.
const CASES = [
  ...[408, 409, 429, 500, 502, 503, 504, 529].map((status) => [`a ${status}, then an answer`, [fail(status), say()],
    [{ 408: 'timeout', 429: 'rate_limited' }[status] ?? 'provider_error'], 'llm_complete']),
  ...[400, 401, 402, 403, 404, 405, 410, 422].map((status) => [`a ${status}`, [fail(status)],
    [{ 401: 'auth_error', 402: 'quota_error', 403: 'auth_error' }[status] ?? 'provider_error'], 'llm_error']),
  ['Retry-After twice', [fail(429, { retry_after: 0.6 }), fail(503, { retry_after: 1.1 }), say()], ['rate_limited', 'provider_error'], 'llm_complete'],
  ['Retry-After beyond the cap', [fail(503), fail(429, { retry_after: 300 })], ['provider_error', 'rate_limited'], 'llm_error'],
  ['an outage', [fail(503, { times: 3 })], ['provider_error', 'provider_error', 'provider_error'], 'llm_error'],
  ['a prompt that is too long', [fail(400, { code: 'context_length_exceeded', message: "This model's maximum context length was exceeded." }), say('In short.')], ['context_guard'], 'context_synthesized'],
  ...['disconnect', 'truncate', 'malformed'].flatMap((kind) => [0, 1, 3, 9].map((after) => [`${kind} after ${after} chunks`, [cut(kind, { after_chunks: after }), say(LONG), say()],
    [{ malformed: 'provider_error' }[kind] ?? 'stream_cut'], 'llm_complete'])),
  ...['disconnect', 'truncate', 'malformed'].map((kind) => [`${kind} inside the arguments of a tool call`, [cut(kind, { after_chunks: 2 }), call(LONG), call('alphabet'), say()],
    [{ malformed: 'provider_error' }[kind] ?? 'stream_cut'], 'llm_complete']),
  ['a stream cut twice', [cut('truncate', { after_chunks: 2, times: 2 }), say(), say(), say()], ['stream_cut', 'stream_cut'], 'llm_complete'],
  ['a stall', [cut('stall', { after_chunks: 3, stall_seconds: 30 }), say(), say()], ['timeout'], 'llm_complete', { limits: { idleMs: 2000 } }],
  ['a stall inside a tool call', [cut('stall', { after_chunks: 2, stall_seconds: 30 }), call(), call(), say()], ['timeout'], 'llm_complete', { limits: { idleMs: 2000 } }],
  ['a slow first token', [{ type: 'slow_first_token', seconds: 20 }, say(), say()], ['timeout'], 'llm_complete', { limits: { firstTokenMs: 2000 } }],
  ['a slow answer', [{ type: 'delay', seconds: 4 }, say(), say()], ['timeout'], 'llm_complete', { limits: { headersMs: 2000 } }],
  ['a pause that is no fault', [{ type: 'delay', seconds: 0.3 }, { type: 'slow_first_token', seconds: 0.3 }, say()], [], 'llm_complete'],
  ['tool turns', [call('alpha'), call('beta'), call('gamma'), say('ALPHA, BETA and GAMMA.')], [], 'llm_complete'],
  ['a tool call of its own', [], [], 'llm_complete'],
  ['malformed arguments', [{ type: 'tool_fault', kind: 'malformed_arguments' }, call('alphabet'), say()], [], 'llm_complete', { answered: ['malformed_tool_call'] }],
  ['an unknown tool', [{ type: 'tool_fault', kind: 'unknown_tool' }, say()], [], 'llm_complete', { answered: ['unknown_tool'] }],
  ['malformed arguments in a strict run', [{ type: 'tool_fault', kind: 'malformed_arguments' }, call('alphabet'), { type: 'reply', tool_calls: [{ name: 'final_report', arguments: { format: 'text', content: 'Done.' } }] }],
    ['malformed_tool_call'], 'final_report', { preset: 'strict', answered: ['malformed_tool_call'] }],
  ['all at once', [fail(429, { retry_after: 0.3 }), cut('disconnect', { after_chunks: 2 }), call('alpha'), call('alpha'), say('ALPHA.')], ['rate_limited', 'stream_cut'], 'llm_complete'],
];

// One console line for each failed attempt and each failed run.
const EXPECTED = [/^warning: .*attempt \d/, /^error: .*run failed/];

test('llmock finds nothing to say of a client that went through all of its faults', { skip: missing }, async (t) => {
  // Paced like a model.
  await withLlmock({ stream: { chunk_delay_ms: 15 } }, EXPECTED, async ({ run, queue, pending, requests, report }) => {
    for (const [name, behaviors, expected, reason, { answered = [], ...options } = {}] of CASES) {
      await t.test(name, async () => {
        const before = (await requests()).length;
        if (behaviors.length) await queue(...behaviors);
        const trajectory = await run(`What does the word of "${name}" mean?`, options);
        assert.deepEqual(slugs(trajectory), expected, trajectory.output);
        assert.equal(trajectory.termination_reason, reason, trajectory.output);
        const attempts = trajectory.turns.flatMap((turn) => turn.attempts).length;
        assert.equal((await requests()).length - before, attempts, 'requests that llmock counted');
        assert.deepEqual(await pending(), [], 'behaviours that were never asked for');
        const calls = trajectory.turns.flatMap(({ tool_calls }) => tool_calls);
        assert.deepEqual(calls.map(({ slug }) => slug).filter(Boolean), answered);
        assert.ok(calls.every(({ result }) => result), 'every call is answered');
      });
    }
    const { code, text } = await report('faults', '--strict');
    for (const line of text.trim().split('\n')) t.diagnostic(line);
    assert.equal(code, 0, text);
    assert.match(text, /PASS/);
    const played = new Set((await requests()).map(({ fault }) => fault?.replace(/@.*/, '')).filter(Boolean));
    for (const kind of ['disconnect', 'truncate', 'malformed', 'stall']) assert.ok(played.has(`stream:${kind}`), `${kind} was never played`);
  });
});

test('a quota of requests a minute is kept to', { skip: missing }, async (t) => {
  await withLlmock({ limits: { rpm: 10 } }, EXPECTED.slice(0, 1), async ({ run, queue, requests, report }) => {
    // 14 turns at 10 requests per minute: the last ones have to wait as long as the server says, even on slow machines.
    for (let n = 0; n < 13; n++) await queue(call(`word${n}`));
    await queue(say('That is all.'));
    const trajectory = await run('What do all these words mean?', { maxTurns: 30 });
    assert.equal(trajectory.termination_reason, 'llm_complete', trajectory.output);
    const refused = (await requests()).filter(({ fault }) => fault === 'ratelimit:requests');
    assert.equal(trajectory.total_turns, 14 - refused.length, 'a refused request uses up one of the queued replies');
    assert.ok(refused.length >= 2, `only ${refused.length} requests were refused`);
    assert.deepEqual(slugs(trajectory), refused.map(() => 'rate_limited'));
    t.diagnostic(`quota: ${refused.length} of ${(await requests()).length} requests refused, waits ${refused.map(({ retry_after }) => retry_after).join(' s, ')} s`);
    const { code, text } = await report('quota', '--strict');
    for (const line of text.trim().split('\n')) t.diagnostic(line);
    assert.equal(code, 0, text);
  });
});

test('a full context window makes room, and the run goes on', { skip: missing }, async (t) => {
  await withLlmock({ limits: { context_window: 3000 } }, EXPECTED.slice(0, 1), async ({ run, queue, requests, report }) => {
    // Each result is a third of the window. A refused request uses up its reply.
    for (let n = 0; n < 6; n++) await queue(call(`long${n}`));
    await queue(say('That was long.'));
    const trajectory = await run('What do these long words mean?', { long: 800, maxTurns: 12 });
    assert.equal(trajectory.termination_reason, 'llm_complete', trajectory.output);
    const refused = (await requests()).filter(({ fault }) => fault === 'context_window');
    assert.ok(refused.length, 'the window never overflowed');
    assert.deepEqual(slugs(trajectory), refused.map(() => 'context_guard'));
    const { code, text } = await report('context', '--strict');
    for (const line of text.trim().split('\n')) t.diagnostic(line);
    assert.equal(code, 0, text);
  });
});

test('no error of the client in random chaos', { skip: missing }, async (t) => {
  // Faults in the first three chunks only: past its finish reason a reply is complete, and llmock does not tell where that was.
  const stream = { fault_rates: { disconnect: 0.04, truncate: 0.04, malformed: 0.04, stall: 0.02 }, stall_seconds: 30, chunk_delay_ms: 40, max_after_chunks: 3 };
  const chaos = { error_rates: { 429: 0.04, 500: 0.04, 503: 0.04 }, stream };
  await withLlmock(chaos, EXPECTED.slice(0, 1), async ({ page, requests, report }) => {
    // Enough attempts that chance does not use them up: the last one of a run that gives up would count as accepted.
    const options = { maxAttempts: 8, retry: { baseMs: 100, rateLimitMs: 100 }, limits: { idleMs: 2000 } };
    const runs = await Promise.all(Array.from({ length: 40 }, (_, n) => run(page, `What does word ${n} mean?`, { ...options, seed: n + 1 })));
    for (const { termination_reason, output } of runs) assert.equal(termination_reason, 'llm_complete', output);
    // Not strict: chance may space two waits so that they look constant, or break a stream so late that it ends by itself.
    const { code, text } = await report('chaos');
    const asked = await requests();
    t.diagnostic(`chaos: ${runs.length} runs answered with ${asked.length} requests, ${asked.filter(({ fault }) => fault).length} of them broken`);
    for (const line of text.trim().split('\n')) t.diagnostic(line);
    assert.equal(code, 0, text);
  });
});
