// What a build ships: the first row that a file of a site (`.ci/build`) matches. The downloads (pack.mjs), the list of files of the npm package
// and the service worker of the app (`node .ci/assets.mjs SITE`, which .ci/build calls) and the table of sizes (sizes.mjs) come from here.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The rows: which files, relative to the site; where they go, of npm (the package), docs (the zip for documentation sites), app (the
 * zip of the app) and offline (the service worker stores them, for a page without a network); and their group in the table of sizes.
 */
const ROWS = [
  // The tag.
  [/^turnwise\/embed\.js$/, 'npm docs', 'launcher'],
  [/^turnwise\/widget\.js$/, 'npm docs', 'widget'],
  [/^turnwise\/(keys|hand-over|care|demo-files)\.js$/, 'npm docs', 'onDemand'],
  [/^turnwise\/(prompt-api|reading)\.js$/, 'npm docs app offline', 'onDemand'],
  [/^turnwise\/texts-..\.js$/, 'npm docs', 'language'],
  [/^turnwise\/frame(-host)?\.(js|css|html)$/, 'npm docs', 'frame'],
  [/^turnwise\/docs-worker(\.js|_bg\.wasm)$/, 'npm docs', 'docs'],
  // The package.
  [/^turnwise\/turnwise\.js$/, 'npm docs', 'client'],
  [/^turnwise\/web\.js$/, 'npm docs app offline', 'web'],
  [/^turnwise\/(agent_bg\.wasm|engine-worker\.js)$/, 'npm docs', 'agent'],
  [/^turnwise\/worker(\.js|_bg\.wasm)$/, 'npm docs app offline', 'tools'],
  [/^turnwise\/worker-whole_bg\.wasm$/, 'npm', 'toolsWhole'],
  [/^turnwise\/worker-[\w-]+\.wasm$/, 'npm docs app offline', 'toolsParts'],
  [/^turnwise\/(sandbox(-worker)?\.js|quickjs\.wasm)$/, 'npm docs app offline', 'sandbox'],
  [/^turnwise\/convert(\.js|_bg\.wasm)$/, 'npm app', 'office'],
  [/^turnwise\/archive\.js$/, 'npm docs app', 'archives'],
  [/^turnwise\/encoding(\.js|_bg\.wasm)$/, 'npm app', 'archives'],
  [/^turnwise\/pdf\.js$/, 'npm app', 'pdf'],
  [/^turnwise\/pdf-maps\.bin$/, 'npm app', 'pdfMaps'],
  [/^turnwise\/sql(\.js|_bg\.wasm)$/, 'npm app', 'sql'],
  [/^turnwise\/jq(\.js|_bg\.wasm)$/, 'npm app', 'jq'],
  [/^turnwise\/(openapi|tool-search|argument-check)\.js$/, 'npm', 'openapi'],
  [/^turnwise\/yaml\.js$/, 'npm docs app', 'yaml'],
  [/^turnwise\/skills\.js$/, 'npm docs app', 'skills'],
  [/^turnwise\/(LICENSE.*|THIRD-PARTY-LICENSES\.txt)$/, 'npm docs'],
  [/^turnwise\/(index|index\.node|node|thread|web-node|core|react|ai-sdk|history|prompt-parts|chat-log|ui-stream|element|empty|testing|chat-store|vue|svelte|markdown)\.js$/, 'npm'],
  [/^turnwise\/key-proxy\//, 'npm docs'],
  [/^turnwise\/skills\//, 'npm app'],
  [/^turnwise\/(llms\.txt|docs\/.*\.(md|json|svg|webp))$/, 'npm'],
  [/^turnwise\/examples\//, 'npm'],
  [/^turnwise\/turnwise\.js\.map$/, 'npm docs'],
  [/^turnwise\/[\w.-]+\.js\.map$/, 'npm'],
  [/^turnwise\/(cli.*\.mjs|.*\.d\.ts|(README|SECURITY|ARCHITECTURE)\.md|package\.json)$/, 'npm'],
  // The app. Its page takes everything in www/app as it is.
  [/^turnwise\/app-services\.js$/, 'app', 'appServices'],
  [/^turnwise\/(app-client|app-worker)\.js$|^turnwise\/app-worker_bg\.wasm$/, 'app offline', 'appWorker'],
  [/^((figure|preview|folder|unzip|skills)\.js|styles\/figure\.css)$/, 'app offline', 'appFigures'],
  [/^(formula(-worker)?\.js|styles\/drawing\.css)$/, 'app offline', 'appFormulas'],
  [/^diagram\.js$/, 'app offline', 'appDiagrams'],
  [/^diagram-frame\.html$/, 'app', 'appDiagrams'],
  [/^(split|chunk)_\w+\.wasm$/, 'app offline', 'appParts'],
  [/^(index\.html|boot\.js|app\.js|__wasm_split\.js|app_bg\.wasm|manifest\.webmanifest|(styles|icons)\/.*)$/, 'app offline', 'app'],
  [/^fonts\/heading(-more)?\.woff2$/, 'app offline', 'appFont'],
  [/^(samples\/.*|docs\/(?!design\/).*\.(md|json|svg))$/, 'app offline'],
  [/^docs\/(.*\.png|design\/.*)$/, 'app'],
  [/^(sw\.js|THIRD-PARTY-LICENSES\.txt)$/, 'app'],
  // The documentation with its agent, the benchmarks, and what pack.mjs made.
  [/^(demo|bench)\/|^turnwise[^/]*\.(tgz|zip)$|^\.built$/, ''],
];

/**
 * The groups of the table of sizes, in its order: title, and the limit of its files' sum in bytes of brotli. `largest`: the limit is
 * one of the largest file, since a visitor loads one of them.
 */
export const GROUPS = {
  launcher: { title: 'launcher', most: 5_000 },
  widget: { title: 'widget: in the page, once opened' },
  onDemand: { title: 'widget: on demand', most: 9_200 },
  language: { title: 'widget: one of these, for its language', most: 2_500, largest: true },
  frame: { title: 'widget: in a frame, beside the others' },
  client: { title: 'package: in the page', most: 20_000 },
  web: { title: 'package: the tools that reach the web, on first use', most: 7_000 },
  agent: { title: 'package: in the agent\'s worker', most: 580_000 },
  docs: { title: 'docs: in the widget\'s other workers', most: 490_000 },
  tools: { title: 'tools: in workers, on first use', most: 425_000 },
  toolsParts: { title: 'tools: Markdown, code in colours, records, exports, documentation and the demo model, each on first use', most: 1_230_000 },
  toolsWhole: { title: 'tools: as one module, for hosts without workers', most: 1_530_000 },
  sandbox: { title: 'programs: the sandbox, on first use', most: 260_000 },
  office: { title: 'documents: office, on first use', most: 640_000 },
  archives: { title: 'documents: archives and old encodings, on first use', most: 165_000 },
  pdf: { title: 'documents: PDF, on first use', most: 470_000 },
  pdfMaps: { title: 'documents: character maps, for some PDFs', most: 390_000 },
  sql: { title: 'engines of the query tools: SQL', most: 320_000 },
  jq: { title: 'engines of the query tools: jq', most: 390_000 },
  openapi: { title: 'package: OpenAPI, on first use', most: 27_000 },
  yaml: { title: 'package: YAML, on first use', most: 32_000 },
  skills: { title: 'package: the reader of skills, on first use', most: 8_000 },
  appWorker: { title: 'app: in its agent\'s worker', most: 740_000 },
  appServices: { title: 'app: services with an OpenAPI document, on first use', most: 30_000 },
  appParts: { title: 'app: settings, plans, replay and further parts, each on first use', most: 280_000 },
  appFigures: { title: 'app: figures, previews, folders and archives, on first use', most: 11_500 },
  appFormulas: { title: 'app: formulas, on first use', most: 90_000 },
  appDiagrams: { title: 'app: diagrams, on first use', most: 800_000 },
  app: { title: 'app: in the page', most: 1_000_000 },
  appFont: { title: 'app: the typeface of headings and numerals', most: 20_000 },
};

/** What a visitor of a site with the tag loads into the page, once the panel is open. */
export const OPENED = { title: 'launcher, opened widget and client, in the page', groups: ['launcher', 'widget', 'client'], most: 41_000 };

/** What a page bundles that uses the package: the code, whose dynamic imports stay files, and the limit of the bundle. */
export const BUNDLE = { title: 'Agent and openai in a bundle', code: "import { Agent, openai } from './index.js'; globalThis.used = [Agent, openai];", most: 20_000 };

/** The files of a site in order: `{ file, in: [place], group }`. Throws if a file matches no row. */
export function assets(site) {
  return readdirSync(site, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => path.relative(site, path.join(entry.parentPath ?? entry.path, entry.name)).split(path.sep).join('/')).sort()
    .map((file) => {
      const row = ROWS.find(([pattern]) => pattern.test(file));
      if (!row) throw new Error(`${file} matches no row of .ci/assets.mjs`);
      const [, places, group] = row;
      return { file, in: places.split(' '), group };
    });
}

/** The files of a site that go to a place. Throws if a row of that place has none, as in a site that was built in part. */
export function shipped(site, place) {
  const all = assets(site).filter((one) => one.in.includes(place)).map(({ file }) => file);
  const empty = ROWS.find(([pattern, places]) => places.split(' ').includes(place) && !all.some((file) => pattern.test(file)));
  if (empty) throw new Error(`no file of ${site} matches ${empty[0]}: build all parts of it`);
  return all;
}

/** Writes what depends on the other files: the list in package.json, and the service worker, whose version is a hash of what it stores. */
function finish(site) {
  const built = assets(site);
  const manifest = path.join(site, 'turnwise/package.json');
  if (existsSync(manifest)) {
    const files = built.filter((one) => one.in.includes('npm')).map(({ file }) => file.slice('turnwise/'.length)).filter((file) => file !== 'package.json');
    writeFileSync(manifest, `${JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), files }, undefined, 2)}\n`);
  }
  if (!['app.js', 'turnwise/app-worker.js', 'turnwise/worker.js'].every((file) => existsSync(path.join(site, file)))) return;
  const files = built.filter((one) => one.in.includes('offline')).map(({ file }) => file);
  const script = readFileSync(path.join(import.meta.dirname, '../www/sw.js'), 'utf8');
  const hash = createHash('sha256').update(script);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(path.join(site, file)));
  writeFileSync(path.join(site, 'sw.js'), `const VERSION = '${hash.digest('hex').slice(0, 16)}';\nconst FILES = ${JSON.stringify(files)};\n${script}`);
}

if (process.argv[1] === import.meta.filename) finish(process.argv[2]);
