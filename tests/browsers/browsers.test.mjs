// The docs agent, the package and the app in browsers that the other tests do not use. BROWSERS selects some; `make
// test-browsers` runs all. The checks cover what differs between engines: workers and their policies, streams, popovers,
// adopted style sheets, storage, WebAssembly; the rules are the same code everywhere.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { escapes } from '../e2e/lib/escapes.mjs';
import { attempts, given, judge, play, withCanary } from '../e2e/lib/programs.mjs';
import { withScript } from '../e2e/lib/script-server.mjs';
import { root, withSite } from '../e2e/lib/site.mjs';
import { assertValid } from '../e2e/lib/trajectory.mjs';
import { NOTES, noting, page, scripted, strictPolicy, withHost } from '../e2e/lib/widget.mjs';
import { BROWSERS, until, withTab } from './driver.mjs';

const WANTED = (process.env.BROWSERS || Object.keys(BROWSERS).join(' ')).split(/\s+/).filter(Boolean);
const shots = path.join(root, 'tests/e2e/shots');
mkdirSync(shots, { recursive: true });
const shoot = async (tab, name) => writeFileSync(path.join(shots, `browser-${name}.png`), await tab.takeScreenshot(), 'base64');

const noted = (tab, name) => tab.executeScript('return document.documentElement.dataset[arguments[0]]', name);

/** Waits for the element that a selector matches in the tag's shadow root. */
const inside = (tab, selector, ms) => until(() => tab.executeScript("return document.querySelector('turnwise-agent')?.shadowRoot?.querySelector(arguments[0])", selector), selector, ms);
const ENTER = '\uE007';
const ESCAPE = '\uE00C';

async function open(tab) {
  await (await inside(tab, '.pill')).click();
  return inside(tab, '.panel.open textarea');
}

/** Waits for the n-th run to end, and returns its text. */
async function answered(tab, n) {
  await inside(tab, `article:nth-of-type(${n}) .foot :is(.ending, .problem)`, 60000);
  return (await inside(tab, `article:nth-of-type(${n})`)).getText();
}

for (const name of WANTED) {
  assert.ok(name in BROWSERS, `there is no browser ${name}; there are ${Object.keys(BROWSERS).join(' ')}`);

  test(`${name}: the docs are read and searched, the answer links the section, the conversation goes on over a page change`, () => withTab(name, async (tab) => {
    const steps = [
      { calls: [{ id: 'a', name: 'search_docs', args: { query: 'laps a minute' } }] },
      { check: ({ messages }) => assert.match(messages.at(-1).content, /#speed\n[^]*40 laps/), text: 'It runs **40 laps**: [Speed](/#speed).\n\n```js\nconst laps = 40;\n```\n' },
      { check: ({ messages }) => assert.equal(messages.filter(({ role }) => role === 'user').length, 2), text: 'Green: [Colour](/two.html#colour).' },
    ];
    await withScript(steps, (baseUrl) => {
      const attributes = `provider="openai" base-url="${baseUrl}" model="scripted"`;
      const pages = {
        '/': page({ attributes, head: noting, body: '<h2 id="speed">Speed</h2><p>Halden runs 40 laps a minute.</p><a href="/two.html">Next</a>' }),
        '/two.html': page({ attributes, head: noting, body: '<h2 id="colour">Colour</h2><p>Halden is green.</p>' }),
        '/notes.js': NOTES,
      };
      return withHost({ pages }, async ({ url }) => {
        await tab.get(url);
        await (await open(tab)).sendKeys(`How fast is Halden?${ENTER}`);
        assert.match(await answered(tab, 1), /Searched[^]*It runs 40 laps: Speed\.[^]*Answered in 2 turns\./);
        await inside(tab, 'code .c-keyword', 60000);
        assert.equal(await (await inside(tab, '.sources a')).getAttribute('href'), `${url}#speed`);
        await shoot(tab, `${name}-widget`);
        await tab.get(`${url}two.html`);
        await answered(tab, 1);
        const input = await inside(tab, '.panel.open textarea');
        await input.sendKeys(`And its colour?${ENTER}`);
        assert.match(await answered(tab, 2), /Green: Colour\./);
        await input.sendKeys(ESCAPE);
        await inside(tab, '.panel:not(.open)');
        assert.equal(await noted(tab, 'thrown'), null);
      });
    });
  }));

  const withPolicy = (tab, steps, change, body) => withScript(steps, (baseUrl) => {
    const pages = { '/': page({ attributes: scripted(baseUrl), head: noting }), '/notes.js': NOTES };
    return withHost({ pages, headers: { 'content-security-policy': strictPolicy(new URL(baseUrl).origin, change) } }, async ({ url }) => {
      await tab.get(url);
      return body(await open(tab), baseUrl);
    });
  });

  test(`${name}: a strict policy is enough, and where it lacks something the tag says what`, (t) => withTab(name, async (tab) => {
    await withPolicy(tab, [{ calls: [{ id: 'a', name: 'calculate', args: { expression: '6 * 7' } }] }, { text: 'It is **42**.' }], {}, async (input) => {
      await input.sendKeys(`Six times seven?${ENTER}`);
      assert.match(await answered(tab, 1), /It is 42\./);
    });
    const lacks = async (change, wanted) => withPolicy(tab, [], change, async () => {
      await until(() => noted(tab, 'error'), 'an event that says what is blocked');
      assert.equal(JSON.parse(await noted(tab, 'error')).add, wanted);
    });
    await lacks({ 'worker-src': "'none'" }, "worker-src 'self'");
    await lacks({ 'script-src': "'self'" }, "script-src 'wasm-unsafe-eval'");
    if (await tab.executeScript('return "trustedTypes" in window')) await lacks({ 'trusted-types': 'other' }, 'trusted-types turnwise');
    else t.diagnostic(`${name} has no Trusted Types yet: there is nothing to lack`);
    await withPolicy(tab, [], { 'connect-src': "'self'" }, async (input, baseUrl) => {
      await input.sendKeys(`Anyone?${ENTER}`);
      const said = await answered(tab, 1);
      // WebKit reports to a worker neither by event nor otherwise that a request was blocked: it looks like a server that is down.
      if (name === 'webkit') assert.match(said, /Nothing answers at/);
      else assert.match(said, new RegExp(`connect-src ${new URL(baseUrl).origin}`));
    });
  }));

  test(`${name}: a run of the package with a tool in its worker is complete and replays byte for byte`, () => withTab(name, (tab) => withScript([
    { calls: [{ id: 'a', name: 'calculate', args: { expression: '6 * 7' } }] }, { text: 'It is 42.' },
  ], (baseUrl) => withSite(async ({ host }) => {
    await tab.get(host);
    await until(() => tab.executeScript("return document.body.dataset.state === 'ready'"), 'the package is loaded');
    const { trajectory, replayed } = JSON.parse(await tab.executeAsyncScript((base, done) => {
      const agent = new window.turnwise.Agent({ provider: { kind: 'openai', baseUrl: base, model: 'scripted' }, tools: ['calculate'] });
      agent.run('Six times seven?').then(async (trajectory) => ({ trajectory, replayed: await window.turnwise.replay(trajectory) }))
        .then((found) => done(JSON.stringify(found)), (error) => done(JSON.stringify({ error: String(error) })));
    }, baseUrl));
    assert.deepEqual([trajectory?.output, trajectory?.outcome], ['It is 42.', 'success']);
    assertValid(trajectory);
    assert.deepEqual(replayed, { ok: true });
  }))));

  test(`${name}: ${escapes.length} attempts of programs to escape or to harm`, () => withCanary((canary) => withTab(name, (tab) => withSite(async ({ host }) => {
    await tab.get(host);
    await until(() => tab.executeScript("return document.body.dataset.state === 'ready'"), 'the package is loaded');
    await tab.executeScript('eval(`(${arguments[0]})`)(window.turnwise, arguments[1], arguments[2]).then((played) => { window.played = JSON.stringify(played) }, (error) => { window.played = JSON.stringify({ error: String(error) }) })', play.toString(), attempts(escapes, canary), given);
    const played = JSON.parse(await until(() => tab.executeScript('return window.played'), 'the programs have ended', 900_000));
    assert.equal(played.error, undefined);
    judge(escapes, played);
  }))));

  test(`${name}: the app answers an example with the demo model, and the run is there after a reload`, () => withTab(name, (tab) => withSite(async ({ app }) => {
    const button = (pattern) => until(() => tab.executeScript('return [...document.querySelectorAll("button")].find((one) => RegExp(arguments[0]).test(one.innerText))', pattern), `a button ${pattern}`);
    const ending = () => until(() => tab.executeScript('return document.querySelector(".ending")?.textContent'), 'how it ended', 60000);
    await tab.get(app);
    await button('^Files\\s*[1-9]'); // the examples need them
    await (await button('Tools over files')).click();
    assert.match(await ending(), /llm_complete/);
    await shoot(tab, `${name}-app`);
    const turns = () => tab.executeScript('return document.querySelectorAll("section.turn").length');
    const before = await turns();
    assert.ok(before >= 4, `${before} turns`);
    await tab.get(app);
    await until(() => tab.executeScript("const runs = document.querySelector('.earlier .run'); runs?.click(); return Boolean(runs)"), "the stored run"); // on a narrow screen the list is collapsed
    assert.match(await ending(), /llm_complete/);
    assert.equal(await turns(), before);
  })));
}
