// node tests/files/fetch.mjs FOLDER: downloads the packages of sources.json with their registries' own clients, and unpacks their documents into
// FOLDER/<registry> <name> <version>/. A package that is there already is not downloaded again; one that cannot be had is reported.
//
// A package of sources.json may have:
//   sha256  what its archive must have: other bytes are refused. Packages of Debian get corrections, and apt checks their signature
//   files   a pattern of the paths that are used; without it, all paths with the ending of a document
//   most    at most so many of each ending
//   mail    a pattern of the paths that hold mail under another ending: they get the ending .eml
//   also    an ending that lies: every file is there a second time, with this ending behind its own
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

const into = path.resolve(process.argv[2]);
const here = import.meta.dirname;
const sources = JSON.parse(readFileSync(path.join(here, 'sources.json'), 'utf8'));
const DOCUMENT = '\\.(pdf|docx?|xls[xb]?|pptx?|od[tsp]|ot[tsp]|epub|rtf)(\\.gz)?$';
/** At most so many documents of one package and kind, spread over its list: some have a hundred of the same sort. */
const MOST = 8;

const run = (program, args, cwd) => execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Each downloads one package into `folder`, and returns the path of its archive. */
const DOWNLOAD = {
  npm: (name, folder) => path.join(folder, run('npm', ['pack', '--silent', name], folder).trim().split('\n').at(-1)),
  pypi(name, folder) {
    run(path.join(into, 'venv/bin/pip'), ['download', '--quiet', '--no-deps', '--no-binary', ':all:', name], folder);
    return path.join(folder, readdirSync(folder)[0]);
  },
  crates(name, folder) {
    run('cargo', ['info', '--quiet', name], folder); // it downloads the crate
    const cache = path.join(process.env.CARGO_HOME ?? path.join(homedir(), '.cargo'), 'registry/cache');
    const file = `${name.replace('@', '-')}.crate`;
    return readdirSync(cache).map((registry) => path.join(cache, registry, file)).find(existsSync);
  },
  debian(name, folder) {
    run('apt-get', ['download', '--quiet', name], folder);
    return path.join(folder, readdirSync(folder)[0]);
  },
  'debian-source'(name, folder) {
    run('apt-get', [...debianSources(), 'source', '--quiet', '--download-only', '--tar-only', name], folder);
    return path.join(folder, readdirSync(folder).find((file) => file.includes('.orig.tar.')));
  },
};

/** Options with which apt-get knows the source packages of this Debian, whose list it downloads once into `into`; the system's own lists stay as they are. */
function debianSources() {
  const lists = path.join(into, 'apt');
  const options = Object.entries({ 'Dir::Etc::SourceList': '/dev/null', 'Dir::Etc::SourceParts': path.join(lists, 'sources'), 'Dir::State::Lists': path.join(lists, 'lists'), 'Dir::Cache::pkgcache': '', 'Dir::Cache::srcpkgcache': '' })
    .flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  if (existsSync(path.join(lists, 'ready'))) return options;
  mkdirSync(path.join(lists, 'sources'), { recursive: true });
  mkdirSync(path.join(lists, 'lists/partial'), { recursive: true });
  const parts = '/etc/apt/sources.list.d';
  const system = ['/etc/apt/sources.list', ...readdirSync(parts).map((file) => path.join(parts, file))].filter(existsSync);
  for (const file of system) {
    // A paragraph of a .sources file, a line of a .list file. Sources that Debian's own keys do not sign are left out: they have none of these packages.
    const paragraphs = readFileSync(file, 'utf8').split(file.endsWith('.sources') ? /\n\n+/ : /\n/).filter((one) => (file.endsWith('.sources') ? /debian-archive-keyring/ : /^deb .*debian/).test(one));
    writeFileSync(path.join(lists, 'sources', path.basename(file)), `${paragraphs.join('\n\n').replace(/^Types:.*|^deb /gm, (word) => (word === 'deb ' ? 'deb-src ' : 'Types: deb-src'))}\n`);
  }
  run('apt-get', [...options, 'update', '--quiet'], lists);
  writeFileSync(path.join(lists, 'ready'), '');
  return options;
}

/** `name version` of a package, whose version Debian's archives have in their names. */
function label(registry, name, archive) {
  if (registry.startsWith('debian')) return `${name} ${decodeURIComponent(path.basename(archive)).split('_')[1].replace(/\.orig\.tar.*/, '')}`;
  return name.replace(/^(.+?)[@=]+/, '$1 ');
}

/** Some of the documents, evenly spread. */
function chosen(files, most) {
  const kinds = new Map();
  for (const file of files) kinds.set(path.extname(file).toLowerCase(), [...(kinds.get(path.extname(file).toLowerCase()) ?? []), file]);
  return [...kinds.values()].flatMap((of) => of.filter((_, at) => of.length <= most || Math.floor(at * most / of.length) !== Math.floor((at - 1) * most / of.length)));
}

/** The length of the folders that all of the paths begin with. */
function shared(files) {
  const folders = files.map((file) => `${path.dirname(file)}/`);
  const [first = ''] = folders;
  let end = first.length;
  while (!folders.every((folder) => folder.startsWith(first.slice(0, end)))) end = first.lastIndexOf('/', end - 2) + 1;
  return end;
}

/** Unpacks the archive of a package, and puts the files that are used into `ready`. Returns how many there are, and how many are used. */
function unpack(archive, work, ready, { files = DOCUMENT, most = MOST, mail, also }) {
  const whole = path.join(work, 'whole');
  mkdirSync(whole);
  if (archive.endsWith('.deb')) run('dpkg-deb', ['-x', archive, whole]);
  else run('tar', ['xf', archive, '-C', whole]);
  const wanted = new RegExp(files, 'i');
  const known = new Set();
  const fresh = (file) => known.size < known.add(sha256(path.join(whole, file))).size; // some packages have the same file twice
  const found = readdirSync(whole, { recursive: true }).sort().filter((file) => wanted.test(file) && statSync(path.join(whole, file), { throwIfNoEntry: false })?.isFile() && fresh(file));
  const used = chosen(found, most);
  const from = shared(used);
  mkdirSync(ready);
  for (const file of used) {
    let to = path.join(ready, file.slice(from).replace(/\.gz$/, ''));
    if (mail && new RegExp(mail).test(file)) to = to.replace(/\.[^.]*$/, '.eml');
    mkdirSync(path.dirname(to), { recursive: true });
    if (file.endsWith('.gz')) writeFileSync(to, gunzipSync(readFileSync(path.join(whole, file))));
    else copyFileSync(path.join(whole, file), to);
    if (also) copyFileSync(to, `${to}.${also}`);
  }
  return [found.length, used.length];
}

mkdirSync(into, { recursive: true });
// The reference readers: those of PyPI, and the one for DOC, which is unpacked here and not installed.
const requirements = readFileSync(path.join(here, 'requirements.txt'), 'utf8');
const installed = path.join(into, 'venv/.installed');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== requirements) {
  run('python3', ['-m', 'venv', path.join(into, 'venv')]);
  run(path.join(into, 'venv/bin/pip'), ['install', '--quiet', '-r', path.join(here, 'requirements.txt')]);
  writeFileSync(installed, requirements);
}
if (!existsSync(path.join(into, 'antiword'))) {
  const work = mkdtempSync(path.join(into, 'work-'));
  try {
    run('dpkg-deb', ['-x', DOWNLOAD.debian('antiword', work), path.join(into, 'antiword')]);
  } catch (error) {
    console.log(`antiword: not available here, so DOC files are not compared (${String(error.stderr || error.message).trim().split('\n').at(-1)})`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

for (const [registry, packages] of Object.entries(sources)) {
  for (const [name, options] of Object.entries(packages)) {
    const plain = name.replace(/(.)[@=].*/, '$1');
    const asked = JSON.stringify([name, options]);
    // What was chosen otherwise is unpacked anew.
    const before = readdirSync(into).filter((folder) => folder.startsWith(`${registry} ${plain} `));
    if (before.some((folder) => existsSync(path.join(into, folder, '.chosen')) && readFileSync(path.join(into, folder, '.chosen'), 'utf8') === asked)) continue;
    const work = mkdtempSync(path.join(into, 'work-'));
    const ready = path.join(work, 'ready');
    try {
      const download = path.join(work, 'download');
      mkdirSync(download);
      const archive = DOWNLOAD[registry](name, download);
      if (options.sha256 && options.sha256 !== sha256(archive)) throw new Error(`its archive has the SHA-256 ${sha256(archive)}, and not that of sources.json`);
      const [found, used] = unpack(archive, work, ready, options);
      writeFileSync(path.join(ready, '.chosen'), asked);
      for (const folder of before) rmSync(path.join(into, folder), { recursive: true });
      renameSync(ready, path.join(into, `${registry} ${label(registry, name, archive)}`));
      console.log(`${registry} ${label(registry, name, archive)}: ${found} documents, ${used} used${options.sha256 || registry === 'debian' ? '' : `; SHA-256 ${sha256(archive)}`}`);
    } catch (error) {
      console.log(`${registry} ${name}: not available here (${String(error.stderr || error.message).trim().split('\n').at(-1)})`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
}
