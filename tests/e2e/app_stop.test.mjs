// Stop ends a run now and keeps its text, whatever the run is doing; Wrap up has it conclude; and what had arrived of an answer outlives
// the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showTurns, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const box = (page) => page.getByRole('textbox', { name: 'Task' });
const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();
const ending = (page) => page.getByRole('region', { name: 'How it ended' }).last();
const stop = (page) => page.getByRole('button', { name: 'Stop', exact: true }).first();
const wrapUp = (page) => page.getByRole('button', { name: 'Wrap up', exact: true });
const held = (text) => ({ chunks: [reply({ text }).slice(0, -3).join('')], hold: true });
const call = (name, args, id = 'c1') => ({ id, name, args });

/** Opens the app with a scripted model. */
const withModel = (steps, body, look = 'wide', more = {}) => withScript(steps, (baseUrl, requests) => withSite((site) => {
  const localStorage = [{ name: 'turnwise.settings', value: JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted', ...more.settings }) }];
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] };
  return withPage(site.app, { context: contextOf(look, { storageState }), reach: [baseUrl], expect: more.expect }, async (page) => {
    await box(page).waitFor();
    return body(page, requests);
  });
}));

async function ask(page, text) {
  await box(page).fill(text);
  await box(page).press('Enter');
}

/** What the store has of answers that were streaming. */
const drafts = (page) => page.evaluate(async () => {
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const asked = db.transaction('drafts').objectStore('drafts').getAll();
  const all = await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
  db.close();
  return all;
});
/** Waits until this text is stored as what has arrived; without a text, until nothing is. Not with waitForFunction, which does not wait for promises. */
async function drafted(page, text) {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const all = await drafts(page);
    if (text === undefined ? !all.length : all.some((draft) => draft.includes(text))) return;
    assert.ok(performance.now() < deadline, `the drafts are ${all}`);
    await page.waitForTimeout(100);
  }
}

for (const look of Object.keys(LOOKS)) {
  test(`a stopped answer stays, and is quoted in a follow-up, which goes on from before it: ${look}`, { skip: leftIn(look) }, () => withModel([
    held('A lamp is a **source of bri'),
    {
      text: 'It gives light.',
      check: ({ messages }) => {
        // Only what the person quoted reaches the model.
        assert.deepEqual(messages.map(({ role }) => role), ['system', 'user']);
        assert.equal(messages[1].content, 'What is a lamp?\n\n> A lamp is a **source of bri\n\nGo on from there.');
      },
    },
  ], async (page) => {
    const shoot = camera(page, 'stop', look);
    await ask(page, 'What is a lamp?');
    await said(page, 'source of bri');
    assert.equal(await wrapUp(page).count(), 0, 'what streams in may be the answer');
    await shoot('streaming');
    await stop(page).click();
    await ending(page).getByText('You stopped the run.').waitFor();
    await page.locator('.partial.kept').getByText('source of bri').waitFor();
    assert.equal(await page.locator('.failed .what').innerText(), 'Stopped here');
    await page.locator('.page[data-ended]').waitFor();
    await shoot('stopped');
    await storedToTheEnd(page, 1);
    await page.reload();
    await page.locator('.partial.kept').getByText('source of bri').waitFor();
    await ending(page).getByRole('button', { name: 'Quote what arrived' }).click();
    assert.equal(await box(page).inputValue(), '> A lamp is a **source of bri\n\n');
    await shoot('quoted');
    await box(page).press('End');
    await page.keyboard.type('Go on from there.');
    await box(page).press('Enter');
    await said(page, 'It gives light.');
  }, look));

  test(`what had arrived when the page was reloaded is shown, and the resumed run asks for all of it: ${look}`, { skip: leftIn(look) }, () => withModel([
    held('A lamp is a **source of bri'),
    { text: 'A lamp is a **source of bright light**.', check: ({ messages }) => assert.deepEqual(messages.map(({ role, content }) => [role, role === 'user' && content]), [['system', false], ['user', 'What is a lamp?']]) },
  ], async (page) => {
    const shoot = camera(page, 'stop', look);
    await ask(page, 'What is a lamp?');
    await said(page, 'source of bri');
    await drafted(page, 'source of bri');
    await page.reload();
    await page.locator('.partial.kept').getByText('source of bri').waitFor();
    await page.getByText('Interrupted here: the page was closed while this was written.').waitFor();
    await shoot('interrupted');
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await said(page, 'source of bright light');
    await showTurns(page);
    await page.locator('.partial:not(.kept)').getByText('source of bri').waitFor();
    await storedToTheEnd(page, 1);
    await drafted(page);
  }, look, { expect: [/interrupted: the page was closed/] }));

  test(`Wrap up makes one request without tools: ${look}`, { skip: leftIn(look) }, () => withModel([
    { calls: [call('calculate', { expression: '6*7' })] },
    { chunks: [], hold: true },
    { text: 'In short: 42.', check: (body) => assert.ok(!body.tools?.length || body.tool_choice === 'none') },
  ], async (page) => {
    await ask(page, 'Multiply.');
    await wrapUp(page).first().waitFor();
    await camera(page, 'stop', look)('wrap-up');
    await wrapUp(page).first().click();
    await said(page, 'In short: 42.');
    await ending(page).getByText('You asked it to wrap up, so it concluded from what it had gathered.').waitFor({ state: 'attached' });
    await wrapUp(page).first().waitFor({ state: 'detached' });
  }, look));
}

/** What a run does when it is stopped, and what shows that it does. */
const DOING = {
  'a tool runs': [{ calls: [call('run_code', { code: 'for (;;);' })] }, (page) => page.locator('.doing', { hasText: 'Running a program' }).waitFor()],
  'it waits before another attempt': [{ status: 429, headers: { 'retry-after': '30' }, body: '{"error":{"message":"Slow down."}}' }, (page) => page.getByText(/Trying again in/).waitFor()],
  'it waits for the first word': [{ chunks: [], hold: true }, (page) => page.getByText('Waiting for the model').waitFor()],
};
for (const [what, [step, shows]] of Object.entries(DOING)) {
  test(`Stop ends a run while ${what}, and nothing more is sent`, () => withModel([step], async (page) => {
    await ask(page, 'Do it.');
    await shows(page);
    await stop(page).click();
    await ending(page).getByText('You stopped the run.').waitFor();
    await ending(page).getByRole('button', { name: 'Finish the answer', exact: true }).waitFor();
    assert.doesNotMatch(await page.locator('#transcript').innerText(), /The run was cancelled/);
    assert.equal(await page.getByRole('button', { name: 'Copy', exact: true }).count(), 0, 'there is no answer');
  }, 'wide', { expect: step.status ? [/429/] : [] }));
}

test('Stop ends the sub-agents of a run, each with what had arrived', () => withModel([
  { calls: [call('spawn_subagents', { tasks: [{ task: 'Look at lamps' }] })] },
  held('Lamps are old'),
], async (page) => {
  await ask(page, 'Look around.');
  await page.locator('.lane[data-state=running]').waitFor();
  await drafted(page, 'Lamps are old');
  await stop(page).click();
  await ending(page).getByText('You stopped the run.').waitFor();
  await page.locator('.lane > summary').click();
  await page.locator('.lane-body .partial.kept').getByText('Lamps are old').waitFor();
}, 'wide', { settings: { tools_off: 'spawn_subagents' } }));
