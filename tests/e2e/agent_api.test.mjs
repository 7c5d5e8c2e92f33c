// The API of `turnwise` (www/client/sdk) in Node.js, against a strict server on loopback: models, tools with schemas of
// three libraries, output, approval, guardrails, parts, chats, resume and branch. packages.test.mjs covers it in pages.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { reply, withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';

const { Agent, TurnwiseError, custom, demo, exportTrajectory, inMemory, jsonSchema, openai, otlp, replay, tool, toolContent, default: init } = await import(path.join(dist, 'turnwise/index.node.js'));
await init();

const model = (baseUrl, name = 'scripted') => openai(name, { baseUrl, apiKey: 'sk-test-0123456789abcdefghij', price: { input: 1, output: 2 } });
const QUICK = { retry: { baseMs: 1, capMs: 2 }, seed: 1 };
const call = (name, args, id = 'call_0') => ({ calls: [{ id, name, args }] });
const collect = async (stream) => {
  const all = [];
  for await (const one of stream) all.push(one);
  return all;
};
const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const report = (content) => call('final_report', { format: 'json', content });

test('the run of the README: a tool, its parts, its text, its result', async () => {
  const seen = [];
  const price = tool({
    description: 'The price of an article.', inputSchema: z.object({ article: z.string() }),
    execute: async ({ article }, { signal }) => { seen.push([article, signal.aborted]); return { euros: 12 }; },
  });
  await withScript([
    { text: 'One moment. ', ...call('getPrice', { article: 'lamp' }), check: ({ messages, tools }) => {
      assert.deepEqual(messages, [{ role: 'system', content: 'You sell lamps.' }, { role: 'user', content: 'What do three lamps cost?' }]);
      assert.deepEqual(tools.map((one) => one.function), [{
        name: 'getPrice', description: 'The price of an article.',
        parameters: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
      }]);
    } },
    { text: 'They cost 36 euros.', check: (request) => assert.deepEqual(results(request), ['{"euros":12}\n[Turn 1/8]']) },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), instructions: 'You sell lamps.', tools: { getPrice: price }, maxTurns: 8, ...QUICK });
    const run = agent.stream('What do three lamps cost?');
    const [parts, texts, result] = await Promise.all([collect(run), collect(run.textStream), run]);
    assert.deepEqual(seen, [['lamp', false]]);
    assert.equal(texts.join(''), 'One moment. \n\nThey cost 36 euros.');
    assert.deepEqual(parts.map(({ type: kind }) => kind).filter((kind, at, all) => kind !== all[at - 1]), [
      'turn-start', 'text-delta', 'tool-call', 'tool-result', 'turn-finish', 'turn-start', 'text-delta', 'turn-finish', 'finish',
    ]);
    for (const part of parts) assert.ok(Number.isInteger(part.turn) && Number.isInteger(part.callsLeft), JSON.stringify(part));
    const { durationMs, ...toolResult } = parts.find((part) => part.type === 'tool-result');
    assert.ok(durationMs >= 0);
    assert.deepEqual(toolResult, {
      type: 'tool-result', turn: 1, callsLeft: toolResult.callsLeft, toolCallId: 'call_0', toolName: 'getPrice', input: { article: 'lamp' },
      output: '{"euros":12}', isError: false, slug: undefined,
    });
    const usage = { inputTokens: 20, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0, totalTokens: 30, estimated: false };
    const { files, trajectory, ...rest } = result;
    assert.deepEqual(files.list(), []);
    assert.deepEqual(rest, {
      output: 'They cost 36 euros.', text: 'They cost 36 euros.', usage, cost: 40 / 1e6, requests: 2,
      ending: { reason: 'llm_complete', outcome: 'success', answerSource: 'model', trigger: undefined, turns: 2, maxTurns: 8 },
    });
    assert.deepEqual(await replay(trajectory), { ok: true });
    assert.deepEqual(await collect(run), parts, 'a late reader gets all parts too');
  });
});

const SCHEMAS = {
  'Zod': [z.object({ n: z.number() }), z.object({ total: z.number() })],
  'Valibot': [toStandardJsonSchema(v.object({ n: v.number() })), toStandardJsonSchema(v.object({ total: v.number() }))],
  'ArkType': [type({ n: 'number' }), type({ total: 'number' })],
  'JSON Schema': [
    jsonSchema({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  ],
};
for (const [name, [input, output]] of Object.entries(SCHEMAS)) {
  test(`schemas of ${name}: wrong arguments and a wrong output are told to the model, right ones arrive`, async () => {
    const seen = [];
    await withScript([
      call('double', { n: 'two' }),
      { ...call('double', { n: 2 }), check: (request) => assert.match(results(request)[0], /n/) },
      { ...report({ total: 'four' }), check: (request) => assert.match(results(request).at(-1), /^4/) },
      { ...report({ total: 4 }), check: (request) => assert.match(results(request).at(-1), /total/) },
    ], async (baseUrl) => {
      const agent = new Agent({
        model: model(baseUrl), output, ...QUICK, instructions: 'You count.',
        tools: { double: tool({ inputSchema: input, execute: ({ n }) => { seen.push(n); return 2 * n; } }) },
      });
      const result = await agent.generate('Twice two?');
      assert.deepEqual(seen, [2]);
      assert.deepEqual(result.output, { total: 4 });
      assert.equal(result.ending.reason, 'final_report');
      assert.deepEqual(await replay(result.trajectory), { ok: true });
    });
  });
}

test('a schema transforms what it takes, and its own checks are told where they fail', async () => {
  await withScript([report({ day: '2026-11-23' })], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), output: z.object({ day: z.string().transform((text) => Number(text.slice(-2))) }), ...QUICK });
    assert.deepEqual((await agent.generate('Which day?')).output, { day: 23 });
  });
  await withScript([report({ a: 1, b: 2 })], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), output: z.object({ a: z.number(), b: z.number() }).refine(({ a, b }) => a > b, 'a has to be larger'), ...QUICK });
    await assert.rejects(agent.generate('Two numbers'), (error) => error instanceof TurnwiseError && error.reason === 'output_invalid'
      && /a has to be larger/.test(error.message) && error.trajectory.outcome === 'success');
  });
});

test('what is wrong with the options is said at once, with what they take', () => {
  const says = (make, pattern) => assert.throws(make, (error) => error instanceof TypeError && pattern.test(error.message), String(pattern));
  says(() => new Agent(), /options\.model: missing.*openai\(.*demo\(\)/);
  says(() => new Agent({}), /options\.model: missing/);
  says(() => new Agent({ model: demo(), maxTurns: 0 }), /options\.maxTurns: got 0/);
  says(() => new Agent({ model: demo(), turns: 3 }), /options\.turns: unknown option/);
  says(() => new Agent({ model: demo(), budget: { euros: 3 } }), /options\.budget\.euros: unknown option/);
  says(() => new Agent({ model: demo(), tools: { 'a b': tool({ execute: () => '' }) } }), /tools\.a b: a tool's name/);
  says(() => new Agent({ model: demo(), tools: { a: { inputSchema: z.object({}) } } }), /tools\.a\.execute: got nothing/);
  says(() => new Agent({ model: demo(), tools: { a: tool({ touches: ['disk'], execute: () => '' }) } }), /tools\.a\.touches: got "disk"/);
  says(() => new Agent({ model: demo(), tools: { a: tool({ inputSchema: v.object({}), execute: () => '' }) } }), /toStandardJsonSchema/);
  says(() => new Agent({ model: demo() }).stream('x', { signal: 1 }), /options\.signal: got 1/);
});

test('a failed run throws with its reason, slugs and record; a cancelled one too', async () => {
  await withScript([{ status: 401, body: '{"error":{"message":"bad key"}}' }], async (baseUrl) => {
    const run = new Agent({ model: model(baseUrl), ...QUICK }).stream('Hello');
    const parts = await collect(run);
    await assert.rejects(run.result, (error) => error instanceof TurnwiseError && error.reason === 'llm_error' && error.slugs.includes('auth_error')
      && error.trajectory.outcome === 'failed' && error === parts.at(-1).error);
  });
  await withScript([{ chunks: reply({ text: 'This takes long' }).slice(0, 2), hold: true }], async (baseUrl) => {
    const abort = new AbortController();
    const run = new Agent({ model: model(baseUrl), ...QUICK }).stream('Hello', { signal: abort.signal });
    for await (const part of run) if (part.type === 'text-delta') abort.abort();
    await assert.rejects(run.result, (error) => error.reason === 'cancelled' && error.trajectory.outcome === 'cancelled');
  });
});

test('a budget in dollars ends the run with what it has, marked as partial', async () => {
  await withScript([call('look', {}), { text: 'So far: nothing.' }], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools: { look: tool({ execute: () => 'nothing' }) }, budget: { usd: 0.00001 }, ...QUICK });
    const run = agent.stream('Look');
    const parts = await collect(run);
    const { ending, text } = await run;
    assert.deepEqual([ending.outcome, ending.trigger, text], ['partial', 'cost', 'So far: nothing.']);
    assert.equal(parts.find(({ type: kind }) => kind === 'synthesis-start').trigger, 'cost');
  });
});

test('approval: the workspace is free, all else is asked about, and a permission can reach further', async () => {
  const asked = [];
  const tools = {
    note: tool({ touches: ['workspace'], execute: () => 'noted' }),
    send: tool({ touches: ['network'], inputSchema: z.object({ to: z.string() }), execute: ({ to }) => `sent to ${to}` }),
    drop: tool({ needsApproval: true, execute: () => 'dropped' }),
    pay: tool({ inputSchema: z.object({ euros: z.number() }), needsApproval: ({ euros }) => euros > 10, execute: () => 'paid' }),
    ping: tool({ touches: ['network'], needsApproval: false, execute: () => 'pong' }),
  };
  const calls = [['note', {}], ['send', { to: 'a' }], ['send', { to: 'b' }], ['drop', {}], ['pay', { euros: 5 }], ['pay', { euros: 50 }], ['ping', {}]];
  await withScript([
    { calls: calls.map(([name, args], at) => ({ id: `c${at}`, name, args })) },
    { text: 'Done.', check: (request) => {
      const [note, a, b, drop, five, fifty, ping] = results(request);
      assert.match(note, /^noted/);
      assert.deepEqual([a, b], ['sent to a', 'sent to b']);
      assert.match(drop, /not permit|refused|denied|did not allow/i);
      assert.equal(five, 'paid');
      assert.match(fifty, /not permit|refused|denied|did not allow/i);
      assert.match(ping, /^pong/);
    } },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools, limits: { parallelTools: 1 }, ...QUICK });
    await agent.generate('Do it', {
      approve: ({ toolName, input, touches }) => {
        asked.push([toolName, input, touches]);
        return toolName === 'send' ? { allow: true, for: 'tool' } : false;
      },
    });
    assert.deepEqual(asked, [['send', { to: 'a' }, ['network']], ['drop', {}, []], ['pay', { euros: 50 }, []]]);
  });
});

test('without approve, calls that reach the network are refused', async () => {
  await withScript([call('send', {}), { text: 'I may not.', check: (request) => assert.match(results(request)[0], /refused|permit|allow/i) }], async (baseUrl) => {
    const { text } = await new Agent({ model: model(baseUrl), tools: { send: tool({ touches: ['network'], execute: () => assert.fail('it ran') }) }, ...QUICK }).generate('Send');
    assert.equal(text, 'I may not.');
  });
});

test('guardrails end a run with a slug of their own', async () => {
  const shout = (text) => (text.includes('!') ? { slug: 'too_loud', message: 'No shouting.' } : undefined);
  await withScript([], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), guardrails: { input: [shout] }, ...QUICK });
    await assert.rejects(agent.generate('Hey!'), (error) => error.reason === 'guardrail' && error.slugs[0] === 'too_loud' && error.message === 'No shouting.');
  });
  await withScript([{ text: 'Yes!' }], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), guardrails: { output: [({ text }) => shout(text)] }, ...QUICK });
    await assert.rejects(agent.generate('Hey'), (error) => error.reason === 'guardrail' && error.trajectory.output === 'Yes!');
  });
});

test('messages of a conversation are carried into the run', async () => {
  await withScript([{ text: 'Ada.', check: ({ messages }) => assert.deepEqual(messages, [
    { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'I am Ada.' }, { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Who am I?' },
  ]) }], async (baseUrl) => {
    const messages = [{ role: 'user', content: 'I am Ada.' }, { role: 'assistant', parts: [{ type: 'step-start' }, { type: 'text', text: 'Hello.' }] }];
    const result = await new Agent({ model: model(baseUrl), instructions: 'Be brief.', ...QUICK }).generate('Who am I?', { messages });
    assert.equal(result.text, 'Ada.');
    assert.deepEqual(await replay(result.trajectory), { ok: true });
  });
});

test('the result of a tool has pictures', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
  const look = (mediaType) => tool({
    execute: () => toolContent([{ type: 'text', text: 'The page.' }, { type: 'image', data: Buffer.from(png, 'base64'), mediaType }]),
  });
  const called = call('look', {});
  // Chat completions carry text only; tests/native/tool_images.rs covers which formats accept the image.
  const note = ({ messages }) => assert.match(messages.at(-1).content, /^\[Left out: 1 picture or PDF\. .+\]\nThe page\.\n\[Turn 1\/15\]$/);
  await withScript([called, { text: 'A dot.', check: note }], async (baseUrl) => {
    const { text, trajectory } = await new Agent({ model: model(baseUrl), tools: { look: look('image/png') }, ...QUICK }).generate('What is it?');
    assert.equal(text, 'A dot.');
    const { outcome } = trajectory.events.find(({ event }) => event.type === 'tool_finished').event;
    assert.deepEqual(outcome.images, [{ media_type: 'image/png', data: png }]);
    assert.deepEqual(await replay(trajectory), { ok: true });
  });
  const refused = ({ messages }) => assert.match(messages.at(-1).content, /the result of look\[1\]: expected a picture/);
  await withScript([called, { text: 'Nothing.', check: refused }], async (baseUrl) => {
    await new Agent({ model: model(baseUrl), tools: { look: look('image/tiff') }, ...QUICK }).generate('What is it?');
  });
});

test('the structured content of a tool is in its part, in the record and in a replay, and is not sent', async () => {
  const hits = { hits: [{ title: 'Lamp', price: 36 }] };
  const tools = {
    look: tool({ execute: () => toolContent('One lamp.', { structuredContent: hits }) }),
    plain: tool({ execute: () => 'plain' }),
    large: tool({ execute: () => toolContent('large', { structuredContent: 'x'.repeat(256 * 1024) }) }),
    none: tool({ execute: () => toolContent('none', { structuredContent: () => {} }) }),
  };
  const unsent = ({ messages }) => {
    assert.doesNotMatch(JSON.stringify(messages), /hits/);
    const [look, plain, large, none] = messages.slice(-4).map(({ content }) => content);
    assert.deepEqual([look, plain], ['One lamp.', 'plain']);
    assert.match(large, /structuredContent: got 262146 bytes of JSON; expected a JSON value of at most 262144 bytes/);
    assert.match(none, /structuredContent: got a function; expected a JSON value/);
  };
  const calls = ['look', 'plain', 'large', 'none'].map((name) => ({ id: name, name, args: {} }));
  await withScript([{ calls }, { text: 'A lamp.', check: unsent }], async (baseUrl) => {
    const run = new Agent({ model: model(baseUrl), tools, ...QUICK }).stream('What is there?');
    const results = Object.fromEntries((await collect(run)).filter(({ type }) => type === 'tool-result').map((part) => [part.toolName, part]));
    assert.deepEqual(results.look.structuredContent, hits);
    assert.equal(results.look.output, 'One lamp.');
    assert.ok(!('structuredContent' in results.plain) && results.large.isError && results.none.isError);
    const { trajectory } = await run;
    assert.deepEqual(trajectory.turns[0].tool_calls.map((of) => of.structured_content), [hits, undefined, undefined, undefined]);
    assert.deepEqual(await replay(trajectory), { ok: true });
  });
});

test('options that cannot be had together are errors of the run that name them', async () => {
  const baseUrl = 'http://127.0.0.1:9/v1';
  const unpriced = openai('own', { baseUrl });
  const priced = openai('own', { baseUrl, price: { input: 1, output: 2 } });
  const budget = { usd: 1 };
  const none = /got "zzz"; expected one of the tools: (spawn_subagents, )?look/;
  const look = { look: tool({ execute: () => '' }) };
  for (const [options, expected] of [
    [{ model: unpriced, budget }, /a budget in US dollars .*budget\.usd.* needs the price of every model, and that of openai own is not known: give it with the model, price: \{ input, output \}/],
    [{ model: [priced, unpriced], budget }, /budget\.usd/],
    [{ model: unpriced, budget, preset: 'strict' }, /budget\.usd/],
    [{ model: custom(() => ''), budget }, /budget\.usd/],
    [{ model: demo(), budget }, /that of demo is not known/],
    [{ model: demo(), tools: look, toolChoice: { tool: 'zzz' } }, none],
    [{ model: demo(), tools: look, subagents: { reader: { description: 'reads', tools: ['look', 'zzz'] } } }, none],
  ]) {
    const wrong = (error) => error instanceof TypeError && expected.test(error.message);
    await assert.rejects(async () => { await new Agent(options).generate('Go'); }, wrong, String(expected));
    await assert.rejects(async () => { await new Agent(options).stream('Go').result; }, wrong, String(expected));
  }
  for (const url of ['nonsense', 'localhost:4318/v1/traces', 'ftp://host/x', '', 5]) assert.throws(() => otlp({ url }), /^TypeError: otlp\(\): url: got .*; expected the address of a collector/);
  assert.equal(typeof otlp({ url: new URL('http://127.0.0.1:4318/v1/traces') }), 'function');
});

test('pictures and files are part of a prompt', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
  await withScript([{ text: 'A dot.', check: ({ messages }) => assert.deepEqual(messages.at(-1).content, [
    { type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
  ]) }], async (baseUrl) => {
    const prompt = [{ type: 'text', text: 'What is it?' }, { type: 'image', data: Buffer.from(png, 'base64'), mediaType: 'image/png' }];
    assert.equal((await new Agent({ model: model(baseUrl), ...QUICK }).generate(prompt)).text, 'A dot.');
  });
  const url = `data:image/png;base64,${png}`;
  await withScript([{ text: 'A dot.', check: ({ messages }) => assert.deepEqual(messages.at(-1).content[1], { type: 'image_url', image_url: { url } }) }], async (baseUrl) => {
    const sent = [{ type: 'text', text: 'What is it?' }, { type: 'file', mediaType: 'image/png', filename: 'dot.png', url }]; // as useChat sends it
    const agent = new Agent({ model: model(baseUrl), ...QUICK });
    assert.equal((await agent.generate(sent)).text, 'A dot.');
    await assert.rejects(agent.generate([{ type: 'file', url: 'https://example.org/dot.png' }]), /^TypeError: prompt\[0\]\.url: got .*a data URL/);
    await assert.rejects(agent.generate([{ type: 'image' }]), /^TypeError: prompt\[0\]\.data: got nothing/);
  });
});

test('a chat knows what was said, is stored, and is read again', { timeout: 60_000 }, async () => {
  const storage = inMemory();
  await withScript([
    { text: 'Hello, Ada.' },
    { text: 'You are Ada.', check: ({ messages }) => assert.deepEqual(messages.slice(1).map(({ content }) => content), ['I am Ada.', 'Hello, Ada.', 'Who am I?']) },
    { text: 'Still Ada.', check: ({ messages }) => assert.equal(messages.length, 6) },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), ...QUICK });
    const chat = agent.chat({ storage });
    await chat.send('I am Ada.');
    const second = chat.send('Who am I?');
    assert.throws(() => chat.send('again'), /answering/);
    await second; // whoever has the result finds it stored
    const again = agent.chat({ storage });
    await again.load();
    assert.deepEqual(again.messages.map(({ role, text }) => [role, text]), [
      ['user', 'I am Ada.'], ['assistant', 'Hello, Ada.'], ['user', 'Who am I?'], ['assistant', 'You are Ada.'],
    ]);
    assert.equal(again.isInterrupted, false);
    assert.equal((await again.send('And now?')).text, 'Still Ada.');
    again.close();
    chat.close();
  });
});

test('runs of one agent go on side by side, and tools come and go', async () => {
  await withScript([
    { text: 'one', delay: 50, check: ({ tools }) => assert.deepEqual(tools.map((one) => one.function.name), ['a']) },
    { text: 'two', check: ({ tools }) => assert.deepEqual(tools.map((one) => one.function.name), ['a']) },
    { text: 'three', check: ({ tools }) => assert.deepEqual(tools.map((one) => one.function.name), ['b']) },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools: { a: tool({ execute: () => '' }) }, ...QUICK });
    const both = await Promise.all([agent.generate('1'), agent.generate('2')]);
    assert.deepEqual(both.map(({ text }) => text).sort(), ['one', 'two']);
    agent.addTool('b', tool({ execute: () => '' }));
    assert.equal(agent.removeTool('a'), true);
    assert.equal((await agent.generate('3')).text, 'three');
  });
});

test('models are used in turn, and one can be a function', async () => {
  await withScript([{ status: 503, body: '{}' }], async (baseUrl) => {
    const own = custom((request) => `You said: ${request.messages.at(-1).content}`, { model: 'echo' });
    const { text, trajectory } = await new Agent({ model: [model(baseUrl), own], ...QUICK }).generate('Hello');
    assert.equal(text, 'You said: Hello');
    assert.deepEqual(trajectory.turns[0].attempts.map(({ provider }) => provider), [0, 1]);
  });
});

test('a branch with an edited result, another reply, another system text, another model: each replays', async () => {
  const tools = { look: tool({ execute: () => 'sunny' }) };
  await withScript([
    call('look', {}), { text: 'It is sunny.' },
    { text: 'It rains.', check: (request) => assert.deepEqual(results(request), ['rainy\n[Turn 1/15]']) },
    { text: 'It is sunny, aye.', check: ({ messages }) => assert.equal(messages[0].content, 'Talk like a pirate.') },
    { text: 'Sunny again.', check: ({ messages }) => {
      assert.deepEqual(messages.slice(2).map(({ role }) => role), ['assistant', 'tool']);
      assert.equal(messages[2].tool_calls[0].function.name, 'look');
    } },
    { text: 'By another model.', check: ({ model: name }) => assert.equal(name, 'other') },
  ], async (baseUrl) => {
    const agent = new Agent({ model: model(baseUrl), tools, ...QUICK });
    const { trajectory } = await agent.generate('Weather?');
    const branches = [
      await agent.branch(trajectory, { edit: { callId: 'call_0', result: 'rainy' } }),
      await agent.branch(trajectory, { turn: 2, edit: { system: 'Talk like a pirate.' } }),
      await agent.branch(trajectory, { turn: 1, edit: { reply: { toolCalls: [{ toolName: 'look', input: {} }] } } }),
      await agent.branch(trajectory, { turn: 2, edit: { model: model(baseUrl, 'other') } }),
    ];
    assert.deepEqual(branches.map(({ text }) => text), ['It rains.', 'It is sunny, aye.', 'Sunny again.', 'By another model.']);
    for (const branch of branches) {
      assert.deepEqual(await replay(branch.trajectory), { ok: true });
      assert.equal(branch.trajectory.parent.run_id, trajectory.run_id);
      assert.notEqual(branch.trajectory.run_id, trajectory.run_id);
    }
    const answered = await agent.branch(trajectory, { turn: 2, edit: { reply: 'I say so.' } });
    assert.equal(answered.text, 'I say so.');
    assert.deepEqual(await replay(answered.trajectory), { ok: true });
    await assert.rejects(agent.branch(trajectory, { turn: 9 }), /there is no turn 9/);
    await assert.rejects(agent.branch(trajectory, { edit: { callId: 'no', result: '' } }), /there is no call no/);
    await assert.rejects(agent.resume(trajectory), /has ended/);
  });
});

test('a record of another address is not resumed with this agent\'s key', async () => {
  let checkpoint;
  await withScript([{ chunks: reply({ text: 'long' }).slice(0, 2), hold: true }], async (baseUrl) => {
    const run = new Agent({ model: model(baseUrl), ...QUICK }).stream('Hello');
    for await (const part of run) if (part.type === 'text-delta') { checkpoint = await run.checkpoint(); break; }
    run.cancel();
    await run.result.catch(() => {});
  });
  await assert.rejects(new Agent({ model: openai('scripted', { baseUrl: 'http://127.0.0.1:9/v1' }), ...QUICK }).resume(checkpoint), /another model or address/);
});

test('the AI SDK\'s stream: text, tools, steps', async () => {
  await withScript([{ text: 'Let me look.', ...call('look', {}) }, { text: 'Sunny.' }], async (baseUrl) => {
    const run = new Agent({ model: model(baseUrl), tools: { look: tool({ execute: () => 'sunny' }) }, ...QUICK }).stream('Weather?');
    const response = run.toUIMessageStreamResponse();
    assert.equal(response.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    const chunks = (await response.text()).trim().split('\n\n').map((line) => line.replace(/^data: /, ''));
    assert.equal(chunks.pop(), '[DONE]');
    const kinds = chunks.map((text) => JSON.parse(text).type).filter((kind, at, all) => kind !== all[at - 1] && !kind.startsWith('data-'));
    assert.deepEqual(kinds, ['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'tool-input-available', 'tool-output-available', 'finish-step',
      'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish']);
  });
});

test('telemetry: a collector gets each span once, those of a turn before the run has ended', { timeout: 60_000 }, async () => {
  const posts = [];
  const arrivals = new EventEmitter();
  // The second turn is answered once the first one was sent to the collector.
  const first = once(arrivals, 'post');
  const collector = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    posts.push({ key: request.headers['x-key'], ...JSON.parse(Buffer.concat(bytes).toString()) });
    arrivals.emit('post');
    response.end('{}');
  });
  await new Promise((resolve) => { collector.listen(0, '127.0.0.1', resolve); });
  const url = `http://127.0.0.1:${collector.address().port}/v1/traces`;
  try {
    await withScript([call('look', {}), { text: 'Sunny.', until: first }], async (baseUrl) => {
      const agent = new Agent({ model: model(baseUrl), tools: { look: tool({ execute: () => 'sunny' }) }, telemetry: otlp({ url, headers: { 'x-key': 'k' } }), ...QUICK });
      const { trajectory } = await agent.generate('Weather?');
      const whole = JSON.parse(await exportTrajectory(trajectory, 'otlp')).resourceSpans[0].scopeSpans[0].spans;
      const spans = () => posts.flatMap((post) => post.resourceSpans[0].scopeSpans[0].spans);
      const signal = AbortSignal.timeout(20_000);
      while (spans().length < whole.length) await once(arrivals, 'post', { signal });
      assert.equal(posts[0].key, 'k');
      const byId = (all) => [...all].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
      assert.deepEqual(byId(spans()), byId(whole));
    });
  } finally {
    await new Promise((resolve) => { collector.close(resolve); collector.closeAllConnections(); });
  }
});

test('a plan: its steps have the agent\'s model and tools, `approve` answers for them, cancel ends it', async () => {
  const plan = { agents: { Reader: { kind: 'gather' }, Writer: { kind: 'synthesis' } }, steps: [{ order: 1, agent: 'Reader', action: 'Send it' }, { order: 2, agent: 'Writer', action: 'Write' }] };
  const asked = [];
  const tools = { send: tool({ inputSchema: z.object({ to: z.string() }), touches: ['network'], execute: ({ to }) => `sent to ${to}` }) };
  const approve = ({ toolName, input }) => { asked.push([toolName, input.to]); return true; };
  await withScript([
    call('send', { to: 'Bob' }), { text: 'Done.', check: (request) => assert.match(results(request)[0], /^sent to Bob/) },
    { text: 'The end.', check: ({ messages }) => assert.match(messages.at(-1).content, /session_context.*Done\./) },
  ], async (baseUrl) => {
    const events = [];
    const session = await new Agent({ model: model(baseUrl), tools, approve, ...QUICK }).runPlan(plan, { onEvent: ({ type }) => events.push(type) });
    assert.deepEqual([session.ending.outcome, session.ending.output, asked], ['success', 'The end.', [['send', 'Bob']]]);
    assert.equal(events.at(-1), 'plan_finished');
  });
  await assert.rejects(new Agent({ model: demo() }).runPlan({ ...plan, steps: [{ order: 1, agent: 'None', action: 'x' }] }), /no agent|unknown|None/i);
  const running = new Agent({ model: demo('endless') }).runPlan(plan, { onEvent: ({ type }) => type === 'step_started' && running.cancel() });
  assert.equal((await running).ending.outcome, 'cancelled');
});

test('a strict run with a report that is not JSON; where the option has no meaning, it says so', async () => {
  await withScript([{ text: 'Just text.' }, call('final_report', { format: 'markdown', content: '# Yes' })], async (baseUrl) => {
    const { output, trajectory } = await new Agent({ model: model(baseUrl), preset: 'strict', report: 'markdown', ...QUICK }).generate('x');
    assert.deepEqual([output, trajectory.termination_reason], ['# Yes', 'final_report']);
  });
  for (const options of [{ report: 'markdown' }, { preset: 'strict', report: 'json' }, { report: 'text', output: z.object({}) }]) {
    assert.throws(() => new Agent({ model: demo(), ...options }), /^TypeError: options\.report: got "\w+"; expected 'text', 'markdown', 'slack' with preset: 'strict' and without output/);
  }
});
