// Permissions in the app: the question with its diff, the three scopes, a refusal by button and by Escape, a reload while a
// question is open, and the setting; in both themes and sizes, without axe violations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showTurns } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const KEY = 'sk-planted-4f9a8b7c6d5e4f3a2b1c';
const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const write = (id, file, content) => ({ id, name: 'write_file', args: { path: file, content } });

const NOTES = ['# Trip', '', '- Train at 8:10', '- Hotel near the station', '- Dinner: not booked', '', '## Costs', '', 'Train: 120 euros', 'Hotel: 240 euros', ''];
const CHANGES = { '- Dinner: not booked': '- Dinner: 19:30, Trattoria al Ponte', 'Hotel: 240 euros': 'Hotel: 210 euros' };
const BETTER = NOTES.map((line) => CHANGES[line] ?? line);

/** Runs `body` in the app with a scripted model. `asks`: whether changes to files ask. */
const withScripted = (steps, { look = 'wide', asks = true, ...options }, body) => withScript(steps, (baseUrl) => withSite((site) => {
  const settings = { provider: 'openai', base_url: baseUrl, model: 'scripted', ...(asks && { file_changes: 'ask' }) };
  const local = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }, { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: KEY }) }];
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: local }] } });
  return withPage(site.app, { reach: [baseUrl], context, ...options }, async (page) => {
    await ready(page);
    return body(page);
  });
}));

const ready = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
const ended = (page) => page.getByRole('region', { name: 'How it ended' }).last().waitFor({ timeout: 60_000 }).then(() => showTurns(page));
const question = (page) => page.getByRole('group', { name: 'Permission needed' });
const press = (page, name) => question(page).getByRole('button', { name, exact: true }).click();
const files = async (page) => {
  await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
  const rows = await page.locator('.file .path').allTextContents();
  await page.keyboard.press('Escape');
  return rows;
};

async function start(page, task) {
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

for (const look of Object.keys(LOOKS)) {
  test(`a change is shown with its diff and written after a yes: ${look}`, () => withScripted([
    { calls: [write('w1', 'trip.md', NOTES.join('\n'))] },
    { calls: [write('w2', 'trip.md', BETTER.join('\n'))] },
    { text: 'The notes are better now.', check: (request) => assert.match(results(request)[1], /^Replaced trip.md/) },
  ], { look }, async (page) => {
    const shoot = camera(page, 'permit', look);
    await start(page, 'Improve my trip notes.');
    await question(page).getByRole('heading', { name: 'write_file wants to create trip.md' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Refuse', 'the focus is on the safe answer');
    await page.locator('.doing').getByText('Waiting for your answer below').waitFor();
    await press(page, 'Allow');
    await question(page).getByRole('heading', { name: 'write_file wants to change trip.md' }).waitFor();
    const lines = await question(page).locator('.diff .line').evaluateAll((all) => all.map((one) => `${one.querySelector('.sign').textContent}|${one.querySelector('.text').textContent}`));
    assert.ok(lines.includes('\u2212|- Dinner: not booked'), `${lines}`);
    assert.ok(lines.includes('+|- Dinner: 19:30, Trattoria al Ponte'), `${lines}`);
    assert.ok(lines.includes('|- Hotel near the station'), `${lines}`);
    await question(page).getByText('2 lines added, 2 removed').waitFor();
    if (look === 'phone') {
      for (const name of ['Refuse', 'Allow']) {
        const { height } = await question(page).getByRole('button', { name, exact: true }).boundingBox();
        assert.ok(height >= 44, `${name} is ${height} px high`);
      }
    }
    await shoot('diff');
    await press(page, 'Allow');
    await ended(page);
    assert.ok((await files(page)).includes('trip.md'));
  }));
}

test('an answer for the tool ends its questions; a refusal and Escape tell the model', () => withScripted([
  { calls: [write('w1', 'a.md', 'a')] },
  { calls: [write('w2', 'b.md', 'b')], check: (request) => assert.match(results(request)[0], /^Error: the user refused this call/) },
  { calls: [write('w3', 'c.md', 'c'), write('w4', 'd.md', 'd')], check: (request) => assert.match(results(request)[1], /^Error: the user refused this call/) },
  { calls: [write('w5', 'e.md', 'e')] },
  { text: 'Done.', check: (request) => assert.equal(results(request).filter((text) => text.startsWith('Wrote')).length, 3) },
], {}, async (page) => {
  await start(page, 'Write five files.');
  await question(page).getByRole('heading', { name: /a\.md$/ }).waitFor();
  await press(page, 'Refuse');
  await question(page).getByRole('heading', { name: /b\.md$/ }).waitFor();
  await page.keyboard.press('Escape');
  await question(page).getByRole('heading', { name: /[cd]\.md$/ }).waitFor();
  await question(page).getByText('1 more question waits').waitFor();
  await question(page).getByLabel('This tool').check();
  await press(page, 'Allow');
  await ended(page);
  assert.equal(await question(page).count(), 0);
  const names = await files(page);
  for (const [name, there] of [['a.md', false], ['b.md', false], ['c.md', true], ['d.md', true], ['e.md', true]]) assert.equal(names.includes(name), there, name);
}));

test('one yes for the run is enough', () => withScripted([
  { calls: [write('w1', 'a.md', 'a')] }, { calls: [write('w2', 'b.md', 'b')] }, { text: 'Done.' },
], {}, async (page) => {
  await start(page, 'Write two files.');
  await question(page).getByLabel('This run').check();
  await press(page, 'Allow');
  await ended(page);
  const names = await files(page);
  assert.ok(names.includes('a.md') && names.includes('b.md'), `${names}`);
}));

/** Waits until these elements have other texts. */
async function expectOther(page, shown, before) {
  for (const end = performance.now() + 20_000; ;) {
    const now = await shown.allTextContents();
    if (now.length && `${now}` !== `${before}`) return;
    assert.ok(performance.now() < end, `still ${now}`);
    await page.waitForTimeout(50);
  }
}

test('two calls want to write one file: the second is asked about again, with what it replaces now', () => withScripted([
  { calls: [write('w1', 'a.md', 'one\n'), write('w2', 'a.md', 'two\n')] },
  { text: 'Done.', check: (request) => assert.deepEqual(results(request).map((text) => text.split(':')[0]).toSorted(), ['Replaced a.md', 'Wrote a.md']) },
], {}, async (page) => {
  await start(page, 'Write it twice.');
  await question(page).getByText('1 more question waits').waitFor();
  const shown = question(page).locator('.diff .text');
  const first = await shown.allTextContents();
  await press(page, 'Allow');
  // The other question takes its place.
  await expectOther(page, shown, first);
  await question(page).getByRole('heading', { name: 'write_file wants to create a.md' }).waitFor();
  await press(page, 'Allow');
  await question(page).getByRole('heading', { name: 'write_file wants to change a.md' }).waitFor();
  await question(page).getByText('A file has changed since you were asked').waitFor();
  const [one, two] = first.at(-1) === 'one' ? ['one', 'two'] : ['two', 'one'];
  assert.deepEqual(await shown.allTextContents(), ['Line 1', one, two]);
  await press(page, 'Allow');
  await ended(page);
}));

test('a question survives a reload: the resumed run asks again, and stop closes it', () => withScripted([
  { calls: [write('w1', 'a.md', 'a')] },
  { calls: [write('w2', 'b.md', 'b')], check: (request) => assert.match(results(request)[0], /^Wrote a\.md/) },
], {}, async (page) => {
  await start(page, 'Write two files.');
  await question(page).waitFor();
  // The question is asked after what led to it is stored.
  await page.locator('.call .name').waitFor();
  await page.waitForTimeout(500);
  await page.reload();
  await ready(page);
  await page.getByRole('button', { name: 'Resume' }).first().click();
  await question(page).getByRole('heading', { name: /a\.md$/ }).waitFor();
  assert.equal(await question(page).locator('.warning').count(), 0, 'the call had not begun');
  await press(page, 'Allow');
  await question(page).getByRole('heading', { name: /b\.md$/ }).waitFor();
  await page.locator('.composer').getByRole('button', { name: 'Stop', exact: true }).click();
  await question(page).waitFor({ state: 'detached' });
  await ended(page);
}));

test('without the setting, files of the task are written without a question; the setting turns it on', () => withScripted([
  { calls: [write('w1', 'a.md', 'a')] }, { text: 'Done.' },
  { calls: [write('w2', 'b.md', 'b')] }, { text: 'Done.' },
], { asks: false }, async (page) => {
  await start(page, 'Write a file.');
  await ended(page);
  await page.getByTitle('Model and settings').click();
  await page.getByRole('tab', { name: 'Tools' }).click();
  await page.getByRole('dialog').getByLabel('Changes to files').selectOption('ask');
  await page.keyboard.press('Escape');
  await start(page, 'Write another.');
  await press(page, 'Allow');
  await page.waitForFunction(() => document.querySelectorAll('.ending').length === 2);
}));
