// Starts the real llama.cpp server of requirements.txt on a free loopback port, and ends it by its handle.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './site.mjs';

const python = path.join(root, '.venv/bin/python');

/** Why the server cannot be had here, or nothing. */
export const missing = existsSync(path.join(root, '.venv/.installed'))
  ? undefined
  : 'the llama.cpp server and its 98 MB model are not installed here (.ci/setup test could not get them)';

/** Runs `body(baseUrl)` beside the server. Loading the model takes some seconds. */
export async function withLlama(body) {
  const child = spawn(python, [path.join(import.meta.dirname, 'llama_server.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { errors = (errors + text).slice(-2000); });
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    const address = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => reject(new Error(`the llama.cpp server ended with ${code}: ${errors}`)));
      child.stdout.setEncoding('utf8').once('data', (line) => resolve(JSON.parse(line).address));
    });
    return await body(`${address}/v1`);
  } finally {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
}
