// The npm package as people use it: the tarball, installed into small apps of bundlers and frameworks, each built and served
// by its own commands. In each app an agent answers with a tool, and the tag answers. `make test` has one bundler, Vite.
//   SITE=dist (the default)   where `.ci/pack` left the tarball and the docs zip
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { unzipSync } from 'fflate';
import { serve } from '../../.ci/static.mjs';
import { withPage } from '../e2e/lib/browser.mjs';
import { withScript } from '../e2e/lib/script-server.mjs';
import { left } from '../e2e/lib/tier.mjs';

const here = import.meta.dirname;
const dist = path.resolve(here, '../..', process.env.SITE ?? 'dist');
const { version } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));
const tarball = path.join(dist, `turnwise-${version}.tgz`);
const bin = (file) => path.join(here, 'node_modules', file);

// Some frameworks need a newer Node.js than the project does. It comes from npm, so that no machine has to have it.
const modern = [`linux-${process.arch}`].map((name) => bin(`node-${name}/bin/node`)).find(existsSync) ?? process.execPath;

// The apps run here, not in the system's temporary folder: their frameworks resolve from node_modules above them, without
// links, which some of them refuse. Only `turnwise` is in their own node_modules.
const work = path.join(here, 'run');
let installed;

before(() => {
  assert.ok(existsSync(tarball), `${tarball} is missing: node .ci/pack.mjs ${dist}`);
  rmSync(work, { recursive: true, force: true });
  installed = mkdtempSync(path.join(tmpdir(), 'turnwise-installed-'));
  writeFileSync(path.join(installed, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', tarball], { cwd: installed });
});
after(() => {
  rmSync(installed, { recursive: true, force: true });
  if (!process.env.KEEP) rmSync(work, { recursive: true, force: true });
});

/** Returns a copy of an app, with the installed tarball. */
function copyOf(name, as = name) {
  const folder = path.join(work, as);
  cpSync(path.join(here, 'apps', name), folder, { recursive: true });
  cpSync(path.join(here, 'apps/ask.js'), path.join(folder, 'ask.js'));
  const own = path.join(folder, 'package.json');
  writeFileSync(own, JSON.stringify({ ...JSON.parse(readFileSync(own, 'utf8')), dependencies: { turnwise: version } }));
  cpSync(path.join(installed, 'node_modules/turnwise'), path.join(folder, 'node_modules/turnwise'), { recursive: true });
  return folder;
}

const env = { ...process.env, NODE_OPTIONS: '', NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1', NODE_ENV: undefined, NODE_TEST_CONTEXT: undefined };

/** Starts a program as a process group, and collects its output in `said`. `end` kills it; `code` resolves when it exits. */
function start(folder, command, args, more = {}) {
  const child = spawn(command, args, { cwd: folder, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const program = { said: '', ended: false };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { program.said += stripVTControlCharacters(text); });
  program.code = new Promise((resolve) => {
    child.on('error', (error) => { program.said += error; resolve(-1); });
    child.on('close', resolve);
  }).finally(() => { program.ended = true; });
  program.end = () => {
    if (!program.ended) process.kill(-child.pid, 'SIGKILL');
    return program.code;
  };
  return program;
}

/** A message of Next.js wherever `CI` is set: it is about that machine, not about the app. */
const NO_CACHE = /^.*⚠ No build cache found\..*$/m;

/** Checks that there is neither a warning nor an error about the package. */
const quiet = (said) => assert.doesNotMatch(said.replace(NO_CACHE, ''), /\bwarn(ing)?\b|⚠|\(!\)|\berror:|turnwise.*(?:fail|could not|cannot|not found)/i, said);

async function build(folder, ...args) {
  const program = start(folder, modern, args);
  const code = await program.code;
  assert.equal(code, 0, program.said);
  quiet(program.said);
  return program.said;
}

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/** Runs `body(url)` while a server of the app runs; `args(port)` are the arguments of Node.js. */
async function served(folder, args, body, more = () => ({})) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const program = start(folder, modern, args(String(port)), more(String(port)));
  try {
    for (let tries = 0; ; tries += 1) {
      if (program.ended || tries > 600) throw new Error('the server did not start');
      if (await fetch(url).then((answer) => answer.text(), () => undefined) !== undefined) break;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
    await body(url);
    quiet(program.said);
  } catch (error) {
    throw new Error(`${error.message}\n${program.said}`, { cause: error });
  } finally {
    await program.end();
  }
}

const SCRIPT = [
  { calls: [{ id: 'a', name: 'price', args: { article: 'lamp' } }, { id: 'b', name: 'calculate', args: { expression: '3 * 12' } }] },
  { text: 'They cost 36 euros.', check: ({ messages }) => {
    assert.match(messages.at(-2).content, /"euros":12/);
    assert.match(messages.at(-1).content, /36/);
  } },
];

/** Checks in a browser that the agent answers on page `api`, and the tag on page `element`. One page does both if they are the same. */
const answers = (url, { api = '', element = '', expect = [] } = {}) => withScript(SCRIPT, async (baseUrl) => {
  const options = { reach: [baseUrl], expect };
  const agent = async (page) => {
    await page.waitForFunction(() => document.querySelector('output')?.textContent, undefined, { timeout: 20000 });
    assert.equal(await page.locator('output').textContent(), 'They cost 36 euros.');
  };
  const tag = async (page) => {
    await page.waitForFunction(() => customElements.get('turnwise-agent'));
    const { output, outcome } = await page.evaluate(() => document.querySelector('turnwise-agent').ask('2+3?'));
    assert.equal(outcome, 'success');
    assert.match(String(output), /\b5\b/);
  };
  const at = (name) => `${url}${name}?model=${encodeURIComponent(baseUrl)}`;
  await withPage(at(api), options, async (page) => {
    await agent(page);
    if (api === element) await tag(page);
  });
  if (api !== element) await withPage(at(element), { ...options, reach: [] }, tag);
});

/** Checks that the route /api answers on the server. */
const answersOnServer = (url) => withScript(SCRIPT, async (baseUrl) => {
  const answer = await fetch(`${url}api?model=${encodeURIComponent(baseUrl)}`);
  const body = await answer.text();
  assert.equal(answer.status, 200, body);
  assert.deepEqual(JSON.parse(body), { text: 'They cost 36 euros.' });
});

/** Returns a page as the server rendered it. */
const html = async (url) => {
  const answer = await fetch(url);
  assert.equal(answer.status, 200);
  return answer.text();
};

const VITE = bin('vite/bin/vite.js');
const at = (port) => ['--port', port, '--strictPort', '--host', '127.0.0.1'];

test('Vite: its development server', { skip: left }, async () => {
  const folder = copyOf('vite', 'vite-dev');
  await served(folder, (port) => [VITE, 'dev', ...at(port)], (url) => answers(url, { expect: [/^debug: \[vite\]/] }));
});

test('Vite: a build', async () => {
  const folder = copyOf('vite');
  await build(folder, VITE, 'build');
  await served(folder, (port) => [VITE, 'preview', ...at(port)], (url) => answers(url));
});

test('webpack', { skip: left }, async () => {
  const folder = copyOf('webpack');
  await build(folder, bin('webpack-cli/bin/cli.js'));
  cpSync(path.join(folder, 'index.html'), path.join(folder, 'dist/index.html'));
  const site = await serve(path.join(folder, 'dist'));
  try {
    await answers(site.url);
  } finally {
    await site.close();
  }
});

test('Next.js: pages, a route handler', { skip: left }, async () => {
  const folder = copyOf('next');
  const next = bin('next/dist/bin/next');
  await build(folder, next, 'build');
  await served(folder, (port) => [next, 'start', '--port', port, '--hostname', '127.0.0.1'], async (url) => {
    assert.match(await html(url), /<h1>0(<!-- -->)? ?(<!-- -->)?messages<\/h1>/);
    assert.match(await html(`${url}element`), /<turnwise-agent provider="demo" docs="off">/);
    await answersOnServer(url);
    await answers(url, { element: 'element' });
  });
});

test('Next.js: its development server', { skip: left }, async () => {
  const folder = copyOf('next', 'next-dev');
  await served(folder, (port) => [bin('next/dist/bin/next'), 'dev', '--port', port, '--hostname', '127.0.0.1'], async (url) => {
    await answersOnServer(url);
    await answers(url, { element: 'element', expect: [/^info: %cDownload the React DevTools|^log: \[(HMR|Fast Refresh)\]/] });
  });
});

test('Astro', { skip: left }, async () => {
  const folder = copyOf('astro');
  const astro = bin('astro/bin/astro.mjs');
  await build(folder, astro, 'build');
  await served(folder, (port) => [astro, 'preview', '--port', port, '--host', '127.0.0.1'], async (url) => {
    assert.match(await html(url), /<h1>demo<\/h1>/);
    await answers(url);
  });
});

test('SvelteKit: pages, a route', { skip: left }, async () => {
  const folder = copyOf('sveltekit');
  await build(folder, VITE, 'build');
  await served(folder, () => ['build'], async (url) => {
    assert.match(await html(url), /<h1>demo<\/h1>/);
    await answersOnServer(url);
    await answers(url);
  }, (PORT) => ({ PORT, HOST: '127.0.0.1' }));
});

test('a script tag, of the zip for documentation sites', async () => {
  const folder = path.join(work, 'script-tag');
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(path.join(dist, `turnwise-docs-site-${version}.zip`))))) {
    mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(folder, name), bytes);
  }
  const tag = readFileSync(path.join(folder, 'tag.html'), 'utf8').replace('<turnwise-agent>', '<turnwise-agent provider="demo" docs="off">');
  const own = `<output></output><script type="module">
import init, { Agent } from '/turnwise/turnwise.js';
await init();
const agent = new Agent({
  provider: { kind: 'openai', model: 'scripted', baseUrl: new URLSearchParams(location.search).get('model') },
});
agent.registerTool({ name: 'price', description: 'The price of an article.', parameters: { type: 'object' }, sideEffect: 'none', execute: () => ({ euros: 12 }) });
document.querySelector('output').textContent = (await agent.run('What do three lamps cost?')).output;
</script>`;
  writeFileSync(path.join(folder, 'index.html'), `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"></head><body>${own}${tag}</body></html>`);
  // The proxy of the zip is whole: without variables it says which is missing.
  const { proxy } = await import(pathToFileURL(path.join(folder, 'key-proxy/node.mjs')).href);
  const server = http.createServer(proxy({})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert.equal((await (await fetch(`http://127.0.0.1:${server.address().port}/v1/chat/completions`, { method: 'POST' })).json()).error.code, 'not_configured');
  await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  const site = await serve(folder);
  try {
    await answers(site.url);
  } finally {
    await site.close();
  }
});

test('Node.js', () => withScript(SCRIPT, async (baseUrl) => {
  const folder = copyOf('node');
  const program = start(folder, process.execPath, ['main.js', baseUrl]);
  assert.equal(await program.code, 0, program.said);
  assert.equal(program.said, 'They cost 36 euros.\n');
}));

test('TypeScript, strict, by the rules of Node.js and of bundlers', async () => {
  const folder = copyOf('node', 'types');
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022', '--lib', 'es2022,dom,esnext.disposable'];
  for (const rules of [['--module', 'nodenext'], ['--module', 'esnext', '--moduleResolution', 'bundler']]) {
    const program = start(folder, process.execPath, [bin('typescript/bin/tsc'), ...strict, '--jsx', 'react-jsx', ...rules, 'types.tsx']);
    assert.equal(await program.code, 0, program.said);
  }
});

test('publint and Are The Types Wrong find nothing', async () => {
  const lint = start(here, process.execPath, [bin('publint/src/cli.js'), 'run', tarball, '--strict']);
  assert.equal(await lint.code, 0, lint.said);
  assert.match(lint.said, /All good!/, lint.said);
  // Files that are loaded by their URL have no types.
  const assets = Object.keys(JSON.parse(readFileSync(path.join(installed, 'node_modules/turnwise/package.json'), 'utf8')).exports).filter((name) => /worker\.js$|\.wasm$|\.json$/.test(name));
  const types = start(here, process.execPath, [bin('@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only', '--exclude-entrypoints', ...assets]);
  assert.equal(await types.code, 0, types.said);
});
