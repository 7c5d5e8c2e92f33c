// The package's command line, as a separate process, against servers on loopback.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LLMock } from '@copilotkit/aimock';
import { inFolder, lines, read, start, turnwise } from './lib/cli.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';
import { withPages } from './lib/web-pages.mjs';

const KEY = 'sk-test-0123456789abcdefghij';

/** Runs `body` with a server that answers with `text` once `hold` allows it; counts requests and the most open at once. */
async function withServer({ text = 'The answer is 42.', hold = () => undefined }, body) {
  const seen = { requests: [], keys: new Set(), open: 0, most: 0 };
  const server = http.createServer(async (request, response) => {
    const bytes = [];
    for await (const chunk of request) bytes.push(chunk);
    const asked = JSON.parse(Buffer.concat(bytes).toString());
    const task = asked.messages.find((message) => message.role === 'user').content;
    seen.requests.push(task);
    seen.keys.add(request.headers.authorization);
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
    let open = true;
    const over = () => { seen.open -= open ? 1 : 0; open = false; };
    response.on('close', over);
    await hold(task, seen, asked);
    if (response.destroyed) return;
    // Before the last byte is sent: the command may send its next request as soon as it has that byte.
    over();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(reply({ text: typeof text === 'string' ? text : text(task) }).join(''));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(['--provider', 'openai', '--model', 'scripted', '--base-url', `http://127.0.0.1:${server.address().port}/v1`], seen);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

test('tasks run with a key from the environment, expectations are judged, and the key is nowhere', () => inFolder(async (folder) => {
  const tasks = [
    { id: 'contains', task: 'one', expect: { contains: ['42', 'ANSWER'] } },
    { id: 'equals', task: 'two', expect: { equals: 'The answer is 42.' } },
    { id: 'matches', task: 'three', expect: { matches: '\\b\\d{2}\\b' } },
    { id: 'wrong', task: `four, and the key is ${KEY}`, expect: { contains: 'forty' } },
  ];
  writeFileSync(path.join(folder, 'tasks.jsonl'), `${lines(tasks)}\n`);
  await withServer({}, async (server, seen) => {
    const { code, out, err } = await turnwise(['run', 'tasks.jsonl', ...server, '--api-key-env', 'MY_KEY'], { cwd: folder, env: { MY_KEY: KEY } });
    assert.equal(code, 1, err);
    assert.deepEqual([...seen.keys], [`Bearer ${KEY}`]);
    assert.match(out, /3 of 4 cases passed/);
    assert.match(out, /wrong: expected that the answer contains "forty"/);
    assert.match(err, /\[4\/4\]/);
    const files = readdirSync(path.join(folder, 'runs')).sort();
    assert.deepEqual(files, ['contains.json', 'equals.json', 'matches.json', 'summary.json', 'wrong.json']);
    const bytes = files.map((name) => readFileSync(path.join(folder, 'runs', name), 'utf8')).join('') + out + err;
    assert.ok(!bytes.includes(KEY), 'the key is in what was written');
    files.filter((name) => name !== 'summary.json').forEach((name) => assertValid(read(folder, 'runs', name)));
    const summary = read(folder, 'runs/summary.json');
    assert.deepEqual([summary.tasks, summary.passed, summary.failed, summary.not_run, summary.insight.runs], [4, 3, 1, 0, 4]);
    assert.deepEqual(summary.runs.map(({ id, passed }) => [id, passed]), [['contains', true], ['equals', true], ['matches', true], ['wrong', false]]);
  });
}));

test('no more tasks are open at once than asked for, and as many are', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines(Array.from({ length: 9 }, (_, n) => ({ id: `t${n}`, task: `task ${n}` }))));
  const waiting = [];
  // Requests are answered once as many wait as may be open; the last ones are answered immediately.
  const hold = (task, seen) => new Promise((resolve) => {
    waiting.push(resolve);
    if (seen.open === 3 || seen.requests.length === 9) waiting.splice(0).forEach((go) => go());
  });
  await withServer({ hold }, async (server, seen) => {
    const { code, err } = await turnwise(['run', 't.jsonl', ...server, '--concurrency', '3', '--out', 'deep/er'], { cwd: folder });
    assert.equal(code, 0, err);
    assert.deepEqual([seen.most, seen.requests.length], [3, 9]);
    assert.equal(readdirSync(path.join(folder, 'deep/er')).length, 10);
  });
}));

test('a command that is killed goes on where it was, and reads no half of a file', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines(['a', 'b', 'c', 'd'].map((id) => ({ id, task: `task ${id}` }))));
  let both;
  const begun = new Promise((resolve) => { both = resolve; });
  const hold = (task, seen) => {
    if (['task c', 'task d'].every((late) => seen.requests.includes(late))) both();
    return seen.released || !['task c', 'task d'].includes(task) ? undefined : new Promise(() => {});
  };
  await withServer({ hold }, async (server, seen) => {
    const args = ['run', 't.jsonl', ...server, '--concurrency', '2'];
    const first = start(args, { cwd: folder });
    await Promise.all([first.until('[2/4]'), begun]);
    process.kill(first.child.pid, 'SIGKILL');
    assert.equal((await first.ended).signal, 'SIGKILL');
    assert.deepEqual(readdirSync(path.join(folder, 'runs')).filter((name) => name.endsWith('.json')).sort(), ['a.json', 'b.json']);
    // The leftover of a killed writer; no process has that id any more.
    writeFileSync(path.join(folder, `runs/c.json.${first.child.pid}-abcdef.part`), '{"format":"turnw');
    const before = readFileSync(path.join(folder, 'runs/a.json'), 'utf8');
    seen.released = true;
    seen.requests.length = 0;
    const second = await turnwise(args, { cwd: folder });
    assert.equal(second.code, 0, second.err);
    assert.deepEqual(seen.requests.sort(), ['task c', 'task d']);
    assert.match(second.err, /2 of 4 tasks have their trajectory in runs and are not run again/);
    assert.equal(readFileSync(path.join(folder, 'runs/a.json'), 'utf8'), before);
    assert.deepEqual(readdirSync(path.join(folder, 'runs')).sort(), ['a.json', 'b.json', 'c.json', 'd.json', 'summary.json']);
    assert.deepEqual(read(folder, 'runs/summary.json').runs.map(({ id, kept }) => [id, kept]), [['a', true], ['b', true], ['c', false], ['d', false]]);
  });
}));

test('failed tasks run again when asked to, and what is no run of a task is never overwritten', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'go' }]));
  const fatal = { status: 401, body: JSON.stringify({ error: { message: 'no such key' } }) };
  await withScript([fatal, { text: 'now it works' }], async (baseUrl) => {
    const args = ['run', 't.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'm'];
    const failed = await turnwise(args, { cwd: folder });
    assert.equal(failed.code, 1);
    assert.ok(!failed.err.includes('turnwise: turn'), `the engine's console is between the lines: ${failed.err}`);
    const again = await turnwise(args, { cwd: folder });
    assert.equal(again.code, 1, 'it failed, and was not asked again');
    assert.match(again.out, /a: the run ended with the outcome failed \(llm_error\)/);
    assert.equal((await turnwise([...args, '--retry-failed'], { cwd: folder })).code, 0);
    assert.equal(read(folder, 'runs/a.json').output, 'now it works');
    writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'another' }]));
    const other = await turnwise(args, { cwd: folder });
    assert.equal(other.code, 2);
    assert.match(other.err, /a\.json is the run of another task/);
    writeFileSync(path.join(folder, 'runs/a.json'), '{"half":');
    const half = await turnwise(args, { cwd: folder });
    assert.equal(half.code, 2);
    assert.match(half.err, /not a complete trajectory/);
    assert.equal(readFileSync(path.join(folder, 'runs/a.json'), 'utf8'), '{"half":');
  });
}));

test('an interrupt wraps up what is under way and writes it; a second one cancels', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'one' }, { id: 'b', task: 'two' }, { id: 'c', task: 'three' }]));
  // Only the request for a synthesis is answered.
  const concluding = (asked) => JSON.stringify(asked.messages.at(-1)).includes('asked to finish now');
  let reached;
  const asked = new Promise((resolve) => { reached = resolve; });
  const hold = (task, seen, request) => {
    if (concluding(request)) return undefined;
    if (seen.open === 2) reached();
    return new Promise(() => {});
  };
  await withServer({ hold, text: 'so far' }, async (server) => {
    const args = ['run', 't.jsonl', ...server, '--concurrency', '2'];
    const first = start(args, { cwd: folder });
    await Promise.race([asked, first.ended]); // a command that fails at once ends without asking
    process.kill(first.child.pid, 'SIGINT');
    const { code, out } = await first.ended;
    assert.equal(code, 1);
    assert.match(out, /2 of 3 cases passed, 1 run not run/);
    assert.equal(read(folder, 'runs/a.json').termination_reason, 'stop_synthesized');
    assert.ok(!existsSync(path.join(folder, 'runs/c.json')));
  });
  let third;
  const open = new Promise((resolve) => { third = resolve; });
  await withServer({ hold: () => { third(); return new Promise(() => {}); } }, async (server) => {
    const second = start(['run', 't.jsonl', ...server], { cwd: folder });
    await Promise.race([open, second.ended]);
    process.kill(second.child.pid, 'SIGINT');
    await second.until('Wrapping up');
    process.kill(second.child.pid, 'SIGINT');
    assert.equal((await second.ended).code, 1);
    assert.equal(read(folder, 'runs/c.json').outcome, 'cancelled');
  });
  // A cancelled task is still open.
  await withServer({}, async (server, seen) => {
    assert.equal((await turnwise(['run', 't.jsonl', ...server], { cwd: folder })).code, 0);
    assert.deepEqual(seen.requests, ['three']);
  });
}));

test('a configuration, a workspace and tools of one\'s own', () => inFolder(async (folder) => {
  mkdirSync(path.join(folder, 'files/notes'), { recursive: true });
  writeFileSync(path.join(folder, 'files/notes/a.md'), 'The meeting is on Tuesday.');
  writeFileSync(path.join(folder, 'files/.secret'), 'not this one');
  writeFileSync(path.join(folder, 'c.mjs'), `export default {
    maxTurns: 4, tools: ['list_files', 'read_file'],
    hostTools: [{ name: 'greet', description: 'Greets', sideEffect: 'network', execute: () => 'good morning' }],
    approve: 'all',
  };`);
  writeFileSync(path.join(folder, 'closed.mjs'), `import config from './c.mjs'; const { approve, ...rest } = config; export default rest;`);
  writeFileSync(path.join(folder, 'wrong.json'), '{ "approve": "yes" }');
  writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'When?', maxTurns: 3 }]));
  const steps = [
    { calls: [{ id: '1', name: 'list_files', args: {} }, { id: '2', name: 'read_file', args: { path: 'notes/a.md' } }, { id: '3', name: 'greet', args: {} }] },
    { text: 'On Tuesday.', check: ({ messages }) => {
      const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
      assert.ok(results[0].includes('notes/a.md') && !results[0].includes('.secret'), results[0]);
      assert.match(results[1], /Tuesday/);
      assert.match(results[2], /good morning\n\[Turn 1\/3 /);
    } },
  ];
  await withScript(steps, async (baseUrl) => {
    const args = ['run', 't.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'm', '--config', 'c.mjs', '--workspace', 'files', '--json'];
    const { code, out, err } = await turnwise(args, { cwd: folder });
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).runs[0].tool_calls, 3);
  });
  // With nobody to ask, a tool that reaches the network is refused.
  const greet = [{ calls: [{ id: '1', name: 'greet', args: {} }] }, { text: 'ok', check: ({ messages }) => assert.match(messages.at(-1).content, /^Error: not run: greet acts on the network.*nobody to ask/) }];
  await withScript(greet, async (baseUrl) => {
    const args = ['run', 't.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'm', '--config', 'closed.mjs', '--out', 'closed', '--json'];
    const { code, out, err } = await turnwise(args, { cwd: folder });
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out).runs[0].tool_failures, { refused: 1 });
  });
  const { code, err } = await turnwise(['run', 't.jsonl', '--provider', 'demo', '--config', 'wrong.json'], { cwd: folder });
  assert.ok(code !== 0 && /"approve" takes "all"/.test(err), err);
}));

test('hosts that fetch_url may read are named by a flag, and the key of a search service comes from the environment', () => inFolder((folder) => withPages({}, (origin) => withScript([
  { calls: [{ id: 'f', name: 'fetch_url', args: { url: `${origin}/page` } }, { id: 'g', name: 'fetch_url', args: { url: 'https://example.org/' } }] }, { text: 'Done.' },
], async (baseUrl) => {
  writeFileSync(path.join(folder, 'tasks.jsonl'), lines([{ id: 'a', task: 'read it' }]));
  const model = ['--provider', 'openai', '--base-url', baseUrl, '--model', 'scripted'];
  const { code, err } = await turnwise(['run', 'tasks.jsonl', ...model, '--web', `${origin}, *.example.com`], { cwd: folder });
  assert.equal(code, 0, err);
  const [page, other] = read(folder, 'runs', 'a.json').turns[0].tool_calls;
  assert.match(page.result, /# Garden/);
  assert.match(other.result, /not run/, 'nobody can be asked about another host');
  const wrong = async (config, flags, message) => {
    writeFileSync(path.join(folder, 'c.json'), JSON.stringify(config));
    const ended = await turnwise(['run', 'tasks.jsonl', ...model, '--out', 'other', '--config', 'c.json', ...flags], { cwd: folder });
    assert.ok(ended.code !== 0 && message.test(ended.err), ended.err);
  };
  await wrong({}, ['--web', 'example.org/path'], /permissions\.hosts/);
  await wrong({ web: { search: { kind: 'brave', apiKey: KEY } } }, [], /read from the environment only/);
  await wrong({ web: { search: { kind: 'brave', apiKeyEnv: 'NO_SUCH_KEY' } } }, [], /NO_SUCH_KEY is not set/);
}))));

test('a mock that others wrote is run against', () => inFolder(async (folder) => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent', strict: true });
  mock.onMessage('the capital', { content: 'It is Paris.' });
  await mock.start();
  try {
    writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'a', task: 'Name the capital of France', expect: { contains: 'paris' } }]));
    const { code, err } = await turnwise(['run', 't.jsonl', '--provider', 'openai', '--base-url', `${mock.url}/v1`, '--model', 'm'], { cwd: folder });
    assert.equal(code, 0, err);
  } finally {
    await mock.stop();
  }
}));

test('what is not understood is said before anything runs', () => inFolder(async (folder) => {
  const write = (...tasks) => writeFileSync(path.join(folder, 't.jsonl'), lines(tasks));
  const refused = async (args, words, env) => {
    const { code, err, out } = await turnwise(args, { cwd: folder, env });
    assert.deepEqual([code, out], [2, ''], err);
    assert.match(err, words);
    assert.ok(!existsSync(path.join(folder, 'runs')), 'it began to write');
  };
  write({ id: 'a', task: 'go' });
  const demo = ['run', 't.jsonl', '--provider', 'demo'];
  await refused(['rnu'], /no command rnu; did you mean run\?/);
  await refused(['run', 't.jsonl', '--concurency', '3'], /--concurency; did you mean --concurrency\?/);
  await refused(['run', 't.jsonl'], /say which model: --provider/);
  await refused(['run', 'none.jsonl', '--provider', 'demo'], /none\.jsonl/);
  await refused([...demo, '--concurrency', '0'], /--concurrency takes a whole number, 1 or more; got 0/);
  await refused([...demo, '--model', '--seed'], /--model takes a value/);
  await refused([...demo, '--api-key-env', 'NO_SUCH_KEY'], /NO_SUCH_KEY is not set/);
  await refused(['run', 't.jsonl', '--provider', 'opnai'], /provider\.kind/);
  writeFileSync(path.join(folder, 'c.json'), JSON.stringify({ provider: { kind: 'openai', apiKey: KEY } }));
  await refused(['run', 't.jsonl', '--config', 'c.json'], /from the environment only/);
  writeFileSync(path.join(folder, 'c.json'), JSON.stringify({ provider: { kind: 'openai', headers: { 'X-Api-Key': KEY } } }));
  await refused(['run', 't.jsonl', '--config', 'c.json'], /X-Api-Key may hold a secret/);
  for (const [task, words] of [
    [{ id: 'a/b', task: 'go' }, /line 1: the id "a\/b" must be a valid file name/],
    [{ id: 'summary', task: 'go' }, /taken by the summary/],
    [{ id: 'x' }, /"task" is missing/],
    [{ id: 'x', task: 'go', maxturns: 3 }, /line 1: maxturns/],
    [{ id: 'x', task: 'go', expect: { is: 3 } }, /expect\.is/],
    [{ id: 'x', task: 'go', expect: { matches: '(' } }, /expect\.matches/],
  ]) {
    write(task);
    await refused(demo, words);
  }
  write({ id: 'a', task: 'go' }, { id: 'A', task: 'go' });
  await refused(demo, /line 2: the id A is used twice/);
}));

test('stats and replay read folders, packed files and plans, and name what they cannot read', () => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines([
    { id: 'sum', task: 'What is 12 * 12?' },
    { id: 'endless', task: 'Go on', maxTurns: 2, provider: { kind: 'demo', demo: 'endless' } },
  ]));
  assert.equal((await turnwise(['run', 't.jsonl', '--provider', 'demo', '--seed', '3'], { cwd: folder })).code, 0);
  const one = readFileSync(path.join(folder, 'runs/sum.json'));
  mkdirSync(path.join(folder, 'runs/below'));
  writeFileSync(path.join(folder, 'runs/below/packed.json.gz'), gzipSync(one));
  const step = (order, run) => ({ order, agent: 'A', kind: 'gather', status: 'completed', blocked_by: [], context: {}, run });
  writeFileSync(path.join(folder, 'runs/below/plan.json'), JSON.stringify({ format: 'turnwise-session', version: 1, steps: [step(1, JSON.parse(one)), step(2, null)] }));
  const good = await turnwise(['stats', 'runs', '--by', 'preset'], { cwd: folder });
  assert.deepEqual([good.code, good.err], [0, '']);
  assert.match(good.out, /^4 runs, 4 ended, 75 % of them with the outcome success/);
  assert.match(good.out, /llm_complete +success +3 +75 % +█+/);
  assert.match(good.out, /Share of the turn limit used: 1 of 4 runs used all/);
  assert.match(good.out, /\n {2}research +4 +75 %/);
  const replayed = await turnwise(['replay', 'runs'], { cwd: folder });
  assert.equal(replayed.code, 0, replayed.err);
  assert.deepEqual(replayed.out.trim().split('\n').map((line) => line.split(/\s+/)[0]), ['ok', 'ok', 'ok', 'ok']);

  const changed = JSON.parse(one);
  changed.turns[1].content += ' and more';
  writeFileSync(path.join(folder, 'changed.json'), JSON.stringify(changed));
  writeFileSync(path.join(folder, 'broken.json'), '{"format":');
  writeFileSync(path.join(folder, 'other.json'), '{"a":1}');
  const differs = await turnwise(['replay', 'changed.json', 'runs/sum.json', 'other.json'], { cwd: folder });
  assert.equal(differs.code, 1);
  assert.match(differs.out, /^differs {2}changed\.json: turn 2, \/turns\/1\/content: recorded ".*and more", now "/m);
  assert.match(differs.out, /^ok {7}runs\/sum\.json$/m);
  assert.match(differs.err, /^other\.json: This JSON file is not a Turnwise trajectory/m);
  // A few hundred kilobytes that unpack to more than the accepted size.
  writeFileSync(path.join(folder, 'bomb.json.gz'), gzipSync(Buffer.alloc(257 * 2 ** 20, ' ')));
  const bomb = await turnwise(['replay', 'bomb.json.gz', 'runs/sum.json'], { cwd: folder });
  assert.equal(bomb.code, 1);
  assert.match(bomb.err, /^bomb\.json\.gz: It unpacks to more than 256 MiB/m);
  assert.match(bomb.out, /^ok {7}runs\/sum\.json$/m);
  const some = await turnwise(['stats', 'runs/sum.json', 'broken.json', 'none.json'], { cwd: folder });
  assert.equal(some.code, 1);
  assert.match(some.out, /^1 run, 1 ended/);
  assert.match(some.err, /2 files could not be read:[\s\S]*none\.json: No such file[\s\S]*broken\.json: This is not a JSON file/);
  const json = await turnwise(['stats', 'runs', 'broken.json', '--json', '--outcome', 'partial'], { cwd: folder });
  assert.equal(json.code, 1);
  const { insight, runs, unreadable } = JSON.parse(json.out);
  assert.deepEqual([insight.runs, insight.of, runs.length, unreadable.length], [1, 4, 4, 1]);
  assert.equal((await turnwise(['stats', 'runs', '--outcome', 'good'], { cwd: folder })).code, 2);
  assert.equal((await turnwise(['stats', 'runs', '--reason', 'because'], { cwd: folder })).code, 2);
}));

test('the packed package brings its command', () => inFolder(async (folder) => {
  const npm = (args, cwd) => {
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', env: { ...process.env, npm_config_cache: path.join(folder, 'cache'), npm_config_update_notifier: 'false' } });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  cpSync(path.join(dist, 'turnwise'), path.join(folder, 'source'), { recursive: true });
  const [{ filename, files }] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], path.join(folder, 'source')));
  assert.ok(['cli.mjs', 'cli-run.mjs', 'cli-stats.mjs', 'cli-files.mjs'].every((name) => files.some((file) => file.path === name)));
  mkdirSync(path.join(folder, 'project'));
  writeFileSync(path.join(folder, 'project/package.json'), '{"private":true}');
  npm(['install', '--offline', '--no-audit', '--no-fund', path.join(folder, filename)], path.join(folder, 'project'));
  writeFileSync(path.join(folder, 'project/t.jsonl'), lines([{ id: 'a', task: 'What is 6 * 7?' }]));
  npm(['exec', '--offline', '--', 'turnwise', 'run', 't.jsonl', '--provider', 'demo'], path.join(folder, 'project'));
  assert.match(npm(['exec', '--offline', '--', 'turnwise', 'stats', 'runs'], path.join(folder, 'project')), /^1 run, 1 ended, 100 % of them with the outcome success/);
}));
