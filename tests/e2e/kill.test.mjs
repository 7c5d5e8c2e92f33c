// The renderer, or only the worker that drives the run, is killed at random moments of a run. After each kill, the stored
// run has every turn that had ended, and resumes to the same end as an uninterrupted run: nothing twice, nothing lost.
// 8 seeded moments each (make test: 2; make test-long: 40); KILLS sets another number, KILL_SEED another first seed. A moment is a
// number of requests of the run plus a fraction of the time to the next one, so that a slow machine is killed as far into the run
// as a fast one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withContext } from './lib/browser.mjs';
import { download, showTurns, storedRuns } from './lib/app.mjs';
import { withSite } from './lib/site.mjs';
import { ANSWER, LENGTH, withSteadyModel } from './lib/steady-server.mjs';
import { SHORT, sayLeft } from './lib/tier.mjs';
import { assertValid } from './lib/trajectory.mjs';

const ALL_KILLS = 8;
const KILLS = Number(process.env.KILLS ?? (SHORT ? 2 : ALL_KILLS));
// The sixth of the eight falls into the middle of a run, on a slow machine too.
const FIRST = Number(process.env.KILL_SEED ?? (SHORT ? 5 : 1));
const TASK = 'Write three notes.';
const MAX_TURNS = 15;
const MAX_ATTEMPTS = 3;
const SYNTHESIS = 3;

/** Seeded random numbers from 0 to 1. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const settings = (site, baseUrl) => {
  const stored = { provider: 'openai', base_url: baseUrl, model: 'steady' };
  return { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }] };
};

async function open(context, site) {
  const page = await context.newPage();
  page.setDefaultTimeout(40000);
  page.faults = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(String(error)));
  // Keeps the app's worker, so that the test can kill it alone.
  await page.addInitScript(() => {
    window.Worker = class extends Worker {
      constructor(url, options) {
        super(url, options);
        if (String(url).endsWith('/app-worker.js')) window.appWorker = this;
      }
    };
  });
  await page.goto(site.app);
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  return page;
}

async function begin(page) {
  await page.getByRole('textbox', { name: 'Task' }).fill(TASK);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

const ended = (page) => page.getByRole('region', { name: 'How it ended' }).waitFor({ timeout: 60000 }).then(() => showTurns(page));

/** The parts that must be the same in every run, interrupted or not. */
const essence = ({ outcome, termination_reason, output, total_turns, turns }) => ({
  outcome, termination_reason, output, total_turns,
  turns: turns.map(({ turn, content, counter_level, tool_calls }) => ({
    turn, content, counter_level,
    calls: tool_calls.map(({ id, name, args, result, slug }) => ({ id, name, args, result, slug })),
  })),
});

async function record(page) {
  const document = JSON.parse((await download(page)).text);
  assertValid(document);
  assert.deepEqual(document.events.map(({ seq }) => seq), document.events.map((_, at) => at + 1), 'events without a gap');
  const again = await page.evaluate(async (text) => {
    const { default: init, replay } = await import(new URL('turnwise/turnwise.js', document.baseURI).href);
    await init();
    return replay(JSON.parse(text));
  }, JSON.stringify(document));
  assert.deepEqual(again, { ok: true });
  return document;
}

/** The contents of the notes, as stored in the database. */
const notes = (page) => page.evaluate(async () => {
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const all = (store) => new Promise((resolve) => { const asked = db.transaction(store).objectStore(store).getAll(); asked.onsuccess = () => resolve(asked.result); });
  const get = (store, key) => new Promise((resolve) => { const asked = db.transaction(store).objectStore(store).get(key); asked.onsuccess = () => resolve(asked.result); });
  const [paths] = await all('workspaces');
  const found = {};
  for (const { path, hash } of JSON.parse(paths)) {
    if (path.startsWith('notes/')) found[path] = new TextDecoder().decode(await get('files', hash));
  }
  db.close();
  return found;
});

const KINDS = {
  // As a user would: opens the app again, and then the run from the list.
  renderer: {
    async kill(page, context) {
      const crashed = page.waitForEvent('crash');
      const session = await context.newCDPSession(page);
      session.send('Page.crash').catch(() => {}); // it never answers
      await crashed;
      await page.close();
    },
    next: (page, context, site) => open(context, site),
    async reopen(next) {
      await next.locator('.earlier .run').first().click();
    },
  },
  // The page stays open, and keeps showing the run.
  worker: {
    async kill(page) {
      await page.evaluate(() => {
        window.appWorker.terminate();
        window.appWorker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }));
      });
      await page.locator('.toast', { hasText: 'the agent\'s worker is gone: out of memory' }).waitFor();
    },
    next: (page) => page,
    reopen: async () => {},
  },
};

/** Runs `body(context, seen)` with the app set to a steady model of its own. */
const inContext = (site, body) => withSteadyModel({}, (baseUrl, seen) => withContext({ acceptDownloads: true, storageState: settings(site, baseUrl) }, (context) => body(context, seen)));

for (const [kind, { kill, next: nextOf, reopen }] of Object.entries(KINDS)) {
  test(`a run outlasts ${KILLS} killed ${kind}s`, async (t) => {
    if (SHORT) sayLeft(t, ALL_KILLS - KILLS, `killed ${kind}s`);
    await withSite(async (site) => {
      // One uninterrupted run to compare with; the pace of its requests determines when to kill.
      const whole = await inContext(site, async (context, seen) => {
        const page = await open(context, site);
        await begin(page);
        await ended(page);
        const gaps = seen.times.slice(1).map((time, at) => time - seen.times[at]).sort((a, b) => a - b);
        const document = await record(page);
        assert.equal(document.output, ANSWER);
        const written = await notes(page);
        assert.deepEqual(Object.keys(written), ['notes/one.md', 'notes/three.md', 'notes/two.md']);
        assert.deepEqual(page.faults, []);
        return { essence: essence(document), gap: gaps[gaps.length >> 1], written };
      });
      const fell = { before: 0, during: 0, after: 0 };
      for (let seed = FIRST; seed < FIRST + KILLS; seed++) {
        await t.test(`seed ${seed}`, async () => {
          const chance = random(seed);
          await inContext(site, async (context, seen) => {
            const page = await open(context, site);
            await begin(page);
            const moment = chance() * (LENGTH + 1); // from before the first request to the last answer
            await seen.until(Math.floor(moment));
            // The moment is the subject here: it may fall between a request's last byte and the next request.
            await sleep((moment % 1) * whole.gap);
            await kill(page, context);
            const asked = Math.max(0, ...seen.turns);

            const next = await nextOf(page, context, site);
            const left = next.getByRole('region', { name: 'Interrupted runs' }).getByRole('button');
            const [stored] = await storedRuns(next);
            if (!asked && !stored) {
              // Nothing had been sent or stored, so nothing is lost.
              assert.equal(await next.locator('.earlier .run').count(), 0);
              fell.before += 1;
              return;
            }
            await reopen(next);
            // A page that outlived its worker may have received less than was stored: it catches up in a moment.
            if (stored.ended) {
              await ended(next);
              fell.after += 1;
            } else {
              await next.getByRole('button', { name: 'Resume' }).waitFor();
              const before = JSON.parse((await download(next)).text);
              // Everything that a request was sent for is stored: the complete turns before it, and the beginning of its own turn.
              assert.ok(before.turns.length >= asked, `${before.turns.length} turns are stored, ${asked} were asked for`);
              const over = Math.max(0, asked - 1);
              assert.deepEqual(essence(before).turns.slice(0, over), whole.essence.turns.slice(0, over));
              await next.getByRole('button', { name: 'Resume' }).click();
              await ended(next);
              fell.during += 1;
            }
            const document = await record(next);
            assert.deepEqual(essence(document), whole.essence);
            assert.deepEqual(await notes(next), whole.written);
            assert.equal(document.requests >= seen.turns.length, true, 'a request that was sent is counted');
            assert.ok(seen.turns.length <= MAX_TURNS * MAX_ATTEMPTS + SYNTHESIS);
            assert.ok(seen.turns.length <= LENGTH + 1, `${seen.turns.length} requests: more than one was repeated`);
            assert.equal(await left.count(), 0);
            assert.equal(await next.locator('.run').count(), 1, 'the run is in the list once');
            assert.deepEqual(next.faults.filter((line) => !/interrupted/.test(line)), []);
          });
        });
      }
      t.diagnostic(`${KILLS} kills: ${fell.before} before anything was sent, ${fell.during} during the run, ${fell.after} after its end`);
      assert.ok(fell.during >= KILLS / 2, 'too few kills fell into the run');
    });
  });
}
