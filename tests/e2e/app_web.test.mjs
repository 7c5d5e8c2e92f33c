// `fetch_url` in the app: off by default, switched on in the settings, asked about for each host, within the page's own policy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showTurns } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { withSite } from './lib/site.mjs';

const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const names = ({ tools = [] }) => tools.map((tool) => tool.function.name);
const fetching = (id, url) => ({ id, name: 'fetch_url', args: { url } });

test('a host is asked about once, with the whole address; private addresses are refused without a request', () => withScript([
  { text: 'Off.', check: (request) => assert.ok(!names(request).includes('fetch_url'), 'it is off by default') },
  { calls: [fetching('a', 'https://pages.example/garden?q=1')], check: (request) => assert.ok(names(request).includes('fetch_url') && !names(request).includes('search_web')) },
  { calls: [fetching('b', 'https://pages.example/other'), fetching('c', 'https://elsewhere.example/')] },
  { calls: [fetching('d', 'http://169.254.169.254/latest/')] },
  { text: 'Read.', check: (request) => {
    const [first, second, refused, hostile] = results(request);
    assert.match(first, /^https:\/\/pages\.example\/garden\?q=1\n\[Text of others[^]*# Garden/);
    assert.match(second, /# Garden/);
    assert.match(refused, /refused/);
    assert.match(hostile, /not asked for/);
  } },
], (baseUrl) => withSite((site) => {
  const settings = { provider: 'openai', base_url: baseUrl, model: 'scripted' };
  const local = [{ name: 'turnwise.settings', value: JSON.stringify(settings) }, { name: 'turnwise.keys', value: JSON.stringify({ [baseUrl]: 'a-key' }) }];
  const context = { viewport: { width: 1440, height: 900 }, storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage: local }] } };
  return withPage(site.app, { reach: [baseUrl, 'https://pages.example'], context }, async (page) => {
    const asked = [];
    await page.route(/^https:\/\/pages\.example\//, (route) => {
      asked.push(route.request());
      return route.fulfill({ status: 200, headers: { 'content-type': 'text/html', 'access-control-allow-origin': '*' }, body: '<h1>Garden</h1><p>Roses</p>' });
    });
    await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
    const run = async (task) => {
      await page.getByRole('textbox', { name: 'Task' }).fill(task);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
    };
    const question = page.getByRole('group', { name: 'Permission needed' });
    const ended = (count) => page.getByRole('region', { name: 'How it ended' }).nth(count - 1).waitFor({ timeout: 60_000 }).then(() => showTurns(page));
    await run('off');
    await ended(1);
    await page.getByTitle('Model and settings').click();
    await page.getByRole('tab', { name: 'Tools' }).click();
    await page.getByRole('checkbox', { name: 'fetch_url' }).check();
    await page.keyboard.press('Escape');
    await run('read it');
    await question.getByRole('heading', { name: 'fetch_url wants to ask pages.example' }).waitFor();
    await question.getByText('https://pages.example/garden?q=1').waitFor();
    await question.getByText('This host', { exact: true }).click();
    await question.getByRole('button', { name: 'Allow', exact: true }).click();
    // The other page of that host is not asked about.
    await question.getByRole('heading', { name: 'fetch_url wants to ask elsewhere.example' }).waitFor();
    await question.getByRole('button', { name: 'Refuse', exact: true }).click();
    await question.getByRole('heading', { name: 'fetch_url wants to ask 169.254.169.254' }).waitFor();
    await question.getByText('This host', { exact: true }).waitFor();
    await question.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Read.', { exact: true }).first().waitFor();
    assert.deepEqual(asked.map((request) => new URL(request.url()).pathname), ['/garden', '/other']);
    for (const request of asked) assert.deepEqual([await request.headerValue('cookie'), await request.headerValue('referer')], [null, null]);
  });
})));
