// axe finds no violations on the start page, an ended run and the settings, in both themes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { PHONE, WIDE, runExample, withApp } from './lib/app.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function violations(page) {
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(' | ')}`);
}

for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
    test(`no accessibility violations: ${size}, ${colorScheme}`, async () => {
      await withApp({ context: { viewport, colorScheme, reducedMotion: 'reduce' } }, async (page) => {
        await page.evaluate(axe);
        assert.deepEqual(await violations(page), [], 'start page');
        await runExample(page, /Limit and synthesis/);
        assert.deepEqual(await violations(page), [], 'ended run');
        await page.getByTitle('Model and settings').click();
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await violations(page), [], 'settings');
      });
    });
  }
}
