// Formulas and diagrams in answers: drawn by KaTeX in a worker and Mermaid in a sandboxed frame, which load on first use. Wrong and
// hostile ones show their source, and reach neither the page nor the network.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { START, download, drop, runTask, startPage } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf, shots } from './lib/looks.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { dist, withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
after(() => rmSync(folder, { recursive: true }));

/**
 * Opens the app with a model that gives this answer to the task, and waits until it is there; `open`: it has begun. `body` also gets the
 * files that were requested of the site.
 */
const withAnswer = (text, body, { look = 'wide', expect = [], mounts, open = false } = {}) => {
  const requested = [];
  return withSite((site) => withScript([open ? { chunks: reply({ text }).slice(0, -3), hold: true } : { text }], (baseUrl) => {
    const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
    const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
    return withPage(site.app, { reach: [baseUrl], context: contextOf(look, { storageState, permissions: ['clipboard-read', 'clipboard-write'] }), expect }, async (page) => {
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      if (open) {
        await page.getByRole('textbox', { name: 'Task' }).fill('Explain it.');
        await page.getByRole('button', { name: 'Run', exact: true }).click();
      } else {
        await runTask(page, 'Explain it.');
      }
      return body(page, requested);
    });
  }), { mounts, seen: (name) => requested.push(name) });
};

/** A file of the site with other text, as a mount. */
function changed(name, change) {
  const file = path.join(folder, name);
  writeFileSync(file, change(readFileSync(path.join(dist, name), 'utf8')));
  return { [`/${name}`]: file };
}

const DRAWING = /formula|diagram|drawing/;
const formulas = (page) => page.locator('.prose .formula');
const sources = (page) => page.locator('.prose code.tex');
const texOf = (all) => all.evaluateAll((them) => them.map((each) => each.querySelector('annotation').textContent));
const block = (page, at = 0) => page.locator('.prose .code[data-lang=mermaid]').nth(at);
const picture = (page, at = 0) => block(page, at).getByRole('img');
const drawn = (page, at = 0) => picture(page, at).evaluate((image) => image.decode().then(() => decodeURIComponent(image.src.replace(/^data:image\/svg\+xml,/, ''))));
const fenced = (...diagrams) => diagrams.map((text) => `\`\`\`mermaid\n${text}\n\`\`\``).join('\n\nThen:\n\n');

const LONG = Array.from({ length: 20 }, (_, n) => `a_{${n}}`).join(' + ');
const FORMULAS = [
  'The roots of $ax^2 + bx + c = 0$ cost from $5 to $10 and are', '',
  '$$', 'x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}', '$$', '',
  'Over \\(\\mathbb{R}\\), with **bold $v_1$**:', '',
  '\\[', '\\begin{aligned}', 'f(x) &= \\sum_{n=0}^\\infty \\frac{x^n}{n!} \\\\', '&= e^x', '\\end{aligned}', '\\]', '',
  '| matrix | cases |', '|---|---|', '| $\\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}$ | $\\begin{cases}1&x>0\\\\0&\\text{otherwise}\\end{cases}$ |', '',
  `A long one: $${LONG}$.`, '',
  'Wrong: $\\frac{1}$. Code: `$HOME`, `$x$`.',
].join('\n');

for (const look of Object.keys(LOOKS)) {
  test(`formulas are drawn, and money, code and wrong ones are not: ${look}`, { skip: leftIn(look) }, () => withAnswer(FORMULAS, async (page) => {
    await formulas(page).nth(7).waitFor();
    assert.deepEqual(await texOf(formulas(page)), [
      'ax^2 + bx + c = 0', 'x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}', '\\mathbb{R}', 'v_1', '\\begin{aligned}\nf(x) &= \\sum_{n=0}^\\infty \\frac{x^n}{n!} \\\\\n&= e^x\n\\end{aligned}',
      '\\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}', '\\begin{cases}1&x>0\\\\0&\\text{otherwise}\\end{cases}', LONG,
    ]);
    assert.equal(await page.locator('.formula math[display=block]').count(), 2);
    assert.equal(await formulas(page).nth(2).locator('mi').textContent(), 'ℝ');
    assert.equal(await page.locator('.formula mtd').first().getAttribute('class'), 'right', 'columns are aligned');
    assert.match(await page.locator('.prose').first().textContent(), /cost from \$5 to \$10 and are/);
    assert.deepEqual(await sources(page).allTextContents(), ['\\frac{1}']);
    assert.deepEqual(await page.locator('.prose code:not(.tex)').allTextContents(), ['$HOME', '$x$']);
    const { width } = await formulas(page).nth(1).locator('mfrac').first().boundingBox();
    assert.ok(width > 40, 'it is laid out as a fraction');
    await camera(page, 'drawing', look)('formulas');
  }, { look }));
}

test('the page makes no markup of a text, for nobody: its policy refuses it', () => withAnswer('$x$', async (page) => {
  await formulas(page).waitFor();
  const thrown = await page.evaluate(() => [
    () => { document.body.innerHTML = '<b>x</b>'; }, () => new DOMParser().parseFromString('<b>x</b>', 'text/html'), () => new Worker('/formula-worker.js'),
    () => { document.createElement('iframe').srcdoc = 'x'; }, () => trustedTypes.createPolicy('other', {}),
  ].map((act) => {
    try {
      act();
      return 'done';
    } catch ({ name }) {
      return name;
    }
  }));
  assert.deepEqual(thrown, Array(5).fill('TypeError'));
}, { expect: [/TrustedHTML|TrustedScriptURL|TrustedTypePolicy|Trusted Type|Content Security Policy/] }));

test('an answer without them loads nothing for them; the report and the record keep the sources', async () => {
  await withAnswer('It costs $5, and `$x$` is code.\n\n```js\nlet a;\n```', async (page, requested) => {
    await page.locator('.prose .code').waitFor();
    assert.ok(requested.length > 10);
    assert.deepEqual(requested.filter((name) => DRAWING.test(name)), []);
  });
  await withAnswer(`Let $x^2$ be.\n\n${fenced('flowchart LR\n  A --> B')}`, async (page, requested) => {
    await formulas(page).waitFor();
    await picture(page).waitFor();
    assert.deepEqual([...new Set(requested.filter((name) => DRAWING.test(name)))].sort(), ['/diagram-frame.html', '/diagram.js', '/formula-worker.js', '/formula.js', '/styles/drawing.css']);
    const { text: report } = await download(page, 'HTML');
    assert.match(report, /<code>x\^2<\/code>/);
    assert.match(report, /flowchart LR\n {2}A --&gt; B/);
    const { text } = await download(page);
    const file = path.join(folder, 'record.json');
    writeFileSync(file, text);
    await startPage(page);
    await page.getByRole('heading', { name: START }).waitFor();
    await drop(page, [file]);
    await page.getByText(/^Opened record\.json/).waitFor();
    await formulas(page).waitFor();
    await picture(page).waitFor();
  });
});

test('while an answer streams, its formulas are drawn and its diagrams wait', () => withAnswer(`Let $x^2$ be.\n\n${fenced('flowchart LR\n  A --> B')}\n\nAnd $y$, $z`, async (page, requested) => {
  const streaming = page.locator('.prose[data-streaming]');
  await streaming.locator('.formula').nth(1).waitFor();
  await streaming.getByText('And').getByText(', $z').waitFor();
  assert.deepEqual(await texOf(formulas(page)), ['x^2', 'y']);
  await streaming.locator('.code[data-lang=mermaid] pre').waitFor();
  assert.ok(!requested.some((name) => name.includes('diagram')));
  await page.getByRole('button', { name: 'Stop', exact: true }).first().click();
  await picture(page).waitFor();
}, { open: true }));

const HOSTILE = [
  '\\href{javascript:alert(1)}{x}', '\\url{https://evil.example}', '\\includegraphics[height=1em]{https://evil.example/a.png}', '\\htmlData{a=b}{x}', '\\htmlStyle{position: fixed}{x}', '\\htmlId{task}{x}',
  '\\def\\a{\\a\\a}\\a', '\\def\\x{'.repeat(3), '{'.repeat(3_000), `${'\\sqrt{'.repeat(300)}x${'}'.repeat(300)}`, 'x+'.repeat(4_000),
];
const CONTAINED = ['\\kern-50em \\text{over the page}', '\\rule{900em}{900em}', '\\text{<img src=x onerror=alert(1)>}', '\\color{red}{a}\\fcolorbox{red}{blue}{b}', '\\raisebox{50em}{\\text{up}}', '\\pmb{x}'];

test('hostile formulas keep their source or stay in their place', () => withAnswer([...HOSTILE, ...CONTAINED].map((tex) => `Formula: \\(${tex}\\).`).join('\n\n'), async (page) => {
  await formulas(page).nth(CONTAINED.length - 1).waitFor();
  assert.deepEqual(await sources(page).allTextContents(), HOSTILE);
  assert.deepEqual(await texOf(formulas(page)), CONTAINED);
  const seen = await page.locator('.prose').first().evaluate((prose) => ({
    names: [...new Set([...prose.querySelectorAll('.formula *')].map(({ localName, namespaceURI }) => `${namespaceURI} ${localName}`))],
    attributes: [...new Set([...prose.querySelectorAll('.formula *')].flatMap((element) => element.getAttributeNames()))],
    high: Math.max(...[...prose.querySelectorAll('.formula')].map((element) => element.getBoundingClientRect().height)),
    wide: Math.max(...[...prose.querySelectorAll('.formula')].map((element) => element.getBoundingClientRect().right)) - prose.getBoundingClientRect().right,
  }));
  for (const name of seen.names) assert.match(name, /^http:\/\/www\.w3\.org\/1998\/Math\/MathML m?[a-z]+$/);
  for (const name of seen.attributes) assert.doesNotMatch(name, /^(on|href|src|style|id)/);
  assert.ok(seen.high < 400, `${seen.high}`);
  assert.ok(seen.wide <= 1, `${seen.wide}`);
  assert.equal(await page.locator('.prose :is(img, a, iframe, script)').count(), 0);
}));

test('a formula that takes too long keeps its source, and the others are drawn', () => withAnswer('$a$, $\\text{hang}$, $b$, $a$', async (page) => {
  await formulas(page).nth(2).waitFor();
  assert.deepEqual(await texOf(formulas(page)), ['a', 'b', 'a']);
  assert.deepEqual(await sources(page).allTextContents(), ['\\text{hang}']);
}, {
  mounts: {
    ...changed('formula-worker.js', (text) => `${text}\n{ const real = onmessage; onmessage = (event) => { while (event.data[1].includes('hang')); real(event); }; }`),
    ...changed('formula.js', (text) => text.replace('LATE_MS = 3_000', 'LATE_MS = 500')),
  },
}));

const FLOW = 'flowchart TD\n  A[Question] -->|search| B(Files)\n  B --> C{Found?}\n  C -->|yes| D[Answer]\n  C -->|no| A';
const SEQUENCE = 'sequenceDiagram\n  Page->>Worker: run\n  Worker-->>Page: events';

for (const look of Object.keys(LOOKS)) {
  test(`diagrams are drawn, in the colours of the theme, and their source is one click away: ${look}`, { skip: leftIn(look) }, () => withAnswer(`First:\n\n${fenced(FLOW, SEQUENCE)}`, async (page) => {
    const light = await drawn(page);
    await drawn(page, 1);
    for (const label of ['Question', 'Files', 'Found?', 'Answer', 'search']) assert.ok(light.includes(label), label);
    assert.ok((await picture(page).boundingBox()).height > 100);
    assert.equal(await picture(page).getAttribute('alt'), 'Diagram: flowchart');
    await page.waitForFunction(() => !document.querySelector('iframe'));
    assert.equal(await block(page).locator('pre').isVisible(), false);
    await block(page).getByRole('button', { name: 'Show source' }).click();
    assert.equal(await block(page).locator('pre').textContent(), `${FLOW}\n`);
    assert.equal(await picture(page).isVisible(), false);
    await block(page).getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${FLOW}\n`);
    await block(page).getByRole('button', { name: 'Show drawing' }).click();

    const inTheme = async (theme) => {
      const before = await picture(page, 1).getAttribute('src');
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForFunction((src) => document.querySelectorAll('.code.drawn img')[1].src !== src && !document.querySelector('iframe'), before);
    };
    for (const theme of ['dark', 'light']) {
      await inTheme(theme);
      assert.equal(await drawn(page) === light, theme === 'light');
      await drawn(page, 1);
      await page.screenshot({ path: path.join(shots, `drawing-diagrams-${look}-${theme}.png`) });
      assert.deepEqual(await audit(page), [], theme);
    }
  }, { look }));
}

test('a diagram that cannot be drawn shows its source, with one sentence', () => withAnswer(fenced('flowchart TD\n  A -->', 'no diagram', `flowchart TD\n  A[${'x'.repeat(11_000)}]`, SEQUENCE), async (page) => {
  await drawn(page, 3);
  assert.deepEqual(await page.locator('.no-drawing').allTextContents(), [
    'The diagram is not drawn: line 2 of its source is not understood.', 'The diagram is not drawn: its source is not understood.', 'The diagram is not drawn: its source is too long.',
  ]);
  assert.equal(await block(page).locator('pre').textContent(), 'flowchart TD\n  A -->\n');
  assert.equal(await page.getByRole('button', { name: 'Show source' }).count(), 1);
  await camera(page, 'drawing', 'wide')('wrong');
}));

test('a drawing that takes too long is given up, and the next one is made', () => withAnswer(fenced('flowchart TD\n  hang', SEQUENCE), async (page) => {
  await drawn(page, 1);
  assert.deepEqual(await page.locator('.no-drawing').allTextContents(), ['The diagram is not drawn: it takes too long.']);
  assert.equal(await page.locator('iframe').count(), 0);
}, {
  mounts: changed('diagram.js', (text) => text.replace('DRAW_MS = 10_000', 'DRAW_MS = 4_000').replace("contentWindow.postMessage({ text, dark }, '*')", "if (!text.includes('hang')) contentWindow.postMessage({ text, dark }, '*')")),
}));

test('hostile diagrams reach neither the page nor the network', async () => {
  const asked = [];
  const server = http.createServer((request, response) => { asked.push(request.url); response.end(); });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const evil = `http://evil.example:${server.address().port}`;
  const loose = '%%{init: {"securityLevel": "loose", "maxTextSize": 9999999, "themeCSS": "@import url(EVIL/css); .node rect { fill: url(EVIL/fill) }", "themeVariables": {"primaryColor": "url(EVIL/variable)"}}}%%\n';
  const diagrams = [
    'flowchart TD\n  A --> B\n  click A "javascript:parent.hit = 1"\n  click B call alert()',
    'flowchart TD\n  A["<img src=\'EVIL/img\' onerror=\'parent.hit = 1\'><script>parent.hit = 1</script><a href=\'EVIL/a\'>a</a><style>@import \'EVIL/style\';</style>"] --> B',
    `${loose}flowchart TD\n  A["<iframe src='EVIL/frame' srcdoc='<script>top.hit = 1</script>'></iframe>"] --> B`,
    `${loose}classDiagram\n  class A\n  link A "EVIL/link" "tip"\n  callback A "alert"`,
    'sequenceDiagram\n  participant A\n  link A: Home @ javascript:alert(1)\n  A->>A: <svg onload="parent.hit = 1"/>',
    `flowchart TD\n  ${Array.from({ length: 400 }, (_, n) => `n${n} --> n${n + 1}`).join('\n  ')}`,
  ].map((text) => text.replaceAll('EVIL', evil));
  try {
    await withAnswer(fenced(...diagrams), async (page) => {
      page.on('dialog', (dialog) => assert.fail(dialog.message()));
      await page.waitForFunction((count) => document.querySelectorAll('.drawing img, .no-drawing').length === count && !document.querySelector('iframe'), diagrams.length);
      assert.ok(await page.locator('.drawing img').count() >= 3, 'harmless parts are drawn');
      for (let at = 0; at < await page.locator('.drawing img').count(); at += 1) await page.locator('.drawing img').nth(at).evaluate((image) => image.decode());
      await picture(page).click();
      assert.equal(await page.evaluate(() => window.hit), undefined);
      assert.equal(await page.locator('.prose :is(svg, a, iframe, script, style)').count(), 0, 'they are pictures');
      assert.deepEqual(asked, []);
    }, { expect: [/violates the following Content Security Policy/, /TrustedScript/] });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test('the document that draws diagrams answers only the page that has sandboxed it', () => withSite(({ app }) => withPage(app, {}, async (page) => {
  const listens = await page.evaluate(async () => {
    const frame = document.createElement('iframe');
    frame.src = 'diagram-frame.html';
    const heard = [];
    addEventListener('message', ({ data }) => heard.push(data));
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    document.body.append(frame);
    await loaded;
    return [frame.contentWindow.location.pathname, frame.contentWindow.onmessage, heard];
  });
  assert.deepEqual(listens, ['/diagram-frame.html', null, []]);
})));
