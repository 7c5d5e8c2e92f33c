// Plans that outlast the page: the list, the address, search, rename and delete after a reload; a plan that is interrupted in
// the middle of a step and resumed, in the same tab or another. The scripted model counts: what a finished step was asked is
// never asked again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, UNDO_MS, download, runTask, startPage, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { MISSING, answerAsOpenAi, enterKey } from './lib/openai.mjs';
import { withScript } from './lib/script-server.mjs';
import { assertValidSession } from './lib/session.mjs';
import { withSite } from './lib/site.mjs';
import { changeStored, everything, withPatched } from './lib/stored.mjs';
import { leftIn } from './lib/tier.mjs';

const KEY = 'sk-planted-4f9a8b7c6d5e4f3a2b1c';
const PLAN = {
  agents: { Reader: { kind: 'gather', tools: ['calculate'] }, Writer: { kind: 'synthesis', tools: [] } },
  steps: [
    { order: 1, agent: 'Reader', action: 'Look up the tides' },
    { order: 2, agent: 'Reader', action: 'Count the moons', dependencies: [1] },
    { order: 3, agent: 'Writer', action: 'Write about the sea' },
  ],
};

/** Opens the app with a scripted model. `init` runs in the worker that stores the runs, before its own script. */
const withPlan = (steps, body, { look = 'wide', expect = [], init } = {}) => withPatched(init, (mounts) => withSite((site) => withScript(steps, (baseUrl) => {
  const localStorage = [
    { name: 'turnwise.settings', value: JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' }) },
    { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: KEY }) },
  ];
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] } });
  return withPage(site.app, { reach: [baseUrl], context, expect }, async (page) => {
    await ready(page);
    return body(page, site);
  });
}), { mounts }));

const ready = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
const drawer = async (page, look) => { if (look === 'phone') await page.getByRole('button', { name: 'Runs', exact: true }).click(); };
const line = (page) => page.locator('.run', { hasText: 'Write about the sea' });
const node = (page, order) => page.getByRole('button', { name: new RegExp(`^Step ${order} ?, `) });
const finished = (page) => page.getByRole('region', { name: 'Result of the plan' }).waitFor();
const resume = (page) => page.getByRole('button', { name: 'Resume', exact: true });
const toast = (page, words) => page.locator('.toast', { hasText: words }).waitFor();
const open = async (page) => {
  const more = page.getByRole('button', { name: 'Details' });
  if (await more.isVisible() && await more.getAttribute('aria-expanded') === 'false') await more.click();
};
/** The most requests of the plan as a whole, as its panel says. */
const bound = async (page) => Number(/at most (\d+)/.exec(await page.locator('.figures dd').first().getAttribute('title'))[1]);
const statuses = (headers) => headers.filter(({ kind }) => kind === 'plan').map(({ ended }) => ended);
const planEnded = (headers) => statuses(headers).length > 0 && statuses(headers).every(Boolean);

async function runPlan(page, look = 'wide', plan = PLAN) {
  await drawer(page, look);
  await page.getByRole('button', { name: 'New plan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Plan' });
  await dialog.getByRole('button', { name: 'JSON' }).click();
  await dialog.getByLabel('The plan as JSON').fill(JSON.stringify(plan));
  await dialog.getByRole('button', { name: 'Run the plan' }).click();
  await node(page, 1).waitFor();
}

/** Checks the texts that a request must hold, and those that it must not. */
const asks = (...texts) => ({ messages }) => texts.forEach((text) => assert.ok(JSON.stringify(messages).includes(text), `${text} is not in the request`));

/** A promise, with what resolves it. */
function gate() {
  let go;
  const opened = new Promise((resolve) => { go = resolve; });
  return { opened, go };
}

const answers = () => [
  { text: 'High water comes twice.', check: asks('Look up the tides') },
  { text: 'There is one moon, the kelpwater moon.', check: asks('Count the moons', 'High water comes twice.') },
  { text: 'The sea rises and falls.', check: asks('Write about the sea', 'High water comes twice.', 'kelpwater') },
];

for (const look of Object.keys(LOOKS)) {
  test(`a plan that ended is listed, found, renamed, opened by its address and deleted: ${look}`, { skip: leftIn(look) }, () => withPlan([...answers(), ...Array(5).fill({ text: 'An answer.' })], async (page) => {
    const shoot = camera(page, 'plans-stored', look);
    await runPlan(page, look);
    await finished(page);
    await untilStored(page, (headers) => headers.length === 4 && headers.every(({ ended }) => ended));
    const address = page.url();
    assert.match(address, /#\/plan\/[-0-9a-f]{36}$/);

    // A reload stays there, with every step's transcript and the record.
    await page.reload();
    await finished(page);
    assert.equal(page.url(), address);
    assert.match(await page.locator('.plan-result .prose').innerText(), /The sea rises and falls\./);
    await node(page, 2).click();
    await page.getByRole('region', { name: 'Step transcript' }).getByText('kelpwater').first().waitFor();
    assert.deepEqual(await page.locator('.told .call[data-order]').evaluateAll((cards) => cards.map((card) => Number(card.dataset.order))), [1]);
    await open(page);
    const document = JSON.parse((await download(page)).text);
    assertValidSession(document);
    assert.deepEqual(document.steps.map(({ status }) => status), ['completed', 'completed', 'completed']);
    assert.equal(document.requests, 3);
    await shoot('opened');

    // Other runs; Back leads to the plan.
    for (const task of ['One.', 'Two.', 'Three.', 'Four.', 'Five.']) {
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('n');
      await runTask(page, task);
    }
    await untilStored(page, (headers) => headers.filter(({ ended }) => ended).length === 9);
    await startPage(page);
    await ready(page);
    await drawer(page, look);
    await line(page).click();
    await finished(page);
    assert.equal(page.url(), address);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: START }).waitFor();
    await page.goBack();
    await finished(page);
    assert.equal(page.url(), address);

    // It is found by what a step answered, and has a name of its own.
    await startPage(page);
    await ready(page);
    await drawer(page, look);
    await page.locator('.earlier .run').nth(5).waitFor();
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('kelpwater moon');
    await page.waitForFunction(() => document.querySelectorAll('.runs .run').length === 1);
    assert.match(await line(page).innerText(), /plan, 3 completed/);
    await shoot('found');
    const of = page.locator('li.earlier');
    await of.hover();
    await of.getByLabel('Rename, pin or delete').click();
    await of.getByLabel('Name', { exact: true }).fill('The sea plan');
    await of.getByLabel('Name', { exact: true }).press('Enter');
    await untilStored(page, (headers) => headers.some(({ kind, name }) => kind === 'plan' && name === 'The sea plan'));
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('');
    await page.locator('.earlier b', { hasText: 'The sea plan' }).waitFor();
    await page.locator('.earlier .run', { hasText: 'The sea plan' }).click();
    await finished(page);
    assert.equal(page.url(), address);

    // Deleted, brought back, and deleted for good.
    await drawer(page, look);
    const named = page.locator('.runs li', { hasText: 'The sea plan' });
    const remove = async () => {
      await named.hover();
      await named.getByLabel('Rename, pin or delete').click();
      await named.getByRole('button', { name: 'Delete', exact: true }).click();
      await named.waitFor({ state: 'detached' });
    };
    await remove();
    // The list stays open.
    await page.getByRole('button', { name: 'Undo' }).click();
    await named.waitFor();
    await named.locator('.run').click();
    await finished(page);
    await drawer(page, look);
    await page.clock.install();
    await remove();
    // The message stays for as long as the pointer is on it, and on a phone it appears where the pointer is.
    await page.mouse.move(5, 5);
    await page.clock.fastForward(UNDO_MS);
    // Once it can no longer be undone.
    await untilStored(page, (headers) => headers.length === 5 && headers.every(({ kind }) => !kind));
    const left = JSON.stringify(await everything(page));
    assert.ok(!left.includes(address.split('/').at(-1)) && !left.includes('kelpwater'), 'something of the plan is still stored');
    await page.goto(address);
    await page.reload();
    await toast(page, 'is not stored in this browser');
  }, { look }));
}

/** The script of a plan whose page is closed while its second step waits for the reply to its second request. */
function interrupted(more = {}) {
  const [first, second, third] = answers();
  const asked = gate();
  const steps = [
    first,
    { calls: [{ id: 'c1', name: 'calculate', args: { expression: '6 * 7' } }], check: second.check },
    { chunks: [], hold: true, check: (request) => { asks('Count the moons', '42')(request); asked.go(); } },
    { text: second.text, check: asks('Count the moons', '42'), ...more },
    third,
  ];
  return { asked, steps };
}

/** Checks the record of that plan after it was resumed. */
async function checkResumed(page) {
  await finished(page);
  await open(page);
  const document = JSON.parse((await download(page)).text);
  assertValidSession(document);
  assert.deepEqual(document.steps.map(({ status }) => status), ['completed', 'completed', 'completed']);
  // The lost request counts: one of step 1, three of step 2, one of step 3.
  assert.deepEqual(document.steps.map(({ run }) => run.requests), [1, 3, 1]);
  assert.equal(document.requests, 5);
  assert.equal(document.ending.output, 'The sea rises and falls.');
  const replayed = await page.evaluate(async (text) => {
    const { default: init, replay } = await import(new URL('turnwise/turnwise.js', document.baseURI).href);
    await init();
    return Promise.all(JSON.parse(text).steps.map(({ run }) => replay(run)));
  }, JSON.stringify(document));
  assert.deepEqual(replayed, Array(3).fill({ ok: true }));
}

for (const look of Object.keys(LOOKS)) {
  const goOn = gate();
  const { asked, steps } = interrupted({ until: goOn.opened });
  test(`a plan whose page was closed in the middle of a step is resumed there: ${look}`, { skip: leftIn(look) }, () => withPlan(steps, async (first, site) => {
    await runPlan(first, look);
    await asked.opened;
    await first.locator('.figures dd').first().waitFor({ state: 'attached' });
    const before = await bound(first);
    const address = first.url();
    await first.close({ runBeforeUnload: false });

    const page = await first.context().newPage();
    const shoot = camera(page, 'plans-stored', look);
    page.setDefaultTimeout(40000);
    await page.goto(site.app);
    await ready(page);
    const left = page.getByRole('region', { name: 'Interrupted runs' }).getByRole('button', { name: /Write about the sea/ });
    await left.getByText('plan, 1 of 3 steps, interrupted').waitFor();
    await shoot('start');
    await left.click();
    await resume(page).waitFor();
    assert.equal(page.url(), address);
    // On narrow pages it is among the details.
    await page.getByText(/^Interrupted when the tab closed\. Resume to continue: finished steps keep their results, up to \d+ requests\.$/).waitFor({ state: 'attached' });
    await node(page, 1).getByText('completed').waitFor();
    await node(page, 2).getByText('interrupted').waitFor();
    await node(page, 2).click();
    await page.getByRole('region', { name: 'Step transcript' }).getByText('calculate').first().waitFor();
    await page.getByRole('button', { name: 'Close the step' }).click();
    await shoot('interrupted');

    await resume(page).click();
    await node(page, 2).getByText(/^turn 2 of/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    assert.ok(await bound(page) <= before, 'the bound grew');
    goOn.go();
    await checkResumed(page);
    await untilStored(page, planEnded);
    await page.reload();
    await finished(page);
    assert.match(await page.locator('.plan-result .prose').innerText(), /The sea rises and falls\./);
  }, { look }));
}

test('a plan whose key was lost with its page asks for it, and loses nothing', () => withSite((site) => {
  const localStorage = [{ name: 'turnwise.settings', value: JSON.stringify({ provider: 'openai', model: 'gpt-5' }) }];
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] };
  return withPage(site.app, { context: contextOf('wide', { storageState }) }, async (first) => {
    const asked = gate();
    const text = 'The sea rises and falls.';
    // The first request is never answered: the page is closed meanwhile.
    const keys = await answerAsOpenAi(first, [undefined, { text }, { text }, { text }], asked.go);
    await ready(first);
    await first.getByRole('button', { name: 'Settings' }).first().click();
    await enterKey(first, 'sk-first-0123456789');
    await runPlan(first);
    await asked.opened;
    await first.waitForURL(/#\/plan\//);
    const address = first.url();
    await first.close({ runBeforeUnload: false });

    const page = await first.context().newPage();
    page.setDefaultTimeout(40000);
    await page.goto(address);
    await resume(page).click();
    await page.getByText(MISSING).waitFor();
    assert.equal(keys.length, 1);
    await enterKey(page, 'sk-second-0123456789');
    await resume(page).click();
    await finished(page);
    // One request was lost, and each step asked once.
    assert.deepEqual(keys, ['Bearer sk-first-0123456789', ...Array(3).fill('Bearer sk-second-0123456789')]);
  });
}));

test('a plan in one tab is followed in another, and taken over when the first is gone', () => {
  const followed = gate();
  const { asked, steps } = interrupted();
  steps[1].until = followed.opened;
  return withPlan(steps, async (first, site) => {
    const page = await first.context().newPage();
    page.setDefaultTimeout(40000);
    await page.goto(site.app);
    await ready(page);
    await runPlan(first);
    await page.locator('.earlier .run', { hasText: 'Write about the sea' }).click();
    await page.getByText('It runs in another tab; this one follows.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Stop' }).count() + await resume(page).count(), 0);
    followed.go();
    await asked.opened;
    await node(page, 1).getByText('completed').waitFor();
    await node(page, 2).getByText(/^turn 2 of/).waitFor();
    await first.close({ runBeforeUnload: false });
    await resume(page).click();
    await checkResumed(page);
  });
});

test('a plan whose worker is gone is resumed on the same page', () => {
  const { asked, steps } = interrupted();
  return withPlan(steps, async (page) => {
    // Keeps the app's worker, to end it alone.
    await page.addInitScript(() => {
      window.Worker = class extends Worker {
        constructor(url, options) {
          super(url, options);
          if (String(url).endsWith('/app-worker.js')) window.appWorker = this;
        }
      };
    });
    await page.reload();
    await ready(page);
    await runPlan(page);
    await asked.opened;
    await page.evaluate(() => {
      window.appWorker.terminate();
      window.appWorker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' }));
    });
    await toast(page, 'It was stored; you can resume it.');
    await resume(page).click();
    await checkResumed(page);
  }, { expect: [/^warning: turnwise: turn 2, attempt 1: interrupted/] });
});

test('a plan of which a part is damaged is shown without it, and deleted with all that is left of it', () => withPlan(answers(), async (page) => {
  await runPlan(page);
  await finished(page);
  await untilStored(page, planEnded);
  const key = page.url().split('/').at(-1);
  // The start of the second step's run, and an event of the third's.
  await changeStored(page, 'origins', (origins) => {
    const keys = origins.getAllKeys();
    keys.onsuccess = () => origins.put('{"config"', keys.result.find((key) => key.endsWith('.2')));
  });
  await changeStored(page, 'events', (events) => {
    const keys = events.getAllKeys();
    keys.onsuccess = () => events.put('not an event', keys.result.find((key) => key.includes('.3/')));
  });
  const before = await everything(page);
  await page.reload();
  await toast(page, 'A part of this plan is damaged and not shown: step 2, step 3 from event 1 on. Nothing was deleted.');
  await node(page, 1).getByText('completed').waitFor();
  assert.deepEqual((await everything(page)).events, before.events);
  const named = page.locator('.runs li', { hasText: 'Write about the sea' });
  await named.hover();
  await named.getByLabel('Rename, pin or delete').click();
  await page.clock.install();
  await named.getByRole('button', { name: 'Delete', exact: true }).click();
  await named.waitFor({ state: 'detached' });
  await page.clock.fastForward(UNDO_MS);
  await untilStored(page, (headers) => headers.length === 0);
  const left = await everything(page);
  assert.ok(!JSON.stringify(left).includes(key), 'something of the plan is still stored');
  for (const name of ['runs', 'origins', 'events', 'plans', 'workspaces', 'files', 'notes']) assert.deepEqual(left[name].keys, [], name);
}));

test('no stored byte of a plan holds a planted key, wherever it turns up', () => {
  const steps = answers();
  steps[0].text = `The key is ${KEY}.`;
  steps[1].check = steps[2].check = ({ messages }) => assert.ok(!JSON.stringify(messages).includes(KEY));
  const plan = structuredClone(PLAN);
  plan.agents.Reader.system = `You know the key ${KEY}.`;
  plan.steps[1].action += ` with ${KEY}`;
  return withPlan(steps, async (page) => {
    await runPlan(page, 'wide', plan);
    await finished(page);
    await untilStored(page, planEnded);
    const all = JSON.stringify(await everything(page));
    assert.ok(all.length > 5000 && all.includes('High water') === false && all.includes('kelpwater'));
    assert.ok(!all.includes(KEY), 'the key is in the database');
  });
});

test('without space a plan goes on, and is stored once there is space again', () => {
  const [full, free, second, third] = [gate(), gate(), gate(), gate()];
  const steps = answers();
  const checks = steps.map(({ check }) => check);
  Object.assign(steps[1], { until: full.opened, check: (request) => { checks[1](request); second.go(); } });
  Object.assign(steps[2], { until: free.opened, check: (request) => { checks[2](request); third.go(); } });
  return withPlan(steps, async (page) => {
    const failing = (fails) => page.workers().find((one) => one.url().endsWith('/app-worker.js')).evaluate((value) => { self.failing = value; }, fails);
    await runPlan(page);
    await second.opened;
    await failing(true);
    full.go();
    await toast(page, 'There is no space left');
    await third.opened;
    await failing(false);
    free.go();
    await toast(page, 'stored again');
    await finished(page);
    await untilStored(page, planEnded);
    await page.reload();
    await finished(page);
    await node(page, 2).click();
    await page.getByRole('region', { name: 'Step transcript' }).getByText('kelpwater').first().waitFor();
  }, {
    init: () => {
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function full(...args) {
        if (self.failing) throw new DOMException('The quota was exceeded.', 'QuotaExceededError');
        return put.apply(this, args);
      };
    },
  });
});
