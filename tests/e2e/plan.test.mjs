// Plans in Node.js, through the JavaScript API alone: with the demo model, and against a server that answers by step.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { reply } from './lib/script-server.mjs';
import { assertValidSession } from './lib/session.mjs';
import { root, withPackage } from './lib/site.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { default: init, Agent, replay } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const KEY = 'sk-test-0123456789abcdefghij';
const agents = { Reader: { kind: 'gather', maxTurns: 6 }, Writer: { kind: 'synthesis', maxTurns: 4 } };
const step = (order, agent, action, dependencies = [], tools = []) => ({ order, agent, action, dependencies, tools });
const TREE = { agents, steps: [step(1, 'Reader', 'alpha'), step(2, 'Reader', 'beta'), step(3, 'Reader', 'gamma', [1]), step(4, 'Writer', 'delta', [3])] };
const statuses = (session) => session.steps.map(({ order, status, blocked_by: by }) => `${order} ${status}${by.length ? ` by ${by}` : ''}`).join(', ');
const orders = (artifacts) => artifacts?.map((artifact) => artifact.step_order);

/** The context in a step's first message. */
function contextOf({ run }) {
  const at = run.input.indexOf('\n\n');
  return at < 0 ? {} : JSON.parse(run.input.slice(at + 2));
}

/** Checks what must hold for the events of any plan. */
function checkEvents(events) {
  assert.equal(events[0].type, 'plan_started');
  assert.equal(events.at(-1).type, 'plan_finished');
  const open = new Map();
  let left = Infinity;
  for (const event of events) {
    assert.ok(Number.isInteger(event.callsLeft) && event.callsLeft <= left, `the bound grew from ${left}: ${JSON.stringify(event)}`);
    left = event.callsLeft;
    if (event.type === 'step_started') {
      assert.ok(!open.has(event.step));
      open.set(event.step, 'started');
    } else if (event.type === 'step_finished') {
      if (['completed', 'failed'].includes(event.status)) assert.equal(open.get(event.step), 'terminal', `step ${event.step}`);
      open.set(event.step, 'finished');
    } else if (Number.isInteger(event.turn)) {
      assert.equal(open.get(event.step), 'started', `${event.type} of step ${event.step}`);
      if (event.type === 'agent_finished' || event.type === 'agent_failed') open.set(event.step, 'terminal');
    } else if (event.type !== 'plan_trace') {
      assert.equal(event.step, null, event.type);
    }
  }
  assert.equal(left, 0);
}

/** Runs `body` with a server that answers each request by `answer(action, request, nth request of that action)`: steps run in any order. */
async function withServer(answer, body) {
  const asked = new Map();
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const parsed = JSON.parse(Buffer.concat(bytes).toString());
    const action = parsed.messages.find((message) => message.role === 'user').content.split('\n')[0];
    const nth = (asked.get(action) ?? 0) + 1;
    asked.set(action, nth);
    const given = await answer(action, parsed, nth);
    if (given.status) return response.writeHead(given.status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of reply(given)) response.write(chunk);
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent({
    provider: { kind: 'openai', baseUrl: `http://127.0.0.1:${server.address().port}/v1`, model: 'scripted', apiKey: KEY },
    tools: ['read_result'], seed: 1, retry: { baseMs: 1, capMs: 2 },
  });
  try {
    return await body(agent, asked);
  } finally {
    agent.free();
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

test('the demo model works through a plan of several steps, the last of which sees them all', async () => {
  const agent = new Agent({ provider: { kind: 'demo' }, seed: 3 });
  agent.files.put('docs/counter.md', '# Counter\n\nThe counter has three levels.\n');
  agent.files.put('docs/limits.md', '# Limits\n\nThe limit of turns is fifteen.\n');
  const events = [];
  const told = [];
  let hear = () => {};
  // The console output of the engine's thread arrives here.
  const { write } = process.stdout;
  process.stdout.write = (text, ...more) => {
    const lines = String(text).split('\n').filter((line) => line.startsWith('turnwise: plan'));
    told.push(...lines);
    if (lines.length) hear();
    return lines.length ? true : write.call(process.stdout, text, ...more);
  };
  const session = await agent.runPlan({
    agents: { Reader: { kind: 'gather', maxTurns: 8 }, Reporter: { kind: 'synthesis', maxTurns: 8 } },
    steps: [
      step(1, 'Reader', 'How many levels has the counter?'),
      step(2, 'Reader', 'What is the limit of turns?', [], ['search_files', 'read_file']),
      step(3, 'Reader', 'What is 6 * 7?', [], ['calculate']),
      step(4, 'Reporter', 'Sum up what the steps found out', [2, 3]),
    ],
  }, { onEvent: (event) => events.push(event) });
  while (told.length < session.traces.length) await new Promise((resolve) => { hear = resolve; });
  process.stdout.write = write;
  agent.free();
  assertValidSession(session);
  checkEvents(events);
  assert.equal(statuses(session), '1 completed, 2 completed, 3 completed, 4 completed');
  assert.deepEqual(orders(session.steps[3].context.session_context), [1, 2, 3]);
  for (const one of session.steps) {
    assert.deepEqual(contextOf(one), one.context);
    assert.deepEqual(await replay(one.run), { ok: true });
    assert.equal(one.run.session_id, session.session_id);
  }
  assert.deepEqual(session.steps[2].run.tools.map((tool) => tool.name), ['calculate']);
  assert.match(session.steps[2].run.output, /42/);
  const traces = session.traces.filter((trace) => trace.step === 4);
  assert.deepEqual(traces.map((trace) => trace.name), ['synthesis_check', 'previous_steps_found', 'context_step_added', 'context_step_added', 'context_step_added', 'context_total']);
  assert.ok(session.traces.every((trace) => trace.plan_id === session.plan_id), 'each trace names its plan');
  assert.deepEqual(told, session.traces.map(({ plan_id: id, step, name, data }) => `turnwise: plan ${id}, step ${step}: ${name} ${JSON.stringify(data)}`));
  assert.deepEqual(session.ending.outcome, 'success');
  assert.equal(session.ending.output, session.steps[3].run.output);
  assert.equal(session.requests, session.steps.reduce((sum, one) => sum + one.run.requests, 0));
  // The three steps without dependencies started before anything else happened.
  assert.deepEqual(events.filter((event) => event.type === 'step_started').map((event) => event.step), [1, 2, 3, 4]);
  assert.ok(events.findIndex((event) => event.type === 'step_started' && event.step === 3) < events.findIndex((event) => event.type === 'step_finished'));
});

test('a failed step blocks what needs it, and is made good from there', async () => {
  let broken = true;
  await withServer((action) => (action === 'alpha' && broken ? { status: 401 } : { text: `${action} done` }), async (agent, asked) => {
    const first = await agent.runPlan(TREE);
    assertValidSession(first);
    assert.equal(statuses(first), '1 failed, 2 completed, 3 blocked by 1, 4 completed');
    assert.equal(first.ending.outcome, 'partial');
    assert.deepEqual(orders(first.steps[3].context.session_context), [2]);
    broken = false;
    asked.clear();
    const second = await agent.runPlan(first.plan, { after: JSON.parse(JSON.stringify(first)), from: 1 });
    assertValidSession(second);
    assert.equal(statuses(second), '1 completed, 2 completed, 3 completed, 4 completed');
    assert.deepEqual([...asked.keys()].sort(), ['alpha', 'delta', 'gamma'], 'step 2 was kept');
    assert.deepEqual(second.steps[2].context.dependency_artifacts, [{ step_order: 1, agent: 'Reader', action: 'alpha', tools: [], result: 'alpha done' }]);
    assert.deepEqual(orders(second.steps[3].context.session_context), [1, 2, 3]);
    assert.equal(second.session_id, first.session_id);
    assert.ok(!JSON.stringify(second).includes(KEY));
  });
});

test('an aborted signal and cancel end every step, and the agent is free again', async () => {
  for (const how of ['signal', 'cancel', 'aborted before']) {
    const controller = new AbortController();
    let begin;
    let begun = 0;
    const both = new Promise((resolve) => { begin = resolve; });
    await withServer(() => new Promise(() => { if ((begun += 1) === 2) begin(); }), async (agent) => {
      const events = [];
      if (how === 'aborted before') controller.abort();
      const promise = agent.runPlan(TREE, { signal: controller.signal, onEvent: (event) => events.push(event) });
      if (how !== 'aborted before') {
        await assert.rejects(agent.run('x'), /has a run under way/);
        await assert.rejects(agent.runPlan(TREE), /has a run under way/);
      }
      if (how !== 'aborted before') {
        await both;
        if (how === 'cancel') agent.cancel();
        else controller.abort();
      }
      const session = await promise;
      assertValidSession(session);
      assert.equal(statuses(session), '1 cancelled, 2 cancelled, 3 cancelled, 4 cancelled');
      assert.equal(session.ending.outcome, 'cancelled');
      assert.deepEqual(session.steps.map((one) => one.run?.termination_reason), ['cancelled', 'cancelled', undefined, undefined]);
      checkEvents(events);
    });
  }
  // The engine receives the cancel once the last step has begun; its model does not answer before that.
  let hasty = false;
  const last = TREE.steps.find(({ order }) => order === 4).action;
  await withServer(async (action) => {
    if (action === last && !hasty) await new Promise(() => {});
    return { text: `${action} done` };
  }, async (agent) => {
    const session = await agent.runPlan(TREE, { onEvent: (event) => { if (event.type === 'step_finished' && event.step === 3) agent.cancel(); } });
    hasty = true;
    assert.equal(statuses(session), '1 completed, 2 completed, 3 completed, 4 cancelled');
    const more = await agent.runPlan(session.plan, { after: session });
    assert.equal(statuses(more), '1 completed, 2 completed, 3 completed, 4 completed');
    assert.equal((await agent.run('after the plan')).output, 'after the plan done');
  });
});

test('stop lets the running steps conclude', async () => {
  await withServer(async (action, request, nth) => {
    if (nth > 1) return { text: `in short: ${action}` };
    return { calls: [{ id: 'call_0', name: 'wait', args: {} }] };
  }, async (agent) => {
    // Both steps that can run are in their tool when the plan is stopped; the tools end after that.
    let begun = 0;
    let go;
    const stopped = new Promise((resolve) => { go = resolve; });
    agent.registerTool({ name: 'wait', execute: async () => {
      begun += 1;
      if (begun === 2) {
        agent.stop();
        go();
      }
      await stopped;
      return 'waited';
    } });
    const session = await agent.runPlan(TREE);
    assertValidSession(session);
    assert.equal(statuses(session), '1 completed, 2 completed, 3 cancelled, 4 cancelled');
    assert.equal(session.steps[0].run.termination_reason, 'stop_synthesized');
    assert.equal(session.ending.wrap_up, 'stop');
  });
});

test('no more steps run at once than allowed', async () => {
  let open = 0;
  let most = 0;
  const STEPS = 7;
  let asked = 0;
  const waiting = [];
  await withServer(async (action) => {
    most = Math.max(most, ++open);
    asked += 1;
    // Two requests are answered together, the last one alone; a third would have had time to arrive.
    const together = new Promise((resolve) => { waiting.push(resolve); });
    if (open === 2 || asked === STEPS) waiting.splice(0).forEach((go) => go());
    await together;
    // Nothing tells that a third request will not come.
    await new Promise((resolve) => setTimeout(resolve, 30));
    open -= 1;
    return { text: action };
  }, async (agent) => {
    const steps = Array.from({ length: STEPS }, (_, i) => step(i + 1, 'Reader', `a${i}`));
    await agent.runPlan({ agents, steps }, { parallel: 2 });
    assert.equal(most, 2);
  });
});

test('results that were cut are kept apart for steps at the same time', async () => {
  const parts = new Map();
  let [asked, go] = [0];
  const both = new Promise((resolve) => { go = resolve; });
  await withServer(async (action, request, nth) => {
    // Both steps use the same call id, as servers do.
    if (nth === 1) return { calls: [{ id: 'call_0', name: 'long', args: { letter: action } }] };
    if (nth === 2) {
      // Neither reads its result before both are kept.
      if ((asked += 1) === 2) go();
      await both;
      return { calls: [{ id: 'call_1', name: 'read_result', args: { handle: 'call_0' } }] };
    }
    parts.set(action, request.messages.findLast((message) => message.role === 'tool').content);
    return { text: 'ok' };
  }, async (agent) => {
    agent.registerTool({ name: 'long', parameters: { type: 'object', properties: { letter: { type: 'string' } } }, execute: ({ letter }) => letter.repeat(30_000) });
    const session = await agent.runPlan({ agents, steps: [step(1, 'Reader', 'x'), step(2, 'Reader', 'y')] });
    assert.equal(statuses(session), '1 completed, 2 completed');
    for (const letter of ['x', 'y']) assert.ok(parts.get(letter).startsWith(letter.repeat(1_000)), `${letter} read ${parts.get(letter).slice(0, 100)}`);
    assert.deepEqual(agent.files.list(), []);
  });
});

test('a bad plan is refused with every fault before anything runs', async () => {
  await withServer(() => assert.fail('nothing may run'), async (agent) => {
    const bad = { agents, steps: [step(2, 'Nobody', '', [3, 2], ['drill']), { order: 2, agent: 'Reader', action: 'x', needs: [1] }] };
    await assert.rejects(agent.runPlan(bad), (error) => {
      assert.ok(error instanceof TypeError);
      for (const part of ['the plan has 8 faults:', 'plan.steps[0].action: got ""', 'there is no agent "Nobody"', 'no step has order 3', '3 is not smaller than 2', '2 is not smaller than 2', 'there is no tool "drill"', 'plan.steps[1].needs: unknown field', '2 is also the order of plan.steps[0]']) assert.ok(error.message.includes(part), `${part}\n${error.message}`);
      return true;
    });
    const good = { agents, steps: [step(1, 'Reader', 'x')] };
    for (const [plan, options, message] of [
      [undefined, undefined, /plan: got nothing; expected an object/],
      [{ agents, steps: [] }, undefined, /plan.steps: a plan needs at least one step/],
      [good, { parallel: 0 }, /options.parallel: got 0/],
      [good, { from: 1 }, /options.from: got 1; expected nothing without options.after/],
      [good, { after: {} }, /options.after: This JSON file is not the record of a plan/],
      [good, { signals: 1 }, /options.signals: unknown option/],
    ]) await assert.rejects(agent.runPlan(plan, options), (error) => error instanceof TypeError && message.test(error.message), `${message}`);
  });
});

test('a record that was changed is not built upon', async () => {
  await withServer((action) => ({ text: `${action} done` }), async (agent) => {
    const session = await agent.runPlan(TREE);
    session.steps[0].run.output = 'something else';
    await assert.rejects(agent.runPlan(TREE, { after: session, from: 3 }), /the run of step 1 does not replay/);
  });
});

test('an agent freed during a plan still keeps its promise', async () => {
  await withServer((action) => ({ text: action }), async (agent) => {
    const other = new Agent({ provider: { kind: 'demo' }, tools: [] });
    const promise = other.runPlan({ agents, steps: [step(1, 'Reader', 'What is 2 + 2?')] });
    other.free();
    assert.equal(statuses(await promise), '1 completed');
  });
});

test('in Chromium a plan runs with the demo model, and is cancelled by its signal', async () => {
  const { session, events, cancelled } = await withPackage({}, (page) => page.evaluate(async () => {
    const agent = new window.turnwise.Agent({ provider: { kind: 'demo' }, seed: 3 });
    agent.files.put('docs/counter.md', '# Counter\n\nThe counter has three levels.\n');
    const plan = {
      agents: { Reader: { kind: 'gather', maxTurns: 6 }, Reporter: { kind: 'synthesis', maxTurns: 6 } },
      steps: [
        { order: 1, agent: 'Reader', action: 'How many levels has the counter?' },
        { order: 2, agent: 'Reader', action: 'What is 6 * 7?', tools: ['calculate'] },
        { order: 3, agent: 'Reporter', action: 'Sum up what was found' },
      ],
    };
    const events = [];
    const session = await agent.runPlan(plan, { onEvent: (event) => events.push(JSON.parse(JSON.stringify(event))) });
    const controller = new AbortController();
    const cancelled = await agent.runPlan(plan, { signal: controller.signal, onEvent: (event) => { if (event.type === 'tool_started') controller.abort(); } });
    agent.free();
    return { session, events, cancelled };
  }));
  assertValidSession(session);
  checkEvents(events);
  assert.equal(statuses(session), '1 completed, 2 completed, 3 completed');
  assert.deepEqual(orders(session.steps[2].context.session_context), [1, 2]);
  assertValidSession(cancelled);
  assert.equal(cancelled.ending.outcome, 'cancelled');
  assert.match(statuses(cancelled), /^1 cancelled, 2 cancelled, 3 cancelled$/);
});
