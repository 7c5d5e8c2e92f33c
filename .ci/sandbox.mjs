// node .ci/sandbox.mjs FOLDER: builds the worker of `run_code` (www/sandbox) into FOLDER, with the module of QuickJS.
// node .ci/sandbox.mjs --hash: prints the hash of the frame's script, as a policy names it.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';

const sources = path.resolve(import.meta.dirname, '../www/sandbox');
const modules = path.join(import.meta.dirname, 'node_modules');

/** The frame's document and the hash of its script. A frame also inherits the policy of its page. */
export function frame() {
  const { code } = transformSync(readFileSync(path.join(sources, 'frame.js'), 'utf8'), { minify: true, legalComments: 'none' });
  const script = code.trim();
  const hash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  const policy = `default-src 'none'; script-src ${hash} 'wasm-unsafe-eval'; worker-src blob:; require-trusted-types-for 'script'; trusted-types turnwise`;
  return { hash, html: `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script>${script}</script>` };
}

async function worker(folder) {
  await build({
    entryPoints: [path.join(sources, 'worker.js')], outfile: path.join(folder, 'sandbox-worker.js'), bundle: true, nodePaths: [modules],
    format: 'iife', target: 'es2022', platform: 'browser', conditions: ['browser'], minify: true, lineLimit: 400, charset: 'utf8', legalComments: 'none', logLevel: 'warning',
    plugins: [{
      name: 'sandbox',
      setup({ onResolve, onLoad }) {
        // The code that runs inside QuickJS.
        onResolve({ filter: /\?text$/ }, ({ path: name, importer }) => ({ path: path.resolve(path.dirname(importer), name.replace('?text', '')), namespace: 'text' }));
        onLoad({ filter: /./, namespace: 'text' }, ({ path: file }) => ({ contents: transformSync(readFileSync(file, 'utf8'), { minifyWhitespace: true, legalComments: 'none' }).code, loader: 'text' }));
        // The module is passed in: its glue must not name a file that bundlers would look for.
        onLoad({ filter: /emscripten-module\.browser\.mjs$/ }, ({ path: file }) => {
          const text = readFileSync(file, 'utf8');
          const without = text.replace('new URL("emscripten-module.wasm",import.meta.url)', '{ href: "" }').replaceAll('import.meta.url', '""');
          if (/new URL\("emscripten-module/.test(without)) throw new Error('the glue of QuickJS names its module in another way');
          return { contents: without, loader: 'js' };
        });
      },
    }],
  });
  copyFileSync(path.join(modules, '@jitl/quickjs-ng-wasmfile-release-sync/dist/emscripten-module.wasm'), path.join(folder, 'quickjs.wasm'));
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === '--hash') console.log(frame().hash);
  else await worker(process.argv[2]);
}
