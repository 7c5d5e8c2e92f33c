// After the first visit the app needs no network; a new version takes over when the user says so; it can be installed.
import assert from 'node:assert/strict';
import http from 'node:http';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { serve } from '../../.ci/static.mjs';
import { WIDE, runExample } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { dist, withSite } from './lib/site.mjs';
import { left } from './lib/tier.mjs';

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

/** Serves the app with other answers: `rules[pathname]` is `{ status, type, location, body }`, and the rest comes from `dist`. */
async function withRules(body) {
  const behind = await serve(dist, {});
  const rules = {};
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    const rule = rules[pathname];
    if (!rule) return void http.get(`${behind.url}${pathname.slice(1)}`, (from) => { response.writeHead(from.statusCode, from.headers); from.pipe(response); });
    const { status = 200, type = 'text/html', location, body: text = '<h1>Log in to the network</h1>' } = rule;
    return void response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...(location && { location }) }).end(text);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/`, rules);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
    await behind.close();
  }
}

/** Announces a new version, and resolves with what became of it: `installed`, or `redundant` if it could not be. */
const updated = (page) => page.evaluate(async () => {
  const registration = await navigator.serviceWorker.ready;
  const found = new Promise((resolve) => {
    registration.addEventListener('updatefound', () => {
      const worker = registration.installing;
      worker.addEventListener('statechange', () => /^(installed|redundant)$/.test(worker.state) && resolve(worker.state));
    }, { once: true });
  });
  await registration.update();
  return found;
});

test('a new version with files that are missing, moved or not what they are is not taken, and the old one stays whole', { skip: left, timeout: 120_000 }, () => withRules((url, rules) => {
  const script = readFileSync(path.join(dist, 'sw.js'), 'utf8');
  const version = (name) => { rules['/sw.js'] = { type: 'text/javascript', body: script.replace(/VERSION = '\w+'/, `VERSION = '${name}'`) }; };
  return withPage(url, { context, expect: [/./] }, async (page) => {
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    await controlled(page);
    const before = await cached(page);
    const bad = {
      missing: ['/figure.js', { status: 404, type: 'text/plain' }],
      moved: ['/figure.js', { status: 302, location: '/login' }],
      'a page in place of a script': ['/figure.js', {}],
      elsewhere: ['/index.html', { status: 302, location: '/login' }],
      'half a file': ['/figure.js', { status: 206, type: 'text/javascript', body: 'x' }],
    };
    rules['/login'] = {};
    for (const [n, [name, [file, rule]]] of Object.entries(bad).entries()) {
      rules[file] = rule;
      version(`bad${n}`);
      assert.equal(await updated(page), 'redundant', name);
      delete rules[file];
      const { names, urls } = await cached(page);
      assert.deepEqual(urls.filter((one) => before.urls.includes(one)).length, before.urls.length, name);
      assert.deepEqual(names.filter((one) => one === before.names[0]), before.names, name);
    }
    // Nothing that is asked for later is kept: no query, no answer that failed, no answer to a key, no other place.
    await page.evaluate(async () => {
      for (const address of ['figure.js?evil=1', 'login', 'none.js', 'v1/models']) await fetch(address, { headers: { authorization: 'Bearer sk-test-0123456789abcdef' } }).catch(() => {});
    });
    const after = await cached(page);
    assert.ok(!after.urls.some((one) => /\?|login|none\.js|v1\/models/.test(one)), `${after.urls}`);
    assert.match(await page.evaluate(async () => (await fetch('figure.js?evil=1')).text()), /export/);
    // A host that serves index.html as the folder: the version is taken, and the app opens from it.
    rules['/index.html'] = { status: 302, location: '/' };
    version('good');
    assert.equal(await updated(page), 'installed');
    await Promise.all([page.waitForEvent('load'), page.locator('.update').getByRole('button', { name: 'Reload' }).click()]);
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('textbox', { name: 'Task' }).waitFor();
    const { names } = await cached(page);
    assert.deepEqual(names.map((name) => name.split(' ').at(-1)), ['good'], 'what the refused versions began is gone');
  });
}));

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
