// The package on sites with strict policies, from the site's own origin and from another one: it runs with what the
// documentation requires, and where something is missing the error names it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { strictPolicy, withHost } from './lib/widget.mjs';

const use = (from) => ({ type: 'text/javascript', body: `import * as turnwise from '${from}turnwise/turnwise.js'; window.turnwise = turnwise; document.body.dataset.state = 'ready';` });
const HTML = '<!doctype html><title>A host</title><link rel="icon" href="data:,"><body><script type="module" src="/use.js"></script>';
const policy = (value) => ({ 'content-security-policy': value });

/** Performs a run with a built-in tool, which runs in a worker started by the engine's worker. */
const run = (tab, baseUrl) => tab.evaluate(async (at) => {
  const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl: at, model: 'm' }, tools: ['calculate'], synthesis: false });
  try {
    const { output, turns } = await agent.run('What is 6 * 7?');
    return [turns[0].tool_calls[0].result.split('\n')[0], output];
  } catch (error) {
    return `${error.name}: ${error.message}`;
  } finally {
    agent.free();
  }
}, baseUrl);
const STEPS = [{ calls: [{ id: 'a', name: 'calculate', args: { expression: '6 * 7' } }] }, { text: 'It is 42.' }];

const opened = (url, options, body) => withPage(url, options, async (tab) => {
  await tab.locator('body[data-state=ready]').waitFor({ state: 'attached' });
  return body(tab);
});

test('a strict policy with Trusted Types, the package beside the page', () => withScript(STEPS, (baseUrl) =>
  withHost({ pages: { '/': HTML, '/use.js': use('/') }, headers: policy(strictPolicy(new URL(baseUrl).origin)) }, ({ url }) => opened(url, { reach: [baseUrl] }, async (tab) => {
    const [result, output] = await run(tab, baseUrl);
    assert.match(result, /42/);
    assert.equal(output, 'It is 42.');
  }))));

test('a strict policy with Trusted Types, the package from another origin', () => withScript(STEPS, (baseUrl) => withHost({ headers: { 'access-control-allow-origin': '*' } }, (cdn) => {
  const from = new URL(cdn.url).origin;
  const strict = strictPolicy(new URL(baseUrl).origin, { 'script-src': `'self' ${from} 'wasm-unsafe-eval'`, 'connect-src': `${from} ${new URL(baseUrl).origin}`, 'worker-src': `blob: ${from}` });
  return withHost({ pages: { '/': HTML, '/use.js': use(cdn.url) }, headers: policy(strict) }, ({ url }) => opened(url, { reach: [baseUrl, cdn.url] }, async (tab) => {
    const [result, output] = await run(tab, baseUrl);
    assert.match(result, /42/);
    assert.equal(output, 'It is 42.');
  }));
})));

const WITHOUT = [
  ['worker-src', { 'worker-src': '\'none\'' }, /has to allow 'self' in worker-src\)$/, [/worker-src 'none'/]],
  ['trusted-types', { 'trusted-types': 'other' }, /has to allow turnwise in trusted-types\)$/, [/trusted-types other/]],
  ['\'wasm-unsafe-eval\'', { 'script-src': '\'self\'' }, /has to allow 'wasm-unsafe-eval' in script-src\)$/, []],
];
for (const [name, change, words, expect] of WITHOUT) {
  test(`a policy without ${name}: the error names what is missing`, () => withHost({ pages: { '/': HTML, '/use.js': use('/') }, headers: policy(strictPolicy('http://127.0.0.1:9', change)) }, ({ url }) =>
    opened(url, { expect }, async (tab) => {
      const said = await run(tab, 'http://127.0.0.1:9/v1');
      assert.match(said, /^Error: the agent's worker is gone: /);
      assert.match(said, words);
    })));
}
