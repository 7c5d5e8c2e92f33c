// node .ci/split.mjs SITE: the parts of the app's module that load on first use are taken only if they are those that the page was
// built with. Their functions fit no other build, and a server may have a newer one by the time a page asks.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [site] = process.argv.slice(2);
const loader = path.join(site, '__wasm_split.js');
let parts = 0;
const text = readFileSync(loader, 'utf8').replace(/fetch\((new URL\("\.\/(\w+\.wasm)", import\.meta\.url\))\)/g, (_, url, file) => {
  parts += 1;
  return `fetch(${url}, { integrity: "sha256-${createHash('sha256').update(readFileSync(path.join(site, file))).digest('base64')}" })`;
});
if (!parts) throw new Error(`${loader} loads no parts`);
writeFileSync(loader, text);
