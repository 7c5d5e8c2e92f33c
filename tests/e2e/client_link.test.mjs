// The client's end of the connection, against a scripted engine: the contents of each post, the answers, and what happens
// when the other side dies, speaks another version, or is asked for the impossible.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { dist } from './lib/site.mjs';

const { Agent, DocsSite, startBy, summarize } = await import(path.join(dist, 'turnwise/node.js'));

const soon = () => new Promise((resolve) => { setImmediate(resolve); });

/**
 * Runs `body({ posts, messages, say, fail })` with a scripted engine: `answer[name](body, tell, parts)` is called with each
 * message of that name. `body` gets all posts, and all their messages as [name, body]; the engine is gone afterwards.
 */
async function withEngine(answer, body) {
  const posts = [];
  const messages = [];
  const lines = [];
  startBy(({ hear, fail }) => {
    const say = (parts, ...told) => hear(parts.length ? [JSON.stringify(told), ...parts] : JSON.stringify(told));
    lines.push({ say, fail });
    return {
      post: (data) => {
        posts.push(data);
        const [text, ...parts] = typeof data === 'string' ? [data] : data;
        for (const message of JSON.parse(text)) {
          const [[name, told]] = Object.entries(message);
          messages.push([name, told]);
          if (name === 'hello') say([], { ready: { protocol: 1, engine: 'scripted' } });
          answer[name]?.(told, (...more) => say([], ...more), parts, say);
        }
      },
      end: () => {},
    };
  }, false);
  try {
    return await body({ posts, messages, say: (parts, ...told) => lines.at(-1).say(parts, ...told), fail: (error) => lines.at(-1).fail(error), lines });
  } finally {
    lines.at(-1)?.fail(new Error('the test is over'));
  }
}

const names = (messages) => messages.map(([name]) => name);
const found = (messages, name) => messages.filter(([other]) => other === name).map(([, body]) => body);

test('what is said in one task goes in one post, the agent\'s making first', () => withEngine({ run: ({ id }, tell) => tell({ done: { id, result: { outcome: 'success' } } }) }, async ({ posts, messages }) => {
  const agent = new Agent({ provider: { kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm', apiKey: 'k', headers: { a: 'b' } }, maxTurns: 3, counter: false, tools: ['now'], limits: { wallMs: 5 } });
  agent.registerTool({ name: 'echo', execute: () => '' });
  agent.files.put('a.md', 'A');
  agent.files.put('b.md', 'B');
  agent.files.remove('b.md');
  const after = { format: 'turnwise-trajectory' };
  const running = agent.run('go', { after, approve: () => true, onEvent: () => {} });
  assert.deepEqual(await running, { outcome: 'success' });
  assert.equal(posts.length, 1);
  assert.deepEqual(names(messages), ['hello', 'open', 'tool', 'files', 'run']);
  const [[, hello], [, { agent: number, options }], [, { tool }], [, { files }], [, run]] = messages;
  assert.deepEqual([hello.protocol, hello.page], [1, undefined]);
  assert.equal(hello.worker, undefined, 'the worker knows where its files are');
  assert.deepEqual(options, {
    config: { max_turns: 3, counter: null, limits: { wall_ms: 5 }, providers: [{ kind: 'openai', base_url: 'http://127.0.0.1:9/v1', model: 'm' }] },
    tools: ['now'], access: [{ apiKey: 'k', headers: [['a', 'b']], inPage: false }],
  });
  assert.deepEqual(tool, { name: 'echo', description: '', parameters: { type: 'object', properties: {} }, may_finish: false, side_effect: 'none' });
  assert.deepEqual(files, [{ path: 'a.md', there: true }]);
  assert.deepEqual(run, { id: run.id, agent: number, task: 'go', images: [], after: true, how: { listens: true, approve: 'ask' } });
  const [, blob, text] = posts[0];
  assert.deepEqual([await blob.text(), text], ['A', JSON.stringify(after)], 'parts in the order of their messages');
  // A second run sends only what is new; approval works as before unless it is set.
  agent.files.put('c.md', 'C');
  await agent.run('more', { approve: 'all' });
  assert.deepEqual(names(messages.slice(5)), ['files', 'run']);
  assert.deepEqual(messages.at(-1)[1].how, { listens: false, approve: 'all' });
  agent.free();
  await soon();
  assert.deepEqual(messages.at(-1), ['close', { agent: number }]);
}));

test('granted turns are permitted as the segment before, and asked again where a function is given', () => withEngine({
  run: ({ id }, tell) => tell({ done: { id, result: 1 } }), grant: ({ id }, tell) => tell({ done: { id, result: null } }),
}, async ({ messages }) => {
  const agent = new Agent();
  await agent.run('go', { approve: () => true });
  assert.equal(await agent.grantTurns(2), null, 'null is an answer');
  await agent.grantTurns(2, { approve: 'all' });
  assert.deepEqual(found(messages, 'grant').map(({ turns, how }) => [turns, how.approve]), [[2, 'same'], [2, 'all']]);
  agent.free();
}));

test('answers come inline or as bytes, and a refusal is a TypeError where what was passed in is wrong', () => withEngine({
  document: ({ id }, tell, [text], say) => {
    if (text === '"long"') say([new TextEncoder().encode('{"title":"ä"}')], { done: { id } });
    else tell({ refused: { id, message: 'trajectory: no', wrong: text === '"wrong"' } });
  },
}, async () => {
  assert.deepEqual(await summarize('"long"'), { title: 'ä' });
  await assert.rejects(summarize('"wrong"'), { name: 'TypeError', message: 'trajectory: no' });
  await assert.rejects(summarize('"later"'), { name: 'Error', message: 'trajectory: no' });
}));

test('half of a pair of surrogates never reaches the engine, a whole pair does', () => withEngine({ run: ({ id }, tell) => tell({ done: { id, result: 1 } }) }, async ({ posts }) => {
  const agent = new Agent();
  await agent.run('a\ud83d b\ude00 c\\ud83d d\\\ud83d e😀');
  const [{ run }] = JSON.parse(posts.at(-1)).slice(-1);
  assert.equal(run.task, 'a\ufffd b\ufffd c\\ud83d d\\\ufffd e😀');
  assert.ok(posts.at(-1).includes('😀'));
  agent.free();
}));

test('tools, permissions and models of the page\'s are asked for by number and answered once', () => {
  const script = [];
  return withEngine({ run: (run) => { script.push(run); } }, async ({ say, messages }) => {
    const aborted = [];
    const iterated = [];
    const models = {
      text: () => 'whole', nothing: () => undefined, thrown: () => { throw Object.assign(new Error('busy', { cause: new Error('cable') }), { status: 503, retryAfterMs: 7 }); },
      texts: async function* texts() { try { yield 'a'; yield 'b'; yield* []; } finally { iterated.push('done'); } },
      response: async () => new Response('data: x\n\n', { status: 418, headers: { 'content-type': 'text/event-stream', 'retry-after': '3', 'x-should-retry': 'true' } }),
      object: () => ({ choices: [] }),
    };
    const asked = [];
    const agent = new Agent({ provider: Object.values(models).map((complete) => ({ kind: 'custom', complete: (request, { signal }) => { asked.push([request, signal instanceof AbortSignal]); return complete(); } })), tools: [] });
    const tools = {
      text: () => 'plain', value: async () => ({ n: [1, 2] }), nothing: () => undefined, big: () => 5n, throws: () => { throw new Error('broken'); },
      rejects: async () => { throw new TypeError('later'); }, odd: () => { throw { code: 3 }; }, args: (args) => Object.keys(args).join(),
      long: () => 'ä'.repeat(5 * 1024 * 1024), slow: (args, { signal }) => new Promise(() => signal.addEventListener('abort', () => aborted.push(signal.reason.name))),
    };
    for (const [name, execute] of Object.entries(tools)) agent.registerTool({ name, execute });
    const permissions = [];
    const running = agent.run('go', { approve: (call) => { permissions.push(call); return call.name === 'yes' ? true : call.name === 'no' ? 1 : Promise.reject(new Error('no window')); } });
    await soon();
    const { id, agent: number } = script[0];
    const calls = Object.keys(tools).map((name, call) => ({ call: { call, agent: number, what: { tool: { name, args: JSON.parse('{"__proto__":1,"x":2}') } } } }));
    say([], ...calls);
    await soon();
    const answers = Object.fromEntries([...found(messages, 'returned'), ...found(messages, 'failed')].map(({ call, text, failure }) => [Object.keys(tools)[call], failure ? failure.message : text]));
    const { long, ...rest } = answers;
    assert.deepEqual(rest, { text: 'plain', value: '{"n":[1,2]}', nothing: 'null', big: '5', throws: 'broken', rejects: 'later', odd: '{"code":3}', args: '__proto__,x' });
    assert.ok(Buffer.byteLength(long) <= 4 * 1024 * 1024);
    // Characters past 4 Mi count as one byte each: they are never examined.
    assert.match(long.slice(-80), /^ä+\n\[the result was cut here: 41942\d\d of 9437184 bytes were kept\]$/);
    say([], { abort: { call: 9 } });
    assert.deepEqual(aborted, ['AbortError']);

    const approve = (call, name) => ({ call: { call, agent: number, what: { approve: { id: 'c', name, args: { a: 1 }, sideEffect: 'network', again: false } } } });
    say([], approve(20, 'yes'), approve(21, 'no'), approve(22, 'else'));
    await soon();
    assert.deepEqual(permissions[0], { id: 'c', name: 'yes', args: { a: 1 }, sideEffect: 'network', again: false });
    assert.deepEqual(found(messages, 'returned').slice(-2), [{ call: 20, text: '{"allow":true,"scope":"call"}' }, { call: 21, text: '{"allow":false,"scope":"call"}' }]);
    assert.deepEqual(found(messages, 'failed').at(-1), { call: 22, failure: { message: 'no window' } });

    const request = new TextEncoder().encode('{"stream":true}');
    const before = messages.length;
    say(Object.keys(models).map(() => request), ...Object.keys(models).map((_, provider) => ({ call: { call: 30 + provider, agent: number, what: { complete: { provider } } } })));
    while (messages.slice(before).filter(([name]) => name === 'returned' || name === 'failed').length < 6) await soon();
    assert.deepEqual(asked.map(([body, signal]) => [body.stream, signal]), Object.keys(models).map(() => [true, true]));
    const of = (call) => messages.slice(before).filter(([, told]) => told.call === 30 + call).map(([name, { call: _, ...told }]) => [name, told]);
    assert.deepEqual(names(of(0)), ['piece', 'returned']);
    assert.match(of(1)[0][1].failure.message, /^The page's `complete` returned nothing: it must return a string/);
    assert.equal(of(1)[0][1].failure.fatal, true);
    assert.deepEqual(of(2), [['failed', { failure: { message: 'busy: cable', status: 503, retryAfterMs: 7 } }]]);
    assert.deepEqual(names(of(3)), ['piece', 'piece', 'piece', 'returned'], 'the end of texts is said by a chunk');
    assert.deepEqual(iterated, ['done']);
    assert.deepEqual(of(4)[0], ['head', { head: { status: 418, contentType: 'text/event-stream', retryAfter: '3', shouldRetry: 'true' } }]);
    assert.deepEqual(names(of(4)), ['head', 'piece', 'returned']);
    assert.deepEqual(names(of(5)), ['piece', 'returned']);
    say([], { done: { id, result: 1 } });
    await running;
    agent.free();
  });
});

test('an abort gives an iterator back, and what it still yields is for nobody', () => {
  let run;
  return withEngine({ run: (told) => { run = told; } }, async ({ say, messages }) => {
    const returned = [];
    let go;
    const complete = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise((resolve) => { go = () => resolve({ done: false, value: 'late' }); }), return: async () => { returned.push(true); return { done: true }; } }) });
    const agent = new Agent({ provider: { kind: 'custom', complete }, tools: [] });
    const running = agent.run('go');
    await soon();
    say([new TextEncoder().encode('{}')], { call: { call: 1, agent: run.agent, what: { complete: { provider: 0 } } } });
    await soon();
    say([], { abort: { call: 1 } });
    go();
    await soon();
    assert.deepEqual(returned, [true]);
    assert.deepEqual(messages.filter(([, { call }]) => call === 1), []);
    say([], { done: { id: run.id, result: 1 } });
    await running;
    agent.free();
  });
});

test('files that tools wrote or removed are the page\'s too', () => {
  let run;
  return withEngine({ run: (told) => { run = told; } }, async ({ say, messages }) => {
    const agent = new Agent();
    agent.files.put('a.md', 'A');
    agent.files.put('b.md', 'B');
    const running = agent.run('go');
    await soon();
    say([new Blob(['new']), new Blob(['C'])], { wrote: { agent: run.agent, files: [{ path: 'a.md', there: true }, { path: 'b.md', there: false }, { path: 'c.md', there: true }] } });
    assert.deepEqual(agent.files.list(), ['a.md', 'c.md']);
    assert.equal(await agent.files.get('a.md').text(), 'new');
    assert.deepEqual(found(messages, 'files').length, 1, 'the engine is not told of what it told');
    say([], { done: { id: run.id, result: 1 } });
    await running;
    agent.free();
  });
});

test('the agent is free while it hears of its end; a listener that throws harms nothing', () => withEngine({
  run: ({ id }, tell) => tell({ events: { id, events: [
    { type: 'turn_started', turn: 1, callsLeft: 3 }, { type: 'child', child: 1, turn: 1, callsLeft: 3, event: { type: 'agent_finished', turn: 1, callsLeft: 3 } }, { type: 'agent_finished', turn: 1, callsLeft: 0 },
  ] } }, { done: { id, result: id } }),
}, async () => {
  const agent = new Agent();
  const seen = [];
  const refused = [];
  let second;
  const { error } = console;
  const logged = [];
  console.error = (...words) => logged.push(words);
  try {
    const first = await agent.run('go', { onEvent: ({ type }) => {
      seen.push(type);
      if (type === 'agent_finished') second ??= agent.run('more');
      else refused.push(agent.run('no').catch(({ message }) => message));
      throw new Error('mine');
    } });
    assert.notEqual(await second, first);
    assert.deepEqual(seen, ['turn_started', 'child', 'agent_finished']);
    assert.deepEqual(await Promise.all(refused), Array(2).fill('this agent has a run under way: wait for it, cancel it, or make another agent'));
    assert.deepEqual(logged.map(([words, thrown]) => [words, thrown.message]), Array(3).fill(['turnwise: onEvent threw', 'mine']));
  } finally {
    console.error = error;
  }
  agent.free();
}));

test('stop, cancel and an aborted signal are said of a run only', () => {
  let run;
  return withEngine({ run: (told) => { run = told; } }, async ({ say, messages }) => {
    const agent = new Agent();
    agent.stop();
    agent.cancel();
    const controller = new AbortController();
    const running = agent.run('go', { signal: controller.signal });
    agent.stop();
    await soon();
    assert.deepEqual(names(messages.slice(-2)), ['run', 'stop']);
    controller.abort();
    await soon();
    assert.equal(messages.at(-1)[0], 'cancel');
    say([], { done: { id: run.id, result: 1 } });
    await running;
    const before = messages.length;
    agent.cancel();
    const next = agent.run('go', { signal: AbortSignal.abort() });
    await soon();
    assert.deepEqual(names(messages.slice(before)), ['run', 'cancel']);
    say([], { done: { id: run.id, result: 1 } });
    await next;
    agent.free();
    assert.deepEqual(found(messages, 'stop').length, 1);
  });
});

test('when the engine dies, all that waits for it hears why, and the next use starts another one', () => withEngine({
  run: ({ id, task }, tell) => (task === 'go on' ? tell({ done: { id, result: 'on' } }) : tell({ events: { id, events: [{ type: 'turn_started', turn: 2, callsLeft: 5 }] } })),
  docs_open: ({ id, site }, tell) => tell({ done: { id, result: { info: { title: 'T', complete: false }, tools: [{ name: 'search_docs', description: 'd', parameters: { type: 'object' } }] } } }, { site: { site, info: { title: 'T', complete: true } } }),
  docs_search: () => {},
}, async ({ fail, messages, lines }) => {
  const agent = new Agent();
  agent.registerTool({ name: 'echo', execute: () => '' });
  agent.files.put('a.md', 'A');
  const site = await DocsSite.open('http://127.0.0.1:9/');
  const events = [];
  const gone = { name: 'Error', message: 'the agent\'s worker is gone: out of memory' };
  const lost = [assert.rejects(agent.run('go', { onEvent: (event) => events.push(event) }), gone), assert.rejects(summarize('{}'), gone), assert.rejects(site.search('x'), gone)];
  await soon();
  fail(new Error('out of memory'));
  await Promise.all(lost);
  assert.deepEqual(events, [{ type: 'turn_started', turn: 2, callsLeft: 5 }, { type: 'worker_lost', turn: 2, callsLeft: 5, message: gone.message }]);
  await assert.rejects(site.search('x'), { message: 'the site was closed' });
  await assert.rejects(site.tools[0].execute({}), { message: 'the site was closed' });
  assert.equal(lines.length, 1);
  const before = messages.length;
  assert.equal(await agent.run('go on'), 'on');
  assert.equal(lines.length, 2);
  assert.deepEqual(names(messages.slice(before)), ['hello', 'open', 'tool', 'files', 'run'], 'the agent was made anew');
  agent.free();
  site.free();
}));

test('a documentation site: options, progress, what is known by now, its tools', () => withEngine({
  docs_open: ({ id, site }, tell) => tell({ site: { site, progress: { stage: 'loading', source: 's', done: 1, total: 2 } } },
    { done: { id, result: { info: { title: 'T', pages: 1, complete: false }, tools: [{ name: 'search_docs', description: 'd', parameters: { type: 'object' }, side_effect: 'none' }] } } },
    { site: { site, progress: { stage: 'ready', source: 's', done: 2, total: 2 }, info: { title: 'T', pages: 2, complete: true } } }),
  docs_search: ({ id, limit }, tell) => tell({ done: { id, result: [limit] } }),
  docs_call: ({ id, name, arguments: args }, tell) => tell({ done: { id, result: { text: `${name} ${JSON.stringify(args)}`, structuredContent: { hits: [] } } } }),
}, async ({ messages }) => {
  const progress = [];
  const site = await DocsSite.open(new URL('http://127.0.0.1:9/a'), { source: 'auto', credentials: 'include', html: '<p>', onProgress: ({ done }) => progress.push(done) });
  const [{ id, site: number, ...opened }] = found(messages, 'docs_open');
  assert.deepEqual(opened, { page: 'http://127.0.0.1:9/a', html: '<p>', cache: true, credentials: true });
  assert.deepEqual(progress, [1, 2]);
  assert.deepEqual(site.info, { title: 'T', pages: 2, complete: true });
  assert.deepEqual([await site.search('x'), await site.search('x', { limit: 3 })], [[8], [3]]);
  const [{ execute, ...tool }] = site.tools;
  assert.deepEqual(tool, { name: 'search_docs', description: 'd', parameters: { type: 'object' }, sideEffect: 'none' });
  assert.deepEqual(await execute({ query: 'x' }), { text: 'search_docs {"query":"x"}', [Symbol.for('turnwise.toolContent')]: { structuredContent: { hits: [] } } });
  await assert.rejects(site.search('x', { limit: 0 }), TypeError);
  site.free();
  await soon();
  assert.deepEqual(messages.at(-1), ['docs_close', { site: number }]);
  await assert.rejects(site.search('x'), { message: 'the site was closed' });
}));

test('an engine of another version, and one that cannot start, are refused by name', async () => {
  startBy(({ hear }) => ({ post: () => hear(JSON.stringify([{ ready: { protocol: 2, engine: 'x' } }])), end: () => {} }), false);
  await assert.rejects(summarize('{}'), { message: 'the agent\'s worker is gone: it speaks version 2 of the protocol and the page version 1: their files come from two versions of the package' });
  startBy(({ hear }) => ({ post: () => hear(JSON.stringify([{ fatal: { message: 'its module did not start: no memory' } }])), end: () => {} }), false);
  await assert.rejects(summarize('{}'), { message: 'the agent\'s worker is gone: its module did not start: no memory' });
  for (const start of [() => { throw new Error('no workers'); }, async () => { throw new Error('no workers'); }]) {
    startBy(start, false);
    await assert.rejects(summarize('{}'), { message: 'the agent\'s worker is gone: no workers' });
  }
});
