// The zips, unpacked on a plain host: a walk through each feature and language loads every file, and no file that is not there. The
// zip for documentation sites also on hosts of others; the zip of the app by a test of the app.
//   SITE=dist (the default)   where `.ci/pack` left the zips
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { unzipSync } from 'fflate';
import { serve } from '../../.ci/static.mjs';
import { withPage } from '../e2e/lib/browser.mjs';
import { withScript } from '../e2e/lib/script-server.mjs';
import { left } from '../e2e/lib/tier.mjs';
import { answered, ask, launcher, page } from '../e2e/lib/widget.mjs';
import { speak, withTexts } from '../../www/widget/texts.js';
import * as PARTS from '../../www/widget/part-texts.js';

const root = path.resolve(import.meta.dirname, '../..');
const dist = path.resolve(root, process.env.SITE ?? 'dist');
const { version } = JSON.parse(readFileSync(path.join(dist, 'turnwise/package.json'), 'utf8'));
const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-zips-'));
after(() => rmSync(folder, { recursive: true, force: true }));

for (const texts of Object.values(PARTS)) withTexts({ TEXTS: texts });
const texts = path.join(root, 'www/widget/texts');
const LANGUAGES = ['en', ...readdirSync(texts).map((name) => path.basename(name, '.js'))];

function write(to, files) {
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(path.join(to, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(to, name), bytes);
  }
  return to;
}
function unpacked(name, more) {
  const file = path.join(dist, `${name}-${version}.zip`);
  assert.ok(existsSync(file), `${file} is missing: node .ci/pack.mjs ${dist}`);
  return write(path.join(folder, name), { ...unzipSync(readFileSync(file)), ...more });
}

/** The site of somebody who pasted the tag: a page for each language and feature. */
const demo = (language) => page({ html: `lang="${language}"`, attributes: 'provider="demo" contact-url="mailto:a@example.org"' });
const PAGES = {
  'llms.txt': '# Halden\n\n> A client.\n\n## Guide\n\n- [Retries](/guide/retries.md): the retry policy\n- [Limits](/guide/limits.md): the limits\n',
  'guide/retries.md': '# Retries\n\n## Policy\n\nThe retry policy: a request is sent three times.\n\n## Waiting\n\nThe waiting time doubles.\n',
  'guide/limits.md': '# Limits\n\nA run has eight turns.\n',
  'count/SKILL.md': '---\nname: count\ndescription: Counts the words of a text.\n---\nCount the words.\n',
  'scripted.html': page({ attributes: 'provider="openai" model="scripted" docs="off" skills="count/SKILL.md"' }),
  'frame.html': page({ attributes: 'provider="demo" docs="off" mode="iframe"' }),
  ...Object.fromEntries(LANGUAGES.map((language) => [`${language}.html`, demo(language)])),
};

/** Never loaded: texts for people, source maps, and what runs on a server. */
const UNLOADED = /^turnwise\/(LICENSE.*|THIRD-PARTY-LICENSES\.txt|.*\.map)$/;
let site;
before(() => { site = unpacked('turnwise-docs-site', PAGES); });

async function inLanguage(url, language) {
  const words = language === 'en' ? undefined : (await import(path.join(texts, `${language}.js`))).default;
  const t = speak(language, undefined, words);
  // Chromium says that it has no model.
  const expect = language === 'en' ? [/^warning: Unable to create a text session/] : [];
  await withPage(`${url}${language}.html`, { expect }, async (tab) => {
    await launcher(tab, t('label')).click();
    await tab.getByPlaceholder(t('placeholder')).waitFor();
    await ask(tab, 'retry policy');
    const run = await answered(tab);
    await run.locator('.sources a').first().waitFor();
    // A comment (care.js), contact (hand-over.js), and the form for a key (keys.js).
    await run.getByRole('button', { name: t('bad') }).click();
    await tab.getByText(t('comment')).or(tab.getByPlaceholder(t('comment'))).or(tab.getByLabel(t('comment'))).first().waitFor();
    for (const [item, title] of [['contact', 'contactAsk'], ['model', 'keyTitle']]) {
      await tab.getByRole('button', { name: t('menu') }).click();
      await tab.getByRole('button', { name: t(item) }).click();
      await tab.getByText(t(title)).waitFor();
    }
    if (language !== 'en') return;
    await tab.locator('.keys select').selectOption('prompt-api');
    await tab.getByRole('button', { name: t('use') }).click();
    await tab.getByText(t('builtInMissing')).waitFor();
  });
}

async function otherFeatures(url) {
  // On the same origin as the page, the frame isolates nothing, and Chromium says so.
  await withPage(`${url}frame.html`, { expect: [/^warning: An iframe which has both allow-scripts/] }, async (tab) => {
    await launcher(tab).click();
    const frame = tab.frameLocator('turnwise-agent iframe');
    await frame.getByRole('textbox').fill('6*7');
    await frame.getByRole('textbox').press('Enter');
    await frame.locator('article .ending').waitFor();
  });
  // What the tag of a page can have: a skill from an archive, tools that return a response.
  await withScript([{ calls: [{ id: 'a', name: 'price', args: {} }] }, { text: 'Twelve.\n\n```js\nlet a = 1;\n```' }], (baseUrl) => withPage(`${url}scripted.html`, { reach: [baseUrl] }, async (tab) => {
    await tab.evaluate((base) => Object.assign(document.querySelector('turnwise-agent'), {
      baseUrl: base, tools: [{ name: 'price', description: 'A price.', parameters: { type: 'object', properties: {} }, execute: () => new Response('12') }],
    }), baseUrl);
    await launcher(tab).click();
    await ask(tab, 'How much?');
    await answered(tab);
    await tab.locator('turnwise-agent code [class^=c-]').first().waitFor();
  }));
  // The package's client, for a page's own program: programs of the model, the web.
  await withScript([
    { calls: [{ id: 'a', name: 'run_code', args: { code: '6 * 7' } }, { id: 'b', name: 'fetch_url', args: { url: `${url}guide/limits.md` } }] }, { text: 'Done.' },
  ], (baseUrl) => withPage(`${url}en.html`, { reach: [baseUrl] }, async (tab) => {
    const { turns } = await tab.evaluate(async ([at, base]) => {
      const { default: init, Agent } = await import(`${at}turnwise/turnwise.js`);
      await init();
      const agent = new Agent({ provider: { kind: 'openai', model: 'scripted', baseUrl: base }, tools: ['run_code', 'fetch_url'] });
      return agent.run('Go', { approve: 'all' });
    }, [url, baseUrl]);
    assert.match(turns[0].tool_calls[0].result, /42/);
    assert.match(turns[0].tool_calls[1].result ?? '', /eight turns|127\.0\.0\.1/);
  }));
}

test('each feature and language of the zip for documentation sites loads its files, and no file is there for nothing', { skip: left }, async () => {
  const asked = new Set();
  const host = await serve(site, { seen: (name) => asked.add(name.slice(1)) });
  try {
    for (const language of LANGUAGES) await inLanguage(host.url, language);
    await otherFeatures(host.url);
  } finally {
    await host.close();
  }
  const missing = [...asked].filter((name) => name.startsWith('turnwise/') && !existsSync(path.join(site, name)));
  assert.deepEqual(missing, [], 'loaded, and not in the zip');
  const shipped = readdirSync(path.join(site, 'turnwise')).map((name) => `turnwise/${name}`);
  // An archive of skills needs a server with one: skills.test.mjs. Parts of the tools' worker for what a page asks of the client
  // beside the tag (replay, export, pages of the web with markup): tool_parts.test.mjs.
  const elsewhere = /^turnwise\/(archive\.js|worker-(docs|records|exports|exports-records)\.wasm)$/;
  assert.deepEqual(shipped.filter((name) => !asked.has(name) && !UNLOADED.test(name) && !elsewhere.test(name)), [], 'in the zip, and never loaded');
});

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const bin = (file) => path.join(import.meta.dirname, 'node_modules', file);
const HOSTS = {
  'http-server': (port) => [bin('http-server/bin/http-server'), site, '-a', '127.0.0.1', '-p', port, '-c', '3600', '--gzip'],
  'sirv-cli': (port) => [bin('sirv-cli/bin.js'), site, '--host', '127.0.0.1', '--port', port],
  serve: (port) => [bin('serve/build/main.js'), site, '--listen', `tcp://127.0.0.1:${port}`, '--no-clipboard'],
};
for (const [name, args] of Object.entries(HOSTS)) {
  test(`the zip for documentation sites on ${name}`, { skip: left }, async () => {
    const port = String(await freePort());
    const child = spawn(process.execPath, args(port), { stdio: 'ignore' });
    const url = `http://127.0.0.1:${port}/`;
    try {
      for (let tries = 0; ; tries += 1) {
        if (child.exitCode !== null || tries > 600) throw new Error(`${name} did not start`);
        if (await fetch(url).then((answer) => answer.text(), () => undefined) !== undefined) break;
        await new Promise((resolve) => { setTimeout(resolve, 50); });
      }
      await inLanguage(url, 'de');
      await otherFeatures(url);
    } finally {
      child.kill('SIGKILL');
    }
  });
}

// Formulas, diagrams and figures, each a file of its own.
test('the zip of the app: formulas and diagrams are drawn on what was unpacked', { skip: left }, () => {
  const app = unpacked('turnwise-app');
  execFileSync(process.execPath, ['.ci/e2e.mjs', 'tests/e2e/app_drawing.test.mjs'], { cwd: root, env: { ...process.env, SITE: app, NODE_TEST_CONTEXT: undefined, TURNWISE_SHORT: '' }, stdio: 'pipe' });
});
