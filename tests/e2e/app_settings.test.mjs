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
const openSettings = (page) => page.getByTitle('Model and settings').click();

for (const look of Object.keys(LOOKS)) {
  test(`settings are in tabs; a wrong value marks its tab and is led to: ${look}`, { skip: leftIn(look) }, () => withApp({ context: contextOf(look) }, async (page) => {
    const shoot = camera(page, 'settings', look);
    await openSettings(page);
    await tab(page, 'Model').and(page.locator('[aria-selected=true]')).waitFor();
    await shoot('model');
    await tab(page, 'Model').focus();
    for (const name of ['Run', 'Tools', 'Skills', 'Limits', 'Appearance', 'Storage']) {
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
    await switcher.selectOption({ label: 'Demo: never finishes' });
    assert.equal(await chosen(), 'Demo: never finishes');
    await switcher.selectOption({ label: 'Another model…' });
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await chosen(), 'Demo: never finishes', 'the way to the settings is no choice');
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
  test(`sample files are apart from one's own, can be removed for good and come back: ${look}`, { skip: leftIn(look) }, () => withApp({ context: contextOf(look) }, async (page) => {
    const shoot = camera(page, 'samples', look);
    const open = () => page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
    const files = page.getByRole('dialog', { name: 'Files' });
    const samples = files.locator('.samples');
    await page.getByRole('button', { name: /^Files [1-9]/ }).first().waitFor({ state: 'attached' });
    await open();
    await files.getByLabel('Files to add').setInputFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('mine') });
    await files.getByRole('button', { name: 'Remove mine.txt' }).waitFor();
    assert.equal(await samples.getByRole('button', { name: 'Remove mine.txt' }).count(), 0);
    const count = await samples.locator('.file').count();
    assert.ok(count > 5, `${count}`);
    await shoot('both');

    await samples.getByRole('button', { name: 'Remove all' }).click();
    await samples.waitFor({ state: 'hidden' });
    assert.equal(await files.locator('.file').count(), 1);
    await files.getByRole('button', { name: 'Undo' }).click();
    await samples.locator('.file').nth(count - 1).waitFor();
    await samples.getByRole('button', { name: 'Remove all' }).click();
    await page.reload();
    // One's own file is still there.
    await page.locator('.composer').getByRole('button', { name: 'Files 1', exact: true }).waitFor();
    await open();
    await shoot('removed');
    await files.getByRole('button', { name: 'Bring the sample files back' }).click();
    await samples.locator('.file').nth(count - 1).waitFor();

    // An example that reads them brings them back.
    await samples.getByRole('button', { name: 'Remove all' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Tools over files' }).click();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
    await page.getByText(`${count + 1} files in the workspace`).waitFor();
  }));
}
