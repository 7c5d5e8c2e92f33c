// Mistakes that <turnwise-agent> must not make: losing a half-written question, an answer under way, a conversation that
// continued elsewhere, the focus, or the place in the text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, ask, events, input, launcher, listen, page, scripted, withWidget } from './lib/widget.mjs';

const said = (request) => request.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
const words = (text) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
const held = { chunks: [words('Half')], hold: true };
const one = (attributes = '', more = {}) => (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} ${attributes}`, ...more }), '/next.html': page({ attributes: scripted(baseUrl) }) });
const run = (tab, n) => tab.locator('turnwise-agent article').nth(n - 1);
const inside = (tab) => tab.evaluate(() => document.querySelector('turnwise-agent').shadowRoot.activeElement?.localName);

test('Enter does not stop an answer: what was written waits, also for the next page', () => withWidget({ steps: [held], pages: one() }, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'Which colour?');
  await run(tab, 1).getByText('Half').waitFor();
  await ask(tab, 'And which shape?');
  assert.equal(await input(tab).inputValue(), 'And which shape?');
  assert.equal(await tab.getByRole('button', { name: 'Stop' }).count(), 1);
  await tab.goto(`${url}next.html`);
  await run(tab, 1).waitFor();
  assert.equal(await input(tab).inputValue(), 'And which shape?');
}));

test('Stop while the worker starts ends it before anything is sent, and the host hears of it', () => withWidget({ steps: [], pages: one() }, async (tab) => {
  let go;
  const wait = new Promise((resolve) => { go = resolve; });
  await tab.route(/agent_bg\.wasm$/, async (route) => { await wait; await route.continue(); });
  await listen(tab);
  await launcher(tab).click();
  await ask(tab, 'Which colour?');
  await tab.getByRole('button', { name: 'Stop' }).click();
  // It does not wait for the worker.
  assert.equal(await (await answered(tab)).locator('.ending').textContent(), 'Stopped.');
  go();
  assert.deepEqual((await events(tab)).map(({ name, outcome }) => [name, outcome]), [['open', undefined], ['run', undefined], ['final', 'cancelled']]);
}));

test('a page that the browser kept catches up with what was asked on another one', () => withWidget({
  steps: [{ text: 'Blue.' }, { text: 'Round.' }, { text: 'Both.', check: (request) => assert.deepEqual(said(request), ['Which colour?', 'Which shape?', 'And both?']) }],
  pages: one(),
}, async (tab) => {
  const kept = () => tab.evaluate(() => JSON.stringify(sessionStorage));
  const put = (values) => tab.evaluate((all) => Object.entries(JSON.parse(all)).forEach(([key, value]) => sessionStorage.setItem(key, value)), values);
  await launcher(tab).click();
  await ask(tab, 'Which colour?');
  await answered(tab);
  const first = await kept();
  await ask(tab, 'Which shape?');
  await answered(tab, 2);
  const second = await kept();
  // The page as it was before the second question, with its worker started.
  await tab.evaluate(() => addEventListener('pagehide', (event) => event.stopImmediatePropagation(), { capture: true }));
  await put(first);
  await tab.addInitScript((all) => Object.entries(JSON.parse(all)).forEach(([key, value]) => sessionStorage.setItem(key, value)), first);
  await tab.reload();
  await run(tab, 1).waitFor();
  assert.equal(await tab.locator('turnwise-agent article').count(), 1);
  await put(second);
  await tab.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await run(tab, 2).getByText('Round.').waitFor();
  await ask(tab, 'And both?');
  await answered(tab, 3);
}));

test('Continue is offered where it works: on the last run of this page only', () => withWidget({
  steps: [
    { calls: [{ id: 'a', name: 'calculate', args: { expression: '1 + 1' } }] }, { text: 'So far: two.' },
    { calls: [{ id: 'b', name: 'calculate', args: { expression: '2 + 2' } }] }, { text: 'So far: four.' },
  ],
  pages: one('max-turns="1"'),
}, async (tab) => {
  const goes = (n) => run(tab, n).getByRole('button', { name: 'Continue' }).count();
  await launcher(tab).click();
  await ask(tab, 'Count.');
  await answered(tab);
  assert.equal(await goes(1), 1);
  await ask(tab, 'Count on.');
  await answered(tab, 2);
  assert.deepEqual([await goes(1), await goes(2)], [0, 1]);
  await tab.reload();
  await run(tab, 2).waitFor();
  assert.deepEqual([await goes(1), await goes(2)], [0, 0]);
}));

test('a question that failed is no part of the conversation, on the next page either', () => withWidget({
  steps: [{ text: 'Blue.' }, { status: 404, body: '{"error":{"message":"no such model"}}' }, { text: 'Still blue.', check: (request) => assert.deepEqual(said(request), ['Which colour?', 'And now?']) }],
  pages: one(), options: { expect: [/404/] },
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'Which colour?');
  await answered(tab);
  await ask(tab, 'Broken?');
  await (await answered(tab, 2)).getByRole('alert').waitFor();
  await tab.goto(`${url}next.html`);
  await run(tab, 2).waitFor();
  await ask(tab, 'And now?');
  await answered(tab, 3);
}));

test('ask() ends with an error where the element goes, another question comes, or a new conversation begins', () => withWidget({ steps: [held], pages: (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl) }), '/keys.html': page({ attributes: 'docs="off"' }) }) }, async (tab, { url }) => {
  await tab.evaluate(() => {
    const element = document.querySelector('turnwise-agent');
    window.asked = element.ask('Which colour?').then(() => 'resolved', ({ message }) => message);
  });
  await run(tab, 1).getByText('Half').waitFor();
  await tab.evaluate(() => document.querySelector('turnwise-agent').remove());
  assert.equal(await tab.evaluate(() => window.asked), 'the <turnwise-agent> was removed');
  await tab.goto(`${url}keys.html`);
  await tab.evaluate(() => {
    const element = document.querySelector('turnwise-agent');
    const hear = (text) => element.ask(text).then(() => 'resolved', ({ message }) => message);
    window.asked = [hear('One?')];
    window.more = () => window.asked.push(hear('Two?'));
  });
  await tab.getByRole('heading', { name: /model/i }).waitFor();
  assert.equal(await tab.evaluate(async () => {
    window.more();
    return window.asked[0];
  }), 'another question was asked');
  await tab.getByRole('button', { name: 'New conversation' }).click();
  assert.deepEqual(await tab.evaluate(() => Promise.all(window.asked)), ['another question was asked', 'a new conversation was begun']);
}));

test("what is typed in the panel is none of the host's shortcuts; with Ctrl it is, and so it is at the launcher", () => withWidget({ pages: one() }, async (tab) => {
  await tab.evaluate(() => {
    window.keys = [];
    for (const type of ['keydown', 'keypress', 'keyup']) window.addEventListener(type, (event) => window.keys.push(`${type} ${event.key}`));
  });
  const heard = () => tab.evaluate(() => window.keys.splice(0).filter((key) => !/(Control|Shift)$/.test(key)));
  await launcher(tab).focus();
  await tab.keyboard.press('s');
  assert.deepEqual(await heard(), ['keydown s', 'keypress s', 'keyup s']);
  await launcher(tab).click();
  for (const key of ['s', '/', 'Shift+A', 'ArrowLeft', 'Home']) await input(tab).press(key);
  assert.equal(await input(tab).inputValue(), 's/A');
  assert.deepEqual(await heard(), []);
  await input(tab).press('Control+k');
  assert.deepEqual(await heard(), ['keydown k', 'keyup k']);
  await input(tab).press('Control+i');
  await launcher(tab).waitFor();
}));

test('the focus stays in the panel, and the place in the text is found again', () => withWidget({
  steps: [{ text: `Blue.\n\n${'A long answer.\n\n'.repeat(60)}` }],
  pages: one('suggestions="Which colour?"'),
}, async (tab) => {
  await launcher(tab).click();
  await tab.getByRole('button', { name: 'Which colour?' }).click();
  await answered(tab);
  assert.equal(await inside(tab), 'textarea');
  const good = run(tab, 1).getByRole('button', { name: 'Good answer' });
  await good.focus();
  await good.press('Enter');
  assert.equal(await good.getAttribute('aria-pressed'), 'true');
  assert.equal(await inside(tab), 'button');
  await run(tab, 1).locator('.comment').waitFor(); // it scrolls into view
  const scroll = tab.locator('turnwise-agent').getByRole('log');
  await scroll.evaluate((element) => { element.scrollTop = 333; });
  await tab.keyboard.press('Escape');
  await launcher(tab).click();
  assert.equal(await scroll.evaluate((element) => element.scrollTop), 333);
}));

test('bare addresses are links, tables keep their words whole', () => withWidget({
  steps: [{ text: 'See https://example.org/a_b?x=1. Not `https://example.org/code`.\n\n| name | what it does for whom |\n| --- | --- |\n| `a-rather-long-name` | something that takes a few more words than a card is wide |\n\n- [x] done' }],
  pages: one(),
}, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'Where?');
  const done = await answered(tab);
  const answer = done.locator('[part=answer]:not(:empty)');
  assert.deepEqual(await answer.locator('a').evaluateAll((links) => links.map(({ href, target }) => [href, target])), [['https://example.org/a_b?x=1', '_blank']]);
  const lines = await answer.locator('td').last().evaluate((cell) => cell.getBoundingClientRect().height / 21);
  assert.ok(lines < 5, `${lines} lines`);
  const status = await tab.locator('turnwise-agent').getByRole('status').textContent();
  assert.match(status, /^Answer: See https:\/\/example\.org\/a_b\?x=1\. Not https/);
}));

for (const [color, theme] of [['oklch(0.2 0.02 250)', 'dark'], ['lab(95% 0 0)', 'light'], ['#123', 'dark']]) {
  test(`a page with the background ${color} is ${theme}`, () => withWidget({ pages: one('', { head: `<style>body { background: ${color} }</style>` }) }, async (tab) => {
    assert.equal(await tab.locator('turnwise-agent').evaluate(({ shadowRoot }) => shadowRoot.querySelector('.root').dataset.theme), theme);
  }));
}

test('on a touch screen no field has so small a text that a phone zooms in on it', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off"' }) }), options: { context: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } },
}, async (tab) => {
  await launcher(tab).tap();
  await ask(tab, 'Which colour?');
  await tab.getByLabel('API key').waitFor();
  const sizes = await tab.evaluate(() => [...document.querySelector('turnwise-agent').shadowRoot.querySelectorAll('input, textarea, select')].map((field) => parseFloat(getComputedStyle(field).fontSize)));
  assert.ok(sizes.length >= 3 && sizes.every((size) => size >= 16), `${sizes}`);
  await tab.screenshot({ path: `${import.meta.dirname}/shots/widget-keys-touch.png` });
}));
