// The package's command line as a separate process.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dist } from './site.mjs';

export const CLI = path.join(dist, 'turnwise/cli.mjs');

/** Runs `body` in a temporary folder, which is removed afterwards. */
export async function inFolder(body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-cli-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the command; `ended` resolves with `{ code, out, err }`, `until(text)` once it has written the text. */
export function start(args, { cwd, env = {} } = {}) {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  const waiting = [];
  const look = () => waiting.filter(({ text }) => `${said.out}\n${said.err}`.includes(text)).forEach(({ done }) => done());
  child.stdout.setEncoding('utf8').on('data', (text) => { said.out += text; look(); });
  child.stderr.setEncoding('utf8').on('data', (text) => { said.err += text; look(); });
  const ended = new Promise((resolve) => { child.on('close', (code, signal) => resolve({ code, signal, ...said })); });
  const until = (text) => new Promise((done, fail) => { waiting.push({ text, done }); ended.then(() => fail(new Error(`it ended without saying ${text}: ${said.err}`))); look(); });
  return { child, ended, until, said };
}

export const turnwise = (args, options) => start(args, options).ended;
export const lines = (tasks) => tasks.map((task) => `${JSON.stringify(task)}\n`).join('');
export const read = (...parts) => JSON.parse(readFileSync(path.join(...parts), 'utf8'));
