// The package in a page and in Node.js: the engine in its worker, runs over real HTTP, events as they reach the page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { withScript } from './lib/script-server.mjs';
import { dist, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const node = await import(path.join(dist, 'turnwise/node.js'));

/** Runs `body(turnwise, baseUrl)` in the page; it has no other scope, and returns JSON. `inNode` does the same in Node.js. */
const inPage = (steps, body, { expect = [] } = {}) => withScript(steps, (baseUrl) => withPackage({ expect, reach: [baseUrl] }, (page) =>
  page.evaluate(([source, at]) => eval(source)(window.turnwise, at), [`(${body})`, baseUrl])));
const inNode = (steps, body) => withScript(steps, async (baseUrl) => JSON.parse(JSON.stringify(await eval(`(${body})`)(node, baseUrl)) ?? 'null'));
const both = async (steps, body, options) => [await inPage(steps, body, options), await inNode(steps, body)];

const ECHO = `{ name: 'echo', description: '', execute: ({ text }) => text + '!',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }`;
const AGENT = `(more) => { const agent = new turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'm' }, tools: [], seed: 3, retry: { baseMs: 1, capMs: 2 }, ...more }); agent.registerTool(${ECHO}); return agent; }`;
const call = (args) => ({ calls: [{ id: 'c', name: 'echo', args }] });

test('a run resolves with a plain trajectory that replays', async () => {
  const steps = [
    { ...call({ text: 'hi' }), check: (request, { authorization }) => assert.equal(authorization, undefined, 'no key was set') },
    { text: 'Done.', check: ({ messages }) => assert.equal(messages[3].content, 'hi!\n[Turn 1/15]') },
  ];
  for (const { trajectory, exported, replayed } of await both(steps, `async (turnwise, baseUrl) => {
    const agent = (${AGENT})();
    const trajectory = await agent.run('go');
    return { trajectory, exported: await turnwise.exportTrajectory(trajectory, 'native'), replayed: await turnwise.replay(trajectory) };
  }`)) {
    assertValid(trajectory);
    assert.deepEqual([trajectory.output, trajectory.termination_reason, trajectory.config.seed], ['Done.', 'llm_complete', 3]);
    assert.equal(trajectory.turns[0].tool_calls[0].result, 'hi!\n[Turn 1/15]');
    assert.match(trajectory.run_id, /^run_2\d{7}_\d{6}_[0-9a-f]{6}$/);
    assert.deepEqual(JSON.parse(exported), trajectory);
    assert.deepEqual(replayed, { ok: true });
  }
});

test('events come in order and each says turn and calls left', async () => {
  for (const seen of await both([call({ text: 'hi' }), { text: 'Done.' }], `async (turnwise, baseUrl) => {
    const seen = [];
    await (${AGENT})().run('go', { onEvent: (event) => seen.push(event) });
    return seen;
  }`)) {
    const types = seen.map(({ type }) => type);
    assert.equal(types[0], 'run_started');
    assert.deepEqual(types.slice(-2), ['final', 'agent_finished']);
    const order = ['turn_started', 'attempt_started', 'tool_started', 'tool_finished', 'text_delta'].map((type) => types.indexOf(type));
    assert.deepEqual(order, order.toSorted((a, b) => a - b), types.join());
    assert.ok(!order.includes(-1));
    for (const event of seen) assert.ok(Number.isInteger(event.turn) && Number.isInteger(event.callsLeft), JSON.stringify(event));
    assert.deepEqual([seen[0].task, seen[0].maxTurns], ['go', 15]);
    assert.equal(seen[types.indexOf('tool_finished')].call.args.text, 'hi');
    assert.equal(seen.at(-2).finalResultData, null, 'what is missing is null');
  }
});

// Values cross as plain objects and arrays, whatever keys they have.
test('an event is plain data whatever the model wrote into its arguments', async () => {
  const args = '{"text":"hi","__proto__":{"text":"no"},"deep":{"list":[1,null,{"a":true}]},"large":1152921504606846977}';
  for (const [same, given, foreign] of await both([call(args), { text: 'Done.' }], `async (turnwise, baseUrl) => {
    const seen = [];
    const given = [];
    const agent = (${AGENT})();
    agent.registerTool({ ...${ECHO}, execute: (args) => { given.push(JSON.stringify(args)); return ''; } });
    await agent.run('go', { onEvent: (event) => seen.push(event) });
    const foreign = seen.filter((event) => Object.getPrototypeOf(event) !== Object.prototype || JSON.stringify(JSON.parse(JSON.stringify(event))) !== JSON.stringify(event));
    return [JSON.stringify(seen.find(({ type }) => type === 'tool_started').args), given[0], foreign.length];
  }`)) {
    const sorted = '{"__proto__":{"text":"no"},"deep":{"list":[1,null,{"a":true}]},"large":1152921504606847000,"text":"hi"}';
    assert.equal(same, sorted);
    assert.deepEqual(JSON.stringify(JSON.parse(given), Object.keys(JSON.parse(sorted)).sort()), JSON.stringify(JSON.parse(sorted), Object.keys(JSON.parse(sorted)).sort()));
    assert.equal(foreign, 0);
  }
});

test('a listener that throws does not stop the run', async () => {
  const outcome = await inPage([{ text: 'Done.' }], `async (turnwise, baseUrl) =>
    (await (${AGENT})().run('go', { onEvent: ({ type }) => { if (type === 'turn_started') throw new Error('mine'); } })).outcome`, { expect: [/^error: turnwise: onEvent threw Error: mine/] });
  assert.equal(outcome, 'success');
});

test('the next run may start inside the last event', async () => {
  for (const outputs of await both([{ text: 'One.' }, { text: 'Two.' }], `async (turnwise, baseUrl) => {
    const agent = (${AGENT})();
    let second;
    const first = await agent.run('go', { onEvent: ({ type }) => { if (type === 'agent_finished') second = agent.run('more'); } });
    return [first.output, (await second).output];
  }`)) assert.deepEqual(outputs, ['One.', 'Two.']);
});

const BEGUN = 'data: {"choices":[{"index":0,"delta":{"content":"Well"}}]}\n\n';

test('a second run at once is refused; cancel resolves the first and lets its request go', { timeout: 120_000 }, async () => {
  for (const where of ['page', 'node']) {
    let close;
    const closed = new Promise((resolve) => { close = resolve; });
    const body = `async (turnwise, baseUrl) => {
      const agent = (${AGENT})();
      let heard;
      const answering = new Promise((resolve) => { heard = resolve; });
      const first = agent.run('go', { onEvent: ({ type }) => { if (type === 'text_delta') heard(); } });
      const refused = await agent.run('go').catch(({ message }) => message);
      // The answer has begun, so the server has the request.
      await answering;
      agent.cancel();
      return [refused, (await first).outcome];
    }`;
    const server = http.createServer((request, response) => {
      const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
      if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
      response.writeHead(200, { ...cors, 'content-type': 'text/event-stream' }).write(BEGUN);
      response.on('close', close);
      return undefined;
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
    try {
      const examine = async ([refused, outcome]) => {
        assert.match(refused, /has a run under way/);
        assert.equal(outcome, 'cancelled');
        // Within the time that the test has.
        await closed;
      };
      // The page stays open while the test looks for its request: closing it would end the request too.
      if (where === 'node') await examine(await eval(`(${body})`)(node, baseUrl));
      else await withPackage({ reach: [baseUrl] }, async (page) => examine(await page.evaluate(([source, at]) => eval(source)(window.turnwise, at), [`(${body})`, baseUrl])));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
});

test('an aborted signal cancels, and nothing is asked', async () => {
  for (const reason of await both([], `async (turnwise, baseUrl) => (await (${AGENT})().run('go', { signal: AbortSignal.abort() })).termination_reason`)) assert.equal(reason, 'cancelled');
});

test('a relative address is the page\'s, for the model and for what is wrong with it', async () => {
  const asked = [];
  const [output, wrong] = await withPackage({}, async (page) => {
    await page.context().route('**/own/v1/**', (route) => {
      asked.push(new URL(route.request().url()).pathname);
      return route.fulfill({ contentType: 'text/event-stream', body: 'data: {"choices":[{"delta":{"content":"Own."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n' });
    });
    return page.evaluate(async () => {
      const made = (baseUrl) => new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'm' }, tools: [] });
      const { output } = await made('../own/v1').run('go');
      try {
        made('http://');
      } catch (error) {
        return [output, `${error.name}: ${error.message}`];
      }
      return [output];
    });
  });
  assert.equal(output, 'Own.');
  assert.deepEqual(asked, ['/own/v1/chat/completions'], 'resolved against the page, which is in a folder');
  assert.equal(wrong, 'TypeError: options.provider.baseUrl: got "http://"; expected a URL such as \'https://api.example.com/v1\' or \'/v1\'');
});

test('a failed fetch names what to try, with one knock at the other server and none at the page\'s own', async () => {
  const knocks = [];
  // It answers without CORS headers.
  const server = http.createServer((request, response) => {
    knocks.push(`${request.method} ${request.url} ${request.headers.cookie} ${request.headers.authorization}`);
    response.end();
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const own = [];
  try {
    const [ours, other] = await withPackage({ reach: [baseUrl], expect: [/network_error/, /CORS|Failed to load resource/, /^error: turnwise: /] }, async (page) => {
      await page.context().route('**/own/v1/**', (route) => { own.push(route.request().method()); return route.abort('connectionrefused'); });
      return page.evaluate(async (at) => {
        const told = async (baseUrl) => {
          const { logs, termination_reason: reason } = await new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'm', apiKey: 'k' }, tools: [], maxAttempts: 1 }).run('go');
          return [reason, logs[0].slugs[0], logs[0].message];
        };
        return [await told('/own/v1'), await told(at)];
      }, baseUrl);
    });
    assert.deepEqual([ours.slice(0, 2), other.slice(0, 2)], [['llm_error', 'network_error'], ['llm_error', 'network_error']]);
    assert.match(ours[2], /the server of this page, did not answer/);
    assert.match(other[2], /\(CORS\)/);
    assert.deepEqual(own, ['POST']);
    assert.deepEqual(knocks, ['POST /v1/chat/completions undefined Bearer k', 'GET /v1 undefined undefined'], 'the request, and one knock without anything in it');
  } finally {
    server.close();
  }
});

test('a worker that dies is said to those who wait, and the next run has another one', async () => {
  // Records the page's own workers, so that the test can end one.
  const outcome = await withScript([{ chunks: [BEGUN], hold: true }, { text: 'Again.' }], (baseUrl) => withPackage({ reach: [baseUrl] }, async (page) => {
    await page.addInitScript(() => {
      window.workers = [];
      window.Worker = class extends Worker {
        constructor(...given) {
          super(...given);
          window.workers.push(this);
        }
      };
    });
    await page.reload();
    await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
    return page.evaluate(async (at) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl: at, model: 'm' }, tools: ['calculate'] });
      agent.files.put('a.md', 'A');
      const events = [];
      const lost = await agent.run('go', { onEvent: (event) => {
        events.push(event);
        // The response has begun, so the server has the request.
        if (event.type !== 'text_delta') return;
        const worker = window.workers.at(-1);
        worker.terminate();
        worker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory', cancelable: true }));
      } }).catch((error) => `${error.name}: ${error.message}`);
      const { output } = await agent.run('go');
      return { lost, last: events.at(-1), output, files: agent.files.list(), workers: window.workers.length };
    }, baseUrl);
  }));
  const message = 'the agent\'s worker is gone: out of memory';
  assert.deepEqual(outcome, { lost: `Error: ${message}`, last: { type: 'worker_lost', turn: 1, callsLeft: outcome.last.callsLeft, message }, output: 'Again.', files: ['a.md'], workers: 2 });
});

test('what a tool writes is in the agent\'s files, and what is kept of a cut answer is not', async () => {
  const steps = [
    { calls: [{ id: 'a', name: 'write_file', args: { path: 'out/b.md', content: 'written' } }, { id: 'b', name: 'long', args: {} }] },
    { text: 'Done.', check: ({ messages }) => assert.match(messages.at(-1).content, /read_result/) },
  ];
  for (const [list, text] of await both(steps, `async (turnwise, baseUrl) => {
    const agent = (${AGENT})({ tools: ['write_file', 'read_result'] });
    agent.registerTool({ name: 'long', execute: () => 'x'.repeat(30000) });
    agent.files.put('a.md', 'A');
    await agent.run('go', { approve: () => true });
    return [agent.files.list(), await agent.files.get('out/b.md').text()];
  }`)) assert.deepEqual([list, text], [['a.md', 'out/b.md'], 'written']);
});

test('the engine\'s worker rests when nobody has needed it for a while, and a page that only loads the package has none', { timeout: 120_000 }, async () => {
  await withPackage({}, async (page) => {
    await page.evaluate(() => window.turnwise.renderMarkdown(''));
    // From here on, the page's timers are the test's: the worker rests after twenty seconds.
    await page.clock.install();
    await page.evaluate(() => window.turnwise.replay({}).catch(() => {}));
    await page.clock.fastForward(15_000);
    const workers = page.workers();
    assert.equal(workers.length > 0, true);
    const gone = Promise.all(workers.map((worker) => worker.waitForEvent('close')));
    await page.clock.fastForward(10_000);
    await gone;
    assert.equal(page.workers().length, 0, 'no worker is left');
    assert.match(await page.evaluate(() => window.turnwise.summarize({}).catch(({ message }) => message)), /^trajectory: /, 'and another one is started');
  });
});

test('the module of pages finds its way in Node.js too, and a process ends when nothing is asked', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnwise-'));
  const file = path.join(folder, 'program.mjs');
  const source = `
    import init, { Agent } from ${JSON.stringify(pathToFileURL(path.join(dist, 'turnwise/turnwise.js')).href)};
    await init();
    const agent = new Agent({ provider: { kind: 'custom', complete: () => 'Mine.' }, tools: [] });
    console.log((await agent.run('go')).output, Date.now());`;
  await writeFile(file, source);
  for (const program of [[file], ['--input-type=module', '-e', source]]) {
    const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 120_000 });
    const ended = Date.now();
    const [, said] = /^Mine\. (\d+)\n$/.exec(stdout) ?? assert.fail(stdout);
    // An idle engine thread ends after twenty seconds.
    assert.ok(ended - said < 15_000, 'the engine\'s thread kept it alive');
  }
  await rm(folder, { recursive: true });
});
