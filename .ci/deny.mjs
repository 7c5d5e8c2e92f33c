// node .ci/deny.mjs: checks our dependencies against deny.toml, and that each lock file has what its package.json names: without
// that, `npm ci` fails, perhaps only in `make test-all`. Advisories need a database from the network: if it cannot be reached,
// their check is skipped and the last line says so.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');

const deny = (...checks) => {
  const { status, stdout, stderr } = spawnSync('cargo', ['deny', '--locked', 'check', ...checks], { encoding: 'utf8', timeout: 120_000 });
  return { passed: status === 0, said: `${stdout ?? ''}${stderr ?? ''}`.trim() };
};

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const checks of [['bans', 'licenses', 'sources'], ['advisories']]) {
  const { passed, said } = deny(...checks);
  const unreached = !passed && /failed to (fetch|load|open) advisory database|failed to clone/.test(said);
  if (unreached) console.log('advisories: SKIPPED, the advisory database cannot be reached');
  else console.log(`${checks.join(', ')}: ${passed ? 'ok' : `FAILED\n${said}`}`);
  counts[unreached ? 'skipped' : passed ? 'passed' : 'failed'] += 1;
}
const json = (file) => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
const { stdout: locks } = spawnSync('git', ['ls-files', '*package-lock.json'], { cwd: root, encoding: 'utf8' });
for (const lock of locks.trim().split('\n')) {
  const { packages: { '': locked } } = json(lock);
  const named = json(path.join(path.dirname(lock), 'package.json'));
  const differs = ['dependencies', 'devDependencies', 'optionalDependencies'].find((kind) => !isDeepStrictEqual(locked[kind] ?? {}, named[kind] ?? {}));
  console.log(`${lock}: ${differs ? `FAILED: its ${differs} are not those of package.json; run npm install there` : 'ok'}`);
  counts[differs ? 'failed' : 'passed'] += 1;
}
console.log(`dependencies: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed ? 1 : 0);
