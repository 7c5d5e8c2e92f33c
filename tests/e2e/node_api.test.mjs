// The package in Node.js, through its JavaScript API alone, against a strict server on loopback.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { reply, withScript } from './lib/script-server.mjs';
import { ending } from './lib/trajectory.mjs';
import { root } from './lib/site.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { default: init, Agent, insight, replay, exportTrajectory, summarize } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const KEY = 'sk-test-0123456789abcdefghij';
const provider = (baseUrl, more) => ({ kind: 'openai', baseUrl, model: 'scripted', ...more });
const textSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
const echo = (execute, more) => ({ name: 'echo', description: 'Repeats', parameters: textSchema, execute, ...more });
const call = (args, name = 'echo', id = 'call_0') => ({ calls: [{ id, name, args }] });
const results = (request) => request.messages.filter((message) => message.role === 'tool').map((message) => message.content);

/** Runs `body` with an agent that talks to the script and is freed afterwards. `tools: []`: no built-in tools, unless requested. */
async function withAgent(steps, options, body) {
  return withScript(steps, async (baseUrl) => {
    const agent = new Agent({ provider: provider(baseUrl), tools: [], seed: 1, retry: { baseMs: 1, capMs: 2 }, ...options?.(baseUrl) });
    try {
      return await body(agent, baseUrl);
    } finally {
      agent.free();
    }
  });
}

test('a run of two tool turns resolves with its trajectory and tells of it in order', async () => {
  const events = [];
  const steps = [
    { ...call({ text: 'one' }), text: 'Let me see.', check: (request, headers) => {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      assert.equal(headers['x-extra'], 'yes');
      assert.deepEqual(request.messages.map((message) => message.role), ['system', 'user']);
      assert.deepEqual(request.tools.map((tool) => tool.function.name), ['echo']);
    } },
    { ...call({ text: 'two' }), check: (request) => assert.deepEqual(results(request), ['one!\n[Turn 1/15]']) },
    { text: 'It is done.', check: (request) => assert.deepEqual(results(request), ['one!\n[Turn 1/15]', 'two!\n[Turn 2/15]']) },
  ];
  const options = (baseUrl) => ({ provider: provider(baseUrl, { apiKey: KEY, headers: { 'x-extra': 'yes' } }) });
  const trajectory = await withAgent(steps, options, (agent) => {
    agent.registerTool(echo(({ text }) => `${text}!`));
    return agent.run('Echo twice', { onEvent: (event) => events.push(event) });
  });
  assert.deepEqual(ending(trajectory), { termination_reason: 'llm_complete', outcome: 'success', answer_source: 'model', total_turns: 3, max_turns: 15 });
  assert.equal(trajectory.output, 'It is done.');
  assert.match(trajectory.run_id, /^run_\d{8}_\d{6}_[0-9a-f]{6}$/);
  assert.equal(trajectory.turns[0].tool_calls[0].result, 'one!\n[Turn 1/15]');
  assert.ok(!JSON.stringify(trajectory).includes(KEY), 'the key is in the trajectory');
  assert.deepEqual(await replay(trajectory), { ok: true });

  const types = events.map((event) => event.type);
  assert.equal(types[0], 'run_started');
  assert.deepEqual(types.slice(-2), ['final', 'agent_finished']);
  assert.equal(events.filter((event) => event.type === 'text_delta').map((event) => event.text).join(''), 'Let me see.It is done.');
  for (const event of events) assert.ok(Number.isInteger(event.turn) && Number.isInteger(event.callsLeft), JSON.stringify(event));
  const left = events.map((event) => event.callsLeft);
  assert.ok(left.every((n, i) => i === 0 || n <= left[i - 1]), `the bound grew: ${left}`);
  const finished = events.find((event) => event.type === 'tool_finished');
  assert.equal(finished.call.name, 'echo');
});

test('what a tool gives, throws or forgets is answered, and the run goes on', async () => {
  const tools = { text: () => 'plain', value: async () => ({ n: [1, 2] }), nothing: () => undefined, throws: () => { throw new Error('broken'); }, rejects: async () => { throw new TypeError('later'); } };
  const calls = Object.keys(tools).map((name, i) => ({ id: `c${i}`, name, args: {} }));
  const steps = [{ calls }, { text: 'ok', check: (request) => {
    const seen = results(request);
    assert.deepEqual(seen.slice(0, 3), ['plain', '{"n":[1,2]}', 'null']);
    assert.match(seen[3], /broken/);
    assert.match(seen[4], /later[\s\S]*\[Turn 1\/15\]$/);
  } }];
  await withAgent(steps, undefined, (agent) => {
    for (const [name, execute] of Object.entries(tools)) agent.registerTool({ name, execute });
    return agent.run('go');
  });
});

test('arguments that fail the schema never reach the tool', async () => {
  const seen = [];
  const steps = [
    { calls: [{ id: 'a', name: 'echo', args: { text: 5 } }, { id: 'b', name: 'echo', args: { text: 'x', more: 1 } }, { id: 'c', name: 'echo', args: '{"text": "repaired' }] },
    { text: 'ok', check: (request) => { assert.match(results(request)[0], /text/); assert.match(results(request)[1], /more/); } },
  ];
  const trajectory = await withAgent(steps, undefined, (agent) => {
    agent.registerTool(echo(({ text }) => { seen.push(text); return text; }));
    return agent.run('go');
  });
  const [first, second, third] = trajectory.turns[0].tool_calls;
  assert.equal(first.slug, 'invalid_arguments');
  assert.equal(second.slug, 'invalid_arguments');
  assert.deepEqual(seen, third.slug ? [] : ['repaired']);
});

test('a pattern that backtracks without end is answered as that, and the next call is checked', async () => {
  const seen = [];
  const parameters = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
  const steps = [
    call({ text: `${'a'.repeat(60)}!` }),
    { ...call({ text: 'aaa' }), check: (request) => assert.match(results(request)[0], /^Error: not run: checking the arguments .*`echo`.* 10 s.*`pattern`/) },
    { ...call({ text: 'b' }), check: (request) => assert.match(results(request)[1], /^ran/) },
    { text: 'ok', check: (request) => assert.match(results(request)[2], /`\/text`: "b" does not match "\^\(a\+\)\+\$"/) },
  ];
  const trajectory = await withAgent(steps, undefined, (agent) => {
    agent.registerTool(echo(({ text }) => { seen.push(text); return 'ran'; }, { parameters }));
    return agent.run('go');
  });
  assert.deepEqual(seen, ['aaa']);
  assert.deepEqual(trajectory.turns.flatMap((turn) => turn.tool_calls.map(({ slug }) => slug ?? 'ok')), ['tool_exec_failed', 'ok', 'invalid_arguments']);
});

test('a tool that is late is told so by its signal', async () => {
  let aborted = false;
  const steps = [call({ text: 'slow' }), { text: 'ok' }];
  const trajectory = await withAgent(steps, () => ({ limits: { toolTimeoutMs: 50 } }), (agent) => {
    agent.registerTool(echo((args, { signal }) => new Promise(() => signal.addEventListener('abort', () => { aborted = true; }))));
    return agent.run('go');
  });
  assert.ok(aborted);
  assert.equal(trajectory.turns[0].tool_calls[0].slug, 'timeout');
});

test('a built-in tool runs in a worker thread over the agent\'s files', async () => {
  const steps = [
    { calls: [{ id: 'a', name: 'calculate', args: { expression: '6*7' } }, { id: 'b', name: 'read_file', args: { path: 'docs/a.md' } }] },
    { text: 'ok', check: (request) => { assert.match(results(request)[0], /42/); assert.match(results(request)[1], /The limit is fifteen/); } },
  ];
  await withAgent(steps, () => ({ tools: ['calculate', 'read_file'] }), async (agent) => {
    agent.files.put('docs/a.md', '# Limits\n\nThe limit is fifteen.\n');
    agent.files.put('docs/b.txt', new Blob(['b']));
    assert.deepEqual(agent.files.list(), ['docs/a.md', 'docs/b.txt']);
    assert.equal(await agent.files.get('docs/b.txt').text(), 'b');
    agent.files.remove('docs/b.txt');
    assert.equal(agent.files.get('docs/b.txt'), undefined);
    assert.throws(() => agent.files.put('../x', 'no'), TypeError);
    return agent.run('go');
  });
});

test('a tool with side effects runs only if the user says so', async () => {
  for (const [answer, expected] of [[() => true, 'done'], [() => false, 'refused'], [async () => true, 'done'], [async () => { throw new Error('no window'); }, 'no window']]) {
    const asked = [];
    const steps = [call({ text: 'x' }), { text: 'ok', check: (request) => assert.match(results(request)[0], new RegExp(expected)) }];
    await withAgent(steps, undefined, (agent) => {
      agent.registerTool(echo(() => 'done', { sideEffect: 'network' }));
      return agent.run('go', { approve: (request) => { asked.push(request); return answer(); } });
    });
    assert.deepEqual(asked.map(({ name, args, sideEffect }) => ({ name, args, sideEffect })), [{ name: 'echo', args: { text: 'x' }, sideEffect: 'network' }]);
  }
});

test('a tool that reaches the network or the page is refused where nobody can be asked, unless all are permitted', async () => {
  const cases = [['network', undefined, /^Error: not run: echo acts on the network.*nobody to ask and no standing permission/], ['page', undefined, /^Error: not run: echo acts on the page/],
    ['network', 'all', /^done/], ['page', 'all', /^done/], ['workspace', undefined, /^done/], ['none', undefined, /^done/], [undefined, undefined, /^done/]];
  for (const [sideEffect, approve, expected] of cases) {
    let ran = 0;
    const steps = [call({ text: 'x' }), { text: 'ok', check: (request) => assert.match(results(request)[0], expected) }];
    const trajectory = await withAgent(steps, undefined, (agent) => {
      agent.registerTool(echo(() => { ran += 1; return 'done'; }, { sideEffect }));
      return agent.run('go', { approve });
    });
    const refused = approve === undefined && ['network', 'page'].includes(sideEffect);
    assert.equal(ran, refused ? 0 : 1, `${sideEffect}, ${approve}`);
    assert.equal(trajectory.turns[0].tool_calls[0].slug ?? null, refused ? 'refused' : null);
  }
  await withAgent([], undefined, (agent) => assert.rejects(async () => agent.run('go', { approve: 'some' }), /options\.approve: got "some"; expected a function or 'all'/));
});

test('strict runs in Node: a final result is held against the report\'s schema, and a strict sub-agent reports', async () => {
  const schema = { type: 'object', required: ['answer'], properties: { answer: { type: 'string' } }, additionalProperties: false };
  const submit = (value) => `<<<FINAL_RESULT>>>${JSON.stringify(value)}<<<END_FINAL_RESULT>>>`;
  const values = [{ answer: 7 }, { answer: 'seven' }];
  const steps = [call({ text: 'x' }), { ...call({ text: 'y' }), check: (request) => assert.match(results(request)[0], /^Error: this is not taken as the final result: .*\/content\/answer/) }];
  const options = () => ({ preset: 'strict', report: { format: 'json', schema } });
  const trajectory = await withAgent(steps, options, (agent) => {
    agent.registerTool(echo(() => submit(values.shift()), { mayFinish: true }));
    return agent.run('go');
  });
  assert.equal(trajectory.termination_reason, 'final_result');
  assert.deepEqual(trajectory.final_result_data, { answer: 'seven' });
  assert.equal(trajectory.turns[0].tool_calls[0].slug, 'final_report_schema_fail');

  const spawn = { calls: [{ id: 's', name: 'spawn_subagents', args: { tasks: [{ task: 'part', agent: 'careful' }] } }] };
  const report = { calls: [{ id: 'r', name: 'final_report', args: { format: 'text', content: 'checked' } }] };
  const kinds = () => ({ tools: ['spawn_subagents'], agents: { careful: { preset: 'strict', counter: false } } });
  const parent = await withAgent([spawn, report, { text: 'All is checked.' }], kinds, (agent) => agent.run('go'));
  assert.equal(parent.children[0].termination_reason, 'final_report', 'its report was held against its own schema');
  assert.deepEqual([parent.children[0].preset, parent.children[0].config.counter], ['strict', null]);
});

test('errors of the server are retried, and each is logged with the raw answer', async () => {
  const warn = console.warn;
  console.warn = () => {};
  const steps = [
    { status: 429, headers: { 'retry-after-ms': '5' }, body: '{"error":{"message":"slow down"}}' },
    { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'], cut: true },
    { text: 'whole' },
  ];
  try {
    const trajectory = await withAgent(steps, undefined, (agent) => agent.run('go'));
    assert.equal(trajectory.output, 'whole');
    assert.deepEqual(trajectory.turns[0].attempts.map((attempt) => attempt.slugs[0] ?? null), ['rate_limited', 'stream_cut', null]);
    assert.match(trajectory.logs[0].raw.text, /slow down/);
  } finally {
    console.warn = warn;
  }
});

test('silence past a deadline ends the attempt', async () => {
  const warn = console.warn;
  console.warn = () => {};
  // The first step never ends: it is written, and the connection stays open.
  const steps = [{ chunks: [': waiting\n\n'], hold: true }, { text: 'ok' }];
  try {
    const trajectory = await withAgent(steps, () => ({ limits: { idleMs: 1000 } }), (agent) => agent.run('go'));
    assert.equal(trajectory.turns[0].attempts[0].slugs[0], 'timeout');
    assert.equal(trajectory.output, 'ok');
  } finally {
    console.warn = warn;
  }
});

test('stop wraps up with a synthesis, cancel and an aborted signal end at once', async () => {
  const steps = [{ ...call({ text: 'x' }) }, { text: 'In short: x.', check: (request) => assert.match(request.messages.at(-1).content, /finish now/) }];
  const stopped = await withAgent(steps, undefined, (agent) => {
    agent.registerTool(echo(() => { agent.stop(); return 'x'; }));
    return agent.run('go');
  });
  assert.equal(stopped.termination_reason, 'stop_synthesized');
  assert.equal(stopped.outcome, 'partial');

  for (const how of ['cancel', 'signal']) {
    const controller = new AbortController();
    const trajectory = await withAgent([call({ text: 'x' })], undefined, (agent) => {
      agent.registerTool(echo(() => new Promise(() => { if (how === 'cancel') agent.cancel(); else controller.abort(); })));
      return agent.run('go', { signal: controller.signal });
    });
    assert.equal(trajectory.termination_reason, 'cancelled');
    assert.equal(trajectory.turns[0].tool_calls[0].slug, 'cancelled');
  }
});

test('what was streamed before stop or cancel stays in the record, without secrets, and out of the conversation', async () => {
  const half = reply({ text: `Half a sentence with ${KEY} in it, and mo` }).slice(0, -3);
  for (const how of ['stop', 'cancel']) {
    const after = { text: 'In short.', check: (request) => assert.ok(!JSON.stringify(request.messages).includes('Half')) };
    const options = (baseUrl) => ({ provider: provider(baseUrl, { apiKey: KEY }) });
    let shown = '';
    const trajectory = await withAgent([{ chunks: half, hold: true }, ...(how === 'stop' ? [after] : [])], options, (agent) => {
      const onEvent = (event) => {
        if (event.type !== 'text_delta' || shown.endsWith('and mo')) return;
        shown += event.text;
        if (shown.endsWith('and mo')) agent[how](); // while the text is being reported
      };
      return agent.run('go', { onEvent });
    });
    const [attempt] = trajectory.turns[0].attempts;
    assert.deepEqual(attempt.partial, { content: 'Half a sentence with [redacted] in it, and mo' }, how);
    assert.equal(trajectory.turns[0].content, '');
    assert.deepEqual(await replay(trajectory), { ok: true });
  }
});

test('a run can be continued after the limit, and followed up', async () => {
  const steps = [
    call({ text: 'x' }), { text: 'So far: x.' },
    { text: 'More.', check: (request) => assert.match(request.messages.at(-1).content, /granted 3 more turns/) },
    { text: 'Again.', check: (request) => {
      assert.equal(request.messages.at(-1).content, 'and then?');
      assert.ok(request.messages.some((message) => message.content === 'More.'));
    } },
  ];
  await withAgent(steps, () => ({ maxTurns: 1 }), async (agent) => {
    agent.registerTool(echo(() => 'x'));
    const first = await agent.run('go');
    assert.equal(first.termination_reason, 'max_turns_synthesized');
    const events = [];
    const granted = await agent.grantTurns(3, { onEvent: (event) => events.push(event.type) });
    assert.equal(granted.output, 'More.');
    assert.equal(granted.segments.length, 2);
    assert.equal(events.at(-1), 'agent_finished');
    assert.deepEqual(await replay(granted), { ok: true });
    const next = await agent.run('and then?', { after: granted });
    assert.equal(next.session_id, first.session_id);
    assert.notEqual(next.run_id, first.run_id);
    await assert.rejects(agent.grantTurns(1), /no turns can be granted/);
  });
});

test('a follow-up that is cancelled while the earlier run is read ends at once', async () => {
  await withAgent([{ text: 'First.' }], undefined, async (agent) => {
    const first = await agent.run('go');
    const next = agent.run('and then?', { after: first });
    agent.cancel();
    const { outcome, session_id } = await next;
    assert.deepEqual([outcome, session_id], ['cancelled', first.session_id]);
  });
});

test('a long history reaches the server whole', async () => {
  const long = 'x'.repeat(15_000);
  const turns = 14;
  const steps = Array.from({ length: turns }, (_, i) => ({ ...call({ text: `${i}` }), check: (request) => assert.equal(results(request).length, i) }));
  steps.push({ text: 'done', check: (request) => {
    assert.equal(results(request).length, turns);
    results(request).forEach((result, i) => assert.ok(result.startsWith(`${i}${long}`), `result ${i}`));
  } });
  const trajectory = await withAgent(steps, undefined, (agent) => {
    agent.registerTool(echo(({ text }) => text + long));
    return agent.run('go');
  });
  assert.equal(trajectory.output, 'done');
});

test('a question that the engine cannot read ends its call, not the agent', () => withAgent([{ text: 'Fine.' }], undefined, async (agent) => {
  let nested = {};
  for (let depth = 0; depth < 300; depth += 1) nested = { nested };
  const calls = [{ id: 'a', name: 'f', arguments: '{}' }];
  for (const message of [{ role: 'tool', content: 'no call' }, { role: 'assistant', content: '', tool_calls: 7 }, { role: 'assistant', content: '', tool_calls: calls, opaque: nested }]) {
    await assert.rejects(agent.run('Go.', { history: [{ role: 'user', content: 'Hi.' }, message] }), (error) => error instanceof TypeError && /the engine cannot read what was passed/.test(error.message));
  }
  assert.equal((await agent.run('Go.')).output, 'Fine.');
}));

test('misuse is refused and names itself', async () => {
  const wrong = [
    [{ maxTurns: '15' }, 'options.maxTurns: got "15"; expected a whole number, 1 or more'],
    [{ maxTurns: 0 }, 'options.maxTurns: got 0'],
    [{ maxTruns: 3 }, 'options.maxTruns: unknown option; did you mean maxTurns? options takes preset, provider,'],
    [{ counter: { templates: { normal: 3 } } }, 'options.counter.templates.normal: got 3; expected a string'],
    [{ counter: true }, 'options.counter: got true; expected an object or false'],
    [{ synthesis: { role: 'tool' } }, "options.synthesis.role: got \"tool\"; expected 'user' or 'system'"],
    [{ report: {} }, "options.report: got an object; expected nothing: only the 'strict' preset"],
    [{ preset: 'strict', report: { format: 'pdf' } }, "options.report.format: got \"pdf\"; expected 'text' or 'markdown' or 'json' or 'slack'"],
    [{ preset: 'strict', report: { schema: {} } }, "options.report.schema: got an object; expected nothing: only a 'json' report"],
    [{ provider: { kind: 'demo', price: { input: 1 } } }, 'options.provider.price.output: missing'],
    [{ limits: { children: -1 } }, 'options.limits.children: got -1; expected a whole number, 0 or more'],
    [{ agents: [] }, 'options.agents: got an array; expected an object of agent kinds by name'],
    [{ agents: { reader: { maxTurns: 0 } } }, 'options.agents.reader.maxTurns: got 0; expected a whole number, 1 or more'],
    [{ agents: { reader: { tools: 'now' } } }, 'options.agents.reader.tools: got "now"; expected an array of tool names'],
    [{ provider: { kind: 'antropic' } }, 'options.provider.kind: got "antropic"; expected \'demo\' or \'openai\''],
    [{ provider: { kind: 'custom' } }, 'options.provider.complete: missing; expected a function'],
    [{ provider: { kind: 'openai', complete: () => '' } }, 'options.provider.complete: got a function; expected nothing'],
    [{ provider: { kind: 'anthropic', demo: 'endless' } }, 'options.provider.demo: got "endless"; expected nothing'],
    [{ provider: [] }, 'options.provider: got an empty array'],
    [{ provider: [{ kind: 'demo' }, { kind: 'openai', apiKey: 12345678 }] }, 'options.provider[1].apiKey: got a number; expected a string'],
    [{ provider: { kind: 'openai', headers: { 'no good': 'x' } } }, 'options.provider.headers.no good: expected a valid header name'],
    [{ provider: { kind: 'openai', baseUrl: '/v1' } }, 'options.provider.baseUrl: got "/v1"; expected an absolute URL such as'],
    ...['https://alice:geheim@host/v1', 'https://geheim@host/v1', 'https://alice:geheim@'].map((baseUrl) => (
      [{ provider: { kind: 'openai', baseUrl } }, 'options.provider.baseUrl: got an address with a user name or a password; expected it without']
    )),
    [{ tools: ['nope'] }, 'options.tools: got "nope"; expected an array of'],
    [5, 'options: got 5; expected an object'],
  ];
  for (const [options, message] of wrong) {
    const fits = (error) => error instanceof TypeError && error.message.includes(message) && !error.message.includes('geheim');
    assert.throws(() => new Agent(options), fits, JSON.stringify(options));
  }
  const agent = new Agent({ provider: { kind: 'demo' }, seed: 1 });
  assert.throws(() => agent.registerTool({ name: 'bad name', execute() {} }), /tool.name: got "bad name"/);
  assert.throws(() => agent.registerTool({ name: 'x' }), /tool.execute: missing/);
  assert.throws(() => agent.registerTool({ name: 'x', execute() {}, parameters: { type: 'string' } }), /tool.parameters/);
  await assert.rejects(agent.run(''), /task: got ""; expected a non-empty string/);
  await assert.rejects(agent.run('x', { onEvents: 1 }), /options.onEvents: unknown option/);
  await assert.rejects(agent.run('x', { signal: {} }), /options.signal: got an object; expected an AbortSignal/);
  await assert.rejects(agent.run('x', { after: {} }), TypeError);
  const running = agent.run('What is 2 + 2?');
  await assert.rejects(agent.run('x'), /has a run under way/);
  agent.cancel();
  const trajectory = await running;
  assert.equal(trajectory.outcome, 'cancelled');
  await assert.rejects(exportTrajectory(trajectory, 'xml'), { name: 'TypeError', message: /^format: got "xml"; expected 'native', 'html'/ });
  await assert.rejects(exportTrajectory({}, 'native'), { name: 'TypeError', message: /expected a trajectory of version 1/ });
  assert.deepEqual(JSON.parse(await exportTrajectory(trajectory, 'native')), trajectory);
  agent.free();
});

test('a changed trajectory does not replay, and the turn is named', async () => {
  const trajectory = await withAgent([call({ text: 'x' }), { text: 'ok' }], undefined, (agent) => {
    agent.registerTool(echo(() => 'x'));
    return agent.run('go');
  });
  trajectory.turns[0].tool_calls[0].result = 'y\n[Turn 1/15]';
  const { ok, turn, expected, actual } = await replay(trajectory);
  assert.deepEqual({ ok, turn, expected, actual }, { ok: false, turn: 1, expected: 'y\n[Turn 1/15]', actual: 'x\n[Turn 1/15]' });
  await assert.rejects(replay({ format: 'other' }), TypeError);
});

test('an agent freed during a run still keeps its promise', async () => {
  await withScript([call({ text: 'x' }), { text: 'ok' }], async (baseUrl) => {
    const agent = new Agent({ provider: provider(baseUrl), tools: [] });
    agent.registerTool(echo(async () => 'x'));
    const promise = agent.run('go');
    agent.free();
    assert.equal((await promise).output, 'ok');
  });
});

test('figures of runs: from an object and from its text, over several, and what is no summary is refused', async () => {
  const trajectory = await withAgent([{ status: 500 }, { ...call({ text: 'x' }) }, { text: 'done' }], undefined, (agent) => {
    agent.registerTool(echo(() => { throw new Error('broken'); }));
    return agent.run('first line\nsecond line');
  });
  const summary = await summarize(trajectory);
  assert.deepEqual(await summarize(JSON.stringify(trajectory)), summary);
  assert.equal(summary.title, 'first line');
  assert.deepEqual([summary.turns_used, summary.requests, summary.tool_calls], [2, 3, 1]);
  assert.deepEqual([summary.failed_attempts, summary.tool_failures], [{ provider_error: 1 }, { tool_exec_failed: 1 }]);
  const found = await insight([summary, { ...summary, model: 'other' }], { model: 'other' });
  assert.deepEqual([found.runs, found.of, found.success_share, found.step], [1, 2, 1, 'run']);
  await assert.rejects(summarize('{"a":1}'), { name: 'TypeError', message: /^trajectory: This JSON file is not a Turnwise trajectory/ });
  await assert.rejects(summarize(3), { name: 'TypeError', message: /^trajectory: got 3; expected a trajectory, or the text of one/ });
  await assert.rejects(insight(summary), { name: 'TypeError', message: /^summaries: got an object; expected an array of summaries/ });
  await assert.rejects(insight([{}]), { name: 'TypeError', message: /^insight: missing field/ });
  await assert.rejects(insight([], { modle: 'm' }), { name: 'TypeError', message: /^insight: unknown field `modle`/ });
});
