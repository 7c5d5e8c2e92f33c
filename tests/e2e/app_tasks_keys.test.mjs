// Ten tasks that a person gives the app, by keys alone: nothing is clicked or filled in, and nothing gets the focus but by Tab, the
// arrows and the keys that the app names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, contents, startPage, storedToTheEnd, untilKept, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { ask, choose, chooseFiles, enter, hasFocus, laptopContext, press, pressOn, tabTo, withKeys, writeIn } from './lib/keys.mjs';
import { manyRuns } from './lib/many-runs.mjs';
import { reply } from './lib/script-server.mjs';
import { acts, answered, dialog, last, rail, said, task } from './lib/scripted.mjs';
import { everything, inFolder } from './lib/stored.mjs';

const [WRONG, RIGHT] = ['sk-wrong', 'sk-right-key-4711'];
const REFUSED = { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }) };

const row = (page, text) => rail(page).locator('.run', { hasText: text });
const button = (within, name) => within.getByRole('button', { name, exact: true });
const title = (page, name) => page.getByRole('heading', { level: 1, name });
const turn = (page, n) => page.locator('section.turn').nth(n - 1);
const asks = (text) => (body) => (text instanceof RegExp ? assert.match : assert.equal)(last(body), text);
const bearer = (key) => (body, headers) => assert.equal(headers.authorization, `Bearer ${key}`);

test('1, 2: a model is connected, its wrong key is mended, and a story is stopped and goes on', () => withKeys([
  { ...REFUSED, check: bearer(WRONG) },
  { text: 'A lamp gives light.', check: bearer(RIGHT) },
  { chunks: reply({ text: 'Day 1. The keeper lit the lamp. Day 2.' }).slice(0, -3), hold: true },
  { text: 'Day 1. The keeper lit the lamp. Day 2. The wind fell.', check: (body) => assert.equal(last(body), 'Tell me a long story\n\nI interrupted your reply. This much had arrived:\n\nDay 1. The keeper lit the lamp. Day 2.\n\nWrite the whole reply, beginning with exactly this.') },
], async (page, { baseUrl }) => {
  await choose(page, 'settings', 'Settings');
  const settings = dialog(page, 'Settings');
  await tabTo(page, settings.getByRole('radio', { checked: true }), { most: 3 });
  // From the first choice, the arrow leads to the last one.
  await press(page, 'ArrowUp');
  await hasFocus(page, settings.getByRole('radio', { name: 'Another address' }));
  await writeIn(page, settings.getByLabel('Base URL'), baseUrl, { most: 1 });
  // There is a field for the key as soon as there is an address to which it belongs.
  const key = settings.getByLabel(/^API key/);
  await writeIn(page, key, WRONG, { most: 1 });
  await writeIn(page, settings.getByLabel('Model', { exact: true }), 'lamp-1', { most: 3 });
  await press(page, 'Escape');
  await settings.waitFor({ state: 'hidden' });
  await ask(page, 'What is a lamp?');
  const card = page.getByRole('region', { name: 'How it ended' });
  await card.getByText('Incorrect API key provided.').waitFor();
  await acts(page).waitFor();
  await pressOn(page, button(card, 'Change key'), { key: 'Shift+Tab' });
  // The key is selected, so that what is typed replaces it; afterwards, the focus is where it was.
  const again = dialog(page, 'Connect a model').getByLabel(/^API key/);
  await hasFocus(page, again);
  await page.keyboard.type(RIGHT);
  assert.equal(await again.inputValue(), RIGHT);
  await press(page, 'Escape');
  await hasFocus(page, button(card, 'Change key'));
  await pressOn(page, button(card, 'Try again'), { most: 2 });
  await answered(page, 'A lamp gives light.');
  await storedToTheEnd(page, 2);
  const kept = JSON.stringify([await everything(page), await page.evaluate(() => ({ ...localStorage }))]);
  assert.ok(kept.includes(baseUrl) && !kept.includes(RIGHT) && !kept.includes(WRONG), 'a key that is not to be remembered is stored');

  await ask(page, 'Tell me a long story');
  await said(page, /Day 2\./);
  await press(page, 'Control+.');
  await said(page, 'Stopped here');
  await said(page, 'Day 1. The keeper lit the lamp. Day 2.');
  await pressOn(page, button(page.getByRole('region', { name: 'How it ended' }), 'Finish the answer'), { most: 10, key: 'Shift+Tab' });
  await answered(page, 'Day 1. The keeper lit the lamp. Day 2. The wind fell.');
  await storedToTheEnd(page, 4);
  assert.match(JSON.stringify(await everything(page)), /Day 1\. The keeper lit the lamp\. Day 2\./);
}, { connected: false, expect: [/401/] }));

test('3, 8: among the runs of three weeks one is found; one is deleted, brought back and renamed', () => withKeys([{ text: 'A step.' }], (page) => inFolder(async (save) => {
  const runs = await manyRuns(8, { every: 3 * 86_400_000 });
  await chooseFiles(page, runs.map((run, n) => save(`run-${n}.json`, JSON.stringify(run))), () => choose(page, 'open', /^Open or import a file/));
  // Each of them is shown for a moment, and what is begun before the last one is left again.
  await hasFocus(page, title(page, runs.at(-1).input));
  await ask(page, 'What is a stair?');
  await answered(page, 'A step.');
  await storedToTheEnd(page, 1);
  await choose(page, 'complaint', /^Draft a reply to the complaint/);
  await hasFocus(page, title(page, 'Draft a reply to the complaint'));
  await said(page, /^This is what \d+ messages came to\.$/);

  await choose(page, 'stair', /^What is a stair\?/);
  await hasFocus(page, title(page, 'What is a stair?'));
  await choose(page, 'delete', 'Delete this run');
  await row(page, 'What is a stair?').waitFor({ state: 'detached' });
  // In the task box, Ctrl+Z would undo typing; the focus was at the run, and is at the start page.
  await hasFocus(page, title(page, START));
  await press(page, 'Control+z');
  await hasFocus(page, row(page, 'What is a stair?'));
  await pressOn(page, rail(page).getByLabel('Rename, pin or delete'), { most: 1 });
  await writeIn(page, rail(page).getByRole('textbox', { name: 'Name' }), 'About stairs', { most: 1 });
  await press(page, 'Enter');
  await untilStored(page, ([run]) => JSON.stringify(run).includes('About stairs'));
  await startPage(page);
  await row(page, 'About stairs').waitFor();
  assert.equal(await row(page, 'What is a stair?').count(), 0);
})));

test('4, 5, 6: a tool\'s result is changed, the run is shared with another person, and a prompt is edited and compared', () => withKeys([
  { text: 'I calculate it.', calls: [{ id: 'c1', name: 'calculate', args: { expression: '6 * 7' } }] },
  { text: 'It is 42.', check: asks(/^42\n/) },
  { text: 'It is 43.', check: asks(/^43\n/) },
  { text: 'A lamp gives light.', check: asks('What is a lamp?') },
  { text: 'A candle burns.', check: asks('What is a candle?') },
], (page, { site }) => inFolder(async (save) => {
  await ask(page, 'What is 6 * 7?');
  await answered(page, 'It is 42.');
  await press(page, 'Escape', 'j');
  await hasFocus(page, turn(page, 1));
  const call = turn(page, 1).locator('.call');
  await pressOn(page, call.locator('summary'), { most: 1 });
  await pressOn(page, button(call, 'Change this result'), { most: 3 });
  await hasFocus(page, dialog(page, 'Branch').getByLabel(/^calculate/));
  await press(page, 'Control+a', '4', '3');
  await pressOn(page, button(dialog(page, 'Branch'), 'Start the branch'));
  await answered(page, 'It is 43.');
  await page.locator('.facts').getByText('result of calculate changed').waitFor();
  await row(page, 'Version 2 of 2').waitFor();
  await rail(page).getByRole('button', { name: '1 other version' }).press('Enter');
  await row(page, 'Version 1 of 2').waitFor();

  const [download] = await Promise.all([page.waitForEvent('download'), choose(page, 'share', 'Share the run')]);
  const shared = save(download.suggestedFilename(), await contents(download));
  await withPage(`file://${shared}`, { context: laptopContext() }, (other) => other.getByText('It is 43.').waitFor());
  await withPage(site.app, { context: laptopContext() }, async (other) => {
    await task(other).waitFor();
    await chooseFiles(other, shared, () => choose(other, 'open', /^Open or import a file/));
    await hasFocus(other, title(other, 'What is 6 * 7?'));
    await said(other, 'It is 43.');
  });

  await ask(page, 'What is a lamp?');
  await answered(page, 'A lamp gives light.');
  await choose(page, 'edit', 'Edit the prompt');
  await page.getByRole('group', { name: 'Editing a prompt' }).waitFor();
  await hasFocus(page, task(page));
  assert.equal(await task(page).inputValue(), 'What is a lamp?');
  await press(page, 'Control+a');
  await enter(page, 'What is a candle?');
  await answered(page, 'A candle burns.');
  await pressOn(page, button(acts(page), 'Compare'), { key: 'Shift+Tab', most: 3 });
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await hasFocus(page, comparison);
  for (const text of ['What is a lamp?', 'What is a candle?', 'A lamp gives light.', 'A candle burns.']) await comparison.getByText(text, { exact: true }).first().waitFor();
})));

let release;
const released = new Promise((resolve) => { release = resolve; });
test('7, 9, 10: a file is read, a plan runs, a question waits for a slow answer, a passage is quoted and a turn noted', () => withKeys([
  { calls: [{ id: 'f1', name: 'read_file', args: { path: 'harvest.csv' } }] },
  { text: 'Beans and peas.', check: asks(/beans,12\npeas,7/) },
  { text: 'A lamp costs five.', check: asks(/Find what lamps cost/) },
  { text: 'Lamps are cheap.', check: asks(/^Write a summary[^]*A lamp costs five\./) },
  { text: 'Slowly, it depends.', until: released, check: asks('Tell me something slow') },
  { text: 'A step.', check: asks('What is a stair?') },
  { text: 'On the wind.', check: asks('> it depends\n\nOn what?') },
], (page) => inFolder(async (save) => {
  await choose(page, 'files', 'Files');
  const files = dialog(page, 'Files');
  await chooseFiles(page, save('harvest.csv', 'crop,kilos\nbeans,12\npeas,7\n'), () => pressOn(page, button(files, 'Choose files'), { most: 2 }));
  await untilKept(page, ['harvest.csv']);
  await press(page, 'Escape');
  await files.waitFor({ state: 'hidden' });
  await ask(page, 'What is in the file harvest.csv?');
  await answered(page, 'Beans and peas.');

  await choose(page, 'new plan', 'New plan');
  const plan = dialog(page, 'Plan');
  const actions = plan.getByPlaceholder('what this step should do');
  await writeIn(page, actions.first(), 'Find what lamps cost');
  await writeIn(page, actions.last(), 'Write a summary');
  await pressOn(page, button(plan, 'Run the plan'), { most: 24 });
  await page.getByRole('region', { name: 'Result of the plan' }).getByText('Lamps are cheap.').waitFor();
  await page.getByRole('button', { name: /^Step \d ?, .*completed/ }).nth(1).waitFor();

  await ask(page, 'Tell me something slow');
  await button(page.locator('.composer'), 'Stop').waitFor();
  await enter(page, 'What is a stair?');
  await page.locator('.composer').getByText('Sends when this run ends').waitFor();
  release();
  await answered(page, 'A step.', 2);
  await press(page, 'Escape', 'j');
  await hasFocus(page, turn(page, 1));
  await pressOn(page, turn(page, 1).getByRole('button', { name: /^Add note/ }), { most: 2 });
  await hasFocus(page, turn(page, 1).getByRole('textbox', { name: 'Note on turn 1' }));
  await page.keyboard.type('Ask the librarian');
  await pressOn(page, button(turn(page, 1), 'Save note'), { most: 1 });
  await turn(page, 1).getByText('Ask the librarian', { exact: true }).waitFor();
  // No key of the app selects a passage; the browser's own search does (Ctrl+F, Escape), whose field is not on the page.
  assert.ok(await page.evaluate(() => window.find('it depends', false, false, true)));
  await choose(page, 'quote', 'Quote the selection');
  await hasFocus(page, task(page));
  await enter(page, 'On what?');
  await answered(page, 'On the wind.', 3);
  assert.equal(await page.locator('.page > blockquote').innerText(), 'it depends');
  await storedToTheEnd(page, 4);
  assert.match(JSON.stringify(await everything(page)), /Ask the librarian/);
})));
