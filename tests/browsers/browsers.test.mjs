// The docs agent, the package and the app in browsers that the other tests do not use. BROWSERS selects some; `make
// test-browsers` runs all. The checks cover what differs between engines: workers and their policies, streams, popovers,
// adopted style sheets, storage, WebAssembly; the rules are the same code everywhere.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { escapes } from '../e2e/lib/escapes.mjs';
import { EMPTY_IS_NONE, OUT, judgeOutside, outside, outsideGiven } from '../e2e/lib/outside.mjs';
import { attempts, given, judge, play, withCanary } from '../e2e/lib/programs.mjs';
import { withScript } from '../e2e/lib/script-server.mjs';
import { root, withSite } from '../e2e/lib/site.mjs';
import { KEY, SEND, cast } from '../e2e/lib/stranger.mjs';
import { assertValid } from '../e2e/lib/trajectory.mjs';
import { NOTES, noting, page, scripted, strictPolicy, withHost } from '../e2e/lib/widget.mjs';
import { BROWSERS, until, withTab } from './driver.mjs';
import { OTHERS, PROGRAMS, WAYS_OUT, inFrame, linked, strangersRecords, takeUp } from './attacks.mjs';

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
  // WebKit's driver reads closed details and leaves out their summaries.
  return tab.executeScript('return arguments[0].innerText', await inside(tab, `article:nth-of-type(${n})`));
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
      await until(() => noted(tab, 'error'), 'an event that says what failed');
      const { message, add } = JSON.parse(await noted(tab, 'error'));
      // WebKit reports to a worker neither by event nor otherwise that a request was blocked: it looks like a server that is down.
      if (name === 'webkit') assert.match(message, /Nothing answers at/);
      else assert.equal(add, `connect-src ${new URL(baseUrl).origin}`);
      assert.match(said, /only the owner of this site can repair it/);
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

  const loaded = (tab, page) => tab.get(page).then(() => until(() => tab.executeScript("return document.body.dataset.state === 'ready'"), 'the package is loaded'));
  /** Runs `play` in the page; WebDriver's own limit on a script is too short for it, and in WebKit, its scripts cannot `eval` what the page cannot. */
  async function played(tab, turns, given) {
    await tab.executeScript(`window.played = undefined; (${play})(window.turnwise, arguments[0], arguments[1]).then((played) => { window.played = JSON.stringify(played) }, (error) => { window.played = JSON.stringify({ error: String(error) }) })`, turns, given);
    const found = JSON.parse(await until(() => tab.executeScript('return window.played'), 'the programs have ended', 900_000));
    assert.equal(found.error, undefined);
    return found;
  }

  test(`${name}: ${escapes.length} attempts of programs to escape or to harm`, () => withCanary((canary) => withTab(name, (tab) => withSite(async ({ host }) => {
    await loaded(tab, host);
    judge(escapes, await played(tab, attempts(escapes, canary), given));
  }))));

  test(`${name}: ${PROGRAMS.length} attempts of programs that are special to an engine, in the frame`, () => withCanary((canary) => withTab(name, (tab) => withSite(async ({ host }) => {
    await loaded(tab, host.replace('package.html', 'open.html'));
    await tab.executeScript('window.frames_ = 0; new MutationObserver((all) => { for (const { addedNodes } of all) for (const node of addedNodes) if (node.localName === "iframe") window.frames_ += 1; }).observe(document.body, { childList: true })');
    judge(PROGRAMS, await played(tab, attempts(PROGRAMS, canary), given));
    assert.equal(await tab.executeScript('return window.frames_'), PROGRAMS.length * 4, 'each program has its frame, also when the replay runs it');
    assert.equal(await tab.executeScript('return document.querySelectorAll("iframe").length'), 0);
  }))));

  test(`${name}: code that came out of QuickJS is held by the frame`, (t) => withCanary(async (canary) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'outside-'));
    const worker = path.join(folder, 'sandbox-worker.js');
    writeFileSync(worker, OUT(canary, WAYS_OUT(canary) + (name === 'webkit' ? EMPTY_IS_NONE : '')));
    try {
      await withTab(name, (tab) => withSite(async ({ host }) => {
        await loaded(tab, host.replace('package.html', 'open.html'));
        await tab.executeScript('window.heard = []; window.said = new BroadcastChannel("go"); said.onmessage = ({ data }) => heard.push(data); indexedDB.open("turnwise"); localStorage.setItem("mine", "whole"); window.name = "whole"; caches.open("mine"); navigator.storage?.getDirectory?.().then((folder) => folder.getFileHandle("mine", { create: true })).catch(() => {});');
        const tried = judgeOutside(await played(tab, outside, outsideGiven));
        t.diagnostic(tried.map(([way, how]) => `${way}: ${how}`).join(', '));
        assert.deepEqual(await tab.executeScript('return [heard, document.querySelectorAll("iframe").length, localStorage.getItem("mine"), window.name]'), [[], 0, 'whole', 'whole']);
      }, { mounts: { '/turnwise/sandbox-worker.js': worker } }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }));

  // A script of WebDriver takes the place of one that no policy lets into the frame.
  test(`${name}: the frame of a program leads nowhere`, (t) => withCanary((canary) => withTab(name, (tab) => withSite(async ({ host }) => {
    const page = host.replace('package.html', 'open.html');
    await loaded(tab, page);
    await tab.executeScript('localStorage.setItem("mine", "whole"); ' + `(${play})(window.turnwise, [["for (;;);"]], {}).then(({ results }) => { window.ended = results[0] })`);
    await tab.switchTo().frame(await until(() => tab.executeScript('return document.querySelector("iframe")'), 'the frame'));
    const tried = JSON.parse(await tab.executeAsyncScript(inFrame, canary));
    await tab.switchTo().defaultContent();
    t.diagnostic(tried.map(([way, how]) => `${way}: ${how}`).join(', '));
    assert.deepEqual(tried.filter(([, how]) => how === 'ESCAPED'), []);
    assert.match(await until(() => tab.executeScript('return window.ended'), 'the end of the program', 120_000), /too long|did not answer/, 'what the frame says for the worker is not heard');
    assert.equal(await tab.getCurrentUrl(), page);
    assert.equal((await tab.getAllWindowHandles()).length, 1);
  }))));

  test(`${name}: a page that takes up a stranger's record asks the user's server alone, and sends its key nowhere else`, async () => {
    const play = await cast();
    const { home, evil, own } = play;
    try {
      const records = await strangersRecords(play);
      await withTab(name, (tab) => withSite(async ({ host }) => {
        await loaded(tab, host);
        for (const [what, all] of Object.entries(records)) for (const way of ['resume', 'branch', 'follow-up']) {
          const where = `${way}: ${what}`;
          home.next = [{ calls: [{ id: 's', name: 'send', args: { text: 'secret' } }] }];
          const [asked, knocks] = [home.seen.length, evil.knocks];
          const found = JSON.parse(await tab.executeAsyncScript(takeUp, way, way === 'resume' ? all.halfway : all.whole, own(), SEND));
          home.next = [];
          assert.equal(evil.knocks, knocks, where);
          assert.equal(found.ran, 0, where);
          const requests = home.seen.slice(asked);
          if (found.refused) assert.match(found.refused, all.refused ?? /another model or address|does not replay|has ended/, where);
          else assert.ok(requests.length > 0 && found.asked === 1, `${where}: ${JSON.stringify(found)}`);
          for (const { headers, body } of requests) {
            assert.deepEqual([headers.authorization, headers['x-own'], headers['x-theirs'], body.service_tier, body.model], [`Bearer ${KEY}`, 'yes', undefined, undefined, 'm'], where);
            assert.ok(body.tools.every(({ function: { name, description } }) => ['now', 'send'].includes(name) && description !== 'theirs'), where);
          }
        }
      }));
    } finally {
      play.close();
    }
  });

  test(`${name}: a stranger's record in the app is written again with the user's model, and the form shows where else it would go`, async () => {
    const play = await cast();
    const { home, evil } = play;
    const byText = (text, within = 'button') => `return [...document.querySelectorAll(${JSON.stringify(within)})].filter((one) => one.checkVisibility?.() !== false && RegExp(${JSON.stringify(text)}).test(one.ariaLabel ?? one.innerText)).at(-1)`;
    try {
      const records = await strangersRecords(play);
      await withTab(name, (tab) => withSite(async ({ app, host }) => {
        const items = { 'turnwise.settings': { provider: 'openai', base_url: home.url, model: 'm', max_turns: '12' }, 'turnwise.keys': { [home.url]: KEY } };
        await tab.get(app);
        for (const [item, value] of Object.entries(items)) await tab.executeScript('localStorage.setItem(arguments[0], arguments[1])', item, JSON.stringify(value));
        for (const [what, { whole, form = [false, true], invalid, names = [] }] of Object.entries(records)) for (const same of form) {
          // Without the record before, which the tab opens again, and its branches.
          await tab.get(host.replace('package.html', 'open.html'));
          await tab.executeAsyncScript('const done = arguments[0]; sessionStorage.clear(); const gone = indexedDB.deleteDatabase("turnwise"); gone.onsuccess = gone.onerror = gone.onblocked = () => done()');
          await tab.get(app);
          await until(() => tab.executeScript(byText('^Files\\s*[1-9]')), 'the files');
          const knocks = evil.knocks;
          await tab.executeScript(`const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'report.json', { type: 'application/json' }));
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));`, JSON.stringify(whole));
          await until(() => tab.executeScript('return document.body.innerText.includes("read-only")'), `${what}: the record is open`);
          await (await until(() => tab.executeScript(byText('^Regenerate$')), `${what}: what can be done with it`)).click();
          const choices = await until(() => tab.executeScript('const all = [...document.querySelectorAll("dialog .choice, [role=dialog] .choice")]; return all.length === 2 && all.map((one) => [one.innerText, one.querySelector("input").checked])'), `${what}: the form`);
          assert.deepEqual(choices.map(([, chosen]) => chosen), [false, true], `${what}: the user's model is chosen`);
          for (const part of names) assert.ok(choices[0][0].includes(part), `${what}: ${choices[0][0]}, without ${part}`);
          assert.equal(evil.knocks, knocks, what);
          const [asked, heard] = [home.seen.length, evil.seen.length];
          if (same) await (await tab.executeScript('return [...document.querySelectorAll(".choice input")].find((one) => !one.checked)')).click();
          await (await tab.executeScript(byText('^Start the branch$'))).click();
          const wrong = () => tab.executeScript('return document.body.innerText.match(/base URL [^\\n]*/)?.[0]');
          const began = await until(async () => home.seen.length > asked || evil.seen.length > heard || wrong(), `${what}: the branch (${same})`);
          if (began === true) await until(() => tab.executeScript('return /Done ·/.test(document.body.innerText) && ![...document.querySelectorAll("button")].some((one) => /^(Stop|Cancel)$/.test(one.innerText.trim()) && one.checkVisibility())'), `${what}: its end (${same})`);
          const [ours, theirs] = [home.seen.slice(asked), evil.seen.slice(heard)];
          if (!same) {
            assert.equal(evil.knocks, knocks, what);
            assert.ok(ours.length > 0 && ours.every(({ headers, body }) => headers.authorization === `Bearer ${KEY}` && body.model === 'm'), what);
          } else if (invalid) {
            assert.match(began, /base URL/, what);
            assert.deepEqual([evil.knocks, ours.length], [knocks, 0], what);
          } else {
            // What the user chose goes where the form says, without a key of another server.
            assert.ok(theirs.length + ours.length > 0, what);
            for (const { headers } of theirs) assert.equal(headers.authorization, undefined, what);
          }
        }
      }));
    } finally {
      play.close();
    }
  });

  test(`${name}: a link in an answer of the app or the tag shows the host that this browser would ask`, (t) => withTab(name, async (tab) => {
    const links = [...JSON.parse(readFileSync(path.join(root, 'tests/fixtures/link_targets.json'), 'utf8')), ...OTHERS].filter(linked);
    const text = links.map(({ text, href }) => `- [${text.replace(/[[\]\\<]/g, '\\$&')}](<${href.replaceAll('\\', '\\\\')}>)`).join('\n');
    const judged = (where, shown) => {
      let seen = 0;
      for (const [said, beside, host, href] of shown) {
        // What is no link leads nowhere, and neither does an address that this browser cannot read.
        if (!href || !host) continue;
        seen += 1;
        const told = beside.trim().replace(/^\((.*)\)$/, '$1');
        const alone = said.trim().toLowerCase().replace(/^(https?:\/\/|mailto:)/, '');
        // IPv6 can be written in several ways.
        if (told) assert.ok(told === host || (told.startsWith('[') && new URL(`http://${told}`).host === host) || (told.includes('xn--') && !/^[!-~]*$/.test(href)), `${where}: [${said}](${href}) shows ${told}, and this browser asks ${host}`);
        else assert.ok(/^[!-~]+$/.test(said.trim()) && (alone === host || alone.startsWith(`${host}/`)), `${where}: [${said}](${href}) shows nothing, and this browser asks ${host}`);
      }
      assert.ok(seen > 40, `${where}: ${seen} links`);
      t.diagnostic(`${where}: ${seen} of ${shown.length} are links`);
    };
    const host = 'const host = (a) => a.protocol === "mailto:" ? a.href.slice(7) : a.host;';
    await withScript([{ text }], (baseUrl) => withHost({ pages: { '/': page({ attributes: scripted(baseUrl) }) } }, async ({ url }) => {
      await tab.get(url);
      await (await open(tab)).sendKeys(`Links?${ENTER}`);
      await answered(tab, 1);
      judged('tag', await tab.executeScript(`${host} return [...document.querySelector('turnwise-agent').shadowRoot.querySelectorAll('article li')].map((li) => { const a = li.querySelector('a'); const beside = a?.querySelector('small')?.textContent ?? ''; return [a?.textContent.slice(0, a.textContent.length - beside.length) ?? li.textContent, beside, a && host(a), a?.getAttribute('href')]; })`));
    }));
    await withScript([{ text }], (baseUrl) => withSite(async ({ app }) => {
      await tab.get(app);
      await tab.executeScript('localStorage.setItem("turnwise.settings", arguments[0])', JSON.stringify({ provider: 'openai', base_url: baseUrl, model: 'scripted' }));
      await tab.get('about:blank');
      await tab.get(app);
      await until(() => tab.executeScript('return [...document.querySelectorAll("button")].some((one) => /^Files\\s*[1-9]/.test(one.innerText))'), 'the files');
      await (await until(() => tab.executeScript('return document.querySelector(".composer textarea")'), 'the task')).sendKeys('Links?');
      await (await tab.executeScript('return [...document.querySelectorAll("button")].find((one) => one.innerText.trim() === "Run")')).click();
      await until(() => tab.executeScript('return document.querySelectorAll(".prose li").length === arguments[0]', links.length), 'the links', 60_000);
      judged('app', await tab.executeScript(`${host} return [...document.querySelectorAll('.prose li')].map((li) => { const a = li.querySelector('a'); return [a?.textContent ?? li.textContent, li.querySelector('.target')?.textContent ?? '', a && host(a), a?.getAttribute('href')]; })`));
    }));
  }));

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
