// `turnwise/react`, `turnwise/vue` and `turnwise/svelte` with the real frameworks: the same page three times, and what a person does there.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';
import { compile } from 'svelte/compiler';
import { compileScript, parse } from 'vue/compiler-sfc';
import ts from '../e2e/node_modules/typescript/lib/typescript.js';
import { withPage } from '../e2e/lib/browser.mjs';
import { dist, root } from '../e2e/lib/site.mjs';
import { withHost } from '../e2e/lib/widget.mjs';

/** The agent of each page. Its model answers by the question, so a page that was loaded again needs no place in a script. */
const AGENT = `
import { Agent, inBrowser, tool } from 'turnwise';
import { scripted } from 'turnwise/testing';
const object = (name) => ({ type: 'object', properties: { [name]: { type: 'string' } } });
const tools = {
  look: tool({ inputSchema: object('at'), execute: ({ at }) => 'sunny ' + at }),
  order: tool({ inputSchema: object('article'), touches: ['network'], execute: () => 'ordered' }),
};
const never = new Promise(() => {});
const model = scripted(({ messages }) => {
  const question = messages.findLast(({ role }) => role === 'user').content;
  const result = messages.at(-1).role === 'tool' && messages.at(-1).content;
  if (question === 'Weather?') return result ? 'It is **sunny** <img src=x onerror=alert(1)>.' : { toolName: 'look', input: { at: 'noon' } };
  if (question === 'Order') return result ? 'The result: ' + result.split('\\n')[0] : { toolName: 'order', input: { article: 'lamp' } };
  if (question === 'Long') return { text: ['Half', never] };
  return { error: 401 };
});
export const agent = new Agent({ model, tools });
export const storage = inBrowser();
window.lastOutcome = async () => {
  const chat = agent.chat({ storage });
  await chat.load();
  return chat.messages.at(-1).outcome;
};
`;

const PAGES = {
  react: `
    import { StrictMode, createElement as h, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { Markdown, useAgent } from 'turnwise/react';
    import { agent, storage } from 'agent';
    function App() {
      const { messages, status, error, isInterrupted, approvals, send, resume, regenerate, cancel } = useAgent(agent, { storage });
      const [text, setText] = useState('');
      return h('form', { onSubmit: (event) => { event.preventDefault(); send(text); } },
        messages.map(({ id, role, text: said, parts, outcome }) => role === 'user' ? h('p', { key: id, className: role }, said)
          : h('div', { key: id, className: role, 'data-outcome': outcome, 'data-parts': parts.map(({ type }) => type).join(' ') }, h(Markdown, { text: said, className: 'markdown' }))),
        approvals.map(({ request, allow, refuse }) => h('li', { key: request.toolCallId }, request.toolName + ' ' + request.input.article,
          h('button', { type: 'button', onClick: () => allow() }, 'Allow'), h('button', { type: 'button', onClick: () => refuse() }, 'Refuse'))),
        h('output', null, status), h('b', null, error?.message ?? ''), isInterrupted && h('button', { type: 'button', onClick: () => resume() }, 'Resume'),
        h('button', { type: 'button', onClick: () => regenerate() }, 'Again'), h('button', { type: 'button', onClick: cancel }, 'Cancel'),
        h('input', { 'aria-label': 'Ask', value: text, onChange: (event) => setText(event.target.value) }));
    }
    const root = createRoot(document.getElementById('root'));
    root.render(h(StrictMode, null, h(App)));
    window.unmount = () => root.unmount();
  `,
  vue: `
    import { createApp, ref } from 'vue/dist/vue.esm-bundler.js';
    import { useAgent, vMarkdown } from 'turnwise/vue';
    import { agent, storage } from 'agent';
    const app = createApp({
      directives: { markdown: vMarkdown },
      setup: () => ({ ...useAgent(agent, { storage }), question: ref('') }),
      template: \`<form @submit.prevent="send(question)">
        <template v-for="{ id, role, text, parts, outcome } in messages" :key="id">
          <p v-if="role === 'user'" class="user">{{ text }}</p>
          <div v-else class="assistant" :data-outcome="outcome" :data-parts="parts.map(({ type }) => type).join(' ')"><div class="markdown" v-markdown="text"></div></div>
        </template>
        <li v-for="{ request, allow, refuse } in approvals" :key="request.toolCallId">{{ request.toolName }} {{ request.input.article }}
          <button type="button" @click="allow()">Allow</button><button type="button" @click="refuse()">Refuse</button></li>
        <output>{{ status }}</output><b>{{ error?.message }}</b><button type="button" v-if="isInterrupted" @click="resume()">Resume</button>
        <button type="button" @click="regenerate()">Again</button><button type="button" @click="cancel">Cancel</button>
        <input aria-label="Ask" v-model="question"></form>\`,
    });
    app.mount('#root');
    window.unmount = () => app.unmount();
  `,
  svelte: `
    import { mount, unmount } from 'svelte';
    import App from 'App.svelte';
    const app = mount(App, { target: document.getElementById('root') });
    window.unmount = () => unmount(app);
  `,
};
const SVELTE = `
<script>
  import { markdown, useAgent } from 'turnwise/svelte';
  import { agent, storage } from 'agent';
  const chat = useAgent(agent, { storage });
  let question = $state('');
</script>
<form onsubmit={(event) => { event.preventDefault(); chat.send(question); }}>
  {#each $chat.messages as { id, role, text, parts, outcome } (id)}
    {#if role === 'user'}<p class="user">{text}</p>
    {:else}<div class="assistant" data-outcome={outcome} data-parts={parts.map(({ type }) => type).join(' ')}><div class="markdown" use:markdown={text}></div></div>{/if}
  {/each}
  {#each $chat.approvals as { request, allow, refuse } (request.toolCallId)}
    <li>{request.toolName} {request.input.article}<button type="button" onclick={() => allow()}>Allow</button><button type="button" onclick={() => refuse()}>Refuse</button></li>
  {/each}
  <output>{$chat.status}</output><b>{$chat.error?.message ?? ''}</b>
  {#if $chat.isInterrupted}<button type="button" onclick={() => chat.resume()}>Resume</button>{/if}
  <button type="button" onclick={() => chat.regenerate()}>Again</button><button type="button" onclick={chat.cancel}>Cancel</button>
  <input aria-label="Ask" bind:value={question}>
</form>
`;

function vueCode(source) {
  const { descriptor, errors } = parse(source, { filename: 'App.vue' });
  assert.deepEqual(errors, []);
  return compileScript(descriptor, { id: 'app', inlineTemplate: true }).content;
}

/** Bundles a page with its framework; the package is served beside it. */
async function bundled(contents, files = { agent: AGENT, 'App.svelte': SVELTE }) {
  const package_ = { name: 'package', setup({ onResolve, onLoad }) {
    onResolve({ filter: /^turnwise(\/(testing|markdown))?$/ }, ({ path: name }) => ({ path: `/turnwise/${name.split('/')[1] ?? 'index'}.js`, external: true }));
    onResolve({ filter: /^turnwise\// }, ({ path: name }) => ({ path: path.join(dist, `${name}.js`) }));
    onResolve({ filter: /^\.\// }, ({ path: name, importer }) => (importer.startsWith(path.join(dist, 'turnwise')) ? { path: `/turnwise/${name.slice(2)}`, external: true } : undefined));
    onResolve({ filter: /^(agent|App\.\w+)$/ }, ({ path: name }) => ({ path: name, namespace: 'page' }));
    onLoad({ filter: /.*/, namespace: 'page' }, ({ path: name }) => ({
      contents: name === 'App.svelte' ? compile(files[name], { filename: name, dev: true }).js.code : name === 'App.vue' ? vueCode(files[name]) : files[name],
      loader: name === 'App.svelte' ? 'js' : 'tsx', resolveDir: import.meta.dirname,
    }));
  } };
  const { outputFiles: [script] } = await build({
    stdin: { contents, resolveDir: import.meta.dirname }, bundle: true, write: false, format: 'esm', jsx: 'automatic', conditions: ['browser', 'development'], logLevel: 'silent', plugins: [package_],
    define: { 'process.env.NODE_ENV': '"development"', __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' },
    nodePaths: [path.join(import.meta.dirname, 'node_modules')],
  });
  return Buffer.from(script.contents);
}

test('types: the composable and the store follow the agent, with the declarations of the real frameworks', () => {
  const folder = mkdtempSync(path.join(import.meta.dirname, '.run-'));
  try {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(path.join(dist, 'turnwise'), path.join(folder, 'node_modules/turnwise'));
    const START = `import { Agent, demo, tool } from 'turnwise'; import { z } from 'zod';
      import { useAgent, vMarkdown } from 'turnwise/vue'; import { useAgent as store, markdown } from 'turnwise/svelte';
      import { get } from 'svelte/store'; import { computed, withDirectives, h, type Directive } from 'vue';
      const order = tool({ inputSchema: z.object({ count: z.number() }), execute: () => true });
      const agent = new Agent({ model: demo(), tools: { order }, output: z.object({ total: z.number() }) });
      const same = <A>(a: A, b: A) => [a, b];\n`;
    const good = `${START}
      const { messages, result, approvals, send, status } = useAgent<typeof agent>(agent);
      const doubled = computed(() => (result.value?.output.total ?? 0) * messages.value.length);
      same<number>(doubled.value, 1); same<'loading' | 'ready' | 'running'>(status.value, 'ready');
      for (const { request } of approvals.value) if (request.toolName === 'order') same<number>(request.input.count, 1);
      const directive: Directive<HTMLElement, string> = vMarkdown;
      withDirectives(h('div'), [[directive, 'a']]);
      const chat = store(agent);
      same<number | undefined>(get(chat).result?.output.total, 1);
      markdown(document.createElement('div'), { text: 'a', images: 'show' }).update('b');
      void send('x'); void chat.regenerate();`;
    const bad = ['useAgent(agent).result.value?.output.sum;', 'useAgent(agent).messages.length;', 'get(store(agent)).result?.output.sum;', "useAgent(agent).approvals.value[0]!.request.toolName === 'ordr';", "markdown(document.body, { text: 'a', html: true });"];
    writeFileSync(path.join(folder, 'good.ts'), good);
    writeFileSync(path.join(folder, 'bad.ts'), START + bad.map((line) => `// @ts-expect-error\n${line}\n`).join(''));
    const program = ts.createProgram(['good.ts', 'bad.ts'].map((name) => path.join(folder, name)), {
      strict: true, noEmit: true, skipLibCheck: false, preserveSymlinks: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'], types: [],
    });
    const found = ts.getPreEmitDiagnostics(program).filter(({ file }) => !/node_modules\/(?!turnwise)/.test(file?.fileName ?? '')).map(({ messageText, file, start }) => `${path.basename(file?.fileName ?? '')}:${file?.getLineAndCharacterOfPosition(start).line + 1}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    assert.deepEqual(found, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const [name, contents] of Object.entries(PAGES)) {
  test(`${name}: asks, draws as it comes, approves after a reload, answers again, cancels, shows an error`, { timeout: 120_000 }, async () => {
    const html = `<!doctype html><meta charset="utf-8"><title>${name}</title><link rel="icon" href="data:,"><div id="root"></div><script>window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = { isDisabled: true };</script><script type="module" src="/page.js"></script>`;
    const pages = { '/': html, '/page.js': { type: 'text/javascript', body: await bundled(contents) } };
    await withHost({ pages }, ({ url }) => withPage(url, { expect: [/auth_error/] }, async (tab) => {
      const ask = async (text) => { await tab.getByLabel('Ask').fill(text); await tab.getByLabel('Ask').press('Enter'); };
      const press = (label) => tab.getByRole('button', { name: label }).click();
      const answer = (n, outcome) => tab.locator('.assistant').nth(n).and(tab.locator(`[data-outcome=${outcome}]`));
      const status = (text) => tab.locator('output').filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
      await status('ready');
      await ask('Weather?');
      await answer(0, 'success').locator('strong').filter({ hasText: /^sunny$/ }).waitFor();
      assert.equal(await tab.locator('.assistant').textContent(), 'It is sunny <img src=x onerror=alert(1)>.');
      const parts = 'turn-start tool-call tool-result turn-finish turn-start turn-finish finish';
      assert.equal(await tab.locator('.assistant').getAttribute('data-parts'), parts);

      await ask('Order');
      await tab.locator('li').filter({ hasText: 'order lamp' }).waitFor();
      await status('running');
      await tab.reload();
      await status('ready');
      assert.deepEqual(await tab.locator('.user').allTextContents(), ['Weather?', 'Order']);
      assert.equal(await tab.locator('.assistant').first().getAttribute('data-parts'), parts);
      await answer(0, 'success').locator('strong').waitFor();
      await press('Resume');
      await press('Allow');
      await answer(1, 'success').filter({ hasText: 'The result: ordered' }).waitFor();
      assert.equal(await tab.locator('.assistant').nth(1).getAttribute('data-parts'), parts);
      assert.equal(await tab.locator('li').count(), 0);

      await press('Again');
      await press('Refuse');
      await answer(1, 'success').filter({ hasNotText: 'ordered' }).filter({ hasText: 'The result: ' }).waitFor();
      assert.equal(await tab.locator('.assistant').count(), 2);

      await ask('Long');
      await tab.locator('.assistant').nth(2).filter({ hasText: 'Half' }).waitFor();
      await press('Cancel');
      await answer(2, 'cancelled').waitFor();
      assert.equal(await tab.locator('b').textContent(), '');
      await ask('Bad');
      await answer(3, 'failed').waitFor({ state: 'attached' });
      assert.match(await tab.locator('b').textContent(), /key/);
      await status('ready');

      await ask('Long');
      await tab.locator('.assistant').nth(4).filter({ hasText: 'Half' }).waitFor();
      await tab.evaluate(() => window.unmount());
      await tab.waitForFunction(async () => await window.lastOutcome() === 'cancelled');
      await tab.reload();
      await answer(4, 'cancelled').waitFor({ state: 'attached' });
    }));
  });
}

const STARTS = {
  tsx: "import { createRoot } from 'react-dom/client'; import { createElement } from 'react'; import App from 'App.tsx'; createRoot(document.getElementById('root')).render(createElement(App));",
  vue: "import { createApp } from 'vue'; import App from 'App.vue'; createApp(App).mount('#root');",
  svelte: "import { mount } from 'svelte'; import App from 'App.svelte'; mount(App, { target: document.getElementById('root') });",
};
test('the components of docs/quick-start.md run: each asks the demo model and shows its answer', { timeout: 120_000 }, async () => {
  const page = readFileSync(path.join(root, 'docs/quick-start.md'), 'utf8');
  for (const [kind, start] of Object.entries(STARTS)) {
    const [, program] = new RegExp(`^\`src/App\\.${kind}\`:\n\n\`\`\`${kind}\n(.*?)^\`\`\`$`, 'ms').exec(page);
    const html = `<!doctype html><meta charset="utf-8"><title>${kind}</title><link rel="icon" href="data:,"><div id="root"></div><script>window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = { isDisabled: true };</script><script type="module" src="/page.js"></script>`;
    const pages = { '/': html, '/page.js': { type: 'text/javascript', body: await bundled(start, { [`App.${kind}`]: program }) } };
    await withHost({ pages }, ({ url }) => withPage(url, {}, async (tab) => {
      await tab.getByRole('button', { name: 'Ask' }).and(tab.locator(':enabled')).click();
      await tab.getByText('391').first().waitFor();
      await tab.getByRole('button', { name: 'Ask' }).and(tab.locator(':enabled')).waitFor();
    }));
  }
});
