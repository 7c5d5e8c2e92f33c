// Accessibility of <turnwise-agent>: axe in both themes and all modes, in each of its states; right to left; and screenshots
// for a person to look at.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { audit } from './lib/axe.mjs';
import { answered, ask, launcher, page, scripted, withWidget } from './lib/widget.mjs';

const shot = (tab, name) => tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-${name}.png`) });
const call = (id, name, args) => ({ id, name, args });

const ANSWER = `Set \`retries\` to the number of attempts. The **default is 3**, and each one waits twice as long as the one before.

- [Retry policy](/guide/retries.html#policy) says how long is waited.
- [Limits](/reference/limits.html#retries) names the upper bound, 10.

\`\`\`toml
[client]
retries = 5      # at most 10
backoff = "2x"
\`\`\`

| key | default |
| --- | ---: |
| retries | 3 |
| backoff | 2x |`;
const STEPS = [
  { text: 'I will look at the numbers.', calls: [call('a', 'calculate', { expression: '3 * 2 ^ 2' }), call('b', 'calculate', { expression: '1 / 0' })] },
  { text: ANSWER },
];

const SUGGEST = 'suggestions="How do I set the number of retries?|What changed in version 3?|Which limits are there?"';
const HOST = '<p>Halden is a small client for queues. This page stands for the documentation of a project.</p>'.repeat(6);
const PLACES = {
  floating: [''],
  inline: ['mode="inline"'],
  modal: ['mode="modal"'],
};

async function clean(tab, what) {
  const found = await audit(tab);
  assert.deepEqual(found, [], what);
}

for (const theme of ['light', 'dark']) {
  for (const [mode, [attribute]] of Object.entries(PLACES)) {
    test(`${mode}, ${theme}: axe finds nothing in any state`, () => withWidget({
      steps: STEPS,
      pages: (baseUrl) => ({ '/': page({ html: `lang="en" data-theme="${theme}" style="color-scheme: ${theme}"`, attributes: `${scripted(baseUrl)} ${attribute} ${SUGGEST}`, body: HOST }) }),
      options: { context: { viewport: { width: 1280, height: 800 } } },
    }, async (tab) => {
      if (mode !== 'inline') {
        await clean(tab, 'closed');
        await shot(tab, `${mode}-${theme}-closed`);
        await launcher(tab).click();
      }
      await tab.getByRole('heading', { name: 'What would you like to know?' }).waitFor();
      await clean(tab, 'empty');
      await shot(tab, `${mode}-${theme}-empty`);
      await tab.getByRole('button', { name: 'Menu' }).click();
      await clean(tab, 'menu');
      await tab.getByRole('button', { name: 'Model and key' }).click();
      await tab.getByLabel('API key').waitFor();
      await clean(tab, 'keys');
      await shot(tab, `${mode}-${theme}-keys`);
      await tab.getByRole('button', { name: 'Back' }).click();
      await ask(tab, 'How do I set the number of retries?');
      const run = await answered(tab);
      await run.locator('summary').first().click();
      await clean(tab, 'answered');
      await shot(tab, `${mode}-${theme}-answered`);
    }));
  }
}

test('right to left, in German texts of its own, on a phone: nothing sticks out, axe finds nothing', () => withWidget({
  steps: STEPS,
  pages: (baseUrl) => ({ '/': page({ html: 'lang="de" dir="rtl" class="dark" style="color-scheme: dark"', attributes: `${scripted(baseUrl)} ${SUGGEST}`, body: HOST }) }),
  options: { context: { viewport: { width: 390, height: 844 }, hasTouch: true } },
}, async (tab) => {
  await launcher(tab, 'Frag die Doku').click();
  await tab.getByRole('heading', { name: 'Was möchten Sie wissen?' }).waitFor();
  await shot(tab, 'phone-rtl-empty');
  await ask(tab, 'Wie stelle ich die Versuche ein?');
  await answered(tab);
  const out = await tab.evaluate(() => [...document.querySelector('turnwise-agent').shadowRoot.querySelectorAll('.panel *')].filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (left < -1 || right > innerWidth + 1) && !element.closest('pre, .wide');
  }).map(({ className }) => className));
  assert.deepEqual(out, []);
  await clean(tab, 'right to left');
  await shot(tab, 'phone-rtl-answered');
}));

for (const theme of ['light', 'dark']) {
  test(`the synthesis and the sheet of a phone, ${theme}`, () => withWidget({
    steps: [STEPS[0], { text: 'The default is **3** attempts. What was not looked at: the upper bound.' }],
    pages: (baseUrl) => ({ '/': page({ html: `lang="en" data-theme="${theme}" style="color-scheme: ${theme}"`, attributes: `${scripted(baseUrl)} max-turns="1"`, body: HOST }) }),
    options: { context: { viewport: { width: 390, height: 844 }, hasTouch: true } },
  }, async (tab) => {
    await shot(tab, `phone-${theme}-closed`);
    await launcher(tab).click();
    await ask(tab, 'How do I set the number of retries?');
    await answered(tab);
    await clean(tab, 'synthesis');
    await shot(tab, `phone-${theme}-synthesis`);
  }));
}

test('the theme follows the host while the page is open, by the marks of each generator', () => withWidget({
  pages: () => ({ '/': page({ attributes: 'docs="off"' }) }),
}, async (tab) => {
  const becomes = (wanted) => tab.waitForFunction((is) => document.querySelector('turnwise-agent').shadowRoot.querySelector('.root').dataset.theme === is, wanted);
  await becomes('light');
  for (const [set, wanted] of [
    ["document.documentElement.className = 'coal js'", 'dark'], ["document.documentElement.className = 'rust js'", 'light'], ["document.documentElement.className = 'ayu'", 'dark'], ["document.documentElement.className = ''", 'light'],
    ["document.documentElement.dataset.theme = 'dark'", 'dark'], ['delete document.documentElement.dataset.theme', 'light'],
    ["document.body.dataset.mdColorScheme = 'slate'", 'dark'], ["document.body.dataset.mdColorScheme = 'default'", 'light'],
    ["document.documentElement.classList.add('dark')", 'dark'], ["document.querySelector('turnwise-agent').theme = 'light'", 'light'],
  ]) {
    await tab.evaluate(set);
    await becomes(wanted);
  }
  await tab.evaluate(() => { document.documentElement.className = ''; delete document.body.dataset.mdColorScheme; document.querySelector('turnwise-agent').theme = 'auto'; });
  // Without an explicit theme: a page that is light whatever the system prefers, one that follows it, one with its own background.
  await tab.emulateMedia({ colorScheme: 'dark' });
  for (const [set, wanted] of [
    ["document.documentElement.style.colorScheme = 'light dark'", 'dark'], ["document.documentElement.style.colorScheme = ''", 'light'],
    ["document.body.style.background = '#123'", 'dark'], ["document.documentElement.style.colorScheme = 'light dark', document.body.style.background = '#fffdf5'", 'light'],
  ]) {
    await tab.evaluate(set);
    await becomes(wanted);
  }
}));
