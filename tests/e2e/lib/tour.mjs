// A walk through the app: one run of each kind and every dialog, stopped at each state that people see. What is checked there
// (accessibility, sizes of targets, pictures) is up to the visitor.
import { START, beginExample, compareWith, runTask, showTurns } from './app.mjs';
import { withPage } from './browser.mjs';
import { contextOf } from './looks.mjs';
import { withScript } from './script-server.mjs';
import { withSite } from './site.mjs';

const ANSWER = [
  'Two files differ, and **one line** decides:', '',
  '```js', 'const total = rows.reduce((sum, { price }) => sum + price, 0);', '```', '',
  '| file | rows | total |', '|---|---:|---:|', '| orders.csv | 12 | 340 |', '| report.pdf | 11 | 310 |', '',
  '- [x] read both files', '- [ ] ask about row 7', '', '> The report leaves out one order.', '', 'See https://example.org/orders for the rest.',
].join('\n');

const NOTES = '# Orders\n\nRow 7 is missing from the report.\n\n- ask the shop\n- mend the script\n';

const call = (id, name, args) => ({ id, name, args });

/** The states, in the order of the walk. */
export const STATES = [
  'start', 'draft', 'running', 'answer', 'limit', 'failed', 'permission', 'replay', 'branch', 'compare', 'list', 'undo', 'plan-editor', 'plan',
  'settings-model', 'settings-run', 'settings-tools', 'files', 'preview', 'palette', 'keys', 'log', 'insight',
];

/**
 * Walks through the app in a look, and calls `visit(page, state)` in each of `STATES`. `context`: options of Playwright's
 * context besides those of the look.
 */
export function tour(look, visit, context = {}) {
  let release;
  const until = new Promise((resolve) => { release = resolve; });
  const steps = [
    { text: 'First I add up what the file says.', calls: [call('a', 'calculate', { expression: '12 * 28.33' }), call('b', 'list_files', {})] },
    { text: ANSWER, until },
    { text: 'Working.', calls: [call('c', 'calculate', { expression: '1 + 1' })] },
    { text: 'So far: one sum of two, which is **2**.' },
    { status: 401, body: JSON.stringify({ error: { message: 'Incorrect API key provided. Find yours at https://keys.example.org.', code: 'invalid_api_key' } }) },
    { calls: [call('d', 'write_file', { path: 'plan.md', content: '# Garden\n\n- beans\n- peas\n' })] },
    { text: 'Written.' },
  ];
  return withSite((site) => withScript(steps, (baseUrl) => {
    const value = JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted', seed: '7' });
    const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: [{ name: 'turnwise.settings', value }] }] };
    // A run that takes long asks whether it may notify; how long one takes is up to the machine.
    const options = { reach: [baseUrl], expect: [/401/], context: { ...contextOf(look), storageState, permissions: ['notifications'], ...context } };
    return withPage(site.app, options, (page) => walk(page, (state) => visit(page, state), release));
  }));
}

async function walk(page, visit, release) {
  const task = page.getByRole('textbox', { name: 'Task' });
  const dialog = (name) => page.getByRole('dialog', { name });
  const close = async () => {
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog[open]'));
  };
  const settings = async (change) => {
    await page.getByTitle('Model and settings').click();
    await change();
    await page.getByRole('button', { name: 'Done' }).click();
  };
  const newRun = async () => {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: START }).waitFor();
  };
  /** The list of runs, which is a drawer on a phone. */
  const runs = async () => {
    const open = page.getByRole('button', { name: 'Runs', exact: true });
    if (await open.isVisible()) await open.click();
  };
  const drawn = () => page.waitForFunction(() => !document.querySelector('section.turn .prose.plain'));

  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  await visit('start');
  await task.fill('Why do the report and the orders differ?');
  await visit('draft');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Waiting for the model').first().waitFor();
  await page.locator('.call[data-state=done]').nth(1).waitFor();
  await drawn();
  await visit('running');
  release();
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await page.locator('.prose .code').waitFor();
  await visit('answer');

  await newRun();
  await settings(async () => {
    await page.getByRole('tab', { name: 'Limits' }).click();
    await page.getByLabel('Max turns').fill('1');
  });
  await runTask(page, 'Add what there is.');
  await drawn();
  await visit('limit');

  await newRun();
  await runTask(page, 'Ask with a wrong key.');
  await page.getByRole('group', { name: 'This answer' }).waitFor();
  await visit('failed');

  await newRun();
  await settings(async () => {
    await page.getByRole('tab', { name: 'Limits' }).click();
    await page.getByLabel('Max turns').fill('9');
    await page.getByRole('tab', { name: 'Tools' }).click();
    await page.getByLabel('Changes to files').selectOption('ask');
  });
  await task.fill('Write my garden plan.');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const question = page.getByRole('group', { name: 'Permission needed' });
  await question.getByRole('button', { name: 'Allow', exact: true }).and(page.locator(':enabled')).waitFor();
  await visit('permission');
  await question.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByRole('region', { name: 'How it ended' }).waitFor();

  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByText(/^Step 0 of /).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByText(/^Step 1 of /).waitFor();
  await visit('replay');
  await page.getByRole('button', { name: 'Transcript' }).click();
  await showTurns(page);
  await page.getByRole('button', { name: /^Branch/ }).first().click();
  await page.locator('dialog.branch[open]').waitFor();
  await visit('branch');
  await close();
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.getByText(/^Step \d+ of /).waitFor();
  await compareWith(page);
  // The changes come from a worker.
  await page.getByRole('region', { name: 'Comparison' }).locator('.outputs .output').waitFor();
  await visit('compare');

  await newRun();
  await runs();
  const rail = page.getByRole('navigation', { name: 'Runs', exact: true });
  await rail.getByText('Ask with a wrong key.').waitFor();
  await visit('list');
  const row = rail.locator('li', { hasText: 'Ask with a wrong key.' });
  await row.hover();
  await row.getByLabel('Rename, pin or delete').click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Undo' }).first().waitFor();
  await visit('undo');
  // It would be in the next dialog, for a while.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.keyboard.press('Escape');

  await page.evaluate(() => document.activeElement.blur());
  await runs();
  await rail.getByRole('button', { name: 'New plan' }).click();
  await page.locator('dialog[open]').waitFor();
  await visit('plan-editor');
  await close();
  await settings(async () => { await page.getByRole('radio', { name: /^Demo \(no AI\)/ }).check(); });
  await beginExample(page, /A plan with seven agents/);
  await page.getByRole('region', { name: 'Result of the plan' }).waitFor({ timeout: 90_000 });
  await visit('plan');

  await newRun();
  await page.getByTitle('Model and settings').click();
  await page.getByRole('radio', { name: /^OpenRouter/ }).check();
  await page.getByRole('button', { name: 'Sign in with OpenRouter' }).waitFor();
  await visit('settings-model');
  for (const name of ['Run', 'Tools']) {
    await page.getByRole('tab', { name }).click();
    await visit(`settings-${name.toLowerCase()}`);
  }
  await close();
  await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
  await dialog('Files').getByLabel('Files to add').setInputFiles([['orders.csv', 'order,total\n7,30\n8,310\n'], ['notes.md', NOTES]].map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })));
  await dialog('Files').getByRole('button', { name: 'Remove notes.md' }).waitFor();
  await visit('files');
  await dialog('Files').getByRole('button', { name: 'notes.md', exact: true }).click();
  await dialog('Files').locator('.shown-file + *').waitFor();
  await visit('preview');
  await close();
  // The palette offers Undo for as long as it is possible.
  await page.waitForFunction(() => !localStorage.getItem('turnwise.deleted'));
  await page.keyboard.press('Control+k');
  await dialog('Find an action or a run').getByRole('combobox').and(page.locator(':focus')).waitFor();
  await visit('palette');
  await close();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('?');
  await dialog('Keys').waitFor();
  await visit('keys');
  await close();
  await runs();
  await rail.locator('.run', { hasText: 'Why do the report' }).click();
  await page.getByRole('region', { name: 'How it ended' }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('l');
  await dialog('Log').waitFor();
  await visit('log');
  await close();
  await runs();
  await rail.getByRole('button', { name: 'Insight' }).click();
  await page.getByRole('region', { name: 'Insight' }).waitFor();
  await visit('insight');
}
