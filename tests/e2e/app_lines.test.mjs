// Tool calls as people read them: a line in words, like calls in a row as one group, names and arguments inside; and the shared
// page, which begins with the answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { download, runTask, showTurns } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withContext } from './lib/browser.mjs';
import { LOOKS, camera, contextOf, inThemes, shots } from './lib/looks.mjs';
import { answered, withScripted } from './lib/scripted.mjs';
import { leftIn } from './lib/tier.mjs';

const call = (id, name, args) => ({ id, name, args });
const reads = Array.from({ length: 12 }, (_, n) => call(`r${n}`, 'read_file', { path: n === 4 ? 'missing.md' : `notes/${n}.md` }));
const STEPS = [
  { text: 'I write them.', calls: Array.from({ length: 12 }, (_, n) => n).filter((n) => n !== 4).map((n) => call(`w${n}`, 'write_file', { path: `notes/${n}.md`, content: `Note ${n}\nof twelve` })) },
  { text: 'I read them.', calls: [...reads, call('s', 'search_files', { query: 'twelve', limit: 3 }), call('c', 'calculate', { expression: '6 * 7' })] },
  { text: '## All notes\n\nThere are **11 notes**.' },
];
let shared;
const line = (of) => of.locator('> summary .line').evaluate((element) => [...element.children].filter((part) => part.checkVisibility() && !part.matches('.t:last-child')).map((part) => part.textContent).join(' '));

for (const look of Object.keys(LOOKS)) {
  test(`tool calls are lines in words, and like calls in a row one group: ${look}`, { skip: leftIn(look) }, () => withScripted((more) => contextOf(look, more), STEPS, async (page) => {
    const shoot = camera(page, 'lines', look);
    await runTask(page, 'Read my notes');
    await answered(page, 'There are 11 notes.');
    await showTurns(page);
    const second = page.locator('section.turn').nth(1);
    const group = second.locator('.call.alike');
    await group.waitFor();
    assert.equal(await second.locator('> .body .calls > .call').count(), 3, 'a group, and two calls');
    assert.match(await line(group), /^Read 11 files notes\/0\.md, notes\/1\.md, .* 1 failed$/);
    assert.equal(await second.locator('.call[data-tool=calculate] .name').innerText(), 'Calculated');
    assert.match(await line(second.locator('.call[data-tool=search_files]')), /^Searched the files for “twelve” \d+ lines/);
    assert.doesNotMatch(await second.innerText(), /read_file|search_files|calculate\b/, 'names are inside');
    await group.locator('> summary').focus();
    await page.keyboard.press('Enter');
    const inner = group.locator('.call');
    await inner.nth(11).waitFor();
    assert.match(await line(inner.first()), /^Read notes\/0\.md 2 lines/);
    assert.match(await line(inner.nth(4)), /^Could not read missing\.md/);
    await inner.first().locator('summary').click();
    assert.match(await inner.first().locator('.detail').innerText(), /Arguments\s+read_file\s+\{\s+"path": "notes\/0\.md"\s+\}/);
    await shoot('group');
    assert.match(await line(page.locator('section.turn').first().locator('.call.alike')), /^Wrote 11 files/);

    if (look === 'wide') shared = (await download(page, 'HTML page')).text;
  }));
}

test('the shared page begins with the answer, folds the work, and ends with the facts', { skip: leftIn('wide') }, async () => {
  assert.ok(shared, 'the test above saves it');
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const file = path.join(folder, 'run.html');
    writeFileSync(file, shared);
    for (const look of Object.keys(LOOKS)) {
      await withContext(contextOf(look), async (context) => {
        const page = await context.newPage();
        await page.goto(`file://${file}`);
        const order = await page.evaluate(() => ['h1', '.answer .prose', '.answer .headline', '.work > summary', '.summary h2', '.summary code'].map((found) => document.querySelector(found).getBoundingClientRect().top));
        assert.deepEqual(order, [...order].sort((a, b) => a - b), 'answer, work, facts');
        assert.match(await page.locator('.answer').innerText(), /^All notes\s+There are 11 notes\.\s+Done · 3 of 15 turns · /);
        assert.equal(await page.locator('.turn').first().isVisible(), false);
        await inThemes(page, async (theme) => {
          await page.screenshot({ path: path.join(shots, `lines-shared-${look}-${theme}.png`) });
          // The headings of an answer begin at the level at which the model began.
          assert.deepEqual((await audit(page)).filter((fault) => !fault.startsWith('heading-order')), [], `shared, ${theme}`);
        });
        await page.locator('.work > summary').click();
        await page.locator('.inner-calls > summary').nth(1).click();
        assert.match(await page.locator('.turn').nth(1).innerText(), /Read 11 files 1 failed\s+Read notes\/0\.md 2 lines/);
        await page.screenshot({ path: path.join(shots, `lines-shared-work-${look}.png`), fullPage: true });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
