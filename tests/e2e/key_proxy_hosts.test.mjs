// The example's proxy on the other platforms: Express and Deno on loopback, Vercel's and Netlify's handlers called as those
// platforms call them. The rules themselves are tested on workerd; here it is what each file adds: addresses, streams, limits,
// visitors who leave, and where questions go.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import express from 'express';
import { KEY, SITE, json, question, told, withUpstream } from './lib/key-proxy.mjs';
import { root } from './lib/site.mjs';

const example = path.join(root, 'examples/key-proxy');
const READY_MS = 20_000;
let loads = 0;
/** A fresh copy of a platform's file, with meters of its own. */
const load = (name) => import(`${pathToFileURL(path.join(example, name)).href}?${loads += 1}`);
const variables = (baseUrl, folder, vars) => ({ ORIGINS: SITE, MODELS: 'small', BASE_URL: baseUrl, API_KEY: KEY, SALT: 'salt', MAX_BODY_BYTES: '400000', MAX_OUTPUT_TOKENS: '300', PER_MINUTE: '100', PER_DAY: '3', SITE_PER_DAY: '100', QUESTIONS: 'on', QUESTIONS_FILE: path.join(folder, 'questions.jsonl'), ...vars });

async function inFolder(body) {
  const folder = mkdtempSync(path.join(tmpdir(), 'key-proxy-'));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sets variables of this process while `body` runs, and notes what is written to the console. */
async function inProcess(vars, body) {
  const before = { ...process.env };
  const { log } = console;
  const lines = [];
  Object.assign(process.env, vars);
  console.log = (line) => lines.push(line);
  try {
    return await body(lines);
  } finally {
    console.log = log;
    process.env = before;
  }
}

async function listening(server, body) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await body(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const asPage = (request, { origin = SITE, signal, ...headers } = {}) => ({ method: 'POST', body: JSON.stringify(request), headers: { origin, 'content-type': 'application/json', ...headers }, signal });

/**
 * Each platform: `start(vars, body)` calls `body({ send, questions, from })`. `send(path, request, more)` sends a request as a page
 * of the site and returns the response; `from(address)` are headers or values that make the platform see that address.
 */
const HOSTS = {
  express: (vars, body) => inFolder(async (folder) => {
    const { proxy } = await load('node.mjs');
    const env = variables(vars.BASE_URL, folder, vars);
    const app = express();
    app.set('trust proxy', 'loopback');
    app.use('/ask', proxy(env));
    return listening(http.createServer(app), (url) => body({
      send: (name, request, { address = '192.0.2.1', ...more } = {}) => fetch(`${url}/ask/v1/${name}`, asPage(request, { 'x-forwarded-for': address, ...more })),
      questions: () => readFileSync(env.QUESTIONS_FILE, 'utf8'),
    }));
  }),
  'express after express.json()': (vars, body) => inFolder(async (folder) => {
    const { proxy } = await load('node.mjs');
    const env = variables(vars.BASE_URL, folder, vars);
    const app = express().set('trust proxy', 'loopback').use(express.json()).use('/ask', proxy(env));
    return listening(http.createServer(app), (url) => body({
      send: (name, request, { address = '192.0.2.1', ...more } = {}) => fetch(`${url}/ask/v1/${name}`, asPage(request, { 'x-forwarded-for': address, ...more })),
      questions: () => readFileSync(env.QUESTIONS_FILE, 'utf8'),
    }));
  }),
  deno: (vars, body) => inFolder(async (folder) => {
    const env = variables(vars.BASE_URL, folder, { ...vars, PORT: '0', HOST: '127.0.0.1', DENO_DIR: path.join(folder, 'cache'), NO_COLOR: '1' });
    const child = spawn(path.join(import.meta.dirname, 'node_modules/.bin/deno'), ['run', '--allow-net=127.0.0.1', '--allow-env', `--allow-write=${folder}`, path.join(example, 'deno.mjs')], { detached: true, env: { PATH: process.env.PATH, HOME: folder, ...env } });
    const ended = once(child, 'close');
    try {
      const url = await new Promise((resolve, reject) => {
        let text = '';
        const late = setTimeout(() => reject(new Error(`Deno does not listen: ${text}`)), READY_MS);
        const hear = (part) => {
          text += part;
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
          if (found) { clearTimeout(late); resolve(found[0]); }
        };
        child.stdout.on('data', hear);
        child.stderr.on('data', hear);
      });
      return await body({
        send: (name, request, { address: _, ...more } = {}) => fetch(`${url}/v1/${name}`, asPage(request, more)),
        questions: () => readFileSync(env.QUESTIONS_FILE, 'utf8'), oneAddress: true,
      });
    } finally {
      process.kill(-child.pid); // the package's command starts another process
      await ended;
    }
  }),
  vercel: (vars, body) => inProcess(variables(vars.BASE_URL, '', vars), async (lines) => {
    const { default: { fetch: handler } } = await load('vercel.mjs');
    return body({
      send: (name, request, { address = '192.0.2.1', ...more } = {}) => handler(new Request(`https://docs.example.org/api/v1/${name}`, asPage(request, { 'x-real-ip': address, ...more }))),
      questions: () => lines.join('\n'),
    });
  }),
  netlify: (vars, body) => inProcess(variables(vars.BASE_URL, '', vars), async (lines) => {
    const { default: handler } = await load('netlify.mjs');
    return body({
      send: (name, request, { address = '192.0.2.1', ...more } = {}) => handler(new Request(`https://docs.example.org/ask/v1/${name}`, asPage(request, more)), { ip: address }),
      questions: () => lines.join('\n'),
    });
  }),
};

for (const [name, start] of Object.entries(HOSTS)) {
  test(`${name}: pages of the site, its models, its limits; the key stays`, () => withUpstream(json({ choices: [] }), (BASE_URL, seen) => start({ BASE_URL }, async ({ send, oneAddress }) => {
    const served = await told(await send('chat/completions', question()));
    assert.deepEqual([served.status, served.headers.get('access-control-allow-origin'), served.text], [200, SITE, '{"choices":[]}']);
    assert.equal(seen[0].headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual(seen[0].body, question({ max_tokens: 300 }));
    for (const header of ['origin', 'x-real-ip', 'x-forwarded-for', 'cookie']) assert.equal(seen[0].headers[header], undefined, `${header} is not sent on`);
    assert.equal((await told(await send('chat/completions', question(), { origin: 'https://evil.example' }))).code, 'origin_not_allowed');
    assert.equal((await told(await send('chat/completions', question({ model: 'huge' })))).code, 'model_not_allowed');
    assert.equal((await told(await send('models', {}))).status, 404);
    const statuses = [];
    for (let at = 0; at < 3; at += 1) statuses.push((await told(await send('chat/completions', question()))).status);
    assert.deepEqual(statuses, [200, 200, 429]);
    const over = await told(await send('chat/completions', question()));
    assert.deepEqual([over.status, over.code], [429, 'rate_limited']);
    assert.ok(Number(over.headers.get('retry-after')) >= 1);
    if (!oneAddress) assert.equal((await told(await send('chat/completions', question(), { address: '192.0.2.2' }))).status, 200, 'another visitor');
  })));

  test(`${name}: an answer streams through, and a visitor who leaves ends the request`, { timeout: 60_000 }, async () => {
    let goOn;
    let left;
    const closed = new Promise((resolve) => { left = resolve; });
    const stream = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1', 'set-cookie': 'a=b' });
      response.write('data: one\n\n');
      response.on('close', left);
      goOn = () => {
        response.write('data: two\n\n');
        const speaking = setInterval(() => response.write('data: more\n\n'), 20);
        response.on('close', () => clearInterval(speaking));
      };
    };
    await withUpstream(stream, (BASE_URL) => start({ BASE_URL }, async ({ send }) => {
      const leave = new AbortController();
      const response = await send('chat/completions', question({ stream: true }), { signal: leave.signal });
      assert.deepEqual(['content-type', 'x-request-id', 'set-cookie', 'cache-control'].map((header) => response.headers.get(header)), ['text/event-stream', 'req_1', null, 'no-store']);
      const reader = response.body.getReader();
      const next = async () => new TextDecoder().decode((await reader.read()).value);
      assert.equal(await next(), 'data: one\n\n');
      goOn();
      assert.match(await next(), /^data: two\n\n/);
      // A page that is left: its platform aborts the request, or stops reading the answer.
      leave.abort();
      await reader.cancel().catch(() => {});
      await closed;
    }));
  });

  test(`${name}: questions are collected, cleaned`, () => withUpstream(json({}), (BASE_URL, seen) => start({ BASE_URL, QUESTIONS_PER_DAY: '1' }, async ({ send, questions }) => {
    const report = { question: 'How, jane@example.org?', why: 'limit', missing: [], page: '/a', lang: 'en' };
    assert.equal((await told(await send('questions', report))).status, 204);
    assert.equal((await told(await send('questions', report))).status, 429);
    assert.deepEqual(JSON.parse(questions().trim()), { day: new Date().toISOString().slice(0, 10), ...report, question: 'How, [removed]?' });
    assert.equal(seen.length, 0);
  })));
}

test('express: a model that breaks off breaks off the answer, and the server lives', () => withUpstream((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: one\n\n');
  setTimeout(() => response.destroy(), 50);
}, (BASE_URL) => HOSTS.express({ BASE_URL }, async ({ send }) => {
  const response = await send('chat/completions', question({ stream: true }));
  await assert.rejects(response.text());
  assert.equal((await told(await send('chat/completions', question({ model: 'huge' })))).status, 403);
})));
