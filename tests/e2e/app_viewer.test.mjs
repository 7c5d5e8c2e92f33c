// The viewer: stepping through a record, what the model saw at each request, whether it replays, two runs side by side, and
// the record that the page's URL names.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { PHONE, WIDE, compareWith, download, drop, runExample, showTurns, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { inThemes, shots } from './lib/looks.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
const names = { limit: 'limit.json', files: 'files.json' };
let records;

// Two real runs of the app, as files.
before(async () => {
  records = {};
  for (const [key, title] of [['limit', /Limit and synthesis/], ['files', /Tools over files/]]) {
    const { text } = await withApp({ context: { viewport: WIDE } }, async (page) => {
      await runExample(page, title);
      return download(page);
    });
    records[key] = JSON.parse(text);
    writeFileSync(path.join(folder, names[key]), text);
  }
});
after(() => rmSync(folder, { recursive: true }));

const file = (key) => path.join(folder, names[key]);

/** Drops the record and opens its replay. */
async function replay(page, key) {
  await drop(page, [file(key)]);
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await showTurns(page);
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('slider', { name: 'Step' }).waitFor();
  await at(page, 0);
}

const at = (page, step) => page.getByText(new RegExp(`^Step ${step} of `)).waitFor();
const seen = (page) => page.getByRole('region', { name: 'What the model saw' });

test('a record is stepped through with buttons, keys, the slider and the list of events', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await replay(page, 'limit');
    const { events, turns } = records.limit;
    const shown = page.getByRole('region', { name: 'The run up to this step' });
    // At the start, one turn has begun and its request is in flight.
    await shown.getByText('Waiting for the model').waitFor();
    assert.equal(await shown.locator('section.turn').count(), 1);
    await seen(page).getByRole('heading', { name: /^Request 1 of \d+, turn 1$/ }).waitFor();

    await page.getByRole('button', { name: 'Step forward' }).click();
    await at(page, 1);
    await shown.locator('.call').first().waitFor();
    await page.keyboard.press('ArrowRight');
    await at(page, 2);
    await page.keyboard.press('ArrowLeft');
    await at(page, 1);
    await page.keyboard.press('End');
    await at(page, events.length);
    await shown.getByRole('region', { name: 'How it ended' }).waitFor();
    assert.equal(await shown.locator('section.turn').count(), turns.length);
    await seen(page).getByText('synthesis prompt').waitFor();
    await page.keyboard.press('Home');
    await at(page, 0);
    await shown.getByRole('region', { name: 'How it ended' }).waitFor({ state: 'detached' });

    await page.getByRole('slider', { name: 'Step' }).fill('3');
    await at(page, 3);
    await page.getByRole('button', { name: 'Events' }).click();
    const rows = page.getByRole('list', { name: 'Events' }).getByRole('button');
    assert.ok(await rows.count() <= events.length + 1);
    await rows.last().click();
    await at(page, events.length);
    assert.match(await rows.last().innerText(), /ends: concluded at the turn limit/);
  });
});

test('what the model saw is what was sent: messages, counter lines, tools, and the difference to the request before', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await replay(page, 'limit');
    const messages = seen(page).locator('.message');
    assert.deepEqual(await messages.locator('.role').allInnerTexts(), ['system', 'user']);
    assert.equal(await messages.nth(1).locator('.text').innerText(), records.limit.input);
    await seen(page).getByText(/\d+ tools offered/).click();
    await seen(page).locator('.offered b').first().waitFor();
    assert.deepEqual(await seen(page).locator('.offered b').allInnerTexts(), records.limit.tools.map(({ name }) => name));

    await seen(page).getByRole('button', { name: 'Next request' }).click();
    await seen(page).getByRole('heading', { name: /^Request 2 of/ }).waitFor();
    const [turn] = records.limit.turns;
    const last = messages.last();
    assert.equal(await last.locator('.counter').innerText(), turn.tool_calls.at(-1).result.split('\n').at(-1));
    assert.equal(await seen(page).locator('.hash code').getAttribute('title'), records.limit.turns[1].attempts[0].request_hash);

    await seen(page).getByRole('button', { name: 'Difference to the previous request' }).click();
    await seen(page).getByText(/Compared with request 1, turn 1\. Messages: 2 the same/).waitFor();
    assert.deepEqual(await seen(page).locator('.message .sign').allInnerTexts(), Array(1 + turn.tool_calls.length).fill('added'));
    await page.keyboard.press('End');
    await seen(page).getByText('no tools: the request asks for a conclusion').first().waitFor();
    await seen(page).locator('.changes').getByText('Tools', { exact: true }).waitFor();
  });
});

test('playing goes on by itself and can be stopped', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await replay(page, 'files');
    await page.getByRole('button', { name: '16×' }).click();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await at(page, records.files.events.length);
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor(); // it stops at the end
    // At original speed, so that it is not over before it is stopped.
    await page.getByRole('button', { name: '1×', exact: true }).click();
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Home');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
  });
});

test('Verify says that a record replays, and where one that was changed does not', async () => {
  const changed = structuredClone(records.files);
  changed.turns[1].tool_calls[0].result += ' and more';
  writeFileSync(path.join(folder, 'changed.json'), JSON.stringify(changed));
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await replay(page, 'files');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(`Replays exactly: ${records.files.events.length} events, ${records.files.requests} requests, every hash matches.`).waitFor();
    await drop(page, [path.join(folder, 'changed.json')]);
    await page.getByText(/^Opened changed\.json/).waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/The first difference is in turn 2, at \/turns\/1\/tool_calls\/0\/result/).waitFor();
    await page.locator('.verdict code').first().getByText(/and more$/).waitFor();
  });
});

test('a run of this page can be stepped through once it has ended', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    assert.equal(await page.getByRole('button', { name: 'Replay' }).count(), 0);
    await runExample(page, /Tools over files/);
    await page.getByRole('button', { name: 'Replay' }).click();
    await at(page, 0);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^Replays exactly: /).waitFor();
    await page.getByRole('button', { name: 'Transcript' }).click();
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
  });
});

test('a record without events says that there is nothing to step through', async () => {
  const bare = { ...records.files, events: [] };
  writeFileSync(path.join(folder, 'bare.json'), JSON.stringify(bare));
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await drop(page, [path.join(folder, 'bare.json')]);
    await page.getByText(/^Opened bare\.json/).waitFor();
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/has no events/).waitFor();
  });
});

test('two runs stand side by side', async () => {
  await withApp({ context: { viewport: WIDE } }, async (page) => {
    await drop(page, [file('limit')]);
    await page.getByText(/^Opened limit\.json/).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Compare with…' }).count(), 0);
    await drop(page, [file('files')]);
    await page.getByText(/^Opened files\.json/).waitFor();
    await compareWith(page);
    const both = page.getByRole('region', { name: 'Comparison' });
    await both.locator('.summary').getByText(/^They part at turn 1, where the requests differ \(task/).waitFor();
    const row = both.getByRole('row', { name: /^Turns/ });
    const [other, own] = await row.getByRole('cell').allInnerTexts();
    const of = (key) => `${records[key].turns.length} of ${records[key].max_turns}`;
    // The baseline comes first, and the difference stands behind the number of the run that is compared with it.
    assert.equal(other, of('limit'));
    assert.ok(own.startsWith(of('files')) && own.includes(`${records.limit.turns.length - records.files.turns.length} fewer (`), own);
    await both.getByRole('heading', { level: 1, name: /^First difference: task/ }).waitFor();
    // The tasks that differ, word by word.
    const task = both.locator('.change', { hasText: 'Task' });
    await task.locator('ins').first().waitFor();
    await task.locator('del').first().waitFor();
    assert.equal(await both.locator('.pair[data-first]').count(), 1);
    await both.locator('.outputs ins').first().waitFor();
    await page.getByRole('button', { name: 'End the comparison' }).click();
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
  });
});

test('the address can name a record of the same site, and of no other', async () => {
  await withSite(async (site) => {
    const open = (what, body, options = {}) => withPage(`${site.app}?trajectory=${encodeURIComponent(what)}`, { context: { viewport: WIDE }, ...options }, body);
    await open('records/files.json', async (page) => {
      await page.getByRole('region', { name: 'How it ended' }).waitFor();
      await showTurns(page);
      await page.getByText('Opened files.json (read-only).').waitFor();
    });
    await open('https://example.org/files.json', async (page) => {
      await page.getByText('The record at https://example.org/files.json is on another site and was not opened.').waitFor();
    });
    await open('//example.org/files.json', async (page) => page.getByText(/is on another site/).waitFor());
    await open('records/none.json', async (page) => page.getByText(/There is no record at \/records\/none\.json \(HTTP 404\)/).waitFor(), { expect: [/404/] });
    await open('docs/index.md', async (page) => page.getByText(/is not a trajectory/).waitFor());
  }, { mounts: { '/records/': folder } });
});

for (const [size, viewport] of Object.entries({ wide: { width: 1280, height: 800 }, phone: PHONE })) {
  test(`no accessibility violations in the viewer: ${size}`, { skip: leftIn(size) }, async () => {
    await withApp({ context: { viewport, reducedMotion: 'reduce' } }, async (page) => {
      const look = (name) => inThemes(page, async (theme) => {
        await page.screenshot({ path: path.join(shots, `viewer-${name}-${size}-${theme}.png`) });
        assert.deepEqual(await audit(page), [], `${name}, ${theme}`);
      });
      await replay(page, 'files');
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByText(/^Replays exactly/).waitFor();
      await page.getByRole('slider', { name: 'Step' }).fill('4');
      await at(page, 4);
      await seen(page).getByRole('heading', { name: /^Request [23] of/ }).waitFor();
      await look('seen');
      await seen(page).getByRole('button', { name: 'Difference to the previous request' }).click();
      await seen(page).locator('.difference .message').first().waitFor();
      await look('difference');
      await page.getByRole('button', { name: 'Events' }).click();
      await page.getByRole('list', { name: 'Events' }).getByRole('button').first().waitFor();
      await look('events');
      if (size === 'phone') {
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await look('run');
      }
      await drop(page, [file('limit')]);
      await page.getByText(/^Opened limit\.json/).waitFor();
      // On a phone, the bar with the choice is above the replay, not above the transcript.
      if (size === 'phone') await page.getByRole('button', { name: 'Replay' }).click();
      await compareWith(page);
      await page.locator('.outputs ins').first().waitFor();
      await page.locator('.comparison').evaluate((comparison) => { comparison.scrollTop = 0; });
      await look('compare');
    });
  });
}
