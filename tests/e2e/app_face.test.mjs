// The typeface of headings and numerals: it comes from the app's own origin, for the letters it has and nothing else, and nothing moves when
// it arrives.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { contextOf } from './lib/looks.mjs';
import { withSite } from './lib/site.mjs';

const faces = (page) => page.evaluate(() => [...document.fonts].filter(({ family }) => /^"?Heading"?$/.test(family)).map(({ status }) => status));
/** Boxes of headings and numerals, and of everything else that has a text. */
const boxes = (page) => page.evaluate(async () => {
  await document.fonts.ready;
  const box = (it) => { const { x, y, width, height } = it.getBoundingClientRect(); return { x, y, width, height }; };
  const own = ({ childNodes }) => [...childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  return [...document.querySelectorAll('.app *')].filter((it) => it.checkVisibility() && own(it)).map((it) => ({ text: it.textContent, head: getComputedStyle(it).fontFamily.includes('Heading'), ...box(it) }));
});

async function withStart(body, { mounts = {}, expect = [] } = {}) {
  const asked = [];
  await withSite((site) => withPage(site.app, { expect, context: contextOf('wide') }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await body(page, asked);
  }), { mounts, seen: (pathname) => { if (pathname.endsWith('.woff2')) asked.push(pathname); } });
}

test('headings have the typeface; further letters load when a heading has one', () => withStart(async (page, asked) => {
  await page.waitForFunction(() => document.fonts.check('600 21px Heading'));
  assert.deepEqual(asked, ['/fonts/heading.woff2'], 'once, and not the letters that no heading has');
  assert.deepEqual(await faces(page), ['loaded', 'unloaded']);
  const text = (word, font) => page.evaluate(([word, font]) => {
    const { style } = document.querySelector('h1');
    document.querySelector('h1').textContent = word;
    style.fontFamily = font;
    style.display = 'inline-block';
    return document.querySelector('h1').getBoundingClientRect().width;
  }, [word, font]);
  // Tabular figures: columns of numbers stand below each other.
  const [ones, noughts] = [await text('1111', ''), await text('0000', '')];
  assert.equal(ones, noughts);
  assert.notEqual(await text('Wörter', ''), await text('Wörter', 'var(--font)'), 'the heading has the font of the text');
  assert.equal(await text('Слова', ''), await text('Слова', 'var(--font)'), 'another script has the font of the system');
  assert.equal(asked.length, 1);
  await text('Źródło', '');
  await page.waitForFunction(() => [...document.fonts].filter(({ family, status }) => /^"?Heading"?$/.test(family) && status === 'loaded').length === 2);
  assert.deepEqual(asked, ['/fonts/heading.woff2', '/fonts/heading-more.woff2']);
}));

test('nothing moves when the typeface arrives', async () => {
  const without = mkdtempSync(path.join(tmpdir(), 'no-fonts-'));
  try {
    const found = [];
    await withStart(async (page) => found.push(await boxes(page)));
    await withStart(async (page) => {
      assert.deepEqual((await faces(page)).filter((status) => status === 'loaded'), []);
      found.push(await boxes(page));
    }, { mounts: { '/fonts/': without }, expect: [/Failed to load resource.*heading\.woff2/] });
    const [after, before] = found;
    assert.deepEqual(before.map(({ text }) => text), after.map(({ text }) => text));
    assert.ok(after.filter(({ head }) => head).length >= 3, 'few headings');
    const moved = after.flatMap((its, n) => {
      const was = before[n];
      // A line of text is as long as its letters; its place and height stay.
      const off = Math.max(Math.abs(its.y - was.y), Math.abs(its.height - was.height), its.head ? 0 : Math.abs(its.x - was.x));
      return off > 0.5 || Math.abs(its.width - was.width) > (its.head ? Math.max(4, was.width * 0.08) : 0.5) ? [{ was, its }] : [];
    });
    assert.deepEqual(moved, []);
  } finally {
    rmSync(without, { recursive: true });
  }
});
