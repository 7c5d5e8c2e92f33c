// The built site on a free loopback port: the app at /, the package at /turnwise/, the tests' host page at /host/.
// SITE names a build other than dist/, e.g. a quick one during development.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { serve } from '../../../.ci/static.mjs';
import { withPage } from './browser.mjs';

export const root = path.resolve(import.meta.dirname, '../../..');
export const dist = path.resolve(root, process.env.SITE ?? 'dist');

/** Serves the site for as long as `body({ app, host })` runs. `mounts`: more folders, { '/prefix/': folder }; `seen(pathname)` is told of each request. */
export async function withSite(body, { mounts = {}, seen } = {}) {
  assert.ok(existsSync(path.join(dist, 'turnwise')), `${dist} is not built: make dist`);
  const site = await serve(dist, { seen, mounts: { '/host/': path.resolve(import.meta.dirname, '../pages'), ...mounts } });
  try {
    return await body({ app: site.url, host: `${site.url}host/package.html`, url: site.url });
  } finally {
    await site.close();
  }
}

/** Opens a page with the package loaded as `window.turnwise`. `options` are the options of `withPage`; `watch`
 *  enables `engineMemory`; `name` is another page of tests/e2e/pages. */
export const withPackage = ({ watch = false, name = 'package.html', ...options }, body, siteOptions) =>
  withSite((site) => withPage(`${new URL(name, site.host).href}${watch ? '?watch' : ''}`, options, async (page) => {
    await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
    return body(page, site);
  }), siteOptions);

/** Returns the bytes of the engine's memory, in a page with `watch`. */
export async function engineMemory(page) {
  const worker = page.workers().find((one) => one.url().endsWith('/host/engine-worker.js'));
  assert.ok(worker, 'the engine has no worker that can be watched');
  return worker.evaluate(() => globalThis.engineMemory.buffer.byteLength);
}
