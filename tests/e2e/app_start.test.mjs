// The start page on the first visit and later; connecting a model; what goes with a task; the list of runs; being offline.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTask, startPage, storedToTheEnd, withApp } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const box = (page) => page.getByRole('textbox', { name: 'Task' });
const heading = (page, name) => page.getByRole('heading', { name, level: 1 });
const focused = (locator) => locator.and(locator.page().locator(':focus')).waitFor();

/** Opens the app with these settings. `reach`: the addresses that it may ask. */
const withSettings = (settings, { look = 'wide', reach = [], storage = {}, context = {}, expect = [] } = {}, body) => withSite((site) => {
  const localStorage = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }, ...Object.entries(storage).map(([name, value]) => ({ name, value }))];
  const storageState = { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] };
  return withPage(site.app, { reach, expect, context: contextOf(look, { storageState, ...context }) }, async (page) => {
    await box(page).waitFor();
    return body(page, site);
  });
});
const withModel = (steps, options, body) => withScript(steps, (baseUrl) => withSettings({ provider: 'openai-compatible', base_url: baseUrl, model: 'scripted' }, { ...options, reach: [baseUrl] }, (page, site) => body(page, { ...site, baseUrl })));

for (const look of Object.keys(LOOKS)) {
  test(`the start page explains itself first, and later is a place to work: ${look}`, { skip: leftIn(look) }, () => withModel([{ text: 'One.' }, { text: 'Two.' }], { look }, async (page) => {
    const shoot = camera(page, 'start', look);
    await heading(page, /^Good (morning|afternoon|evening)$/).waitFor();
    const examples = page.getByRole('region', { name: 'Example tasks' });
    assert.equal(await examples.getByRole('button', { name: 'Tools over files' }).isVisible(), false);
    await runTask(page, 'First task');
    await storedToTheEnd(page, 1);
    await startPage(page);
    await runTask(page, 'Second task');
    await storedToTheEnd(page, 2);
    await startPage(page);
    const recent = page.getByRole('region', { name: 'Recent runs' });
    await recent.getByRole('button').nth(1).waitFor();
    assert.deepEqual(await recent.locator('.title').allTextContents(), ['Second task', 'First task']);
    await shoot('lived-in');
    await examples.getByText('Examples').click();
    await examples.getByRole('button', { name: 'Tools over files' }).waitFor();
    await recent.getByRole('button', { name: 'First task' }).click();
    await page.locator('#transcript').getByText('One.').waitFor();
  }));

  test(`the first visit: what it is, the demo, the way to a model: ${look}`, { skip: leftIn(look) }, () => withApp({ context: contextOf(look) }, async (page) => {
    await heading(page, 'An agent for your files, in your browser').waitFor();
    await page.getByText('It always ends with an answer, even at its limit.').waitFor();
    await page.getByText('It replays a script so you can try everything without a key.').waitFor();
    await page.getByRole('button', { name: 'Tools over files' }).waitFor();
    await camera(page, 'start', look)('first');
    await page.getByRole('button', { name: 'Connect a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a model' });
    await focused(dialog.getByLabel(/^API key/));
    await dialog.getByText('It goes only to api.openai.com').waitFor();
    await camera(page, 'connect', look)('key');
    // Whoever only looks keeps the demo.
    await page.keyboard.press('Escape');
    await heading(page, 'An agent for your files, in your browser').waitFor();
  }));
}

test('another address: the scheme is added, the test says that it works', () => withScript([{ text: 'ready' }], (baseUrl) => withSettings({}, { reach: [baseUrl] }, async (page) => {
  await page.getByRole('button', { name: 'Connect a model' }).click();
  const dialog = page.getByRole('dialog', { name: 'Connect a model' });
  await dialog.getByText('Another address', { exact: true }).click();
  await dialog.getByText('Enter the address first.').waitFor();
  const address = dialog.getByLabel('Base URL');
  await focused(address);
  await address.fill(baseUrl.replace('http://', ''));
  await dialog.getByRole('combobox', { name: 'Model', exact: true }).fill('any');
  assert.equal(await address.inputValue(), baseUrl);
  await dialog.getByRole('button', { name: 'Test', exact: true }).click();
  await dialog.getByText(/^It works: “ready”/).waitFor();
  await camera(page, 'connect', 'wide')('works');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await heading(page, /^Good /).waitFor();
})));

test('a server that wants a key says so, and not that it refused one; no model named is said, too', () => withScript([
  { status: 401, body: JSON.stringify({ error: { message: 'Missing bearer authentication.' } }), check: (_, headers) => assert.equal(headers.authorization, undefined) },
], (baseUrl) => withSettings({ provider: 'openai-compatible', base_url: baseUrl, model: '' }, { reach: [baseUrl], expect: [/auth_error: 127\.0\.0\.1:\d+ wants a key/, /run failed: llm_error .*wants a key/] }, async (page) => {
  await page.getByTitle('Model and settings').click();
  const dialog = page.getByRole('dialog', { name: 'Settings' });
  await dialog.getByText('Saved. No model is named: the server chooses one.').waitFor();
  await dialog.getByRole('button', { name: 'Test', exact: true }).click();
  await dialog.getByText(/wants a key, and none was sent \(401\)\./).waitFor();
})));

test('on this computer: nothing is asked before that way is chosen; then Ollama and LM Studio are looked for', () => {
  const asked = [];
  return withSettings({}, { reach: ['http://localhost:11434', 'http://localhost:1234'] }, async (page) => {
    await page.context().route(/^http:\/\/localhost:(11434|1234)\//, (route) => {
      asked.push(new URL(route.request().url()).port);
      const headers = { 'access-control-allow-origin': '*' };
      return route.request().url().includes('11434')
        ? route.fulfill({ headers, contentType: 'application/json', body: JSON.stringify({ object: 'list', data: [{ id: 'qwen3:8b' }, { id: 'llama3.2' }] }) })
        : route.fulfill({ status: 404, headers, body: '' });
    });
    await page.getByRole('button', { name: 'Connect a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a model' });
    await focused(dialog.getByLabel(/^API key/));
    assert.deepEqual(asked, []);
    await dialog.getByText('On this computer', { exact: true }).click();
    await dialog.getByText('Ollama: 2 models.').waitFor();
    await dialog.getByText(/^LM Studio: not found/).waitFor();
    await camera(page, 'connect', 'wide')('local');
    await dialog.getByRole('button', { name: 'Use Ollama' }).click();
    assert.equal(await dialog.getByRole('combobox', { name: 'Model', exact: true }).inputValue(), 'llama3.2', 'the suggested model is not installed');
  });
});

test('a key that is gone after a reload is asked for at the task box, before Enter', () => withSettings({ provider: 'openai', model: 'gpt-5.4-mini' }, {}, async (page) => {
  const chip = page.getByRole('button', { name: 'gpt-5.4-mini · key needed' });
  await chip.waitFor();
  await camera(page, 'start', 'wide')('key-needed');
  await chip.click();
  const key = page.getByRole('dialog', { name: 'Connect a model' }).getByLabel(/^API key/);
  await focused(key);
  await key.fill('sk-test');
  await page.getByRole('button', { name: 'Done' }).click();
  await chip.waitFor({ state: 'detached' });
}));

test('a long pasted text becomes a file, and text again', () => withModel([{ text: 'Read.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'Sum up pasted-1.txt') }], {}, async (page) => {
  const paste = (text) => box(page).evaluate((area, text) => {
    const data = new DataTransfer();
    data.setData('text/plain', text);
    return area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
  const chip = page.getByRole('group', { name: 'Your files' }).getByText('pasted-1.txt');
  await box(page).fill('Sum up');
  assert.equal(await paste('x'.repeat(4000)), true, 'left to the browser');
  const long = 'word '.repeat(1000);
  assert.equal(await paste(long), false);
  await chip.waitFor();
  assert.equal(await box(page).inputValue(), 'Sum up pasted-1.txt ');
  await camera(page, 'start', 'wide')('pasted');
  await page.getByRole('button', { name: 'Keep as text' }).click();
  await chip.waitFor({ state: 'detached' });
  assert.equal(await box(page).inputValue(), `Sum up ${long} `);
  await box(page).fill('Sum up');
  await paste(long);
  await chip.waitFor();
  await runTask(page, await box(page).inputValue());
  await page.getByText('1 file in the workspace').waitFor();
}));

test('one button adds files, a folder or pictures', () => withApp({ context: contextOf('wide') }, async (page) => {
  const add = page.getByTitle('Add files, a folder or pictures');
  await add.click();
  const menu = page.getByRole('menu');
  assert.deepEqual(await menu.locator('.name').allTextContents(), ['Files', 'A folder', 'Pictures']);
  await camera(page, 'start', 'wide')('add');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), menu.getByRole('menuitem', { name: /^Files/ }).click()]);
  await chooser.setFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('Mine.') });
  await page.getByRole('group', { name: 'Your files' }).getByText('mine.txt').waitFor();
  await page.getByRole('button', { name: 'Remove mine.txt' }).click();
  await page.getByRole('group', { name: 'Your files' }).waitFor({ state: 'detached' });
}));

for (const look of Object.keys(LOOKS)) {
  test(`the list: a line each, pinned ones first, limited to a time; the task box is one step of Tab away: ${look}`, { skip: leftIn(look) }, () => withModel(
    Array.from({ length: 6 }, (_, n) => ({ text: `Answer ${n}.` })), { look }, async (page) => {
      const rail = page.getByRole('navigation', { name: 'Runs' });
      for (let n = 0; n < 6; n += 1) {
        await startPage(page);
        await runTask(page, `Task ${n} has a title that is too long for one line of the list of runs`);
        await storedToTheEnd(page, n + 1);
      }
      await startPage(page);
      await box(page).waitFor();
      await page.keyboard.press('Tab');
      await focused(page.getByRole('link', { name: 'Skip to the task box' }));
      await page.keyboard.press('Enter');
      await focused(box(page));
      if (look === 'phone') await page.getByRole('button', { name: 'Runs', exact: true }).click();
      await rail.locator('.run').nth(5).waitFor();
      for (const { height } of await rail.locator('.run').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().toJSON()))) {
        assert.ok(height <= (look === 'phone' ? 46 : 36), `a line of ${height} px`);
      }
      await camera(page, 'list', look)('six');
      await rail.locator('li', { hasText: 'Task 2' }).getByLabel('Rename, pin or delete').click();
      await rail.getByRole('button', { name: 'Pin to the top' }).locator('visible=true').click();
      await rail.getByRole('heading', { name: 'Pinned' }).waitFor();
      assert.match(await rail.locator('.run b').first().innerText(), /^Task 2 /);
      await page.reload();
      if (look === 'phone') await page.getByRole('button', { name: 'Runs', exact: true }).click();
      await rail.getByRole('heading', { name: 'Pinned' }).waitFor();
      await rail.getByLabel('Time').selectOption('Last 7 days');
      assert.equal(await rail.locator('.run').count(), 6);
      if (look === 'phone') return;
      await rail.getByRole('button', { name: 'Keys' }).click();
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    }));
}

test('on a touch screen no keys are shown, and nothing is to be dropped', () => withApp({ context: contextOf('phone', { hasTouch: true, isMobile: true }) }, async (page) => {
  await page.getByRole('button', { name: 'Runs', exact: true }).tap();
  assert.equal(await page.locator('.rail kbd:visible').count(), 0);
  await page.getByRole('navigation', { name: 'Runs' }).getByRole('button', { name: /^Files/ }).tap();
  const files = page.getByRole('dialog', { name: 'Files' });
  await files.getByRole('button', { name: 'Choose files' }).waitFor();
  assert.equal(await files.getByText(/^Drop files/).isVisible(), false);
}));

test('offline, a run waits for the connection without using up its attempts, and goes on; it can be stopped', () => withScript([{ text: 'Hello.' }, { text: 'Here I am.' }], (baseUrl) => {
  const named = baseUrl.replace('127.0.0.1', 'models.example');
  return withSettings({ provider: 'openai-compatible', base_url: named, model: 'scripted' }, { reach: [named], expect: [/ERR_INTERNET_DISCONNECTED .*favicon/] }, async (page) => {
    // What loads on first use is there; the app keeps it with its service worker.
    await runTask(page, 'Hello?');
    await page.getByRole('button', { name: /^New run/ }).click();
    await page.context().setOffline(true);
    const ask = async (task) => {
      await box(page).fill(task);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('Offline: goes on when the connection is back').waitFor();
    };
    await ask('Are you there?');
    await camera(page, 'offline', 'wide')('waits');
    await page.context().setOffline(false);
    await page.locator('#transcript').getByText('Here I am.').waitFor();
    assert.equal(await page.locator('.attempt').count(), 0);
    await page.context().setOffline(true);
    await page.getByRole('button', { name: /^New run/ }).click();
    await ask('And now?');
    await page.keyboard.press('Escape');
    await page.locator('.composer').getByRole('button', { name: /^(Stop|Cancel)/ }).last().click();
    await page.getByRole('region', { name: 'How it ended' }).last().waitFor();
    await page.context().setOffline(false);
  });
}));

test('a slow model: the seconds are told, and that it may be loading', async () => {
  let answer;
  const until = new Promise((resolve) => { answer = resolve; });
  await withModel([{ text: 'At last.', until }], {}, async (page) => {
    await page.clock.install();
    await box(page).fill('Are you awake?');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Waiting for the model').first().waitFor();
    // From here, the page's time goes on only as it is told, however slow the machine is.
    await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1));
    await page.clock.runFor(5_000);
    await page.getByText(/^Waiting for the model, [4-9] s$/).waitFor();
    await page.clock.runFor(8_000);
    await page.getByText(/^Waiting for the model, 1\d s\. It may be loading$/).waitFor();
    await page.clock.resume();
    answer();
    await page.locator('#transcript').getByText('At last.').waitFor();
  });
});

/** Drags a file over the task box, until the panel is there. */
async function drag(page) {
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver']) {
    await session.send('Input.dispatchDragEvent', { type, x: 700, y: 300, data: { items: [], files: ['/tmp/none.txt'], dragOperationsMask: 1 } });
  }
  await page.getByRole('heading', { name: 'Drop it here' }).waitFor();
}

test('while files are dragged, the page stays in view', () => withApp({ context: contextOf('wide') }, async (page) => {
  await drag(page);
  const veil = await page.locator('.drop').evaluate((drop) => getComputedStyle(drop).backgroundColor);
  assert.match(veil, /(?:\/|,) ?0?\.\d+\)$/, veil);
  await page.screenshot({ path: 'tests/e2e/shots/start-dragged.png' });
}));

test('what may be dropped can be read beside the task box, wherever on the page that is', () => withModel([], {}, async (page) => {
  for (const size of [{ width: 1280, height: 720 }, { width: 1440, height: 900 }, { width: 820, height: 1180 }]) {
    await page.setViewportSize(size);
    await drag(page);
    const [panel, field] = await Promise.all(['.drop-panel', '.composer .field'].map((one) => page.locator(one).boundingBox()));
    assert.ok(panel.y >= field.y + field.height, `${size.width}x${size.height}: the panel begins at ${panel.y}, the task box ends at ${field.y + field.height}`);
  }
  await page.screenshot({ path: 'tests/e2e/shots/start-dragged-beside.png' });
}));
