// Model output that might break <turnwise-agent>: names that every object has, arguments of any shape and size, addresses
// that cannot be decoded. The answer is shown, live and on the next page; a stored run that cannot be shown does not affect
// others.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { answered, ask, input, launcher, page, scripted, withWidget } from './lib/widget.mjs';

const shots = path.join(import.meta.dirname, 'shots');
const call = (id, name, args) => ({ id, name, args });
const pages = (baseUrl) => ({ '/': page({ attributes: scripted(baseUrl) }), '/next.html': page({ attributes: scripted(baseUrl) }), '/plain.html': page({ tag: '' }) });
const event = (delta, finish = null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** A call whose arguments are nearly as large as a reply may be: three of them exceed the storage of a page. */
const HUGE = JSON.stringify({ query: 'large '.repeat(300_000) });
const huge = { chunks: [
  event({ role: 'assistant', tool_calls: [{ index: 0, id: 'huge', type: 'function', function: { name: 'calculate', arguments: '' } }] }),
  ...HUGE.match(/.{1,200000}/gs).map((piece) => event({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  event({}, 'tool_calls'), 'data: [DONE]\n\n',
] };

const CALLS = [
  [call('a', 'constructor', { query: { toString: 1 } }), 'Tool constructor{"toString":1}'],
  [call('b', '__proto__', 'null'), 'Tool __proto__'],
  [call('c', 'toString', '[1,{"valueOf":2}]'), 'Tool toString[1,{"valueOf":2}]'],
  [call('d', 'hasOwnProperty', { url: 'https://example.org/100%' }), 'Tool hasOwnPropertyexample.org/100%'],
  [call('e', 'greeting', { page: { href: 1 }, path: 3 }), 'Tool greeting{"href":1}'],
  [call('f', 'calculate', { expression: { toString: 1 } }), 'Calculated{"toString":1}'],
  [call('g', 'calculate', '{"__proto__":{"query":"x"},"n":7}'), 'Calculated{"__proto__":{"query":"x"},"n":7}'],
  [call('h', 'calculate', { url: 'https://example.org/%E2%80%AEgro' }), 'Calculatedexample.org/%E2%80%AEgro'],
];

const lines = (run) => run.locator('summary').evaluateAll((all) => all.map((line) => [...line.querySelectorAll('b, .args')].map(({ textContent }) => textContent).join('')));

test('names, arguments and addresses of any kind are shown as they are, live and on the next page', () => withWidget({
  steps: [{ calls: CALLS.map(([of]) => of) }, { text: 'See [it](https://example.org/100%), https://example.org/50%25% and [that](/100%).' }, { text: 'Still here.' }],
  pages,
}, async (tab, { url }) => {
  const shown = async () => {
    const run = await answered(tab);
    assert.deepEqual(await lines(run), CALLS.map(([, line]) => line));
    assert.deepEqual(await run.locator('[part=answer]:not(:empty) a').evaluateAll((all) => all.map(({ href }) => href)), ['https://example.org/100%', 'https://example.org/50%25%', `${url}100%`]);
    assert.equal(await run.locator('.ending').textContent(), 'Answered in 2 turns.');
  };
  await launcher(tab).click();
  await ask(tab, 'Break?');
  await shown();
  await tab.goto(`${url}next.html`);
  await shown();
  await ask(tab, 'And now?');
  await answered(tab, 2);
}));

test('arguments too large to be stored cost no conversation', () => withWidget({ steps: [huge, huge, huge, { text: 'Done.' }], pages }, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'Large?');
  const lines = await (await answered(tab)).locator('summary .args').allTextContents();
  assert.ok(lines.length === 3 && lines.every((line) => line.length < 500), `${lines.map(({ length }) => length)}`);
  await tab.goto(`${url}next.html`);
  await (await answered(tab)).getByText('Done.').waitFor();
}));

test('a stored run that cannot be shown is named, the others are shown, and nothing of it is deleted', () => withWidget({
  steps: [{ text: 'First answer.' }, { text: 'Second answer.' }, { text: 'Third answer.' }], pages, options: { context: { viewport: { width: 1280, height: 800 } } },
}, async (tab, { url }) => {
  await launcher(tab).click();
  await ask(tab, 'One?');
  await answered(tab);
  await ask(tab, 'Two?');
  await answered(tab, 2);
  const broken = [{ task: 'What was that?', turns: [{ n: 1, calls: null, nodes: [null] }], nodes: 7 }, null];
  const stored = () => tab.evaluate(() => JSON.parse(Object.entries(sessionStorage).find(([key]) => key.endsWith(':runs'))[1]));
  await tab.goto(`${url}plain.html`); // a page of the site without the tag, which stores nothing itself
  await tab.evaluate((more) => {
    const [key, runs] = Object.entries(sessionStorage).find(([name]) => name.endsWith(':runs'));
    const [first, second] = JSON.parse(runs);
    sessionStorage.setItem(key, JSON.stringify([first, ...more, second]));
  }, broken);
  await tab.goto(`${url}next.html`);
  await tab.locator('turnwise-agent article').getByText('Second answer.').waitFor();
  assert.deepEqual(await tab.locator('turnwise-agent .lost').allTextContents(), ['One earlier answer could not be shown: “What was that?”', 'One earlier answer could not be shown.']);
  assert.deepEqual(await tab.locator('turnwise-agent .task').allTextContents(), ['One?', 'Two?']);
  await tab.screenshot({ path: path.join(shots, 'widget-lost.png') });
  await ask(tab, 'Three?');
  await answered(tab, 3);
  const kept = await stored();
  assert.deepEqual(kept.slice(1, 3), broken);
  assert.deepEqual(kept.map((run) => run?.task), ['One?', 'What was that?', undefined, 'Two?', 'Three?']);
  await tab.getByRole('button', { name: 'New conversation' }).click();
  assert.equal(await tab.locator('turnwise-agent .lost').count(), 0);
  assert.equal(await input(tab).inputValue(), '');
}));

for (const attribute of ['mode="constructor"', 'lang="constructor"', 'provider="constructor"', 'suggestions="{}"', 'suggestions="null"']) {
  test(`an attribute ${attribute} breaks nothing`, () => withWidget({ pages: () => ({ '/': page({ attributes: `${attribute} docs="off"` }) }) }, async (tab) => {
    await launcher(tab).click();
    await tab.getByRole('heading', { name: 'What would you like to know?' }).waitFor();
    await tab.getByRole('button', { name: 'Menu' }).click();
    await tab.getByRole('button', { name: 'Model and key' }).click();
    await tab.getByRole('heading', { name: 'Which model should answer?' }).waitFor();
  }));
}
