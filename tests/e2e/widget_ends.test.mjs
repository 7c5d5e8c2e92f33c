// <turnwise-agent> when a run ends without an answer, and what visitors do with answers: copy, follow a link, rate, come back.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { answered, ask, events, input, launcher, listen, page, scripted, withWidget } from './lib/widget.mjs';

const shots = path.resolve(import.meta.dirname, 'shots');
mkdirSync(shots, { recursive: true });
const words = (text) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
const long = Array.from({ length: 40 }, (_, n) => `Paragraph ${n} of a long answer.\n\n`);
const short = { chunks: long.map(words) }; // without an end
const held = { chunks: [words('Half')], hold: true };
const read = { calls: [{ id: 'a', name: 'calculate', args: { expression: '1 + 1' } }] };
const one = (attributes = '', more = {}) => (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} ${attributes}`, ...more }), '/next.html': page({ attributes: scripted(baseUrl) }) });
const run = (tab, n) => tab.locator('turnwise-agent article').nth(n - 1);
const log = (tab) => tab.locator('turnwise-agent').getByRole('log');

test('a stream that broke off is no answer: it is said where one reads, and what came is set back', () => withWidget({ steps: [short, short, short], pages: one(), options: { expect: [/stream_cut/] } }, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'Tell me.');
  const done = await answered(tab);
  const problem = done.getByRole('alert');
  await tab.waitForFunction(() => {
    const { shadowRoot } = document.querySelector('turnwise-agent');
    const [inner, outer] = ['[role=alert]', '[role=log]'].map((part) => shadowRoot.querySelector(part).getBoundingClientRect());
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
  });
  assert.equal(await done.locator('.turn .prose').last().evaluate((prose) => prose.classList.contains('aside')), true);
  assert.equal(await done.locator('.sources a').count(), 0);
  await tab.screenshot({ path: path.join(shots, 'widget-broken-off.png') });
}));

test('a stopped run has no answer, no sources and nothing to judge; it can be asked again', () => withWidget({ steps: [read, held, { text: 'Two.' }], pages: one() }, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'Count.');
  await run(tab, 1).getByText('Half').waitFor({ timeout: 60000 });
  assert.equal(await tab.getByRole('button', { name: 'New conversation' }).isDisabled(), true);
  await tab.getByRole('button', { name: 'Stop' }).click();
  const done = await answered(tab);
  assert.doesNotMatch(await done.innerText(), /The run was cancelled/);
  for (const name of ['Copy the answer', 'Good answer']) assert.equal(await done.getByRole('button', { name }).count(), 0, name);
  assert.equal(await done.locator('.sources *').count(), 0);
  await done.getByRole('button', { name: 'Try again' }).click();
  await run(tab, 1).getByText('Two.').waitFor();
  assert.equal(await tab.getByRole('button', { name: 'New conversation' }).isEnabled(), true);
}));

test('answer and code are copied, and it shows; the same judgement counts once', () => withWidget({
  steps: [{ text: 'Do this:\n\n```sh\nmake test\n```\n\n| option | default |\n| --- | --- |\n| `extra_javascript_and_more_long_names` | `[]` |' }],
  pages: one(), options: { context: { permissions: ['clipboard-read', 'clipboard-write'] } },
}, async (tab) => {
  const clipboard = () => tab.evaluate(() => navigator.clipboard.readText());
  await listen(tab);
  await launcher(tab).click();
  await ask(tab, 'How?');
  const done = await answered(tab);
  const [code, answer] = ['Copy the code', 'Copy the answer'].map((name) => done.getByRole('button', { name }));
  // The success icon shows for a moment only, so the page records whether it appears.
  const watched = (button) => button.evaluate((it) => {
    const sign = () => it.querySelector('path')?.getAttribute('d');
    const before = sign();
    it.shows = new Promise((resolve) => { new MutationObserver(() => sign() && sign() !== before && resolve()).observe(it, { childList: true, subtree: true }); });
  });
  const clicked = async (button) => {
    await watched(button);
    await button.click();
    await button.evaluate((it) => it.shows);
  };
  await clicked(code);
  assert.equal(await clipboard(), 'make test\n');
  await tab.locator('turnwise-agent').getByText('Copied.').waitFor({ state: 'attached' });
  await clicked(answer);
  assert.match(await clipboard(), /^Do this:\n\n```sh/);
  for (const name of ['Good answer', 'Good answer', 'Bad answer']) await done.getByRole('button', { name }).click();
  assert.deepEqual((await events(tab)).filter(({ name }) => name === 'feedback').map(({ good }) => good), [true, false]);
  const [cell, name] = [done.locator('td').first(), done.locator('td code').first()];
  const right = async (element) => { const { x, width } = await element.boundingBox(); return x + width; };
  assert.ok(await right(name) <= await right(cell), 'a long name stays in its cell');
  await tab.screenshot({ path: path.join(shots, 'widget-code.png') });
}));

const ROUTER = `<script>
  // As VitePress does it: a click on a link of the site changes the page without loading one.
  window.addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (event.defaultPrevented || event.button !== 0 || !link || link.target || link.origin !== location.origin) return;
    event.preventDefault();
    history.pushState({}, '', link.href);
  }, { capture: false });
  window.first = true;
</script>`;
test('a link of an answer is the host router\'s, where there is one', () => withWidget({
  steps: [{ text: 'See [retries](/next.html#retries), and [elsewhere](https://example.org/).' }], pages: one('', { head: ROUTER }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'Where?');
  const link = (await answered(tab)).locator('[part=answer] a').first();
  await link.click();
  await tab.waitForURL(`${url}next.html#retries`);
  assert.deepEqual(await tab.evaluate(() => [window.first, document.querySelectorAll('body > a').length]), [true, 0]);
  await log(tab).waitFor();
  await tab.setViewportSize({ width: 390, height: 800 });
  await link.click();
  await launcher(tab).waitFor(); // an open sheet would hide the page
}));

test('where one was is found again on the next page: place in the text, draft, and the question that waits for a model', () => withWidget({
  steps: [{ text: long.join('') }], pages: (baseUrl) => ({ ...one()(baseUrl), '/keys.html': page({ attributes: 'docs="off" id="keys"' }) }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'Tell me.');
  await answered(tab);
  await log(tab).evaluate((element) => { element.scrollTop = 444; });
  await input(tab).fill('half a question');
  await tab.goto(`${url}next.html`);
  await run(tab, 1).waitFor();
  assert.equal(await log(tab).evaluate((element) => element.scrollTop), 444);
  assert.equal(await input(tab).inputValue(), 'half a question');
  const { height } = await input(tab).boundingBox();
  assert.ok(height >= 34, `the field is ${height} px high`);

  const field = tab.locator('turnwise-agent textarea');
  await tab.goto(`${url}keys.html`);
  await launcher(tab).click();
  await ask(tab, 'first question');
  await tab.getByRole('heading', { name: 'Which model should answer?' }).waitFor();
  await field.fill('a second thought');
  await tab.getByRole('button', { name: 'Back' }).click();
  assert.equal(await field.inputValue(), 'a second thought');
  await input(tab).press('Enter');
  await tab.getByRole('heading', { name: 'Which model should answer?' }).waitFor();
  await tab.reload();
  await field.waitFor();
  assert.equal(await field.inputValue(), 'a second thought');
}));

test('in a language that is not shipped the words are marked as English', () => withWidget({ pages: one('', { html: 'lang="ar" dir="rtl"' }) }, async (tab) => {
  const marked = () => tab.locator('turnwise-agent').evaluate(({ shadowRoot }) => { const { lang, dir } = shadowRoot.querySelector('.root'); return [lang, dir]; });
  assert.deepEqual(await marked(), ['en', 'rtl']);
}));
