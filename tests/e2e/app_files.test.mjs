// The files drawer downloads each file, and all of them as one archive that other programs can read.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, contents, drop, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';

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
      await page.getByRole('button', { name: /^Files [1-9]/ }).first().waitFor({ state: 'attached' });
      await drop(page, [path.join(folder, 'project')]);
      await page.getByRole('status').getByText('Added 3 files').waitFor();
      await page.getByRole('button', { name: /^Files [1-9]/ }).first().click();
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
      assert.deepEqual(Object.keys(read.files), rows);
      for (const [name, text] of Object.entries(files)) assert.equal(read.files[`project/${name}`], text, name);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
