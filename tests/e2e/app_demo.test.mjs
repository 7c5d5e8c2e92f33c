// The app answers an example task with the demo model, without a key or a network, in both themes and sizes.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { PHONE, WIDE, runExample, shown, withApp } from './lib/app.mjs';
import { inThemes, shots } from './lib/looks.mjs';

for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
  // On the wide screen at the pace that a person sees.
  test(`the demo model answers an example task in three tool turns or more: ${size}`, () => withApp({ pace: size === 'wide', context: { viewport } }, async (page) => {
    const shoot = (what) => inThemes(page, (theme) => page.screenshot({ path: path.join(shots, `${what}-${size}-${theme}.png`) }));
    await shoot('start');
    await runExample(page, /Tools over files/);
    const { turns, reason, outcome, source } = await shown(page);
    assert.deepEqual({ reason, outcome, source }, { reason: 'llm_complete', outcome: 'success', source: 'model' });
    const withTools = turns.filter(({ calls }) => calls.length);
    assert.ok(withTools.length >= 3, `only ${withTools.length} turns called tools`);
    withTools.forEach(({ counter }, i) => assert.match(counter ?? '', new RegExp(`^\\[Turn ${i + 1}/15\\b`)));
    assert.match(turns.at(-1).text, /[\w-]+\.md/, 'the answer names no file');
    await shoot('answer');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  }));
}

test('while the first task is typed, a text with every kind of block is drawn unseen, and is gone again', () => withApp({}, async (page) => {
  await page.addInitScript(() => {
    new MutationObserver((changes) => {
      const unseen = (nodes) => [...nodes].find((node) => node.classList?.contains('unseen'));
      for (const { addedNodes, removedNodes } of changes) {
        const [added, removed] = [unseen(addedNodes), unseen(removedNodes)];
        if (added) window.isHidden = getComputedStyle(added).visibility === 'hidden' && added.ariaHidden === 'true';
        if (removed) window.drawn = ['h2', 'strong', 'em', 'ul', 'ol', 'blockquote', 'pre [class^="tok-"]', 'td'].filter((kind) => removed.querySelector(kind));
      }
    }).observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await page.getByRole('textbox', { name: 'Task' }).press('W');
  const drawn = await page.waitForFunction(() => window.drawn);
  assert.deepEqual(await drawn.jsonValue(), ['h2', 'strong', 'em', 'ul', 'ol', 'blockquote', 'pre [class^="tok-"]', 'td']);
  assert.ok(await page.evaluate(() => window.isHidden), 'it can be seen');
  assert.equal(await page.locator('.unseen').count(), 0);
}));

test('on a touch screen no field has so small a text that a phone zooms in on it, and nothing scrolls sideways', () => withApp({ context: { viewport: PHONE, isMobile: true, hasTouch: true } }, async (page) => {
  await page.getByTitle('Model and settings').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).waitFor();
  const sizes = await page.evaluate(() => [...document.querySelectorAll('input:not([type=checkbox], [type=radio], [type=file]), textarea, select')].map((field) => parseFloat(getComputedStyle(field).fontSize)));
  assert.ok(sizes.length > 5, `${sizes.length} fields`);
  assert.ok(sizes.every((size) => size >= 16), `${sizes}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
  await page.screenshot({ path: path.join(shots, 'settings-touch.png') });
}));
