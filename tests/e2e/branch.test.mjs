// Branching a run at one of its turns, with another limit and an added message: the branch is a separate run that names its
// parent, replays by itself and is stored alongside it.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { PHONE, WIDE, download, runTask, showTurns, startPage, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { root, withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';
import { assertValid } from './lib/trajectory.mjs';

const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const sum = (expression) => ({ text: 'Let me see.', calls: [{ id: `c${expression}`, name: 'calculate', args: { expression } }] });

for (const [look, [viewport, colorScheme]] of Object.entries({ 'wide-light': [WIDE, 'light'], 'phone-dark': [PHONE, 'dark'] })) {
  test(`a branch from the third turn: ${look}`, { skip: leftIn(look) }, () => withSite((site) => withScript([
    sum('1+1'), sum('2+2'), sum('3+3'), { text: 'Six.' },
    {
      ...sum('4+4'),
      check: ({ messages }) => {
        assert.deepEqual(messages.map(({ role }) => role), ['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'user']);
        assert.equal(messages.at(-1).content, 'Take four.');
        assert.match(messages[0].content, /You have 5 turns/);
        assert.match(messages[5].content, /\[Turn 2\/15\]$/, 'what came before stays as it was');
      },
    },
    { text: 'Eight.', check: ({ messages }) => assert.match(messages.at(-1).content, /\[Turn 3\/5 - Only 2 turns left!/) },
  ], (baseUrl) => {
    const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
    const context = { viewport, colorScheme, storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] } };
    return withPage(site.app, { reach: [baseUrl], context }, async (page) => {
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      await runTask(page, 'Add.');
      await page.locator('section.turn').nth(2).hover();
      await page.getByRole('button', { name: /^Branch: Turn 3/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Branch' });
      await dialog.getByLabel('Max turns').fill('5');
      await dialog.getByLabel('Add a message before this turn').fill('Take four.');
      await page.screenshot({ path: path.join(shots, `branch-${look}.png`) });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(' | ')}`), []);
      await dialog.getByRole('button', { name: 'Start the branch' }).click();
      await page.getByText('Eight.').first().waitFor();
      await page.getByRole('region', { name: 'How it ended' }).last().waitFor();
      await showTurns(page);
      assert.equal(await page.locator('section.turn').count(), 4);
      assert.match(await page.locator('.facts').first().innerText(), /branch of run_\d{8}_\d{6}_[0-9a-f]{6} before turn 3/);
      await page.screenshot({ path: path.join(shots, `branched-${look}.png`) });
      // Both are stored separately, and the parent is unchanged.
      await storedToTheEnd(page, 2);
      await startPage(page);
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      if (viewport === PHONE) await page.getByRole('button', { name: 'Runs', exact: true }).click();
      // One line: the older version is folded below the newer one.
      await page.locator('.earlier .run').first().waitFor();
      assert.equal(await page.locator('.earlier .run').count(), 1);
      const stored = await page.evaluate(async () => {
        const request = indexedDB.open('turnwise');
        const db = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
        const asked = db.transaction('runs').objectStore('runs').getAll();
        const runs = await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
        db.close();
        return runs.map((text) => JSON.parse(text).summary);
      });
      assert.deepEqual(stored.map(({ total_turns, effective_max_turns }) => [total_turns, effective_max_turns]), [[4, 15], [4, 5]]);
      assert.notEqual(stored[0].session_id, stored[1].session_id);
      if (viewport === PHONE) return;
      await page.locator('.earlier .run').first().click();
      await page.getByText('Eight.').first().waitFor();
      const document = JSON.parse((await download(page)).text);
      assertValid(document);
      assert.deepEqual(document.parent, { run_id: stored[0].run_id, turn: 3 });
      assert.equal(document.run_id, stored[1].run_id);
      const again = await page.evaluate(async (text) => {
        const { default: init, replay } = await import(new URL('turnwise/turnwise.js', window.document.baseURI).href);
        await init();
        return replay(JSON.parse(text));
      }, JSON.stringify(document));
      assert.deepEqual(again, { ok: true });
    });
  })));
}
