// The causes of a failed first request, told apart in a real Chromium: what the server answered, and where nothing readable
// came, what a page can find out about it. The last tests are in Node.js, and with the app's Test button.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { PHONE, WIDE } from './lib/app.mjs';
import { launch, withContext } from './lib/browser.mjs';
import { certificate } from './lib/certificate.mjs';
import { deadPort } from './lib/fault-server.mjs';
import { reply } from './lib/script-server.mjs';
import { dist, root, withSite } from './lib/site.mjs';
import { leftIn } from './lib/tier.mjs';

const KEY = 'sk-test-preflight';
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
const json = (response, status, body, headers = CORS) => response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
const html = '<!doctype html><title>Welcome</title><link rel="icon" href="data:,"><script type="module" src="/host/package.js"></script><body>';

async function listening(server, body) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await body(server.address().port);
  } finally {
    await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  }
}

/** Runs `body` with a model server. `answer(request, response)` handles everything but OPTIONS, which `preflight` may replace. */
function withModel({ answer, preflight = (_, response) => response.writeHead(204, CORS).end() }, body) {
  const asked = [];
  const server = http.createServer((request, response) => {
    request.resume();
    asked.push({ method: request.method, url: request.url, headers: request.headers });
    return request.method === 'OPTIONS' ? preflight(request, response) : answer(request, response);
  });
  return listening(server, (port) => body({ port, base: `http://127.0.0.1:${port}/v1`, asked }));
}

/**
 * Runs `body` with a page that has the package loaded (or `app`: the app), from its own server. `headers` go with everything
 * that it serves, since a worker has the policy of its own file. `host`: the name in its address, which resolves to this
 * machine like every `.example`; `tls`: over https. `space`: the address space that the browser assigns to its server.
 * Requests are not intercepted: the driver would answer CORS preflights itself.
 */
function withPage({ headers = {}, host = '127.0.0.1', tls, space, app, context = {}, prepare }, body) {
  return withSite((site) => {
    const handler = (request, response) => {
      if (request.url === '/' && !app) return response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html);
      return http.get(new URL(request.url, site.url), (file) => { response.writeHead(file.statusCode, { ...file.headers, ...headers }); file.pipe(response); });
    };
    const server = tls ? https.createServer(certificate(host), handler) : http.createServer(handler);
    return listening(server, (port) => contextIn(space && `--ip-address-space-overrides=127.0.0.1:${port}=${space}`, { ignoreHTTPSErrors: true, ...context }, async (browserContext) => {
      const page = await browserContext.newPage();
      const uncaught = [];
      page.on('pageerror', (error) => uncaught.push(String(error)));
      const origin = `${tls ? 'https' : 'http'}://${host}:${port}`;
      await page.goto(`${origin}/`);
      if (app) await page.getByRole('textbox', { name: 'Task' }).waitFor({ timeout: 60000 });
      else await page.locator('body[data-state=ready]').waitFor({ state: 'attached', timeout: 60000 });
      await prepare?.(browserContext);
      const result = await body(page, origin);
      assert.deepEqual(uncaught, []);
      return result;
    }));
  });
}

/** A context of the file's browser, or, with an argument that names the server's port, of a browser of its own. */
async function contextIn(argument, options, body) {
  if (!argument) return withContext(options, body);
  const browser = await launch([argument]);
  try {
    return await body(await browser.newContext(options));
  } finally {
    await browser.close();
  }
}

/** Runs an agent in the page `runs` times; returns the slug and the message of each failed attempt. */
async function failures(page, provider, { maxAttempts = 1, runs = 1 } = {}) {
  const logs = await page.evaluate(async ([model, attempts, times]) => {
    const agent = new window.turnwise.Agent({ provider: model, maxAttempts: attempts, synthesis: false, tools: [], retry: { baseMs: 1, capMs: 2 } });
    const all = [];
    for (let i = 0; i < times; i += 1) all.push(...(await agent.run('Say yes')).logs.filter(({ level }) => level === 'WRN'));
    agent.free();
    return all.map(({ slugs, message }) => ({ slug: slugs[0], message }));
  }, [{ kind: 'openai', model: 'm-1', apiKey: KEY, ...provider }, maxAttempts, runs]);
  for (const { message } of logs) assert.ok(!message.includes(KEY), message);
  return logs;
}

/** Returns the message of the only failure of one run. */
async function failure(page, provider, slug = 'network_error') {
  const logs = await failures(page, provider);
  assert.equal(logs.length, 1, JSON.stringify(logs));
  assert.equal(logs[0].slug, slug);
  return logs[0].message;
}

const methods = (asked) => asked.map(({ method }) => method);

test('what the server answers: wrong key, no such model, wrong base URL, a web page', () => withPage({}, async (page) => {
  const rows = [
    ['openai', '/v1', 401, { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }, 'auth_error', /^127\.0\.0\.1:\d+ did not accept the key \(401\)\. It says: Incorrect API key provided\. Check that the key is complete/],
    ['anthropic', '/v1', 401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 'auth_error', /did not accept the key \(401\)/],
    ['gemini', '/v1beta', 400, { error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } }, 'auth_error', /did not accept the key \(400\)/],
    ['openai', '/v1', 404, { error: { message: 'The model `m-1` does not exist', code: 'model_not_found' } }, 'provider_error', /has no model "m-1" \(404\)\..*Check the model's name\./],
    ['ollama', '/v1', 404, { error: { message: 'model "m-1" not found' } }, 'provider_error', /has no model "m-1" \(404\)\..*`ollama pull m-1` fetches it\./],
    ['openai-responses', '', 404, { error: { message: 'Invalid URL (POST /responses)' } }, 'provider_error', /has nothing at http:\S+\/responses \(404\)\..*try http:\/\/127\.0\.0\.1:\d+\/v1 instead\./],
    ['openai', '/v1/v1', 404, {}, 'provider_error', /it is http:\S+\/v1\/v1, try http:\/\/127\.0\.0\.1:\d+\/v1 instead\./],
  ];
  for (const [kind, at, status, body, slug, says] of rows) {
    await withModel({ answer: (_, response) => json(response, status, body) }, async ({ port, asked }) => {
      assert.match(await failure(page, { kind, baseUrl: `http://127.0.0.1:${port}${at}` }, slug), says);
      assert.deepEqual(methods(asked), ['OPTIONS', 'POST'], 'an answer needs no knock');
    });
  }
  await withModel({ answer: (_, response) => response.writeHead(200, { ...CORS, 'content-type': 'text/html' }).end(html) }, async ({ port }) => {
    const message = await failure(page, { baseUrl: `http://127.0.0.1:${port}/docs` }, 'provider_error');
    assert.match(message, /answered with a web page \(200\).*The page's title: Welcome\..*try http:\/\/127\.0\.0\.1:\d+\/docs\/v1 instead\./);
  });
}));

test('no server: nothing answers, and how to start it', () => withPage({}, async (page) => {
  const port = await deadPort();
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  assert.match(await failure(page, { kind: 'ollama', baseUrl }), new RegExp(`^Nothing answers at http://127\\.0\\.0\\.1:${port}\\. Start Ollama: .ollama serve.\\.`));
  assert.match(await failure(page, { kind: 'llamacpp', baseUrl }), new RegExp(`llama-server --jinja --port ${port}`));
  assert.match(await failure(page, { baseUrl: `http://nowhere.invalid:${port}/v1` }), /^nowhere\.invalid:\d+ cannot be reached\. Check the base URL/);
}));

test('a server without CORS is named as such by one knock that carries nothing', () => withPage({}, async (page, origin) => {
  const answer = (_, response) => json(response, 200, { hello: 'there' }, { 'set-cookie': 'a=b' });
  const refusals = [
    [answer, (_, response) => response.writeHead(405).end()],
    [answer, (_, response) => response.writeHead(403, CORS).end()],
    [answer, (_, response) => response.writeHead(302, { location: '/elsewhere', ...CORS }).end()],
  ];
  for (const [after, preflight] of refusals) {
    await withModel({ answer: after, preflight }, async ({ base, asked }) => {
      const logs = await failures(page, { kind: 'ollama', baseUrl: base, headers: { 'x-extra': KEY } }, { maxAttempts: 3 });
      assert.equal(logs.length, 3);
      for (const { slug, message } of logs) {
        assert.equal(slug, 'network_error');
        assert.match(message, new RegExp(`^127\\.0\\.0\\.1:\\d+ answers, but ${origin} may not read its answer \\(CORS\\)\\. Set .OLLAMA_ORIGINS=${origin}. and start Ollama again\\.$`));
      }
      const knocks = asked.filter(({ method }) => method === 'GET');
      assert.deepEqual(knocks.map(({ url }) => url), ['/v1'], 'one knock, at the base URL');
      assert.deepEqual(Object.keys(knocks[0].headers).filter((name) => /authorization|x-extra|cookie|referer/.test(name)), []);
      assert.ok(!asked.some(({ method }) => method === 'POST'), 'the request itself was never sent');
    });
  }
  const settings = [['lmstudio', /`lms server start --cors`/], ['llamacpp', new RegExp(`--cors-origins ${origin}`)], ['openai', new RegExp(`Access-Control-Allow-Origin: ${origin}. and .Access-Control-Allow-Headers: content-type, authorization.\\.`)], ['anthropic', /x-api-key`\./]];
  for (const [kind, says] of settings) {
    await withModel({ answer, preflight: (_, response) => response.writeHead(405).end() }, async ({ base }) => assert.match(await failure(page, { kind, baseUrl: base }), says));
  }
}));

test('an error that the browser hides: the answer lacks the CORS headers', () => withPage({}, (page) =>
  withModel({ answer: (_, response) => json(response, 401, { error: 'key' }, {}) }, async ({ base, asked }) => {
    assert.match(await failure(page, { baseUrl: base }), /may not read its answer \(CORS\)\..*If it does, this was an error without them: check the key and the base URL/);
    assert.deepEqual(methods(asked), ['OPTIONS', 'POST', 'GET']);
  })));

test('a server that answered before is not knocked at', () => withPage({}, (page) => {
  let first = true;
  const answer = (_, response) => {
    if (!first) return response.destroy();
    first = false;
    response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream' });
    return response.end(reply({ text: 'yes' }).join(''));
  };
  return withModel({ answer }, async ({ base, asked }) => {
    const [{ message }, ...more] = await failures(page, { baseUrl: base }, { runs: 2 });
    assert.deepEqual(more, []);
    assert.match(message, /^No readable answer from 127\.0\.0\.1:\d+\. Either this page is not allowed/);
    assert.ok(!methods(asked).includes('GET'));
  });
}));

const POLICY = "default-src 'none'; img-src data:; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

for (const [name, policy] of [['connect-src', POLICY], ['default-src', "default-src 'self' 'wasm-unsafe-eval'; img-src data:"]]) {
  test(`the page's policy: its ${name} forbids the call, and a retry is no use`, () => withPage({ headers: { 'content-security-policy': policy } }, (page) =>
    withModel({ answer: (_, response) => json(response, 200, {}) }, async ({ base, asked }) => {
      const origin = new URL(base).origin;
      const logs = await failures(page, { baseUrl: base }, { maxAttempts: 3 });
      assert.deepEqual(logs, [{ slug: 'network_error', message: `The content security policy of this page forbids calls to ${origin}. Add \`${origin}\` to \`connect-src\` in the Content-Security-Policy of the page (HTTP header or <meta>), and load it again.` }]);
      assert.deepEqual(asked, []);
    })));
}

test('a policy that only reports is not blamed', () => withPage({ headers: { 'content-security-policy-report-only': POLICY } }, async (page) => {
  assert.match(await failure(page, { baseUrl: `http://127.0.0.1:${await deadPort()}/v1` }), /^Nothing answers at /);
}));

test('mixed content: an https page, a plain http server elsewhere; this machine is exempt', () => withPage({ host: 'page.example', tls: true }, (page) =>
  withModel({ answer: (_, response) => json(response, 401, { error: 'no key' }) }, async ({ port, base, asked }) => {
    const logs = await failures(page, { baseUrl: `http://model.example:${port}/v1` }, { maxAttempts: 3 });
    assert.equal(logs.length, 1, 'a retry is no use');
    assert.match(logs[0].message, new RegExp(`^An https page may not call the plain http address http://model\\.example:${port}\\. Give the model server an https address`));
    assert.deepEqual(asked, []);
    assert.match(await failure(page, { baseUrl: base }, 'auth_error'), /did not accept the key/);
  })));

test('offline', () => withPage({}, async (page) => {
  await page.evaluate(() => window.turnwise.inside.start()); // the network goes down only after the engine has loaded
  await page.context().setOffline(true);
  assert.match(await failure(page, { baseUrl: `http://model.example:${await deadPort()}/v1` }), /^The browser is offline, so model\.example:\d+ could not be reached\. Check the connection/);
}));

// Headless Chromium answers its own permission prompt with no, since nobody can be asked. Its messages while the prompt is
// open are covered in the native tests only.
const PUBLIC_PAGE = { host: 'page.example', tls: true, space: 'public' };

test('a public page that may not reach this machine', () => withPage(PUBLIC_PAGE, (page, origin) =>
  withModel({ answer: (_, response) => json(response, 200, {}) }, async ({ base, asked }) => {
    const message = await failure(page, { kind: 'ollama', baseUrl: base });
    assert.match(message, new RegExp(`^The browser does not let this page reach servers on this machine\\. .*"Apps on device".*to Allow for ${origin}`));
    assert.deepEqual(asked, []);
  })));

test('a public page that may, at a server without CORS', () => withPage({ ...PUBLIC_PAGE, prepare: (context) => context.grantPermissions(['local-network-access']) }, (page, origin) =>
  withModel({ answer: (_, response) => response.end('Ollama is running'), preflight: (_, response) => response.writeHead(403).end() }, async ({ base }) => {
    assert.match(await failure(page, { kind: 'ollama', baseUrl: base }), new RegExp(`Set .OLLAMA_ORIGINS=${origin}. `));
    assert.match(await failure(page, { kind: 'ollama', baseUrl: `http://127.0.0.1:${await deadPort()}/v1` }), /^Nothing answers at /);
  })));

test('a public page without https', () => withPage({ host: 'page.example', space: 'public' }, (page) =>
  withModel({ answer: (_, response) => json(response, 200, {}) }, async ({ base, asked }) => {
    assert.match(await failure(page, { kind: 'ollama', baseUrl: base }), /^The browser does not let a page without HTTPS reach servers on this machine\. Open this page over https/);
    assert.deepEqual(asked, []);
  })));

test('a browser that may still ask, and no server', () => withPage({ host: 'page.example', tls: true }, async (page) => {
  const message = await failure(page, { kind: 'ollama', baseUrl: `http://127.0.0.1:${await deadPort()}/v1` });
  assert.match(message, /this page has no permission for servers on this machine yet\. If the browser asks, choose Allow .*If it does not ask: Start Ollama/);
}));

test('in Node.js there is no browser to blame', async () => {
  const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
  await init();
  const port = await deadPort();
  const agent = new Agent({ provider: { kind: 'ollama', baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm-1' }, maxAttempts: 1, synthesis: false, tools: [] });
  const { logs } = await agent.run('Say yes').finally(() => agent.free());
  assert.match(logs[0].message, new RegExp(`^Nothing answers at http://127\\.0\\.0\\.1:${port}\\. .*ECONNREFUSED`));
  assert.ok(!/CORS|browser/.test(logs[0].message), logs[0].message);
});

const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

for (const [look, viewport, colorScheme] of [['wide-light', WIDE, 'light'], ['phone-dark', PHONE, 'dark']]) {
  test(`the Test button says what is wrong, what to do, and who answered: ${look}`, { skip: leftIn(look) }, () => withPage({ app: true, context: { viewport, colorScheme, reducedMotion: 'reduce' } }, async (page, origin) => {
    await page.evaluate(axe);
    await page.getByTitle('Model and settings').click();
    const dialog = page.getByRole('dialog', { name: 'Settings' });
    await dialog.waitFor();
    await dialog.locator('input[name=provider][value=openai]').check();
    await dialog.getByRole('combobox', { name: 'Model' }).fill('m-1');
    const ask = async (base, state) => {
      await dialog.getByRole('textbox', { name: 'Base URL' }).fill(base);
      await dialog.getByRole('button', { name: 'Test', exact: true }).click();
      const output = dialog.locator(`.test output[data-state=${state}]`);
      await output.waitFor();
      await output.scrollIntoViewIfNeeded();
      const text = async (name) => (await output.locator(name).allTextContents()).join();
      await page.screenshot({ path: path.join(shots, `preflight-${shot += 1}-${look}.png`) });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target)}`), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page scrolls sideways');
      return { title: await text('strong'), slug: await text('.slug'), advice: await text('.advice') };
    };
    let shot = 0;
    await withModel({ answer: (_, response) => json(response, 401, { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } }) }, async ({ base, port }) => {
      assert.deepEqual(await ask(base, 'failed'), { title: `127.0.0.1:${port} wants a key, and none was sent (401).`, slug: 'auth_error', advice: 'It says: Incorrect API key provided. Enter the key for this address.' });
    });
    await withModel({ answer: (_, response) => json(response, 200, {}, {}), preflight: (_, response) => response.writeHead(403).end() }, async ({ base, port }) => {
      const { title, slug, advice } = await ask(base, 'failed');
      assert.deepEqual({ title, slug }, { title: `127.0.0.1:${port} answers, but ${origin} may not read its answer (CORS).`, slug: 'network_error' });
      assert.match(advice, new RegExp(`Access-Control-Allow-Origin: ${origin} and `));
    });
    const down = `http://127.0.0.1:${await deadPort()}`;
    const { title, advice } = await ask(`${down}/v1`, 'failed');
    assert.deepEqual([title, advice], [`Nothing answers at ${down}.`, 'Start the model server. If it runs, check the host and port of the base URL.']);
    const stream = (_, response) => response.writeHead(200, { ...CORS, 'content-type': 'text/event-stream' }).end(reply({ text: 'ready' }).join(''));
    await withModel({ answer: stream }, async ({ base }) => {
      const works = await ask(base, 'ok');
      assert.deepEqual([works.title, works.slug], ['It works: “ready”', '']);
      assert.match(works.advice, /^scripted answered after \d.*\. 10 tokens in, 5 out\.$/);
    });
  }));
}
