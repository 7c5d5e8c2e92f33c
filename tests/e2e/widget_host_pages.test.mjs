// <turnwise-agent> on pages that do something with it: modal dialogs, routers that take it out and put it back, themes that change by
// whatever means, policies on the clipboard and on embedding, frames.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { answered, ask, input, launcher, page, scripted, withHost, withWidget } from './lib/widget.mjs';

const shots = path.join(import.meta.dirname, 'shots');
const require = createRequire(import.meta.url);
const library = (name) => ({ type: 'text/javascript', body: readFileSync(require.resolve(name), 'utf8').replace(/\/\/# sourceMappingURL.*/, '') });
/** One page; `options` are those of `page`, with `attributes` besides the model's, and `files`. */
const one = ({ attributes = '', files, ...options }) => (baseUrl) => ({ '/': page({ attributes: `id="ask" ${scripted(baseUrl)} ${attributes}`, ...options }), ...files });
/** Chromium's advice about a frame of the page's own origin. */
const OWN_FRAME = [/An iframe which has both allow-scripts and allow-same-origin/];
const panel = (tab) => tab.locator('turnwise-agent .panel');
const frameOf = (tab) => tab.frameLocator('turnwise-agent iframe');

// Modal dialogs of the page.

const TRAP = { '/tabbable.js': library('tabbable/dist/index.umd.js'), '/focus-trap.js': library('focus-trap/dist/focus-trap.umd.js') };
const BOX = '<div id="d" hidden role="dialog" aria-modal="true" style="position:fixed;inset:20%;background:#ddd"><input id="q"><button>x</button></div>';
const HOSTS = [
  ['a native dialog', { body: '<button id="s">Search</button><dialog id="d"><input id="q"><button data-ask>Ask AI</button></dialog><script>s.onclick = () => d.showModal()</script>' }],
  ['a native dialog, in mode="modal"', { attributes: 'mode="modal"', body: '<button id="s">Search</button><dialog id="d"><input id="q"></dialog><script>s.onclick = () => d.showModal()</script>' }],
  ['a native dialog, in a frame', { attributes: 'mode="iframe"', body: '<button id="s">Search</button><dialog id="d"><input id="q"></dialog><script>s.onclick = () => d.showModal()</script>' }],
  ['inert on everything else', { body: `<button id="s">Search</button>`, head: `<script>addEventListener('load', () => { document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(BOX)}); s.onclick = () => { d.hidden = false; q.focus(); for (const other of document.body.children) other.inert = other !== d; }; })</script>` }],
  ['aria-hidden on everything else', { body: `<button id="s">Search</button>`, head: `<script>addEventListener('load', () => { document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(BOX)}); s.onclick = () => { d.hidden = false; q.focus(); for (const other of document.body.children) if (other !== d) other.setAttribute('aria-hidden', true); }; })</script>` }],
  ['focus-trap', { files: TRAP, body: `<button id="s">Search</button>${BOX}`, head: '<script src="/tabbable.js"></script><script src="/focus-trap.js"></script><script>addEventListener("load", () => { const trap = focusTrap.createFocusTrap(d, { onDeactivate() { d.hidden = true; } }); s.onclick = () => { d.hidden = false; trap.activate(); }; })</script>' }],
];
for (const [name, options] of HOSTS) {
  test(`above ${name}: it can be typed into and clicked, Escape closes it alone, the focus goes back`, () => withWidget({ steps: [{ text: 'First.' }], pages: one(options), options: { expect: /frame/.test(name) ? OWN_FRAME : [] } }, async (tab) => {
    const scope = /frame/.test(name) ? frameOf(tab) : tab.locator('turnwise-agent');
    const field = scope.getByRole('textbox');
    await launcher(tab).waitFor();
    await tab.locator('#s').click();
    await tab.locator('#q').and(tab.locator(':focus')).waitFor();
    await tab.keyboard.press('Control+i');
    await field.and(scope.locator(':focus')).waitFor();
    // As a visitor would, at a place: anything inert or above it would not get the click.
    const click = async (what) => {
      const { x, y, width, height } = await what.boundingBox();
      await tab.mouse.click(x + width / 2, y + height / 2);
    };
    await click(field);
    await tab.keyboard.type('How?');
    assert.equal(await field.inputValue(), 'How?');
    await tab.keyboard.press('Enter');
    await scope.locator('article .ending').waitFor();
    const menu = scope.getByRole('button', { name: 'Menu' });
    await click(menu);
    await scope.locator('.menu:not([hidden])').waitFor();
    await tab.keyboard.press('Escape');
    await scope.locator('.menu').waitFor({ state: 'hidden' });
    await tab.keyboard.press('Tab');
    await scope.getByRole('button', { name: 'Close' }).and(scope.locator(':focus')).waitFor();
    if (name === 'a native dialog') await tab.screenshot({ path: path.join(shots, 'widget-above-dialog.png') });
    await tab.keyboard.press('Escape');
    await panel(tab).waitFor({ state: 'hidden' });
    assert.equal(await tab.locator('#d').isVisible(), true, 'the page\'s dialog is still open');
    await tab.locator('#q').and(tab.locator(':focus')).waitFor();
  }));
}

test('it is above the dialog that opened it, and beside the page again when that is gone', () => withWidget({ pages: one({ ...HOSTS[0][1], attributes: 'trigger="[data-ask]"' }) }, async (tab) => {
  await tab.locator('#s').click();
  await tab.locator('[data-ask]').click();
  await input(tab).and(tab.locator('turnwise-agent :focus')).waitFor();
  await tab.keyboard.type('dra');
  await tab.evaluate(() => document.querySelector('#d').close());
  await tab.waitForFunction(() => !document.querySelector('turnwise-agent').shadowRoot.querySelector(':modal'));
  await tab.keyboard.type('ft');
  assert.equal(await input(tab).inputValue(), 'draft');
  await tab.locator('#s').click(); // the page is not inert
  await tab.locator('#d').waitFor();
  // Opened before the dialog: the shortcut brings it above.
  await tab.keyboard.press('Control+i');
  await tab.keyboard.type('!');
  assert.equal(await input(tab).inputValue(), 'draft!');
}));

// Routers.

const LONG = 'Pull the green lever, then wait for three seconds until the turbine runs. '.repeat(8);
const paced = { text: LONG, pace: 60 };
const TURBO = { '/turbo.js': library('@hotwired/turbo/dist/turbo.es2017-esm.js') };
const HTMX = { '/htmx.js': library('htmx.org/dist/htmx.js') };
const turboHead = '<script type="module" src="/turbo.js"></script>';
const GO = (to) => `<a id="go" href="${to}">Go</a>`;
const SITE = ({ head = '', files = {}, attributes = '', bodyOf = GO }) => (baseUrl) => ({
  '/': page({ head: `${head}`, attributes: `id="ask" ${scripted(baseUrl)} ${attributes}`, body: bodyOf('/two') }),
  '/two': page({ head, attributes: `id="ask" ${scripted(baseUrl)} ${attributes}`, body: `${bodyOf('/')}<p id="two">Two</p>` }), ...files,
});
const follow = (tab) => tab.evaluate(() => document.querySelector('#go').click());
const swap = (body) => (tab) => tab.evaluate(body);
const ROUTERS = [
  ['Turbo, data-turbo-permanent', { head: turboHead, files: TURBO, attributes: 'data-turbo-permanent' }, follow],
  ['Turbo with an animation in its render', { head: `${turboHead}<script>addEventListener('turbo:before-render', ({ detail }) => { const { render } = detail; detail.render = async (from, to) => { await render(from, to); await new Promise((then) => setTimeout(then, 600)); }; })</script>`, files: TURBO, attributes: 'data-turbo-permanent' }, follow],
  ['htmx, hx-preserve', { head: '<script src="/htmx.js"></script>', files: HTMX, attributes: 'hx-preserve', bodyOf: (to) => `<div hx-boost="true">${GO(to)}</div>` }, follow],
  // As Astro does: the kept element moves to `html`, the body is replaced, and the element takes the place of its new copy.
  ['a new body, with the element in the place of its copy', {}, swap(async () => {
    const next = new DOMParser().parseFromString(await (await fetch('/two')).text(), 'text/html');
    const tag = document.querySelector('turnwise-agent');
    const copy = next.querySelector('turnwise-agent');
    document.documentElement.append(tag);
    document.body.replaceWith(next.body);
    copy.replaceWith(tag);
  })],
  // As Unpoly does: the element goes through the document that was parsed.
  ['by way of another document', {}, swap(async () => {
    const next = new DOMParser().parseFromString(await (await fetch('/two')).text(), 'text/html');
    next.querySelector('turnwise-agent').replaceWith(document.querySelector('turnwise-agent'));
    document.body.replaceWith(next.body);
  })],
  ['a second without it', {}, swap(async () => {
    const tag = document.querySelector('turnwise-agent');
    tag.remove();
    await new Promise((then) => setTimeout(then, 1000));
    document.querySelector('main').insertAdjacentHTML('beforeend', '<p id="two">Two</p>');
    document.body.prepend(tag);
  })],
];
for (const [name, options, go] of ROUTERS) {
  test(`a running answer goes on over a visit: ${name}`, () => withWidget({ steps: [paced], pages: SITE(options) }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'How?');
    await tab.locator('turnwise-agent article').getByText('green lever').first().waitFor();
    await tab.keyboard.type('draft');
    await go(tab);
    await tab.locator('#two').waitFor({ state: 'attached' });
    const run = await answered(tab);
    assert.equal(await run.locator('.ending').textContent(), 'Answered in 1 turn.');
    assert.equal(await panel(tab).isVisible(), true);
    assert.ok((await panel(tab).boundingBox()).width <= 400, 'it still has its styles');
    assert.equal(await tab.evaluate(() => document.querySelector('turnwise-agent').shadowRoot.activeElement?.tagName), 'TEXTAREA', 'the focus is still in the field');
    assert.equal(await input(tab).inputValue(), 'draft');
  }));
}

for (const [name, options] of [
  ['Turbo, without data-turbo-permanent', { head: turboHead, files: TURBO }],
  ['Turbo, in a frame, which loads anew', { head: turboHead, files: TURBO, attributes: 'data-turbo-permanent mode="iframe"' }],
]) {
  test(`where the visit cuts the answer off, it is marked, and the next question is answered: ${name}`, () => withWidget({ steps: [paced, { text: 'Second.' }], pages: SITE(options), options: { expect: /frame/.test(name) ? OWN_FRAME : [] } }, async (tab) => {
    const scope = /frame/.test(name) ? frameOf(tab) : tab.locator('turnwise-agent');
    await launcher(tab).click();
    await scope.getByRole('textbox').fill('How?');
    await scope.getByRole('textbox').press('Enter');
    await scope.locator('article').getByText('green lever').first().waitFor();
    await follow(tab);
    await scope.getByText('The answer was interrupted. Try again.').waitFor();
    await scope.getByRole('textbox').fill('And?');
    await scope.getByRole('textbox').press('Enter');
    await scope.locator('article').nth(1).getByText('Second.').waitFor();
  }));
}

test('what is really removed ends, and the same tag in its place shows the question as interrupted', () => withWidget({ steps: [paced], pages: one({}) }, async (tab) => {
  await launcher(tab).waitFor();
  await tab.evaluate(() => { window.asked = document.querySelector('turnwise-agent').ask('How?').then(() => 'answered', ({ message }) => message); });
  await tab.locator('turnwise-agent article').getByText('green lever').first().waitFor();
  const html = await tab.evaluate(() => {
    const tag = document.querySelector('turnwise-agent');
    tag.remove();
    return tag.outerHTML;
  });
  assert.equal(await tab.evaluate(() => window.asked), 'the <turnwise-agent> was removed');
  await tab.evaluate((text) => document.body.insertAdjacentHTML('beforeend', text), html);
  await tab.getByText('The answer was interrupted. Try again.').waitFor();
}));

// Themes. Each: [name, parts of the page, what makes it dark, and light again]; the tag has to follow.

const sheet = (css) => `<script>window.S = new CSSStyleSheet(); S.replaceSync(${JSON.stringify(css)})</script>`;
const adopt = ['document.adoptedStyleSheets = [S]', 'document.adoptedStyleSheets = []'];
const css = (body) => ({ type: 'text/css', body });
const THEMES = [
  ['a class of its own, with a transition', { head: '<style>body { background: #fff; transition: background-color .3s } html.theme--dark body { background: #10141a }</style>' }, 'document.documentElement.classList.add("theme--dark")', 'document.documentElement.classList.remove("theme--dark")'],
  ['a transition on html', { head: '<style>html { background: #fff; transition: background .3s } html[data-look=b] { background: #10141a }</style>' }, 'document.documentElement.dataset.look = "b"', 'document.documentElement.dataset.look = "a"'],
  ['a disabled link', { head: '<style>body { background: #fff }</style><link id="l" rel="stylesheet" href="/dark.css" disabled>' }, 'l.disabled = false', 'l.disabled = true'],
  ['another address of a link, late', { head: '<link id="l" rel="stylesheet" href="/light.css">' }, 'setTimeout(() => { l.href = "/dark.css" }, 200)', 'l.href = "/light.css"'],
  ['a disabled sheet', { head: '<style>body { background: #fff }</style><style id="t">body { background: #111 }</style><script>t.sheet.disabled = true</script>' }, 't.sheet.disabled = false', 't.sheet.disabled = true'],
  ['an adopted sheet', { head: `<style>body { background: #fff }</style>${sheet('body { background: #111 }')}` }, ...adopt],
  ['an adopted sheet on html', { head: `<style>html { background: #fff; color: #111 }</style>${sheet('html { background: #111; color: #eee }')}` }, ...adopt],
  ['color-scheme alone', { head: sheet(':root { color-scheme: dark }') }, ...adopt],
  ['light-dark()', { head: '<style>:root { color-scheme: light } body { background: light-dark(#fff, #111) }</style>' }, 'document.documentElement.style.colorScheme = "dark"', 'document.documentElement.style.colorScheme = "light"'],
  ['a gradient and a class', { head: '<style>body { background: linear-gradient(#fff, #eee) } .dark body { background: linear-gradient(#111, #222) }</style>' }, 'document.documentElement.className = "dark"', 'document.documentElement.className = ""'],
  ['an element over the whole page', { head: '<style>body { margin: 0 } main { min-height: 100vh; background: #fff } main.dark { background: #111 }</style>' }, 'document.querySelector("main").className = "dark"', 'document.querySelector("main").className = ""'],
  ['an attribute that says otherwise', { html: 'lang="en" data-theme="light"', head: '<style>body { background: #fff }</style><style id="t" media="not all">body { background: #111 }</style>' }, 't.media = "all"', 't.media = "not all"'],
];
const look = (wanted) => (tab) => tab.waitForFunction((theme) => document.querySelector('turnwise-agent').shadowRoot.querySelector('.root').dataset.theme === theme, wanted, { timeout: 5000 });
const SHEETS = { '/light.css': css('body { background: #fff }'), '/dark.css': css('body { background: #111 }') };
for (const [name, parts, dark, light] of THEMES) {
  test(`the theme is followed: ${name}`, () => withHost({ pages: { '/': page({ attributes: 'docs="off"', ...parts }), ...SHEETS } }, (host) => withPage(host.url, { context: { reducedMotion: /adopted/.test(name) ? 'reduce' : 'no-preference' } }, async (tab) => {
    await launcher(tab).waitFor();
    for (const [script, wanted] of [['0', 'light'], [dark, 'dark'], [light, 'light'], [dark, 'dark']]) {
      await tab.evaluate(script);
      await look(wanted)(tab);
      // It stays: a transition ends later.
      await tab.evaluate(() => new Promise((then) => setTimeout(then, 400)));
      await look(wanted)(tab);
    }
  })));
}

test('the browser\'s preference counts only where the page follows it; a dark footer and a backdrop are no theme', async () => {
  for (const [head, body, wanted] of [
    ['<style>body { background: #fff } @media (prefers-color-scheme: dark) { html { background: #111 } body { background: none } }</style>', '', ['light', 'dark', 'light']],
    ['<style>body { background: #fff }</style>', '', ['light', 'light', 'light']],
    ['<meta name="color-scheme" content="dark">', '', ['dark', 'dark', 'dark']],
    ['<meta name="color-scheme" content="light dark">', '', ['light', 'dark', 'light']],
    ['<style>body { background: #fff }</style>', '<div style="position: fixed; inset: 0; background: rgb(0 0 0 / .6)"></div>', ['light', 'light', 'light']],
  ]) {
    await withHost({ pages: { '/': page({ attributes: 'docs="off"', head, body }) } }, (host) => withPage(host.url, { context: { colorScheme: 'light' } }, async (tab) => {
      await launcher(tab).waitFor();
      for (const [at, colorScheme] of ['light', 'dark', 'light'].entries()) {
        await tab.emulateMedia({ colorScheme });
        await look(wanted[at])(tab);
      }
    }));
  }
  const tag = '<footer class="dark" style="background: #111"><turnwise-agent docs="off"></turnwise-agent></footer>';
  await withHost({ pages: { '/': page({ tag, head: '<style>body { background: #fff }</style>' }) } }, (host) => withPage(host.url, {}, look('light')));
});

// Policies and frames.

const DENIED = { 'permissions-policy': 'clipboard-write=(), clipboard-read=()' };
for (const [name, init, said, copied] of [
  ['copies another way', '', 'Copied.', 'The lever is **green**.'],
  ['says so and selects the text where nothing is allowed', 'document.execCommand = () => false', 'This page does not allow copying. The text is selected: press Ctrl+C.', 'The lever is green.'],
]) {
  test(`where a policy denies the clipboard, Copy ${name}`, () => withWidget({ steps: [{ text: 'The lever is **green**.' }], pages: one({ head: `<script>${init}</script>` }), host: { headers: DENIED }, options: { expect: [/Clipboard API has been blocked/] } }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'What?');
    const run = await answered(tab);
    await run.getByRole('button', { name: 'Copy the answer' }).click();
    await tab.getByRole('status').filter({ hasText: said }).waitFor({ state: 'attached' });
    assert.equal(await tab.locator('turnwise-agent .docs').textContent(), said === 'Copied.' ? '' : said);
    if (init) await tab.screenshot({ path: path.join(shots, 'widget-copy-denied.png') });
    if (init) await tab.keyboard.press('Control+c');
    await input(tab).focus();
    await tab.keyboard.press('Control+v');
    assert.equal(await input(tab).inputValue(), copied);
  }));
}

const ISOLATED = { 'cross-origin-embedder-policy': 'require-corp', 'cross-origin-opener-policy': 'same-origin' };
const isolated = (headers, attributes, frames, body, steps = [{ calls: [{ id: 'a', name: 'calculate', args: { expression: '6 * 7' } }] }, { text: 'It is 42.' }], lacks = []) => withScript(steps, (baseUrl) =>
  withHost({ pages: { '/': { headers, body: page({ attributes: `${scripted(baseUrl)} ${attributes}`, head: '<script>document.addEventListener("turnwise-error", ({ detail }) => { window.failed = detail.message; })</script>' }) } } }, (host) => withPage(host.url, { reach: [baseUrl], expect: [...(frames ? OWN_FRAME : []), ...lacks] }, body)));
for (const attributes of ['', 'mode="iframe"']) {
  test(`on an isolated page it answers, though its files have no embedder policy: ${attributes || 'in the page'}`, () => isolated(ISOLATED, attributes, attributes, async (tab) => {
    assert.equal(await tab.evaluate(() => crossOriginIsolated), true);
    const scope = attributes ? frameOf(tab) : tab.locator('turnwise-agent');
    await launcher(tab).click();
    await scope.getByRole('textbox').fill('Six times seven?');
    await scope.getByRole('textbox').press('Enter');
    await scope.locator('article').getByText('It is 42.').waitFor();
  }));
  test(`with an embedder policy alone, it says what its files lack: ${attributes || 'in the page'}`, () => isolated({ 'cross-origin-embedder-policy': 'require-corp' }, attributes, false, async (tab) => {
    await launcher(tab).click();
    await tab.waitForFunction(() => /Cross-Origin-Embedder-Policy/.test(window.failed), undefined, { timeout: 15_000 });
  }, [], [/turnwise-agent: .*Cross-Origin-Embedder-Policy/]));
}

for (const [name, script, wanted] of [['strict-dynamic', "'nonce-abc' 'strict-dynamic' 'wasm-unsafe-eval'"], ['no host list', "'nonce-abc' 'wasm-unsafe-eval'", /script-src|worker-src/]]) {
  test(`a policy with a nonce and ${name}: ${wanted ? 'the event says what to add' : 'it answers'}`, () => withScript(wanted ? [] : [{ text: 'Green.' }], (baseUrl) => withHost({
    pages: { '/': page({ attributes: scripted(baseUrl), head: '<script nonce="abc">document.addEventListener("turnwise-error", ({ detail }) => { window.failed = `${detail.message} ${detail.add}`; })</script>' }).replace('type="module"', 'type="module" nonce="abc"') },
    headers: { 'content-security-policy': `default-src 'none'; img-src data:; script-src ${script}; connect-src 'self' ${new URL(baseUrl).origin}` },
  }, (host) => withPage(host.url, { reach: [baseUrl], expect: wanted ? [/Content Security Policy/, /turnwise-agent: .*add to the Content-Security-Policy/] : [] }, async (tab) => {
    await launcher(tab).click();
    if (wanted) {
      await tab.waitForFunction(() => window.failed);
      return assert.match(await tab.evaluate(() => window.failed), wanted);
    }
    await ask(tab, 'What?');
    return (await answered(tab)).getByText('Green.').first().waitFor();
  }))));
}

test('what the page adds to the prototypes of arrays and strings breaks no question', () => withWidget({
  steps: [{ text: 'Green.' }, { text: 'Second.' }], pages: one({ attributes: 'suggestions="A|B"', head: '<script>Array.prototype.each = function each(f) { this.forEach(f); }; String.prototype.toJSON = function toJSON() { return String(this); };</script>' }),
}, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'One?');
  await answered(tab);
  await ask(tab, 'Two?');
  await answered(tab, 2);
  await tab.reload();
  await tab.locator('turnwise-agent article').nth(1).getByText('Second.').waitFor();
}));

/** Asks in a frame on a page with docs, and returns the tag. */
const inFrame = (frame, steps, expect, body) => withScript(steps, (baseUrl) => {
  const inner = page({ attributes: `provider="openai" base-url="${baseUrl}" model="scripted"` });
  const pages = { '/': page({ tag: frame(inner) }), '/inner': inner, '/llms.txt': { type: 'text/plain', body: '# H\n\n- [Guide](/guide.html): start\n' }, '/guide.html': page({ tag: '', body: '<h2>Lever</h2><p>Pull the green lever.</p>' }) };
  return withHost({ pages, headers: { 'access-control-allow-origin': '*' } }, (host) => withPage(host.url, { reach: [baseUrl], expect }, async (tab) => {
    const scope = tab.frameLocator('iframe').locator('turnwise-agent');
    await scope.locator('.pill').click();
    await scope.getByRole('textbox').fill('How?');
    await scope.getByRole('textbox').press('Enter');
    return body(scope);
  }));
});

test('in a srcdoc frame, which has no address of its own, it answers, and says that there are no docs', () => inFrame((inner) => `<iframe srcdoc="${inner.replaceAll('"', '&quot;')}" width="700" height="600"></iframe>`, [{ calls: [{ id: 'a', name: 'search_docs', args: { query: 'green lever' } }] }, { text: 'Done.' }], [/turnwise-agent: docs: /], async (scope) => {
  await scope.locator('article').getByText('Done.').waitFor();
  await scope.getByText('The docs of this site could not be read').waitFor();
}));

test('in a frame sandboxed without forms and origin, Enter asks, and the console says what the sandbox needs', () => inFrame(() => '<iframe src="/inner" sandbox="allow-scripts" width="700" height="600"></iframe>', [], [/turnwise-agent: .*the sandbox of this frame needs allow-same-origin/], async (scope) => {
  await scope.locator('[part=problem]').waitFor();
}));

test('the wheel over the panel never scrolls the page: at the end of an answer, over a short one, over header and field', () => withWidget({
  steps: [{ text: 'Short.' }, { text: 'Line.\n\n'.repeat(80) }], pages: one({ head: '<style>main { height: 4000px }</style>' }),
}, async (tab) => {
  await launcher(tab).click();
  for (const n of [1, 2]) {
    await ask(tab, 'How?');
    await answered(tab, n);
    for (const over of ['.scroll', 'header', 'textarea']) {
      await tab.locator(`turnwise-agent ${over}`).hover();
      for (let turn = 0; turn < 8; turn += 1) await tab.mouse.wheel(0, 900);
    }
    await tab.evaluate(() => new Promise((then) => setTimeout(then, 200)));
    assert.equal(await tab.evaluate(() => scrollY), 0);
  }
  assert.ok(await tab.locator('turnwise-agent .scroll').evaluate(({ scrollTop }) => scrollTop > 0), 'the conversation does scroll');
}));

test('a page that is zoomed by a style shows the whole panel', async () => {
  for (const zoom of ['html { zoom: 1.5 }', 'body { zoom: 1.25 }']) {
    await withHost({ pages: { '/': page({ attributes: 'docs="off"', head: `<style>${zoom}</style>` }) } }, (host) => withPage(host.url, { context: { viewport: { width: 1000, height: 600 } } }, async (tab) => {
      await launcher(tab).click();
      await input(tab).waitFor();
      const { x, y, width, height } = await panel(tab).boundingBox();
      assert.ok(x >= 0 && y >= 0 && x + width <= 1000 && y + height <= 600, `${[x, y, width, height]}`);
    }));
  }
});
