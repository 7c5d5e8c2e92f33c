// The panel's texts in ten languages: each has all of them, the tag chooses by `lang`, and plurals follow the language.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as PARTS from '../../www/widget/part-texts.js';
import { TEXTS, speak, withTexts } from '../../www/widget/texts.js';
import { audit } from './lib/axe.mjs';
import { withPage } from './lib/browser.mjs';
import { root } from './lib/site.mjs';
import { answered, ask, launcher, page, withHost } from './lib/widget.mjs';

for (const texts of Object.values(PARTS)) withTexts({ TEXTS: texts });
const folder = path.join(root, 'www/widget/texts');
const LANGUAGES = readdirSync(folder).map((name) => path.basename(name, '.js'));
const texts = async (language) => (await import(path.join(folder, `${language}.js`))).default;
const placeholders = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();
const PLURAL = /_(zero|one|two|few|many)$/;

for (const language of LANGUAGES) {
  test(`${language}: has each text, with its placeholders`, async () => {
    const own = await texts(language);
    assert.deepEqual(Object.keys(own).filter((name) => !PLURAL.test(name)).sort(), Object.keys(TEXTS).sort());
    for (const [name, text] of Object.entries(own)) {
      assert.deepEqual(placeholders(text), placeholders(TEXTS[name.replace(PLURAL, '')]), name);
      assert.ok(text.trim(), name);
    }
  });
}

test('the number of turns takes the plural of its language', async () => {
  const t = speak('ru-ru', undefined, await texts('ru'));
  assert.deepEqual([2, 5, 21].map((n) => t('turns', { n })), ['2 хода', '5 ходов', '21 ход']);
  const own = speak('ru', { turns: 'Turns: {n}' }, await texts('ru'));
  assert.equal(own('turns', { n: 2 }), 'Turns: 2');
  assert.equal(speak('xx', undefined, undefined)('turns', { n: 2 }), '2 turns');
});

const pages = (html, attributes = '') => ({ pages: { '/': page({ html, attributes: `provider="demo" docs="off" ${attributes}` }) } });

for (const [html, attributes, label, field] of [
  ['lang="ja"', '', 'ドキュメントに質問', '質問を入力'],
  ['lang="ja"', 'lang="pt-PT"', 'Pergunte à documentação', 'Faça uma pergunta'],
  ['', '', 'Ask the docs', 'Ask a question'],
  ['lang="sw"', '', 'Ask the docs', 'Ask a question'],
]) {
  test(`a page with ${html || 'no lang'} and a tag with ${attributes || 'none'}: ${label}`, () => withHost(pages(html, attributes), ({ url, asked }) => withPage(url, { context: { locale: 'de-DE' } }, async (tab) => {
    await launcher(tab, label).click();
    await tab.getByPlaceholder(field).waitFor();
    const loaded = asked.filter((one) => one.includes('/texts-')).map((one) => path.basename(one, '.js'));
    const language = /lang="pt/.test(attributes) ? ['texts-pt'] : /ja/.test(html) ? ['texts-ja'] : [];
    assert.deepEqual(loaded, language, 'only the texts of that language are loaded');
  })));
}

test('without the file of its language the panel speaks English', () => withHost({ pages: { ...pages('lang="fr"').pages, '/turnwise/texts-fr.js': { status: 404, body: '' } } }, ({ url }) => withPage(url, { expect: [/texts-fr\.js/] }, async (tab) => {
  await launcher(tab, 'Interroger la doc').click();
  await tab.getByPlaceholder('Ask a question').waitFor();
})));

for (const [language, width] of [['ja', 1280], ...LANGUAGES.map((language) => [language, 360])]) {
  test(`${language}, ${width} px: no text is cut, axe finds nothing`, () => withHost({ pages: { '/': page({ html: `lang="${language}" data-theme="light"`, attributes: 'provider="demo" docs="off"' }) } }, ({ url }) => withPage(url, { context: { viewport: { width, height: 740 } } }, async (tab) => {
    const t = speak(language, undefined, await texts(language));
    const shot = (name) => tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-${language}-${width}-${name}.png`) });
    /** Elements whose text is wider than they are. */
    const cut = () => tab.evaluate(() => [...document.querySelector('turnwise-agent').shadowRoot.querySelectorAll('.panel button, .panel p, .panel h2, .panel h3, .panel select, .panel label')]
      .filter((element) => element.offsetWidth && element.scrollWidth > element.clientWidth + 1 && !element.matches('.hidden')).map((element) => element.outerHTML.slice(0, 120)));
    await launcher(tab, t('label')).click();
    await tab.getByPlaceholder(t('placeholder')).waitFor();
    // The demo is labelled in each language: here, and in the list of models.
    assert.notEqual(t('demo'), TEXTS.demo);
    assert.equal(await tab.locator('.by').textContent(), t('demo'));
    await shot('empty');
    assert.deepEqual(await cut(), []);
    await ask(tab, '6*7');
    const run = await answered(tab);
    assert.match(await run.locator('.ending').textContent(), /\d/);
    await shot('answer');
    assert.deepEqual(await cut(), []);
    await tab.getByRole('button', { name: t('menu') }).click();
    await tab.getByRole('button', { name: t('model') }).click();
    await tab.getByText(t('keyTitle')).waitFor();
    assert.equal(await tab.locator('.keys option[value=demo]').textContent(), t('way_demo'));
    await shot('model');
    assert.deepEqual(await cut(), []);
    assert.deepEqual(await audit(tab), []);
  })));
}
