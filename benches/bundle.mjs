// What pages/ holds, each bundled and minified for production into a folder of its own with an index.html.
import { build } from 'esbuild';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname;
export const bundles = path.join(here, 'dist');

export async function bundle(names) {
  for (const name of names) {
    const outdir = path.join(bundles, name);
    mkdirSync(outdir, { recursive: true });
    await build({
      entryPoints: [path.join(here, 'pages', `${name}.js`)], outfile: path.join(outdir, 'bundle.js'), bundle: true, minify: true,
      format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'error',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    writeFileSync(path.join(outdir, 'index.html'), '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,"><script type="module" src="bundle.js"></script>');
  }
}
