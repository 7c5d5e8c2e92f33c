// Signing in with OpenRouter: the page goes there and comes back with a code, which becomes a key in this tab's memory.
// Strict routes stand in for openrouter.ai: an unexpected request fails the test, and so does one that never arrives.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { withApp } from './lib/app.mjs';

const KEY = 'sk-or-v1-0123456789abcdef-only-for-this-test';
const CODE = 'code_b1f0c9e2';

/** Stands in for openrouter.ai: `consent(callback)` returns where to redirect the page, `exchange(body)` the response of auth/keys. */
async function withOpenRouter(page, { consent, exchange, visits = 1, exchanges = 1 }, body) {
  const faults = [];
  const asked = { challenges: [], exchanged: [], listed: [] };
  const note = (check) => { try { check(); } catch (error) { faults.push(error.message); } };
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
  await page.context().route('https://openrouter.ai/**', async (route) => {
    const request = route.request();
    const url = new URL(request.url());
    if (url.pathname === '/auth' && request.method() === 'GET') {
      note(() => {
        assert.equal(request.isNavigationRequest(), true);
        assert.deepEqual([...url.searchParams.keys()], ['callback_url', 'code_challenge', 'code_challenge_method']);
        assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
        assert.match(url.searchParams.get('code_challenge'), /^[A-Za-z0-9_-]{43}$/);
      });
      asked.challenges.push(url.searchParams.get('code_challenge'));
      return route.fulfill({ status: 302, headers: { location: consent(new URL(url.searchParams.get('callback_url'))).href } });
    }
    if (url.pathname === '/api/v1/auth/keys' && request.method() === 'POST') {
      const sent = JSON.parse(request.postData());
      asked.exchanged.push(sent);
      note(() => {
        assert.deepEqual(Object.keys(sent).sort(), ['code', 'code_challenge_method', 'code_verifier']);
        assert.equal(request.headers().authorization, undefined);
      });
      const answer = exchange(sent);
      return answer === 'offline' ? route.abort('connectionrefused') : route.fulfill({ headers: cors, contentType: 'application/json', ...answer });
    }
    if (url.pathname === '/api/v1/models' && request.method() === 'GET') {
      asked.listed.push(request.headers().authorization);
      return route.fulfill({ headers: cors, json: { data: [{ id: 'acme/new-1', name: 'Acme: New', context_length: 64000, pricing: { prompt: '0.0000005', completion: '0.000002' }, architecture: { input_modalities: ['text'] } }] } });
    }
    faults.push(`not expected: ${request.method()} ${request.url()}`);
    return route.abort();
  });
  const result = await body(asked);
  assert.deepEqual(faults, []);
  assert.equal(asked.challenges.length, visits, 'visits of the sign-in page');
  assert.equal(asked.exchanged.length, exchanges, 'exchanges of a code');
  return result;
}

const accept = (callback) => { callback.searchParams.set('code', CODE); return callback; };
const state = (page) => page.locator('#signin-state');
const stored = (page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

async function openSettings(page) {
  await page.getByTitle('Model and settings').click();
  await page.getByRole('radio', { name: /^OpenRouter/ }).check();
}

const signIn = (page) => page.getByRole('button', { name: 'Sign in with OpenRouter' }).click();

test('signing in gives a key for this tab, and nothing of it stays in the address or the storage', async () => {
  await withApp({}, async (page, site) => {
    const exchange = ({ code, code_verifier }) => (code === CODE && code_verifier ? { status: 200, body: JSON.stringify({ key: KEY, user_id: 'user_1' }) } : { status: 403, body: '{}' });
    await withOpenRouter(page, { consent: accept, exchange }, async (asked) => {
      await page.getByRole('textbox', { name: 'Task' }).fill('What I was about to ask');
      await openSettings(page);
      await signIn(page);
      await state(page).getByText('Signed in.').waitFor();
      const [{ code, code_verifier: verifier }] = asked.exchanged;
      assert.equal(code, CODE);
      assert.equal(createHash('sha256').update(verifier).digest('base64url'), asked.challenges[0], 'the challenge is the verifier\'s');
      assert.equal(page.url(), site.app, 'the code is gone from the address');
      assert.equal(await page.getByLabel('API key', { exact: true }).inputValue(), KEY);
      assert.equal(await page.getByRole('radio', { name: /^OpenRouter/ }).isChecked(), true);
      const kept = await stored(page);
      for (const secret of [KEY, CODE, verifier]) assert.ok(!kept.includes(secret), `${secret} is in ${kept}`);

      await page.getByRole('button', { name: 'List models' }).click();
      await page.getByRole('option', { name: /acme\/new-1/ }).click();
      assert.deepEqual(asked.listed, [`Bearer ${KEY}`], 'the key is used');
      await page.getByText('64 K tokens of context · $0.50 in / $2 out per million tokens (as listed now) · no pictures').waitFor();

      // Remembered only if the box is ticked.
      await page.getByLabel('Remember on this device').check();
      assert.ok((await stored(page)).includes(KEY));
      await page.getByLabel('Remember on this device').uncheck();
      assert.ok(!(await stored(page)).includes(KEY));
      await page.getByRole('button', { name: 'Done' }).click();
      assert.equal(await page.getByRole('textbox', { name: 'Task' }).inputValue(), 'What I was about to ask');
    });
  });
});

const failures = [
  ['denied', { consent: (callback) => { callback.searchParams.set('error', 'access_denied'); return callback; }, exchange: () => ({ status: 500 }), exchanges: 0 }, /access was denied/, []],
  ['expired', { consent: accept, exchange: () => ({ status: 403, body: '{"error":{"message":"Invalid code or code_verifier","code":403}}' }) }, /has expired or was used before/, [/403/]],
  ['no connection', { consent: accept, exchange: () => 'offline' }, /could not be reached/, [/ERR_CONNECTION_REFUSED/]],
];
for (const [name, plays, words, expect] of failures) {
  test(`a sign-in that fails says why: ${name}`, async () => {
    await withApp({ expect: [...expect] }, async (page, site) => {
      await withOpenRouter(page, plays, async () => {
        await openSettings(page);
        await signIn(page);
        await state(page).getByText(words).waitFor();
        assert.equal(page.url(), site.app);
        assert.equal(await page.getByLabel('API key', { exact: true }).inputValue(), '');
        assert.deepEqual(await page.evaluate(() => ({ ...sessionStorage })), {});
      });
    });
  });
}

test('a code that this tab did not ask for is dropped', async () => {
  await withApp({}, async (page, site) => {
    await withOpenRouter(page, { visits: 0, exchanges: 0 }, async () => {
      await page.goto(`${site.app}?keep=1&code=${CODE}`);
      await state(page).getByText(/did not ask for/).waitFor();
      assert.equal(page.url(), `${site.app}?keep=1`);
    });
  });
});
