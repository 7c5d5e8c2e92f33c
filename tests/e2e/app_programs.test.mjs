// The examples that need a program, in the app: the demo model reads their sample files with the real tools, its programs run in
// the sandbox, and the answer is made of what they found. What is expected here is computed from the files once more.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { WIDE, download, runExample, shown, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { root } from './lib/site.mjs';

const samples = path.join(root, 'www/samples/files');
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
  test(`a report and a workbook that disagree, ${look}`, async () => {
    await withApp({ context: contextOf(look) }, async (page) => {
      await runExample(page, /A report and a workbook/);
      const run = await shown(page);
      assert.equal(run.reason, 'llm_complete');
      assert.deepEqual(run.turns[1].calls, ['read_file', 'query_table']);
      assert.equal(run.turns[2].calls[0], 'run_code');
      await page.getByRole('figure', { name: 'Revenue by quarter, in the report and in the workbook' }).waitFor();
      const text = await answer(page).innerText();
      assert.match(text, /They do not agree/);
      assert.match(text, /Q3: the report says 530770, the rows add up to 503770 \(27000 less\)/);
      assert.match(text, /Q2 is the strongest quarter, not Q3/);
      assert.match(text, /Quarters that agree: Q1, Q2, Q4/);
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
    assert.match(await answer(page).innerText(), new RegExp(`${person} has the most open actions: ${most} of ${sum}\\.`));
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
    assert.match(await answer(page).innerText(), new RegExp(`${lines.length} days: ${mean(rides(false))} rides on a dry day, ${mean(rides(true))} on a day with rain`));
    const chart = page.getByRole('figure', { name: 'Rides per day, by month' });
    await chart.getByRole('group').focus();
    await page.keyboard.press('End');
    assert.match(await chart.getByRole('status').innerText(), /^2025-12\s+Dry days\s+\d+\s+Days with rain\s+\d+$/);
    assert.deepEqual(await audit(page), []);
    await camera(page, 'programs', 'wide')('rides');
  });
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
    await camera(page, 'files', 'wide')('table');
  });
});
