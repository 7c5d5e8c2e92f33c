// The example's proxy as processes of its own, one for each platform, so that a test sees whether one ends. Node.js, Express, Deno
// and workerd are the real ones. Vercel's and Netlify's handlers run in Node.js behind stand-ins that make a `Request` and stream the
// `Response` as those platforms' development servers do: @vercel/node 24 leaves two errors unhandled, @netlify/dev 5 none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Miniflare } from 'miniflare';
import { root } from './site.mjs';

export const example = path.join(root, 'examples/key-proxy');
export const MODULES = ['worker.mjs', 'core.mjs', 'content.mjs', 'limits.mjs', 'clean.mjs', 'relay.mjs', 'addresses.mjs'];
const e2e = path.resolve(import.meta.dirname, '..');
const READY_MS = 20_000;
const file = (name) => JSON.stringify(pathToFileURL(path.join(example, name)).href);
const LISTEN = "server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));";

const inNode = (more, handler) => `
import http from 'node:http';
${more}
const server = http.createServer(${handler});
${LISTEN}`;
const inExpress = (more) => inNode(`import express from ${JSON.stringify(import.meta.resolve('express'))};
import { proxy } from ${file('node.mjs')};
const app = express()${more}.use('/ask', proxy(process.env));`, 'app');
const asHandler = (name, call, { body, pipe }) => inNode(`import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import platform from ${file(name)};
const handler = ${call};
const bodyOf = ${body};
const pipe = ${pipe};`, `async (req, res) => {
  const left = new AbortController();
  res.on('close', () => left.abort());
  let request;
  try {
    const body = ['GET', 'HEAD'].includes(req.method) ? {} : { body: bodyOf(req), duplex: 'half' };
    request = new Request(new URL(req.url, 'https://docs.example.org'), { method: req.method, headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]), signal: left.signal, ...body });
  } catch {
    return void res.writeHead(400).end();
  }
  const response = await handler(request); // a handler that throws ends this process
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body) pipe(Readable.fromWeb(response.body), res);
  else res.end();
}`);
const VERCEL = {
  body: "(req) => new ReadableStream({ start: (body) => void req.on('data', (part) => body.enqueue(new Uint8Array(part))).on('end', () => body.close()).on('error', (error) => body.error(error)) })",
  pipe: '(body, res) => body.pipe(res)',
};
const NETLIFY = { body: '(req) => Readable.toWeb(req)', pipe: '(body, res) => pipeline(body, res).catch(() => {})' };

const PROGRAMS = {
  'Node.js': ['', inNode(`import { proxy } from ${file('node.mjs')};`, 'proxy(process.env)')],
  Express: ['/ask', inExpress('')],
  'Express after express.json()': ['/ask', inExpress('.use(express.json())')],
  "Vercel's handler": ['', asHandler('vercel.mjs', 'platform.fetch', VERCEL)],
  "Netlify's handler": ['', asHandler('netlify.mjs', "(request) => platform(request, { ip: '192.0.2.1' })", NETLIFY)],
};

/** Runs a command that writes its address when it listens. `body({ url, alive })`. */
async function inProcess(command, args, env, prefix, body) {
  const child = spawn(command, args, { detached: true, env: { PATH: process.env.PATH, ...env } });
  let text = '';
  const ended = once(child, 'close');
  try {
    const url = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`It does not listen: ${text}`)), READY_MS);
      const hear = (part) => {
        text += part;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
        if (found) { clearTimeout(late); resolve(found[0]); }
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
    });
    return await body({ url: `${url}${prefix}`, alive: () => child.exitCode === null && child.signalCode === null, said: () => text });
  } finally {
    if (child.exitCode === null) process.kill(-child.pid); // Deno's package starts another process
    await ended;
  }
}

const node = ([prefix, program]) => (env, body) => inProcess(process.execPath, ['--input-type=module', '-e', program], env, prefix, body);

async function deno(env, body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'key-proxy-'));
  try {
    const command = path.join(e2e, 'node_modules/.bin/deno');
    return await inProcess(command, ['run', '--allow-net=127.0.0.1', '--allow-env', path.join(example, 'deno.mjs')], { HOME: folder, DENO_DIR: folder, NO_COLOR: '1', PORT: '0', HOST: '127.0.0.1', ...env }, '', body);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The variables of wrangler.jsonc. */
export function wrangler() {
  const text = readFileSync(path.join(example, 'wrangler.jsonc'), 'utf8');
  return JSON.parse(text.replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[}\]])/g, '$1'));
}

/** Runs the worker on workerd, with these variables only. */
export async function workerd(bindings, body) {
  let text = '';
  const proxy = new Miniflare({
    modules: MODULES.map((name) => ({ type: 'ESModule', path: name, contents: readFileSync(path.join(example, name), 'utf8') })),
    modulesRoot: '/', compatibilityDate: wrangler().compatibility_date, host: '127.0.0.1', port: 0, bindings,
    handleRuntimeStdio: (out, error) => { for (const stream of [out, error]) stream.on('data', (part) => { text += part; }); },
    durableObjects: { METERS: { className: 'Meter', useSQLite: true }, REPORTS: { className: 'Reports', useSQLite: true } },
  });
  try {
    const address = await proxy.ready;
    // Whether workerd lives shows in the next request: nothing starts it again.
    return await body({ address, url: address.origin, alive: () => true, said: () => text });
  } finally {
    await proxy.dispose();
  }
}

/** Each platform: `start(env, body)` calls `body({ url, alive, said })`; requests go to `${url}/v1/…`. */
export const HOSTS = { ...Object.fromEntries(Object.entries(PROGRAMS).map(([name, program]) => [name, node(program)])), Deno: deno, workerd };
