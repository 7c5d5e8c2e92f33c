// Very long texts in the app, as a hostile model, file or record has them: the page stays usable, and shows them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { download, drop, runTask, startPage, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
after(() => rmSync(folder, { recursive: true }));
const file = (name, text) => {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
};

/** A page that is kept busy for longer is broken. Without limits, some of these texts keep it busy for half a minute. */
const MOST_MS = 8_000;
const watch = (page) => page.evaluate(() => {
  let last = performance.now();
  window.longest = 0;
  setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 20);
});
const longest = (page) => page.evaluate(() => window.longest);

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const whole = (text) => ({ chunks: [event({ choices: [{ index: 0, delta: { role: 'assistant', content: text } }] }), event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), 'data: [DONE]\n\n'] });
const withAnswer = (text, body, look = 'wide') => withSite((site) => withScript([whole(text)], (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  return withPage(site.app, { reach: [baseUrl], context: contextOf(look, { storageState }) }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await watch(page);
    await runTask(page, 'Explain it.');
    await body(page);
  });
}));
const written = (page) => page.locator('section.turn .prose.written');

const ANSWERS = {
  line: 'a'.repeat(1_500_000),
  formulas: '$a'.repeat(250_000),
  table: `|${'a|'.repeat(1000)}\n|${'-|'.repeat(1000)}\n${'|b\n'.repeat(100_000)}`,
  lists: `${Array.from({ length: 400 }, (_, n) => `${' '.repeat(n)}- a`).join('\n')}${'\n1. b'.repeat(50_000)}`,
  fences: '```js\nlet a = /(((((/; "\n```\n'.repeat(20_000),
};
for (const [name, text] of Object.entries(ANSWERS)) {
  test(`a very long answer is shown as it was written: ${name}`, () => withAnswer(`${text}\n\nThe end of it.`, async (page) => {
    await written(page).getByRole('button', { name: 'Draw it all the same' }).waitFor();
    assert.equal(await written(page).evaluate((prose) => [...prose.querySelectorAll('.piece')].map(({ textContent }) => textContent).join('')), `${text}\n\nThe end of it.`);
    assert.ok(await longest(page) < MOST_MS, `${await longest(page)}`);
    if (name === 'lists') await camera(page, 'large', 'wide')('lists');
  }));
}

test('one of few letters and many elements is, too, and is drawn when the user wants it', () => withAnswer(`${'- a\n'.repeat(15_000)}\n**The end of it.**`, async (page) => {
  await written(page).getByRole('button', { name: 'Draw it all the same' }).click();
  await page.locator('section.turn .prose:not(.plain, .written) strong').waitFor();
  assert.equal(await page.locator('section.turn .prose li').count(), 15_000);
}));

test('a task, a name and a system message of megabytes in a record', () => withApp({}, async (page) => {
  await runTask(page, 'What is 2 + 2?');
  const { text } = await download(page);
  const cases = {
    input: (record) => { record.input = 'x'.repeat(5_000_000); },
    words: (record) => { record.input = 'y '.repeat(2_500_000); },
    name: (record) => { record.turns.find(({ tool_calls: calls }) => calls.length).tool_calls[0].name = 'n'.repeat(5_000_000); },
    system: (record) => { record.config.system = 'y '.repeat(5_000_000); },
  };
  for (const [name, change] of Object.entries(cases)) {
    const record = JSON.parse(text);
    change(record);
    await startPage(page);
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    await drop(page, [file(`${name}.json`, JSON.stringify(record))]);
    await watch(page);
    await page.getByText(new RegExp(`^Opened ${name}\\.json`)).waitFor();
    await page.locator('.ending').last().waitFor();
    assert.ok(await longest(page) < MOST_MS, `${name}: ${await longest(page)}`);
  }
}));

test('a file whose first line is long is shown at once, and a long file in pieces', () => withApp({}, async (page) => {
  const line = `[${' lines of text'.repeat(14_000)}`;
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  await drop(page, [file('line.md', `${line}\nx\n`), file('long.txt', 'word \n'.repeat(40_000))]);
  await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
  await page.getByRole('dialog', { name: 'Files' }).getByRole('button', { name: 'line.md', exact: true }).click();
  await watch(page);
  await page.locator('.preview pre').waitFor();
  assert.match(await page.locator('.preview').textContent(), /^\[ lines of text lines/);
  assert.ok(await longest(page) < 1_000, `${await longest(page)}`);
  await page.getByRole('button', { name: 'All files' }).click();
  await page.getByRole('dialog', { name: 'Files' }).getByRole('button', { name: 'long.txt', exact: true }).click();
  await page.locator('.preview .piece').nth(20).waitFor({ state: 'attached' });
}));
