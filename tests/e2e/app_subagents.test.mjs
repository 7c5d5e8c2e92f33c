// A run with 16 sub-agents in the app: a lane each, live text, an opened lane, stop, and the same for a reopened
// document; in both themes and sizes, without axe violations.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, download, drop, runExample, runTask, withApp } from './lib/app.mjs';
import { LOOKS, camera, shots } from './lib/looks.mjs';
import { SIZE } from './lib/crew-server.mjs';
import { withCrewApp } from './lib/crew-app.mjs';
import { left, leftIn } from './lib/tier.mjs';

/** Starts the run. Its rejection is not reported here: the test reports the first failure, not that the page is gone afterwards. */
function begin(page) {
  const running = runTask(page, 'Share it.');
  running.catch(() => {});
  return running;
}

const lanes = (page) => page.locator('.lane');
const words = (page) => page.locator('.lane > summary .words').allInnerTexts();
// Matched by name: search results may contain that word too.
const summary = (page) => page.locator('.call[data-tool="spawn_subagents"]').locator('.arg').first().innerText();

/** The panel's line about sub-agents; collapsed on a phone. */
const figure = (page) => page.evaluate(() => [...document.querySelectorAll('.panel dt')].find((it) => it.textContent === 'Sub-agents')?.nextElementSibling.textContent);

for (const look of Object.keys(LOOKS)) {
  test(`sixteen lanes, live, opened and concluded: ${look}`, { skip: left }, async () => {
    // Sub-agents of the second half begin, and continue once the test has checked their lanes.
    let goOn;
    const looked = new Promise((resolve) => { goOn = resolve; });
    const gate = (who) => (who > SIZE / 2 ? looked : undefined);
    await withCrewApp({ pause: 8, gate }, look, async (page) => {
      const shoot = camera(page, 'subagents', look);
      const running = begin(page);
      await lanes(page).nth(SIZE - 1).waitFor();
      await page.locator('.lane[data-state=ended]').nth(SIZE / 2 - 1).waitFor();
      await page.locator('.lane[data-state=running]').nth(3).waitFor();
      assert.equal(await lanes(page).count(), SIZE);
      const live = await words(page);
      assert.ok(live.includes('waiting to start'), `${live}`);
      assert.ok(live.some((it) => /^turn \d of 7, (asking the model|calculating .+)$/.test(it) || it === 'writing the synthesis'), `${live}`);
      assert.match(await summary(page), /^16 sub-agents, \d+ done$/);
      assert.match(await figure(page), /^\d+ of 16 done$/);
      assert.match(await page.locator('p[role=status]').innerText(), /^Sub-agents: \d+ of 16 done\.$/);
      // An opened lane of a running sub-agent: it keeps updating, and stays open.
      const open = page.locator('.lane[data-state=running]').last();
      const task = await open.locator('.what').innerText();
      const inside = page.locator('.lane').filter({ has: page.locator('.what', { hasText: new RegExp(`^\\s*${task}\\s*$`) }) });
      await inside.locator('summary').first().click();
      goOn();
      await inside.locator('.turn .call[data-tool="calculate"]').first().waitFor();
      await shoot('running');
      await inside.locator('.turn .box .prose').waitFor();
      assert.match(await inside.locator('.turn .box').innerText(), /Synthesis: the turn limit was reached\s+What \d+ found\./);
      assert.equal(await inside.locator('section.turn').count(), 8);
      assert.match(await inside.locator('.counter').last().innerText(), /Turn 7\/7/);
      assert.match(await inside.locator('.ending').locator('.headline, details > p').first().textContent(), /turn limit was reached/);
      await running;
      assert.deepEqual(await words(page), Array(SIZE).fill('concluded at the turn limit'));
      assert.equal(await summary(page), '16 sub-agents, all done');
      assert.equal(await figure(page), '16 of 16 done');
      await inside.locator('summary').first().scrollIntoViewIfNeeded();
      await shoot('opened');
      await inside.locator('summary').first().click();
      await inside.locator('.lane-body').waitFor({ state: 'detached' });
      await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
      await shoot('ended');

      // The same for a reopened document.
      const details = page.getByRole('button', { name: 'Details' });
      if (await details.isVisible()) await details.click();
      const saved = await download(page);
      const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
      try {
        writeFileSync(path.join(folder, saved.name), saved.text);
        await drop(page, [path.join(folder, saved.name)]);
        await page.getByText(/^Opened run_/).waitFor();
        assert.deepEqual(await words(page), Array(SIZE).fill('concluded at the turn limit'));
        await lanes(page).nth(4).locator('summary').first().click();
        await lanes(page).nth(4).locator('.turn .box', { hasText: 'What 5 found.' }).waitFor();
        assert.equal(await lanes(page).nth(4).locator('section.turn').count(), 8);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });

  test(`Wrap up concludes all of them: ${look}`, { skip: leftIn(look) }, async () => {
    // No sub-agent is faster than the user: the third replies begin, and continue once stop is requested.
    let goOn;
    const stopped = new Promise((resolve) => { goOn = resolve; });
    const gate = (who, nth) => (who && nth === 3 ? stopped : undefined);
    await withCrewApp({ pause: 15, gate }, look, async (page, asked) => {
      const running = begin(page);
      await page.locator('.lane[data-state=running]').nth(3).waitFor();
      await page.locator('.lane > summary .words', { hasText: /^turn [23]/ }).first().waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Wrap up' }).click();
      goOn();
      await running;
      const after = await words(page);
      assert.deepEqual([...new Set(after.slice(4))], ['stopped before it began']);
      assert.ok(after.slice(0, 4).every((it) => /^wrapped up$/.test(it)), `${after}`);
      assert.equal(await summary(page), '16 sub-agents, 4 done, 12 not run');
      assert.ok(asked.length < 30, `${asked.length} requests`);
      await lanes(page).nth(7).locator('summary').click();
      await page.getByText('It did not run, so it has no transcript.').waitFor();
      await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
      await page.screenshot({ path: path.join(shots, `subagents-stopped-${look}.png`) });
    });
  });
}

test('the example shows readers side by side, with the demo model', () => withApp({ context: { viewport: WIDE } }, async (page) => {
  await page.screenshot({ path: path.join(shots, 'subagents-start.png') });
  await runExample(page, /Parallel readers/);
  assert.equal(await lanes(page).count(), 5);
  assert.match(await summary(page), /^5 sub-agents, all done$/);
  await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
  await page.screenshot({ path: path.join(shots, 'subagents-example.png') });
}));
