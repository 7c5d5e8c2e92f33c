// Ways to reach a model without a server of the site: a key that the visitor types, signing in with OpenRouter, the
// browser's built-in model; and the way out, into the app.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { answered, ask, launcher, page, scripted, withHost, withWidget } from './lib/widget.mjs';

const KEY = 'sk-or-v1-0123456789abcdef-only-for-this-test';
const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
const REPLY = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Signed.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`;
const stored = (tab) => tab.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

test('signing in at OpenRouter: there and back, the question is asked, the key is stored nowhere', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off"' }) }), options: { reach: ['https://openrouter.ai'] },
}, async (tab, { url }) => {
  const asked = [];
  let challenge;
  await tab.context().route('https://openrouter.ai/**', async (route) => {
    const request = route.request();
    const { pathname, searchParams } = new URL(request.url());
    if (request.method() === 'OPTIONS') return route.fulfill({ status: 204, headers: cors });
    asked.push(`${request.method()} ${pathname}`);
    if (pathname === '/auth') {
      challenge = searchParams.get('code_challenge');
      const back = new URL(searchParams.get('callback_url'));
      back.searchParams.set('code', 'code_1');
      return route.fulfill({ status: 302, headers: { location: back.href } });
    }
    if (pathname === '/api/v1/auth/keys') {
      const { code, code_verifier: verifier } = JSON.parse(request.postData());
      assert.equal(code, 'code_1');
      assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge);
      return route.fulfill({ headers: cors, json: { key: KEY } });
    }
    assert.equal(request.headers().authorization, `Bearer ${KEY}`);
    return route.fulfill({ headers: { ...cors, 'content-type': 'text/event-stream' }, body: REPLY });
  });
  await launcher(tab).click();
  await ask(tab, 'Who am I?');
  await tab.getByRole('button', { name: 'Sign in at OpenRouter' }).click();
  const run = await answered(tab);
  assert.match(await run.textContent(), /Signed\./);
  assert.equal(tab.url(), url, 'the code has left the address');
  assert.deepEqual(asked, ['GET /auth', 'POST /api/v1/auth/keys', 'POST /api/v1/chat/completions']);
  assert.ok(!(await stored(tab)).includes(KEY), 'the key is stored');
}));

test('the model built into the browser, which no worker reaches, answers through the page with a tool', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off" provider="prompt-api"' }) }),
}, async (tab) => {
  await tab.evaluate(() => {
    window.prompts = [];
    const answers = ['{"tool":"calculate","arguments":{"expression":"6 * 7"}}', '{"answer":"It is **42**."}'];
    window.LanguageModel = {
      // As in browsers whose model has no native tools.
      availability: async ({ expectedInputs }) => (expectedInputs.some(({ type }) => type !== 'text') ? 'unavailable' : 'available'),
      create: async ({ initialPrompts }) => ({ destroy() {}, prompt: async (ask, { responseConstraint }) => { window.prompts.push({ initialPrompts, ask, responseConstraint }); return answers.shift(); } }),
    };
  });
  await launcher(tab).click();
  await ask(tab, 'Six times seven?');
  const run = await answered(tab);
  assert.equal(await run.locator('strong').textContent(), '42');
  assert.equal(await run.locator('summary').textContent(), 'Calculated6 * 7');
  const [first, second] = await tab.evaluate(() => window.prompts);
  assert.match(first.initialPrompts[0].content, /You can call one tool at a time\.[^]*\n- calculate/);
  assert.match(second.ask[0].content[0].value, /^Result of calculate:\n42/);
  assert.ok(second.responseConstraint.anyOf);
}));

test('a Response of the page\'s own model is read as it comes, and an error among them is tried again', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off"' }) }), options: { expect: [/provider_error: custom: has a problem \(503\)/] },
}, async (tab) => {
  await tab.evaluate(() => {
    const bytes = new TextEncoder();
    const event = (delta, finish = null) => bytes.encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    const answers = [
      () => new Response('{"error":{"message":"busy"}}', { status: 503, headers: { 'retry-after': '0' } }),
      () => new Response(new ReadableStream({
        start(controller) {
          controller.enqueue(event({ content: 'The first half,' }));
          window.goOn = () => { controller.enqueue(event({ content: ' and the second.' }, 'stop')); controller.enqueue(bytes.encode('data: [DONE]\n\n')); controller.close(); };
        },
      }), { headers: { 'content-type': 'text/event-stream' } }),
    ];
    document.querySelector('turnwise-agent').complete = async () => answers.shift()();
  });
  await launcher(tab).click();
  await ask(tab, 'Both halves, please.');
  // The stream is still open: the text so far is shown before its end.
  await tab.getByText('The first half,').waitFor();
  await tab.evaluate(() => window.goOn());
  assert.match(await (await answered(tab)).textContent(), /The first half, and the second\./);
}));

test('a typed key goes to the provider, and links then open beside the page so that it is not lost', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off" provider="openrouter"' }) }), options: { reach: ['https://openrouter.ai'] },
}, async (tab) => {
  await tab.context().route('https://openrouter.ai/**', (route) => {
    if (route.request().method() === 'OPTIONS') return route.fulfill({ status: 204, headers: cors });
    assert.equal(route.request().headers().authorization, `Bearer ${KEY}`);
    return route.fulfill({ headers: { ...cors, 'content-type': 'text/event-stream' }, body: REPLY.replace('Signed.', 'See [it](/it.html).') });
  });
  await launcher(tab).click();
  await ask(tab, 'Where?');
  await tab.getByRole('button', { name: 'Use it' }).click();
  assert.equal(await tab.getByRole('alert').textContent(), 'Paste a key first.');
  await tab.getByLabel('API key').fill(KEY);
  await tab.getByRole('button', { name: 'Use it' }).click();
  const run = await answered(tab);
  assert.equal(await run.locator('[part=answer]:not(:empty) a').getAttribute('target'), '_blank');
  assert.ok(!(await stored(tab)).includes(KEY), 'the key is stored');
}));

test('"Open in the app" hands the record over to the app\'s window and to nobody else', () => withHost({
  pages: { '/app/': '<!doctype html><title>App</title><link rel="icon" href="data:,"><body></body>' },
}, (app) => withWidget({
  steps: [{ text: 'Done.' }],
  pages: (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} app="${app.url}app/"` }) }), options: { reach: [app.url] },
}, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'Do it.');
  await answered(tab);
  await tab.getByRole('button', { name: 'Menu' }).click();
  const [opened] = await Promise.all([tab.context().waitForEvent('page'), tab.getByRole('button', { name: 'Open in the app' }).click()]);
  await opened.waitForURL(`${app.url}app/`);
  const given = await opened.evaluate(() => new Promise((resolve) => {
    addEventListener('message', ({ data, source, origin }) => {
      source.postMessage({ turnwise: 'taken' }, origin);
      resolve(data);
    });
  }));
  assert.equal(given.turnwise, 'trajectory');
  assert.equal(JSON.parse(given.text).output, 'Done.');
  await tab.getByText('Opened in the app.').waitFor();
})));
