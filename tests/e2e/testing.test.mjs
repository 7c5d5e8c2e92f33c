// `turnwise/testing`: scripted models, what they refuse, scripts that are made of records, and requests of pages and servers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';

const load = (name) => import(pathToFileURL(path.join(dist, 'turnwise', name)));
const { Agent, custom, jsonSchema, openai, replay, tool } = await load('index.node.js');
const { scriptOf, scripted, verifyScripts } = await load('testing.js');

const QUICK = { retry: { baseMs: 1, capMs: 2, rateLimitMs: 1 } };
const asked = [];
const price = tool({ description: 'Price', inputSchema: jsonSchema({ type: 'object', properties: { article: { type: 'string' } }, required: ['article'] }), execute: ({ article }) => { asked.push(article); return { euros: article.length }; } });
const agentOf = (replies, options = {}) => {
  const model = scripted(replies);
  return { model, agent: new Agent({ model, tools: { price }, ...QUICK, ...options }) };
};
/** The error of what is expected to fail. */
const failure = async (promise) => promise.then(() => assert.fail('it did not fail'), (error) => error);

afterEach(verifyScripts);

test('texts, calls, thoughts, usage and pieces arrive as a model would send them', async () => {
  const { model, agent } = agentOf([
    { text: 'Let me look.', thinking: 'A lamp.', toolName: 'price', input: { article: 'lamp' }, usage: { inputTokens: 10, outputTokens: 4, cachedInputTokens: 3, reasoningTokens: 2 } },
    { toolCalls: [{ toolName: 'price', input: { article: 'table' } }, { toolName: 'price', input: '{"article": "a' }] },
    { text: ['It ', 'costs ', 'four.'], usage: { inputTokens: 20, outputTokens: 6 } },
  ]);
  const parts = [];
  const run = agent.stream('What does a lamp cost?');
  for await (const part of run) parts.push(part);
  const { text, usage, trajectory } = await run;
  assert.equal(text, 'It costs four.');
  const of = (type) => parts.filter((part) => part.type === type);
  assert.deepEqual(of('text-delta').filter(({ turn }) => turn === 3).map((part) => part.text).join('|').replace(/\|/g, ''), 'It costs four.');
  assert.equal(of('reasoning-delta').map((part) => part.text).join(''), 'A lamp.');
  assert.deepEqual(of('tool-call').map(({ toolName, input }) => [toolName, input]).slice(0, 2), [['price', { article: 'lamp' }], ['price', { article: 'table' }]]);
  assert.deepEqual([usage.cachedInputTokens, usage.reasoningTokens], [3, 2]);
  assert.deepEqual([trajectory.turns[0].attempts[0].usage.estimated, trajectory.turns[1].attempts[0].usage.estimated], [false, true]);
  assert.equal(model.requests.length, 3);
  assert.deepEqual(model.requests[0].tools, ['price']);
  assert.equal(model.requests[0].lastMessage, 'What does a lamp cost?');
  assert.match(model.requests[0].system, /research agent/);
  assert.match(model.requests[1].lastMessage, /^\{"euros":4\}/);
  assert.deepEqual(await replay(trajectory), { ok: true });
  model.done();
});

test('a function answers one request, or all of them', async () => {
  const one = agentOf([(request) => `You said ${request.lastMessage}`]);
  assert.equal((await one.agent.generate('A')).text, 'You said A');
  const all = agentOf(async ({ messages }) => (messages.length < 4 ? { toolName: 'price', input: { article: 'x' } } : 'Done.'));
  assert.equal((await all.agent.generate('B')).text, 'Done.');
  assert.equal((await all.agent.generate('C')).text, 'Done.');
  assert.equal(all.model.requests.length, 4);
});

describe('what goes otherwise than the script says fails the run and done()', () => {
  test('an unexpected request', async () => {
    const { model, agent } = agentOf([{ toolName: 'price', input: { article: 'lamp' } }]);
    const wanted = /scripted: request 2 has no reply: the script has 1; its last message is of the role tool: "\{\\"euros\\":4\}/;
    assert.match((await failure(agent.generate('A'))).message, wanted);
    assert.throws(() => model.done(), wanted);
    assert.equal(model.requests.length, 2, 'it is not tried again');
  });

  test('a reply that was not requested', async () => {
    const { model, agent } = agentOf(['First.', 'Second.', { toolName: 'price', input: {} }]);
    await agent.generate('A');
    assert.throws(() => model.done(), { message: 'scripted: reply 2 of 3 was not requested: text "Second."\nscripted: reply 3 of 3 was not requested: call of price' });
  });

  const cases = [
    [{ lastMessage: 'Lamp' }, /expected lastMessage with "Lamp", got "A lamp\?"/],
    [{ lastMessage: /^lamp/ }, /expected lastMessage to match \/\^lamp\/, got "A lamp\?"/],
    [{ system: /pirate/ }, /expected system to match \/pirate\//],
    [{ tools: ['price', 'order'] }, /expected the tools price, order, got price/],
    [{ tools: [] }, /expected the tools \(none\), got price/],
    [({ lastMessage }) => lastMessage.length > 100, /its expect returned false/],
    [({ lastMessage }) => assert.equal(lastMessage, 'other'), /Expected values to be strictly equal/],
  ];
  for (const [expect, message] of cases) {
    test(`an expectation that does not hold: ${message.source.slice(0, 40)}`, async () => {
      const { model, agent } = agentOf([{ text: 'x', expect }]);
      const error = await failure(agent.generate('A lamp?'));
      assert.match(error.message, message);
      assert.match(error.message, /^scripted: request 1 is not the one that replies\[0\] \(text "x"\) expects: /);
      assert.throws(() => model.done(), message);
    });
  }
  test('expectations that hold', async () => {
    const { agent } = agentOf([{ text: 'x', expect: { lastMessage: /lamp/g, system: 'research', tools: ['price'] } }]);
    await agent.generate('A lamp?');
  });

  test('a sub-agent that asks too often: its parent goes on, done() says it', async () => {
    const { model, agent } = agentOf([
      { toolName: 'spawn_subagents', input: { tasks: [{ task: 'Find A' }] }, when: { task: 'Both' } }, { text: 'Whatever.', when: { task: 'Both' } },
    ], { subagents: { finder: { description: 'Finds.' } } });
    assert.equal((await agent.generate('Both')).text, 'Whatever.');
    assert.throws(() => model.done(), /scripted: request 2 has no reply: the replies that are left are for other tasks; its last message is of the role user: "Find A"/);
  });

  test('verifyScripts names every script that nobody verified, once', async () => {
    agentOf(['A']);
    agentOf(['B']);
    assert.throws(verifyScripts, { message: 'scripted: reply 1 of 1 was not requested: text "A"\nscripted: reply 1 of 1 was not requested: text "B"' });
    verifyScripts();
  });

  test('`using` verifies at the end of the block', () => {
    const model = scripted(['A']);
    assert.throws(() => model[Symbol.dispose](), /text "A"/);
  });
});

test('each failure has the slug of its name, and is retried at once where a server\'s would be', async () => {
  const again = ['rate_limited', 'timeout', 'provider_error', 'stream_cut', 'network_error', 503, { status: 429, message: 'slow down' }];
  const slugs = { 503: 'provider_error', '[object Object]': 'rate_limited' };
  for (const error of again) {
    const { agent } = agentOf([{ error }, 'Now.'], error === 'stream_cut' ? {} : { retry: { baseMs: 60_000, capMs: 60_000, rateLimitMs: 60_000 } });
    const { text, trajectory } = await agent.generate('A');
    assert.equal(text, 'Now.');
    assert.deepEqual(trajectory.turns[0].attempts.map((one) => one.slugs[0]), [slugs[error] ?? error, undefined]);
  }
  for (const error of ['auth_error', 'quota_error', 401, 400]) {
    const { agent } = agentOf([{ error }]);
    const failed = await failure(agent.generate('A'));
    assert.deepEqual(failed.slugs, [{ 401: 'auth_error', 400: 'provider_error' }[error] ?? error]);
  }
  for (const [reply, slug] of [[{ error: 'context_guard' }, 'context_guard'], ['', 'empty_response'], [{ toolName: 'price', input: '{"art', finishReason: 'length' }, 'truncated_output'], [{ text: '', finishReason: 'content_filter' }, 'content_filter'], [{ thinking: 'Hm.' }, 'reasoning_only'], [{ text: 'Half', error: 'stream_cut' }, 'stream_cut'], [{ text: 'Half', error: 'network_error' }, 'network_error'], [{ text: 'No.', finishReason: 'refusal' }, 'refusal']]) {
    const { agent } = agentOf([reply, 'Now.']);
    const { trajectory } = await agent.generate('A').catch((error) => error);
    const { attempts: [attempt], tool_calls: [call] } = trajectory.turns[0];
    assert.equal(attempt.slugs[0] ?? call?.slug, slug, JSON.stringify(reply));
    verifySome();
  }
});

test('a request without a reply says whole how the engine refused the call before it', async () => {
  const output = jsonSchema({ type: 'object', properties: { stars: { type: 'integer', description: 'how many stars' }, why: { type: 'string' } }, required: ['stars', 'why'] });
  const { model, agent } = agentOf([{ toolName: 'final_report', input: { format: 'json', content: { stars: 'many', wrong: 'x'.repeat(300) } } }], { output });
  const { message } = await failure(agent.generate('A'));
  const result = model.requests[1].lastMessage;
  assert.ok(result.length > 160, result);
  assert.ok(message.includes(JSON.stringify(result)), `${message}\n${result}`);
  assert.match(result, /final_report/);
  assert.throws(() => model.done());
});

test('a function as a model that reaches no server fails with network_error, by what fetch throws', async () => {
  const { server, url } = await new Promise((resolve) => {
    const one = http.createServer().listen(0, '127.0.0.1', () => resolve({ server: one, url: `http://127.0.0.1:${one.address().port}/` }));
  });
  await new Promise((resolve) => { server.close(resolve); });
  const fails = async (error) => {
    const { trajectory } = await failure(new Agent({ model: custom(async () => { throw typeof error === 'function' ? await error() : error; }), ...QUICK, maxAttempts: 1 }).generate('A'));
    return trajectory.turns[0].attempts[0].slugs[0];
  };
  assert.equal(await fails(() => fetch(url).catch((error) => error)), 'network_error');
  for (const text of ['Failed to fetch', 'Load failed', 'NetworkError when attempting to fetch resource.']) assert.equal(await fails(new TypeError(text)), 'network_error', text);
  assert.equal(await fails(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })), 'network_error');
  assert.equal(await fails(new Error('Cannot connect to API', { cause: new TypeError('fetch failed') })), 'network_error');
  for (const error of [new TypeError('x is not a function'), new Error('network error'), 'fetch failed']) assert.equal(await fails(error), 'provider_error', String(error));
});

/** Verifies, but not that all replies were requested: some failures end a run. */
function verifySome() {
  try {
    verifyScripts();
  } catch (error) {
    assert.match(error.message, /was not requested: text "Now\."$/);
  }
}

test('a reply waits for a promise of the test, before it begins or within its text, and a cancel does not wait', async () => {
  let begin;
  let go;
  const { agent } = agentOf([{ text: ['One ', new Promise((resolve) => { go = resolve; }), 'two.'], delay: new Promise((resolve) => { begin = resolve; }) }]);
  const run = agent.stream('A');
  const texts = run.textStream[Symbol.asyncIterator]();
  begin();
  assert.equal((await texts.next()).value, 'One ');
  go();
  assert.equal((await texts.next()).value, 'two.');
  assert.equal((await run).text, 'One two.');

  for (const delay of [new Promise(() => {}), 3_600_000]) {
    const { agent: other } = agentOf([{ text: 'Never.', delay }]);
    const stopped = other.stream('A');
    for await (const part of stopped) if (part.type === 'turn-start') stopped.cancel();
    assert.equal((await failure(stopped)).reason, 'cancelled');
  }
});

test('milliseconds are those of the test\'s clock', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { model, agent } = agentOf([{ text: 'Later.', delay: 60_000 }]);
  const run = agent.generate('A');
  while (!model.requests.length) await new Promise((resolve) => { setImmediate(resolve); });
  t.mock.timers.tick(60_000);
  assert.equal((await run).text, 'Later.');
});

test('a script that is wrong is refused where it is written, by the path of what is wrong', () => {
  const wrong = [
    [[5], 'replies[0]: got 5; expected a text, an object such as { toolName, input }, or a function that returns one'],
    [['a', { txt: 'b' }], 'replies[1].txt: unknown; a reply takes text, thinking, toolName, input, toolCalls, error, delay, usage, finishReason, expect, when'],
    [[{ error: 'rate_limit' }], /replies\[0\]\.error: got "rate_limit"; expected an HTTP status from 400 to 599, .*'rate_limited'/],
    [[{ error: 200 }], /replies\[0\]\.error: got 200/],
    [[{ input: {} }], /replies\[0\]\.toolName: got nothing; expected the name of the tool that input is for/],
    [[{ toolCalls: { toolName: 'a' } }], /replies\[0\]\.toolCalls: got an object; expected a list of/],
    [[{ delay: '5' }], /replies\[0\]\.delay: got "5"/],
    [[{ expect: { message: /a/ } }], /replies\[0\]\.expect: .*lastMessage, system, tools/],
    [[{ when: 'a' }], /replies\[0\]\.when/],
    ['text', /replies: got "text"; expected a list of replies/],
  ];
  for (const [replies, message] of wrong) assert.throws(() => scripted(replies), { name: 'TypeError', message });
});

describe('a script that is made of a record', () => {
  /** Runs with real HTTP, makes a script of the record, and runs again with it. */
  async function again(steps, options, run = (agent) => agent.generate('What does a lamp cost?')) {
    let first;
    await withScript(steps, async (baseUrl) => { first = await run(new Agent({ model: openai('m', { baseUrl }), tools: { price }, ...QUICK, ...options })); });
    const script = JSON.parse(JSON.stringify(scriptOf(first)));
    const { model, agent } = agentOf(script, options);
    const second = await run(agent);
    model.done();
    const bare = ({ trajectory: { turns, output, children } }) => JSON.stringify({ output, turns, children: children.map(({ input, turns: own }) => ({ input, own })) }, (key, value) => (/_ms$|_at$|^(request_hash|children|error|run_id)$/.test(key) && typeof value !== 'object' ? undefined : value));
    assert.equal(bare(second), bare(first));
    // The same with what each request ended with.
    const strict = JSON.parse(JSON.stringify(scriptOf(first, { expect: true })));
    assert.deepEqual(strict.map(({ expect, ...rest }) => rest), script);
    assert.ok(strict[0].expect.lastMessage, 'the first request is expected');
    const { model: expecting, agent: third } = agentOf(strict, options);
    assert.equal(bare(await run(third)), bare(first));
    expecting.done();
    return { script, first, second };
  }
  const call = (name, args, id = 'c1') => ({ calls: [{ id, name, args }] });

  test('texts, calls with bad arguments, failures, usage', async () => {
    const { script } = await again([
      { status: 429, headers: { 'retry-after-ms': '0' }, body: '{"error":{"message":"slow"}}' },
      { text: 'Let me look.', ...call('price', { article: 'lamp' }) },
      call('price', '{"article": 5'), { chunks: ['data: {"choices":[{"delta":{"content":"x"}}]}\n\n'], cut: true }, { text: 'Four.' },
    ]);
    assert.deepEqual(script.map(({ usage, ...rest }) => rest).slice(0, 2), [
      { error: 429 }, { text: 'Let me look.', toolCalls: [{ toolName: 'price', input: { article: 'lamp' }, toolCallId: 'c1' }] },
    ]);
    assert.deepEqual(script[1].usage, { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 });
  });

  test('an output with a schema', async () => {
    const output = jsonSchema({ type: 'object', properties: { stars: { type: 'integer' } }, required: ['stars'] });
    const { second } = await again([call('final_report', { format: 'json', content: { stars: 'x' } }), call('final_report', { format: 'json', content: { stars: 3 } })], { output });
    assert.deepEqual(second.output, { stars: 3 });
  });

  test('sub-agents get their own replies, in whatever order they ask', async () => {
    // The second sub-agent is the faster one, so the order of the record is not that of the requests.
    const of = { 'Find A': ['A1', 'A is 1.'], 'Find B': ['B1', 'B is 2.'], Both: ['', 'A 1, B 2.'] };
    let slow;
    const first = new Promise((resolve) => { slow = resolve; });
    const model = scripted(async ({ messages }) => {
      const task = messages.find(({ role }) => role === 'user').content;
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      if (task === 'Find A') await first;
      if (task === 'Find B' && turn) slow();
      if (turn) return of[task][1];
      return task === 'Both' ? { toolName: 'spawn_subagents', input: { tasks: [{ task: 'Find A', agent: 'finder' }, { task: 'Find B', agent: 'finder' }] } } : { toolName: 'price', input: { article: of[task][0] } };
    });
    const options = { tools: { price }, subagents: { finder: { description: 'Finds.', tools: ['price'] } } };
    const { trajectory, text } = await new Agent({ model, ...options }).generate('Both');
    assert.equal(text, 'A 1, B 2.');
    const script = scriptOf(trajectory);
    const tasks = script.map(({ when }) => when.task);
    assert.ok(tasks.lastIndexOf('Find B') < tasks.lastIndexOf('Find A'), `${tasks}`);
    assert.deepEqual([...tasks].sort(), ['Both', 'Both', 'Find A', 'Find A', 'Find B', 'Find B']);
    const { trajectory: second } = await new Agent({ model: scripted(script), ...options }).generate('Both');
    assert.deepEqual(second.children.map(({ output }) => output), ['A is 1.', 'B is 2.']);
    assert.equal(second.output, text);
  });

  test('the runs of a chat, in order', async () => {
    const { agent } = agentOf(['One.', { toolName: 'price', input: { article: 'x' } }, 'Two.']);
    const chat = agent.chat();
    await chat.send('First');
    await chat.send('Second');
    const { agent: other } = agentOf(scriptOf(...chat.trajectories));
    const same = other.chat();
    await same.send('First');
    await same.send('Second');
    assert.deepEqual(same.messages.map(({ text }) => text), ['First', 'One.', 'Second', 'Two.']);
  });

  test('a script with expect refuses another task and another tool result', async () => {
    const { trajectory } = await agentOf([{ toolName: 'price', input: { article: 'lamp' } }, 'Four.']).agent.generate('What does a lamp cost?');
    const script = scriptOf(trajectory, { expect: true });
    assert.deepEqual(script.map(({ expect }) => expect), [{ lastMessage: 'What does a lamp cost?' }, { lastMessage: '{"euros":4}' }]);
    assert.deepEqual(scriptOf(trajectory, { expect: false }), scriptOf(trajectory));
    assert.match((await failure(agentOf(script).agent.generate('And a table?'))).message, /replies\[0\].*expected lastMessage with "What does a lamp cost\?", got "And a table\?"/);
    const dearer = tool({ description: 'Price', inputSchema: price.inputSchema, execute: () => ({ euros: 5 }) });
    assert.match((await failure(agentOf(script, { tools: { price: dearer } }).agent.generate('What does a lamp cost?'))).message, /replies\[1\].*expected lastMessage with "\{\\"euros\\":4\}"/);
    assert.throws(() => scriptOf(trajectory, { expect: 1 }), /options\.expect: got 1; expected true or false/);
    assert.throws(verifyScripts);
  });

  test('what is no record is refused', () => {
    assert.throws(() => scriptOf({}), /runs\[0\]: got an object; expected a run's result, or its trajectory/);
    assert.throws(() => scriptOf({ events: [], imported: { format: 'ATIF-v1.7' } }), /imported from ATIF-v1\.7, so it has no events/);
  });
});

test('a server of the test answers from the script, failures included', async () => {
  const model = scripted([{ text: ['It ', 'is ', 'four.'] }, { error: 'rate_limited' }, { text: 'Half', error: 'stream_cut' }, { error: 'network_error' }, { text: 'Half', error: 'network_error' }, 'Now.']);
  const server = await model.listen();
  try {
    const agent = new Agent({ model: openai('m', { baseUrl: server.url }), maxAttempts: 6, ...QUICK });
    assert.equal((await agent.generate('A')).text, 'It is four.');
    const { text, trajectory } = await agent.generate('B');
    assert.equal(text, 'Now.');
    assert.deepEqual(trajectory.turns[0].attempts.map(({ slugs }) => slugs[0]), ['rate_limited', 'stream_cut', 'network_error', 'network_error', undefined]);
    model.done();
    assert.match((await failure(agent.generate('C'))).message, /scripted: request 7 has no reply/);
    assert.throws(() => model.done(), /request 7/);
  } finally {
    await server.close();
  }
});

test('a served script streams, and a request that the client gave up ends its wait', async () => {
  let go;
  const model = scripted([{ text: ['One ', new Promise((resolve) => { go = resolve; }), 'two.'] }, { text: ['Half', new Promise(() => {})] }]);
  const server = await model.listen();
  try {
    const agent = new Agent({ model: openai('m', { baseUrl: server.url }), ...QUICK });
    const run = agent.stream('A');
    const texts = run.textStream[Symbol.asyncIterator]();
    assert.equal((await texts.next()).value, 'One ');
    go();
    assert.equal((await run).text, 'One two.');
    const other = agent.stream('B');
    for await (const part of other) if (part.type === 'text-delta') other.cancel();
    assert.equal((await failure(other)).reason, 'cancelled');
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

test('in a page, and for requests of a page', () => withPackage({ expect: [/network_error: api\.openai\.com/, /rate_limited: api/, /scripted: request 4/, /llm_error/] }, async (page) => {
  const own = await page.evaluate(async () => {
    const { scripted: script } = await import('/turnwise/testing.js');
    const { Agent: Own } = await import('/turnwise/index.js');
    const model = script(['Four.', 'Left.']);
    const { text } = await new Own({ model }).generate('A');
    try { model.done(); } catch (error) { return [text, error.message]; }
    return [text];
  });
  assert.deepEqual(own, ['Four.', 'scripted: reply 2 of 2 was not requested: text "Left."']);

  // The engine asks from its worker, of another origin: the script answers the preflight, too.
  const model = scripted([{ error: 'network_error' }, { error: 429 }, 'From the script.']);
  await page.route('https://api.openai.com/**', model.route);
  const ask = () => page.evaluate(async () => {
    const { Agent: Own, openai: server } = await import('/turnwise/index.js');
    return new Own({ model: server('m', { apiKey: 'k' }), retry: { baseMs: 1, capMs: 2, rateLimitMs: 1 } }).generate('A').then(({ text, trajectory }) => [text, ...trajectory.turns[0].attempts.map(({ slugs }) => slugs[0] ?? '')], ({ message }) => [message]);
  });
  assert.deepEqual(await ask(), ['From the script.', 'network_error', 'rate_limited', '']);
  model.done();
  assert.match((await ask())[0], /scripted: request 4 has no reply: the script has 3/);
  assert.throws(() => model.done(), /request 4/);
}));

test('a program of Node.js that imports turnwise/testing ends by itself', () => {
  const program = `
    import { Agent } from ${JSON.stringify(pathToFileURL(path.join(dist, 'turnwise/index.node.js')))};
    import { scripted } from ${JSON.stringify(pathToFileURL(path.join(dist, 'turnwise/testing.js')))};
    const model = scripted(['Hello.']);
    console.log((await new Agent({ model }).generate('Hi')).text);
    model.done();`;
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 60_000 }), 'Hello.\n');
});
