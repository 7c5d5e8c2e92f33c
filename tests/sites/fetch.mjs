// Fetches tools and contents from the package registries through their ordinary clients, by name and pinned version, once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Runs a command at low priority; its output is shown only if it fails. */
export function sh(command, args, { cwd, env = {} } = {}) {
  const { status, stdout, stderr, error } = spawnSync('nice', ['-n', '10', command, ...args], { cwd, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')} failed: ${error ?? ''}\n${stdout?.slice(-3000)}\n${stderr?.slice(-3000)}`);
}

/** Makes `dir` with `make(dir)`, unless it exists; an incomplete one is never left behind. */
function once(dir, make) {
  if (existsSync(dir)) return dir;
  const part = `${dir}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  make(part);
  renameSync(part, dir);
  return dir;
}

/** The only folder in `dir`. */
const only = (dir) => path.join(dir, readdirSync(dir, { withFileTypes: true }).find((entry) => entry.isDirectory()).name);

/** The folder of commands of a Python environment with exactly these packages (`name==version`, dependencies included). */
export function python(dir, packages) {
  const bin = path.join(dir, 'bin');
  if (existsSync(path.join(dir, 'done'))) return bin;
  rmSync(dir, { recursive: true, force: true }); // its scripts contain the folder's path, so it is made in place
  sh('python3', ['-m', 'venv', dir]);
  sh(path.join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '--ignore-requires-python', ...packages]);
  writeFileSync(path.join(dir, 'done'), '');
  return bin;
}

/** The unpacked source distribution of a Python package. */
export function sdist(dir, name, version) {
  return only(once(dir, (part) => {
    sh('python3', ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--ignore-requires-python', '--no-binary', ':all:', '--dest', part, `${name}==${version}`]);
    const file = readdirSync(part).find((entry) => entry.endsWith('.tar.gz'));
    sh('tar', ['xzf', file], { cwd: part });
  }));
}

/** The unpacked npm package, without its dependencies. */
export function npmPackage(dir, name, version) {
  return only(once(dir, (part) => {
    sh('npm', ['pack', '--silent', '--pack-destination', part, `${name}@${version}`], { cwd: part });
    const file = readdirSync(part).find((entry) => entry.endsWith('.tgz'));
    sh('tar', ['xzf', file], { cwd: part });
  }));
}

/** An npm project with these packages, and their dependencies as of the date `before`. */
export function npmProject(dir, dependencies, before) {
  return once(dir, (part) => {
    writeFileSync(path.join(part, 'package.json'), JSON.stringify({ name: 'test-site', private: true, dependencies }, null, 2));
    sh('npm', ['install', '--silent', '--ignore-scripts', '--no-fund', '--no-audit', `--before=${before}`], { cwd: part });
  });
}

/** The source of a crate. `cargo info` downloads and unpacks only that crate. */
export function crate(name, version) {
  const home = process.env.CARGO_HOME ?? path.join(homedir(), '.cargo');
  const find = () => {
    const src = path.join(home, 'registry', 'src');
    const registry = existsSync(src) ? readdirSync(src).find((entry) => existsSync(path.join(src, entry, `${name}-${version}`))) : undefined;
    return registry && path.join(src, registry, `${name}-${version}`);
  };
  if (!find()) sh('cargo', ['info', '--quiet', `${name}@${version}`], { cwd: '/' });
  const found = find();
  if (!found) throw new Error(`cargo info left no source of ${name} ${version}`);
  return found;
}

/**
 * The unpacked files of a Debian package, which is not installed. Without a version: the archive's newest, for packages
 * whose versions are replaced by security updates.
 */
export function debian(dir, name, version) {
  return path.join(once(dir, (part) => {
    const download = () => sh('apt-get', ['download', '--quiet', version ? `${name}=${version}` : name], { cwd: part });
    try {
      download();
    } catch { // the lists of packages may be missing, or old
      sh('apt-get', ['update', '--quiet']);
      download();
    }
    sh('dpkg-deb', ['-x', readdirSync(part).find((entry) => entry.endsWith('.deb')), 'files'], { cwd: part });
  }), 'files');
}
