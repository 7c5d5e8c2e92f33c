// The gallery of components, which only a test build has (`#/gallery`): every state of each can be told from the others, in light, dark and
// forced colours, and looks as tests/e2e/pictures keeps it.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { WIDE, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { contextOf, shots } from './lib/looks.mjs';
import { alike, moving, oddIcons, tooWide, unpainted } from './lib/marks.mjs';
import { Pictures, sameFonts } from './lib/pictures.mjs';
import { SHORT } from './lib/tier.mjs';

/** What the pictures show is checked by `make test-all`. */
const PICTURES = !SHORT || Boolean(process.env.UPDATE);

/** Emulated media of each theme. */
const THEMES = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  forced: { colorScheme: 'light', forcedColors: 'active' },
};
const FORCED = { hover: ['hover'], focus: ['focus', 'focus-visible'], pressed: ['hover', 'active'] };

/** Puts what has `data-state`, or is the line around it, into that state: a pointer can be in one place only. */
async function force(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('DOM.enable');
  await session.send('CSS.enable');
  const { root: { nodeId } } = await session.send('DOM.getDocument');
  for (const [state, forcedPseudoClasses] of Object.entries(FORCED)) {
    const selector = `.feature :is(button, input)[data-state=${state}], .feature .list-row:has([data-state=${state}])`;
    const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId, selector });
    assert.ok(nodeIds.length, `nothing has the state ${state}`);
    for (const one of nodeIds) await session.send('CSS.forcePseudoState', { nodeId: one, forcedPseudoClasses });
  }
}

/** The look of each state in each group: what differs is what a person can see. */
const looks = (page) => page.evaluate(() => [...document.querySelectorAll('.feature [data-part] :is([role=group], .chips, .grid, .list)')].map((group) => {
  const states = [...group.querySelectorAll('[data-state]')].map((it) => [it.dataset.state, it.closest('button, input') ?? it]);
  return {
    name: `${group.closest('[data-part]').dataset.part} ${group.getAttribute('aria-label') ?? ''}`.trim(),
    states: Object.fromEntries(states.map(([state, it]) => {
      const { backgroundColor, borderTopColor, borderTopStyle, color, opacity, outlineStyle, outlineColor } = getComputedStyle(it);
      const before = getComputedStyle(it, '::before').content;
      return [state, [backgroundColor, borderTopColor, borderTopStyle, color, opacity, outlineStyle === 'none' ? '' : outlineColor, before].join()];
    })),
  };
}).filter(({ states }) => Object.keys(states).length));

async function withGallery(body) {
  await withApp({ context: { ...contextOf('wide'), viewport: { width: WIDE.width, height: 1500 }, bypassCSP: true } }, async (page) => {
    await page.evaluate(() => { location.hash = '#/gallery'; });
    await page.getByRole('heading', { level: 1, name: 'Gallery' }).waitFor();
    await page.evaluate(() => document.activeElement.blur());
    await sameFonts(page);
    await body(page);
  });
}

test('every state of a component looks different, has no violation, and looks as it did', () => withGallery(async (page) => {
  await force(page);
  const kept = {};
  const faults = [];
  for (const [theme, media] of Object.entries(THEMES)) {
    await page.emulateMedia(media);
    kept[theme] = new Pictures(`gallery-${theme}`);
    const at = (found) => faults.push(...found.map((fault) => `${theme}: ${fault}`));
    at(await audit(page));
    for (const check of [alike, moving, oddIcons, tooWide, unpainted]) at(await page.evaluate(check));
    const groups = await looks(page);
    assert.deepEqual([...new Set(groups.map(({ name }) => name.split(' ')[0]))], ['Button', 'Chip', 'Field', 'List']);
    for (const { name, states } of groups) {
      // The system's colours have none for hover, and a pressed button is what the finger is on.
      const told = Object.entries(states).filter(([state]) => theme !== 'forced' || !['hover', 'pressed'].includes(state));
      for (const [state, look] of told) {
        const same = told.filter(([other, its]) => other !== state && its === look).map(([other]) => other);
        // A small icon has no room for the sign of what is under way.
        if (same.length && !(name === 'Button Square' && [state, ...same].includes('loading'))) at([`${name}: ${state} looks like ${same}`]);
      }
    }
    await page.screenshot({ path: path.join(shots, `gallery-${theme}.png`) });
    if (PICTURES) await kept[theme].take(page, 'components');
  }
  const open = {
    menu: () => page.getByRole('button', { name: 'Download' }).click(),
    dialog: () => page.getByRole('button', { name: 'Open the dialog' }).click(),
    notice: () => page.getByRole('button', { name: 'Show a notice' }).click(),
  };
  for (const [what, act] of Object.entries(open)) {
    await act();
    await page.locator({ menu: '.menu:popover-open', dialog: 'dialog[open]', notice: '.toast' }[what]).waitFor();
    for (const [theme, media] of Object.entries(THEMES)) {
      await page.emulateMedia(media);
      faults.push(...(await audit(page)).map((fault) => `${what}, ${theme}: ${fault}`));
      await page.screenshot({ path: path.join(shots, `gallery-${what}-${theme}.png`) });
      if (PICTURES) await kept[theme].take(page, what);
    }
    // Escape closes what is on top, and nothing around it.
    if (what !== 'notice') await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('.menu:popover-open, dialog[open]'));
    assert.equal(await page.getByRole('heading', { level: 1, name: 'Gallery' }).count(), 1, what);
  }
  assert.deepEqual(faults, []);
  if (PICTURES) for (const pictures of Object.values(kept)) await pictures.end();
}));

test('only its address leads to the gallery', () => withApp({ context: contextOf('wide') }, async (page) => {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Find an action or a run' }).waitFor();
  assert.equal(await page.getByText('Gallery').count(), 0);
}));
