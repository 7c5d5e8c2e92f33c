// What a person was writing, and the files and pictures added for it, are there again after a reload: on the start page, in a thread, and
// while a message waits for the end of a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drop, runTask, showTurns, storedToTheEnd, untilKept } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { inFolder, withPatched } from './lib/stored.mjs';
import { leftIn } from './lib/tier.mjs';

const box = (page) => page.getByRole('textbox', { name: 'Task' });
const own = (page) => page.getByRole('group', { name: 'Your files' });
/** Waits until the task box has this text. */
const written = (page, text) => page.waitForFunction((text) => document.getElementById('task')?.value === text, text);
const ofTab = (page) => page.evaluate(() => JSON.stringify({ ...sessionStorage }));
/** Reloads, with the question of an open run accepted. */
async function reload(page) {
  const accept = (dialog) => dialog.accept();
  page.on('dialog', accept);
  await page.reload();
  page.off('dialog', accept);
  await box(page).waitFor({ state: 'attached' });
}

/** Waits until the task box names exactly these files. */
const has = async (page, ...names) => {
  await own(page).locator('.file-chip').nth(names.length - 1).waitFor();
  assert.deepEqual(await own(page).locator('.file-chip span').allTextContents(), names);
};

/** A picture of 2 by 2 pixels, pasted into the task box. */
const paste = (page) => box(page).evaluate(async (area) => {
  const canvas = new OffscreenCanvas(2, 2);
  canvas.getContext('2d').fillRect(0, 0, 2, 2);
  const data = new DataTransfer();
  data.items.add(new File([await canvas.convertToBlob()], 'shot.png', { type: 'image/png' }));
  area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
});

/** Opens the app with a scripted model. `init` runs in the worker that stores the files, before its own script. */
const withModel = (steps, body, { look = 'wide', init, expect = [] } = {}) => withPatched(init, (mounts) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const local = [{ name: 'turnwise.settings', value }, { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: 'my-own-secret-7' }) }];
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: local }] } });
  return withPage(site.app, { reach: [baseUrl], context, expect }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}), { mounts }));

const withFiles = (files, body) => inFolder((save) => body(Object.entries(files).map(([name, text]) => save(name, text))));

test('a text is there again after a reload, each in its thread, and gone once it is sent; a key in it is not stored', () => withModel([
  { text: 'One.' }, { text: 'Two.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'And then?') },
], async (page) => {
  await box(page).fill('Not yet sent');
  await reload(page);
  await written(page, 'Not yet sent');
  await runTask(page, 'The first task');
  await storedToTheEnd(page, 1);
  await written(page, '');
  await box(page).fill('And then?');
  await page.keyboard.press('Escape');
  // The start page has a text of its own.
  await page.getByRole('button', { name: /^New run/ }).first().click();
  await written(page, '');
  await box(page).fill('For later, with my-own-secret-7 and sk-abcdefghij0123456789 in it');
  await page.goBack();
  await written(page, 'And then?');
  await reload(page);
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await written(page, 'And then?');
  const stored = await ofTab(page);
  assert.match(stored, /For later, with \[redacted\] and \[redacted\] in it/);
  await box(page).press('Enter');
  await page.locator('#transcript').getByText('Two.').waitFor();
  await storedToTheEnd(page, 2);
  await reload(page);
  await page.locator('#transcript').getByText('Two.').waitFor();
  await written(page, '');
  assert.doesNotMatch(await ofTab(page), /And then/);
  await page.getByRole('button', { name: /^New run/ }).first().click();
  await written(page, 'For later, with [redacted] and [redacted] in it');
}));

test('a message that waits for the end of a run, and what is written after it, are in the task box after a reload', () => withModel([
  { chunks: [], hold: true }, { text: 'Resumed.' },
], async (page) => {
  await box(page).fill('A long task');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).first().waitFor();
  await box(page).fill('Then this');
  await box(page).press('Enter');
  await page.getByRole('group', { name: 'Queued message' }).waitFor();
  await box(page).fill('And that');
  await reload(page);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await written(page, 'Then this\n\nAnd that');
}, { expect: [/^warning: turnwise: turn 1, attempt 1: interrupted/] }));

test('a pasted picture is there again after a reload, and goes with the task', () => withModel([
  { text: 'I see.', check: ({ messages }) => assert.equal(messages.at(-1).content.filter(({ type }) => type === 'image_url').length, 1) },
], async (page) => {
  await paste(page);
  await page.getByRole('button', { name: 'Remove shot.png' }).waitFor();
  await box(page).fill('What is it?');
  await reload(page);
  await page.getByRole('button', { name: 'Remove shot.png' }).waitFor();
  await written(page, 'What is it?');
  await box(page).press('Enter');
  await page.locator('#transcript').getByText('I see.').waitFor();
  assert.doesNotMatch(await ofTab(page), /shot\.png/);
}));

for (const look of Object.keys(LOOKS)) {
  test(`files are there again after a reload, until they are removed: ${look}`, { skip: leftIn(look) }, () => withFiles({ 'prices.csv': 'a,b\n1,2\n', 'notes.md': 'Read me first.' }, (paths) => withModel([
    { calls: [{ id: 'c1', name: 'read_file', args: { path: 'notes.md' } }] },
    { text: 'Read.', check: ({ messages }) => assert.match(messages.at(-1).content, /Read me first\./) },
  ], async (page) => {
    const shoot = camera(page, 'draft', look);
    await drop(page, paths);
    await has(page, 'notes.md', 'prices.csv');
    await untilKept(page, ['notes.md', 'prices.csv']);
    await reload(page);
    await has(page, 'notes.md', 'prices.csv');
    await shoot('files');
    // The drawer has them too, and removes one for good.
    await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
    const drawer = page.getByRole('dialog', { name: 'Files' });
    await drawer.getByRole('button', { name: 'Remove prices.csv' }).click();
    await drawer.getByRole('button', { name: 'Undo' }).waitFor();
    await untilKept(page, ['notes.md']);
    await page.keyboard.press('Escape');
    await reload(page);
    await has(page, 'notes.md');
    await runTask(page, 'Read my notes.');
    assert.equal(await own(page).count(), 0);
    // The next run has them too, until they are removed.
    await page.keyboard.press('Escape');
    await page.goto(page.url().split('#')[0]);
    await own(page).getByRole('button', { name: 'Remove notes.md' }).click();
    await own(page).waitFor({ state: 'detached' });
    await untilKept(page, []);
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await has(page, 'notes.md');
    await untilKept(page, ['notes.md']);
  }, { look })));
}

const FAULTS = {
  'no storage': [() => Object.defineProperty(self, 'indexedDB', { value: undefined }), 'this browser does not let the page store them'],
  'no space': [() => {
    IDBObjectStore.prototype.put = () => { throw new DOMException('The quota was exceeded.', 'QuotaExceededError'); };
  }, 'no space is left for them'],
};
for (const [name, [init, why]] of Object.entries(FAULTS)) {
  test(`${name}: files are used all the same, and it is said that a reload loses them`, () => withFiles({ 'notes.md': 'Read me first.' }, (paths) => withModel([
    { calls: [{ id: 'c1', name: 'read_file', args: { path: 'notes.md' } }] },
    { text: 'Read.', check: ({ messages }) => assert.match(messages.at(-1).content, /Read me first\./) },
  ], async (page) => {
    await drop(page, paths);
    await page.locator('.toast', { hasText: `Your files are in this page only, and lost when you reload it: ${why}.` }).waitFor();
    await has(page, 'notes.md');
    await runTask(page, 'Read my notes.');
  }, { init })));
}
