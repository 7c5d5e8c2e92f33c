// node .ci/pack.mjs DIST [NAME…]: creates the downloads from a built site: the npm tarball (npm), a zip for documentation
// sites with the hashes of its files and the tag to paste (docs), the app as a zip (app). All of them by default.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { assets, shipped } from './assets.mjs';

const [dist, ...wanted] = process.argv.slice(2);
const { version, files: published } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));
const read = (name) => readFileSync(path.join(dist, name));

const PROXY = 'turnwise/key-proxy/';

// The same files give the same bytes: a fixed time, no owner.
const AT = Date.UTC(2026, 0, 1);
function zip(name, entries) {
  const file = path.join(dist, `${name}-${version}.zip`);
  const tree = Object.fromEntries(entries.map(([at, bytes]) => [at, [bytes, { mtime: AT }]]));
  writeFileSync(file, zipSync(tree, { level: 9 }));
  return file;
}

/** Checks that the scripts among these files load only files among them, or of the groups in `without`. */
function whole(names, without = []) {
  const others = assets(dist).filter(({ group }) => without.includes(group)).map(({ file }) => file);
  for (const name of names.filter((name) => /^(turnwise\/)?[\w-]+\.js$/.test(name))) {
    const loads = [...read(name).toString().matchAll(/\b(?:(?:new URL|import)\(|(?:from|import) ?(?=["']\.\/))["'`](?:\.\/)?([\w/-]+\.(?:js|wasm|bin|css|html))["'`]/g)].map(([, file]) => path.posix.join(path.posix.dirname(name), file));
    const missing = loads.find((file) => !names.includes(file) && !others.includes(file));
    if (missing) throw new Error(`${name} loads ${missing}, which is not in the zip: add it to .ci/assets.mjs`);
  }
}

const MAKE = {
  npm() {
    const missing = shipped(dist, 'npm').filter((name) => name !== 'turnwise/package.json' && !published.includes(name.slice('turnwise/'.length)));
    if (missing.length) throw new Error(`package.json does not list ${missing.join(', ')}: build the site again`);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', path.resolve(dist)], { cwd: path.join(dist, 'turnwise'), stdio: ['ignore', 'ignore', 'inherit'] });
    return path.join(dist, `turnwise-${version}.tgz`);
  },

  // The files that the tag can load; the rest of the package is for programs. The demo, and a tag without a site, use worker.js, but
  // no tools that need its parts.
  docs() {
    const names = shipped(dist, 'docs').filter((name) => !name.startsWith(PROXY));
    whole(names, ['office', 'archives', 'pdf', 'pdfMaps', 'sql', 'jq']);
    const entries = names.map((name) => [name, read(name)]);
    const hashes = Object.fromEntries(entries.map(([name, bytes]) => [name, `sha384-${createHash('sha384').update(bytes).digest('base64')}`]));
    const tag = [
      '<!-- Copy the folder turnwise/ to your site, and paste this before </body>. Without provider, each visitor chooses a model and needs a key;',
      '     the folder key-proxy/ has a server for a key of your own: npx turnwise proxy. -->',
      `<script type="module" src="/turnwise/embed.js" integrity="${hashes['turnwise/embed.js']}" crossorigin="anonymous"></script>`,
      '<turnwise-agent></turnwise-agent>', '',
    ].join('\n');
    // Beside the folder that is copied to the site: it runs on a server.
    const proxy = shipped(dist, 'docs').filter((name) => name.startsWith(PROXY)).map((name) => [name.slice('turnwise/'.length), read(name)]);
    return zip('turnwise-docs-site', [...entries, ...proxy, ['integrity.json', Buffer.from(`${JSON.stringify(hashes, undefined, 2)}\n`)], ['tag.html', Buffer.from(tag)]]);
  },

  app() {
    const names = shipped(dist, 'app');
    whole(names);
    return zip('turnwise-app', names.map((name) => [name, read(name)]));
  },
};

for (const name of wanted.length ? wanted : Object.keys(MAKE)) {
  const file = MAKE[name]();
  console.log(`pack ${file}: ${statSync(file).size.toLocaleString('en-US')} bytes`);
}
// Files of an earlier version would be published too.
for (const name of readdirSync(dist)) if (/^turnwise.*\.(tgz|zip)$/.test(name) && !name.includes(`-${version}.`)) rmSync(path.join(dist, name));
