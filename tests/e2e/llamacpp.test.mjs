// The package in a page against a real llama.cpp server with a small model: unscripted streaming and a typed error. The
// model is too weak to choose tools, so none are offered.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { missing, withLlama } from './lib/llama.mjs';
import { withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const run = (task, { options = {}, expect = [] } = {}) =>
  withLlama((baseUrl) => withPackage({ reach: [baseUrl], expect }, (page) =>
    page.evaluate(async ({ baseUrl, task, options }) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'smollm2' }, tools: [], system: 'Answer in few words.', temperature: 0, ...options });
      const deltas = [];
      const trajectory = await agent.run(task, { onEvent: (event) => { if (event.type === 'text_delta') deltas.push(event.text); } });
      return { trajectory, deltas };
    }, { baseUrl, task, options })));

test('a real model streams its answer', { skip: missing }, async () => {
  const { trajectory, deltas } = await run('Say hello.');
  assertValid(trajectory);
  assert.equal(trajectory.termination_reason, 'llm_complete', trajectory.output);
  assert.ok(deltas.length > 2, `only ${deltas.length} pieces came`);
  assert.equal(deltas.join(''), trajectory.output);
  assert.ok(trajectory.tokens.input > 0 && trajectory.tokens.output > 0 && !trajectory.tokens.estimated, 'the usage is the server\'s');
});

test('a context that overflows on the server is a context_guard, not a mystery', { skip: missing }, async () => {
  const { trajectory } = await run('word '.repeat(3000), { expect: [/warning: .*context_guard/, /error: .*context_guard/] });
  assertValid(trajectory);
  assert.equal(trajectory.outcome, 'failed');
  assert.equal(trajectory.turns.at(-1).attempts[0].slugs[0], 'context_guard');
  assert.match(trajectory.logs[0].raw.text, /exceed_context_size_error/);
});

test('the native example runs the engine against the same server', { skip: missing }, () => withLlama(async (baseUrl) => {
  const root = path.resolve(import.meta.dirname, '../..');
  const command = ['run', '--locked', '--quiet', '--example', 'real_server', '--', baseUrl, 'smollm2', 'Say hello.'];
  const { stdout, stderr } = await promisify(execFile)('cargo', command, { cwd: root });
  assert.match(stdout, /\w/);
  assert.match(stderr, /^llm_complete after \d requests?$/m);
}));
