// Settings in tabs, the model at the task box, and the sample files apart from a person's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTask, showTurns, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const tab = (page, name) => page.getByRole('tab', { name });
const withModel = (steps, body, { look = 'wide', settings = {} } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai-compatible', base_url: baseUrl, model: 'scripted', ...settings });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: contextOf(look, { storageState }) }, (page) => body(page, site));
}));
const openSettings = (page) => page.getByTitle('Model and settings').click();

for (const look of Object.keys(LOOKS)) {
  test(`settings are in tabs; a wrong value marks its tab and is led to: ${look}`, { skip: leftIn(look) }, () => withApp({ context: contextOf(look) }, async (page) => {
    const shoot = camera(page, 'settings', look);
    await openSettings(page);
    await tab(page, 'Model').and(page.locator('[aria-selected=true]')).waitFor();
    await shoot('model');
    await tab(page, 'Model').focus();
    for (const name of ['Run', 'Tools', 'Web', 'Services', 'Skills', 'Limits', 'Appearance', 'Storage']) {
      await page.keyboard.press('ArrowRight');
      await page.getByRole('tabpanel', { name }).waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
      assert.equal(await page.getByRole('tabpanel').count(), 1, 'one panel at a time');
      await shoot(name.toLowerCase());
    }
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tabpanel', { name: 'Model' }).waitFor();

    await tab(page, 'Limits').click();
    await page.getByLabel('Max turns').fill('0');
    await tab(page, 'Appearance').click();
    await tab(page, 'Limits has a wrong value').waitFor();
    await page.getByText('One value is wrong.').waitFor();
    await shoot('wrong');
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.locator('#setting-max_turns:focus').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();

    // A run that cannot start leads there, too.
    await page.getByRole('textbox', { name: 'Task' }).fill('Anything');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('tabpanel', { name: 'Limits' }).waitFor();
    await page.getByLabel('Max turns').fill('3');
    await page.getByText('Saved. Applies to your next run.').waitFor();
  }));
}

test('the model at the task box: models used before, the demo, and all others', () => withSite((site) => withScript([{ text: 'First.' }, { text: 'Second.', check: ({ model }) => assert.equal(model, 'one') }], (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai-compatible', base_url: baseUrl, model: 'one' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: contextOf('wide', { storageState }) }, async (page) => {
    const switcher = page.getByRole('combobox', { name: 'Model of the next run' });
    const chosen = () => switcher.evaluate((select) => select.selectedOptions[0].textContent);
    const host = new URL(baseUrl).host;
    await switcher.waitFor();
    assert.equal(await chosen(), `one · ${host}`);
    await runTask(page, 'First task');
    await switcher.selectOption({ label: 'Demo: hits the limit' });
    assert.equal(await chosen(), 'Demo: hits the limit');
    await switcher.selectOption({ label: 'Another model…' });
    await page.getByRole('dialog', { name: 'Connect a model' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await chosen(), 'Demo: hits the limit', 'the way to the settings is no choice');
    await page.reload();
    await switcher.selectOption({ label: `one · ${host}` });
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    await page.getByRole('button', { name: /^New run/ }).click();
    await runTask(page, 'Second task');
    assert.equal(await chosen(), `one · ${host}`);
  });
})));

for (const look of Object.keys(LOOKS)) {
  test(`sample files are for the demo and the examples, never among one's own: ${look}`, { skip: leftIn(look) }, () => withApp({ context: contextOf(look) }, async (page) => {
    const shoot = camera(page, 'samples', look);
    const open = () => page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
    const files = page.getByRole('dialog', { name: 'Files' });
    const samples = files.locator('.samples');
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await open();
    await samples.getByText('Sample files').click();
    const count = await samples.locator('.file').count();
    assert.ok(count > 5, `${count}`);
    assert.equal(await samples.getByRole('button', { name: /^Remove/ }).count(), 0);
    await shoot('demo');
    await files.getByLabel('Files to add').setInputFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('mine') });
    await files.getByRole('button', { name: 'Remove mine.txt' }).waitFor();
    assert.equal(await samples.count(), 0);
    assert.equal(await files.locator('.file').count(), 1);
    await shoot('own');
    await page.keyboard.press('Escape');

    // An example that reads them gets them, and nothing of the person's.
    await page.getByRole('button', { name: 'Tools over files' }).click();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
    await page.getByText(`${count} files in the workspace`).waitFor();
  }));
}

test('with a model connected, a run has the person\'s files and no others', () => {
  const listed = ({ messages }) => assert.deepEqual(messages.at(-1).content.match(/\S+\.(?:md|txt)/g), ['monday.txt']);
  const missing = ({ messages }) => assert.doesNotMatch(messages.at(-1).content, /docs\//);
  const script = [
    { calls: [{ id: 'a', name: 'list_files', args: {} }] },
    { calls: [{ id: 'b', name: 'read_file', args: { path: 'tuesday.txt' } }], check: listed },
    { text: 'One note.', check: missing },
  ];
  return withModel(script, async (page) => {
    await page.locator('.composer').getByRole('button', { name: 'Files 0', exact: true }).click();
    const files = page.getByRole('dialog', { name: 'Files' });
    await files.getByText('No files yet.').waitFor();
    await files.getByLabel('Files to add').setInputFiles({ name: 'monday.txt', mimeType: 'text/plain', buffer: Buffer.from('Buy milk') });
    await files.getByRole('button', { name: 'Remove monday.txt' }).waitFor();
    await page.keyboard.press('Escape');
    await runTask(page, 'What do my notes say?');
    await page.getByText('1 file in the workspace').waitFor();
  });
});
