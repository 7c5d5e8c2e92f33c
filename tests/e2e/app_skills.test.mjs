// Skills in the app: the one that is shipped, an archive, a folder, those of a site with their digests; what each may do; a run that
// reads one, runs a script and ends with its result; what stays after a reload, and what is gone after removing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { drop, runTask, startPage, storedToTheEnd } from './lib/app.mjs';
import { zip } from './lib/documents.mjs';
import { LOOKS, camera, contextOf } from './lib/looks.mjs';
import { leftIn } from './lib/tier.mjs';
import { withScripted } from './lib/scripted.mjs';

const COUNT = {
  'SKILL.md': `---
name: count
description: Counts the words of a text. Use it when asked for a length.
colour: red
allowed-tools: Read
metadata:
  may-finish: scripts/submit.js
---
Count the words with count_words, then submit the number with count_submit.
`,
  'scripts/words.js': '// Counts the words of `text`.\ninput.text.split(/\\s+/).filter(Boolean).length',
  'scripts/submit.js': "console.log('<<<FINAL_RESULT>>>' + JSON.stringify({ words: input.words }) + '<<<END_FINAL_RESULT>>>')",
  'scripts/plot.py': 'print(1)',
  'references/rules.md': 'A number is a word.',
  'assets/logo.png': '\0\x01',
};
const inFolder = (folder) => Object.entries(COUNT).map(([name, text]) => [`${folder}/${name}`, text]);

const disk = mkdtempSync(path.join(tmpdir(), 'turnwise-skills-'));
after(() => rmSync(disk, { recursive: true, force: true }));
const archive = path.join(disk, 'count.skill');
writeFileSync(archive, zip(inFolder('count')));
for (const [name, text] of inFolder('count')) {
  mkdirSync(path.dirname(path.join(disk, name)), { recursive: true });
  writeFileSync(path.join(disk, name), text);
}

/** A site with these files, which lets every page read them. */
async function withFiles(files, body) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const content = files[request.url];
    return response.writeHead(content === undefined ? 404 : 200, { 'access-control-allow-origin': '*' }).end(content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await body(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The app with a model server that answers with these steps. */
const withModel = (steps, { look = 'wide', ...options }, body) => withScripted((more) => contextOf(look, more), steps, body, options);

const openSkills = async (page) => {
  await page.getByTitle('Model and settings').click();
  await page.getByRole('tab', { name: 'Skills' }).click();
};
const names = (page) => page.locator('.skill .check label').allTextContents();
const skill = (page, name) => page.locator('.skill').filter({ has: page.getByRole('checkbox', { name }) });
const choose = async (page, button, files) => {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: button }).click()]);
  await chooser.setFiles(files);
};
/** The names of the skills that are stored. */
const stored = (page) => page.evaluate(async () => {
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const asked = db.transaction('workspaces').objectStore('workspaces').get('skills');
  const text = await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
  db.close();
  return JSON.parse(text ?? '[]').map(({ path: file, hash }) => `${file} ${hash}`).sort();
});
/** Waits until what is stored is another state than `before`; returns it. */
async function storedOtherThan(page, before) {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const now = await stored(page);
    if (JSON.stringify(now) !== JSON.stringify(before)) return now;
    assert.ok(performance.now() < deadline, `stored is still ${JSON.stringify(now)}`);
    await page.waitForTimeout(50);
  }
}
const loaded = (page) => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => /\/(skills|yaml|archive)\.js$/.test(name)).sort());

for (const look of Object.keys(LOOKS)) {
  test(`skills are added, shown and removed: ${look}`, { skip: leftIn(look) }, () => withModel([], { look }, async (page) => {
    const shoot = camera(page, 'skills', look);
    await openSkills(page);
    await page.getByText('A skill is a folder with instructions').waitFor();
    assert.deepEqual(await loaded(page), [], 'nothing loads before it is used');
    await shoot('empty');
    await page.getByRole('button', { name: 'Add “research-documents”' }).click();
    await skill(page, 'research-documents').waitFor();
    assert.deepEqual(await loaded(page), ['/skills.js', '/turnwise/skills.js', '/turnwise/yaml.js']);
    const first = await storedOtherThan(page, []);

    await choose(page, 'Choose files', [archive]);
    await skill(page, 'count').waitFor();
    assert.deepEqual(await names(page), ['research-documents', 'count']);
    await storedOtherThan(page, first);
    await skill(page, 'count').getByText('What it may do').click();
    const details = await skill(page, 'count').locator('.skill-details').innerText();
    for (const says of [/can call only read_file;/, /count_submit\s*may end the run/, /count_words\s*\n?\s*Counts the words/, /scripts\/plot\.py\s*does not run here/, /assets\/logo\.png\s*not a text/, /its field colour is not in the specification/, /From count\.skill/]) {
      assert.match(details, says);
    }
    await skill(page, 'count').getByText('references/rules.md').click();
    await skill(page, 'count').getByText('A number is a word.').waitFor();
    await shoot('details');

    await skill(page, 'research-documents').getByRole('button', { name: 'Remove' }).click();
    assert.deepEqual(await names(page), ['count']);
    await page.getByRole('button', { name: 'Undo' }).click();
    assert.deepEqual(await names(page), ['research-documents', 'count']);

    // A folder of the same name takes the place of the skill.
    await choose(page, 'Choose a folder', path.join(disk, 'count'));
    await page.getByText('Replaced the skill count.').waitFor();
    assert.deepEqual(await names(page), ['research-documents', 'count']);
    // What is no skill says so, and changes nothing.
    writeFileSync(path.join(disk, 'notes.zip'), zip([['notes/a.md', 'x']]));
    await choose(page, 'Choose files', [path.join(disk, 'notes.zip')]);
    await page.getByText('there is no SKILL.md. It was left out.').waitFor();
    assert.deepEqual(await names(page), ['research-documents', 'count']);
  }));
}

test('a run reads a skill, runs a script, and ends with its result; the skills stay', () => {
  const results = ({ messages }) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
  const call = (id, name, args) => ({ calls: [{ id, name, args }] });
  const tools = ({ tools: all }) => all.map((tool) => tool.function.name);
  const steps = [
    { ...call('a', 'read_skill', { name: 'count' }), check: (request) => {
      assert.match(request.messages[0].content, /\n- count: Counts the words of a text\./);
      assert.ok(['read_skill', 'count_words', 'count_submit'].every((name) => tools(request).includes(name)));
    } },
    { ...call('b', 'count_words', { text: 'one two  three' }), check: (request) => assert.match(results(request)[0], /^Count the words with count_words/) },
    { ...call('c', 'count_submit', { words: 3 }), check: (request) => assert.equal(results(request)[1], '=> 3') },
    // The follow-up after a reload has the skill, too.
    { text: 'Three.', check: (request) => assert.ok(tools(request).includes('count_submit')) },
    // A new run without it has not.
    { text: 'None.', check: (request) => assert.ok(!tools(request).includes('read_skill') && !request.messages[0].content.includes('Skills are')) },
    { text: 'Gone.', check: (request) => assert.ok(!tools(request).includes('read_skill')) },
  ];
  return withModel(steps, {}, async (page) => {
    await openSkills(page);
    await choose(page, 'Choose files', [archive]);
    await skill(page, 'count').waitFor();
    const on = await storedOtherThan(page, []);
    await page.getByRole('button', { name: 'Done' }).click();
    await runTask(page, 'How long is "one two three"?');
    await page.locator('.ending code').filter({ hasText: 'final_result' }).first().waitFor({ state: 'attached' });
    const lines = await page.locator('.call > summary .line').allTextContents();
    assert.match(lines[0], /^Readthe skill count/);
    assert.match(lines[1], /^count_wordsone two three/);
    const script = page.locator('.call').nth(1); // the first one reads the skill, whose text names it, too
    await script.locator('summary').click();
    await script.locator('.detail').getByText('input.text.split').waitFor();
    assert.match(await script.locator('.detail').innerText(), /Arguments[^]*"text": "one two {2}three"[^]*Script[^]*=> 3/);
    await storedToTheEnd(page, 1);
    await page.reload();
    await runTask(page, 'And again?');
    await startPage(page);
    await openSkills(page);
    await skill(page, 'count').getByRole('checkbox').click();
    await page.getByText('0 of 1 on').waitFor();
    const off = await storedOtherThan(page, on);
    await page.getByRole('button', { name: 'Done' }).click();
    await runTask(page, 'Without');
    await startPage(page);
    await openSkills(page);
    // The settings are a part of the page that loads on first use.
    await skill(page, 'count').waitFor();
    assert.deepEqual([await names(page), await skill(page, 'count').getByRole('checkbox').isChecked()], [['count'], false]);
    await skill(page, 'count').getByRole('button', { name: 'Remove' }).click();
    assert.deepEqual(await storedOtherThan(page, off), []);
    await page.reload();
    await openSkills(page);
    await page.getByText('A skill is a folder with instructions').waitFor();
    assert.deepEqual(await names(page), []);
    await page.getByRole('button', { name: 'Done' }).click();
    await startPage(page);
    await runTask(page, 'After removing');
  });
});

test('the skills of a site are listed, and loaded only if their digest is right', () => {
  const packed = zip(inFolder('count'));
  const sha = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const index = { skills: [
    { name: 'count', type: 'archive', description: 'Counts <b>words</b>.\u202e', url: '/count.zip', digest: sha(packed) },
    { name: 'forged', type: 'archive', description: 'Other bytes than listed.', url: '/count.zip', digest: sha('other') },
  ] };
  return withFiles({ '/.well-known/agent-skills/index.json': JSON.stringify(index), '/count.zip': packed }, (base, asked) => withModel([], { reach: [base], expect: [/404/] }, async (page) => {
    await openSkills(page);
    const address = page.getByRole('textbox', { name: 'From a site' });
    await address.fill(new URL(base).host);
    await address.press('Enter');
    const offers = page.getByRole('list', { name: 'Skills of this site' }).getByRole('listitem');
    await offers.first().waitFor();
    assert.deepEqual(await offers.locator('.words > *').allTextContents(), ['count', 'Counts <b>words</b>.[U+202E]', `from ${new URL(base).host}`, 'forged', 'Other bytes than listed.', `from ${new URL(base).host}`]);
    assert.deepEqual(asked, ['/.well-known/agent-skills/index.json'], 'nothing is loaded before it is chosen');
    await page.getByRole('button', { name: 'Add: forged' }).click();
    await page.getByText(/Nothing was added: .*its digest is sha256:.* it was not loaded\./).waitFor();
    assert.deepEqual([await names(page), await stored(page)], [[], []]);
    await page.getByRole('button', { name: 'Add: count' }).click();
    await skill(page, 'count').waitFor();
    await skill(page, 'count').getByText('What it may do').click();
    await skill(page, 'count').getByText(`From ${base}/count.zip`).waitFor();
    await address.fill(`${base}/none/`);
    await page.getByRole('button', { name: 'List its skills' }).click();
    await offers.first().waitFor();
    await address.fill(`${base}/none/index.json`);
    await page.getByRole('button', { name: 'List its skills' }).click();
    await page.getByText('Nothing was listed: ').waitFor();
  }));
});

test('what is dropped and holds a skill is asked about', () => withModel([], {}, async (page) => {
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  const question = page.getByRole('group', { name: 'What was dropped' });
  const packed = path.join(disk, 'packed.zip');
  writeFileSync(packed, zip(inFolder('count')));
  for (const dropped of [path.join(disk, 'count'), packed, archive]) {
    await drop(page, [dropped]);
    await question.getByText(`${path.basename(dropped)} holds a skill.`).waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
  }
  await drop(page, [packed]);
  await question.getByRole('button', { name: 'Add as files for the agent' }).click();
  await page.getByText(/^Added 6 files/).waitFor();
  await drop(page, [path.join(disk, 'count')]);
  await question.getByRole('button', { name: 'Add as a skill' }).click();
  await skill(page, 'count').waitFor();
  // On this page, it is clear what is meant.
  await drop(page, [packed]);
  await page.getByText('Replaced the skill count.').waitFor();
  assert.equal(await question.count(), 0);
}));
