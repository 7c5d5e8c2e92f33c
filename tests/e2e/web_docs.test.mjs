// The program of docs/web.md, as it is written there, against a scripted model, a search service and pages on loopback.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';
import { withPages } from './lib/web-pages.mjs';

test('the program of the page about the web', () => withPages({}, async (origin) => {
  const [, program] = /^```js\n(import .*?)^```$/ms.exec(readFileSync(path.join(root, 'docs/web.md'), 'utf8'));
  assert.ok(program.trim().split('\n').length < 30);
  const service = http.createServer((request, response) => response.end(JSON.stringify({ results: [{ url: `${origin}/page`, title: 'Garden', content: 'A garden' }, { url: 'https://docs.example.org/x', title: 'X', content: 'x' }] })));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-web-'));
  try {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(dist, 'turnwise'), path.join(folder, 'node_modules/turnwise'));
    await withScript([
      { calls: [{ id: 's', name: 'search_web', args: { query: 'garden' } }] }, { calls: [{ id: 'f', name: 'fetch_url', args: { url: `${origin}/page` } }, { id: 'g', name: 'fetch_url', args: { url: 'https://evil.example/' } }] },
      { text: `It was 1509 ([Garden](${origin}/page), https://nowhere.example/).` },
    ], async (baseUrl) => {
      // Only the addresses are those of this test.
      const changes = [['{ apiKey: process.env.OPENAI_API_KEY }', `{ baseUrl: '${baseUrl}', apiKey: 'a-key' }`], ['http://localhost:8888', `http://127.0.0.1:${service.address().port}`], ["'*.wikipedia.org': 'allow'", `'${origin}': 'allow'`]];
      let text = program;
      for (const [from, to] of changes) {
        assert.ok(text.includes(from), from);
        text = text.replace(from, to);
      }
      writeFileSync(path.join(folder, 'program.mjs'), text);
      const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, timeout: 60_000 });
      assert.match(stdout, /It was 1509/);
      assert.match(stdout, /fetch_url wants to ask evil\.example/);
      assert.ok(stdout.includes(`cited read ${origin}/page`) && stdout.includes('not cited only found https://docs.example.org/x'), stdout);
      assert.match(stdout, /no tool found or read: \[ 'https:\/\/nowhere\.example\/' \]/);
    });
  } finally {
    service.close();
    service.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
}));
