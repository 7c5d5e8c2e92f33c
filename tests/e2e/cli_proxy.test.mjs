// `turnwise proxy`: the package's proxy as one command, in front of a model server on loopback.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { inFolder, start } from './lib/cli.mjs';
import { KEY, SITE, json, question, told, withUpstream } from './lib/key-proxy.mjs';
import { example, wrangler } from './lib/key-proxy-hosts.mjs';
import { reply } from './lib/script-server.mjs';
import { dist, withSite } from './lib/site.mjs';

/** Runs `body` with the command; checks afterwards that the key is in nothing that it wrote. */
async function withProxy(baseUrl, more, body, { origin = SITE, env = { OPENAI_API_KEY: KEY } } = {}) {
  const command = start(['proxy', '--provider', 'openai', '--base-url', baseUrl, '--model', 'small, large', '--origin', origin, '--port', '0', ...more], { env });
  try {
    await command.until("connect-src 'self' http");
    assert.equal(command.said.out.includes('--trust-proxy'), !more.includes('--trust-proxy'), 'the advice that was followed');
    const [, address] = /listens at (http:\/\/127\.0\.0\.1:\d+) /.exec(command.said.out);
    const ask = (request = question(), headers = {}) => fetch(`${address}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(request), headers: { origin, 'content-type': 'application/json', ...headers } });
    await body({ address, ask, said: command.said, until: command.until });
  } finally {
    process.kill(command.child.pid, 'SIGINT');
    const { code, out, err } = await command.ended;
    assert.equal(code, 0, err);
    assert.ok(!`${out}${err}`.includes(KEY), 'the key was written');
  }
}

test('the package and the example are one source, and the defaults are those of the example', () => withUpstream(json({}), async (baseUrl) => {
  const names = readdirSync(example).sort();
  assert.deepEqual(readdirSync(path.join(dist, 'turnwise/key-proxy')).sort(), names);
  for (const name of names) assert.equal(readFileSync(path.join(dist, 'turnwise/key-proxy', name), 'utf8'), readFileSync(path.join(example, name), 'utf8'), name);
  const { vars } = wrangler();
  await withProxy(baseUrl, [], async ({ said }) => {
    const count = (name) => Number(vars[name]).toLocaleString('en-US');
    assert.ok(said.out.includes(`${count('PER_MINUTE')} requests per minute and ${count('PER_DAY')} per day for each visitor, ${count('SITE_PER_DAY')} per day for all; ${count('MAX_OUTPUT_TOKENS')} output tokens`), said.out);
    assert.equal(vars.MAX_PICTURES, '0');
  });
}));

test('pages of the site are served with the key, others are refused and named in the log', () => withUpstream(json({ choices: [] }), (baseUrl, seen) => withProxy(baseUrl, [], async ({ address, ask, until }) => {
  const served = await told(await ask());
  assert.deepEqual([served.status, served.headers.get('access-control-allow-origin')], [200, SITE]);
  assert.equal(seen[0].headers.authorization, `Bearer ${KEY}`);
  assert.equal(seen[0].body.max_tokens, 1500);
  for (const origin of ['https://evil.example', 'null', `${SITE}.evil.example`]) assert.equal((await told(await ask(question(), { origin }))).code, 'origin_not_allowed', origin);
  assert.equal((await told(await fetch(`${address}/v1/chat/completions`, { method: 'POST', body: '{}' }))).status, 403);
  assert.equal((await told(await ask(question({ model: 'huge' })))).code, 'model_not_allowed');
  await until('POST /v1/chat/completions 403 from https://evil.example: not in --origin');
  await fetch(`${address}/v1/x?x=${KEY}`, { headers: { origin: SITE, authorization: `Bearer ${KEY}` } });
  await until(`GET /v1/x 404 from ${SITE}`);
  assert.equal(seen.length, 1);
})));

test('limits are enforced, for each visitor and for the site, and not by what a visitor writes', () => withUpstream(json({ choices: [] }), async (baseUrl, seen) => {
  await withProxy(baseUrl, ['--per-minute', '2', '--max-body-bytes', '2000', '--max-output-tokens', '10'], async ({ ask }) => {
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await told(await ask(question(), { 'x-forwarded-for': `192.0.2.${at}` }))).status);
    assert.deepEqual(statuses, [200, 200, 429, 429], 'a header counts although no proxy is trusted');
    assert.equal((await told(await ask(question({ messages: [{ role: 'user', content: 'x'.repeat(3000) }] })))).status, 413);
    assert.equal(seen[0].body.max_tokens, 10);
  });
  await withProxy(baseUrl, ['--per-minute', '1', '--site-per-day', '3', '--trust-proxy', '1'], async ({ ask }) => {
    // The last address is the one that the site's own proxy saw; those before it are the visitor's words.
    const from = async (list) => (await told(await ask(question(), { 'x-forwarded-for': list }))).status;
    assert.deepEqual([await from('192.0.2.1'), await from('192.0.2.1'), await from('8.8.8.8, 192.0.2.1'), await from('192.0.2.1, 192.0.2.2'), await from('192.0.2.3'), await from('192.0.2.4')], [200, 429, 429, 200, 200, 429]);
  });
}));

test('errors of the model server pass without the key', () => withUpstream((_, response) => response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: `bad key ${KEY}` } })), (baseUrl) => withProxy(baseUrl, [], async ({ ask }) => {
  assert.equal(JSON.parse((await told(await ask())).text).error.message, 'bad key [key]');
})));

test('the tag that it prints works in a page of the site', () => withSite(({ host }) => {
  const parts = reply({ text: 'Through the command.' });
  return withUpstream((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(parts.join('')), (baseUrl, seen) => withProxy(baseUrl, [], ({ said }) => {
    const [own, [, kind, base, model]] = said.out.matchAll(/<turnwise-agent provider="(\w+)" base-url="([^"]+)" model="(\w+)"><\/turnwise-agent>/g);
    assert.deepEqual(own.slice(1), [kind, '/ask/v1', model], 'the first is that of a site');
    assert.match(said.out, /^Content-Security-Policy, if your pages have one: connect-src 'self'$/m);
    assert.ok(said.out.includes(`Content-Security-Policy: connect-src 'self' ${new URL(base).origin}\n`));
    return withPage(host, { reach: [base] }, async (page) => {
      await page.locator('body[data-state=ready]').waitFor({ state: 'attached' });
      const [outcome, output] = await page.evaluate(async (provider) => {
        const agent = new window.turnwise.Agent({ provider });
        const record = await agent.run('hello');
        agent.free();
        return [record.outcome, record.output];
      }, { kind, baseUrl: base, model });
      assert.deepEqual([outcome, output, seen.length], ['success', 'Through the command.', 1]);
    });
  }, { origin: new URL(host).origin }));
}));

test('questions without an answer go to a file', () => inFolder((folder) => withUpstream(json({}), (baseUrl) => {
  const file = path.join(folder, 'questions.jsonl');
  return withProxy(baseUrl, ['--questions', file], async ({ address, said }) => {
    assert.match(said.out, / questions="\/ask\/v1\/questions"/);
    assert.match(said.out, / questions="http:\/\/127\.0\.0\.1:\d+\/v1\/questions"/);
    const response = await fetch(`${address}/v1/questions`, { method: 'POST', headers: { origin: SITE }, body: JSON.stringify({ question: 'Where is it?', why: 'not_found', missing: [], page: '/', lang: 'en' }) });
    assert.equal(response.status, 204);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).question, 'Where is it?');
  });
})));
