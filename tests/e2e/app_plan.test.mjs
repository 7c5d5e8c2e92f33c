// Plans in the app: the example runs to its end, each step's context, a step's transcript, rerunning from a step, cancel, a
// record opened from a file. In both themes and sizes, without axe violations.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { beginExample, WIDE, download, drop, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { assertValidSession } from './lib/session.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

/** Runs a test in the app in each look, with a function that takes a screenshot and runs axe. `options` are those of `withApp`. */
function looked(name, options, body, looks = Object.keys(LOOKS)) {
  for (const look of looks) test(`${name}: ${look}`, { skip: leftIn(look) }, () => withApp({ ...options, context: contextOf(look) }, (page) => body(page, camera(page, 'plan', look))));
}

const node = (page, order) => page.getByRole('button', { name: new RegExp(`^Step ${order} ?, `) });
const begin = (page) => beginExample(page, /A plan with seven agents/);
const ended = (page) => page.getByRole('region', { name: 'Result of the plan' }).waitFor({ timeout: 90000 });
const labels = (page) => page.getByRole('button', { name: /^Step \d+ ?, / }).evaluateAll((all) => all.map((one) => one.textContent));
const told = (page) => page.locator('.told .call[data-order]').evaluateAll((cards) => cards.map((card) => Number(card.dataset.order)));
const details = async (page) => {
  const more = page.getByRole('button', { name: 'Details' });
  if (await more.isVisible()) await more.click();
};

looked('the example: seven steps, two of which are told all that came before', { pace: true }, async (page, shoot) => {
  await shoot('start');
  await begin(page);
  // Checked before the screenshot, which may take as long as the steps before this one.
  await node(page, 6).click();
  await page.getByText('it will receive the results of every earlier step that completes').waitFor();
  await page.getByRole('button', { name: 'Close the step' }).click();
  await page.getByRole('button', { name: /^Step \d ?, .*turn [1-9]/ }).first().waitFor();
  await shoot('running');
  await ended(page);
  const all = await labels(page);
  assert.equal(all.length, 7);
  for (const label of all) assert.match(label, /^Step \d, \w+, (gathers|synthesis): .*\. completed \d+(\.\d)? m?s /);
  assert.equal(all.filter((label) => /, synthesis: .* Received the results of 1, 2, 3, 4(, 5)? and \d\.$/.test(label)).length, 2);
  assert.match(await page.locator('.plan-result .prose').innerText(), /What steps 1, 2, 3, 4, 5 and 6 found/);
  await page.locator('.scroll').evaluate((it) => { it.scrollTop = 0; });
  await shoot('graph');

  await node(page, 6).click();
  assert.deepEqual(await told(page), [1, 2, 3, 4, 5]);
  await page.getByRole('button', { name: 'Close the step' }).click();
  await node(page, 7).click();
  assert.deepEqual(await told(page), [1, 2, 3, 4, 5, 6]);
  const numbers = page.locator('.told .call[data-order="2"]');
  await numbers.locator('summary').click();
  await numbers.locator('.prose').getByText(/numbers\.md/).first().waitFor();
  await page.locator('.as-read summary').first().click();
  assert.match(await page.locator('.as-read .json').innerText(), /session_context/);
  await shoot('step');

  await node(page, 2).click();
  assert.deepEqual(await told(page), []);
  await page.getByText('Only its action').waitFor();
  const did = page.getByRole('region', { name: 'Step transcript' });
  assert.ok(await did.locator('section.turn').count() >= 3);
  assert.ok(await did.locator('.call[data-tool="read_file"]').count() > 0);
  await shoot('transcript');

  await details(page);
  const saved = await download(page);
  const document = JSON.parse(saved.text);
  assertValidSession(document);
  assert.deepEqual(document.steps.map(({ status }) => status), Array(7).fill('completed'));
  assert.deepEqual(document.steps[6].context.session_context.map(({ step_order: order }) => order), [1, 2, 3, 4, 5, 6]);
});

looked('again from a step, from a record too', {}, async (page) => {
  await begin(page);
  await ended(page);
  await node(page, 6).click();
  await page.getByRole('button', { name: 'Run again from this step' }).click();
  const runs = page.getByRole('navigation', { name: 'Runs', exact: true }).getByRole('button', { name: /Write a one-page forecast/ });
  await runs.nth(1).waitFor();
  await ended(page);
  await node(page, 1).click();
  await page.getByText('kept from an earlier run of the plan').waitFor();
  assert.ok(await page.getByRole('region', { name: 'Step transcript' }).locator('section.turn').count() >= 3);
  await node(page, 7).click();
  await page.getByText(/^started (with the plan|.* after it)$/).waitFor();

  const saved = await download(page);
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-'));
  try {
    const put = (name, text) => { writeFileSync(path.join(folder, name), text); return path.join(folder, name); };
    await drop(page, [put('plan.json', saved.text)]);
    await page.getByText('Opened plan.json.').waitFor();
    assert.equal((await labels(page)).length, 7);
    // It stays open after a reload, until it is closed.
    await page.reload();
    await page.getByRole('button', { name: 'Close plan.json', exact: true }).click();
    await runs.nth(2).waitFor({ state: 'detached' });
    await page.reload();
    await runs.nth(1).waitFor();
    assert.equal(await runs.count(), 2);
    await drop(page, [put('plan.json', saved.text)]);
    await page.getByText('Opened plan.json.').waitFor();
    await page.reload();
    await node(page, 7).click();
    assert.equal((await labels(page)).length, 7);
    assert.deepEqual(await told(page), [1, 2, 3, 4, 5, 6]);
    assert.ok(await page.getByRole('region', { name: 'Step transcript' }).locator('section.turn').count() >= 1);
    await page.getByRole('button', { name: 'Run again from this step' }).click();
    await runs.nth(3).waitFor();
    await ended(page);

    await drop(page, [put('newer.json', saved.text.replace('"version": 1', '"version": 9'))]);
    await page.getByText(/newer\.json was not opened\. This record has version 9/).waitFor();
    await drop(page, [put('damaged.json', saved.text.replace('"steps": [', '"steps": 3, "x": ['))]);
    await page.getByText(/damaged\.json was not opened\. This record is damaged/).waitFor();
    const changed = JSON.parse(saved.text);
    changed.steps[0].run.turns[0].content = 'something else';
    await drop(page, [put('changed.json', JSON.stringify(changed))]);
    await page.getByText('Opened changed.json.').waitFor();
    await node(page, 7).click();
    await page.getByRole('button', { name: 'Run again from this step' }).click();
    await page.getByText(/Cannot resume changed\.json: the run of step 1 does not replay/).waitFor();
  } finally {
    rmSync(folder, { recursive: true });
  }
}, ['wide']);

looked('Stop ends every step at once, Wrap up starts no other', { pace: true }, async (page, shoot) => {
  await begin(page);
  await node(page, 1).and(page.getByRole('button', { name: /turn [1-9]/ })).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('You stopped the plan.', { exact: true }).waitFor();
  const all = await labels(page);
  assert.match(all[0], /\. stopped /);
  assert.match(all[6], /\. not started /);
  await shoot('stopped');

  await page.getByRole('button', { name: 'New run' }).first().click();
  await begin(page);
  await node(page, 1).and(page.getByRole('button', { name: /turn [1-9]/ })).waitFor();
  await page.getByRole('button', { name: 'Wrap up' }).click();
  await page.getByText('You asked it to wrap up; some steps completed.', { exact: true }).waitFor({ timeout: 60000 });
  assert.match((await labels(page))[6], /\. not started /);
}, ['wide']);

const editor = async (page) => {
  const drawer = page.getByRole('button', { name: 'Runs', exact: true });
  if (await drawer.isVisible()) await drawer.click();
  await page.getByRole('button', { name: 'New plan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Plan' });
  await dialog.waitFor();
  return dialog;
};
const row = (dialog, name) => dialog.getByRole('group', { name, exact: true });
const wrong = (field) => field.locator('.wrong p').allTextContents();

looked('the editor names every fault beside its field, as JSON too, and keeps what is written', {}, async (page, shoot) => {
  let dialog = await editor(page);
  await dialog.getByText('Fix 2 fields to run.').waitFor();
  await dialog.getByText('The demo model is scripted and cannot draft a plan.').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Draft the plan' }).isDisabled());
  assert.ok(await dialog.getByRole('button', { name: 'Run the plan' }).isDisabled());
  await dialog.getByRole('button', { name: 'Use the example' }).click();
  await dialog.getByText('Saved in this browser.').waitFor();
  assert.equal(await dialog.locator('[data-what=agent]').count(), 7);
  await shoot('editor');

  // The graph follows what is written, and says what each step receives.
  const nodes = dialog.locator('.sketch .graph:visible .node');
  assert.equal(await nodes.count(), 7);
  await dialog.getByRole('button', { name: 'Add a step' }).click();
  await nodes.nth(7).waitFor();
  assert.equal(await row(dialog, 'step 8').getByLabel('Agent').inputValue(), 'Competitors', 'a new step is no synthesis');
  const lines = dialog.locator('.sketch .graph:visible .line');
  const before = await lines.count();
  const needs = row(dialog, 'step 8').locator('[data-field=dependencies] select');
  await needs.selectOption('2');
  const chip = row(dialog, 'step 8').getByRole('button', { name: 'Remove 2 from Depends on' });
  await chip.waitFor();
  assert.ok(await lines.count() > before, 'a line to it');
  await row(dialog, 'step 8').locator('[data-field=tools] select').selectOption('calculate');
  await row(dialog, 'step 8').getByRole('button', { name: 'Remove calculate from Only these tools' }).waitFor();
  await chip.press('Enter');
  await chip.waitFor({ state: 'detached' });
  await needs.and(page.locator(':focus')).waitFor();
  await row(dialog, 'step 8').getByRole('button', { name: 'Remove step 8' }).click();
  await nodes.nth(7).waitFor({ state: 'detached' });

  // A plan that was pasted may have what cannot be chosen.
  await dialog.getByRole('button', { name: 'JSON' }).click();
  const pasted = JSON.parse(await dialog.getByLabel('The plan as JSON').inputValue());
  Object.assign(pasted.steps[2], { dependencies: [1, 3, 9, 'x'] });
  Object.assign(pasted.steps[4], { tools: ['read_file', 'telepathy'] });
  await dialog.getByLabel('The plan as JSON').fill(JSON.stringify(pasted));
  await dialog.getByRole('button', { name: 'Form' }).click();
  await row(dialog, 'step 4').getByLabel('Order').fill('two');
  await row(dialog, 'agent News').getByLabel('Name').fill('Numbers');
  await row(dialog, 'agent Market').getByLabel('Turns').fill('0');
  assert.deepEqual(await wrong(row(dialog, 'step 3')), [
    'Agentthere is no agent "News"; there are Company, Competitors, Forecaster, Market, Numbers, Report. Choose one of the agents, or add it.',
    'Depends ongot "x"; expected a step order. Enter a value of that type.',
    'Depends on3 is not smaller than 3, the order of the step itself. Use only smaller orders, or give this step a larger order.',
    'Depends onno step has order 9. Use the order of an existing step.',
  ]);
  assert.match((await wrong(row(dialog, 'step 5'))).join(), /there is no tool "telepathy"/);
  assert.match((await wrong(row(dialog, 'step two'))).join(), /got "two"; expected a whole number, 1 or more/);
  assert.match((await wrong(row(dialog, 'agent Numbers').nth(1))).join(), /an agent named "Numbers" already exists/);
  assert.match((await wrong(row(dialog, 'agent Market'))).join(), /got 0; expected a whole number, 1 or more/);
  assert.equal(await row(dialog, 'step 3').locator('[data-field=dependencies] select').getAttribute('aria-invalid'), 'true');
  await dialog.getByText('Fix 6 fields to run.').waitFor();
  await row(dialog, 'step 3').locator('[data-field=dependencies] select').scrollIntoViewIfNeeded();
  await shoot('faults');

  // The draft survives closing the dialog, and reloading the page.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.reload();
  await page.getByRole('textbox', { name: 'Task' }).waitFor();
  dialog = await editor(page);
  await row(dialog, 'step 3').locator('[data-field=dependencies] .chip').nth(3).waitFor();
  assert.deepEqual(await row(dialog, 'step 3').locator('[data-field=dependencies] .chip').allInnerTexts(), ['1', '3', '9', 'x']);

  await dialog.getByRole('button', { name: 'JSON' }).click();
  const text = dialog.getByLabel('The plan as JSON');
  assert.match(await dialog.locator('.faults').innerText(), /Step 3, dependencies/);
  await shoot('json');
  await text.fill('{ "agents": ');
  await dialog.locator('.faults').getByText(/EOF while parsing/).waitFor();
  await dialog.getByRole('button', { name: 'Form' }).click();
  await dialog.getByRole('alert').getByText(/This is not JSON/).waitFor();
  await text.fill(JSON.stringify({
    agents: { Reader: { kind: 'gather', tools: ['calculate'] }, Writer: { kind: 'synthesis', tools: [] } },
    steps: [{ order: 1, agent: 'Reader', action: 'What is 6 * 7?' }, { order: 5, agent: 'Writer', action: 'Sum it up' }],
  }));
  await dialog.getByRole('button', { name: 'Form' }).click();
  await dialog.getByRole('button', { name: 'Add a step' }).click();
  await row(dialog, 'step 6').getByLabel('Action').fill('What is 5 MJ in kWh?');
  await row(dialog, 'step 6').getByLabel('Agent').selectOption('Reader');
  await row(dialog, 'step 6').locator('[data-field=dependencies] select').selectOption('1');
  await row(dialog, 'step 5').getByRole('button', { name: 'Remove step 5' }).click();
  await dialog.getByRole('button', { name: 'Run the plan' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await ended(page);
  assert.equal((await labels(page)).length, 2);
  await node(page, 6).click();
  assert.deepEqual(await told(page), [1]);
  await page.getByText('The results of the steps it depends on: step 1.').waitFor();

  await details(page);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.waitFor();
  assert.equal(await row(dialog, 'step 6').getByLabel('Action').inputValue(), 'What is 5 MJ in kWh?');
});

test('a model drafts a plan, which is shown before it runs', () => withSite((site) => {
  const steps = [
    { order: 1, agent: 'Researcher', action: 'Find the sources', dependencies: [], tools: [] },
    { order: 2, agent: 'Writer', action: 'Write the overview', dependencies: [], tools: [] },
  ];
  const report = (content) => ({ calls: [{ id: 'r', name: 'final_report', args: { format: 'json', content } }] });
  const script = [
    {
      ...report({ steps }),
      check: (request) => {
        assert.match(JSON.stringify(request.messages), /An overview of tides/);
        assert.deepEqual(request.tools.map(({ function: { name } }) => name), ['final_report']);
      },
    },
    { status: 401, body: '{"error":{"message":"bad key"}}' },
  ];
  return withScript(script, (baseUrl) => {
    const stored = { provider: 'openai', base_url: baseUrl, model: 'scripted' };
    const origins = [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value: JSON.stringify(stored) }] }];
    const context = { viewport: WIDE, storageState: { cookies: [], origins } };
    return withPage(site.app, { reach: [baseUrl], context, expect: [/^(warning|error): turnwise: /] }, async (page) => {
      const dialog = await editor(page);
      const draft = dialog.getByRole('button', { name: 'Draft the plan' });
      assert.ok(await draft.isDisabled(), 'without a task');
      await dialog.getByLabel('Draft from a task').fill('An overview of tides');
      await draft.click();
      await dialog.getByText('Draft ready. Check it before you run it; nothing has run yet.').waitFor();
      assert.equal(await row(dialog, 'step 2').getByLabel('Action').inputValue(), 'Write the overview');
      assert.equal(await page.locator('.run').count(), 0, 'nothing runs');
      await draft.click();
      await dialog.getByText(/The model's draft cannot be used/).waitFor();
      assert.equal(await row(dialog, 'step 2').getByLabel('Action').inputValue(), 'Write the overview', 'the old one stays');
    });
  });
}));
