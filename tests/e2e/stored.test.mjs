// Runs that outlast the page: the list, follow-ups after a reload, two tabs, renaming and deleting, and what is reported
// when storing fails. Whatever fails, the run continues, and what was stored before stays.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { UNDO_MS, WIDE, download, runTask, showTurns, startPage, storedToTheEnd, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf, shots } from './lib/looks.mjs';
import { withSite } from './lib/site.mjs';
import { ANSWER, withSteadyModel } from './lib/steady-server.mjs';
import { changeStored, everything, withPatched } from './lib/stored.mjs';
import { left, leftIn } from './lib/tier.mjs';

const KEY = 'sk-planted-4f9a8b7c6d5e4f3a2b1c';

/**
 * Runs `body` in the app with the steady model, and a key that must not appear anywhere. `init` runs in the worker that
 * stores the runs, before its own script.
 */
const withStored = ({ look = 'wide', expect = [], model = {}, init }, body) => withPatched(init, (mounts) => withSite((site) => withSteadyModel(model, (baseUrl, seen) => {
  const local = [
    { name: 'turnwise.settings', value: JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'steady' }) },
    { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: KEY }) },
  ];
  const origin = new URL(site.app).origin;
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin, localStorage: local }] } });
  return withPage(site.app, { reach: [baseUrl], expect, context }, async (page) => {
    await ready(page);
    return body(page, { site, seen, baseUrl });
  });
}), { mounts }));

/** Sets whether the operations that `FAULTS` names fail from now on. */
const failing = (page, fails) => page.workers().find((one) => one.url().endsWith('/app-worker.js')).evaluate((value) => { self.failing = value; }, fails);

const ready = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
const earlier = (page) => page.locator('.earlier .run');
const ended = (page) => page.getByRole('region', { name: 'How it ended' }).last().waitFor({ timeout: 60000 }).then(() => showTurns(page));
const toast = (page, words) => page.locator('.toast', { hasText: words }).waitFor();

async function start(page, task) {
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

for (const look of Object.keys(LOOKS)) {
  test(`the list after a reload: open, follow up, rename, search, delete: ${look}`, { skip: leftIn(look) }, () => withStored({ look }, async (page) => {
    const shoot = camera(page, 'stored', look);
    const rail = async () => { if (look === 'phone') await page.getByRole('button', { name: 'Runs', exact: true }).click(); };
    for (const task of ['Write three notes.', 'Write them again.', 'And once more.']) {
      await runTask(page, task);
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('n');
    }
    await storedToTheEnd(page, 3);
    await startPage(page);
    await ready(page);
    await rail();
    await earlier(page).nth(2).waitFor();
    assert.deepEqual(await earlier(page).locator('b').allInnerTexts(), ['And once more.', 'Write them again.', 'Write three notes.']);
    await shoot('list');

    await earlier(page).nth(1).click();
    await ended(page);
    assert.equal(await page.locator('section.turn').count(), 6);
    assert.match(await page.locator('.ending').textContent(), /llm_complete/);
    // The written file is there again, and a follow-up keeps the conversation.
    await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
    await page.getByRole('dialog').getByText('notes/three.md').waitFor();
    await page.keyboard.press('Escape');
    await runTask(page, 'Thanks.');
    assert.equal(await page.locator('section.turn').count(), 7);
    await storedToTheEnd(page, 4);

    await rail();
    const third = page.locator('li.earlier').nth(1);
    await third.hover();
    await third.getByLabel('Rename, pin or delete').click();
    await third.getByLabel('Name', { exact: true }).fill('The first notes');
    await third.getByLabel('Name', { exact: true }).press('Enter');
    await page.locator('.earlier b', { hasText: 'The first notes' }).waitFor();
    // A name is shown before it is stored.
    await untilStored(page, (runs) => runs.some(({ name }) => name === 'The first notes'));
    await startPage(page);
    await ready(page);
    await rail();
    await earlier(page).nth(2).waitFor();
    assert.deepEqual(await earlier(page).locator('b').allInnerTexts(), ['Write them again.', 'And once more.', 'The first notes']);

    const gone = page.locator('li.earlier').nth(1);
    await gone.hover();
    await gone.getByLabel('Rename, pin or delete').click();
    await shoot('menu');
    await page.clock.install();
    await gone.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.locator('.earlier b', { hasText: 'And once more.' }).waitFor({ state: 'detached' });
    await page.clock.fastForward(UNDO_MS);
    await untilStored(page, (runs) => runs.length === 3); // once it can no longer be undone
    const left = await everything(page);
    assert.equal(left.runs.keys.length, 3, 'the task with its follow-up, and another');
    assert.ok(!JSON.stringify(left).includes('And once more.'), 'something of the deleted run is still stored');
    assert.ok(left.files.values.some((text) => text === 'first note, revised'), 'the files of other runs are kept');
  }));
}

test('a run in one tab is followed in another, and taken over when the first is gone', async () => {
  // The model continues once the other tab has caught up, and finishes only after the first tab is closed.
  let [goOn, finish] = [];
  const followed = new Promise((resolve) => { goOn = resolve; });
  const left = new Promise((resolve) => { finish = resolve; });
  const gate = (turn) => ({ 3: followed, 4: left })[turn];
  await withStored({ model: { gate } }, async (page, { site }) => {
    const other = await page.context().newPage();
    await other.goto(site.app);
    await ready(other);
    await start(page, 'Write three notes.');
    await earlier(other).first().waitFor();
    await earlier(other).first().click();
    await other.getByText('It runs in another tab; this one follows.').waitFor();
    await other.getByText('Turn 2.').first().waitFor();
    assert.equal(await other.getByRole('button', { name: 'Stop' }).count(), 0);
    await other.screenshot({ path: path.join(shots, 'stored-followed.png') });
    goOn();
    // The tab that drives the run is closed while it asks for turn 4, of which the other one has heard.
    await other.locator('section.turn').nth(3).waitFor();
    await page.close({ runBeforeUnload: false });
    finish();
    await other.getByRole('button', { name: 'Resume' }).waitFor();
    await other.screenshot({ path: path.join(shots, 'stored-interrupted.png') });
    await other.getByRole('button', { name: 'Resume' }).click();
    await ended(other);
    assert.equal(await other.locator('section.turn').count(), 6);
    assert.deepEqual(await other.locator('#transcript .failed .slug').allTextContents(), ['interrupted']);
    const document = JSON.parse((await download(other)).text);
    assert.equal(document.output, ANSWER);
  });
});

test('no stored byte holds a planted key, wherever it turns up', () => withStored({ model: { say: `The key is ${KEY}.` } }, async (page) => {
  await runTask(page, `Write three notes. My key: ${KEY}`);
  await storedToTheEnd(page, 1);
  const all = JSON.stringify(await everything(page));
  assert.ok(all.length > 5000);
  assert.ok(!all.includes(KEY), 'the key is in the database');
  assert.ok(!(await download(page)).text.includes(KEY), 'the key is in the record');
  const rest = await page.evaluate((settings) => JSON.stringify(Object.entries(localStorage).filter(([name]) => name !== settings)), 'turnwise.keys');
  assert.ok(!rest.includes(KEY), 'the key is in the local storage');
}));

// Storage that fails in the middle of a run: what is reported, and that the run ends as it should.
const FAULTS = {
  'storage does not answer': [() => {
    // The ten seconds after which it is said become one.
    const { setTimeout } = self;
    self.setTimeout = (then, ms, ...rest) => setTimeout(then, ms / 10, ...rest);
    // A foreign transaction that never ends: all others wait behind it.
    setInterval(() => {
      if (!self.failing || self.holding) return;
      self.holding = true;
      const request = indexedDB.open('turnwise');
      request.onsuccess = () => {
        const store = request.result.transaction(['runs', 'origins', 'events'], 'readwrite').objectStore('runs');
        const hold = () => {
          if (self.failing) store.get('nothing').onsuccess = hold;
          else { self.holding = false; request.result.close(); }
        };
        hold();
      };
    }, 5);
  }, 'takes unusually long'],
  'no space is left': [() => {
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function full(...args) {
      if (self.failing) throw new DOMException('The quota was exceeded.', 'QuotaExceededError');
      return put.apply(this, args);
    };
  }, 'There is no space left'],
  'a transaction is aborted': [() => {
    const commit = IDBTransaction.prototype.commit;
    IDBTransaction.prototype.commit = function aborted() {
      return self.failing ? this.abort() : commit.call(this);
    };
  }, 'The run could not be stored'],
};

for (const [name, [init, words]] of Object.entries(FAULTS)) {
  // One way of failing stays in make test.
  test(`${name}: the run goes on, and is stored once that works again`, { skip: name === 'no space is left' ? undefined : left }, () => withStored({ init, model: { pace: 20 } }, async (page) => {
    await runTask(page, 'Write three notes.');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^New run/ }).first().click();
    await failing(page, true);
    await start(page, 'Write them again.');
    await toast(page, words);
    await page.screenshot({ path: path.join(shots, `stored-fault-${name.replaceAll(' ', '-')}.png`) });
    await page.getByText('Turn 3.').first().waitFor();
    await failing(page, false);
    await toast(page, 'stored again');
    await ended(page);
    assert.equal(JSON.parse((await download(page)).text).output, ANSWER);
    await storedToTheEnd(page, 2);
    await startPage(page);
    await ready(page);
    await earlier(page).nth(1).waitFor();
    for (const at of [0, 1]) {
      const title = await earlier(page).last().locator('b').innerText();
      await earlier(page).last().click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await ended(page);
      assert.equal(await page.locator('section.turn').count(), 6, `run ${at}`);
    }
  }));
}

test('storage that never works: it is said once, and the run ends in memory', () => withStored({ init: () => {
  Object.defineProperty(self, 'indexedDB', { value: undefined });
} }, async (page) => {
  await toast(page, 'does not let the page store runs');
  await runTask(page, 'Write three notes.');
  assert.equal(JSON.parse((await download(page)).text).output, ANSWER);
}));

test('an older tab keeps the database locked: it is said, the run goes on, and is stored once the tab is closed', () => withSite((site) => withSteadyModel({ pace: 20 }, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'steady' });
  const origin = new URL(site.app).origin;
  const context = { viewport: WIDE, storageState: { cookies: [], origins: [{ origin, localStorage: [{ name: 'turnwise.settings', value }] }] } };
  // A page of the same site that has version 1 of the database open and does not close it.
  return withPage(`${site.url}host/package.html`, { reach: [baseUrl], context }, async (old) => {
    await old.evaluate(() => new Promise((resolve, reject) => {
      const request = indexedDB.open('turnwise', 1);
      request.onupgradeneeded = () => {
        for (const store of ['runs', 'origins', 'events']) request.result.createObjectStore(store);
        request.transaction.objectStore('runs').put('{"kept": "from version 1"}', 'old-key');
      };
      request.onsuccess = () => { window.db = request.result; resolve(); };
      request.onerror = () => reject(request.error);
    }));
    const page = await old.context().newPage();
    await page.goto(site.app);
    await ready(page);
    await toast(page, 'Another tab with an older Turnwise');
    await start(page, 'Write three notes.');
    await page.getByText('Turn 2.').first().waitFor();
    await old.evaluate(() => window.db.close());
    await ended(page);
    await untilStored(page, (runs) => runs.some(({ ended }) => ended));
    await startPage(page);
    await ready(page);
    await earlier(page).first().waitFor();
    await earlier(page).first().click();
    await ended(page);
    assert.equal(await page.locator('section.turn').count(), 6);
    const { runs } = await everything(page);
    assert.ok(runs.values.includes('{"kept": "from version 1"}'), 'what version 1 had is lost');
    await page.close();
  });
})));

test('a corrupt record is shown as far as it can be read, and nothing of it is lost', () => withStored({}, async (page) => {
  await runTask(page, 'Write three notes.');
  await storedToTheEnd(page, 1);
  await changeStored(page, 'events', (events) => {
    const keys = events.getAllKeys();
    keys.onsuccess = () => events.put('{"seq": 6, "at_ms": "yesterday"}', keys.result[5]);
  });
  const before = await everything(page);
  await startPage(page);
  await ready(page);
  await earlier(page).first().waitFor();
  await earlier(page).first().click();
  await toast(page, 'it is shown up to event 5');
  await page.locator('section.turn').first().waitFor();
  assert.deepEqual((await everything(page)).events, before.events);
}));
