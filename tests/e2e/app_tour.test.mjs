// Every state of the app, in both sizes and themes: no accessibility violation, no scrolling sideways, the look that
// tests/e2e/pictures keeps (make test-all), targets of 44 px on a phone, and a visible focus in a sensible order. With forced colours every
// sign is painted; with less motion nothing moves; at 200 % and on a phone on its side everything fits.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { PHONE, WIDE } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { shots } from './lib/looks.mjs';
import { Pictures, sameFonts } from './lib/pictures.mjs';
import { alike, moving, oddIcons, tooWide, unpainted } from './lib/marks.mjs';
import { root } from './lib/site.mjs';
import { SHORT, left, sayLeft } from './lib/tier.mjs';
import { STATES, tour } from './lib/tour.mjs';

const THEMES = ['light', 'dark'];
const PICTURES = !SHORT || Boolean(process.env.UPDATE);
/** The pictures of docs/design.md, which UPDATE=1 takes: state, look, theme. */
const SHOWN = [['start', 'wide', 'light'], ['answer', 'wide', 'light'], ['limit', 'wide', 'dark'], ['permission', 'wide', 'light'], ['answer', 'phone', 'light'], ['failed', 'phone', 'dark'], ['settings-model', 'phone', 'light']];
const isShown = (...picture) => SHOWN.some((shown) => shown.join() === picture.join());
/** States whose picture depends on how long something took, or that last for some seconds only. */
const TIMED = ['log', 'insight', 'undo'];
/** The same window at 200 %, and the same phone on its side. */
const OTHER = { wide: { width: WIDE.width / 2, height: WIDE.height / 2 }, phone: { width: PHONE.height, height: PHONE.width } };
/** States in which the keyboard is followed through the page. */
const TABBED = ['start', 'answer', 'replay', 'branch', 'settings-run', 'files'];

for (const look of ['wide', 'phone']) {
  test(`every state: ${look}`, { skip: look === 'phone' && left }, async (t) => {
    const kept = Object.fromEntries(THEMES.map((theme) => [theme, new Pictures(`${look}-${theme}`)]));
    const visited = [];
    const faults = [];
    const touch = look === 'phone' ? { isMobile: true, hasTouch: true } : {};
    await tour(look, async (page, state) => {
      visited.push(state);
      if (!await page.evaluate(() => [...document.fonts].some(({ family }) => family.includes('Same Sans')))) await sameFonts(page);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        const shot = path.join(shots, `tour-${state}-${look}-${theme}.png`);
        if (PICTURES) await page.screenshot({ path: shot });
        if (process.env.UPDATE && isShown(state, look, theme)) {
          mkdirSync(path.join(root, 'docs/design'), { recursive: true });
          await sharp(shot).resize({ width: look === 'wide' ? 1000 : 390 }).webp({ quality: 82 }).toFile(path.join(root, `docs/design/${state}-${look}-${theme}.webp`));
        }
        faults.push(...(await audit(page)).map((fault) => `${state}, ${theme}: ${fault}`));
        if (PICTURES && !TIMED.includes(state)) await kept[theme].take(page, state);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      const lookAt = async (where, ...checks) => {
        for (const check of checks) faults.push(...(await page.evaluate(check)).map((fault) => `${state}${where}: ${fault}`));
      };
      await lookAt('', tooWide, oddIcons, moving);
      if (look === 'phone') faults.push(...(await page.evaluate(smallTargets)).map((fault) => `${state}: ${fault}`));
      else if (TABBED.includes(state)) faults.push(...(await followFocus(page)).map((fault) => `${state}: ${fault}`));
      // That it is seen at all: a run that is under way moves.
      if (state === 'running') {
        await page.emulateMedia({ reducedMotion: 'no-preference' });
        assert.notDeepEqual(await page.evaluate(moving), []);
        await page.emulateMedia({ reducedMotion: 'reduce' });
      }
      await page.emulateMedia({ forcedColors: 'active' });
      await lookAt(', forced colours', unpainted, alike);
      await page.screenshot({ path: path.join(shots, `tour-${state}-${look}-forced.png`) });
      await page.emulateMedia({ forcedColors: 'none' });
      await page.setViewportSize(OTHER[look]);
      // The transcript follows a new size in the next frames.
      const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await drawn();
      await lookAt(`, ${OTHER[look].width} by ${OTHER[look].height}`, tooWide);
      faults.push(...(await audit(page)).map((fault) => `${state}, ${OTHER[look].width} by ${OTHER[look].height}: ${fault}`));
      await page.screenshot({ path: path.join(shots, `tour-${state}-${look}-other.png`) });
      await page.setViewportSize(look === 'wide' ? WIDE : PHONE);
      await drawn();
    }, { ...touch, bypassCSP: true });
    assert.deepEqual(visited, STATES);
    assert.deepEqual(faults, []);
    if (PICTURES) for (const theme of THEMES) await kept[theme].end();
    else sayLeft(t, THEMES.length * STATES.filter((state) => !TIMED.includes(state)).length, 'pictures');
  });
}

/** What can be touched in less than 44 px, but for links in texts. Measured by what is hit, since areas may go beyond an element. */
function smallTargets() {
  const top = document.querySelector('dialog[open]') ?? document.querySelector('.app[data-rail="open"] .rail') ?? document.body;
  const small = [];
  const scrolled = [...document.querySelectorAll('*')].filter((it) => it.scrollTop || it.scrollLeft).map((it) => [it, it.scrollTop, it.scrollLeft]);
  // The bars of a chart are as high as their rows; the same choice is in the filter above.
  for (const it of top.querySelectorAll('button:not(.link, .spot), input:not([type=file]), select, textarea, summary, [role=option]')) {
    if (!it.checkVisibility({ visibilityProperty: true }) || it.disabled) continue;
    it.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const { x, y, width, height } = it.getBoundingClientRect();
    const label = it.labels?.[0];
    const hits = (u, v) => {
      const hit = document.elementFromPoint(u, v);
      return Boolean(hit && (it.contains(hit) || label?.contains(hit)));
    };
    const [u, v] = [x + width / 2, y + height / 2];
    const name = `${it.tagName} ${(it.getAttribute('aria-label') ?? it.textContent).trim().slice(0, 40)}`;
    if (!hits(u, v)) {
      small.push(`${name}: covered`);
      continue;
    }
    const reach = (du, dv) => {
      let n = 0;
      while (n < 44 && hits(u + du * (n + 1), v + dv * (n + 1))) n += 1;
      return n;
    };
    const [wide, high] = [reach(-1, 0) + 1 + reach(1, 0), reach(0, -1) + 1 + reach(0, 1)];
    // A pixel is lost where two areas meet at a fraction of one.
    if (wide < 43 || high < 43) small.push(`${name}: ${wide} by ${high} px`);
  }
  for (const [it, top, left] of scrolled) Object.assign(it, { scrollTop: top, scrollLeft: left });
  return [...new Set(small)];
}

/** Presses Tab through the page; returns what has no visible focus, is hidden while it has the focus, or is reached out of order. */
async function followFocus(page) {
  const faults = [];
  const before = await page.evaluate(() => {
    window.focusedBefore = document.activeElement;
    return [...document.querySelectorAll('[tabindex]')].filter((it) => it.tabIndex > 0).length;
  });
  if (before) faults.push('an element is out of order by its tabindex');
  await page.evaluate(() => document.activeElement.blur());
  const seen = new Set();
  for (let n = 0; n < 120; n += 1) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(() => {
      const it = document.activeElement;
      if (it === document.body) return null;
      const { x, y, width, height } = it.getBoundingClientRect();
      const shown = [it, it.parentElement].some((one) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
        return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
      }) || Boolean(it.closest(':has(:focus-visible)') && [...document.querySelectorAll(':has(> :focus-visible), :has(> * > :focus-visible)')].some((one) => getComputedStyle(one).outlineStyle !== 'none'));
      it.dataset.reached ??= String((window.reached = (window.reached ?? 0) + 1));
      return { id: it.dataset.reached, name: `${it.tagName} ${(it.getAttribute('aria-label') ?? it.textContent).trim().slice(0, 30)}`, shown, inside: x + width > 0 && y + height > 0 && x < innerWidth && y < innerHeight };
    });
    if (!now || seen.has(now.id)) break;
    seen.add(now.id);
    if (!now.shown) faults.push(`${now.name}: its focus is not visible`);
    if (!now.inside) faults.push(`${now.name}: has the focus outside of what is shown`);
  }
  if (seen.size < 3) faults.push(`Tab reaches ${seen.size} elements`);
  await page.evaluate(() => { document.activeElement.blur(); window.focusedBefore?.focus?.({ preventScroll: true }); });
  return faults;
}
