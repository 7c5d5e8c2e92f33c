// Code in the documentation type-checks: every TypeScript and JavaScript block of README.md, docs/ and the package's README
// that imports from 'turnwise…', unchanged, and the files of examples/; all against the built package, resolved by its
// exports. And mistakes in a program are errors in the editor, not later.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import ts from 'typescript';
import * as PARTS from '../../www/widget/part-texts.js';
import { TEXTS } from '../../www/widget/texts.js';
import { dist, root } from './lib/site.mjs';
import { SHORT, sayLeft } from './lib/tier.mjs';

/** A project with the package installed, along with the libraries of these tests and of tests/ecosystem. */
const project = mkdtempSync(path.join(tmpdir(), 'turnwise-docs-code-'));
after(() => rmSync(project, { recursive: true, force: true }));

function link(from, to) {
  if (existsSync(to)) return;
  mkdirSync(path.dirname(to), { recursive: true });
  symlinkSync(from, to);
}
const modules = path.join(project, 'node_modules');
link(path.join(dist, 'turnwise'), path.join(modules, 'turnwise'));
link(path.join(dist, 'turnwise'), path.join(project, 'turnwise'));
for (const folder of ['tests/e2e', 'tests/ecosystem'].map((name) => path.join(root, name, 'node_modules')).filter(existsSync)) {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  for (const name of names.flatMap((one) => (one.startsWith('@') ? readdirSync(path.join(folder, one)).map((rest) => `${one}/${rest}`) : [one]))) link(path.join(folder, name), path.join(modules, name));
}
// Modules that bundlers and pages provide, and libraries that are not installed here.
writeFileSync(path.join(project, 'modules.d.ts'), "declare module '*.wasm' { const module: WebAssembly.Module; export default module; }\ndeclare module '@mlc-ai/web-llm';\n");
// The module that the recipes import.
writeFileSync(path.join(project, 'model.mjs'), readFileSync(path.join(root, 'examples/cookbook/model.mjs')));

/** The compiler's errors in programs, { name: text }, each with the name and the line. JavaScript functions may omit parameter types. */
function complaints(programs) {
  const scripts = Object.keys(programs).filter((name) => name.endsWith('js'));
  const some = (which, noImplicitAny) => complaintsOf(Object.fromEntries(Object.entries(programs).filter(([name]) => scripts.includes(name) === which)), noImplicitAny);
  return [...some(false, true), ...some(true, false)];
}

function complaintsOf(programs, noImplicitAny) {
  const files = Object.entries(programs).map(([name, text]) => {
    const file = path.join(project, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
  const program = ts.createProgram([...files, path.join(project, 'modules.d.ts')], {
    strict: true, noImplicitAny, noEmit: true, allowJs: true, checkJs: true, skipLibCheck: true, preserveSymlinks: true, jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.esnext.disposable.d.ts'], types: ['node'], typeRoots: [path.join(modules, '@types')], maxNodeModuleJsDepth: 0,
  });
  return files.flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(({ messageText, start }) => {
      const line = start === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line + 1;
      return `${path.relative(project, file)}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

const PAGES = ['README.md', 'www/package/README.md', 'examples/key-proxy/README.md', ...readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];

/** The code blocks that import from the package, by page and first line. */
function blocks() {
  const found = {};
  for (const page of PAGES) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const { 1: kind, 2: code, index } of text.matchAll(/^```(ts|tsx|js)\n(.*?)^```$/gms)) {
      if (!/from '(\.\/)?turnwise[/']/.test(code)) continue;
      // Files of one project, with libraries of others: tests/ecosystem/test_runners.test.mjs checks and runs them.
      if (page === 'docs/testing.md') continue;
      const line = text.slice(0, index).split('\n').length;
      found[`${page.replaceAll('/', '-')}-line-${line}.${kind === 'js' ? 'mjs' : kind}`] = code;
    }
  }
  return found;
}

test('each program of the documentation imports the agent that it makes, and it is the one of `turnwise`', () => {
  const faults = [];
  let agents = 0;
  for (const page of PAGES) {
    for (const { 2: code } of readFileSync(path.join(root, page), 'utf8').matchAll(/^```(ts|tsx|js|html)\n(.*?)^```$/gms)) {
      for (const [, name] of code.matchAll(/\b(?:new (\w*Agent)|DocsSite\.open)\(/g)) {
        agents += 1;
        const from = new RegExp(`import [^;]*\\b${name ?? 'DocsSite'}\\b[^;]* from '([^']+)'`).exec(code)?.[1];
        if (!from) faults.push(`${page}: ${name ?? 'DocsSite'} is not imported in: ${code.slice(0, 60)}`);
        else if (name === 'Agent' && /turnwise\.js$|core$/.test(from)) faults.push(`${page}: Agent of ${from} is the low-level one: import LowLevelAgent`);
      }
    }
  }
  assert.ok(agents > 20, `${agents} agents`);
  assert.deepEqual(faults, []);
});

/** Libraries of tests/ecosystem, which only `make test-all` installs. */
const others = Object.keys(JSON.parse(readFileSync(path.join(root, 'tests/ecosystem/package.json'), 'utf8')).dependencies);
const lacks = (code) => others.some((name) => code.includes(`'${name}'`) && !existsSync(path.join(modules, name)));

test('the code of the documentation type-checks', (t) => {
  const all = Object.entries(blocks());
  const checked = all.filter(([, code]) => !(SHORT && lacks(code)));
  sayLeft(t, all.length - checked.length, 'blocks of code with libraries of others');
  assert.ok(checked.length > 20, 'blocks that import the package');
  assert.deepEqual(complaints(Object.fromEntries(checked)), []);
});

test('the recipes type-check, and so do the other examples as far as they are about the package', () => {
  const folder = path.join(root, 'examples');
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.mjs') && !name.includes('node_modules'));
  const programs = Object.fromEntries(names.map((name) => [`examples/${name}`, readFileSync(path.join(folder, name), 'utf8')]));
  const all = complaints(programs);
  assert.deepEqual(all.filter((line) => line.startsWith('examples/cookbook')), []);
  // Errors about the types of a Worker's environment do not concern the package.
  assert.deepEqual(all.filter((line) => /turnwise|AgentOptions|Trajectory|Summary/.test(line.replace(/^\S+/, ''))), []);
});

test('the page of the tag lists the attributes, the events and the texts that the tag has', () => {
  const page = ['widget', 'widget-events', 'widget-look'].map((name) => readFileSync(path.join(root, `docs/${name}.md`), 'utf8')).join('\n');
  const types = readFileSync(path.join(root, 'www/client/types/element.d.ts'), 'utf8');
  const section = (heading) => page.split(`\n## ${heading}\n`)[1].split('\n## ')[0];
  const named = (text) => [...text.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names]) => names.split(', ').map((name) => name.slice(1, -1)));
  const members = (name) => [...types.split(`interface ${name} {`)[1].split('\n}')[0].matchAll(/^ {2}'?([\w-]+)'?\??:/gm)].map(([, member]) => member);
  const ofEveryElement = ['lang', 'dir'];
  assert.deepEqual(named(section('Attributes')).filter((name) => !ofEveryElement.includes(name)).sort(), members('TurnwiseAgentAttributes').sort());
  assert.deepEqual(named(section('Methods and events')).filter((name) => name.startsWith('turnwise-')).sort(), members('TurnwiseAgentEventMap').sort());
  const shown = /^const texts = (\{\n.*?^\});$/ms.exec(section('Texts'))[1];
  assert.deepEqual(new Function(`return ${shown}`)(), Object.assign({}, TEXTS, ...Object.values(PARTS)));
});

const START = `import { Agent, anthropic, chrome, custom, demo, inBrowser, inMemory, jsonSchema, openai, openrouter, replay, tool, TurnwiseError } from 'turnwise';
import type { ChatStorage, Infer, Model, Part, RunResult } from 'turnwise';
import { z } from 'zod';
const price = tool({ description: 'x', inputSchema: z.object({ article: z.string(), count: z.number().optional() }), execute: ({ article, count }) => ({ article, euros: 12 * (count ?? 1) }) });
const agent = new Agent({ model: demo(), tools: { price } });
const shop = new Agent({ model: openai('m', { apiKey: 'k' }), output: z.object({ name: z.string(), stars: z.number() }) });
`;

test('types follow from schemas: arguments, output, parts, errors', () => {
  assert.deepEqual(complaints({ 'fits.ts': `${START}
    const same = <A>(a: A, b: A) => [a, b];
    const text: string = (await agent.generate('x')).output;
    const { output, ending, cost } = await shop.generate('x');
    const stars: number = output.stars;
    const dollars: string = cost === null ? 'unknown' : cost.toFixed(2);
    const outcome: 'success' | 'partial' | 'failed' | 'cancelled' = ending.outcome;
    const run = shop.stream([{ type: 'text', text: 'x' }, { type: 'image', data: new Uint8Array(1), mediaType: 'image/png' }], { signal: AbortSignal.timeout(1) });
    for await (const part of run) {
      if (part.type === 'tool-result') same(part.slug, part.toolName);
      else if (part.type === 'error') same(part.error.reason, 'cancelled');
      else if (part.type === 'child' && part.part.type === 'text-delta') same(part.part.text, '');
    }
    const result: RunResult<{ name: string; stars: number }> = await run;
    const typed = new Agent({ model: [demo('endless'), chrome()], output: jsonSchema<{ day: string }>({ type: 'object' }) });
    const day: string = (await typed.chat({ storage: inMemory() }).send('x')).output.day;
    const own: ChatStorage = { get: () => undefined, set: () => {}, delete: async () => {} };
    const echo: Model = custom(async (request, { signal }) => signal.aborted ? '' : 'hello');
    tool({ execute: (input, { signal }) => signal.aborted });
    tool({ inputSchema: z.object({ a: z.string().transform(Number) }), execute: ({ a }) => a.toFixed(1), needsApproval: ({ a }) => a > 3 });
    try { await agent.resume(result.trajectory); } catch (error) { if (error instanceof TurnwiseError) same(error.trajectory?.run_id, error.slugs[0]); }
    await agent.branch(result.trajectory, { turn: 2, edit: { callId: 'a', result: 'b' } });
    await agent.branch(result.trajectory, { edit: { reply: { toolCalls: [{ toolName: 'price', input: {} }] } } });
    agent.generate('x', { approve: ({ toolName, input, touches }) => ({ allow: toolName === 'price' && touches.length === 0, for: 'tool' }) });
  ` }), []);
});

const HOOKS = `${START}import { useAgent, Markdown } from 'turnwise/react';
import { createChatStore } from 'turnwise/chat-store';
import { drawMarkdown } from 'turnwise/markdown';
import { scriptOf, scripted, verifyScripts } from 'turnwise/testing';
const order = tool({ inputSchema: z.object({ article: z.string(), count: z.number() }), touches: ['network'], execute: () => true });
const both = new Agent({ model: demo(), tools: { price, order }, output: z.object({ total: z.number() }) });
const same = <A,>(a: A, b: A) => [a, b];
`;

test('types of the hooks follow from the agent: output, tool names, arguments, approvals; and a script is a model', () => {
  assert.deepEqual(complaints({ 'hooks.tsx': `${HOOKS}
    export function Page() {
      const { messages, approvals, result, error, status, regenerate, resume } = useAgent<typeof both>(both);
      const total: number | undefined = result?.output.total;
      const inferred: number | undefined = useAgent(both).result?.output.total;
      const text: string | undefined = useAgent(agent).result?.output;
      const plain = useAgent(new Agent({ model: demo() }));
      const anything: any = plain.messages[0]!.parts.find((part) => part.type === 'tool-call')!.input.whatever;
      for (const part of messages.at(-1)!.parts) {
        if (part.type === 'tool-call' && part.toolName === 'order') same<number>(part.input.count, 1);
        if (part.type === 'tool-result' && part.toolName === 'price') same<string>(part.input.article, part.output);
        if (part.type === 'tool-call' && part.toolName === 'calculate') part.input.expression;
      }
      for (const { request, allow, refuse } of approvals) {
        if (request.toolName === 'order') same<number>(request.input.count, 1);
        allow(); allow({ for: 'tool' }); refuse();
      }
      return <form onSubmit={() => { void regenerate(); void resume(); }}>{error?.message}{status}{total}{inferred}{text}{anything}
        <Markdown text="**a**" images="show" hosts={false} newTab className="answer" id="a" /></form>;
    }
    const store = createChatStore(both);
    const leave: () => void = store.subscribe(() => same<number | undefined>(store.getSnapshot().result?.output.total, 1));
    const drawn: Promise<void> = drawMarkdown(document.body, '**a**', { base: new URL('https://a.example') });
    const model = scripted(['a', { toolName: 'price', input: { article: 'lamp' } }, { text: ['a', 5, Promise.resolve()], error: 'stream_cut' }, { error: 429 }, { error: { status: 503, retryAfterMs: 1 } },
      async ({ messages, tools, lastMessage }) => ({ text: lastMessage + tools.length, usage: { inputTokens: messages.length, outputTokens: 1 } }),
      { text: 'x', expect: { lastMessage: /a/, system: 'b', tools: ['price'] }, when: { task: 'a' }, finishReason: 'length' }, { text: '', expect: ({ body }) => body.model === 'm' }]);
    const tested = new Agent({ model, tools: { price } });
    const again = scripted(scriptOf(await tested.generate('x'), ...tested.chat().trajectories));
    scripted(({ lastMessage }) => lastMessage);
    scripted(JSON.parse('[]'));
    again.done(); verifyScripts(); leave();
    { using held = scripted([]); held.requests[0]?.messages[0]?.content; }
    const response: Response = await model.fetch(new Request('/'));
    await using server = await model.listen();
    const url: string = server.url;
  ` }), []);
});

test('misuse of the hooks and of scripts is an error of the compiler', () => {
  const wrong = [
    'useAgent(both).result?.output.sum;', 'useAgent<typeof agent>(both).result?.output.total;', 'useAgent(agent).result?.output.total;', 'useAgent();', "useAgent(agent, { store: inMemory() });",
    "useAgent(both).messages[0]!.parts.some((part) => part.type === 'tool-call' && part.toolName === 'prise');",
    "useAgent(both).messages[0]!.parts.some((part) => part.type === 'tool-call' && part.toolName === 'order' && part.input.amount);",
    "useAgent(both).approvals[0]!.request.toolName === 'prise';", "useAgent(both).approvals[0]!.allow({ for: 'ever' });", 'useAgent(both).approvals[0]!.deny();',
    "drawMarkdown('#answer', 'x');", "drawMarkdown(document.body, 'x', { html: true });", "Markdown({ children: 'x' });",
    "scripted('x');", "scripted([{ txt: 'x' }]);", "scripted([{ error: 'rate_limit' }]);", "scripted([{ toolCalls: [{ name: 'price' }] }]);", "scripted(['x'], 5);", "scripted([{ text: 'x', expect: { message: /x/ } }]);", "scripted(['x']).verify();",
    "scriptOf('run.json');",
  ];
  const text = `${HOOKS}${wrong.map((line) => `// @ts-expect-error\n${line}\n`).join('')}`;
  const first = HOOKS.split('\n').length;
  const missed = complaints({ 'wrong-hooks.tsx': text }).map((complaint) => {
    const line = Number(/:(\d+):/.exec(complaint)[1]);
    return complaint.includes('Unused') ? wrong[(line - first) / 2] : complaint;
  });
  assert.deepEqual(missed, []);
});

test('misuse is an error of the compiler', () => {
  const wrong = [
    "tool({ inputSchema: z.object({ n: z.number() }), execute: ({ n }) => n.trim() });",
    "tool({ inputSchema: z.object({ n: z.number() }), execute: ({ m }) => m });",
    "tool({ inputSchema: z.object({ n: z.number() }), needsApproval: ({ m }) => true, execute: () => '' });",
    "tool({ execute: () => '', touches: ['disk'] });",
    "tool({ description: 'no execute' });",
    "tool({ description: 'x', parameters: {}, execute: () => '' });",
    "(await shop.generate('x')).output.color;",
    "(await shop.generate('x')).output.trim();",
    "(await agent.generate('x')).output.stars;",
    "const n: number = (await shop.generate('x')).cost;",
    "(await shop.generate('x')).trajectory.termination_reason.length;",
    "new Agent({});",
    "new Agent({ model: demo(), maxturns: 3 });",
    "new Agent({ model: demo(), maxTurns: '3' });",
    "new Agent({ model: 'gpt-5.4-mini' });",
    "new Agent({ model: demo(), builtInTools: ['read_mail'] });",
    "new Agent({ model: demo(), budget: { euros: 1 } });",
    "new Agent({ model: demo(), reasoning: 'very' });",
    "new Agent({ model: demo(), tools: [price] });",
    "new Agent({ model: demo(), output: 'text' });",
    "new Agent({ model: demo(), approve: () => 'yes' });",
    "new Agent({ model: demo(), guardrails: { input: [() => ({ message: 'without a slug' })] } });",
    "openai();",
    "openai('m', { key: 'k' });",
    "anthropic('m', { price: { input: 1 } });",
    "demo('wild');",
    "custom('gpt-5.4-mini');",
    "inBrowser(5);",
    "agent.generate(5);",
    "agent.generate([{ type: 'video', data: '' }]);",
    "agent.generate('x', { abortSignal: new AbortController().signal });",
    "agent.generate('x', { messages: [{ role: 'robot', content: '' }] });",
    "agent.chat({ storage: new Map() });",
    "for await (const part of agent.stream('x')) if (part.type === 'text') break;",
    "for await (const part of agent.stream('x')) if (part.type === 'text-delta') part.delta;",
    "for await (const part of agent.stream('x')) if (part.type === 'tool-call') part.args;",
    "for await (const part of agent.stream('x')) part.text;",
    "agent.branch({} as any, { edit: { callId: 'a' } });",
    "agent.branch({} as any, { edit: { say: 5 } });",
    "agent.resume('run.json');",
    "agent.registerTool(price);",
    "agent.run('x');",
  ];
  const missed = [];
  const text = `${START}${wrong.map((line) => `// @ts-expect-error\n${line}\n`).join('')}`;
  const first = START.split('\n').length;
  for (const complaint of complaints({ 'wrong.ts': text })) {
    const line = Number(/:(\d+):/.exec(complaint)[1]);
    missed.push(complaint.includes('Unused') ? wrong[(line - first) / 2] : complaint);
  }
  assert.deepEqual(missed, []);
});
