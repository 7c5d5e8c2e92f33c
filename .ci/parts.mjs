// node .ci/parts.mjs FOLDER: bundles the parts of the tools' worker that are JavaScript (www/parts) into FOLDER. Each is one file
// without imports, since bundlers copy it as it is.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2];
const modules = path.join(import.meta.dirname, 'node_modules');
const parts = path.resolve(import.meta.dirname, '../www/parts');
const pdfjs = path.join(modules, 'pdfjs-dist');

// pdf.js runs without Node.js's own modules everywhere, and the code of its worker must not take over the worker it runs in.
const CHANGES = [
  [/^const isNodeJS = .*;$/m, 'const isNodeJS = false;'],
  [/^    if \(typeof window === "undefined" && !isNodeJS && typeof self !== "undefined" .*\) \{$/m, '    if (false) {', 'pdf.worker.mjs'],
  // So many characters may one character map have. Real ones have some ten thousand, and a gigabyte is what sixteen million take.
  [/^const MAX_MAP_RANGE = 2 \*\* 24 - 1;$/m, 'const MAX_MAP_RANGE = 2 ** 20;', 'pdf.worker.mjs'],
];
const changed = {
  name: 'pdf.js in a worker of ours',
  setup({ onLoad }) {
    onLoad({ filter: /pdfjs-dist[\\/]legacy[\\/]build[\\/]pdf(\.worker)?\.mjs$/ }, ({ path: file }) => {
      let contents = readFileSync(file, 'utf8');
      for (const [from, to, only] of CHANGES) {
        if (only && path.basename(file) !== only) continue;
        if (!from.test(contents)) throw new Error(`${file} has no ${from}: look what the new version does instead`);
        contents = contents.replace(from, to);
      }
      return { contents, loader: 'js' };
    });
  },
};

// SQLite: each start makes an instance, so that one that trapped is not used again.
const restartable = {
  name: 'SQLite that starts again',
  setup({ onLoad }) {
    onLoad({ filter: /sql-wasm-browser\.js$/ }, ({ path: file }) => {
      const once = /if \(initSqlJsPromise\)\s*\{\s*return initSqlJsPromise;\s*\}/;
      const contents = readFileSync(file, 'utf8');
      if (!once.test(contents)) throw new Error(`${file} has no ${once}: look what the new version does instead`);
      return { contents: contents.replace(once, ''), loader: 'js' };
    });
  },
};

await build({
  entryPoints: ['archive.js', 'pdf.js', 'sql.js'].map((name) => path.join(parts, name)), outdir: folder, bundle: true, nodePaths: [modules], format: 'esm', target: 'es2022', platform: 'browser',
  minify: true, lineLimit: 400, charset: 'utf8', legalComments: 'none', logLevel: 'error', external: ['node:*'], plugins: [changed, restartable],
});

// The character maps in one file: the length of a JSON index in 4 bytes, the index `{ name: [start, length] }`, the maps.
const from = path.join(pdfjs, 'cmaps');
const names = readdirSync(from).filter((name) => name.endsWith('.bcmap')).sort();
const index = {};
const files = names.map((name) => readFileSync(path.join(from, name)));
let start = 0;
for (const [place, name] of names.entries()) {
  index[name] = [start, files[place].length];
  start += files[place].length;
}
const head = Buffer.from(JSON.stringify(index));
const length = Buffer.alloc(4);
length.writeUInt32LE(head.length);
writeFileSync(path.join(folder, 'pdf-maps.bin'), Buffer.concat([length, head, ...files]));

// SQLite.
copyFileSync(path.join(modules, 'sql.js/dist/sql-wasm-browser.wasm'), path.join(folder, 'sql_bg.wasm'));
