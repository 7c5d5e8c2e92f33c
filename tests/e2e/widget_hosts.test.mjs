// <turnwise-agent> on difficult hosts: another origin, a strict Content-Security-Policy with Trusted Types, a policy that
// lacks something, and style sheets that fight everything on the page.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withPage } from './lib/browser.mjs';
import { withScript } from './lib/script-server.mjs';
import { dist, root } from './lib/site.mjs';
import { NOTES, answered, ask, events, launcher, listen, noting, page, scripted, strictPolicy, withHost } from './lib/widget.mjs';

const call = (id, name, args) => ({ id, name, args });
const TOOL_RUN = [{ calls: [call('a', 'calculate', { expression: '6 * 7' })] }, { text: 'It is **42**.', check: ({ messages }) => assert.match(messages.at(-1).content, /42/) }];

/** The header that docs/widget-hosting.md recommends, for a package at `at` and a model at `model`. */
const policy = (at, model) => {
  const documented = /```text\n(Content-Security-Policy: .*?)\n```/s.exec(readFileSync(path.join(root, 'docs/widget-hosting.md'), 'utf8'))[1];
  const text = documented.replace('Content-Security-Policy: ', '').replaceAll('\n', ' ');
  return text.replaceAll('https://cdn.example.org', at).replaceAll('https://models.example.org', model);
};

/** Performs a run with a tool on a host with that policy, with the package there (same origin) or elsewhere. */
async function runs({ csp, elsewhere = false, at = '/turnwise/' }) {
  await withScript(TOOL_RUN, (baseUrl) => withHost({ headers: { 'access-control-allow-origin': '*' }, at }, (cdn) => {
    const src = elsewhere ? `${cdn.url}${at.slice(1)}embed.js` : `${at}embed.js`;
    const headers = csp ? { 'content-security-policy': csp(elsewhere ? new URL(cdn.url).origin : "'self'", new URL(baseUrl).origin) } : {};
    return withHost({ pages: { '/deep/docs/': page({ attributes: scripted(baseUrl), src }), '/': '<title>x</title>' }, headers, at }, (host) =>
      withPage(`${host.url}deep/docs/`, { reach: [cdn.url, baseUrl] }, async (tab) => {
        await launcher(tab).click();
        await ask(tab, 'Six times seven?');
        const run = await answered(tab);
        assert.equal(await run.locator('strong').textContent(), '42');
        if (elsewhere) assert.ok(tab.workers().every((worker) => worker.url().startsWith('blob:')), 'a worker of another origin starts from a blob');
      }));
  }));
}

test('from another origin, below a path of its own, the whole runs, tools included', () => runs({ elsewhere: true, at: '/npm/turnwise@1/' }));

test('the recommended policy with Trusted Types is enough, from the same origin', () => runs({ csp: (at, model) => policy(at, model) }));

test('the recommended policy with Trusted Types is enough, from another origin', () => runs({ csp: (at, model) => policy(at, model), elsewhere: true }));

test('csp_evaluator finds nothing high in the recommended policy', () => {
  const require = createRequire(import.meta.url);
  const { CspEvaluator } = require('csp_evaluator');
  const { CspParser } = require('csp_evaluator/dist/parser.js');
  const { Severity } = require('csp_evaluator/dist/finding.js');
  const found = new CspEvaluator(new CspParser(policy('https://docs.example.org', 'https://models.example.org')).csp).evaluate();
  const high = found.filter(({ severity }) => severity <= Severity.SYNTAX);
  assert.deepEqual(high.map(({ directive, value, description }) => `${directive} ${value}: ${description}`), []);
});

/** Opens the tag on a host whose policy differs; `body(tab)` checks what is reported. */
const lacking = (change, expect, body) => withScript([], (baseUrl) => {
  const pages = { '/': page({ attributes: scripted(baseUrl), head: noting }), '/notes.js': NOTES };
  return withHost({ pages, headers: { 'content-security-policy': strictPolicy(new URL(baseUrl).origin, change) } }, (host) =>
    withPage(host.url, { reach: [baseUrl], expect }, async (tab) => {
      await launcher(tab).click();
      return body(tab, baseUrl);
    }));
});

for (const [name, change, expect, wanted] of [
  ['worker-src', { 'worker-src': "'none'" }, [/worker-src/], "worker-src 'self'"],
  ["'wasm-unsafe-eval'", { 'script-src': "'self'" }, [], "script-src 'wasm-unsafe-eval'"],
  ['the name of the policy', { 'trusted-types': 'other' }, [/TrustedTypePolicy named 'turnwise'|Creating a TrustedTypePolicy/], 'trusted-types turnwise'],
]) {
  test(`a policy without ${name}: the event and the console say what to add, the panel who has to`, () => lacking(change, [...expect, /turnwise-agent: .*add to the Content-Security-Policy/], async (tab) => {
    const problem = tab.locator('turnwise-agent [part=problem]');
    await problem.waitFor({ timeout: 60000 });
    assert.match(await problem.textContent(), /only the owner of this site can repair it/);
    await tab.locator('html[data-error]').waitFor({ state: 'attached' });
    assert.equal(JSON.parse(await tab.locator('html').getAttribute('data-error')).add, wanted);
  }));
}

test('a policy without the model\'s host: the event says what to add, the run\'s end who has to', () => lacking({ 'connect-src': "'self'" }, [/turnwise:/], async (tab, baseUrl) => {
  await ask(tab, 'Anyone?');
  const run = await answered(tab);
  assert.match(await run.getByRole('alert').textContent(), /only the owner of this site can repair it/);
  assert.equal(await run.getByRole('button', { name: 'Use your own key' }).count(), 0, 'another key would be blocked, too');
  const { add, slugs } = JSON.parse(await tab.locator('html').getAttribute('data-error'));
  assert.deepEqual([add, slugs], [`connect-src ${new URL(baseUrl).origin}`, ['network_error']]);
}));

// Styles of a careless or hostile host, for everything on its page.
const HOSTILE = `<style>
  * { all: unset !important; font: 40px serif !important; color: magenta !important; box-sizing: content-box !important }
  html { font-size: 40px !important; letter-spacing: 1em; text-transform: uppercase }
  body { transform: rotate(2deg) scale(.9) !important; filter: sepia(1) !important; opacity: .4 !important; overflow: hidden !important }
  button, svg, textarea, section, div { display: none !important; width: 7px !important; background: lime !important }
  turnwise-agent { display: none !important; position: absolute !important; visibility: hidden !important; opacity: 0 !important; pointer-events: none !important; clip-path: inset(50%) !important; zoom: 3 !important }
  #over { display: block !important; position: fixed !important; inset: -50vh !important; width: 200vw !important; height: 200vh !important; z-index: 2147483647 !important; background: rgb(255 240 200 / .9) !important }
</style>`;
const OVER = '<div id="over">Cookies?</div>';

/** The visible appearance of the panel: positions, sizes, colours, fonts of its parts. */
const look = (tab) => tab.evaluate(() => {
  const shadow = document.querySelector('turnwise-agent').shadowRoot;
  return ['.panel', 'header', 'h2', '.icon-button', '.task', '.answer, .prose:not(.aside)', '.box', 'textarea', '.send', '.by'].map((selector) => {
    const element = shadow.querySelector(selector);
    const { x, y, width, height } = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return [selector, Math.round(x), Math.round(y), Math.round(width), Math.round(height), style.color, style.backgroundColor, style.fontSize, style.fontFamily, style.letterSpacing, style.textTransform, style.visibility, style.opacity, style.display];
  });
});

test('styles of the host do not reach in: it looks and works the same under a hostile sheet', async () => {
  const seen = [];
  for (const [name, head, body] of [['calm', '', ''], ['hostile', HOSTILE, OVER]]) {
    await withScript([{ text: 'It is **42**.' }], (baseUrl) => withHost({ pages: { '/': page({ attributes: scripted(baseUrl), head, body }) } }, (host) =>
      withPage(host.url, { reach: [baseUrl] }, async (tab) => {
        const pill = await launcher(tab).boundingBox();
        assert.ok(pill.width > 100 && pill.height >= 44, JSON.stringify(pill));
        // A real click at its position: anything above it would intercept the click.
        await tab.mouse.click(pill.x + pill.width / 2, pill.y + pill.height / 2);
        await ask(tab, 'Six times seven?');
        await answered(tab);
        await tab.mouse.move(10, 10);
        seen.push({ pill, look: await look(tab) });
        await tab.screenshot({ path: path.join(import.meta.dirname, `shots/widget-${name}-host.png`) });
      })));
  }
  assert.deepEqual(seen[1], seen[0]);
});

test('nothing of ours reaches out: the host\'s own elements look as without the tag', async () => {
  const plain = (tag) => page({ tag, body: '<button id="b">Mine</button><p class="panel open run task">Mine</p>' });
  const styles = [];
  for (const tag of ['', '<turnwise-agent docs="off"></turnwise-agent>']) {
    await withHost({ pages: { '/': plain(tag) } }, (host) => withPage(host.url, {}, async (tab) => {
      if (tag) {
        await launcher(tab).click();
        await tab.getByRole('textbox').waitFor();
      }
      styles.push(await tab.evaluate(() => [...document.querySelectorAll('main, main *')].map((element) => JSON.stringify([...getComputedStyle(element)].map((name) => getComputedStyle(element).getPropertyValue(name))))));
    }));
  }
  assert.deepEqual(styles[1], styles[0]);
});

test('an import map\'s integrity covers the panel: what does not hash as said is not run, and the button says so', async () => {
  const hash = (file) => `sha384-${createHash('sha384').update(readFileSync(path.join(dist, 'turnwise', file))).digest('base64')}`;
  const map = (text) => `<script type="importmap">{"integrity":{"/turnwise/widget.js":"${text}"}}</script>`;
  const embed = `integrity="${hash('embed.js')}"`;
  for (const [text, expect, holds] of [[hash('widget.js'), [], true], [hash('keys.js'), [/integrity/], false]]) {
    const html = page({ attributes: 'docs="off"', head: map(text) }).replace('type="module"', `type="module" ${embed}`);
    await withHost({ pages: { '/': html } }, (host) => withPage(host.url, { expect }, async (tab) => {
      await listen(tab);
      await launcher(tab).click();
      if (holds) return tab.getByRole('textbox').waitFor();
      await launcher(tab, 'Could not be loaded. Try again.').waitFor();
      const error = (await events(tab)).find(({ name }) => name === 'error');
      return assert.match(error.message, /the panel could not be loaded/);
    }));
  }
});
