// Every fault of lib/faults.mjs, in Chromium, through the package: slugs, requests, ending, and what the user sees.
// docs/faults.md is the table of the results; UPDATE=1 rewrites it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ANSWER, busy, FAULTS, good } from './lib/faults.mjs';
import { deadPort, withFaults } from './lib/fault-server.mjs';
import { root, withPackage } from './lib/site.mjs';
import { assertValid } from './lib/trajectory.mjs';

const KEY = 'sk-test-0123456789abcdef';
const rows = FAULTS.flatMap(([, group]) => group);
const byId = (answerOf) => Object.fromEntries(rows.map((row) => [row.id, answerOf(row)]));
const NOWHERE = 'http://no-such-host.invalid';
/** The allowed difference between two clocks of one machine. */
const CLOCKS_MS = 50;

// One page for all tests. The second server fails once, then answers correctly.
const shared = {};
let release;
before(async () => {
  const dead = `http://127.0.0.1:${await deadPort()}`;
  const always = byId(({ answer }) => answer);
  const once = byId(({ answer }) => (wire, request) => (request.nth === 1 ? answer : good)(wire, request));
  for (const id of ['wait-stop', 'wait-cancel']) once[id] = (wire, request) => (request.nth === 1 ? busy : good)(wire, request);
  await new Promise((resolve, reject) => {
    shared.done = withFaults(always, (first) => withFaults(once, (second) =>
      withPackage({
        reach: [first.origin, second.origin, first.origin.replace('127.0.0.1', 'localhost'), dead, NOWHERE],
        // One line for each failed attempt and each failed run.
        expect: [/^warning: .*attempt \d/, /^error: .*run failed/],
        // The host page's strict policy would block requests to a host that does not exist.
        context: { bypassCSP: true },
      }, async (page) => {
        // A driver that intercepts requests answers preflights itself, and CORS is one of the faults.
        await page.context().unrouteAll();
        return new Promise((finish) => {
          release = finish;
          Object.assign(shared, { page, first, second, dead });
          resolve();
        });
      }))).catch(reject);
  });
});
after(async () => {
  release?.();
  await shared.done;
});

/** Performs one run against the server; resolves with its record and the waits it announced. */
async function run(baseUrl, limits) {
  const result = await shared.page.evaluate(async ({ baseUrl, limits, apiKey }) => {
    const agent = new window.turnwise.Agent({
      provider: { kind: 'openai', baseUrl, model: 'scripted', apiKey, headers: { 'x-extra': 'extra-secret' } },
      tools: [], system: 'Answer.', seed: 7, retry: { baseMs: 1, rateLimitMs: 1 }, limits,
    });
    agent.registerTool({ name: 'lookup', execute: () => { throw new Error('a cut call was run'); } });
    const waits = [];
    const trajectory = await agent.run('What is the answer?', { onEvent: (event) => { if (event.type === 'waiting') waits.push({ ms: event.ms, at: Date.now() }); } });
    agent.free();
    return { trajectory, waits };
  }, { baseUrl, limits, apiKey: KEY });
  assertValid(result.trajectory);
  return result;
}

// The end of the report when no attempts are left.
const LAST_WORDS = ' No attempts left (3 of 3): try again later, or choose another model or provider.';

const slugsOf = ({ turns }) => turns.flatMap(({ attempts }) => attempts).flatMap(({ slugs }) => slugs);
const table = new Map();

/** Plays one row. */
function play(row) {
  // A missed deadline fails the test instead of hanging it.
  test(`${row.name}: ${row.slugs[0] ?? 'accepted'}`, { timeout: 60000 }, async () => {
    const { page, first, second, dead } = shared;
    const { origin } = { dead: { origin: dead }, nowhere: { origin: NOWHERE }, offline: { origin: NOWHERE } }[row.target] ?? first;
    if (row.target === 'offline') {
      await page.evaluate(() => window.turnwise.inside.start()); // the network goes down only after the engine has loaded
      await page.context().setOffline(true);
    }
    const { trajectory, waits } = await run(`${origin}/${row.id}/v1`, row.limits).finally(() => row.target === 'offline' && page.context().setOffline(false));
    const asked = first.asked(row.id).filter(({ method }) => method === 'POST').length;
    const knocks = first.asked(row.id).filter(({ method }) => method !== 'POST');

    assert.deepEqual(slugsOf(trajectory), row.slugs, trajectory.output);
    assert.equal(asked, row.requests ?? Math.max(row.slugs.length, 1), 'requests that the server counted');
    // Where no response can be read, one knock checks whether a server is there; it carries no secrets.
    assert.ok(knocks.length <= (row.slugs[0] === 'network_error' ? 1 : 0), `knocks: ${JSON.stringify(knocks)}`);
    for (const { headers } of knocks) assert.ok(!headers.authorization && !headers['x-extra'], 'the knock carries a secret');
    assert.equal(trajectory.termination_reason, row.ends);
    assert.equal(trajectory.outcome, row.ends === 'llm_complete' ? 'success' : 'failed');
    for (const words of row.says) assert.ok(trajectory.output.includes(words), `${JSON.stringify(words)} is not in: ${trajectory.output.slice(0, 600)}`);
    assert.ok(!JSON.stringify(trajectory).includes(KEY) && !JSON.stringify(trajectory).includes('extra-secret'), 'a secret is in the trajectory');
    assert.equal(trajectory.logs.filter(({ level }) => level === 'WRN').length, row.slugs.length, 'one WRN for each failed attempt');
    if (row.waits) assert.deepEqual(waits.map(({ ms }) => ms), row.waits, 'the waits that were announced');
    // A wait is computed some time between the server's sending of the response and the page's receipt of it, however long that took.
    if (row.until) {
      assert.equal(waits.length, 2);
      for (const [nth, { ms, at }] of waits.entries()) {
        const { sent, until } = row.until[nth];
        assert.ok(ms <= until - sent + CLOCKS_MS && at + ms >= until - CLOCKS_MS, `waits ${ms} ms, told ${at - sent} ms after a date ${until - sent} ms ahead`);
      }
    }
    table.set(row.id, { slug: row.slugs[0] ?? '', sees: trajectory.output, asked, ends: `${trajectory.termination_reason}, ${trajectory.outcome}` });

    if (row.slugs.length === 3 && row.recovers !== false) {
      const again = await run(`${second.origin}/${row.id}/v1`, row.limits);
      assert.deepEqual(slugsOf(again.trajectory), [row.slugs[0]], 'only the first attempt failed');
      assert.equal(again.trajectory.output, ANSWER, 'half an answer is never part of the whole one');
      assert.equal(again.trajectory.total_turns, 1);
      assert.equal(second.asked(row.id).filter(({ method }) => method === 'POST').length, 2);
    }
  });
}

// Rows mostly wait: for deadlines, retries, and data to arrive. As many are played at once as a page may have requests open to
// one origin. The one that cuts off the network comes after all others.
describe('each fault', { concurrency: 4 }, () => { rows.filter(({ target }) => target !== 'offline').forEach(play); });
rows.filter(({ target }) => target === 'offline').forEach(play);

test('stop and cancel end a wait at once', async () => {
  const { page, second } = shared;
  for (const [how, reason, requests] of [['stop', 'stop_synthesized', 2], ['cancel', 'cancelled', 1]]) {
    const { termination_reason, ms } = await page.evaluate(async ({ baseUrl, how }) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl, model: 'scripted' }, tools: [] });
      let began;
      const { termination_reason } = await agent.run('What is the answer?', { onEvent: (event) => { if (event.type === 'waiting') { began = performance.now(); agent[how](); } } });
      agent.free();
      return { termination_reason, ms: performance.now() - began };
    }, { baseUrl: `${second.origin}/wait-${how}/v1`, how });
    assert.equal(termination_reason, reason);
    assert.ok(ms < 10000, `it took ${ms} ms of the 30 s that it would have waited`);
    assert.equal(second.asked(`wait-${how}`).length, requests);
  }
});

test('no key and no extra header ever followed a redirect', () => {
  assert.deepEqual([...shared.first.asked('login'), ...shared.first.asked('away')], []);
});

test('docs/faults.md says what really happens', () => {
  const file = path.join(root, 'docs/faults.md');
  const current = page();
  if (process.env.UPDATE) writeFileSync(file, current);
  assert.equal(readFileSync(file, 'utf8'), current, 'the page is not what the tests saw: UPDATE=1 node --test tests/e2e/faults.test.mjs writes it');
});

/** Removes from a message what differs from run to run, and what is too long to read. */
function tidy(text, id) {
  const line = text.replace(/^The run ended because the model could not be used: /, '').replace(LAST_WORDS, '').replace(/\s+/g, ' ')
    .replaceAll(NOWHERE, 'http://models.example').replace(/127\.0\.0\.1:\d+/g, 'localhost:8000').replaceAll('no-such-host.invalid', 'models.example')
    .replaceAll(`/${id}/v1`, '/v1').replaceAll('|', '\\|');
  return line.length > 700 ? `${line.slice(0, 80)}…` : line;
}

function page() {
  const lines = [
    '# What you see when something fails', '',
    'Each row is a fault of a model server, and what a run made of it in a browser.',
    'The table is written by the test that plays these faults, so it is what really happens.',
    'The server of the test runs on the same machine; with a server elsewhere, the hint about a local server is about the key and the base URL instead.', '',
    'Here every retry meets the same fault, so it uses up the 3 attempts of the turn.',
    `What you see then ends with:${LAST_WORDS}`,
    'When it goes away in between, the run goes on as if nothing had happened: the same test checks that, for each of them.',
    'An empty slug means that the answer was accepted.', '',
    'If no answer can be read, Turnwise sends one request without a key to check for a server; it is not counted here.', '',
    'Deadlines were set to a second. Their defaults are in [LimitOptions](api-options.md#limitoptions).', '',
  ];
  for (const [title, group] of FAULTS) {
    lines.push(`## ${title}`, '', '| fault | slug | what you see | requests | ends |', '| --- | --- | --- | --- | --- |');
    for (const { id, name } of group) {
      const { slug, sees, asked, ends } = table.get(id) ?? assert.fail(`${name} has not been played: run the whole file`);
      lines.push(`| ${name} | ${slug && `\`${slug}\``} | ${tidy(sees, id)} | ${asked} | \`${ends.replace(', ', '`, ')} |`);
    }
    lines.push('');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}
