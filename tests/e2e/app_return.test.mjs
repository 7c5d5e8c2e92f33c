// What a person does with a run afterwards: take the files that it wrote, share it, find it again by a passage, continue it, and delete all
// of them; and what the panel explains while it goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, contents, runTask, showTurns, storedRuns, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const KEY = 'sk-planted-4f9a8b7c6d5e4f3a2b1c';
const box = (page) => page.getByRole('textbox', { name: 'Task' });
const acts = (page) => page.getByRole('group', { name: 'This answer' }).last();
const panel = (page) => page.getByRole('complementary', { name: 'Run', exact: true });
const ended = (page) => page.getByRole('region', { name: 'How it ended' }).last().waitFor().then(() => showTurns(page));

const withModel = (steps, body, { look = 'wide', settings = {}, init } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const local = { 'turnwise.settings': { provider: 'openai', base_url: baseUrl, model: 'scripted', ...settings }, 'turnwise.keys': { [baseUrl]: KEY } };
  const localStorage = Object.entries(local).map(([name, value]) => ({ name, value: JSON.stringify(value) }));
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] } });
  return withPage(site.app, { reach: [baseUrl], context }, async (page) => {
    if (init) await page.evaluate(init);
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}));

/** On a phone, the details of the panel are closed at first. */
async function details(page, look) {
  if (look === 'phone') await panel(page).getByRole('button', { name: 'Details' }).click();
}

for (const look of Object.keys(LOOKS)) {
  test(`a run under way explains its ticks and its two ends; continued after an early stop, it keeps its limit: ${look}`, { skip: leftIn(look) }, () => withModel([
    { calls: [{ id: 'c1', name: 'calculate', args: { expression: '6 * 7' } }] },
    { chunks: [], hold: true },
    { text: 'In short: 42.' },
    { text: 'The whole answer: 42.' },
  ], async (page) => {
    const shoot = camera(page, 'return', look);
    await box(page).fill('Work it out');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('section.turn').nth(1).waitFor();
    await details(page, look);
    assert.deepEqual((await panel(page).locator('.legend-of').getAttribute('title')).split('\n'), [
      'plenty of turns left', '5 left: told to hurry', '3 left: told to finish', 'synthesis: the answer at the limit',
    ]);
    await panel(page).getByText('Stop ends now and keeps the text. Wrap up has the model conclude from what it has.').waitFor();
    await shoot('under-way');
    assert.match(await panel(page).getByRole('button', { name: 'Wrap up', exact: true }).getAttribute('title'), /^One more request asks the model to conclude/);
    assert.match(await panel(page).getByRole('button', { name: 'Stop', exact: true }).getAttribute('title'), /^End now: nothing more is sent/);
    await panel(page).getByRole('button', { name: 'Wrap up', exact: true }).click();
    await ended(page);
    // Turn 3 is the synthesis; the run had 20.
    await panel(page).getByRole('button', { name: 'Continue +17', exact: true }).click();
    await page.locator('#transcript').getByText('The whole answer: 42.').waitFor();
    await page.locator('.granted', { hasText: '17 more turns granted' }).waitFor();
    await panel(page).getByText('/ 20', { exact: true }).waitFor();
  }, { look, settings: { max_turns: '20' } }));

  test(`the files that a run wrote are below its answer, also after a reload: ${look}`, { skip: leftIn(look) }, () => withModel([
    { calls: [
      { id: 'c1', name: 'write_file', args: { path: 'out/summary.md', content: '# Summary\n\nAll is well.' } },
      { id: 'c2', name: 'query_json', args: { path: 'out/list.json', filter: '.', save_as: 'out/no.json' } },
      { id: 'c3', name: 'write_file', args: { path: 'prices.csv', content: 'a,b\n1,2\n' } },
    ] },
    { text: 'I wrote two files.' },
  ], async (page) => {
    const shoot = camera(page, 'return', look);
    await runTask(page, 'Write it down');
    const files = page.getByRole('region', { name: 'Files it wrote' });
    assert.deepEqual(await files.locator('.path').allInnerTexts(), ['out/summary.md', 'prices.csv']);
    await files.scrollIntoViewIfNeeded();
    await shoot('files');
    await storedToTheEnd(page, 1);
    await page.reload();
    await files.getByText('8 B').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), files.getByRole('button', { name: 'Download prices.csv' }).click()]);
    assert.equal(file.suggestedFilename(), 'prices.csv');
    assert.equal((await contents(file)).toString(), 'a,b\n1,2\n');
    await files.getByRole('button', { name: 'Open out/summary.md' }).click();
    const drawer = page.getByRole('dialog', { name: 'Files' });
    await drawer.getByText('All is well.').waitFor();
    await drawer.getByRole('button', { name: 'All files' }).click();
    await drawer.getByRole('button', { name: 'Remove prices.csv' }).click();
    await page.keyboard.press('Escape');
    assert.deepEqual(await files.locator('.path').allInnerTexts(), ['out/summary.md']);
  }, { look }));
}

test('an ended run is shared as an HTML report without keys: as a download, by the palette, or with the device', () => withModel([
  { text: `It is ${KEY}.` },
], async (page) => {
  await runTask(page, `What is ${KEY}?`);
  const check = (name, text) => {
    assert.match(name, /^run_\w+\.html$/);
    assert.match(text, /^<!doctype html>/i);
    assert.match(text, /What is \[redacted\]\?/);
    assert.ok(!text.includes(KEY));
  };
  const share = acts(page).getByRole('button', { name: 'Share', exact: true });
  const means = 'One HTML page with the task, every turn, the answer and your notes; what was said before a follow-up is in its data only. Keys are removed.';
  assert.equal(await share.getAttribute('title'), means);
  const [file] = await Promise.all([page.waitForEvent('download'), share.click()]);
  check(file.suggestedFilename(), (await contents(file)).toString());
  await page.locator('.toast', { hasText: means }).waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox', { name: 'Action or run' }).fill('share');
  await page.getByRole('option', { name: 'Share the run' }).waitFor();
  const [again] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  check(again.suggestedFilename(), (await contents(again)).toString());
  // A device that shares files.
  await page.evaluate(() => {
    navigator.canShare = ({ files }) => files.length === 1;
    navigator.share = async ({ files: [file] }) => { window.shared = [file.name, file.type, await file.text()]; };
  });
  await share.click();
  await page.waitForFunction(() => window.shared);
  const [name, type, text] = await page.evaluate(() => window.shared);
  assert.equal(type, 'text/html');
  check(name, text);
}));

const ANSWERS = ['Kelp grows at the Moon\u2019s tide.', 'Two.', 'Three.', 'Four.', 'Five.', 'Six.'];
for (const look of Object.keys(LOOKS)) {
  test(`the list is searched by passages, and all runs are deleted after a question: ${look}`, { skip: leftIn(look) }, () => withModel(ANSWERS.map((text) => ({ text })), async (page) => {
    const shoot = camera(page, 'return', look);
    for (const n of ANSWERS.keys()) {
      if (n) await page.goto(page.url().split('#')[0]);
      await runTask(page, `Task ${n + 1}: the sea`);
      await storedToTheEnd(page, n + 1);
    }
    const runs = page.getByRole('button', { name: 'Runs', exact: true });
    if (await runs.isVisible()) await runs.click();
    const rail = page.getByRole('navigation', { name: 'Runs' });
    await rail.getByRole('searchbox', { name: 'Search runs' }).fill('MOON kelp');
    await rail.locator('.passage mark').nth(1).waitFor();
    assert.equal(await rail.locator('.run').count(), 1);
    assert.equal(await rail.locator('.passage').innerText(), ANSWERS[0]);
    assert.deepEqual(await rail.locator('mark').allInnerTexts(), ['Kelp', 'Moon']);
    const today = await page.evaluate(() => new Date().toLocaleDateString('en-US', { year: 'numeric', month: 'long', day: 'numeric' }));
    await rail.getByText(today, { exact: true }).waitFor();
    await shoot('found');
    // A word of the task is marked in the title, of an open run as well.
    await rail.getByRole('searchbox', { name: 'Search runs' }).fill('sea');
    await page.waitForFunction(() => document.querySelectorAll('nav .run b mark').length === 6);
    await rail.getByRole('searchbox', { name: 'Search runs' }).fill('');
    if (look === 'phone') await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Settings' }).first().click();
    const settings = page.getByRole('dialog', { name: 'Settings' });
    await settings.getByRole('tab', { name: 'Storage' }).click();
    await settings.getByText(/^6 runs, \d.* [KM]B$/).waitFor();
    await settings.getByText(/^0 plans, 0 B$/).waitFor();
    await settings.getByText(/^0 files, 0 B$/).waitFor();
    await settings.getByRole('button', { name: 'Delete all runs\u2026' }).click();
    const keep = settings.getByRole('button', { name: 'Keep them' });
    await keep.and(page.locator(':focus')).waitFor();
    await shoot('delete-all');
    await keep.click();
    await settings.getByRole('button', { name: 'Delete all runs\u2026' }).click();
    assert.equal((await storedRuns(page)).length, 6);
    await settings.getByRole('button', { name: 'Delete all', exact: true }).click();
    await settings.getByText('0 runs, 0 B').waitFor();
    assert.equal(await settings.getByRole('button', { name: 'Delete all runs\u2026' }).isDisabled(), true);
    assert.equal((await storedRuns(page)).length, 0);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: START }).waitFor();
    assert.equal(await page.locator('nav .run').count(), 0);
  }, { look }));
}
