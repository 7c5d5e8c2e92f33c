// The app as a person uses it: by the labels of its buttons and what it shows.
import assert from 'node:assert/strict';
import { withPage } from './browser.mjs';
import { hurriedWorkers } from './hurry.mjs';
import { dist, withSite } from './site.mjs';

export const WIDE = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** After this time a deletion can no longer be undone. */
export const UNDO_MS = 30_000;

/** The heading of the start page, on the first visit and later. */
export const START = /^(An agent for your files|Good (morning|afternoon|evening))/;

let hurried;
/**
 * Opens the app in a fresh context that can reach the app's own files and nothing else. `pace`: the demo model takes the time
 * that it takes for a person, for tests that do something in the middle of a run.
 */
export const withApp = ({ pace = false, ...options }, body) => withSite((site) => withPage(site.app, options, async (page) => {
  await page.getByRole('textbox', { name: 'Task' }).waitFor();
  return body(page, site);
}), { mounts: pace ? {} : (hurried ??= hurriedWorkers(dist)) });

/** Clicks the example with that title. Once there are runs, the examples are folded. */
export async function beginExample(page, title) {
  const folded = page.locator('details:not([open]) > summary').filter({ hasText: 'Examples' });
  const example = page.getByRole('button', { name: title });
  await example.or(folded).first().waitFor();
  if (await folded.isVisible()) await folded.click();
  await example.click();
}

/** Clicks the example task with that title, once its files are there, and waits until its run has ended. */
export async function runExample(page, title) {
  await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
  await beginExample(page, title);
  await ended(page);
}

/** Loads the page anew without the address of a run: a reload would stay there. */
export const startPage = (page) => page.goto(page.url().split('#')[0]);

export async function runTask(page, task) {
  await page.getByRole('textbox', { name: 'Task' }).fill(task);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await ended(page);
}

/** Waits until `count` runs are stored to their end: the page shows an end a moment before it is stored. */
export const storedToTheEnd = (page, count) => untilStored(page, (runs, least) => runs.filter(({ ended }) => ended).length >= least, count);

/** The headers of all stored runs, from the database; the page's list may not have been read yet. */
export const storedRuns = (page) => page.evaluate(async () => {
  // Opening a missing database would create it.
  if (!(await indexedDB.databases()).some(({ name }) => name === 'turnwise')) return [];
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const asked = db.transaction('runs').objectStore('runs').getAll();
  const runs = await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
  db.close();
  return runs.map((text) => JSON.parse(text));
});

/** Waits until `holds(headers, argument)` is true for the headers of all stored runs. */
export async function untilStored(page, holds, argument) {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const headers = await storedRuns(page);
    if (holds(headers, argument)) return;
    assert.ok(performance.now() < deadline, `stored is ${JSON.stringify(headers)}`);
    await page.waitForTimeout(50);
  }
}

/** The paths of the files that new runs start with, as they are stored. */
const kept = (page) => page.evaluate(async () => {
  if (!(await indexedDB.databases()).some(({ name }) => name === 'turnwise')) return [];
  const request = indexedDB.open('turnwise');
  const db = await new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const asked = db.transaction('workspaces').objectStore('workspaces').get('kept');
  const text = await new Promise((resolve) => { asked.onsuccess = () => resolve(asked.result); });
  db.close();
  return JSON.parse(text ?? '[]').map(({ path }) => path).sort();
});

/** Waits until exactly these files are stored for new runs. */
export async function untilKept(page, paths) {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const now = await kept(page);
    if (JSON.stringify(now) === JSON.stringify(paths)) return;
    assert.ok(performance.now() < deadline, `kept is ${JSON.stringify(now)}`);
    await page.waitForTimeout(50);
  }
}

/** The button that shows the turns of a run that has an answer, or folds them. */
export const work = (page) => page.locator('.work').last();

/** Shows the turns of every run on the page that has an answer. */
export async function showTurns(page) {
  await page.locator('.page[data-ended]').last().waitFor();
  const folded = page.locator('.work[aria-expanded="false"]');
  while (await folded.count()) await folded.first().click();
}

/** Waits until the end of the run is drawn, the transcript first, what depends on it in later frames, and shows its turns. */
const ended = async (page) => {
  await answered(page);
  await showTurns(page);
};

/** Waits until the end of the run is drawn, and leaves its turns folded. */
export const answered = async (page) => {
  await page.getByRole('region', { name: 'How it ended' }).last().waitFor({ timeout: 60000 });
  await page.locator('.page[data-ended]').last().waitFor();
};

/** Reads the run from the page: turns with their calls and counter lines, and the fields of its ending. */
export async function shown(page) {
  // Markdown comes from the worker that renders it; until then, texts are shown unformatted.
  await page.waitForFunction(() => !document.querySelector('section.turn .prose.plain'));
  return page.evaluate(read);
}

function read() {
  const text = (element) => element?.textContent.trim();
  // What is drawn, also outside the view, which innerText leaves out; without what can be done with the turn.
  const words = (element) => {
    const found = [];
    for (const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT); walk.nextNode();) if (walk.currentNode.parentElement.checkVisibility() && !walk.currentNode.parentElement.closest('.turn-acts')) found.push(walk.currentNode.data);
    return found.join(' ').replace(/\s+/g, ' ').trim();
  };
  const fields = [...([...document.querySelectorAll('.ending')].at(-1)?.querySelectorAll('.fields code') ?? [])].map(text);
  return {
    turns: [...document.querySelectorAll('section.turn')].map((turn) => ({
      level: turn.dataset.level,
      text: words(turn),
      calls: [...turn.querySelectorAll('.call[data-tool]')].map((call) => call.dataset.tool),
      counter: text(turn.querySelector('.counter')),
    })),
    reason: fields[0],
    outcome: fields[1],
    source: fields[2],
  };
}

/** Drops real files or folders of this machine on the page, as a file manager would. */
export async function drop(page, paths) {
  const session = await page.context().newCDPSession(page);
  const { width, height } = page.viewportSize();
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await session.send('Input.dispatchDragEvent', { type, x: width / 2, y: height / 2, data: { items: [], files: paths, dragOperationsMask: 1 } });
  }
  await session.detach();
}

/** Clicks Download and, for a run, the format; returns the file. */
/** Compares the open run with the one at an index of the palette's list, or with this text in its row. */
export async function compareWith(page, which = 0) {
  await page.getByRole('button', { name: 'Compare with…' }).click();
  const palette = page.getByRole('dialog', { name: 'Find an action or a run' });
  const rows = palette.getByRole('option', { name: /^Compare with: / });
  await (typeof which === 'number' ? rows.nth(which) : rows.filter({ hasText: which })).click();
  await page.getByRole('region', { name: 'Comparison' }).waitFor();
}

export async function download(page, format = 'Turnwise trajectory') {
  const button = page.getByRole('button', { name: 'Download', exact: true }).first();
  const [file] = await Promise.all([page.waitForEvent('download'), pick(page, button, format)]);
  return { name: file.suggestedFilename(), text: (await contents(file)).toString() };
}

async function pick(page, button, format) {
  const menu = await button.getAttribute('aria-haspopup');
  await button.click();
  // A plan has only one format, and no menu.
  if (menu) await page.getByRole('menuitem', { name: format }).click();
}

export async function contents(file) {
  const chunks = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk);
  return Buffer.concat(chunks);
}
