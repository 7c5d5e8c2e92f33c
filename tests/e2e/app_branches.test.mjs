// Branches as a person sees them: a result or a reply is changed where it is shown, what was changed is marked, and the versions of
// an answer are one click apart.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { download, drop, runTask, showTurns, storedToTheEnd, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';
import { assertValid } from './lib/trajectory.mjs';

const sum = (expression) => ({ text: 'Let me see.', calls: [{ id: `c${expression}`, name: 'calculate', args: { expression } }] });
const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();
const task = (page) => page.getByRole('textbox', { name: 'Task' });
const acts = (page) => page.getByRole('group', { name: 'This answer' }).last();
const dialog = (page) => page.getByRole('dialog', { name: 'Branch' });
const turn = (page, n) => page.locator('section.turn').nth(n - 1);
const call = (page, n) => turn(page, n).locator('.call').first();
const RESULT = 'This result was changed by hand';
const REPLY = 'This reply was changed by hand';

/** Opens the app with a scripted model. */
const withModel = (steps, look, body) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: contextOf(look, { storageState }) }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}));

/** Starts the branch and waits until it has ended. */
async function start(page, text) {
  await dialog(page).getByRole('button', { name: 'Start the branch' }).click();
  await dialog(page).waitFor({ state: 'hidden' });
  await said(page, text);
  await acts(page).waitFor();
  await showTurns(page);
}

/** Changes the result of a call with its own button; the field has the focus. */
async function change(page, n, [from, to]) {
  await call(page, n).locator('summary').first().click();
  await call(page, n).getByRole('button', { name: 'Change this result' }).click();
  const field = dialog(page).getByLabel(/^calculate/).and(page.locator(':focus'));
  await field.waitFor();
  assert.equal(await field.inputValue(), from);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(to);
  assert.equal(await field.inputValue(), to, 'the field keeps the focus');
}

for (const look of Object.keys(LOOKS)) {
  test(`a result that was changed is marked, live, stored, in a file, in reports and in a branch of the branch: ${look}`, { skip: leftIn(look) }, () => withModel([
    sum('1+1'), sum('2+2'), { text: 'Two and four.' },
    { ...sum('3+3'), check: ({ messages }) => assert.match(messages.at(-1).content, /^5\n\[Turn 1\/15\]$/) },
    { text: 'Five and six.' },
    { text: 'Once more.', check: ({ messages }) => assert.match(messages[3].content, /^5\n/) },
  ], look, async (page) => {
    const shoot = camera(page, 'changed', look);
    await runTask(page, 'Add.');
    assert.equal(await page.getByRole('img', { name: RESULT }).count(), 0);
    await change(page, 1, ['2', '5']);
    const cut = await dialog(page).locator('.field-row').evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight).map((row) => row.textContent));
    assert.deepEqual(cut, [], 'each field has its height');
    await shoot('form');
    await start(page, 'Five and six.');
    const marked = async () => {
      await showTurns(page);
      await call(page, 1).getByRole('img', { name: RESULT }).waitFor();
      assert.equal(await page.getByRole('img', { name: RESULT }).count(), 1, 'at that call alone');
    };
    await marked();
    await page.locator('.facts').getByText('result of calculate changed').waitFor();
    await call(page, 1).locator('summary').first().click();
    await call(page, 1).getByText('What the model read, changed by hand').waitFor();
    await shoot('call');
    await storedToTheEnd(page, 2);
    await page.reload();
    await marked();
    await call(page, 1).locator('summary').first().click();
    await call(page, 1).getByRole('button', { name: 'Compare with the original' }).click();
    await page.getByRole('region', { name: 'Comparison' }).getByText(/They part at turn 1/).first().waitFor();
    await page.getByRole('button', { name: 'Transcript' }).click();
    await marked();

    if (look === 'wide') {
      const record = await download(page);
      assertValid(JSON.parse(record.text));
      assert.match((await download(page, 'Markdown')).text, /Result \(changed by hand\):/);
      const report = await download(page, 'Report');
      assert.match(report.text, /<span class="changed">changed<\/span>/);
      const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
      try {
        for (const { name, text } of [record, report]) {
          const file = path.join(folder, name);
          writeFileSync(file, text);
          await drop(page, [file]);
          await page.getByRole('status').getByText(`Opened ${name} (read-only).`).waitFor();
          await marked();
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
      await page.goBack();
    }
    // A branch of the branch, with nothing changed.
    await acts(page).getByRole('button', { name: 'Regenerate' }).click();
    await said(page, 'Once more.');
    await acts(page).waitFor();
    await marked();
  }));
}

test('a result is changed by keyboard, and at a step of a replay; a reply at its turn', () => withModel([
  sum('1+1'), { text: 'Two.' },
  { text: 'Seven.', check: ({ messages }) => assert.match(messages.at(-1).content, /^7\n/) },
  { text: 'Nine.', check: ({ messages }) => assert.match(messages.at(-1).content, /^9\n/) },
], 'wide', async (page) => {
  const shoot = camera(page, 'change', 'wide');
  await runTask(page, 'Add.');
  await call(page, 1).locator('summary').first().focus();
  await page.keyboard.press('Enter');
  await call(page, 1).getByRole('button', { name: 'Change this result' }).waitFor();
  await shoot('call');
  for (let tabs = 0; tabs < 6; tabs += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement.textContent === 'Change this result')) break;
  }
  await page.keyboard.press('Enter');
  const field = dialog(page).getByLabel(/^calculate/).and(page.locator(':focus'));
  await field.waitFor();
  // That result alone, from its beginning; the rest is folded.
  assert.equal(await field.evaluate((area) => `${area.selectionStart} ${area.selectionEnd} ${area.scrollTop}`), '0 0 0');
  assert.deepEqual(await dialog(page).getByRole('textbox').evaluateAll((all) => all.filter((field) => field.checkVisibility()).length), 1);
  assert.ok((await field.boundingBox()).height > 300);
  await shoot('form');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'hidden' });
  await call(page, 1).getByRole('button', { name: 'Change this result' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await field.fill('7');
  await start(page, 'Seven.');

  await page.getByRole('button', { name: 'Replay' }).click();
  const state = page.getByRole('region', { name: 'The run up to this step' });
  await state.waitFor();
  await state.getByText('result of calculate changed').waitFor();
  await page.keyboard.press('End');
  await state.locator('.call summary').first().click();
  await shoot('replay');
  await state.getByRole('button', { name: 'Change this result' }).click();
  await field.waitFor();
  await field.fill('9');
  await start(page, 'Nine.');

  // The last call of a run cannot be changed, since nothing follows it; its reply can.
  await turn(page, 2).hover();
  await turn(page, 2).getByRole('button', { name: 'Change this reply' }).click();
  const text = dialog(page).getByLabel('Text', { exact: true }).and(page.locator(':focus'));
  await text.waitFor();
  assert.equal(await text.inputValue(), 'Nine.');
  await text.fill('Ten, then.');
  await start(page, 'Ten, then.');
  await turn(page, 2).getByText(REPLY).waitFor();
  assert.equal(await page.getByText(REPLY).count(), 1);
  assert.equal(await page.getByRole('img', { name: RESULT }).count(), 1, 'the older change stays marked');
  await shoot('reply');
  await turn(page, 2).getByRole('button', { name: 'Compare with the original' }).click();
  await page.getByRole('region', { name: 'Comparison' }).getByText(/They part at turn 2/).first().waitFor();
}));

for (const look of Object.keys(LOOKS)) {
  test(`the versions of an answer are next to each other: ${look}`, { skip: leftIn(look) }, () => withModel([
    sum('1+1'), { text: 'Two.' }, { text: 'Still two.' },
    { text: 'Five.', check: ({ messages }) => assert.match(messages.at(-1).content, /^5\n/) },
    { text: 'In other words.' },
  ], look, async (page) => {
    const shoot = camera(page, 'versions', look);
    const versions = (n, of, change) => page.getByRole('group', { name: `Version ${n} of ${of}: ${change}`, exact: true });
    const go = (side) => page.getByRole('button', { name: `${side} version` });
    const focused = (side) => go(side).and(page.locator(':focus')).waitFor();
    await runTask(page, 'Add.');
    assert.equal(await page.getByRole('group', { name: /^Version/ }).count(), 0, 'there is one version');
    const original = page.url();
    await acts(page).getByRole('button', { name: 'Regenerate' }).click();
    await said(page, 'Still two.');
    await versions(2, 2, 'regenerated from turn 2').waitFor();
    assert.ok(await go('Next').isDisabled());
    assert.equal(await go('Previous').getAttribute('title'), 'Previous version: original');

    // In place: the address changes, the pager is in view, and the focus stays on it.
    await go('Previous').focus();
    await page.keyboard.press('Enter');
    await versions(1, 2, 'original').waitFor();
    await focused('Next');
    assert.equal(page.url(), original);
    await said(page, 'Two.');
    await page.waitForFunction(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      const box = document.querySelector('#transcript').getBoundingClientRect();
      return top >= box.top && bottom <= box.bottom;
    });

    await change(page, 1, ['2', '5']);
    await start(page, 'Five.');
    await versions(3, 3, 'result of calculate changed, from turn 2').waitFor();
    await acts(page).getByRole('button', { name: 'Ask differently' }).click();
    await task(page).fill('Add this.');
    await task(page).press('Enter');
    await said(page, 'In other words.');
    await versions(4, 4, 'prompt changed').waitFor();
    await acts(page).waitFor();
    await shoot('last');

    // After a reload, none of the others is open.
    await untilStored(page, (runs) => runs.length === 4 && runs.every(({ ended }) => ended));
    await page.reload();
    await versions(4, 4, 'prompt changed').waitFor();
    await go('Previous').click();
    await versions(3, 4, 'result of calculate changed, from turn 2').waitFor();
    await said(page, 'Five.');
    await focused('Previous');
    await page.keyboard.press('Enter');
    await versions(2, 4, 'regenerated from turn 2').waitFor();
    await said(page, 'Still two.');
    await focused('Previous');
    await shoot('middle');
    await go('Next').click();
    await versions(3, 4, 'result of calculate changed, from turn 2').waitFor();
    await focused('Next');
    await page.goBack();
    await versions(2, 4, 'regenerated from turn 2').waitFor();

    // One that is deleted is no version any more.
    if (look === 'wide') {
      const row = page.getByRole('navigation', { name: 'Runs' }).locator('li', { hasText: 'Add this.' });
      await row.hover();
      await row.getByLabel('Rename, pin or delete').click();
      await row.getByRole('button', { name: 'Delete' }).click();
      await versions(2, 3, 'regenerated from turn 2').waitFor();
    }
  }));
}
