// Insight in the app: figures and charts over runs dropped on the page, by mouse, by keyboard and for axe.
// SHOTS=1 keeps screenshots in tests/e2e/shots.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { drop, runTask, withApp } from './lib/app.mjs';
import { manyRuns } from './lib/many-runs.mjs';
import { dist, root } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const { Agent, insight, summarize } = await import(path.join(dist, 'turnwise/node.js'));
const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

let folder;
let files;
let expected;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'turnwise-insight-'));
  const runs = await manyRuns(40);
  files = runs.map((run, n) => {
    const file = path.join(folder, `${n}.json`);
    writeFileSync(file, JSON.stringify(run));
    return file;
  });
  expected = await insight(await Promise.all(runs.map(summarize)));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `body` in the app with these runs in its list and Insight open. */
const withInsight = (context, names, body) => withApp({ context: { reducedMotion: 'reduce', ...context } }, async (page) => {
  await drop(page, names);
  await page.locator('.runs .run').nth(names.length - 1).waitFor({ state: 'attached', timeout: 60_000 });
  if (context.viewport.width < 1120) await page.getByRole('button', { name: 'Runs', exact: true }).click();
  await page.getByRole('navigation', { name: 'Runs', exact: true }).getByRole('button', { name: 'Insight' }).click();
  const dialog = page.getByRole('region', { name: 'Insight' });
  await dialog.waitFor();
  return body(page, dialog);
});

/** Waits until every chart has its image; returns the images' sizes and alt texts. */
async function pictures(dialog) {
  const charts = dialog.locator('.chart');
  await dialog.locator('.chart:first-child img').waitFor();
  const count = await charts.count();
  for (let n = 0; n < count; n += 1) await charts.nth(n).locator('img').waitFor();
  return dialog.locator('.chart img').evaluateAll((images) => Promise.all(images.map(async (image) => {
    await image.decode();
    const { width, height, alt } = image;
    return { width, height, natural: image.naturalWidth, room: image.parentElement.clientWidth, alt };
  })));
}

async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(' | ')}`);
}

for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
    test(`figures and charts of many runs: ${size}, ${colorScheme}`, { skip: leftIn(size), timeout: 120_000 }, () => withInsight({ viewport, colorScheme }, process.env.SHOTS ? files : files.slice(0, 10), async (page, dialog) => {
      const images = await pictures(dialog);
      assert.equal(images.length, 7);
      for (const { width, natural, room, alt, height } of images) {
        assert.ok(width === natural && width === room && width <= viewport.width && height > 20, JSON.stringify({ width, natural, room, height }));
        assert.ok(alt.length > 20, alt);
      }
      assert.deepEqual(await violations(page), []);
      await dialog.locator('summary', { hasText: 'Show figures' }).first().click();
      assert.deepEqual(await violations(page), [], 'with a table');
      if (process.env.SHOTS) {
        mkdirSync(path.join(root, 'tests/e2e/shots'), { recursive: true });
        const shot = (name) => page.screenshot({ path: path.join(root, `tests/e2e/shots/insight-${size}-${colorScheme}-${name}.png`) });
        await dialog.locator('summary', { hasText: 'Show figures' }).first().click();
        await shot('top');
        await dialog.evaluate((body) => body.scrollTo(0, body.clientHeight * 0.85));
        await shot('below');
      }
    }));
  }
}

test('the page counts what the package counts, filters by a click or by keys, and hands its figures out', { timeout: 120_000 }, () => withInsight({ viewport: WIDE }, files, async (page, dialog) => {
  const words = dialog.getByRole('status').last();
  const tile = (name) => dialog.locator('.tiles > div', { hasText: name }).locator('.value').textContent();
  await pictures(dialog);
  assert.equal(await words.textContent(), '40 runs');
  assert.equal(await tile('Success'), `${Math.round(expected.success_share * 100)} %`);
  assert.equal(await tile('Turns'), String(expected.turns.median));
  const figures = async () => {
    const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download figures' }).click()]);
    const chunks = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString());
  };
  assert.deepEqual(await figures(), expected);

  // A bar filters the runs, and removes the filter when it is activated again.
  const limit = expected.reasons.find(({ reason }) => reason === 'max_turns_synthesized').count;
  await dialog.getByRole('button', { name: /^Only Turn limit, synthesized \(max_turns_synthesized\)/ }).click();
  await words.getByText(`${limit} of 40 runs`).waitFor();
  assert.equal(await dialog.getByLabel('Ended by').inputValue(), '=max_turns_synthesized');
  assert.equal((await figures()).runs, limit);
  await dialog.locator('.chart').first().locator('img[alt*=" 100 %"]').waitFor();
  const bar = dialog.getByRole('button', { name: /^Only Turn limit/ });
  assert.equal(await bar.getAttribute('aria-pressed'), 'true');
  await bar.focus();
  await page.keyboard.press('Enter');
  await words.getByText('40 runs', { exact: true }).waitFor();

  // The other filters, alone and combined.
  await dialog.getByLabel('Model', { exact: true }).selectOption('=large-2');
  await words.getByText('10 of 40 runs').waitFor();
  await dialog.getByLabel('Outcome', { exact: true }).selectOption('=success');
  await words.getByText('4 of 40 runs').waitFor();
  await dialog.getByRole('button', { name: 'Clear filters' }).click();
  await words.getByText('40 runs', { exact: true }).waitFor();
  assert.equal(await dialog.getByLabel('Model', { exact: true }).inputValue(), '');
  await dialog.getByRole('button', { name: '24 hours' }).click();
  await words.getByText('2 of 40 runs').waitFor();
  await dialog.getByRole('button', { name: 'All time' }).click();
  await dialog.getByLabel('Search tasks and models').fill('no such thing');
  await dialog.getByText('No run passes these filters.').waitFor();
  assert.equal(await dialog.locator('.chart').count(), 0);
  await dialog.getByLabel('Search tasks and models').fill('OFFERS');
  await words.getByText('5 of 40 runs').waitFor();

  // Every figure is in a table, also reachable by keyboard.
  const summary = dialog.locator('[data-chart=reasons] summary');
  await summary.focus();
  await page.keyboard.press('Enter');
  const rows = dialog.locator('[data-chart=reasons] tbody tr');
  await rows.first().waitFor();
  assert.match(await rows.first().textContent(), /\(llm_complete\)\d+ runs?, \d+ %/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
}));

test('with no run it says what to do, and a run of this session counts', { timeout: 120_000 }, () => withApp({ context: { viewport: WIDE } }, async (page) => {
  const open = () => page.getByRole('navigation', { name: 'Runs', exact: true }).getByRole('button', { name: 'Insight' }).click();
  const dialog = page.getByRole('region', { name: 'Insight' });
  await open();
  await dialog.getByText('Nothing to count yet.').waitFor();
  await page.keyboard.press('Escape');
  await runTask(page, 'What is 12 * 12?');
  await open();
  await dialog.getByRole('status').getByText('1 run', { exact: true }).waitFor();
  // A few runs have figures, and no charts.
  assert.equal(await dialog.locator('.tiles > div').first().locator('.value').textContent(), '1');
  assert.equal(await dialog.locator('.chart').count(), 0);
}));

test('records dropped together open as runs and plans, each step counts, what is damaged is named, and other files are the agent\'s', { timeout: 120_000 }, async () => {
  const agent = new Agent({ provider: { kind: 'custom', complete: async () => 'done' }, tools: [], seed: 1 });
  const steps = [1, 2].map((order) => ({ order, agent: 'A', action: `step ${order}` }));
  const session = await agent.runPlan({ agents: { A: { kind: 'gather' } }, steps });
  agent.free();
  const [plan, newer, damaged, other] = ['plan.json', 'newer.json', 'damaged.json', 'other.json'].map((name) => path.join(folder, name));
  writeFileSync(plan, JSON.stringify(session));
  writeFileSync(newer, JSON.stringify({ ...session, version: 9 }));
  writeFileSync(damaged, JSON.stringify({ ...session, steps: 3 }));
  writeFileSync(other, '{"prices":[1,2]}');
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await drop(page, [newer, damaged]);
    await page.getByText(/^newer\.json was not opened\. This record has version 9.* damaged\.json was not opened\. This record is damaged/).waitFor();
    await drop(page, [files[0], damaged, plan, other]);
    await page.getByText(/^Opened 2 records, and added 1 file, 16 B for the agent\. damaged\.json was not opened\. This record is damaged/).waitFor();
    await page.getByRole('navigation', { name: 'Runs', exact: true }).getByRole('button', { name: 'Insight' }).click();
    await page.getByRole('region', { name: 'Insight' }).getByRole('status').getByText('3 runs', { exact: true }).waitFor();
  });
});
