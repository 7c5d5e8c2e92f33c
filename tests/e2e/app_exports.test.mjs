// The download menu, and files of every kind dropped on the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PHONE, WIDE, contents, download, drop, runExample, showTurns, shown, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { missing, printed } from './lib/python.mjs';
import { root } from './lib/site.mjs';
import { inFolder } from './lib/stored.mjs';

const ROWS = JSON.parse(readFileSync(path.join(import.meta.dirname, 'lib/rows.json'), 'utf8')).exports;
const FORMATS = Object.fromEntries(ROWS.map(({ label, suffix }) => [label, suffix]));

test('the menu works by keyboard, and every format is downloaded and opened again', { timeout: 180000 }, () => inFolder(async (save) => {
  const made = {};
  const seen = await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Tools over files/);
    const button = page.getByRole('button', { name: 'Download' }).first();
    const menu = page.getByRole('menu');
    await button.focus();
    await page.keyboard.press('Enter');
    await menu.waitFor();
    // A popover reports in a separate task that it is open.
    await menu.locator('[role=menuitem]:focus').waitFor();
    const focused = () => page.evaluate(() => document.activeElement.querySelector('.name')?.textContent ?? document.activeElement.textContent);
    assert.equal(await focused(), 'Turnwise trajectory');
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), 'Compressed trajectory');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'Report');
    assert.deepEqual(await audit(page), []);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    assert.equal(await focused(), 'Download', 'the keyboard is back at the button');

    for (const [name, suffix] of Object.entries(FORMATS)) {
      const file = await download(page, name);
      assert.match(file.name, new RegExp(`^run_\\d{8}_\\d{6}_[0-9a-f]{6}${suffix.replaceAll('.', '\\.')}$`));
      assert.ok(file.text.length > 500, name);
      made[name] = file;
    }
    await button.click();
    const [shared] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Compressed trajectory' }).click()]);
    assert.match(shared.suggestedFilename(), /^run_\w+\.turnwise\.json\.gz$/);
    made.shared = { name: shared.suggestedFilename(), text: await contents(shared) };
    assert.equal(gunzipSync(made.shared.text).toString(), made['Turnwise trajectory'].text);
    return shown(page);
  });
  for (const kind of ['Report', 'ATIF 1.7', 'shared']) {
    await withApp({ context: { viewport: WIDE } }, async (page) => {
      await drop(page, [save(made[kind].name, made[kind].text)]);
      await page.getByRole('region', { name: 'How it ended' }).waitFor();
      await showTurns(page);
      await page.locator('section.turn strong').last().waitFor();
      assert.deepEqual(await shown(page), seen, `the run looks different when it is opened from ${kind}`);
      if (kind === 'ATIF 1.7') await page.getByText('Opened from a file in another format').first().waitFor();
      else assert.deepEqual(JSON.parse((await download(page)).text), JSON.parse(made['Turnwise trajectory'].text));
    });
  }
}));

test('ATIF of other agents is shown, with what was said between turns and with sub-agents', async () => {
  await withApp({ context: { viewport: PHONE } }, async (page) => {
    await drop(page, [path.join(root, 'tests/fixtures/atif/terminal.json')]);
    await page.getByRole('heading', { level: 1, name: /Create a file called hello/ }).waitFor();
    await page.getByText('terminus-2 2.0.0, ATIF-v1.5').waitFor();
    assert.equal(await page.locator('section.turn').count(), 3);
    assert.deepEqual(await audit(page), []);
  });
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await drop(page, [path.join(root, 'tests/fixtures/atif/conversation.json')]);
    await page.getByText('Look again,').waitFor();
    await drop(page, [path.join(root, 'tests/fixtures/atif/delegation.json')]);
    await page.getByText('Find the second').first().waitFor({ state: 'attached' });
    const file = await download(page, 'ATIF 1.7');
    assert.equal(JSON.parse(file.text).agent.name, 'planner');
  });
});

test('ATIF that Harbor makes of the logs of other agents is shown', { skip: missing }, () => inFolder((save) => withApp({ context: { viewport: WIDE } }, async (page) => {
  for (const [name, file] of Object.entries(printed('harbor_atif.py'))) {
    const { agent, schema_version: version, steps } = file;
    await drop(page, [save(`${name}.json`, JSON.stringify(file))]);
    await page.getByText(`${agent.name} ${agent.version}, ${version}`).waitFor();
    const task = steps.find((step) => step.source === 'user')?.message.split('\n')[0];
    if (task) await page.getByRole('heading', { level: 1, name: task }).waitFor();
    const turns = page.locator('section.turn');
    const written = steps.filter((step) => step.source === 'agent');
    await turns.nth(written.length - 1).getByText(written.at(-1).message.split('\n')[0]).filter({ visible: true }).first().waitFor();
    assert.equal(await turns.count(), written.length, name);
    const seen = await shown(page);
    const asked = written.map((step) => (step.tool_calls ?? []).map((call) => call.function_name));
    // Results that name no call come after the calls.
    assert.deepEqual(seen.turns.map((turn) => turn.calls.filter((call) => call !== 'observation')), asked, name);
  }
})));

test('what cannot be opened is said in words, and a bomb does not hold the page', () => inFolder((save) => withApp({ context: { viewport: WIDE } }, async (page) => {
  const refused = async (name, content, words) => {
    await drop(page, [save(name, content)]);
    await page.getByRole('status').getByText(words).waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
  };
  const bomb = gzipSync(Buffer.alloc(201 * 1024 * 1024, 32));
  assert.ok(bomb.length < 1024 * 1024);
  await refused('bomb.json.gz', bomb, 'bomb.json.gz was not opened: it unpacks to more than 200 MB.');
  await refused('later.json', JSON.stringify({ schema_version: 'ATIF-v2.0' }), 'this Turnwise reads ATIF 1.0 to 1.8');
  await refused('broken.json', JSON.stringify({ schema_version: 'ATIF-v1.7', steps: [] }), 'This ATIF file is damaged: missing field `agent`');
  // Any other HTML page is a file for the agent.
  await drop(page, [save('notes.html', '<!doctype html><p>Notes</p>')]);
  await page.getByRole('status').getByText('Added 1 file').waitFor();
})));
