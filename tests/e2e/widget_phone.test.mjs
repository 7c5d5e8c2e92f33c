// <turnwise-agent> on phones whose visible part is smaller than the page's layout: hosts that are wider than the screen, hosts
// without a viewport tag, the keyboard, and a visitor who zooms. The panel stays inside the visible part, at a readable size.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { answered, ask, launcher, page, withHost } from './lib/widget.mjs';

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const KEYBOARD_PX = 320;
const READABLE_PX = 12;
const wide = (width) => `<style>main { width: ${width}px }</style>`;
const HOSTS = {
  'of 453 px': (theme) => page({ html: `lang="en" data-theme="${theme}" style="color-scheme: ${theme}"`, head: wide(453), attributes: 'provider="demo" docs="off"' }),
  'without a viewport tag': (theme) => page({ html: `lang="en" data-theme="${theme}" style="color-scheme: ${theme}"`, attributes: 'provider="demo" docs="off"' }).replace(/<meta name="viewport"[^>]*>/, ''),
  'as a phone expects': (theme) => page({ html: `lang="en" data-theme="${theme}" style="color-scheme: ${theme}"`, attributes: 'provider="demo" docs="off"' }),
};

/**
 * Where things are on the screen, in its own pixels: the visible part, the panel, its button, field and text, and how large
 * the text is.
 */
const seen = (tab) => tab.evaluate(() => {
  const { offsetLeft, offsetTop, scale, width, height } = visualViewport;
  const on = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left: (left - offsetLeft) * scale, top: (top - offsetTop) * scale, right: (right - offsetLeft) * scale, bottom: (bottom - offsetTop) * scale };
  };
  const root = document.querySelector('turnwise-agent').shadowRoot;
  const panel = root.querySelector('.panel');
  const shown = panel.getBoundingClientRect().width / panel.offsetWidth;
  const text = [...root.querySelectorAll('.empty h3, .prose p')].at(-1);
  return {
    screen: { width: width * scale, height: height * scale }, panel: on(panel), close: on(root.querySelector('[part=close]')), field: on(root.querySelector('textarea')), text: on(text),
    size: parseFloat(getComputedStyle(text).fontSize) * shown * scale,
  };
});

function inside({ screen, panel, close, field, text, size }) {
  for (const [name, box] of Object.entries({ panel, close, field, text })) {
    assert.ok(box.left >= -1 && box.right <= screen.width + 1 && box.bottom <= screen.height + 1 && (name === 'text' || box.top >= -1), `${name} ${JSON.stringify(box)} on a screen of ${JSON.stringify(screen)}`);
  }
  assert.ok(close.right - close.left >= 30, `the close button has ${close.right - close.left} px`);
  assert.ok(size >= READABLE_PX, `text of ${size} px`);
}

/** Shrinks the visible part as a keyboard does that does not resize the page. */
const keyboard = (tab, px) => tab.evaluate((taken) => {
  const view = visualViewport;
  const get = Object.getOwnPropertyDescriptor(VisualViewport.prototype, 'height').get;
  Object.defineProperty(view, 'height', { configurable: true, get: () => get.call(view) - taken / view.scale });
  view.dispatchEvent(new Event('resize'));
}, px);

for (const [name, host] of Object.entries(HOSTS)) {
  for (const theme of ['light', 'dark']) {
    for (const mode of theme === 'light' ? ['floating', 'modal'] : ['floating']) {
      test(`a host ${name}, ${theme}, ${mode}: close button, text and field stay on the screen, also with the keyboard`, () => withHost({ pages: { '/': host(theme).replace('provider=', `mode="${mode}" provider=`) } }, ({ url }) => withPage(url, { context: { ...PHONE, colorScheme: theme } }, async (tab) => {
        const shot = (what) => tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-phone-${name.replace(/ /g, '-')}-${theme}-${mode}-${what}.png`) });
        // The button of the launcher can be outside the visible part; a script of the host opens the panel as well.
        await launcher(tab).waitFor();
        await tab.evaluate(() => document.querySelector('turnwise-agent').open());
        await tab.locator('turnwise-agent .panel.open').waitFor();
        inside(await seen(tab));
        await shot('empty');
        await ask(tab, '6*7');
        await answered(tab);
        inside(await seen(tab));
        await shot('answer');
        await keyboard(tab, KEYBOARD_PX);
        const covered = await seen(tab);
        inside(covered);
        assert.ok(covered.panel.bottom > covered.screen.height - 2, 'the panel ends where the keyboard begins');
        await shot('keyboard');
        await keyboard(tab, 0);
        inside(await seen(tab));
      })));
    }
  }
}

test('a visitor who zooms in sees the panel larger', () => withHost({ pages: { '/': HOSTS['as a phone expects']('light') } }, ({ url }) => withPage(url, { context: PHONE }, async (tab) => {
  await launcher(tab).tap();
  await tab.locator('turnwise-agent .panel.open').waitFor();
  const before = (await seen(tab)).size;
  const session = await tab.context().newCDPSession(tab);
  await session.send('Emulation.setPageScaleFactor', { pageScaleFactor: 2 });
  await tab.waitForFunction(() => visualViewport.scale === 2);
  await tab.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
  assert.ok((await seen(tab)).size > 1.9 * before);
})));

test('the panel turns with the phone, and a tablet keeps its card', () => withHost({ pages: { '/': HOSTS['as a phone expects']('light') } }, ({ url }) => withPage(url, { context: PHONE }, async (tab) => {
  await launcher(tab).tap();
  await tab.locator('turnwise-agent .panel.sheet').waitFor();
  await tab.setViewportSize({ width: 740, height: 360 });
  await tab.locator('turnwise-agent .panel:not(.sheet)').waitFor();
  inside(await seen(tab));
  assert.ok((await seen(tab)).panel.left > 100);
})));
