// node .ci/client.mjs PART FOLDER GLUE: checks the types of the TypeScript client (www/client) and bundles entries into FOLDER.
// PART: sdk, the package with its widget (www/widget) and declarations; app-worker, the app's connection to its worker, and that worker.
// GLUE: the engine's glue code from wasm-bindgen; it becomes part of the worker's file.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, transform } from 'esbuild';
import { frame } from './sandbox.mjs';

const [part, folder, glue] = process.argv.slice(2);
const www = path.resolve(import.meta.dirname, '../www');
const client = path.join(www, 'client');

execFileSync(path.join(import.meta.dirname, 'node_modules/.bin/tsc'), ['--project', client], { stdio: 'inherit' });

// Each entry is a separate file, which the others import, so that a page has only one instance of each. All other modules
// are bundled into each file that uses them.
const ENTRIES = part === 'app-worker' ? {
  client: {
    'app-worker': 'app-client', 'engine-worker': 'app-worker', 'app-services': 'app-services', 'prompt-api': 'prompt-api', reading: 'reading', sandbox: 'sandbox', 'web/index': 'web', 'sdk/yaml': 'yaml',
  },
  widget: {},
} : {
  client: {
    index: 'turnwise', 'engine-worker': 'engine-worker', 'prompt-api': 'prompt-api', reading: 'reading', sandbox: 'sandbox', 'web/index': 'web', 'web/node': 'web-node', node: 'node', thread: 'thread', core: 'core',
    'sdk/index': 'index', 'sdk/node': 'index.node', 'sdk/react': 'react', 'sdk/history': 'history', 'sdk/ui-stream': 'ui-stream', 'sdk/ai-sdk': 'ai-sdk',
    'sdk/prompt-parts': 'prompt-parts', 'sdk/chat-log': 'chat-log',
    'sdk/testing': 'testing', 'sdk/chat-store': 'chat-store', 'sdk/vue': 'vue', 'sdk/svelte': 'svelte', 'sdk/markdown': 'markdown',
    'sdk/skills': 'skills', 'sdk/openapi': 'openapi', 'sdk/tool-search': 'tool-search', 'sdk/argument-check': 'argument-check', 'sdk/yaml': 'yaml',
  },
  widget: { embed: 'embed', element: 'element', widget: 'widget', 'demo-files': 'demo-files', keys: 'keys', 'hand-over': 'hand-over', care: 'care', 'frame-host': 'frame-host', frame: 'frame', ...Object.fromEntries(readdirSync(path.join(www, 'widget/texts')).map((file) => [`texts/${path.parse(file).name}`, `texts-${path.parse(file).name}`])) },
};
const FILES = new Set(Object.values(ENTRIES).flatMap((of) => Object.values(of)));
for (const name of Object.values(ENTRIES.client)) if (existsSync(path.join(www, 'widget', `${name}.js`))) throw new Error(`${name}.js is a file of the package and one of www/widget, which imports files of the package by their names: rename one`);
const apart = {
  name: 'entries apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path: name, kind, importer }) => {
      if (kind === 'entry-point') return undefined;
      const plain = path.relative(client, path.resolve(path.dirname(importer), name)).replace(/\.js$/, '');
      // The widget imports files by their names in the package. Libraries have files of the same names.
      const file = importer.startsWith(client) ? ENTRIES.client[plain] : importer.startsWith(www) && FILES.has(path.basename(plain)) && path.basename(plain);
      return file ? { path: `./${file}.js`, external: true } : undefined;
    });
    onResolve({ filter: /^turnwise-tools$/ }, () => ({ path: './worker.js', external: true }));
    onResolve({ filter: /^turnwise-archive$/ }, () => ({ path: './archive.js', external: true }));
    onResolve({ filter: /^turnwise-glue$/ }, () => ({ path: path.resolve(glue) }));
  },
};

/** Style sheets in scripts: `const CSS = \`…\``. */
const sheets = {
  name: 'style sheets in scripts',
  setup({ onLoad }) {
    onLoad({ filter: /widget.(embed|styles|part-styles)\.js$/ }, async ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      const [, css] = /const CSS = `((?:[^`\\$]|\$(?!\{))*)`/.exec(text);
      const { code } = await transform(css, { loader: 'css', minify: true });
      return { contents: text.replace(css, () => code.trim()), loader: 'js' };
    });
  },
};

const options = {
  outdir: folder, bundle: true, nodePaths: [path.join(import.meta.dirname, 'node_modules')], format: 'esm', target: 'es2022', platform: 'neutral', external: ['node:*', 'react', 'vue'], minify: true, charset: 'utf8', legalComments: 'none',
  define: { SANDBOX_FRAME: JSON.stringify(frame().html), TEST_TOOLS: process.env.EXTRA_FEATURES?.includes('test-tools') ? '["loop_forever", "crash"]' : '[]' },
  logLevel: 'warning', plugins: [apart, sheets], metafile: true,
};
const entries = (of) => Object.entries(ENTRIES[of]).map(([name, out]) => ({ in: path.join(www, of, name), out }));
// Node.js prints the line of an uncaught error, so the files that it loads have short ones; line breaks cost a visitor of a page bytes.
const made = await Promise.all([
  build({ ...options, entryPoints: entries('client'), lineLimit: 600, sourcemap: part === 'sdk' ? 'external' : false }),
  build({ ...options, entryPoints: entries('widget') }),
]);
const outputs = made.flatMap(({ metafile }) => Object.keys(metafile.outputs));

/** Files that programs import and step through. Browsers load their maps only for a debugger. */
const MAPPED = /^(index|index\.node|turnwise|react|ai-sdk|history|ui-stream|node|core)\.js$/;

// Bundlers must ignore imports whose URL is only known at run time. Minifying removes the comments that say so.
const IGNORED = '/* @vite-ignore *//* webpackIgnore: true *//* turbopackIgnore: true */';
for (const file of outputs.filter((name) => name.endsWith('.js'))) {
  const text = readFileSync(file, 'utf8');
  // A limited line may end inside of a text, where bundlers do not recognize the address of a worker. A map counts lines, so files with one stay.
  const joined = MAPPED.test(path.basename(file)) ? text : text.replaceAll('\\\n', '');
  const told = joined.replace(/\bimport\((?!["')])/g, `import(${IGNORED}`) + mapOf(file);
  if (told !== text) writeFileSync(file, told);
}

/** The reference to a file's source map, which has the sources in it; a map that is not needed is removed. */
function mapOf(file) {
  const map = `${file}.map`;
  if (!existsSync(map)) return '';
  const { sources, ...rest } = JSON.parse(readFileSync(map, 'utf8'));
  rmSync(map);
  if (!MAPPED.test(path.basename(file))) return '';
  // By their places in the repository, wherever it was built.
  const named = sources.map((source) => (source.includes('<') ? path.basename(source) : path.relative(path.join(www, '..'), path.resolve(folder, source)).replace(/^.*node_modules\//, 'node_modules/')));
  writeFileSync(map, JSON.stringify({ ...rest, sources: named }));
  return `\n//# sourceMappingURL=${path.basename(map)}\n`;
}

/** Generates the declarations of the API in www/client/sdk with the compiler; those of the low-level API are written by hand. */
function declare() {
  const made = mkdtempSync(path.join(tmpdir(), 'turnwise-types-'));
  try {
    execFileSync(path.join(import.meta.dirname, 'node_modules/.bin/tsc'), ['--project', client, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal', '--outDir', made], { stdio: 'inherit' });
    mkdirSync(path.join(folder, 'types'));
    for (const name of readdirSync(path.join(made, 'sdk'))) {
      // Without its internal constructor, anybody could make one.
      const text = readFileSync(path.join(made, 'sdk', name), 'utf8').replace(/(?<=export declare class (?:Chat|Run)\b[^{]*\{\n)/, '    private constructor();\n');
      writeFileSync(path.join(folder, 'types', name), text.replaceAll(/'\.\.\/(?:types\/(turnwise|element)|index)\.js'/g, (_, file = 'turnwise') => `'../${file}.js'`));
    }
    writeFileSync(path.join(folder, 'index.d.ts'), "export * from './types/index.js';\nexport { default } from './types/index.js';\n");
  } finally {
    rmSync(made, { recursive: true });
  }
}
if (part === 'sdk') declare();

/** The examples that the docs refer to. The proxy is an entry of the package too, so it has a folder of its own. */
function examples() {
  const from = path.resolve(www, '../examples');
  const { version } = JSON.parse(readFileSync(path.join(www, 'package/package.json'), 'utf8'));
  cpSync(path.join(from, 'key-proxy'), path.join(folder, 'key-proxy'), { recursive: true });
  for (const name of ['cookbook', 'evaluation', 'cloudflare-queues']) {
    const to = path.join(folder, 'examples', name);
    cpSync(path.join(from, name), to, { recursive: true, filter: (file) => !/node_modules|package-lock\.json|\.wrangler/.test(path.relative(from, file)) });
    // In a clone an example uses the package that was built there.
    const own = path.join(to, 'package.json');
    if (existsSync(own)) writeFileSync(own, readFileSync(own, 'utf8').replace(/"file:[^"]*"/, `"^${version}"`));
  }
}
if (part === 'sdk') examples();
if (part === 'sdk') for (const types of ['turnwise.d.ts', 'records.d.ts', 'core.d.ts', 'element.d.ts', 'web.d.ts']) copyFileSync(path.join(client, 'types', types), path.join(folder, types));
