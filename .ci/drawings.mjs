// node .ci/drawings.mjs FOLDER: bundles what draws formulas and diagrams in the app's answers into FOLDER: the worker with KaTeX, and
// the document of the frame with Mermaid. Both load on first use. Prints the npm packages of which they have parts.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2];
const www = path.resolve(import.meta.dirname, '../www');
const options = {
  bundle: true, nodePaths: [path.join(import.meta.dirname, 'node_modules')], format: 'iife', target: 'es2022', platform: 'browser', minify: true, legalComments: 'none', logLevel: 'error', metafile: true,
};

const formulas = await build({ ...options, entryPoints: [path.join(www, 'formula/worker.js')], outfile: path.join(folder, 'formula-worker.js'), charset: 'utf8', lineLimit: 400 });

// ELK, a second layout of flowcharts, is a third of Mermaid. Without it, Mermaid uses dagre, as its own small build does.
const withoutElk = {
  name: 'Mermaid without ELK',
  setup({ onLoad, onEnd }) {
    let found = false;
    onLoad({ filter: /mermaid[\\/]dist[\\/]chunks[\\/].*\.mjs$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      const contents = text.replace(/await import\("\.\/elk-\w+\.mjs"\)/, 'undefined').replace(/^ +\.\.\.elkLayoutLoaders\(\)$/m, '');
      found ||= contents !== text;
      return { contents, loader: 'js' };
    });
    onEnd(() => {
      if (!found) throw new Error('Mermaid loads ELK in another way: look what the new version does instead');
    });
  },
};
const diagrams = await build({ ...options, entryPoints: [path.join(www, 'diagram/frame.js')], write: false, charset: 'ascii', plugins: [withoutElk] });
// In a document, `<!--` in a script can hide its end. Code has it in texts and patterns only, where this means the same.
const script = diagrams.outputFiles[0].text.trim().replaceAll('<!--', '\\x3c!--');
if (/<\/script|\r|\0/i.test(script)) throw new Error('the script of diagrams cannot be written into a document as it is');
// The frame loads nothing at all; the styles of drawings are elements and attributes.
const policy = `default-src 'none'; script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'; style-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types turnwise`;
writeFileSync(path.join(folder, 'diagram-frame.html'), `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><title>Diagram</title><body><script>${script}</script>\n`);

const used = [formulas, diagrams].flatMap(({ metafile }) => Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
console.log([...new Set(used.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]).filter(Boolean))].sort().join(' '));
