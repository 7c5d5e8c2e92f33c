// Bundles and minifies pages for production, each into its own folder with an index.html.
import { build } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
export const bundles = path.join(here, 'dist');

const OPTIONS = {
  bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"' },
};
const HTML = '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,"><script type="module" src="bundle.js"></script>';

/** Bundles `entry` to `bundle.js` in the folder `name`; `more`: further options for esbuild. Returns the folder. */
export async function bundlePage(name, entry, more) {
  const outdir = path.join(bundles, name);
  mkdirSync(outdir, { recursive: true });
  await build({ ...OPTIONS, entryPoints: { bundle: entry }, outdir, ...more });
  writeFileSync(path.join(outdir, 'index.html'), HTML);
  return outdir;
}

/** Bundles the pages with these names from pages/. */
export async function bundle(names) {
  for (const name of names) await bundlePage(name, path.join(here, 'pages', `${name}.js`));
}
