// The answer first: once a run has an answer, its turns fold into one line above it, and open for whoever looks for something in them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, storedToTheEnd, work } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { unpainted } from './lib/marks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const task = (page) => page.getByRole('textbox', { name: 'Task' });
const answer = (page) => page.getByRole('region', { name: /^Answer/ }).last();
const turns = (page) => page.getByRole('region', { name: /^Turn \d/ });

/** Opens the app with a scripted model. */
const withModel = (steps, body, { look = 'wide', settings = {}, expect = [], context = contextOf(look) } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted', ...settings });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], expect, context: { ...context, storageState } }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}));

const ask = async (page, text) => {
  await task(page).fill(text);
  await task(page).press('Enter');
};

const CALL = { id: 'a', name: 'calculate', args: { expression: '6*7' } };

for (const look of Object.keys(LOOKS)) {
  test(`the answer stands apart, and the work is one line that opens: ${look}`, { skip: leftIn(look) }, () => withModel([
    { text: 'Let me see.', calls: [CALL] }, { text: 'It is **42**.' },
    { calls: [{ ...CALL, id: 'b' }] }, { text: 'Still 42.' },
  ], async (page) => {
    const shoot = camera(page, 'work', look);
    await ask(page, 'How much is it?');
    await answered(page);
    await answer(page).getByText('It is 42.').waitFor();
    assert.match(await work(page).innerText(), /^2 turns · 1 tool call · [\d.]+ m?s$/);
    assert.equal(await work(page).getAttribute('aria-expanded'), 'false');
    assert.equal(await turns(page).count(), 0, 'no turn is shown, nor read');
    assert.equal(await page.getByText('Let me see.').isVisible(), false);
    await page.getByRole('region', { name: 'How it ended' }).getByText('Done', { exact: true }).waitFor();
    assert.equal(await page.getByText('The model finished on its own.').first().isVisible(), false);
    // It begins where the task begins: nothing is beside it.
    const left = async (locator) => (await locator.boundingBox()).x;
    assert.equal(await left(answer(page).getByText('It is 42.')), await left(page.getByRole('heading', { level: 1 })));
    await shoot('folded');
    // By keyboard, and back; the button keeps the focus and its place.
    const top = (await work(page).boundingBox()).y;
    await work(page).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Let me see.').waitFor();
    assert.equal(await turns(page).count(), 2);
    assert.equal((await work(page).boundingBox()).y, top);
    await shoot('open');
    await page.keyboard.press('Enter');
    await turns(page).first().waitFor({ state: 'hidden' });
    assert.equal(await work(page).evaluate((button) => button === document.activeElement), true);

    // Each run of a thread folds by itself, and stays as it was left while the page is open.
    await work(page).click();
    await ask(page, 'And now?');
    await answer(page).getByText('Still 42.').waitFor();
    await page.locator('.work').nth(1).waitFor();
    assert.deepEqual(await page.locator('.work').evaluateAll((all) => all.map((one) => one.ariaExpanded)), ['true', 'false']);
    await storedToTheEnd(page, 2);
    if (look === 'wide') {
      await page.getByRole('button', { name: 'New run' }).first().click();
      await page.getByRole('navigation', { name: 'Runs' }).getByRole('button', { name: /How much is it/ }).first().click();
      await page.locator('.work').nth(1).waitFor();
      assert.deepEqual(await page.locator('.work').evaluateAll((all) => all.map((one) => one.ariaExpanded)), ['true', 'false']);
    }
    await page.reload();
    await page.locator('.work').nth(1).waitFor();
    assert.deepEqual(await page.locator('.work').evaluateAll((all) => all.map((one) => one.ariaExpanded)), ['false', 'false']);
  }, { look }));
}

test('what is folded is found by the browser\'s search, and by the keys for turns', () => withModel([
  { text: 'A needle lies here.', calls: [CALL] }, { text: 'It is 42.' },
], async (page, site) => {
  await ask(page, 'How much is it?');
  await answered(page);
  assert.equal(await page.getByText('A needle lies here.').isVisible(), false);
  // A link to a text is the browser's own search.
  await storedToTheEnd(page, 1);
  const address = new URL(page.url());
  await page.goto('about:blank');
  await page.goto(`${address.href}:~:text=A%20needle%20lies`);
  await page.getByText('A needle lies here.').waitFor();
  assert.equal(await work(page).getAttribute('aria-expanded'), 'true');
  await work(page).click();
  await turns(page).first().waitFor({ state: 'hidden' });
  await page.locator('#transcript').focus();
  await page.keyboard.press('k');
  await turns(page).first().waitFor();
  assert.equal(await work(page).getAttribute('aria-expanded'), 'true');
}));

test('the work of a run at its limit folds, and its conclusion stays marked; a failure is not folded', () => withModel([
  { calls: [CALL] }, { text: 'So far: 42.' }, { status: 400, body: '{"error":{"message":"No such model"}}' },
], async (page) => {
  await ask(page, 'How much is it?');
  await answered(page);
  assert.equal(await answer(page).locator('.box > .title').innerText(), 'Synthesis: the turn limit was reached');
  await page.getByRole('region', { name: 'How it ended' }).getByText('Concluded at the limit', { exact: true }).waitFor();
  await camera(page, 'work', 'wide')('synthesis');
  await ask(page, 'And?');
  await page.getByRole('region', { name: 'How it ended, follow-up 1' }).getByText('No such model').waitFor();
  assert.equal(await page.locator('.work').count(), 1);
}, { settings: { max_turns: '1' }, expect: [/warning: turnwise: turn 1, attempt 1: provider_error/, /llm_error/] }));

const LONG = `Read this.\n\n${'A line of a long paste that goes on and on.\n'.repeat(700)}`;

for (const [name, viewport, least] of [['landscape', { width: 844, height: 390 }, 200], ['twice as large', { width: 640, height: 400 }, 180], ['tablet', { width: 820, height: 1180 }, 850]]) {
  test(`most of a small window is for reading, and a long prompt leaves room for the answer: ${name}`, () => withModel([{ text: 'It is 42.' }], async (page) => {
    await ask(page, LONG);
    await answered(page);
    const { height, width } = await page.locator('#transcript').boundingBox();
    assert.ok(height >= least, `${height} of ${viewport.height} px are for reading`);
    assert.equal(width, viewport.width, 'nothing is beside it');
    const heading = page.getByRole('heading', { level: 1 });
    const clamped = (await heading.boundingBox()).height;
    assert.ok(clamped <= 6 * 30, `the prompt is ${clamped} px high`);
    await camera(page, `small-${viewport.width}`, 'phone')('answer');
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.ok((await heading.boundingBox()).height > 5000);
    await page.getByRole('button', { name: 'Show less' }).click();
    assert.equal((await heading.boundingBox()).height, clamped);
    const panel = page.getByRole('complementary', { name: 'Run', exact: true });
    await panel.getByRole('button', { name: 'Details' }).click();
    await panel.getByText(/^Done · 1 of 15 turns · [\d.]+k? tokens$/).waitFor();
    await camera(page, `small-${viewport.width}`, 'phone')('details');
  }, { context: { viewport, reducedMotion: 'reduce', colorScheme: 'light' } }));
}

test('a list of tasks keeps its numbers, and a table its last empty cell', () => withModel([{ text: '1. one\n2. two\n3. [x] three\n\n| a | b | |\n|---|---|---|\n| 1 | 2 | |' }], async (page) => {
  await ask(page, 'A list?');
  await answered(page);
  await page.locator('.prose table').waitFor();
  assert.equal(await page.locator('.prose ol > li.todo').evaluate((item) => getComputedStyle(item).listStyleType), 'decimal');
  assert.deepEqual(await page.locator('.prose tr').evaluateAll((rows) => rows.map((row) => row.cells.length)), [3, 3]);
}));

test('with forced colours, ticks and signs are still there', () => withModel([{ calls: [CALL] }, { text: 'It is 42.' }], async (page) => {
  await ask(page, 'How much?');
  await answered(page);
  for (const what of ['.panel .ticks i', '.rail .dot', '.ending .dot']) assert.ok(await page.locator(what).count() > 0, what);
  assert.deepEqual(await page.evaluate(unpainted), []);
  await page.screenshot({ path: new URL('shots/work-forced-colours.png', import.meta.url).pathname });
}, { context: { ...contextOf('wide'), forcedColors: 'active' } }));
