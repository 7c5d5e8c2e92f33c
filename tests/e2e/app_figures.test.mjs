// Tables and charts in results: in the transcript, in the HTML report, and with keys. The record that they are in is a real
// run whose results were replaced, so that each kind of figure is there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { PHONE, WIDE, download, drop, runExample, showTurns, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf, shots } from './lib/looks.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
const file = path.join(folder, 'figures.json');
after(() => rmSync(folder, { recursive: true }));

const QUARTERS = ['Q1', 'Q2', 'Q3', 'Q4'];
const MONTHS = Array.from({ length: 12 }, (_, month) => `2025-${String(month + 1).padStart(2, '0')}`);
const rows = Array.from({ length: 120 }, (_, n) => ({ city: `City ${n + 1}`, riders: (n * 7919) % 997, share: n % 9 === 8 ? null : n / 4 }));
const bars = { chart: 'bar', title: 'Orders by quarter', x: QUARTERS, x_label: 'Quarter', y_label: 'Orders', series: [{ name: '2025', y: [412, 598, 732, 389] }, { name: '2026', y: [430, 640, 701, null] }] };
const lines = { chart: 'line', title: 'Rides per day', x: MONTHS, y_label: 'Rides', series: ['Dry days', 'Wet days', 'Snow'].map((name, at) => ({ name, y: MONTHS.map((_, n) => Math.round(300 - 90 * at + 260 * Math.sin((n / 11) * Math.PI))) })) };
const areas = { chart: 'area', title: 'Memory in use', x: Array.from({ length: 90 }, (_, n) => n * 2), x_label: 'Seconds', y_label: 'Bytes', series: [{ name: 'heap', y: Array.from({ length: 90 }, (_, n) => 4e6 + 3e6 * Math.sin(n / 9) + n * 2e4) }] };
const points = { chart: 'point', title: 'Rides and temperature', x: Array.from({ length: 60 }, (_, n) => Math.round((n * 31) % 270) / 10), x_label: 'Temperature, °C', y_label: 'Rides', series: [{ name: 'days', y: Array.from({ length: 60 }, (_, n) => 200 + ((n * 31) % 270) * 3 + ((n * 17) % 90)) }] };
const code = 'const rows = await tools.query_table({ sql: "SELECT 1" });\n// a comment\nconsole.log(`${rows.length} rows`);\nrows';

const program = (value, printed = '') => ({ name: 'run_code', args: { code }, result: `${printed}=> ${JSON.stringify(value)}` });
const CALLS = [
  program(bars, 'two years were compared\n'),
  program(lines),
  program(areas),
  program(points),
  { ...program(rows, '120 rows\n'), calls: Array.from({ length: 7 }, (_, n) => ({ id: `inner_${n}`, name: 'read_file', args: { path: `notes/${n}.md` }, result: `note ${n}` })) },
  program({ ...bars, chart: 'pie' }),
  { name: 'query_table', args: { sql: 'SELECT name, price FROM products' }, result: '| name | price |\n| --- | --- |\n| Paddle | 95 |\n| Sea kayak | 1840 |\n| Packraft | 760 |\n\n[3 rows]' },
  { name: 'list_orders', args: {}, result: JSON.stringify([{ id: 'b-10', amount: 5 }, { id: 'a-9', amount: 12 }]) },
];

before(async () => {
  const { text } = await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Tools over files/);
    return download(page);
  });
  const document = JSON.parse(text);
  const [pattern] = document.turns[0].tool_calls;
  const call = (of, at) => ({ ...pattern, ...of, id: of.id ?? `figure_${at}`, calls: of.calls?.map((inner, n) => call(inner, n)) });
  document.turns[0].tool_calls = CALLS.map(call);
  writeFileSync(file, JSON.stringify(document));
});

/** Opens the record; figures come from a worker. */
async function open(page) {
  await drop(page, [file]);
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await page.getByRole('figure', { name: points.title }).waitFor();
  await page.getByText('City 1', { exact: true }).waitFor();
}

const chartOf = (page, { title }) => page.getByRole('figure', { name: title });
const cells = (table, column) => table.locator(`tbody tr td:nth-child(${column})`).allTextContents();

for (const look of Object.keys(LOOKS)) {
  test(`charts and tables are drawn below the programs that returned them, ${look}`, { skip: leftIn(look) }, async () => {
    await withApp({ context: contextOf(look) }, async (page) => {
      await open(page);
      const shoot = camera(page, 'figures', look);
      for (const [name, of] of Object.entries({ bars, lines, areas, points })) {
        const chart = chartOf(page, of);
        await chart.scrollIntoViewIfNeeded();
        assert.equal(await chart.locator('path.s0').count() > 0, true, name);
        assert.deepEqual(await chart.locator('.legend li').allTextContents(), of.series.length > 1 ? of.series.map((series) => series.name) : []);
        // Letters keep a readable size on a phone.
        const height = await chart.locator('svg text').first().evaluate((text) => text.getBoundingClientRect().height);
        assert.ok(height > 11 && height < 20, `${name}: labels are ${height} px high`);
        await shoot(name);
      }
      await page.getByText('City 1', { exact: true }).scrollIntoViewIfNeeded();
      await shoot('table');
      await page.getByText('This chart is not drawn: `pie` is not a kind of chart').scrollIntoViewIfNeeded();
      await shoot('refused');
    });
  });
}

test('a table sorts by a click and by keys: numbers by value, text by its letters, what is missing last', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await open(page);
    const table = page.getByRole('table').filter({ hasText: 'City 1' });
    assert.equal((await cells(table, 1)).length, 50);
    await page.getByText('The first 50 of 120 rows').waitFor();
    const head = (name) => table.getByRole('columnheader', { name });
    assert.equal(await head('riders').getAttribute('aria-sort'), 'none');

    await head('riders').getByRole('button').click();
    assert.equal(await head('riders').getAttribute('aria-sort'), 'ascending');
    const riders = rows.map((row) => row.riders).sort((a, b) => a - b);
    assert.deepEqual((await cells(table, 2)).map(Number), riders.slice(0, 50));
    await page.keyboard.press('Enter');
    assert.equal(await head('riders').getAttribute('aria-sort'), 'descending');
    assert.deepEqual((await cells(table, 2)).map(Number), riders.reverse().slice(0, 50));
    await page.keyboard.press('Enter');
    assert.deepEqual((await cells(table, 1)).slice(0, 3), ['City 1', 'City 2', 'City 3']);

    // Letters with numbers in them: City 2 comes before City 10.
    await head('city').getByRole('button').focus();
    await page.keyboard.press('Space');
    assert.deepEqual((await cells(table, 1)).slice(8, 11), ['City 9', 'City 10', 'City 11']);

    await page.getByRole('button', { name: 'Show all 120 rows' }).click();
    await page.getByText('120 rows', { exact: true }).waitFor();
    for (const direction of ['ascending', 'descending']) {
      await head('share').getByRole('button').click();
      assert.equal(await head('share').getAttribute('aria-sort'), direction);
      const shares = await cells(table, 3);
      assert.equal(shares.length, 120);
      assert.ok(shares.slice(-13).every((share) => share === '') && shares[0] !== '');
    }

    // The answer of a query is a table, too, and one inside a card is read when the card is opened.
    const query = page.getByRole('table').filter({ hasText: 'Sea kayak' });
    await query.getByRole('columnheader', { name: 'price' }).getByRole('button').click();
    assert.deepEqual(await cells(query, 2), ['95', '760', '1840']);
    const inside = page.getByRole('table').filter({ hasText: 'b-10' });
    assert.equal(await inside.count(), 0);
    await page.locator('.call summary').filter({ hasText: 'list_orders' }).click();
    await inside.getByRole('columnheader', { name: 'id' }).getByRole('button').click();
    assert.deepEqual(await cells(inside, 1), ['a-9', 'b-10']);
  });
});

test('a chart is read with the pointer, with keys and as a table', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await open(page);
    const chart = chartOf(page, bars);
    const plot = chart.getByRole('group', { name: 'Orders by quarter. Arrow keys read the values.' });
    const readout = chart.getByRole('status');
    const about = await plot.evaluate((element) => document.getElementById(element.getAttribute('aria-describedby')).textContent);
    assert.equal(about, 'Bar chart from Q1 to Q4. 2025: lowest 389 (Q4), highest 732 (Q3). 2026: lowest 430 (Q1), highest 701 (Q3).');
    const said = async () => (await readout.innerText()).replace(/\s+/g, ' ');

    await plot.hover();
    assert.match(await said(), /^Q[23] 2025 (598|732) 2026 (640|701)$/);
    await page.mouse.move(0, 0);
    await readout.waitFor({ state: 'hidden' });

    await plot.focus();
    await page.keyboard.press('Home');
    assert.equal(await said(), 'Q1 2025 412 2026 430');
    await page.keyboard.press('ArrowRight');
    assert.equal(await said(), 'Q2 2025 598 2026 640');
    await page.keyboard.press('End');
    assert.equal(await said(), 'Q4 2025 389 2026 no value');
    await plot.scrollIntoViewIfNeeded();
    await page.screenshot({ path: path.join(shots, 'figures-readout-wide-light.png') });
    await page.keyboard.press('Escape');
    await readout.waitFor({ state: 'hidden' });

    await chart.getByText('Show the data').click();
    const data = chart.getByRole('table');
    await data.waitFor();
    assert.deepEqual(await data.getByRole('columnheader').allTextContents(), ['Quarter', '2025', '2026']);
    assert.deepEqual(await cells(data, 2), ['412', '598', '732', '389']);
    assert.deepEqual(await audit(page), []);
  });
});

test('a program shows its code, what it printed, and its calls below it', async () => {
  await withApp({ context: { viewport: PHONE } }, async (page) => {
    await open(page);
    const card = page.locator('.call').filter({ has: page.locator('summary', { hasText: '7 calls: read 7 files' }) });
    await card.locator('summary').first().click();
    await card.locator('.tok-keyword', { hasText: 'const' }).first().waitFor();
    assert.ok((await card.locator('pre').allTextContents()).some((text) => text.startsWith('120 rows\n=> [{"city":"City 1"')));
    const inner = page.locator('.inner-calls');
    assert.equal(await inner.locator('.call').count(), 0);
    await inner.locator('summary').first().click();
    assert.equal(await inner.locator('.call').count(), 7);
    assert.equal(await inner.locator('.call .arg').first().textContent(), 'notes/0.md');
    assert.deepEqual(await audit(page), []);
    await inner.scrollIntoViewIfNeeded();
    await page.screenshot({ path: path.join(shots, 'figures-program-phone-light.png') });
  });
});

test('the HTML report has the same figures, without a script', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await open(page);
    const report = await download(page, 'HTML');
    writeFileSync(path.join(folder, 'report.html'), report.text);
  });
  await withSite((site) => withPage(`${site.url}report/report.html`, { context: { viewport: WIDE } }, async (page) => {
    for (const of of [bars, lines, areas, points]) {
      const chart = page.getByRole('figure', { name: of.title });
      await chart.scrollIntoViewIfNeeded();
      assert.match(await chart.getByRole('img').getAttribute('aria-label'), new RegExp(`^${of.title}\\. `));
    }
    assert.match(await page.locator('rect.spot title').first().textContent(), /^Q1\n2025: 412\n2026: 430$/);
    await page.getByText('The first 50 of 120 rows. The record in this file has all of them.').waitFor();
    assert.deepEqual(await audit(page), []);
    for (const theme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: path.join(shots, `figures-report-wide-${theme}.png`) });
    }
  }), { mounts: { '/report/': folder } });
});

test('mentions of files with a place become buttons, and other texts do not', async () => {
  const paths = ['docs/report.pdf', 'my notes.md', 'a/x.md', 'b/x.md', 'book.xlsx'];
  // What is said -> the mentions in it: text, file, place.
  const cases = {
    'see report.pdf, page 7.': [['report.pdf, page 7', 'docs/report.pdf', 'page 7']],
    'docs/report.pdf, page 2 and my notes.md:12': [['docs/report.pdf, page 2', 'docs/report.pdf', 'page 2'], ['my notes.md:12', 'my notes.md', 'line 12']],
    '<code>report.pdf</code>, page 3, then': [['report.pdf, page 3', 'docs/report.pdf', 'page 3']],
    'report.pdf:212, page 7': [['report.pdf:212, page 7', 'docs/report.pdf', 'page 7']],
    '"report.pdf, page 1" and (book.xlsx, sheet Q1, A1:F20)': [['report.pdf, page 1', 'docs/report.pdf', 'page 1'], ['book.xlsx, sheet Q1, A1:F20', 'book.xlsx', 'sheet Q1, A1:F20']],
    // Two files have this name.
    'x.md:3 and a/x.md:3': [['a/x.md:3', 'a/x.md', 'line 3']],
    'other.pdf, page 1; http://a.b:80 at 12:30': [],
    '<a href="#">report.pdf, page 1</a><pre>report.pdf, page 1</pre>': [],
  };
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    const found = await page.evaluate(async ([paths, texts]) => {
      const { cite, named } = await import(new URL('preview.js', document.baseURI).href);
      // The page's policy lists one name, which the tests may use, too.
      const policy = trustedTypes.createPolicy('turnwise', { createHTML: (text) => text });
      return texts.map((html) => {
        // A parsed document: the page itself makes no markup of a text.
        const host = new DOMParser().parseFromString(policy.createHTML(html), 'text/html').body;
        const before = host.textContent;
        cite(host, named(paths));
        if (host.textContent !== before) throw new Error(`${html} reads ${host.textContent}`);
        return [...host.querySelectorAll('button')].map((button) => [button.textContent, button.dataset.file, button.dataset.place]);
      });
    }, [paths, Object.keys(cases)]);
    assert.deepEqual(found, Object.values(cases));
  });
});

test('a text of any length is shown, with the line that was asked for marked', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    const shown = await page.evaluate(async () => {
      const { show } = await import(new URL('preview.js', document.baseURI).href);
      const host = document.createElement('div');
      const text = Array.from({ length: 200_000 }, (_, n) => String(n + 1)).join('\n');
      show(host, text, 'line 1234');
      // What follows the marked line is in blocks of its own, of which the first begins a line.
      return [host.textContent === text.replace('1234\n1235', '12341235'), host.querySelectorAll('pre').length, [...host.querySelectorAll('mark')].map((mark) => mark.textContent)];
    });
    assert.deepEqual(shown, [true, 1, ['1234']]);
  });
});

test('a heading of a document has no marks; a text file is shown as it is', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    const drawn = (text, place = '') => page.evaluate(async ([text, place]) => {
      const { show } = await import(new URL('preview.js', document.baseURI).href);
      const host = document.createElement('div');
      show(host, text, place);
      return [...host.children].map((each) => `${each.localName}${each.className && `.${each.className}`}: ${each.textContent}`);
    }, [text, place]);
    const pages = '[page 1]\n# Annual report\n\nRevenue was 7 million.\n#1 in its market\n[page 2]\n## Outlook\n\nIt grows.';
    assert.deepEqual(await drawn(`[PDF, 2 pages, 8 lines of text]\n${pages}`), [
      'p.fact: PDF, 2 pages, 8 lines of text', 'h4: page 1', 'p.heading: Annual report', 'pre: \nRevenue was 7 million.\n#1 in its market',
      'h4: page 2', 'p.heading: Outlook', 'pre: \nIt grows.',
    ]);
    assert.deepEqual(await drawn('# Title\n\nText.'), ['pre: # Title\n\nText.']);
  });
});
