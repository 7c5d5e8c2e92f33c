// A run that reaches its limit concludes with a synthesis that is visually set apart, and can be continued.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { beginExample, WIDE, runExample, showTurns, shown, withApp } from './lib/app.mjs';
import { root } from './lib/site.mjs';

const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });

test('the turn limit leads to a synthesis, and Continue grants more turns', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Limit and synthesis/);
    const first = await shown(page);
    assert.deepEqual([first.reason, first.outcome, first.source], ['max_turns_synthesized', 'partial', 'synthesis']);
    assert.deepEqual(first.turns.map(({ level }) => level), ['normal', 'moderate', 'moderate', 'urgent', 'urgent', 'urgent', 'urgent', 'synthesis']);
    assert.equal(first.turns[2].counter, '[Turn 3/7 - 4 turns remaining, work efficiently.]');
    assert.equal(first.turns[6].counter, '[Turn 7/7 - Only 0 turns left! Prioritize completing your task.]');
    await page.screenshot({ path: path.join(shots, 'synthesis-wide-light.png') });

    await page.getByRole('button', { name: /^Continue/ }).click();
    await page.getByRole('region', { name: 'How it ended, segment 2' }).waitFor({ timeout: 60000 });
    await showTurns(page);
    const second = await shown(page);
    assert.equal(second.reason, 'max_turns_synthesized');
    assert.equal(second.turns.length, first.turns.length + 6, 'five turns and another synthesis');
  });
});

test('Stop ends a run at once, with no synthesis', async () => {
  await withApp({ pace: true, context: { viewport: WIDE } }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await beginExample(page, /Limit and synthesis/);
    await page.locator('section.turn .call').first().waitFor();
    await page.locator('.panel').getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
    const { reason, outcome, turns } = await shown(page);
    assert.deepEqual([reason, outcome], ['cancelled', 'cancelled']);
    assert.ok(!turns.some(({ level }) => level === 'synthesis'));
  });
});
