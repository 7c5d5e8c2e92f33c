// The packed package in the other runtimes of JavaScript, Bun and Deno, which come from npm (200 MB): one program, the same output as
// in Node.js. Left for `make test-all`.
//   SITE=dist (the default)   where `.ci/pack` left the tarball; without a tarball, its folder `turnwise`
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { left } from '../e2e/lib/tier.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { version } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));
const tarball = path.join(dist, `turnwise-${version}.tgz`);
const VERSIONS = { bun: '1.4.5', deno: '2.9.6' };
/** Kept between runs. */
const runtimes = path.join(root, 'target/runtimes');
const bin = (name) => path.join(runtimes, 'node_modules/.bin', name);

let app;
before(() => {
  if (left) return;
  mkdirSync(runtimes, { recursive: true });
  const wanted = Object.entries(VERSIONS).map(([name, of]) => `${name}@${of}`);
  const has = (name) => existsSync(bin(name)) && JSON.parse(readFileSync(path.join(runtimes, 'node_modules', name, 'package.json'), 'utf8')).version === VERSIONS[name];
  if (!Object.keys(VERSIONS).every(has)) execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', '--prefix', runtimes, ...wanted], { stdio: 'inherit' });
  app = mkdtempSync(path.join(tmpdir(), 'turnwise-runtimes-'));
  writeFileSync(path.join(app, 'package.json'), '{ "private": true, "type": "module" }');
  if (existsSync(tarball)) execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball], { cwd: app });
  else cpSync(path.join(dist, 'turnwise'), path.join(app, 'node_modules/turnwise'), { recursive: true });
  cpSync(path.join(import.meta.dirname, 'apps/runtime/program.mjs'), path.join(app, 'program.mjs'));
});
after(() => app && rmSync(app, { recursive: true }));

const OUTPUT = [
  'fine: Oslo: sun true true',
  'user,assistant fine: Oslo: sun 4',
  'true',
  'cancelled',
  'success',
  'true',
].join('\n');

function run(command, args) {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: app, encoding: 'utf8', timeout: 120_000, env: { ...process.env, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', NODE_OPTIONS: '' } });
  return { stdout: stdout.trim(), stderr, status };
}
const ends = (command, args) => {
  const { stdout, stderr, status } = run(command, args);
  assert.equal(stdout, OUTPUT, stderr);
  assert.equal(status, 0, stderr);
};

test('the program in Node.js', { skip: left }, () => ends(process.execPath, ['program.mjs']));
test('the program in Bun', { skip: left }, () => ends(bin('bun'), ['program.mjs']));
test('the program in Deno, which may only read', { skip: left }, () => ends(bin('deno'), ['run', '--allow-read', 'program.mjs']));
test('Deno without that permission is told which one', { skip: left }, () => {
  const { stderr, status } = run(bin('deno'), ['run', '--no-prompt', 'program.mjs']);
  assert.notEqual(status, 0);
  assert.match(stderr, /--allow-read/);
});
