// The programs of docs/testing.md, in the runners that they are written for: Vitest with its environments and its browser mode, Jest with its
// own, Playwright. And that a test that has to fail fails, with the words that the page says.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import ts from '../e2e/node_modules/typescript/lib/typescript.js';
import { ARGS } from '../e2e/lib/browser.mjs';
import { dist, root } from '../e2e/lib/site.mjs';
import { withHost } from '../e2e/lib/widget.mjs';

/** A project below this folder, so that it finds the libraries; the package is a copy, as npm would install it. */
const project = mkdtempSync(path.join(import.meta.dirname, '.run-'));
after(() => rmSync(project, { recursive: true, force: true }));
const page = readFileSync(path.join(root, 'docs/testing.md'), 'utf8');
const put = (name, text) => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), text);
};
cpSync(path.join(dist, 'turnwise'), path.join(project, 'node_modules/turnwise'), { recursive: true, filter: (file) => !/app-|pdf|_bg\.wasm$/.test(path.basename(file)) || /(agent|worker)_bg/.test(file) });
put('package.json', '{ "type": "module", "private": true }');

/** The programs: those with a name above them have it, the others are tests of a runner. */
const programs = { vitest: [], playwright: [], jest: [], all: {} };
for (const { 1: kind, 2: code, index } of page.matchAll(/^```(ts|js)\n(.*?)^```$/gms)) {
  const named = /`([\w.]+\.m?[tj]s)`[^\n]*\n\n$/.exec(page.slice(0, index))?.[1];
  const runner = /from 'vitest'/.test(code) ? 'vitest' : /from '@playwright\/test'/.test(code) ? 'playwright' : 'jest';
  const name = named ?? `${runner}-${page.slice(0, index).split('\n').length}.${runner === 'playwright' ? 'spec' : 'test'}.${kind}`;
  programs.all[name] = code;
  put(name, code);
  if (/^(test|it)\(/m.test(code)) programs[runner].push(name);
}

/** Without colours, and without what says that a test of Node.js runs. */
const { FORCE_COLOR: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env;
const environment = { ...inherited, NO_COLOR: '1' };

/** Runs a program of a library; resolves with its exit code and its output. */
function run(file, args, env = {}) {
  const child = spawn(process.execPath, file.concat(args), { cwd: project, env: { ...environment, ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
  return new Promise((resolve) => { child.on('close', (code) => resolve({ code, text })); });
}
const library = (name) => path.join(import.meta.dirname, 'node_modules', name);
const vitest = (...args) => run([library('vitest/vitest.mjs'), 'run'], args);
const jest = (...args) => run(['--experimental-vm-modules', '--no-warnings', library('jest/bin/jest.js'), '--config', 'jest.config.mjs'], args);
const playwright = (args, env) => run([library('@playwright/test/cli.js'), 'test', '--config', 'playwright.config.mjs'], args, env);
const passes = ({ code, text }, words) => { assert.equal(code, 0, text); assert.match(text, words); };
const tests = (names) => names.reduce((sum, name) => sum + programs.all[name].match(/^test\(/gm).length, 0);

test('the page has programs for each runner', () => {
  assert.ok(programs.vitest.length >= 6 && programs.jest.length === 1 && programs.playwright.length === 2, JSON.stringify({ ...programs, all: undefined }));
});

test('they type-check', () => {
  const files = Object.keys(programs.all).map((name) => path.join(project, name));
  const program = ts.createProgram(files, {
    strict: true, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'], types: ['node'], typeRoots: [path.join(root, 'tests/e2e/node_modules/@types')], maxNodeModuleJsDepth: 0,
  });
  const found = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file))).map(({ messageText, file }) => `${path.basename(file.fileName)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  assert.deepEqual(found, []);
});

test('Vitest in Node.js, jsdom and happy-dom', { timeout: 180_000 }, async () => {
  for (const name of ['node', 'jsdom', 'happy-dom']) {
    passes(await vitest('--environment', name), new RegExp(`Tests +${tests(programs.vitest)} passed`));
  }
});

test('Vitest in a browser', { timeout: 180_000 }, async () => {
  put('browser/greeting.test.ts', `
    import { expect, test } from 'vitest';
    import { Agent } from 'turnwise';
    import { scripted } from 'turnwise/testing';
    test('greets', async () => {
      expect(typeof document.body.getBoundingClientRect).toBe('function');
      const model = scripted([{ error: 503 }, 'Hello.']);
      expect((await new Agent({ model }).generate('Hi')).text).toBe('Hello.');
    });`);
  put('vitest.browser.config.ts', `
    import { defineConfig } from 'vitest/config';
    import { playwright } from '@vitest/browser-playwright';
    const launchOptions = { executablePath: ${JSON.stringify(process.env.CHROMIUM ?? '/usr/bin/chromium')}, args: ${JSON.stringify(ARGS)} };
    export default defineConfig({
      optimizeDeps: { exclude: ['turnwise'] },
      test: { include: ['browser/*.test.ts'], setupFiles: './setup.ts', browser: { enabled: true, headless: true, api: { host: '127.0.0.1' }, screenshotFailures: false, provider: playwright({ launchOptions }), instances: [{ browser: 'chromium' }] } },
    });`);
  passes(await vitest('--config', 'vitest.browser.config.ts'), /Tests +1 passed/);
  rmSync(path.join(project, 'browser'), { recursive: true });
});

test('a test fails for a reply that nobody requested and for a request without a reply, in the words of the page', { timeout: 180_000 }, async () => {
  const wrong = programs.all['shop.test.ts'];
  put('missing.test.ts', wrong.replace(/ {4}\{ text: 'A lamp.*\n/, ''));
  put('unused.test.ts', wrong.replace("{ toolName: 'price', input: { article: 'lamp' } },\n", "'A lamp costs 12 euros.',\n").replace('{ text: \'A lamp costs 12 euros.\', expect: { lastMessage: \'12\' } }', "{ text: 'A lamp costs 12 euros.' }").replace('toBe(2)', 'toBe(1)'));
  const { code, text } = await vitest('missing.test.ts', 'unused.test.ts');
  assert.equal(code, 1);
  const said = [...page.matchAll(/^scripted: .*$/gm)].map(([line]) => line);
  assert.equal(said.length, 2);
  for (const line of said) assert.ok(text.includes(line), `${line}\n${text}`);
  assert.match(text, /Tests +2 failed \| 2 passed/);
  rmSync(path.join(project, 'missing.test.ts'));
  rmSync(path.join(project, 'unused.test.ts'));
});

test('Jest with jsdom and with Node.js', { timeout: 180_000 }, async () => {
  passes(await jest(), /Tests: +1 passed/);
  passes(await jest('--env', 'node'), /Tests: +1 passed/);
  put('unused.jest.mjs', programs.all['greeting.jest.mjs'].replace("['Hello.']", "['Hello.', 'More.']"));
  const { code, text } = await jest('unused.jest.mjs');
  assert.equal(code, 1);
  assert.match(text, /scripted: reply 2 of 2 was not requested: text "More\."/);
});

test('Playwright: a route, and a served script', { timeout: 180_000 }, async () => {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><link rel="icon" href="data:,">
    <form><label>Question <input></label><button>Ask</button></form><p></p><div role="alert"></div>
    <script type="module">
      import { Agent, openai } from '/turnwise/index.js';
      const baseUrl = new URLSearchParams(location.search).get('model') ?? 'https://api.example/v1';
      const agent = new Agent({ model: openai('m', { baseUrl }) });
      document.querySelector('form').addEventListener('submit', async (event) => {
        event.preventDefault();
        const run = agent.stream(document.querySelector('input').value);
        try { for await (const text of run.textStream) document.querySelector('p').append(text); } catch (error) { document.querySelector('[role=alert]').append(error.message); }
      });
    </script>`;
  await withHost({ pages: { '/': html } }, async ({ url }) => {
    put('playwright.config.mjs', `export default {
      testMatch: '*.spec.ts', reporter: 'line', workers: 1,
      use: { baseURL: '${url}', launchOptions: { executablePath: ${JSON.stringify(process.env.CHROMIUM ?? '/usr/bin/chromium')}, args: ${JSON.stringify(ARGS)} } },
    };`);
    passes(await playwright([]), new RegExp(`${tests(programs.playwright)} passed`));
    put('unused.spec.ts', programs.all['ask.spec.ts'].replace('scripted([{ error: 401 }])', "scripted([{ error: 401 }, 'More.'])"));
    const { code, text } = await playwright(['unused.spec.ts']);
    assert.equal(code, 1, text);
    assert.match(text, /scripted: reply 2 of 2 was not requested: text "More\."/);
    assert.match(text, /1 failed/);
  });
});
