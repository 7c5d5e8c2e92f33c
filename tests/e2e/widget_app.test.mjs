// The docs agent together with the rest of Turnwise: the project's own documentation as a book with the agent in it, and the
// record of a conversation that is handed over to the app.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ADVICE, withPage } from './lib/browser.mjs';
import { hurriedWorkers } from './lib/hurry.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist, withSite } from './lib/site.mjs';
import { answered, ask, launcher, page, scripted, withHost } from './lib/widget.mjs';

const shots = path.resolve(import.meta.dirname, 'shots');
mkdirSync(shots, { recursive: true });

/** Opens the app from the menu; returns its page and the lines that its console gets. */
async function openApp(tab) {
  await tab.getByRole('button', { name: 'Menu' }).click();
  const [app] = await Promise.all([tab.waitForEvent('popup'), tab.getByRole('button', { name: 'Open in the app' }).click()]);
  const lines = [];
  app.on('console', (message) => ADVICE.test(message.text()) || lines.push(message.text()));
  app.on('pageerror', (error) => lines.push(`${error}`));
  return { app, lines };
}

test('this documentation is a book whose agent answers without a key, and the app opens what it did', () => withSite((site) => withPage(`${site.url}demo/index.html`, {}, async (tab) => {
  await launcher(tab).click();
  await tab.getByText('Demo: scripted, not an AI').waitFor();
  await tab.getByRole('button', { name: 'What happens at the turn limit?' }).click();
  const run = await answered(tab);
  const sources = await run.locator('.sources a').evaluateAll((links) => links.map(({ href }) => href));
  assert.ok(sources.length > 0, await run.innerText());
  for (const href of sources) {
    assert.ok(href.startsWith(`${site.url}demo/`), href);
    assert.equal(await tab.evaluate((address) => fetch(address).then(({ status }) => status), href), 200, href);
  }
  await tab.screenshot({ path: path.join(shots, 'widget-book.png') });
  const { app, lines } = await openApp(tab);
  await app.getByText(`Opened a run from ${new URL(site.url).origin} (read-only).`).waitFor({ timeout: 60000 });
  await app.getByRole('region', { name: 'How it ended' }).waitFor();
  await app.screenshot({ path: path.join(shots, 'widget-handed.png') });
  await tab.getByText('Opened in the app.').waitFor();
  assert.deepEqual(lines, []);
}), { mounts: hurriedWorkers(dist) }));

test('the app of another origin takes the record over, whole; a page that is no app gets nothing, and the record is a file', () => withSite((site) => withScript([
  { text: 'It is **forty-two**.' },
], (baseUrl) => withHost({
  pages: {
    '/': page({ attributes: `${scripted(baseUrl)} app="${site.url}"` }),
    '/other.html': '<!doctype html><title>Another page</title><script>onmessage = ({ data }) => { window.heard = data; };</script>',
  },
}, (host) => withPage(host.url, { reach: [baseUrl, site.url] }, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'What is six times seven?');
  await answered(tab);
  const { app, lines } = await openApp(tab);
  await app.getByRole('alertdialog').getByRole('button', { name: 'Open' }).click({ timeout: 60000 });
  await app.getByText(`Opened a run from ${new URL(host.url).origin} (read-only).`).waitFor({ timeout: 60000 });
  assert.match(await app.locator('main').innerText(), /What is six times seven\?[^]*forty-two/);
  await app.getByRole('button', { name: 'Replay' }).click();
  await app.getByText(/^Step \d+ of /).waitFor();
  await tab.getByText('Opened in the app.').waitFor();
  assert.deepEqual(lines, []);
  await app.close();

  await tab.locator('turnwise-agent').evaluate((element) => { element.app = '/other.html'; });
  const download = tab.waitForEvent('download', { timeout: 60000 });
  // The record is offered for eighteen seconds, by a timer of the page.
  await tab.clock.install();
  const { app: other } = await openApp(tab);
  await other.waitForFunction(() => window.heard?.turnwise === 'trajectory');
  await tab.clock.runFor(20_000);
  assert.match((await download).suggestedFilename(), /^turnwise-.*\.json$/);
  await tab.getByText('The app did not accept the record').waitFor();
})))));
