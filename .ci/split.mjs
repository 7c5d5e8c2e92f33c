// What loads on first use of a module that was linked as a whole (`wasm-split-cli`). Its functions fit no other build, and a server may
// have a newer one by the time they are asked for: so their hashes are checked.
//   node .ci/split.mjs worker PARTS FOLDER: the parts of the tools' worker, next to `worker.js` in FOLDER, which loads them
//   node .ci/split.mjs hashes SITE: the hashes, once the modules are what is shipped
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Code that several groups need is in chunks; one of fewer bytes is not worth a request, and stays in the module. */
const SMALL = 100_000;
const FEATURES = ['--enable-bulk-memory', '--enable-bulk-memory-opt', '--enable-reference-types', '--enable-sign-ext', '--enable-mutable-globals', '--enable-nontrapping-float-to-int', '--enable-multivalue'];

/** Joins modules with the first one. Each is imported by the others under its name. */
function merge(modules, out) {
  execFileSync('wasm-merge', [...modules.flat(), ...FEATURES, '-o', out], { stdio: ['ignore', 'inherit', 'ignore'] });
}

function worker(parts, folder) {
  const loader = readFileSync(path.join(parts, '__wasm_split.js'), 'utf8');
  // Each chunk is headed by its groups.
  const chunks = [...loader.matchAll(/^\/\* (.*) \*\/\nconst __(chunk_\d+) = /gm)].map(([, groups, file]) => ({ file, groups: groups.split(', ') }));
  const own = [...loader.matchAll(/__wasm_split_load_(\w+)/g)].map(([, group]) => ({ file: `split_${group}`, groups: [group] }));
  if (!own.length) throw new Error(`${parts} has no parts`);
  const all = [...own, ...chunks].map(({ file, groups }) => ({ file: path.join(parts, `${file}.wasm`), groups, name: `worker-${groups.join('-')}.wasm` }));
  const small = ({ file, groups }) => groups.length > 1 && statSync(file).size < SMALL;
  const apart = all.filter((one) => !small(one));

  const module = path.join(folder, 'worker_bg.wasm');
  const named = ({ file, name }) => [file, name];
  const main = [module, '__wasm_split'];
  // Hosts that run only modules that were compiled before have the whole of it, in which nothing is left to load.
  const loads = own.map(({ groups: [group] }) => `(func (export "__wasm_split_load_${group}") (param i32 i32) (call_indirect (param i32 i32) (local.get 1) (i32.const 1) (local.get 0)))`);
  const loaded = path.join(parts, 'loaded.wat');
  writeFileSync(loaded, `(module (import "__wasm_split" "__indirect_function_table" (table 1 funcref)) ${loads.join(' ')})`);
  merge([main, ...all.map(named), [loaded, './__wasm_split.js']], path.join(folder, 'worker-whole_bg.wasm'));
  merge([main, ...all.filter(small).map(named)], module);
  for (const { file, name } of apart) renameSync(file, path.join(folder, name));

  const files = apart.map(({ name }) => `\n  '${name}': { url: () => new URL('./${name}', import.meta.url), integrity: 'sha256-${name}' },`);
  const groups = own.map(({ groups: [group] }) => `\n  ${group}: [${apart.filter((one) => one.groups.includes(group)).map(({ name }) => `'${name}'`).join(', ')}],`);
  const script = path.join(folder, 'worker.js');
  const text = readFileSync(script, 'utf8')
    .replace(/^import \* as import\d+ from "\.\/__wasm_split\.js"\n/gm, '')
    .replace(/^( *"\.\/__wasm_split\.js": )import\d+,\n/gm, '$1splitLoaders,\n')
    .replace('const splitFiles = {};', `const splitFiles = {${files.join('')}\n};`)
    .replace('const splitGroups = {};', `const splitGroups = {${groups.join('')}\n};`);
  if (!text.includes('splitLoaders,\n') || text.includes('import1')) throw new Error(`${script} has another glue than expected`);
  writeFileSync(script, text);
}

const hashOf = (file) => `sha256-${createHash('sha256').update(readFileSync(file)).digest('base64')}`;

/** Writes the hashes into the scripts that load parts, as many of them as the site has. */
function hashes(site) {
  const scripts = {
    '__wasm_split.js': (text, folder) => text.replace(/fetch\((new URL\("\.\/(\w+\.wasm)", import\.meta\.url\))\)/g, (_, url, file) => `fetch(${url}, { integrity: "${hashOf(path.join(folder, file))}" })`),
    'turnwise/worker.js': (text, folder) => text.replace(/sha256-(worker-[\w-]+\.wasm)/g, (_, file) => hashOf(path.join(folder, file))),
  };
  for (const [name, write] of Object.entries(scripts)) {
    const script = path.join(site, name);
    let text;
    try {
      text = readFileSync(script, 'utf8');
    } catch {
      continue; // a site that was built in part
    }
    const written = write(text, path.dirname(script));
    if (written === text) throw new Error(`${script} loads no parts`);
    writeFileSync(script, written);
  }
}

const [what, ...given] = process.argv.slice(2);
({ worker, hashes })[what](...given);
