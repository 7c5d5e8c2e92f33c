// A record is data, never authority: each way in which a program or a person takes up a record of a stranger, by each thing that
// the record tries to decide. The stranger's server must hear nothing that the user did not send there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { drop, showTurns, storedRuns, storedToTheEnd } from './lib/app.mjs';
import { withPage } from './lib/browser.mjs';
import { dist, withSite } from './lib/site.mjs';
import { KEY, SEND, cast, copy, until } from './lib/stranger.mjs';

const { default: init, Agent } = await import(path.join(dist, 'turnwise/node.js'));
await init();
const { Agent: Sdk, openai, replay } = await import(path.join(dist, 'turnwise/index.node.js'));

let evil, home, own, honest, hostile, strangers, byEvent, close;
before(async () => { ({ evil, home, own, honest, hostile, strangers, byEvent, close } = await cast()); });
after(() => close());

/** Takes a record up with an agent that refuses every call; the model calls `send` first. */
async function takeUp(how, record, options = {}) {
  home.next = [{ calls: [{ id: 's', name: 'send', args: { text: 'secret' } }] }];
  const [before, knocks] = [home.seen.length, evil.knocks];
  const all = { ran: 0, asked: 0, refused: '' };
  const agent = new Agent({ provider: own(), tools: ['now'], seed: 1, maxTurns: 12, ...options });
  agent.registerTool({ ...SEND, execute: () => { all.ran += 1; return 'sent'; } });
  all.record = await how(agent, record, { approve: () => { all.asked += 1; return false; } }).catch((error) => { all.refused = error.message; });
  agent.free();
  home.next = [];
  all.requests = home.seen.slice(before);
  assert.equal(evil.knocks, knocks, 'the stranger heard something');
  return all;
}

const WAYS = {
  resume: { of: (all) => all.halfway, go: (agent, record, options) => agent.resume(record, options) },
  branch: { of: (all) => all.whole, go: (agent, record, options) => agent.branch(record, { turn: 1, ...options }) },
  'follow-up': { of: (all) => all.whole, go: (agent, record, options) => agent.run('And now?', { after: record, ...options }) },
};

for (const [name, { of, go }] of Object.entries(WAYS)) {
  test(`API, ${name}: provider options, tools, side effects, permissions and limits are the agent's`, async () => {
    const found = await takeUp(go, copy(of(hostile)));
    assert.equal(found.refused, '');
    assert.deepEqual([found.asked, found.ran], [1, 0], 'the call was asked about and refused');
    for (const { headers, body } of found.requests) {
      assert.equal(body.service_tier, undefined);
      assert.deepEqual(body.tools.map(({ function: { name } }) => name).sort(), ['now', 'send']);
      assert.ok(body.tools.every(({ function: { description } }) => description !== 'theirs'));
      assert.deepEqual([headers.authorization, headers['x-own']], [`Bearer ${KEY}`, 'yes']);
    }
    const { config, tools } = found.record;
    assert.deepEqual([config.max_turns, config.max_attempts, config.limits.parallel_tools, config.limits.children], [12, 3, 4, 16]);
    assert.deepEqual(tools.filter(({ may_finish: may }) => may), []);
    assert.equal(tools.find(({ name: tool }) => tool === 'send').side_effect, 'network');
    assert.deepEqual(await replay(found.record), { ok: true });
  });

  test(`API, ${name}: the model of another server, a second one, and one that comes by an event`, async () => {
    const elsewhere = copy(of(honest));
    elsewhere.config.providers[0].base_url = evil.url;
    const second = copy(of(honest));
    second.config.providers.push({ ...second.config.providers[0], base_url: evil.url });
    for (const record of [elsewhere, second, name === 'follow-up' ? copy(honest.whole) : await byEvent()]) {
      const found = await takeUp(go, record);
      // A run that is resumed is refused; the others go to the agent's own model.
      if (name === 'resume') assert.match(found.refused, /another model or address|does not replay|has ended/);
      else if (!found.refused) assert.ok(found.requests.length > 0);
      else assert.match(found.refused, /replay/);
    }
  });
}

test('API: a replay sends nothing', async () => {
  const record = copy(honest.whole);
  record.config.providers[0].base_url = evil.url;
  const [before, heard] = [home.seen.length, evil.seen.length];
  await replay(record);
  assert.deepEqual([home.seen.length, evil.seen.length], [before, heard]);
});

test('a chat whose storage holds the record of a stranger does not send its key there', async () => {
  const texts = new Map();
  const storage = { get: (key) => texts.get(key), set: (key, text) => void texts.set(key, text), delete: (key) => void texts.delete(key) };
  const chatOf = () => new Sdk({ model: openai('m', { baseUrl: home.url, apiKey: KEY }) }).chat({ storage });
  const first = chatOf();
  await first.send('Hello');
  await until(() => [...texts.values()].some((text) => text.includes('Done.')));
  first.close();
  const [[key, text]] = texts;
  assert.ok(text.includes(home.url), 'the stored record names its server');
  texts.set(key, text.replaceAll(home.url, evil.url));
  const [before, heard] = [home.seen.length, evil.seen.length];
  const second = chatOf();
  await second.load();
  // The hash of each request covers the server, so a record that was changed is refused.
  await assert.rejects(async () => { await second.send('Again'); }, /does not replay/);
  second.close();
  assert.deepEqual([home.seen.length, evil.seen.length], [before, heard]);
});

// The app.

const settings = () => ({ provider: 'openai', base_url: home.url, model: 'm', max_turns: '12' });

/** Opens the app with the user's model and key, and a record of a stranger. */
async function withRecord(record, body, expect = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'authority-'));
  const file = path.join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(record));
  try {
    await withSite((site) => {
      const items = { 'turnwise.settings': settings(), 'turnwise.keys': { [home.url]: KEY } };
      const localStorage = Object.entries(items).map(([name, value]) => ({ name, value: JSON.stringify(value) }));
      const context = { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] } };
      return withPage(site.app, { reach: [home.url, evil.url], context, expect }, async (page) => {
        await page.getByRole('button', { name: /^Files \d/ }).first().waitFor({ state: 'attached' });
        await drop(page, [file]);
        await page.locator('section.turn').first().waitFor({ state: 'attached' });
        await body(page, site);
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const dialog = (page) => page.getByRole('dialog', { name: 'Branch' });
const startBranch = (page) => dialog(page).getByRole('button', { name: 'Start the branch' }).click();
const opens = {
  regenerate: (page) => page.getByRole('button', { name: 'Regenerate' }).last().click(),
  branch: async (page) => {
    await showTurns(page);
    await page.locator('section.turn').first().hover();
    await page.getByRole('button', { name: /^Branch: Turn 1/ }).click();
  },
};

for (const [name, open] of Object.entries(opens)) {
  test(`app, ${name}: a stranger's record goes on with the user's model, options and limits`, () => withRecord(strangers(), async (page) => {
    const [before, heard] = [home.seen.length, evil.seen.length];
    await open(page);
    assert.ok(await dialog(page).getByRole('radio', { name: /^Model from Settings/ }).isChecked());
    assert.equal(await dialog(page).getByLabel('Max turns').inputValue(), '12');
    await startBranch(page);
    await until(() => home.seen.length > before);
    await storedToTheEnd(page, 1);
    assert.equal(evil.seen.length, heard);
    const { headers, body } = home.seen.at(-1);
    assert.deepEqual([headers.authorization, body.service_tier, body.model], [`Bearer ${KEY}`, undefined, 'm']);
    assert.ok(body.tools.every(({ function: { name: tool, description } }) => tool === 'now' && description !== 'theirs'), 'only tools that the app has');
    const [header] = await storedRuns(page);
    assert.equal(header.strange, true, 'its content stays that of a stranger');
    // The branch is the user's run now: it is written again with the same model, without a question.
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await storedToTheEnd(page, 2);
    assert.equal(evil.seen.length, heard);
    assert.ok((await storedRuns(page)).every(({ strange }) => strange));
  }));
}

test('app: who chooses the model of the record sees each address and what is added, and sends no key of another server', () => withRecord((() => {
  const record = strangers();
  record.config.providers = [{ ...record.config.providers[0], base_url: evil.url }, { ...record.config.providers[0], base_url: `${evil.url}/second` }];
  return record;
})(), async (page) => {
  await opens.regenerate(page);
  const same = dialog(page).getByRole('radio', { name: /^Same models/ });
  const said = await dialog(page).locator('.choice').first().innerText();
  assert.ok(said.includes(`at ${evil.url}, with {"service_tier":"theirs"}`) && said.includes(`${evil.url}/second`), said);
  await same.check();
  const heard = evil.seen.length;
  await startBranch(page);
  await until(() => evil.seen.length > heard);
  assert.equal(evil.seen.at(-1).headers.authorization, undefined);
}));

test('app: an address that parsers read differently is shown whole and refused', () => withRecord((() => {
  const record = strangers();
  record.config.providers[0].base_url = evil.url.replace('http://', 'http:/\\').replace('/v1', '/://api.openai.com/v1');
  return record;
})(), async (page) => {
  const heard = evil.seen.length;
  await opens.regenerate(page);
  const said = await dialog(page).locator('.choice').first().innerText();
  assert.ok(said.includes('127.0.0.1') && said.includes('not a valid address'), said);
  await dialog(page).getByRole('radio', { name: /^Same model/ }).check();
  await startBranch(page);
  await page.getByText(/the base URL has characters that are not part of an address/).first().waitFor();
  assert.equal(evil.seen.length, heard);
}, [/the base URL has characters that are not part of an address/]));

test('app: a stranger\'s record cannot be continued or resumed, and to read, replay or compare it sends nothing', () => withRecord(strangers(), async (page) => {
  const [before, heard] = [home.seen.length, evil.seen.length];
  for (const name of ['Resume', 'Continue', 'Continue with more turns']) assert.equal(await page.getByRole('button', { name }).count(), 0);
  await page.getByRole('button', { name: 'Replay' }).first().click();
  await page.getByText(/events?/i).first().waitFor();
  assert.deepEqual([home.seen.length, evil.seen.length], [before, heard]);
}));

test('tag: a record that another window hands over is a stranger\'s', () => withSite((site) => {
  const localStorage = Object.entries({ 'turnwise.settings': settings(), 'turnwise.keys': { [home.url]: KEY } }).map(([name, value]) => ({ name, value: JSON.stringify(value) }));
  const context = { storageState: { cookies: [], origins: [{ origin: new URL(site.app).origin, localStorage }] } };
  return withPage(site.app, { reach: [home.url, evil.url], context }, async (page) => {
    const [before, heard] = [home.seen.length, evil.seen.length];
    const [opened] = await Promise.all([page.waitForEvent('popup'), page.evaluate((text) => {
      const app = open(location.href.split('#')[0]);
      const timer = setInterval(() => app.postMessage({ turnwise: 'trajectory', text }, '*'), 100);
      addEventListener('message', ({ data }) => { if (data.turnwise === 'taken') clearInterval(timer); });
    }, JSON.stringify(strangers()))]);
    await opened.locator('section.turn').first().waitFor({ state: 'attached' });
    await opens.regenerate(opened);
    assert.ok(await dialog(opened).getByRole('radio', { name: /^Model from Settings/ }).isChecked());
    await startBranch(opened);
    await until(() => home.seen.length > before);
    assert.equal(evil.seen.length, heard);
  });
}));
