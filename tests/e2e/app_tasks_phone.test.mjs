// Ten tasks that a person gives the app, on a phone: everything is touched or typed, nothing is clicked, filled in or pressed as a
// shortcut. Where a field has not been touched, nothing is typed: a phone shows its keyboard for a field alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contents, storedToTheEnd, untilKept, untilStored } from './lib/app.mjs';
import { withContext, withPage } from './lib/browser.mjs';
import { manyRuns } from './lib/many-runs.mjs';
import { reply } from './lib/script-server.mjs';
import { acts, answered, dialog, filesThere, last, rail, said, task } from './lib/scripted.mjs';
import { everything, inFolder } from './lib/stored.mjs';
import { choose, rewrite, tap, touchContext, withPhone, write } from './lib/touch.mjs';

const WRONG = 'sk-wrong';
const RIGHT = 'sk-right-key-4711';
const REFUSED = { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }) };
const DAY = 86_400_000;

const title = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const row = (page, text) => rail(page).locator('li', { hasText: text });
const bearer = (key) => (body, headers) => assert.equal(headers.authorization, `Bearer ${key}`);

/** Writes a task or a follow-up, and touches the arrow. */
async function ask(page, text) {
  await write(page, task(page), text);
  await tap(page, 'Run');
}

test('1, 2: a model is connected, its wrong key is mended, and a story is stopped and goes on', () => withPhone([
  { ...REFUSED, check: bearer(WRONG) },
  { text: 'A lamp gives light.', check: bearer(RIGHT) },
  { chunks: reply({ text: 'Day 1. The keeper lit the lamp. Day 2.' }).slice(0, -3), hold: true },
  { text: 'Day 1. The keeper lit the lamp. Day 2. The wind fell.', check: (body) => assert.equal(last(body), 'Tell me a long story\n\nI interrupted your reply. This much had arrived:\n\nDay 1. The keeper lit the lamp. Day 2.\n\nWrite the whole reply, beginning with exactly this.') },
], async (page, { baseUrl }) => {
  await tap(page.getByRole('region', { name: 'Model' }), 'Connect a model');
  const connect = dialog(page, 'Connect a model');
  await connect.getByText('Another address', { exact: true }).tap();
  await connect.getByText('Enter the address first.').waitFor();
  await write(page, connect.getByLabel('Base URL'), baseUrl);
  await write(page, connect.getByLabel(/^API key/), WRONG);
  await write(page, connect.getByRole('combobox', { name: 'Model', exact: true }), 'lamp-1');
  await tap(connect, 'Done');
  const key = connect.getByLabel(/^API key/);
  await ask(page, 'What is a lamp?');
  const card = page.getByRole('region', { name: 'How it ended' });
  await card.getByText('Incorrect API key provided.').waitFor();
  await tap(card, 'Change key');
  // The key is selected, so that what is typed replaces it.
  await key.and(page.locator(':focus')).waitFor();
  await page.keyboard.type(RIGHT);
  assert.equal(await key.inputValue(), RIGHT);
  await tap(connect, 'Done');
  await tap(card, 'Try again');
  await answered(page, 'A lamp gives light.');
  await storedToTheEnd(page, 2);
  const kept = JSON.stringify([await everything(page), await page.evaluate(() => ({ ...localStorage }))]);
  assert.ok(kept.includes(baseUrl) && !kept.includes(RIGHT) && !kept.includes(WRONG), 'a key that is not to be remembered is stored');

  await tap(page, 'New run');
  await ask(page, 'Tell me a long story');
  await said(page, /Day 2\./);
  await page.locator('.composer').getByRole('button', { name: 'Stop', exact: true }).tap();
  await said(page, 'Stopped here');
  await said(page, /Day 1\. The keeper lit the lamp\. Day 2\./);
  await tap(page, 'Finish the answer');
  await answered(page, 'Day 1. The keeper lit the lamp. Day 2. The wind fell.');
  await untilStored(page, (runs) => runs.length === 4 && runs.every(({ ended }) => ended));
  assert.match(JSON.stringify(await everything(page)), /Day 1\. The keeper lit the lamp\. Day 2\./);
}, { connected: false, expect: [/401/] }));

test('3, 8: among the runs of three weeks one is found; one is deleted, brought back and renamed', () => withPhone([{ text: 'A step.' }], (page) => inFolder(async (save) => {
  await ask(page, 'What is a stair?');
  await answered(page, 'A step.');
  await storedToTheEnd(page, 1);
  const runs = await manyRuns(8, { every: 3 * DAY });
  await tap(page.locator('.bar'), 'Files');
  await choose(page, dialog(page, 'Files').getByRole('button', { name: 'Choose files' }), runs.map((run, n) => save(`run-${n}.json`, JSON.stringify(run))));
  await page.getByRole('status').getByText('Opened 8 records (read-only).').waitFor();
  await title(page, runs.at(-1).input);
  await tap(page, 'Runs');
  await write(page, rail(page).getByRole('searchbox', { name: 'Search runs' }), 'complaint');
  await rail(page).locator('mark', { hasText: 'complaint' }).waitFor();
  assert.equal(await rail(page).locator('.run').count(), 1);
  await rail(page).locator('.run').tap();
  await title(page, 'Draft a reply to the complaint');
  await rail(page).waitFor({ state: 'hidden' });

  await tap(page, 'Runs');
  await rewrite(page, rail(page).getByRole('searchbox', { name: 'Search runs' }), 'stair');
  const stair = row(page, 'What is a stair?');
  await stair.getByLabel('Rename, pin or delete').tap();
  await tap(stair, 'Delete');
  await stair.waitFor({ state: 'detached' });
  await tap(rail(page).getByRole('status'), 'Undo');
  await stair.getByLabel('Rename, pin or delete').tap();
  await rewrite(page, stair.getByRole('textbox', { name: 'Name' }), 'About stairs');
  await tap(stair, 'Save');
  await row(page, 'About stairs').waitFor();
  await untilStored(page, ([run, ...more]) => !more.length && run?.name === 'About stairs' && run.summary.title === 'What is a stair?');
})));

const sum = { text: 'I calculate it.', calls: [{ id: 'c1', name: 'calculate', args: { expression: '6 * 7' } }] };
test('4, 6: a result is changed to see what would have been answered; a prompt is edited, and both answers are compared', () => withPhone([
  sum,
  { text: 'It is 42.', check: (body) => assert.match(last(body), /^42\n/) },
  { text: 'It is 43.', check: (body) => assert.match(last(body), /^43\n/) },
  { text: 'A cow, as always.', check: (body) => assert.equal(last(body), 'What is 6 * 7? Say it with a cow.') },
], async (page) => {
  await ask(page, 'What is 6 * 7?');
  await answered(page, 'It is 42.');
  await page.locator('.work').tap();
  const call = page.locator('.call').first();
  await call.locator('summary').first().tap();
  await tap(call, 'Change this result');
  const branch = dialog(page, 'Branch');
  const field = branch.getByLabel(/^calculate/);
  await field.and(page.locator(':focus')).waitFor();
  assert.equal(await field.inputValue(), '42');
  // The caret is at its beginning.
  await page.keyboard.press('End');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('3');
  await tap(branch, 'Start the branch');
  await answered(page, 'It is 43.');
  await page.locator('.work').tap();
  await call.getByText('changed', { exact: true }).waitFor();
  await page.getByRole('group', { name: 'Version 2 of 2: result of calculate changed, from turn 2', exact: true }).waitFor();

  await tap(acts(page), 'Ask differently');
  await task(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.type(' Say it with a cow.');
  await tap(page, 'Run');
  await answered(page, 'A cow, as always.');
  await tap(acts(page), 'Compare');
  const comparison = page.getByRole('region', { name: 'Comparison' });
  for (const answer of ['A cow, as always.', 'It is 43.']) await comparison.getByText(answer, { exact: true }).last().waitFor();
  await storedToTheEnd(page, 3);
}));

test('5, 7: a file is added and asked about, and the run is opened by another person, in a browser and in the app', () => withPhone([
  { calls: [{ id: 'f1', name: 'read_file', args: { path: 'harvest.csv' } }] },
  { text: 'Mostly pumpkins: 88 kilos.', check: (body) => assert.match(last(body), /beans,12\npeas,7\npumpkins,88/) },
], (page, { site }) => inFolder(async (save) => {
  await page.locator('.composer').getByRole('button', { name: /^Files/ }).tap();
  const files = dialog(page, 'Files');
  await choose(page, files.getByRole('button', { name: 'Choose files' }), save('harvest.csv', 'crop,kilos\nbeans,12\npeas,7\npumpkins,88\n'));
  await files.getByRole('button', { name: 'harvest.csv', exact: true }).waitFor();
  await untilKept(page, ['harvest.csv']);
  await tap(files, 'Close');
  await page.getByRole('group', { name: 'Your files' }).getByText('harvest.csv', { exact: true }).waitFor();
  await ask(page, 'What is in the file harvest.csv?');
  await answered(page, 'Mostly pumpkins: 88 kilos.');
  const [file] = await Promise.all([page.waitForEvent('download'), tap(acts(page), 'Share')]);
  await page.getByText(`Saved ${file.suggestedFilename()}.`).waitFor();
  const shared = save(file.suggestedFilename(), await contents(file));
  await withContext(touchContext(), async (context) => {
    const report = await context.newPage();
    await report.goto(`file://${shared}`);
    await report.getByRole('heading', { level: 1, name: 'What is in the file harvest.csv?' }).waitFor();
    await report.getByText('Mostly pumpkins: 88 kilos.').waitFor();
    assert.ok(await report.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the report scrolls sideways');
  });
  await withPage(site.app, { context: touchContext() }, async (other) => {
    await filesThere(other);
    await tap(other.locator('.bar'), 'Files');
    await choose(other, dialog(other, 'Files').getByRole('button', { name: 'Choose files' }), shared);
    await title(other, 'What is in the file harvest.csv?');
    await said(other, 'Mostly pumpkins: 88 kilos.');
  });
})));

test('9: a plan of two steps is written and run', () => withPhone([
  { text: 'A foot, a shade and a wick.', check: (body) => assert.match(last(body), /Name the parts of a lamp/) },
  { text: 'A lamp stands on its foot.', check: (body) => assert.match(last(body), /Write a sentence about them[^]*A foot, a shade and a wick\./) },
], async (page) => {
  await tap(page, 'Runs');
  await tap(rail(page), 'New plan');
  const plan = dialog(page, 'Plan');
  const step = (n) => plan.getByRole('group', { name: `step ${n}`, exact: true });
  await write(page, step(1).getByLabel('Action'), 'Name the parts of a lamp');
  await write(page, step(2).getByLabel('Action'), 'Write a sentence about them');
  await step(2).locator('[data-field=dependencies] select').selectOption('1');
  await plan.getByText('Saved in this browser.').waitFor();
  await tap(plan, 'Run the plan');
  const result = page.getByRole('region', { name: 'Result of the plan' });
  await result.getByText('A lamp stands on its foot.').waitFor();
  for (const n of [1, 2]) await page.getByRole('button', { name: new RegExp(`^Step ${n} ?, .*completed`) }).waitFor();
}));

let slow;
test('10: a question waits for a slow answer; a passage is quoted, and a turn gets a note', () => withPhone([
  { text: 'A snail crosses the road.', until: new Promise((resolve) => { slow = resolve; }) },
  { text: 'A stair has steps.', check: (body) => assert.equal(last(body), 'What is a stair?') },
  { text: 'All of them.', check: (body) => assert.equal(last(body), '> A stair has steps.\n\nHow many?') },
], async (page) => {
  await ask(page, 'Tell me something slow');
  await write(page, task(page), 'What is a stair?');
  await tap(page, 'Queue');
  const queued = page.getByRole('group', { name: 'Queued message' });
  await queued.getByText('What is a stair?').waitFor();
  slow();
  await said(page, 'A snail crosses the road.');
  await answered(page, 'A stair has steps.', 2);
  assert.equal(await queued.count(), 0);

  // Only a real phone selects what a finger rests on; the app hears of a selection, however it came about.
  await page.locator('#transcript').getByText('A stair has steps.').first().selectText();
  await tap(page, 'Quote selection');
  await task(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('How many?');
  await tap(page, 'Run');
  await answered(page, 'All of them.', 3);
  await page.locator('.page').nth(2).locator('.work').tap();
  await page.locator('.page').nth(2).getByRole('button', { name: 'Add note: turn 1', exact: true }).tap();
  const note = page.getByRole('textbox', { name: 'Note on turn 1' });
  await note.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('Ask a carpenter');
  await tap(page, 'Save note');
  await page.locator('.page').nth(2).getByText('Ask a carpenter').waitFor();
  await note.waitFor({ state: 'detached' });
  await storedToTheEnd(page, 3);
  assert.match(JSON.stringify(await everything(page)), /Ask a carpenter/);
}));
