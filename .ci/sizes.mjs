// node .ci/sizes.mjs DIST [--guard]: prints the size of a visitor's downloads: raw, gzip and brotli.
// On a site with the docs agent, the page loads the launcher, and once that is opened the panel and the client; both have a
// budget. What the panel loads only when it is needed (the choice of a model, the hand-over to the app, what follows an answer,
// the browser's built-in model) has a limit, and so has the largest language besides English. The engine and the tools run in workers, which are listed separately, as is the app.
// A page that uses the JavaScript API loads the client, which has a budget. The workers and the app have no budget, but a limit
// a little above their current size.
// --guard fails if a budget or limit is exceeded.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

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
  launcher: { files: /^turnwise\/embed\.js$/ },
  'widget: in the page, once opened': { files: /^turnwise\/widget\.js$/ },
  'widget: on demand': { files: /^turnwise\/(keys|hand-over|care|prompt-api)\.js$/ },
  'widget: one of these, for its language': { files: /^turnwise\/texts-..\.js$/ },
  'widget: in a frame, beside the others': { files: /^turnwise\/frame(-host)?\.(js|css|html)$/ },
  'package: in the page': { files: /^turnwise\/turnwise\.js$/ },
  'package: in the agent\'s worker': { files: /^turnwise\/(agent_bg\.wasm|engine-worker\.js)$/ },
  'docs: in the widget\'s other workers': { files: /^turnwise\/docs-worker.*\.(js|wasm)$/ },
  'tools: in workers, on first use': { files: /^turnwise\/worker.*\.(js|wasm)$/ },
  'programs: the sandbox, on first use': { files: /^turnwise\/(sandbox(-worker)?\.js|quickjs\.wasm)$/ },
  'documents: office, on first use': { files: /^turnwise\/convert(\.js|_bg\.wasm)$/ },
  'documents: PDF, on first use': { files: /^turnwise\/pdf\.js$/ },
  'documents: character maps, for some PDFs': { files: /^turnwise\/pdf-maps\.bin$/ },
  'engines of the query tools: SQL': { files: /^turnwise\/sql(_bg\.wasm|\.js)$/ },
  'engines of the query tools: jq': { files: /^turnwise\/jq(_bg\.wasm|\.js)$/ },
  'app: in its agent\'s worker': { files: /^turnwise\/app-(client|worker).*\.(js|wasm)$/ },
  'app: figures, previews, folders and archives, on first use': { files: /^((figure|preview|folder|unzip)\.js|styles\/figure\.css)$/ },
  'app: formulas, on first use': { files: /^(formula(-worker)?\.js|styles\/drawing\.css)$/ },
  'app: diagrams, on first use': { files: /^diagram(\.js|-frame\.html)$/ },
  'app: in the page': { files: /^(?!turnwise\/|bench\/|demo\/|formula[.-]|diagram[.-]|styles\/drawing\.|figure\.|preview\.|folder\.|unzip\.|styles\/figure\.).*\.(html|js|css|wasm|svg|woff2|webmanifest)$/ },
};

console.log(`  ${'bytes'.padEnd(34)}${['raw', 'gzip', 'brotli'].map((n) => n.padStart(12)).join('')}`);
for (const [name, group] of Object.entries(groups)) {
  const rows = files.filter((file) => group.files.test(file)).map(weigh);
  rows.forEach(print);
  group.total = sum(`= ${name}`, rows);
  print(group.total);
  group.largest = Math.max(0, ...rows.map(({ brotli }) => brotli));
}
const { largest: language } = groups['widget: one of these, for its language'];
const [launcher, widget, demand, , , client, packaged, docs, tools, sandbox, office, pdf, maps, sql, jq, manager, figures, formulas, diagrams, app] = Object.values(groups).map(({ total }) => total.brotli);
const n = (bytes) => bytes.toLocaleString('en-US');
const verdict = (weight, most) => (weight === 0 ? 'MISSING' : weight <= most ? 'kept' : `EXCEEDED by ${n(weight - most)}`);
const checks = [['launcher', launcher, 5_000], ['launcher, opened widget and client, in the page', launcher + widget + client, 40_000], ['widget, on demand', demand, 7_000], ['widget, its language', language, 2_500], ['package, in the page', client, 20_000],
  ['package, in the agent\'s worker', packaged, 520_000], ['docs worker', docs, 595_000], ['tools worker', tools, 1_375_000],
  ['sandbox of programs, on first use', sandbox, 260_000],
  ['office documents, on first use', office, 570_000], ['PDF, on first use', pdf, 470_000], ['character maps of PDFs', maps, 390_000],
  ['SQL, on first use', sql, 320_000], ['jq, on first use', jq, 390_000],
  ['app, in its agent\'s worker', manager, 690_000], ['app, figures, previews, folders and archives, on first use', figures, 9_500], ['app, formulas, on first use', formulas, 90_000], ['app, diagrams, on first use', diagrams, 800_000], ['app, in the page', app, 930_000]];
for (const [name, weight, most] of checks) console.log(`  ${name}: ${n(weight)} bytes of brotli, at most ${n(most)}: ${verdict(weight, most)}`);
process.exit(guard && checks.some(([, weight, most]) => weight > most || weight === 0) ? 1 : 0);
