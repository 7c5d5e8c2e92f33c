// A folder of the person's own in the app: opened by the picker (here a folder of OPFS, whose handle is the same), read where
// it is, written only after a yes, never copied into the stored runs; its limits; the space that is used. Also whose question it is:
// in which thread, and what it may not do once the folder is closed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showTurns, storedToTheEnd, untilStored } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';
import { left, leftIn } from './lib/tier.mjs';

const KEY = 'sk-planted-4f9a8b7c6d5e4f3a2b1c';
const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const call = (id, name, args) => ({ id, name, args });

/** In the page: the picker gives a folder of OPFS, filled with these files. */
function pickOpfs([files, options]) {
  window.picked = [];
  window.showDirectoryPicker = async (given) => {
    window.picked.push(given);
    if (options.abort && window.picked.length === 1) throw new DOMException('The user aborted a request.', 'AbortError');
    const rootFolder = await navigator.storage.getDirectory();
    const folder = await rootFolder.getDirectoryHandle('garden', { create: true });
    if (!window.filled) {
      window.filled = true;
      for (const [path, text] of Object.entries(files)) {
        const parts = path.split('/');
        let at = folder;
        for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part, { create: true });
        const stream = await (await at.getFileHandle(parts.at(-1), { create: true })).createWritable();
        await stream.write(text);
        await stream.close();
      }
    }
    return folder;
  };
  if (options.deny) FileSystemHandle.prototype.requestPermission = async () => 'denied';
}

/** The text of a file in the folder, on the disk. */
const onDisk = (page, path) => page.evaluate(async (path) => {
  let at = await (await navigator.storage.getDirectory()).getDirectoryHandle('garden');
  const parts = path.split('/');
  try {
    for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part);
    return await (await (await at.getFileHandle(parts.at(-1))).getFile()).text();
  } catch {
    return null;
  }
}, path);

/** Another program writes a file of the folder. */
const putOnDisk = (page, name, text) => page.evaluate(async ([name, text]) => {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('garden');
  const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
  await stream.write(text);
  await stream.close();
}, [name, text]);
const allow = (page) => question(page).getByRole('button', { name: 'Allow', exact: true });
const shown = (page) => question(page).locator('.diff .line').evaluateAll((all) => all.map((one) => one.querySelector('.sign').textContent + one.querySelector('.text').textContent));

const FILES = { 'plan.md': 'Tomatoes: 4\nBeans: 10\n', 'beds/north.md': 'Shade until noon.\n', '.git/config': 'secret-of-git', 'node_modules/x.js': 'x' };

const withFolder = (steps, { look = 'wide', files = FILES, options = {}, expect = [] }, body) => withScript(steps, (baseUrl) => withSite((site) => {
  const settings = { provider: 'openai', base_url: baseUrl, model: 'scripted' };
  const local = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }, { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: KEY }) }];
  const context = contextOf(look, { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: local }] } });
  return withPage(site.app, { reach: [baseUrl], context, expect }, async (page) => {
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    await page.evaluate(pickOpfs, [files, options]);
    await showFiles(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Open a folder' }).click();
    return body(page);
  });
}));

const showFiles = async (page) => {
  if (!await page.getByRole('dialog').isVisible()) await page.locator('.composer').getByRole('button', { name: /^Files/ }).click();
};
const paths = async (page) => {
  await showFiles(page);
  const rows = await page.locator('.file .path').allTextContents();
  await page.keyboard.press('Escape');
  return rows;
};
const question = (page) => page.getByRole('group', { name: 'Permission needed' });
const ended = (page) => page.getByRole('region', { name: 'How it ended' }).last().waitFor({ timeout: 60_000 }).then(() => showTurns(page));

/** Reloads the page, which stays at its run, and resumes it. */
async function reopen(page) {
  await untilStored(page, (runs) => runs.length === 1);
  await page.reload();
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Resume' }).first().click();
}
const newRun = (page) => page.getByRole('button', { name: 'New run' }).locator('visible=true').first().click();

async function start(page, task) {
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

for (const look of Object.keys(LOOKS)) {
  test(`the task box names the open folder, shows its files and closes it: ${look}`, { skip: leftIn(look) }, () => withFolder([], { look }, async (page) => {
    const own = page.getByRole('group', { name: 'Your files' });
    await page.getByRole('status').getByText('Opened garden: 2 files').waitFor();
    await page.keyboard.press('Escape');
    await own.getByRole('button', { name: 'garden', exact: true }).waitFor();
    await camera(page, 'folder', look)('chip');
    await own.getByRole('button', { name: 'garden', exact: true }).click();
    await page.getByRole('list', { name: 'Open folders' }).getByText('2 files').waitFor();
    await page.keyboard.press('Escape');
    await own.getByRole('button', { name: 'Close garden' }).click();
    await own.waitFor({ state: 'detached' });
    await page.locator('textarea:focus').waitFor();
    assert.deepEqual((await paths(page)).filter((path) => path.startsWith('garden/')), []);
    assert.equal(await onDisk(page, 'plan.md'), FILES['plan.md']);
  }));

  test(`a folder is read where it is, and written after a yes: ${look}`, { skip: leftIn(look) }, () => withFolder([
    { calls: [call('r1', 'read_file', { path: 'garden/plan.md' }), call('r2', 'list_files', { prefix: 'garden/' })] },
    { calls: [call('w1', 'write_file', { path: 'garden/plan.md', content: 'Tomatoes: 6\nBeans: 10\n' })], check: (request) => {
      const [plan, list] = results(request);
      assert.match(plan, /Tomatoes: 4/);
      assert.match(list, /garden\/beds\/north\.md {2}18 B/);
      assert.doesNotMatch(list, /\.git|node_modules/);
    } },
    { calls: [call('w2', 'write_file', { path: 'garden/beds/south.md', content: 'Full sun.\n' })], check: (request) => assert.match(results(request)[2], /^Replaced garden\/plan\.md/) },
    { calls: [call('w3', 'write_file', { path: 'summary.md', content: 'Six tomatoes.' })], check: (request) => assert.match(results(request)[3], /^Error: the user refused this call/) },
    { text: 'Done.', check: (request) => assert.match(results(request)[4], /^Wrote summary\.md/) },
  ], { look }, async (page) => {
    const shoot = camera(page, 'folder', look);
    await page.getByRole('status').getByText('Opened garden: 2 files').waitFor();
    assert.deepEqual(await page.evaluate(() => window.picked), [{ mode: 'read' }]);
    await page.getByRole('list', { name: 'Open folders' }).getByText('2 files').waitFor();
    await page.getByText(/^Tasks and their files are stored in this browser: .+ of at most .+ are used\.$/).waitFor();
    await shoot('files');
    await page.keyboard.press('Escape');
    await start(page, 'Plan two more tomatoes.');
    await question(page).getByRole('heading', { name: 'write_file wants to change garden/plan.md on your disk' }).waitFor();
    assert.equal(await onDisk(page, 'plan.md'), FILES['plan.md'], 'nothing is written before the answer');
    await shoot('question');
    await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
    await question(page).getByRole('heading', { name: 'write_file wants to create garden/beds/south.md on your disk' }).waitFor();
    assert.equal(await onDisk(page, 'plan.md'), 'Tomatoes: 6\nBeans: 10\n');
    await question(page).getByRole('button', { name: 'Refuse' }).click();
    await ended(page);
    assert.equal(await onDisk(page, 'beds/south.md'), null);
    const names = await paths(page);
    assert.ok(['garden/plan.md', 'garden/beds/north.md', 'summary.md'].every((name) => names.includes(name)), `${names}`);
    // The folder is not copied: only the task's own files are stored.
    await storedToTheEnd(page, 1);
    const stored = await page.evaluate(async () => {
      const request = indexedDB.open('turnwise');
      const db = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
      const all = (store) => new Promise((resolve) => { const asked = db.transaction(store).objectStore(store).getAll(); asked.onsuccess = () => resolve(asked.result); });
      const [workspaces, contents] = [await all('workspaces'), await all('files')];
      db.close();
      return { workspaces: workspaces.join(), contents: contents.map((bytes) => new TextDecoder().decode(bytes)).join() };
    });
    assert.ok(stored.workspaces.includes('summary.md') && !stored.workspaces.includes('garden/'), stored.workspaces);
    assert.ok(stored.contents.includes('Six tomatoes.') && !stored.contents.includes('Shade until noon.'));
  }));
}

test('one yes for the run covers later writes to the folder; a closed folder is gone from the files, not from the disk', () => withFolder([
  { calls: [call('w1', 'write_file', { path: 'garden/a.md', content: 'a' })] },
  { calls: [call('w2', 'write_file', { path: './garden/b.md', content: 'b' })] },
  { text: 'Done.', check: (request) => assert.match(results(request)[1], /^Wrote garden\/b\.md/) },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Write two files.');
  await question(page).getByLabel('This run').check();
  await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
  await ended(page);
  assert.deepEqual([await onDisk(page, 'a.md'), await onDisk(page, 'b.md')], ['a', 'b']);
  await showFiles(page);
  await page.getByRole('button', { name: 'Read again: garden' }).click();
  await page.getByRole('list', { name: 'Open folders' }).getByText('4 files').waitFor();
  await page.getByRole('button', { name: 'Close: garden' }).click();
  await page.getByRole('list', { name: 'Open folders' }).waitFor({ state: 'detached' });
  assert.ok(!(await paths(page)).some((name) => name.startsWith('garden/')));
  assert.equal(await onDisk(page, 'a.md'), 'a');
}));

test('a write that the disk refuses is an answer for the model, without a question, and the workspace shows the old file', () => withFolder([
  { calls: [call('w1', 'write_file', { path: 'garden/plan.md/deeper.md', content: 'x' })] },
  { text: 'Done.', check: (request) => assert.match(results(request)[0], /^Error: .*garden\/plan\.md/) },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Write below a file.');
  await ended(page);
  assert.equal(await onDisk(page, 'plan.md'), FILES['plan.md']);
  assert.ok(!(await paths(page)).includes('garden/plan.md/deeper.md'));
}));

test('a large folder is cut with a sentence; a closed picker says nothing', { skip: left }, async () => {
  const many = Object.fromEntries(Array.from({ length: 5_010 }, (_, n) => [`f${n}.txt`, '']));
  await withFolder([], { files: many }, async (page) => {
    await page.getByText(/^Opened garden: 5,?000 files, .*It has more: the limit is 5,?000 files/).waitFor({ timeout: 60_000 });
    // So many rows would keep the page busy for seconds.
    assert.equal(await page.locator('.file').getByText('on your disk').count(), 300);
    await page.getByRole('button', { name: 'Show 4,700 more files' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.file .tag').length === 5000);
  });
  await withFolder([], { options: { abort: true } }, async (page) => {
    await page.waitForFunction(() => window.picked.length === 1);
    // Every message since then.
    await page.evaluate(() => {
      window.told = [];
      const told = document.querySelector('dialog[open] [role="status"]');
      new MutationObserver(() => window.told.push(told.textContent)).observe(told, { childList: true, subtree: true, characterData: true });
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Open a folder' }).click();
    await page.getByRole('status').getByText('Opened garden').waitFor();
    assert.ok((await page.evaluate(() => window.told)).every((text) => text.startsWith('Opened garden')));
  });
});

test('the browser\'s no is a no: the call is refused, with a sentence', () => withFolder([
  { calls: [call('w1', 'write_file', { path: 'garden/plan.md', content: 'x' })] },
  { text: 'Done.', check: (request) => assert.match(results(request)[0], /^Error: the user refused this call/) },
], { options: { deny: true } }, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Write.');
  await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByRole('status').getByText('The browser did not permit changes to garden, so the call was refused.').waitFor();
  await ended(page);
  assert.equal(await onDisk(page, 'plan.md'), FILES['plan.md']);
}));

test('after a reload the folder is closed: what was allowed before is not written anywhere', async () => {
  let asked;
  const second = new Promise((resolve) => { asked = resolve; });
  await withFolder([
    { calls: [call('w1', 'write_file', { path: 'garden/a.md', content: 'a' })] },
    { chunks: [], hold: true, check: () => asked() },
    { calls: [call('w2', 'write_file', { path: 'garden/b.md', content: 'b' })], check: (request) => assert.match(results(request)[0], /^Wrote garden\/a\.md/) },
    { text: 'Done.', check: (request) => assert.match(results(request)[1], /garden\/b\.md was not written: the user's folder garden is not open any more/) },
  ], { expect: [/turn 2, attempt 1: interrupted: the page was closed/] }, async (page) => {
    await page.getByRole('list', { name: 'Open folders' }).waitFor();
    await page.keyboard.press('Escape');
    await start(page, 'Write two files.');
    await question(page).getByLabel('This run').check();
    await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
    await second;
    await reopen(page);
    await ended(page);
    assert.ok(!(await paths(page)).includes('garden/b.md'));
    assert.equal(await onDisk(page, 'b.md'), null);
  });
});

test('a question that outlives its page says that the folder is closed, and a yes cannot write', { skip: left }, () => withFolder([
  { calls: [call('w1', 'write_file', { path: 'garden/c.md', content: 'c' })] },
  { text: 'Done.', check: (request) => assert.match(results(request)[0], /^Error: the user refused this call/) },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Write a file.');
  await question(page).waitFor();
  await reopen(page);
  await question(page).getByText('The folder garden is not open any more, so this call cannot write to it.').waitFor();
  await camera(page, 'folder', 'wide')('closed');
  await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByRole('status').getByText('The folder garden is not open any more, so the call was refused.').waitFor();
  await ended(page);
  assert.equal(await onDisk(page, 'c.md'), null);
}));

for (const look of Object.keys(LOOKS)) {
  test(`a question is in its own thread, and other threads lead there: ${look}`, { skip: left }, () => withFolder([
    { calls: [call('w1', 'write_file', { path: 'garden/a.md', content: 'a' })] },
    { text: 'Two.' },
    { text: 'One.', check: (request) => assert.match(results(request)[0], /^Error: the user refused this call/) },
  ], { look }, async (page) => {
    await page.getByRole('list', { name: 'Open folders' }).waitFor();
    await page.keyboard.press('Escape');
    // A click in the moment in which the question appears was meant for something else.
    await page.evaluate(() => new MutationObserver((_, observer) => {
      const allow = document.querySelector('.permit .btn.primary');
      if (!allow) return;
      observer.disconnect();
      allow.click();
    }).observe(document.body, { childList: true, subtree: true }));
    await start(page, 'Write the first file.');
    await question(page).locator('.btn.primary:enabled').waitFor();
    assert.equal(await onDisk(page, 'a.md'), null);
    await newRun(page);
    await question(page).waitFor({ state: 'detached' });
    const leads = page.getByRole('button', { name: /^Waits for your permission: ?Write the first file\.$/ });
    await leads.waitFor();
    await start(page, 'Say two.');
    await ended(page);
    await camera(page, 'folder', look)('elsewhere');
    // Closed here, it is closed everywhere.
    await showFiles(page);
    await page.getByRole('button', { name: 'Close: garden' }).click();
    await page.getByRole('list', { name: 'Open folders' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await leads.click();
    await question(page).getByText('The folder garden is not open any more').waitFor();
    assert.ok(!(await paths(page)).some((name) => name.startsWith('garden/')));
    await question(page).getByRole('button', { name: 'Allow', exact: true }).click();
    await ended(page);
    assert.equal(await onDisk(page, 'a.md'), null);
  }));
}

test('what was shown is written, also if another call has changed what it was made of', () => withFolder([
  { calls: [call('w1', 'write_file', { path: 'data.json', content: '["safe"]' })] },
  { calls: [
    call('q1', 'query_json', { path: 'data.json', filter: '.[]', save_as: 'garden/out.json' }),
    call('c1', 'run_code', { code: 'for (let n = 0; n < 3e6; n += 1) n | 0;\nawait tools.write_file({ path: "data.json", content: JSON.stringify(["other"]) }); "written"' }),
  ] },
  { text: 'Done.', check: (request) => assert.match(results(request)[1], /^Wrote garden\/out\.json/m) },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Save the result.');
  await question(page).getByRole('heading', { name: 'query_json wants to create garden/out.json on your disk' }).waitFor();
  assert.ok((await shown(page)).some((line) => line.includes('"safe"')), `${await shown(page)}`);
  await page.locator('.call[data-state="done"][data-tool="run_code"]').waitFor({ timeout: 60_000 });
  await allow(page).click();
  await ended(page);
  assert.match(await onDisk(page, 'out.json'), /^"safe"\s*$/);
}));

test('a file that another program changes while the question is open is asked about again', () => withFolder([
  { calls: [call('e1', 'edit_file', { path: 'garden/plan.md', old: 'Beans: 10', new: 'Beans: 12' })] },
  { calls: [call('w1', 'write_file', { path: 'garden/new.md', content: 'mine\n' })] },
  { calls: [call('w2', 'write_file', { path: 'garden/late.md', content: 'mine\n' })] },
  { text: 'Done.', check: (request) => assert.deepEqual(results(request).map((text) => text.split(':')[0]), ['Edited garden/plan.md', 'Replaced garden/new.md', 'Replaced garden/late.md']) },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await putOnDisk(page, 'late.md', 'not read yet\n');
  await start(page, 'Change three files.');
  await allow(page).waitFor();
  assert.deepEqual((await shown(page)).slice(1), ['Tomatoes: 4', '\u2212Beans: 10', '+Beans: 12']);
  await putOnDisk(page, 'plan.md', 'Leeks: 3\nBeans: 10\n');
  await allow(page).click();
  await question(page).getByText('A file has changed since you were asked').waitFor();
  assert.equal(await onDisk(page, 'plan.md'), 'Leeks: 3\nBeans: 10\n');
  assert.deepEqual((await shown(page)).slice(1), ['Leeks: 3', '\u2212Beans: 10', '+Beans: 12']);
  await camera(page, 'folder', 'wide')('again');
  await allow(page).click();
  await question(page).getByRole('heading', { name: 'write_file wants to create garden/new.md on your disk' }).waitFor();
  assert.equal(await onDisk(page, 'plan.md'), 'Leeks: 3\nBeans: 12\n');
  assert.equal(await onDisk(page, 'new.md'), null, 'no file is made for the question');
  await putOnDisk(page, 'new.md', 'theirs\n');
  await allow(page).click();
  await question(page).getByRole('heading', { name: 'write_file wants to change garden/new.md on your disk' }).waitFor();
  assert.deepEqual((await shown(page)).slice(1), ['\u2212theirs', '+mine']);
  await allow(page).click();
  // A file that was not there when the folder was read.
  await question(page).getByRole('heading', { name: 'write_file wants to change garden/late.md on your disk' }).waitFor();
  assert.deepEqual((await shown(page)).slice(1), ['\u2212not read yet', '+mine']);
  await allow(page).click();
  await ended(page);
  assert.deepEqual([await onDisk(page, 'new.md'), await onDisk(page, 'late.md')], ['mine\n', 'mine\n']);
}));

test('what was left out of the folder, and a name that misleads, is refused without a question', () => withFolder([
  { calls: ['.git/config', '.GIT/config', 'beds/.git', 'node_modules/x.js', '.git./config', 'GIT~1/config', 'tam\u202edm.sh'].map((name, n) => call(`w${n}`, 'write_file', { path: `garden/${name}`, content: 'x' })) },
  { text: 'Done.', check: (request) => {
    const [last, ...others] = results(request).toReversed();
    assert.match(last, /^Error: the path contains U\+202E/);
    for (const text of others) assert.match(text, /^Error: garden\/.* was not written: /);
  } },
], {}, async (page) => {
  await page.getByRole('list', { name: 'Open folders' }).waitFor();
  await page.keyboard.press('Escape');
  await start(page, 'Set up the repository.');
  await ended(page);
  assert.deepEqual([await onDisk(page, '.git/config'), await onDisk(page, 'node_modules/x.js')], ['secret-of-git', 'x']);
  assert.deepEqual([await onDisk(page, 'beds/.git'), await onDisk(page, '.GIT/config')], [null, null]);
}));

const SCRIPT = `#!/bin/sh\n${'# '.padEnd(1_005, '-')} ; echo HIDDEN1\n${'echo ok\n'.repeat(420)}echo HIDDEN2\nif [ "$a" = "x\u202e \u2066# admin\u2069 \u2066" ]; then\n`;

for (const look of Object.keys(LOOKS)) {
  test(`a long change can be allowed once all of it was shown: ${look}`, { skip: leftIn(look) }, () => withFolder([
    { calls: [call('w1', 'write_file', { path: 'garden/setup.sh', content: SCRIPT })] },
    { text: 'Done.' },
  ], { look }, async (page) => {
    await page.getByRole('list', { name: 'Open folders' }).waitFor();
    await page.keyboard.press('Escape');
    await start(page, 'Write the setup script.');
    const everything = question(page).getByRole('button', { name: 'Show everything' });
    await everything.waitFor();
    // Longer than the moment in which no answer counts.
    await page.waitForTimeout(700);
    assert.equal(await allow(page).isDisabled(), true);
    const why = await page.evaluate(() => document.getElementById(document.querySelector('.permit .btn.primary').getAttribute('aria-describedby')).textContent);
    assert.match(why, /^\d+ lines are not shown yet\. You can allow this once everything is shown\.$/);
    for (const scope of ['This tool', 'This run', 'This call']) {
      await question(page).getByLabel(scope).check();
      assert.equal(await allow(page).isDisabled(), true, scope);
    }
    await camera(page, 'folder', look)('long');
    await everything.focus();
    await page.keyboard.press('Enter');
    await everything.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Changes', 'the keys scroll the change');
    const text = (await question(page).locator('.diff .text').allTextContents()).join('\n');
    assert.ok(text.includes('HIDDEN2') && text.replaceAll('\n', '').includes('; echo HIDDEN1'), text.slice(-200));
    assert.ok(text.includes('"x[U+202E] [U+2066]# admin[U+2069] [U+2066]"') && !/[\u202a-\u202e\u2066-\u2069]/.test(text), text.slice(-200));
    await page.locator('.permit .btn.primary:enabled').waitFor();
    await page.keyboard.press('End');
    await camera(page, 'folder', look)('everything');
    await allow(page).click();
    await ended(page);
    assert.equal(await onDisk(page, 'setup.sh'), SCRIPT);
  }));
}
