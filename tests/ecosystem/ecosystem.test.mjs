// Turnwise with other libraries: a model of the AI SDK as ours; our stream read by the AI SDK's own reader and chat, and by
// assistant-ui's runtime in a page.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { DefaultChatTransport, readUIMessageStream } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { build } from 'esbuild';
import { withPage } from '../e2e/lib/browser.mjs';
import { reply, withScript } from '../e2e/lib/script-server.mjs';
import { dist } from '../e2e/lib/site.mjs';
import { withHost } from '../e2e/lib/widget.mjs';

const { Agent, TurnwiseError, openai, replay, tool } = await import(path.join(dist, 'turnwise/index.node.js'));
const { fromAiSdk } = await import(path.join(dist, 'turnwise/ai-sdk.js'));
const QUICK = { retry: { baseMs: 1, capMs: 2 }, seed: 1 };
const STEPS = [{ text: 'Let me look.', calls: [{ id: 'a', name: 'look', args: { at: 'sky' } }] }, { text: 'It is sunny.' }];
const tools = { look: tool({ inputSchema: { type: 'object', properties: { at: { type: 'string' } } }, execute: ({ at }) => ({ [at]: 'sunny' }) }) };
const weather = (baseUrl) => new Agent({ model: openai('scripted', { baseUrl }), tools, ...QUICK });

/** Runs `body`, and checks that nothing is logged to the console. */
async function quiet(body) {
  const said = [];
  const real = { warn: console.warn, error: console.error };
  for (const name of Object.keys(real)) console[name] = (...words) => said.push(words.join(' '));
  try {
    return await body();
  } finally {
    Object.assign(console, real);
    assert.deepEqual(said, []);
  }
}

const TEXTS = [
  { type: 'step-start' }, { type: 'text', text: 'Let me look.', state: 'done' },
  { type: 'dynamic-tool', toolName: 'look', toolCallId: 'a', state: 'output-available', input: { at: 'sky' }, output: '{"sky":"sunny"}' },
  { type: 'step-start' }, { type: 'text', text: 'It is sunny.', state: 'done' },
];
const plain = (parts) => parts.map((part) => Object.fromEntries(Object.entries(part).filter(([key, value]) => value !== undefined && key in { type: 1, text: 1, state: 1, toolName: 1, toolCallId: 1, input: 1, output: 1 })));

test('the AI SDK reads the stream: text, the tool and its result, steps; without a warning', () => withScript(STEPS, (baseUrl) => quiet(async () => {
  let message;
  const faults = [];
  for await (const state of readUIMessageStream({ stream: weather(baseUrl).stream('Weather?').toUIMessageStream(), onError: (error) => faults.push(error) })) message = state;
  assert.deepEqual(faults, []);
  assert.deepEqual(plain(message.parts), TEXTS);
  assert.equal(message.metadata.ending.reason, 'llm_complete');
})));

test('an error of the run is the error of the stream', () => withScript([{ status: 401, body: '{"error":{"message":"no"}}' }], async (baseUrl) => {
  const faults = [];
  for await (const _ of readUIMessageStream({ stream: weather(baseUrl).stream('Weather?').toUIMessageStream(), onError: (error) => faults.push(String(error)) })) { /* its states do not matter */ }
  assert.equal(faults.length, 1);
  assert.match(faults[0], /key/);
}));

/** Runs `body` with a route like the one on a server for the AI SDK's chat. */
async function withRoute(agent, body) {
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    const { messages } = JSON.parse(Buffer.concat(bytes).toString());
    const last = messages.pop().parts.find((part) => part.type === 'text').text;
    const answer = agent.stream(last, { messages }).toUIMessageStreamResponse({ headers: cors });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body) response.write(chunk);
    return response.end();
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/chat`);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

test('the AI SDK\'s transport takes the response, which it checks chunk by chunk against its schema', () => withScript(STEPS, (baseUrl) => withRoute(weather(baseUrl), (api) => quiet(async () => {
  const transport = new DefaultChatTransport({ api });
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Weather?' }] }];
  const stream = await transport.sendMessages({ chatId: 'c', trigger: 'submit-message', messages, abortSignal: undefined });
  let message;
  for await (const state of readUIMessageStream({ stream })) message = state;
  assert.deepEqual(plain(message.parts), TEXTS);
}))));

const PAGE = `
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive } from '@assistant-ui/react';
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk';
import { createElement as h } from 'react';
import { createRoot } from 'react-dom/client';
const Tool = ({ toolName, result }) => h('pre', { className: 'tool' }, toolName + ' ' + JSON.stringify(result));
const Message = () => h(MessagePrimitive.Root, { className: 'message' }, h(MessagePrimitive.Parts, { components: { tools: { Fallback: Tool } } }));
function App() {
  const runtime = useChatRuntime({ transport: new AssistantChatTransport({ api: window.api }) });
  return h(AssistantRuntimeProvider, { runtime }, h(ThreadPrimitive.Root, null,
    h(ThreadPrimitive.Messages, { components: { UserMessage: Message, AssistantMessage: Message } }),
    h(ComposerPrimitive.Root, null, h(ComposerPrimitive.Input, { 'aria-label': 'Ask' }), h(ComposerPrimitive.Send, null, 'Send'))));
}
createRoot(document.getElementById('root')).render(h(App));
`;

test('assistant-ui draws it: text, tool, answer, without a warning', { timeout: 120_000 }, () => withScript(STEPS, (baseUrl) => withRoute(weather(baseUrl), async (api) => {
  const { outputFiles: [script] } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname }, bundle: true, write: false, format: 'iife', define: { 'process.env.NODE_ENV': '"development"' }, logLevel: 'silent',
  });
  const html = `<!doctype html><meta charset="utf-8"><title>assistant-ui</title><link rel="icon" href="data:,"><div id="root"></div><script>window.api = ${JSON.stringify(api)}; window.process = { env: {} }; window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = { isDisabled: true };</script><script src="/page.js"></script>`;
  const pages = { '/': html, '/page.js': { type: 'text/javascript', body: Buffer.from(script.contents) } };
  await withHost({ pages }, async ({ url }) => {
    await withPage(url, { reach: [new URL(api).origin] }, async (tab) => {
      const said = [];
      tab.on('console', (message) => ['warning', 'error'].includes(message.type()) && said.push(message.text()));
      await tab.getByLabel('Ask').fill('Weather?');
      await tab.getByRole('button', { name: 'Send' }).click();
      await tab.getByText('It is sunny.').waitFor();
      assert.equal(await tab.locator('.tool').textContent(), 'look "{\\"sky\\":\\"sunny\\"}"');
      assert.match(await tab.locator('.message').last().textContent(), /Let me look\..*It is sunny\./s);
      assert.deepEqual(said, []);
    });
  });
})));

const HOOK = `
import { Agent, openai, tool } from '/turnwise/index.js';
import { StrictMode, createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useAgent } from 'turnwise/react';
const tools = { look: tool({ inputSchema: { type: 'object', properties: { at: { type: 'string' } } }, execute: ({ at }) => ({ [at]: 'sunny' }) }) };
const agent = new Agent({ model: openai('scripted', { baseUrl: window.api }), tools });
function App() {
  const { messages, status, error, send, cancel } = useAgent(agent);
  const [text, setText] = useState('');
  return h('form', { onSubmit: (event) => { event.preventDefault(); send(text); } },
    messages.map(({ id, role, text: said, parts, outcome }) => h('p', { key: id, className: role, 'data-outcome': outcome, 'data-parts': parts.map(({ type }) => type).join(' ') }, said)),
    h('output', null, status), h('b', null, error?.message ?? ''), h('input', { 'aria-label': 'Ask', value: text, onChange: (event) => setText(event.target.value) }), h('button', { type: 'button', onClick: cancel }, 'Cancel'));
}
createRoot(document.getElementById('root')).render(h(StrictMode, null, h(App)));
`;

test('useAgent: a page in React, in strict mode, asks, draws as it comes, cancels, shows an error', { timeout: 120_000 }, () => withScript([
  ...STEPS, { chunks: reply({ text: 'This takes long.' }).slice(0, 2), hold: true }, { status: 401, body: '{"error":{"message":"bad key"}}' },
], async (baseUrl) => {
  const served = { name: 'served', setup({ onResolve }) {
    onResolve({ filter: /index\.js$/ }, ({ path: name, importer }) => (name.startsWith('/turnwise/') || importer.endsWith('/turnwise/react.js') ? { path: '/turnwise/index.js', external: true } : undefined));
    onResolve({ filter: /^turnwise\/react$/ }, () => ({ path: path.join(dist, 'turnwise/react.js') }));
  } };
  const { outputFiles: [script] } = await build({
    stdin: { contents: HOOK, resolveDir: import.meta.dirname }, bundle: true, write: false, format: 'esm', define: { 'process.env.NODE_ENV': '"development"' }, logLevel: 'silent', plugins: [served],
    nodePaths: [path.join(import.meta.dirname, 'node_modules')],
  });
  const html = `<!doctype html><meta charset="utf-8"><title>useAgent</title><link rel="icon" href="data:,"><div id="root"></div><script>window.api = ${JSON.stringify(baseUrl)}; window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = { isDisabled: true };</script><script type="module" src="/page.js"></script>`;
  const pages = { '/': html, '/page.js': { type: 'text/javascript', body: Buffer.from(script.contents) } };
  await withHost({ pages }, ({ url }) => withPage(url, { reach: [new URL(baseUrl).origin], expect: [/auth_error/] }, async (tab) => {
    const ask = async (text) => { await tab.getByLabel('Ask').fill(text); await tab.getByLabel('Ask').press('Enter'); };
    await tab.getByText('ready').waitFor();
    await ask('Weather?');
    await tab.locator('.assistant[data-outcome=success]').waitFor();
    assert.deepEqual(await tab.locator('p').allTextContents(), ['Weather?', 'It is sunny.']);
    assert.equal(await tab.locator('.assistant').getAttribute('data-parts'), 'turn-start tool-call tool-result turn-finish turn-start turn-finish finish');
    await ask('Another?');
    await tab.locator('.assistant').nth(1).filter({ hasText: 'This' }).waitFor();
    await tab.getByRole('button', { name: 'Cancel' }).click();
    await tab.locator('.assistant[data-outcome=cancelled]').waitFor();
    assert.equal(await tab.locator('b').textContent(), '', 'a cancelled run is no error');
    await ask('And now?');
    await tab.locator('.assistant[data-outcome=failed]').waitFor({ state: 'attached' });
    assert.match(await tab.locator('b').textContent(), /key/);
    assert.equal(await tab.locator('output').textContent(), 'ready');
  }));
}));

test('a model of the AI SDK, by a real provider over HTTP: tools, figures, a record that replays', () => withScript([
  STEPS[0], { ...STEPS[1], check: ({ messages }) => assert.deepEqual(messages.map(({ role }) => role), ['system', 'user', 'assistant', 'tool']) },
], async (baseURL) => {
  const model = fromAiSdk(createOpenAICompatible({ name: 'local', baseURL, includeUsage: true })('scripted'), { price: { input: 1, output: 2 } });
  const { text, usage, cost, trajectory } = await new Agent({ model, tools, ...QUICK }).generate('Weather?');
  assert.equal(text, 'It is sunny.');
  assert.deepEqual([usage.inputTokens, usage.outputTokens, cost], [20, 10, 40 / 1e6]);
  assert.match(trajectory.model, /^local\.chat\/scripted$/);
  assert.deepEqual(await replay(trajectory), { ok: true });
}));

test('its errors are judged by their status: a rate limit is waited for, a wrong key ends the run', async () => {
  await withScript([{ status: 429, headers: { 'retry-after': '0' }, body: '{}' }, { text: 'Now.' }], async (baseURL) => {
    const model = fromAiSdk(createOpenAICompatible({ name: 'local', baseURL })('scripted'));
    assert.equal((await new Agent({ model, retry: { baseMs: 1, capMs: 2, rateLimitMs: 1 }, seed: 1 }).generate('Hello')).text, 'Now.');
  });
  await withScript([{ status: 401, body: '{"error":{"message":"bad key"}}' }], async (baseURL) => {
    const model = fromAiSdk(createOpenAICompatible({ name: 'local', baseURL })('scripted'));
    await assert.rejects(new Agent({ model, ...QUICK }).generate('Hello'), (error) => error instanceof TurnwiseError && error.slugs.includes('auth_error'));
  });
});

test('reasoning with its signature goes back as it came', async () => {
  const prompts = [];
  const usage = { inputTokens: { total: 3 }, outputTokens: { total: 2, reasoning: 1 } };
  const signed = { anthropic: { signature: 'sig-1' } };
  const replies = [
    [{ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: 'Hm.' }, { type: 'reasoning-end', id: 'r', providerMetadata: signed },
      { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{"at":"sky"}', providerMetadata: { google: { thoughtSignature: 't-1' } } },
      { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_use' }, usage }],
    [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: 'Sunny.' }, { type: 'text-end', id: 't' }, { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage }],
  ];
  const model = new MockLanguageModelV4({ doStream: async ({ prompt }) => {
    prompts.push(prompt);
    return { stream: simulateReadableStream({ chunks: replies[prompts.length - 1] }) };
  } });
  const { text, usage: total } = await new Agent({ model: fromAiSdk(model), tools, ...QUICK }).generate('Weather?');
  assert.deepEqual([text, total.reasoningTokens], ['Sunny.', 2]);
  const assistant = prompts[1].find(({ role }) => role === 'assistant');
  assert.deepEqual(JSON.parse(JSON.stringify(assistant.content)), [
    { type: 'reasoning', text: 'Hm.', providerOptions: signed },
    { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { at: 'sky' }, providerOptions: { google: { thoughtSignature: 't-1' } } },
  ]);
});

test('what is no model of the AI SDK is refused in words', () => {
  assert.throws(() => fromAiSdk({ specificationVersion: 'v2' }), /version v3 or v4.*got "v2"/);
});
