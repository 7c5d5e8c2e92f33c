// `turnwise/markdown`: Markdown of a model in a page that has no policy of its own, so that whatever a text could do, it would do.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { root, withPackage } from './lib/site.mjs';
import { withHost } from './lib/widget.mjs';

const PAGE = `<!doctype html><meta charset="utf-8"><title>Markdown</title><link rel="icon" href="data:,"><main></main><script type="module">
  import { drawMarkdown } from '/turnwise/markdown.js';
  window.drawMarkdown = drawMarkdown;
  window.fresh = () => { const element = document.createElement('div'); document.querySelector('main').replaceChildren(element); return element; };
  window.drawn = async (text, options) => { const element = fresh(); await drawMarkdown(element, text, options); return element; };
</script>`;
const withMarkdown = (options, body) => withHost({ pages: { '/docs/guide': PAGE } }, ({ url }) => withPage(`${url}docs/guide`, options, async (page) => {
  await page.waitForFunction(() => window.drawn);
  return body(page, url);
}));

/** The texts of tests/wasm_ui.rs, and further ones. */
const HOSTILE = [
  '<script>window.pwned = 1</script>', '<img src=x onerror="window.pwned = 1">', '![tracking](https://evil.example/pixel.png)', '[click](javascript:window.pwned=1)',
  '[click](JaVaScRiPt:window.pwned=1)', '[click](data:text/html,<script>window.pwned=1</script>)', '<a href="#" onclick="window.pwned = 1">x</a>', '<svg/onload=window.pwned=1>',
  '`<script>` and **<iframe src=//evil.example>**', '| <img src=x onerror=1> |\n|---|\n| [x](vbscript:1) |', '```html\n<script>window.pwned = 1</script>\n```',
  '[x](https://ok.example "\\" onmouseover=\\"window.pwned=1")', '<style>*{display:none}</style>', '&lt;script&gt;window.pwned=1&lt;/script&gt;',
  'x[^"><script>]\n\n[^"><script>]: <img src=x onerror="window.pwned = 1">',
  '[x](java\tscript:window.pwned=1)', '[x](&#106;avascript:window.pwned=1)', '[x](\u0001javascript:window.pwned=1)', '[x]: javascript:window.pwned=1\n\n[x]', '<javascript:window.pwned=1>',
  '[x](blob:https://a.example/1)', '[x](file:///etc/passwd)', '[x](view-source:https://a.example)', '![x](javascript:window.pwned=1)', '![x](data:image/svg+xml,<svg onload=1>)', '![x](//evil.example/a.png)',
  '[![x](https://evil.example/a.png)](javascript:window.pwned=1)', '<base href=//evil.example>', '<form action=//evil.example><button>Go</button></form>', '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>', '# <object data=//evil.example>', '> <embed src=//evil.example>', '1. <video src=//evil.example autoplay>', '- [ ] <audio src=//evil.example onerror=window.pwned=1>',
  '$$\\href{javascript:window.pwned=1}{x}$$', '```"onload="window.pwned=1\nx\n```', '```mermaid\ngraph TD; A["<img src=x onerror=window.pwned=1>"]\n```', '{{constructor.constructor("window.pwned=1")()}}', '<div id=drawMarkdown name=fresh>',
  '[https://bank.example](https://evil.example)', '\u202egpj.exe\u202c [x](https://a.example)', '['.repeat(2000), '>'.repeat(2000), '*a **b '.repeat(500), `${'- '.repeat(500)}x`, '|'.repeat(3000), '<'.repeat(3000),
];

test('hostile texts make no element that runs or loads anything, whole and at every moment of a stream', { timeout: 180_000 }, () => withMarkdown({}, async (page) => {
  const faults = await page.evaluate(async (texts) => {
    const allowed = {
      P: [], H3: [], H4: [], UL: [], OL: ['start'], LI: ['class'], PRE: ['tabindex', 'part', 'data-lang'], CODE: [], SPAN: ['class'], BLOCKQUOTE: [], DIV: ['class', 'tabindex'], TABLE: [], THEAD: [], TBODY: [], TR: [],
      TH: ['class'], TD: ['class'], STRONG: [], EM: [], S: [], HR: [], BR: [], A: ['href', 'target', 'rel', 'class'], SMALL: ['dir'], BDI: [],
    };
    const found = [];
    const check = (element, text) => {
      for (const one of element.querySelectorAll('*')) {
        const known = allowed[one.tagName] ?? found.push(`${one.tagName} of ${text}`);
        for (const { name, value } of one.attributes) {
          if (one.className === 'written' && ['class', 'style'].includes(name)) continue;
          if (Array.isArray(known) && !known.includes(name)) found.push(`${one.tagName} ${name}=${value} of ${text}`);
        }
        if (one.href && !/^(https?|mailto):/.test(one.href)) found.push(`${one.href} of ${text}`);
        if (one.href && one.origin !== location.origin && one.protocol !== 'mailto:' && (one.rel !== 'noopener noreferrer' || one.target !== '_blank')) found.push(`${one.outerHTML} of ${text}`);
      }
    };
    for (const text of texts) {
      check(await drawn(text), text);
      check(await drawn(text, { highlight: true, hosts: false, newTab: true }), text);
      const element = fresh();
      const step = Math.ceil(text.length / 60);
      for (let end = 1; end <= text.length; end += step) {
        const drawing = drawMarkdown(element, text.slice(0, end));
        check(element, text);
        if (end % 3 === 0) await drawing;
      }
      await drawMarkdown(element, text);
      check(element, text);
    }
    return [...found, ...(window.pwned === undefined ? [] : ['pwned'])];
  }, HOSTILE);
  assert.deepEqual(faults, []);
}));

test('pictures are links, and are loaded only if the page says so, without a referrer, from web servers only', () => withMarkdown({ reach: ['https://pictures.example'] }, async (page, url) => {
  const asked = [];
  await page.route('https://pictures.example/**', (route) => { asked.push(route.request().headers().referer ?? 'none'); return route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' }); });
  const text = '![A lamp](https://pictures.example/lamp.svg) ![x](data:image/svg+xml,<svg/>) ![y](javascript:1) ![](mailto:a@b.example)';
  assert.equal(await page.evaluate(async (given) => (await drawn(given)).querySelectorAll('img').length, text), 0);
  assert.deepEqual(asked, []);
  const shown = await page.evaluate(async (given) => {
    const element = await drawn(given, { images: 'show' });
    const images = [...element.querySelectorAll('img')];
    await Promise.all(images.map((one) => one.decode()));
    return images.map(({ src, alt, referrerPolicy, loading }) => ({ src, alt, referrerPolicy, loading }));
  }, text);
  assert.deepEqual(shown, [{ src: 'https://pictures.example/lamp.svg', alt: 'A lamp', referrerPolicy: 'no-referrer', loading: 'lazy' }]);
  assert.deepEqual(asked, ['none']);
  assert.ok(url);
}));

test('a stream draws only what changed, and ends as the whole text does', () => withMarkdown({}, async (page) => {
  const text = readFileSync(path.join(root, 'docs/quick-start.md'), 'utf8');
  const result = await page.evaluate(async (whole) => {
    const element = fresh();
    const kept = new Map();
    let replaced = 0;
    for (let end = 0; end < whole.length; end += 211) {
      await drawMarkdown(element, whole.slice(0, end));
      [...element.children].slice(0, -3).forEach((child, at) => {
        if (kept.has(at) && kept.get(at) !== child) replaced += 1;
        kept.set(at, child);
      });
    }
    // Calls that nobody waits for: the last one counts.
    for (let end = 0; end < whole.length; end += 50) void drawMarkdown(element, whole.slice(0, end));
    await drawMarkdown(element, whole);
    return { replaced, blocks: kept.size, same: element.innerHTML === (await drawn(whole)).innerHTML };
  }, text);
  assert.ok(result.blocks > 30, `${result.blocks} blocks`);
  assert.deepEqual([result.replaced, result.same], [0, true]);
}));

test('a text that comes in the moment in which the one before it is done is drawn, too', () => withMarkdown({}, async (page) => {
  const shown = await page.evaluate(async () => {
    const element = fresh();
    await drawMarkdown(element, 'Zero');
    // Called as soon as the first text is in the page, before whoever waits for it goes on.
    let second;
    new MutationObserver(() => { second ??= drawMarkdown(element, '**Two**'); }).observe(element, { childList: true });
    await drawMarkdown(element, '**One**');
    await second;
    return element.innerHTML;
  });
  assert.equal(shown, '<p><strong>Two</strong></p>');
}));

test('hosts behind links, new tabs, relative links, code in colours, headings, tables, tasks', () => withMarkdown({}, async (page, url) => {
  const html = (text, options) => page.evaluate(async ([given, how]) => (await drawn(given, how)).innerHTML, [text, options]);
  const foreign = 'target="_blank" rel="noopener noreferrer"';
  assert.equal(await html('[bank.example](https://evil.example/a)'), `<p><a href="https://evil.example/a" ${foreign}>bank.example<small dir="ltr"> evil.example</small></a></p>`);
  assert.equal(await html('[the docs](https://a.example/)', { hosts: false }), `<p><a href="https://a.example/" ${foreign}>the docs</a></p>`);
  assert.equal(await html('[next](b#c)'), `<p><a href="${url}docs/b#c">next</a></p>`);
  assert.equal(await html('[next](b)', { newTab: true }), `<p><a href="${url}docs/b" ${foreign}>next</a></p>`);
  assert.equal(await html('[next](b)', { base: 'https://a.example/x/', hosts: false }), '<p><a href="https://a.example/x/b">next</a></p>');
  assert.equal(await html('```js\nconst a = 1;\n```'), '<pre tabindex="0" part="code" data-lang="js"><code>const a = 1;\n</code></pre>');
  assert.match(await html('```js\nconst a = 1;\n```', { highlight: true }), /<span class="c-keyword">const<\/span>/);
  assert.equal(await html('# A\n\n- [x] b\n\n|a|\n|-:|\n|1|'), '<h3>A</h3><ul><li class="box-item">☑ b</li></ul><div class="wide" tabindex="0"><table><thead><tr><th class="right">a</th></tr></thead><tbody><tr><td class="right">1</td></tr></tbody></table></div>');
}));

test('an element that somebody emptied, other options, a text that is replaced, a large text, misuse', () => withMarkdown({}, async (page) => {
  const seen = await page.evaluate(async () => {
    const element = fresh();
    element.textContent = 'Loading…';
    await drawMarkdown(element, '*a*\n\n*b*');
    const texts = [element.innerHTML];
    element.textContent = '';
    await drawMarkdown(element, '*a*\n\n*b*');
    texts.push(element.innerHTML);
    await drawMarkdown(element, '[x](https://a.example)');
    await drawMarkdown(element, '[x](https://a.example)', { hosts: false });
    texts.push(element.textContent);
    const first = drawMarkdown(element, 'One');
    const second = drawMarkdown(element, 'Two');
    await Promise.all([first, second]);
    texts.push(element.textContent);
    await drawMarkdown(element, '');
    texts.push(element.textContent);
    await drawMarkdown(element, `# A\n${'x'.repeat(300_000)}`);
    texts.push(element.textContent.length, element.querySelector('h3') === null, getComputedStyle(element.firstChild).whiteSpace);
    const errors = [[null, 'x'], [element, 5], [element, 'x', { image: 'show' }]].map((given) => { try { return void drawMarkdown(...given); } catch (error) { return `${error.name}: ${error.message}`; } });
    return { texts, errors };
  });
  const both = '<p><em>a</em></p><p><em>b</em></p>';
  assert.deepEqual(seen.texts, [both, both, 'x', 'Two', '', 300_004, true, 'pre-wrap']);
  assert.deepEqual(seen.errors, [
    'TypeError: element: got null; expected an element of the page', 'TypeError: text: got 5; expected a string', 'TypeError: options.image: unknown option; options takes images, hosts, newTab, base, highlight',
  ]);
}));

test('the parts load when the first text is drawn, and the text is there at once; without the worker it stays as written', async () => {
  await withMarkdown({}, async (page) => {
    const loaded = [];
    const name = (request) => new URL(request.url()).pathname.split('/').pop();
    page.on('request', (request) => loaded.push(name(request)));
    await page.reload();
    await page.waitForFunction(() => window.drawn);
    assert.deepEqual(loaded.filter((one) => /js$|wasm$/.test(one)).sort(), ['markdown.js', 'turnwise.js']);
    const early = await page.evaluate(async () => { const element = fresh(); const drawing = drawMarkdown(element, '**a**'); const before = element.textContent; await drawing; return [before, element.innerHTML]; });
    assert.deepEqual(early, ['**a**', '<p><strong>a</strong></p>']);
    assert.deepEqual(loaded.filter((one) => /wasm$/.test(one)).sort(), ['agent_bg.wasm', 'docs-worker_bg.wasm']);
  });
  await withMarkdown({ expect: [/Markdown is shown as written/] }, async (page) => {
    await page.route('**/docs-worker*', (route) => route.fulfill({ status: 404 }));
    const shown = await page.evaluate(async () => { const element = await drawn('**a**\n\nb'); await drawMarkdown(element, '**a**\n\nb c'); return [element.textContent, element.children.length]; });
    assert.deepEqual(shown, ['**a**\n\nb c', 1]);
  });
});

test('it works under a strict policy', () => withPackage({}, async (page) => {
  assert.equal(await page.evaluate(async () => {
    const { drawMarkdown } = await import('/turnwise/markdown.js');
    const element = document.body.appendChild(document.createElement('div'));
    await drawMarkdown(element, '**a** `b`');
    return element.innerHTML;
  }), '<p><strong>a</strong> <code>b</code></p>');
}));
