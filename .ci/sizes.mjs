// node .ci/sizes.mjs DIST [--guard]: what a visitor downloads, raw, gzip and brotli.
// The budget is for what a page needs before anything is answered: page module, its JavaScript, styles. The worker
// comes on first use and is counted apart, and so is the app. --guard fails where the limit is passed: it stands a little
// above what the package weighs today, above the budget too. It rose three times: by 10 KB for sub-agents and plans, by
// 45 KB for more kinds of provider and the diagnosis of what fails (76 KB; the demo model's move gave 31 back),
// and by 5 KB for runs that go on after a closed page, branches, figures and imports (6.8 KB).
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const BUDGET = 104_000;
const LIMIT = 350_000;
const dist = process.argv[2];
const guard = process.argv.includes('--guard');

function weigh(file) {
  const bytes = readFileSync(path.join(dist, file));
  const quality = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11 } };
  return { file, raw: bytes.length, gzip: zlib.gzipSync(bytes, { level: 9 }).length, brotli: zlib.brotliCompressSync(bytes, quality).length };
}

const sum = (name, rows) =>
  rows.reduce((total, row) => ({ file: name, raw: total.raw + row.raw, gzip: total.gzip + row.gzip, brotli: total.brotli + row.brotli }), { file: name, raw: 0, gzip: 0, brotli: 0 });

const print = (row) => console.log(`  ${row.file.padEnd(34)}${[row.raw, row.gzip, row.brotli].map((n) => n.toLocaleString('en-US').padStart(12)).join('')}`);

const files = readdirSync(dist, { recursive: true }).map((name) => name.split(path.sep).join('/')).sort();

const groups = {
  'package, in a page': /^turnwise\/(turnwise|snippets\/).*\.(js|css|wasm)$/,
  'worker, on first use': /^turnwise\/worker.*\.(js|wasm)$/,
  'app, without the worker': /^(?!turnwise\/|bench\/).*\.(html|js|css|wasm|svg|woff2|webmanifest)$/,
};

console.log(`  ${'bytes'.padEnd(34)}${['raw', 'gzip', 'brotli'].map((n) => n.padStart(12)).join('')}`);
let total;
for (const [name, wanted] of Object.entries(groups)) {
  const rows = files.filter((file) => wanted.test(file)).map(weigh);
  rows.forEach(print);
  const row = sum(`= ${name}`, rows);
  print(row);
  total ??= row;
}
const n = (bytes) => bytes.toLocaleString('en-US');
console.log(`  the package's ${n(total.brotli)} bytes of brotli: budget ${n(BUDGET)} ${total.brotli < BUDGET ? 'kept' : 'MISSED'}, limit ${n(LIMIT)} ${total.brotli < LIMIT ? 'kept' : 'PASSED'}`);
process.exit(guard && total.brotli >= LIMIT ? 1 : 0);
