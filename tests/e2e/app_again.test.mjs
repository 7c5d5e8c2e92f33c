// What a person comes back to: runs of earlier visits to compare with, the versions of a run told apart, a run that was stopped, a
// record that was opened before a reload, and a key that is gone after one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, compareWith, download, drop, runTask, startPage, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { MISSING, answerAsOpenAi, enterKey } from './lib/openai.mjs';
import { reply, withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { inFolder } from './lib/stored.mjs';
import { leftIn } from './lib/tier.mjs';

const box = (page) => page.getByRole('textbox', { name: 'Task' });
const said = (page, text) => page.locator('#transcript').getByText(text).first().waitFor();
const acts = (page) => page.getByRole('group', { name: 'This answer' }).last();
const ending = (page) => page.getByRole('region', { name: 'How it ended' }).last();
const choice = (page) => page.getByRole('button', { name: 'Compare with…' });
const comparison = (page) => page.getByRole('region', { name: 'Comparison' });
const rail = (page) => page.getByRole('navigation', { name: 'Runs', exact: true });

/** Waits until the app has its files: before, it does not take what is dropped. */
const ready = (page) => page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });

const withSettings = (settings, context, body) => withSite((site) => {
  const localStorage = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }];
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] };
  return withPage(site.app, { ...context, context: contextOf(context.look ?? 'wide', { storageState }) }, async (page) => {
    await ready(page);
    return body(page, site);
  });
});

/** Opens the app with a scripted model. */
const withModel = (steps, body, look = 'wide') => withScript(steps, (baseUrl) => (
  withSettings({ provider: 'openai', base_url: baseUrl, model: 'scripted' }, { look, reach: [baseUrl] }, body)
));

/** Loads the page anew at an address. */
async function visit(page, url) {
  await page.goto('about:blank');
  await page.goto(url);
}

for (const look of Object.keys(LOOKS)) {
  test(`every stored run can be compared, the likely ones first, and versions are told apart: ${look}`, { skip: leftIn(look) }, () => withModel([
    { text: 'It is **two**, as far as I see.' }, { text: 'It is **three**, as far as I see.' },
    { text: 'It is two.' }, { text: 'It is nine.' },
  ], async (page) => {
    const shoot = camera(page, 'again', look);
    await runTask(page, 'Add.');
    await acts(page).getByRole('button', { name: 'Regenerate' }).click();
    await said(page, 'three');
    await acts(page).waitFor();
    const version = page.url();
    await startPage(page);
    await runTask(page, 'Add.');
    await startPage(page);
    await runTask(page, 'Multiply.');
    await storedToTheEnd(page, 4);

    await visit(page, version);
    await acts(page).waitFor();
    if (look === 'phone') await page.getByRole('button', { name: 'Replay' }).click();
    await choice(page).waitFor();
    // The palette lists the runs, the likely ones first, and searches them.
    await choice(page).click();
    const search = page.getByRole('dialog', { name: 'Find an action or a run' });
    await search.getByRole('option').nth(2).waitFor();
    const rows = await search.getByRole('option').evaluateAll((all) => all.map((row) => [...row.children].map((part) => part.textContent)));
    assert.deepEqual(rows.map(([, kind]) => kind), ['Versions of this run', 'The same task', 'Other runs']);
    const [original, same, other] = rows.map(([text]) => text.replace('Compare with: ', ''));
    const groups = rows.map(([text, kind]) => [kind, [text.replace('Compare with: ', '')]]);
    await page.keyboard.type('multiply');
    await search.getByRole('option').nth(1).waitFor({ state: 'detached' });
    assert.ok((await search.getByRole('option').first().innerText()).includes(other));
    await page.keyboard.press('Escape');
    await choice(page).and(page.locator(':focus')).waitFor();
    assert.match(original, /^Version 1 of 2, original · 1 turn, complete · Today \d\d:\d\d$/);
    assert.match(same, /^1 turn, complete · Today \d\d:\d\d · scripted$/);
    assert.match(other, /^Multiply\. · 1 turn, complete · Today/);

    // It is opened when it is chosen.
    await compareWith(page, original);
    await comparison(page).getByRole('columnheader', { name: 'The original' }).waitFor();
    // The outputs are drawn, and the change goes from the original to this run.
    const outputs = comparison(page).locator('.outputs');
    await outputs.locator('.turn-of', { hasText: 'This run' }).locator('strong', { hasText: 'three' }).waitFor();
    await outputs.locator('.turn-of', { hasText: 'The original' }).locator('strong', { hasText: 'two' }).waitFor();
    await outputs.getByRole('heading', { name: 'Changes in the text, from the original to this run' }).waitFor();
    await outputs.locator('.output del', { hasText: 'two' }).waitFor();
    await outputs.locator('.output ins', { hasText: 'three' }).waitFor();
    assert.deepEqual(await outputs.locator('.fact').allInnerTexts(), ['Only in the original Only in this run']);
    await outputs.scrollIntoViewIfNeeded();
    await shoot('outputs');
    await compareWith(page, other);
    await comparison(page).getByRole('columnheader', { name: 'The other' }).waitFor();
    await page.getByRole('button', { name: 'End the comparison' }).click();
    await said(page, 'three');
    // The palette offers the same runs.
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Find an action or a run' });
    await palette.getByRole('combobox').fill('compare');
    const listed = palette.getByRole('option');
    await listed.filter({ hasText: original }).waitFor();
    const offered = groups.flatMap(([name, texts]) => texts.map((text) => [`Compare with: ${text}`, name]));
    assert.deepEqual(await listed.evaluateAll((all) => all.map(({ children: [text, hint] }) => [text.textContent, hint.textContent])), offered);
    await shoot('palette');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });

    if (look === 'phone') await page.getByRole('button', { name: 'Runs', exact: true }).click();
    const lines = rail(page).locator('.run');
    await lines.filter({ hasText: 'Version 2 of 2, regenerated from turn 1' }).waitFor();
    // The other one is folded below it.
    const others = rail(page).getByRole('button', { name: '1 other version' });
    assert.equal(await lines.filter({ hasText: 'Version' }).count(), 1);
    await others.click();
    await lines.filter({ hasText: 'Version 1 of 2, original' }).waitFor();
    assert.equal(await lines.filter({ hasText: 'Version' }).count(), 2);
    await shoot('list');
  }, look));
}

const held = (text) => ({ chunks: [reply({ text }).slice(0, -3).join('')], hold: true });

for (const look of Object.keys(LOOKS)) {
  let answer;
  const looked = new Promise((resolve) => { answer = resolve; });
  test(`a stopped run says what there is and is finished from its last turn: ${look}`, { skip: leftIn(look) }, () => withModel([
    { text: 'Let me see.', calls: [{ id: 'c1', name: 'calculate', args: { expression: '6*7' } }] },
    held('The answer is **forty'),
    {
      text: 'The answer is **forty-two**.',
      until: looked,
      check: ({ messages }) => {
        assert.match(messages.at(-2).content, /^42\n/);
        assert.deepEqual(messages.at(-1), { role: 'user', content: 'I interrupted your reply. This much had arrived:\n\nThe answer is **forty\n\nWrite the whole reply, beginning with exactly this.' });
      },
    },
  ], async (page) => {
    const shoot = camera(page, 'stopped', look);
    await box(page).fill('Multiply.');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await said(page, 'forty');
    const panel = page.getByRole('complementary', { name: 'Run', exact: true });
    const details = () => (look === 'phone' ? panel.getByRole('button', { name: 'Details' }).click() : undefined);
    await details();
    assert.equal(await page.getByRole('button', { name: 'Wrap up' }).count(), 0, 'what streams in may be the answer');
    await panel.getByRole('button', { name: 'Stop', exact: true }).click();
    await panel.getByText('begun, not finished').waitFor({ state: 'attached' });
    await details();
    await ending(page).getByText('The part of the answer that had arrived is kept.').waitFor();
    const remedies = ending(page).getByRole('group', { name: 'What you can do' });
    assert.deepEqual(await remedies.getByRole('button').allInnerTexts(), ['Finish the answer', 'Quote what arrived', 'Try again']);
    assert.equal(await acts(page).getByRole('button', { name: 'Regenerate' }).count(), 0, 'that is what Finish the answer does');
    await ending(page).scrollIntoViewIfNeeded();
    await shoot('ended');
    // Also on a later visit.
    await storedToTheEnd(page, 1);
    await page.reload();
    await remedies.getByRole('button', { name: 'Finish the answer' }).click();
    // It is a version of its own from its beginning on.
    await page.getByRole('group', { name: 'Version 2 of 2: message added, from turn 2' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Next version' }).isDisabled());
    await shoot('going on');
    answer();
    await said(page, 'forty-two');
    await ending(page).getByText('Done', { exact: true }).waitFor();
  }, look));
}

/** Waits until the dialog that connects a model is open at the key, and says that it is missing. */
async function refused(page) {
  const settings = page.getByRole('dialog', { name: 'Connect a model' });
  const key = settings.getByLabel('API key').and(page.locator(':focus'));
  await key.waitFor();
  await settings.getByText('OpenAI needs a key. A key that is not remembered on this device is gone after a reload: enter it again.').waitFor();
  assert.equal(await key.getAttribute('aria-invalid'), 'true');
}

test('a key that is missing is asked for before anything is sent', () => withSettings({ provider: 'openai', model: 'gpt-5' }, {}, async (page) => {
  const shoot = camera(page, 'key', 'wide');
  const keys = await answerAsOpenAi(page, [{ text: 'Hello.' }]);
  await box(page).fill('Hello?');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await refused(page);
  await shoot('missing');
  await enterKey(page, 'sk-first-0123456789');
  await page.getByText(MISSING).waitFor();
  assert.equal(await box(page).inputValue(), 'Hello?', 'the task is still there');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'Hello.');
  await storedToTheEnd(page, 1);
  // The key was in memory only.
  await page.reload();
  await acts(page).getByRole('button', { name: 'Regenerate' }).click();
  await refused(page);
  assert.deepEqual(keys, ['Bearer sk-first-0123456789']);
}));

test('a run goes on with the key that is entered for it after its page was gone', () => withSettings({ provider: 'openai', model: 'gpt-5', max_turns: '1' }, {}, async (first) => {
  let asked;
  const sent = new Promise((resolve) => { asked = resolve; });
  const call = { id: 'c1', name: 'calculate', args: { expression: '6 * 7' } };
  const keys = await answerAsOpenAi(first, [undefined, { calls: [call] }, { text: 'So far, it is 42.' }, { text: 'It is 42 in the end.' }], asked);
  await first.getByRole('button', { name: 'Settings' }).first().click();
  await enterKey(first, 'sk-first-0123456789');
  await box(first).fill('How much is it?');
  await first.getByRole('button', { name: 'Run', exact: true }).click();
  await sent;
  await first.waitForURL(/#\/run\//);
  const address = first.url();
  await first.close({ runBeforeUnload: false });

  // Resumed.
  const page = await first.context().newPage();
  page.setDefaultTimeout(40000);
  await page.goto(address);
  const resume = page.getByRole('button', { name: 'Resume', exact: true });
  await resume.click();
  await refused(page);
  await enterKey(page, 'sk-second-0123456789');
  await page.getByText(MISSING).waitFor();
  await resume.click();
  await said(page, 'So far, it is 42.');
  await storedToTheEnd(page, 1);

  // Continued with more turns.
  await page.reload();
  const more = page.getByRole('button', { name: /^Continue/ });
  await more.click();
  await refused(page);
  await enterKey(page, 'sk-third-0123456789');
  await more.click();
  await said(page, 'It is 42 in the end.');
  assert.deepEqual(keys, ['first', 'second', 'second', 'third'].map((key) => `Bearer sk-${key}-0123456789`));
}));

const withRecord = (body) => withModel([{ text: 'It is **two**.' }], async (page) => {
  await runTask(page, 'Add.');
  const { text } = await download(page);
  await storedToTheEnd(page, 1);
  await startPage(page);
  await ready(page);
  return inFolder((save) => body(page, text, save));
});
const opened = (page, name) => page.getByText(`Opened ${name} (read-only).`);

test('a record that was opened is there again after a reload, until it is closed', () => withRecord(async (page, text, save) => {
  const listed = (name) => rail(page).getByRole('button', { name: `Close ${name}` });
  const lines = rail(page).locator('.run', { hasText: 'Add.' });
  await drop(page, [save('first.json', text)]);
  await opened(page, 'first.json').waitFor();
  await drop(page, [save('second.json', text)]);
  await opened(page, 'second.json').waitFor();
  await page.reload();
  await said(page, 'two');
  await listed('second.json').waitFor({ state: 'attached' });
  await listed('first.json').waitFor({ state: 'attached' });
  // And the run itself, whose list comes by itself.
  await lines.nth(2).waitFor({ state: 'attached' });
  assert.equal(await lines.count(), 3);
  assert.equal(await lines.nth(0).getAttribute('aria-current'), 'true', 'the one that was shown');
  // One that is not shown stays where it is.
  await page.getByRole('button', { name: /^New run/ }).first().click();
  await page.reload();
  await listed('second.json').waitFor({ state: 'attached' });
  await page.getByRole('heading', { name: START }).waitFor();
  await lines.nth(0).hover();
  await listed('second.json').click();
  await listed('second.json').waitFor({ state: 'detached' });
  await page.reload();
  await listed('first.json').waitFor({ state: 'attached' });
  await lines.nth(1).waitFor({ state: 'attached' });
  assert.equal(await lines.count(), 2);
}));

test('a record that is too large to be kept says so, and stays open until the reload', () => withRecord(async (page, text, save) => {
  await drop(page, [save('large.json', `${text}${' '.repeat(2_100_000)}`)]);
  await page.getByText('Opened large.json (read-only). It is too large to be kept when this page is reloaded.').waitFor();
  await said(page, 'two');
  assert.equal(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => /^turnwise\.record\.\d/.test(key)).length), 0);
}));
