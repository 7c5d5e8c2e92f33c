// Strict runs in the app against a strict server: failed attempts stay visible, reports are shown by their format, a failed
// run is explained in one sentence, and the log can be filtered. In both themes and sizes, without axe violations.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { download, drop, runTask, shown } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { until } from './lib/stranger.mjs';
import { leftIn } from './lib/tier.mjs';

const WARNED = /^warning: turnwise: turn \d+, attempt \d+: /;
const FAILED = /^error: turnwise: .* run failed: /;

/** Runs a test in the app set to a strict run of the script's model, in each look. */
function strict(name, { steps, settings = {}, expect = [] }, body) {
  for (const look of Object.keys(LOOKS)) {
    test(`${name}: ${look}`, { skip: leftIn(look) }, () => withSite((site) => withScript(steps(), (baseUrl) => {
      const stored = { provider: 'openai', base_url: baseUrl, model: 'scripted', preset: 'strict', tools_off: 'batch progress_report', ...settings };
      const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }];
      const context = contextOf(look, { storageState: { cookies: [], origins } });
      return withPage(site.app, { reach: [baseUrl], expect, context }, async (page) => {
        await page.getByRole('textbox', { name: 'Task' }).waitFor();
        await body(page, camera(page, 'strict', look));
      });
    })));
  }
}

const tool = (name, args, id = 'a') => ({ id, name, args });
const calculate = (expression, id) => tool('calculate', { expression }, id);
const report = (args) => ({ calls: [tool('final_report', args)] });
const lastOf = (request) => request.messages.at(-1);
const failures = (page) => page.locator('.failed').evaluateAll((lines) => lines.map((line) => ({ slugs: [...line.querySelectorAll('.slug')].map((slug) => slug.textContent), then: line.querySelector('.then').textContent })));
/** How the run ended, in a sentence: beside an answer, it is under Details. */
const headline = (page) => page.locator('.ending').last().locator('.headline, details > p').first().textContent();
const toTop = (page) => page.locator('#transcript').evaluate((it) => { it.scrollTop = 0; });

let goOn;
strict('two failed attempts, then a tool, then the report', {
  settings: { report_format: 'markdown' },
  expect: [WARNED],
  steps: () => [
    { text: 'I believe light needs about a second for that.', check: (request) => assert.ok(request.tools.some(({ function: { name } }) => name === 'final_report')) },
    { calls: [tool('lookup_distance', { body: 'moon' })], check: (request) => assert.match(lastOf(request).content, /\n\nsystem notice: Your last reply was text/) },
    {
      calls: [tool('progress_report', { status: 'Working out the time', detail: 'two calculations' }, 'p'), tool('batch', { calls: [{ name: 'calculate', arguments: { expression: '384400 km / c to seconds' } }, { name: 'calculate', arguments: { expression: '5 MJ to kWh' } }] }, 'b')],
      check: (request) => assert.match(lastOf(request).content, /^system notice: You called a tool that does not exist/),
    },
    { until: new Promise((resolve) => { goOn = resolve; }), ...report({ format: 'markdown', content: '## Light to the moon\n\nLight needs **1.28 seconds** for 384,400 km.\n\n| distance | time |\n|---|---|\n| 384,400 km | 1.28 s |\n\n<img src=x onerror=alert(1)>' }) },
  ],
}, async (page, shoot) => {
  const running = runTask(page, 'How long does light need to the moon, and how many kWh are 5 MJ?');
  await page.locator('.panel > .progress', { hasText: 'Working out the time' }).waitFor({ state: 'attached' });
  await shoot('running');
  goOn();
  await running;
  assert.equal(await page.locator('.panel > .progress').count(), 0, 'it is over');
  const { reason, outcome, source, turns } = await shown(page);
  assert.deepEqual({ reason, outcome, source, turns: turns.length }, { reason: 'final_report', outcome: 'success', source: 'model', turns: 2 });
  assert.deepEqual(await failures(page), [
    { slugs: ['text_only', 'no_tools'], then: 'Tried again' },
    { slugs: ['unknown_tool'], then: 'Tried again' },
  ]);
  await page.locator('.report .prose table').waitFor();
  assert.equal(await page.locator('.report img').count(), 0);
  await shoot('report');
  await toTop(page);
  const told = page.locator('.failed');
  assert.equal(await told.count(), 2);
  await told.first().locator('summary').click();
  assert.match(await told.first().locator('blockquote').innerText(), /^Your last reply was text/);
  assert.match(await page.locator('.turn .progress').innerText(), /Working out the time/);
  assert.deepEqual(await page.locator('.inside .call[data-tool]').evaluateAll((calls) => calls.map((call) => call.dataset.tool)), ['calculate', 'calculate']);
  assert.equal(await page.locator('.call .ended-run').innerText(), 'accepted');
  await shoot('attempts');
});

const schema = { type: 'object', required: ['answer', 'sources'], properties: { answer: { type: 'number' }, sources: { type: 'array', items: { type: 'string' }, minItems: 1 } } };

strict('a JSON report that fails its schema, then fits', {
  settings: { report_format: 'json', report_schema: JSON.stringify(schema) },
  expect: [WARNED],
  steps: () => [
    { calls: [calculate('384400 km / c to seconds')] },
    report({ format: 'json', content: { answer: 'about a second' } }),
    {
      ...report({ format: 'json', content: { answer: 1.282, exact: false, remark: null, unit: 'second', sources: ['calculate'], rows: Array.from({ length: 450 }, (_, i) => ({ place: i, text: '<b>bold</b>' })), notes: 'Distances change: the moon is between 356,500 km and 406,700 km away. '.repeat(6) } }),
      check: (request) => assert.match(lastOf(request).content, /^system notice: Your final_report was refused: its content does not fit/),
    },
  ],
}, async (page, shoot) => {
  await runTask(page, 'How long does light need to the moon?');
  assert.deepEqual((await failures(page)).map(({ slugs }) => slugs[0]), ['final_report_schema_fail']);
  assert.equal(await headline(page), "The model's report was accepted.");
  const tree = page.locator('.report .json');
  assert.match(await tree.innerText(), /answer\s*1\.282/);
  const rows = tree.locator('summary', { hasText: 'rows' });
  await rows.click();
  await tree.getByRole('button', { name: 'Show 200 more of 250' }).waitFor();
  assert.equal(await tree.locator('.level .level > details').count(), 200, 'a long level comes in portions');
  await tree.getByRole('button', { name: 'Show 200 more of 250' }).click();
  await tree.locator('.level .level > details').nth(399).waitFor();
  assert.equal(await tree.locator('.level .level > details').count(), 400);
  await rows.click();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('.report').getByRole('button', { name: 'Copy' }).click();
  const acts = page.getByRole('group', { name: 'This answer' });
  await acts.getByRole('button', { name: 'Share' }).waitFor();
  assert.equal(await acts.getByRole('button', { name: 'Copy' }).count(), 0, 'the report has its own');
  await page.getByText('Copied.').waitFor();
  assert.equal(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())).answer, 1.282);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await shoot('json');
});

strict('a Slack report is previewed', {
  settings: { report_format: 'slack' },
  steps: () => [
    { calls: [calculate('6*7')] },
    report({ format: 'slack', messages: [{ text: 'Weekly numbers', blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Weekly numbers' } },
      { type: 'section', text: { type: 'mrkdwn', text: 'Requests went *up by 12 %*; see <https://example.com/board|the board> or <javascript:alert(1)|this>.\n&gt; The `p95` stayed flat.' }, accessory: { type: 'button', text: { type: 'plain_text', text: 'Open board' }, url: 'https://example.com' } },
      { type: 'section', fields: [{ type: 'mrkdwn', text: '*Requests*\n18,204' }, { type: 'mrkdwn', text: '*Failures*\n42' }] },
      { type: 'divider' },
      { type: 'image', image_url: 'https://example.com/chart.png', alt_text: 'requests by day' },
      { type: 'rich_text', elements: [{ type: 'rich_text_list', style: 'bullet', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'Mondays are ' }, { type: 'text', text: 'busy', style: { bold: true } }] }, { type: 'rich_text_section', elements: [{ type: 'text', text: '<i>as written</i>' }] }] }] },
      { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Approve' } }, { type: 'static_select', placeholder: { type: 'plain_text', text: 'Assign to' } }] },
      { type: 'context', elements: [{ type: 'mrkdwn', text: 'from *two* sources' }] },
      { type: 'video', video_url: 'https://example.com/v.mp4', title: { type: 'plain_text', text: 'Recap' } },
    ] }] }),
  ],
}, async (page, shoot) => {
  await shoot('start');
  await runTask(page, 'Write up the week for Slack');
  const message = page.locator('.slack .message');
  assert.equal(await message.locator('.header').innerText(), 'Weekly numbers');
  assert.deepEqual(await message.locator('a').evaluateAll((links) => links.map((link) => link.href)), ['https://example.com/board', 'https://example.com/chart.png']);
  assert.match(await message.innerText(), /this <javascript:alert\(1\)>/);
  assert.match(await message.innerText(), /image, not loaded: requests by day/);
  assert.equal(await message.locator('button:not(.link), img, i').count(), 0);
  assert.match(await message.locator('.unknown').innerText(), /block of type video/);
  await shoot('slack');
});

strict('no attempt left: one sentence, a report of the system, and the log tells the rest', {
  settings: { context_tokens: '4000', price_input: '2000', price_output: '8000', max_turns: '4' },
  expect: [WARNED, FAILED],
  steps: () => [
    { calls: [calculate('6*7')] },
    { text: 'It is forty-two.' },
    { text: '' },
    { calls: [tool('submit_answer', { value: 42 })] },
  ],
}, async (page, shoot) => {
  await runTask(page, 'What is six times seven?');
  const { reason, outcome, source } = await shown(page);
  assert.deepEqual({ reason, outcome, source }, { reason: 'retries_exhausted', outcome: 'failed', source: 'system' });
  const sentence = 'Turn 2 failed three times, the last time because the model called a tool that does not exist, so the run ended without an accepted report.';
  assert.equal(await headline(page), sentence);
  assert.match(await page.locator('.report').innerText(), /Written by Turnwise[\s\S]*no report was accepted/);
  await shoot('failed');

  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('l');
  const log = page.getByRole('dialog', { name: 'Log' });
  await log.waitFor();
  const entries = log.locator('.entry');
  await until(async () => await entries.count() === 4);
  assert.deepEqual(await entries.locator('.lvl').allTextContents(), ['WRN', 'WRN', 'WRN', 'ERR']);
  await entries.first().locator('.raw summary').click();
  assert.match(await entries.first().locator('pre').innerText(), /^data: \{/);
  await shoot('log');
  await log.getByRole('button', { name: /^ERR/ }).click();
  await until(async () => await entries.count() === 3);
  await log.getByRole('combobox', { name: 'Slug' }).selectOption('empty_response');
  await log.getByText(/^1 of 4 entries$/).waitFor();
  assert.equal(await entries.count(), 1);
  await log.getByRole('searchbox').fill('nothing has these words');
  await log.getByText('No entry matches this filter.').waitFor();
  await log.getByRole('searchbox').fill('');
  const [file] = await Promise.all([page.waitForEvent('download'), log.getByRole('button', { name: 'Download' }).click()]);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ level, slugs }) => [level, slugs[0]]), [['WRN', 'empty_response']]);
  await page.keyboard.press('Escape');
  await log.waitFor({ state: 'hidden' });

  // The same for a reopened document.
  const details = page.getByRole('button', { name: 'Details' });
  if (await details.isVisible()) await details.click();
  await shoot('panel');
  const saved = await download(page);
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    writeFileSync(path.join(folder, saved.name), saved.text);
    await drop(page, [path.join(folder, saved.name)]);
    await page.getByText(/^Opened run_/).waitFor();
    assert.equal(await headline(page), sentence);
    await page.getByRole('button', { name: /^Log \(4\)/ }).click();
    await log.waitFor();
    assert.equal(await entries.count(), 4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
