// Servers and scripts in Python, with the packages of requirements.txt. Servers start on a free loopback port, and end with their handle.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './site.mjs';
import { left } from './tier.mjs';

export const python = path.join(root, '.venv/bin/python');

/** The reason why a test that needs them does not run, or nothing: `make test` needs no Python packages. */
export const missing = left ?? (existsSync(path.join(root, '.venv/.installed'))
  ? undefined
  : 'the Python packages of tests/e2e/requirements.txt are not installed here: .ci/setup test-all');

/** Returns the JSON that a script of this folder prints. */
export function printed(script) {
  const { status, stdout, stderr } = spawnSync(python, [path.join(import.meta.dirname, script)], { encoding: 'utf8', timeout: 60000 });
  assert.equal(status, 0, `${script} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Runs `body(address)` while a server script of this folder runs, which prints its address and ends with its input. */
export async function withPython(script, args, body) {
  const child = spawn(python, [path.join(import.meta.dirname, script), ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { errors = (errors + text).slice(-2000); });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const address = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => reject(new Error(`${script} ended with ${code}: ${errors}`)));
      child.stdout.setEncoding('utf8').once('data', (line) => resolve(JSON.parse(line).address));
    });
    return await body(address);
  } finally {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
}
