// The four ways to make a tool, as the documentation writes them: each is less than thirty lines, and is run. The skill of docs/skills.md is
// run in skills.test.mjs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';

const run = promisify(execFile);
const block = (page, heading, kind) => {
  const text = readFileSync(path.join(root, page), 'utf8');
  const [, code] = new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``).exec(heading ? text.slice(text.indexOf(`\n${heading}\n`)) : text);
  assert.ok(code.trim().split('\n').length < 30, `${page} has ${code.trim().split('\n').length} lines`);
  return code;
};
const changed = (text, changes) => changes.reduce((all, [from, to]) => {
  assert.ok(all.includes(from), from);
  return all.replace(from, to);
}, text);

/** Runs a program of the documentation in a folder with the package, with another model; returns what it prints. */
async function program(text, changes, steps, prepare = async () => {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-tool-'));
  try {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(dist, 'turnwise'), path.join(folder, 'node_modules/turnwise'));
    symlinkSync(path.join(root, 'tests/e2e/node_modules/zod'), path.join(folder, 'node_modules/zod'));
    await prepare(folder);
    return await withScript(steps, async (baseUrl) => {
      writeFileSync(path.join(folder, 'program.mjs'), changed(text, changes(baseUrl)));
      const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: folder, timeout: 60_000 });
      return stdout.trim();
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const key = (baseUrl) => ['{ apiKey: process.env.OPENAI_API_KEY }', `{ baseUrl: '${baseUrl}', apiKey: 'a-key' }`];
const result = (request) => request.messages.at(-1).content.split('\n[Turn')[0];

async function withService(wanted, answer, body) {
  const seen = [];
  const server = http.createServer((request, response) => {
    seen.push([request.method, request.url, request.headers.authorization]);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer(request.url));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await body(`http://127.0.0.1:${server.address().port}`);
    assert.deepEqual(seen, wanted);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('a tool in JavaScript', () => withService([['GET', '/prices/lamp', undefined]], () => '49.50', async (origin) => {
  const text = `${block('docs/tools.md', '## Tools of your own', 'ts')}\nconsole.log((await agent.generate('go')).text);`;
  const printed = await program(text, (baseUrl) => [["{ baseUrl: '/ask/v1' }", `{ baseUrl: '${baseUrl}', apiKey: 'a-key' }`], ['`/prices/', `\`${origin}/prices/`], ['confirm(', 'Boolean(']], [
    { calls: [{ id: 'a', name: 'getPrice', args: { article: 'lamp' } }] }, { text: 'It costs 49.50.', check: (request) => assert.equal(result(request), '49.50') },
  ]);
  assert.equal(printed, 'It costs 49.50.');
}));

test('a tool in Rust', async () => {
  const printed = await program(block('docs/tools.md', '### A tool in Rust', 'js'), (baseUrl) => [key(baseUrl)], [
    { calls: [{ id: 'a', name: 'payment', args: { amount: 10000, rate: 6, months: 24 } }, { id: 'b', name: 'payment', args: { amount: 1200, rate: 0, months: 12 } }, { id: 'c', name: 'payment', args: { amount: 1, rate: 1, months: 0 } }] },
    { text: '443.21', check: ({ messages }) => {
      const [wrong, interestFree, paid] = messages.toReversed().map(({ content }) => content);
      assert.deepEqual([paid, interestFree], ['443.21', '100.00']);
      assert.match(wrong, /months/);
    } },
  ], async (folder) => {
    writeFileSync(path.join(folder, 'loan.rs'), block('docs/tools.md', '### A tool in Rust', 'rust'));
    await run('rustc', ['--target', 'wasm32-unknown-unknown', '--crate-type', 'cdylib', '-O', 'loan.rs'], { cwd: folder });
  });
  assert.equal(printed, '443.21');
});

test('a tool from an OpenAPI document', () => {
  const document = JSON.stringify({ openapi: '3.1.0', info: { title: 'Shop', version: '1' }, servers: [{ url: '/' }], paths: { '/orders/{id}': { get: { operationId: 'getOrder', parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }], responses: { 200: { description: 'ok' } } } } } });
  return withService([['GET', '/openapi.json', undefined], ['GET', '/orders/A7', 'Bearer shop-key']], (url) => (url === '/openapi.json' ? document : '{"shipped":true}'), async (origin) => {
    const printed = await program(block('docs/openapi.md', '', 'js'), (baseUrl) => [key(baseUrl), ['https://shop.example', origin], ['process.env.SHOP_KEY', "'shop-key'"]], [
      { calls: [{ id: 'a', name: 'getOrder', args: { id: 'A7' } }] }, { text: 'Yes.', check: (request) => assert.equal(result(request), '{"status":200,"body":{"shipped":true}}') },
    ]);
    assert.equal(printed, 'Yes.');
  });
});
