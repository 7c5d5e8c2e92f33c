// Files as brotli, at its best setting, as a static host has them beside the originals.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const known = new Map();

export function weigh(pathname, body) {
  if (!known.has(pathname)) known.set(pathname, zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } }).length);
  return known.get(pathname);
}

/** All files below `folder` whose names, from there, match; nothing where there is none. */
export function weighFiles(folder, pattern) {
  const names = readdirSync(folder, { recursive: true }).map((name) => name.split(path.sep).join('/')).filter((name) => pattern.test(name));
  return names.length ? names.reduce((sum, name) => sum + weigh(path.join(folder, name), readFileSync(path.join(folder, name))), 0) : undefined;
}

/**
 * What was asked for below `under`, each file once: what the page itself loaded, by its own account, and what its workers
 * did. A worker's script stands in the page's account too, and is the worker's.
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
