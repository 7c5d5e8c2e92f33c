// The examples that need a program, in the app: the demo model reads their sample files with the real tools, its programs run in
// the sandbox, and the answer is made of what they found. What is expected here is computed from the files once more.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { WIDE, download, drop, runExample, runTask, shown, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { pdf, xlsx } from './lib/documents.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { root } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const samples = path.join(root, 'www/app/samples/files');
const sample = (name) => readFileSync(path.join(samples, name), 'utf8');
const answer = (page) => page.locator('section.turn').last().locator('.prose');

/** The open actions of each person, counted from the notes' text. */
function openActions() {
  const open = {};
  for (const text of Object.values(JSON.parse(sample('notes.json')))) {
    for (const line of text.split('\n')) {
      const [, person] = line.match(/^- \[ \] (\w+): /) ?? [];
      if (person) open[person] = (open[person] ?? 0) + 1;
    }
  }
  return Object.entries(open).sort((one, other) => other[1] - one[1]);
}

test('the sample files are those that the script writes', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const { status, stderr } = spawnSync(process.execPath, [path.join(root, '.ci/samples.mjs'), folder], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    // The archive of the workbook may be compressed differently by another version of zlib.
    for (const name of ['annual-report.pdf', 'notes.json', 'rides.csv']) {
      assert.deepEqual(readFileSync(path.join(folder, name)), readFileSync(path.join(samples, name)), name);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const look of Object.keys(LOOKS)) {
  test(`a report and a workbook that disagree, ${look}`, { skip: leftIn(look) }, async () => {
    await withApp({ context: contextOf(look) }, async (page) => {
      await runExample(page, /A report and a workbook/);
      const run = await shown(page);
      assert.equal(run.reason, 'llm_complete');
      assert.deepEqual(run.turns[1].calls, ['read_file', 'query_table']);
      assert.equal(run.turns[2].calls[0], 'run_code');
      await page.getByRole('figure', { name: 'Revenue by quarter, in the report and in the workbook' }).waitFor();
      const text = await answer(page).textContent();
      assert.match(text, /They do not agree/);
      assert.match(text, /Q3: the report says 530,770, the rows add up to 503,770 \(27,000 less\)/);
      assert.match(text, /the highest revenue is that of Q2, not of Q3/);
      assert.match(text, /These numbers agree: Q1, Q2, Q4/);
      const shoot = camera(page, 'programs', look);
      await page.getByRole('figure').scrollIntoViewIfNeeded();
      await shoot('compare');

      // The mention opens the report at its page; Escape closes it.
      await page.getByRole('button', { name: 'annual-report.pdf, page 2' }).click();
      const files = page.getByRole('dialog', { name: 'Files' });
      const place = files.locator('[data-shown]');
      await place.waitFor();
      assert.equal(await place.textContent(), 'page 2');
      assert.ok(await place.evaluate((element) => element === document.activeElement));
      assert.match(await files.locator('.preview').innerText(), /530,770/);
      await shoot('citation');
      await page.keyboard.press('Escape');
      await files.waitFor({ state: 'hidden' });
    });
  });
}

test('two hundred notes, each read by a call of its own', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /Two hundred notes/);
    const run = await shown(page);
    assert.equal(run.reason, 'llm_complete');
    const expected = openActions();
    const [[person, most]] = expected;
    const sum = expected.reduce((all, [, count]) => all + count, 0);
    assert.match(await answer(page).textContent(), new RegExp(`${person} has the most open actions: ${most} of ${sum}\\.`));
    const { text } = await download(page);
    const calls = JSON.parse(text).turns.flatMap((turn) => turn.tool_calls).find((call) => call.name === 'run_code').calls;
    assert.equal(calls.filter((call) => call.name === 'read_file').length, 200);
    const table = page.getByRole('table').filter({ hasText: person });
    await table.getByRole('columnheader', { name: 'open' }).getByRole('button').click();
    const open = (await table.locator('tbody td:nth-child(2)').allTextContents()).map(Number);
    assert.deepEqual(open, open.toSorted((one, other) => one - other));
    assert.equal(open.at(-1), most);
    // Two hundred calls are one line until it is opened.
    const inner = page.locator('.inner-calls');
    assert.match(await inner.locator('summary').first().innerText(), /^201 calls$/);
    assert.equal(await inner.locator('.call').count(), 0);
    await camera(page, 'programs', 'wide')('notes');
  });
});

test('a data set that needs code, and a chart', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /A data set and a chart/);
    const run = await shown(page);
    assert.equal(run.reason, 'llm_complete');
    const [, ...lines] = sample('rides.csv').trim().split('\n');
    const rides = (wet) => lines.map((line) => line.split(',')).filter(([, , , rain]) => Number(rain) > 0 === wet).map((cells) => Number(cells[4]));
    const mean = (list) => Math.round(list.reduce((sum, n) => sum + n, 0) / list.length);
    const [dry, wet] = [rides(false), rides(true)];
    assert.match(await answer(page).textContent(), new RegExp(`where rain_mm is 0 \\(${dry.length} rows\\), the average is ${mean(dry)}; where it is above 0 \\(${wet.length} rows\\), it is ${mean(wet)}`));
    const chart = page.getByRole('figure', { name: 'Average rides by month' });
    await chart.getByRole('group', { name: 'Arrow keys' }).focus();
    await page.keyboard.press('End');
    assert.match(await chart.getByRole('status').innerText(), /^2025-12\s+rain_mm is 0\s+\d+\s+rain_mm is above 0\s+\d+$/);
    assert.deepEqual(await audit(page), []);
    await camera(page, 'programs', 'wide')('rides');
  });
});

// Files of a user's own: other names, columns and labels than those of the samples.
const OWN = {
  'sales.csv': '"Shop; city",Price,Sold\nOslo,12.5,30\n"Bergen, harbour",20,11\nOslo,10,42\n,15,\n',
  'plan.pdf': pdf([[[20, 'Plan'], [11, 'North and South']], [[20, 'Regions'], [11, 'Region'], [11, 'Units', 200, true], [11, 'North'], [11, '1,200', 200, true], [11, 'South'], [11, '310', 200, true]]]),
  'book.xlsx': xlsx({ Prices: [['product', 'price'], ['kayak', 900]], 'Sold units': [['region', 'month', 'units'], ['North', 'May', 700], ['North', 'June', 500], ['South', 'May', 301], ['East', 'May', 7]] }),
};

/** Runs a task over these files, which are added to those of the app; returns the answer, and has `check` look at the page. */
async function overOwn(task, check) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    for (const [name, content] of Object.entries(OWN)) writeFileSync(path.join(folder, name), content);
    return await withApp({ context: { viewport: WIDE } }, async (page) => {
      await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
      await drop(page, Object.keys(OWN).map((name) => path.join(folder, name)));
      await page.getByRole('status').getByText('Added 3 files').waitFor();
      await runTask(page, task);
      assert.equal((await shown(page)).reason, 'llm_complete');
      await check(page);
      return answer(page).textContent();
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the demo model explores the columns of another table', async () => {
  const text = await overOwn('Draw a chart of sales.csv: how much is sold in each shop?', (page) => page.getByRole('figure', { name: 'Average Sold by Shop; city' }).waitFor());
  assert.match(text, /the average of Sold is 27\.7 over 3 rows; the lowest value is 11, the highest 42/);
  assert.match(text, /correlation of Sold with Price: -0\.99/);
  assert.match(text, /highest for Oslo \(36\) and lowest for Bergen, harbour \(11\)/);
});

test('the demo model compares another report and workbook', async () => {
  const text = await overOwn('Do the units of each region in plan.pdf and book.xlsx agree?', (page) => page.getByRole('figure', { name: 'Units by region, in the report and in the workbook' }).waitFor());
  assert.match(text, /East: the report has no number, the rows add up to 7/);
  assert.match(text, /South: the report says 310, the rows add up to 301 \(9 less\)/);
  assert.match(text, /plan\.pdf, page 2/);
  assert.match(text, /These numbers agree: North\./);
});

test('the files drawer shows a table, the text of a document and a text', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await runExample(page, /A data set and a chart/);
    const files = page.getByRole('dialog', { name: 'Files' });
    await page.getByRole('button', { name: /^Files 1/ }).first().click();
    await files.getByRole('button', { name: 'rides.csv', exact: true }).click();
    const table = files.getByRole('table');
    await table.getByRole('columnheader', { name: 'rides' }).getByRole('button').click();
    const least = sample('rides.csv').trim().split('\n').slice(1).map((line) => Number(line.split(',')[4])).sort((a, b) => a - b)[0];
    assert.equal(Number(await table.locator('tbody tr:first-child td:nth-child(5)').textContent()), least);
    await files.getByText('The first 50 of 365 rows').waitFor();
    // A wide table scrolls by itself, not the drawer.
    assert.ok(await files.locator('.dialog-body').evaluate((body) => body.scrollWidth <= body.clientWidth));
    await camera(page, 'files', 'wide')('table');
  });
});
