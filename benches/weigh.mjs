// Sizes of files after brotli at its best setting, as a static host stores them next to the originals.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const known = new Map();

export function weigh(pathname, body) {
  if (!known.has(pathname)) known.set(pathname, zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } }).length);
  return known.get(pathname);
}

/** Returns the total size of all files below `folder` whose relative paths match; `undefined` if there are none. */
export function weighFiles(folder, pattern) {
  const names = readdirSync(folder, { recursive: true }).map((name) => name.split(path.sep).join('/')).filter((name) => pattern.test(name));
  return names.length ? names.reduce((sum, name) => sum + weigh(path.join(folder, name), readFileSync(path.join(folder, name))), 0) : undefined;
}

/**
 * Returns the size of the files requested below `under`, each counted once: those that the page itself loaded, according to its
 * resource timing, and those of its workers. A worker's script is in the page's timing too, but counts as the worker's.
 */
export async function weighLoaded(page, asked, under, { except = [] } = {}) {
  const own = new Set(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => decodeURIComponent(new URL(name).pathname))));
  const sum = { page: 0, workers: 0 };
  const files = new Map(asked.filter(({ pathname }) => pathname.startsWith(under) && !except.includes(pathname)).map((file) => [file.pathname, file]));
  for (const { pathname, body } of files.values()) {
    const byPage = own.has(pathname) && asked.some((file) => file.pathname === pathname && file.dest !== 'worker');
    sum[byPage ? 'page' : 'workers'] += weigh(pathname, body);
  }
  return sum;
}
