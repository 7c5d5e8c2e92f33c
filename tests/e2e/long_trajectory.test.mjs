// A long record opens, only the part of it in sight is built, and its replay goes anywhere. `make bench` measures how fast,
// with 2,000 turns.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { WIDE, withApp } from './lib/app.mjs';
import { longRun } from './lib/long-run.mjs';
import { open, scroll } from './lib/record.mjs';

/** Several times as many as are built at once. */
const TURNS = 500;
const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
const file = path.join(folder, 'long.json');

before(async () => writeFileSync(file, await longRun(TURNS)));
after(() => rmSync(folder, { recursive: true }));

test(`a record of ${TURNS} turns opens and scrolls`, { timeout: 600000 }, () => withApp({ context: { viewport: WIDE } }, async (page) => {
  await open(page, file);
  await scroll(page);
  const turns = await page.locator('section.turn').count();
  assert.ok(turns > 60 && turns < TURNS, `${turns} turns are built`);
  assert.match(await page.locator('.panel .ends').innerText(), new RegExp(`\\b${TURNS}\\b`));
}));

test('the replay of a long record goes anywhere', { timeout: 600000 }, () => withApp({ context: { viewport: WIDE } }, async (page) => {
  await open(page, file);
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('slider', { name: 'Step' }).waitFor({ timeout: 120000 });
  await page.getByRole('button', { name: 'Last step' }).click();
  await page.getByText(new RegExp(`Request [\\d,]+ of [\\d,]+, turn ${TURNS}`)).waitFor({ timeout: 120000 });
  for (let at = 0; at < 3; at += 1) {
    const old = await page.locator('.timeline .place').innerText();
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((was) => document.querySelector('.timeline .place').innerText !== was, old);
  }
}));
