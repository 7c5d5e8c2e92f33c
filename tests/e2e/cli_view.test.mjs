// `turnwise view`: a list and a page for each record, in a browser; nothing else can be read, by nobody else.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { inFolder, lines, read, start, turnwise } from './lib/cli.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist } from './lib/site.mjs';

/** Runs `body` with the viewer on a folder with two runs, a plan and a file that cannot be read. */
const withView = (body) => inFolder(async (folder) => {
  writeFileSync(path.join(folder, 't.jsonl'), lines([{ id: 'good', task: 'Say <b>yes</b> & "why"', expect: { contains: 'yes' } }, { id: 'bad', task: 'Say no', expect: { contains: 'yes' } }]));
  await withScript([{ text: 'yes' }, { text: '<img src=x onerror=alert(1)>' }], (baseUrl) => turnwise(['run', 't.jsonl', '--provider', 'openai', '--base-url', baseUrl, '--model', 'm', '--concurrency', '1'], { cwd: folder }));
  mkdirSync(path.join(folder, 'runs/deep'));
  const step = (order, run) => ({ order, agent: 'A', kind: 'gather', status: 'completed', blocked_by: [], context: {}, run });
  writeFileSync(path.join(folder, 'runs/deep/plan.json'), JSON.stringify({ format: 'turnwise-session', version: 1, steps: [step(1, read(folder, 'runs/good.json')), step(2, null)] }));
  writeFileSync(path.join(folder, 'runs/broken.json'), '{');
  writeFileSync(path.join(folder, 'secret.json'), JSON.stringify(read(folder, 'runs/good.json')));
  symlinkSync(path.join(folder, 'secret.json'), path.join(folder, 'runs/link.json'));
  const server = start(['view', 'runs'], { cwd: folder });
  try {
    await server.until('/ (on this machine only');
    const [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.said.out);
    await body(address, folder);
  } finally {
    process.kill(server.child.pid, 'SIGTERM');
    assert.equal((await server.ended).code, 0);
  }
});

/** A request as given, without the checks of `fetch`. */
const ask = (address, target, { method = 'GET', headers = {} } = {}) => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(address);
  const request = http.request({ hostname, port, path: target, method, headers: { host: `127.0.0.1:${port}`, ...headers } }, async (response) => {
    const parts = [];
    for await (const part of response) parts.push(part);
    resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() });
  });
  request.on('error', reject).end();
});

test('the list, its filter and the page of a run work on a wide screen and on a phone', () => withView(async (address) => {
  for (const options of [{}, { context: { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } }]) {
    await withPage(address, options, async (page) => {
      assert.equal(await page.title(), 'Runs in runs');
      const tasks = () => page.locator('td.task').evaluateAll((cells) => cells.map((cell) => (cell.querySelector('a') ?? cell).firstChild.textContent).sort());
      assert.deepEqual(await tasks(), ['Say <b>yes</b> & "why"', 'Say <b>yes</b> & "why"', 'Say no', 'broken.json']);
      assert.deepEqual(await audit(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
      await page.getByRole('searchbox').fill('no');
      await page.getByRole('button', { name: 'Filter' }).click();
      assert.deepEqual(await tasks(), ['Say no']);
      assert.match(await page.locator('tbody').innerText(), /case failed: expected that the answer contains "yes"/);
      await page.getByRole('link', { name: 'Say no' }).click();
      await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
      await page.getByText('case failed: expected that the answer contains "yes"').waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'markdown' }).click();
      assert.equal((await download).suggestedFilename(), 'bad.md');
      await page.getByRole('link', { name: 'All runs' }).click();
      await page.getByRole('link', { name: 'Say <b>yes</b>' }).first().waitFor();
    });
  }
}));

test('a plan has a page for each run, and a file that cannot be read is named', () => withView(async (address) => {
  const { text } = await ask(address, '/');
  assert.match(text, /broken\.json<small>This is not a JSON file/);
  assert.ok(!text.includes('link.json'), 'a link that leads out of the folder is listed');
  const plan = await ask(address, '/record?file=deep%2Fplan.json&step=1');
  assert.deepEqual([plan.status, plan.text.includes('All runs')], [200, true]);
  assert.equal((await ask(address, '/record?file=deep%2Fplan.json&step=2')).status, 404);
  const raw = await ask(address, '/record?file=good.json&format=native');
  assert.equal(JSON.parse(raw.text).output, 'yes');
  assert.match(raw.headers['content-disposition'], /^attachment; filename\*=UTF-8''good\.json$/);
}));

test('a file that is no run answers with what it is, and a record says its verdict', () => withView(async (address, folder) => {
  writeFileSync(path.join(folder, 'runs/list.json'), '[1]');
  writeFileSync(path.join(folder, 'runs/other.json'), '{"format":"turnwise-trajectory"}');
  writeFileSync(path.join(folder, 'runs/bad.json.gz'), Buffer.from([0x1f, 0x8b, 8, 0]));
  const said = async (name) => {
    const { status, text } = await ask(address, `/record?${new URLSearchParams(name)}`);
    assert.ok(status < 500, `${name.file}: ${status}`);
    return `${status} ${text}`;
  };
  assert.match(await said({ file: 'summary.json' }), /^422 summary\.json cannot be shown as a run\. It is a summary of turnwise run/);
  assert.match(await said({ file: 'deep/plan.json' }), /^422 deep\/plan\.json .* It is a plan/);
  for (const file of ['broken.json', 'list.json', 'other.json', 'bad.json.gz']) assert.match(await said({ file }), new RegExp(`^422 ${file} cannot be shown as a run\\. [A-Z\\[].+\\n$`));
  assert.match(await said({ file: 'broken.json', step: '1' }), /^422 /);
  assert.match(await said({ file: 'good.json', step: '1' }), /^404 The plan has no such step/);
  assert.match(await said({ file: 'summary.json', format: 'markdown' }), /^422 /);
  assert.match(await said({ file: 'good.json' }), /<p [^>]*>case passed<\/p>/);
  assert.match(await said({ file: 'bad.json' }), /<p [^>]*>case failed: expected that the answer contains &#34;yes&#34;<\/p>/);
  assert.doesNotMatch(await said({ file: 'deep/plan.json', step: '1' }), /case (passed|failed)/);
}));

test('started by npx it ends with npx, however that ends', { skip: process.platform === 'win32' }, () => withView(async (_, folder) => {
  mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(path.join(dist, 'turnwise'), path.join(folder, 'node_modules/turnwise'));
  symlinkSync('../turnwise/cli.mjs', path.join(folder, 'node_modules/.bin/turnwise'));
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL']) {
    const npx = spawn('npx', ['--no', 'turnwise', 'view', 'runs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    // The pipe closes when the last process that has it ends: the viewer.
    const closed = once(npx.stdout, 'close');
    for await (const text of npx.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      out += text;
      if (out.includes('Ctrl-C')) break;
    }
    npx.stdout.resume();
    assert.match(out, /http:\/\/127\.0\.0\.1:\d+\//, signal);
    npx.kill(signal);
    await closed;
    await assert.rejects(fetch(/http:\S+/.exec(out)[0]), signal);
  }
}));

test('only records of the list can be read, whatever the path', () => withView(async (address, folder) => {
  const secret = path.join(folder, 'secret.json');
  const names = ['../secret.json', secret, 'link.json', 'deep/../../secret.json', '..%2fsecret.json', '..\\secret.json', 'good.json/../../secret.json', '', '.', 'summary.json\0', '%2e%2e/secret.json', 'broken.jso'];
  for (const name of names) {
    const { status, text } = await ask(address, `/record?file=${encodeURIComponent(name)}`);
    assert.deepEqual([name, status], [name, 404], text);
  }
  for (const target of ['/../secret.json', '/secret.json', '/runs/good.json', '/%2e%2e/secret.json', `//${secret}`, '/record/../secret.json']) assert.equal((await ask(address, target)).status, 404, target);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) assert.equal((await ask(address, '/', { method })).status, 405, method);
  assert.equal((await ask(address, '/record?file=good.json&format=__proto__')).status, 400);
  const head = await ask(address, '/', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
}));

test('other names of the machine and pages of other sites are refused, and there is no CORS', () => withView(async (address) => {
  const { port } = new URL(address);
  for (const host of [`evil.example:${port}`, 'evil.example', '127.0.0.1', '127.0.0.1:1', `127.0.0.1.evil.example:${port}`, `[::1]:${port}`, `0.0.0.0:${port}`]) {
    assert.equal((await ask(address, '/', { headers: { host } })).status, 403, host);
  }
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', `https://localhost.evil.example:${port}`]) assert.equal((await ask(address, '/', { headers: { origin } })).status, 403, origin);
  for (const site of ['cross-site', 'same-site']) assert.equal((await ask(address, '/record?file=good.json', { headers: { 'sec-fetch-site': site } })).status, 403, site);
  const own = await ask(address, '/', { headers: { host: `localhost:${port}`, 'sec-fetch-site': 'none' } });
  assert.equal(own.status, 200);
  assert.ok(!Object.keys(own.headers).some((name) => name.startsWith('access-control-')));
  assert.match(own.headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/);
  assert.equal(own.headers['cross-origin-resource-policy'], 'same-origin');
}));
