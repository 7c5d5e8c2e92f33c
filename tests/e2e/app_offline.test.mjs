// After the first visit the app needs no network; a new version takes over when the user says so; it can be installed.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { serve } from '../../.ci/static.mjs';
import { WIDE, runExample } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { dist, withSite } from './lib/site.mjs';

const context = { viewport: WIDE, serviceWorkers: 'allow' };

/** Waits until the page is controlled by its service worker. */
const controlled = (page) => page.evaluate(() => new Promise((resolve) => {
  const { serviceWorker } = navigator;
  if (serviceWorker.controller) resolve();
  else serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
}));

const cached = (page) => page.evaluate(async () => {
  const names = await caches.keys();
  const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return { names, urls: requests.flat().map((request) => request.url) };
});

test('with the server gone, the app starts again and the demo example runs', { timeout: 120000 }, async () => {
  const site = await serve(dist, {});
  let open = true;
  try {
    await withPage(site.url, { context }, async (page) => {
      await page.getByRole('textbox', { name: 'Task' }).waitFor();
      await controlled(page);
      // On the same origin, but not part of the app.
      assert.equal(await page.evaluate(async () => (await fetch('turnwise/turnwise.js')).status), 200);
      await site.close();
      open = false;
      await page.context().setOffline(true);
      await page.reload();
      await runExample(page, /Tools over files/);
      assert.ok(await page.locator('section.turn .call').count() > 0);
      const { names, urls } = await cached(page);
      assert.equal(names.length, 1);
      assert.ok(urls.length > 30 && urls.every((url) => url.startsWith(site.url)));
      assert.ok(!urls.some((url) => url.includes('turnwise.js') || url.includes('bench/')), 'only files of the app are kept');
    });
  } finally {
    if (open) await site.close();
  }
});

test('a new version waits, is offered, and takes over cleanly', { timeout: 120000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-site-'));
  try {
    cpSync(dist, folder, { recursive: true });
    const site = await serve(folder, {});
    try {
      await withPage(site.url, { context }, async (page) => {
        await page.getByRole('textbox', { name: 'Task' }).waitFor();
        await controlled(page);
        const before = await cached(page);
        const style = path.join(folder, 'styles/tokens.css');
        writeFileSync(style, `${readFileSync(style)}\n/* the new one */\n`);
        const worker = path.join(folder, 'sw.js');
        const text = readFileSync(worker, 'utf8');
        writeFileSync(worker, text.replace(/VERSION = '\w+'/, "VERSION = 'next'"));
        await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
        const notice = page.locator('.update');
        await notice.getByText('A new version is ready.').waitFor();
        const read = () => page.evaluate(async () => (await fetch('styles/tokens.css')).text());
        assert.ok(!(await read()).includes('the new one'), 'an open page stays with its own version');
        assert.deepEqual(await audit(page), []);
        await Promise.all([page.waitForEvent('load'), notice.getByRole('button', { name: 'Reload' }).click()]);
        await page.getByRole('textbox', { name: 'Task' }).waitFor();
        assert.ok((await read()).includes('the new one'));
        const after = await cached(page);
        assert.equal(after.names.length, 1, 'the old version is gone');
        assert.notDeepEqual(after.names, before.names);
        assert.equal(await page.locator('.update').isVisible(), false);
      });
    } finally {
      await site.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('it can be installed: manifest and icons are in order', async () => {
  await withSite((site) => withPage(site.app, { context }, async (page) => {
    const session = await page.context().newCDPSession(page);
    const { errors, data } = await session.send('Page.getAppManifest');
    assert.deepEqual(errors, []);
    const { icons, name, start_url: start } = JSON.parse(data);
    assert.deepEqual([name, start], ['Turnwise', './']);
    const sizes = await page.evaluate((icons) => Promise.all(icons.map(async ({ src }) => {
      const bitmap = await createImageBitmap(await (await fetch(src)).blob());
      return `${bitmap.width}x${bitmap.height}`;
    })), icons);
    assert.deepEqual(sizes, icons.map((icon) => icon.sizes));
    assert.ok(icons.some((icon) => icon.purpose === 'maskable'));
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    // A fresh browser context counts as a private window; no other error is allowed.
    assert.deepEqual(installabilityErrors.map((error) => error.errorId).filter((id) => id !== 'in-incognito'), []);
  }));
});

test('the package registers no service worker', async () => {
  await withSite((site) => withPage(site.host, { context }, async (page) => {
    await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
    assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
  }));
});
