// What <turnwise-agent> makes of an answer: citations are checked against what was found and read; a question that was not
// answered is reported; comments, related questions and the way to a person follow. The docs are a real site of three pages.
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { audit } from './lib/axe.mjs';
import { answered, ask, launcher, page, withWidget } from './lib/widget.mjs';

const call = (id, name, args) => ({ id, name, args });
const doc = (title, ...sections) => `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><h1 id="top">${title}</h1><p>About ${title}.</p>${sections.map(([id, heading, text]) => `<h2 id="${id}">${heading}</h2><p>${text}</p>`).join('')}</main></body></html>`;
const SITE = (url) => ({
  '/docs/retries.html': doc('Retries', ['policy', 'Retry policy', 'A request is tried three times. The retry policy is set in client.toml.'], ['backoff', 'Waiting between retries', 'Each retry waits longer than the one before.']),
  '/docs/queues.html': doc('Queues', ['names', 'Names of queues', 'A queue has a name of at most eighty letters.'], ['order', 'Order of messages', 'Messages of a queue keep their order, also after a retry.']),
  '/docs/limits.html': doc('Limits', ['size', 'Size of a message', 'A message has at most one megabyte.']),
  '/docs/sitemap.xml': { type: 'application/xml', body: `<urlset>${['retries', 'queues', 'limits'].map((name) => `<url><loc>${url}docs/${name}.html</loc></url>`).join('')}</urlset>` },
});

/** Runs `body` on the front page of the docs; `steps` are the model's. */
const onDocs = ({ steps, attributes = '', options }, body) => withWidget({
  steps, options,
  pages: (baseUrl) => ({ '/': '<!doctype html><title>Halden</title><link rel="icon" href="data:,">', '/docs/': page({ html: 'lang="en" data-theme="light"', attributes: `provider="openai" base-url="${baseUrl}" model="scripted" ${attributes}`, body: '<p>Halden is a client for queues of messages, and this is its documentation.</p>' }) }),
}, async (tab, site) => {
  Object.assign(site.pages, SITE(site.url));
  await tab.goto(`${site.url}docs/`);
  await tab.evaluate(() => {
    window.heard = [];
    for (const name of ['final', 'feedback', 'unanswered', 'contact']) document.addEventListener(`turnwise-${name}`, (event) => { event.preventDefault(); window.heard.push({ name, ...event.detail }); });
  });
  await launcher(tab).click();
  return body(tab, site);
});
const heard = (tab, name) => tab.evaluate((wanted) => window.heard.filter((one) => one.name === wanted).map(({ name: _, ...detail }) => detail), name);
const shot = (tab, name) => tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-answers-${name}.png`) });
const marked = (run) => run.locator('[part=answer]:not(:empty) a').evaluateAll((all) => all.map((link) => [link.textContent, link.classList.contains('unread'), link.title]));

test('each citation is checked: a section that was found or read holds, another one of the same page does not', () => onDocs({
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retry policy', limit: 1 }), call('b', 'read_page', { url: 'queues.html#order' })] },
    { check: ({ messages }) => {
      const [found, read] = messages.slice(-2).map(({ content }) => content);
      assert.match(found, /^1\. http\S+retries\.html#policy\n/);
      assert.match(read, /## Order of messages \{#order\}/);
    },
    text: 'Three times ([policy](/docs/retries.html#policy)), in [order](/docs/queues.html#order), with [names](/docs/queues.html#names), [waits](/docs/retries.html#backoff) and [limits](/docs/limits.html#size). See [Queues](/docs/queues.html) and [elsewhere](https://halden.example/x).' },
    { text: 'As said, see [policy](/docs/retries.html#policy) and [sizes](/docs/limits.html): $n_1 \\le n_2$.' },
  ],
}, async (tab, { url }) => {
  await ask(tab, 'How many retries?');
  const run = await answered(tab);
  const unread = 'not read for this answer';
  assert.deepEqual(await marked(run), [['policy', false, ''], ['order', false, ''], ['names', true, unread], ['waits', true, unread], ['limits', true, unread], ['Queues', false, ''], ['elsewhere halden.example', false, unread]]);
  const [final] = await heard(tab, 'final');
  assert.deepEqual(final.unchecked, ['queues.html#names', 'retries.html#backoff', 'limits.html#size'].map((one) => `${url}docs/${one}`));
  assert.equal(final.answered, true);
  // By the title of the page and the section, whatever the model calls them.
  const named = [{ href: `${url}docs/retries.html#policy`, text: 'Retries › Retry policy' }, { href: `${url}docs/queues.html#order`, text: 'Queues › Order of messages' }, { href: `${url}docs/queues.html`, text: 'Queues' }];
  assert.deepEqual(final.sources, named);
  assert.deepEqual(await run.locator('.sources a').evaluateAll((all) => all.map(({ firstChild }) => firstChild.textContent)), named.map(({ text }) => text));
  assert.deepEqual(await audit(tab), []);
  await shot(tab, 'citations');
  // What an earlier run of the conversation found still holds; so too after a page change.
  await ask(tab, 'And again?');
  const second = await answered(tab, 2);
  assert.deepEqual((await marked(second)).map(([words, off]) => [words, off]), [['policy', false], ['sizes', true]]);
  assert.equal(await second.locator('[part=answer] code').textContent(), 'n_1 \\le n_2', 'a formula shows its source');
  await tab.reload();
  const kept = await answered(tab, 2);
  assert.deepEqual(await tab.locator('turnwise-agent article').first().locator('.sources a').evaluateAll((all) => all.map(({ firstChild }) => firstChild.textContent)), named.map(({ text }) => text));
  assert.deepEqual((await marked(kept)).map(([words, off]) => [words, off]), [['policy', false], ['sizes', true]]);
}));

/** Runs `body(address, received)` with a server that accepts reports. */
async function withCollector(body) {
  const received = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.writeHead(204, { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' }).end();
    if (request.method === 'POST') received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(parts)) });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  try {
    return await body(`http://127.0.0.1:${server.address().port}/`, received);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('a question that no search fits is reported to the page and to its address, with what is missing; a person is one click away', () => onDocs({
  attributes: 'questions="/questions" contact-url="https://halden.example/help"',
  steps: [
    { calls: [call('a', 'search_docs', { query: 'kubernetes ingress retry' })] },
    { calls: [call('b', 'search_docs', { query: 'helm chart' })], check: ({ messages }) => assert.match(messages.at(-1).content, /\[Weak match: /) },
    { text: 'The docs do not say. The nearest section is [Retry policy](/docs/retries.html#policy).' },
  ],
}, async (tab, { asked, pages }) => {
  pages['/questions'] = { status: 204, body: '' };
  const sent = tab.waitForRequest((request) => request.url().endsWith('/questions'));
  await tab.getByText('Questions without an answer go to this site').waitFor();
  await ask(tab, 'How do I deploy it with helm?');
  const run = await answered(tab);
  const report = { question: 'How do I deploy it with helm?', why: 'not_found', missing: ['helm', 'chart'], page: '/docs/', lang: 'en' };
  const request = await sent;
  assert.deepEqual(request.postDataJSON(), report);
  assert.equal(request.method(), 'POST');
  assert.equal((await request.allHeaders()).cookie, undefined);
  assert.equal((await request.response()).status(), 204);
  assert.ok(asked.includes('/questions'));
  assert.deepEqual(await heard(tab, 'unanswered'), [report]);
  assert.equal((await heard(tab, 'final'))[0].answered, false);
  assert.equal(await run.locator('[part=related]').count(), 0);
  await shot(tab, 'unanswered');
  await run.getByRole('button', { name: 'Contact a person' }).click();
  await tab.getByRole('button', { name: 'With the conversation' }).click();
  assert.match((await heard(tab, 'contact'))[0].conversation, /deploy it with helm\?\n\nThe docs do not say/);
}));

test('an answered question is not reported; a bad answer is, once, with its comment; another origin must be https', () => withCollector((address, received) => onDocs({
  attributes: `questions="${address}"`,
  options: { reach: [address], expect: [/the attribute questions must be an https address/] },
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retry policy' })] },
    { text: 'Three times: [Retry policy](/docs/retries.html#policy).' },
  ],
}, async (tab) => {
  await ask(tab, 'How many retries?');
  const run = await answered(tab);
  assert.deepEqual(await heard(tab, 'unanswered'), []);
  await run.getByRole('button', { name: 'Bad answer' }).click();
  const field = run.getByRole('textbox', { name: 'Anything to add?' });
  await field.fill('It was four in version 2.');
  await shot(tab, 'comment');
  assert.deepEqual(await audit(tab), []);
  assert.deepEqual(await heard(tab, 'unanswered'), [], 'not before the comment is written or skipped');
  await run.locator('.comment').getByRole('button', { name: 'Send' }).click();
  await field.waitFor({ state: 'detached' });
  const judged = { good: false, task: 'How many retries?' };
  assert.deepEqual((await heard(tab, 'feedback')).map(({ good, task, comment }) => ({ good, task, ...(comment && { comment }) })), [judged, { ...judged, comment: 'It was four in version 2.' }]);
  await tab.waitForFunction(() => window.heard.some(({ name }) => name === 'unanswered'));
  assert.deepEqual(await heard(tab, 'unanswered'), [{ question: 'How many retries?', why: 'bad_answer', missing: [], comment: 'It was four in version 2.', page: '/docs/', lang: 'en' }]);
  assert.deepEqual(received, [], 'not to another origin without TLS');
})));

test('a bad answer without a comment is reported when the visitor goes on; one that is judged anew is not', () => onDocs({
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retry policy' })] },
    { text: 'Three times: [Retry policy](/docs/retries.html#policy).' },
  ],
}, async (tab) => {
  await ask(tab, 'How many retries?');
  const run = await answered(tab);
  await run.getByRole('button', { name: 'Bad answer' }).click();
  await run.getByRole('textbox').waitFor();
  await run.getByRole('button', { name: 'Good answer' }).click();
  await tab.getByRole('button', { name: 'Close', exact: true }).click();
  assert.deepEqual(await heard(tab, 'unanswered'), []);
  await launcher(tab).click();
  await run.getByRole('button', { name: 'Bad answer' }).click();
  await run.getByRole('textbox').waitFor();
  await tab.getByRole('button', { name: 'Close', exact: true }).click();
  await tab.waitForFunction(() => window.heard.some(({ name }) => name === 'unanswered'));
  assert.equal((await heard(tab, 'unanswered'))[0].why, 'bad_answer');
}));

for (const off of [false, true]) {
  test(`related questions ${off ? 'can be switched off' : 'name sections that the answer does not link to, and are asked by a click'}`, () => onDocs({
    attributes: off ? 'follow-ups="off"' : '',
    steps: [
      { calls: [call('a', 'search_docs', { query: 'retry order of messages' })] },
      { text: 'Three times: [Retry policy](/docs/retries.html#policy).' },
      ...(off ? [] : [{ text: 'They keep their order.', check: ({ messages }) => assert.match(messages.at(-1).content, /^What do the docs say about “Order of messages \(Queues\)”\?$/) }]),
    ],
  }, async (tab) => {
    await ask(tab, 'How many retries?');
    const run = await answered(tab);
    if (off) {
      await tab.waitForTimeout(500);
      return assert.equal(await run.locator('[part=related]').count(), 0);
    }
    const related = run.locator('[part=related]').getByRole('button');
    await related.first().waitFor();
    const words = await related.allTextContents();
    assert.ok(words.length <= 3 && !words.some((one) => one.includes('Retry policy')), `${words}`);
    await shot(tab, 'related');
    assert.deepEqual(await audit(tab), []);
    await related.filter({ hasText: 'Order of messages' }).click();
    await answered(tab, 2);
    return assert.equal(await run.locator('[part=related]').count(), 0, 'only below the last answer');
  }));
}

test('the meter is calm for a run that answers, and shows the alarm of one that reached its limit', () => onDocs({
  attributes: 'max-turns="4"',
  steps: [
    { calls: [call('a', 'search_docs', { query: 'retry' })] }, { calls: [call('b', 'search_docs', { query: 'order' })] }, { text: 'Three times.' },
    ...['c', 'd', 'e', 'f'].map((id) => ({ calls: [call(id, 'search_docs', { query: `retry ${id}` })] })), { text: 'So far: three.' },
  ],
}, async (tab) => {
  const ticks = () => tab.locator('turnwise-agent .meter i').evaluateAll((all) => all.map((tick) => tick.className.slice(2)));
  await ask(tab, 'How many retries?');
  await answered(tab);
  assert.deepEqual(await ticks(), ['normal', 'normal', 'normal', 'ahead']);
  await ask(tab, 'And the rest?');
  await answered(tab, 2);
  const [, , , last, synthesis] = await ticks();
  assert.deepEqual([last, synthesis], ['urgent', 'synthesis']);
}));
