// node tests/files/fetch.mjs FOLDER: downloads the packages of sources.json with their registries' own clients, and unpacks their documents into
// FOLDER/<registry> <name> <version>/. A package that is there already is not downloaded again; one that cannot be had is reported.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const into = path.resolve(process.argv[2]);
const here = import.meta.dirname;
const sources = JSON.parse(readFileSync(path.join(here, 'sources.json'), 'utf8'));
const DOCUMENT = /\.(pdf|docx?|xlsx?|pptx?|od[tsp]|ot[tsp]|epub|rtf)(\.gz)?$/i;
/** At most so many documents of one package and kind, spread over its list: some have a hundred of the same sort. */
const MOST = 8;

const run = (program, args, cwd) => execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });

const GET = {
  npm(name, folder) {
    const file = run('npm', ['pack', '--silent', name], folder).trim().split('\n').at(-1);
    run('tar', ['xzf', file], folder);
    return name.replace('@', ' ');
  },
  pypi(name, folder) {
    run(path.join(into, 'venv/bin/pip'), ['download', '--quiet', '--no-deps', '--no-binary', ':all:', name], folder);
    run('tar', ['xzf', readdirSync(folder).find((file) => file.endsWith('.tar.gz'))], folder);
    return name.replace('==', ' ');
  },
  debian(name, folder) {
    run('apt-get', ['download', '--quiet', name], folder);
    const file = readdirSync(folder).find((one) => one.endsWith('.deb'));
    const version = run('dpkg-deb', ['-f', file, 'Version'], folder).trim();
    run('dpkg-deb', ['-x', file, '.'], folder);
    return `${name} ${version}`;
  },
};

/** Some of the documents, evenly spread. */
function chosen(files) {
  const kinds = Map.groupBy ? Map.groupBy(files, (file) => path.extname(file).toLowerCase()) : files.reduce((map, file) => map.set(path.extname(file), [...(map.get(path.extname(file)) ?? []), file]), new Map());
  return [...kinds.values()].flatMap((of) => of.filter((_, at) => of.length <= MOST || Math.floor(at * MOST / of.length) !== Math.floor((at - 1) * MOST / of.length)));
}

mkdirSync(into, { recursive: true });
if (!existsSync(path.join(into, 'venv/.installed'))) {
  run('python3', ['-m', 'venv', path.join(into, 'venv')]);
  run(path.join(into, 'venv/bin/pip'), ['install', '--quiet', '-r', path.join(here, 'requirements.txt')]);
  writeFileSync(path.join(into, 'venv/.installed'), '');
}
for (const [registry, names] of Object.entries(sources)) {
  for (const name of names) {
    const plain = name.split(/[@=]/)[0];
    if (readdirSync(into).some((folder) => folder.startsWith(`${registry} ${plain} `))) continue;
    const work = mkdtempSync(path.join(into, 'work-'));
    try {
      const label = GET[registry](name, work);
      const found = readdirSync(work, { recursive: true }).filter((file) => DOCUMENT.test(file) && statSync(path.join(work, file), { throwIfNoEntry: false })?.isFile()).sort();
      const ready = path.join(work, 'ready');
      mkdirSync(ready);
      for (const file of chosen(found)) {
        const at = path.join(ready, path.basename(file).replace(/\.gz$/, ''));
        if (file.endsWith('.gz')) writeFileSync(at, gunzipSync(readFileSync(path.join(work, file))));
        else copyFileSync(path.join(work, file), at);
      }
      renameSync(ready, path.join(into, `${registry} ${label}`));
      console.log(`${registry} ${label}: ${found.length} documents, ${chosen(found).length} used`);
    } catch (error) {
      console.log(`${registry} ${name}: not available here (${String(error.stderr || error.message).trim().split('\n').at(-1)})`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
}
