// The recipes of docs/cookbook.md: each runs in its own folder with `turnwise` installed, against a scripted model on
// loopback, and prints what its page promises. The page shows these exact files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';

const EXAMPLES = path.join(root, 'examples/cookbook');
const recipes = readdirSync(EXAMPLES).filter((name) => /^\d\d-.*\.mjs$/.test(name)).sort();
const call = (name, args, id = 'call_0') => ({ id, name, args });
const results = ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const offered = ({ tools }) => (tools ?? []).map((one) => one.function.name);
const asked = ({ messages }) => messages.findLast(({ role }) => role === 'user').content;

/** Runs `body(folder)` in a temporary folder with the recipes, `turnwise` and `zod`. */
async function withFolder(body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-cookbook-'));
  try {
    cpSync(EXAMPLES, folder, { recursive: true, filter: (from) => !from.includes('node_modules') });
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(dist, 'turnwise'), path.join(folder, 'node_modules/turnwise'));
    symlinkSync(path.join(root, 'tests/e2e/node_modules/zod'), path.join(folder, 'node_modules/zod'));
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a recipe to its end, and returns the lines that it prints. `hear(stdout, child)` is called as it prints. */
function run(folder, name, { baseUrl, args = [], hear, ends = 0 } = {}) {
  const env = { ...process.env, TURNWISE_BASE_URL: baseUrl ?? '', TURNWISE_API_KEY: 'sk-test-0123456789abcdefghij', TURNWISE_MODEL: 'scripted' };
  const child = spawn(process.execPath, [name, ...args], { cwd: folder, env, timeout: 60_000 });
  child.stdin.on('error', () => {}); // it may end before it has read an answer
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (bytes) => { stdout += bytes; hear?.(stdout, child); });
  child.stderr.on('data', (bytes) => { stderr += bytes; });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if ((signal ?? code) === ends) resolve(stdout.trimEnd().split('\n'));
      else reject(new Error(`${name} ended with ${signal ?? code}\n${stdout}\n${stderr}`));
    });
  });
}

const recipe = (name, title, steps, body) => test(`${name}: ${title}`, () => withFolder((folder) => withScript(steps, (baseUrl) => body(
  (options) => run(folder, recipes.find((file) => file.startsWith(name)), { baseUrl, ...options }), folder,
))));

test('the page shows each file as it is', () => {
  const page = readFileSync(path.join(root, 'docs/cookbook.md'), 'utf8');
  const shown = [...page.matchAll(/^<!-- (examples\/cookbook\/\S+) -->\n+```js\n(.*?)^```$/gms)];
  assert.deepEqual(shown.map(([, name]) => path.basename(name)).sort(), [...recipes, 'model.mjs'].sort());
  for (const [, name, code] of shown) assert.equal(code, readFileSync(path.join(root, name), 'utf8'), name);
});

recipe('01', 'a value that fits the schema; what does not fit goes back to the model', [
  { calls: [call('final_report', { format: 'json', content: { customer: 'Ada Lovelace', items: [{ article: 'desk lamp', count: 'two' }], urgent: true } })] },
  { calls: [call('final_report', { format: 'json', content: { customer: 'Ada Lovelace', items: [{ article: 'desk lamp', count: 2 }, { article: 'floor lamp', count: 1 }], urgent: true } })],
    check: (request) => assert.match(results(request).at(-1), /count/) },
], async (start) => {
  assert.deepEqual(await start(), ['Ada Lovelace (urgent)', '2 x desk lamp', '1 x floor lamp']);
});

for (const [answer, told] of [['y', /"refunded":80/], ['n', /refused|permit|allow/i]]) {
  recipe('02', `a person who answers ${answer}`, [
    { calls: [call('refund', { order: 17, euros: 12 }, 'a'), call('refund', { order: 18, euros: 80 }, 'b')] },
    { text: 'It is settled.', check: (request) => {
      const [small, large] = results(request);
      assert.match(small, /"refunded":12/);
      assert.match(large, told);
    } },
  ], async (start) => {
    let typed = false;
    const hear = (stdout, child) => {
      if (typed || !stdout.includes('[y/n]')) return;
      typed = true;
      child.stdin.write(`${answer}\n`);
    };
    assert.equal((await start({ hear })).join('\n'), 'Allow refund {"order":18,"euros":80}? [y/n] It is settled.');
  });
}

const paid = (tokens) => ({ usage: { prompt_tokens: tokens, completion_tokens: 100, total_tokens: tokens + 100 } });
recipe('03', 'the run concludes when its money is spent', [
  { calls: [call('readPage', { page: 1 })], ...paid(10_000) },
  { calls: [call('readPage', { page: 2 })], ...paid(20_000), check: (request) => assert.match(results(request)[0], /^Page 1\./) },
  { text: 'It begins with a storm.', ...paid(1000), check: (request) => assert.deepEqual(offered(request), []) },
], async (start) => {
  assert.deepEqual(await start(), ['It begins with a storm.', 'Incomplete: the limit "cost" was reached in turn 3.', '31300 tokens, $0.0246']);
});

recipe('04', 'a chat goes on in another process', [
  { text: 'Hello, Ada.' },
  { text: 'You are Ada.', check: ({ messages }) => assert.deepEqual(messages.slice(1).map(({ content }) => content), ['I am Ada.', 'Hello, Ada.', 'Who am I?']) },
], async (start, folder) => {
  assert.deepEqual(await start(), ['user: I am Ada.', 'assistant: Hello, Ada.']);
  assert.deepEqual(await start({ args: ['Who am I?'] }), ['user: I am Ada.', 'assistant: Hello, Ada.', 'user: Who am I?', 'assistant: You are Ada.']);
  assert.ok(existsSync(path.join(folder, 'chat-with-ada.json')) && !existsSync(path.join(folder, 'chat-with-ada.json.new')));
});

const measuring = { calls: [call('measure', {})] };
recipe('05', 'a signal cancels, time and stop() have it conclude', [
  measuring,
  measuring, { text: 'I could not measure it.', check: (request) => assert.deepEqual(offered(request), []) },
  measuring, { text: 'I was stopped.' },
], async (start) => {
  assert.deepEqual(await start(), ['Cancelled in turn 1.', 'partial, because of wall_time: I could not measure it.', 'partial, because of stop']);
});

recipe('06', 'the second model answers when the first one does not', [{ text: 'Paris.' }], async (start) => {
  assert.deepEqual(await start(), ['Attempt 1 failed: network_error', 'Paris.', 'Asked: ollama, openai']);
});

test('07: each reader gets a file, and the agent their reports', () => withFolder((folder) => {
  const tasks = ['north.md', 'south.md', 'west.md'].map((file) => ({ task: `Read ${file}`, agent: 'reader' }));
  /** Readers run in parallel: the answer depends on which one asks. */
  const answer = (request) => {
    const read = results(request);
    const file = /^Read (\w+\.md)$/.exec(asked(request))?.[1];
    if (!file) return read.length ? { text: 'In the south, 9 of 80.' } : { calls: [call('spawn_subagents', { tasks })] };
    assert.deepEqual(offered(request), ['read_file']);
    return read.length ? { text: /(\d+) came back/.exec(read[0])[0] } : { calls: [call('read_file', { path: file })] };
  };
  const steps = Array.from({ length: 8 }, () => {
    const step = {};
    step.check = (request) => Object.assign(step, answer(request));
    return step;
  });
  return withScript(steps, async (baseUrl) => {
    const lines = await run(folder, '07-subagents.mjs', { baseUrl });
    assert.deepEqual(lines.slice(0, 3).sort(), ['reader 1: read_file', 'reader 2: read_file', 'reader 3: read_file']);
    assert.deepEqual(lines.slice(3), ['In the south, 9 of 80.', '3 sub-agents, 8 requests']);
  });
}));

recipe('08', 'the files of a folder are searched, and the answer is written', [
  { calls: [call('search_files', { query: 'lamps' })], check: (request) => assert.ok(['search_files', 'list_files', 'read_file', 'write_file'].every((name) => offered(request).includes(name))) },
  { calls: [call('read_file', { path: 'sub/stock.md' })], check: (request) => assert.match(results(request)[0], /sub\/stock\.md/) },
  { calls: [call('write_file', { path: 'answer.md', content: '120 lamps (sub/stock.md)' })], check: (request) => assert.match(results(request)[1], /There are 120 lamps/) },
  { text: 'There are 120 lamps (sub/stock.md).' },
], async (start, folder) => {
  mkdirSync(path.join(folder, 'docs/sub'), { recursive: true });
  writeFileSync(path.join(folder, 'docs/sub/stock.md'), '# Stock\n\nThere are 120 lamps.\n');
  writeFileSync(path.join(folder, 'docs/picture.png'), 'no text');
  assert.deepEqual(await start({ args: ['docs', 'How many lamps are there?'] }), [
    'search_files {"query":"lamps"}', 'read_file {"path":"sub/stock.md"}', 'write_file {"content":"120 lamps (sub/stock.md)","path":"answer.md"}',
    'There are 120 lamps (sub/stock.md).',
  ]);
  assert.equal(readFileSync(path.join(folder, 'answer.md'), 'utf8'), '120 lamps (sub/stock.md)');
  assert.deepEqual(readdirSync(path.join(folder, 'docs')).sort(), ['picture.png', 'sub']);
});

test('09: killed and started again, it goes on where it was', () => withFolder((folder) => {
  let running;
  const saved = () => (existsSync(path.join(folder, 'run.json')) ? JSON.parse(readFileSync(path.join(folder, 'run.json'), 'utf8')).turns.length : 0);
  /** Kills the process once turn 2 is stored, while its request waits for a response. */
  const kill = async () => {
    const changes = watch(folder);
    if (saved() < 2) for await (const change of changes) if (change && saved() >= 2) break;
    running.kill('SIGKILL');
  };
  return withScript([
    { calls: [call('count', { hall: 'A' })] },
    { chunks: [], hold: true, check: (request) => { assert.match(results(request)[0], /^40 lamps/); kill(); } },
    { calls: [call('count', { hall: 'B' }, 'call_1')], check: (request) => assert.match(results(request)[0], /^40 lamps/) },
    { text: '80 lamps.', check: (request) => assert.equal(results(request).length, 2) },
  ], async (baseUrl) => {
    const first = await run(folder, '09-resume.mjs', { baseUrl, hear: (_, child) => { running = child; }, ends: 'SIGKILL' });
    assert.deepEqual(first, ['counting in A']);
    assert.deepEqual(await run(folder, '09-resume.mjs', { baseUrl }), ['going on in turn 2', 'counting in B', '80 lamps.']);
    assert.ok(!existsSync(path.join(folder, 'run.json')), 'a run that has ended is not resumed');
  });
}));

recipe('10', 'the same run with another result of a tool', [
  { calls: [call('getWeather', { city: 'Lisbon' })] },
  { text: 'No.', check: (request) => assert.match(results(request)[0], /^sunny/) },
  { text: 'Yes.', check: (request) => assert.match(results(request)[0], /^rain all day/) },
], async (start) => {
  assert.deepEqual(await start(), ['sunny: No.', 'rain:  Yes.', 'parent: true']);
});

recipe('11', 'what guardrails object to is not sent, and not shown', [{ text: 'Lamps.' }, { text: 'Yes: a discount of 90 percent.' }], async (start) => {
  assert.deepEqual(await start(), ['card_number: Please do not send card numbers.', 'Lamps.', 'promise: The answer promises a discount.']);
});

test('without a model of its own, each recipe runs with the demo model', { timeout: 120_000 }, () => withFolder(async (folder) => {
  // All at once, since they mostly wait for the demo model; each has files of its own.
  await Promise.all(recipes.map(async (name) => assert.ok((await run(folder, name, { hear: (stdout, child) => child.stdin.write('y\n') })).join('').length > 0, name)));
}));
