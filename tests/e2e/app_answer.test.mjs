// Working with an answer and with the list of runs: copy, regenerate, edit the prompt, change a result, find and delete a run, by
// mouse, by keyboard and by address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, UNDO_MS, runTask, showTurns, startPage, storedRuns, storedToTheEnd, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { manyRuns } from './lib/many-runs.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const task = (page) => page.getByRole('textbox', { name: 'Task' });
const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();
const acts = (page) => page.getByRole('group', { name: 'This answer' }).last();
const rail = (page) => page.getByRole('navigation', { name: 'Runs' });

/** Opens the app with a scripted model. */
const withModel = (steps, body, { look = 'wide', settings = {}, expect = [] } = {}) => withSite((site) => withScript(steps, (baseUrl) => {
  const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted', ...settings });
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
  const context = contextOf(look, { storageState, permissions: ['clipboard-read', 'clipboard-write'] });
  return withPage(site.app, { reach: [baseUrl], context, expect }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    return body(page, site);
  });
}));

const addFile = (files, name) => files.getByLabel('Files to add').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('Mine.') });

const LINKS = `- [the docs](https://halden.example/docs), [halden.example](https://halden.example/docs), https://halden.example/plain, halden@halden.example
- [halden.example](https://halden.example.evil.example/), [halden.example](https://h\u0430lden.example/), [\u202eelpmaxe.nedlah](https://evil.example/)
- [not halden.example but evil.example](https://evil.example/), https://halden.example@evil.example/x, [write to us](mailto:help@halden.example)
- [unclear](http://0x7f.1/)`;

for (const look of Object.keys(LOOKS)) {
  test(`a link shows its host unless its whole text is that host or the very address: ${look}`, { skip: leftIn(look) }, () => withModel([{ text: LINKS }], async (page) => {
    await runTask(page, 'Links?');
    await page.locator('.prose li').nth(3).waitFor();
    const shown = await page.locator('.prose a').evaluateAll((all) => all.map((link) => [link.textContent, link.nextElementSibling?.matches('.target') ? link.nextElementSibling.textContent : '']));
    assert.deepEqual(shown, [
      ['the docs', ' (halden.example)'], ['halden.example', ''], ['https://halden.example/plain', ''], ['halden@halden.example', ''],
      ['halden.example', ' (halden.example.evil.example)'], ['halden.example', ' (xn--hlden-4ve.example)'], ['\u202eelpmaxe.nedlah', ' (evil.example)'],
      ['not halden.example but evil.example', ' (evil.example)'], ['https://halden.example@evil.example/x', ' (evil.example)'], ['write to us', ' (help@halden.example)'],
    ]);
    await camera(page, 'answer-links', look)('hosts');
  }, { look }));
}

const CODE = 'First **this**:\n\n```js\nconst a = 1;\nconst b = 2;\n```\n\n- [x] done\n- [ ] open';

for (const look of Object.keys(LOOKS)) {
  test(`an answer is copied, written again, and asked for in other words: ${look}`, { skip: leftIn(look) }, () => withModel([
    { text: CODE },
    { text: 'Another answer.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'Show me code.') },
    { text: 'In Rust.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'Show me Rust.') },
    { text: 'A follow-up.' },
    { text: 'In other words.', check: ({ messages }) => assert.deepEqual(messages.slice(1).map(({ role, content }) => [role, content]), [['user', 'Show me Rust.'], ['assistant', 'In Rust.'], ['user', '>= 5, or not?\nAnd now?']]) },
  ], async (page) => {
    const shoot = camera(page, 'answer-acts', look);
    await runTask(page, 'Show me code.');
    const copies = async (button, text) => {
      await page.evaluate(() => navigator.clipboard.writeText('before'));
      await button.click();
      const deadline = performance.now() + 20_000;
      let copied = 'before';
      while (copied === 'before' && performance.now() < deadline) copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied, text);
    };
    const code = page.locator('.prose .code');
    await code.locator('.code-head span', { hasText: 'js' }).waitFor();
    await copies(code.getByRole('button', { name: 'Copy' }), 'const a = 1;\nconst b = 2;\n');
    await copies(acts(page).getByRole('button', { name: 'Copy' }), CODE);
    await page.getByText('Copied.').waitFor();
    await shoot('ended');

    await acts(page).getByRole('button', { name: 'Regenerate' }).click();
    await said(page, 'Another answer.');
    await page.getByRole('region', { name: 'How it ended' }).waitFor();
    await showTurns(page);
    assert.match(await page.locator('.facts').innerText(), /branch of run_.* before turn 1/);

    await acts(page).getByRole('button', { name: 'Ask differently' }).click();
    await page.getByRole('group', { name: 'Editing a prompt' }).waitFor();
    assert.equal(await task(page).inputValue(), 'Show me code.');
    await shoot('editing');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    assert.equal(await task(page).inputValue(), '');
    await acts(page).getByRole('button', { name: 'Ask differently' }).click();
    await task(page).fill('Show me Rust.');
    await task(page).press('Enter');
    await said(page, 'In Rust.');
    assert.equal(await page.getByRole('group', { name: 'Editing a prompt' }).count(), 0);

    // A passage that is selected is quoted. While it streams, it is drawn anew.
    await acts(page).waitFor();
    await page.locator('#transcript').getByText('In Rust.').first().selectText();
    await page.getByRole('button', { name: 'Quote selection' }).click();
    assert.equal(await task(page).inputValue(), '> In Rust.\n\n');

    // A follow-up that is edited continues what came before it, in a run of its own.
    await task(page).pressSequentially('What now?');
    await task(page).press('Enter');
    await page.getByRole('group', { name: 'This answer' }).nth(1).waitFor();
    assert.equal(await page.getByRole('heading', { level: 2, name: 'What now?', exact: true }).count(), 1);
    assert.equal(await page.locator('.page > blockquote').innerText(), 'In Rust.');
    await shoot('quoted');
    await acts(page).getByRole('button', { name: 'Ask differently' }).click();
    assert.equal(await task(page).inputValue(), '> In Rust.\n\nWhat now?');
    // What begins with a comparison quotes nothing.
    await task(page).fill('>= 5, or not?\nAnd now?');
    await task(page).press('Enter');
    await said(page, 'In other words.');
    assert.equal(await page.locator('.page > blockquote').count(), 0);
    assert.match(await page.locator('.facts').innerText(), /continues an earlier conversation/);
    await storedToTheEnd(page, 5);
  }, { look }));
}

test('a tool\'s result and the model\'s reply are changed, and the run goes on from there', () => withModel([
  { text: 'Let me see.', calls: [{ id: 'a', name: 'calculate', args: { expression: '1+1' } }] },
  { text: 'Two.' },
  { text: 'Five.', check: ({ messages }) => assert.match(messages.at(-1).content, /^5\n\[Turn 1\/15\]$/) },
], async (page) => {
  await runTask(page, 'Add.');
  await page.getByRole('button', { name: /^Branch: Turn 2/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Branch' });
  await dialog.getByText('Change a tool\'s result before this turn').click();
  const result = dialog.getByLabel(/^calculate/);
  assert.equal(await result.inputValue(), '2');
  await result.fill('5');
  await dialog.getByRole('button', { name: 'Start the branch' }).click();
  await said(page, 'Five.');
  await acts(page).waitFor();
  await showTurns(page);
  await page.getByRole('button', { name: /^Branch: Turn 2/ }).click();
  await dialog.getByText('Change the model\'s reply in this turn').click();
  assert.equal(await dialog.getByLabel('Text', { exact: true }).inputValue(), 'Five.');
  await dialog.getByLabel('Tool calls (JSON)').fill('{}');
  await dialog.getByRole('button', { name: 'Start the branch' }).click();
  await page.getByText('The tool calls must be a JSON array').waitFor();
  await dialog.getByLabel('Tool calls (JSON)').fill('');
  await dialog.getByLabel('Text', { exact: true }).fill('Say that it is five and a half.');
  await dialog.getByRole('button', { name: 'Start the branch' }).click();
  await said(page, 'Say that it is five and a half.');
}));

const NOTED = `It is so[^why].\n\n${'Much more text.\n\n'.repeat(60)}And again[^why], says ann@example.org.\n\n[^why]: Because of this.`;

for (const look of Object.keys(LOOKS)) {
  test(`a footnote leads to its note and back, by keyboard too; mail addresses are links: ${look}`, { skip: leftIn(look) }, () => withModel([{ text: NOTED }], async (page) => {
    const shoot = camera(page, 'answer-footnote', look);
    await runTask(page, 'Why?');
    const marks = page.getByRole('button', { name: 'Note 1', exact: true });
    const note = page.locator('.prose li', { hasText: 'Because of this.' });
    const inView = (locator) => locator.and(page.locator(':focus')).waitFor().then(() => page.waitForFunction(() => {
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      const box = document.querySelector('#transcript').getBoundingClientRect();
      return top >= box.top && bottom <= box.bottom;
    }));
    await marks.nth(1).waitFor();
    assert.deepEqual(await marks.allTextContents(), ['[1]', '[1]']);
    assert.equal(await page.getByRole('link', { name: 'ann@example.org' }).getAttribute('href'), 'mailto:ann@example.org');
    await marks.first().focus();
    await page.keyboard.press('Enter');
    await inView(note);
    await shoot('note');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Back to mark 1' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await inView(marks.first());
  }, { look }));
}

test('a refused key leads to where a model is connected, and the task is tried again', () => withModel([
  { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }) },
  { text: 'With the right key.' },
], async (page) => {
  await runTask(page, 'Hello?');
  // One card: the cause once, in the words of the provider, and what can be done about it.
  const card = page.getByRole('region', { name: 'How it ended' });
  await card.getByText('Incorrect API key provided').waitFor();
  assert.equal(await page.getByText('Incorrect API key provided').count(), 1);
  assert.equal(await page.locator('.report').count(), 0);
  const remedies = card.getByRole('group', { name: 'What you can do' });
  assert.deepEqual(await remedies.getByRole('button').allInnerTexts(), ['Enter a key', 'Choose another model', 'Try again']);
  assert.equal(await page.getByRole('button', { name: /again/i }).count(), 1, 'one name, one button');
  await remedies.getByRole('button', { name: 'Choose another model' }).click();
  await page.locator('#setting-model:focus').waitFor();
  await page.keyboard.press('Escape');
  await remedies.getByRole('button', { name: 'Enter a key' }).click();
  await page.getByRole('dialog', { name: 'Connect a model' }).waitFor();
  await page.locator('#setting-key:focus').waitFor();
  await page.keyboard.press('Escape');
  await remedies.getByRole('button', { name: 'Try again' }).click();
  await said(page, 'With the right key.');
}, { expect: [/401/] }));

const REFUSED = { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }) };
const tryAgain = (page) => page.getByRole('group', { name: 'What you can do' }).last().getByRole('button', { name: 'Try again' }).click();
/** Roles and texts that the model was sent, without the system message. */
const conversation = ({ messages }) => messages.slice(1).map(({ role, content }) => [role, content]);

test('a follow-up that is tried again keeps its conversation', () => withModel([
  { text: 'Six.' },
  REFUSED,
  { text: 'Seven.', check: (body) => assert.deepEqual(conversation(body), [['user', 'Two times three?'], ['assistant', 'Six.'], ['user', 'Plus one?']]) },
], async (page) => {
  await runTask(page, 'Two times three?');
  await said(page, 'Six.');
  await task(page).fill('Plus one?');
  await page.keyboard.press('Enter');
  await page.locator('#transcript').getByText('Incorrect API key provided').waitFor();
  await tryAgain(page);
  await said(page, 'Seven.');
}, { expect: [/401/] }));

test('a branch that is tried again keeps what it changed', () => withModel([
  { text: 'Six.' },
  REFUSED,
  { text: 'Seven.', check: (body) => assert.deepEqual(conversation(body), [['user', 'Two times three?\n\nAdd one.']]) },
], async (page) => {
  await runTask(page, 'Two times three?');
  await said(page, 'Six.');
  await page.locator('section.turn').first().hover();
  await page.getByRole('button', { name: /^Branch: / }).first().click();
  await page.getByLabel('Add a message before this turn').fill('Add one.');
  await page.getByRole('button', { name: 'Start the branch' }).click();
  await page.locator('#transcript').getByText('Incorrect API key provided').waitFor();
  await tryAgain(page);
  await said(page, 'Seven.');
}, { expect: [/401/] }));

test('a run in the address that opens late does not replace what the user went to', () => withModel([{ text: 'Six.' }], async (page) => {
  await runTask(page, 'Two times three?');
  await said(page, 'Six.');
  await storedToTheEnd(page, 1);
  await page.reload({ waitUntil: 'commit' });
  await page.getByRole('button', { name: /^New run/ }).click();
  await task(page).fill('Something else');
  await rail(page).getByText('Two times three?').waitFor();
  // The run would be there a moment after the list.
  await page.waitForTimeout(500);
  assert.equal(await task(page).inputValue(), 'Something else');
  assert.equal(await page.locator('section.turn').count(), 0);
}));

test('without a task, Run is disabled, keeps its focus, and leads to the task box', () => withModel([{ text: 'Done.' }], async (page) => {
  const run = page.getByRole('button', { name: 'Run', exact: true });
  assert.equal(await run.getAttribute('aria-disabled'), 'true');
  await run.focus();
  await page.keyboard.press('Enter');
  await task(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('  ');
  assert.equal(await run.getAttribute('aria-disabled'), 'true', 'spaces are no task');
  await page.keyboard.type('Hello');
  await page.waitForFunction(() => !document.querySelector('.composer [aria-disabled]'));
  await page.keyboard.press('Enter');
  await said(page, 'Done.');
}));

test('on a phone, what stands above a finished run is two rows', () => withModel([{ text: 'Done.' }], async (page) => {
  await runTask(page, 'Hello?');
  const heights = await page.evaluate(() => {
    const height = (element) => element?.getBoundingClientRect().height;
    const targets = [...document.querySelectorAll('.bar button, .panel .meter button')];
    return { top: document.querySelector('.scroll').getBoundingClientRect().top, least: Math.min(...targets.map(height)), bar: height(document.querySelector('.view-bar')) };
  });
  assert.ok(heights.top <= 112, `${heights.top} px`);
  assert.ok(heights.least >= 44, `${heights.least} px`);
  assert.equal(heights.bar, 0);
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByRole('button', { name: 'Transcript' }).click();
  await said(page, 'Done.');
}, { look: 'phone' }));

test('the palette finds actions and runs; keys go from turn to turn; the last prompt comes back', () => withModel([
  ...['1+1', '2+2', '3+3'].map((expression) => ({ text: `Turn with ${expression}. ${'More words. '.repeat(200)}`, calls: [{ id: `c${expression}`, name: 'calculate', args: { expression } }] })),
  { text: `The end. ${'More words. '.repeat(300)}` }, { text: 'Another.' },
], async (page) => {
  const shoot = camera(page, 'palette', 'wide');
  await runTask(page, 'Count the apples');
  await page.evaluate(() => { document.activeElement.blur(); document.querySelector('#transcript').scrollTop = 1e6; });
  const turn = () => page.evaluate(() => document.activeElement.closest('section.turn')?.getAttribute('aria-label'));
  for (const [key, label] of [['k', /^Turn 4/], ['k', /^Turn 3/], ['k', /^Turn 2/], ['j', /^Turn 3/]]) {
    await page.keyboard.press(key);
    assert.match(await turn(), label);
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await shoot('keys');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await runTask(page, 'Paint the fence');

  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Find an action or a run' });
  await palette.getByRole('option', { name: /^Copy the answer/ }).waitFor();
  const names = await palette.getByRole('option').allInnerTexts();
  assert.ok(names.some((name) => name.startsWith('Replay the run')) && !names.some((name) => name.startsWith('Download:')), `${names}`);
  await shoot('all');
  await palette.getByRole('option', { name: /^Download the run/ }).click();
  await palette.getByRole('option', { name: /^Download: Turnwise trajectory/ }).waitFor();
  assert.equal(await palette.getByRole('combobox').inputValue(), 'Download:');
  await palette.getByRole('combobox').fill('');
  await page.keyboard.type('apples');
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1);
  await palette.getByRole('option', { name: /^Count the apples/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Count the apples' }).waitFor();
  await palette.waitFor({ state: 'detached' });
  const find = async (words) => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(words);
  };
  await find('theme dark');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  // Closed and opened again before the browser has told of the first: it stays open.
  await page.evaluate(async () => {
    for (let n = 0; n < 3; n += 1) {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true, cancelable: true }));
      for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
    }
  });
  await page.waitForTimeout(200);
  assert.ok(await palette.isVisible());
  // The same after Escape, and a key right after it is not lost.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.waitForTimeout(200);
  assert.ok(await palette.isVisible());
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await find('no such thing');
  await palette.getByText('Nothing matches.').waitFor();
  await page.keyboard.press('Escape');

  // The task box takes text again after a dialog.
  await task(page).focus();
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await page.locator('textarea:focus').waitFor();
  await page.keyboard.type('abc');
  assert.equal(await task(page).inputValue(), 'abc');
  await task(page).fill('');

  await task(page).focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await task(page).inputValue(), 'Count the apples');
}));

for (const look of Object.keys(LOOKS)) {
  const steps = (count) => Array.from({ length: count }, (_, n) => ({ calls: [{ id: `c${n}`, name: 'calculate', args: { expression: `${n} + 1` } }] }));
  test(`the turns of a run that has an answer take no space until they are shown: ${look}`, { skip: leftIn(look) }, () => withModel(
    [...steps(1), { text: 'After one.' }, ...steps(9), { text: 'After nine.' }],
    async (page) => {
      const space = async (answer) => {
        await said(page, answer);
        await page.locator('.work[aria-expanded="true"]').click();
        await page.locator('.work[aria-expanded="false"]').waitFor();
        const work = await page.locator('.work').boundingBox();
        return Math.round((await page.locator('#transcript').getByText(answer).boundingBox()).y - work.y - work.height);
      };
      await runTask(page, 'Count to one');
      const short = await space('After one.');
      await storedToTheEnd(page, 1);
      await startPage(page);
      await runTask(page, 'Count to nine');
      assert.equal(await space('After nine.'), short);
      await camera(page, 'answer', look)('after-nine-turns');
    },
    { look },
  ));

  test(`records are listed on the days on which they ran, and what is opened is never hidden: ${look}`, { skip: leftIn(look) }, () => withModel([], async (page) => {
    const records = (await manyRuns(8, { every: 3 * 86_400_000 })).map((run, n) => ({ name: `run-${n}.json`, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(run)) }));
    const open = async (files, told) => {
      await page.locator('.bar, .rail').getByRole('button', { name: /^Files/ }).locator('visible=true').click();
      await page.getByRole('dialog', { name: 'Files' }).getByLabel('Files to add').setInputFiles(files);
      await page.getByText(told).locator('visible=true').first().waitFor();
    };
    const lines = rail(page).locator('.run');
    const showList = async () => { if (!await rail(page).isVisible()) await page.getByRole('button', { name: 'Runs', exact: true }).click(); };
    await open(records.slice(1), 'Opened 7 records (read-only).');
    await showList();
    assert.ok(!(await rail(page).getByRole('heading').allInnerTexts()).includes('Today'));
    await rail(page).getByLabel('Time').selectOption('Last 7 days');
    await lines.nth(2).waitFor({ state: 'detached' });
    assert.equal(await lines.count(), 2);
    await rail(page).getByLabel('Time').selectOption('Any time');
    await camera(page, 'runs', look)('records');
    await rail(page).getByLabel('Time').selectOption('Last 7 days');
    await page.keyboard.press('Escape');
    await open(records[0], 'Opened run-0.json (read-only).');
    await showList();
    await rail(page).locator('.run[aria-current="true"]').waitFor();
    assert.equal(await lines.count(), 8);
  }, { look }));
}

test('a run has an address, keeps its place in the list, and comes back after Undo', () => withModel(
  ['One.', 'Two.', 'Three.'].map((text) => ({ text })),
  async (page, { app }) => {
    const shoot = camera(page, 'runs', 'wide');
    const titles = () => rail(page).locator('.run b').allInnerTexts();
    for (const text of ['First task', 'Second task', 'Third task']) {
      await runTask(page, text);
      await page.evaluate(() => document.activeElement.blur());
      if (text !== 'Third task') await page.keyboard.press('n');
    }
    await storedToTheEnd(page, 3);
    const order = ['Third task', 'Second task', 'First task'];
    assert.deepEqual(await titles(), order);
    const address = page.url();
    assert.match(address, /#\/run\/./);
    await page.reload();
    await said(page, 'Three.');
    assert.deepEqual(await titles(), order);
    assert.deepEqual(await rail(page).getByRole('heading').allInnerTexts(), ['Today']);
    await rail(page).getByText('First task').click();
    await said(page, 'One.');
    assert.deepEqual(await titles(), order, 'opening a run moves nothing');
    await page.goBack();
    await said(page, 'Three.');
    assert.equal(page.url(), address);
    await page.goForward();
    await said(page, 'One.');
    await page.goto(app);
    await page.getByRole('heading', { name: START }).waitFor();
    await shoot('list');

    const row = rail(page).locator('li', { hasText: 'Second task' });
    const remove = async () => {
      await row.hover();
      await row.getByLabel('Rename, pin or delete').click();
      await row.getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await row.waitFor({ state: 'detached' });
    await shoot('undo');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.waitFor();
    assert.deepEqual(await titles(), order);
    // The palette brings it back too, after the message was dismissed.
    await remove();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Action or run' }).fill('undo second');
    await page.getByRole('option', { name: 'Undo: delete \u201cSecond task\u201d' }).waitFor();
    await page.keyboard.press('Enter');
    await row.waitFor();
    // As long as the pointer or the focus is on the message, it stays, and nothing is deleted.
    await page.getByRole('navigation', { name: 'Runs' }).getByRole('button', { name: /^Files/ }).click();
    const files = page.getByRole('dialog', { name: 'Files' });
    await addFile(files, 'mine.txt');
    await files.getByRole('button', { name: 'Remove mine.txt', exact: true }).click();
    await files.getByRole('status').getByText(/^Removed /).waitFor();
    await page.keyboard.press('Escape');
    await page.clock.install();
    await remove();
    const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
    await undo.focus();
    await page.mouse.move(5, 5);
    await page.clock.runFor(2 * UNDO_MS);
    assert.equal(await undo.count(), 1);
    await undo.blur();
    await undo.hover();
    await page.clock.runFor(UNDO_MS);
    assert.equal(await undo.count(), 1);
    assert.equal((await storedRuns(page)).length, 3);
    // After a while, nothing of it is left.
    await page.mouse.move(5, 5);
    await page.clock.runFor(UNDO_MS);
    await undo.waitFor({ state: 'detached' });
    await untilStored(page, (runs) => runs.length === 2);
    // The key goes on to what can still be brought back.
    const count = page.locator('.rail .count');
    await count.getByText('0', { exact: true }).waitFor();
    await page.keyboard.press('ControlOrMeta+z');
    await count.getByText('1', { exact: true }).waitFor();
    await page.goto(`${address.replace(/run\/.*/, 'run/gone')}`);
    await page.reload();
    await page.getByText('The run in the address is not stored in this browser.').waitFor();
  },
));

test('a removed file comes back after Undo', () => withModel([], async (page) => {
  await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
  const files = page.getByRole('dialog', { name: 'Files' });
  await addFile(files, 'mine.txt');
  const first = files.locator('.file').getByRole('button', { name: 'Remove mine.txt', exact: true });
  const name = (await first.getAttribute('aria-label')).replace('Remove ', '');
  await first.click();
  assert.equal(await files.getByRole('button', { name: `Remove ${name}`, exact: true }).count(), 0);
  await files.getByRole('button', { name: 'Undo' }).click();
  await files.getByRole('button', { name: `Remove ${name}`, exact: true }).waitFor();
}));

test('a text that is shared to the installed app is in the task box, once', () => withModel([], async (page, { app }) => {
  const { share_target: target } = await page.evaluate(async () => (await fetch(document.querySelector('link[rel=manifest]').href)).json());
  const query = new URLSearchParams({ [target.params.title]: 'A page', [target.params.text]: 'Read this', [target.params.url]: 'https://a.b/c' });
  await page.goto(`${new URL(target.action, app).href}?${query}`);
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  assert.equal(await task(page).inputValue(), 'A page\nRead this\nhttps://a.b/c');
  assert.equal(page.url(), app);
}));
