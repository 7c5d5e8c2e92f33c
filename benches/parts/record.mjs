// Measures how the app opens a record of 2,000 turns, scrolls through it, and steps back at the end of its replay.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { WIDE, withApp } from '../../tests/e2e/lib/app.mjs';
import { longRun } from '../../tests/e2e/lib/long-run.mjs';
import { memory, open, scroll } from '../../tests/e2e/lib/record.mjs';
import { longestTasks } from '../../tests/e2e/lib/trace.mjs';
import { median } from '../stats.mjs';

const TURNS = 2000;
const STEPS = 12;

export const names = ({ ours }) => [ours];

let text; // the same record in every round

async function replayed(page) {
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('slider', { name: 'Step' }).waitFor({ timeout: 120_000 });
  await page.getByRole('button', { name: 'Last step' }).click();
  await page.getByText(/Request [\d,]+ of [\d,]+, turn 2000/).waitFor({ timeout: 120_000 });
  const steps = [];
  for (let at = 0; at < STEPS; at += 1) {
    const began = performance.now();
    const old = await page.locator('.timeline .place').innerText();
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((was) => document.querySelector('.timeline .place').innerText !== was, old);
    steps.push(performance.now() - began);
  }
  return median(steps);
}

export async function measure() {
  text ??= await longRun(TURNS);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'turnwise-bench-'));
  const file = path.join(folder, 'long.json');
  writeFileSync(file, text);
  try {
    return await withApp({ context: { viewport: WIDE } }, async (page) => {
      const before = await memory(page);
      let opened;
      let gaps;
      const opening = await longestTasks(page, async () => { opened = await open(page, file); });
      const scrolling = await longestTasks(page, async () => { gaps = await scroll(page); });
      gaps.sort((a, b) => a - b);
      const grown = (await memory(page)) - before;
      return {
        'drop to paint (ms)': opened,
        'longest task while opening, its own time (ms)': opening.cpu,
        'the same by the clock (ms)': opening.wall,
        'frame gap while scrolling, 95th percentile (ms)': gaps[Math.floor(gaps.length * 0.95)],
        'longest task while scrolling, its own time (ms)': scrolling.cpu,
        'longest task while scrolling, by the clock (ms)': scrolling.wall,
        'page heap, grown by (MiB)': grown,
        'a step back at the end of the replay (ms)': await replayed(page),
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
