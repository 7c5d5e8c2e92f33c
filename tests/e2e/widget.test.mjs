// <turnwise-agent> in an ordinary page: what it loads and when, a run with tools, follow-ups, stops, failures, several
// elements, and conversations that continue across page changes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';
import { dist } from './lib/site.mjs';
import { answered, ask, events, input, launcher, listen, page, scripted, withWidget } from './lib/widget.mjs';

const call = (id, name, args) => ({ id, name, args });
const one = (attributes = '') => (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} ${attributes}` }) });
const said = (request) => request.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
/** The number of running workers: Playwright keeps listing some that ended together with a nested worker. */
const workers = async (tab) => {
  const answers = tab.workers().map((worker) => Promise.race([worker.evaluate(() => 1), new Promise((resolve) => { setTimeout(resolve, 2000, 0); })]).catch(() => 0));
  return (await Promise.all(answers)).reduce((sum, one) => sum + one, 0);
};

async function until(what, wanted, seconds = 10) {
  for (let at = 0; at < 20 * seconds; at += 1) {
    if (await what() === wanted) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  assert.equal(await what(), wanted);
}

test('the launcher is at most 5 KB of brotli, and loads nothing before it is opened', async () => {
  const bytes = readFileSync(path.join(dist, 'turnwise/embed.js'));
  const weight = zlib.brotliCompressSync(bytes).length;
  assert.ok(weight <= 5000, `embed.js: ${weight} bytes of brotli`);
  await withWidget({ pages: one() }, async (tab, { asked }) => {
    await launcher(tab).waitFor();
    await tab.evaluate(() => new Promise((resolve) => { requestIdleCallback(resolve); }));
    assert.deepEqual(asked, ['/', '/turnwise/embed.js']);
    // Moving across the launcher does nothing, but hovering loads the panel; even then no worker starts.
    const panel = tab.waitForResponse(/widget\.js$/);
    await launcher(tab).hover();
    await panel;
    assert.ok(!asked.some((file) => /wasm|worker/.test(file)), `${asked}`);
    const engine = tab.waitForResponse(/agent_bg\.wasm$/);
    await launcher(tab).click();
    await engine;
  });
});

test('a run with a tool: its line opens to what the model saw, the answer is Markdown with links, events tell all', async () => {
  await withWidget({
    steps: [
      { text: 'I will calculate.', calls: [call('a', 'calculate', { expression: '6 * 7' })] },
      { text: 'It is **42**: see [the guide](/guide.html#six).\n\n<img src=x onerror=alert(1)>\n\n[bad](javascript:alert(1))\n\n```js\nconst six = 6;\n```',
        check: ({ messages }) => assert.match(messages.at(-1).content, /42/) },
    ],
    pages: one(),
  }, async (tab, { url }) => {
    await listen(tab);
    await launcher(tab).click();
    await ask(tab, 'What is six times seven?');
    const run = await answered(tab);
    assert.equal(await run.locator('.task').textContent(), 'What is six times seven?');
    assert.equal(await run.locator('summary').textContent(), 'Calculated6 * 7');
    await run.locator('summary').click();
    assert.match(await run.locator('details pre').textContent(), /42/);
    const answer = run.locator('[part=answer]:not(:empty)');
    assert.equal(await answer.locator('strong').textContent(), '42');
    assert.equal(await answer.locator('a').count(), 1, 'an address that a model may not link to is no link');
    assert.equal(await answer.locator('img').count(), 0);
    assert.equal(await answer.locator('pre code').textContent(), 'const six = 6;\n');
    assert.equal(await answer.locator('a').getAttribute('href'), `${url}guide.html#six`);
    assert.equal(await run.locator('.sources *').count(), 0, 'the page was not read');
    assert.equal(await run.locator('.ending').textContent(), 'Answered in 2 turns.');
    await run.getByRole('button', { name: 'Good answer' }).click();
    const heard = await events(tab);
    assert.deepEqual(heard.map(({ name }) => name), ['open', 'run', 'final', 'feedback']);
    assert.equal(heard[2].outcome, 'success');
    assert.deepEqual(heard[2].sources, []);
    assert.equal(heard[3].good, true);
  });
});

test('Markdown is drawn while it streams; Stop ends it and keeps the text, and sends nothing more', async () => {
  const words = (text) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
  const held = { chunks: [words('# First\n\nSome **words**.\n\n'), words('More')], hold: true };
  await withWidget({ steps: [held, { ...held, check: (request) => assert.deepEqual(said(request), ['Tell me.\n\nAgain.'], 'not what was streamed') }], pages: one() }, async (tab) => {
    const run = (n) => tab.locator('turnwise-agent article').nth(n - 1);
    await launcher(tab).click();
    for (const [n, question] of [[1, 'Tell me.'], [2, 'Again.']]) {
      await ask(tab, question);
      await run(n).locator('strong').waitFor({ timeout: 60000 });
      assert.equal(await run(n).locator('.prose h3').textContent(), 'First');
      assert.equal(await tab.getByRole('button', { name: 'Wrap up' }).count(), 0);
      if (n === 1) await tab.getByRole('button', { name: 'Stop' }).click();
      else await input(tab).press('Control+.');
      await answered(tab, n);
      assert.equal(await run(n).locator('.ending').textContent(), 'Stopped.');
      assert.equal(await run(n).locator('.turn .prose').evaluate((prose) => [prose.classList.contains('aside'), prose.classList.contains('live'), /More$/.test(prose.textContent)].join()), 'false,false,true');
    }
    await tab.reload();
    await run(2).locator('strong').waitFor();
    assert.equal(await run(2).locator('.turn .prose.aside').count(), 0);
  });
});

test('Wrap up is offered once there is something to conclude from, and makes one request without tools', async () => {
  let goOn;
  const asked = new Promise((resolve) => { goOn = resolve; });
  let arrived;
  const second = new Promise((resolve) => { arrived = resolve; });
  await withWidget({ steps: [
    { calls: [{ id: 'a', name: 'calculate', args: { expression: '6*7' } }], until: asked },
    { chunks: [], hold: true, check: () => arrived() },
    { text: 'In short: 42.', check: (request) => assert.ok(!request.tools?.length || request.tool_choice === 'none') },
  ], pages: one() }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'Multiply.');
    await tab.getByRole('button', { name: 'Stop' }).waitFor();
    assert.equal(await tab.getByRole('button', { name: 'Wrap up' }).count(), 0);
    goOn();
    const wrap = tab.getByRole('button', { name: 'Wrap up' });
    await wrap.waitFor({ timeout: 60000 });
    await second;
    await wrap.click();
    await wrap.waitFor({ state: 'detached' });
    const run = await answered(tab);
    assert.equal(await run.locator('.ending').textContent(), 'Concluded after 2 turns: you asked it to wrap up.');
    assert.match(await run.locator('.synthesis').textContent(), /In short: 42\./);
  });
});

test('a follow-up carries the conversation, a new conversation forgets it', async () => {
  await withWidget({
    steps: [
      { text: 'Blue.' },
      { text: 'Still blue.', check: (request) => assert.deepEqual(said(request), ['Which colour?', 'And now?']) },
      { text: 'Green.', check: (request) => assert.deepEqual(said(request), ['Afresh?']) },
    ],
    pages: one(),
  }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'Which colour?');
    await answered(tab);
    await ask(tab, 'And now?');
    await answered(tab, 2);
    await tab.getByRole('button', { name: 'New conversation' }).click();
    assert.equal(await tab.locator('turnwise-agent article').count(), 0);
    await ask(tab, 'Afresh?');
    await answered(tab);
  });
});

test('at the turn limit the synthesis stands apart, and Continue grants turns', async () => {
  await withWidget({
    steps: [
      { calls: [call('a', 'calculate', { expression: '1 + 1' })] },
      { text: 'So far: two.', check: ({ tools }) => assert.equal(tools?.length ?? 0, 0) },
      { text: 'Done: two.' },
    ],
    pages: one('max-turns="1"'),
  }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'Count.');
    const run = await answered(tab);
    assert.equal(await run.locator('.synthesis h4').textContent(), 'Synthesis: the turn limit was reached');
    assert.match(await run.locator('.ending').textContent(), /^Concluded after 1 turn: the turn limit was reached\.$/);
    await run.getByRole('button', { name: 'Continue' }).click();
    await run.getByText('Done: two.').waitFor({ timeout: 60000 });
    await run.getByText(/^Answered in/).waitFor();
  });
});

test('a refused key is said without its details, the visitor gives one, and it is nowhere but in the request', async () => {
  const KEY = 'sk-visitor-0123456789';
  await withWidget({
    steps: [{ status: 401, body: '{"error":{"message":"bad key"}}' }],
    pages: one(),
    options: { expect: [/401/] },
  }, async (tab) => {
    await listen(tab);
    await tab.evaluate((key) => { document.querySelector('turnwise-agent').apiKey = key; }, KEY);
    await launcher(tab).click();
    await ask(tab, 'Anyone?');
    const run = await answered(tab);
    assert.match(await run.getByRole('alert').textContent(), /^The assistant does not work\. .* only the owner of this site can repair it\.$/);
    const kept = await tab.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, window.heard, document.querySelector('turnwise-agent').outerHTML]));
    assert.ok(!kept.includes(KEY), 'the key is kept somewhere');
    const { name, slugs, status, message } = (await events(tab)).at(-1);
    assert.deepEqual([name, slugs, status], ['error', ['auth_error'], 401]);
    assert.match(message, /key/);
    await run.getByRole('button', { name: 'Use your own key' }).click();
    await tab.getByLabel('API key').waitFor();
    assert.equal(await tab.getByLabel('API key').getAttribute('type'), 'password');
    await tab.getByRole('button', { name: 'Back' }).click();
    assert.equal(await input(tab).inputValue(), 'Anyone?');
  });
});

test('a model of the page answers through the worker, in pieces and as a whole', async () => {
  await withWidget({ pages: () => ({ '/': page({ attributes: 'docs="off"' }) }) }, async (tab) => {
    await tab.evaluate(() => {
      let asked = 0;
      document.querySelector('turnwise-agent').complete = async (request) => {
        asked += 1;
        if (asked === 1) return (async function* pieces() { yield 'One '; yield 'piece.'; })();
        return `Asked ${request.messages.filter(({ role }) => role === 'user').length} times.`;
      };
    });
    const first = await tab.evaluate(() => document.querySelector('turnwise-agent').ask('First?'));
    assert.equal(first.output, 'One piece.');
    const second = await tab.evaluate(() => document.querySelector('turnwise-agent').ask('Second?'));
    assert.equal(second.output, 'Asked 2 times.');
  });
});

test('several on a page share an engine and nothing else: removing one disturbs no other; moved it goes on, added again it is as before', async () => {
  const pages = (baseUrl) => ({ '/': page({ tag: `<div id="left"><turnwise-agent id="a" label="First" ${scripted(baseUrl)}></turnwise-agent></div><div id="right"><turnwise-agent id="b" label="Second" position="bottom-start" docs="off"></turnwise-agent></div>` }) });
  await withWidget({ steps: [{ text: 'To A.' }, { text: 'Again to A.', check: (request) => assert.deepEqual(said(request), ['A?', 'More A?']) }], pages }, async (tab) => {
    const on = (id, text) => tab.evaluate(([id, text]) => document.getElementById(id).ask(text), [id, text]);
    await tab.clock.install();
    const engines = () => tab.workers().filter((worker) => worker.url().endsWith('/engine-worker.js')).length;
    assert.equal((await on('a', 'A?')).output, 'To A.');
    await tab.evaluate(() => {
      const b = document.getElementById('b');
      b.complete = ({ messages }) => new Promise((resolve) => { window.finish = () => resolve(messages.filter(({ role }) => role === 'user').map(({ content }) => content).join()); });
      window.answer = b.ask('B?');
    });
    await tab.waitForFunction(() => window.finish);
    assert.equal(engines(), 1);
    // After the element is moved: the same panel, open, with its conversation.
    await tab.evaluate(() => document.getElementById('right').append(document.getElementById('a')));
    await tab.locator('#a article').getByText('To A.').waitFor();
    await tab.evaluate(() => { window.a = document.getElementById('a'); window.a.remove(); });
    // As if it had been gone for a while: a removed element may only have been moved.
    await tab.clock.fastForward(300);
    await tab.evaluate(() => window.finish());
    assert.equal((await tab.evaluate(() => window.answer)).output, 'B?');
    await tab.evaluate(() => { document.getElementById('b').remove(); });
    // Without an element, the engine rests after twenty seconds.
    await until(async () => { await tab.clock.fastForward(10_000); return workers(tab); }, 0, 60);
    await tab.evaluate(() => document.body.append(window.a));
    assert.equal((await on('a', 'More A?')).output, 'Again to A.');
    assert.equal(await tab.locator('#a article').count(), 2);
  });
});

test('an engine that dies is an interrupted answer, its event says more, and the next question starts another one, which knows the conversation', async () => {
  const words = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] })}\n\n`;
  const held = { chunks: [words], hold: true };
  await withWidget({ steps: [{ text: 'Blue.' }, held, { text: 'Round.', check: (request) => assert.deepEqual(said(request), ['Which colour?', 'Which shape?']) }], pages: one() }, async (tab) => {
    const engine = () => tab.workers().find((worker) => worker.url().endsWith('/engine-worker.js'));
    await listen(tab);
    await launcher(tab).click();
    await ask(tab, 'Which colour?');
    await answered(tab);
    await ask(tab, 'Which shape?');
    await tab.locator('turnwise-agent article').nth(1).getByText('Half').waitFor();
    await engine().evaluate(() => { setTimeout(() => { throw new Error('it broke'); }); });
    const lost = await answered(tab, 2);
    assert.match(await lost.getByRole('alert').textContent(), /^The answer was interrupted\. Try again\.$/);
    const last = (await events(tab)).at(-1);
    assert.deepEqual([last.name, last.outcome, last.slugs], ['error', 'failed', ['worker_lost']]);
    assert.match(last.message, /^the agent's worker is gone: .*it broke$/);
    await lost.getByRole('button', { name: 'Try again' }).click();
    await tab.locator('turnwise-agent article').nth(1).getByText('Round.').waitFor();
  });
});

test('the conversation goes on over a page change; what was open is open, what was cut off says so', async () => {
  const words = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] })}\n\n`;
  const pages = (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl) }), '/next.html': page({ attributes: scripted(baseUrl), body: '<p id="next">Next page.</p>' }) });
  await withWidget({
    steps: [{ text: 'Blue.' }, { text: 'Still blue.', check: (request) => assert.deepEqual(said(request), ['Which colour?', 'And now?']) }, { chunks: [words], hold: true }],
    pages,
  }, async (tab, { url }) => {
    await launcher(tab).click();
    await ask(tab, 'Which colour?');
    await answered(tab);
    await tab.goto(`${url}next.html`);
    await tab.locator('turnwise-agent article').getByText('Blue.').waitFor();
    assert.equal(await tab.evaluate(() => document.activeElement === document.body), true, 'the page keeps the focus');
    await ask(tab, 'And now?');
    await answered(tab, 2);
    await ask(tab, 'And then?');
    await tab.locator('turnwise-agent article').nth(2).getByText('Half').waitFor();
    await tab.goto(url);
    const cut = await answered(tab, 3);
    assert.match(await cut.getByRole('alert').textContent(), /^The answer was interrupted/);
  });
});

test('keyboard: the shortcut opens, Escape closes, and the focus goes where it was', async () => {
  await withWidget({ pages: (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl), body: '<button id="mine">Mine</button>' }) }) }, async (tab) => {
    await tab.locator('#mine').focus();
    await tab.keyboard.press('Control+i');
    await input(tab).waitFor();
    await until(() => tab.evaluate(() => document.activeElement.localName), 'turnwise-agent');
    await tab.keyboard.press('Escape');
    await launcher(tab).waitFor();
    assert.equal(await tab.evaluate(() => document.activeElement.id), 'mine');
    await launcher(tab).click();
    await tab.getByRole('button', { name: 'Close' }).click();
    assert.equal(await tab.evaluate(() => document.activeElement.shadowRoot?.activeElement?.className), 'pill');
  });
});

test('what was set before the script came counts, attributes mirror properties, and the words can be replaced', async () => {
  const pages = (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl) }).replace(/<script.*?<\/script>/, '') });
  await withWidget({ pages }, async (tab) => {
    const mirrored = await tab.evaluate(async () => {
      const element = document.querySelector('turnwise-agent');
      Object.assign(element, { maxTurns: 3, suggestions: ['One?', 'Two?'], texts: { label: 'Ask Halden', about: 'From the manual.' }, apiKey: 'secret-key' });
      await import('/turnwise/embed.js');
      await import('/turnwise/embed.js?again'); // a second copy is not an error
      return [element.getAttribute('max-turns'), element.getAttribute('suggestions'), element.baseUrl === element.getAttribute('base-url'), element.outerHTML.includes('secret-key')];
    });
    assert.deepEqual(mirrored, ['3', '["One?","Two?"]', true, false]);
    await tab.evaluate(() => { document.querySelector('turnwise-agent').docs = 'auto'; });
    await launcher(tab, 'Ask Halden').click();
    await tab.getByText('From the manual.').waitFor();
    assert.deepEqual(await tab.locator('[part=suggestion]').allTextContents(), ['One?', 'Two?']);
    await tab.evaluate(() => { document.querySelector('turnwise-agent').heading = 'Halden'; });
    await tab.getByRole('heading', { name: 'Halden', exact: true, level: 2 }).waitFor();
  });
});

test('a failed attempt says when it is tried again', async () => {
  await withWidget({
    steps: [{ status: 503, body: '{"error":{"message":"busy"}}', headers: { 'retry-after': '4' } }, { text: 'Now.' }],
    pages: one(), options: { expect: [/503|busy/] },
  }, async (tab) => {
    await launcher(tab).click();
    await ask(tab, 'Now?');
    const note = tab.locator('turnwise-agent .retry:not(:empty)');
    await note.waitFor({ timeout: 60000 });
    assert.match(await note.textContent(), /^Trying again in [1-4] s$/);
    const run = await answered(tab);
    assert.match(await run.textContent(), /Now\.Answered in 1 turn\./);
    assert.equal(await note.count(), 0);
  });
});

test('inline it waits to be seen, and its worker to be touched; a modal takes the page\'s place', async () => {
  const pages = (baseUrl) => ({
    '/': page({ attributes: `${scripted(baseUrl)} mode="inline"`, body: '<div style="height: 3000px"></div>' }),
    '/modal.html': page({ attributes: `${scripted(baseUrl)} mode="modal"`, body: '<button id="mine">Mine</button>' }),
  });
  await withWidget({ pages }, async (tab, { asked, url }) => {
    await tab.waitForFunction(() => customElements.get('turnwise-agent'));
    await tab.evaluate(() => new Promise((resolve) => { requestIdleCallback(resolve); }));
    assert.ok(!asked.includes('/turnwise/widget.js'), `${asked}`);
    await tab.evaluate(() => scrollTo(0, 3000));
    await input(tab).waitFor();
    assert.ok(!asked.includes('/turnwise/engine-worker.js'), `${asked}`);
    await input(tab).click();
    await until(() => asked.includes('/turnwise/engine-worker.js'), true);
    await tab.goto(`${url}modal.html`);
    await launcher(tab).click();
    await input(tab).waitFor();
    assert.equal(await tab.evaluate(() => { document.getElementById('mine').focus(); return document.activeElement.localName; }), 'turnwise-agent', 'what is behind takes no focus');
    await tab.keyboard.press('Escape');
    await launcher(tab).waitFor();
    assert.equal(await input(tab).count(), 0);
  });
});
