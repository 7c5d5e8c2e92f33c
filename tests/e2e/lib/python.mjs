// Servers written in Python, of requirements.txt: started on a free loopback port, ended by their handle.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './site.mjs';

export const python = path.join(root, '.venv/bin/python');

/** Why the servers cannot be had here, or nothing. */
export const missing = existsSync(path.join(root, '.venv/.installed'))
  ? undefined
  : 'the Python packages of tests/e2e/requirements.txt are not installed here (.ci/setup test could not get them)';

/** Runs `body(address)` beside a server script of this folder, which prints its address and ends with its input. */
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
