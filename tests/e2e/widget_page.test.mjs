// Additions of a page to its tag: its own tools with the visitor's approval, a trigger instead of the button, a question in
// a link, a way to reach a person.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answered, ask, launcher, page, scripted, withWidget } from './lib/widget.mjs';

const call = (name, args, id) => ({ calls: [{ id, name, args }] });
const results = (request) => request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content.split('\n[Turn')[0]);
const says = async (tab, words) => assert.ok((await (await answered(tab)).textContent()).includes(words), words);
const TOOLS = `<script type="module">
  window.ran = [];
  const tool = (name, sideEffect) => ({ name, sideEffect, description: name, parameters: { type: 'object', properties: { to: { type: 'string' } } }, execute: ({ to }) => { window.ran.push([name, to]); return name + ' done'; } });
  await customElements.whenDefined('turnwise-agent');
  document.querySelector('turnwise-agent').tools = [tool('look', 'none'), tool('send', 'network')];
</script>`;

test('tools of the page: reading runs, the rest asks the visitor, once or for the answer', () => withWidget({
  steps: [
    call('look', {}, 'a'),
    { ...call('send', { to: 'Ada' }, 'b'), check: (request) => assert.deepEqual(results(request), ['look done']) },
    { ...call('send', { to: 'Bob' }, 'c'), check: (request) => assert.match(results(request)[1], /permit|refused|allow|denied/i) },
    { ...call('send', { to: 'Eve' }, 'd'), check: (request) => assert.equal(results(request)[2], 'send done') },
    { text: 'All done.', check: (request) => assert.equal(results(request)[3], 'send done') },
  ],
  pages: (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl), body: TOOLS }) }),
}, async (tab) => {
  await launcher(tab).click();
  await ask(tab, 'Send it');
  const card = tab.getByRole('group', { name: 'The assistant wants to use send.' });
  await card.getByText('"to": "Ada"').waitFor();
  if (process.env.SHOTS) await tab.screenshot({ path: `${process.env.SHOTS}/approval.png` });
  await card.getByRole('button', { name: 'Don’t allow' }).click();
  await card.getByText('"to": "Bob"').waitFor();
  await card.getByRole('button', { name: 'Allow for this answer' }).click();
  await says(tab, 'All done.');
  assert.deepEqual(await tab.evaluate(() => window.ran.map((one) => one.join(' ').trim())), ['look', 'send Bob', 'send Eve']);
}));

test('a trigger of the page opens the panel, a field asks what is in it, and the button is gone', () => withWidget({
  steps: [{ text: 'It blinks.' }],
  pages: (baseUrl) => ({ '/': page({
    attributes: `${scripted(baseUrl)} launcher="none" trigger="#search, .ask"`, body: '<input id="search" aria-label="Search"><button class="ask">Ask</button>',
  }) }),
}, async (tab) => {
  await tab.getByRole('button', { name: 'Ask', exact: true }).click();
  await tab.getByRole('dialog').waitFor();
  await tab.getByRole('button', { name: 'Close' }).click();
  assert.equal(await tab.locator('turnwise-agent .pill').isVisible(), false);
  await tab.getByRole('textbox', { name: 'Search' }).fill('Why does it blink?');
  await tab.keyboard.press('Enter');
  await says(tab, 'It blinks.');
}));

test('a link brings a question: it is in the field, and nothing is asked before the visitor sends it', () => withWidget({
  steps: [{ text: 'Yes.', check: ({ messages }) => assert.equal(messages.at(-1).content, 'Is it safe?') }],
  pages: (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl) }) }),
}, async (tab, { url }) => {
  await tab.goto(`${url}?ask=${encodeURIComponent('Is it safe?')}`);
  const field = tab.locator('turnwise-agent').getByRole('textbox');
  await field.waitFor();
  await tab.waitForFunction(() => document.querySelector('turnwise-agent').shadowRoot.querySelector('textarea')?.value === 'Is it safe?');
  await field.press('Enter');
  await says(tab, 'Yes.');
}));

test('a person can be asked, with the conversation only if the visitor agrees', () => withWidget({
  steps: [{ text: 'I do not know.' }],
  pages: (baseUrl) => ({ '/': page({ attributes: `${scripted(baseUrl)} contact-url="/help?from=docs"` }), '/help': page({ tag: '' }) }),
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'What is wrong?');
  await says(tab, 'I do not know.');
  const contact = async (button) => {
    await tab.getByRole('button', { name: 'Menu' }).click();
    await tab.getByRole('button', { name: 'Contact a person' }).click();
    const opened = tab.context().waitForEvent('page');
    await tab.getByRole('button', { name: button, exact: true }).click();
    const other = await opened;
    await other.waitForURL(/help/);
    const at = other.url();
    await other.close();
    return new URL(at);
  };
  assert.equal((await contact('Without it')).href, `${url}help?from=docs`);
  const { searchParams } = await contact('With the conversation');
  assert.deepEqual([...searchParams], [['from', 'docs'], ['conversation', '> What is wrong?\n\nI do not know.']]);
  await tab.evaluate(() => document.addEventListener('turnwise-contact', (event) => { event.preventDefault(); window.told = event.detail; }));
  await tab.getByRole('button', { name: 'Menu' }).click();
  await tab.getByRole('button', { name: 'Contact a person' }).click();
  await tab.getByRole('button', { name: 'With the conversation' }).click();
  assert.deepEqual(await tab.evaluate(() => window.told), { url: '/help?from=docs', conversation: '> What is wrong?\n\nI do not know.' });
}));
