// What keys do besides the ten tasks: from turn to turn up to the last one, a name and a quotation by the palette, undo in the empty
// task box, the main button of a dialog, and the end of a conclusion. And a run from a file begins at its top.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drop, showTurns } from './lib/app.mjs';
import { ask, choose, enter, hasFocus, press, tabTo, withKeys } from './lib/keys.mjs';
import { manyRuns } from './lib/many-runs.mjs';
import { reply } from './lib/script-server.mjs';
import { answered, dialog, rail, said, task } from './lib/scripted.mjs';
import { inFolder } from './lib/stored.mjs';

/** A reply that goes on until the request is aborted. */
const endless = (text) => ({ chunks: reply({ text }).slice(0, -3), hold: true });

test('J and K lead to every turn; the palette renames a run and quotes its answer; Ctrl Z and Ctrl Enter', () => withKeys([
  { text: 'A first step.', calls: [{ id: 'a', name: 'calculate', args: { expression: '6 * 7' } }] }, { text: 'It is 42.' },
], async (page) => {
  await ask(page, 'Six times seven?');
  await answered(page, 'It is 42.');
  await press(page, 'Escape');
  // Neither turn can be scrolled to the top: the whole run is in view.
  for (const [key, turn] of [['j', 1], ['j', 2], ['j', 2], ['k', 1], ['k', 1]]) {
    await press(page, key);
    await hasFocus(page, page.locator('section.turn').nth(turn - 1));
  }
  await choose(page, 'rename', 'Rename this run');
  await hasFocus(page, rail(page).getByLabel('Name', { exact: true }));
  await enter(page, 'Multiplication');
  const row = rail(page).locator('.run', { hasText: 'Multiplication' });
  await row.waitFor();
  await choose(page, 'quote', 'Quote the answer');
  await page.waitForFunction((text) => document.activeElement.value === text, '> It is 42.\n\n');
  await press(page, 'Control+a', 'Delete', 'Escape');
  await choose(page, 'delete', 'Delete this run');
  await row.waitFor({ state: 'detached' });
  await press(page, '/');
  await hasFocus(page, task(page));
  await press(page, 'ControlOrMeta+z');
  await row.waitFor();
  await press(page, 'Escape');
  await choose(page, 'connect', /^Settings/);
  await dialog(page, 'Settings').getByRole('button', { name: 'Done' }).waitFor();
  await press(page, 'ControlOrMeta+Enter');
  await dialog(page, 'Settings').waitFor({ state: 'detached' });
}));

test('a run wraps up from the palette, and its conclusion is stopped at the task box', () => withKeys([
  { calls: [{ id: 'c1', name: 'calculate', args: { expression: '6*7' } }] }, { chunks: [], hold: true }, endless('In short'),
], async (page) => {
  await ask(page, 'Tell me a story');
  await page.locator('section.turn').nth(1).waitFor();
  await choose(page, 'wrap', 'Wrap up: conclude from what it has found');
  await said(page, 'In short');
  await tabTo(page, page.locator('.composer').getByRole('button', { name: 'Stop', exact: true }), { most: 8 });
  await press(page, 'Enter');
  await said(page, 'You stopped the run.');
}));

test('a run from a file begins at its top, whatever was shown before', () => withKeys([], (page) => inFolder(async (save) => {
  const [, first, , second] = await manyRuns(4);
  const shown = async ({ input }) => {
    await page.getByRole('heading', { level: 1, name: input }).waitFor();
    await showTurns(page);
  };
  const place = () => page.locator('#transcript').evaluate((it) => it.scrollTop);
  await drop(page, [save('first.json', JSON.stringify(first))]);
  await shown(first);
  await page.locator('#transcript').evaluate((it) => it.scrollTo(0, it.scrollHeight));
  assert.ok(await place() > 100);
  await drop(page, [save('second.json', JSON.stringify(second))]);
  await shown(second);
  await page.waitForFunction(() => document.querySelector('#transcript').scrollTop === 0);
  assert.ok(await page.locator('#transcript').evaluate((it) => it.scrollHeight > it.clientHeight + 100));
})));
