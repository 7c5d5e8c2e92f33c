// The demo mode that misbehaves, through the built package: in Node.js with shortened waits, and once in Chromium.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { hurriedWorkers } from './lib/hurry.mjs';
import { root, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { default: init, Agent, replay } = await import(path.join(dist, 'turnwise/node.js'));
await init();

const DOC = '# Limits\n\nThe limit of turns is fifteen. When it is reached, a synthesis concludes the run.\n';
const TASK = 'What happens when the limit of turns is reached? Find it in the files.';

/** Returns the failed attempts; checks that each is logged once. */
function failures(trajectory) {
  const failed = trajectory.turns.flatMap(({ attempts }) => attempts.filter(({ slugs }) => slugs.length));
  const logged = trajectory.logs.filter(({ level }) => level === 'WRN');
  assert.deepEqual(logged.map(({ slugs }) => slugs), failed.map(({ slugs }) => slugs), 'each failed attempt is logged once');
  return failed;
}

/** Checks that the run ends with an answer from the file, whatever went wrong. */
function check(trajectory) {
  assertValid(trajectory);
  assert.ok(['success', 'partial'].includes(trajectory.outcome), trajectory.termination_reason);
  assert.match(trajectory.output, /limits\.md/);
  for (const { attempts } of trajectory.turns) assert.ok(attempts.length <= 3 && attempts.at(-1).slugs.length === 0);
}

async function run(seed) {
  const { warn } = console;
  console.warn = () => {};
  const agent = new Agent({ provider: { kind: 'demo', demo: 'chaos' }, seed, retry: { baseMs: 1, capMs: 2, rateLimitMs: 1 }, limits: { headersMs: 80, idleMs: 80 } });
  try {
    agent.files.put('docs/limits.md', DOC);
    return await agent.run(TASK);
  } finally {
    console.warn = warn;
    agent.free();
  }
}

test('runs survive what goes wrong, every failed attempt is logged with its slug, and the record replays', async () => {
  const runs = await Promise.all([1, 2, 3, 13].map(run));
  const slugs = new Set();
  for (const trajectory of runs) {
    check(trajectory);
    for (const failed of failures(trajectory)) failed.slugs.forEach((slug) => slugs.add(slug));
    for (const { slug } of trajectory.turns.flatMap(({ tool_calls }) => tool_calls)) if (slug) slugs.add(slug);
  }
  const wanted = ['timeout', 'rate_limited', 'provider_error', 'network_error', 'stream_cut', 'empty_response', 'unknown_tool', 'malformed_tool_call'];
  assert.deepEqual(wanted.filter((slug) => !slugs.has(slug)), [], `seen: ${[...slugs].join(' ')}`);
  const silences = runs.flatMap(({ logs }) => logs.map(({ message }) => message)).filter((message) => /80 ms/.test(message));
  assert.ok(silences.some((message) => /did not begin to answer within/.test(message)) && silences.some((message) => /was silent for/.test(message)), 'both deadlines');
  assert.deepEqual(await replay(runs[0]), { ok: true });
});

test('the same seed fails in the same way', async () => {
  const [first, second] = await Promise.all([run(4), run(4)]);
  const told = ({ turns, output }) => [turns.map(({ attempts }) => attempts.map(({ slugs, error }) => [slugs, error])), output];
  assert.deepEqual(told(first), told(second));
});

test('in a page a run shows its retries and their waits, and ends', async () => {
  const { trajectory, waits } = await withPackage({ expect: [/turnwise: turn \d+, attempt \d+/] }, (page) => page.evaluate(async ({ doc, task }) => {
    const agent = new window.turnwise.Agent({ provider: { kind: 'demo', demo: 'chaos' }, seed: 3 });
    await agent.files.put('docs/limits.md', doc);
    const waits = [];
    const trajectory = await agent.run(task, { onEvent: (event) => { if (event.type === 'waiting') waits.push(event.ms); } });
    return { trajectory, waits };
  }, { doc: DOC, task: TASK }), { mounts: hurriedWorkers(dist) });
  check(trajectory);
  assert.ok(failures(trajectory).length > 0 && waits.length > 0);
});

test('cancel ends a scripted silence at once', async () => {
  // With this seed the first response stalls halfway, as the runs above show.
  const agent = new Agent({ provider: { kind: 'demo', demo: 'chaos' }, seed: 32 });
  const events = [];
  const trajectory = await agent.run(TASK, { onEvent: ({ type }) => {
    // The silence is the subject: half a reply takes less than a second, and the stall would end two seconds later.
    if (type === 'reasoning_delta' && !events.includes(type)) setTimeout(() => agent.cancel(), 1500);
    events.push(type);
  } });
  agent.free();
  assert.equal(trajectory.outcome, 'cancelled');
  assert.deepEqual(trajectory.turns[0].attempts.map(({ slugs }) => slugs), [['cancelled']]);
  assert.ok(!events.includes('attempt_failed'));
});
