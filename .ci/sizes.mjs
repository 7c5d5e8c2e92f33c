// node .ci/sizes.mjs SITE [--guard]: prints the size of a visitor's downloads by group (assets.mjs): raw, gzip and brotli.
// On a site with the docs agent, the page loads the launcher, and once that is opened the panel and the client. The engine and the tools
// run in workers. --guard fails if a group exceeds its limit or is missing.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { build } from 'esbuild';
import { BUNDLE, GROUPS, OPENED, assets } from './assets.mjs';

const site = process.argv[2];
const all = assets(site);

function weigh({ file, bytes = readFileSync(path.join(site, file)) }) {
  const quality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } };
  return { file, raw: bytes.length, gzip: zlib.gzipSync(bytes, { level: 9 }).length, brotli: zlib.brotliCompressSync(bytes, quality).length };
}

const sum = (file, rows) =>
  rows.reduce((total, row) => ({ file, raw: total.raw + row.raw, gzip: total.gzip + row.gzip, brotli: total.brotli + row.brotli }), { file, raw: 0, gzip: 0, brotli: 0 });
const n = (bytes) => bytes.toLocaleString('en-US');
const print = (row) => console.log(`  ${row.file.padEnd(34)}${[row.raw, row.gzip, row.brotli].map((bytes) => n(bytes).padStart(12)).join('')}`);

console.log(`  ${'bytes'.padEnd(34)}${['raw', 'gzip', 'brotli'].map((name) => name.padStart(12)).join('')}`);
const weights = {};
for (const [name, { title, largest }] of Object.entries(GROUPS)) {
  const rows = all.filter(({ group }) => group === name).map(weigh);
  rows.forEach(print);
  const total = sum(`= ${title}`, rows);
  print(total);
  weights[name] = largest ? Math.max(0, ...rows.map(({ brotli }) => brotli)) : total.brotli;
}
const first = { name: 'first load', setup: ({ onResolve }) => onResolve({ filter: /./ }, ({ kind, path: name }) => (kind === 'dynamic-import' ? { path: name, external: true } : undefined)) };
const bundle = await build({
  stdin: { contents: BUNDLE.code, resolveDir: path.join(site, 'turnwise') }, bundle: true, minify: true, format: 'esm', target: 'es2022', legalComments: 'none', write: false, plugins: [first],
});
const bundled = weigh({ file: `= ${BUNDLE.title}`, bytes: bundle.outputFiles[0].contents });
print(bundled);
const checks = [...Object.entries(GROUPS).filter(([, { most }]) => most).map(([name, { title, most }]) => [title, weights[name], most]),
  [OPENED.title, OPENED.groups.reduce((total, name) => total + weights[name], 0), OPENED.most], [BUNDLE.title, bundled.brotli, BUNDLE.most]];
const verdict = (weight, most) => (weight === 0 ? 'MISSING' : weight <= most ? 'kept' : `EXCEEDED by ${n(weight - most)}`);
for (const [title, weight, most] of checks) console.log(`  ${title}: ${n(weight)} bytes of brotli, at most ${n(most)}: ${verdict(weight, most)}`);
process.exit(process.argv.includes('--guard') && checks.some(([, weight, most]) => weight > most || weight === 0) ? 1 : 0);
