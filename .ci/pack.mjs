// node .ci/pack.mjs DIST [NAME…]: creates the downloads from a built site: the npm tarball (npm), a zip for documentation
// sites with the hashes of its files and the tag to paste (docs), the app as a zip (app). All of them by default.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { APP, PARTS } from './files.mjs';

const [dist, ...wanted] = process.argv.slice(2);
const { version, files: published } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));

/** Returns the files below a folder, as relative paths. */
const below = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)).split(path.sep).join('/')).sort();

// The same files give the same bytes: a fixed time, no owner.
const AT = Date.UTC(2026, 0, 1);
function zip(name, entries) {
  const file = path.join(dist, `${name}-${version}.zip`);
  const tree = Object.fromEntries(entries.map(([at, bytes]) => [at, [bytes, { mtime: AT }]]));
  writeFileSync(file, zipSync(tree, { level: 9 }));
  return file;
}

const MAKE = {
  npm() {
    const missing = published.filter((name) => !statSync(path.join(dist, 'turnwise', name), { throwIfNoEntry: false }));
    if (missing.length) throw new Error(`package.json lists files that were not built: ${missing.join(', ')}`);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', path.resolve(dist)], { cwd: path.join(dist, 'turnwise'), stdio: ['ignore', 'ignore', 'inherit'] });
    return path.join(dist, `turnwise-${version}.tgz`);
  },

  // The files that the tag can load; the rest of the package is for programs. The demo, and a tag without a site, use worker.js, but
  // no tools that need its parts.
  docs() {
    const names = below(path.join(dist, 'turnwise')).filter((name) => /^(embed|widget|turnwise|engine-worker|docs-worker|worker|keys|hand-over|prompt-api|frame|frame-host)\.(js|css|html)$|_bg\.wasm$|^LICENSE|^THIRD/.test(name) && !name.startsWith('app-') && !PARTS.includes(name));
    const entries = names.map((name) => [`turnwise/${name}`, readFileSync(path.join(dist, 'turnwise', name))]);
    const hashes = Object.fromEntries(entries.map(([name, bytes]) => [name, `sha384-${createHash('sha384').update(bytes).digest('base64')}`]));
    const tag = [
      '<!-- Copy the folder turnwise/ to your site, and paste this before </body>. Without provider, each visitor chooses a model. -->',
      `<script type="module" src="/turnwise/embed.js" integrity="${hashes['turnwise/embed.js']}" crossorigin="anonymous"></script>`,
      '<turnwise-agent></turnwise-agent>', '',
    ].join('\n');
    return zip('turnwise-docs-site', [...entries, ['integrity.json', Buffer.from(`${JSON.stringify(hashes, undefined, 2)}\n`)], ['tag.html', Buffer.from(tag)]]);
  },

  app() {
    const names = [...[...APP, ...PARTS].map((name) => `turnwise/${name}`), ...below(dist).filter((name) => !/^(turnwise|demo|bench)\/|\.(tgz|zip)$|^\.built$/.test(name))].sort();
    const loads = (name) => [...readFileSync(path.join(dist, name), 'utf8').matchAll(/\b(?:new URL|import)\(["'`](?:\.\/)?([\w/-]+\.(?:js|wasm|bin|css|html))["'`]/g)].map(([, file]) => path.posix.join(path.posix.dirname(name), file));
    for (const name of names.filter((name) => /^(turnwise\/)?[\w-]+\.js$/.test(name))) {
      const missing = loads(name).find((file) => !names.includes(file));
      if (missing) throw new Error(`${name} loads ${missing}, which is not in the zip: add it to .ci/files.mjs`);
    }
    return zip('turnwise-app', names.map((name) => [name, readFileSync(path.join(dist, name))]));
  },
};

for (const name of wanted.length ? wanted : Object.keys(MAKE)) {
  const file = MAKE[name]();
  console.log(`pack ${file}: ${statSync(file).size.toLocaleString('en-US')} bytes`);
}
// Files of an earlier version would be published too.
for (const name of readdirSync(dist)) if (/^turnwise.*\.(tgz|zip)$/.test(name) && !name.includes(`-${version}.`)) rmSync(path.join(dist, name));
