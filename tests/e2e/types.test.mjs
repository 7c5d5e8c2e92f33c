// The package's TypeScript types: a program that uses the API type-checks strictly, and misuse does not.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import ts from 'typescript';
import { dist } from './lib/site.mjs';

const types = (file) => [path.join(dist, 'turnwise', file)];
const MODULES = {
  turnwise: types('index.d.ts'), 'turnwise/turnwise.js': types('turnwise.d.ts'), 'turnwise/core': types('core.d.ts'), 'turnwise/element': types('element.d.ts'), 'turnwise/ai-sdk': types('types/ai-sdk.d.ts'),
};

/** The compiler's errors in a program that imports from 'turnwise'. */
function complaints(source, more) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnwise-types-'));
  try {
    const file = path.join(folder, 'program.ts');
    writeFileSync(file, source);
    const program = ts.createProgram([file], {
      strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: [],
      paths: { turnwise: [path.join(dist, 'turnwise/turnwise.d.ts')], 'turnwise/core': [path.join(dist, 'turnwise/core.d.ts')] }, ...more,
    });
    return ts.getPreEmitDiagnostics(program).map(({ messageText, file: where }) => `${path.basename(where?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const START = `import init, { Agent, replay, exportTrajectory, importTrajectory, insight, summarize, type Insight, type RunSummary, type Trajectory, type AgentEvent, type Plan, type PlanEvent, type PlanSession, type Tool } from 'turnwise';
await init();
`;

test('a program that uses the whole API type-checks', () => {
  assert.deepEqual(complaints(`${START}
    const agent = new Agent({
      preset: 'orchestrator', provider: [{ kind: 'openai', baseUrl: '/v1', model: 'm', apiKey: 'k' }, { kind: 'demo' }],
      maxTurns: 7, counter: { moderateAt: 4 }, synthesis: false, tools: ['calculate'], limits: { toolTimeoutMs: 1 }, seed: 1,
    });
    const look: Tool<{ word: string }> = { name: 'look', parameters: {}, execute: async ({ word }, { signal }) => signal.aborted ? '' : word.trim() };
    agent.registerTool(look);
    await agent.files.put('notes/a.md', 'text');
    const seen: string[] = [];
    const onEvent = (event: AgentEvent) => { if (event.type === 'text_delta') seen.push(event.text); };
    const trajectory: Trajectory = await agent.run('task', { onEvent, signal: new AbortController().signal, approve: () => true });
    await agent.run('and then?', { after: trajectory });
    await agent.grantTurns(5, { onEvent });
    const plan: Plan = { agents: { A: { kind: 'gather', maxTurns: 3 } }, steps: [{ order: 1, agent: 'A', action: 'look' }] };
    const onPlan = (event: PlanEvent) => { if (event.type === 'step_finished') seen.push(event.status); else if (event.type === 'text_delta') seen.push(event.text + event.step); };
    const session: PlanSession = await agent.runPlan(plan, { onEvent: onPlan, parallel: 2 });
    await agent.runPlan(session.plan, { after: session, from: 1 });
    const artifact: string | undefined = session.steps[0]?.context.session_context?.[0]?.result;
    agent.stop(); agent.cancel(); agent.free();
    const again = await replay(trajectory);
    if (!again.ok) console.log(again.turn, again.expected, again.actual);
    const text: string = await exportTrajectory(trajectory, 'native');
    const summary: RunSummary = await summarize(trajectory);
    const found: Insight = await insight([summary, await summarize(text)], { preset: 'strict', outcome: 'unfinished', terminationReason: 'llm_complete' });
    console.log(found.reasons[0]?.count, found.turns.p95, found.choices.models[0]?.value, summary.failed_attempts['timeout']);
    const read: Trajectory = await importTrajectory(text);
    console.log(text, read.imported?.agent, artifact, trajectory.turns[0]?.tool_calls[0]?.args);
  `), []);
});

test('options that do not exist and values of the wrong type are refused', () => {
  assert.match(complaints(`${START}new Agent({ maxturns: 3 });`).join(), /maxturns/);
  assert.match(complaints(`${START}new Agent({ preset: 'other' });`).join(), /other/);
  assert.match(complaints(`${START}new Agent({}).run(5);`).join(), /number/);
});

test('turnwise/core has the same API, and wants the modules', () => {
  assert.deepEqual(complaints(`import init, { Agent, type AgentEvent } from 'turnwise/core';
    declare const agent: WebAssembly.Module, worker: WebAssembly.Module;
    await init({ agent, worker });
    await init({ agent: new Uint8Array(1) });
    const lost = (event: AgentEvent) => event.type === 'worker_lost' && event.message.trim();
    await new Agent({ maxTurns: 3 }).run('go', { onEvent: lost });
    new Agent()[Symbol.dispose]();
  `), []);
  assert.match(complaints("import init from 'turnwise/core'; await init();").join(), /argument/);
});

test('the types hold without those of a browser, and with those of Node.js', () => {
  const source = `import { Agent, inMemory, openai, tool } from 'turnwise'; import * as low from 'turnwise/turnwise.js'; import * as core from 'turnwise/core'; import * as element from 'turnwise/element'; import * as sdk from 'turnwise/ai-sdk';
    const agent = new Agent({ model: openai('m'), tools: { look: tool({ execute: (_, { signal }) => String(signal) }) } });
    const { text, files } = await agent.generate('x');
    export const all: [string, unknown, low.Agent, unknown] = [text, files.get('a'), new core.Agent(), agent.stream('x').toUIMessageStreamResponse({ headers: { a: 'b' } })];
    export type Tag = element.TurnwiseAgentElement; export const from = sdk.fromAiSdk; export const chat = agent.chat({ storage: inMemory() });
  `;
  const typeRoots = [path.join(import.meta.dirname, 'node_modules/@types')];
  for (const lib of [['lib.es2022.d.ts'], ['lib.es2022.d.ts', 'lib.dom.d.ts']]) {
    for (const kinds of [[], ['node']]) assert.deepEqual(complaints(source, { lib, types: kinds, typeRoots, skipLibCheck: false, paths: MODULES }), [], `${lib.join()} ${kinds.join()}`);
  }
});

const SDK = { paths: { ...MODULES, zod: [path.join(import.meta.dirname, 'node_modules/zod')] } };
/** Fails to compile unless the two types are the same, `any` included. */
const SAME = 'type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false; const same = <T extends true>() => {};\n';

test('arguments and results have the types of their schemas: Zod, a JSON Schema, one with a type of its own', () => {
  assert.deepEqual(complaints(`import { Agent, demo, jsonSchema, tool } from 'turnwise'; import * as z from 'zod';
    ${SAME}
    tool({ inputSchema: z.object({ city: z.string(), days: z.number().optional() }), execute: (input) => { same<Same<typeof input, { city: string; days?: number | undefined }>>(); } });
    tool({ inputSchema: { type: 'object', properties: { city: { type: 'string' }, unit: { enum: ['C', 'F'] }, at: { type: 'array', items: { type: 'number' } } }, required: ['city', 'at'] }, execute: (input) => {
      same<Same<typeof input.city, string>>(); same<Same<typeof input.unit, 'C' | 'F' | undefined>>(); same<Same<typeof input.at, number[]>>();
    } });
    tool({ inputSchema: jsonSchema<{ city: Date }>({ type: 'object' }), execute: (input) => { same<Same<typeof input, { city: Date }>>(); } });
    const loose: Record<string, unknown> = { type: 'object' };
    tool({ inputSchema: loose, execute: (input) => { same<Same<typeof input, any>>(); } });
    const one = await new Agent({ model: demo(), output: z.object({ city: z.string() }) }).generate('x'); same<Same<typeof one.output, { city: string }>>();
    const two = await new Agent({ model: demo(), output: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }).generate('x'); same<Same<typeof two.output.n, number>>();
    const three = await new Agent({ model: demo() }).generate('x'); same<Same<typeof three.output, string>>();
  `, SDK), []);
  assert.match(complaints(`import { tool } from 'turnwise'; tool({ inputSchema: { type: 'object', properties: { city: { type: 'string' } } }, execute: ({ town }) => town });`, SDK).join(), /town/);
});

const FILES = ['turnwise.d.ts', 'core.d.ts', 'element.d.ts', ...['index', 'react', 'ai-sdk'].map((name) => `types/${name}.d.ts`)].map((file) => path.join(dist, 'turnwise', file));
const declared = () => {
  const program = ts.createProgram(FILES, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, types: [], paths: { react: [path.join(import.meta.dirname, 'node_modules/@types/react')] } });
  const checker = program.getTypeChecker();
  return FILES.flatMap((file) => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).map((symbol) => {
    const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return { file: path.basename(file), name: symbol.getName(), symbol: real, checker };
  }));
};

test('everything public has documentation with an example, and the methods of a class have documentation', () => {
  const all = declared();
  assert.ok(all.length > 120, `${all.length}`);
  const bare = all.flatMap(({ file, name, symbol, checker }) => {
    // Records are generated from the Rust types, whose documentation they have.
    if (symbol.declarations[0].getSourceFile().fileName.endsWith('records.d.ts')) return [];
    const missing = symbol.getDocumentationComment(checker).length && symbol.getJsDocTags(checker).some((tag) => tag.name === 'example') ? [] : [`${file}: ${name}`];
    const members = symbol.flags & ts.SymbolFlags.Class ? [...symbol.members.values()].filter((one) => one.flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Accessor) && !one.getName().startsWith('__')) : [];
    return [...missing, ...members.filter((one) => !one.getDocumentationComment(checker).length).map((one) => `${file}: ${name}.${one.getName()}`)];
  });
  assert.deepEqual([...new Set(bare)], []);
});

test('every attribute of the tag has documentation', () => {
  const attributes = declared().find(({ name }) => name === 'TurnwiseAgentAttributes');
  assert.deepEqual([...attributes.symbol.members.values()].filter((one) => !one.getDocumentationComment(attributes.checker).length).map((one) => one.getName()), []);
});

/** Where a type cannot be known: the values of another program, and what any run can have. */
const ANY = {
  'ai-sdk.d.ts': 2, 'chat-store.d.ts': 4, 'openapi-document.d.ts': 1, 'openapi-schema.d.ts': 1, 'otlp.d.ts': 1, 'parts.d.ts': 5, 'react.d.ts': 2, 'run.d.ts': 2, 'schema.d.ts': 2, 'svelte.d.ts': 2, 'testing.d.ts': 3, 'tool.d.ts': 2, 'vue.d.ts': 2,
  'turnwise.d.ts': 3, 'element.d.ts': 1, 'web.d.ts': 2,
};

test('no `any` in the declarations but where it is counted, and nothing that is internal', () => {
  const folder = path.join(dist, 'turnwise');
  const counts = {};
  for (const file of [...readdirSync(path.join(folder, 'types')).map((name) => `types/${name}`), 'turnwise.d.ts', 'core.d.ts', 'element.d.ts', 'web.d.ts']) {
    const source = ts.createSourceFile(file, readFileSync(path.join(folder, file), 'utf8'), ts.ScriptTarget.ES2022, true);
    const walk = (node) => {
      if (node.kind === ts.SyntaxKind.AnyKeyword) counts[path.basename(file)] = (counts[path.basename(file)] ?? 0) + 1;
      ts.forEachChild(node, walk);
    };
    walk(source);
    assert.doesNotMatch(source.text, /@internal|\b(ChatAgent|ChatHooks|ReadTool|ReadSchema|ReadPrompt|Engine<)/, file);
  }
  assert.deepEqual(counts, ANY);
});

test('files that programs import have source maps, with the sources in them', () => {
  const places = { 'index.js': ['; expected a model, such as openai(', 'www/client/sdk/agent.ts'], 'turnwise.js': ['; did you mean ', 'www/client/check.ts'], 'react.js': ['useSyncExternalStore', 'www/client/sdk/react.ts'], 'ai-sdk.js': ['fromAiSdk takes', 'www/client/sdk/ai-sdk.ts'] };
  for (const [file, [text, source]] of Object.entries(places)) {
    const code = readFileSync(path.join(dist, 'turnwise', file), 'utf8');
    assert.ok(code.trimEnd().endsWith(`//# sourceMappingURL=${file}.map`), file);
    const payload = JSON.parse(readFileSync(path.join(dist, 'turnwise', `${file}.map`), 'utf8'));
    assert.equal(payload.sourcesContent.filter(Boolean).length, payload.sources.length);
    assert.ok(payload.sources.every((name) => /^((www|node_modules)\/|<define:)/.test(name)), payload.sources.join());
    const line = code.slice(0, code.indexOf(text)).split('\n').length - 1;
    const column = code.split('\n')[line].indexOf(text);
    const found = new SourceMap(payload).findEntry(line, column);
    assert.equal(found.originalSource, source, file);
    const original = payload.sourcesContent[payload.sources.indexOf(source)].split('\n');
    assert.ok(original.slice(Math.max(0, found.originalLine - 1), found.originalLine + 3).join('\n').includes(text), `${file}: line ${found.originalLine}`);
  }
});
