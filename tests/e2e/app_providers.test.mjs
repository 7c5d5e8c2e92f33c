// The settings for every provider, the model list, the built-in model, and images: by keyboard and pointer, as a person uses
// them. SHOTS names a folder for screenshots.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { download, PHONE, runTask, WIDE, withApp } from './lib/app.mjs';
import { audit } from './lib/axe.mjs';
import { inThemes } from './lib/looks.mjs';
import { withScript } from './lib/script-server.mjs';
import { leftIn } from './lib/tier.mjs';

const REAL = JSON.parse(readFileSync(path.join(import.meta.dirname, 'lib/rows.json'), 'utf8')).providers;

const shot = (page, name) => (process.env.SHOTS ? page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) }) : undefined);
const openSettings = (page) => page.getByTitle('Model and settings').click();
const card = (page, name) => page.getByRole('radiogroup', { name: 'Provider' }).getByText(name, { exact: true });
// The options of the model list, since select boxes of other settings have options too.
const options = (page, which) => page.getByRole('listbox', { name: 'Models' }).getByRole('option', which);
const model = (page) => page.getByRole('combobox', { name: 'Model', exact: true });

/** Answers all requests to a provider's origin with its model list; returns the requests. */
async function listModels(page, origin, answer) {
  const asked = [];
  await page.context().route(`${origin}/**`, (route) => {
    asked.push({ url: route.request().url(), headers: route.request().headers() });
    return route.fulfill({ headers: { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }, ...answer });
  });
  return asked;
}

/** An image of that size as a file's bytes, made by the browser. */
const picture = (page, { width, height, type = 'image/png', noise = false }) => page.evaluate(async ({ width, height, type, noise }) => {
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const context = canvas.getContext('2d');
  context.fillStyle = '#0f6b5c';
  context.fillRect(0, 0, width, height);
  if (noise) {
    const data = context.getImageData(0, 0, width, height);
    let seed = 1;
    for (let i = 0; i < data.data.length; i += 1) data.data[i] = i % 4 === 3 ? 255 : (seed = (seed * 16807) % 2147483647) & 255;
    context.putImageData(data, 0, 0);
  }
  return canvas.toDataURL(type);
}, { width, height, type, noise }).then((url) => ({ mimeType: type, buffer: Buffer.from(url.split(',')[1], 'base64') }));

const choose = async (page, files) => {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), (async () => { await page.getByTitle('Add files, a folder or pictures').click(); await page.getByRole('menuitem', { name: /^Pictures/ }).click(); })()]);
  await chooser.setFiles(files);
};

test('every provider is a card of one radio group; each keeps its own address and model', async () => {
  await withApp({}, async (page) => {
    await openSettings(page);
    await card(page, REAL.at(-1)).waitFor();
    const names = await page.getByRole('radiogroup', { name: 'Provider' }).locator('b').allTextContents();
    assert.deepEqual(names.slice(-REAL.length), REAL);
    await card(page, 'OpenAI').click();
    assert.equal(await page.getByLabel('Base URL').getAttribute('placeholder'), 'https://api.openai.com/v1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.getByRole('radio', { name: /^Anthropic/ }).isChecked(), true, 'arrows move through the group');
    assert.match(await model(page).inputValue(), /^claude-/);
    await page.getByText(/tokens of context · \$.+ in \/ \$.+ out per million tokens \(as of \d{4}-\d\d\)/).waitFor();
    await model(page).fill('claude-opus-5');
    await card(page, 'Ollama').click();
    assert.equal(await model(page).inputValue(), 'qwen3');
    assert.equal(await page.getByLabel('Base URL').getAttribute('placeholder'), 'http://localhost:11434/v1');
    await card(page, 'Anthropic').click();
    assert.equal(await model(page).inputValue(), 'claude-opus-5');
    await page.reload();
    await openSettings(page);
    assert.equal(await model(page).inputValue(), 'claude-opus-5', 'kept');
    await page.getByRole('button', { name: 'Done' }).click();
    assert.equal(await page.getByRole('combobox', { name: 'Model of the next run' }).evaluate((select) => select.selectedOptions[0].textContent), 'claude-opus-5 · Anthropic');
  });
});

test('settings of the version before open as the provider they were for', async () => {
  await withApp({}, async (page) => {
    await page.evaluate(() => localStorage.setItem('turnwise.settings', JSON.stringify({ provider: 'openai', base_url: 'http://localhost:1234/v1', model: 'mine' })));
    await page.reload();
    await openSettings(page);
    assert.equal(await page.getByRole('radio', { name: /^LM Studio/ }).isChecked(), true);
    assert.equal(await model(page).inputValue(), 'mine');
  });
});

test('the list of models: asked for with the key, filtered by typing, picked with the keyboard', async () => {
  await withApp({}, async (page) => {
    const data = ['claude-alpha-1', 'claude-beta-2', 'claude-beta-3'].map((id) => ({ id, display_name: `The ${id}`, type: 'model' }));
    const asked = await listModels(page, 'https://api.anthropic.com', { json: { data } });
    await openSettings(page);
    await card(page, 'Anthropic').click();
    await page.getByRole('button', { name: 'List models' }).click();
    await page.getByText(/Enter a key first/).waitFor();
    assert.deepEqual(asked, [], 'nothing is asked without the key');
    await page.getByLabel('API key', { exact: true }).fill('sk-test-list');
    await model(page).focus();
    await page.keyboard.press('ArrowDown');
    await options(page).first().waitFor();
    assert.equal(new URL(asked[0].url).pathname, '/v1/models');
    assert.equal(asked[0].headers['x-api-key'], 'sk-test-list');
    assert.equal(await options(page).count(), 3, 'what stood in the field filters nothing');
    await model(page).fill('beta');
    assert.equal(await options(page).count(), 2);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await options(page, { selected: true }).getAttribute('id'), await model(page).getAttribute('aria-activedescendant'));
    await page.keyboard.press('Enter');
    assert.equal(await model(page).inputValue(), 'claude-beta-3');
    assert.equal(await page.getByRole('listbox').count(), 0, 'closed');
    await page.keyboard.press('ArrowDown');
    await options(page).first().waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('listbox').count(), 0);
    assert.equal(await page.getByRole('dialog').isVisible(), true, 'Escape closes the list, not the settings');
    await page.getByRole('button', { name: '3 models' }).click();
    await options(page, { name: /claude-alpha-1/ }).click();
    assert.equal(await model(page).inputValue(), 'claude-alpha-1');
    assert.equal(asked.length, 1, 'asked for once');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
});

test('a list that is refused says why', async () => {
  await withApp({}, async (page) => {
    await listModels(page, 'https://api.openai.com', { status: 401, json: { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } } });
    await openSettings(page);
    await card(page, 'OpenAI').click();
    await page.getByLabel('API key', { exact: true }).fill('sk-wrong');
    await page.getByRole('button', { name: 'List models' }).click();
    await page.locator('output[data-state=failed]', { hasText: /key/i }).waitFor();
  });
});

for (const [name, states, words] of [
  ['unsupported', [], /This browser has no built-in model/],
  ['unavailable', ['unavailable'], /cannot run on this computer/],
]) {
  test(`the built-in model: ${name}`, async () => {
    await withApp({}, async (page) => {
      await page.evaluate((states) => {
        delete window.LanguageModel;
        if (states.length) window.LanguageModel = { availability: async () => states[0] };
      }, states);
      await openSettings(page);
      await card(page, 'Built into Chrome').click();
      await page.getByText(words).waitFor();
      assert.ok(await page.locator('ul.advice li').count() >= 2, 'it says what to do');
    });
  });
}

test('the built-in model is downloaded on a click, with its progress', async () => {
  await withApp({}, async (page) => {
    await page.evaluate(() => {
      window.model = { state: 'downloadable' };
      window.LanguageModel = {
        availability: async () => window.model.state,
        create({ monitor }) {
          const target = new EventTarget();
          monitor(target);
          window.model.progress = (loaded) => target.dispatchEvent(Object.assign(new Event('downloadprogress'), { loaded }));
          return new Promise((resolve) => { window.model.done = () => { window.model.state = 'available'; resolve({ destroy() {} }); }; });
        },
      };
    });
    await openSettings(page);
    await card(page, 'Built into Chrome').click();
    await page.getByRole('button', { name: 'Download' }).click();
    await page.waitForFunction(() => window.model.progress);
    await page.evaluate(() => window.model.progress(0.42));
    await page.getByText('Downloading, 42 % done.').waitFor();
    assert.equal(await page.getByRole('progressbar', { name: 'Download of the model' }).getAttribute('value'), '42');
    await shot(page, 'built-in');
    await page.evaluate(() => window.model.done());
    await page.getByText('Ready.').waitFor();
  });
});

test('pictures go with the task, fit, and stand in the run and in its record', async () => {
  const seen = [];
  await withScript([{ text: 'I see green.', check: (request) => seen.push(request.messages.find(({ role }) => role === 'user').content) }], (baseUrl) =>
    withApp({ reach: [baseUrl] }, async (page) => {
      await openSettings(page);
      await card(page, 'Another address').click();
      await page.getByLabel('Base URL').fill(baseUrl);
      await model(page).fill('sees');
      await page.getByRole('button', { name: 'Done' }).click();
      const small = await picture(page, { width: 60, height: 40 });
      const wide = await picture(page, { width: 3136, height: 100, type: 'image/jpeg' });
      const heavy = await picture(page, { width: 1000, height: 1000, noise: true });
      assert.ok(heavy.buffer.length > 1_500_000, 'heavy enough');
      await choose(page, [{ name: 'small.png', ...small }, { name: 'wide.jpg', ...wide }, { name: 'heavy.png', ...heavy }]);
      await page.getByRole('img', { name: 'heavy.png' }).waitFor();
      await shot(page, 'pictures');
      await choose(page, [{ name: 'none.png', mimeType: 'image/png', buffer: Buffer.from('no picture') }]);
      await page.getByText('none.png could not be read as a picture.').waitFor();
      await runTask(page, 'What do you see?');
      const [text, ...images] = seen[0];
      assert.equal(text.text ?? images.find(({ type }) => type === 'text')?.text, 'What do you see?');
      const urls = seen[0].filter(({ type }) => type === 'image_url').map(({ image_url: { url } }) => url);
      assert.equal(urls[0], `data:image/png;base64,${small.buffer.toString('base64')}`, 'what fits goes as it is');
      const sizes = await page.evaluate((urls) => Promise.all(urls.map(async (src) => {
        const image = Object.assign(new Image(), { src });
        await image.decode();
        return [image.naturalWidth, image.naturalHeight];
      })), urls);
      assert.deepEqual(sizes, [[60, 40], [1568, 50], [1000, 1000]]);
      assert.match(urls[2], /^data:image\/jpeg/);
      assert.ok(urls[2].length * 3 / 4 < 1_500_000, 'made lighter');
      assert.deepEqual(await page.locator('.page .pictures img').evaluateAll((all) => all.map(({ alt }) => alt)), ['small.png', 'wide.jpg', 'heavy.png']);
      assert.equal(await page.locator('.tray').count(), 0, 'the task box is empty again');
      await shot(page, 'run-pictures');
      const { name, text: document } = await download(page);
      assert.equal(JSON.parse(document).images.length, 3);
      // The same when its record is opened.
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), (async () => {
        await page.getByRole('button', { name: /^Files/ }).first().click();
        await page.getByRole('button', { name: 'Choose files' }).click();
      })()]);
      await chooser.setFiles([{ name, mimeType: 'application/json', buffer: Buffer.from(document) }]);
      await page.getByText('(read-only)', { exact: false }).first().waitFor();
      await page.locator('.page .pictures img[alt="Picture 3 of 3"]').waitFor();
      assert.deepEqual(await page.locator('.page .pictures img').evaluateAll((all) => Promise.all(all.map(async (img) => {
        await img.decode();
        return [img.alt, img.naturalWidth];
      }))), [['Picture 1 of 3', 60], ['Picture 2 of 3', 1568], ['Picture 3 of 3', 1000]]);
    }));
});

test('pasted and dropped pictures go to the task box, and each can be taken away', async () => {
  await withApp({}, async (page) => {
    const { buffer } = await picture(page, { width: 20, height: 20 });
    const dispatch = (kind, selector, name, type = 'image/png') => page.evaluate(({ kind, selector, name, type, bytes }) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], name, { type }));
      const init = { bubbles: true, cancelable: true };
      const event = kind === 'paste' ? new ClipboardEvent('paste', { ...init, clipboardData: data }) : new DragEvent('drop', { ...init, dataTransfer: data });
      document.querySelector(selector).dispatchEvent(event);
    }, { kind, selector, name, type, bytes: [...buffer] });
    await dispatch('paste', '#task', 'pasted.png');
    await page.getByRole('img', { name: 'pasted.png' }).waitFor();
    await page.getByText('ignores images').waitFor();
    await dispatch('drop', '#task', 'dropped.png');
    await page.getByRole('img', { name: 'dropped.png' }).waitFor();
    const files = page.getByRole('button', { name: /^Files/ }).first();
    const before = await files.textContent();
    await dispatch('drop', '.hello', 'elsewhere.png');
    await page.getByText(/^Added 1 file/).waitFor();
    assert.notEqual(await files.textContent(), before, 'elsewhere it is a file');
    assert.equal(await page.locator('.tray li').count(), 2);
    await page.getByRole('button', { name: 'Remove pasted.png' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: 'pasted.png' }).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.id), 'task', 'the keyboard is back in the task box');
    assert.equal(await page.locator('.tray li').count(), 1);
  });
});

for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
  test(`no accessibility violations in any provider's settings: ${size}`, { skip: leftIn(size) }, async () => {
    await withApp({ context: { viewport, reducedMotion: 'reduce' } }, async (page) => {
      const data = Array.from({ length: 120 }, (_, n) => ({ id: `vendor-${n % 9}/model-${n}`, name: `Vendor ${n % 9}: Model ${n}`, context_length: 32000 + n * 9000, pricing: { prompt: '0.000003', completion: '0.000015' } }));
      await listModels(page, 'https://openrouter.ai', { json: { data } });
      // Chromium's own LanguageModel logs to the console what this machine lacks.
      await page.evaluate(() => { window.LanguageModel = { availability: async () => 'downloadable' }; });
      const check = (what, picture) => inThemes(page, async (theme) => {
        assert.deepEqual(await audit(page), [], `${what}, ${theme}`);
        if (picture) await shot(page, `${picture}-${size}-${theme}`);
      });
      await choose(page, [{ name: 'green.png', ...await picture(page, { width: 300, height: 200 }) }]);
      await page.getByRole('img', { name: 'green.png' }).waitFor();
      await check('task box with a picture', 'task-picture');
      await openSettings(page);
      for (const name of REAL) {
        await card(page, name).click();
        await check(name, ['Anthropic', 'OpenRouter', 'Built into Chrome', 'Another address'].includes(name) && `settings-${name.replace(/\W+/g, '-')}`);
      }
      await card(page, 'OpenRouter').click();
      await page.getByRole('button', { name: 'List models' }).click();
      await options(page).first().waitFor();
      await model(page).press('ArrowDown');
      await model(page).press('ArrowDown');
      const seen = await options(page).nth(1).evaluate((option) => option.getBoundingClientRect().bottom <= document.querySelector('dialog[open] .dialog-body').getBoundingClientRect().bottom);
      assert.ok(seen, 'the list is in sight');
      await check('the list of models', 'models');
      assert.ok(await page.evaluate(() => document.querySelector('dialog[open] .dialog-body').scrollWidth <= document.querySelector('dialog[open] .dialog-body').clientWidth), 'nothing sticks out');
    });
  });
}
