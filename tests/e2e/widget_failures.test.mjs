// What a visitor reads when something fails: short, in their language, and either something to do or who has to. Details are in the event.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { failure } from '../../www/widget/failures.js';
import { TEXTS, speak } from '../../www/widget/texts.js';
import { audit } from './lib/axe.mjs';
import { root } from './lib/site.mjs';
import { answered, ask, events, launcher, listen, page, scripted, withWidget } from './lib/widget.mjs';

const folder = path.join(root, 'www/widget/texts');
const LANGUAGES = ['en', ...readdirSync(folder).map((name) => path.basename(name, '.js'))];
const texts = async (language) => (language === 'en' ? TEXTS : (await import(path.join(folder, `${language}.js`))).default);
const SLUGS = [...readFileSync(path.join(root, 'crates/engine/src/failure.rs'), 'utf8').matchAll(/^ {4}\w+ = "(\w+)" \{$/gm)].map(([, slug]) => slug);

/** Each slug by its kind: as a run of the site's model ends, and of one that the visitor chose. */
const KINDS = {
  busy: ['rate_limited', 'provider_error'],
  cut: ['stream_cut', 'timeout', 'interrupted'],
  long: ['context_guard', 'context_synthesis_failed'],
  reach: ['network_error'],
  site: ['auth_error', 'quota_error'],
  reply: [
    'no_tools', 'empty_response', 'reasoning_only', 'text_only', 'malformed_tool_call', 'unknown_tool', 'tool_exec_failed', 'tool_limit', 'final_report_missing', 'final_report_invalid_format',
    'final_report_schema_fail', 'retries_exhausted', 'invalid_arguments', 'progress_only', 'truncated_output', 'synthesis_tool_call', 'stopped', 'cancelled', 'refused', 'reply_too_large', 'refusal',
    'content_filter', 'max_turns_exhausted', 'llm_error', 'max_turns_synthesis_failed', 'stop_synthesis_failed', 'wall_time_synthesis_failed', 'tokens_synthesis_failed', 'cost_synthesis_failed',
  ],
};
const online = true;

test('every slug has a kind, and every kind a text in every language: short, with something to do, without a detail', async () => {
  assert.ok(SLUGS.length > 30, `${SLUGS.length} slugs were found`);
  assert.deepEqual(Object.values(KINDS).flat().sort(), [...SLUGS].sort(), 'a new slug needs a kind');
  const shown = new Set(['offline', 'failed_site', 'docs_failed']);
  for (const [kind, slugs] of Object.entries(KINDS)) {
    for (const slug of slugs) {
      const [site, own] = [{ online }, { online, own: {} }].map((more) => failure({ slugs: [slug] }, more));
      assert.equal(site.text, `failed_${kind}`, slug);
      assert.equal(own.text, /reach|site/.test(kind) ? 'failed_own' : site.text, slug);
      for (const { text } of [site, own]) shown.add(text);
    }
  }
  assert.deepEqual([...shown].filter((name) => name.startsWith('failed_')).sort(), Object.keys(TEXTS).filter((name) => name.startsWith('failed_')).sort(), 'no text without a use');
  for (const language of LANGUAGES) {
    const t = speak(language, undefined, await texts(language));
    const all = [...shown].map((name) => t(name));
    assert.equal(new Set(all).size, all.length, `${language}: one text for two kinds`);
    for (const text of all) {
      assert.ok(text.length <= 160, `${language}: ${text.length} characters: ${text}`);
      assert.ok(text.split(/[.。]\s*/).filter(Boolean).length >= 2 || /,|oder|，|、/.test(text), `${language}: nothing to do: ${text}`);
      assert.doesNotMatch(text, /[{}`_]|https?:|\d{3}/, language);
    }
  }
});

test('a status tells a server in trouble from a request that it refuses', () => {
  const of = (status, more) => failure({ slugs: ['provider_error'], status }, { online, ...more });
  for (const status of [undefined, 409, 500, 501, 505, 529]) assert.deepEqual(of(status), { text: 'failed_busy', key: undefined }, status);
  for (const status of [502, 503, 504]) {
    assert.deepEqual(of(status), { text: 'failed_reach', key: undefined }, status);
    assert.deepEqual(of(status, { own: {} }), { text: 'failed_own', key: 'model' }, status);
  }
  for (const status of [400, 404, 405, 422]) {
    assert.deepEqual(of(status), { text: 'failed_site', key: 'useKey' }, status);
    assert.deepEqual(of(status, { own: {} }), { text: 'failed_own', key: 'model' }, status);
  }
  assert.deepEqual(of(500, { online: false }), { text: 'offline' });
  assert.deepEqual(of(400, { fix: { directive: 'connect-src' } }), { text: 'failed_site' });
});

const one = (html) => (baseUrl) => ({ '/': page({ html, attributes: scripted(baseUrl) }) });
const LABELS = { en: 'Ask the docs', de: 'Frag die Doku', ja: 'ドキュメントに質問' };

for (const [language, step, kind, slug, status, attempts = 1] of [
  ['de', { status: 402, body: '{"error":{"message":"no credit: account 123 of Example Ltd"}}' }, 'site', 'quota_error', 402],
  ['ja', { status: 404, body: '{"error":{"message":"no such model: scripted"}}' }, 'site', 'provider_error', 404],
  ['de', { status: 502, headers: { 'content-type': 'text/html', 'retry-after-ms': '0' }, body: '<h1>502 Bad Gateway: account 123</h1>' }, 'reach', 'provider_error', 502, 3],
  ['en', { status: 400, body: '{"error":{"code":"content_filter","message":"filtered by rule 7"}}' }, undefined, undefined, undefined],
]) {
  test(`${language}: ${step.status} of the model's server: a text of the visitor's language, the details in the event`, () => withWidget({ steps: Array.from({ length: attempts }, () => step), pages: one(`lang="${language}"`), options: { expect: [/turnwise: /] } }, async (tab) => {
    await listen(tab);
    await launcher(tab, LABELS[language]).click();
    await ask(tab, 'Why?');
    const run = await answered(tab);
    const shown = await run.getByRole('alert').textContent();
    const { name, slugs, status: got, message } = (await events(tab)).at(-1);
    const own = await texts(language);
    assert.ok(Object.entries(own).some(([text, words]) => /^failed_/.test(text) && words === shown), shown);
    assert.doesNotMatch(await run.textContent(), /account|scripted|rule 7|_error/);
    assert.equal(name, 'error');
    assert.ok(slugs.length && message, 'the event has the details');
    if (kind) assert.deepEqual([shown, slugs[0], got], [own[`failed_${kind}`], slug, status]);
    assert.deepEqual(await audit(tab), []);
  }));
}

test('a visitor\'s own key that is refused: what to check, and the form again, which says it, too', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off"' }) }), options: { reach: ['https://openrouter.ai'], expect: [/401/, /auth_error/] },
}, async (tab) => {
  await tab.context().route('https://openrouter.ai/**', (route) => route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }, body: '{"error":{"message":"bad key of account 123"}}' }));
  await launcher(tab).click();
  await ask(tab, 'Why?');
  await tab.getByLabel('API key').fill('sk-visitor');
  await tab.getByRole('button', { name: 'Use it' }).click();
  const run = await answered(tab);
  assert.equal(await run.getByRole('alert').textContent(), TEXTS.failed_own);
  await run.getByRole('button', { name: 'Model and key' }).click();
  await tab.locator('turnwise-agent .keys').getByText(TEXTS.failed_own).waitFor();
}));

const words = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] })}\n\n`;
test('stopping is no error: no alert, no mark on the meter, no event of an error, and after a reload neither', () => withWidget({ steps: [{ chunks: [words], hold: true }], pages: one('') }, async (tab) => {
  await listen(tab);
  await launcher(tab).click();
  await ask(tab, 'Count.');
  await tab.getByText('Half').waitFor();
  await tab.getByRole('button', { name: 'Stop' }).click();
  const clean = async () => {
    const run = await answered(tab);
    assert.equal(await run.locator('.ending').textContent(), 'Stopped.');
    assert.equal(await tab.locator('turnwise-agent').locator('[role=alert], .m-failed, .retry:not(:empty), [data-failed]').count(), 0);
  };
  await clean();
  assert.deepEqual((await events(tab)).filter(({ name }) => /error|final/.test(name)).map(({ name, outcome }) => [name, outcome]), [['final', 'cancelled']]);
  await tab.reload();
  await clean();
}));

test('docs that cannot be read: who can repair it, and why in the event and the console', () => withWidget({
  pages: () => ({ '/': page({ html: 'lang="de"', attributes: 'provider="demo" docs="/missing/"' }) }), options: { expect: [/404/, /turnwise-agent: docs: /] },
}, async (tab) => {
  await listen(tab);
  await launcher(tab, LABELS.de).click();
  await tab.getByText((await texts('de')).docs_failed).waitFor();
  assert.match((await events(tab)).find(({ name }) => name === 'error').message, /^docs: \S/);
}));
