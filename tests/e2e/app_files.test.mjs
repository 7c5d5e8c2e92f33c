// The files drawer downloads each file, and all of them as one archive that other programs can read; it shows a table as a table, or at
// the line that an answer mentions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, contents, drop, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

/** Reads an archive with Python's own zipfile module, and checks its checksums. */
const READ = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    print(json.dumps({"bad": archive.testzip(), "files": {name: archive.read(name).decode() for name in archive.namelist()}}))
`;

test('one file and all files are downloaded as they are', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const files = { 'notes/über uns.md': '# Über uns\n', 'data.csv': 'a,b\n1,2\n'.repeat(2000), empty: '' };
    mkdirSync(path.join(folder, 'project/notes'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, 'project', name), text);
    await withApp({ context: { viewport: WIDE } }, async (page) => {
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      await drop(page, [path.join(folder, 'project')]);
      await page.getByRole('status').getByText('Added 3 files').waitFor();
      await page.getByRole('button', { name: /^Files \d/ }).first().click();
      assert.deepEqual(await audit(page), []);
      const rows = await page.locator('.file .path').allTextContents();
      const [one] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download project/data.csv' }).click()]);
      assert.equal(one.suggestedFilename(), 'data.csv');
      assert.equal((await contents(one)).toString(), files['data.csv']);
      const [all] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download all' }).click()]);
      const archive = path.join(folder, all.suggestedFilename());
      assert.match(archive, /\.zip$/);
      await all.saveAs(archive);
      const { stdout, stderr } = spawnSync('python3', ['-c', READ, archive], { encoding: 'utf8' });
      assert.equal(stderr, '');
      const read = JSON.parse(stdout);
      assert.equal(read.bad, null);
      assert.deepEqual(Object.keys(read.files).sort(), rows.sort());
      for (const [name, text] of Object.entries(files)) assert.equal(read.files[`project/${name}`], text, name);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('of a long table the beginning is shown, with a sentence that is no row; a mention of a line shows that line', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  const file = path.join(folder, 'long.csv');
  writeFileSync(file, `day,rides\n${Array.from({ length: 30_000 }, (_, n) => `day ${n + 2},${n}\n`).join('')}`);
  try {
    await withScript([{ text: 'Look at long.csv:1900 again.' }], (baseUrl) => withSite((site) => {
      const settings = { provider: 'openai', base_url: baseUrl, model: 'scripted' };
      const local = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }, { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: 'sk-planted' }) }];
      const context = { viewport: WIDE, storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: local }] } };
      return withPage(site.app, { reach: [baseUrl], context }, async (page) => {
        await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
        await drop(page, [file]);
        await page.getByRole('status').getByText('Added 1 file').waitFor();
        await page.getByRole('button', { name: /^Files \d/ }).first().click();
        const drawer = page.getByRole('dialog', { name: 'Files' });
        await drawer.getByRole('button', { name: 'long.csv', exact: true }).click();
        await drawer.getByText('Only the beginning is shown; download the file to see all of it.').waitFor();
        await drawer.getByRole('cell', { name: 'day 2', exact: true }).waitFor();
        assert.equal(await drawer.locator('table').getByText('only the beginning').count(), 0);
        await page.keyboard.press('Escape');
        await drawer.waitFor({ state: 'hidden' });
        await page.getByRole('button', { name: /^Files \d/ }).first().click();
        await drawer.getByRole('heading', { name: 'Your files' }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('textbox', { name: 'Task' }).fill('Which line is odd?');
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.getByRole('button', { name: 'long.csv:1900' }).click();
        await drawer.locator('mark').getByText('day 1900,1898', { exact: true }).waitFor();
      });
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
