// A run with 16 sub-agents in the app: a lane each, live text, an opened lane, stop, a page that stays responsive, and the
// same for a reopened document; in both themes and sizes, without axe violations.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { PHONE, WIDE, download, drop, runExample, runTask, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { withCrew } from './lib/crew-server.mjs';
import { root, withSite } from './lib/site.mjs';
import { longestTask } from './lib/trace.mjs';

const SIZE = 16;
const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const looks = { 'wide-light': [WIDE, 'light'], 'wide-dark': [WIDE, 'dark'], 'phone-light': [PHONE, 'light'] };

/** Runs `body` in the app, set to a run of the crew's model that may spawn sub-agents. */
const withCrewApp = (crew, [viewport, colorScheme], body) => withSite((site) => withCrew({ size: SIZE, ...crew }, (baseUrl, asked) => {
  const stored = { provider: 'openai', base_url: baseUrl, model: 'scripted', tools_off: 'spawn_subagents' };
  const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }];
  const context = { viewport, colorScheme, reducedMotion: 'reduce', storageState: { cookies: [], origins } };
  return withPage(site.app, { reach: [baseUrl], context }, async (page) => {
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    return body(page, asked);
  });
}));

/** Starts the run. Its rejection is not reported here: the test reports the first failure, not that the page is gone afterwards. */
function begin(page) {
  const running = runTask(page, 'Share it.');
  running.catch(() => {});
  return running;
}

const lanes = (page) => page.locator('.lane');
const words = (page) => page.locator('.lane > summary .words').allInnerTexts();
// Matched by name: search results may contain that word too.
const summary = (page) => page.locator('.call').filter({ has: page.locator('.name', { hasText: /^spawn_subagents$/ }) }).locator('.arg').first().innerText();

/** The panel's line about sub-agents; collapsed on a phone. */
const figure = (page) => page.evaluate(() => [...document.querySelectorAll('.panel dt')].find((it) => it.textContent === 'Sub-agents')?.nextElementSibling.textContent);

for (const [look, setting] of Object.entries(looks)) {
  test(`sixteen lanes, live, opened and concluded: ${look}`, async () => {
    // Sub-agents of the second half begin, and continue once the test has checked their lanes.
    let goOn;
    const looked = new Promise((resolve) => { goOn = resolve; });
    const gate = (who) => (who > SIZE / 2 ? looked : undefined);
    await withCrewApp({ pause: 8, gate }, setting, async (page) => {
      await page.evaluate(axe);
      const shoot = async (what) => {
        await page.screenshot({ path: path.join(shots, `subagents-${what}-${look}.png`) });
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(' | ')}`), [], what);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: the page scrolls sideways`);
      };
      const running = begin(page);
      await lanes(page).nth(SIZE - 1).waitFor();
      await page.locator('.lane[data-state=ended]').nth(SIZE / 2 - 1).waitFor();
      await page.locator('.lane[data-state=running]').nth(3).waitFor();
      assert.equal(await lanes(page).count(), SIZE);
      const live = await words(page);
      assert.ok(live.includes('waiting to start'), `${live}`);
      assert.ok(live.some((it) => /^turn \d of 7, (asking the model|running calculate)$/.test(it) || it === 'writing the synthesis'), `${live}`);
      assert.match(await summary(page), /^16 sub-agents, \d+ done$/);
      assert.match(await figure(page), /^\d+ of 16 done$/);
      assert.match(await page.locator('p[role=status]').innerText(), /^Sub-agents: \d+ of 16 done\.$/);
      // An opened lane of a running sub-agent: it keeps updating, and stays open.
      const open = page.locator('.lane[data-state=running]').last();
      const task = await open.locator('.what').innerText();
      const inside = page.locator('.lane').filter({ has: page.locator('.what', { hasText: new RegExp(`^\\s*${task}\\s*$`) }) });
      await inside.locator('summary').first().click();
      goOn();
      await inside.locator('.turn .call .name', { hasText: 'calculate' }).first().waitFor();
      await shoot('running');
      await inside.locator('.turn .box .prose').waitFor();
      assert.match(await inside.locator('.turn .box').innerText(), /Synthesis: the turn limit was reached\s+What \d+ found\./);
      assert.equal(await inside.locator('section.turn').count(), 8);
      assert.match(await inside.locator('.counter').last().innerText(), /Turn 7\/7/);
      assert.match(await inside.locator('.ending .headline').innerText(), /turn limit was reached/);
      await running;
      assert.deepEqual(await words(page), Array(SIZE).fill('8 turns, synthesized'));
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
        assert.deepEqual(await words(page), Array(SIZE).fill('8 turns, synthesized'));
        await lanes(page).nth(4).locator('summary').first().click();
        await lanes(page).nth(4).locator('.turn .box', { hasText: 'What 5 found.' }).waitFor();
        assert.equal(await lanes(page).nth(4).locator('section.turn').count(), 8);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });

  test(`stop concludes all of them: ${look}`, async () => {
    // No sub-agent is faster than the user: the third replies begin, and continue once stop is requested.
    let goOn;
    const stopped = new Promise((resolve) => { goOn = resolve; });
    const gate = (who, nth) => (who && nth === 3 ? stopped : undefined);
    await withCrewApp({ pause: 15, gate }, setting, async (page, asked) => {
      const running = begin(page);
      await page.locator('.lane[data-state=running]').nth(3).waitFor();
      await page.locator('.lane > summary .words', { hasText: /^turn [23]/ }).first().waitFor();
      await page.getByRole('main').getByRole('button', { name: 'Stop' }).click();
      goOn();
      await running;
      const after = await words(page);
      assert.deepEqual([...new Set(after.slice(4))], ['stopped before it began']);
      assert.ok(after.slice(0, 4).every((it) => /^\d turns?, stopped and synthesized$/.test(it)), `${after}`);
      assert.equal(await summary(page), '16 sub-agents, 4 done, 12 not run');
      assert.ok(asked.length < 30, `${asked.length} requests`);
      await lanes(page).nth(7).locator('summary').click();
      await page.getByText('It did not run, so it has no transcript.').waitFor();
      await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
      await page.screenshot({ path: path.join(shots, `subagents-stopped-${look}.png`) });
    });
  });
}

test('the page stays responsive with sixteen lanes, one of them open', async () => {
  const longest = [];
  for (let round = 0; round < 3; round += 1) {
    await withCrewApp({ pause: 1 }, looks['wide-light'], async (page) => {
      longest.push(await longestTask(page, async () => {
        const running = begin(page);
        await lanes(page).first().locator('summary').click();
        await running;
      }));
      assert.equal(await lanes(page).count(), SIZE);
    });
  }
  const [, median] = longest.sort((a, b) => a - b);
  console.log(`longest main-thread task of the app with ${SIZE} sub-agents: ${longest.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  // 65 ms on this project's machine when nothing disturbs it, but 465 ms once during a full check run: hence the limit.
  console.log(`goal 100 ms: ${median <= 100 ? 'kept' : 'MISSED'}, limit 1500 ms`);
  assert.ok(median <= 1500, `the longest task took ${median} ms (median of 3)`);
});

test('the example shows readers side by side, with the demo model', () => withApp({ context: { viewport: WIDE } }, async (page) => {
  await page.screenshot({ path: path.join(shots, 'subagents-start.png') });
  await runExample(page, /Parallel readers/);
  assert.equal(await lanes(page).count(), 5);
  assert.match(await summary(page), /^5 sub-agents, all done$/);
  await page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });
  await page.screenshot({ path: path.join(shots, 'subagents-example.png') });
}));
