// A run can be downloaded as a trajectory that is valid against its schema, and dropped on the page to open it again.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, download, drop, runExample, showTurns, shown, withApp } from './lib/app.mjs';
import { assertValid, ending } from './lib/trajectory.mjs';

test('the downloaded trajectory is valid, and opens the run again when it is dropped', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const { name, text, seen } = await withApp({ context: { viewport: WIDE } }, async (page) => {
      await runExample(page, /Tools over files/);
      return { ...(await download(page)), seen: await shown(page) };
    });
    const trajectory = JSON.parse(text);
    assertValid(trajectory);
    assert.match(name, /^run_\d{8}_\d{6}_[0-9a-f]{6}\.json$/);
    assert.deepEqual(ending(trajectory), { termination_reason: 'llm_complete', outcome: 'success', answer_source: 'model', total_turns: seen.turns.length, max_turns: 15 });

    const file = path.join(folder, name);
    writeFileSync(file, text);
    await withApp({ context: { viewport: WIDE } }, async (page) => {
      await drop(page, [file]);
      await page.getByRole('region', { name: 'How it ended' }).waitFor();
      await showTurns(page);
      await page.locator('section.turn strong').last().waitFor(); // Markdown comes from the render worker
      const again = await shown(page);
      assert.deepEqual(again, seen, 'the run looks different when it is opened again');
      assert.equal((await download(page)).text, text, 'the document changed on its way');
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a trajectory of an unknown version is refused in words', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const file = path.join(folder, 'later.json');
    writeFileSync(file, JSON.stringify({ format: 'turnwise-trajectory', version: 99 }));
    await withApp({ context: { viewport: WIDE } }, async (page) => {
      await drop(page, [file]);
      await page.getByText(/version 99/).waitFor();
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
