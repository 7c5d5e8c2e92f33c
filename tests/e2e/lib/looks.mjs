// The looks in which the app is checked: sizes, and themes. A theme changes colours and nothing else, so a test is walked
// through once in each size, and looks at every place in both themes.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { PHONE, WIDE } from './app.mjs';
import { audit } from './axe.mjs';
import { root } from './site.mjs';

export const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });

const THEMES = ['light', 'dark'];
/** name -> viewport, and the themes to look at: a phone's styles have no colours of their own. */
export const LOOKS = { wide: { viewport: WIDE, themes: THEMES }, phone: { viewport: PHONE, themes: ['light'] } };
/** Options of Playwright's context for a look, which begins in the light theme. */
export const contextOf = (look, more = {}) => ({ viewport: LOOKS[look].viewport, colorScheme: 'light', reducedMotion: 'reduce', ...more });

/** Runs `body(theme)` with the page in each theme; afterwards it is light again. */
export async function inThemes(page, body, themes = THEMES) {
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    await body(theme);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Returns a function that takes a screenshot, runs axe, and checks that the page does not scroll sideways, in each theme of the look. */
export const camera = (page, prefix, look) => (what) => inThemes(page, async (theme) => {
  await page.screenshot({ path: path.join(shots, `${prefix}-${what}-${look}-${theme}.png`) });
  assert.deepEqual(await audit(page), [], `${what}, ${theme}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}, ${theme}: the page scrolls sideways`);
}, LOOKS[look].themes);
