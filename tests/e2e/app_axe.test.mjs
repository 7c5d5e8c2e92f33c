// axe finds no violations on the start page, an ended run and the settings, in both themes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE, WIDE, runExample, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { inThemes } from './lib/looks.mjs';

for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
  test(`no accessibility violations: ${size}`, () => withApp({ context: { viewport, reducedMotion: 'reduce' } }, async (page) => {
    const check = (what) => inThemes(page, async (theme) => assert.deepEqual(await audit(page), [], `${what}, ${theme}`));
    await check('start page');
    await runExample(page, /Limit and synthesis/);
    await check('ended run');
    await page.getByTitle('Model and settings').click();
    await page.getByRole('dialog').waitFor();
    await check('settings');
  }));
}
