// By keyboard alone: where the focus is when its control is gone, the key for Stop, keys in choices, leaving the task box, and what
// the palette finds and does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, runTask, showTurns, startPage, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { hasFocus } from './lib/keys.mjs';
import { camera, contextOf } from './lib/looks.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const task = (page) => page.getByRole('textbox', { name: 'Task' });
const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();
const panel = (page) => page.getByRole('complementary', { name: 'Run' });
const rail = (page) => page.getByRole('navigation', { name: 'Runs' });
const palette = (page) => page.getByRole('dialog', { name: 'Find an action or a run' });
/** A reply that goes on until the request is aborted. */
const endless = (text) => ({ chunks: reply({ text }).slice(0, -3), hold: true });

/** Opens the app with a scripted model. */
const withModel = (steps, body, { context = {}, expect = [] } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: { ...contextOf('wide', { storageState }), ...context }, expect }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}));

/** Waits until the run has the focus: its title, and what is around it shows that, wherever it is scrolled to. */
const isAtRun = async (page, title) => {
  await hasFocus(page, heading(page, title));
  await page.waitForFunction(() => getComputedStyle(document.querySelector('#transcript')).outlineStyle === 'solid');
};
const press = async (page, button, key = 'Enter') => {
  await button.focus();
  await page.keyboard.press(key);
};
const heading = (page, name) => page.getByRole('heading', { level: 1, name });
const find = async (page, words) => {
  await page.keyboard.press('Control+k');
  await hasFocus(page, palette(page).getByRole('combobox'));
  await page.keyboard.type(words);
};

test('what is done to a run leaves the focus at the run', () => withModel([
  { calls: [{ id: 'c1', name: 'calculate', args: { expression: '2*3' } }] }, { chunks: [], hold: true }, { text: 'In short: unclear.' }, { text: 'Six.' }, { text: 'Six again.' }, { text: 'Six in a branch.' }, endless('Once upon a time'),
  { status: 401, body: JSON.stringify({ error: { message: 'Wrong key.', code: 'invalid_api_key' } }) }, { text: 'It works now.' },
], async (page) => {
  await task(page).fill('Two times three?');
  await page.keyboard.press('Enter');
  await page.locator('section.turn').nth(1).waitFor();
  await hasFocus(page, task(page));
  await press(page, panel(page).getByRole('button', { name: 'Wrap up', exact: true }));
  await hasFocus(page, panel(page));
  await press(page, panel(page).getByRole('button', { name: /^Continue/ }));
  await hasFocus(page, panel(page));
  await said(page, 'Six.');
  await press(page, page.getByRole('button', { name: 'Regenerate' }));
  await said(page, 'Six again.');
  await isAtRun(page, 'Two times three?');
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.querySelector('#transcript').contains(document.activeElement) && document.activeElement.matches('button')));
  await showTurns(page);
  await press(page, page.getByRole('button', { name: /^Branch: Turn 1/ }).first(), ' ');
  await press(page, page.getByRole('button', { name: 'Start the branch' }));
  await said(page, 'Six in a branch.');
  await isAtRun(page, 'Two times three?');
  // A replay and a comparison; what ends them is gone as well.
  await find(page, 'replay the run');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Replay' }).waitFor();
  await page.waitForFunction(() => document.querySelector('main').contains(document.activeElement));
  await press(page, page.getByRole('button', { name: 'Transcript' }));
  await press(page, page.locator('.facts').getByRole('button', { name: 'Compare with the original' }));
  await hasFocus(page, page.getByRole('region', { name: 'Comparison' }));
  await press(page, page.getByRole('button', { name: 'End the comparison' }));
  await isAtRun(page, 'Two times three?');
  // In the task box, the focus stays there.
  await page.keyboard.press('n');
  await hasFocus(page, task(page));
  await task(page).fill('Tell me a story');
  await press(page, page.getByRole('button', { name: 'Run', exact: true }));
  await said(page, 'Once upon a time');
  await hasFocus(page, task(page));
  await press(page, page.locator('.composer').getByRole('button', { name: 'Stop' }));
  await hasFocus(page, task(page));
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await page.keyboard.press('Escape');
  await isAtRun(page, 'Tell me a story');
  await page.keyboard.press('n');
  await task(page).fill('Fail once');
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('button', { name: 'Try again' }));
  await said(page, 'It works now.');
  await isAtRun(page, 'Fail once');
}, { expect: [/401/] }));

test('in the list, the focus goes to the next row, and to the one that comes back', () => withModel(['One.', 'Two.', 'Three.'].map((text) => ({ text })), async (page) => {
  for (const [text, answer] of [['First task', 'One.'], ['Second task', 'Two.'], ['Third task', 'Three.']]) {
    await runTask(page, text);
    await said(page, answer);
    await page.getByRole('button', { name: /^New run/ }).first().click();
  }
  await storedToTheEnd(page, 3);
  await startPage(page);
  const row = (text) => rail(page).locator('.run', { hasText: text });
  // A stored run that is opened is drawn anew.
  await press(page, row('Second task'));
  await said(page, 'Two.');
  await hasFocus(page, row('Second task'));
  assert.equal(await row('Second task').getAttribute('aria-current'), 'true');
  const menu = rail(page).locator('li', { hasText: 'Second task' }).getByLabel('Rename, pin or delete');
  await press(page, menu);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await hasFocus(page, menu);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await row('Second task').waitFor({ state: 'detached' });
  await hasFocus(page, row('First task'));
  await press(page, page.getByRole('button', { name: 'Undo' }));
  await hasFocus(page, row('Second task'));
  // By keys alone: deleted again and brought back, renamed.
  await page.keyboard.press('Tab');
  await hasFocus(page, menu);
  await page.keyboard.press('Enter');
  for (const _ of ['name', 'save', 'delete']) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await row('Second task').waitFor({ state: 'detached' });
  await hasFocus(page, row('First task'));
  await page.keyboard.press('ControlOrMeta+z');
  await hasFocus(page, row('Second task'));
  await press(page, menu);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Renamed');
  await page.keyboard.press('Enter');
  await row('Renamed').waitFor();
  await hasFocus(page, rail(page).locator('li', { hasText: 'Renamed' }).getByLabel('Rename, pin or delete'));
  // A file, in the dialog that lists them.
  await press(page, rail(page).getByRole('button', { name: /^Files/ }));
  const files = page.getByRole('dialog', { name: 'Files' });
  await files.getByLabel('Files to add').setInputFiles(['a.txt', 'b.txt', 'c.txt'].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })));
  await files.getByRole('button', { name: 'Remove c.txt' }).waitFor();
  const names = await files.locator('.path').allInnerTexts();
  await press(page, files.getByRole('button', { name: `Remove ${names[1]}`, exact: true }));
  await files.getByRole('status').getByText(`Removed ${names[1]}.`).waitFor();
  await hasFocus(page, files.getByRole('button', { name: names[2], exact: true }));
  await camera(page, 'focus', 'wide')('removed-file');
  await press(page, files.getByRole('button', { name: 'Undo' }));
  await hasFocus(page, files.getByRole('button', { name: names[1], exact: true }));
}));

test('a key stops the run, wherever the focus is; letters and Escape act where they change no field', () => withModel([endless('On and on')], async (page) => {
  await task(page).fill('Go on');
  await page.keyboard.press('Enter');
  await said(page, 'On and on');
  const stop = panel(page).getByRole('button', { name: 'Stop', exact: true });
  assert.deepEqual([await stop.getAttribute('aria-keyshortcuts'), /\(Ctrl \.\)$/.test(await stop.getAttribute('title'))], ['Control+. Meta+.', true]);
  await task(page).fill('A follow-up that');
  await page.keyboard.press('ControlOrMeta+.');
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await page.keyboard.type(' is being written');
  assert.equal(await task(page).inputValue(), 'A follow-up that is being written');
  await page.keyboard.press('Escape');
  await isAtRun(page, 'Go on');
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('Stop the run or the plan').waitFor();
  await keys.getByText('leave it for the run').waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  // A choice takes a letter with which one of its options begins, and what is typed right after it.
  const model = page.getByRole('combobox', { name: 'Model of the next run' });
  const options = await model.locator('option').allInnerTexts();
  assert.ok(!options.some((text) => /^[l?]/i.test(text.trim())) && options.some((text) => /^s/i.test(text.trim())), `${options}`);
  await model.focus();
  await page.keyboard.press('l');
  const log = page.getByRole('dialog', { name: 'Log' });
  await log.waitFor();
  await page.keyboard.press('Escape');
  await log.waitFor({ state: 'detached' });
  await hasFocus(page, model);
  await page.keyboard.press('s');
  await page.keyboard.press('l');
  await page.keyboard.press('n');
  assert.equal(await log.count() + await heading(page, START).count(), 0);
}));

test('the palette finds passages, compares, opens a file and deletes', () => withModel([
  { text: 'The heron stands in the reeds.' }, { text: 'Nothing of note.' },
], async (page) => {
  const shoot = camera(page, 'focus', 'wide');
  await runTask(page, 'Describe the pond');
  await page.getByRole('button', { name: /^New run/ }).first().click();
  await runTask(page, 'Describe the desert');
  await storedToTheEnd(page, 2);
  await page.evaluate(() => document.activeElement.blur());
  await find(page, 'heron');
  const pond = palette(page).getByRole('option', { name: /^Describe the pond/ });
  await pond.locator('.passage mark', { hasText: 'heron' }).waitFor();
  assert.equal(await palette(page).getByRole('option').count(), 1);
  await shoot('passage');
  await page.keyboard.press('Enter');
  await said(page, 'The heron stands');
  await isAtRun(page, 'Describe the pond');
  await shoot('opened');
  // What is selected is quoted, although the palette's field takes the selection.
  await page.evaluate(() => {
    const texts = document.createTreeWalker(document.querySelector('#transcript .prose'), NodeFilter.SHOW_TEXT);
    getSelection().selectAllChildren(texts.nextNode().parentNode);
  });
  await find(page, 'quote');
  await palette(page).getByRole('option', { name: 'Quote the selection' }).waitFor();
  await page.keyboard.press('Enter');
  await hasFocus(page, task(page));
  assert.match(await task(page).inputValue(), /^> The heron stands/);
  await task(page).fill('');
  await find(page, 'compare');
  await palette(page).getByRole('option', { name: 'Compare with: Describe the desert' }).waitFor();
  await page.keyboard.press('Enter');
  await hasFocus(page, page.getByRole('region', { name: 'Comparison' }));
  await find(page, 'import');
  await palette(page).getByRole('option', { name: /^Open or import a file/ }).waitFor();
  const record = JSON.stringify({ any: 'file' });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
  await chooser.setFiles({ name: 'numbers.json', mimeType: 'application/json', buffer: Buffer.from(record) });
  await page.getByText('Added 1 file').waitFor();
  await find(page, 'delete this run');
  await page.keyboard.press('Enter');
  await heading(page, START).waitFor();
  await page.getByText('Deleted \u201cDescribe the pond\u201d.').waitFor();
  // A message is in the dialog that is open, where it can be used.
  await page.keyboard.press('ControlOrMeta+k');
  await palette(page).getByRole('status').getByRole('button', { name: 'Undo' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Undo', includeHidden: true }).count(), 1);
  await shoot('message');
  await palette(page).getByRole('button', { name: 'Undo' }).click();
  await rail(page).getByText('Describe the pond').waitFor();
}));

test('while everything is in sight, nothing leads to the latest', () => withModel([
  { text: 'First a sum.', calls: [{ id: 'a', name: 'calculate', args: { expression: '2 * 3' } }] }, endless(`Then ${'a long story. '.repeat(150)}`),
], async (page) => {
  await page.setViewportSize({ width: 1440, height: 500 });
  await task(page).fill('Two times three?');
  await page.keyboard.press('Enter');
  const latest = page.getByRole('button', { name: 'Jump to latest' });
  await said(page, 'a long story.');
  await page.waitForFunction(() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector('#transcript'); return scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 32; });
  await page.keyboard.press('Escape');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await latest.waitFor();
  // In a window in which all of it has room.
  await page.setViewportSize({ width: 1440, height: 1800 });
  await latest.waitFor({ state: 'detached' });
  await page.keyboard.press('k');
  await page.locator('.call summary').click();
  await page.locator('.call[open]').waitFor();
  assert.equal(await latest.count(), 0);
  await page.keyboard.press('ControlOrMeta+.');
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
}));

for (const [device, viewport] of [['phone', { width: 390, height: 640 }], ['tablet', { width: 1024, height: 700 }]]) {
  test(`on a ${device}, a branch is begun from a target of 44 px, and the search stays in view`, () => withModel(Array.from({ length: 6 }, () => ({ text: 'Yes.' })), async (page) => {
    for (let n = 1; n <= 6; n += 1) {
      await runTask(page, `Task ${n}`);
      await said(page, 'Yes.');
      const branch = page.getByRole('button', { name: /^Branch: Turn 1/ });
      await branch.scrollIntoViewIfNeeded();
      const hit = await branch.evaluate((it) => {
        const { x, y, width, height } = it.getBoundingClientRect();
        const edges = [[1, height / 2], [width - 1, height / 2], [width / 2, 1], [width / 2, height - 1]];
        return [width, height, edges.every(([u, v]) => it.contains(document.elementFromPoint(x + u, y + v)))];
      });
      assert.ok(hit[0] >= 44 && hit[1] >= 44 && hit[2], `${hit}`);
      await page.getByRole('button', { name: 'New run', exact: true }).click();
    }
    await storedToTheEnd(page, 6);
    await page.getByRole('button', { name: 'Runs', exact: true }).click();
    const search = page.getByRole('searchbox', { name: 'Search runs' });
    await search.fill('task');
    await rail(page).getByRole('combobox', { name: 'Ending' }).selectOption('Complete');
    await rail(page).getByText('Task 1').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('.lists').scrollTop > 0);
    for (const kept of [search, rail(page).getByRole('combobox', { name: 'Ending' })]) {
      assert.ok(await kept.evaluate((it) => { const { x, y, width, height } = it.getBoundingClientRect(); return it.contains(document.elementFromPoint(x + width / 2, y + height / 2)); }));
    }
    await page.screenshot({ path: `tests/e2e/shots/focus-search-${device}.png` });
    // In the drawer, a message is where it can be used.
    await rail(page).locator('li', { hasText: 'Task 6' }).getByLabel('Rename, pin or delete').click();
    await rail(page).getByRole('button', { name: 'Delete' }).click();
    await rail(page).getByRole('status').getByRole('button', { name: 'Undo' }).waitFor();
    await page.screenshot({ path: `tests/e2e/shots/focus-drawer-${device}.png` });
  }, { context: { viewport, hasTouch: true, isMobile: true } }));
}

test('Ctrl+Z without a message brings back what was deleted last, and then what was deleted before', () => withModel([{ text: 'Done.' }], async (page) => {
  await runTask(page, 'A short task');
  const drawer = page.locator('.composer').getByRole('button', { name: /^Files/ });
  const files = page.getByRole('dialog', { name: 'Files' });
  await drawer.click();
  await files.getByLabel('Files to add').setInputFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('Mine.') });
  const first = files.locator('.file').getByRole('button', { name: /^Remove / }).first();
  const label = await first.getAttribute('aria-label');
  await first.click();
  await page.keyboard.press('Escape');
  await files.waitFor({ state: 'detached' });

  const row = rail(page).locator('li', { hasText: 'A short task' });
  await row.hover();
  await row.getByLabel('Rename, pin or delete').click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Dismiss' }).click();
  // The start page has the focus in its field, where Ctrl+Z undoes typing.
  await rail(page).getByRole('button', { name: 'Files' }).focus();
  await page.keyboard.press('ControlOrMeta+z');
  await row.waitFor();
  await hasFocus(page, row.getByRole('button').first());
  await page.keyboard.press('ControlOrMeta+z');
  assert.equal(await task(page).inputValue(), '', 'the browser undoes no typing');
  await drawer.click();
  await files.getByRole('button', { name: label, exact: true }).waitFor();
}));
