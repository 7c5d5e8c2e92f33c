// Working with records: notes on turns, a branch next to its original, a report that opens in anybody's app, and many runs in one file.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, contents, download, drop, runExample, runTask, showTurns, startPage, storedToTheEnd, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { inFolder } from './lib/stored.mjs';
import { leftIn } from './lib/tier.mjs';
import { assertValid } from './lib/trajectory.mjs';

const sum = (expression) => ({ text: 'Let me see.', calls: [{ id: `c${expression}`, name: 'calculate', args: { expression } }] });
const turn = (page, n) => page.locator('section.turn').nth(n - 1);
const notes = (page, n) => turn(page, n).getByRole('note');
const toast = (page, text) => page.getByRole('status').getByText(text).waitFor();
const ready = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });

/** Opens the app with a scripted model. */
const withModel = (steps, look, body) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: contextOf(look, { storageState }) }, async (page) => {
    await ready(page);
    return body(page, site);
  });
}));

/** Writes a note on a turn. */
async function write(page, n, text) {
  await showTurns(page);
  await turn(page, n).hover();
  await page.getByRole('button', { name: `Add note: turn ${n}`, exact: true }).click();
  await page.getByRole('textbox', { name: `Note on turn ${n}` }).fill(text);
  await page.getByRole('button', { name: 'Save note' }).click();
  await notes(page, n).last().waitFor();
}

/** Opens the stored run with this title after a new start of the page. */
async function reopen(page, title) {
  await startPage(page);
  await ready(page);
  const runs = page.getByRole('button', { name: 'Runs', exact: true });
  if (await runs.isVisible()) await runs.click();
  await page.locator('.earlier .run').filter({ hasText: title }).first().click();
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
}

async function verify(page) {
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByRole('slider', { name: 'Step' }).waitFor();
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText(/^Replays exactly: /).waitFor();
}

for (const look of Object.keys(LOOKS)) {
  test(`notes are written, changed, deleted and brought back, and stay with the run: ${look}`, { skip: leftIn(look) }, () => withModel([sum('1+1'), { text: 'Two.' }], look, async (page) => {
    const shoot = camera(page, 'notes', look);
    await runTask(page, 'Add.');
    await turn(page, 1).hover();
    await page.getByRole('button', { name: 'Add note: turn 1', exact: true }).click();
    const field = page.getByRole('textbox', { name: 'Note on turn 1' });
    await field.and(page.locator(':focus')).waitFor();
    // An empty note is refused, and Escape closes the form.
    await page.getByRole('button', { name: 'Save note' }).click();
    await toast(page, 'The note is empty.');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await field.fill('Nothing yet');
    await shoot('form');
    await field.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.locator('#add-note-0-1:focus').waitFor();

    await write(page, 1, '<b>Why</b> a tool?\nשלום');
    await write(page, 2, 'Right.');
    assert.equal(await notes(page, 1).locator('.text').textContent(), '<b>Why</b> a tool?\nשלום', 'shown as it was written');
    await notes(page, 1).getByText(/^Note, \w{3} \d+, \d{4}, \d{2}:\d{2}$/).waitFor();
    await notes(page, 1).hover();
    await shoot('written');

    await page.getByRole('button', { name: 'Edit note: turn 1' }).click();
    await field.fill('Because.');
    await field.press('Control+Enter');
    await notes(page, 1).getByText('Because.').waitFor();
    await notes(page, 2).hover();
    await page.getByRole('button', { name: 'Delete note: turn 2' }).click();
    await notes(page, 2).waitFor({ state: 'detached' });
    await toast(page, 'Deleted the note on turn 2.');
    await page.getByRole('button', { name: 'Undo' }).click();
    await notes(page, 2).getByText('Right.').waitFor();
    await notes(page, 1).hover();
    await page.getByRole('button', { name: 'Delete note: turn 1' }).click();
    await notes(page, 1).waitFor({ state: 'detached' });
    await write(page, 1, 'Kept.');

    await storedToTheEnd(page, 1);
    await reopen(page, 'Add.');
    assert.deepEqual(await page.getByRole('note').locator('.text').allTextContents(), ['Kept.', 'Right.']);
    if (look === 'phone') return;
    const record = JSON.parse((await download(page)).text);
    assertValid(record);
    assert.deepEqual(record.notes.map(({ turn: n, text }) => [n, text]), [[1, 'Kept.'], [2, 'Right.']]);
    // In a replay they are shown too, and can be written.
    await verify(page);
    const shown = page.getByRole('region', { name: 'The run up to this step' });
    await shown.getByText('Kept.').waitFor();
    await page.keyboard.press('End');
    await shown.getByText('Right.').waitFor();
  }));
}

test('a note shows in another tab, and a key that is in it does not', () => withModel([{ text: 'Done.' }], 'wide', async (page, site) => {
  await page.getByRole('button', { name: 'Settings' }).first().click();
  const settings = page.getByRole('dialog', { name: 'Settings' });
  await settings.locator('#setting-key').fill('my-own-secret-key');
  await page.keyboard.press('Escape');
  await settings.waitFor({ state: 'hidden' });
  await runTask(page, 'Do it.');
  await storedToTheEnd(page, 1);
  const other = await page.context().newPage();
  await other.goto(site.app);
  await ready(other);
  await other.locator('.earlier .run').first().click();
  await other.getByRole('region', { name: 'How it ended' }).waitFor();
  await write(page, 1, 'It was sent with my-own-secret-key.');
  assert.equal(await notes(page, 1).locator('.text').textContent(), 'It was sent with [redacted].');
  await notes(other, 1).getByText('It was sent with [redacted].').waitFor();
  // Both tabs write.
  await write(other, 1, 'Seen.');
  await notes(page, 1).getByText('Seen.').waitFor();
  assert.equal(await notes(page, 1).count(), 2);
}));

for (const look of Object.keys(LOOKS)) {
  test(`a branch is compared with its original: ${look}`, { skip: leftIn(look) }, () => withModel([sum('1+1'), sum('2+2'), { text: 'Four.' }, { text: 'Nothing more.' }], look, async (page) => {
    const shoot = camera(page, 'compare-branch', look);
    await runTask(page, 'Add.');
    assert.equal(await page.getByRole('button', { name: 'Compare with the original' }).count(), 0);
    await turn(page, 2).hover();
    await page.getByRole('button', { name: /^Branch: Turn 2/ }).click();
    await page.getByRole('dialog', { name: 'Branch' }).getByRole('button', { name: 'Start the branch' }).click();
    await page.locator('#transcript').getByText('Nothing more.').first().waitFor();
    const size = page.viewportSize();
    await page.setViewportSize({ ...size, height: 640 });
    await page.getByRole('group', { name: 'This answer' }).getByRole('button', { name: 'Compare', exact: true }).click();
    const both = page.getByRole('region', { name: 'Comparison' });
    const words = 'They part at turn 2: this run answers “Nothing more”; the original calls calculate {"expression":"2+2"}.';
    const first = both.locator('.pair[data-first]');
    await both.locator('.summary').getByText(words).waitFor();
    await first.getByText(/^First difference: /).waitFor();
    assert.equal(await first.count(), 1);
    // It is in view at once, below the folded turn before it.
    await page.waitForFunction(() => {
      const [comparison, pair] = ['.comparison', '.pair[data-first]'].map((name) => document.querySelector(name));
      const top = pair.getBoundingClientRect().top - comparison.getBoundingClientRect().top;
      return comparison.scrollTop === 0 && top >= 0 && top < comparison.clientHeight - 60;
    });
    const [theirs, mine] = await Promise.all([0, 1].map((n) => first.locator('.turn-of').nth(n).boundingBox()));
    if (look === 'wide') assert.ok(mine.y === theirs.y && theirs.x < mine.x, 'next to each other');
    else assert.ok(theirs.y < mine.y && mine.x === theirs.x, 'below each other');
    await page.setViewportSize(size);
    await shoot('first');
    await both.getByText('1 identical turn').click();
    await both.locator('.same .turn-of').getByText('Both runs').waitFor();
    await both.evaluate((comparison) => { comparison.scrollTop = 0; });
    await both.getByRole('columnheader', { name: 'The original' }).waitFor();
    await shoot('top');

    // The original need not be open.
    await storedToTheEnd(page, 2);
    await reopen(page, 'Add.');
    await page.getByRole('button', { name: 'Compare with the original' }).click();
    await both.locator('.summary').getByText(words).waitFor();
    await first.getByText(/^First difference: /).waitFor();
  }));
}

test('a report opens in anybody\'s app: it verifies, replays and can be branched', { timeout: 120_000 }, () => inFolder(async (save) => {
  const { report, text } = await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Tools over files/);
    await write(page, 1, 'Look at this.');
    return { report: await download(page, 'Report'), text: (await download(page)).text };
  });
  const record = JSON.parse(text);
  assert.deepEqual(record.notes.map((note) => note.text), ['Look at this.']);
  const file = save(report.name, report.text);
  // The report itself says what to do with it, shows the note, and links to nowhere.
  await withPage(new URL(`file://${file}`).href, { context: { viewport: WIDE } }, async (page) => {
    await page.getByText('To replay, verify or branch the run, save this file, open Turnwise, and choose the file there under Files, or drop it on the page.').waitFor();
    await page.getByText('Look at this.').waitFor();
    assert.equal(await page.locator('a').count(), 0);
  });
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await ready(page);
    await drop(page, [file]);
    await toast(page, /^Opened run_.*\.html \(read-only\)\.$/);
    await notes(page, 1).getByText('Look at this.').waitFor();
    assert.deepEqual(JSON.parse((await download(page)).text), record, 'the record came through whole');
    // A note on somebody else's record becomes part of it.
    await write(page, 2, 'I see.');
    const again = JSON.parse((await download(page)).text);
    assert.deepEqual(again.notes.map((note) => note.text), ['Look at this.', 'I see.']);
    assert.deepEqual({ ...again, notes: record.notes }, record);
    await verify(page);
    await page.keyboard.press('End');
    await page.getByRole('region', { name: 'The run up to this step' }).getByRole('region', { name: 'How it ended' }).waitFor();
    await page.getByRole('button', { name: 'Transcript' }).click();
    await turn(page, 2).hover();
    await page.getByRole('button', { name: /^Branch: Turn 2/ }).click();
    await page.getByRole('dialog', { name: 'Branch' }).getByRole('button', { name: 'Start the branch' }).click();
    await page.getByText(`branch of ${record.run_id} before turn 2`).waitFor();
    await page.getByRole('group', { name: 'This answer' }).waitFor();
    assert.equal(JSON.parse((await download(page)).text).parent.run_id, record.run_id);
  });
}));

test('the runs of the list are exported into one file, which opens all of them', { timeout: 120_000 }, () => inFolder(async (save) => {
  const exported = async (page, act) => {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    assert.equal(file.suggestedFilename(), 'turnwise-runs.zip');
    return contents(file);
  };
  const palette = async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Action or run' }).fill('export the runs');
    await page.keyboard.press('Enter');
  };
  const made = await withApp({ context: { viewport: WIDE } }, async (page) => {
    await ready(page);
    await runTask(page, 'What is 2 + 2?');
    await write(page, 1, 'Four.');
    await storedToTheEnd(page, 1);
    await startPage(page);
    await ready(page);
    await page.locator('.earlier .run').first().waitFor();
    await runTask(page, 'What is 3 + 3?');
    // One is open, one only stored.
    const all = await exported(page, () => palette(page));
    await toast(page, 'Saved turnwise-runs.zip with 2 records. To open them again, drop it on Turnwise.');
    return all;
  });
  const texts = await withApp({ context: { viewport: WIDE } }, async (page) => {
    await ready(page);
    await drop(page, [save('turnwise-runs.zip', made)]);
    await toast(page, 'Opened 2 records (read-only).');
    assert.equal(await page.locator('.runs .run').count(), 2);
    const found = [];
    for (const task of ['2 + 2', '3 + 3']) {
      await page.locator('.runs .run').filter({ hasText: task }).click();
      await page.getByRole('heading', { level: 1, name: `What is ${task}?` }).waitFor();
      await page.getByRole('region', { name: 'How it ended' }).waitFor();
      await showTurns(page);
      found.push((await download(page)).text);
    }
    await verify(page);
    return found;
  });
  const [noted] = texts.map((text) => JSON.parse(text));
  assertValid(noted);
  assert.deepEqual(noted.notes.map((note) => note.text), ['Four.']);

  // The search of the list limits what is exported.
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await ready(page);
    const files = texts.concat(texts, texts).map((text, n) => {
      const run = JSON.parse(text);
      return save(`run-${n}.json`, JSON.stringify({ ...run, input: `${n % 2 ? 'Lamps' : 'Offers'}, number ${n}` }));
    });
    await drop(page, files);
    await toast(page, 'Opened 6 records (read-only).');
    await page.getByRole('searchbox', { name: 'Search runs' }).fill('lamps');
    await page.waitForFunction(() => document.querySelectorAll('.runs .run').length === 3);
    await exported(page, () => page.getByRole('button', { name: 'Export the runs in the list' }).click());
    await toast(page, 'Saved turnwise-runs.zip with 3 records. To open them again, drop it on Turnwise.');
  });
}));
